//! Rigid bodies with joints: rows against differences, motions against references of independent computations.

mod assembly;
mod chains;
mod forces;
mod loops;
mod motion;
mod rows;
mod tangents;
mod wrong;

use carom::multibody::{Body, MultibodyModel};
use carom::scheme::event_driven::{Control, Flow};
use carom::scheme::{Bound, CombinedProjection, EventDriven, MoreauJean, ReactionDirection, Scheme};
use carom::simulation::{FixedStep, Observer, StepView};
use carom::{Mechanical, ModelError, Simulation, State};
use std::ops::ControlFlow;

/// Runs a model to the end, in steps of h.
fn run<S: Scheme<Model = dyn Mechanical> + 'static>(model: MultibodyModel, scheme: S, end: f64, h: f64) -> State {
    let bound = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(Box::new(bound), Box::new(FixedStep { h }), end).unwrap();
    simulation.run(&mut []).unwrap_or_else(|error| panic!("{error}"));
    simulation.state().clone()
}

/// The largest of a number over all steps of a run.
fn largest<S: Scheme<Model = dyn Mechanical> + 'static>(
    model: MultibodyModel,
    scheme: S,
    (end, h): (f64, f64),
    mut of: impl FnMut(&State) -> f64,
) -> f64 {
    let bound = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(Box::new(bound), Box::new(FixedStep { h }), end).unwrap();
    let mut watch = Watch { of: &mut of, most: 0.0 };
    simulation.run(&mut [&mut watch]).unwrap_or_else(|error| panic!("{error}"));
    watch.most
}

struct Watch<'a> {
    of: &'a mut dyn FnMut(&State) -> f64,
    most: f64,
}

impl Observer for Watch<'_> {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.most = self.most.max((self.of)(view.to()));
        Ok(ControlFlow::Continue(()))
    }
}

fn moreau(reaction: ReactionDirection) -> MoreauJean {
    MoreauJean { reaction, ..MoreauJean::default() }
}

fn combined(reaction: ReactionDirection) -> CombinedProjection {
    CombinedProjection { reaction, ..CombinedProjection::default() }
}

fn hem5() -> EventDriven {
    EventDriven { flow: Flow::Hem5, control: Control::Fixed, ..EventDriven::default() }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// A slender rod between two points: its axis is x of the body, and the inertia about it 1e-3 of that across.
fn rod(name: &str, mass: f64, ends: [[f64; 3]; 2]) -> Body {
    let way: [f64; 3] = std::array::from_fn(|i| ends[1][i] - ends[0][i]);
    let length = way.iter().map(|x| x * x).sum::<f64>().sqrt();
    let across = mass * length * length / 12.0;
    rod_of(name, mass, ends, [1e-3 * across, across, across])
}

/// The same with these principal moments.
fn rod_of(name: &str, mass: f64, ends: [[f64; 3]; 2], inertia: [f64; 3]) -> Body {
    let way: [f64; 3] = std::array::from_fn(|i| ends[1][i] - ends[0][i]);
    let length = way.iter().map(|x| x * x).sum::<f64>().sqrt();
    let d = way.map(|x| x / length);
    // the shortest turn from x to d: (1 + d·x, x × d)
    let turn = if d[0] > -0.999 { [1.0 + d[0], 0.0, -d[2], d[1]] } else { [0.0, 0.0, 0.0, 1.0] };
    let centre: [f64; 3] = std::array::from_fn(|i| 0.5 * (ends[0][i] + ends[1][i]));
    Body::new(name, mass, inertia).at(centre).attitude(turn)
}
