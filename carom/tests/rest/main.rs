//! Rest on redundant frictional contacts costs next to nothing in schemes with phases, and comes at the right place.

mod at_rest;
mod boxes;
mod dumb_bell;
mod limits;
mod plate;
mod solid_boxes;
mod solids;
mod stairs;

use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::scheme::{Bound, EventDriven, HigherOrder, MoreauJean};
use carom::simulation::{FixedStep, Observer, StepView};
use carom::{Event, EventKind, Mechanical, ModelError, Scheme, Simulation, State};
use carom_solve::Law;
use std::ops::ControlFlow;

const G: f64 = 9.81;

/// A planar body of 1 kg with feet over a floor, in x, y and angle.
#[derive(Clone, Debug)]
struct Body {
    inertia: f64,
    feet: Vec<[f64; 2]>,
    mu: f64,
    restitution: f64,
    /// Force along x: constant, and per second.
    push: [f64; 2],
    /// Slope of the floor.
    slope: f64,
}

impl Body {
    /// A box of width and height 2 a and 2 b on its two lower corners.
    fn on_corners(a: f64, b: f64, mu: f64) -> Body {
        let inertia = (a * a + b * b) / 3.0;
        Body { inertia, feet: vec![[-a, -b], [a, -b]], mu, restitution: 0.0, push: [0.0; 2], slope: 0.0 }
    }

    fn model(&self, q: [f64; 3], v: [f64; 3]) -> DualLagrangian<Body> {
        DualLagrangian::new(self.clone(), State::new(0.0, &q, &v)).unwrap()
    }
}

impl Functions for Body {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] * self.inertia) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        (q[1] * self.slope.cos() - q[0] * self.slope.sin()) * G
    }
    fn force<D: Scalar>(&self, t: D, _q: &[D], _v: &[D], out: &mut [D]) {
        out[0] = t * self.push[1] + self.push[0];
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        let (s, c) = (q[2].sin(), q[2].cos());
        for (foot, out) in self.feet.iter().zip(out.chunks_exact_mut(2)) {
            out[0] = q[1] + s * foot[0] + c * foot[1];
            out[1] = q[0] + c * foot[0] - s * foot[1];
        }
    }
    fn laws(&self) -> Vec<NamedLaw> {
        let law =
            |k: usize| NamedLaw::new(&format!("foot {k}"), Law::coulomb(self.mu, 1)).restitution(self.restitution);
        (0..self.feet.len()).map(law).collect()
    }
}

/// What a run has shown.
#[derive(Default)]
struct Log {
    events: Vec<Event>,
    end: State,
    /// Force along each row of the contacts over the last step, at the configuration where it began.
    force: Vec<f64>,
    lowest: f64,
    evaluations: u64,
}

impl Log {
    fn count(&self, kind: EventKind) -> usize {
        self.events.iter().filter(|event| event.kind == kind).count()
    }

    fn kinds(&self) -> Vec<EventKind> {
        self.events.iter().map(|event| event.kind).collect()
    }

    fn is_still(&self) -> bool {
        self.end.v.iter().all(|v| v.abs() < 1e-9)
    }
}

impl Observer for Log {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.events.extend(view.stepper.events().iter().cloned());
        self.end.copy_from(view.to());
        self.force.clone_from(&view.reactions().impulse);
        let advanced = view.step.advanced;
        self.force.iter_mut().for_each(|p| *p /= advanced);
        self.lowest = view.stepper.coupling()?.pairs.iter().fold(self.lowest, |low, pair| low.min(pair.gap));
        Ok(ControlFlow::Continue(()))
    }
}

fn run<S>(model: impl Mechanical + 'static, scheme: S, end: f64, h: f64) -> Log
where
    S: Scheme<Model = dyn Mechanical> + 'static,
{
    let stepper = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap();
    watch(Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap())
}

/// Runs to the end.
fn watch(mut simulation: Simulation) -> Log {
    let mut log = Log::default();
    simulation.run(&mut [&mut log]).unwrap();
    log.evaluations = simulation.statistics().evaluations;
    log
}

fn moreau_jean(model: impl Mechanical + 'static, end: f64, h: f64) -> Log {
    run(model, MoreauJean::default(), end, h)
}

/// Runs with both schemes that have phases.
fn both<M: Mechanical + 'static>(model: impl Fn() -> M, end: f64, h: f64) -> [(&'static str, Log); 2] {
    [
        ("event-driven", run(model(), EventDriven::default(), end, h)),
        ("higher-order", run(model(), HigherOrder::default(), end, h)),
    ]
}
