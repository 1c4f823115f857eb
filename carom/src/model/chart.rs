//! Increments as coordinates of the positions near one of them.
//!
//! ```text
//!     q(t) = q₀ ⊕ θ(t),   q̇ = v:   θ̇ = D(θ) v,   θ̈ = D(θ) v̇ + b(θ, v),   b = ∂(D v)/∂θ · D v                     (1)
//! ```
//!
//! Where ⊕ is a sum D is the identity. Where it is none, because rotations do not commute, methods of high order sum
//! and interpolate rates θ̇, not velocities [iserles2000, munthe1999]: sums of velocities are of second order.

/// The increments of a model whose [`retract`](super::Space::retract) is no sum.
///
/// A retraction agrees with the motion at constant velocity up to the third order: D(0) is the identity and b(0, v) = 0.
pub trait Chart {
    /// `out ← D(dq) v`: the rate of the increment with which q ⊕ dq moves at the velocity v.
    fn rate(&self, dq: &[f64], v: &[f64], out: &mut [f64]);

    /// `out ← D(dq)⁻¹ rate`: the velocity of q ⊕ dq while the increment moves at this rate.
    fn velocity(&self, dq: &[f64], rate: &[f64], out: &mut [f64]);

    /// `out ← b(dq, v)`: the second derivative of the increment at constant velocity.
    fn bend(&self, dq: &[f64], v: &[f64], out: &mut [f64]);
}
