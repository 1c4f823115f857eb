//! Slider-crank with clearance: checks O21, O22 and O23.

use super::*;
use carom::model::{Contact, Lagrangian};
use std::f64::consts::TAU;

const L1: f64 = 0.153;
const L2: f64 = 0.306;
const HALF_LENGTH: f64 = 0.05;
const HALF_HEIGHT: f64 = 0.025;
const CLEARANCE: f64 = 0.001;
const GRAVITY: f64 = 9.81;
const M1: f64 = 0.038;
const M2: f64 = 0.038;
const M3: f64 = 0.076;
const COUPLING: f64 = (M2 / 2.0 + M3) * L1 * L2;
const WEIGHT: [f64; 2] = [(M1 / 2.0 + M2 + M3) * GRAVITY * L1, (M2 / 2.0 + M3) * GRAVITY * L2];

fn slider_crank() -> Lagrangian {
    let corner = |name: &str, sx: f64, sy: f64| {
        let gap = move |_: f64, q: &[f64]| {
            let y = L1 * q[0].sin() + L2 * q[1].sin();
            HALF_HEIGHT + CLEARANCE - sy * (y + sx * HALF_LENGTH * q[2].sin() + sy * HALF_HEIGHT * q[2].cos())
        };
        Contact::new(name, gap)
            .gradient(move |_, q, row| {
                let lever = sx * HALF_LENGTH * q[2].cos() - sy * HALF_HEIGHT * q[2].sin();
                row.copy_from_slice(&[-sy * L1 * q[0].cos(), -sy * L2 * q[1].cos(), -sy * lever]);
            })
            .restitution(0.4)
            // only the gradient of the slip has a meaning
            .friction(0.01, |_, _| 0.0)
            .gradient(move |_, q, row| {
                let lever = -sx * HALF_LENGTH * q[2].sin() - sy * HALF_HEIGHT * q[2].cos();
                row.copy_from_slice(&[-L1 * q[0].sin(), -L2 * q[1].sin(), lever]);
            })
    };
    let (m11, m22) = (7.4e-5 + (M1 / 4.0 + M2 + M3) * L1 * L1, 5.9e-4 + (M2 / 4.0 + M3) * L2 * L2);
    Lagrangian::new(3)
        .mass(move |q, m| {
            let m12 = COUPLING * (q[0] - q[1]).cos();
            m.copy_from_slice(&[m11, m12, 0.0, m12, m22, 0.0, 0.0, 0.0, 2.7e-6]);
        })
        .force(|_, q, v, f| {
            let s = COUPLING * (q[0] - q[1]).sin();
            f[0] = -s * v[1] * v[1] - WEIGHT[0] * q[0].cos();
            f[1] = s * v[0] * v[0] - WEIGHT[1] * q[1].cos();
            f[2] = 0.0;
        })
        .tangents(|_, q, v, k, c| {
            let (s, d) = (COUPLING * (q[0] - q[1]).sin(), COUPLING * (q[0] - q[1]).cos());
            let (a, b) = (d * v[1] * v[1], d * v[0] * v[0]);
            k.copy_from_slice(&[a - WEIGHT[0] * q[0].sin(), -a, 0., -b, b - WEIGHT[1] * q[1].sin(), 0., 0., 0., 0.]);
            c.copy_from_slice(&[0., 2.0 * s * v[1], 0., -2.0 * s * v[0], 0., 0., 0., 0., 0.]);
        })
        .potential(|q| WEIGHT[0] * q[0].sin() + WEIGHT[1] * q[1].sin())
        .contact(corner("upper left", -1.0, 1.0))
        .contact(corner("upper right", 1.0, 1.0))
        .contact(corner("lower left", -1.0, -1.0))
        .contact(corner("lower right", 1.0, -1.0))
        .initial(&[0.0; 3], &[150.0, -75.0, 0.0])
}

/// Time of two revolutions, angular velocity and energy there, largest violation of a gap on the way, largest |θ₃|.
#[derive(Debug)]
struct Arrival {
    t: f64,
    speed: f64,
    energy: f64,
    violation: f64,
    tilt: f64,
    newton: (f64, u32),
}

