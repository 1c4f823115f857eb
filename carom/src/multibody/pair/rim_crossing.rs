//! An edge of a flat face across the rim of a flat end, or two rims across each other: where the outlines of two flat
//! faces cross that lie on each other.
//!
//! ```text
//!     r = b(t) − a(s):    r·a' = 0,  r·b' = 0,     n = ±a' × b'/|a' × b'|,    gap = n·r                            (1)
//! ```
//!
//! Seen along the axis of a rim an edge crosses it twice, and so does another rim. Newton's method for (1) begins
//! there.

use super::geometry::{NOTHING, across, tangent};
use super::shape::Triple;
use super::{Cylinder, Touch, bulk::circle_axes};
use crate::elementary::atan2;
use crate::elementary::dual::sin_cos;
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Newton's steps: few are needed where the faces lie on each other, and only there a crossing counts.
const STEPS: usize = 8;

/// Sine of the angle by which a normal may leave the wedge of an outline.
const WEDGE: f64 = 0.1;

/// Least sine of the angle of outlines that cross.
const ACROSS: f64 = 0.02;

/// An edge, or a rim of a cylinder.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outline {
    /// The middle of an edge, its direction, half its length, and directions into its faces.
    Edge { at: Triple, direction: Triple, half: f64, inward: [Triple; 2] },
    /// A rim as a disc whose axis goes out of the cylinder.
    Rim(Cylinder),
}

impl Outline {
    /// Point, first and second derivative.
    fn at<T: Scalar>(&self, frame: &Frame<T>, p: T) -> [Vector<T>; 3] {
        match *self {
            Outline::Edge { at, direction, .. } => {
                let d = frame.direction(direction);
                [frame.point(at) + d * p, d, Vector::zero()]
            }
            Outline::Rim(disc) => {
                let [e, f]: [Vector<T>; 2] =
                    circle_axes(disc.axis).map(|axis| frame.direction(axis.map(|x| x * disc.radius)));
                let (sin, cos) = sin_cos(p);
                let out = e * cos + f * sin;
                [frame.point(disc.centre) + out, f * cos - e * sin, -out]
            }
        }
    }

    /// The number of the point of a rim in this direction.
    fn angle(disc: &Cylinder, frame: &Frame, out: Vector) -> f64 {
        let [e, f] = circle_axes(disc.axis).map(|axis| frame.direction(axis).dot(out));
        atan2(f, e)
    }
}

/// Where the first outline crosses the rim, seen along the axis of the rim: numbers of the points; by how much the
/// outlines miss each other where they do not cross.
fn start((first, rim): (&Outline, &Cylinder), second: bool, (a, b): (&Frame, &Frame)) -> Result<[f64; 2], f64> {
    let way = if second { 1.0 } else { -1.0 };
    let (axis, centre) = (b.direction(rim.axis), b.point(rim.centre));
    match first {
        Outline::Edge { at, direction, .. } => {
            let (w, d) = (across(a.point(*at) - centre, axis), across(a.direction(*direction), axis));
            let (square, half) = (d.square().max(NOTHING), w.dot(d));
            let root = half * half - square * (w.square() - rim.radius * rim.radius);
            if root < 0.0 {
                return Err((w - d * (half / square)).length() - rim.radius);
            }
            let s = (way * root.sqrt() - half) / square;
            Ok([s, Outline::angle(rim, b, w + d * s)])
        }
        Outline::Rim(disc) => {
            let w = across(a.point(disc.centre) - centre, axis);
            let (far, [r, s]) = (w.length(), [rim.radius, disc.radius]);
            if far > r + s || far < (r - s).abs() || far == 0.0 {
                return Err((far - r - s).max((r - s).abs() - far).max(f64::MIN_POSITIVE));
            }
            let x = (far * far + r * r - s * s) / (2.0 * far);
            let y = (r * r - x * x).max(0.0).sqrt();
            let along = w * (1.0 / far);
            let out = along * x + axis.cross(along) * (way * y);
            Ok([Outline::angle(disc, a, out - w), Outline::angle(rim, b, out)])
        }
    }
}

