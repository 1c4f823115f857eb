//! Harmonically forced oscillator with a wall: the impact oscillator, by events with the flow in closed form [nqi2016].
//! ```text
//!     ü + 2 α u̇ + u = a cos ωt,   u ≥ u_min,   v⁺ = −e v⁻ at impacts                                             (1)
//!     u(t₀+s) = p(t₀+s) + e^{−αs} (A cos ws + B sin ws),   w = √(1−α²),   p = c cos ωt + d sin ωt                (2)
//!     c = a (1−ω²)/D,   d = 2αω a/D,   D = (1−ω²)² + 4α²ω²,   A = u₀ − p,   B = (v₀ − ṗ + αA)/w                  (3)
//! ```
//! Impacts are roots of (2), bracketed on a grid on which also minima between two grid points are looked at, and found
//! to rounding; from the wall the power series of (u − u_min)/s is used, in which the root s = 0 is gone and nothing
//! cancels. Impacts that accumulate are followed until the rebound is below `stick_speed`; then the mass rests while
//! the force a cos ωt − u_min presses it to the wall.

use crate::model::{Contact, Lagrangian};
use carom_solve::elementary::{acos, cos, exp, hypot, sin, sin_cos};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

use super::{Curvature, Impact, OneDegree};

/// Terms of the power series.
const TERMS: usize = 24;

/// Longest step of the search for roots [s]; shorter for fast forcing.
const SEARCH: f64 = 0.05;

/// Force that presses the mass to the wall counts from this part of the amplitude on.
const PRESSES: f64 = 1e-10;

/// The oscillator with unit mass and stiffness.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImpactOscillator {
    /// α: half the damping, in [0, 1) [1/s].
    pub damping: f64,
    /// a: amplitude of the force [N].
    pub amplitude: f64,
    /// ω: its angular frequency, positive [rad/s].
    pub frequency: f64,
    /// u_min: place of the wall [m].
    pub wall: f64,
    /// Newton restitution coefficient, in [0, 1] [-].
    pub restitution: f64,
    /// Initial position, at or above the wall [m].
    pub q0: f64,
    /// Initial velocity [m/s].
    pub v0: f64,
}

impl Default for ImpactOscillator {
    fn default() -> Self {
        Self { damping: 0.05, amplitude: 1.0, frequency: 2.5, wall: -0.1, restitution: 0.7, q0: 0.5, v0: 0.0 }
    }
}

/// What ends a part of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Occurrence {
    /// The time that was asked for.
    End,
    /// The mass strikes the wall.
    Impact(Impact),
    /// The mass comes to rest on the wall.
    Stick,
    /// The force lifts it off again.
    LiftOff,
}

/// A motion that goes from event to event.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    problem: ImpactOscillator,
    /// Time [s].
    pub t: f64,
    /// Position [m].
    pub u: f64,
    /// Velocity [m/s].
    pub v: f64,
    /// Whether the mass rests on the wall.
    pub rests: bool,
    /// A rebound at most this fast is none [m/s].
    pub stick_speed: f64,
}

impl ImpactOscillator {
    /// The same problem as a model, to be simulated.
    pub fn model(&self) -> Lagrangian {
        let Self { damping, amplitude, frequency, wall, .. } = *self;
        Lagrangian::new(1)
            .constant_mass(&[1.0])
            .force(move |t, q, v, f| f[0] = amplitude * cos(frequency * t) - 2.0 * damping * v[0] - q[0])
            .tangents(move |_, _, _, k, c| (k[0], c[0]) = (1.0, 2.0 * damping))
            .contact(
                Contact::new("wall", move |_, q| q[0] - wall)
                    .gradient(|_, _, row| row[0] = 1.0)
                    .restitution(self.restitution),
            )
            .initial(&[self.q0], &[self.v0])
            .linear()
    }

    /// The motion from the initial state.
    pub fn motion(&self) -> Motion {
        self.motion_from(0.0, self.q0, self.v0)
    }

    /// The motion from another state.
    pub fn motion_from(&self, t: f64, u: f64, v: f64) -> Motion {
        Motion { problem: *self, t, u, v, rests: false, stick_speed: 1e-9 }
    }

    /// Period of the force [s].
    pub fn period(&self) -> f64 {
        TAU / self.frequency
    }

    /// Amplitude of the response without wall [m]; a wall at its negative is grazed.
    pub fn response(&self) -> f64 {
        let (c, d) = self.forced();
        hypot(c, d)
    }

