//! A sphere on a plane, a disc on a line, a point on either; the centre may be anywhere in its body.
//!
//! ```text
//!     gap = n·(c − o) − R                                                                                         (1)
//! ```

use super::geometry::{offset, tangent_of};
use super::{Pair, Plane, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Plane on body a, sphere on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpherePlane {
    /// On body a.
    pub plane: Plane,
    /// On body b.
    pub sphere: Sphere,
}

impl Pair for SpherePlane {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        touch_plane(&self.plane, self.sphere, frames)
    }
}

/// The plane on body a and a sphere or a point on body b.
pub(super) fn touch_plane<T: Scalar>(plane: &Plane, sphere: Sphere, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
    let (a, b) = frames;
    let normal = a.direction(plane.normal);
    let height = normal.dot(offset(frames, plane.point, sphere.centre));
    let centre: Vector<T> = b.point(sphere.centre);
    let radius = T::from(sphere.radius);
    Touch {
        gap: height - radius,
        normal,
        on_a: centre - normal * height,
        on_b: centre - normal * radius,
        tangent: a.direction(tangent_of(plane.normal)),
    }
}
