//! The arcs, their landings and what is refused.

use super::super::{BouncingBall, runge_kutta};
use super::*;

/// v̇ by central differences of v satisfies (1) inside flights, and q̇ = v.
#[test]
fn flights_satisfy_the_equation() {
    let o = PreloadedOscillator::default();
    let impacts: Vec<Impact> = o.impacts(f64::INFINITY).collect();
    assert!(impacts.len() > 30, "{}", impacts.len());
    let d = 1e-5;
    for k in 1..400 {
        let t = 4e-3 * f64::from(k);
        let clear = impacts.iter().all(|impact| (impact.time - t).abs() > 2.0 * d);
        if !clear || t > impacts[6].time {
            continue;
        }
        let ((q, v), (left, right)) = (o.state_at(t), (o.state_at(t - d), o.state_at(t + d)));
        let slope = (right.1 - left.1) / (2.0 * d);
        assert!((slope + 4.0 * q + 0.5 * v + 2.0).abs() < 1e-8, "t = {t}");
        assert!(((right.0 - left.0) / (2.0 * d) - v).abs() < 1e-8);
    }
}

#[test]
fn impacts_land_on_the_wall_and_follow_the_law() {
    let o = PreloadedOscillator::default();
    for impact in o.impacts(f64::INFINITY).take(20) {
        let (q, v) = o.state_at(impact.time);
        assert!(q.abs() < 1e-15 && (v - impact.after).abs() < 1e-14, "{impact:?}");
        assert!(impact.before < 0.0 && (impact.after + 0.5 * impact.before).abs() < 1e-16);
    }
    let rest = o.accumulation().unwrap();
    assert_eq!(o.state_at(rest + 1e-9), (0.0, 0.0));
    // near the end flights are those of a ball under the preload: 2v/(f/m) each, halving
    let late: Vec<Impact> = o.impacts(f64::INFINITY).skip(20).take(2).collect();
    let flight = late[1].time - late[0].time;
    assert!((flight / late[0].after - 1.0).abs() < 1e-5, "{flight}");
    assert!((rest - late[0].time - 2.0 * flight).abs() < 1e-5 * flight);
}

/// A soft spring under a large preload is a ball.
#[test]
fn tends_to_the_bouncing_ball() {
    let soft = PreloadedOscillator { damping: 0.0, stiffness: 1e-6, ..Default::default() };
    let ball = BouncingBall::default();
    for k in 0..50 {
        let t = 0.0613 * f64::from(k);
        let ((q, _), (expected, _)) = (soft.state_at(t), ball.state_at(t));
        assert!((q - expected).abs() < 1e-5, "t = {t}: {q} {expected}");
    }
}

/// The two ways to find a landing agree where both hold.
#[test]
fn short_and_long_flights_agree() {
    let o = PreloadedOscillator::default();
    for v in [0.02, 0.05, 0.07] {
        let arc = Arc { start: 0.0, correction: 0.0, q: 0.0, v, before: 0.0 };
        let s = o.landing(&arc);
        assert!(o.rate() * s < SHORT);
        // the closed form of the underdamped case at the same time
        let (a, w, d) = (0.25, (4.0f64 - 0.0625).sqrt(), 0.5);
        let b = (v + a * d) / w;
        let y = (-a * s).exp() * (d * (w * s).cos() + b * (w * s).sin());
        assert!((y - d).abs() < 1e-15, "{v}");
    }
}

/// q and v between impacts, by another method.
fn integrate(o: &PreloadedOscillator, start: (f64, f64), duration: f64) -> (f64, f64) {
    let rate = |x: (f64, f64)| (x.1, -(o.damping * x.1 + o.stiffness * x.0 + o.preload) / o.mass);
    runge_kutta(rate, start, duration, 4000)
}

/// Underdamped, critical, next to it, overdamped, without spring, without damping, without both.
const CASES: [(f64, f64); 11] = [
    (0.5, 4.0),
    (4.0, 4.0),
    (4.0 + 1e-7, 4.0),
    (4.0 - 1e-7, 4.0),
    (4.3, 4.0),
    (5.0, 4.0),
    (40.0, 4.0),
    (3.0, 1e-9),
    (0.7, 0.0),
    (0.0, 3.0),
    (0.0, 0.0),
];

#[test]
fn arcs_of_all_dampings_solve_the_differential_equation() {
    for (damping, stiffness) in CASES {
        for (q0, v0) in [(1.0, 0.0), (0.3, 2.0), (0.0, 1.5), (0.6, -2.0), (0.0, -1.0)] {
            let o = PreloadedOscillator { damping, stiffness, restitution: 0.8, q0, v0, ..Default::default() };
            assert_eq!(OneDegree::refusal(&o), None);
            let mut start = (0.0, (q0, v0));
            for impact in o.impacts(30.0).take(6) {
                let (q, v) = integrate(&o, start.1, impact.time - start.0);
                let place = (damping, stiffness, q0, v0, impact);
                assert!(q.abs() < 1e-11 && (v - impact.before).abs() < 1e-11, "{place:?}: {q} {v}");
                let t = start.0 + 0.37 * (impact.time - start.0);
                let (q, v) = integrate(&o, start.1, t - start.0);
                let (x, y) = o.state_at(t);
                // at an impact at once the state is the one after it
                let is_flight = impact.time > start.0;
                assert!(!is_flight || (q - x).abs() < 1e-11 && (v - y).abs() < 1e-11, "{place:?}: {x} {q}, {y} {v}");
                start = (impact.time, (0.0, impact.after));
            }
            assert!(start.0 > 0.0 || q0 == 0.0, "no impact: {damping} {stiffness} {q0} {v0}");
            let rest = o.accumulation().unwrap();
            assert!(rest.is_finite() && o.state_at(rest + 1e-6) == (0.0, 0.0), "{damping} {stiffness} {rest}");
        }
    }
}

#[test]
fn without_spring_and_damping_it_is_the_ball() {
    let o = PreloadedOscillator { damping: 0.0, stiffness: 0.0, ..Default::default() };
    let ball = BouncingBall::default();
    for k in 0..50 {
        let t = 0.0613 * f64::from(k);
        let ((q, v), (x, y)) = (o.state_at(t), ball.state_at(t));
        assert!((q - x).abs() < 1e-14 && (v - y).abs() < 1e-13, "t = {t}: {q} {x}");
    }
}

#[test]
fn odd_parameters_give_numbers_or_a_reason() {
    let odd = [0.0, -0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300, -1.0, f64::NAN, f64::INFINITY];
    for field in 0..7 {
        for value in odd {
            let mut o = PreloadedOscillator::default();
            let place = [
                &mut o.mass,
                &mut o.damping,
                &mut o.stiffness,
                &mut o.preload,
                &mut o.restitution,
                &mut o.q0,
                &mut o.v0,
            ];
            *place.into_iter().nth(field).unwrap() = value;
            let (q, v) = o.state_at(1.0);
            if OneDegree::refusal(&o).is_some() {
                assert!(q.is_nan() && v.is_nan() && o.impacts(1.0).next().is_none(), "{o:?}");
            } else if value.abs() > 1e-200 && value.abs() < 1e200 {
                assert!(q >= 0.0 && q.is_finite() && v.is_finite(), "{o:?}: {q} {v}");
            }
        }
    }
}
