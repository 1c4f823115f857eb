//! Bouncing ball and damped oscillator: checks O5, O6, O11 to O14, O31 and the measured facts about chatter,
//! multipliers and energy.

use super::*;
use carom::scheme::Splitting;
use carom::testbed::{BouncingBall, ExactSolution, LinearOscillator};

fn l1(trace: &Trace, exact: &dyn ExactSolution) -> f64 {
    let (mut q, mut v) = ([0.0], [0.0]);
    let error = |s: &State| {
        exact.at(s.t, &mut q, &mut v);
        (s.q[0] - q[0]).abs()
    };
    trace.h * trace.states.iter().map(error).sum::<f64>()
}

/// Check O5; the second impact is an exact tie, so that any threshold above rounding gives the same run.
#[test]
fn combined_ball() {
    let ball = BouncingBall::default();
    for (activation, gap_tolerance) in [(1e-13, 1e-14), (1e-10, 1e-12), (1e-8, 1e-12)] {
        for coupling in [Splitting::Coupled, Splitting::Decoupled] {
            let scheme = CombinedProjection {
                activation: Some(activation),
                gap_tolerance: Some(gap_tolerance),
                coupling,
                ..combined()
            };
            let trace = run(&scheme, ball.model(), 5.0 / 587.0, 587);
            close(l1(&trace, &ball), 3.836981e-3, 1e-6);
            close(trace.largest_tau(), 6.330372e-3, 1e-6);
            assert!(trace.least_gap() >= -1e-15, "{}", trace.least_gap());
            assert!(trace.last().q[0].abs() <= 1e-15);
        }
    }
}

/// Checks O6 (the part of the combined scheme) and O31: the displacement is felt by the forces.
#[test]
fn oscillator_feels_the_displacement() {
    let (o, h) = (LinearOscillator::default(), 5.0 / 587.0);
    for coupling in [Splitting::Coupled, Splitting::Decoupled] {
        for metric in [Metric::Identity, Metric::InverseMass] {
            let trace = run(&CombinedProjection { coupling, metric, ..combined() }, o.model(), h, 587);
            close(l1(&trace, &o), 5.818382e-3, 1e-6);
            close(trace.impulse(), 3.520567, 1e-6);
            let trace = run(&DirectProjection { coupling, metric, ..direct(gamma(0.0)) }, o.model(), h, 587);
            close(l1(&trace, &o), 1.621058e-2, 1e-6);
            close(trace.impulse(), 3.499980, 1e-6);
        }
    }
}

/// The last states of the ball at rest, in units of h|f| and h²|f|, sorted by velocity: (v, q, τ) over one period.
fn tail(scheme: &DirectProjection, h: f64, period: usize) -> Vec<[f64; 3]> {
    let steps = (12.0 / h) as usize;
    let trace = run(scheme, BouncingBall::default().model(), h, steps);
    let mut rows: Vec<_> = (steps - period..steps)
        .map(|k| {
            let (state, f) = (&trace.states[k + 1], 2.0);
            [state.v[0] / (h * f), state.q[0] / (h * h * f), trace.tau[k][0] / (h * h * f)]
        })
        .collect();
    rows.sort_by(|a, b| b[0].total_cmp(&a[0]));
    rows
}

/// Checks O11, O12 and the other limit cycles of the ball at rest.
#[test]
fn direct_projection_chatters_in_known_cycles() {
    for h in [0.037, 0.05] {
        let expected = [[2.0, 0.0, 1.0], [-1.0, 0.5, 0.0], [-4.0, 0.0, 2.0]].map(|row| row.map(|x| x / 3.0));
        for (row, expected) in tail(&direct(gamma(0.0)), h, 3).iter().zip(expected) {
            for (x, e) in row.iter().zip(expected) {
                near(*x, e, 1e-3);
            }
        }
        for g in [0.5, 1.0, 2.0] {
            for (row, v) in tail(&direct(gamma(g)), h, 2).iter().zip([1.0 / 3.0, -2.0 / 3.0]) {
                near(row[0], v, 1e-3);
                near(row[1], 0.0, 1e-9);
                near(row[2], 1.0 / 6.0, 1e-3);
            }
        }
    }
}

