//! The point of a line, a circle or an ellipsoid that is nearest to a solid shape.
//!
//! ```text
//!     points x(p) of one body, d(x) the distance from the other shape, n = ∇d:    G_i(p) = n·∂x/∂p_i = 0           (1)
//! ```
//!
//! Of one number p, (1) is found inside a bracket by Newton's steps, or by halving it where they do not shrink |G|. Of
//! two numbers (ellipsoids) Newton's steps are cut until d falls, or go along −G where the matrix of second derivatives
//! is not positive definite. Derivatives by the positions follow from steps of Newton over dual numbers, one for each
//! order. By (1) the rate of the gap is n·u.

use super::bulk::{Bulk, OVERLAP, SECTORS};
use super::geometry::tangent_of;
use super::shape::Triple;
use super::{Ellipsoid, Touch};
use crate::elementary::dual::sin_cos;
use crate::elementary::hypot;
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};
use num_dual::Dual64;
use std::f64::consts::TAU;

/// Most steps of a search.
const STEPS: u32 = 100;

/// Pieces of a range that are looked at first.
const PIECES: usize = 4;

/// |G| of a unit number above which a place is at a kink of the distance, inside the other shape, and not the nearest.
const KINK: f64 = 1e-6;

/// Bend of the distance along a curve, as part of that of a sphere of the size of the curve, below which no point of it
/// is the nearest one.
const LEVEL: f64 = 1e-7;

/// Largest sine of the tilt with which the fixed points of a circle count.
const LYING: f64 = 0.05;

/// Points of a shape, in axes of its body; with a radius they are the centres of balls.
#[derive(Clone, Copy, Debug)]
pub(super) enum Carrier {
    /// One point; of a circle with this axis it counts where the circle lies flat on the other shape.
    Point { at: Triple, flat: Option<Triple>, radius: f64 },
    /// A line, with or without its ends.
    Line { at: Triple, direction: Triple, half: f64, radius: f64, has_ends: bool },
    /// A part of a line on one side of the foot of the centre of the other shape.
    Half { at: Triple, direction: Triple, half: f64, ahead: bool },
    /// A part of a circle.
    Arc { centre: Triple, axes: [Triple; 2], circle: f64, range: [f64; 2], radius: f64 },
    /// An ellipsoid.
    Surface(Ellipsoid),
}

/// Unit vector of a point of an ellipsoid in its own stretched axes, and two vectors normal to it and to each other.
type Chart = [Triple; 3];

/// Where on a carrier.
#[derive(Clone, Copy, Debug)]
struct Spot {
    /// Numbers of (1).
    p: [f64; 2],
    /// Of an ellipsoid, where the numbers begin.
    chart: Chart,
    /// Matrix of second derivatives (xx, xy, yy); zero where the point is a fixed one.
    bend: [f64; 3],
    /// How far inside of its range the number is; zero at the ends.
    inside: f64,
    /// |G| of a number that was found, for a number of length one.
    left: f64,
}

const FIXED: Spot = Spot { p: [0.0; 2], chart: [[0.0; 3]; 3], bend: [0.0; 3], inside: f64::INFINITY, left: 0.0 };

impl Carrier {
    /// Centre and radius of a ball around it.
    pub fn ball(&self) -> (Triple, f64) {
        match *self {
            Carrier::Point { at, radius, .. } => (at, radius),
            Carrier::Line { at, half, radius, .. } => (at, half + radius),
            Carrier::Half { at, half, .. } => (at, half),
            Carrier::Arc { centre, circle, radius, .. } => (centre, circle + radius),
            Carrier::Surface(ellipsoid) => (ellipsoid.centre, ellipsoid.half.into_iter().fold(0.0, f64::max)),
        }
    }

    fn radius(&self) -> f64 {
        match *self {
            Carrier::Point { radius, .. } | Carrier::Line { radius, .. } | Carrier::Arc { radius, .. } => radius,
            Carrier::Half { .. } | Carrier::Surface(_) => 0.0,
        }
    }