    /// c and d of (3).
    fn forced(&self) -> (f64, f64) {
        let (x, y) = (1.0 - self.frequency * self.frequency, 2.0 * self.damping * self.frequency);
        let scale = self.amplitude / (x * x + y * y);
        (x * scale, y * scale)
    }

    /// (2) and its derivative.
    fn flight(&self, (t, u, v): (f64, f64, f64), s: f64) -> (f64, f64) {
        let (al, om) = (self.damping, self.frequency);
        let w = (1.0 - al * al).sqrt();
        let (c, d) = self.forced();
        let particular = |t: f64| {
            let (sine, cosine) = sin_cos(om * t);
            (c * cosine + d * sine, om * (d * cosine - c * sine))
        };
        let ((p, dp), (q, dq)) = (particular(t), particular(t + s));
        let a = u - p;
        let b = (v - dp + al * a) / w;
        let ((sine, cosine), shrink) = (sin_cos(w * s), exp(-al * s));
        (q + shrink * (a * cosine + b * sine), dq + shrink * ((w * b - al * a) * cosine - (w * a + al * b) * sine))
    }

    /// Coefficients of u − u_min in powers of s, from the wall with velocity v.
    fn series(&self, t: f64, v: f64) -> [f64; TERMS] {
        let mut c = [0.0; TERMS];
        c[1] = v;
        let (sine, cosine) = sin_cos(self.frequency * t);
        let turn = [cosine, -sine, -cosine, sine];
        let mut scale = self.amplitude;
        for n in 0..TERMS - 2 {
            let force = scale * turn[n % 4] - if n == 0 { self.wall } else { 0.0 };
            let (next, after) = ((n + 1) as f64, (n + 2) as f64);
            c[n + 2] = (force - 2.0 * self.damping * next * c[n + 1] - c[n]) / (next * after);
            scale *= self.frequency / next;
        }
        c
    }

    /// Force on the mass at rest on the wall.
    fn pressing(&self, t: f64) -> f64 {
        self.amplitude * cos(self.frequency * t) - self.wall
    }

    /// The next time after `t` at which the force on the resting mass vanishes on its way up.
    fn lift_off(&self, t: f64) -> f64 {
        let ratio = self.wall / self.amplitude;
        if ratio >= 1.0 {
            return f64::INFINITY;
        }
        let phase = -acos(ratio.max(-1.0));
        let turns = ((self.frequency * t - phase) / TAU).floor() + 1.0;
        (phase + TAU * turns) / self.frequency
    }

    /// Returns position and right-continuous velocity at t. The cost grows like t.
    pub fn state_at(&self, t: f64) -> (f64, f64) {
        let mut motion = self.motion();
        while motion.t < t {
            if motion.next(t) == Occurrence::End {
                break;
            }
        }
        (motion.u, motion.v)
    }

    /// Lists impacts with time <= `until`.
    pub fn impacts(&self, until: f64) -> impl Iterator<Item = Impact> {
        let mut motion = self.motion();
        std::iter::from_fn(move || {
            loop {
                match motion.next(until) {
                    Occurrence::End => return None,
                    Occurrence::Impact(impact) => return Some(impact),
                    _ => {}
                }
            }
        })
    }
}

impl Motion {
    /// Moves to the next event, at most to `until`.
    pub fn next(&mut self, until: f64) -> Occurrence {
        let problem = self.problem;
        if self.t >= until || until.is_nan() {
            return Occurrence::End;
        }
        if self.rests {
            let lift = problem.lift_off(self.t);
            self.t = lift.min(until);
            self.rests = lift > until;
            return if self.rests { Occurrence::End } else { Occurrence::LiftOff };
        }
        let at_wall = self.u <= problem.wall;
        // near lift-off the force is rounding: it presses on its way down only
        let force = problem.pressing(self.t);
        let falls = problem.amplitude * sin(problem.frequency * self.t) > 0.0;
        let presses = force < -PRESSES * problem.amplitude.abs() || (force <= 0.0 && falls);
        if at_wall && (0.0..=self.stick_speed).contains(&self.v) && presses {
            (self.u, self.v, self.rests) = (problem.wall, 0.0, true);
            return Occurrence::Stick;
        }
        if at_wall && self.v < 0.0 {
            return self.strike(self.v);
        }
        match self.root(until - self.t) {
            Some((s, v)) => {
                self.t += s;
                self.u = problem.wall;
                self.strike(v.min(0.0))
            }
            None => {
                (self.u, self.v) = problem.flight((self.t, self.u, self.v), until - self.t);
                self.t = until;
                Occurrence::End
            }
        }
    }

