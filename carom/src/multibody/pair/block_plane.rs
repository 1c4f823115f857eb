//! A box on a plane: one place for each of its corners.
//!
//! ```text
//!     gap_k = n·(corner_k − o)                                                                                    (1)
//! ```

use super::sphere_plane::touch_plane;
use super::{Block, Pair, Plane, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Plane on body a, box on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockPlane {
    /// On body a.
    pub plane: Plane,
    /// On body b.
    pub block: Block,
}

impl Pair for BlockPlane {
    fn places(&self) -> usize {
        self.block.corners()
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        touch_plane(&self.plane, Sphere::point(self.block.corner(place)), frames)
    }
}