    /// A point of it and its derivatives by both numbers.
    fn at<T: Scalar>(&self, on: &Frame<T>, p: [T; 2], chart: &Chart) -> (Vector<T>, [Vector<T>; 2]) {
        match *self {
            Carrier::Point { at, .. } => (on.point(at), [Vector::zero(); 2]),
            Carrier::Line { at, direction, .. } | Carrier::Half { at, direction, .. } => {
                let d = on.direction(direction);
                (on.point(at) + d * p[0], [d, Vector::zero()])
            }
            Carrier::Arc { centre, axes, circle, .. } => {
                let [e, f]: [Vector<T>; 2] = axes.map(|axis| on.direction(axis.map(|x| x * circle)));
                let (sin, cos) = sin_cos(p[0]);
                (on.point(centre) + e * cos + f * sin, [f * cos - e * sin, Vector::zero()])
            }
            Carrier::Surface(Ellipsoid { centre, axes, half }) => {
                let [u, e, f]: [Vector<T>; 3] = chart.map(Vector::constant);
                let w = u + e * p[0] + f * p[1];
                let inverse = w.length().recip();
                let unit = w * inverse;
                let scaled = |v: Vector<T>| {
                    (0..3).fold(Vector::zero(), |sum, i| sum + on.direction(axes[i]) * (v.0[i] * half[i]))
                };
                let rate = |v: Vector<T>| scaled((v - unit * unit.dot(v)) * inverse);
                (on.point(centre) + scaled(unit), [rate(e), rate(f)])
            }
        }
    }

    /// The touch at a point and G.
    fn slope<T: Scalar>(
        &self,
        (solid, of, on): (&Bulk, &Frame<T>, &Frame<T>),
        p: [T; 2],
        chart: &Chart,
    ) -> (Touch<T>, [T; 2]) {
        let (x, rates) = self.at(on, p, chart);
        let touch = solid.distance(of, x);
        (touch, rates.map(|rate| touch.normal.dot(rate)))
    }

    /// G of one number and its derivative.
    fn bend(&self, (solid, of, on): (&Bulk, &Frame, &Frame), p: f64) -> [f64; 2] {
        let (of, on) = (lifted(of), lifted(on));
        let g = self.slope((solid, &of, &on), [Dual64::new(p, 1.0), Dual64::from(0.0)], &FIXED.chart).1[0];
        [g.re, g.eps]
    }

    /// The range of its number; of a half line by the foot of the centre of the other shape, beyond which it goes by a
    /// small part.
    fn range(&self, (solid, of, on): (&Bulk, &Frame, &Frame)) -> Option<[f64; 2]> {
        match *self {
            Carrier::Line { half, .. } => Some([-half, half]),
            Carrier::Arc { range, .. } => Some(range),
            Carrier::Half { at, direction, half, ahead } => {
                let centre = match solid {
                    Bulk::Torus(torus) => torus.centre,
                    _ => [0.0; 3],
                };
                let foot = on.direction(direction).dot(of.point(centre) - on.point(at)).clamp(-half, half);
                let over = 1e-3 * half;
                Some(if ahead { [(foot - over).max(-half), half] } else { [-half, (foot + over).min(half)] })
            }
            Carrier::Point { .. } | Carrier::Surface(_) => None,
        }
    }

    /// The nearest point.
    fn search(&self, frames: (&Bulk, &Frame, &Frame)) -> Spot {
        match self {
            Carrier::Surface(ellipsoid) => self.descend(ellipsoid, frames),
            _ => self.range(frames).map_or(FIXED, |range| self.bracketed(frames, range)),
        }
    }

