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
        touch_round(&self.segment, 0.0, self.sphere, frames)
    }
}

/// What is around a segment on body a within a radius, and a sphere or a point on body b.
pub(super) fn touch_round<T: Scalar>(
    segment: &Segment,
    radius: f64,
    sphere: Sphere,
    frames: (&Frame<T>, &Frame<T>),
) -> Touch<T> {
    let (a, b) = frames;
    let (direction, length) = span(segment.ends);
    let e: Vector<T> = a.direction(direction);
    let r = offset(frames, segment.ends[0], sphere.centre);
    let along = clamp(r.dot(e) / length) * length;
    let c = r - e * along;
    let (distance, normal) = polar(c, || a.direction(tangent_of(direction)));
    let centre = b.point(sphere.centre);
    Touch {
        gap: distance - (radius + sphere.radius),
        normal,
        on_a: centre - c + normal * T::from(radius),
        on_b: centre - normal * T::from(sphere.radius),
        tangent: tangent(normal),
    }
}

/// How far inside a segment on body a the foot of a point on body b is, from the nearer end.
pub(super) fn within(segment: &Segment, point: [f64; 3], frames: (&Frame, &Frame)) -> f64 {
    let (direction, length) = span(segment.ends);
    let along = offset(frames, segment.ends[0], point).dot(frames.0.direction(direction));
    along.min(length - along)
}
