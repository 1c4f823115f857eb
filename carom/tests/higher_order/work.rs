//! What a run costs, and what is refused.

use crate::orders::l1;
use crate::{run, scheme, simulation};
use carom::model::Lagrangian;
use carom::scheme::higher_order::RungeKutta;
use carom::scheme::{Accuracy, Bound, Doubled, Estimator, HigherOrder};
use carom::simulation::{FixedStep, Recorder, SimulationError, StandardControl};
use carom::testbed::{BouncingBall, ExactSolution, LinearOscillator, PreloadedOscillator};
use carom::{Simulation, StepError};
use carom_solve::Options;

/// An error of 1e-9 on the oscillator with at most 1e4 evaluations of the right-hand side.
#[test]
fn oscillator_to_nine_digits_is_cheap() {
    let o = LinearOscillator::default();
    for method in [RungeKutta::RadauIia3, RungeKutta::LobattoIiia3, RungeKutta::LobattoIiia4, RungeKutta::Herk4] {
        for n in [43, 83, 163, 323, 643, 1283] {
            let mut simulation = simulation(o.model(), HigherOrder { method, ..HigherOrder::default() }, 5.0, n);
            let s = simulation.record().unwrap();
            let (error, cost) = (l1(&s, &o, 5.0 / n as f64), simulation.statistics().evaluations);
            println!("{method:?} N = {n}: error {error:.1e} with {cost} evaluations");
            if error <= 1e-9 {
                assert!(cost <= 10_000, "{method:?}: {cost}");
                break;
            }
            assert!(n < 1283, "{method:?}: {error}");
        }
    }
}

#[test]
fn wrong_options_are_refused_by_name() {
    let refused = |scheme: HigherOrder| scheme.validate().unwrap_err().field;
    assert_eq!(refused(HigherOrder { c: Some(-1.0), ..HigherOrder::default() }), Some("c"));
    assert_eq!(refused(HigherOrder { c: Some(f64::NAN), ..HigherOrder::default() }), Some("c"));
    assert_eq!(refused(HigherOrder { floor: Some(0.0), ..HigherOrder::default() }), Some("floor"));
    assert_eq!(refused(HigherOrder { closing: 0.5, ..HigherOrder::default() }), Some("closing"));
    assert_eq!(refused(HigherOrder { max_events: 0, ..HigherOrder::default() }), Some("max-events"));
    assert_eq!(refused(HigherOrder { newton_tolerance: 2.0, ..HigherOrder::default() }), Some("newton-tolerance"));
}

#[test]
fn models_without_phases_are_refused() {
    let n = 700;
    let refused = |model: Lagrangian, scheme: HigherOrder| {
        let bound = Bound::new(scheme, Box::new(model), carom_solve::solver::default());
        bound.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let message = refused(Lagrangian::new(n), scheme(RungeKutta::RadauIia3, 1.0));
    assert!(message.contains("herk"), "{message}");
    assert_eq!(refused(Lagrangian::new(n), scheme(RungeKutta::Herk4, 1.0)), "");
}

/// A ball that starts on the floor moving down bounces at once; the impact belongs to the first step.
#[test]
fn impact_at_the_start() {
    let ball = BouncingBall { q0: 0.0, v0: -1.0, ..BouncingBall::default() };
    let s = run(ball.model(), scheme(RungeKutta::RadauIia3, 1.0), 0.2, 7);
    let (q, v) = ball.state_at(0.2);
    assert!((s.q(7)[0] - q).abs() < 1e-9 && (s.v(7)[0] - v).abs() < 1e-9);
    assert_eq!(s.impacts.len(), 1);
}

/// Steps so long that all bounces fall into one.
#[test]
fn accumulation_within_one_step() {
    let ball = BouncingBall::default();
    for method in RungeKutta::ALL {
        let s = run(ball.model(), scheme(method, 1e-9), 4.0, 1);
        assert_eq!(s.len(), 2);
        assert!(s.q(1)[0].abs() < 1e-14 && s.v(1)[0] == 0.0, "{method:?}: {:?} {:?}", s.q(1), s.v(1));
    }
}

/// With one event allowed the accumulation of the ball is an error, with what was computed before.
#[test]
fn too_many_events_are_an_error() {
    let few = HigherOrder { max_events: 1, ..HigherOrder::default() };
    let stepper = Bound::new(few, Box::new(BouncingBall::default().model()), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 0.05 }), 5.0).unwrap();
    let mut recorder = Recorder::default();
    let failed = simulation.run(&mut [&mut recorder]).unwrap_err();
    let SimulationError::Step { t, contact, source: StepError::Events { limit: 1, .. }, .. } = &failed else {
        panic!("{failed:?}")
    };
    // the first step in which there are two impacts: they are at 3 − 2^(2−n)
    let exact = (0..100)
        .map(|k| 0.05 * f64::from(k))
        .find(|t| (1..60).filter(|n| (0.0..0.05).contains(&(3.0 - 2f64.powi(2 - n) - t))).count() > 1);
    assert!((t - exact.unwrap()).abs() < 1e-9, "{t} {exact:?}");
    assert_eq!(contact.as_deref(), Some("floor"));
    assert!((recorder.into_solution().t.last().unwrap() - t).abs() < 1e-12);
}

