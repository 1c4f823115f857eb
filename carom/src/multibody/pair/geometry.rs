//! What several pairs need.

use super::Touch;
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Below this square a vector has no direction: its square is about to underflow.
pub const NOTHING: f64 = 1e-280;

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

/// A unit vector normal to the unit vector n. Of normals in the plane of the first two axes it lies in this plane, and
/// of normals in a plane of two axes it lies in that plane or is normal to it.
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

/// Sine of the angle below which two lines count as parallel.
pub const PARALLEL: f64 = 1e-5;

/// The unit vector normal to both of two lines, and how far along them their closest points are; `r` goes from the
/// point of the first line to that of the second one. Nothing for parallel lines.
///
/// ```text
///     c = d_a × d_b,    s = (r × d_b)·c/|c|²,    t = (r × d_a)·c/|c|²                                             (2)
/// ```
#[inline]
pub fn crossing<T: Scalar>(r: Vector<T>, [d_a, d_b]: [Vector<T>; 2]) -> Option<(Vector<T>, [T; 2])> {
    let c = d_a.cross(d_b);
    let square = c.square();
    if square.re() < PARALLEL * PARALLEL {
        return None;
    }
    let inverse = square.recip();
    Some((c * inverse.sqrt(), [r.cross(d_b).dot(c) * inverse, r.cross(d_a).dot(c) * inverse]))
}

/// Two edges that cross: `points` and unit `directions` in axes of their bodies, and the radii of what is around them.
/// The normal goes from a to b, or where `up` says so for the value of its first guess d_a × d_b.
#[inline]
pub fn touch_crossing<T: Scalar>(
    frames: (&Frame<T>, &Frame<T>),
    points: [[f64; 3]; 2],
    directions: [[f64; 3]; 2],
    radii: [f64; 2],
    up: impl FnOnce(Vector, f64) -> bool,
) -> Touch<T> {
    let d: [Vector<T>; 2] = [frames.0.direction(directions[0]), frames.1.direction(directions[1])];
    let r = offset(frames, points[0], points[1]);
    let (mut normal, [s, _]) = crossing(r, d).unwrap_or_else(|| {
        let across = across(r, d[0]);
        (polar(across, || tangent(d[0])).1, [T::zero(); 2])
    });
    let mut way = normal.dot(r);
    if !up(normal.values(), way.re()) {
        (normal, way) = (-normal, -way);
    }
    let at = frames.0.point(points[0]) + d[0] * s;
    let on_a = at + normal * T::from(radii[0]);
    let gap = way - (radii[0] + radii[1]);
    Touch { gap, normal, on_a, on_b: on_a + normal * gap, tangent: tangent(normal) }
}

/// Where the closest points of two crossing edges are along them, from the points; and whether they cross at all.
pub fn crossing_at(
    frames: (&Frame, &Frame),
    points: [[f64; 3]; 2],
    directions: [[f64; 3]; 2],
) -> Option<(Vector, [f64; 2])> {
    let d = [frames.0.direction(directions[0]), frames.1.direction(directions[1])];
    crossing(offset(frames, points[0], points[1]), d)
}
