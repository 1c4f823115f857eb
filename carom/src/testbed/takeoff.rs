//! Takeoff: a mass pressed on a wall by its weight until a growing force lifts it, without any jump of v.
//! ```text
//!     m v̇ = -G + A sin(t) + p,   0 <= q ⊥ p >= 0,   q(0) = v(0) = 0                          (1)
//!     t₀ = asin(G/A);   q = v = 0 and p = G - A sin(t) up to t₀, then with s = t - t₀            (2)
//!     m v = -G s + A (cos t₀ - cos t)                                                            (3)
//!     m q = -G s²/2 + A (s cos t₀ - sin t + sin t₀)                                              (4)
//! ```
//! The force of the contact vanishes with a slope: a scheme that does not locate t₀ is at most of order 2. No
//! paper is needed for (2)-(4); the schemes it is meant to try are those of [acary2009].

use crate::model::{Contact, Lagrangian};
use carom_solve::elementary::{asin, cos, sin};
use serde::{Deserialize, Serialize};

use super::{Curvature, ExactSolution};

/// Mass on a wall at q = 0, lifted by a force A sin(t) with t in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Takeoff {
    /// Mass, positive [kg].
    pub mass: f64,
    /// Constant force G towards the wall, in (0, amplitude) [N].
    pub weight: f64,
    /// Amplitude A of the lifting force [N].
    pub amplitude: f64,
}

impl Default for Takeoff {
    fn default() -> Self {
        Self { mass: 1.0, weight: 1.0, amplitude: 2.0 }
    }
}

impl Takeoff {
    /// The same problem as a model, to be simulated.
    pub fn model(&self) -> Lagrangian {
        let (weight, amplitude) = (self.weight, self.amplitude);
        Lagrangian::new(1)
            .constant_mass(&[self.mass])
            .force(move |t, _, _, f| f[0] = amplitude * sin(t) - weight)
            .tangents(|_, _, _, k, c| (k[0], c[0]) = (0.0, 0.0))
            .contact(Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0))
            .initial(&[0.0], &[0.0])
            .linear()
    }

    /// Returns the time at which the contact opens [s].
    pub fn takeoff(&self) -> f64 {
        asin(self.weight / self.amplitude)
    }

    /// Returns the time of the first landing, up to which the closed form holds [s].
    pub fn landing(&self) -> f64 {
        let start = self.takeoff();
        let below = |t: f64| self.arc(t).0 < 0.0;
        // |m q + G s²/2 - A s cos t₀| <= 2 A gives a time after the landing
        let reach = self.amplitude / self.weight;
        let after = start + reach + (reach * reach + 4.0 * reach).sqrt();
        let step = (after - start) / 4096.0;
        let Some(first) = (1..=4096).map(|i| start + step * f64::from(i)).find(|&t| below(t)) else {
            return f64::NAN;
        };
        let (mut low, mut high) = (first - step, first);
        while low.next_up() < high {
            let middle = low + 0.5 * (high - low);
            if below(middle) { high = middle } else { low = middle }
        }
        low
    }

    /// Returns q and v at t, which are NaN below the wall, that is after the landing.
    pub fn state_at(&self, t: f64) -> (f64, f64) {
        if t <= self.takeoff() {
            return (0.0, 0.0);
        }
        let (q, v) = self.arc(t);
        // rounding may go below zero where the cubic start of the arc is smaller than an ulp of its terms
        if q >= -1e-15 * self.amplitude / self.mass { (q.max(0.0), v) } else { (f64::NAN, f64::NAN) }
    }

    /// Equations (3) and (4), written with differences that do not cancel for small s.
    fn arc(&self, t: f64) -> (f64, f64) {
        let (start, weight, amplitude) = (self.takeoff(), self.weight, self.amplitude);
        let s = t - start;
        let versine = 2.0 * sin(0.5 * s).powi(2); // 1 - cos s
        let cosine = cos(start);
        let q = weight * (versine - 0.5 * s * s) + amplitude * cosine * (s - sin(s));
        let v = -weight * (s - sin(s)) + amplitude * cosine * versine;
        (q / self.mass, v / self.mass)
    }
}

impl ExactSolution for Takeoff {
    fn name(&self) -> &'static str {
        "takeoff"
    }

    fn citation(&self) -> &'static str {
        "acary2009"
    }

    fn dimension(&self) -> usize {
        1
    }

    fn at(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        let (position, velocity) = self.state_at(t);
        q.fill(position);
        v.fill(velocity);
    }

    fn before(&self, t: f64, v: &mut [f64]) {
        v.fill(self.state_at(t).1);
    }

    fn jumps(&self, _from: f64, _to: f64, _amplitude: f64) -> Vec<f64> {
        Vec::new()
    }

    /// v' is continuous at the takeoff, so that the bound holds across it.
    fn curvature(&self, _from: f64, _to: f64) -> Option<Curvature> {
        let (weight, amplitude) = (self.weight.abs() / self.mass, self.amplitude.abs() / self.mass);
        Some(Curvature { position: weight + amplitude, velocity: amplitude })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_matches_the_reference_values() {
        let problem = Takeoff::default();
        assert!((problem.takeoff() - std::f64::consts::FRAC_PI_6).abs() < 1e-15);
        let (q, v) = problem.state_at(2.9);
        assert!((q - 1.8139076117357182).abs() < 1e-14 && (v - 1.2975659134663573).abs() < 1e-14);
        assert_eq!(problem.state_at(0.5), (0.0, 0.0));
    }

    #[test]
    fn arc_is_the_printed_formula() {
        let problem = Takeoff { mass: 3.0, weight: 2.0, amplitude: 2.5 };
        let start = problem.takeoff();
        for i in 1..100 {
            let t = start + 0.03 * f64::from(i);
            let s = t - start;
            let q = -2.0 * s * s / 2.0 + 2.5 * (s * start.cos() - t.sin() + start.sin());
            let v = -2.0 * s + 2.5 * (start.cos() - t.cos());
            let (exact_q, exact_v) = problem.arc(t);
            assert!((exact_q - q / 3.0).abs() < 1e-14 && (exact_v - v / 3.0).abs() < 1e-14);
        }
    }

    #[test]
    fn start_of_the_arc_is_cubic() {
        let problem = Takeoff::default();
        let s = 1e-3;
        let (q, _) = problem.state_at(problem.takeoff() + s);
        // m q = (A cos t₀) s³/6 - G s⁴/24 + O(s⁵)
        assert!((q - (3.0_f64.sqrt() * s.powi(3) / 6.0 - s.powi(4) / 24.0)).abs() < 1e-15);
    }

    #[test]
    fn landing_ends_the_closed_form() {
        let problem = Takeoff::default();
        let landing = problem.landing();
        assert!(landing > 5.0 && landing < 5.2, "{landing}");
        assert!(problem.state_at(landing).0.abs() < 1e-13);
        assert!(problem.state_at(landing + 1e-3).0.is_nan());
    }
}
