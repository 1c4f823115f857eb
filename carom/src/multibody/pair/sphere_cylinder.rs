//! A sphere or a point against a solid cylinder: its side, its flat ends and their rims.
//!
//! ```text
//!     z = d·r,  ρ = |r − z d|,   beyond by x = |z| − half and y = ρ − R:
//!     both positive:  gap = √(x² + y²) − r;      else  gap = max(x, y) − r                                        (1)
//! ```

use super::geometry::{across, offset, polar, tangent, tangent_of};
use super::{Cylinder, Pair, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Cylinder on body a, sphere on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereCylinder {
    /// On body a.
    pub cylinder: Cylinder,
    /// On body b.
    pub sphere: Sphere,
}

impl Pair for SphereCylinder {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (cylinder, sphere) = (&self.cylinder, &self.sphere);
        let (a, b) = frames;
        let axis: Vector<T> = a.direction(cylinder.axis);
        let r = offset(frames, cylinder.centre, sphere.centre);
        let z = axis.dot(r);
        let side = if z.re() < 0.0 { -1.0 } else { 1.0 };
        let (radial, out) = polar(across(r, axis), || a.direction(tangent_of(cylinder.axis)));
        let (x, y) = (z * side - cylinder.half, radial - cylinder.radius);
        let end = axis * T::from(side);
        let (distance, normal) = if x.re() > 0.0 && y.re() > 0.0 {
            polar(end * x + out * y, || out)
        } else if x.re() > y.re() {
            (x, end)
        } else {
            (y, out)
        };
        let centre = b.point(sphere.centre);
        Touch {
            gap: distance - sphere.radius,
            normal,
            on_a: centre - normal * distance,
            on_b: centre - normal * T::from(sphere.radius),
            tangent: tangent(normal),
        }
    }
}
