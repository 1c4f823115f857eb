//! The weight θ where none is given: 1/2 while the step resolves every rate of the system, else 1.
//!
//! ```text
//!     E ẋ = J x with rates ω:    (E − c J)⁻¹ E  has the eigenvalues  1/(1 − c ω),     θ = 1/2  where  h |ω| ≤ 2      (1)
//! ```
//!
//! With θ = 1/2 what decays faster than that changes its sign from step to step and hardly decays.

use crate::zero_dynamics::form::eigenvalues;
use crate::{FirstOrder, ModelError, State};
use nalgebra::DMatrix;

/// Largest h |ω| with θ = 1/2 [-].
const RESOLVED: f64 = 2.0;

/// Most states of a system whose rates are looked at; larger ones are damped.
const LARGEST: usize = 100;

/// The weight for steps of `h` where the fastest rate is `fastest` [1/s].
pub(super) fn weight(h: f64, fastest: f64) -> f64 {
    if h * fastest <= RESOLVED { 0.5 } else { 1.0 }
}

/// The largest |ω| of (1) [1/s]; the model is left factored with `c`.
pub(super) fn fastest(
    model: &mut dyn FirstOrder,
    at: &State,
    c: f64,
    algebraic: &[bool],
) -> Result<f64, ModelError> {
    let n = algebraic.len();
    if n > LARGEST {
        return Ok(f64::INFINITY);
    }
    model.factor(at, c)?;
    let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
    let mut matrix = DMatrix::zeros(n, n);
    for j in 0..n {
        unit[j] = 1.0;
        model.inertia_mul(&unit, &mut column);
        unit[j] = 0.0;
        model.solve(&mut column);
        matrix.column_mut(j).copy_from_slice(&column);
    }
    let Ok(values) = eigenvalues(matrix) else { return Ok(f64::INFINITY) };
    let rate = |(re, im): (f64, f64)| {
        let square = re * re + im * im;
        if square > 0.0 { (1.0 - re / square).hypot(im / square) / c } else { f64::INFINITY }
    };
    let mut rates: Vec<f64> = values.into_iter().map(rate).collect();
    rates.sort_by(f64::total_cmp);
    // equations without a derivative have no rates
    let finite = n - algebraic.iter().filter(|algebraic| **algebraic).count();
    Ok(rates[..finite].last().copied().unwrap_or(0.0))
}
