//! Damped linear oscillator pressed against a wall by a constant force [acary2009].
//! ```text
//!     m v̇ + c v + k q + f = p,   0 <= q ⊥ p >= 0,   v⁺ = -e v⁻ at impacts                                   (1)
//!     a = c/2m,   w = √(k/m - a²),   d = f/k,   free arc y = q + d = e^{-as} (A cos ws + B sin ws)             (2)
//!     A = q₀ + d,   B = (v₀ + a A)/w;   top at tan(w s) = v₀/(w A + a B), landing within π/w after it        (3)
//! ```
//! The rest point lies behind the wall, so that impacts accumulate (e < 1) and the mass rests with p = f. Landing times
//! are roots of (2) without a formula: they are found to rounding, for short flights by the power series of q(s)/s, in
//! which nothing cancels.

use crate::model::{Contact, Lagrangian};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

use super::{Curvature, Impact, OneDegree};

/// Flights of w s below this are expanded in powers of s.
const SHORT: f64 = 0.3;

/// Terms of the expansion.
const TERMS: usize = 24;

/// Underdamped oscillator (c² < 4 k m) above a wall at q = 0, pressed against it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PreloadedOscillator {
    /// Mass, positive [kg].
    pub mass: f64,
    /// Damping, with c² < 4 k m [N s/m].
    pub damping: f64,
    /// Stiffness, positive [N/m].
    pub stiffness: f64,
    /// Force towards the wall, positive [N].
    pub preload: f64,
    /// Newton restitution coefficient, in [0, 1) [-].
    pub restitution: f64,
    /// Initial height, not negative [m].
    pub q0: f64,
    /// Initial velocity, of either sign [m/s].
    pub v0: f64,
}

impl Default for PreloadedOscillator {
    fn default() -> Self {
        Self { mass: 1.0, damping: 0.5, stiffness: 4.0, preload: 2.0, restitution: 0.5, q0: 1.0, v0: 0.0 }
    }
}

/// A free arc and the time at which it starts, as a compensated sum.
#[derive(Clone, Copy, Debug)]
struct Arc {
    start: f64,
    correction: f64,
    q: f64,
    v: f64,
    /// Velocity before the impact that starts it; the initial velocity for the first arc.
    before: f64,
}

