//! Sparse matrices and their factorisation. The only file that knows the library behind it.

use super::ModelError;
use carom_solve::Rows;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::linalg::lu::{LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};
use std::cell::RefCell;

/// A square sparse matrix, compressed by columns with rising row indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix {
    start: Vec<usize>,
    row: Vec<usize>,
    value: Vec<f64>,
}

impl SparseMatrix {
    /// Sums entries `(row, column, value)` at the same place. Entries outside of n×n, and such that are no numbers, are
    /// refused.
    pub fn from_triplets(n: usize, entries: &[(usize, usize, f64)]) -> Result<SparseMatrix, ModelError> {
        if let Some(&(row, column, value)) = entries.iter().find(|(i, j, x)| *i >= n || *j >= n || !x.is_finite()) {
            return Err(ModelError::Entry { row, column, value, n });
        }
        let mut sorted: Vec<_> = entries.iter().map(|&(i, j, x)| (j, i, x)).collect();
        sorted.sort_by_key(|&(j, i, _)| (j, i));
        let mut matrix = SparseMatrix { start: vec![0; n + 1], row: Vec::new(), value: Vec::new() };
        let mut last = None;
        for (j, i, x) in sorted {
            if last == Some((j, i)) {
                if let Some(value) = matrix.value.last_mut() {
                    *value += x;
                }
            } else {
                matrix.row.push(i);
                matrix.value.push(x);
                matrix.start[j + 1] += 1;
                last = Some((j, i));
            }
        }
        for j in 0..n {
            matrix.start[j + 1] += matrix.start[j];
        }
        Ok(matrix)
    }

    pub(crate) fn dim(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Entries as `(row, column, value)`.
    pub fn triplets(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        (0..self.dim())
            .flat_map(move |j| (self.start[j]..self.start[j + 1]).map(move |k| (self.row[k], j, self.value[k])))
    }

    /// The entry at `(i, j)`.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let column = self.start[j]..self.start[j + 1];
        self.row[column.clone()].binary_search(&i).map_or(0.0, |k| self.value[column.start + k])
    }

    /// `out ← out + a · (this) x`.
    #[inline]
    pub fn add_mul(&self, a: f64, x: &[f64], out: &mut [f64]) {
        for j in 0..self.dim() {
            let ax = a * x[j];
            for k in self.start[j]..self.start[j + 1] {
                out[self.row[k]] += self.value[k] * ax;
            }
        }
    }

    /// The same entries, row by row.
    pub fn to_rows(&self) -> Rows {
        let n = self.dim();
        let mut entries: Vec<_> = self.triplets().collect();
        entries.sort_by_key(|&(i, j, _)| (i, j));
        let mut rows = Rows::new(n);
        let mut rest = entries.as_slice();
        for i in 0..n {
            let length = rest.iter().take_while(|e| e.0 == i).count();
            let (row, tail) = rest.split_at(length);
            rows.push_sparse(row.iter().map(|&(_, j, x)| (j, x)));
            rest = tail;
        }
        rows
    }

    /// Whether the matrix equals its transpose, up to 1e-14 of its largest entry.
    pub fn is_symmetric(&self) -> bool {
        let largest = self.value.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        self.triplets().all(|(i, j, a)| (a - self.get(j, i)).abs() <= 1e-14 * largest)
    }

    /// Largest distance of an entry from the diagonal.
    fn bandwidth(&self) -> usize {
        self.triplets().map(|(i, j, _)| i.abs_diff(j)).max().unwrap_or(0)
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.value.iter().all(|x| x.is_finite())
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.value
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.value
    }

    fn pattern(&self) -> SymbolicSparseColMatRef<'_, usize> {
        let n = self.dim();
        SymbolicSparseColMatRef::new_checked(n, n, &self.start, None, &self.row)
    }
}

enum Factorisation {
    Tridiagonal(Tridiagonal),
    Cholesky { symbolic: Box<SymbolicCholesky<usize>>, values: Vec<f64> },
    Lu { symbolic: Box<SymbolicLu<usize>>, numeric: Box<NumericLu<usize, f64>> },
}

