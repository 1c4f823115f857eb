//! A pin of some length in a bore: both of its rims against the wall.
//!
//! ```text
//!     c_i = offset of rim centre i, normal to the axis of the bore
//!     sphere:  gap_i = R − r − |c_i|: a sphere of the pin's radius at the rim centre                               (1)
//!     exact:   gap_i = R − max_φ |c_i + r (cos φ e + sin φ f)|,  e, f the pin's cross axes, seen along the bore    (2)
//! ```
//!
//! (1) is exact for parallel axes and sees contact too early by at most r (1 − cos tilt).

use super::geometry::{across, offset, polar, tangent_of};
use super::pin_hole::touch_hole;
use super::{Bore, Cylinder, Pair, Sphere, Touch};
use crate::elementary::dual::sin_cos;
use crate::elementary::{cos, sin};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};
use std::f64::consts::TAU;

/// How a rim is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rim {
    /// As a sphere, (1).
    #[default]
    Sphere,
    /// As the tilted circle that it is, (2).
    Exact,
}

/// Bore on body a, pin on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RimsBore {
    /// On body a.
    pub bore: Bore,
    /// On body b.
    pub pin: Cylinder,
    /// How its rims are taken.
    pub rim: Rim,
}

impl RimsBore {
    fn exact<T: Scalar>(&self, rim: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (a, b) = frames;
        let axis: Vector<T> = a.direction(self.bore.axis);
        let centre = self.pin.rim(rim);
        let first = tangent_of(self.pin.axis);
        let second = Vector::<f64>(self.pin.axis).cross(Vector(first)).0;
        let radius = T::from(self.pin.radius);
        let [e, f] = [first, second].map(|d| b.direction(d) * radius);
        let flat = Circle {
            centre: across(offset(frames, self.bore.centre, centre), axis),
            cosine: across(e, axis),
            sine: across(f, axis),
        };
        let (sin, cos) = sin_cos(flat.farthest());
        let (distance, outward) = polar(flat.at(sin, cos), || a.direction(tangent_of(self.bore.axis)));
        let on_b = b.point(centre) + e * cos + f * sin;
        let gap = -distance + self.bore.radius;
        let normal = -outward;
        Touch { gap, normal, on_a: on_b + outward * gap, on_b, tangent: normal.cross(axis) }
    }
}

impl Pair for RimsBore {
    fn places(&self) -> usize {
        2
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        match self.rim {
            Rim::Sphere => {
                let pin = Sphere { centre: self.pin.rim(place), radius: self.pin.radius };
                touch_hole(&self.bore, pin, frames)
            }
            Rim::Exact => self.exact(place, frames),
        }
    }
}

/// A circle seen along the bore: an ellipse c + a cos φ + b sin φ about the axis.
#[derive(Clone, Copy)]
struct Circle<T> {
    centre: Vector<T>,
    cosine: Vector<T>,
    sine: Vector<T>,
}

impl<T: Scalar> Circle<T> {
    fn at(&self, sin: T, cos: T) -> Vector<T> {
        self.centre + self.cosine * cos + self.sine * sin
    }

    /// First and second derivative of half of the square of the distance.
    fn slope(&self, angle: T) -> (T, T) {
        let (sin, cos) = sin_cos(angle);
        let (p, d) = (self.at(sin, cos), self.sine * cos - self.cosine * sin);
        let bend = self.centre - p;
        (p.dot(d), d.square() + p.dot(bend))
    }

    /// The angle of the point farthest from the axis: found over numbers, then Newton's steps with derivatives, each of
    /// which doubles the number of exact ones.
    fn farthest(&self) -> T {
        let plain = Circle { centre: self.centre.values(), cosine: self.cosine.values(), sine: self.sine.values() };
        let mut angle = T::from(plain.search());
        let mut exact = 0;
        while exact < T::NDERIV {
            let (slope, rate) = self.slope(angle);
            if rate.re() >= -1e-14 * self.cosine.square().re() {
                break; // any point is as far: the pin is in the middle, and the gap positive
            }
            angle -= slope / rate;
            exact = 2 * exact + 1;
        }
        angle
    }
}

impl Circle<f64> {
    fn square(&self, angle: f64) -> f64 {
        self.at(sin(angle), cos(angle)).square()
    }

    /// An ellipse has at most two points that are farther than their neighbours: the better one of those next to the
    /// best of a few points.
    fn search(&self) -> f64 {
        let start = |k: usize| TAU * k as f64 / 16.0;
        let squares: [f64; 16] = std::array::from_fn(|k| self.square(start(k)));
        let is_top = |k: &usize| squares[*k] >= squares[(*k + 1) % 16] && squares[*k] >= squares[(*k + 15) % 16];
        let better = |best: Option<f64>, angle: f64| match best {
            Some(best) if self.square(best) >= self.square(angle) => Some(best),
            _ => Some(angle),
        };
        (0..16).filter(is_top).map(|k| self.climb(start(k))).fold(None, better).unwrap_or(0.0)
    }

    /// Newton's method; a step that does not climb is halved.
    fn climb(&self, mut angle: f64) -> f64 {
        let limit = TAU / 16.0;
        for _ in 0..40 {
            let (slope, rate) = self.slope(angle);
            let mut step = if rate < 0.0 { -slope / rate } else { limit.copysign(slope) };
            step = step.clamp(-limit, limit);
            while self.square(angle + step) < self.square(angle) && step.abs() > 1e-8 {
                step *= 0.5;
            }
            angle += step;
            if step.abs() <= 1e-8 {
                break;
            }
        }
        let (slope, rate) = self.slope(angle);
        if rate < 0.0 { angle - slope / rate } else { angle }
    }
}