impl PreloadedOscillator {
    /// The same problem as a model, to be simulated.
    pub fn model(&self) -> Lagrangian {
        let Self { stiffness, damping, preload, .. } = *self;
        Lagrangian::new(1)
            .constant_mass(&[self.mass])
            .force(move |_, q, v, f| f[0] = -stiffness * q[0] - damping * v[0] - preload)
            .tangents(move |_, _, _, k, c| (k[0], c[0]) = (stiffness, damping))
            .potential(move |q| q[0] * (0.5 * stiffness * q[0] + preload))
            .contact(Contact::new("stop", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(self.restitution))
            .initial(&[self.q0], &[self.v0])
            .linear()
    }

    /// a, w and d of (2).
    fn constants(&self) -> (f64, f64, f64) {
        let a = 0.5 * self.damping / self.mass;
        (a, (self.stiffness / self.mass - a * a).sqrt(), self.preload / self.stiffness)
    }

    /// q and v after time s on an arc.
    fn on_arc(&self, arc: &Arc, s: f64) -> (f64, f64) {
        let (a, w, d) = self.constants();
        if arc.q == 0.0 && w * s.abs() < SHORT {
            return sum(&self.series(arc.v), s);
        }
        let (y, shrink) = (arc.q + d, (-a * s).exp());
        let b = (arc.v + a * y) / w;
        let (sine, cosine) = (w * s).sin_cos();
        (shrink * (y * cosine + b * sine) - d, shrink * (arc.v * cosine - (w * y + a * b) * sine))
    }

    /// Coefficients of q(s) for q(0) = 0, v(0) = v.
    fn series(&self, v: f64) -> [f64; TERMS] {
        let (a, w, d) = self.constants();
        let mut c = [0.0; TERMS];
        c[1] = v;
        for n in 0..TERMS - 2 {
            let y = c[n] + if n == 0 { d } else { 0.0 };
            let (next, after) = ((n + 1) as f64, (n + 2) as f64);
            c[n + 2] = -(2.0 * a * next * c[n + 1] + (w * w + a * a) * y) / (next * after);
        }
        c
    }

    /// Time from the start of an arc to its landing.
    fn landing(&self, arc: &Arc) -> f64 {
        let (a, w, d) = self.constants();
        let series = self.series(arc.v);
        let mut short = -arc.v / series[2];
        if arc.q == 0.0 && w * short < 0.5 * SHORT {
            for _ in 0..6 {
                // Newton on q(s)/s
                let (q, v) = sum(&series, short);
                short -= q / (v - q / short);
            }
            return short;
        }
        let y = arc.q + d;
        let b = (arc.v + a * y) / w;
        let top = if arc.v > 0.0 { arc.v.atan2(w * y + a * b) / w } else { 0.0 };
        let (mut low, mut high) = (top, top + PI / w);
        for _ in 0..8 {
            let middle = 0.5 * (low + high);
            if self.on_arc(arc, middle).0 > 0.0 { low = middle } else { high = middle }
        }
        let mut s = 0.5 * (low + high);
        for _ in 0..6 {
            let (q, v) = self.on_arc(arc, s);
            s = (s - q / v).clamp(low, high);
        }
        s
    }

    /// The arc that follows an impact; nothing once times cannot be told apart.
    fn next(&self, arc: &Arc) -> Option<Arc> {
        let s = self.landing(arc);
        let before = self.on_arc(arc, s).1;
        let length = s + arc.correction;
        let start = arc.start + length;
        let part = start - arc.start;
        let correction = (arc.start - (start - part)) + (length - part);
        let v = -self.restitution * before;
        (start > arc.start && start.is_finite()).then_some(Arc { start, correction, q: 0.0, v, before })
    }

    fn arcs(&self) -> impl Iterator<Item = Arc> {
        let problem = *self;
        let first = Arc { start: 0.0, correction: 0.0, q: self.q0, v: self.v0, before: self.v0 };
        std::iter::successors(Some(first), move |arc| problem.next(arc)).take(super::MAX_JUMPS)
    }

    /// Returns q and the right-continuous v at t. The cost grows like the number of impacts before t.
    pub fn state_at(&self, t: f64) -> (f64, f64) {
        let mut last = None;
        for arc in self.arcs() {
            if arc.start > t {
                break;
            }
            last = Some(arc);
        }
        let Some(arc) = last else { return (f64::NAN, f64::NAN) };
        let s = (t - arc.start - arc.correction).max(0.0);
        // no later arc: the mass has landed and rests, or is on its way
        if self.next(&arc).is_none() || s > self.landing(&arc) {
            return (0.0, 0.0);
        }
        let (q, v) = self.on_arc(&arc, s);
        (q.max(0.0), v)
    }

    /// Lists impacts with time <= `until`. An accumulation is followed as far as impact times can be told apart.
    pub fn impacts(&self, until: f64) -> impl Iterator<Item = Impact> {
        self.arcs()
            .skip(1)
            .map(|arc| Impact { time: arc.start, before: arc.before, after: arc.v })
            .take_while(move |impact| impact.time <= until)
    }

    /// Returns the time from which the mass rests [s].
    pub fn accumulation(&self) -> Option<f64> {
        if !(self.restitution < 1.0 && self.preload > 0.0) {
            return None;
        }
        self.arcs().last().map(|arc| arc.start)
    }
}

/// Value and derivative of a power series; short arguments need few terms.
fn sum(c: &[f64; TERMS], s: f64) -> (f64, f64) {
    let terms = if s.abs() < 1e-2 { 10 } else { TERMS };
    let (mut q, mut v) = (0.0, 0.0);
    for n in (1..terms).rev() {
        q = (q + c[n]) * s;
        v = v * s + n as f64 * c[n];
    }
    (q, v)
}

impl OneDegree for PreloadedOscillator {
    const NAME: &'static str = "preloaded-oscillator";
    const CITATION: &'static str = "acary2009";

    fn state(&self, t: f64) -> (f64, f64) {
        self.state_at(t)
    }

