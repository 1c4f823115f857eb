//! Along what an output of a model moves with a body: a force and a moment.
//!
//! ```text
//!     y' = f · x' + m · ω      with the velocity x' of the mass centre and ω in axes of the space                  (1)
//! ```
//!
//! By the principle of virtual power a reaction λ of the output pushes the body with λ f at its mass centre and turns
//! it with λ m. Columns of a body are f and Rᵀ m in space, (f_x, f_y, m_z) in the plane. With frames that move along a
//! velocity, as dual numbers, the derivative of (1) is the acceleration of y that belongs to no acceleration of bodies.

use super::{Frame, Vector};
use crate::model::Scalar;

/// The derivative of an output by the motion of one body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<T = f64> {
    /// f
    pub force: Vector<T>,
    /// m, about the mass centre.
    pub moment: Vector<T>,
}

impl<T: Scalar> Line<T> {
    /// No motion of the body changes the output.
    pub fn zero() -> Self {
        Line { force: Vector::zero(), moment: Vector::zero() }
    }

    /// n · (velocity of the material point that is at `point` now).
    #[inline]
    pub fn through(frame: &Frame<T>, point: Vector<T>, n: Vector<T>) -> Self {
        Line { force: n, moment: (point - frame.centre).cross(n) }
    }

    /// d · ω
    #[inline]
    pub fn about(d: Vector<T>) -> Self {
        Line { force: Vector::zero(), moment: d }
    }

    /// Both.
    #[inline]
    pub fn plus(self, other: Self) -> Self {
        Line { force: self.force + other.force, moment: self.moment + other.moment }
    }

    /// A multiple.
    #[inline]
    pub fn times(self, factor: f64) -> Self {
        let times = |x: Vector<T>| Vector(x.0.map(|x| x * factor));
        Line { force: times(self.force), moment: times(self.moment) }
    }

    /// A multiple that may change.
    #[inline]
    pub fn scaled(self, factor: T) -> Self {
        Line { force: self.force * factor, moment: self.moment * factor }
    }

    /// The other way.
    #[inline]
    pub fn reversed(self) -> Self {
        Line { force: -self.force, moment: -self.moment }
    }
}
