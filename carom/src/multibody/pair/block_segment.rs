//! A rectangle against a straight edge in the plane: its corners against the edge, and the ends of the edge against it.
//!
//! ```text
//!     corner k:  gap = n·(corner − p₀) where its foot is on the edge, else the distance from the closer end        (1)
//!     end j:     signed distance of the end from the rectangle                                                    (2)
//! ```
//!
//! The material of the edge is behind it: the side in front is chosen once, from the start.

use super::geometry::{offset, polar, span, tangent};
use super::sphere_block::touch_block;
use super::{Block, Pair, Segment, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Segment on body a, rectangle on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockSegment {
    /// On body a.
    pub segment: Segment,
    /// On body b.
    pub block: Block,
    /// 1 where the rectangle is to the left of the way from the first to the second end, −1 to the right.
    pub side: f64,
}

impl BlockSegment {
    /// With the side on which the centre of the rectangle is in these positions.
    pub fn new(segment: Segment, block: Block, frames: (&Frame, &Frame)) -> Self {
        let pair = BlockSegment { segment, block, side: 1.0 };
        let height = frames.0.direction(pair.front()).dot(offset(frames, segment.ends[0], block.centre));
        BlockSegment { side: if height < 0.0 { -1.0 } else { 1.0 }, ..pair }
    }

    /// Unit normal in front.
    fn front(&self) -> [f64; 3] {
        let ([x, y, _], _) = span(self.segment.ends);
        [-y * self.side, x * self.side, 0.0]
    }

    fn corner<T: Scalar>(&self, corner: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (a, b) = frames;
        let (direction, length) = span(self.segment.ends);
        let (e, n): (Vector<T>, Vector<T>) = (a.direction(direction), a.direction(self.front()));
        let r = offset(frames, self.segment.ends[0], self.block.corner(corner));
        let along = r.dot(e);
        let on_b = b.point(self.block.corner(corner));
        if along.re() >= 0.0 && along.re() <= length {
            let gap = r.dot(n);
            return Touch { gap, normal: n, on_a: on_b - n * gap, on_b, tangent: e };
        }
        let end = if along.re() < 0.0 { r } else { r - e * T::from(length) };
        let (gap, normal) = polar(end, || n);
        Touch { gap, normal, on_a: on_b - end, on_b, tangent: tangent(normal) }
    }
}

impl Pair for BlockSegment {
    fn places(&self) -> usize {
        6
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        match place.checked_sub(4) {
            None => self.corner(place, frames),
            Some(end) => {
                let point = Sphere::point(self.segment.ends[end]);
                touch_block(&self.block, point, (frames.1, frames.0)).exchanged()
            }
        }
    }

    fn features(&self, place: usize) -> [u32; 2] {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        if place < 4 { [0, place] } else { [place - 3, 4] }
    }
}