/// The outline on body a against the rim on body b: the first or the second crossing.
pub(super) fn touch_outlines<T: Scalar>(
    pair: (&Outline, &Cylinder),
    second: bool,
    (a, b): (&Frame<T>, &Frame<T>),
) -> (Touch<T>, [f64; 2]) {
    let value = |frame: &Frame<T>| Frame { centre: frame.centre.values(), axes: frame.axes.map(Vector::values) };
    let mut p = start(pair, second, (&value(a), &value(b))).unwrap_or_default().map(T::from);
    let rim = Outline::Rim(*pair.1);
    let outlines = |p: [T; 2]| {
        let ([x, da, dda], [y, db, ddb]) = (pair.0.at(a, p[0]), rim.at(b, p[1]));
        ((x, y), (b.centre - a.centre) + ((y - b.centre) - (x - a.centre)), [da, db], [dda, ddb])
    };
    for _ in 0..STEPS + T::NDERIV {
        let (_, r, [da, db], [dda, ddb]) = outlines(p);
        let g = [r.dot(da), r.dot(db)];
        let j = [[r.dot(dda) - da.square(), db.dot(da)], [-da.dot(db), db.square() + r.dot(ddb)]];
        let det = j[0][0] * j[1][1] - j[0][1] * j[1][0];
        if det.re().abs() < NOTHING {
            break;
        }
        p[0] -= (g[0] * j[1][1] - g[1] * j[0][1]) / det;
        p[1] -= (g[1] * j[0][0] - g[0] * j[1][0]) / det;
    }
    let ((x, y), r, [da, db], _) = outlines(p);
    let c = da.cross(db);
    let out: Vector<T> = b.direction(pair.1.axis);
    let way = if c.dot(out).re() > 0.0 { -1.0 } else { 1.0 };
    let square = c.square();
    let normal = match square.re() > NOTHING {
        true => c * (square.sqrt().recip() * way),
        false => -out,
    };
    (Touch { gap: normal.dot(r), normal, on_a: x, on_b: y, tangent: tangent(normal) }, p.map(|p| p.re()))
}

/// Not negative where the outlines cross and the normal is one of both.
/// Faces that are deeper in each other than `deep` are those of far sides.
pub(super) fn outlines_region(pair: (&Outline, &Cylinder), second: bool, deep: f64, frames: (&Frame, &Frame)) -> f64 {
    if let Err(miss) = start(pair, second, frames) {
        return -miss;
    }
    let (Touch { normal, gap, on_a, on_b, .. }, p) = touch_outlines(pair, second, frames);
    let (a, b) = frames;
    let size = pair.1.radius;
    let [x, along, _] = pair.0.at(a, p[0]);
    let [y, around, _] = Outline::Rim(*pair.1).at(b, p[1]);
    let tangents = [along, around].map(|d| d * d.length().recip());
    // (1) holds, or Newton's method has lost its way
    let left = tangents.into_iter().map(|d| d.dot(on_b - on_a).abs()).fold(0.0, f64::max);
    let angle = tangents[0].cross(tangents[1]).length() - ACROSS;
    // the normal is in the wedges of both outlines
    let wedge = |disc: &Cylinder, frame: &Frame, at: Vector, normal: Vector| {
        let out = (at - frame.point(disc.centre)) * (1.0 / disc.radius);
        normal.dot(frame.direction(disc.axis)).min(normal.dot(out)) + WEDGE
    };
    let inside = match pair.0 {
        Outline::Edge { half, inward, .. } => {
            let out = inward.map(|w| WEDGE - normal.dot(a.direction(w))).into_iter().fold(f64::INFINITY, f64::min);
            (half - p[0].abs()).min(out * size)
        }
        Outline::Rim(disc) => wedge(disc, a, x, normal) * size,
    };
    let other = wedge(pair.1, b, y, -normal);
    inside.min(other.min(angle) * size).min(gap + deep).min(1e-13 * size - left)
}
