//! The play operator: an interval that moves up and down drags a point along [moreau1977].
//!
//! ```text
//!     u ∈ [sin t − 1/2, sin t + 1/2],   −du ∈ N(u),   u(0) = 0                                     (1)
//!     u = max(0, sin t − 1/2) up to π/2, then in turn min(1/2, sin t + 1/2) and max(−1/2, sin t − 1/2)       (2)
//! ```
//!
//! The catching-up algorithm errs only where a turning point of the interval falls between grid points: order 2.

use super::ExactState;
use crate::FirstOrder;
use crate::model::{Piece, Sweeping};
use carom_solve::elementary::sin;
use std::f64::consts::{FRAC_PI_2, PI};

/// The problem (1), which has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Play;

impl Play {
    /// u(t) for t ≥ 0.
    pub fn value(&self, t: f64) -> f64 {
        if t <= FRAC_PI_2 {
            return (sin(t) - 0.5).max(0.0);
        }
        let turns = ((t - FRAC_PI_2) / PI).floor() as i64;
        if turns % 2 == 0 { (sin(t) + 0.5).min(0.5) } else { (sin(t) - 0.5).max(-0.5) }
    }
}

impl ExactState for Play {
    fn name(&self) -> &'static str {
        "play"
    }
    fn citation(&self) -> &'static str {
        "moreau1977"
    }
    fn dimension(&self) -> usize {
        1
    }
    fn at(&self, t: f64, x: &mut [f64]) {
        x[0] = self.value(t);
    }
    fn system(&self) -> Box<dyn FirstOrder> {
        let pieces = vec![Piece::interval("play", 0, |t| (sin(t) - 0.5, sin(t) + 0.5))];
        Box::new(Sweeping::assemble(pieces, &[0.0]))
    }
    fn span(&self) -> f64 {
        4.5 * PI
    }
}
