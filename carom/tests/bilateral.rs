//! Moreau-Jean with bilateral constraints: drift, period, energy, redundancy, moving supports.
//!
//! For the pendulum of length 1 in (x, y), with `g = (|q|² − 1)/2` and θ = 1/2, the scheme has the exact discrete
//! identity
//!
//! ```text
//!     g_k − g_0 = −(h²/8)(|v_k|² − |v_0|²)                                            (1)
//! ```
//!
//! because `C(q) v = q·v = 0` at both ends of a step: the constraint does not drift. The work of a reaction along `B`
//! in a step is `P B·(v + v⁺)/2`, of order h² for B at the end of the step, and `−P (h/8)(|v⁺|² − |v|²)`, of order h³,
//! for B at its middle.

use carom::model::{Contact, DualLagrangian, Functions, Lagrangian, NamedLaw, Scalar};
use carom::scheme::{Bound, MoreauJean, ReactionDirection};
use carom::simulation::{EnergyLedger, FixedStep, GapMonitor, LedgerObserver, Recorder};
use carom::{Mechanical, Simulation, Solution, Span, State, simulate};
use carom_solve::Law;
use std::f64::consts::PI;

const GRAVITY: f64 = 9.81;
const BOTH: [ReactionDirection; 2] = [ReactionDirection::End, ReactionDirection::Mid];

fn close(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual:e} is not {expected:e} to {tolerance:e}");
}

fn scheme(reaction: ReactionDirection) -> MoreauJean {
    MoreauJean { reaction, ..MoreauJean::default() }
}

fn run(model: impl Mechanical + 'static, scheme: MoreauJean, end: f64, h: f64) -> (Solution, EnergyLedger) {
    let stepper = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap();
    let (mut recorder, mut ledger) = (Recorder::default(), LedgerObserver::default());
    assert!(simulation.run(&mut [&mut recorder, &mut ledger]).unwrap());
    (recorder.into_solution(), *ledger.ledger().unwrap())
}

fn rod(name: &str) -> Contact {
    Contact::bilateral(name, |_, q| 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0))
        .gradient(|_, q, row| row.copy_from_slice(q))
}

/// Point of 1 kg on a rod of 1 m, at the angle `angle` from the vertical with the angular velocity `rate`.
fn pendulum(angle: f64, rate: f64) -> Lagrangian {
    let (s, c) = angle.sin_cos();
    Lagrangian::new(2)
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -GRAVITY]))
        .potential(|q| GRAVITY * q[1])
        .contact(rod("rod"))
        .initial(&[s, -c], &[rate * c, rate * s])
}

fn constraint(s: &Solution, k: usize) -> f64 {
    let q = s.q(k);
    0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)
}

/// The arithmetic-geometric mean of 1 and `g`.
fn mean(g: f64) -> f64 {
    let (mut a, mut g) = (1.0, g);
    for _ in 0..8 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    a
}

/// Identity (1), for both directions, from rest and in motion.
#[test]
fn pendulum_does_not_drift() {
    for reaction in BOTH {
        for (angle, rate) in [(1.5, 0.0), (0.3, 2.0), (0.0, 7.0)] {
            for h in [1e-2, 1e-3] {
                let (s, _) = run(pendulum(angle, rate), scheme(reaction), 10.0, h);
                let speed2 = |k: usize| s.v(k).iter().map(|v| v * v).sum::<f64>();
                for k in 0..s.len() {
                    // Newton's loop and the solver leave 1e-10 of U per step
                    close(constraint(&s, k), -h * h / 8.0 * (speed2(k) - speed2(0)), 1e-8);
                }
            }
        }
    }
}

/// Time of the first passage through the vertical, by linear interpolation.
fn passage(s: &Solution) -> f64 {
    let k = (1..s.len()).find(|&k| s.q(k)[0] <= 0.0).unwrap();
    let (x, y) = (s.q(k - 1)[0], s.q(k)[0]);
    s.t[k - 1] + (s.t[k] - s.t[k - 1]) * x / (x - y)
}

/// A quarter of the period 2π √(l/g) / agm(1, cos(θ₀/2)): first order with B at the end, second order with B in the
/// middle.
#[test]
fn pendulum_period() {
    let amplitude = 1.5f64;
    let quarter = 0.5 * PI / GRAVITY.sqrt() / mean((amplitude / 2.0).cos());
    for (reaction, order) in BOTH.into_iter().zip([1.0, 2.0]) {
        let error = |h| (passage(&run(pendulum(amplitude, 0.0), scheme(reaction), 1.0, h).0) - quarter).abs();
        let (coarse, fine) = (error(8e-3), error(1e-3));
        let measured = (coarse / fine).log(8.0);
        assert!((measured - order).abs() < 0.25, "{reaction:?}: order {measured}, errors {coarse:e} {fine:e}");
    }
}

