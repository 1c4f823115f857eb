//! A capsule against a sphere, a disc or a point: its axis is a segment.
//!
//! ```text
//!     gap = |c − p(t)| − R_a − R_b,      t = clamp((c − p₀)·e)                                                     (1)
//! ```

use super::sphere_segment::touch_round;
use super::{Capsule, Pair, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Capsule on body a, sphere on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapsuleSphere {
    /// On body a.
    pub capsule: Capsule,
    /// On body b.
    pub sphere: Sphere,
}

impl Pair for CapsuleSphere {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        touch_round(&self.capsule.axis(), self.capsule.radius, self.sphere, frames)
    }
}
