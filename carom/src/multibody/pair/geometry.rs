//! What several pairs need.

use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Below this square a vector has no direction: its square is about to underflow.
const NOTHING: f64 = 1e-280;

/// b's point − a's point; the difference of the centres first, which is exact for bodies far away from the origin.
#[inline]
pub fn offset<T: Scalar>((a, b): (&Frame<T>, &Frame<T>), s_a: [f64; 3], s_b: [f64; 3]) -> Vector<T> {
    (b.centre - a.centre) + (b.direction(s_b) - a.direction(s_a))
}

/// The part of a vector normal to a unit vector.
#[inline]
pub fn across<T: Scalar>(v: Vector<T>, axis: Vector<T>) -> Vector<T> {
    v - axis * v.dot(axis)
}

/// Length and direction; a vector without length takes the other direction.
#[inline]
pub fn polar<T: Scalar>(v: Vector<T>, other: impl FnOnce() -> Vector<T>) -> (T, Vector<T>) {
    let square = v.square();
    if square.re() < NOTHING {
        return (T::from(0.0), other());
    }
    let length = square.sqrt();
    (length, v * length.recip())
}

/// t, not below 0 and not above 1.
#[inline]
pub fn clamp<T: Scalar>(t: T) -> T {
    match t.re() {
        t if t <= 0.0 => T::from(0.0),
        t if t >= 1.0 => T::from(1.0),
        _ => t,
    }
}

/// A unit vector normal to the unit vector n. Of normals in the plane of the first two axes it lies in this plane.
///
/// ```text
///     |n_z| ≤ 0.7:   e_z × n / |e_z × n|;       else   (1 − s a n_x², −s b, −s n_x),   s = sign n_z,
///                                                      a = 1/(s + n_z)·s,   b = n_x n_y/(s + n_z)              (1)
/// ```
#[inline]
pub fn tangent<T: Scalar>(n: Vector<T>) -> Vector<T> {
    let Vector([x, y, z]) = n;
    if z.re().abs() <= 0.7 {
        let length = (x * x + y * y).sqrt().recip();
        return Vector([-y * length, x * length, T::from(0.0)]);
    }
    let s = z.re().signum();
    let a = -(z + s).recip();
    let b = x * y * a;
    Vector([x * x * a * s + 1.0, b * s, -x * s])
}

/// The same for a direction in axes of a body.
pub fn tangent_of(n: [f64; 3]) -> [f64; 3] {
    tangent(Vector::<f64>(n)).0
}

/// Unit vector and length between two points of a body.
pub fn span([p, q]: [[f64; 3]; 2]) -> ([f64; 3], f64) {
    let d: [f64; 3] = std::array::from_fn(|i| q[i] - p[i]);
    let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
    (d.map(|x| x / length), length)
}
