//! The weight θ where none is given: 1/2 while the step resolves every rate of the system, else 1.
//!
//! ```text
//!     E ẋ = J x with rates ω:    S = (E − c J)⁻¹ E − I  has the eigenvalues  σ = c ω/(1 − c ω)                   (1)
//!     θ = 1/2  where  h |ω| ≤ 2,    |ω| = |σ|/(c (1 − |σ|)) from the largest σ, by powers of S                   (2)
//! ```
//!
//! (2) is exact for rates that decay, and too large for oscillations near the limit. With θ = 1/2 what decays faster
//! than that changes its sign from step to step and hardly decays.

use crate::{FirstOrder, ModelError, State};
use carom_solve::elementary::{exp, ln};

/// Largest h |ω| with θ = 1/2 [-].
const RESOLVED: f64 = 2.0;

/// Powers of S, and those whose growth is taken, an even number: a pair of rates goes to and fro.
const POWERS: (u32, u32) = (40, 16);

/// The weight for steps of `h` where the fastest rate is `fastest` [1/s].
pub(super) fn weight(h: f64, fastest: f64) -> f64 {
    if h * fastest <= RESOLVED { 0.5 } else { 1.0 }
}

/// The largest |ω| of (2) [1/s]; the model is left factored with `c`.
pub(super) fn fastest(
    model: &mut dyn FirstOrder,
    at: &State,
    c: f64,
    (v, next): (&mut Vec<f64>, &mut Vec<f64>),
) -> Result<f64, ModelError> {
    model.factor(at, c)?;
    v.iter_mut().enumerate().for_each(|(i, v)| *v = 1.0 + ((7 * i) % 11) as f64 / 11.0);
    let mut growth = 0.0;
    for power in 0..POWERS.0 {
        model.inertia_mul(v, next);
        model.solve(next);
        next.iter_mut().zip(&*v).for_each(|(next, v)| *next -= v);
        let norm = |v: &[f64]| v.iter().fold(0.0f64, |norm, v| norm.max(v.abs()));
        let (size, before) = (norm(next), norm(v));
        if !(size > 0.0 && size.is_finite()) {
            return Ok(if size == 0.0 { 0.0 } else { f64::INFINITY });
        }
        if power >= POWERS.0 - POWERS.1 {
            growth += ln(size / before);
        }
        next.iter_mut().for_each(|x| *x /= size);
        std::mem::swap(v, next);
    }
    let sigma = exp(growth / f64::from(POWERS.1));
    Ok(if sigma < 1.0 { sigma / (1.0 - sigma) / c } else { f64::INFINITY })
}
