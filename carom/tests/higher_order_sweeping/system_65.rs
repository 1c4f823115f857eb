//! System (65) of [acary2008homsp]: relative degree 3, against the motion by events.

use super::{rows, run};
use carom::model::{Lcs, Matrices};
use carom::testbed::{ExactState, Sign, ThirdDegree};
use carom::zero_dynamics::degrees;
use nalgebra::DMatrix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// O12: events of 65+, and states at integer times.
#[test]
fn the_motion_by_events_is_the_reference() {
    let exact = ThirdDegree::default();
    let events = exact.events();
    assert_eq!(events.len(), 2);
    assert!((events[0].0 - 4.345147830371).abs() < 1e-10 && (events[1].0 - 6.199615848872).abs() < 1e-10);
    assert!((events[0].2[1] + 0.7014495873).abs() < 1e-9 && (events[0].2[2] + 0.6294302346).abs() < 1e-9);
    assert!((events[1].2[3] + 1.38454296).abs() < 1e-8);
    let mut z = [0.0; 5];
    exact.at(10.0, &mut z);
    let table = [2.038074314, 0.453192855, -1.056047930, 2.615870339, 0.624221523];
    assert!(z.iter().zip(table).all(|(a, b)| (a - b).abs() < 2e-9), "{z:?}");
    assert_eq!(exact.jumps(0.0, 10.0).len(), 1);
    // the other sign has two contacts
    assert_eq!(ThirdDegree::new(Sign::Minus, 10.0).events().iter().filter(|e| e.1).count(), 2);
}

/// O9.
#[test]
fn system_65_with_large_steps() {
    let run = run(ThirdDegree::default().model(), 10.0, 0.1);
    let at_one = [0.89805634, -0.20083509, -0.18705941, 0.47255738, 0.76417702];
    assert!(run.x[9].iter().zip(at_one).all(|(a, b)| (a - b).abs() < 1e-8), "{:?}", run.x[9]);
    let table = [1.50129299, 0.24256596, -0.75157744, 2.03634158, 0.45622948];
    assert!(run.last().iter().zip(table).all(|(a, b)| (a - b).abs() < 1e-7), "{:?}", run.last());
    let contact: Vec<usize> = (0..run.t.len()).filter(|&k| run.levels[k][2] > 0.0).map(|k| k + 1).collect();
    assert_eq!(contact, (43..=61).collect::<Vec<_>>());
    assert!((run.levels[41][0] - 0.01748377).abs() < 1e-8 && run.x[41][0] == 0.0);
    assert!((run.levels[42][1] - 0.61854775).abs() < 1e-8 && (run.levels[42][2] - 0.57726999).abs() < 1e-8);
}

/// O10, and totals of the measures.
#[test]
fn system_65_converges_with_order_one() {
    let exact = ThirdDegree::default();
    let mut end = [0.0; 5];
    exact.at(10.0, &mut end);
    let errors = [2e-3, 1e-3].map(|h| {
        let run = run(exact.model(), 10.0, h);
        run.last().iter().zip(&end).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    });
    assert!((errors[1] - 6.246e-3).abs() < 2e-5, "{errors:?}");
    assert!(((errors[0] / errors[1]).log2() - 1.0).abs() < 0.02, "{errors:?}");
    let run = run(exact.model(), 10.0, 1e-4);
    assert!((run.total(1) - 0.7014495873).abs() < 2e-3, "{}", run.total(1));
    assert!((run.total(2) - 2.4014825057).abs() < 2e-3, "{}", run.total(2));
    assert!(run.total(0) < 1e-3);
}

