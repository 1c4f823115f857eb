//! Moreau-Jean against the reference numbers of its specification: closed-form trajectories and independently computed
//! errors.

use carom::model::{Contact, Lagrangian};
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

/// Mass on a stiff spring of length 1 that hangs from the origin, beside a wall at x = -0.3. It starts at the length at
/// which the spring holds weight and swing: an excess of 2e-7 m alone would vibrate with 2e-3 m/s.
fn elastic_pendulum((restitution, friction): (f64, f64), v: [f64; 2]) -> Lagrangian {
    const K: f64 = 1e8;
    Lagrangian::new(2)
        .force(|_, q, _, f| {
            let r = q[0].hypot(q[1]);
            let pull = K * (r - 1.0) / r;
            f.copy_from_slice(&[-pull * q[0], -pull * q[1] - 9.81]);
        })
        .tangents(|_, q, _, k, c| {
            let r = q[0].hypot(q[1]);
            let (x, y) = (q[0] / r, q[1] / r);
            let across = K * (r - 1.0) / r;
            let along = K - across;
            k.copy_from_slice(&[across + along * x * x, along * x * y, along * x * y, across + along * y * y]);
            c.fill(0.0);
        })
        .contact(
            Contact::new("wall", |_, q| q[0] + 0.3)
                .restitution(restitution)
                .gradient(|_, _, row| row.copy_from_slice(&[1.0, 0.0]))
                .friction(friction, |_, q| q[1])
                .gradient(|_, _, row| row.copy_from_slice(&[0.0, 1.0])),
        )
        .initial(&[0.0, -1.0 - (v[0] * v[0] + 9.81) / K], &v)
}

/// A stiff elastic pendulum swings from the lowest point with speed 3 against a wall at s = 0.3, and back. In the step
/// of the impact the spring along n gives A = I + a n nᵀ with a = (ωh/2)², so that (1) to (3) have, with c² = 1 − s²
/// and the velocity u across the spring, the solution u⁺ = u ((1 + e) c²/(1 − s² a/(1 + a)) − 1). Where the step
/// resolves the spring, a → 0, that is the impact of the mass alone, u (e c² − s²); where it does not, that of a rod,
/// e u. Then it falls to the lowest point: u² = u⁺² + 2 g (1 − c). Impacts are up to one step off, and directions
/// before and after one step apart: s is uncertain by h u, and so is the s of either direction.
#[test]
fn stiff_pendulum_hits_a_wall() {
    let (e, g, omega, start) = (0.5, 9.81, 1e4, 3.0);
    for h in [1e-2, 1e-3, 1e-4, 1e-5] {
        let s = simulate(elastic_pendulum((e, 0.0), [-start, 0.0]), MoreauJean::default(), Span { end: 0.5, step: h });
        let s = s.unwrap();
        let turned = (0..s.len()).position(|k| s.v(k)[0] > 0.0).unwrap();
        let bottom = (turned..s.len()).find(|&k| s.q(k)[0] >= 0.0).unwrap();
        let (q, v) = (s.q(bottom), s.v(bottom));
        let u = (q[0] * v[1] - q[1] * v[0]) / q[0].hypot(q[1]);

        let a = (0.5 * omega * h) * (0.5 * omega * h);
        let exact = |s: f64, turned: f64| {
            let (c, after) = ((1.0 - s * s).sqrt(), (1.0 - turned * turned).sqrt());
            let before = start * start - 2.0 * g * (1.0 - c);
            let factor = (1.0 + e) * c * after / (1.0 - turned * turned * a / (1.0 + a)) - c / after;
            (factor * factor * before + 2.0 * g * (1.0 - after)).sqrt()
        };
        let late = start * h;
        let ends = [-late, 0.0, late].map(|d| [-late, 0.0, late].map(|t| exact(0.3 + d, 0.3 + d + t)));
        let (low, high) = ends.as_flattened().iter().fold((f64::MAX, 0.0f64), |(l, m), x| (l.min(*x), m.max(*x)));
        // the length vibrates: by the amplitude u/ω, or by half a step
        let margin = start * (1.0 / omega + 0.5 * h * a / (1.0 + a));

        assert!(u > low - margin && u < high + margin, "h = {h:e}: {u} is not in [{low}, {high}] ± {margin:e}");
    }
}

/// At first iterates that compress the spring the iteration matrix is indefinite: every one of these runs used to stop.
#[test]
fn stiff_pendulum_with_indefinite_iteration_matrices() {
    for laws in [(0.5, 0.2), (0.0, 0.2), (0.5, 0.0)] {
        for v in [[-3.0, 0.0], [-3.0, 1.0], [3.0, 5.0], [2.0, 20.0]] {
            let s = simulate(elastic_pendulum(laws, v), MoreauJean::default(), Span { end: 2.0, step: 1e-2 });
            let s = s.unwrap_or_else(|error| panic!("{laws:?} {v:?}: {error}"));
            // the middle of each step is where the spring holds: its ends are off by half a step
            for k in 0..s.len() {
                let (length, speed) = (s.q(k)[0].hypot(s.q(k)[1]), s.v(k)[0].hypot(s.v(k)[1]));
                assert!((length - 1.0).abs() <= 0.5e-2 * speed + 1e-3, "{laws:?} {v:?}: {length} at {}", s.t[k]);
            }
        }
    }
}
