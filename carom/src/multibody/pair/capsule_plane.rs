//! A capsule on a plane: one place for each of its round ends.
//!
//! ```text
//!     gap_k = n·(end_k − o) − R                                                                                   (1)
//! ```

use super::sphere_plane::touch_plane;
use super::{Capsule, Pair, Plane, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Plane on body a, capsule on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapsulePlane {
    /// On body a.
    pub plane: Plane,
    /// On body b.
    pub capsule: Capsule,
}

impl Pair for CapsulePlane {
    fn places(&self) -> usize {
        2
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        touch_plane(&self.plane, self.capsule.end(place), frames)
    }
}