/// Over the top: ω² = ω₀² − 4 (g/l) sin²(θ/2), so that a turn takes 2π/(ω₀ agm(1, √(1 − 4g/(l ω₀²)))).
#[test]
fn pendulum_turns_over() {
    let rate = 7.0;
    let turn = 2.0 * PI / (rate * mean((1.0 - 4.0 * GRAVITY / (rate * rate)).sqrt()));
    let error = |h: f64| {
        let s = run(pendulum(0.0, rate), scheme(ReactionDirection::Mid), 1.5 * turn, h).0;
        // from the left to the right through the lowest point
        let k = (2..s.len()).find(|&k| s.q(k - 1)[0] < 0.0 && s.q(k)[0] >= 0.0 && s.q(k)[1] < 0.0).unwrap();
        let (x, y) = (s.q(k - 1)[0], s.q(k)[0]);
        (s.t[k - 1] + (s.t[k] - s.t[k - 1]) * x / (x - y) - turn).abs()
    };
    let (coarse, fine) = (error(4e-3), error(1e-3));
    let order = (coarse / fine).log(4.0);
    assert!((order - 2.0).abs() < 0.25, "order {order}, errors {coarse:e} {fine:e}");
}

/// Largest change of energy.
fn energy_error(model: impl Mechanical + 'static, reaction: ReactionDirection, end: f64, h: f64) -> f64 {
    let stepper = Bound::new(scheme(reaction), Box::new(model), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap();
    let start = simulation.stepper().energies().unwrap().0.total();
    let mut worst = 0.0f64;
    while simulation.advance().unwrap().is_some() {
        let last = simulation.stepper().energies().unwrap().0.total();
        worst = worst.max((last - start).abs());
    }
    worst
}

#[test]
fn pendulum_energy_orders() {
    for (reaction, order) in BOTH.into_iter().zip([1.0, 2.0]) {
        let errors = [8e-3, 4e-3, 2e-3, 1e-3].map(|h| energy_error(pendulum(1.5, 0.0), reaction, 5.0, h));
        for pair in errors.windows(2) {
            let measured = (pair[0] / pair[1]).log2();
            assert!((measured - order).abs() < 0.15, "{reaction:?}: order {measured}, errors {errors:?}");
        }
    }
}

/// Two points of 1 kg on two rods of 1 m, in `d` dimensions, from the horizontal; in space with a push across.
struct DoublePendulum {
    d: usize,
}

impl Functions for DoublePendulum {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        v.iter().fold(D::zero(), |sum, v| sum + *v * *v * 0.5)
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        (q[self.d - 1] + q[2 * self.d - 1]) * GRAVITY
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out.fill(D::from(-0.5));
        for i in 0..self.d {
            let between = q[self.d + i] - q[i];
            out[0] += q[i] * q[i] * 0.5;
            out[1] += between * between * 0.5;
        }
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("upper", Law::EQUALITY), NamedLaw::new("lower", Law::EQUALITY)]
    }
}

fn double_pendulum(d: usize) -> DualLagrangian<DoublePendulum> {
    let state = if d == 2 {
        State::new(0.0, &[1.0, 0.0, 2.0, 0.0], &[0.0; 4])
    } else {
        State::new(0.0, &[1.0, 0.0, 0.0, 2.0, 0.0, 0.0], &[0.0, 0.5, 0.0, 0.0, 1.5, 0.0])
    };
    DualLagrangian::new(DoublePendulum { d }, state).unwrap()
}

#[test]
fn double_pendulum_energy_orders() {
    for d in [2, 3] {
        for (reaction, order) in BOTH.into_iter().zip([1.0, 2.0]) {
            let errors = [2e-3, 1e-3, 5e-4].map(|h| energy_error(double_pendulum(d), reaction, 1.0, h));
            for pair in errors.windows(2) {
                let measured = (pair[0] / pair[1]).log2();
                assert!((measured - order).abs() < 0.25, "{d}D {reaction:?}: order {measured}, errors {errors:?}");
            }
        }
    }
}

