//! Equality (bilateral constraint): `u = 0`, `λ ∈ R`. The admissible set is the whole line.

#[inline]
pub(super) fn project(_x: &mut [f64]) {}
