//! Damped linear oscillator above a wall at its rest point [acary2009].
//! ```text
//!     m v̇ + c v + k q = p,   0 <= q ⊥ p >= 0,   v⁺ = -e v⁻ at impacts                             (1)
//!     a = c/2m,   w = √(k/m - a²),   free arc q = R e^{-at} sin(w (t₁ - t)),                       (2)
//!     R sin(w t₁) = q₀,   R cos(w t₁) = -(v₀ + a q₀)/w,   w t₁ in [0, π]
//!     flight n: q = (vₙ/w) e^{-as} sin(w s),  s = t - tₙ in [0, π/w),   tₙ = t₁ + n π/w            (3)
//!     v₁ = e R w e^{-a t₁},   vₙ₊₁ = e exp(-a π/w) vₙ                                              (4)
//! ```
//! All flights last π/w: impacts go on for ever with a geometric amplitude, without accumulation.

use crate::model::{Contact, Lagrangian};
use carom_solve::elementary::{atan2, exp, hypot, sin_cos};
use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::one_degree::first_reason;
use super::{Curvature, Impact, OneDegree};

/// Underdamped oscillator (c² < 4 k m) above a wall at q = 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinearOscillator {
    /// Mass, positive [kg].
    pub mass: f64,
    /// Damping, with c² < 4 k m [N s/m].
    pub damping: f64,
    /// Stiffness, positive [N/m].
    pub stiffness: f64,
    /// Newton restitution coefficient, in [0, 1] [-].
    pub restitution: f64,
    /// Initial height, not negative [m].
    pub q0: f64,
    /// Initial velocity, of either sign [m/s].
    pub v0: f64,
}

impl Default for LinearOscillator {
    fn default() -> Self {
        Self { mass: 1.0, damping: 0.5, stiffness: 4.0, restitution: 0.5, q0: 1.0, v0: 0.0 }
    }
}

/// Constants of (2)-(4).
struct Arcs {
    decay: f64,     // a [1/s]
    frequency: f64, // w [rad/s]
    radius: f64,    // R [m]
    first: f64,     // t₁ [s]
    flight: f64,    // π/w [s]
    speed: f64,     // v₁ [m/s]
    shrink: f64,    // exp(-a π/w) [-]
    ratio: f64,     // e exp(-a π/w) [-]
}

impl Arcs {
    fn of(problem: &LinearOscillator) -> Self {
        let decay = 0.5 * problem.damping / problem.mass;
        let frequency = (problem.stiffness / problem.mass - decay * decay).sqrt();
        // adding +0 turns a negative zero, which atan2 would send to the wrong side, into a positive one
        let (sine, cosine) = (problem.q0 + 0.0, -(problem.v0 + decay * problem.q0) / frequency);
        // at rest on the wall the angle is free: take a full flight
        let angle = if sine == 0.0 && cosine == 0.0 { PI } else { atan2(sine, cosine) };
        let (radius, first, flight) = (hypot(sine, cosine), angle / frequency, PI / frequency);
        let shrink = exp(-decay * flight);
        let speed = problem.restitution * radius * frequency * exp(-decay * first);
        Self { decay, frequency, radius, first, flight, speed, shrink, ratio: problem.restitution * shrink }
    }

    /// Time of impact n = 0, 1, ...
    fn time(&self, n: f64) -> f64 {
        n.mul_add(self.flight, self.first)
    }

    /// Velocity after impact n.
    fn speed(&self, n: f64) -> f64 {
        self.speed * self.ratio.powi(n as i32)
    }

    /// Velocity before impact n.
    fn before(&self, n: f64) -> f64 {
        if n == 0.0 {
            -self.radius * self.frequency * exp(-self.decay * self.first)
        } else {
            -self.shrink * self.speed(n - 1.0)
        }
    }

    /// Number of the last impact up to t, if any; the quotient is corrected so that it agrees with `time`.
    fn last(&self, t: f64) -> Option<f64> {
        let n = ((t - self.first) / self.flight).floor();
        let last = if self.time(n + 1.0) <= t {
            n + 1.0
        } else if self.time(n) > t {
            n - 1.0
        } else {
            n
        };
        (last >= 0.0).then_some(last)
    }
}