/// Check O13 and the facts about rest: who chatters, who rests above the wall, who rests on it.
#[test]
fn rest_of_the_ball() {
    let (ball, h) = (BouncingBall::default(), 0.047);
    let steps = (5.0 / h) as usize;
    let trace = run(&combined(), ball.model(), h, steps);
    assert!(trace.speed_after(4.0, 0) < 1e-8, "{}", trace.speed_after(4.0, 0));
    assert!(trace.last().q[0].abs() <= 1e-15);
    near(trace.impulses.last().unwrap()[0] / h, 2.0, 1e-6);
    let trace = run(&DirectProjection { theta: 1.0, ..direct(Forecast::Free) }, ball.model(), h, steps);
    assert!(trace.speed_after(4.0, 0) < 1e-4 && trace.largest_tau() == 0.0);
    near(trace.last().q[0], 1.92e-3, 1e-5);
    let trace = run(&direct(Forecast::Free), ball.model(), h, steps);
    near(trace.last().q[0], 9.66e-4, 1e-6);
    near(trace.impulses.last().unwrap()[0] / h, 2.0, 1e-4);
    let trace = run(&direct(gamma(1.0)), ball.model(), h, steps);
    near(trace.speed_after(4.0, 0), 0.0627, 0.001);
}

/// With θ = 1/2 the active step moves on by h v (1 − θ − θ e): the free forecast does need a projection.
#[test]
fn free_forecast_projects() {
    let trace = run(&direct(Forecast::Free), BouncingBall::default().model(), 5.0 / 587.0, 587);
    near(trace.largest_tau(), 2.5e-4, 0.05e-4);
    assert!(trace.least_gap() >= -1e-12);
}

/// Check O14 and the energies of the elastic ball.
#[test]
fn elastic_energy() {
    let (ball, h) = (BouncingBall { restitution: 1.0, ..BouncingBall::default() }, 0.047);
    for end in [10.0, 20.0, 100.0] {
        let steps = (end / h) as usize;
        let trace = run(&direct(gamma(0.0)), ball.model(), h, steps);
        close(*trace.energy.last().unwrap(), 2.138312, 1e-6);
        for forecast in [gamma(1.0), gamma(2.0), Forecast::Free] {
            let trace = run(&direct(forecast), ball.model(), h, steps);
            near(*trace.energy.last().unwrap(), 2.0, 1e-9);
        }
        let trace = run(&combined(), ball.model(), h, steps);
        assert!(trace.energy.windows(2).all(|e| e[1] <= e[0] + 1e-12), "the combined scheme gains energy");
    }
}

/// τ = O(h): the largest multiplier on neighbouring grids without ties stays a multiple of h, and its slope is one. The
/// specification measured slopes 1.00, 0.92, 0.96, 0.96; single slopes scatter with the choice of grids. Impacts have
/// |v| ≤ 2 m/s, and a step active at distance g from the wall would end at g − h|v|(1 − θ − θe), a missed one at least
/// at −h|v|, after which comes an active one:
/// |τ| ≤ 2.5 h for the direct scheme, and with 0 ≤ g ≤ h|v| at most 1.5 h for the combined one.
#[test]
fn multipliers_are_of_first_order() {
    let ball = BouncingBall::default();
    // largest |τ|/h on 8 grids around each of N = 100, 200, ..., 3200
    let levels = |largest: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        let level = |count: usize| {
            let counts = (count - 4..).filter(|n| n % 5 != 0).take(8);
            (5.0 / count as f64, counts.map(|n| largest(n) * n as f64 / 5.0).fold(0.0, f64::max))
        };
        (0..6).map(|k| level(100 << k)).collect()
    };
    let check = |name: &str, bound: f64, largest: &dyn Fn(usize) -> f64| {
        let levels = levels(largest);
        let (x, y) = levels.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0.ln() / 6.0, m.1 + p.1.ln() / 6.0));
        let (a, b) = levels
            .iter()
            .fold((0.0, 0.0), |m, p| (m.0 + (p.0.ln() - x) * (p.1.ln() - y), m.1 + (p.0.ln() - x).powi(2)));
        println!("{name}: slope {:.3}, {levels:.3?}", 1.0 + a / b);
        assert!((a / b).abs() < 0.2, "{name}: slope {}", 1.0 + a / b);
        assert!(levels.iter().all(|l| l.1 > 0.05 && l.1 <= bound), "{name}: {levels:?}");
    };
    for forecast in [gamma(0.0), gamma(1.0), Forecast::Free] {
        check(&format!("{forecast:?}"), 2.5, &|n| {
            run(&direct(forecast), ball.model(), 5.0 / n as f64, n).largest_tau()
        });
    }
    check("combined", 1.5, &|n| run(&combined(), ball.model(), 5.0 / n as f64, n).largest_tau());
}
