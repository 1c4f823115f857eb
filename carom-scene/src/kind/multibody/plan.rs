//! From tables to models: names, expressions, and the model with its numbers.

use carom::model::{Labels, Mechanical, Tangent};
use carom::multibody::{Combine, Multibody, MultibodyError, MultibodyModel};
use carom::scheme::AnyModel;
use carom::{Coupling, Key, Space, State};
use carom_solve::Law;

use super::load::{BoundLoad, LoadPlan, MotorPlan, loads, motors};
use super::node::Frames;
use super::play::{self, PlacedPlay};
use super::signal::{self, Placed, Signals, nodes};
use super::{Mechanism, MultibodyTable, draw, space};
use crate::diagnostic::Place;
use crate::expression::NodeId;
use crate::file::ModelFile;
use crate::kind::{Bound, Compile, Plan};
use crate::scene::context::Context;
use crate::scene::draw::Sketch;
use crate::scene::{self, BuildError, LawInfo, PlayInfo};

/// Largest number of columns of joints: coordinates and places of pins in their holes.
const MOST_COLUMNS: usize = 200;

/// Penetrations up to this part of the size of the model are rounding.
const PENETRATION: f64 = 1e-9;

/// Declares the names; what is drawn must make a model already.
pub(super) fn names<'a>(
    table: &'a MultibodyTable,
    mut mechanism: Mechanism,
    file: &ModelFile,
    context: &mut Context,
) -> Option<Compile<'a>> {
    mechanism.count(file);
    let model = match mechanism.description().build() {
        Ok(model) => model,
        Err(error) => {
            mechanism.report(&error, &table.place, context);
            return None;
        }
    };
    let (placed, plays) = (placed(&model), play::placed(&model));
    mechanism.counted = model.positions() - mechanism.poses();
    let signals = signal::declare(&mechanism, &placed, &model.labels(), context);
    Some(Box::new(move |file, context| compile(table, mechanism, (placed, plays), signals, file, context)))
}

/// The coordinates of joints, as the model has them.
fn placed(model: &MultibodyModel) -> Vec<Placed> {
    let all = model.joint_coordinates();
    all.map(|placed| Placed {
        of: placed.of.clone(),
        name: placed.name.to_owned(),
        bodies: placed.bodies,
        coordinate: placed.coordinate.clone(),
        counter: placed.counter,
        offset: placed.offset,
    })
    .collect()
}

fn compile(
    table: &MultibodyTable,
    mechanism: Mechanism,
    (placed, plays): (Vec<Placed>, Vec<PlacedPlay>),
    mut signals: Signals,
    file: &ModelFile,
    context: &mut Context,
) -> Option<Box<dyn Plan>> {
    let before = context.out.errors();
    let (loads, motors) = signals.inside(context, |signals, context| {
        (loads(file, &mechanism, signals, context), motors(file, &mechanism, signals, context))
    });
    if context.out.errors() > before {
        return None;
    }
    let mut frames = Frames::new(mechanism.measure.planar, 1 + context.names.coordinates.len());
    let mut columns = Vec::new();
    for placed in placed.iter().take(MOST_COLUMNS) {
        let [value, _] = nodes(placed, &mut frames, &mut context.graph);
        let name = format!("joint.{}", placed.name);
        let unit = if placed.coordinate.is_angle() { "rad" } else { "m" };
        context.names.units.push((name.clone(), unit));
        columns.push((name, value));
    }
    columns.extend(play::columns(&plays, &mechanism, &mut frames, file, context));
    columns.truncate(MOST_COLUMNS);
    let sketch = draw::sketch(&mechanism, &mut frames, &mut context.graph);
    let motor_places = motors.iter().map(|motor| (motor.name().to_owned(), motor.place.clone())).collect();
    Some(Box::new(MultibodyPlan { table: table.clone(), loads, motors, columns, sketch, motor_places }))
}

