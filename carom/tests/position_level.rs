//! The position-level scheme: the impacting bar with its spurious oscillation in closed form, inelastic impacts,
//! constraints, refusals.

use carom::model::{AffineRow, Contact, Lagrangian, Linear, LinearContact, SparseMatrix};
use carom::scheme::{Bound, PositionLevel, SchemeError};
use carom::simulation::{FixedStep, GapMonitor, LedgerObserver, Observer, StepView};
use carom::testbed::{BouncingBall, ExactSolution};
use carom::{ModelError, Simulation, SimulationError, Solution, Span, State, simulate};
use carom_solve::{Law, Options};
use std::ops::ControlFlow;

fn trapezoidal() -> PositionLevel {
    PositionLevel { theta: 0.5, ..PositionLevel::default() }
}

fn close(actual: f64, expected: f64, relative: f64) {
    assert!((actual - expected).abs() <= relative * expected.abs(), "{actual:e} is not {expected:e} to {relative:e}");
}

/// Rod of length 1 m, steel, radius 1 cm, at `gap` from a wall at node 0 and moving at −0.1 m/s.
fn bar(elements: usize, gap: f64) -> Linear {
    let (e, rho, s) = (210e9, 7800.0, std::f64::consts::PI * 1e-4);
    let (length, n) = (1.0 / elements as f64, elements + 1);
    let (mut mass, mut stiffness) = (Vec::new(), Vec::new());
    let (cm, ck) = (rho * s * length / 6.0, e * s / length);
    for k in 0..elements {
        for (i, j, m, c) in [(k, k, 2.0, 1.0), (k, k + 1, 1.0, -1.0), (k + 1, k, 1.0, -1.0), (k + 1, k + 1, 2.0, 1.0)] {
            mass.push((i, j, m * cm));
            stiffness.push((i, j, c * ck));
        }
    }
    let matrix = |entries: &[_]| SparseMatrix::from_triplets(n, entries).unwrap();
    let initial = State::new(0.0, &vec![gap; n], &vec![-0.1; n]);
    Linear::new(&matrix(&mass), &matrix(&[]), &matrix(&stiffness), initial).unwrap().with_contact(LinearContact {
        name: "wall".into(),
        law: Law::UNILATERAL,
        restitution: 0.0,
        tangential: 0.0,
        rows: vec![AffineRow { entries: vec![(0, 1.0)], constant: 0.0, rate: 0.0 }],
    })
}

/// Force of the wall and velocity of the contact node, in each step.
#[derive(Default)]
struct Tip {
    force: Vec<f64>,
    velocity: Vec<f64>,
    mean: f64, // velocity of the centre of mass at the end
}

impl Observer for Tip {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.force.push(view.reactions().impulse[0] / view.step.advanced);
        let v = &view.to().v;
        self.velocity.push(v[0]);
        let last = v.len() - 1;
        self.mean = (v.iter().sum::<f64>() - 0.5 * (v[0] + v[last])) / last as f64;
        Ok(ControlFlow::Continue(()))
    }
}

/// Tip, smallest gap, relative loss of energy, first step of contact and number of steps of contact.
fn bar_run(scheme: PositionLevel, elements: usize, gap: f64, h: f64) -> (Tip, f64, f64, std::ops::Range<usize>) {
    let stepper = Bound::new(scheme, Box::new(bar(elements, gap)), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), 2e-3).unwrap();
    let (mut tip, mut gaps, mut ledger) = (Tip::default(), GapMonitor::default(), LedgerObserver::default());
    simulation.run(&mut [&mut tip, &mut gaps, &mut ledger]).unwrap();
    let ledger = ledger.ledger().unwrap();
    let on = tip.force.iter().position(|f| *f > 0.0).unwrap();
    let off = on + tip.force[on..].iter().take_while(|f| **f > 0.0).count();
    (tip, gaps.overall().unwrap(), 1.0 - ledger.last.total() / ledger.initial.total(), on..off)
}

/// 2 L / c0 [s], and E S v0 / c0 [N].
const TRAVEL: f64 = 3.854496e-4;
const EXACT: f64 = 1271.4721;

/// Steps at times between 30 and 70 % of the travel, counted from the first step of contact. (The mean of an
/// alternating force depends on where an odd number of steps begins.)
fn window(on: usize, h: f64) -> std::ops::Range<usize> {
    on + (0.3 * TRAVEL / h).ceil() as usize..on + (0.7 * TRAVEL / h).floor() as usize + 1
}