/// `A = L D Lᵀ` of a symmetric positive definite tridiagonal matrix, the form of every chain of elements. Two sweeps
/// with one product and one difference per unknown on the critical path: several times faster than the library's
/// general solve.
#[derive(Default)]
struct Tridiagonal {
    lower: Vec<f64>,            // (n) entry below the unit diagonal; the last one is zero
    inverse_diagonal: Vec<f64>, // (n) of D
}

impl Tridiagonal {
    /// `None` where the matrix is not positive definite.
    fn factor(&mut self, a: &SparseMatrix) -> Option<()> {
        self.lower.clear();
        self.inverse_diagonal.clear();
        let (mut factor, mut below) = (0.0, 0.0);
        for j in 0..a.dim() {
            let d = a.get(j, j) - factor * below;
            if d.is_nan() || d <= f64::EPSILON * a.get(j, j).abs() {
                return None;
            }
            below = if j + 1 < a.dim() { a.get(j + 1, j) } else { 0.0 };
            factor = below / d;
            self.lower.push(factor);
            self.inverse_diagonal.push(1.0 / d);
        }
        Some(())
    }

    fn solve(&self, x: &mut [f64]) {
        let (mut last, mut factor) = (0.0, 0.0);
        for (x, l) in x.iter_mut().zip(&self.lower) {
            last = *x - factor * last;
            *x = last;
            factor = *l;
        }
        last = 0.0;
        for ((x, l), inverse) in x.iter_mut().zip(&self.lower).zip(&self.inverse_diagonal).rev() {
            last = *x * inverse - l * last;
            *x = last;
        }
    }
}

/// A sparse factorisation whose symbolic analysis is done once: tridiagonal or Cholesky while the matrix is symmetric
/// positive definite, LU otherwise. Sequential, so that the bits do not depend on the number of threads.
#[derive(Default)]
pub(crate) struct SparseFactor {
    kind: Option<Factorisation>,
    scratch: RefCell<Option<MemBuffer>>,
}

impl SparseFactor {
    /// Factors `a`, whose pattern must stay the same from call to call. `None` where it is singular.
    pub(crate) fn factor(&mut self, a: &SparseMatrix, symmetric: bool) -> Option<()> {
        if !a.is_finite() {
            return None;
        }
        let lu = matches!(self.kind, Some(Factorisation::Lu { .. }));
        let definite =
            symmetric && !lu && if a.bandwidth() <= 1 { self.tridiagonal(a) } else { self.cholesky(a) }.is_some();
        if definite { Some(()) } else { self.lu(a) }
    }

    /// Whether there is a factorisation.
    pub(crate) fn is_made(&self) -> bool {
        self.kind.is_some()
    }

    /// Whether the last factorisation was one of a positive definite matrix.
    pub(crate) fn is_definite(&self) -> bool {
        matches!(self.kind, Some(Factorisation::Tridiagonal(_) | Factorisation::Cholesky { .. }))
    }

    fn tridiagonal(&mut self, a: &SparseMatrix) -> Option<()> {
        let mut factor = match self.kind.take() {
            Some(Factorisation::Tridiagonal(factor)) => factor,
            _ => Tridiagonal::default(),
        };
        factor.factor(a)?;
        self.kind = Some(Factorisation::Tridiagonal(factor));
        Some(())
    }

