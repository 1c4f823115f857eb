//! A capsule against a box, a polygon or a polyhedron: its ends, corners against its side, and edges that cross its
//! axis.
//!
//! ```text
//!     ends:      as a sphere against the shape                                                                    (1)
//!     corners:   gap = |corner − p(t)| − R,   where the foot is inside the axis                                   (2)
//!     edges:     gap = |n·r| − R,   n = d_a × d_b/|d_a × d_b|,   where both closest points are inside             (3)
//! ```

use super::convex_sphere::touch_convex;
use super::geometry::{crossing_at, span, touch_crossing};
use super::sphere_block::touch_block;
use super::sphere_segment::{touch_round, within};
use super::{Capsule, Faceted, Pair, Shape, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Shape with plane faces on body a, capsule on body b.
#[derive(Clone, Debug, PartialEq)]
pub struct CapsuleFaceted {
    /// On body a.
    pub shape: Faceted,
    /// On body b.
    pub capsule: Capsule,
}

impl CapsuleFaceted {
    /// Points and directions of an edge and of the axis, and half the length of the edge.
    fn crossed(&self, edge: usize) -> ([[f64; 3]; 2], [[f64; 3]; 2], f64) {
        let (edge, ends) = (self.shape.edge(edge), self.capsule.ends);
        ([edge.at, ends[0]], [edge.direction, span(ends).0], edge.half)
    }

    /// The number of the first edge.
    fn first(&self) -> usize {
        2 + self.shape.corners()
    }
}

impl Pair for CapsuleFaceted {
    fn places(&self) -> usize {
        self.first() + self.shape.edges()
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (shape, capsule) = (&self.shape, &self.capsule);
        match place.checked_sub(self.first()) {
            None if place < 2 => match shape {
                Faceted::Block(block) => touch_block(block, capsule.end(place), frames),
                Faceted::Convex(convex) => touch_convex(convex, capsule.end(place), frames),
            },
            None => {
                let corner = Sphere::point(shape.corner(place - 2));
                touch_round(&capsule.axis(), capsule.radius, corner, (frames.1, frames.0)).exchanged()
            }
            Some(edge) => {
                let (points, directions, _) = self.crossed(edge);
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
        match place.checked_sub(self.first()) {
            None if place < 2 => f64::INFINITY,
            None => within(&self.capsule.axis(), self.shape.corner(place - 2), (frames.1, frames.0)),
            Some(edge) => {
                let (points, directions, half) = self.crossed(edge);
                let Some((_, [s, t])) = crossing_at(frames, points, directions) else { return -1.0 };
                (half - s.abs()).min(t).min(span(self.capsule.ends).1 - t)
            }
        }
    }

    fn reach(&self) -> f64 {
        self.shape.reach().max(Shape::Capsule(self.capsule).reach())
    }

    fn comes_and_goes(&self) -> bool {
        true
    }
}
