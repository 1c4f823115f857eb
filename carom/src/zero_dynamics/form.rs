//! The zero-dynamics form with ξ driven by z₁ alone, chain by chain [acary2008homsp].
//!
//! ```text
//!     1. O = rows Cᵢ A^{j−1}, j = 1..rᵢ, of all chains
//!     2. N = orthonormal basis of { q : q B = 0, q O_{i,j}ᵀ = 0 for j < rᵢ }
//!     3. N A (O; N)⁻¹ = [b | A_ξ]
//!     4. for j = rᵢ, ..., 2:   N ← N − b_{i,j} O_{i,j−1},   b_{i,j−1} ← b_{i,j−1} + A_ξ b_{i,j}
//! ```
//!
//! Step 4 is ξ ← ξ − b_{i,j} z_{i,j−1}. It removes z_{i,j} from ξ̇: beyond z₁ the chains jump, and ξ must not.

use super::ZeroDynamicsError;
use super::scaling::{Scaled, is_finite, smallest_over_largest};
use nalgebra::linalg::{SVD, Schur};
use nalgebra::{DMatrix, DVector};

/// Steps of iterations that find singular values and eigenvalues.
const ITERATIONS: usize = 10_000;

/// W, W⁻¹, Ā = W A W⁻¹ with its exact pattern, and M.
pub(super) struct Form {
    pub w: DMatrix<f64>,
    pub inverse: DMatrix<f64>,
    pub a_bar: DMatrix<f64>,
    pub leading: DMatrix<f64>,
}

impl Form {
    pub(super) fn of(system: &Scaled, degrees: &[usize]) -> Result<Form, ZeroDynamicsError> {
        let (n, chain_length) = (system.a.nrows(), degrees.iter().sum::<usize>());
        if chain_length > n {
            return Err(ZeroDynamicsError::Numerical("the chains are longer than the state"));
        }
        let chains = stack(system, degrees);
        let complement = complement(system, degrees, &chains)?;
        let mut w = DMatrix::zeros(n, n);
        w.rows_mut(0, chain_length).copy_from(&chains);
        w.rows_mut(chain_length, n - chain_length).copy_from(&complement);
        decouple(system, degrees, &mut w)?;
        let inverse = inverse(&w)?;
        let mut a_bar = &w * &system.a * &inverse;
        let mut leading = DMatrix::zeros(degrees.len(), degrees.len());
        let mut first = 0;
        for (i, &r) in degrees.iter().enumerate() {
            leading.row_mut(i).copy_from(&(w.row(first + r - 1) * &system.b));
            // what is known of the pattern is exact
            for j in 0..r {
                if j + 1 < r {
                    a_bar.row_mut(first + j).fill(0.0);
                    a_bar[(first + j, first + j + 1)] = 1.0;
                }
                if j > 0 {
                    a_bar.view_mut((chain_length, first + j), (n - chain_length, 1)).fill(0.0);
                }
            }
            first += r;
        }
        Ok(Form { w, inverse, a_bar, leading })
    }
}

/// Step 1.
fn stack(system: &Scaled, degrees: &[usize]) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(degrees.iter().sum(), system.a.nrows());
    let mut place = 0;
    for (i, &r) in degrees.iter().enumerate() {
        let mut row = system.c.row(i).into_owned();
        for j in 0..r {
            if j > 0 {
                row *= &system.a;
            }
            out.row_mut(place).copy_from(&row);
            place += 1;
        }
    }
    out
}

