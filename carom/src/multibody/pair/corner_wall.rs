//! A box in a guide: each corner against its own wall of two parallel ones.
//!
//! ```text
//!     gap_k = w − s_k d·(corner_k − o),      n = −s_k d,      s_k = ±1 the side of corner k across the guide       (1)
//! ```
//!
//! The first tangent is the direction of the guide.

use super::geometry::offset;
use super::{Block, Pair, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Two parallel walls on body a, box between them on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CornerWall {
    /// A point half way between the walls, on body a.
    pub centre: [f64; 3],
    /// Unit vector d normal to the walls, on body a.
    pub normal: [f64; 3],
    /// Unit vector along the guide, normal to d, on body a.
    pub along: [f64; 3],
    /// Half of their distance [m].
    pub half: f64,
    /// On body b.
    pub block: Block,
    /// The axis of the box that lies across the guide.
    pub axis: usize,
}

impl Pair for CornerWall {
    fn places(&self) -> usize {
        self.block.corners()
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (a, b) = frames;
        let side = self.block.side(place, self.axis);
        let corner = self.block.corner(place);
        let outward: Vector<T> = a.direction(self.normal.map(|x| side * x));
        let height = outward.dot(offset(frames, self.centre, corner));
        let gap = -height + self.half;
        let on_b = b.point(corner);
        Touch { gap, normal: -outward, on_a: on_b + outward * gap, on_b, tangent: a.direction(self.along) }
    }

    fn features(&self, place: usize) -> [u32; 2] {
        [u32::from(self.block.side(place, self.axis) < 0.0), u32::try_from(place).unwrap_or(u32::MAX)]
    }
}
