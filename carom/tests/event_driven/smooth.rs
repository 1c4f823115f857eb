//! Smooth phases: orders, drift and work of both flows on constrained systems.

use crate::block::block;
use crate::simulation;
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::scheme::event_driven::{Control, Dense, EdgeMethod, Flow, Propagate};
use carom::scheme::{Bound, EventDriven};
use carom::simulation::{Observer, StepView};
use carom::testbed::{ExactSolution, Hoop, Pendulum};
use carom::{Coupling, Mechanical, ModelError, Space, State, Stepper};
use carom_solve::Law;
use std::ops::ControlFlow;

const HEM5: EventDriven = EventDriven {
    flow: Flow::Hem5,
    propagate: Propagate::Y5,
    control: Control::Fixed,
    atol: Some(1e-10),
    rtol: 0.0,
    control_impulses: false,
    dense: Dense::Quintic,
    veps: Some(1e-9),
    geps: None,
    first_step: None,
    restart_step: None,
    h_min: Some(1e-13),
    h_max: None,
    drift_limit: Some(0.0),
    drift: carom::scheme::event_driven::Drift::Project,
    max_events: 1000,
    hand_over_step: Some(1e-3),
    edge: EdgeMethod::Contact,
};
const Y4: EventDriven = EventDriven { flow: Flow::Rkf45, propagate: Propagate::Y4, ..HEM5 };
const Y5: EventDriven = EventDriven { flow: Flow::Rkf45, ..HEM5 };

/// A run with what its constraints did on the way.
struct Ride {
    end: State,
    /// Multipliers there.
    lambda: Vec<f64>,
    gap: f64,
    rate: f64,
    steps: u64,
    rejected: u64,
}

/// The largest violation of constraints that are held.
#[derive(Default)]
struct Drift {
    lambda: Vec<f64>,
    gap: f64,
    rate: f64,
    rejected: u64,
}

