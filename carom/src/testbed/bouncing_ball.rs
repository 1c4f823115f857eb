//! Bouncing ball: a mass under a constant force above a wall with Newton restitution [acary2009].
//! ```text
//!     m v̇ = f + p,   0 <= q ⊥ p >= 0,   v⁺ = -e v⁻ at impacts                                    (1)
//!     t₁ = (v₀ + √(v₀² + 2 a q₀))/a,   a = -f/m,   v₁ = e √(v₀² + 2 a q₀)                          (2)
//!     flight n: q = s (vₙ - a s/2), s = t - tₙ in [0, 2vₙ/a),   tₙ₊₁ = tₙ + 2vₙ/a,   vₙ₊₁ = e vₙ   (3)
//!     t_∞ = t₁ + 2v₁/(a (1 - e)) for e < 1: impacts accumulate, then q = v = 0                     (4)
//! ```
//! Flights are counted by iterating (3), never by a logarithm: for powers of two every number is then exact.

use crate::model::{Contact, Lagrangian};
use serde::{Deserialize, Serialize};

use super::{Curvature, Impact, OneDegree};

/// Ball above a wall at q = 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BouncingBall {
    /// Mass, positive [kg].
    pub mass: f64,
    /// Constant force, negative if it pulls to the wall [N].
    pub force: f64,
    /// Newton restitution coefficient, in [0, 1] [-].
    pub restitution: f64,
    /// Initial height, not negative [m].
    pub q0: f64,
    /// Initial velocity, of either sign [m/s].
    pub v0: f64,
}

impl Default for BouncingBall {
    fn default() -> Self {
        Self { mass: 1.0, force: -2.0, restitution: 0.5, q0: 1.0, v0: 0.0 }
    }
}

/// Flight that starts with an impact; its start is `impact.time + correction`, a compensated sum.
#[derive(Clone, Copy)]
struct Flight {
    impact: Impact,
    correction: f64,
    count: f64,
}

impl BouncingBall {
    /// The same problem as a model, to be simulated.
    pub fn model(&self) -> Lagrangian {
        let force = self.force;
        Lagrangian::new(1)
            .constant_mass(&[self.mass])
            .force(move |_, _, _, f| f[0] = force)
            .tangents(|_, _, _, k, c| (k[0], c[0]) = (0.0, 0.0))
            .potential(move |q| -force * q[0])
            .contact(
                Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(self.restitution),
            )
            .initial(&[self.q0], &[self.v0])
            .linear()
    }

    /// Returns q and the right-continuous v at t. The cost grows like the number of impacts before t.
    pub fn state_at(&self, t: f64) -> (f64, f64) {
        let Some(flight) = self.flight(t) else {
            let a = self.fall();
            return ((self.q0 + t * (self.v0 - 0.5 * a * t)).max(0.0), self.v0 - a * t);
        };
        if self.accumulation().is_some_and(|rest| t >= rest) {
            return (0.0, 0.0);
        }
        let a = self.fall();
        // at the rounded time of an impact the flight has just begun, whatever the correction says
        let elapsed = t - flight.impact.time;
        let s = if elapsed == 0.0 { 0.0 } else { (elapsed - flight.correction).max(0.0) };
        ((s * (flight.impact.after - 0.5 * a * s)).max(0.0), flight.impact.after - a * s)
    }

    /// Returns the left limit of v at t.
    pub fn velocity_before(&self, t: f64) -> f64 {
        match self.flight(t) {
            Some(flight) if flight.impact.time == t => flight.impact.before,
            _ => self.state_at(t).1,
        }
    }

    /// Lists impacts with time <= `until`. An accumulation is followed as far as impact times can be told apart.
    pub fn impacts(&self, until: f64) -> impl Iterator<Item = Impact> {
        let ball = *self;
        std::iter::successors(self.first_flight(), move |flight| ball.next_flight(flight))
            .map(|flight| flight.impact)
            .take_while(move |impact| impact.time <= until)
    }

    /// Returns the time from which the ball rests: the limit of the impact times, or the only impact if e = 0 [s].
    pub fn accumulation(&self) -> Option<f64> {
        let (a, e) = (self.fall(), self.restitution);
        let first = self.first_flight()?.impact;
        (a > 0.0 && e < 1.0).then(|| first.time + 2.0 * first.after / (a * (1.0 - e)))
    }

    /// Acceleration towards the wall, a = -f/m.
    fn fall(&self) -> f64 {
        -self.force / self.mass
    }

