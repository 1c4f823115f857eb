//! A sphere or a point inside or outside of a thin ring. A ring has two sides: which one counts is chosen once, from
//! the start, and never from the nearest boundary, or a small penetration would become a passage.
//!
//! ```text
//!     inside:   gap = R − |c| − r,  n = −c/|c|;      outside:   gap = |c| − R − r,  n = c/|c|                      (1)
//!     c = offset of the sphere's centre, normal to the axis of the ring
//! ```

use super::geometry::{across, offset, polar, tangent_of};
use super::{Pair, Ring, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Side of a wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The hollow one.
    Inside,
    /// The other one.
    Outside,
}

/// Ring on body a, sphere on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RingSphere {
    /// On body a.
    pub ring: Ring,
    /// On body b.
    pub sphere: Sphere,
    /// Where the sphere is.
    pub side: Side,
}

impl RingSphere {
    /// With the side on which the centre of the sphere is in these positions.
    pub fn new(ring: Ring, sphere: Sphere, frames: (&Frame, &Frame)) -> Self {
        let c = across(offset(frames, ring.centre, sphere.centre), frames.0.direction(ring.axis));
        let side = if c.length() <= ring.radius { Side::Inside } else { Side::Outside };
        RingSphere { ring, sphere, side }
    }
}

impl Pair for RingSphere {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let RingSphere { ring, sphere, side } = self;
        let (a, b) = frames;
        let axis: Vector<T> = a.direction(ring.axis);
        let c = across(offset(frames, ring.centre, sphere.centre), axis);
        let (distance, outward) = polar(c, || a.direction(tangent_of(ring.axis)));
        let centre = b.point(sphere.centre);
        let (gap, normal) = match side {
            Side::Inside => (-distance + (ring.radius - sphere.radius), -outward),
            Side::Outside => (distance - (ring.radius + sphere.radius), outward),
        };
        Touch {
            gap,
            normal,
            on_a: centre - c + outward * T::from(ring.radius),
            on_b: centre - normal * T::from(sphere.radius),
            tangent: normal.cross(axis),
        }
    }

    fn features(&self, place: usize) -> [u32; 2] {
        [u32::from(self.side == Side::Outside), u32::try_from(place).unwrap_or(u32::MAX)]
    }
}
