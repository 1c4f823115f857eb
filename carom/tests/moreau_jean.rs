//! Moreau-Jean against the reference numbers of its specification: closed-form trajectories and independently computed
//! errors.

use carom::model::Lagrangian;
use carom::scheme::{Bound, Forecast, MoreauJean};
use carom::simulation::{FixedStep, Observer, StepView};
use carom::testbed::{BouncingBall, ExactSolution, LinearOscillator, Takeoff};
use carom::{ModelError, Simulation, SimulationError, Solution, Span, StepError, simulate};
use carom_solve::Options;
use std::ops::ControlFlow;

fn explicit(gamma: f64) -> MoreauJean {
    MoreauJean { forecast: Forecast::Explicit { gamma }, ..MoreauJean::default() }
}

/// l1 norms of the errors in q and v, with full weights.
fn l1(s: &Solution, exact: &dyn ExactSolution, h: f64) -> (f64, f64) {
    let (mut eq, mut ev) = (0.0, 0.0);
    let (mut q, mut v) = ([0.0], [0.0]);
    for k in 0..s.len() {
        exact.at(s.t[k], &mut q, &mut v);
        eq += h * (s.q(k)[0] - q[0]).abs();
        ev += h * (s.v(k)[0] - v[0]).abs();
    }
    (eq, ev)
}

fn close(actual: f64, expected: f64, relative: f64) {
    assert!((actual - expected).abs() <= relative * expected.abs(), "{actual:e} is not {expected:e} to {relative:e}");
}

/// Check O3.
#[test]
fn ball_with_gamma_zero() {
    let (b, h) = (BouncingBall::default(), 5.0 / 587.0);
    let s = simulate(b.model(), explicit(0.0), Span { end: 5.0, step: h }).unwrap();
    assert_eq!(s.len(), 588);
    let (eq, ev) = l1(&s, &b, h);
    close(eq, 1.854629e-2, 1e-6);
    close(ev, 1.120510e-1, 1e-6);
    close(s.coordinate(0).into_iter().fold(f64::INFINITY, f64::min), -1.452829e-2, 1e-6);
}

/// Check O4.
#[test]
fn ball_with_the_free_forecast() {
    let (b, h) = (BouncingBall::default(), 5.0 / 587.0);
    let s = simulate(b.model(), MoreauJean::default(), Span { end: 5.0, step: h }).unwrap();
    close(l1(&s, &b, h).0, 3.503305e-3, 1e-6);
    let mut sup: f64 = 0.0;
    let (mut q, mut v) = ([0.0], [0.0]);
    for k in 0..s.len() {
        b.at(s.t[k], &mut q, &mut v);
        sup = sup.max((s.q(k)[0] - q[0]).abs());
    }
    close(sup, 4.570202e-3, 1e-6);
    close(s.q(587)[0], -5.698544e-6, 1e-6);
}

/// Check O6, the Moreau-Jean part.
#[test]
fn oscillator_with_both_forecasts() {
    let (o, h) = (LinearOscillator::default(), 5.0 / 587.0);
    for (scheme, expected) in [(explicit(0.0), 3.523805e-2), (MoreauJean::default(), 4.242960e-3)] {
        let s = simulate(o.model(), scheme, Span { end: 5.0, step: h }).unwrap();
        close(l1(&s, &o, h).0, expected, 1e-6);
    }
}

/// Check O3, the sum of impulses: weight times the time on the ground and the momenta of all bounces, 10 N s in all.
#[test]
fn ball_receives_the_impulse_of_its_weight() {
    struct Sum(f64);
    impl Observer for Sum {
        fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
            self.0 += view.reactions().normal(0);
            Ok(ControlFlow::Continue(()))
        }
    }
    let stepper =
        Bound::new(explicit(0.0), Box::new(BouncingBall::default().model()), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 5.0 / 587.0 }), 5.0).unwrap();
    let mut sum = Sum(0.0);
    simulation.run(&mut [&mut sum]).unwrap();
    close(sum.0, 10.0, 1e-6);
}

/// The start of the take-off problem: constant contact under a force that changes sign.
#[test]
fn takeoff_converges() {
    let exact = Takeoff::default();
    let error = |n: usize| {
        let h = 2.9 / n as f64;
        l1(&simulate(exact.model(), MoreauJean::default(), Span { end: 2.9, step: h }).unwrap(), &exact, h).0
    };
    // the closed form is smooth but for one kink of the force: order 1 at least
    let (coarse, fine) = (error(173), error(1384));
    assert!(coarse < 0.05 && fine < coarse / 6.0, "{coarse} {fine}");
}

#[test]
fn wrong_options_are_refused_by_name() {
    let refused = |scheme: MoreauJean| scheme.validate().unwrap_err().field;
    assert_eq!(refused(MoreauJean { theta: 1.5, ..MoreauJean::default() }), Some("theta"));
    assert_eq!(refused(MoreauJean { theta: f64::NAN, ..MoreauJean::default() }), Some("theta"));
    assert_eq!(refused(explicit(-0.5)), Some("forecast"));
    assert_eq!(refused(MoreauJean { activation: Some(-1.0), ..MoreauJean::default() }), Some("activation"));
    assert_eq!(refused(MoreauJean { newton_iterations: 0, ..MoreauJean::default() }), Some("newton-iterations"));
    assert!(simulate(BouncingBall::default().model(), MoreauJean::default(), Span { end: 5.0, step: -1e-3 }).is_err());
    assert!(
        simulate(BouncingBall::default().model(), MoreauJean::default(), Span { end: f64::NAN, step: 1e-3 }).is_err()
    );
}

/// A Newton loop that cannot converge is an error with its residual, not a silent answer.
#[test]
fn newton_failure_is_reported() {
    let stiff = Lagrangian::new(1)
        .force(|_, q, _, f| f[0] = -1e9 * (q[0] - 1.0).signum() * (q[0] - 1.0).abs().sqrt())
        .tangents(|_, _, _, k, c| (k[0], c[0]) = (0.0, 0.0))
        .initial(&[0.0], &[0.0]);
    let error = simulate(stiff, MoreauJean::default(), Span { end: 1.0, step: 1e-2 }).unwrap_err();
    assert!(matches!(error, SimulationError::Step { index: 0, source: StepError::Newton { .. }, .. }), "{error}");
}

/// The stepper as an iterator is the same loop as a recorded run.
#[test]
fn iterating_is_running() {
    let make = || {
        let stepper = Bound::new(
            MoreauJean::default(),
            Box::new(BouncingBall::default().model()),
            carom_solve::solver::default(),
        );
        Simulation::new(Box::new(stepper.unwrap()), Box::new(FixedStep { h: 1e-2 }), 5.0).unwrap()
    };
    let solution = make().record().unwrap();
    let states: Vec<_> = make().map(|snapshot| snapshot.unwrap().state).collect();
    assert_eq!(states.len() + 1, solution.len());
    for (k, state) in states.iter().enumerate() {
        assert_eq!(
            (state.t, state.q.as_slice(), state.v.as_slice()),
            (solution.t[k + 1], solution.q(k + 1), solution.v(k + 1))
        );
    }
    // times are multiples of the step without accumulated rounding
    assert_eq!(solution.t[499], 499.0 * 1e-2);
}
