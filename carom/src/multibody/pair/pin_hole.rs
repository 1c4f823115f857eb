//! A pin in a round hole: a disc inside a circle in the plane, one section of a pin in a bore in space.
//!
//! ```text
//!     c = offset of the pin's centre, normal to the axis of the hole
//!     gap = R − r − |c|,      n = −c/|c|,      tangents n × axis (turning) and −axis (sliding through)             (1)
//! ```
//!
//! In the middle of the hole the normal is undefined; the gap is the whole play there and any normal does.

use super::geometry::{across, offset, polar, tangent_of};
use super::{Bore, Pair, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Hole on body a, pin on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinHole {
    /// On body a.
    pub hole: Bore,
    /// Centre and radius of the pin, on body b.
    pub pin: Sphere,
}

impl Pair for PinHole {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        touch_hole(&self.hole, self.pin, frames)
    }
}

/// The hole on body a and one section of a pin on body b.
pub(super) fn touch_hole<T: Scalar>(hole: &Bore, pin: Sphere, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
    let (a, b) = frames;
    let axis: Vector<T> = a.direction(hole.axis);
    let c = across(offset(frames, hole.centre, pin.centre), axis);
    let (distance, outward) = polar(c, || a.direction(tangent_of(hole.axis)));
    let centre = b.point(pin.centre);
    let normal = -outward;
    Touch {
        gap: -distance + (hole.radius - pin.radius),
        normal,
        on_a: centre - c + outward * T::from(hole.radius),
        on_b: centre + outward * T::from(pin.radius),
        tangent: normal.cross(axis),
    }
}
