//! Names that expressions may use, and the numbers of the model behind them.
//!
//! | name | what |
//! |---|---|
//! | `BODY.x`, `.y`, `.z`, with a prime | mass centre and its velocity |
//! | `BODY.angle`, with a prime | in the plane |
//! | `BODY.e0`, `.e1`, `.e2`, `.e3` | attitude in space |
//! | `BODY.wx`, `.wy`, `.wz` | angular velocity in axes of the space |
//! | `BODY.spin_x`, `.spin_y`, `.spin_z` | angular velocity in axes of the body, not in loads |
//! | `JOINT.angle`, `JOINT.along`, ..., with a prime | joint coordinates |

use std::cell::RefCell;

use carom::Labels;
use carom::multibody::coordinate::Coordinate;
use carom::multibody::joint::Chain;
use carom::multibody::{JointCoordinate, Signal};

use super::Mechanism;
use super::body::identifier;
use super::node::{Frames, NodeFrame, Nodes, Rated, angle, cross, dot, subtract};
use crate::expression::{Graph, NodeId, Scope};
use crate::scene::context::Context;

/// A coordinate of a joint, as the model has it.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// Which one.
    pub of: JointCoordinate,
    /// Its name: `joint.angle`.
    pub name: String,
    pub bodies: [usize; 2],
    pub coordinate: Coordinate,
    /// Place in q where its turns are counted.
    pub counter: Option<usize>,
    /// In the plane: angle of b less that of a where the coordinate is zero.
    pub offset: f64,
}

impl Placed {
    /// How it is written in expressions.
    fn identifier(&self) -> String {
        identifier(&self.name)
    }
}

/// Value and rate of a joint coordinate as expressions.
pub(super) fn nodes(placed: &Placed, frames: &mut Frames, graph: &mut Graph) -> [NodeId; 2] {
    let [a, b] = placed.bodies;
    let (frame_a, frame_b) = (frames.frame(graph, a), frames.frame(graph, b));
    let ([velocity_a, spin_a], [velocity_b, spin_b]) = (frames.motion(graph, a), frames.motion(graph, b));
    match placed.coordinate.clone() {
        Coordinate::Angle { axes: [u, w, d], mark, is_in_b } => {
            let value = match (frames.planar, placed.counter) {
                (true, _) => {
                    let mut turned = |body: usize| match body {
                        0 => graph.constant(0.0),
                        body => graph.input(frames.position(body, 2)),
                    };
                    let (of_a, of_b) = (turned(a), turned(b));
                    let (difference, offset) = (graph.subtract(of_b, of_a), graph.constant(placed.offset));
                    graph.subtract(difference, offset)
                }
                (false, Some(place)) => graph.input(1 + place),
                (false, None) => {
                    let (frame, other) = if is_in_b { (frame_b, frame_a) } else { (frame_a, frame_b) };
                    let m = other.direction(graph, mark);
                    let (u, w) = (frame.direction(graph, u), frame.direction(graph, w));
                    let (y, x) = (dot(graph, w, m), dot(graph, u, m));
                    let value = angle(graph, y, x);
                    if is_in_b { graph.negate(value) } else { value }
                }
            };
            let d = if is_in_b { frame_b } else { frame_a }.direction(graph, d);
            let spin = subtract(graph, spin_b, spin_a);
            [value, dot(graph, d, spin)]
        }
        Coordinate::Along { direction, a: on_a, b: on_b } => {
            let d = frame_a.direction(graph, direction);
            let (p, q) = (frame_a.point(graph, on_a), frame_b.point(graph, on_b));
            let r = subtract(graph, q, p);
            let value = dot(graph, d, r);
            // (d·r)' = d·(velocity of q - velocity of the point of a that is at q now)
            let mut point_velocity = |velocity, spin, centre| {
                let arm = subtract(graph, q, centre);
                let turning = cross(graph, spin, arm);
                super::node::add(graph, velocity, turning)
            };
            let of_b = point_velocity(velocity_b, spin_b, frame_b.centre);
            let of_a = point_velocity(velocity_a, spin_a, frame_a.centre);
            let relative = subtract(graph, of_b, of_a);
            [value, dot(graph, d, relative)]
        }
        Coordinate::Chain { chain, index } => {
            let moving = [(frame_a, velocity_a, spin_a), (frame_b, velocity_b, spin_b)];
            let [value, rate] = chain_nodes(graph, &chain, moving)[index];
            match placed.counter {
                Some(place) => [graph.input(1 + place), rate],
                None => [value, rate],
            }
        }
    }
}

