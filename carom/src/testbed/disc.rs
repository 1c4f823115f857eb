//! A disc that moves steadily and drags a point on its edge along: the tractrix [moreau1977].
//!
//! ```text
//!     |u − (t, 0)| ≤ 1,   u(0) = (cos θ₀, sin θ₀)                                                  (1)
//!     tan(θ/2) = tan(θ₀/2) eᵗ,    u = (t + cos θ, sin θ)                                           (2)
//! ```

use super::ExactState;
use crate::FirstOrder;
use crate::model::{Piece, Sweeping};
use carom_solve::elementary::{atan, cos, exp, sin, tan};
use std::f64::consts::PI;

/// The problem (1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Angle θ₀ of the start, in (π/2, π) [rad].
    pub angle: f64,
}

impl Default for Disc {
    fn default() -> Self {
        Disc { angle: 0.6 * PI }
    }
}

impl ExactState for Disc {
    fn name(&self) -> &'static str {
        "disc"
    }
    fn citation(&self) -> &'static str {
        "moreau1977"
    }
    fn dimension(&self) -> usize {
        2
    }
    fn at(&self, t: f64, x: &mut [f64]) {
        let angle = 2.0 * atan(tan(0.5 * self.angle) * exp(t));
        (x[0], x[1]) = (t + cos(angle), sin(angle));
    }
    fn system(&self) -> Box<dyn FirstOrder> {
        let ball = Piece::ball("disc", 1.0, |t, centre| (centre[0], centre[1]) = (t, 0.0));
        Box::new(Sweeping::assemble(vec![ball], &[cos(self.angle), sin(self.angle)]))
    }
    fn span(&self) -> f64 {
        2.0
    }
}