impl Observer for Drift {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.rejected += u64::from(view.step.rejected);
        self.lambda.clone_from(&view.stepper.reactions().multiplier);
        let v = view.to().v.clone();
        let coupling = view.stepper.coupling()?;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            // of two corners the first one is closed
            if pair.law.is_equality() || i == 0 {
                let row = coupling.offset[i];
                self.gap = self.gap.max(pair.gap.abs());
                self.rate = self.rate.max((coupling.rows.dot(row, &v) + coupling.drift[row]).abs());
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn ride(model: impl Mechanical + 'static, scheme: &EventDriven, end: f64, h: f64) -> Ride {
    let mut simulation = simulation(model, scheme.clone(), end, h);
    let mut drift = Drift::default();
    simulation.run(&mut [&mut drift]).unwrap();
    let Drift { lambda, gap, rate, rejected } = drift;
    Ride { end: simulation.state().clone(), lambda, gap, rate, steps: simulation.statistics().steps, rejected }
}

fn largest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// O2 and O3: orders on the pendulum.
#[test]
fn orders_on_the_pendulum() {
    let (mut q, mut v) = ([0.0; 2], [0.0; 2]);
    Pendulum::default().at(2.0, &mut q, &mut v);
    for (scheme, slope, width) in [(&HEM5, 5.0, 0.1), (&Y4, 4.05, 0.15), (&Y5, 4.95, 0.15)] {
        let rides = [20, 40, 80].map(|n| ride(Pendulum::default().model().unwrap(), scheme, 2.0, 2.0 / f64::from(n)));
        let errors = rides.each_ref().map(|ride| (largest(&ride.end.q, &q), largest(&ride.end.v, &v)));
        let order = |a: f64, b: f64| 0.5 * (a / b).log2();
        assert!((order(errors[0].0, errors[2].0) - slope).abs() < width, "{errors:?}");
        if scheme.flow == Flow::Hem5 {
            assert!((order(errors[0].1, errors[2].1) - slope).abs() < width, "{errors:?}");
            assert!((errors[2].0 / 4.9e-11 - 1.0).abs() < 0.1, "{:e}", errors[2].0);
            assert!(rides.iter().all(|ride| ride.rate < 1e-14));
        }
    }
}

/// O4: the lowest point to a tolerance.
#[test]
fn pendulum_to_a_tolerance() {
    let scheme = EventDriven { control: Control::Eps, first_step: Some(1e-2), ..HEM5 };
    let pendulum = Pendulum::default();
    let ride = ride(pendulum.model().unwrap(), &scheme, pendulum.quarter_period(), 1.0);
    let error = largest(&ride.end.q, &[0.0, -1.0]).max(largest(&ride.end.v, &[-2.0f64.sqrt(), 0.0]));
    let lambda = ride.lambda;
    assert!(error < 1e-9 && (lambda[0] + 3.0).abs() < 1e-9, "{error:e} {lambda:?}");
}

/// O5: a constraint that moves.
#[test]
fn orders_on_the_hoop() {
    let (mut q, mut v) = ([0.0; 2], [0.0; 2]);
    Hoop {}.at(2.0, &mut q, &mut v);
    let errors = [80.0, 160.0].map(|n| largest(&ride(Hoop {}.model().unwrap(), &HEM5, 2.0, 2.0 / n).end.q, &q));
    assert!((errors[0] / 4.77e-9 - 1.0).abs() < 0.1, "{errors:?}");
    assert!(((errors[0] / errors[1]).log2() - 4.97).abs() < 0.1, "{errors:?}");
}

/// Three rods and the ground: both cranks turn fully under a torque on the first.
struct FourBar;

const D: f64 = 0.5;
const L: [f64; 3] = [1.0, 2.2320508075688772, 2.0];
const TORQUE: f64 = 6.0;

impl Functions for FourBar {
    fn kinetic<S: Scalar>(&self, _t: S, q: &[S], v: &[S]) -> S {
        let k = 0.5 * L[0] * L[1];
        let own = v[0] * v[0] * (L[0] * L[0] * (1.0 / 3.0 + 1.0))
            + v[1] * v[1] * (L[1] * L[1] / 3.0)
            + v[2] * v[2] * (L[2] * L[2] / 3.0);
        own * 0.5 + (q[0] - q[1]).cos() * v[0] * v[1] * k
    }
    fn force<S: Scalar>(&self, _t: S, _q: &[S], _v: &[S], out: &mut [S]) {
        out[0] = S::from(TORQUE);
    }
    fn outputs<S: Scalar>(&self, _t: S, q: &[S], out: &mut [S]) {
        out[0] = q[0].cos() * L[0] + q[1].cos() * L[1] - q[2].cos() * L[2] - D;
        out[1] = q[0].sin() * L[0] + q[1].sin() * L[1] - q[2].sin() * L[2];
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("along", Law::EQUALITY), NamedLaw::new("across", Law::EQUALITY)]
    }
}

fn four_bar() -> DualLagrangian<FourBar> {
    use std::f64::consts::PI;
    DualLagrangian::new(FourBar, State::new(0.0, &[0.5 * PI, 0.0, PI / 6.0], &[0.0; 3])).unwrap()
}

/// O7: the four-bar linkage.
#[test]
fn four_bar_linkage_to_a_tolerance() {
    let start = ride(four_bar(), &HEM5, 1e-12, 1e-12).lambda;
    assert!((start[0] - 3.81818182).abs() < 1e-8 && (start[1] - 0.94475499).abs() < 1e-8, "{start:?}");
    let scheme = EventDriven { control: Control::Eps, first_step: Some(1e-3), h_max: Some(1e-2), ..HEM5 };
    let ride = ride(four_bar(), &scheme, 2.0, 1.0);
    let error = largest(&ride.end.q, &[6.2398183243890, 4.0417345381745, 4.2522433757463]);
    let speed = largest(&ride.end.v, &[2.3492328479192, 4.6057367165649, 4.5511449638983]);
    assert!(error < 1e-9 && speed < 1e-9, "{error:e} {speed:e}");
    assert!(ride.gap < 1e-11 && ride.rate < 1e-13, "{:e} {:e}", ride.gap, ride.rate);
    let lambda = ride.lambda;
    assert!(largest(&lambda, &[3.8374485923, 9.1022357306]) < 1e-7, "{lambda:?}");
}

/// O8: drift of both flows without projection, and with.
#[test]
fn drift_of_the_four_bar_linkage() {
    let control = |flow, drift_limit| EventDriven {
        flow,
        propagate: Propagate::Y4,
        control: Control::Eps,
        h_max: Some(1e-2),
        h_min: Some(1e-6),
        first_step: Some(1e-3),
        drift_limit: Some(drift_limit),
        ..HEM5
    };
    let hem5 = ride(four_bar(), &control(Flow::Hem5, 0.0), 5.0, 1.0);
    let rkf45 = ride(four_bar(), &control(Flow::Rkf45, 0.0), 5.0, 1.0);
    assert!(rkf45.gap / hem5.gap > 1e3, "{:e} {:e}", rkf45.gap, hem5.gap);
    assert!(rkf45.rate > 1.7e-8 / 5.0 && rkf45.rate < 1.7e-8 * 5.0, "{:e}", rkf45.rate);
    assert!((hem5.steps as f64 / 2791.0 - 1.0).abs() < 0.1 && (rkf45.steps as f64 / 926.0 - 1.0).abs() < 0.1);
    // a limit projects and never holds up the steps
    let limited = ride(four_bar(), &control(Flow::Rkf45, 1e-9), 5.0, 1.0);
    assert!(limited.gap <= 1e-9 && limited.rate <= 1e-9, "{:e} {:e}", limited.gap, limited.rate);
    assert!(limited.steps < 2 * rkf45.steps, "{} {}", limited.steps, rkf45.steps);
}

/// Where steps are rejected for their drift, the drift that has accumulated keeps them at the smallest one: at 1e-8 the
/// limit is met at about 4.33 s, by an independent implementation, and steps of 1 ms are left for the rest.
#[test]
fn rejection_by_drift_ends_at_the_smallest_step() {
    use carom::scheme::event_driven::Drift::Reject;
    let scheme = |drift_limit| EventDriven {
        control: Control::Eps,
        first_step: Some(1e-3),
        atol: Some(1e-8),
        h_min: Some(1e-3),
        h_max: Some(0.1),
        drift_limit: Some(drift_limit),
        drift: Reject,
        ..Y4
    };
    let free = ride(four_bar(), &scheme(0.0), 5.0, 1.0);
    assert!((free.gap / 1.4e-6 - 1.0).abs() < 0.1 && free.steps.abs_diff(342) < 17, "{:e} {}", free.gap, free.steps);
    let held = ride(four_bar(), &scheme(1e-6), 5.0, 1.0);
    let at_least = (held.steps - free.steps) as f64;
    assert!((400.0..700.0).contains(&at_least), "{} {}", held.steps, free.steps);
    assert!(held.rejected > free.rejected && held.gap > 1e-6, "{} {:e}", held.rejected, held.gap);
}

fn corner() -> impl Mechanical + 'static {
    block(0.0, [0.0, 0.8343845987784619, -0.2], [1.0, 0.5115469362364874, -1.5])
}

