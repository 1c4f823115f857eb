//! What several pairs need.

use super::Touch;
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

/// A unit vector normal to the unit vector n, which turns as little as it can where n does: the turn of `POLE` to n takes
/// it along. It jumps at −`POLE` alone, which no scene has reason to use: a tangent that jumps between two iterates of a
/// step is a friction that jumps.
///
/// ```text
///     t = u − (u·n)/(1 + p·n) (n + p)                                                                             (1)
/// ```
#[inline]
pub fn tangent<T: Scalar>(n: Vector<T>) -> Vector<T> {
    const POLE: [f64; 3] = [2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0];
    const CARRIED: [f64; 3] = [6.0 / 7.0, 2.0 / 7.0, -3.0 / 7.0];
    let (p, u) = (Vector::<T>::constant(POLE), Vector::<T>::constant(CARRIED));
    let height = p.dot(n) + 1.0;
    if height.re() < f64::EPSILON {
        return u;
    }
    u - (n + p) * (u.dot(n) * height.recip())
}

/// A unit vector normal to a direction in axes of a body; for one in the plane of the first two axes it lies there too.
///
/// ```text
///     |n_z| ≤ 0.7:   e_z × n / |e_z × n|;       else   (1 − s a n_x², −s b, −s n_x),   s = sign n_z,
///                                                      a = 1/(s + n_z)·s,   b = n_x n_y/(s + n_z)
/// ```
pub fn tangent_of([x, y, z]: [f64; 3]) -> [f64; 3] {
    if z.abs() <= 0.7 {
        let length = x.hypot(y);
        return [-y / length, x / length, 0.0];
    }
    let s = z.signum();
    let a = -1.0 / (z + s);
    [x * x * a * s + 1.0, x * y * a * s, -x * s]
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

#[cfg(test)]
mod tests {
    use super::*;

    /// On spirals from pole to pole: normal to n, of length one, and turned by no more than 20 times as much as n, but
    /// next to one direction.
    #[test]
    fn tangents_do_not_jump() {
        let at = |k: u32| {
            let z = 1.0 - 2.0 * f64::from(k) / 200_000.0;
            let (r, angle) = ((1.0 - z * z).max(0.0).sqrt(), 0.05 * f64::from(k % 2_000) + f64::from(k / 2_000));
            Vector::<f64>([r * angle.cos(), r * angle.sin(), z])
        };
        let mut near = 0;
        for k in 0..200_000 {
            let n = at(k);
            let t = tangent(n);
            assert!(t.dot(n).abs() < 1e-14 && (t.square() - 1.0).abs() < 1e-14, "{n:?}");
            for d in [Vector([1e-7, 0.0, 0.0]), Vector([0.0, 1e-7, 0.0]), Vector([0.0, 0.0, 1e-7])] {
                let (_, other) = polar(n + d, || n);
                let turned = (tangent(other) - t).square().sqrt() / 1e-7;
                near += u32::from(turned > 20.0);
            }
        }
        // a cap of the half-angle 0.1 about one direction: 0.0025 of the sphere
        assert!(near < 3 * 200_000 / 300, "{near}");
    }
}
