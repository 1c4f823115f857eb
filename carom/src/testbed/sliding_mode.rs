//! A relay that drives a double integrator onto a sliding surface and holds it there [acary2008].
//!
//! ```text
//!     ẋ₁ = x₂,   ẋ₂ = λ,   σ = x₁ + x₂,   λ ∈ −K sgn(σ)                                             (1)
//!     σ > 0:  x₂ = x₂₀ − K t,   x₁ = x₁₀ + x₂₀ t − K t²/2   until σ = 0 at t₁                        (2)
//!     then  x₁ = x₁(t₁) e^{−(t − t₁)},   x₂ = −x₁,   λ = x₁      while |x₁| ≤ K                      (3)
//! ```

use super::ExactState;
use crate::FirstOrder;
use crate::model::{Lcs, Matrices};
use carom_solve::Law;
use carom_solve::elementary::exp;

/// The problem (1), with σ > 0 at the start and |x₂| ≤ K where the surface is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlidingMode {
    /// K.
    pub gain: f64,
    /// (x₁, x₂) at the start.
    pub initial: (f64, f64),
}

impl Default for SlidingMode {
    fn default() -> Self {
        SlidingMode { gain: 2.0, initial: (1.0, 0.5) }
    }
}

impl SlidingMode {
    /// t₁: the positive root of σ = x₁₀ + x₂₀ + (x₂₀ − K) t − K t²/2.
    pub fn reached(&self) -> f64 {
        let (sum, rate) = (self.initial.0 + self.initial.1, self.initial.1 - self.gain);
        let root = (rate * rate + 2.0 * self.gain * sum).sqrt();
        // without cancellation for either sign of the rate
        if rate < 0.0 { 2.0 * sum / (root - rate) } else { (rate + root) / self.gain }
    }

    fn reaching(&self, t: f64) -> (f64, f64) {
        let (x, v) = self.initial;
        (x + v * t - 0.5 * self.gain * t * t, v - self.gain * t)
    }

    pub(crate) fn model(&self) -> Lcs {
        let matrices =
            Matrices { e: None, a: vec![0.0, 1.0, 0.0, 0.0], b: vec![0.0, 1.0], c: vec![1.0, 1.0], d: vec![0.0] };
        let law = Law::interval(-self.gain, self.gain);
        Lcs::assemble(matrices, vec![("relay".into(), law)], &[self.initial.0, self.initial.1])
    }
}

impl ExactState for SlidingMode {
    fn name(&self) -> &'static str {
        "sliding-mode"
    }
    fn citation(&self) -> &'static str {
        "acary2008"
    }
    fn dimension(&self) -> usize {
        2
    }
    fn at(&self, t: f64, x: &mut [f64]) {
        let reached = self.reached();
        (x[0], x[1]) = if t < reached {
            self.reaching(t)
        } else {
            let value = self.reaching(reached).0 * exp(reached - t);
            (value, -value)
        };
    }
    fn system(&self) -> Box<dyn FirstOrder> {
        Box::new(self.model())
    }
    fn span(&self) -> f64 {
        3.0
    }
}