    /// Equation (2) without cancellation for either sign of v0 and of the force.
    fn first_flight(&self) -> Option<Flight> {
        let (a, q, v) = (self.fall(), self.q0, self.v0);
        let root = (v * v + 2.0 * a * q).sqrt();
        let time = if v > 0.0 {
            (v + root) / a
        } else if q == 0.0 {
            0.0
        } else {
            2.0 * q / (root - v)
        };
        let escapes = v > 0.0 && a <= 0.0;
        let impact = Impact { time, before: -root, after: self.restitution * root };
        (time.is_finite() && !escapes).then_some(Flight { impact, correction: 0.0, count: 0.0 })
    }

    /// Equation (3), or nothing if the ball never returns or the time does not advance any more.
    fn next_flight(&self, flight: &Flight) -> Option<Flight> {
        let duration = 2.0 * flight.impact.after / self.fall();
        let before = -flight.impact.after;
        let count = flight.count + 1.0;
        let (time, correction) = if self.restitution == 1.0 {
            (count.mul_add(duration, self.first_flight()?.impact.time), 0.0)
        } else {
            compensated_sum(flight.impact.time, duration + flight.correction)
        };
        let advances = duration > 0.0 && time > flight.impact.time && time.is_finite();
        let rests = self.accumulation().is_some_and(|rest| time >= rest);
        let impact = Impact { time, before, after: -self.restitution * before };
        (advances && !rests).then_some(Flight { impact, correction, count })
    }

    /// Finds the flight under way at t, or nothing before the first impact.
    fn flight(&self, t: f64) -> Option<Flight> {
        let mut flight = self.first_flight().filter(|first| first.impact.time <= t)?;
        if self.restitution == 1.0 {
            // flights are equal: start one before the quotient and let the loop settle the rounding
            let first = flight.impact.time;
            let duration = 2.0 * flight.impact.after / self.fall();
            let count = ((t - first) / duration).floor() - 1.0;
            if count >= 1.0 {
                let after = flight.impact.after;
                let time = count.mul_add(duration, first);
                flight = Flight { impact: Impact { time, before: -after, after }, correction: 0.0, count };
            }
        }
        while let Some(next) = self.next_flight(&flight).filter(|next| next.impact.time <= t) {
            flight = next;
        }
        Some(flight)
    }
}

/// Returns a + b rounded, and the rounding error.
fn compensated_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

impl OneDegree for BouncingBall {
    const NAME: &'static str = "bouncing-ball";
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

    fn accumulates(&self) -> Option<f64> {
        BouncingBall::accumulation(self).filter(|_| self.restitution > 0.0)
    }