/// Points of the graph of z with jumps filled in, at most `spacing` apart.
fn graph(spacing: f64, pieces: &[(f64, [f64; 5])]) -> Vec<[f64; 6]> {
    let mut out = Vec::new();
    for pair in pieces.windows(2) {
        let ((t0, a), (t1, b)) = (pair[0], pair[1]);
        let length = (0..5).map(|i| (a[i] - b[i]).abs()).fold((t1 - t0).abs(), f64::max);
        let parts = (length / spacing).ceil().max(1.0) as usize;
        for k in 0..=parts {
            let s = k as f64 / parts as f64;
            let mut point = [t0 + s * (t1 - t0); 6];
            (0..5).for_each(|i| point[i + 1] = a[i] + s * (b[i] - a[i]));
            out.push(point);
        }
    }
    out
}

/// Largest distance of points of `from` to the nearest of `to`, in the maximum norm. Both are sorted by time.
fn one_sided(from: &[[f64; 6]], to: &[[f64; 6]]) -> f64 {
    let mut largest = 0.0f64;
    for p in from {
        let middle = to.partition_point(|q| q[0] < p[0]);
        let mut best = f64::INFINITY;
        let mut look = |q: &[f64; 6]| {
            if (q[0] - p[0]).abs() > best {
                return false;
            }
            best = best.min((0..6).map(|i| (q[i] - p[i]).abs()).fold(0.0, f64::max));
            true
        };
        let _ = to[middle..].iter().all(&mut look);
        let _ = to[..middle].iter().rev().all(&mut look);
        largest = largest.max(best);
    }
    largest
}

/// O11.
#[test]
fn graphs_come_closer_with_order_one() {
    let exact = ThirdDegree::default();
    let distances = [(0.02, 0.12321), (0.01, 0.06205)].map(|(h, wanted)| {
        let run = run(exact.model(), 10.0, h);
        let mut steps = vec![(0.0, [1.0, 0.0, 0.0, 0.0, 0.0])];
        for (t, x) in run.t.iter().zip(&run.x) {
            let held = steps[steps.len() - 1].1;
            steps.push((*t, held));
            steps.push((*t, <[f64; 5]>::try_from(x.as_slice()).unwrap()));
        }
        let jump = exact.jumps(0.0, 10.0)[0];
        let mut curve = Vec::new();
        let fine = 20_000;
        for k in 0..=fine {
            let t = 10.0 * k as f64 / fine as f64;
            let mut x = [0.0; 5];
            if curve.last().is_some_and(|(before, _)| *before < jump) && t > jump {
                exact.before(jump, &mut x);
                curve.push((jump, x));
                exact.at(jump, &mut x);
                curve.push((jump, x));
            }
            exact.at(t, &mut x);
            curve.push((t, x));
        }
        let (a, b) = (graph(h / 10.0, &steps), graph(h / 10.0, &curve));
        let distance = one_sided(&a, &b).max(one_sided(&b, &a));
        assert!((distance - wanted).abs() < 0.002, "h = {h}: {distance}");
        distance
    });
    assert!(((distances[0] / distances[1]).log2() - 1.0).abs() < 0.05);
}

/// The same system in other coordinates: the same w and μ.
#[test]
fn similarity_transforms_change_nothing() {
    let exact = ThirdDegree::default();
    let plain = exact.matrices();
    let reference = run(exact.model(), 10.0, 0.01);
    let mut rng = Pcg64::seed_from_u64(3);
    for round in 0..20 {
        let t = DMatrix::from_fn(5, 5, |_, _| rng.random_range(-1.0..1.0f64));
        let Some(inverse) = t.clone().try_inverse().filter(|i| i.norm() * t.norm() < 200.0) else { continue };
        // widely different units on top, in every other round
        let units = |i: usize| if round % 2 == 0 { 1.0 } else { 10f64.powi([-6, 4, 0, -3, 6][i]) };
        let t = DMatrix::from_fn(5, 5, |i, j| units(i) * t[(i, j)]);
        let inverse = DMatrix::from_fn(5, 5, |i, j| inverse[(i, j)] / units(j));
        let flat = |m: DMatrix<f64>| m.transpose().as_slice().to_vec();
        let matrices = Matrices {
            a: flat(&t * DMatrix::from_row_slice(5, 5, &plain.a) * &inverse),
            b: flat(&t * DMatrix::from_row_slice(5, 1, &plain.b)),
            c: flat(DMatrix::from_row_slice(1, 5, &plain.c) * inverse),
            ..Matrices::default()
        };
        let initial = flat(&t * DMatrix::from_row_slice(5, 1, &[1.0, 0.0, 0.0, 0.0, 0.0]));
        let lcs = Lcs::new(matrices, rows(&["stop"]), &initial).unwrap();
        assert_eq!(degrees(&lcs), Ok(vec![3]));
        let run = run(lcs, 10.0, 0.01);
        for k in 0..run.t.len() {
            assert!((run.outputs[k][0] - reference.outputs[k][0]).abs() < 1e-8, "round {round}, step {k}");
            let same = run.levels[k].iter().zip(&reference.levels[k]).all(|(a, b)| (a - b).abs() < 1e-8);
            assert!(same, "round {round}, step {k}: {:?} {:?}", run.levels[k], reference.levels[k]);
        }
    }
}