/// Step 2: the last right singular vectors of the conditions, as many as there are states left.
fn complement(system: &Scaled, degrees: &[usize], chains: &DMatrix<f64>) -> Result<DMatrix<f64>, ZeroDynamicsError> {
    let (n, left) = (system.a.nrows(), system.a.nrows() - chains.nrows());
    // padded to a square matrix, so that all right singular vectors are computed
    let mut conditions = DMatrix::zeros(n, n);
    let mut place = 0;
    let mut push = |row: DVector<f64>| {
        let size = row.norm();
        if size > 0.0 && place < n {
            conditions.row_mut(place).copy_from(&(row / size).transpose());
        }
        place += 1;
    };
    (0..system.b.ncols()).for_each(|j| push(system.b.column(j).into_owned()));
    let mut first = 0;
    for &r in degrees {
        (0..r - 1).for_each(|j| push(chains.row(first + j).transpose()));
        first += r;
    }
    if left == 0 {
        return Ok(DMatrix::zeros(0, n));
    }
    let failed = ZeroDynamicsError::Numerical("the singular values did not converge");
    if !is_finite(&conditions) {
        return Err(failed);
    }
    let svd = SVD::try_new(conditions, false, true, f64::EPSILON, ITERATIONS).ok_or(failed.clone())?;
    let v = svd.v_t.ok_or(failed)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| svd.singular_values[j].total_cmp(&svd.singular_values[i]));
    Ok(v.select_rows(&order[n - left..]))
}

/// Steps 3 and 4 on the last rows of W.
fn decouple(system: &Scaled, degrees: &[usize], w: &mut DMatrix<f64>) -> Result<(), ZeroDynamicsError> {
    let (n, start) = (w.nrows(), degrees.iter().sum::<usize>());
    if start == n {
        return Ok(());
    }
    let mut driven = w.rows(start, n - start) * &system.a * inverse(w)?;
    let a_xi = driven.columns(start, n - start).into_owned();
    let mut first = 0;
    for &r in degrees {
        for j in (1..r).rev() {
            let b = driven.column(first + j).into_owned();
            let above = w.row(first + j - 1).into_owned();
            let mut xi = w.rows_mut(start, n - start);
            xi -= &b * above;
            let mut next = driven.column_mut(first + j - 1);
            next += &a_xi * b;
        }
        first += r;
    }
    Ok(())
}

fn inverse(w: &DMatrix<f64>) -> Result<DMatrix<f64>, ZeroDynamicsError> {
    // rows of very different size are as good as others
    let size = |i: usize| super::scaling::power_near(w.row(i).amax());
    let mut scaled = w.clone();
    (0..w.nrows()).for_each(|i| scaled.row_mut(i).scale_mut(1.0 / size(i)));
    let failed = ZeroDynamicsError::Numerical("the transformation is singular to working accuracy");
    if smallest_over_largest(&scaled) < 1e-14 {
        return Err(failed);
    }
    let mut inverse = scaled.try_inverse().ok_or(failed)?;
    (0..w.nrows()).for_each(|i| inverse.column_mut(i).scale_mut(1.0 / size(i)));
    Ok(inverse)
}

/// Eigenvalues (real part, imaginary part), sorted.
pub(super) fn eigenvalues(matrix: DMatrix<f64>) -> Result<Vec<(f64, f64)>, ZeroDynamicsError> {
    if matrix.is_empty() {
        return Ok(Vec::new());
    }
    let failed = ZeroDynamicsError::Numerical("the eigenvalues did not converge");
    if !is_finite(&matrix) {
        return Err(failed);
    }
    let schur = Schur::try_new(matrix, f64::EPSILON, ITERATIONS).ok_or(failed)?;
    let mut values: Vec<(f64, f64)> = schur.complex_eigenvalues().iter().map(|z| (z.re, z.im)).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    Ok(values)
}

/// Zeros where all outputs see λ directly: the eigenvalues of A − B D⁻¹ C.
pub(super) fn direct_zeros(system: &Scaled) -> Result<Vec<(f64, f64)>, ZeroDynamicsError> {
    let inverse = system.d.clone().try_inverse().ok_or(ZeroDynamicsError::Numerical("D is singular"))?;
    let omega = system.time;
    let values = eigenvalues(&system.a - &system.b * inverse * &system.c)?;
    Ok(values.into_iter().map(|(re, im)| (re * omega, im * omega)).collect())
}
