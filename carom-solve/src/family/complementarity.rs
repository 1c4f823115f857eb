//! Linear complementarity families.
//!
//! `pd`, `aat`, `pns` follow the definition under which published timings were taken: numbers in (−1, 1) of the
//! splitmix64 sequence fill A row by row, then B (for `pns` alone), then q, and
//!
//! ```text
//!     pd   M = A Aᵀ/n + I        aat   M = A Aᵀ/n        pns   M = A Aᵀ/n + I/10 + (B − Bᵀ)/√n
//! ```

use super::Recipe;
use crate::elementary::exp;
use crate::{Law, Rows, StoredError, StoredProblem};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The splitmix64 sequence, mapped to (−1, 1).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        2.0 * ((z >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)) - 1.0
    }

    fn list(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// `A Aᵀ / n` for n rows of any length, row-major. Each entry is summed up in the order of the columns.
fn gram(a: &[f64], n: usize) -> Vec<f64> {
    let width = a.len() / n;
    let mut column = vec![0.0; a.len()];
    for i in 0..n {
        for k in 0..width {
            column[k * n + i] = a[i * width + k];
        }
    }
    let mut m = vec![0.0; n * n];
    for (i, row) in m.chunks_mut(n).enumerate() {
        for k in 0..width {
            let x = a[i * width + k];
            for (sum, y) in row.iter_mut().zip(&column[k * n..(k + 1) * n]) {
                *sum += x * y;
            }
        }
        for sum in row {
            *sum /= n as f64;
        }
    }
    m
}

fn problem(m: &[f64], q: Vec<f64>) -> Result<StoredProblem, StoredError> {
    let n = q.len();
    StoredProblem::reduced("", Rows::dense(n, m), q, vec![Law::UNILATERAL; n])
}

pub(super) fn pd(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let (n, seed) = (recipe.size, recipe.seed);
    let mut numbers = SplitMix(seed);
    let mut m = gram(&numbers.list(n * n), n);
    for i in 0..n {
        m[i * n + i] += 1.0;
    }
    problem(&m, numbers.list(n))
}

pub(super) fn aat(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let (n, seed) = (recipe.size, recipe.seed);
    let mut numbers = SplitMix(seed);
    let m = gram(&numbers.list(n * n), n);
    problem(&m, numbers.list(n))
}

pub(super) fn pns(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let (n, seed) = (recipe.size, recipe.seed);
    let mut numbers = SplitMix(seed);
    let mut m = gram(&numbers.list(n * n), n);
    let b = numbers.list(n * n);
    let root = (n as f64).sqrt();
    for i in 0..n {
        for j in 0..n {
            m[i * n + j] += if i == j { 0.1 } else { 0.0 } + (b[i * n + j] - b[j * n + i]) / root;
        }
    }
    problem(&m, numbers.list(n))
}

/// `q = w − M z` for chosen z and w: a third of the conditions closed, a third open, a third with both sides zero.
fn with_solution(m: &[f64], rng: &mut Pcg64, n: usize, same: usize) -> Result<StoredProblem, StoredError> {
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        match rng.random_range(0..3u32) {
            0 => z[i] = rng.random_range(0.1..1.0),
            1 => w[i] = rng.random_range(0.1..1.0),
            _ => {}
        }
    }
    // rows that are copies share w, and a closed one closes all
    for i in same..n {
        let twin = i - same;
        if z[i] > 0.0 || z[twin] > 0.0 {
            (w[i], w[twin]) = (0.0, 0.0);
        }
        w[i] = w[twin];
    }
    let q = (0..n).map(|i| w[i] - (0..n).map(|j| m[i * n + j] * z[j]).sum::<f64>()).collect();
    problem(m, q)
}

pub(super) fn degenerate(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let (n, seed) = (recipe.size, recipe.seed);
    let mut rng = Pcg64::seed_from_u64(seed);
    let a: Vec<f64> = (0..n * n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut m = gram(&a, n);
    for i in 0..n {
        m[i * n + i] += 0.1;
    }
    with_solution(&m, &mut rng, n, n)
}

pub(super) fn redundant(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let (n, seed) = (recipe.size, recipe.seed);
    let mut rng = Pcg64::seed_from_u64(seed);
    let half = n.div_ceil(2);
    let mut a: Vec<f64> = (0..half * half).map(|_| rng.random_range(-1.0..1.0)).collect();
    a.extend_from_within(..);
    let n = 2 * half;
    let m = gram(&a, n);
    with_solution(&m, &mut rng, n, half)
}

/// A membrane on the unit square under a downward load, above an obstacle with random bumps: z is the distance to it.
pub(super) fn obstacle(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let (size, seed) = (recipe.size, recipe.seed);
    let side = (size as f64).sqrt().ceil() as usize;
    let h = 1.0 / (side + 1) as f64;
    let mut rng = Pcg64::seed_from_u64(seed);
    let bumps: Vec<[f64; 3]> =
        (0..8).map(|_| [rng.random_range(0.2..0.8), rng.random_range(0.2..0.8), rng.random_range(0.05..0.2)]).collect();
    // signed: also for the points of the frame, where the membrane is held at zero
    let height = |i: usize, j: usize| {
        let (x, y) = (i as f64 * h, j as f64 * h);
        bumps.iter().map(|b| 0.1 * exp(-((x - b[0]).powi(2) + (y - b[1]).powi(2)) / b[2].powi(2))).sum::<f64>() - 0.15
    };
    let mut w = Rows::new(side * side);
    let mut q = Vec::with_capacity(side * side);
    for i in 1..=side {
        for j in 1..=side {
            let at = (i - 1) * side + j - 1;
            let mut row = Vec::with_capacity(5);
            // A (z + ψ) = −f h² + reaction, with the frame at zero; scaled by h²
            let mut sum = 4.0 * height(i, j) + 2.0 * h * h;
            let neighbours = [(i > 1, at.wrapping_sub(side), i - 1, j), (j > 1, at.wrapping_sub(1), i, j - 1)];
            for (inside, k, x, y) in neighbours {
                if inside {
                    row.push((k, -1.0));
                    sum -= height(x, y);
                }
            }
            row.push((at, 4.0));
            for (inside, k, x, y) in [(j < side, at + 1, i, j + 1), (i < side, at + side, i + 1, j)] {
                if inside {
                    row.push((k, -1.0));
                    sum -= height(x, y);
                }
            }
            w.push_sparse(row);
            q.push(sum);
        }
    }
    let n = q.len();
    StoredProblem::reduced("", w, q, vec![Law::UNILATERAL; n])
}