/// Relative degrees that differ: the system of degree 3 and one of degree 1 side by side, hidden by a change of basis,
/// move as alone.
#[test]
fn degrees_may_differ_from_row_to_row() {
    let exact = ThirdDegree::default();
    let plain = exact.matrices();
    // ẋ = −x − cos-like push of a second oscillator: x₆' = −x₆ + x₇ + 2λ₂, x₇' = x₈, x₈' = −x₇;  w₂ = x₆
    let other = Matrices {
        e: None,
        a: vec![-1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0],
        b: vec![2.0, 0.0, 0.0],
        c: vec![1.0, 0.0, 0.0],
        d: vec![],
    };
    let start = [0.3, -1.0, 0.5];
    let (h, end) = (0.01, 10.0);
    let alone = [run(exact.model(), end, h), run(Lcs::new(other.clone(), rows(&["other"]), &start).unwrap(), end, h)];
    assert!(alone[1].levels.iter().any(|mu| mu[0] > 0.0) && alone[1].levels.iter().any(|mu| mu[0] == 0.0));
    let (mut a, mut b, mut c) = (DMatrix::zeros(8, 8), DMatrix::zeros(8, 2), DMatrix::zeros(2, 8));
    a.view_mut((0, 0), (5, 5)).copy_from(&DMatrix::from_row_slice(5, 5, &plain.a));
    a.view_mut((5, 5), (3, 3)).copy_from(&DMatrix::from_row_slice(3, 3, &other.a));
    // rows in the other order
    (b[(2, 1)], b[(5, 0)]) = (1.0, 2.0);
    (c[(1, 0)], c[(0, 5)]) = (1.0, 1.0);
    let mut rng = Pcg64::seed_from_u64(9);
    let t = DMatrix::from_fn(8, 8, |i, j| f64::from(u8::from(i == j)) + 0.3 * rng.random_range(-1.0..1.0f64));
    let inverse = t.clone().try_inverse().unwrap();
    let flat = |m: DMatrix<f64>| m.transpose().as_slice().to_vec();
    let x = DMatrix::from_row_slice(8, 1, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.3, -1.0, 0.5]);
    let matrices =
        Matrices { a: flat(&t * a * &inverse), b: flat(&t * b), c: flat(c * inverse), ..Matrices::default() };
    let lcs = Lcs::new(matrices, rows(&["other", "stop"]), &flat(&t * x)).unwrap();
    assert_eq!(degrees(&lcs), Ok(vec![1, 3]));
    let both = run(lcs, end, h);
    for k in 0..both.t.len() {
        let wanted: Vec<f64> = alone[1].levels[k].iter().chain(&alone[0].levels[k]).copied().collect();
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(&both.levels[k], &wanted), "step {k}: {:?} {wanted:?}", both.levels[k]);
        assert!(near(&both.outputs[k], &[alone[1].outputs[k][0], alone[0].outputs[k][0]]), "step {k}");
    }
}
