//! Two masses with springs above two floors, pulled down: each floor stops a combination of both, so that M = C A B is
//! full. Impulses and the state at the end against flights by exponentials, inelastic impacts and contact forces by
//! elimination.

use super::{rows, run};
use carom::model::{Lcs, Matrices};
use carom::testbed::LinearFlow;
use carom::zero_dynamics::{degrees, report};

const MASS: [f64; 2] = [1.0, 2.0];
const STIFFNESS: f64 = 30.0;
const GRAVITY: f64 = 1.0;
/// Outputs w₁ = q₁ + q₂/2, w₂ = q₂ + 2q₁/5.
const OUTPUT: [[f64; 2]; 2] = [[1.0, 0.5], [0.4, 1.0]];

/// ẋ = A x + g with x = (q₁, q₂, v₁, v₂): a spring between the masses and one to the ground each.
fn stiffness() -> [[f64; 2]; 2] {
    [[2.0 * STIFFNESS, -STIFFNESS], [-STIFFNESS, 1.5 * STIFFNESS]]
}

fn model(initial: &[f64; 4]) -> Lcs {
    let k = stiffness();
    let mut a = vec![0.0; 16];
    (a[2], a[7]) = (1.0, 1.0);
    for i in 0..2 {
        (0..2).for_each(|j| a[(2 + i) * 4 + j] = -k[i][j] / MASS[i]);
    }
    let mut b = vec![0.0; 8];
    let mut c = vec![0.0; 8];
    for i in 0..2 {
        for j in 0..2 {
            c[i * 4 + j] = OUTPUT[i][j];
            b[(2 + j) * 2 + i] = OUTPUT[i][j] / MASS[j];
        }
    }
    let matrices = Matrices { e: None, a, b, c, d: vec![] };
    let lcs = Lcs::new(matrices, rows(&["left", "right"]), initial).unwrap();
    lcs.with_constant_state_source(&[0.0, 0.0, -GRAVITY, -GRAVITY]).unwrap()
}

/// Impulses of both rows by events: flights by exponentials, inelastic impacts, contact forces by elimination.
struct Events {
    impulse: [f64; 2],
    state: [f64; 4],
    changes: usize,
}

fn solve2(a: [[f64; 2]; 2], b: [f64; 2]) -> [f64; 2] {
    let det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    [(b[0] * a[1][1] - a[0][1] * b[1]) / det, (a[0][0] * b[1] - b[0] * a[1][0]) / det]
}

/// W = H M⁻¹ Hᵀ.
fn delassus() -> [[f64; 2]; 2] {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..2).map(|k| OUTPUT[i][k] * OUTPUT[j][k] / MASS[k]).sum()))
}

/// 0 ≤ W p + b ⊥ p ≥ 0 on the closed rows, by enumeration.
fn lcp(closed: [bool; 2], b: [f64; 2]) -> [f64; 2] {
    let w = delassus();
    let mut candidates = vec![[0.0, 0.0], [-b[0] / w[0][0], 0.0], [0.0, -b[1] / w[1][1]]];
    candidates.push(solve2(w, [-b[0], -b[1]]));
    candidates
        .into_iter()
        .find(|p| {
            (0..2).all(|i| {
                let u = w[i][0] * p[0] + w[i][1] * p[1] + b[i];
                if closed[i] { p[i] >= 0.0 && u >= -1e-13 } else { p[i] == 0.0 }
            })
        })
        .unwrap()
}

fn outputs(x: &[f64], at: usize) -> [f64; 2] {
    std::array::from_fn(|i| OUTPUT[i][0] * x[at] + OUTPUT[i][1] * x[at + 1])
}

fn free_acceleration(x: &[f64]) -> [f64; 2] {
    let k = stiffness();
    std::array::from_fn(|i| -(k[i][0] * x[0] + k[i][1] * x[1]) / MASS[i] - GRAVITY)
}

/// Forces on the held rows as linear functions of the state (x, 1).
fn forces(held: [bool; 2], x: &[f64]) -> [f64; 2] {
    let w = delassus();
    let a = free_acceleration(x);
    let b: [f64; 2] = std::array::from_fn(|i| OUTPUT[i][0] * a[0] + OUTPUT[i][1] * a[1]);
    match held {
        [false, false] => [0.0, 0.0],
        [true, false] => [-b[0] / w[0][0], 0.0],
        [false, true] => [0.0, -b[1] / w[1][1]],
        [true, true] => solve2(w, [-b[0], -b[1]]),
    }
}

