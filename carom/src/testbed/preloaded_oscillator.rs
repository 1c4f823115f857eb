//! Damped linear oscillator pressed against a wall by a constant force [acary2009].
//! ```text
//!     m v̇ + c v + k q + f = p,   0 <= q ⊥ p >= 0,   v⁺ = -e v⁻ at impacts                                   (1)
//!     a = c/2m,   b = k/m,   g = f/m,   S̈ + 2a Ṡ + b S = 0,  S(0) = 0,  Ṡ(0) = 1,   D = ∫₀ S                   (2)
//!     free arc q = q₀ (1 - b D) + v₀ S - g D,   v = v₀ Ṡ - (b q₀ + g) S,   top at S/Ṡ = v₀/(b q₀ + g)            (3)
//!     S = e^{-as} sin(ws)/w,  w² = b - a²;   s e^{-as} for w = 0;   e^{-as} sinh(κs)/κ,  κ² = a² - b              (4)
//! ```
//! The rest point lies behind the wall (or nowhere, without a spring), so that impacts accumulate (e < 1) and the mass
//! rests with p = f. Landing times are roots of (3) without a formula: they are found to rounding, for short flights by
//! the power series of q(s)/s, in which nothing cancels.

use crate::model::{Contact, Lagrangian};
use carom_solve::elementary::{atan, atanh, cos, cosh, exp, exp_m1, ln, sin, sinh};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

use super::one_degree::first_reason;
use super::{Curvature, Impact, OneDegree};

/// Flights shorter than this part of the fastest time scale of (2) are expanded in powers of s.
const SHORT: f64 = 0.3;

/// Terms of the expansion.
const TERMS: usize = 24;

/// Steps to a landing, by Newton or halving.
const ROOT: usize = 200;

