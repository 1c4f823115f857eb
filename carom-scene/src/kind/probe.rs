//! A kind for tests: particles that fall without forces of their own. Nothing but this file and a row of `KINDS` knows
//! of it.

use carom::State;
use carom::model::Lagrangian;
use carom::scheme::AnyModel;

use super::{Bound, Compile, Kind, KindRow, Plan, Words, declare_coordinates};
use crate::diagnostic::Place;
use crate::file::{Formula, ModelFile, Text, table};
use crate::scene::context::Context;
use crate::scene::coordinates;
use crate::scene::{BuildError, LawInfo};

pub(super) const ROW: KindRow = KindRow::of::<FallTable>(Words {
    name: "fall",
    about: "particles of mass 1 that fall freely",
    template: "version = 1\nname = \"NAME\"\n[parameters]\ng = 2.0\n[model]\nkind = \"fall\"\nparticles = [\"a\", \"b\"]\n\
               gravity = \"g\"\n[initial]\na = 3.0\n[simulation]\nend = 1.0\nsteps = 100\n",
});

table! {
    /// Particles that fall freely.
    pub struct FallTable {
        /// "fall"
        pub kind: Text,
        /// Names of the particles.
        pub particles: Vec<Text>,
        /// Acceleration [m/s²].
        pub gravity: Formula,
    }
}

impl Kind for FallTable {
    fn place(&self) -> &Place {
        &self.place
    }

    fn names<'a>(&'a self, file: &ModelFile, context: &mut Context) -> Option<Compile<'a>> {
        let names = coordinates::listed(&self.particles, &self.place, context)?;
        declare_coordinates(names, file, context);
        Some(Box::new(|_, _| Some(Box::new(FallPlan(self.clone())))))
    }

    fn check_numbers(&self, _: &ModelFile, context: &mut Context) {
        context.number(&self.gravity);
    }
}

#[derive(Debug)]
struct FallPlan(FallTable);

impl Plan for FallPlan {
    fn bind(&self, _: &ModelFile, context: &mut Context) -> Option<Box<dyn Bound>> {
        Some(Box::new(Fall { count: self.0.particles.len(), gravity: context.number(&self.0.gravity)? }))
    }
}

#[derive(Debug)]
struct Fall {
    count: usize,
    gravity: f64,
}

impl Bound for Fall {
    fn laws(&self) -> Vec<LawInfo> {
        Vec::new()
    }

    fn model(&self, initial: &State) -> Result<AnyModel, BuildError> {
        let (n, gravity) = (self.count, self.gravity);
        let unit: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect();
        let model = Lagrangian::new(n)
            .constant_mass(&unit)
            .force(move |_, _, _, f| f.fill(-gravity))
            .initial(&initial.q, &initial.v);
        Ok(AnyModel::Mechanical(Box::new(model)))
    }
}

/// Reading, checks, schema, templates, default scheme, overrides and runs of a kind follow from its row.
#[test]
fn a_kind_is_a_file_and_a_row() {
    let row = super::find("fall").unwrap();
    let text = row.example("apple");
    let scene = crate::from_str("apple.toml", &text, &Default::default()).unwrap();
    assert_eq!((scene.name.as_str(), scene.scheme.name.as_str()), ("apple", "moreau-jean"));
    let end = |scene: &crate::Scene| {
        let mut simulation = scene.simulation().unwrap();
        simulation.run(&mut []).unwrap();
        simulation.state().q.clone()
    };
    // q = q0 - g t²/2; the scheme is exact for a constant force with theta = 1/2
    for (q, exact) in end(&scene).iter().zip([2.0, -1.0]) {
        assert!((q - exact).abs() < 2e-2, "{q} {exact}");
    }
    assert!((end(&scene.with(&[("g", 4.0)]).unwrap())[1] + 2.0).abs() < 4e-2);
    let schema = crate::schema();
    assert_eq!(schema.pointer("/$defs/FallTable/properties/kind/const").unwrap(), "fall");
    let wrong = crate::from_str("w", &text.replace("\"g\"", "\"h\""), &Default::default()).unwrap_err();
    assert!(wrong[0].message.contains("unknown name `h`") && wrong[0].line == 8, "{wrong:?}");
    let wrong = crate::from_str("w", &text.replace("\"fall\"", "\"fal\""), &Default::default()).unwrap_err();
    assert_eq!(wrong[0].hint.as_deref(), Some("did you mean \"fall\"?"));
}

/// The template of every kind is a file that runs, and the documentation has an example of every kind.
#[test]
fn templates_run_and_docs_name_every_kind() {
    let docs = include_str!("../../../docs/model-files.md");
    for row in super::KINDS {
        let text = row.example("new \"one\"");
        let scene =
            crate::from_str(row.name, &text, &Default::default()).unwrap_or_else(|e| panic!("{}: {e:?}", row.name));
        assert_eq!((scene.name.as_str(), scene.file().model.row.name), ("new \"one\"", row.name));
        assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
        assert!(scene.simulation().unwrap().run(&mut []).unwrap(), "{}", row.name);
        assert!(row.name == "fall" || docs.contains(&format!("kind = \"{}\"", row.name)), "{}", row.name);
    }
}