    /// Of the pieces of a range in which G goes from below zero to above it, the one with the least distance is
    /// searched; without one the nearer end counts.
    fn bracketed(&self, frames: (&Bulk, &Frame, &Frame), ends: [f64; 2]) -> Spot {
        let at = |p: f64| self.slope(frames, [p, 0.0], &FIXED.chart);
        let place = |k: usize| ends[0] + (ends[1] - ends[0]) * k as f64 / PIECES as f64;
        let looks: [(f64, f64, f64); PIECES + 1] = std::array::from_fn(|k| {
            let (touch, g) = at(place(k));
            (place(k), touch.gap, g[0])
        });
        let [mut low, mut high, mut least] = [f64::NAN, f64::NAN, f64::INFINITY];
        for pair in looks.windows(2) {
            let nearest = pair[0].1.min(pair[1].1);
            if pair[0].2 < 0.0 && pair[1].2 > 0.0 && nearest < least {
                [low, high, least] = [pair[0].0, pair[1].0, nearest];
            }
        }
        if least.is_infinite() {
            let nearest = looks.iter().fold(looks[0], |best, look| if look.1 < best.1 { *look } else { best });
            return Spot { p: [nearest.0, 0.0], inside: 0.0, ..FIXED };
        }
        let mut p = 0.5 * (low + high);
        let ([mut g, mut bend], mut last) = (self.bend(frames, p), f64::INFINITY);
        for _ in 0..STEPS {
            if g < 0.0 {
                low = p
            } else {
                high = p
            }
            let newton = p - g / bend;
            let is_good = newton > low && newton < high && g.abs() < 0.5 * last;
            let next = if is_good { newton } else { 0.5 * (low + high) };
            let done = (next - p).abs() <= 2.0 * f64::EPSILON * (ends[1] - ends[0]);
            last = g.abs();
            p = next;
            [g, bend] = self.bend(frames, p);
            if done || g == 0.0 {
                break;
            }
        }
        let inside = (p - ends[0]).min(ends[1] - p);
        Spot { p: [p, 0.0], chart: FIXED.chart, bend: [bend, 0.0, 0.0], inside, left: g.abs() }
    }

    fn descend(&self, ellipsoid: &Ellipsoid, (solid, of, on): (&Bulk, &Frame, &Frame)) -> Spot {
        // begins where the ellipsoid is nearest to the half space behind the point nearest to its centre
        let first = solid.distance(of, on.point(ellipsoid.centre)).normal;
        let size = ellipsoid.half.into_iter().fold(0.0, f64::max);
        let support = |n: Vector| {
            let d = on.body_direction(n).0;
            let along: Triple =
                std::array::from_fn(|i| -ellipsoid.half[i] * (0..3).map(|j| ellipsoid.axes[i][j] * d[j]).sum::<f64>());
            chart(along)
        };
        let mut chart_now = support(first);
        let mut touch = self.slope((solid, of, on), [0.0; 2], &chart_now).0;
        let (of2, on2) = (lifted(of), lifted(on));
        let mut bend = [0.0; 3];
        for _ in 0..STEPS {
            let [zero, one] = [Dual64::from(0.0), Dual64::new(0.0, 1.0)];
            let rows = [[one, zero], [zero, one]].map(|p| self.slope((solid, &of2, &on2), p, &chart_now).1);
            let g = [rows[0][0].re, rows[0][1].re];
            bend = [rows[0][0].eps, 0.5 * (rows[0][1].eps + rows[1][0].eps), rows[1][1].eps];
            let det = bend[0] * bend[2] - bend[1] * bend[1];
            let newton = match det > 0.0 && bend[0] > 0.0 {
                true => [(bend[1] * g[1] - bend[2] * g[0]) / det, (bend[1] * g[0] - bend[0] * g[1]) / det],
                false => g.map(|g| -g / size),
            };
            let length = hypot(newton[0], newton[1]);
            if length.is_nan() || length <= 4.0 * f64::EPSILON {
                break;
            }
            let mut part = (0.5 / length).min(1.0);
            let promised = g[0] * newton[0] + g[1] * newton[1];
            let mut moved = false;
            for _ in 0..50 {
                let [u, e, f] = chart_now;
                let next = chart(std::array::from_fn(|i| u[i] + part * (newton[0] * e[i] + newton[1] * f[i])));
                let there = self.slope((solid, of, on), [0.0; 2], &next).0;
                // changes below rounding cannot be told from a fall
                let noise = 8.0 * f64::EPSILON * (size + touch.gap.abs());
                if there.gap <= touch.gap + 1e-4 * part * promised + noise {
                    (chart_now, touch, moved) = (next, there, true);
                    break;
                }
                part *= 0.5;
            }
            if !moved || part == 1.0 && length < 1e-14 {
                break;
            }
        }
        Spot { p: [0.0; 2], chart: chart_now, bend, inside: f64::INFINITY, left: 0.0 }
    }