/// Oscillator above a wall at q = 0, pressed against it: underdamped or overdamped, with a spring or without one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PreloadedOscillator {
    /// Mass, positive [kg].
    pub mass: f64,
    /// Damping, not negative [N s/m].
    pub damping: f64,
    /// Stiffness, not negative [N/m].
    pub stiffness: f64,
    /// Force towards the wall, positive [N].
    pub preload: f64,
    /// Newton restitution coefficient, in [0, 1] [-].
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

    /// a, b and g of (2).
    fn constants(&self) -> (f64, f64, f64) {
        (0.5 * self.damping / self.mass, self.stiffness / self.mass, self.preload / self.mass)
    }

    /// The fastest rate of (2) [1/s].
    fn rate(&self) -> f64 {
        let (a, b, _) = self.constants();
        (2.0 * a).max(b.sqrt())
    }

    /// S, Ṡ and D of (2) after a time that is not short.
    fn responses(&self, s: f64) -> (f64, f64, f64) {
        let (a, b, _) = self.constants();
        let square = b - a * a;
        let (w, apart) = (square.max(0.0).sqrt(), (-square).max(0.0).sqrt());
        // two real rates; the slow one without cancellation
        let fast = a + apart;
        let slow = b / fast;
        let (response, rate) = if apart * s > 0.5 {
            let (x, y) = (exp(-slow * s), exp(-fast * s));
            ((x - y) / (2.0 * apart), (fast * y - slow * x) / (2.0 * apart))
        } else {
            let (sine, cosine) = match (w * s, apart * s) {
                (x, _) if x > 0.0 => (sin(x) / w, cos(x)),
                (_, x) if x > 0.0 => (sinh(x) / apart, cosh(x)),
                _ => (s, 1.0),
            };
            let shrink = exp(-a * s);
            (shrink * sine, shrink * (cosine - a * sine))
        };
        let filled = |rate: f64| if rate > 0.0 { -exp_m1(-rate * s) / rate } else { s };
        let integral = if apart > 0.5 * a {
            (filled(slow) - filled(fast)) / (2.0 * apart)
        } else {
            (1.0 - rate - 2.0 * a * response) / b
        };
        (response, rate, integral)
    }

    /// q and v after time s on an arc.
    fn on_arc(&self, arc: &Arc, s: f64) -> (f64, f64) {
        if self.rate() * s < SHORT {
            return self.series(arc).at(s);
        }
        let (_, b, g) = self.constants();
        let (response, rate, integral) = self.responses(s);
        let pull = b * arc.q + g;
        (arc.q + arc.v * response - pull * integral, arc.v * rate - pull * response)
    }

    /// The power series of q(s).
    fn series(&self, arc: &Arc) -> Series {
        let (a, b, g) = self.constants();
        let rate = self.rate();
        let rate = if rate > 0.0 { rate } else { 1.0 };
        // in units of 1/rate nothing overflows
        let (a, b, g) = (a / rate, b / rate / rate, g / rate / rate);
        let mut c = [0.0; TERMS];
        (c[0], c[1]) = (arc.q, arc.v / rate);
        for n in 0..TERMS - 2 {
            let pull = b * c[n] + if n == 0 { g } else { 0.0 };
            let (next, after) = ((n + 1) as f64, (n + 2) as f64);
            c[n + 2] = -(2.0 * a * next * c[n + 1] + pull) / (next * after);
        }
        Series { rate, c }
    }

    /// Time from the start of an arc to its highest point.
    fn top(&self, arc: &Arc) -> f64 {
        if arc.v <= 0.0 {
            return 0.0;
        }
        let (a, b, g) = self.constants();
        let square = b - a * a;
        // tan(w s)/w, tanh(κ s)/κ, or s
        let all = a * arc.v + b * arc.q + g;
        let (slope, scale) = (arc.v / all, square.abs().sqrt());
        match scale * slope {
            x if x < 1e-8 => slope,
            x if square > 0.0 => atan(x) / scale,
            x if x < 0.5 => atanh(x) / scale,
            // the same with 1 - x from κ = a - b/(a + κ)
            x => 0.5 * ln((1.0 + x) * all / (arc.v * b / (a + scale) + b * arc.q + g)) / scale,
        }
    }

    /// Time from the start of an arc to its landing.
    fn landing(&self, arc: &Arc) -> f64 {
        if arc.q == 0.0 && arc.v <= 0.0 {
            return 0.0;
        }
        let (a, b, g) = self.constants();
        let series = self.series(arc);
        let mut short = 2.0 * arc.v / (g + 2.0 * a * arc.v);
        if arc.q == 0.0 && self.rate() * short < 0.5 * SHORT {
            for _ in 0..6 {
                // Newton on q(s)/s
                let (q, v) = series.at(short);
                short -= q / (v - q / short);
            }
            return short;
        }
        let top = self.top(arc);
        let (mut low, mut high) = (top, f64::INFINITY);
        if a * a < b {
            high = top + PI / (b - a * a).sqrt();
        } else {
            // it falls for ever, not faster than without damping
            let mut length = (2.0 * self.on_arc(arc, top).0.max(f64::MIN_POSITIVE) / g).sqrt();
            while high == f64::INFINITY && length < f64::MAX {
                let end = top + length;
                if self.on_arc(arc, end).0 > 0.0 {
                    low = end
                } else {
                    high = end
                }
                length *= 2.0;
            }
        }
        let mut s = 0.5 * (low + high);
        for _ in 0..ROOT {
            let (q, v) = self.on_arc(arc, s);
            if q > 0.0 {
                low = s
            } else {
                high = s
            }
            let newton = s - q / v;
            let is_inside = newton > low && newton < high;
            let next = if is_inside { newton } else { 0.5 * (low + high) };
            // the next step of Newton's method would be below rounding
            let is_found = next == s || is_inside && (next - s).abs() <= 1e-9 * s;
            s = next;
            if is_found {
                break;
            }
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
        // a motion that starts into the wall has an impact at once
        let at_once = arc.q == 0.0 && arc.v < 0.0 && v > 0.0;
        ((start > arc.start || at_once) && start.is_finite()).then_some(Arc { start, correction, q: 0.0, v, before })
    }

    fn arcs(&self) -> impl Iterator<Item = Arc> {
        let problem = *self;
        let first = Arc { start: 0.0, correction: 0.0, q: self.q0, v: self.v0, before: self.v0 };
        let first = self.refusal().is_none().then_some(first);
        std::iter::successors(first, move |arc| problem.next(arc)).take(super::MAX_JUMPS)
    }

    /// Returns q and the right-continuous v at t; NaN where there is [no exact solution](ExactSolution::refusal). The
    /// cost grows like the number of impacts before t.
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

/// A power series in rate·s.
struct Series {
    rate: f64,
    c: [f64; TERMS],
}

impl Series {
    /// Value and derivative.
    fn at(&self, s: f64) -> (f64, f64) {
        let x = self.rate * s;
        let (mut q, mut v) = (0.0, 0.0);
        for n in (1..TERMS).rev() {
            q = (q + self.c[n]) * x;
            v = v * x + n as f64 * self.c[n];
        }
        (q + self.c[0], v * self.rate)
    }
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

    fn refusal(&self) -> Option<String> {
        let Self { mass, damping, stiffness, preload, restitution, q0, v0 } = *self;
        let finite = [mass, damping, stiffness, preload, restitution, q0, v0].iter().all(|x| x.is_finite());
        let reasons = [
            (!finite, "all parameters must be finite"),
            (mass <= 0.0, "the mass must be positive"),
            (damping < 0.0, "the damping may not be negative"),
            (stiffness < 0.0, "the stiffness may not be negative"),
            (preload <= 0.0, "the preload must be positive; without one it is the `linear-oscillator`"),
            (!(0.0..=1.0).contains(&restitution), "the restitution must be between 0 and 1"),
            (q0 < 0.0, "the start is behind the wall"),
        ];
        first_reason(&reasons)
    }

    fn bounds(&self, _from: f64, _to: f64) -> Option<Curvature> {
        // the energy does not grow: it bounds v and b q + g, these bound v̇ and v̈
        let (a, b, g) = self.constants();
        let square = self.v0 * self.v0 + self.q0 * (b * self.q0 + 2.0 * g);
        let (v, pull) = (square.sqrt(), (g * g + b * square).sqrt());
        let position = 2.0 * a * v + pull;
        Some(Curvature { position, velocity: 2.0 * a * position + b * v })
    }
}

#[cfg(test)]
mod tests;
