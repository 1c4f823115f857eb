//! A sphere against a plane strip: a segment that is drawn out along a direction, so that only the motion across it
//! counts.
//!
//! ```text
//!     gap = |c − p(t)| − R,      c = offset of the centre, normal to the direction,      t = clamp((c − p₀)·e)     (1)
//!     tangents n × direction and −direction
//! ```

use super::geometry::{across, clamp, offset, polar, span};
use super::{Pair, Sphere, Strip, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Strip on body a, sphere on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereStrip {
    /// On body a.
    pub strip: Strip,
    /// On body b.
    pub sphere: Sphere,
}

impl Pair for SphereStrip {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        touch_strip(&self.strip, self.sphere, frames)
    }
}

/// The strip on body a and a sphere on body b.
pub(super) fn touch_strip<T: Scalar>(strip: &Strip, sphere: Sphere, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
    let (a, b) = frames;
    let (direction, length) = span(strip.ends);
    let (e, axis): (Vector<T>, Vector<T>) = (a.direction(direction), a.direction(strip.along));
    let r = across(offset(frames, strip.ends[0], sphere.centre), axis);
    let along = clamp(r.dot(e) / length) * length;
    let c = r - e * along;
    let (distance, normal) = polar(c, || axis.cross(e));
    let centre = b.point(sphere.centre);
    Touch {
        gap: distance - sphere.radius,
        normal,
        on_a: centre - c,
        on_b: centre - normal * T::from(sphere.radius),
        tangent: normal.cross(axis),
    }
}
