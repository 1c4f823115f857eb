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
        BlockSegment { segment, block, side: side(&segment, block.centre, frames) }
    }

    fn front(&self) -> [f64; 3] {
        front(&self.segment, self.side)
    }
}

impl Pair for BlockSegment {
    fn places(&self) -> usize {
        6
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        match place.checked_sub(4) {
            None => touch_edge(&self.segment, self.front(), self.block.corner(place), frames),
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

/// Unit normal of a segment of the plane, to the left for side 1 and to the right for −1.
pub(super) fn front(segment: &Segment, side: f64) -> [f64; 3] {
    let ([x, y, _], _) = span(segment.ends);
    [-y * side, x * side, 0.0]
}

/// On which side of a segment on body a a point of body b is: 1 or −1.
pub(super) fn side(segment: &Segment, point: [f64; 3], frames: (&Frame, &Frame)) -> f64 {
    let height = frames.0.direction(front(segment, 1.0)).dot(offset(frames, segment.ends[0], point));
    if height < 0.0 { -1.0 } else { 1.0 }
}

/// The segment on body a and a corner on body b, which is in front where the normal looks.
pub(super) fn touch_edge<T: Scalar>(
    segment: &Segment,
    front: [f64; 3],
    corner: [f64; 3],
    frames: (&Frame<T>, &Frame<T>),
) -> Touch<T> {
    let (a, b) = frames;
    let (direction, length) = span(segment.ends);
    let (e, n): (Vector<T>, Vector<T>) = (a.direction(direction), a.direction(front));
    let r = offset(frames, segment.ends[0], corner);
    let along = r.dot(e);
    let on_b = b.point(corner);
    if along.re() >= 0.0 && along.re() <= length {
        let gap = r.dot(n);
        return Touch { gap, normal: n, on_a: on_b - n * gap, on_b, tangent: e };
    }
    let end = if along.re() < 0.0 { r } else { r - e * T::from(length) };
    let (gap, normal) = polar(end, || n);
    Touch { gap, normal, on_a: on_b - end, on_b, tangent: tangent(normal) }
}