fn two_revolutions<S>(scheme: &S, h: f64) -> Arrival
where
    S: Scheme<Model = dyn Mechanical>,
{
    let trace = run(scheme, slider_crank(), h, (0.1378 / h) as usize);
    let k = trace.states.iter().position(|s| s.q[0] >= 2.0 * TAU).unwrap();
    let (a, b) = (&trace.states[k - 1], &trace.states[k]);
    let part = (2.0 * TAU - a.q[0]) / (b.q[0] - a.q[0]);
    Arrival {
        t: a.t + part * h,
        speed: b.v[0],
        energy: trace.energy[k],
        violation: -trace.gaps[..k].iter().flatten().copied().fold(f64::INFINITY, f64::min),
        tilt: trace.states.iter().fold(0.0, |m, s| m.max(s.q[2].abs())),
        newton: trace.iterations(),
    }
}

/// Check O23 for Moreau-Jean and, with check O22, for the projected schemes.
#[test]
fn two_revolutions_of_the_crank() {
    let h = 1e-5;
    let arrivals = [
        ("moreau-jean", two_revolutions(&plain(gamma(0.0)), h)),
        ("direct", two_revolutions(&direct(gamma(0.0)), h)),
        ("combined", two_revolutions(&combined(), h)),
    ];
    for (name, arrival) in &arrivals {
        println!("{name}: {arrival:?}");
        near(arrival.t, 0.13757, 2e-5);
        near(arrival.speed, 146.39, 0.02);
        near(arrival.energy, 7.139, 0.003);
        // the symmetry of the slider is kept, though its contacts are redundant
        assert!(arrival.tilt < 1e-12 && arrival.newton.0 < 2.4, "{name}: {arrival:?}");
        assert!(arrival.violation < if *name == "moreau-jean" { 1.5e-5 } else { 1e-10 }, "{name}: {arrival:?}");
    }
}

/// Checks O21 and O22 over the steps.
#[test]
fn violations_of_the_guide() {
    let mut last = None;
    for h in [1e-4, 1e-5, 1e-6] {
        let plain = two_revolutions(&plain(gamma(0.0)), h);
        println!("h = {h}: {plain:?}");
        assert!(plain.violation / h > 0.6 && plain.violation / h < 1.5, "{plain:?}");
        if let Some(last) = last.replace(plain.violation) {
            let ratio: f64 = last / plain.violation;
            assert!(ratio > 6.0 && ratio < 18.0, "{ratio}");
        }
    }
    let h = 1e-4;
    let projected = [two_revolutions(&direct(gamma(0.0)), h), two_revolutions(&combined(), h)];
    println!("h = {h}: {projected:?}");
    assert!(projected.iter().all(|p| p.violation < 1e-10), "{projected:?}");
    // half a revolution of small steps, with impacts
    let gaps = |trace: Trace| (trace.least_gap(), trace.impulse());
    let runs = [
        gaps(run(&direct(gamma(0.0)), slider_crank(), 1e-6, 35_000)),
        gaps(run(&combined(), slider_crank(), 1e-6, 35_000)),
    ];
    assert!(runs.iter().all(|(gap, impulse)| *gap > -1e-10 && *impulse > 0.0), "{runs:?}");
}

/// First impact: t = 2.69 ms, |U| = 0.842 m/s.
#[test]
fn first_impact_of_the_slider() {
    let trace = run(&combined(), slider_crank(), 1e-6, 3000);
    let k = trace.impulses.iter().position(|p| p.iter().any(|p| *p > 0.0)).unwrap();
    near(trace.states[k].t, 2.69e-3, 5e-6);
    let state = &trace.states[k];
    near((L1 * state.q[0].cos() * state.v[0] + L2 * state.q[1].cos() * state.v[1]).abs(), 0.842, 1e-3);
    assert!(trace.states[k + 1].v[2].abs() < 1e-9);
}