/// The same constraint twice, and once more in other units: the motion is that of one, and the impulses add up to its
/// impulse.
#[test]
fn redundant_constraints() {
    for reaction in BOTH {
        let single = run(pendulum(1.5, 0.0), scheme(reaction), 5.0, 1e-2).0;
        let scaled = Contact::bilateral("scaled", |_, q| 50.0 * (q[0] * q[0] + q[1] * q[1] - 1.0))
            .gradient(|_, q, row| row.copy_from_slice(&[100.0 * q[0], 100.0 * q[1]]));
        let model = pendulum(1.5, 0.0).contact(rod("again")).contact(scaled);
        let stepper = Bound::new(scheme(reaction), Box::new(model), carom_solve::solver::default()).unwrap();
        let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-2 }), 5.0).unwrap();
        let mut recorder = Recorder::default();
        assert!(simulation.run(&mut [&mut recorder]).unwrap());
        let triple = recorder.into_solution();
        let last = single.len() - 1;
        let p = &simulation.stepper().reactions().impulse;
        // M (v⁺ − v) − h F along the rod, which is of unit length to order h²
        let direction = single.q(last);
        let jump: f64 = (0..2).map(|i| direction[i] * (single.v(last)[i] - single.v(last - 1)[i])).sum();
        close(p[0] + p[1] + 100.0 * p[2], jump + 1e-2 * GRAVITY * direction[1], 1e-3);
        for k in 0..single.len() {
            for i in 0..2 {
                close(triple.q(k)[i], single.q(k)[i], 1e-7);
                close(triple.v(k)[i], single.v(k)[i], 1e-7);
            }
        }
    }
}

/// A slider whose place is prescribed: velocities agree with the law at the grid points, places by the trapezoidal sum
/// of them.
struct Driven;

impl Functions for Driven {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        v[0] * v[0] * 0.5 + v[1] * v[1] * 0.5
    }
    fn force<D: Scalar>(&self, _t: D, q: &[D], _v: &[D], out: &mut [D]) {
        // a spring between slider and a free mass
        out[0] = (q[1] - q[0]) * 4.0;
        out[1] = (q[0] - q[1]) * 4.0;
    }
    fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
        out[0] = q[0] - (t * 3.0).sin() * 0.2;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("drive", Law::EQUALITY)]
    }
}

/// The slider follows 0.2 sin 3t, and the mass on its spring answers q̈ = 4(x − q).
#[test]
fn moving_support_is_followed() {
    // q = a sin 3t + b sin 2t with a = 0.8/(4 − 9), q(0) = 0 and q̇(0) = 0
    let a = 0.8 / (4.0 - 9.0);
    let exact = |t: f64| a * (3.0 * t).sin() - 1.5 * a * (2.0 * t).sin();
    let errors = [1e-2, 2e-3].map(|h| {
        let model = DualLagrangian::new(Driven, State::new(0.0, &[0.0, 0.0], &[0.6, 0.0])).unwrap();
        let s = simulate(model, MoreauJean::default(), Span { end: 4.0, step: h }).unwrap();
        let mut worst = [0.0f64; 2];
        for k in 0..s.len() {
            let t = s.t[k];
            close(s.v(k)[0], 0.6 * (3.0 * t).cos(), 1e-9);
            worst[0] = worst[0].max((s.q(k)[0] - 0.2 * (3.0 * t).sin()).abs());
            worst[1] = worst[1].max((s.q(k)[1] - exact(t)).abs());
        }
        // trapezoidal sum of 0.6 cos 3t: relative error (3h)²/12
        assert!(worst[0] <= 0.2 * 9.0 * h * h / 12.0 * 1.01, "{worst:?}");
        worst
    });
    for i in 0..2 {
        let order = (errors[0][i] / errors[1][i]).log(5.0);
        assert!((order - 2.0).abs() < 0.1, "coordinate {i}: order {order}");
    }
}