const CORNER_END: [f64; 4] = [0.80006937231108, -0.10930865969692, -0.77501945839694, 1.86662823989619];

fn corner_error(end: &State) -> f64 {
    largest(&[end.q[1], end.q[2], end.v[1], end.v[2]], &CORNER_END)
}

/// O9: orders of the block that slides on a corner.
#[test]
fn orders_on_the_sliding_corner() {
    for (scheme, slope, width, error) in [(&HEM5, 4.95, 0.1, 2.4e-9), (&Y4, 3.9, 0.15, 1.2e-7)] {
        let errors = [16, 32, 64, 128].map(|n| corner_error(&ride(corner(), scheme, 0.5, 1.0 / f64::from(n)).end));
        let order = (errors[0] / errors[3]).log2() / 3.0;
        assert!((order - slope).abs() < width, "{order}: {errors:?}");
        assert!((errors[2] / error - 1.0).abs() < 0.2, "{errors:?}");
    }
}

/// O10: the sliding corner to a tolerance, with its work.
#[test]
fn sliding_corner_to_a_tolerance() {
    let scheme =
        EventDriven { control: Control::Eps, atol: Some(1e-8), first_step: Some(0.05), h_min: Some(1e-6), ..HEM5 };
    let ride = ride(corner(), &scheme, 0.5, 0.5);
    let error = corner_error(&ride.end);
    assert!(error < 1e-9 && ride.rate < 1e-14, "{error:e} {:e}", ride.rate);
    let work = 26 * (ride.steps + ride.rejected);
    assert!((work as f64 / 1638.0 - 1.0).abs() < 0.4, "{work}");
    let lambda = ride.lambda;
    assert!((lambda[0] - 4.291023972956).abs() < 1e-9, "{lambda:?}");
}

/// O6: both dense outputs inside one step of the hoop.
#[test]
fn dense_outputs_have_their_orders() {
    for (dense, order) in [(Dense::Order4, 5.1), (Dense::Quintic, 6.2)] {
        let errors = [0.1, 0.05].map(|h| {
            let scheme = EventDriven { dense, ..HEM5 };
            let model = Hoop {}.model_from(0.7).unwrap();
            let mut stepper = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap();
            stepper.attempt(h).unwrap();
            let mut state = State::default();
            let mut error = 0.0f64;
            let (mut model, mut coupling) = (Hoop {}.model().unwrap(), Coupling::default());
            for k in 1..20 {
                stepper.interpolate(0.05 * f64::from(k), &mut state);
                let (mut q, mut v) = ([0.0; 2], [0.0; 2]);
                Hoop {}.at(state.t, &mut q, &mut v);
                error = error.max(largest(&state.q, &q));
                model.couple(state.t, &state.q, &mut coupling).unwrap();
                let u = coupling.rows.dot(0, &state.v) + coupling.drift[0];
                let limit = if dense == Dense::Order4 { 1e-14 } else { 0.1 * h.powi(4) };
                assert!(u.abs() < limit, "{dense:?} {k}: {u:e}");
            }
            error
        });
        let slope = (errors[0] / errors[1]).log2();
        assert!((slope - order).abs() < 0.4, "{dense:?}: {slope} {errors:?}");
    }
}
