//! Where a body is: its mass centre and its axes, in axes of the space. Planar bodies have frames too, which stay in
//! the plane: joints and pairs are written once.
//!
//! ```text
//!     point s of the body:  x + R s,      direction d of the body:  R d,      R = (axes as columns)               (1)
//! ```

use super::Vector;
use crate::model::Scalar;

/// Centre and axes of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<T = f64> {
    /// Mass centre x.
    pub centre: Vector<T>,
    /// The images of the three axes of the body: the columns of R.
    pub axes: [Vector<T>; 3],
}

impl<T: Scalar> Frame<T> {
    /// The ground: the axes of the space.
    pub fn ground() -> Self {
        let axis = |i: usize| Vector::constant(std::array::from_fn(|j| f64::from(u8::from(i == j))));
        Frame { centre: Vector::zero(), axes: [axis(0), axis(1), axis(2)] }
    }

    /// R d of a direction in axes of the body.
    #[inline]
    pub fn direction(&self, d: [f64; 3]) -> Vector<T> {
        let [x, y, z] = self.axes;
        let part = |axis: Vector<T>, d: f64| Vector(axis.0.map(|c| c * d));
        part(x, d[0]) + part(y, d[1]) + part(z, d[2])
    }

    /// R d, where the direction itself changes.
    #[inline]
    pub fn turn(&self, d: Vector<T>) -> Vector<T> {
        let [x, y, z] = self.axes;
        x * d.0[0] + y * d.0[1] + z * d.0[2]
    }

    /// x + R s of a point in axes of the body.
    #[inline]
    pub fn point(&self, s: [f64; 3]) -> Vector<T> {
        self.centre + self.direction(s)
    }

    /// Rᵀ d of a direction of the space.
    #[inline]
    pub fn body_direction(&self, d: Vector<T>) -> Vector<T> {
        Vector(self.axes.map(|axis| axis.dot(d)))
    }

    /// Rᵀ (p − x) of a point of the space.
    #[inline]
    pub fn body_point(&self, p: Vector<T>) -> Vector<T> {
        self.body_direction(p - self.centre)
    }
}
