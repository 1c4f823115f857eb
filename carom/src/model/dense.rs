//! Dense mass, damping and stiffness of small models, and the factored combination of them.
//!
//! A mass that depends on the position is checked where it is used: the iteration matrix may well be regular, and
//! Newton's loop content, at a position where the mass has lost its rank.

use super::{Combination, ModelError};
use carom_solve::{DenseLu, LinearSolve, Singular};

/// `A = a M + b C + c K` with `C = −∂F/∂v`, `K = −∂F/∂q`, row-major.
#[derive(Clone, Debug, Default)]
pub struct DenseOperator {
    n: usize,
    /// (n × n) M.
    pub mass: Vec<f64>,
    /// (n × n) C.
    pub damping: Vec<f64>,
    /// (n × n) K.
    pub stiffness: Vec<f64>,
    lu: DenseLu,
    lower: Vec<f64>, // L below the diagonal and D on it, of the last mass that was checked
}

carom_solve::persist!(DenseOperator { mass, damping, stiffness, lu, lower } skip { n });

impl DenseOperator {
    /// Zero matrices for n velocities; nothing is factored yet.
    pub fn new(n: usize) -> Self {
        DenseOperator {
            n,
            mass: vec![0.0; n * n],
            damping: vec![0.0; n * n],
            stiffness: vec![0.0; n * n],
            lu: DenseLu::default(),
            lower: vec![0.0; n * n],
        }
    }

    /// Whether M is positive definite: the pivots D of M = L D Lᵀ are positive, by more than rounding. Otherwise the
    /// first that is not.
    #[inline]
    pub fn check_mass(&mut self) -> Result<(), Singular> {
        let n = self.n;
        for k in 0..n {
            let (above, below) = self.lower.split_at_mut(k * n);
            let row = &mut below[..n];
            // row k of L D, then of L, and the pivot
            for i in 0..k {
                let other = &above[i * n..i * n + i];
                row[i] = self.mass[k * n + i] - row[..i].iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
            }
            let diagonal = self.mass[k * n + k];
            let mut pivot = diagonal;
            for i in 0..k {
                let scaled = row[i];
                row[i] = scaled / above[i * n + i];
                pivot -= scaled * row[i];
            }
            // written so that a NaN is refused as well
            if !(pivot > n as f64 * f64::EPSILON * diagonal.abs() && pivot.is_finite()) {
                return Err(Singular { column: k, pivot });
            }
            row[k] = pivot;
        }
        Ok(())
    }

    /// `out ← M v`.
    #[inline]
    pub fn mass_mul(&self, v: &[f64], out: &mut [f64]) {
        for (o, row) in out.iter_mut().zip(self.mass.chunks_exact(self.n)) {
            *o = row.iter().zip(v).map(|(m, v)| m * v).sum();
        }
    }

    /// `out ←` the diagonal of M.
    pub fn mass_diagonal(&self, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(j, m)| *m = self.mass[j * self.n + j]);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(n: usize, mass: &[f64]) -> Option<(usize, f64)> {
        let mut operator = DenseOperator::new(n);
        operator.mass.copy_from_slice(mass);
        operator.check_mass().err().map(|singular| (singular.column, singular.pivot))
    }

    #[test]
    fn pivots_of_the_mass_are_positive() {
        // L D Lᵀ with D = (4, 1, 9) and L = [1; 1/2 1; -1 2 1]
        let mass = [4.0, 2.0, -4.0, 2.0, 2.0, 0.0, -4.0, 0.0, 17.0];
        assert_eq!(check(3, &mass), None);
        // the same with D = (4, 1, 0), (4, 1, -1) and (4, -1, 9)
        let bad = |entry: usize, value: f64| {
            let mut mass = mass;
            mass[entry] = value;
            check(3, &mass)
        };
        assert_eq!(bad(8, 8.0), Some((2, 0.0)));
        assert_eq!(bad(8, 7.0), Some((2, -1.0)));
        assert_eq!(bad(4, 0.0), Some((1, -1.0)));
        assert_eq!(check(1, &[0.0]), Some((0, 0.0)));
        assert!(check(1, &[f64::NAN]).is_some() && check(1, &[f64::INFINITY]).is_some());
        // a pivot that is rounding only
        assert!(check(2, &[1.0, 1.0, 1.0, 1.0 + f64::EPSILON]).is_some());
        // units may differ widely
        assert_eq!(check(2, &[1e-18, 0.0, 0.0, 1e18]), None);
    }
}
