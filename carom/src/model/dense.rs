//! Dense mass, damping and stiffness of small models, and the factored combination of them.

use super::{Combination, ModelError};
use carom_solve::{DenseLu, LinearSolve};

/// `A = a M + b C + c K` with `C = −∂F/∂v`, `K = −∂F/∂q`, row-major.
#[derive(Clone, Debug, Default)]
pub struct DenseOperator {
    n: usize,
    pub mass: Vec<f64>,
    pub damping: Vec<f64>,
    pub stiffness: Vec<f64>,
    lu: DenseLu,
}

impl DenseOperator {
    pub fn new(n: usize) -> Self {
        DenseOperator {
            n,
            mass: vec![0.0; n * n],
            damping: vec![0.0; n * n],
            stiffness: vec![0.0; n * n],
            lu: DenseLu::default(),
        }
    }

    /// `out ← M v`.
    #[inline]
    pub fn mass_mul(&self, v: &[f64], out: &mut [f64]) {
        for (o, row) in out.iter_mut().zip(self.mass.chunks_exact(self.n)) {
            *o = row.iter().zip(v).map(|(m, v)| m * v).sum();
        }
    }

    /// `vᵀ M v / 2`.
    pub fn kinetic(&self, v: &[f64]) -> f64 {
        let rows = self.mass.chunks_exact(self.n);
        0.5 * v.iter().zip(rows).map(|(a, row)| a * row.iter().zip(v).map(|(m, v)| m * v).sum::<f64>()).sum::<f64>()
    }

    /// Combines and factors what the three matrices hold now; `t` is for the error.
    #[inline]
    pub fn factor(&mut self, c: Combination, t: f64) -> Result<(), ModelError> {
        let a = self.lu.matrix_mut(self.n);
        for (i, a) in a.iter_mut().enumerate() {
            *a = c.mass * self.mass[i] + c.damping * self.damping[i] + c.stiffness * self.stiffness[i];
        }
        self.lu.factor().map_err(|source| ModelError::Singular { t, source })
    }

    /// The smallest pivot of a Cholesky factorisation of the mass, relative to its diagonal: not positive where the mass is not
    /// positive definite.
    pub fn definiteness(&self) -> f64 {
        let n = self.n;
        let mut l = self.mass.clone();
        let mut smallest = f64::INFINITY;
        for k in 0..n {
            let pivot = l[k * n + k] - (0..k).map(|j| l[k * n + j] * l[k * n + j]).sum::<f64>();
            let relative = pivot / self.mass[k * n + k].abs().max(f64::MIN_POSITIVE);
            // a NaN ends here as well
            if relative.is_nan() || relative <= 0.0 {
                return if relative.is_nan() { f64::NEG_INFINITY } else { relative };
            }
            smallest = smallest.min(relative);
            let root = pivot.sqrt();
            l[k * n + k] = root;
            for i in k + 1..n {
                let dot: f64 = (0..k).map(|j| l[i * n + j] * l[k * n + j]).sum();
                l[i * n + k] = (l[i * n + k] - dot) / root;
            }
        }
        smallest
    }
}

impl LinearSolve for DenseOperator {
    fn dim(&self) -> usize {
        self.n
    }
    #[inline]
    fn solve(&self, rhs: &mut [f64]) {
        self.lu.solve(rhs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definiteness_tells_definite_from_semidefinite() {
        let mut a = DenseOperator::new(2);
        a.mass.copy_from_slice(&[2.0, 1.0, 1.0, 2.0]);
        assert!((a.definiteness() - 0.75).abs() < 1e-15);
        a.mass.copy_from_slice(&[1.0, 1.0, 1.0, 1.0]);
        assert!(a.definiteness() <= 0.0);
        a.mass.copy_from_slice(&[1.0, 0.0, 0.0, -1.0]);
        assert!(a.definiteness() < 0.0);
        a.mass.copy_from_slice(&[f64::NAN, 0.0, 0.0, 1.0]);
        assert!(a.definiteness() < 0.0);
    }
}
