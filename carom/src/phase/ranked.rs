//! Small dense systems that may be rank-deficient but consistent: LU with complete pivoting, unknowns beyond the rank
//! are zero.
//!
//! Redundant contacts make `W = C M⁻¹ B` singular. The accelerations do not depend on which solution is taken.

/// Pivots below this part of the largest one count as zero.
const RANK: f64 = 1e-12;

/// `P A Q = L U`, row-major, on buffers that are reused.
#[derive(Clone, Debug, Default)]
pub struct RankedLu {
    m: usize,
    rank: usize,
    lu: Vec<f64>,
    row: Vec<usize>,
    column: Vec<usize>,
    x: Vec<f64>,
}

carom_solve::persist!(RankedLu { m, rank, lu, row, column, x });

impl RankedLu {
    /// A buffer for an m×m matrix, to be filled and then factored.
    pub fn matrix_mut(&mut self, m: usize) -> &mut [f64] {
        self.m = m;
        self.lu.clear();
        self.lu.resize(m * m, 0.0);
        &mut self.lu
    }

    /// Factors; returns whether the matrix has full rank.
    pub fn factor(&mut self) -> bool {
        let m = self.m;
        self.row.clear();
        self.row.extend(0..m);
        self.column.clear();
        self.column.extend(0..m);
        self.rank = 0;
        let mut largest = 0.0;
        for k in 0..m {
            let (mut p, mut r, mut pivot) = (k, k, 0.0f64);
            for i in k..m {
                for j in k..m {
                    let x = self.lu[i * m + j].abs();
                    if x > pivot {
                        (p, r, pivot) = (i, j, x);
                    }
                }
            }
            if k == 0 {
                largest = pivot;
            }
            if !(pivot > RANK * largest && pivot.is_finite()) {
                break;
            }
            self.swap(k, p, r);
            let inverse = 1.0 / self.lu[k * m + k];
            for i in k + 1..m {
                let factor = self.lu[i * m + k] * inverse;
                self.lu[i * m + k] = factor;
                for j in k + 1..m {
                    self.lu[i * m + j] -= factor * self.lu[k * m + j];
                }
            }
            self.rank += 1;
        }
        self.rank == m
    }

    fn swap(&mut self, k: usize, row: usize, column: usize) {
        let m = self.m;
        if row != k {
            (0..m).for_each(|j| self.lu.swap(k * m + j, row * m + j));
            self.row.swap(k, row);
        }
        if column != k {
            (0..m).for_each(|i| self.lu.swap(i * m + k, i * m + column));
            self.column.swap(k, column);
        }
    }

    /// As [`solve`](Self::solve); returns the largest residual of the equations beyond the rank.
    pub fn solve_checked(&mut self, x: &mut [f64]) -> f64 {
        let (m, rank) = (self.m, self.rank);
        self.x.clear();
        self.x.extend(self.row.iter().map(|&i| x[i]));
        let mut missed = 0.0f64;
        for i in 0..m {
            let dot: f64 = (0..i.min(rank)).map(|j| self.lu[i * m + j] * self.x[j]).sum();
            self.x[i] -= dot;
            if i >= rank {
                missed = missed.max(self.x[i].abs());
            }
        }
        self.solve(x);
        missed
    }

    /// `out ←` vectors that the matrix maps to zero, one after the other: as many as the rank is short of the size.
    pub fn null_space(&self, out: &mut Vec<f64>) {
        let (m, rank) = (self.m, self.rank);
        out.clear();
        out.resize((m - rank) * m, 0.0);
        for (j, vector) in (rank..m).zip(out.chunks_exact_mut(m.max(1))) {
            vector[self.column[j]] = 1.0;
            for i in (0..rank).rev() {
                let known = |k: usize| self.lu[i * m + k] * vector[self.column[k]];
                let dot: f64 = (i + 1..rank).map(known).sum::<f64>() + self.lu[i * m + j];
                vector[self.column[i]] = -dot / self.lu[i * m + i];
            }
        }
    }

    /// `x ← A⁺ x`, a basic solution.
    pub fn solve(&mut self, x: &mut [f64]) {
        let (m, rank) = (self.m, self.rank);
        self.x.clear();
        self.x.extend(self.row.iter().map(|&i| x[i]));
        for i in 0..rank {
            let dot: f64 = (0..i).map(|j| self.lu[i * m + j] * self.x[j]).sum();
            self.x[i] -= dot;
        }
        for i in (0..rank).rev() {
            let dot: f64 = (i + 1..rank).map(|j| self.lu[i * m + j] * self.x[j]).sum();
            self.x[i] = (self.x[i] - dot) / self.lu[i * m + i];
        }
        for (k, &j) in self.column.iter().enumerate() {
            x[j] = if k < rank { self.x[k] } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_and_deficient_systems() {
        let mut lu = RankedLu::default();
        lu.matrix_mut(3).copy_from_slice(&[0.0, 2.0, 1.0, 1.0, -1.0, 0.5, 3.0, 0.0, 4.0]);
        assert!(lu.factor());
        let mut x = [2.0 * -2.0 + 3.0, 1.0 + 2.0 + 1.5, 3.0 + 12.0];
        lu.solve(&mut x);
        assert!(x.iter().zip([1.0, -2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-14));
        // two equal rows: W x = b holds although x is one of many
        lu.matrix_mut(2).copy_from_slice(&[1.0, 1.0, 1.0, 1.0]);
        assert!(!lu.factor());
        let mut x = [3.0, 3.0];
        lu.solve(&mut x);
        assert_eq!(x[0] + x[1], 3.0);
        assert_eq!(lu.solve_checked(&mut [3.0, 5.0]), 2.0);
        assert_eq!(lu.solve_checked(&mut [3.0, 3.0]), 0.0);
        let mut null = Vec::new();
        lu.null_space(&mut null);
        assert!(null.len() == 2 && null[0] == -null[1] && null[0] != 0.0);
        lu.matrix_mut(1);
        assert!(!lu.factor());
        let mut x = [1.0];
        lu.solve(&mut x);
        assert_eq!(x, [0.0]);
    }
}
