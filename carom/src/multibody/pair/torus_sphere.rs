//! A torus against a sphere or a point.
//!
//! ```text
//!     z = d·r,  ρ = |r − z d|:    gap = √((ρ − R)² + z²) − r_tube − r_sphere                                       (1)
//! ```

use super::geometry::{across, offset, polar, tangent, tangent_of};
use super::{Pair, Sphere, Torus, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Torus on body a, sphere on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TorusSphere {
    /// On body a.
    pub torus: Torus,
    /// On body b.
    pub sphere: Sphere,
}

impl Pair for TorusSphere {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (a, b) = frames;
        let (torus, sphere) = (&self.torus, &self.sphere);
        let axis: Vector<T> = a.direction(torus.axis);
        let r = offset(frames, torus.centre, sphere.centre);
        let (_, out) = polar(across(r, axis), || a.direction(tangent_of(torus.axis)));
        let (distance, normal) = polar(r - out * T::from(torus.radius), || out);
        let centre = b.point(sphere.centre);
        Touch {
            gap: distance - (torus.tube + sphere.radius),
            normal,
            on_a: centre - normal * (distance - torus.tube),
            on_b: centre - normal * T::from(sphere.radius),
            tangent: tangent(normal),
        }
    }
}
