//! Loads and motors: expressions become functions of signals, numbers that the model knows.

use carom::ModelError;
use carom::multibody::load::Axes;
use carom::multibody::{Drive, Function, JointCoordinate, Load, Motor, Signal};

use super::Mechanism;
use super::number::word;
use super::repeat::{Copy, Index, copies, name};
use super::signal::Signals;
use super::tables::{LoadTable, MotorTable};
use crate::diagnostic::Place;
use crate::expression::{Evaluator, NodeId, Tape};
use crate::file::{Formula, ModelFile, OneOrMore, Text};
use crate::scene::context::{Context, label};

/// Most numbers that a load may depend on.
const MOST: usize = carom::multibody::function::MOST_INPUTS;

/// A function of signals, with parameters as inputs.
#[derive(Clone, Debug)]
pub(super) struct Expressions {
    signals: Vec<Signal>,
    tape: Tape,
}

impl Expressions {
    /// The expressions with these parameters.
    fn bind(&self, parameters: &[f64]) -> Expressions {
        Expressions { signals: self.signals.clone(), tape: self.tape.bind(parameters) }
    }

    /// The function itself.
    fn function(&self) -> Box<dyn Function> {
        Box::new(TapeFunction(Evaluator::new(&self.tape)))
    }
}

/// A tape as a function: the first number is the time.
#[derive(Clone)]
struct TapeFunction(Evaluator);

impl Function for TapeFunction {
    fn value(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        let Some((t, rest)) = x.split_first() else { return Ok(()) };
        out.copy_from_slice(self.0.eval(*t, rest, &[]));
        Ok(())
    }

    fn derivative(&mut self, x: &[f64], dx: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        let (Some((t, rest)), Some((_, along))) = (x.split_first(), dx.split_first()) else { return Ok(()) };
        out.copy_from_slice(self.0.along((*t, rest, &[]), [&dx[..1], along, &[]], &[]));
        Ok(())
    }

    fn copy(&self) -> Box<dyn Function> {
        Box::new(self.clone())
    }
}

/// A load whose expressions are compiled.
#[derive(Clone, Debug)]
pub(super) struct LoadPlan {
    name: String,
    body: String,
    point: Option<OneOrMore>,
    index: Index,
    in_body: bool,
    expressions: Expressions,
}

/// What a motor prescribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prescribed {
    Position,
    Velocity,
    Effort,
}

/// A motor whose expression is compiled.
#[derive(Clone, Debug)]
pub(super) struct MotorPlan {
    name: String,
    pub place: Place,
    coordinate: JointCoordinate,
    what: Prescribed,
    expressions: Expressions,
}