/// Where a body is and how it moves: frame, velocity, angular velocity.
type Moving = (NodeFrame, Nodes, Nodes);

/// Coordinates of the links of a chain with their rates.
fn chain_nodes(graph: &mut Graph, chain: &Chain, [(a, velocity_a, spin_a), b]: [Moving; 2]) -> [[NodeId; 2]; 6] {
    let (b, velocity_b, spin_b) = b;
    let (r, v) = (subtract(graph, b.centre, a.centre), subtract(graph, velocity_b, velocity_a));
    let (carried, spin) = (cross(graph, spin_a, r), subtract(graph, spin_b, spin_a));
    let r_rate = subtract(graph, v, carried);
    // as body a sees it
    let seen = |graph: &mut Graph, x: Nodes, rate: Nodes| -> [[NodeId; 2]; 3] {
        std::array::from_fn(|k| [dot(graph, a.axes[k], x), dot(graph, a.axes[k], rate)])
    };
    let axes = b.axes.map(|axis| {
        let rate = cross(graph, spin, axis);
        seen(graph, axis, rate)
    });
    let centre = seen(graph, r, r_rate);
    chain.values(&Rated(RefCell::new(graph)), axes, centre)
}

/// What loads may depend on: the scope in which their expressions are read, and the number behind each slot.
#[derive(Debug)]
pub(super) struct Signals {
    scope: Scope,
    slots: Vec<Option<Signal>>,
}

impl Signals {
    /// The number behind a slot, if loads may depend on it.
    pub fn of(&self, slot: usize) -> Option<Signal> {
        self.slots.get(slot).cloned().flatten()
    }

    /// Does something while expressions are read as those of loads.
    pub fn inside<T>(&mut self, context: &mut Context, then: impl FnOnce(&Signals, &mut Context) -> T) -> T {
        let mut scope = std::mem::take(&mut self.scope);
        std::mem::swap(&mut context.all, &mut scope);
        let result = then(self, context);
        std::mem::swap(&mut context.all, &mut scope);
        self.scope = scope;
        result
    }
}

