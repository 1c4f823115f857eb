use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A random pattern with a full diagonal, not symmetric, and random blocks; `diagonal` is added to the diagonal.
fn random(n: usize, width: usize, diagonal: f64, rng: &mut Pcg64) -> (Pattern, Vec<f64>) {
    let mut pattern = Pattern { width, start: vec![0], column: Vec::new() };
    let mut value = Vec::new();
    for i in 0..n {
        for j in 0..n {
            if i == j || rng.random_range(0.0..1.0) < 4.0 / n as f64 {
                pattern.column.push(j as u32);
                for k in 0..width * width {
                    let shift = if i == j && k % (width + 1) == 0 { diagonal } else { 0.0 };
                    value.push(rng.random_range(-1.0..1.0) + shift);
                }
            }
        }
        pattern.start.push(pattern.column.len());
    }
    (pattern, value)
}

/// Scalar product of row and column by the definition, one entry at a time.
fn multiply(pattern: &Pattern, value: &[f64], x: &[f64]) -> Vec<f64> {
    let width = pattern.width;
    let mut y = vec![0.0; x.len()];
    for i in 0..pattern.rows() {
        for k in pattern.start[i]..pattern.start[i + 1] {
            for r in 0..width {
                for c in 0..width {
                    y[i * width + r] +=
                        value[k * width * width + r * width + c] * x[pattern.column[k] as usize * width + c];
                }
            }
        }
    }
    y
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn solves_sparse_systems_that_are_not_symmetric() {
    let mut rng = Pcg64::seed_from_u64(1);
    for (width, diagonal) in [(1, 6.0), (2, 6.0), (3, 6.0), (6, 20.0)] {
        let mut lu = BlockLu::default();
        for n in [1, 2, 5, 30, 90, 5] {
            let (pattern, value) = random(n, width, diagonal, &mut rng);
            let x: Vec<f64> = (0..n * width).map(|_| rng.random_range(-1.0..1.0)).collect();
            let b = multiply(&pattern, &value, &x);
            let mut y = vec![f64::NAN; n * width];
            lu.analyse(&pattern).unwrap();
            lu.factor(&value);
            assert!(lu.solve(&value, &b, &mut y) && !lu.is_dense);
            assert!(distance(&x, &y) < 1e-11, "{width} {n}: {:e}", distance(&x, &y));
            // other values in the same pattern
            let twice: Vec<f64> = value.iter().map(|x| 2.0 * x).collect();
            lu.analyse(&pattern).unwrap();
            lu.factor(&twice);
            assert!(lu.solve(&twice, &b, &mut y));
            assert!(x.iter().zip(&y).all(|(x, y)| (0.5 * x - y).abs() < 1e-11));
        }
    }
}

#[test]
fn falls_back_to_pivoting_between_blocks() {
    // a permutation of blocks: every diagonal block is zero
    let pattern = Pattern { width: 2, start: vec![0, 2, 4], column: vec![0, 1, 0, 1] };
    let zero = [0.0; 4];
    let (a, b) = ([1.0, 2.0, 3.0, 5.0], [2.0, 0.5, -1.0, 1.0]);
    let value: Vec<f64> = [zero, a, b, zero].concat();
    let x = [1.0, -2.0, 0.5, 4.0];
    let right = multiply(&pattern, &value, &x);
    let mut lu = BlockLu::default();
    lu.analyse(&pattern).unwrap();
    lu.factor(&value);
    let mut y = [0.0; 4];
    assert!(lu.solve(&value, &right, &mut y));
    assert!(distance(&x, &y) < 1e-13, "{y:?}");
}

#[test]
fn singular_systems_are_told_or_solved_in_the_range() {
    let pattern = Pattern { width: 1, start: vec![0, 2, 4], column: vec![0, 1, 0, 1] };
    let value = [1.0, 1.0, 1.0, 1.0];
    let mut lu = BlockLu::default();
    lu.analyse(&pattern).unwrap();
    lu.factor(&value);
    let mut y = [0.0; 2];
    let solved = lu.solve(&value, &[1.0, -1.0], &mut y);
    assert!(!solved, "{y:?}");
    lu.factor(&value);
    assert!(lu.solve(&value, &[2.0, 2.0], &mut y));
    assert!((y[0] + y[1] - 2.0).abs() < 1e-12);
    lu.factor(&[f64::NAN; 4]);
    assert!(!lu.solve(&[f64::NAN; 4], &[1.0, 1.0], &mut y));
}

#[test]
fn order_keeps_long_chains_sparse() {
    // a chain of 2000 laws closed to a ring, numbered at random: the factor has at most two more blocks per row
    let n = 2000;
    let mut rng = Pcg64::seed_from_u64(3);
    let mut name: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        name.swap(i, rng.random_range(0..=i));
    }
    let mut rows = vec![Vec::new(); n];
    for i in 0..n {
        let mut row = vec![name[i], name[(i + 1) % n], name[(i + n - 1) % n]];
        row.sort_unstable();
        rows[name[i] as usize] = row;
    }
    let mut pattern = Pattern { width: 3, start: vec![0], column: Vec::new() };
    for row in rows {
        pattern.column.extend(row);
        pattern.start.push(pattern.column.len());
    }
    let mut lu = BlockLu::default();
    lu.analyse(&pattern).unwrap();
    assert!(lu.multiplications() <= 27.0 * 7.0 * n as f64, "{}", lu.multiplications());
}

#[test]
fn products_agree_with_the_definition() {
    let mut rng = Pcg64::seed_from_u64(2);
    for width in 1..=3 {
        let (pattern, value) = random(11, width, 0.0, &mut rng);
        let x: Vec<f64> = (0..11 * width).map(|_| rng.random_range(-1.0..1.0)).collect();
        let expected = multiply(&pattern, &value, &x);
        let mut sum = vec![0.0; x.len()];
        pattern.add_mul(&value, &x, &mut sum);
        assert!(distance(&sum, &expected) < 1e-13);
        let mut rest = vec![f64::NAN; x.len()];
        pattern.residual(&value, &x, &expected, &mut rest);
        assert!(distance(&rest, &vec![0.0; x.len()]) < 1e-13);
    }
}

/// Blocks `I + 10⁹ g gᵀ` as bodies with stiff contacts have them: no digits of the residual are lost without
/// refinement.
#[test]
fn wide_blocks_of_bad_condition_lose_nothing() {
    let mut rng = Pcg64::seed_from_u64(9);
    let n = 12;
    let (pattern, mut value) = random(n, 6, 0.0, &mut rng);
    value.fill(0.0);
    for i in 0..n {
        let row = pattern.start[i]..pattern.start[i + 1];
        let at = row.start + pattern.column[row].binary_search(&(i as u32)).unwrap();
        let g: [f64; 6] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
        for k in 0..36 {
            value[at * 36 + k] = 1e9 * g[k / 6] * g[k % 6] + if k % 7 == 0 { 1.0 } else { 0.0 };
        }
    }
    let b: Vec<f64> = (0..6 * n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut x = vec![0.0; b.len()];
    let mut lu = BlockLu::default();
    lu.analyse(&pattern).unwrap();
    lu.factor(&value);
    lu.substitute_once(&b, &mut x);
    // backward stable: the residual is rounding of the largest products
    let largest = x.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    assert!(distance(&multiply(&pattern, &value, &x), &b) < 1e-15 * 40.0 * 1e9 * largest);
}
