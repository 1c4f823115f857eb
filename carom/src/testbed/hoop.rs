//! Hoop: a bead on a circle that moves to and fro, with a mass that depends on the position; made for its solution.
//! ```text
//!     g = ((x - sin t)² + y² - 1)/2,   M = diag(1 + y²/2, 2),   M v̇ = F + Gᵀλ                       (1)
//!     x = sin t + cos α,   y = sin α,   α = t + t²/2,   λ = 2 + sin t                               (2)
//!     F = M(q(t)) v̇(t) - (cos α, sin α) λ(t) + ((x - x(t)) y', (y - y(t)) x')                       (3)
//! ```
//! Exercises all terms of a constraint that moves: g_t, 2 G_t v, g_tt. The last term of (3) vanishes on the solution
//! and couples errors.

use crate::elementary::dual::{cos, sin, sin_cos};
use crate::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use crate::{ModelError, State};
use carom_solve::Law;
use serde::{Deserialize, Serialize};

use super::ExactSolution;

/// Bead on a moving hoop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hoop {}

/// Position, velocity and acceleration of (2).
fn motion<D: Scalar>(t: D) -> [[D; 2]; 3] {
    let (angle, spin) = (t + t * t * 0.5, t + 1.0);
    let (s, c) = sin_cos(angle);
    [[sin(t) + c, s], [cos(t) - s * spin, c * spin], [-sin(t) - c * spin * spin - s, -s * spin * spin + c]]
}

impl Functions for Hoop {
    fn kinetic<D: Scalar>(&self, _t: D, q: &[D], v: &[D]) -> D {
        (q[1] * q[1] * 0.5 + 1.0) * v[0] * v[0] * 0.5 + v[1] * v[1]
    }

    fn force<D: Scalar>(&self, t: D, q: &[D], v: &[D], out: &mut [D]) {
        let [position, _, acceleration] = motion(t);
        let angle = t + t * t * 0.5;
        let lambda = sin(t) + 2.0;
        out[0] = (position[1] * position[1] * 0.5 + 1.0) * acceleration[0] - cos(angle) * lambda;
        out[1] = acceleration[1] * 2.0 - sin(angle) * lambda;
        out[0] += (q[0] - position[0]) * v[1];
        out[1] += (q[1] - position[1]) * v[0];
        // the inertial forces of M(q) are not part of (3): give back what the kinetic energy adds
        out[0] += q[1] * v[0] * v[1];
        out[1] -= q[1] * v[0] * v[0] * 0.5;
    }

    fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
        let x = q[0] - sin(t);
        out[0] = (x * x + q[1] * q[1] - 1.0) * 0.5;
    }

    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("hoop", Law::EQUALITY)]
    }
}

impl Hoop {
    /// The same problem as a model, to be simulated, from t = 0.
    pub fn model(&self) -> Result<DualLagrangian<Hoop>, ModelError> {
        self.model_from(0.0)
    }

    /// The model that starts on the solution at time t.
    pub fn model_from(&self, t: f64) -> Result<DualLagrangian<Hoop>, ModelError> {
        let [q, v, _] = motion(t);
        DualLagrangian::new(*self, State::new(t, &q, &v))
    }

    /// Returns λ at t [N/m].
    pub fn multiplier(&self, t: f64) -> f64 {
        2.0 + sin(t)
    }
}

impl ExactSolution for Hoop {
    fn name(&self) -> &'static str {
        "hoop"
    }

    fn citation(&self) -> &'static str {
        "brasey1994"
    }

    fn dimension(&self) -> usize {
        2
    }

    fn at(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        let [position, velocity, _] = motion(t);
        q.copy_from_slice(&position);
        v.copy_from_slice(&velocity);
    }

    fn before(&self, t: f64, v: &mut [f64]) {
        self.at(t, &mut [0.0; 2], v);
    }

    fn jumps(&self, _from: f64, _to: f64, _amplitude: f64) -> Vec<f64> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase::{Acceleration, Phase};
    use crate::{Coupling, Mechanical, Space};

    /// The model's own equations have (2) as their solution: accelerations and multiplier.
    #[test]
    fn the_motion_solves_the_equations() {
        let mut model = Hoop {}.model().unwrap();
        let mut acceleration = Acceleration::new(&mut model);
        let (mut phase, mut coupling) = (Phase::default(), Coupling::default());
        for k in 0..20 {
            let t = 0.1 * f64::from(k);
            let [q, v, a] = motion(t);
            model.couple(t, &q, &mut coupling).unwrap();
            assert!(coupling.pairs[0].gap.abs() < 1e-15);
            assert!((coupling.rows.dot(0, &v) + coupling.drift[0]).abs() < 1e-14);
            phase.open(&coupling);
            acceleration.evaluate(&mut model as &mut dyn Mechanical, &phase, (t, &q, &v)).unwrap();
            let error = acceleration.value.iter().zip(a).fold(0.0f64, |m, (x, y)| m.max((x - y).abs()));
            assert!(error < 1e-12 && (acceleration.lambda[0] - Hoop {}.multiplier(t)).abs() < 1e-12, "{t}: {error:e}");
        }
    }
}