    fn bounds(&self, _from: f64, _to: f64) -> Option<Curvature> {
        Some(Curvature { position: self.fall().abs(), velocity: 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::ExactSolution;
    use super::*;

    /// The formula of the paper, flight by flight, for the default parameters.
    fn published(t: f64) -> (f64, f64) {
        if t < 1.0 {
            return (1.0 - t * t, -2.0 * t);
        }
        let mut power = 1.0; // 2ⁿ
        while power < 1e15 {
            if t < 3.0 - 1.0 / power {
                let q = -(t - 3.0).powi(2) - 3.0 / power * (t - 1.0) + 2.0 / power * (3.0 - 1.0 / power);
                return (q, -2.0 * (t - 3.0) - 3.0 / power);
            }
            power *= 2.0;
        }
        (0.0, 0.0)
    }

    #[test]
    fn default_follows_the_published_formula() {
        let ball = BouncingBall::default();
        for (t, q) in [(1.25, 0.1875), (1.5, 0.25), (2.2, 0.06), (2.7, 0.01), (2.9, 9.375e-4), (3.2, 0.0)] {
            assert!((ball.state_at(t).0 - q).abs() < 1e-12, "q({t})");
        }
        for i in 0..5000 {
            let t = f64::from(i) * 1e-3 + 3.7e-5;
            let ((q, v), (expected_q, expected_v)) = (ball.state_at(t), published(t));
            assert!((q - expected_q).abs() < 4e-15 && (v - expected_v).abs() < 4e-15, "t = {t}");
        }
    }

    #[test]
    fn impacts_of_the_default_are_exact() {
        let ball = BouncingBall::default();
        let impacts: Vec<Impact> = ball.impacts(f64::INFINITY).collect();
        assert!(impacts.len() >= 50, "{}", impacts.len());
        for (n, impact) in impacts.iter().enumerate().take(45) {
            let power = 0.5_f64.powi(i32::try_from(n).unwrap());
            assert_eq!(*impact, Impact { time: 3.0 - 2.0 * power, before: -2.0 * power, after: power });
            assert_eq!(ball.state_at(impact.time), (0.0, power));
            assert_eq!(ball.velocity_before(impact.time), -2.0 * power);
        }
        assert_eq!(ball.accumulation(), Some(3.0));
        assert_eq!(ball.state_at(3.0), (0.0, 0.0));
        // a point inside the flight that starts at 3 - 2⁻³⁹, in exact arithmetic
        let u = 0.5_f64.powi(40);
        assert_eq!(ball.state_at(3.0 - 1.5 * u), (0.25 * u * u, 0.0));
        assert_eq!(ball.state_at(1e300), (0.0, 0.0));
    }

    #[test]
    fn position_is_continuous_and_velocity_jumps_by_the_law() {
        for e in [0.0, 0.1, 0.5, 0.9, 0.99, 1.0] {
            for v0 in [-3.0, 0.0, 2.0] {
                let ball = BouncingBall { mass: 2.5, force: -7.0, restitution: e, q0: 0.3, v0 };
                for impact in ball.impacts(20.0).take(200) {
                    assert!((impact.after + e * impact.before).abs() <= 1e-15 * impact.before.abs());
                    let (q, v) = ball.state_at(impact.time);
                    assert_eq!((q, v), (0.0, impact.after));
                    // one step of the float below the impact, plus the rounding of the two ends of the flight
                    let ulp = impact.time - impact.time.next_down();
                    let (left, _) = ball.state_at(impact.time.next_down());
                    assert!(left <= 3.0 * ulp * impact.before.abs() + 1e-16, "e = {e}, v0 = {v0}: {left}");
                    assert_eq!(ball.velocity_before(impact.time), impact.before);
                }
            }
        }
    }

    #[test]
    fn elastic_ball_conserves_energy_and_repeats() {
        let ball = BouncingBall { restitution: 1.0, ..Default::default() };
        assert_eq!(ball.accumulation(), None);
        for i in 0..400 {
            let t = 0.0371 * f64::from(i);
            let (q, v) = ball.state_at(t);
            assert!((0.5 * v * v + 2.0 * q - 2.0).abs() < 1e-13);
            assert!((ball.state_at(t + 2000.0).0 - q).abs() < 1e-11, "period 2, t = {t}");
        }
        assert_eq!(ball.impacts(9.5).map(|i| i.time).collect::<Vec<_>>(), [1.0, 3.0, 5.0, 7.0, 9.0]);
    }

    #[test]
    fn inelastic_ball_stays() {
        let ball = BouncingBall { restitution: 0.0, ..Default::default() };
        assert_eq!(ball.accumulation(), Some(1.0));
        assert_eq!(ball.impacts(9.0).count(), 1);
        assert_eq!((ball.velocity_before(1.0), ball.state_at(1.0)), (-2.0, (0.0, 0.0)));
        assert_eq!(ExactSolution::accumulation(&ball), None);
    }

    #[test]
    fn accumulation_is_the_limit_of_impacts() {
        for e in [0.3, 0.7, 0.95] {
            let ball = BouncingBall { restitution: e, v0: 1.0, ..Default::default() };
            let last = ball.impacts(f64::INFINITY).last().unwrap();
            let limit = ball.accumulation().unwrap();
            assert!((limit - last.time).abs() < 1e-13 * limit, "e = {e}: {} {limit}", last.time);
        }
    }

    #[test]
    fn a_ball_that_is_not_pulled_leaves() {
        let away = BouncingBall { force: 1.0, v0: 1.0, ..Default::default() };
        assert_eq!((away.impacts(1e9).count(), away.state_at(2.0)), (0, (5.0, 3.0)));
        let drifting = BouncingBall { force: 0.0, v0: -0.5, ..Default::default() };
        assert_eq!(drifting.impacts(1e9).map(|i| i.time).collect::<Vec<_>>(), [2.0]);
        assert_eq!(drifting.state_at(4.0), (0.5, 0.25));
        let hovering = BouncingBall { force: 0.0, ..Default::default() };
        assert_eq!((hovering.impacts(1e9).count(), hovering.state_at(7.0)), (0, (1.0, 0.0)));
        // thrown against a pushing force: hits once with √(9 - 2), never returns
        let pushed = BouncingBall { force: 1.0, v0: -3.0, ..Default::default() };
        let hits: Vec<Impact> = pushed.impacts(1e9).collect();
        assert!(hits.len() == 1 && (hits[0].before + 7.0_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn unreasonable_numbers_terminate() {
        for force in [f64::NAN, f64::INFINITY, -1e-320, 0.0, -2.0] {
            for restitution in [f64::NAN, 0.999, 1.0, 1.5, -1.0] {
                let ball = BouncingBall { force, restitution, ..Default::default() };
                let _ = (ball.state_at(f64::INFINITY), ball.state_at(f64::NAN), ball.state_at(1e6));
                assert!(ball.jumps(0.0, 1e5, 1e-3).len() <= super::super::MAX_JUMPS);
            }
        }
    }
}