impl LinearOscillator {
    /// The same problem as a model, to be simulated.
    pub fn model(&self) -> Lagrangian {
        let (stiffness, damping) = (self.stiffness, self.damping);
        Lagrangian::new(1)
            .constant_mass(&[self.mass])
            .force(move |_, q, v, f| f[0] = -stiffness * q[0] - damping * v[0])
            .tangents(move |_, _, _, k, c| (k[0], c[0]) = (stiffness, damping))
            .potential(move |q| 0.5 * stiffness * q[0] * q[0])
            .contact(Contact::new("stop", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(self.restitution))
            .initial(&[self.q0], &[self.v0])
            .linear()
    }

    /// Returns q and the right-continuous v at t.
    pub fn state_at(&self, t: f64) -> (f64, f64) {
        let arcs = Arcs::of(self);
        let (a, w) = (arcs.decay, arcs.frequency);
        if let Some(n) = arcs.last(t) {
            let s = (t - arcs.time(n)).max(0.0);
            let (sine, cosine) = sin_cos(w * s);
            let speed = arcs.speed(n) * exp(-a * s);
            ((speed / w * sine).max(0.0), speed * (cosine - a / w * sine))
        } else {
            let (sine, cosine) = sin_cos(w * (arcs.first - t));
            let radius = arcs.radius * exp(-a * t);
            (radius * sine, -radius * (a * sine + w * cosine))
        }
    }

    /// Returns the left limit of v at t.
    pub fn velocity_before(&self, t: f64) -> f64 {
        let arcs = Arcs::of(self);
        match arcs.last(t) {
            Some(n) if arcs.time(n) == t => arcs.before(n),
            _ => self.state_at(t).1,
        }
    }

    /// Lists impacts with time <= `until`, without end if `until` is infinite. Without restitution only the first one
    /// is an impact.
    pub fn impacts(&self, until: f64) -> impl Iterator<Item = Impact> {
        let arcs = Arcs::of(self);
        let start = (arcs.first.is_finite() && arcs.flight > 0.0).then_some(0.0);
        std::iter::successors(start, |n: &f64| Some(n + 1.0))
            .map(move |n| Impact { time: arcs.time(n), before: arcs.before(n), after: arcs.speed(n) })
            .take_while(move |impact| impact.time <= until && impact.before < 0.0)
    }

    /// Impacts of the oscillator do not accumulate.
    pub fn accumulation(&self) -> Option<f64> {
        None
    }
}

impl OneDegree for LinearOscillator {
    const NAME: &'static str = "linear-oscillator";
    const CITATION: &'static str = "acary2009";

    fn state(&self, t: f64) -> (f64, f64) {
        self.state_at(t)
    }

    fn strikes(&self, until: f64) -> impl Iterator<Item = Impact> {
        self.impacts(until)
    }

    fn arriving(&self, t: f64) -> f64 {
        self.velocity_before(t)
    }

    fn refusal(&self) -> Option<String> {
        let Self { mass, damping, stiffness, restitution, q0, v0 } = *self;
        let finite = [mass, damping, stiffness, restitution, q0, v0].iter().all(|x| x.is_finite());
        let overdamped = damping * damping >= 4.0 * stiffness * mass;
        let reasons = [
            (!finite, "all parameters must be finite"),
            (mass <= 0.0, "the mass must be positive"),
            (stiffness <= 0.0, "the stiffness must be positive"),
            (overdamped, "it must be underdamped: damping² < 4 stiffness mass"),
            (restitution < 0.0, "the restitution may not be negative"),
            (q0 < 0.0, "the start is behind the wall"),
        ];
        first_reason(&reasons)
    }