    /// Moves on to `until` and counts impacts and rests.
    pub fn advance(&mut self, until: f64) -> (u64, u64) {
        let (mut impacts, mut sticks) = (0, 0);
        loop {
            match self.next(until) {
                Occurrence::End => return (impacts, sticks),
                Occurrence::Impact(_) => impacts += 1,
                Occurrence::Stick => sticks += 1,
                Occurrence::LiftOff => {}
            }
        }
    }

    fn strike(&mut self, before: f64) -> Occurrence {
        self.v = -self.problem.restitution * before;
        Occurrence::Impact(Impact { time: self.t, before, after: self.v })
    }

    /// The first root of u − u_min in (0, length], and the velocity there.
    fn root(&self, length: f64) -> Option<(f64, f64)> {
        let problem = &self.problem;
        let (start, wall) = ((self.t, self.u, self.v), problem.wall);
        let grid = SEARCH * (3.0 / problem.frequency.max(3.0));
        let mut left = 0.0;
        if self.u <= wall {
            let mut c = problem.series(self.t, self.v);
            if self.v <= self.stick_speed && c[2].abs() <= PRESSES * problem.amplitude.abs() {
                // lift-off: the force is zero up to rounding and rises
                c[2] = c[2].max(0.0);
            }
            let first = grid.min(length);
            // the gap divided by s, and its slope
            let quotient = |s: f64| {
                let (mut y, mut slope) = (0.0, 0.0);
                for n in (1..TERMS).rev() {
                    slope = slope * s + y;
                    y = y * s + c[n];
                }
                (y, slope)
            };
            let mut a = 0.0;
            for k in 1..=8 {
                let b = first * f64::from(k) / 8.0;
                if let Some(s) = crossing(&quotient, a, b) {
                    let v = (1..TERMS).rev().fold(0.0, |v, n| v * s + n as f64 * c[n]);
                    return Some((s, v));
                }
                a = b;
            }
            left = first;
        }
        let gap = |s: f64| {
            let (u, v) = problem.flight(start, s);
            (u - wall, v)
        };
        while left < length {
            let right = (left + grid).min(length);
            if let Some(s) = crossing(&gap, left, right) {
                return Some((s, gap(s).1));
            }
            left = right;
        }
        None
    }
}

/// The first place in (a, b] where a function, given with its slope, falls to zero: a change of sign, or a minimum
/// below zero.
fn crossing(f: &impl Fn(f64) -> (f64, f64), a: f64, b: f64) -> Option<f64> {
    let ((_, slope_a), (value_b, slope_b)) = (f(a), f(b));
    if value_b < 0.0 {
        return Some(bisect(&|s| f(s).0, a, b));
    }
    if slope_a < 0.0 && slope_b > 0.0 {
        let lowest = bisect(&|s| -f(s).1, a, b);
        if f(lowest).0 < 0.0 {
            return Some(bisect(&|s| f(s).0, a, lowest));
        }
    }
    None
}

/// A place in (a, b] where a function that is negative at b changes its sign, to rounding: regula falsi (Illinois)
/// inside a bracket.
fn bisect(f: &impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (a, b);
    let (mut at_low, mut at_high) = (f(a).max(0.0), f(b));
    let mut side = 0;
    for k in 0..200 {
        let secant = (low * at_high - high * at_low) / (at_high - at_low);
        let s = if k % 8 != 7 && secant > low && secant < high { secant } else { 0.5 * (low + high) };
        if s <= low || s >= high {
            break;
        }
        let value = f(s);
        if value < 0.0 {
            (high, at_high) = (s, value);
            if side == 1 {
                at_low *= 0.5;
            }
            side = 1;
        } else {
            (low, at_low) = (s, value);
            if side == -1 {
                at_high *= 0.5;
            }
            side = -1;
        }
        if value == 0.0 || high - low <= f64::EPSILON * high {
            break;
        }
    }
    if low > a && at_low == 0.0 { low } else { high }
}

impl OneDegree for ImpactOscillator {
    const NAME: &'static str = "impact-oscillator";
    const CITATION: &'static str = "nqi2016";

