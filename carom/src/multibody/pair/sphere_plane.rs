//! A plane on body a and a sphere on body b, which may be eccentric. In the plane a line and a disc.
//!
//! ```text
//!     g = n · (c − o) − R,      points c − (g + R) n and c − R n                                                   (1)
//! ```

use super::{Frame, Pair, Touch};
use crate::model::Scalar;

/// Plane and sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpherePlane {
    /// A point o of the plane, in axes of a [m].
    pub origin: [f64; 3],
    /// Unit normal n of the plane towards the sphere, in axes of a.
    pub normal: [f64; 3],
    /// First tangent, a unit vector perpendicular to n, in axes of a; in the plane in the plane.
    pub tangent: [f64; 3],
    /// Centre c of the sphere, in axes of b [m].
    pub centre: [f64; 3],
    /// R [m].
    pub radius: f64,
}

impl Pair for SpherePlane {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, (a, b): (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (n, c) = (a.direction(self.normal), b.point(self.centre));
        let height = n.dot(c - a.point(self.origin));
        Touch {
            gap: height - self.radius,
            normal: n,
            on_a: c - n * height,
            on_b: c - n * T::from(self.radius),
            tangent: a.direction(self.tangent),
        }
    }
}
