//! Scaling of states, inputs, outputs and time by powers of two, which round nothing.
//!
//! ```text
//!     x = T x',   λ = β λ',   w' = s w,   τ = ω t:     A' = T⁻¹ A T/ω,   B' = T⁻¹ B β/ω,   C' = s C T                (1)
//! ```
//!
//! T makes row i and column i of (A B; C 0) alike (Osborne's balancing with inputs and outputs), β and s make the
//! largest entries of the columns of B' and of the rows of C' about 1, and ω makes the rows C' A'^k of the longest
//! chains neither grow nor decay.

use super::ZeroDynamicsError;
use crate::model::Lcs;
use carom_solve::elementary::log2;
use nalgebra::DMatrix;

/// Sweeps of balancing.
const SWEEPS: usize = 100;

/// A system in scaled variables, and the factors.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    pub a: DMatrix<f64>,
    pub b: DMatrix<f64>,
    pub c: DMatrix<f64>,
    pub d: DMatrix<f64>,               // s D β
    pub state: Vec<f64>,               // (n) T
    pub input: Vec<f64>,               // (m) β
    pub output: Vec<f64>,              // (m) s
    pub time: f64,                     // ω
    pub inertia: Option<DMatrix<f64>>, // E⁻¹, for sources
}

impl Scaled {
    pub(super) fn of(lcs: &Lcs) -> Result<Scaled, ZeroDynamicsError> {
        let (n, m) = lcs.sizes();
        let matrices = lcs.matrices();
        let (mut a, mut b) = (DMatrix::from_row_slice(n, n, &matrices.a), DMatrix::from_row_slice(n, m, &matrices.b));
        let mut inertia = None;
        if let Some(e) = &matrices.e {
            let inverse = invert(DMatrix::from_row_slice(n, n, e)).ok_or(ZeroDynamicsError::SingularInertia)?;
            a = clean_product(&inverse, &a);
            b = clean_product(&inverse, &b);
            inertia = Some(inverse);
        }
        let c = DMatrix::from_row_slice(m, n, &matrices.c);
        let d = DMatrix::from_row_slice(m, m, &matrices.d);
        let ones = |k| vec![1.0; k];
        let mut scaled = Scaled { a, b, c, d, state: ones(n), input: ones(m), output: ones(m), time: 1.0, inertia };
        // inputs and outputs first: their units must not decide over those of the states
        for _ in 0..4 {
            scaled.scale_ports();
            scaled.balance();
        }
        scaled.scale_ports();
        if [&scaled.a, &scaled.b, &scaled.c, &scaled.d].into_iter().all(is_finite) {
            Ok(scaled)
        } else {
            Err(ZeroDynamicsError::Numerical("the entries are too large or too small to be scaled"))
        }
    }

    /// Largest entries of the columns of B and of the rows of C about 1.
    fn scale_ports(&mut self) {
        for j in 0..self.b.ncols() {
            let factor = 1.0 / power_near(self.b.column(j).amax());
            self.b.column_mut(j).scale_mut(factor);
            self.d.column_mut(j).scale_mut(factor);
            self.input[j] *= factor;
        }
        for i in 0..self.c.nrows() {
            let factor = 1.0 / power_near(self.c.row(i).amax());
            self.c.row_mut(i).scale_mut(factor);
            self.d.row_mut(i).scale_mut(factor);
            self.output[i] *= factor;
        }
    }