/// Largest error of positions over a run, and evaluations of the right-hand side.
fn precision(simulation: &mut Simulation, exact: &dyn ExactSolution) -> (f64, u64) {
    let s = simulation.record().unwrap();
    let (mut q, mut v) = ([0.0], [0.0]);
    let mut sup = 0.0f64;
    for k in 0..s.len() {
        exact.at(s.t[k], &mut q, &mut v);
        sup = sup.max((s.q(k)[0] - q[0]).abs());
    }
    (sup, simulation.statistics().evaluations)
}

/// Step doubling of the higher-order scheme: the error follows the tolerance, through impacts and into rest.
#[test]
fn adaptive_steps_follow_the_tolerance() {
    let (o, l) = (LinearOscillator::default(), PreloadedOscillator::default());
    let problems: [(&dyn ExactSolution, &dyn Fn() -> Lagrangian); 2] = [(&o, &|| o.model()), (&l, &|| l.model())];
    for (exact, model) in problems {
        for method in [RungeKutta::RadauIia3, RungeKutta::LobattoIiia4, RungeKutta::Herk4] {
            let mut last = f64::INFINITY;
            for tolerance in [1e-5, 1e-7, 1e-9, 1e-11] {
                let accuracy = Accuracy {
                    tolerance: Some(tolerance),
                    relative: 0.0,
                    estimator: Estimator::Impact,
                    smallest: None,
                };
                let doubled = Doubled { base: scheme(method, 1e-3), accuracy };
                let stepper = Bound::new(doubled, Box::new(model()), carom_solve::solver::default()).unwrap();
                let control =
                    StandardControl { first: 1e-2, safety: 0.9, shrink: 0.2, grow: 5.0, min: 1e-12, max: 0.5 };
                let mut adaptive = Simulation::new(Box::new(stepper), Box::new(control), 5.0).unwrap();
                let (error, cost) = precision(&mut adaptive, exact);
                let statistics = adaptive.statistics();
                println!(
                    "{method:?} on {} to {tolerance:.0e}: error {error:.1e}, {cost} evaluations, {} steps, {} rejected",
                    exact.name(),
                    statistics.steps,
                    statistics.rejected
                );
                // a local error of size tol comes with steps of size tol^{1/(p+1)}, and these with a global one of size
                // tol^{p/(p+1)}
                let p = f64::from(method.order());
                let expected = tolerance.powf(p / (p + 1.0));
                assert!(error < 5.0 * expected && error < last, "{method:?}: {error:e} for {tolerance:e}");
                last = error;
            }
        }
    }
}
