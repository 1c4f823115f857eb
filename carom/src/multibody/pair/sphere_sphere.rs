//! Two spheres, or two discs in the plane.
//!
//! ```text
//!     gap = |c| − R_a − R_b,      c from the first centre to the second                                            (1)
//! ```

use super::geometry::{offset, polar, tangent};
use super::{Pair, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Two spheres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereSphere {
    /// On body a.
    pub first: Sphere,
    /// On body b.
    pub second: Sphere,
}

impl Pair for SphereSphere {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (first, second) = (&self.first, &self.second);
        let c = offset(frames, first.centre, second.centre);
        let (distance, normal) = polar(c, || Vector::constant([1.0, 0.0, 0.0]));
        Touch {
            gap: distance - (first.radius + second.radius),
            normal,
            on_a: frames.0.point(first.centre) + normal * T::from(first.radius),
            on_b: frames.1.point(second.centre) - normal * T::from(second.radius),
            tangent: tangent(normal),
        }
    }
}
