//! Lyapunov exponents of the discrete map of a scheme, by the derivatives of its steps.
//!
//! ```text
//!     Y = (∂Φ_h/∂x)_{k+m} … (∂Φ_h/∂x)_k Q,    Y = Q⁺ R,    λ_i = mean of ln r_ii / τ                                       (1)
//! ```
//!
//! Φ_h is a step on its active branch, see [`carom::sensitivity::step`]. Whether these are exponents of the motion
//! depends on the scheme: where it solves for impact times (`corrected-paoli`), they tend to those by saltation
//! matrices with the step; where impacts happen on the grid, the change of the impact step is no part of the
//! derivative, and they do not. In one degree of freedom the determinant of a step with an impact is −e for
//! Moreau-Jean, e² for the motion: Σ λ_i = −tr(M⁻¹C) + ln e · (impacts per unit time) instead of twice that, whatever
//! the step. A scheme that remembers earlier steps has the exponents of what it carries.

use super::lyapunov::{Frame, Options, Spectrum, Sums};
use super::saltation::interrupted;
use super::{Stop, StudyError};
use carom::sensitivity::StepSensitivity;

/// Exponents by (1), from the present state of a run; intervals are divided into equal steps.
pub fn tangent(run: &mut StepSensitivity, options: &Options, stop: &Stop<'_>) -> Result<Spectrum, StudyError> {
    options.check()?;
    options.check_steps()?;
    let start = run.state().t;
    let h = options.interval / (options.interval / options.step - 1e-9).ceil().max(1.0);
    run.frame.set_columns(0);
    for k in 0..options.transient {
        run.advance(start + (k + 1) as f64 * options.interval, h)?;
        interrupted(stop)?;
    }
    run.counts.clear();
    let dimension = 2 * run.dimensions().0;
    let size = options.count.unwrap_or(dimension).min(dimension);
    run.frame.set_columns(size);
    let mut frame = Frame::new(dimension, size);
    let mut sums = Sums::new(size, options);
    for k in 0..options.intervals {
        for (column, direction) in run.frame.columns_mut().zip(&frame.columns) {
            column.fill(0.0);
            column[..dimension].copy_from_slice(direction);
        }
        run.advance(start + (options.transient + k + 1) as f64 * options.interval, h)?;
        for (column, direction) in run.frame.columns().zip(&mut frame.columns) {
            direction.copy_from_slice(&column[..dimension]);
        }
        sums.add(frame.orthonormalise(), k);
        interrupted(stop)?;
    }
    Ok(sums.spectrum(options, &run.counts, None))
}
