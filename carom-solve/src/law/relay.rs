//! Box law: `−u ∈ N_[lower, upper](λ)`. `[−1, 1]` is the relay, `[0, ∞)` the unilateral law, `(−∞, ∞)` the equality.

#[inline]
pub(super) fn project(lower: f64, upper: f64, x: &mut [f64]) {
    x[0] = x[0].max(lower).min(upper);
}

/// Any `u` is allowed towards a finite bound.
#[inline]
pub(super) fn velocity_violation(lower: f64, upper: f64, u: f64) -> f64 {
    let up = if upper.is_finite() { 0.0 } else { -u };
    let down = if lower.is_finite() { 0.0 } else { u };
    up.max(down).max(0.0)
}

/// `u > 0` asks for the lower bound, `u < 0` for the upper one.
#[inline]
pub(super) fn complementarity(lower: f64, upper: f64, lambda: f64, u: f64) -> f64 {
    let bound = if u > 0.0 { lower } else { upper };
    let distance = if bound.is_finite() { lambda - bound } else { lambda };
    (distance * u).abs()
}
