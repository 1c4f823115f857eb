//! A sphere or a disc against a straight edge: the closest point may be an end of it.
//!
//! ```text
//!     gap = |c − p(t)| − R,      t = clamp((c − p₀)·e)                                                             (1)
//! ```
//!
//! The edge has no thickness and no inside: deeper than its radius the sphere is on the other side.

use super::geometry::{clamp, offset, polar, span, tangent, tangent_of};
use super::{Pair, Segment, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Segment on body a, sphere on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereSegment {
    /// On body a.
    pub segment: Segment,
    /// On body b.
    pub sphere: Sphere,
}

impl Pair for SphereSegment {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (segment, sphere) = (&self.segment, &self.sphere);
        let (a, b) = frames;
        let (direction, length) = span(segment.ends);
        let e: Vector<T> = a.direction(direction);
        let r = offset(frames, segment.ends[0], sphere.centre);
        let along = clamp(r.dot(e) / length) * length;
        let c = r - e * along;
        let (distance, normal) = polar(c, || a.direction(tangent_of(direction)));
        let centre = b.point(sphere.centre);
        Touch {
            gap: distance - sphere.radius,
            normal,
            on_a: centre - c,
            on_b: centre - normal * T::from(sphere.radius),
            tangent: tangent(normal),
        }
    }
}
