//! Models from energies: kinetic and potential energy and forces as expressions, all else is derived.

use carom::scheme::AnyModel;
use carom::{Mechanical, State};

use super::{Bound, Compile, Kind, KindRow, Plan, Words, declare_coordinates, length, most, too_large};
use crate::diagnostic::Place;
use crate::equations::{EquationError, EquationPlan, Source, SourceLaw};
use crate::file::{Entries, Formula, Integer, ModelFile, Text, table};
use crate::scene::context::Context;
use crate::scene::coordinates::{self, DENSE_LIMIT, Target};
use crate::scene::law::{self, LawNodes};
use crate::scene::{BuildError, LawInfo, check};

pub(super) const ROW: KindRow = KindRow::of::<LagrangianTable>(Words {
    name: "lagrangian",
    about: "kinetic and potential energy as equations, generalised forces, contacts, constraints",
    template: include_str!("../file/example.toml"),
});

table! {
    /// A model from its energies.
    pub struct LagrangianTable {
        /// "lagrangian"
        pub kind: Text,
        /// Names of the coordinates; their velocities are written with a prime.
        pub coordinates: Vec<Text>,
        /// Kinetic energy, quadratic in the velocities [J].
        pub kinetic: Formula,
        /// Potential energy, of coordinates and t [J].
        pub potential: Option<Formula>,
        /// Generalised forces by coordinate, of t, coordinates and velocities [N].
        pub force: Option<Entries>,
        /// A length that is typical of the model, positive; tolerances of gaps are parts of it. By default the lengths
        /// that a run meets [m].
        pub length: Option<Formula>,
        /// Number of operations that the derived equations may have; 2e6 by default, which is half a gigabyte.
        pub operations: Option<Integer>,
    }
}

impl Kind for LagrangianTable {
    fn place(&self) -> &Place {
        &self.place
    }

    fn names<'a>(&'a self, file: &ModelFile, context: &mut Context) -> Option<Compile<'a>> {
        let n = self.coordinates.len();
        if n > DENSE_LIMIT {
            let message = format!("{n} coordinates are too many for a model from energies; the limit is {DENSE_LIMIT}");
            let place = self.coordinates.first().map_or(&self.place, |name| &name.place);
            context.out.error(place, message).hint("use kind = \"linear\" for large linear structures");
            return None;
        }
        let names = coordinates::listed(&self.coordinates, &self.place, context)?;
        declare_coordinates(names, file, context);
        Some(Box::new(|file, context| self.compile(file, context)))
    }

    fn check_numbers(&self, file: &ModelFile, context: &mut Context) {
        law::numbers(file, context);
        length(self.length.as_ref(), context);
    }
}

impl LagrangianTable {
    fn compile(&self, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Plan>> {
        let before = context.out.errors();
        let laws = law::nodes(file, context);
        let kinetic = context.node(&self.kinetic);
        let potential = match &self.potential {
            Some(formula) => context.node_of_positions(formula, "the potential energy"),
            None => Some(context.graph.constant(0.0)),
        };
        let zero = context.graph.constant(0.0);
        let mut forces = vec![zero; context.names.coordinates.len()];
        for (key, formula) in self.force.iter().flat_map(|force| &force.items) {
            if let (Some(Target::Position(i)), Some(node)) = (context.target(key, false), context.node(formula)) {
                forces[i] = node;
            }
        }
        if context.out.errors() > before {
            return None;
        }
        let laws = laws?;
        let mut source = Source {
            graph: std::mem::take(&mut context.graph),
            coordinates: context.names.coordinates.clone(),
            kinetic: kinetic?,
            potential: potential?,
            forces,
            laws: laws.iter().map(LawNodes::source).collect::<Vec<SourceLaw>>(),
            initial: State::default(),
        };
        let derived = EquationPlan::within(&mut source, most(self.operations.as_ref()));
        context.graph = source.graph;
        match derived {
            Ok(equations) => {
                let (kinetic, length) = (self.kinetic.place.clone(), self.length.clone());
                Some(Box::new(LagrangianPlan { equations, kinetic, length }))
            }
            Err(error) => {
                self.report(&error, &laws, context);
                None
            }
        }
    }

    /// Where an error of the derivation belongs.
    fn report(&self, error: &EquationError, laws: &[LawNodes], context: &mut Context) {
        let output = |name: &str, row: usize| {
            let law = laws.iter().find(|law| law.name == name).and_then(|law| law.outputs.get(row));
            law.map_or(&self.place, |(_, place)| place)
        };
        let (place, hint): (&Place, &str) = match error {
            EquationError::NotQuadratic { .. } => (
                &self.kinetic.place,
                "each term has a product of two velocities, as in m/2*x'^2; put other forces under force",
            ),
            EquationError::MassOfTime { .. } => (&self.kinetic.place, "the mass matrix may depend on coordinates only"),
            EquationError::TooLarge { .. } => {
                return too_large(error, self.operations.as_ref(), &self.place, context);
            }
            EquationError::PotentialOfVelocity { .. } => {
                (self.potential.as_ref().map_or(&self.place, |formula| &formula.place), "put it under force")
            }
            EquationError::SlidingNotLinear { law, .. } => {
                (output(law, 1), "each term has one velocity as a factor, as in x' + R*phi'")
            }
            EquationError::OutputOfVelocity { law, .. } | EquationError::Outputs { law, .. } => {
                (output(law, 0), "it may depend on t, coordinates and parameters")
            }
        };
        context.out.error(&place.clone(), error.to_string()).hint(hint);
    }
}

/// The equations, where the kinetic energy stands, and the length of the model.
#[derive(Debug)]
struct LagrangianPlan {
    equations: EquationPlan,
    kinetic: Place,
    length: Option<Formula>,
}

impl Plan for LagrangianPlan {
    fn bind(&self, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Bound>> {
        let (laws, length) = (law::numbers(file, context), length(self.length.as_ref(), context)?);
        let laws = laws?;
        let numbers: Vec<_> = laws.iter().map(|law| (law.law, [law.restitution, law.tangential])).collect();
        let equations = self.equations.bind(&context.vector(), &numbers).with_length(length);
        Some(Box::new(LagrangianModel { equations, laws, kinetic: self.kinetic.clone() }))
    }

    fn equations(&self) -> Result<&EquationPlan, BuildError> {
        Ok(&self.equations)
    }
}

/// The equations with numbers.
#[derive(Debug)]
struct LagrangianModel {
    equations: EquationPlan,
    laws: Vec<LawInfo>,
    kinetic: Place,
}

impl Bound for LagrangianModel {
    fn laws(&self) -> Vec<LawInfo> {
        self.laws.clone()
    }

    fn model(&self, initial: &State) -> Result<AnyModel, BuildError> {
        Ok(AnyModel::Mechanical(Box::new(self.equations.model(initial.clone()))))
    }

    fn start(&self, state: &State, _: &ModelFile, context: &mut Context) -> Option<AnyModel> {
        let mut model: Box<dyn Mechanical> = Box::new(self.equations.model(state.clone()));
        let mass = check::dense_mass(&mut *model, &state.q);
        if let Some(pivot) = check::bad_pivot(state.q.len(), &mass) {
            check::not_positive(&self.kinetic, Some(pivot), context);
            return None;
        }
        Some(AnyModel::Mechanical(model))
    }
}
