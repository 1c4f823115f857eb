//! Dense LU factorisation with complete pivoting, which finds the rank: unknowns beyond it are set to zero, equations
//! beyond it are left to the certificate.

/// `P A Q = L U`, row-major, up to the rank.
#[derive(Debug, Default)]
pub(super) struct RankedLu {
    n: usize,
    rank: usize,
    lu: Vec<f64>,
    row: Vec<usize>,    // (n) equation at each position
    column: Vec<usize>, // (n) unknown at each position
    moved: Vec<f64>,    // (n) right-hand side in the order of the rows
}

impl RankedLu {
    /// A buffer for an n×n matrix, to be filled and then [`factor`](Self::factor)ed.
    pub(super) fn matrix_mut(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.lu.resize(n * n, 0.0);
        self.moved.resize(n, 0.0);
        self.row.clear();
        self.row.extend(0..n);
        self.column.clear();
        self.column.extend(0..n);
        &mut self.lu
    }

    /// Factors; pivots below `tolerance` times the largest entry of the matrix count as zero. Returns the rank.
    pub(super) fn factor(&mut self, tolerance: f64) -> usize {
        let largest = self.lu.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        self.factor_above(tolerance * largest)
    }

    /// Factors; pivots up to `threshold` count as zero. Returns the rank.
    pub(super) fn factor_above(&mut self, threshold: f64) -> usize {
        let n = self.n;
        for k in 0..n {
            let (mut p, mut c, mut largest) = (k, k, 0.0);
            for i in k..n {
                for j in k..n {
                    let size = self.lu[i * n + j].abs();
                    if size > largest {
                        (p, c, largest) = (i, j, size);
                    }
                }
            }
            // an entry that is not a number never becomes the largest
            if largest <= threshold {
                self.rank = k;
                return k;
            }
            self.exchange(k, p, c);
            self.eliminate(k);
        }
        self.rank = n;
        n
    }

    fn exchange(&mut self, k: usize, p: usize, c: usize) {
        let n = self.n;
        if p != k {
            for j in 0..n {
                self.lu.swap(k * n + j, p * n + j);
            }
            self.row.swap(k, p);
        }
        if c != k {
            for i in 0..n {
                self.lu.swap(i * n + k, i * n + c);
            }
            self.column.swap(k, c);
        }
    }

    fn eliminate(&mut self, k: usize) {
        let n = self.n;
        let (top, bottom) = self.lu.split_at_mut((k + 1) * n);
        let pivot_row = &top[k * n..];
        let inverse = 1.0 / pivot_row[k];
        for row in bottom.chunks_mut(n) {
            let factor = row[k] * inverse;
            row[k] = factor;
            if factor != 0.0 {
                for (x, y) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                    *x -= factor * y;
                }
            }
        }
    }

    /// `x ← A⁻¹ x`, or a basic solution of the first `rank` equations.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        let (n, rank, a) = (self.n, self.rank, &self.lu);
        let y = &mut self.moved;
        for i in 0..rank {
            let dot: f64 = a[i * n..i * n + i].iter().zip(&*y).map(|(a, y)| a * y).sum();
            y[i] = x[self.row[i]] - dot;
        }
        for i in (0..rank).rev() {
            let dot: f64 = a[i * n + i + 1..i * n + rank].iter().zip(&y[i + 1..]).map(|(a, y)| a * y).sum();
            y[i] = (y[i] - dot) / a[i * n + i];
        }
        y[rank..].fill(0.0);
        for (&j, &y) in self.column.iter().zip(&*y) {
            x[j] = y;
        }
    }
}

impl RankedLu {
    /// Equations beyond the rank.
    pub(super) fn dropped(&self) -> &[usize] {
        &self.row[self.rank..]
    }

    /// The unknowns of a direction that the matrix takes to zero, one for each position beyond the rank.
    pub(super) fn null_vector(&mut self, position: usize, out: &mut [f64]) {
        let (n, rank, a) = (self.n, self.rank, &self.lu);
        let y = &mut self.moved;
        y.fill(0.0);
        y[position] = 1.0;
        for i in (0..rank).rev() {
            let dot: f64 = a[i * n + i + 1..i * n + rank].iter().zip(&y[i + 1..]).map(|(a, y)| a * y).sum();
            y[i] = -(a[i * n + position] + dot) / a[i * n + i];
        }
        for (&j, &y) in self.column.iter().zip(&*y) {
            out[j] = y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_regular_and_consistent_singular_systems() {
        let mut lu = RankedLu::default();
        lu.matrix_mut(3).copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0]);
        assert_eq!(lu.factor(1e-13), 3);
        let mut x = [14.0, 32.0, 53.0];
        lu.solve(&mut x);
        assert!(x.iter().zip([1.0, 2.0, 3.0]).all(|(x, y): (&f64, f64)| (x - y).abs() < 1e-12));
        // rank one, consistent: any x with x₀ + x₁ = 2 will do
        lu.matrix_mut(2).copy_from_slice(&[1.0, 1.0, 2.0, 2.0]);
        assert_eq!(lu.factor(1e-13), 1);
        let mut x = [2.0, 4.0];
        lu.solve(&mut x);
        assert!((x[0] + x[1] - 2.0).abs() < 1e-15);
        let mut null = [0.0; 2];
        lu.null_vector(1, &mut null);
        assert!((null[0] + null[1]).abs() < 1e-15 && null[0] != 0.0, "{null:?}");
        lu.matrix_mut(2).copy_from_slice(&[1e-16, 1e-17, 0.0, 1e-17]);
        assert_eq!(lu.factor_above(1e-10), 0);
        lu.matrix_mut(1).copy_from_slice(&[f64::NAN]);
        assert_eq!(lu.factor(1e-13), 0);
    }
}
