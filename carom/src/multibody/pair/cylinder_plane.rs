//! A cylinder on a plane, or a thin disc: the lowest point of each rim, and three points of each rim that are fixed in
//! the body, for a cylinder that stands has no lowest point.
//!
//! ```text
//!     axis d, rim centres c_i:   u = n − (n·d) d,   gap = n·(c_i − o) − R |u|,   point c_i − R u/|u|                (1)
//!     fixed points c_i + R (cos φ e + sin φ d×e),  φ = 0, ±2π/3:   gap = n·(point − o)                             (2)
//! ```
//!
//! Of both, what counts is told by |u|, the sine of the tilt from standing: (1) where it is at least 1e-7, (2) where it
//! is at most 0.05.

use super::geometry::{offset, polar, tangent_of};
use super::sphere_plane::touch_plane;
use super::{Cylinder, Pair, Plane, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Least sine of the tilt with a lowest point.
const STANDING: f64 = 1e-7;
/// Largest sine of the tilt with fixed points.
const LYING: f64 = 0.05;

/// Plane on body a, cylinder on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CylinderPlane {
    /// On body a.
    pub plane: Plane,
    /// On body b.
    pub cylinder: Cylinder,
}

impl CylinderPlane {
    fn rims(&self) -> usize {
        if self.cylinder.half == 0.0 { 1 } else { 2 }
    }

    /// One of the three fixed points of a rim.
    fn fixed(&self, rim: usize, point: usize) -> [f64; 3] {
        let Cylinder { axis, radius, .. } = self.cylinder;
        let (centre, e) = (self.cylinder.rim(rim), tangent_of(axis));
        let f = Vector::<f64>(axis).cross(Vector(e)).0;
        let root = 0.75f64.sqrt();
        let [c, s] = [[1.0, 0.0], [-0.5, root], [-0.5, -root]][point];
        std::array::from_fn(|i| centre[i] + radius * (c * e[i] + s * f[i]))
    }
}

impl Pair for CylinderPlane {
    fn places(&self) -> usize {
        4 * self.rims()
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (a, b) = frames;
        let rims = self.rims();
        if let Some(fixed) = place.checked_sub(rims) {
            return touch_plane(&self.plane, Sphere::point(self.fixed(fixed / 3, fixed % 3)), frames);
        }
        let (normal, axis): (Vector<T>, Vector<T>) = (a.direction(self.plane.normal), b.direction(self.cylinder.axis));
        // n − (n·d) d = (d × n) × d, without cancellation
        let (tilt, up) = polar(axis.cross(normal).cross(axis), || b.direction(tangent_of(self.cylinder.axis)));
        let rim = self.cylinder.rim(place);
        let radius = T::from(self.cylinder.radius);
        let gap = normal.dot(offset(frames, self.plane.point, rim)) - radius * tilt;
        let on_b = b.point(rim) - up * radius;
        Touch { gap, normal, on_a: on_b - normal * gap, on_b, tangent: a.direction(tangent_of(self.plane.normal)) }
    }

    fn features(&self, place: usize) -> [u32; 2] {
        let number = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        match place.checked_sub(self.rims()) {
            None => [0, number(place)],
            Some(fixed) => [0, 2 + number(fixed)],
        }
    }

    fn region(&self, place: usize, (a, b): (&Frame, &Frame)) -> f64 {
        let tilt = b.direction(self.cylinder.axis).cross(a.direction(self.plane.normal)).length();
        if place < self.rims() { tilt - STANDING } else { LYING - tilt }
    }
}