/// Expressions of loads and motors, columns and the drawing.
#[derive(Debug)]
struct MultibodyPlan {
    table: MultibodyTable,
    loads: Vec<LoadPlan>,
    motors: Vec<MotorPlan>,
    columns: Vec<(String, NodeId)>,
    sketch: Option<Sketch>,
    motor_places: Vec<(String, Place)>,
}

impl Plan for MultibodyPlan {
    fn bind(&self, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Bound>> {
        let mut mechanism = Mechanism::read(&self.table, file, false, context)?;
        mechanism.count(file);
        let loads: Option<Vec<BoundLoad>> = self.loads.iter().map(|load| load.bind(&mechanism, context)).collect();
        let parameters = context.vector();
        let motors = self.motors.iter().map(|motor| motor.bind(&parameters)).collect();
        let mut bound = Bodies {
            mechanism,
            loads: loads?,
            motors,
            laws: Vec::new(),
            plays: Vec::new(),
            initial: State::default(),
            motor_places: self.motor_places.clone(),
        };
        let model = match bound.description().build() {
            Ok(model) => model,
            Err(error) => {
                bound.refuse(&error, &self.table, context);
                return None;
            }
        };
        bound.settle(model, &self.table, context)?;
        Some(Box::new(bound))
    }

    fn columns(&self) -> &[(String, NodeId)] {
        &self.columns
    }

    fn sketch(&self) -> Option<&Sketch> {
        self.sketch.as_ref()
    }
}

/// A model of bodies with numbers.
#[derive(Clone, Debug)]
struct Bodies {
    mechanism: Mechanism,
    loads: Vec<BoundLoad>,
    motors: Vec<MotorPlan>,
    laws: Vec<LawInfo>,
    plays: Vec<PlayInfo>,
    initial: State,
    motor_places: Vec<(String, Place)>,
}

impl Bodies {
    fn description(&self) -> Multibody {
        let mut all = self.mechanism.description();
        all.loads.extend(self.loads.iter().map(BoundLoad::make));
        all.motors.extend(self.motors.iter().map(MotorPlan::make));
        all
    }

    /// Tells why there is no model.
    fn refuse(&self, error: &MultibodyError, table: &MultibodyTable, context: &mut Context) {
        if let MultibodyError::Open { name, residual } = error
            && let Some((_, place)) = self.motor_places.iter().find(|(known, _)| known == name)
        {
            let message = format!("the joint starts {residual:.6e} beside what the motor prescribes");
            let error = context.out.error(place, message);
            error.hint("draw the bodies so that it fits, add [assemble], or change the expression");
            return;
        }
        self.mechanism.report(error, &table.place, context);
    }

    /// Laws and initial state of the first model.
    fn settle(&mut self, mut model: MultibodyModel, table: &MultibodyTable, context: &mut Context) -> Option<()> {
        let (initial, labels, mut coupling) = (model.initial(), model.labels(), Coupling::default());
        if let Err(error) = model.couple(initial.t, &initial.q, &mut coupling) {
            let place = error.contact().and_then(|name| self.place(name)).unwrap_or(&table.place).clone();
            context.out.error(&place, format!("the model cannot be evaluated where it is drawn: {error}"));
            return None;
        }
        let laws = labels.contacts.iter().enumerate();
        let info = |(i, (name, law)): (usize, &(String, Law))| {
            let at = coupling.find(Key::from(i), i);
            let restitution = at.map_or(0.0, |at| coupling.pairs[at].restitution);
            let tangential = at.map_or(0.0, |at| coupling.rebound_of(at));
            LawInfo { name: name.clone(), law: *law, restitution, tangential }
        };
        self.laws = laws.map(info).collect();
        self.plays = play::placed(&model).iter().filter_map(|play| play.info(&self.mechanism)).collect();
        self.initial = initial;
        Some(())
    }

    /// Where the thing stands that a law is named after: a contact, a joint or a motor.
    fn place(&self, law: &str) -> Option<&Place> {
        let motor = |name: &str| self.motor_places.iter().find(|(known, _)| known == name).map(|(_, place)| place);
        let base = || law.rsplit_once('.').map_or(law, |(base, _)| base);
        motor(law).or_else(|| self.mechanism.place_of(law)).or_else(|| self.mechanism.place_of(base()))
    }