    fn strikes(&self, until: f64) -> impl Iterator<Item = Impact> {
        self.impacts(until)
    }

    fn accumulates(&self) -> Option<f64> {
        PreloadedOscillator::accumulation(self).filter(|_| self.restitution > 0.0)
    }

    fn bounds(&self, _from: f64, _to: f64) -> Option<Curvature> {
        // energy about the rest point bounds y and v, these bound v̇ and v̈
        let (_, _, d) = self.constants();
        let (k, c) = (self.stiffness / self.mass, self.damping / self.mass);
        let energy = k * (self.q0 + d) * (self.q0 + d) + self.v0 * self.v0;
        let (y, v) = ((energy / k).sqrt(), energy.sqrt());
        let position = k * y + c * v;
        Some(Curvature { position, velocity: k * v + c * position })
    }
}

#[cfg(test)]
mod tests {
    use super::super::BouncingBall;
    use super::*;

    /// v̇ by central differences of v satisfies (1) inside flights, and q̇ = v.
    #[test]
    fn flights_satisfy_the_equation() {
        let o = PreloadedOscillator::default();
        let impacts: Vec<Impact> = o.impacts(f64::INFINITY).collect();
        assert!(impacts.len() > 30, "{}", impacts.len());
        let d = 1e-5;
        for k in 1..400 {
            let t = 4e-3 * f64::from(k);
            let clear = impacts.iter().all(|impact| (impact.time - t).abs() > 2.0 * d);
            if !clear || t > impacts[6].time {
                continue;
            }
            let ((q, v), (left, right)) = (o.state_at(t), (o.state_at(t - d), o.state_at(t + d)));
            let slope = (right.1 - left.1) / (2.0 * d);
            assert!((slope + 4.0 * q + 0.5 * v + 2.0).abs() < 1e-8, "t = {t}");
            assert!(((right.0 - left.0) / (2.0 * d) - v).abs() < 1e-8);
        }
    }

    #[test]
    fn impacts_land_on_the_wall_and_follow_the_law() {
        let o = PreloadedOscillator::default();
        for impact in o.impacts(f64::INFINITY).take(20) {
            let (q, v) = o.state_at(impact.time);
            assert!(q.abs() < 1e-15 && (v - impact.after).abs() < 1e-14, "{impact:?}");
            assert!(impact.before < 0.0 && (impact.after + 0.5 * impact.before).abs() < 1e-16);
        }
        let rest = o.accumulation().unwrap();
        assert_eq!(o.state_at(rest + 1e-9), (0.0, 0.0));
        // near the end flights are those of a ball under the preload: 2v/(f/m) each, halving
        let late: Vec<Impact> = o.impacts(f64::INFINITY).skip(20).take(2).collect();
        let flight = late[1].time - late[0].time;
        assert!((flight / late[0].after - 1.0).abs() < 1e-5, "{flight}");
        assert!((rest - late[0].time - 2.0 * flight).abs() < 1e-5 * flight);
    }

    /// A soft spring under a large preload is a ball.
    #[test]
    fn tends_to_the_bouncing_ball() {
        let soft = PreloadedOscillator { damping: 0.0, stiffness: 1e-6, ..Default::default() };
        let ball = BouncingBall::default();
        for k in 0..50 {
            let t = 0.0613 * f64::from(k);
            let ((q, _), (expected, _)) = (soft.state_at(t), ball.state_at(t));
            assert!((q - expected).abs() < 1e-5, "t = {t}: {q} {expected}");
        }
    }

    /// The two ways to find a landing agree where both hold.
    #[test]
    fn short_and_long_flights_agree() {
        let o = PreloadedOscillator::default();
        let (_, w, _) = o.constants();
        for v in [0.05, 0.1, 0.14] {
            let arc = Arc { start: 0.0, correction: 0.0, q: 0.0, v, before: 0.0 };
            let s = o.landing(&arc);
            assert!(w * s < SHORT);
            // the closed form at the same time
            let (a, w, d) = o.constants();
            let b = (v + a * d) / w;
            let y = (-a * s).exp() * (d * (w * s).cos() + b * (w * s).sin());
            assert!((y - d).abs() < 1e-15, "{v}");
        }
    }
}
