//! An ellipsoid against a sphere or a point.
//!
//! ```text
//!     closest point of y:  x_i = a_i² y_i/(a_i² + t),    F(t) = Σ (a_i y_i/(a_i² + t))² − 1 = 0                   (1)
//! ```
//!
//! F falls and is convex where t > −min a_i², so that Newton's steps from the left of the root do not pass it; a
//! bisection takes over where rounding stops them. Deep inside, beyond the centres of curvature, the closest point is
//! not unique: the sphere is to stay outside.

use super::geometry::{offset, tangent};
use super::{Ellipsoid, Pair, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Most steps for the root of (1).
const STEPS: u32 = 200;

/// Ellipsoid on body a, sphere on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipsoidSphere {
    /// On body a.
    pub ellipsoid: Ellipsoid,
    /// On body b.
    pub sphere: Sphere,
}

impl EllipsoidSphere {
    /// F and its derivative.
    fn function<T: Scalar>(&self, y: [T; 3], t: T) -> (T, T) {
        let (mut value, mut slope) = (T::from(-1.0), T::zero());
        for (y, a) in y.into_iter().zip(self.ellipsoid.half) {
            let inverse = (t + a * a).recip();
            let part = y * a * inverse;
            value += part * part;
            slope -= part * part * inverse * 2.0;
        }
        (value, slope)
    }

    /// The root of (1).
    fn root(&self, y: [f64; 3]) -> f64 {
        let half = self.ellipsoid.half;
        let least = half.iter().fold(f64::INFINITY, |least, a| least.min(*a));
        // F ≥ 0 where one term is 1, F ≤ 0 where all denominators are as small as the least one and the sum is 1
        let reach = y.iter().zip(half).map(|(y, a)| (a * y).powi(2)).sum::<f64>().sqrt();
        let mut low = y.iter().zip(half).map(|(y, a)| a * y.abs() - a * a).fold(-least * least, f64::max);
        let mut high = (reach - least * least).max(low);
        let mut t = low;
        for _ in 0..STEPS {
            let (value, slope) = self.function(y, t);
            if value >= 0.0 {
                low = t
            } else {
                high = t
            }
            let newton = t - value / slope;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == t || next <= low && next >= high {
                break;
            }
            if (next - t).abs() <= 4.0 * f64::EPSILON * (least * least + t.abs()) {
                return next;
            }
            t = next;
        }
        t
    }
}

impl Pair for EllipsoidSphere {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (a, b) = frames;
        let Ellipsoid { centre, axes, half } = self.ellipsoid;
        let axes: [Vector<T>; 3] = axes.map(|axis| a.direction(axis));
        let r = offset(frames, centre, self.sphere.centre);
        let y = axes.map(|axis| axis.dot(r));
        let mut t = T::from(self.root(y.map(|y| y.re())));
        // each of Newton's steps doubles the number of derivatives that are exact
        let mut exact = 0;
        while exact < T::NDERIV {
            let (value, slope) = self.function(y, t);
            t -= value / slope;
            exact = 2 * exact + 1;
        }
        // (x_i/a_i²) is the gradient at the closest point
        let gradient: [T; 3] = std::array::from_fn(|i| y[i] / (t + half[i] * half[i]));
        let scale = Vector(gradient).length().recip();
        let normal = (0..3).fold(Vector::zero(), |sum, i| sum + axes[i] * (gradient[i] * scale));
        let at = (0..3).fold(Vector::zero(), |sum, i| sum + axes[i] * (gradient[i] * (half[i] * half[i])));
        let distance = (r - at).dot(normal);
        let middle = b.point(self.sphere.centre);
        Touch {
            gap: distance - self.sphere.radius,
            normal,
            on_a: middle - normal * distance,
            on_b: middle - normal * T::from(self.sphere.radius),
            tangent: tangent(normal),
        }
    }
}
