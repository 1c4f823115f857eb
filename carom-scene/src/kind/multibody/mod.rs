//! Rigid bodies with joints, springs, motors and contacts, in the plane and in space.
//!
//! ```text
//!     tables ──▶ Mechanism (numbers in SI, descriptions of the library) ──▶ Multibody::build ──▶ model
//! ```
//!
//! The tables are read twice: once to declare the names, when parameters that decide on the geometry of expressions and
//! drawings are folded, and once for each set of values.

mod body;
mod contact;
mod draw;
mod joint;
mod load;
mod mesh;
mod node;
mod number;
mod plan;
mod play;
mod repeat;
mod shape;
mod signal;
mod solid;
mod space;
mod spring;
mod tables;

use std::collections::HashMap;

use carom::multibody::{Body, GROUND, JointCoordinate, Multibody, MultibodyError};
use carom::rotation::Retraction;

pub use mesh::MeshForm;
pub(crate) use number::is_base;
pub use shape::Form;
pub use tables::{
    AssembleTable, AttitudeTable, BearingTable, BodyShapeTable, BodyTable, ClearanceTable, ContactsTable, JointTable,
    LinkTable, LoadTable, MaterialPairTable, MaterialTable, MotorTable, MultibodyTable, SpringTable, StopsTable,
    Tensor,
};

use super::{Compile, Kind, KindRow, Words, length};
use crate::diagnostic::{Place, suggest};
use crate::file::{ModelFile, Text};
use crate::scene::context::Context;
use body::{BodyInfo, identifier};
use contact::ContactInfo;
use joint::JointInfo;
use number::{Measure, word};
use solid::Solids;
use spring::SpringInfo;

pub(super) const ROW: KindRow = KindRow::of::<MultibodyTable>(Words {
    name: "multibody",
    about: "rigid bodies with joints, play, springs, motors and contacts, in the plane and in space",
    template: include_str!("../multibody.toml"),
});

impl Kind for MultibodyTable {
    fn place(&self) -> &Place {
        &self.place
    }

    fn names<'a>(&'a self, file: &ModelFile, context: &mut Context) -> Option<Compile<'a>> {
        let before = context.out.errors();
        refuse_foreign(file, context);
        let mechanism = Mechanism::read(self, file, true, context);
        if context.out.errors() > before {
            return None;
        }
        plan::names(self, mechanism?, file, context)
    }

    fn check_numbers(&self, file: &ModelFile, context: &mut Context) {
        Mechanism::read(self, file, false, context);
    }
}

/// Tables of equations have no place in a model of bodies.
fn refuse_foreign(file: &ModelFile, context: &mut Context) {
    let constraints = file.constraint.iter().flatten().map(|table| &table.place);
    let rows = file.row.iter().flatten().map(|table| &table.place);
    let sets = file.set.iter().flatten().map(|table| &table.place);
    if let Some(place) = constraints.chain(rows).chain(sets).next() {
        let error = context.out.error(place, "a model of bodies has [[joint]]s and [[contact]]s");
        error.hint("constraints, rows and sets belong to models that are written as equations");
    }
    let initial = file.initial.iter().flat_map(|entries| &entries.items).find(|(key, _)| key.value != "project");
    if let Some((key, _)) = initial {
        let error = context.out.error(&key.place, "a model of bodies starts where its bodies are drawn");
        error.hint("give `position`, `attitude`, `velocity` and `spin` in [[body]]");
    }
}

/// Refuses the tables of bodies in other models.
pub(super) fn refuse(file: &ModelFile, context: &mut Context) {
    let bodies = file.body.iter().flatten().map(|table| &table.place);
    let joints = file.joint.iter().flatten().map(|table| &table.place);
    let springs = file.spring.iter().flatten().map(|table| &table.place);
    let loads = file.load.iter().flatten().map(|table| &table.place);
    let motors = file.motor.iter().flatten().map(|table| &table.place);
    let assemble = file.assemble.iter().map(|table| &table.place);
    let contacts = file.contacts.iter().map(|table| &table.place);
    let materials = file.material.iter().flatten().map(|table| &table.place);
    let pairs = file.material_pair.iter().flatten().map(|table| &table.place);
    let solid = contacts.chain(materials).chain(pairs);
    let all = bodies.chain(joints).chain(springs).chain(loads).chain(motors).chain(assemble).chain(solid);
    if let Some(place) = all.into_iter().next() {
        let error = context.out.error(place, "bodies, joints, springs, loads and motors belong to kind \"multibody\"");
        error.hint("write kind = \"multibody\" in [model]");
    }
}