    fn cholesky(&mut self, a: &SparseMatrix) -> Option<()> {
        if !matches!(self.kind, Some(Factorisation::Cholesky { .. })) {
            let parameters = CholeskySymbolicParams::default();
            let symbolic =
                factorize_symbolic_cholesky(a.pattern(), Side::Lower, SymmetricOrdering::Amd, parameters).ok()?;
            let symbolic = Box::new(symbolic);
            let values = vec![0.0; symbolic.len_val()];
            self.kind = Some(Factorisation::Cholesky { symbolic, values });
        }
        let Some(Factorisation::Cholesky { symbolic, values }) = &mut self.kind else { return None };
        let request = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default());
        let mut buffer = MemBuffer::new(request);
        let matrix = SparseColMatRef::new(a.pattern(), &a.value);
        symbolic
            .factorize_numeric_llt(
                values,
                matrix,
                Side::Lower,
                Default::default(),
                Par::Seq,
                MemStack::new(&mut buffer),
                Spec::default(),
            )
            .ok()?;
        *self.scratch.borrow_mut() = Some(MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)));
        Some(())
    }

    fn lu(&mut self, a: &SparseMatrix) -> Option<()> {
        if !matches!(self.kind, Some(Factorisation::Lu { .. })) {
            let symbolic = Box::new(factorize_symbolic_lu(a.pattern(), LuSymbolicParams::default()).ok()?);
            self.kind = Some(Factorisation::Lu { symbolic, numeric: Box::new(NumericLu::new()) });
        }
        let Some(Factorisation::Lu { symbolic, numeric }) = &mut self.kind else { return None };
        let mut buffer = MemBuffer::new(symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Spec::default()));
        let matrix = SparseColMatRef::new(a.pattern(), &a.value);
        symbolic.factorize_numeric_lu(numeric, matrix, Par::Seq, MemStack::new(&mut buffer), Spec::default()).ok()?;
        *self.scratch.borrow_mut() = Some(MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)));
        // the library reports structural singularity only: a test solve finds the numerical one
        let mut probe = vec![1.0; a.dim()];
        self.solve(&mut probe);
        probe.iter().all(|x| x.is_finite()).then_some(())
    }

    pub(crate) fn solve(&self, rhs: &mut [f64]) {
        if let Some(Factorisation::Tridiagonal(factor)) = &self.kind {
            return factor.solve(rhs);
        }
        let n = rhs.len();
        let mut scratch = self.scratch.borrow_mut();
        let (Some(kind), Some(scratch)) = (&self.kind, scratch.as_mut()) else { return };
        let rhs = MatMut::from_column_major_slice_mut(rhs, n, 1);
        match kind {
            Factorisation::Tridiagonal(_) => {}
            Factorisation::Cholesky { symbolic, values } => {
                LltRef::new(symbolic, values).solve_in_place_with_conj(Conj::No, rhs, Par::Seq, MemStack::new(scratch))
            }
            Factorisation::Lu { symbolic, numeric } => LuRef::new_unchecked(symbolic, numeric)
                .solve_in_place_with_conj(Conj::No, rhs, Par::Seq, MemStack::new(scratch)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn residual(a: &SparseMatrix, symmetric: bool) -> f64 {
        let mut factor = SparseFactor::default();
        factor.factor(a, symmetric).unwrap();
        let b: Vec<f64> = (0..a.dim()).map(|i| (i as f64).sin()).collect();
        let mut x = b.clone();
        factor.solve(&mut x);
        let mut r = b;
        a.add_mul(-1.0, &x, &mut r);
        r.iter().fold(0.0, |m, r| m.max(r.abs()))
    }

    #[test]
    fn tridiagonal_cholesky_and_lu_solve() {
        let n = 50;
        let mut entries = Vec::new();
        for i in 0..n {
            entries.push((i, i, 3.0 + i as f64 / 10.0));
            if i + 1 < n {
                entries.push((i, i + 1, -1.0));
                entries.push((i + 1, i, -1.0));
            }
        }
        let symmetric = SparseMatrix::from_triplets(n, &entries).unwrap();
        assert!(symmetric.is_symmetric());
        assert!(residual(&symmetric, true) < 1e-14);
        let corner = [(0, n - 1, 0.5), (n - 1, 0, 0.5)];
        let ring = SparseMatrix::from_triplets(n, &[entries.as_slice(), &corner].concat()).unwrap();
        assert!(residual(&ring, true) < 1e-14);
        entries.push((0, n - 1, 0.5));
        let general = SparseMatrix::from_triplets(n, &entries).unwrap();
        assert!(!general.is_symmetric());
        assert!(residual(&general, false) < 1e-14);
        // symmetric but indefinite: Cholesky gives way to LU
        entries.pop();
        entries.push((7, 7, -10.0));
        assert!(residual(&SparseMatrix::from_triplets(n, &entries).unwrap(), true) < 1e-13);
    }

    #[test]
    fn singular_matrices_are_refused() {
        let singular = SparseMatrix::from_triplets(2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)]).unwrap();
        assert!(SparseFactor::default().factor(&singular, true).is_none());
        let empty_row = SparseMatrix::from_triplets(2, &[(0, 0, 1.0)]).unwrap();
        assert!(SparseFactor::default().factor(&empty_row, false).is_none());
        assert!(SparseMatrix::from_triplets(1, &[(1, 0, 1.0)]).is_err());
    }
}
