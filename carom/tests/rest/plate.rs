//! A plate that slides and spins on its four corners: rigid bodies do not tell how they share its weight, and friction
//! depends on it. Schemes with phases take the reactions of least norm, and so does an integration of its own here.

use crate::{Log, both, moreau_jean};
use carom::EventKind;
use carom::multibody::pair::{Block, BlockPlane, Plane};
use carom::multibody::{Body, Contact, Multibody, MultibodyModel};

const G: f64 = 9.81;
const MU: f64 = 0.3;
const HALF: [f64; 3] = [0.2, 0.15, 0.03];
const VELOCITY: [f64; 2] = [0.8, 0.3];
const SPIN: f64 = 4.0;

fn inertia() -> [f64; 3] {
    let [a, b, c] = HALF.map(|x| x * x / 3.0);
    [b + c, a + c, a + b]
}

fn plate() -> MultibodyModel {
    let plane = Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] };
    let pair = BlockPlane { plane, block: Block::new(HALF) };
    let body = Body::new("plate", 1.0, inertia())
        .at([0.0, 0.0, HALF[2]])
        .velocity([VELOCITY[0], VELOCITY[1], 0.0])
        .spin([0.0, 0.0, SPIN]);
    let bodies = Multibody::spatial().gravity([0.0, 0.0, -G]).body(body);
    bodies.contact(Contact::new("corner", "ground", "plate", pair).friction(MU)).build().unwrap()
}

/// Rates of (x, y, angle, x', y', angle'): the weight λ of the corners is the least in norm with Σ λ = g and no torque
/// about the axes of the floor.
fn rate(s: [f64; 6]) -> [f64; 6] {
    let (sin, cos) = s[2].sin_cos();
    let corners = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]].map(|[i, j]| {
        let (x, y) = (i * HALF[0], j * HALF[1]);
        [cos * x - sin * y, sin * x + cos * y]
    });
    // force of a unit weight at each corner, and its torque
    let forces = corners.map(|[x, y]| {
        let (u, v) = (s[3] - s[5] * y, s[4] + s[5] * x);
        let speed = u.hypot(v);
        [-MU * u / speed, -MU * v / speed]
    });
    let rows: [[f64; 4]; 3] = [
        [1.0; 4],
        std::array::from_fn(|k| corners[k][1] + HALF[2] * forces[k][1]),
        std::array::from_fn(|k| -HALF[2] * forces[k][0] - corners[k][0]),
    ];
    let dot = |a: &[f64; 4], b: &[f64; 4]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // A Aᵀ x = (g, 0, 0) by Cramer's rule
    let w: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| dot(&rows[i], &rows[j])));
    let minor = |i: usize, j: usize, k: usize, l: usize| w[1][i] * w[2][j] - w[1][k] * w[2][l];
    let cofactors = [minor(1, 2, 2, 1), minor(2, 0, 0, 2), minor(0, 1, 1, 0)];
    let determinant: f64 = (0..3).map(|k| w[0][k] * cofactors[k]).sum();
    let weights: [f64; 4] =
        std::array::from_fn(|k| (0..3).map(|i| G * cofactors[i] / determinant * rows[i][k]).sum::<f64>());
    assert!(weights.iter().all(|weight| *weight > 0.0));
    let mut out = [s[3], s[4], s[5], 0.0, 0.0, 0.0];
    for k in 0..4 {
        let force = forces[k].map(|f| f * weights[k]);
        (out[3], out[4]) = (out[3] + force[0], out[4] + force[1]);
        out[5] += (corners[k][0] * force[1] - corners[k][1] * force[0]) / inertia()[2];
    }
    out
}

/// The motion up to a time before it stops, by the classical method of order 4.
fn integrate(end: f64, steps: u32) -> [f64; 6] {
    let h = end / f64::from(steps);
    let mut s = [0.0, 0.0, 0.0, VELOCITY[0], VELOCITY[1], SPIN];
    for _ in 0..steps {
        let plus = |k: [f64; 6], part: f64| std::array::from_fn(|i| s[i] + part * h * k[i]);
        let a = rate(s);
        let b = rate(plus(a, 0.5));
        let c = rate(plus(b, 0.5));
        let d = rate(plus(c, 1.0));
        s = std::array::from_fn(|i| s[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    s
}

fn planar(log: &Log) -> [f64; 6] {
    let (q, v) = (&log.end.q, &log.end.v);
    [q[0], q[1], 2.0 * q[6].atan2(q[3]), v[0], v[1], v[5]]
}

/// Sliding goes on as the least norm tells, without hand-overs.
#[test]
fn a_plate_slides_on_four_corners() {
    let end = 0.2;
    let known = integrate(end, 4000);
    let coarse = integrate(end, 2000);
    assert!(known.iter().zip(&coarse).all(|(a, b)| (a - b).abs() < 1e-9));
    for (name, log) in both(plate, end, 0.002) {
        assert_eq!(log.count(EventKind::HandOver), 0, "{name}");
        for (a, b) in planar(&log).iter().zip(&known) {
            assert!((a - b).abs() < 1e-6, "{name}: {:?}, known {known:?}", planar(&log));
        }
    }
}

/// It stops with all corners at once, translation and spin together, and stays.
#[test]
fn a_plate_on_four_corners_stops() {
    let steps = moreau_jean(plate(), 1.0, 1e-3);
    let mut ends = Vec::new();
    for (name, log) in both(plate, 1.0, 0.01) {
        assert!(log.is_still(), "{name}: {:?}", log.end);
        assert!(log.evaluations <= 10 * steps.evaluations, "{name}: {} {}", log.evaluations, steps.evaluations);
        ends.push(planar(&log));
    }
    assert!(ends[0].iter().zip(&ends[1]).all(|(a, b)| (a - b).abs() < 1e-5), "{ends:?}");
}