/// The flow with held rows; state (q, v, 1, ∫f₁, ∫f₂).
fn flow(held: [bool; 2]) -> LinearFlow {
    let mut a = vec![0.0; 49];
    for column in 0..5 {
        let mut unit = [0.0; 5];
        unit[column] = 1.0;
        // affine functions: subtract their value at zero from that at a unit vector
        let (zero, one) = ([0.0; 5], unit);
        let constant = column == 4;
        let rate = |x: &[f64; 5]| {
            let (acceleration, f) = (free_acceleration(&x[..4]), forces(held, &x[..4]));
            let push: [f64; 2] = std::array::from_fn(|j| (OUTPUT[0][j] * f[0] + OUTPUT[1][j] * f[1]) / MASS[j]);
            [x[2], x[3], acceleration[0] + push[0], acceleration[1] + push[1], f[0], f[1]]
        };
        let (at_zero, at_one) = (rate(&zero), rate(&one));
        for (row, place) in [0, 1, 2, 3, 5, 6].into_iter().enumerate() {
            a[place * 7 + column] = if constant { at_zero[row] } else { at_one[row] - at_zero[row] };
        }
    }
    LinearFlow::new(7, &a).unwrap()
}

fn by_events(initial: &[f64; 4], end: f64) -> Events {
    let mut x = [0.0; 7];
    x[..4].copy_from_slice(initial);
    x[4] = 1.0;
    let (mut t, mut closed, mut held) = (0.0, [false; 2], [false; 2]);
    let mut impulse = [0.0; 2];
    let mut changes = 0;
    while t < end && changes < 1000 {
        let motion = flow(held);
        let left = end - t;
        // the next row that closes, or lets go
        let next = (0..2)
            .filter_map(|i| {
                let event = |x: &[f64]| if held[i] { forces(held, x)[i] } else { outputs(x, 0)[i] };
                motion.first(&x, left, 1e-3, event).map(|s| (s, i))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((s, i)) = next else {
            let end = motion.advance(left, &x);
            x.copy_from_slice(&end);
            break;
        };
        let next = motion.advance(s, &x);
        x.copy_from_slice(&next);
        t += s;
        changes += 1;
        if held[i] {
            held[i] = false;
            closed[i] = false;
            continue;
        }
        // impact of all closed rows
        closed[i] = true;
        let p = lcp(closed, outputs(&x, 2));
        for j in 0..2 {
            x[2 + j] += (OUTPUT[0][j] * p[0] + OUTPUT[1][j] * p[1]) / MASS[j];
            impulse[j] += p[j];
        }
        let u = outputs(&x, 2);
        let stays: [bool; 2] = std::array::from_fn(|j| closed[j] && u[j].abs() < 1e-10);
        // which of the rows at rest push
        let a = free_acceleration(&x[..4]);
        let f = lcp(stays, std::array::from_fn(|j| OUTPUT[j][0] * a[0] + OUTPUT[j][1] * a[1]));
        held = std::array::from_fn(|j| stays[j] && f[j] > 0.0);
        closed = held;
    }
    impulse[0] += x[5];
    impulse[1] += x[6];
    Events { impulse, state: [x[0], x[1], x[2], x[3]], changes }
}

/// Spec 3.6: M is full, gravity is an affine term, both rows close and open again.
#[test]
fn two_coupled_masses_above_two_floors() {
    let initial = [-0.2, 0.9, 0.0, 0.0];
    let exact = by_events(&initial, 2.0);
    assert!(exact.changes >= 4 && exact.changes < 1000, "{}", exact.changes);
    let lcs = model(&initial);
    assert_eq!(degrees(&lcs), Ok(vec![2, 2]));
    assert!(report(&lcs).leading.unwrap().iter().all(|x| *x != 0.0));
    let errors = [4e-4, 1e-4, 2.5e-5].map(|h| {
        let run = run(model(&initial), 2.0, h);
        let totals = [run.total(1), run.total(3)];
        let state = (0..4).map(|i| (run.last()[i] - exact.state[i]).abs()).fold(0.0, f64::max);
        (0..2).map(|i| (totals[i] - exact.impulse[i]).abs()).fold(state, f64::max)
    });
    println!("{} changes, impulses {:?}, errors {errors:?}", exact.changes, exact.impulse);
    let order = (errors[0] / errors[2]).log2() / 4.0;
    assert!(errors[2] < 1e-2 && (order - 1.0).abs() < 0.1, "{errors:?}, order {order}");
}
