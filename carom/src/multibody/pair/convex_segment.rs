//! A polygon against a straight edge in the plane: its corners against the edge, and the ends of the edge against it.
//!
//! ```text
//!     corner k:  gap = n·(corner − p₀) where its foot is on the edge, else the distance from the closer end        (1)
//!     end j:     signed distance of the end from the polygon                                                      (2)
//! ```
//!
//! The material of the edge is behind it: the side in front is chosen once, from the start.

use super::block_segment::{front, side, touch_edge};
use super::convex_sphere::touch_convex;
use super::{Convex, Pair, Segment, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Segment on body a, polygon on body b.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexSegment {
    /// On body a.
    pub segment: Segment,
    /// On body b.
    pub convex: Convex,
    /// 1 where the polygon is to the left of the way from the first to the second end, −1 to the right.
    pub side: f64,
}

impl ConvexSegment {
    /// With the side on which the middle of the polygon is in these positions.
    pub fn new(segment: Segment, convex: Convex, frames: (&Frame, &Frame)) -> Self {
        let side = side(&segment, convex.placed(convex.hull.ball().0), frames);
        ConvexSegment { segment, convex, side }
    }

    fn corners(&self) -> usize {
        self.convex.hull.corners().len()
    }
}

impl Pair for ConvexSegment {
    fn places(&self) -> usize {
        self.corners() + 2
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        match place.checked_sub(self.corners()) {
            None => touch_edge(&self.segment, front(&self.segment, self.side), self.convex.corner(place), frames),
            Some(end) => {
                let point = Sphere::point(self.segment.ends[end]);
                touch_convex(&self.convex, point, (frames.1, frames.0)).exchanged()
            }
        }
    }

    fn features(&self, place: usize) -> [u32; 2] {
        let number = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        match place.checked_sub(self.corners()) {
            None => [0, number(place)],
            Some(end) => [number(end + 1), number(self.corners())],
        }
    }
}
