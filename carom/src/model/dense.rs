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
