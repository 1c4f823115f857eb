//! Unilateral law (Signorini at the velocity level): `0 ≤ u ⊥ λ ≥ 0` [moreau1988].

#[inline]
pub(super) fn project(x: &mut [f64]) {
    x[0] = x[0].max(0.0);
}
