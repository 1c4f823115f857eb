//! Relative degree and zero-dynamics form of random, badly scaled and known systems.

use super::rows;
use carom::model::{Lcs, Matrices};
use carom::zero_dynamics::{PMatrix, ZeroDynamics, ZeroDynamicsError, degrees, report};
use nalgebra::DMatrix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A random system with the given relative degrees: chains and ξ with random feedback, in a random basis.
fn random_system(rng: &mut Pcg64, degrees: &[usize], xi: usize) -> Matrices {
    let (m, length) = (degrees.len(), degrees.iter().sum::<usize>());
    let n = length + xi;
    let mut draw = || rng.random_range(-1.0..1.0f64);
    let mut a = DMatrix::zeros(n, n);
    let (mut b, mut c) = (DMatrix::zeros(n, m), DMatrix::zeros(m, n));
    // symmetric positive definite, so a P-matrix
    let root = DMatrix::from_fn(m, m, |_, _| draw());
    let leading = &root * root.transpose() + DMatrix::identity(m, m);
    let mut first = 0;
    for (i, &r) in degrees.iter().enumerate() {
        (0..r - 1).for_each(|j| a[(first + j, first + j + 1)] = 1.0);
        (0..n).for_each(|j| a[(first + r - 1, j)] = draw());
        (0..m).for_each(|j| b[(first + r - 1, j)] = leading[(i, j)]);
        c[(i, first)] = 1.0;
        first += r;
    }
    for i in length..n {
        (0..n).for_each(|j| a[(i, j)] = draw());
    }
    let (q, _) = DMatrix::from_fn(n, n, |_, _| draw()).qr().unpack();
    let skew = DMatrix::from_fn(n, n, |i, j| if i == j { 1.0 + 0.5 * draw() } else { 0.0 });
    let t = q * skew;
    let inverse = t.clone().try_inverse().unwrap();
    let flat = |m: DMatrix<f64>| m.transpose().as_slice().to_vec();
    Matrices { e: None, a: flat(&t * a * &inverse), b: flat(&t * b), c: flat(c * inverse), d: vec![] }
}