/// All that the tables say, with numbers in SI.
#[derive(Clone, Debug)]
pub(super) struct Mechanism {
    measure: Measure,
    gravity: [f64; 3],
    retraction: Retraction,
    length: Option<f64>,
    assembly: Option<f64>,
    /// The ground first.
    bodies: Vec<BodyInfo>,
    index: HashMap<String, usize>,
    joints: Vec<JointInfo>,
    springs: Vec<SpringInfo>,
    contacts: Vec<ContactInfo>,
    solids: Solids,
    /// Whether bodies or joints have mistakes that hide their names: what refers to them is no mistake then.
    lost_bodies: bool,
    lost_joints: bool,
    /// Joint coordinates whose turns are counted in any case.
    turns: Vec<JointCoordinate>,
    /// Number of coordinates behind those of bodies, in which turns are counted.
    counted: usize,
}

/// Largest violation of an assembled joint, where the file says none.
const ASSEMBLY: f64 = 1e-12;

impl Mechanism {
    /// Reads all tables but loads and motors; `None` if there are mistakes.
    fn read(table: &MultibodyTable, file: &ModelFile, fold: bool, context: &mut Context) -> Option<Mechanism> {
        let before = context.out.errors();
        let planar = dimension(table, context)?;
        let measure = Measure::of(file, planar, fold, context)?;
        let gravity = match &table.gravity {
            Some(list) => Measure { fold: false, ..measure }.vector(list, 1.0, "`gravity`", context),
            None => Some([0.0; 3]),
        };
        let retractions = [("exponential", Retraction::Exponential), ("cayley", Retraction::Cayley)];
        let retraction = match &table.retraction {
            Some(text) => word(text, "retraction", &retractions, context),
            None => Some(Retraction::Exponential),
        };
        let length = length(table.length.as_ref(), context);
        let assembly = file.assemble.as_ref().map(|table| match &table.tolerance {
            Some(formula) => measure.positive(formula, measure.length, "the tolerance", context),
            None => Some(ASSEMBLY),
        });
        let materials = solid::materials(file, &measure, context);
        let (bodies, lost_bodies) = body::read(file, &measure, &materials, context);
        let mut mechanism = Mechanism {
            measure,
            gravity: gravity.unwrap_or_default(),
            retraction: retraction.unwrap_or(Retraction::Exponential),
            length: length.flatten().map(|length| length * measure.length),
            assembly: assembly.flatten(),
            index: HashMap::new(),
            bodies,
            joints: Vec::new(),
            springs: Vec::new(),
            contacts: Vec::new(),
            solids: Solids::default(),
            lost_bodies,
            lost_joints: false,
            turns: Vec::new(),
            counted: 0,
        };
        mechanism.index_bodies(context);
        joint::read(file, &mut mechanism, context);
        mechanism.check_names(context);
        spring::read(file, &mut mechanism, context);
        contact::read(file, &mut mechanism, context);
        solid::read(file, materials, &mut mechanism, context);
        (context.out.errors() == before).then_some(mechanism)
    }

