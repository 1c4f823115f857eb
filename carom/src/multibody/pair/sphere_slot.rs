//! A pin in a slot: a disc inside a long hole with round ends.
//!
//! ```text
//!     gap = w − r − |d|,      d = offset of the pin's centre from the closest point of the middle line,
//!                             normal to the axis of the slot,      n = −d/|d|                                      (1)
//! ```
//!
//! On the middle line the normal is undefined; the gap is the whole play there and any normal does.

use super::geometry::{across, clamp, offset, polar, span};
use super::{Pair, Slot, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Slot on body a, pin on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereSlot {
    /// On body a.
    pub slot: Slot,
    /// Centre and radius of the pin, on body b.
    pub pin: Sphere,
}

impl Pair for SphereSlot {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (slot, pin) = (&self.slot, &self.pin);
        let (a, b) = frames;
        let (direction, length) = span(slot.ends);
        let (e, axis): (Vector<T>, Vector<T>) = (a.direction(direction), a.direction(slot.axis));
        let r = across(offset(frames, slot.ends[0], pin.centre), axis);
        let along = clamp(r.dot(e) / length) * length;
        let d = r - e * along;
        let (distance, outward) = polar(d, || axis.cross(e));
        let centre = b.point(pin.centre);
        let normal = -outward;
        Touch {
            gap: -distance + (slot.radius - pin.radius),
            normal,
            on_a: centre - d + outward * T::from(slot.radius),
            on_b: centre + outward * T::from(pin.radius),
            tangent: normal.cross(axis),
        }
    }
}
