//! A cam against a roller or a point: a closed curve and a disc outside of it.
//!
//! ```text
//!     gap = n(s)·(c − C(s)) − r,      s the closest point of the curve,      n(s) outward                          (1)
//! ```
//!
//! The curve is drawn out along the normal of its plane, so only the motion in this plane counts.

use super::geometry::offset;
use super::spline::Spot;
use super::{Curve, Pair, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Curve on body a, disc or point on body b.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSphere {
    /// On body a.
    pub curve: Curve,
    /// On body b.
    pub sphere: Sphere,
}

impl Pair for CurveSphere {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (curve, sphere) = (&self.curve, &self.sphere);
        let (a, b) = frames;
        let [u, w]: [Vector<T>; 2] = curve.axes.map(|axis| a.direction(axis));
        let r = offset(frames, curve.centre, sphere.centre);
        let c = [u.dot(r), w.dot(r)];
        let (piece, t) = curve.spline.closest_of(c);
        let Spot { at, slope, .. } = curve.spline.spot(piece, t);
        let speed = (slope[0] * slope[0] + slope[1] * slope[1]).sqrt();
        let [x, y] = slope.map(|s| s / speed);
        let outward = curve.spline.outward();
        let n = [y * outward, -x * outward];
        let off = [c[0] - at[0], c[1] - at[1]];
        let distance = n[0] * off[0] + n[1] * off[1];
        let normal = u * n[0] + w * n[1];
        let centre = b.point(sphere.centre);
        Touch {
            gap: distance - sphere.radius,
            normal,
            on_a: centre - u * off[0] - w * off[1],
            on_b: centre - normal * T::from(sphere.radius),
            tangent: u * x + w * y,
        }
    }
}