    /// Bodies by name; two of the same name are told.
    fn index_bodies(&mut self, context: &mut Context) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (i, body) in self.bodies.iter().enumerate() {
            if let Some(&first) = seen.get(&identifier(&body.name)) {
                taken(&body.name, &body.place, "body", &self.bodies[first].place, context);
                self.lost_bodies = true;
            } else {
                seen.insert(identifier(&body.name), i);
            }
            self.index.entry(body.name.clone()).or_insert(i);
        }
    }

    /// Names of joints differ from each other and from those of bodies.
    fn check_names(&self, context: &mut Context) {
        let bodies = self.bodies.iter().map(|body| (identifier(&body.name), (&body.place, "body")));
        let mut seen: HashMap<String, (&Place, &str)> = bodies.collect();
        for info in &self.joints {
            let key = identifier(&info.joint.name);
            if let Some((first, what)) = seen.get(&key) {
                taken(&info.joint.name, &info.place, what, first, context);
            } else {
                seen.insert(key, (&info.place, "joint"));
            }
        }
    }

    /// The name of a body that a text means.
    fn body(&self, text: &Text, context: &mut Context) -> Option<String> {
        let wanted = repeat::name(text, context)?;
        self.body_named(&wanted, &text.place, context).map(|body| self.bodies[body].name.clone())
    }

    /// The number of the body with a name.
    fn body_named(&self, wanted: &str, place: &Place, context: &mut Context) -> Option<usize> {
        if let Some(&body) = self.index.get(wanted) {
            return Some(body);
        }
        if self.lost_bodies {
            return None;
        }
        let names = self.bodies.iter().map(|body| body.name.as_str());
        let hint = suggest(wanted, names.clone(), true, || {
            format!("bodies: {}", names.take(12).collect::<Vec<_>>().join(", "))
        });
        context.out.error(place, format!("there is no body {wanted:?}")).hint(hint);
        None
    }

    /// A point of a body, counted as the tables do, from its mass centre.
    fn about_centre(&self, body: &str, point: [f64; 3]) -> [f64; 3] {
        let centre = self.index.get(body).map_or([0.0; 3], |&body| self.bodies[body].centre);
        std::array::from_fn(|i| point[i] - centre[i])
    }

    /// The first coordinate of the joint that a text means, or the one behind a point: "slide.along".
    fn coordinate(&self, text: &Text, context: &mut Context) -> Option<JointCoordinate> {
        let wanted = repeat::name(text, context)?;
        let (name, part) = wanted.split_once('.').map_or((wanted.as_str(), None), |(name, part)| (name, Some(part)));
        let named = Text { value: name.into(), place: text.place.clone() };
        let joint = &self.joints[joint::known(&named, self, context)?].joint;
        let (kind, free) = (joint.kind, joint.coordinates());
        let index = match part {
            None if free.is_empty() => {
                let message = format!("a {} joint has no coordinate", kind.name);
                context.out.error(&text.place, message).hint("take a joint that turns or slides");
                return None;
            }
            None => 0,
            Some(part) => match free.iter().position(|known| *known == part) {
                Some(index) => index,
                None => {
                    let message = format!("the joint `{name}` has no coordinate {part:?}");
                    context.out.error(&text.place, message).hint(format!("it has {}", free.join(", ")));
                    return None;
                }
            },
        };
        Some(JointCoordinate { joint: name.into(), index })
    }

    /// Whether a joint coordinate is an angle.
    fn turns(&self, coordinate: &JointCoordinate) -> bool {
        let joint = self.joints.iter().find(|info| info.joint.name == coordinate.joint);
        joint.is_some_and(|info| match info.joint.links.get(coordinate.index) {
            Some(link) => link.turns,
            None => info.joint.kind.coordinates.get(coordinate.index).is_some_and(|name| name.ends_with("angle")),
        })
    }

    /// The size of the model: the largest distance of a body from the origin or of a shape from its body.
    fn extent(&self) -> f64 {
        let of = |p: &[f64; 3]| p.iter().map(|x| x * x).sum::<f64>().sqrt();
        let bodies = self.bodies.iter().map(|body| {
            let shapes = body.shapes.iter().map(|info| match &info.form {
                shape::Form::Touching(shape) => shape.reach(),
                shape::Form::Polygon(points) => points.iter().map(of).fold(0.0, f64::max),
                shape::Form::Mesh(mesh) => mesh.points().map(|point| of(&point)).fold(0.0, f64::max),
            });
            of(&body.position) + shapes.fold(0.0, f64::max)
        });
        bodies.fold(0.0, f64::max)
    }

    /// Number of coordinates of bodies.
    fn poses(&self) -> usize {
        (self.bodies.len() - 1) * if self.measure.planar { 3 } else { 7 }
    }

    /// Turns of joints that the text speaks of are counted.
    fn count(&mut self, file: &ModelFile) {
        let text = &file.name.place.source.text;
        let motors = file.motor.iter().flatten().map(|motor| motor.joint.value.as_str());
        let motors: Vec<&str> = motors.collect();
        self.turns.clear();
        for joint in self.joints.iter().map(|info| &info.joint) {
            for (index, part) in joint.coordinates().into_iter().enumerate() {
                let name = format!("{}.{part}", joint.name);
                let written = text.contains(&name) || text.contains(&identifier(&name));
                if written || motors.iter().any(|motor| *motor == joint.name || *motor == name || motor.contains('{')) {
                    self.turns.push(JointCoordinate { joint: joint.name.clone(), index });
                }
            }
        }
    }

    /// The description without loads and motors.
    fn description(&self) -> Multibody {
        let mut all = if self.measure.planar { Multibody::planar() } else { Multibody::spatial() };
        all = all.gravity(self.gravity).retraction(self.retraction);
        (all.length, all.assembly, all.counted) = (self.length, self.assembly, self.turns.clone());
        for info in &self.bodies {
            let Some(mass) = info.mass else { continue };
            all.bodies.push(Body {
                position: info.position,
                attitude: info.attitude,
                angle: info.angle,
                velocity: info.velocity,
                spin: info.spin,
                ..Body::new(&info.name, mass.mass, mass.inertia)
            });
        }
        all.joints.extend(self.joints.iter().map(|info| info.joint.clone()));
        all.springs.extend(self.springs.iter().map(|info| info.spring.clone()));
        all.contacts.extend(self.contacts.iter().map(|info| info.contact.clone()));
        self.solids.describe(&mut all);
        all
    }

    /// Where the thing with a name stands that an error of the library speaks of.
    fn place_of(&self, name: &str) -> Option<&Place> {
        let joint = self.joints.iter().find(|info| info.joint.name == name).map(|info| &info.place);
        let body = || self.bodies.iter().find(|info| info.name == name).map(|info| &info.place);
        let spring = || self.springs.iter().find(|info| info.spring.name == name).map(|info| &info.place);
        let contact = || self.contacts.iter().find(|info| info.contact.name == name).map(|info| &info.place);
        joint.or_else(body).or_else(spring).or_else(contact).or_else(|| self.solids.place_of(name))
    }

    /// Tells an error of the library at the place where the reason stands.
    fn report(&self, error: &MultibodyError, otherwise: &Place, context: &mut Context) {
        let name = match error {
            MultibodyError::Duplicate { name, .. }
            | MultibodyError::Unknown { name, .. }
            | MultibodyError::Number { name, .. }
            | MultibodyError::Inertia { name, .. }
            | MultibodyError::Misfit { name, .. }
            | MultibodyError::Open { name, .. }
            | MultibodyError::Assembly { name, .. }
            | MultibodyError::Shape { name, .. }
            | MultibodyError::Branch { name } => name.as_str(),
            MultibodyError::Pair { shapes, .. } | MultibodyError::Materials { shapes, .. } => shapes[1].as_str(),
            MultibodyError::Model(error) => error.contact().unwrap_or_default(),
        };
        let place = self.place_of(name).unwrap_or(otherwise);
        let finding = context.out.error(place, error.to_string());
        match error {
            MultibodyError::Open { .. } => finding.hint("add [assemble] to close the joints before the run"),
            MultibodyError::Assembly { .. } => finding.hint("draw the bodies nearer to where the joints are closed"),
            MultibodyError::Pair { .. } => {
                finding.hint("leave the two out: [contacts] exclude = [[\"body\", \"body\"]], or contact = false")
            }
            MultibodyError::Materials { .. } => {
                finding.hint("add a [[material_pair]], or combine = \"geometric-mean\" (or another rule) to [contacts]")
            }
            _ => finding,
        };
    }
}

/// A name that two things have.
fn taken(name: &str, place: &Place, what: &str, first: &Place, context: &mut Context) {
    let line = first.source.position(first.span.start).0;
    let message = match name {
        GROUND => format!("{GROUND:?} is the name of what does not move"),
        name => format!("the name {name:?} is taken by another {what}"),
    };
    context.out.error(place, message).hint(format!("the other one is in line {line}"));
}

/// Whether the model is planar.
fn dimension(table: &MultibodyTable, context: &mut Context) -> Option<bool> {
    let Some(formula) = &table.dimension else { return Some(false) };
    let value = context.structural(formula)?;
    if value == 2.0 || value == 3.0 {
        return Some(value == 2.0);
    }
    context.out.error(&formula.place, format!("the dimension is {value}")).hint("2 for the plane, 3 for space");
    None
}