/// Check O20 and the row of the table: amplitude v0 |1 − 2σ| = 0.035 with σ = 0.325 (4.9265e-5 = 246.325 steps of v0
/// h).
#[test]
fn bar_of_a_thousand_elements() {
    let h = 2e-6;
    let (tip, gap, loss, contact) = bar_run(trapezoidal(), 1000, 4.9265e-5, h);
    let inside = window(contact.start, h);
    for k in inside.clone() {
        assert!((tip.velocity[k].abs() - 0.0350).abs() <= 1e-4, "{}", tip.velocity[k]);
        assert!(tip.velocity[k] * tip.velocity[k + 1] < 0.0);
    }
    close(contact.len() as f64 * h, 3.900e-4, 1e-9);
    let force = &tip.force[inside];
    let mean = force.iter().sum::<f64>() / force.len() as f64;
    let deviation = (force.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / force.len() as f64).sqrt();
    assert!((mean / EXACT - 1.00025).abs() < 1e-5, "{}", mean / EXACT);
    close(deviation / EXACT, 1.9e-2, 3e-2);
    close(tip.force.iter().copied().fold(0.0, f64::max) / EXACT, 1.021, 1e-3);
    close(loss, 4.56e-3, 2e-3);
    assert!(gap > -1e-18, "{gap}");
    // Σ P is what the rod of ρ S L = 2.45044 kg gains in momentum
    let mass = 7800.0 * std::f64::consts::PI * 1e-4;
    close(tip.force.iter().sum::<f64>() * h, mass * (tip.mean + 0.1), 1e-9);
}

/// The closed form for other gaps: σ = 1/2 shows no oscillation, σ near 0 almost the full speed.
#[test]
fn bar_oscillation_has_a_closed_form() {
    let h = 2e-6;
    for sigma in [0.5, 0.05, 0.9] {
        let gap = 0.1 * h * (240.0 + sigma);
        let (tip, _, _, contact) = bar_run(trapezoidal(), 1000, gap, h);
        let inside = window(contact.start, h);
        for v in &tip.velocity[inside] {
            assert!((v.abs() - 0.1 * f64::abs(1.0 - 2.0 * sigma)).abs() <= 1e-4, "sigma = {sigma}: {v}");
        }
    }
}

/// θ = 1 has no oscillation, loses energy, and keeps the gap.
#[test]
fn backward_euler_does_not_oscillate() {
    let (tip, gap, loss, contact) = bar_run(PositionLevel::default(), 100, 4.9265e-5, 2e-6);
    let inside = window(contact.start, 2e-6);
    assert!(tip.velocity[inside].iter().all(|v| v.abs() < 1e-12));
    assert!(loss > 5e-3 && gap > -1e-18, "{loss} {gap}");
}

/// (4) for one rigid body without forces: 0.3 of a step before the wall at −1 m/s, θ = 0.8.
#[test]
fn velocity_left_by_an_impact() {
    let (theta, sigma, h) = (0.8, 0.3, 0.1);
    let wall = Contact::new("wall", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0);
    let model = Lagrangian::new(1).contact(wall).initial(&[sigma * h], &[-1.0]);
    let s = simulate(model, PositionLevel { theta, ..PositionLevel::default() }, Span { end: 0.2, step: h }).unwrap();
    let first = -(1.0 - (1.0 - sigma) / theta);
    assert!((s.v(1)[0] - first).abs() < 1e-12 && s.q(1)[0].abs() < 1e-15, "{}", s.v(1)[0]);
    assert!((s.v(2)[0] + (1.0 - theta) / theta * first).abs() < 1e-12, "{}", s.v(2)[0]);
}

fn l1(s: &Solution, exact: &dyn ExactSolution, h: f64) -> f64 {
    let (mut q, mut v) = ([0.0], [0.0]);
    (0..s.len())
        .map(|k| {
            exact.at(s.t[k], &mut q, &mut v);
            h * (s.q(k)[0] - q[0]).abs()
        })
        .sum()
}

/// Inelastic ball: first order with θ = 1; with θ = 1/2 the rebound does not shrink with the step.
#[test]
fn inelastic_ball() {
    let ball = BouncingBall { restitution: 0.0, ..BouncingBall::default() };
    let error = |theta: f64, n: usize| {
        let h = 5.0 / n as f64;
        l1(
            &simulate(ball.model(), PositionLevel { theta, ..PositionLevel::default() }, Span { end: 5.0, step: h })
                .unwrap(),
            &ball,
            h,
        )
    };
    let (coarse, fine) = (error(1.0, 503), error(1.0, 4024));
    assert!(coarse < 0.02 && (coarse / fine - 8.0).abs() < 2.0, "{coarse} {fine}");
    let worst = [401, 802, 1604, 3208].map(|n| error(0.5, n)).into_iter().fold(f64::INFINITY, f64::min);
    assert!(worst > 1e-2, "{worst}");
}