/// Declares all names: those of the model, with `_` for each `-`. Coordinates of joints are expressions of those of
/// bodies.
pub(super) fn declare(mechanism: &Mechanism, placed: &[Placed], labels: &Labels, context: &mut Context) -> Signals {
    let planar = mechanism.measure.planar;
    let bodies = &mechanism.bodies[1..];
    let coordinates: Vec<String> = labels.coordinates.iter().map(|name| identifier(name)).collect();
    let rates: Vec<String> = labels.velocities.iter().map(|name| identifier(name)).collect();
    // names have been checked one by one
    let _ = context.all.declare_time();
    let _ = context.all.declare_motion(&coordinates, &rates);
    let mut slots = body_slots(mechanism);
    let first = slots.len();
    let joints =
        placed.iter().flat_map(|placed| [Signal::Coordinate(placed.of.clone()), Signal::Rate(placed.of.clone())]);
    slots.extend(joints.map(Some));
    let spins = slots.len();
    if !planar {
        slots.extend(bodies.iter().flat_map(|body| (0..3).map(|k| Some(Signal::Spin(body.name.clone(), k)))));
    }
    let hidden: Vec<String> = (first..slots.len()).map(|slot| format!("_signal.s{slot}")).collect();
    let _ = context.all.declare_states(&hidden);
    context.declare_parameters();
    let mut frames = Frames::new(planar, 1 + coordinates.len());
    let mut values = Vec::new();
    for placed in placed {
        let [value, rate] = nodes(placed, &mut frames, &mut context.graph);
        let _ = context.all.define(&placed.identifier(), value);
        context.all.define_rate(&placed.identifier(), rate);
        values.push(value);
    }
    let spin_name = |body: &str, k: usize| format!("{}.{}", identifier(body), ["wx", "wy", "wz"][k]);
    if !planar {
        for (i, body) in bodies.iter().enumerate() {
            let [_, spin] = frames.motion(&mut context.graph, i + 1);
            for (k, node) in spin.into_iter().enumerate() {
                let _ = context.all.define(&spin_name(&body.name, k), node);
            }
        }
    }
    let mut scope = context.all.clone();
    for (k, placed) in placed.iter().enumerate() {
        let (value, rate) = (context.graph.input(first + 2 * k), context.graph.input(first + 2 * k + 1));
        scope.redefine(&placed.identifier(), value);
        scope.define_rate(&placed.identifier(), rate);
    }
    for (i, body) in bodies.iter().enumerate().filter(|_| !planar) {
        for k in 0..3 {
            let node = context.graph.input(spins + 3 * i + k);
            scope.redefine(&spin_name(&body.name, k), node);
        }
    }
    context.names.index = labels.coordinates.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
    context.names.coordinates = labels.coordinates.clone();
    context.names.velocities = Some(labels.velocities.clone());
    units(labels, placed, context);
    Signals { scope, slots }
}

/// The numbers behind time, coordinates and velocities of bodies.
fn body_slots(mechanism: &Mechanism) -> Vec<Option<Signal>> {
    let planar = mechanism.measure.planar;
    let mut slots = vec![Some(Signal::Time)];
    let bodies = &mechanism.bodies[1..];
    for name in bodies.iter().map(|body| &body.name) {
        let position = |k: usize| Some(Signal::Position(name.clone(), k));
        match planar {
            true => slots.extend([position(0), position(1), Some(Signal::Angle(name.clone()))]),
            false => {
                slots.extend((0..3).map(position));
                slots.extend((0..4).map(|k| Some(Signal::Attitude(name.clone(), k))));
            }
        }
    }
    slots.extend((0..mechanism.counted).map(|_| None));
    for name in bodies.iter().map(|body| &body.name) {
        let velocity = |k: usize| Some(Signal::Velocity(name.clone(), k));
        match planar {
            true => slots.extend([velocity(0), velocity(1), Some(Signal::Spin(name.clone(), 2))]),
            false => slots.extend([velocity(0), velocity(1), velocity(2), None, None, None]),
        }
    }
    slots
}

/// Units of the columns that the model has.
fn units(labels: &Labels, placed: &[Placed], context: &mut Context) {
    let ends = |name: &str, parts: &[&str]| name.rsplit('.').next().is_some_and(|part| parts.contains(&part));
    let slides = |name: &str| placed.iter().any(|placed| placed.name == *name && !placed.coordinate.is_angle());
    for name in &labels.coordinates {
        let unit = match name {
            name if ends(name, &["e0", "e1", "e2", "e3"]) => "1",
            name if ends(name, &["x", "y", "z"]) || slides(name) => "m",
            _ => "rad",
        };
        context.names.units.push((format!("q.{name}"), unit));
    }
    for name in &labels.velocities {
        let unit = if ends(name, &["x", "y", "z"]) { "m/s" } else { "rad/s" };
        context.names.units.push((format!("v.{name}"), unit));
    }
    for (name, law) in labels.contacts.iter().filter(|(_, law)| !law.is_contact()) {
        let turns = ends(name, &["tilt-u", "tilt-w", "roll", "cross"]);
        let (gap, force, impulse) = if turns { ("1", "N m", "N m s") } else { ("m", "N", "N s") };
        if law.is_equality() {
            context.names.units.extend([
                (format!("gap.{name}"), gap),
                (format!("force.{name}"), force),
                (format!("impulse.{name}"), impulse),
            ]);
        }
    }
}