    fn balance(&mut self) {
        let n = self.a.nrows();
        for _ in 0..SWEEPS {
            let mut changed = false;
            for i in 0..n {
                let off = |x: f64, j: usize| if i == j { 0.0 } else { x.abs() };
                let row = (0..n).map(|j| off(self.a[(i, j)], j)).sum::<f64>() + self.b.row(i).lp_norm(1);
                let column = (0..n).map(|j| off(self.a[(j, i)], j)).sum::<f64>() + self.c.column(i).lp_norm(1);
                if !(row > 0.0 && column > 0.0) {
                    continue;
                }
                // x_i = f x_i': row i is divided by f, column i multiplied
                let f = power_near((row / column).sqrt());
                if f != 1.0 && row / f + column * f < 0.95 * (row + column) {
                    self.scale_state(i, f);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }

    fn scale_state(&mut self, i: usize, f: f64) {
        self.a.row_mut(i).scale_mut(1.0 / f);
        self.a.column_mut(i).scale_mut(f);
        self.b.row_mut(i).scale_mut(1.0 / f);
        self.c.column_mut(i).scale_mut(f);
        self.state[i] *= f;
    }

    /// ω from the growth of the rows C A^k over the chains.
    pub(super) fn choose_time(&mut self, degrees: &[usize]) {
        let (mut sum, mut count) = (0.0, 0.0);
        for (i, &r) in degrees.iter().enumerate() {
            let mut row = self.c.row(i).into_owned();
            for _ in 1..r {
                let next = &row * &self.a;
                let (before, after) = (row.amax(), next.amax());
                if before > 0.0 && after > 0.0 {
                    sum += log2(after / before);
                    count += 1.0;
                }
                row = next;
                let size = power_near(row.amax());
                row.scale_mut(1.0 / size);
            }
        }
        if count > 0.0 {
            let omega = f64::powi(2.0, f64::clamp(sum / count, -1000.0, 1000.0).round() as i32);
            self.time *= omega;
            self.a.scale_mut(1.0 / omega);
            self.b.scale_mut(1.0 / omega);
            self.scale_ports();
        }
    }

    /// A leading matrix in the units of the system, row-major; the time must not be scaled yet.
    pub(super) fn plain_leading(&self, leading: &super::degree::Leading) -> Vec<f64> {
        let m = leading.degrees.len();
        let mut out = Vec::with_capacity(m * m);
        for i in 0..m {
            let size = leading.sizes[i];
            out.extend((0..m).map(|j| leading.matrix[(i, j)] * size / (self.output[i] * self.input[j])));
        }
        out
    }
}

/// The inverse, if the matrix is regular beyond rounding after scaling of its rows and columns.
fn invert(matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let n = matrix.nrows();
    let mut scaled = matrix;
    let (rows, columns) = equilibrate(&mut scaled);
    if smallest_over_largest(&scaled) < 1e-14 * n as f64 {
        return None;
    }
    let mut inverse = scaled.try_inverse()?;
    for j in 0..n {
        for i in 0..n {
            inverse[(i, j)] *= columns[i] * rows[j];
        }
    }
    inverse.iter().all(|x| x.is_finite()).then_some(inverse)
}

/// Ratio of the extreme singular values; one for an empty matrix, zero for one that is not finite.
pub(super) fn smallest_over_largest(matrix: &DMatrix<f64>) -> f64 {
    if !is_finite(matrix) {
        return 0.0;
    }
    let values = matrix.clone().singular_values();
    match values.iter().fold(0.0f64, |m, x| m.max(*x)) {
        _ if values.is_empty() => 1.0,
        0.0 => 0.0,
        largest => values.iter().fold(f64::INFINITY, |m, x| m.min(*x)) / largest,
    }
}

pub(super) fn is_finite(matrix: &DMatrix<f64>) -> bool {
    matrix.iter().all(|x| x.is_finite())
}

/// Rows and columns to largest entries near 1; returns the factors, powers of two.
pub(super) fn equilibrate(matrix: &mut DMatrix<f64>) -> (Vec<f64>, Vec<f64>) {
    let (mut rows, mut columns) = (vec![1.0; matrix.nrows()], vec![1.0; matrix.ncols()]);
    for _ in 0..10 {
        for (i, total) in rows.iter_mut().enumerate() {
            let factor = 1.0 / power_near(matrix.row(i).amax());
            matrix.row_mut(i).scale_mut(factor);
            *total *= factor;
        }
        for (j, total) in columns.iter_mut().enumerate() {
            let factor = 1.0 / power_near(matrix.column(j).amax());
            matrix.column_mut(j).scale_mut(factor);
            *total *= factor;
        }
    }
    (rows, columns)
}

/// A product without entries that are nothing but rounding.
fn clean_product(left: &DMatrix<f64>, right: &DMatrix<f64>) -> DMatrix<f64> {
    let mut product = left * right;
    let size = left.abs() * right.abs();
    for (x, s) in product.iter_mut().zip(size.iter()) {
        if x.abs() <= 1e-14 * s {
            *x = 0.0;
        }
    }
    product
}

/// The power of two next to x; one where x is zero or not finite.
pub(super) fn power_near(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { f64::powi(2.0, log2(x).round().clamp(-1000.0, 1000.0) as i32) } else { 1.0 }
}