    /// The touch of the solid shape, which is on the first body, and of the nearest point.
    pub fn touch<T: Scalar>(&self, solid: &Bulk, (of, on): (&Frame<T>, &Frame<T>)) -> Touch<T> {
        // from the centre of the first body, so that nothing is lost far away from the origin
        let near =
            (&Frame { centre: Vector::zero(), axes: of.axes }, &Frame { centre: on.centre - of.centre, axes: on.axes });
        let spot = self.search((solid, &value(near.0), &value(near.1)));
        let mut p = spot.p.map(T::from);
        let [xx, xy, yy] = spot.bend;
        let det = xx * yy - xy * xy;
        for _ in 0..T::NDERIV {
            let g = self.slope((solid, near.0, near.1), p, &spot.chart).1;
            match self {
                Carrier::Surface(_) if det > 0.0 => {
                    p[0] -= (g[0] * yy - g[1] * xy) / det;
                    p[1] -= (g[1] * xx - g[0] * xy) / det;
                }
                Carrier::Line { .. } | Carrier::Half { .. } | Carrier::Arc { .. } if xx > 0.0 => p[0] -= g[0] / xx,
                _ => {}
            }
        }
        let (x, _) = self.at(near.1, p, &spot.chart);
        let touch = solid.distance(near.0, x);
        let radius = self.radius();
        let on_b = x - touch.normal * T::from(radius);
        Touch { gap: touch.gap - radius, on_a: touch.on_a + of.centre, on_b: on_b + of.centre, ..touch }
    }

    /// Not negative where the place counts.
    pub fn region(&self, solid: &Bulk, (of, on): (&Frame, &Frame)) -> f64 {
        match *self {
            Carrier::Point { flat: None, .. } | Carrier::Surface(_) | Carrier::Line { has_ends: true, .. } => {
                f64::INFINITY
            }
            Carrier::Point { at, flat: Some(axis), .. } => {
                let normal = solid.distance(of, on.point(at)).normal;
                (LYING - on.direction(axis).cross(normal).length()) * solid.reach()
            }
            Carrier::Line { half, .. } | Carrier::Half { half, .. } => {
                let spot = self.search((solid, of, on));
                let smooth = (KINK - spot.left) * half;
                (spot.inside - 1e-6 * half).min((spot.bend[0] * half - LEVEL) * half).min(smooth)
            }
            Carrier::Arc { circle, .. } => {
                let spot = self.search((solid, of, on));
                let inside = spot.inside - OVERLAP * TAU / SECTORS as f64;
                (inside * circle).min(spot.bend[0] - LEVEL * circle).min(KINK * circle - spot.left)
            }
        }
    }
}

/// A unit vector along this one and two normal to it.
fn chart(along: Triple) -> Chart {
    let length = along.iter().map(|x| x * x).sum::<f64>().sqrt();
    let u = if length > 0.0 { along.map(|x| x / length) } else { [1.0, 0.0, 0.0] };
    let e = tangent_of(u);
    [u, e, Vector::<f64>(u).cross(Vector(e)).0]
}

fn lifted(frame: &Frame) -> Frame<Dual64> {
    Frame { centre: Vector::constant(frame.centre.0), axes: frame.axes.map(|axis| Vector::constant(axis.0)) }
}

pub(super) fn value<T: Scalar>(frame: &Frame<T>) -> Frame {
    Frame { centre: frame.centre.values(), axes: frame.axes.map(Vector::values) }
}
