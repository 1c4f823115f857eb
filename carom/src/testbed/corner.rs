//! Two half-planes that move, first one of them and then the corner pushes a point along [moreau1977].
//!
//! ```text
//!     x₁ ≥ 2t − 1/2,   x₁ + 2x₂ ≥ 3t,   x(0) = 0                                                   (1)
//!     x = (0.6 t, 1.2 t) up to 5/14,   then (2t − 1/2, t/2 + 1/4)                                  (2)
//! ```
//!
//! The catching-up algorithm is exact at all grid points, for every step.

use super::ExactState;
use crate::FirstOrder;
use crate::model::{Piece, Sweeping};

/// The problem (1), which has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corner;

impl ExactState for Corner {
    fn name(&self) -> &'static str {
        "corner"
    }
    fn citation(&self) -> &'static str {
        "moreau1977"
    }
    fn dimension(&self) -> usize {
        2
    }
    fn at(&self, t: f64, x: &mut [f64]) {
        (x[0], x[1]) = if t <= 5.0 / 14.0 { (0.6 * t, 1.2 * t) } else { (2.0 * t - 0.5, 0.5 * t + 0.25) };
    }
    fn system(&self) -> Box<dyn FirstOrder> {
        let pieces = vec![
            Piece::half_space("wall", &[1.0, 0.0], |t| 2.0 * t - 0.5),
            Piece::half_space("slope", &[1.0, 2.0], |t| 3.0 * t),
        ];
        Box::new(Sweeping::assemble(pieces, &[0.0, 0.0]))
    }
    fn span(&self) -> f64 {
        1.0
    }
}