    fn build(&self, initial: &State) -> Result<MultibodyModel, BuildError> {
        let model = self.description().build().map_err(|error| BuildError::Model(error.into()))?;
        Ok(model.starting(initial.clone()))
    }

    /// Contacts and stops at the start.
    fn check(&self, coupling: &Coupling, labels: &Labels, table: &Place, context: &mut Context) {
        let size = self.mechanism.length.unwrap_or_else(|| self.mechanism.extent());
        for (i, pair) in coupling.pairs.iter().enumerate().filter(|(i, _)| coupling.is_present(*i)) {
            let Some(law) = self.laws.get(i) else {
                if pair.gap < -PENETRATION * size {
                    let name = labels.contact(pair.key);
                    let place = self.mechanism.solids.place_of_contact(&name).or_else(|| self.place(&name));
                    let message = format!("the contact `{name}` begins with a penetration of {:.6e} m", -pair.gap);
                    let error = context.out.error(&place.unwrap_or(table).clone(), message);
                    error.hint("draw the bodies apart, change the shapes, or leave the contact out by `exclude`");
                    return;
                }
                continue;
            };
            let place = self.place(&law.name).unwrap_or(table).clone();
            if law.law.is_contact() && pair.gap < -PENETRATION * size {
                let contact = self.mechanism.contacts.iter().find(|info| {
                    info.contact.name == law.name || law.name.starts_with(&format!("{}.", info.contact.name))
                });
                let pair_of = match contact {
                    Some(info) => format!(" between `{}` and `{}`", info.contact.bodies[0], info.contact.bodies[1]),
                    None => String::new(),
                };
                let message =
                    format!("the contact `{}`{pair_of} begins with a penetration of {:.6e} m", law.name, -pair.gap);
                context.out.error(&place, message).hint("draw the bodies apart, or change the shapes");
            }
        }
    }
}

impl Bound for Bodies {
    fn laws(&self) -> Vec<LawInfo> {
        self.laws.clone()
    }

    fn plays(&self) -> Vec<PlayInfo> {
        self.plays.clone()
    }

    fn combine(&self) -> Option<Option<Combine>> {
        self.mechanism.solids.combine()
    }

    fn space(&self) -> Option<scene::Space> {
        space::of(&self.mechanism)
    }

    fn multibody(&self, initial: &State) -> Option<Result<MultibodyModel, BuildError>> {
        Some(self.build(initial))
    }

    fn initial(&self) -> Option<State> {
        Some(self.initial.clone())
    }

    fn model(&self, initial: &State) -> Result<AnyModel, BuildError> {
        Ok(AnyModel::Mechanical(Box::new(self.build(initial)?)))
    }

    fn tangent(&self, initial: &State) -> Option<Result<Box<dyn Tangent>, BuildError>> {
        Some(self.build(initial).map(|model| Box::new(model.tangent()) as Box<dyn Tangent>))
    }

    fn has_equations(&self) -> bool {
        false
    }

    fn start(&self, state: &State, file: &ModelFile, context: &mut Context) -> Option<AnyModel> {
        let before = context.out.errors();
        let table = file.model.table.place();
        let mut model = match self.build(state) {
            Ok(model) => model,
            Err(error) => {
                context.out.error(table, error.to_string());
                return None;
            }
        };
        let (mut coupling, mut force) = (Coupling::default(), vec![0.0; state.v.len()]);
        let outcome = model
            .detect(state, 0.0)
            .and_then(|_| model.couple(state.t, &state.q, &mut coupling))
            .and_then(|()| model.force(state.t, &state.q, &state.v, &mut force));
        if let Err(error) = outcome {
            context.out.error(table, format!("the model cannot be evaluated at the initial state: {error}"));
            return None;
        }
        self.check(&coupling, &model.labels(), table, context);
        (context.out.errors() == before).then(|| AnyModel::Mechanical(Box::new(model)))
    }
}
