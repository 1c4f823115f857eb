//! A capsule against a box: its ends against the box, corners of the box against its side, and edges that cross its
//! axis.
//!
//! ```text
//!     ends:      as a sphere against a box                                                                        (1)
//!     corners:   gap = |corner − p(t)| − R,   where the foot is inside the axis                                   (2)
//!     edges:     gap = |n·r| − R,   n = d_a × d_b/|d_a × d_b|,   where both closest points are inside             (3)
//! ```

use super::geometry::{crossing_at, span, touch_crossing};
use super::sphere_block::touch_block;
use super::sphere_segment::{touch_round, within};
use super::{Block, Capsule, Pair, Shape, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Box on body a, capsule on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapsuleBlock {
    /// On body a.
    pub block: Block,
    /// On body b.
    pub capsule: Capsule,
}

impl Pair for CapsuleBlock {
    fn places(&self) -> usize {
        if self.block.is_planar() { 6 } else { 22 }
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (block, capsule) = (&self.block, &self.capsule);
        match place {
            0 | 1 => touch_block(block, capsule.end(place), frames),
            2..10 => {
                let corner = Sphere::point(block.corner(place - 2));
                touch_round(&capsule.axis(), capsule.radius, corner, (frames.1, frames.0)).exchanged()
            }
            _ => {
                let (middle, axis) = block.edge(place - 10);
                let (points, directions) = ([middle, capsule.ends[0]], [block.axes[axis], span(capsule.ends).0]);
                touch_crossing(frames, points, directions, [0.0, capsule.radius], |_, way| way >= 0.0)
            }
        }
    }

    fn features(&self, place: usize) -> [u32; 2] {
        let number = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        match place {
            0 | 1 => [0, number(place)],
            _ => [number(place - 1), 2],
        }
    }

    fn region(&self, place: usize, frames: (&Frame, &Frame)) -> f64 {
        let (block, capsule) = (&self.block, &self.capsule);
        match place {
            0 | 1 => f64::INFINITY,
            2..10 => within(&capsule.axis(), block.corner(place - 2), (frames.1, frames.0)),
            _ => {
                let ((middle, axis), (direction, length)) = (block.edge(place - 10), span(capsule.ends));
                let (points, directions) = ([middle, capsule.ends[0]], [block.axes[axis], direction]);
                let Some((_, [s, t])) = crossing_at(frames, points, directions) else { return -1.0 };
                (block.half[axis] - s.abs()).min(t).min(length - t)
            }
        }
    }

    fn reach(&self) -> f64 {
        Shape::Block(self.block).reach().max(Shape::Capsule(self.capsule).reach())
    }

    fn comes_and_goes(&self) -> bool {
        true
    }
}