/// Point in a circular bowl of radius 1 with a rough wall of sand paper: it comes to rest at the angle of friction or
/// below, and the gap is met.
#[test]
fn friction_in_a_bowl() {
    let mu = 0.4f64;
    let model = Lagrangian::new(2)
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -9.81]))
        .contact(Contact::new("bowl", |_, q| 1.0 - q[0].hypot(q[1])).friction(mu, |_, q| q[0].atan2(-q[1])))
        .initial(&[0.8, -0.2], &[0.0, 0.0]);
    let stepper = Bound::new(PositionLevel::default(), Box::new(model), carom_solve::solver::default()).unwrap();
    let mut run = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-3 }), 3.0).unwrap();
    let mut gaps = GapMonitor::default();
    run.run(&mut [&mut gaps]).unwrap();
    let state = run.state();
    let angle = state.q[0].atan2(-state.q[1]);
    assert!(angle.abs() <= mu.atan() + 1e-6 && state.v.iter().all(|v| v.abs() < 1e-9), "{state:?}");
    assert!(gaps.overall().unwrap() > -2e-12, "{:?}", gaps.overall());
}

/// A pendulum as a point on a rod: the length is met to the tolerance, with first order for both θ (reactions act along
/// G(q⁺)).
#[test]
fn bilateral_pendulum() {
    let pendulum = || {
        Lagrangian::new(2)
            .force(|_, _, _, f| f.copy_from_slice(&[0.0, -9.81]))
            .contact(Contact::bilateral("rod", |_, q| q[0].hypot(q[1]) - 1.0))
            .initial(&[1.0, 0.0], &[0.0, 0.0])
    };
    let run = |scheme: PositionLevel, n: usize| {
        let s = simulate(pendulum(), scheme, Span { end: 1.0, step: 1.0 / n as f64 }).unwrap();
        for k in 0..s.len() {
            assert!((s.q(k)[0].hypot(s.q(k)[1]) - 1.0).abs() <= 2e-12);
        }
        s.q(n)[0]
    };
    for scheme in [PositionLevel::default(), trapezoidal()] {
        let (a, b, c) = (run(scheme.clone(), 500), run(scheme.clone(), 1000), run(scheme, 2000));
        assert!(((a - b) / (b - c) - 2.0).abs() < 0.2, "{}", (a - b) / (b - c));
    }
}

/// A bilateral drive q = sin t is followed exactly at the position level.
#[test]
fn driven_mass() {
    let model = Lagrangian::new(1).contact(Contact::bilateral("drive", |t, q| q[0] - t.sin())).initial(&[0.0], &[1.0]);
    let s = simulate(model, PositionLevel::default(), Span { end: 2.0, step: 1e-2 }).unwrap();
    for k in 0..s.len() {
        assert!((s.q(k)[0] - s.t[k].sin()).abs() < 2e-12);
    }
}

#[test]
fn what_it_cannot_do_is_refused() {
    let refused =
        simulate(BouncingBall::default().model(), PositionLevel::default(), Span { end: 1.0, step: 1e-2 }).unwrap_err();
    assert!(
        matches!(refused, SimulationError::Scheme(SchemeError::Incapable { scheme: "position-level", .. })),
        "{refused}"
    );
    let wrong = |scheme: PositionLevel| scheme.validate().unwrap_err().field;
    for theta in [0.0, -0.5, 1.5, f64::NAN] {
        assert_eq!(wrong(PositionLevel { theta, ..PositionLevel::default() }), Some("theta"));
    }
    assert_eq!(
        wrong(PositionLevel { gap_tolerance: Some(f64::NAN), ..PositionLevel::default() }),
        Some("gap-tolerance")
    );
    assert_eq!(wrong(PositionLevel { newton_tolerance: 1.0, ..PositionLevel::default() }), Some("newton-tolerance"));
    assert_eq!(wrong(PositionLevel { newton_iterations: 0, ..PositionLevel::default() }), Some("newton-iterations"));
}

/// Relays act on velocities: a block on a dry guide of 2 N stops after v²/(2 a).
#[test]
fn relay_is_treated() {
    let (friction, mass) = (2.0, 1.0);
    let matrix = |x: f64| SparseMatrix::from_triplets(1, &[(0, 0, x)]).unwrap();
    let h = 1e-3;
    let model = Linear::new(&matrix(mass), &matrix(0.0), &matrix(0.0), State::new(0.0, &[0.0], &[1.0]))
        .unwrap()
        .with_contact(LinearContact {
            name: "guide".into(),
            law: Law::interval(-friction * h, friction * h),
            restitution: 0.0,
            tangential: 0.0,
            rows: vec![AffineRow { entries: vec![(0, 1.0)], constant: 0.0, rate: 0.0 }],
        });
    let s = simulate(model, PositionLevel::default(), Span { end: 1.0, step: h }).unwrap();
    assert!((s.q(s.len() - 1)[0] - mass / (2.0 * friction)).abs() <= h, "{}", s.q(s.len() - 1)[0]);
    assert!(s.v(s.len() - 1)[0].abs() < 1e-12);
}
