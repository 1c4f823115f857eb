//! Vectors of space over any scalar, so that formulas of geometry are differentiated as they are written.

use crate::model::Scalar;
use num_dual::Dual;
use std::ops::{Add, Mul, Neg, Sub};

/// Three components. In planar models the third one is zero, or is all there is of a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector<T = f64>(pub [T; 3]);

/// Coordinates as they are given: three of them, or two in the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Xyz(pub [f64; 3]);

impl From<[f64; 2]> for Xyz {
    fn from([x, y]: [f64; 2]) -> Xyz {
        Xyz([x, y, 0.0])
    }
}

impl From<[f64; 3]> for Xyz {
    fn from(x: [f64; 3]) -> Xyz {
        Xyz(x)
    }
}

impl<T: Scalar> Vector<T> {
    /// Without length.
    pub fn zero() -> Self {
        Vector([T::zero(); 3])
    }

    /// A vector that does not change.
    pub fn constant(x: [f64; 3]) -> Self {
        Vector(x.map(T::from))
    }

    /// a · b
    #[inline]
    pub fn dot(self, other: Self) -> T {
        let (Vector([a, b, c]), Vector([x, y, z])) = (self, other);
        a * x + b * y + c * z
    }

    /// a × b
    #[inline]
    pub fn cross(self, other: Self) -> Self {
        let (Vector([a, b, c]), Vector([x, y, z])) = (self, other);
        Vector([b * z - c * y, c * x - a * z, a * y - b * x])
    }

    /// |a|². Of vectors next to zero the length has no derivative, but its square has.
    #[inline]
    pub fn square(self) -> T {
        self.dot(self)
    }

    /// |a|
    #[inline]
    pub fn length(self) -> T {
        self.square().sqrt()
    }

    /// The values without their derivatives.
    pub fn values(self) -> Vector {
        Vector(self.0.map(|x| x.re()))
    }
}

impl<T: Scalar> Vector<Dual<T>> {
    /// The derivatives without their values.
    pub fn derivatives(self) -> Vector<T> {
        Vector(self.0.map(|x| x.eps))
    }
}

impl<T: Scalar> Add for Vector<T> {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        let (Vector([a, b, c]), Vector([x, y, z])) = (self, other);
        Vector([a + x, b + y, c + z])
    }
}

impl<T: Scalar> Sub for Vector<T> {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        let (Vector([a, b, c]), Vector([x, y, z])) = (self, other);
        Vector([a - x, b - y, c - z])
    }
}

impl<T: Scalar> Neg for Vector<T> {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Vector(self.0.map(|x| -x))
    }
}

impl<T: Scalar> Mul<T> for Vector<T> {
    type Output = Self;

    #[inline]
    fn mul(self, factor: T) -> Self {
        Vector(self.0.map(|x| x * factor))
    }
}
