//! Small dense LU factorisation with partial pivoting, on one buffer that is reused.

use crate::LinearSolve;
use crate::solver::product::dot;

/// The matrix has no usable pivot in this column (counted from 0).
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the matrix is singular: pivot {column} is {pivot:e}")]
pub struct Singular {
    /// Column of the pivot.
    pub column: usize,
    /// The largest candidate.
    pub pivot: f64,
}

/// `P A = L U`, row-major.
#[derive(Clone, Debug, Default)]
pub struct DenseLu {
    n: usize,
    lu: Vec<f64>,
    swap: Vec<usize>,
}

crate::persist!(DenseLu { n, lu, swap });

impl DenseLu {
    /// A buffer for an n×n matrix, to be filled and then [`factor`](Self::factor)ed.
    pub fn matrix_mut(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.lu.resize(n * n, 0.0);
        self.swap.resize(n, 0);
        &mut self.lu
    }

    /// Factors what [`matrix_mut`](Self::matrix_mut) was filled with. A pivot below `n ε` times the largest entry of
    /// its column, or one that is not finite, is refused.
    pub fn factor(&mut self) -> Result<(), Singular> {
        let n = self.n;
        let a = &mut self.lu;
        for k in 0..n {
            let (mut largest, mut p, mut size) = (0.0f64, k, -1.0);
            for (i, row) in a.chunks_exact(n).enumerate() {
                let entry = row[k].abs();
                largest = largest.max(entry);
                if i >= k && entry > size {
                    (p, size) = (i, entry);
                }
            }
            let pivot = a[p * n + k];
            // written so that a NaN is refused as well
            if !(pivot.abs() > n as f64 * f64::EPSILON * largest && pivot.is_finite()) {
                return Err(Singular { column: k, pivot });
            }
            self.swap[k] = p;
            if p != k {
                for j in 0..n {
                    a.swap(k * n + j, p * n + j);
                }
            }
            let inverse = 1.0 / pivot;
            let (top, bottom) = a.split_at_mut((k + 1) * n);
            let pivots = &top[k * n + k + 1..];
            for row in bottom.chunks_exact_mut(n) {
                let factor = row[k] * inverse;
                row[k] = factor;
                if factor != 0.0 {
                    for (x, y) in row[k + 1..].iter_mut().zip(pivots) {
                        *x -= factor * y;
                    }
                }
            }
        }
        Ok(())
    }
}

impl LinearSolve for DenseLu {
    fn dim(&self) -> usize {
        self.n
    }

    #[inline]
    fn solve(&self, x: &mut [f64]) {
        match self.n {
            1 => x[0] /= self.lu[0],
            2 => self.solve_small::<2>(x),
            3 => self.solve_small::<3>(x),
            4 => self.solve_small::<4>(x),
            5 => self.solve_small::<5>(x),
            6 => self.solve_small::<6>(x),
            n => self.solve_any(n, x),
        }
    }
}

impl DenseLu {
    /// Few rows: their number is a constant, so that the loops unroll.
    #[inline(always)]
    fn solve_small<const N: usize>(&self, rhs: &mut [f64]) {
        let (a, swap, rhs) = (&self.lu[..N * N], &self.swap[..N], &mut rhs[..N]);
        for k in 0..N {
            rhs.swap(k, swap[k]);
        }
        let mut x = [0.0; N];
        for i in 0..N {
            let known: f64 = (0..i).map(|j| a[i * N + j] * x[j]).sum();
            x[i] = rhs[i] - known;
        }
        for i in (0..N).rev() {
            let known: f64 = (i + 1..N).map(|j| a[i * N + j] * x[j]).sum();
            x[i] = (x[i] - known) / a[i * N + i];
        }
        rhs.copy_from_slice(&x);
    }

    fn solve_any(&self, n: usize, x: &mut [f64]) {
        let a = &self.lu;
        for k in 0..n {
            x.swap(k, self.swap[k]);
        }
        for i in 1..n {
            x[i] -= dot(&a[i * n..i * n + i], x);
        }
        for i in (0..n).rev() {
            x[i] = (x[i] - dot(&a[i * n + i + 1..i * n + n], &x[i + 1..])) / a[i * n + i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn solves_random_systems_and_refuses_singular_ones() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
        for n in 1..12 {
            let a: Vec<f64> = (0..n * n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let x: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum()).collect();
            let mut lu = DenseLu::default();
            lu.matrix_mut(n).copy_from_slice(&a);
            lu.factor().unwrap();
            lu.solve(&mut b);
            assert!(b.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-10));
        }
        let mut lu = DenseLu::default();
        lu.matrix_mut(2).copy_from_slice(&[1.0, 2.0, 2.0, 4.0]);
        assert_eq!(lu.factor().unwrap_err().column, 1);
        lu.matrix_mut(1).copy_from_slice(&[f64::NAN]);
        assert!(lu.factor().is_err());
    }
}