    fn state(&self, t: f64) -> (f64, f64) {
        self.state_at(t)
    }

    fn strikes(&self, until: f64) -> impl Iterator<Item = Impact> {
        self.impacts(until)
    }

    fn bounds(&self, _from: f64, to: f64) -> Option<Curvature> {
        // the energy grows at most by the work of the force: √2E ≤ √2E₀ + a t, impacts take from it
        let reach = hypot(self.q0, self.v0) + self.amplitude.abs() * to;
        let position = self.amplitude.abs() + reach * (1.0 + 2.0 * self.damping);
        let velocity = self.amplitude.abs() * self.frequency + reach + 2.0 * self.damping * position;
        Some(Curvature { position, velocity })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Check O17.
    #[test]
    fn reference_values_of_case_p1() {
        let p1 = ImpactOscillator::default();
        let expected = [
            (1.799909078097, -1.078796454786),
            (4.967283364699, -1.093839597857),
            (8.142430374597, -0.214863275565),
            (8.883431973588, -0.282394777655),
            (9.597636340427, -0.017704662401),
        ];
        let impacts: Vec<Impact> = p1.impacts(10.0).collect();
        assert_eq!(impacts.len(), expected.len());
        for (impact, (t, v)) in impacts.iter().zip(expected) {
            assert!((impact.time - t).abs() < 1e-10 && (impact.before - v).abs() < 1e-10, "{impact:?}");
        }
        for (t, u, v) in [(6.0, 0.861127194379, 0.582491737609), (12.0, 0.230033687773, -0.755527559465)] {
            let state = p1.state_at(t);
            assert!((state.0 - u).abs() < 1e-10 && (state.1 - v).abs() < 1e-10, "{t}: {state:?}");
        }
    }

    /// Velocities and accelerations by central differences satisfy (1).
    #[test]
    fn flights_satisfy_the_equation() {
        let p = ImpactOscillator { damping: 0.3, frequency: 1.7, ..ImpactOscillator::default() };
        let (start, d) = ((0.4, 0.8, -0.3), 1e-4);
        for k in 1..40 {
            let s = 0.1 * f64::from(k);
            let ((left, u, right), v) =
                ((p.flight(start, s - d).0, p.flight(start, s).0, p.flight(start, s + d).0), p.flight(start, s).1);
            let second = (right - 2.0 * u + left) / (d * d);
            assert!(((right - left) / (2.0 * d) - v).abs() < 1e-7);
            assert!((second + 0.6 * v + u - (1.7 * (0.4 + s)).cos()).abs() < 1e-6, "{s}");
        }
    }

    /// From the wall the series and the closed form agree.
    #[test]
    fn short_flights_by_series() {
        let p = ImpactOscillator::default();
        let (t, v) = (0.9, 0.7);
        let c = p.series(t, v);
        for s in [1e-3, 0.01, 0.05] {
            let y = (1..TERMS).rev().fold(0.0, |y, n| (y + c[n]) * s);
            assert!((y - (p.flight((t, p.wall, v), s).0 - p.wall)).abs() < 1e-15, "{s}");
        }
    }

    /// A wall at the amplitude of the static response: the mass that rests there never leaves; a little lower it does,
    /// once per period.
    #[test]
    fn rest_and_lift_off() {
        let at_rest = |wall: f64| ImpactOscillator { wall, q0: wall, restitution: 0.5, ..ImpactOscillator::default() };
        let mut stays = at_rest(1.0).motion_from(0.3, 1.0, 0.0);
        assert_eq!(stays.advance(100.0), (0, 1));
        let mut leaves = at_rest(0.99).motion_from(0.3, 0.99, 0.0);
        let (impacts, sticks) = leaves.advance(0.3 + 10.0 * leaves.problem.period());
        assert!(sticks >= 10 && impacts < 2000, "{impacts} {sticks}");
    }

    /// om = 2.9: chatter and rest, superstable with period 4.
    #[test]
    fn chatter_ends_in_rest() {
        let p = ImpactOscillator { frequency: 2.9, wall: 0.0, ..ImpactOscillator::default() };
        let mut motion = p.motion();
        let (_, sticks) = motion.advance(400.0 * p.period());
        assert!(sticks > 50, "{sticks}");
        let (u, v) = (motion.u, motion.v);
        motion.advance(404.0 * p.period());
        assert!((motion.u - u).abs() < 1e-10 && (motion.v - v).abs() < 1e-10);
    }
}
