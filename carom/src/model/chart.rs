//! Increments as coordinates of the positions near one of them.
//!
//! ```text
//!     q(t) = q₀ ⊕ θ(t),   q̇ = v:   θ̇ = D(θ) v,   θ̈ = D(θ) v̇ + b(θ, v),   b = ∂(D v)/∂θ · D v                 (1)
//! ```
//!
//! Where ⊕ is a sum D is the identity. Where it is none, because rotations do not commute, methods of high order sum
//! and interpolate rates θ̇, not velocities [iserles2000, munthe1999]: sums of velocities are of second order.

//!
//! Perturbations of positions are increments as well. They turn with what they are perturbations of:
//!
//! ```text
//!     q ⊕ η with q̇ = v:   η̇ = δv + [η, v],   [η, v] = D(η) v − D(−η) v                                             (2)
//!     (q ⊕ η) ⊕ θ = (q ⊕ θ) ⊕ η′,   η′ = D(θ)⁻¹ D(−θ) η                  to first order in η                      (3)
//! ```
//!
//! (2) and (3) hold for increments of a group, (q ⊕ θ) ⊕ −θ = q, with the exponential and with Cayley's map.

/// The increments of a model whose [`retract`](super::Space::retract) is no sum.
///
/// Increments are those of a group, and −dq undoes dq. A retraction agrees with motion at constant velocity up to the
/// third order: D(0) is the identity, and b(0, v) = 0.
pub trait Chart {
    /// `out ← D(dq) v`: the rate of the increment with which q ⊕ dq moves at the velocity v.
    fn rate(&self, dq: &[f64], v: &[f64], out: &mut [f64]);

    /// `out ← D(dq)⁻¹ rate`: the velocity of q ⊕ dq while the increment moves at this rate.
    fn velocity(&self, dq: &[f64], rate: &[f64], out: &mut [f64]);

    /// `out ← b(dq, v)`: the second derivative of the increment at constant velocity.
    fn bend(&self, dq: &[f64], v: &[f64], out: &mut [f64]);
}

/// Buffers of (2) and (3).
#[derive(Clone, Debug, Default)]
pub(crate) struct Turning {
    opposite: Vec<f64>,
    part: Vec<f64>,
}

impl Turning {
    fn oppose(&mut self, dq: &[f64]) {
        self.opposite.clear();
        self.opposite.extend(dq.iter().map(|x| -x));
        self.part.resize(dq.len(), 0.0);
    }

    /// `out ← [dq, v]` of (2).
    pub fn bracket(&mut self, chart: &dyn Chart, dq: &[f64], v: &[f64], out: &mut [f64]) {
        self.oppose(dq);
        chart.rate(dq, v, out);
        chart.rate(&self.opposite, v, &mut self.part);
        out.iter_mut().zip(&self.part).for_each(|(out, x)| *out -= x);
    }

    /// A perturbation `dq` of q becomes that of q ⊕ way, by (3), where the way changes by `change`.
    pub fn carry(&mut self, chart: &dyn Chart, (way, change): (&[f64], &[f64]), dq: &mut [f64]) {
        self.oppose(way);
        chart.rate(&self.opposite, dq, &mut self.part);
        self.part.iter_mut().zip(change).for_each(|(x, d)| *x += d);
        chart.velocity(way, &self.part, dq);
    }
}