/// Pendulum on a pivot that moves along (0.3 sin 2t, 0): the rod keeps its length to order h², and the angle follows
/// θ̈ = −g sin θ + 1.2 sin 2t cos θ, integrated here by a Runge-Kutta method.
#[test]
fn pendulum_on_a_moving_pivot() {
    let pivot = |t: f64| 0.3 * f64::sin(2.0 * t);
    let model = || {
        Lagrangian::new(2)
            .force(|_, _, _, f| f.copy_from_slice(&[0.0, -GRAVITY]))
            .contact(Contact::bilateral("rod", move |t, q| {
                0.5 * ((q[0] - pivot(t)) * (q[0] - pivot(t)) + q[1] * q[1] - 1.0)
            }))
            // hanging at rest in the frame of the pivot
            .initial(&[0.0, -1.0], &[0.6, 0.0])
    };
    let rate = |t: f64, x: [f64; 2]| [x[1], -GRAVITY * x[0].sin() + 1.2 * (2.0 * t).sin() * x[0].cos()];
    let (mut x, n, end) = ([0.0f64, 0.0], 4000, 3.0);
    let d = end / f64::from(n);
    for k in 0..n {
        let t = f64::from(k) * d;
        let add = |x: [f64; 2], a: f64, k: [f64; 2]| [x[0] + a * k[0], x[1] + a * k[1]];
        let k1 = rate(t, x);
        let k2 = rate(t + 0.5 * d, add(x, 0.5 * d, k1));
        let k3 = rate(t + 0.5 * d, add(x, 0.5 * d, k2));
        let k4 = rate(t + d, add(x, d, k3));
        x = std::array::from_fn(|i| x[i] + d / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    let expected = [pivot(end) + x[0].sin(), -x[0].cos()];
    let errors = [1e-2, 2e-3].map(|h| {
        let s = simulate(model(), scheme(ReactionDirection::Mid), Span { end, step: h }).unwrap();
        let worst =
            (0..s.len()).map(|k| ((s.q(k)[0] - pivot(s.t[k])).hypot(s.q(k)[1]) - 1.0).abs()).fold(0.0, f64::max);
        let last = s.q(s.len() - 1);
        [worst, (last[0] - expected[0]).hypot(last[1] - expected[1])]
    });
    for i in 0..2 {
        let order = (errors[0][i] / errors[1][i]).log(5.0);
        assert!((order - 2.0).abs() < 0.2, "order {order} of {errors:?}");
    }
}

/// An initial velocity along the rod is taken away by an impulse in the first step, the one across it stays.
#[test]
fn inconsistent_initial_velocity_is_corrected() {
    for h in [1e-3, 1e-4] {
        let model = pendulum(0.0, 1.0).initial(&[0.0, -1.0], &[1.0, 3.0]);
        let s = simulate(model, MoreauJean::default(), Span { end: 10.0 * h, step: h }).unwrap();
        close(s.v(1)[0], 1.0, 10.0 * h);
        close(s.v(1)[1], 0.0, 10.0 * h);
        // the violation is what the first half step has moved along the rod
        close(constraint(&s, 10), -1.5 * h, 30.0 * h * h);
    }
}

/// A bilateral constraint beside a contact: a bead on a wire hits a stop and rests on it.
#[test]
fn bead_on_a_wire_with_a_stop() {
    let model = pendulum(1.2, 0.0).contact(Contact::new("stop", |_, q| q[0] - 0.3).restitution(0.4));
    let stepper = Bound::new(scheme(ReactionDirection::Mid), Box::new(model), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-3 }), 4.0).unwrap();
    let (mut gaps, mut recorder) = (GapMonitor::default(), Recorder::default());
    simulation.run(&mut [&mut gaps, &mut recorder]).unwrap();
    let s = recorder.into_solution();
    let last = s.len() - 1;
    close(s.q(last)[0], 0.3, 2e-3);
    close(constraint(&s, last), 0.0, 1e-5);
    assert!(s.v(last).iter().all(|v| v.abs() < 1e-9));
    // statics: the stop takes g tan θ, the rod the rest
    let reactions = simulation.stepper().reactions();
    let (sin, cos) = (s.q(last)[0], -s.q(last)[1]);
    close(reactions.normal(1) / 1e-3, GRAVITY * sin / cos, 1e-6 * GRAVITY);
    assert!(gaps.overall().unwrap() > -5e-3);
}

/// A drive that starts within a step and a table that stops between two impacts, in models declared linear: the
/// obstacle's own velocity counts at the end of the step.
#[test]
fn obstacles_that_start_and_stop() {
    let linear = |contact: Contact, force: f64| {
        Lagrangian::new(1)
            .force(move |_, _, _, f| f[0] = force)
            .tangents(|_, _, _, k, c| {
                k[0] = 0.0;
                c[0] = 0.0;
            })
            .contact(contact.gradient(|_, _, row| row[0] = 1.0))
            .initial(&[if force < 0.0 { 0.5 } else { 0.0 }], &[0.0])
            .linear()
    };
    let drive = Contact::bilateral("drive", |t, q| q[0] - (t - 0.51).max(0.0).powi(2));
    let s = simulate(linear(drive, 0.0), MoreauJean::default(), Span { end: 1.0, step: 0.0625 }).unwrap();
    for k in 0..s.len() {
        close(s.v(k)[0], 2.0 * (s.t[k] - 0.51).max(0.0), 1e-8);
    }
    // sinks at 0.5 m/s until t = 2, with impacts before and after
    let table = Contact::new("table", |t, q| q[0] + 0.5 * t.min(2.0)).restitution(1.0);
    let s = simulate(linear(table, -2.0), MoreauJean::default(), Span { end: 3.0, step: 1.03e-3 }).unwrap();
    assert_eq!(s.impacts.len(), 2);
    let impact = &s.impacts[1];
    let k = s.t.iter().position(|t| *t == impact.t).unwrap();
    assert!(impact.t > 2.1);
    close(s.v(k)[0], impact.after[0], 1e-8);
}