/// A compiled function of some nodes; `None` where they depend on what loads cannot know.
fn expressions(nodes: Vec<NodeId>, places: &[Place], signals: &Signals, context: &mut Context) -> Option<Expressions> {
    let mut slots = vec![0];
    for (node, place) in nodes.iter().zip(places) {
        for slot in context.graph.slots(*node).into_iter().filter(|slot| *slot > 0) {
            if signals.of(slot).is_none() {
                let name = context.slot_name(slot);
                let error = context.out.error(place, format!("a load may not depend on `{name}`"));
                error.hint(
                    "take positions and velocities of mass centres, NAME.wx, NAME.wy, NAME.wz or joint coordinates",
                );
                return None;
            }
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
    }
    if slots.len() > MOST {
        let place = places.first()?;
        let message = format!("the load depends on {} numbers, the limit is {MOST}", slots.len());
        context.out.error(place, message).hint("write several loads");
        return None;
    }
    let compact: Vec<(usize, NodeId)> =
        slots.iter().enumerate().map(|(k, slot)| (*slot, context.graph.input(k))).collect();
    let nodes = context.graph.substitute(&nodes, &compact);
    let signals = slots.iter().map(|slot| signals.of(*slot)).collect::<Option<Vec<Signal>>>()?;
    Some(Expressions { signals, tape: Tape::compile(&context.graph, &nodes) })
}

/// Reads and compiles all loads.
pub(super) fn loads(
    file: &ModelFile,
    mechanism: &Mechanism,
    signals: &Signals,
    context: &mut Context,
) -> Vec<LoadPlan> {
    let copies = copies(file.load.as_ref(), |table: &LoadTable| table.repeat.as_ref(), context);
    let mut all = Vec::new();
    for (i, Copy { table, index }) in copies.into_iter().enumerate() {
        if context.out.is_full() {
            break;
        }
        let load = context.indexed(&index.clone(), |context| load(table, index, i, (mechanism, signals), context));
        all.extend(load);
    }
    all
}

fn load(
    table: &LoadTable,
    index: Index,
    number: usize,
    (mechanism, signals): (&Mechanism, &Signals),
    context: &mut Context,
) -> Option<LoadPlan> {
    let body = mechanism.body(&table.body, context);
    if body.as_deref() == Some(carom::multibody::GROUND) {
        context.out.error(&table.body.place, "a load on the ground does nothing").hint("name a body that moves");
        return None;
    }
    let frames = [("world", false), ("body", true)];
    let in_body = table.frame.as_ref().map_or(Some(false), |text| word(text, "frame", &frames, context));
    if table.force.is_none() && table.torque.is_none() {
        context.out.error(&table.body.place, "the load has neither `force` nor `torque`");
        return None;
    }
    let planar = mechanism.measure.planar;
    let (zero, mut good) = (context.graph.constant(0.0), true);
    let (mut nodes, mut places) = (vec![zero; 6], vec![table.body.place.clone(); 6]);
    let turning = if planar { 1 } else { 3 };
    let parts = [
        (&table.force, 0, mechanism.measure.components(), "`force`"),
        (&table.torque, 6 - turning, turning, "`torque`"),
    ];
    for (list, first, count, what) in parts {
        let Some(list) = list else { continue };
        if list.items.len() != count {
            let message = format!("{what} has {count} components here, found {}", list.items.len());
            context.out.error(&list.place, message);
            good = false;
            continue;
        }
        for (k, formula) in list.items.iter().enumerate() {
            places[first + k] = formula.place.clone();
            match context.node(formula) {
                Some(node) => nodes[first + k] = node,
                None => good = false,
            }
        }
    }
    if let Some(at) = &table.at {
        mechanism.measure.vector(at, mechanism.measure.length, "`at`", context)?;
    }
    let name = match &table.name {
        Some(text) => name(text, context)?,
        None => format!("load {}", number + 1),
    };
    if !good {
        return None;
    }
    let expressions = expressions(nodes, &places, signals, context)?;
    Some(LoadPlan { name, body: body?, point: table.at.clone(), index, in_body: in_body?, expressions })
}

/// A load with numbers.
#[derive(Clone, Debug)]
pub(super) struct BoundLoad {
    name: String,
    body: String,
    point: [f64; 3],
    in_body: bool,
    expressions: Expressions,
}

impl LoadPlan {
    /// The load with the values of the context.
    pub fn bind(&self, mechanism: &Mechanism, context: &mut Context) -> Option<BoundLoad> {
        let measure = &mechanism.measure;
        let point = match &self.point {
            Some(at) => context.indexed(&self.index, |context| measure.vector(at, measure.length, "`at`", context))?,
            None => [0.0; 3],
        };
        let point = if self.point.is_some() { mechanism.about_centre(&self.body, point) } else { point };
        let (name, body) = (self.name.clone(), self.body.clone());
        Some(BoundLoad {
            name,
            body,
            point,
            in_body: self.in_body,
            expressions: self.expressions.bind(&context.vector()),
        })
    }
}

impl BoundLoad {
    /// The load of a model.
    pub fn make(&self) -> Load {
        Load {
            name: self.name.clone(),
            body: self.body.clone(),
            point: self.point,
            axes: if self.in_body { Axes::Body } else { Axes::World },
            inputs: self.expressions.signals.clone(),
            function: self.expressions.function(),
        }
    }
}

/// Reads and compiles all motors.
pub(super) fn motors(
    file: &ModelFile,
    mechanism: &Mechanism,
    signals: &Signals,
    context: &mut Context,
) -> Vec<MotorPlan> {
    let copies = copies(file.motor.as_ref(), |table: &MotorTable| table.repeat.as_ref(), context);
    let mut all = Vec::new();
    for Copy { table, index } in copies {
        if context.out.is_full() {
            break;
        }
        all.extend(context.indexed(&index, |context| motor(table, mechanism, signals, context)));
    }
    all
}

fn motor(table: &MotorTable, mechanism: &Mechanism, signals: &Signals, context: &mut Context) -> Option<MotorPlan> {
    let coordinate = mechanism.coordinate(&table.joint, context);
    let name = match &table.name {
        Some(text) => {
            let value = name(text, context)?;
            label(&Text { value, place: text.place.clone() }, &mut context.out)?
        }
        None => format!("{}.motor", coordinate.as_ref()?.joint),
    };
    let (what, formula): (_, &Formula) = match (&table.position, &table.velocity, &table.torque) {
        (Some(formula), None, None) => (Prescribed::Position, formula),
        (None, Some(formula), None) => (Prescribed::Velocity, formula),
        (None, None, Some(formula)) => (Prescribed::Effort, formula),
        (None, None, None) => {
            context.out.error(&table.joint.place, "a motor has a `position`, a `velocity` or a `torque`");
            return None;
        }
        (position, velocity, torque) => {
            let second = [position, velocity, torque].into_iter().flatten().nth(1)?;
            context.out.error(&second.place, "a motor has only one of `position`, `velocity` and `torque`");
            return None;
        }
    };
    let node = match what {
        Prescribed::Effort => context.node(formula),
        _ => context.node_of_time(formula, "what the motor prescribes"),
    }?;
    let turns = coordinate.as_ref().is_some_and(|coordinate| mechanism.turns(coordinate));
    let unit = if turns { mechanism.measure.angle } else { mechanism.measure.length };
    let unit = context.graph.constant(if what == Prescribed::Effort { 1.0 } else { unit });
    let node = context.graph.multiply(unit, node);
    let expressions = expressions(vec![node], std::slice::from_ref(&formula.place), signals, context)?;
    Some(MotorPlan { name, place: table.joint.place.clone(), coordinate: coordinate?, what, expressions })
}

impl MotorPlan {
    /// The motor with these parameters.
    pub fn bind(&self, parameters: &[f64]) -> MotorPlan {
        MotorPlan { expressions: self.expressions.bind(parameters), ..self.clone() }
    }

    /// The motor of a model.
    pub fn make(&self) -> Motor {
        let function = self.expressions.function();
        let drive = match self.what {
            Prescribed::Position => Drive::Position(function),
            Prescribed::Velocity => Drive::Velocity(function),
            Prescribed::Effort => Drive::Effort(self.expressions.signals.clone(), function),
        };
        Motor { name: self.name.clone(), coordinate: self.coordinate.clone(), drive }
    }

    /// Its name in results.
    pub fn name(&self) -> &str {
        &self.name
    }
}