/// O6, with relative degrees that differ from row to row as well.
#[test]
fn random_systems_have_the_form() {
    let mut rng = Pcg64::seed_from_u64(7);
    let shapes: [&[usize]; 12] =
        [&[1], &[2], &[3], &[4], &[1, 1], &[2, 2], &[3, 3], &[4, 4], &[3, 3, 3], &[2, 2, 2], &[1, 3], &[2, 1, 4]];
    for round in 0..240 {
        let degrees_wanted = shapes[round % shapes.len()];
        let xi = (9 - degrees_wanted.iter().sum::<usize>()).min(rng.random_range(0..5));
        let matrices = random_system(&mut rng, degrees_wanted, xi);
        let (m, n) = (degrees_wanted.len(), degrees_wanted.iter().sum::<usize>() + xi);
        let names: Vec<String> = (0..m).map(|i| format!("row{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let lcs = Lcs::new(matrices.clone(), rows(&names), &vec![0.0; n]).unwrap();
        let form = ZeroDynamics::of(&lcs).unwrap();
        assert_eq!(form.degrees(), degrees_wanted, "round {round}");

        let w = DMatrix::from_row_slice(n, n, &form.transformation());
        let inverse = w.clone().try_inverse().unwrap();
        let a_bar = &w * DMatrix::from_row_slice(n, n, &matrices.a) * &inverse;
        let b_bar = &w * DMatrix::from_row_slice(n, m, &matrices.b);
        let values = w.clone().singular_values();
        let condition = values.max() / values.min();
        let tolerance = 1e-12 * condition * a_bar.norm();
        let chains = form.chains();
        let leading = DMatrix::from_row_slice(m, m, &form.leading());
        for i in 0..m {
            for k in chains[i]..chains[i + 1] {
                let end = k + 1 == chains[i + 1];
                for j in 0..n {
                    let wanted = f64::from(u8::from(j == k + 1));
                    assert!(end || (a_bar[(k, j)] - wanted).abs() <= tolerance, "round {round}: chain");
                }
                for j in 0..m {
                    let wanted = if end { leading[(i, j)] } else { 0.0 };
                    assert!((b_bar[(k, j)] - wanted).abs() <= tolerance, "round {round}: input");
                }
                // beyond z₁ nothing drives ξ
                for row in chains[m]..n {
                    assert!(k == chains[i] || a_bar[(row, k)].abs() <= tolerance, "round {round}: ξ");
                }
            }
        }
        for row in chains[m]..n {
            assert!((0..m).all(|j| b_bar[(row, j)].abs() <= tolerance), "round {round}: input of ξ");
        }
    }
}

/// Zeros of (s + 2)(s² + s + 3)/(five poles), in companion form: (−2, −1/2 ± i√(11/4)).
#[test]
fn zeros_are_those_of_the_transfer_function() {
    // poles: any; here s⁵ + s⁴ + 2s³ + 3s² + 5s + 8, numerator s³ + 3s² + 5s + 6
    let mut a = vec![0.0; 25];
    (0..4).for_each(|i| a[i * 5 + i + 1] = 1.0);
    a[20..].copy_from_slice(&[-8.0, -5.0, -3.0, -2.0, -1.0]);
    let matrices =
        Matrices { e: None, a, b: vec![0.0, 0.0, 0.0, 0.0, 1.0], c: vec![6.0, 5.0, 3.0, 1.0, 0.0], d: vec![] };
    let lcs = Lcs::new(matrices, rows(&["y"]), &[0.0; 5]).unwrap();
    let report = report(&lcs);
    assert_eq!((report.degrees, report.p_matrix, report.problem), (vec![Some(2)], Some(PMatrix::Yes), None));
    assert_eq!(report.leading, Some(vec![1.0]));
    let root = (11.0f64 / 4.0).sqrt();
    for ((re, im), (a, b)) in report.zeros.iter().zip([(-2.0, 0.0), (-0.5, -root), (-0.5, root)]) {
        assert!((re - a).abs() < 1e-12 && (im - b).abs() < 1e-12, "{:?}", report.zeros);
    }
}

/// Entries from 1e-9 to 1e9: a ladder of n sections u → ... → y, each an RC or LC section of other size, and a
/// cancelling path.
#[test]
fn badly_scaled_systems_have_the_right_degree() {
    let mut rng = Pcg64::seed_from_u64(11);
    for round in 0..200 {
        let degree = 1 + round % 5;
        let n = degree + rng.random_range(0..4usize);
        let mut size = || 10f64.powi(rng.random_range(-9..10)) * rng.random_range(1.0..2.0f64);
        let mut a = vec![0.0; n * n];
        // λ enters state degree−1, y is state 0; feedback everywhere that does not shorten the way
        for i in 0..n {
            for j in 0..n {
                if i >= degree || j <= i + 1 {
                    a[i * n + j] = -size();
                }
            }
        }
        (0..degree).for_each(|i| (degree..n).for_each(|j| a[i * n + j] = 0.0));
        (0..degree - 1).for_each(|i| a[i * n + i + 1] = size());
        let mut b = vec![0.0; n];
        b[degree - 1] = size();
        let mut c = vec![0.0; n];
        c[0] = size();
        let matrices = Matrices { e: None, a: a.clone(), b: b.clone(), c, d: vec![] };
        let lcs = Lcs::new(matrices, rows(&["y"]), &vec![0.0; n]).unwrap();
        assert_eq!(degrees(&lcs), Ok(vec![degree]), "round {round}");
        assert_eq!(report(&lcs).p_matrix, Some(PMatrix::Yes), "round {round}");
    }
    // two paths of very different gain do not cancel; equal ones do
    let fork = |gain: f64| {
        let matrices = Matrices {
            e: None,
            a: vec![0.0, 1e9, 1e-9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            b: vec![0.0, 1e-9, gain],
            c: vec![1.0, 0.0, 0.0],
            d: vec![],
        };
        degrees(&Lcs::new(matrices, rows(&["y"]), &[0.0; 3]).unwrap())
    };
    assert_eq!(fork(1.0), Ok(vec![2]));
    assert_eq!(fork(-1e9), Err(ZeroDynamicsError::Unreachable { row: "y".into() }));
}

/// Tame systems whose states, inputs, outputs and time have units from 1e-9 to 1e9: the same degrees and zeros.
#[test]
fn units_do_not_matter() {
    let mut rng = Pcg64::seed_from_u64(5);
    for round in 0..60 {
        let wanted: &[usize] = [&[1][..], &[3], &[2, 2], &[1, 3]][round % 4];
        let plain = random_system(&mut rng, wanted, 3);
        let (m, n) = (wanted.len(), wanted.iter().sum::<usize>() + 3);
        let mut unit = || 10f64.powi(rng.random_range(-9..10));
        let states: Vec<f64> = (0..n).map(|_| unit()).collect();
        let (inputs, outputs): (Vec<f64>, Vec<f64>) =
            ((0..m).map(|_| unit()).collect(), (0..m).map(|_| unit()).collect());
        let rate = 10f64.powi(rng.random_range(-6..7));
        let scaled = Matrices {
            e: None,
            a: (0..n * n).map(|k| plain.a[k] * rate * states[k / n] / states[k % n]).collect(),
            b: (0..n * m).map(|k| plain.b[k] * rate * states[k / m] * inputs[k % m]).collect(),
            c: (0..m * n).map(|k| plain.c[k] * outputs[k / n] / states[k % n]).collect(),
            d: vec![],
        };
        let names: Vec<String> = (0..m).map(|i| format!("row{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let of = |matrices| report(&Lcs::new(matrices, rows(&names), &vec![0.0; n]).unwrap());
        let (plain, scaled) = (of(plain), of(scaled));
        assert_eq!((plain.problem, scaled.problem), (None, None), "round {round}");
        assert_eq!(scaled.degrees, wanted.iter().map(|r| Some(*r)).collect::<Vec<_>>());
        for ((a, b), (c, d)) in plain.zeros.iter().zip(&scaled.zeros) {
            let size = rate * a.hypot(*b).max(1.0);
            assert!((a * rate - c).abs() < 1e-8 * size && (b * rate - d).abs() < 1e-8 * size, "round {round}");
        }
    }
}
