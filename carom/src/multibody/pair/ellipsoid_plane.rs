//! An ellipsoid on a plane.
//!
//! ```text
//!     w = A Rᵀ n,    gap = n·(c − o) − |w|,    point c − R A w/|w|          A = diag of the half lengths          (1)
//! ```

use super::geometry::{offset, tangent_of};
use super::{Ellipsoid, Pair, Plane, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Plane on body a, ellipsoid on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipsoidPlane {
    /// On body a.
    pub plane: Plane,
    /// On body b.
    pub ellipsoid: Ellipsoid,
}

impl Pair for EllipsoidPlane {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (a, b) = frames;
        let Ellipsoid { centre, axes, half } = self.ellipsoid;
        let normal: Vector<T> = a.direction(self.plane.normal);
        let axes: [Vector<T>; 3] = axes.map(|axis| b.direction(axis));
        let w: [T; 3] = std::array::from_fn(|i| axes[i].dot(normal) * half[i]);
        let reach = Vector(w).length();
        let scale = reach.recip();
        let down = (0..3).fold(Vector::zero(), |sum, i| sum + axes[i] * (w[i] * scale * half[i]));
        let gap = normal.dot(offset(frames, self.plane.point, centre)) - reach;
        let on_b = b.point(centre) - down;
        Touch { gap, normal, on_a: on_b - normal * gap, on_b, tangent: a.direction(tangent_of(self.plane.normal)) }
    }
}
