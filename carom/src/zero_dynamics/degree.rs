//! Relative degrees and the leading matrix.
//!
//! ```text
//!     |Cᵢ A^{k−1} Bⱼ| ≤ tol · |Cᵢ| |A|^{k−1} |Bⱼ|     counts as zero: the paths from λⱼ to wᵢ cancel           (1)
//! ```
//!
//! Both sides of (1) are sums over the same paths, with signs and without: the test does not depend on the units of
//! states, inputs, outputs or time, however badly they are scaled.

use super::scaling::{Scaled, equilibrate, is_finite, power_near, smallest_over_largest};
use super::{TOLERANCE, ZeroDynamicsError};
use nalgebra::{DMatrix, RowDVector};

/// The relative degree of one output and its leading Markov parameter.
#[derive(Clone, Debug)]
pub(super) struct Degree {
    pub degree: usize,
    row: RowDVector<f64>,
    size: f64, // the Markov parameter is `size` times the row
}

/// The relative degrees of all outputs with the leading matrix.
#[derive(Clone, Debug)]
pub(super) struct Leading {
    pub degrees: Vec<usize>,
    pub matrix: DMatrix<f64>, // row i divided by sizes[i]
    pub sizes: Vec<f64>,
}

/// The degree of each output; `None` where λ never acts on it.
pub(super) fn degrees(system: &Scaled) -> Vec<Option<Degree>> {
    let (n, m) = (system.a.nrows(), system.c.nrows());
    let (a_abs, b_abs) = (system.a.abs(), system.b.abs());
    let find = |i: usize| {
        if system.d.row(i).amax() > 0.0 {
            return Some(Degree { degree: 0, row: system.d.row(i).into_owned(), size: 1.0 });
        }
        let mut row = system.c.row(i).into_owned();
        let mut paths = row.abs();
        let mut size = 1.0;
        for k in 1..=n {
            let (mut leading, bound) = (&row * &system.b, &paths * &b_abs);
            for (x, bound) in leading.iter_mut().zip(bound.iter()) {
                if x.abs() <= TOLERANCE * bound {
                    *x = 0.0;
                }
            }
            if leading.amax() > 0.0 {
                return Some(Degree { degree: k, row: leading, size });
            }
            row *= &system.a;
            paths *= &a_abs;
            let factor = power_near(paths.amax());
            row.scale_mut(1.0 / factor);
            paths.scale_mut(1.0 / factor);
            size *= factor;
        }
        None
    };
    (0..m).map(find).collect()
}

/// Gathers the leading matrix; an output that λ never acts on is an error.
pub(super) fn leading(
    system: &Scaled,
    found: &[Option<Degree>],
    names: &[String],
) -> Result<Leading, ZeroDynamicsError> {
    let m = system.c.nrows();
    let mut leading = Leading { degrees: Vec::new(), matrix: DMatrix::zeros(m, m), sizes: Vec::new() };
    for (i, degree) in found.iter().enumerate() {
        let degree = degree.as_ref().ok_or_else(|| ZeroDynamicsError::Unreachable { row: names[i].clone() })?;
        leading.degrees.push(degree.degree);
        leading.matrix.row_mut(i).copy_from(&degree.row);
        leading.sizes.push(degree.size);
    }
    Ok(leading)
}

/// Refuses degree 0 beside others.
pub(super) fn check_uniformly_delayed(leading: &Leading, names: &[String]) -> Result<(), ZeroDynamicsError> {
    let select = |zero: bool| -> Vec<String> {
        let rows = leading.degrees.iter().zip(names).filter(|(r, _)| (**r == 0) == zero);
        rows.map(|(_, name)| name.clone()).collect()
    };
    let (direct, delayed) = (select(true), select(false));
    if direct.is_empty() || delayed.is_empty() { Ok(()) } else { Err(ZeroDynamicsError::Direct { direct, delayed }) }
}

/// Refuses a leading matrix that is singular, naming the rows that depend on each other.
pub(super) fn check_regular(leading: &Leading, names: &[String]) -> Result<(), ZeroDynamicsError> {
    let mut matrix = leading.matrix.clone();
    equilibrate(&mut matrix);
    if !is_finite(&matrix) {
        return Err(ZeroDynamicsError::Numerical("the leading matrix is not finite"));
    }
    if smallest_over_largest(&matrix) > TOLERANCE {
        return Ok(());
    }
    // the left singular vector of the smallest singular value
    let svd = matrix.svd(true, false);
    let smallest = svd.singular_values.imin();
    let weights = svd.u.map(|u| u.column(smallest).abs().iter().copied().collect::<Vec<f64>>()).unwrap_or_default();
    let largest = weights.iter().fold(0.0f64, |m, x| m.max(*x));
    let rows = weights.iter().zip(names).filter(|(w, _)| **w > 1e-6 * largest).map(|(_, name)| name.clone()).collect();
    Err(ZeroDynamicsError::Mixed { rows, degrees: leading.degrees.clone() })
}
