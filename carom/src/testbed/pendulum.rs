//! Pendulum in Cartesian coordinates: a mass on a rigid rod, released at rest from the horizontal [brasey1994].
//! ```text
//!     m v̇ = (0, -m g) + (x, y) λ,   (x² + y² - l²)/2 = 0,   q(0) = (l, 0), v(0) = 0               (1)
//!     sin(φ/2) = k cd(ω t | k²),   k² = 1/2,   ω = √(g/l),   q = l (sin φ, -cos φ)                 (2)
//!     λ = 3 m g y/l²: at the lowest point the rod pulls with 3 m g                                  (3)
//! ```
//! φ is the angle from the vertical and cd = cn/dn Jacobi's function, by the arithmetic-geometric mean.

use crate::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use crate::{ModelError, State};
use carom_solve::Law;
use carom_solve::elementary::{asin, sin, sin_cos};
use serde::{Deserialize, Serialize};

use super::ExactSolution;

/// Mass on a rod, from the horizontal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pendulum {
    /// Mass, positive [kg].
    pub mass: f64,
    /// Length of the rod, positive [m].
    pub length: f64,
    /// Gravity, positive [m/s²].
    pub gravity: f64,
}

impl Default for Pendulum {
    fn default() -> Self {
        Self { mass: 1.0, length: 1.0, gravity: 1.0 }
    }
}

impl Functions for Pendulum {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * (0.5 * self.mass)
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[1] * (self.mass * self.gravity)
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = (q[0] * q[0] + q[1] * q[1] - self.length * self.length) * 0.5;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("rod", Law::EQUALITY)]
    }
}

impl Pendulum {
    /// The same problem as a model, to be simulated; an error for parameters that make no sense.
    pub fn model(&self) -> Result<DualLagrangian<Pendulum>, ModelError> {
        DualLagrangian::new(*self, State::new(0.0, &[self.length, 0.0], &[0.0, 0.0]))
    }

    /// Returns the time at which the lowest point is reached first, K(1/2)/ω [s].
    pub fn quarter_period(&self) -> f64 {
        complete() / (self.gravity / self.length).sqrt()
    }

    /// Returns the multiplier of the rod at t [N/m]; negative where the rod pulls.
    pub fn multiplier(&self, t: f64) -> f64 {
        let mut q = [0.0; 2];
        self.at(t, &mut q, &mut [0.0; 2]);
        3.0 * self.mass * self.gravity * q[1] / (self.length * self.length)
    }
}

impl ExactSolution for Pendulum {
    fn name(&self) -> &'static str {
        "pendulum"
    }

    fn citation(&self) -> &'static str {
        "brasey1994"
    }

    fn dimension(&self) -> usize {
        2
    }

    fn at(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        let rate = (self.gravity / self.length).sqrt();
        let [sn, cn, dn] = jacobi(rate * t);
        let half = cn / dn * 0.5f64.sqrt(); // sin(φ/2)
        let cosine = (1.0 - half * half).sqrt(); // cos(φ/2)
        // (cn/dn)' = -(1 - k²) sn/dn², and φ' = 2 (sin(φ/2))'/cos(φ/2)
        let spin = -rate * 0.5f64.sqrt() * sn / (dn * dn * cosine);
        let (sin, cos) = (2.0 * half * cosine, 1.0 - 2.0 * half * half);
        q.copy_from_slice(&[self.length * sin, -self.length * cos]);
        v.copy_from_slice(&[self.length * cos * spin, self.length * sin * spin]);
    }

    fn before(&self, t: f64, v: &mut [f64]) {
        self.at(t, &mut [0.0; 2], v);
    }

    fn jumps(&self, _from: f64, _to: f64, _amplitude: f64) -> Vec<f64> {
        Vec::new()
    }
}

/// Steps of the arithmetic-geometric mean from 1 and √(1 - k²), k² = 1/2: enough for all digits.
const STEPS: usize = 6;

/// a and c of the arithmetic-geometric mean.
fn means() -> [(f64, f64); STEPS] {
    let (mut a, mut b) = (1.0f64, 0.5f64.sqrt());
    let mut all = [(a, 0.5f64.sqrt()); STEPS];
    for entry in all.iter_mut().skip(1) {
        let c = 0.5 * (a - b);
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        *entry = (a, c);
    }
    all
}

/// K(1/2).
fn complete() -> f64 {
    0.5 * std::f64::consts::PI / means()[STEPS - 1].0
}

/// sn, cn and dn for k² = 1/2, by descending angles.
fn jacobi(u: f64) -> [f64; 3] {
    let means = means();
    // the first quarter keeps digits for long times
    let period = 4.0 * complete();
    let u = u - period * (u / period).round();
    let mut angle = f64::from(1u32 << (STEPS - 1)) * means[STEPS - 1].0 * u;
    for (a, c) in means.iter().skip(1).rev() {
        angle = 0.5 * (angle + asin(c / a * sin(angle)));
    }
    let (sn, cn) = sin_cos(angle);
    [sn, cn, (1.0 - 0.5 * sn * sn).sqrt()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        let pendulum = Pendulum::default();
        assert!((pendulum.quarter_period() - 1.854_074_677_301_372).abs() < 1e-15);
        let (mut q, mut v) = ([0.0; 2], [0.0; 2]);
        pendulum.at(2.0, &mut q, &mut v);
        let (position, velocity) = ([-0.204193214788280, -0.978930605831908], [-1.369754885003414, 0.285714484535000]);
        for k in 0..2 {
            assert!((q[k] - position[k]).abs() < 1e-14 && (v[k] - velocity[k]).abs() < 1e-14, "{q:?} {v:?}");
        }
        assert!((pendulum.multiplier(pendulum.quarter_period()) + 3.0).abs() < 1e-14);
    }

    #[test]
    fn energy_and_length_are_kept_and_the_derivative_is_the_velocity() {
        let pendulum = Pendulum { mass: 2.0, length: 0.7, gravity: 9.81 };
        let at = |t: f64| {
            let (mut q, mut v) = ([0.0; 2], [0.0; 2]);
            pendulum.at(t, &mut q, &mut v);
            (q, v)
        };
        for k in 0..50 {
            let t = 0.37 * f64::from(k);
            let (q, v) = at(t);
            assert!((q[0].hypot(q[1]) - 0.7).abs() < 1e-15);
            assert!((0.5 * (v[0] * v[0] + v[1] * v[1]) + 9.81 * q[1]).abs() < 1e-12);
            let (after, before) = (at(t + 1e-5).0, at(t - 1e-5).0);
            assert!(((after[0] - before[0]) / 2e-5 - v[0]).abs() < 1e-7);
        }
    }
}