    /// Every arc is the real part of a multiple of exp(λt) with |λ|² = k/m, so that |q''| <= radius k/m.
    fn bounds(&self, from: f64, _to: f64) -> Option<Curvature> {
        let arcs = Arcs::of(self);
        let shrinking = arcs.decay >= 0.0 && (0.0..=1.0).contains(&self.restitution);
        let radius = match arcs.last(from) {
            Some(n) => arcs.speed(n) / arcs.frequency,
            None => arcs.radius * exp(-arcs.decay * from),
        };
        let stiffness = self.stiffness / self.mass;
        shrinking.then(|| Curvature { position: radius * stiffness, velocity: radius * stiffness * stiffness.sqrt() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ExactSolution, runge_kutta};
    use super::*;

    #[test]
    fn default_matches_the_reference_values() {
        let problem = LinearOscillator::default();
        let (q, v) = problem.state_at(5.0);
        assert!((q - 0.033634370624).abs() < 1e-11 && (v + 0.034407309843).abs() < 1e-11);
        let (q, v) = problem.state_at(3.0);
        assert!((q - 0.106885710471).abs() < 1e-11 && (v - 0.077193702750).abs() < 1e-11);
        let impacts: Vec<Impact> = problem.impacts(5.0).collect();
        assert_eq!(impacts.len(), 3);
        assert!((impacts[0].time - 0.854766231364).abs() < 1e-11);
        assert!((impacts[0].before + 1.615194887420).abs() < 1e-11);
        assert!((impacts[1].time - impacts[0].time - 1.583213882298).abs() < 1e-11);
        assert!((impacts[2].after / impacts[1].after - 0.336569487277).abs() < 1e-11);
    }

    /// Between impacts, by another method.
    fn integrate(problem: &LinearOscillator, start: (f64, f64), duration: f64) -> (f64, f64) {
        let rate = |x: (f64, f64)| (x.1, -(problem.damping * x.1 + problem.stiffness * x.0) / problem.mass);
        runge_kutta(rate, start, duration, 2000)
    }

    #[test]
    fn arcs_solve_the_differential_equation() {
        for (q0, v0) in [(1.0, 0.0), (0.4, -2.0), (0.0, 1.5), (0.7, 3.0), (0.0, -1.0)] {
            let problem = LinearOscillator { mass: 2.0, damping: 0.9, stiffness: 7.0, restitution: 0.8, q0, v0 };
            let mut start = (0.0, (q0, v0));
            for impact in problem.impacts(12.0) {
                let (q, v) = integrate(&problem, start.1, impact.time - start.0);
                assert!(q.abs() < 1e-11 && (v - impact.before).abs() < 1e-11, "impact at {}", impact.time);
                assert!((impact.after + 0.8 * impact.before).abs() < 1e-15);
                assert_eq!(problem.state_at(impact.time), (0.0, impact.after));
                assert_eq!(problem.velocity_before(impact.time), impact.before);
                assert!(problem.state_at(impact.time.next_down()).0 < 1e-14);
                start = (impact.time, (0.0, impact.after));
            }
            let end = integrate(&problem, start.1, 12.0 - start.0);
            let (q, v) = problem.state_at(12.0);
            assert!((q - end.0).abs() < 1e-11 && (v - end.1).abs() < 1e-11);
        }
    }

    #[test]
    fn start_is_the_initial_state() {
        for (q0, v0) in [(1.0, 0.0), (0.4, -2.0), (0.0, 1.5), (-0.0, 1.5), (0.0, 0.0)] {
            let problem = LinearOscillator { q0, v0, ..Default::default() };
            let (q, v) = problem.state_at(0.0);
            assert!((q - q0).abs() < 1e-15 && (v - v0).abs() < 1e-15, "{q0} {v0}: {q} {v}");
        }
        let falling = LinearOscillator { q0: 0.0, v0: -2.0, ..Default::default() };
        let (q, v) = falling.state_at(0.0);
        assert!(q == 0.0 && (v - 1.0).abs() < 1e-15 && (falling.velocity_before(0.0) + 2.0).abs() < 1e-15);
    }

    #[test]
    fn inelastic_oscillator_has_one_impact() {
        let problem = LinearOscillator { restitution: 0.0, ..Default::default() };
        assert_eq!(problem.impacts(50.0).count(), 1);
        assert_eq!(problem.state_at(4.0), (0.0, 0.0));
    }

    #[test]
    fn curvature_bounds_second_differences() {
        let problem = LinearOscillator::default();
        for i in 0..400 {
            let (t, d) = (0.0123 * f64::from(i), 1e-4);
            if problem.impacts(t + d).any(|impact| impact.time > t - d) {
                continue;
            }
            let ((q0, v0), (q1, v1), (q2, v2)) =
                (problem.state_at(t - d), problem.state_at(t), problem.state_at(t + d));
            let bound = problem.curvature(t - d, t + d).unwrap();
            assert!((q0 - 2.0 * q1 + q2).abs() / (d * d) <= bound.position + 1e-6);
            assert!((v0 - 2.0 * v1 + v2).abs() / (d * d) <= bound.velocity + 1e-6);
        }
    }

    #[test]
    fn unreasonable_numbers_terminate() {
        for damping in [f64::NAN, f64::INFINITY, 1e9, -3.0] {
            let problem = LinearOscillator { damping, ..Default::default() };
            let _ = (problem.state_at(1.0), problem.state_at(f64::INFINITY), problem.velocity_before(f64::NAN));
            assert!(problem.jumps(0.0, f64::INFINITY, 0.0).len() <= super::super::MAX_JUMPS);
        }
    }
}
