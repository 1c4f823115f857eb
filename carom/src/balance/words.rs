//! The words in which a scheme says what its step is: an impulse balance as data. Newton's loop
//! ([`newton`](super::newton)) solves it, and [`tangent`](super::tangent) differentiates the same object.
//!
//! ```text
//!     M(q_m)(v⁺ − v) = h (w₀ F(t, q, v) + w F(t_x, q_x, v_x)) + B P,      q⁺ = q_e                                 (1)
//!     t_x = t + τ h,   q_x = retract(q, h (α v + β v⁺)),   v_x = γ v + δ v⁺          at each place x               (2)
//! ```

use crate::model::Combination;
use carom_solve::Law;

/// Coefficients of (2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub tau: f64,
    pub alpha: f64,
    pub beta: f64,
    pub gamma: f64,
    pub delta: f64,
}

carom_solve::persist!(Place { tau, alpha, beta, gamma, delta });

impl Place {
    /// Where the balance starts.
    pub const START: Place = Place { tau: 0.0, alpha: 0.0, beta: 0.0, gamma: 1.0, delta: 0.0 };

    /// Positions and velocities with the weight θ of the end, as in the θ-scheme.
    pub fn theta(theta: f64) -> Place {
        let rest = 1.0 - theta;
        Place { tau: theta, alpha: theta * rest, beta: theta * theta, gamma: rest, delta: theta }
    }

    /// The end of a step whose mean velocity has the weight θ of the end.
    pub fn end(theta: f64) -> Place {
        Place { tau: 1.0, alpha: 1.0 - theta, beta: theta, gamma: 0.0, delta: 1.0 }
    }

    /// The argument of `retract` in (2). v⁺ is asked for entry by entry: who makes it does so in the same pass.
    #[inline(always)]
    pub fn way(&self, h: f64, v: &[f64], mut after: impl FnMut(usize) -> f64, out: &mut [f64]) {
        let (n, start, end) = (out.len(), h * self.alpha, h * self.beta);
        let v = &v[..n];
        for j in 0..n {
            let after = after(j);
            // an iterate that has no size any more does not move a place that does not follow it
            out[j] = if end == 0.0 { start * v[j] } else { start * v[j] + end * after };
        }
    }

    /// The velocity and the argument of `retract` in (2), in one pass.
    #[inline(always)]
    pub fn state(
        &self,
        h: f64,
        v: &[f64],
        mut after: impl FnMut(usize) -> f64,
        (velocity, way): (&mut [f64], &mut [f64]),
    ) {
        let (v, velocity) = (&v[..way.len()], &mut velocity[..way.len()]);
        let both = |j: usize| {
            let after = after(j);
            velocity[j] = self.gamma * v[j] + self.delta * after;
            after
        };
        self.way(h, v, both, way);
    }

    /// Whether positions and time are those of another place.
    pub fn is_at(&self, other: &Place) -> bool {
        (self.tau, self.alpha, self.beta) == (other.tau, other.alpha, other.beta)
    }
}

/// The impulse balance (1) of a step, or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Balance {
    /// Where the mass is taken: q_m.
    pub mass: Place,
    /// The weight w₀ of the force at the start.
    pub start: f64,
    /// The weight w of the other force, and its place.
    pub force: (f64, Place),
    /// The end q⁺ that goes with v⁺.
    pub end: Place,
    /// Where rows are taken as velocities. Laws on gaps have places of their own.
    pub output: Place,
    /// Where rows are taken as directions of impulses: where velocities are, or at q_m.
    pub input: Place,
}

impl Balance {
    /// Mass and force at k+θ, laws at the end: the θ-scheme.
    pub fn theta(theta: f64) -> Balance {
        let (middle, end) = (Place::theta(theta), Place::end(theta));
        Balance { mass: middle, start: 0.0, force: (1.0, middle), end, output: end, input: end }
    }

    /// An impact at a state: no time, no forces.
    pub const IMPACT: Balance = Balance {
        mass: Place::START,
        start: 0.0,
        force: (0.0, Place::START),
        end: Place::START,
        output: Place::START,
        input: Place::START,
    };

    /// The iteration matrix A = M + h w δ C + h² w β K with C = −∂F/∂v, K = −∂F/∂q at the place of the force.
    pub fn matrix(&self, h: f64) -> Combination {
        let (weight, place) = self.force;
        Combination { mass: 1.0, damping: h * weight * place.delta, stiffness: h * h * weight * place.beta }
    }
}

/// What is zero on the normal row of a law that acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Level {
    /// U⁺ + e U; nothing of U where there is no e.
    Velocity(Option<f64>),
    /// The gap.
    Gap,
}

/// A law that may act, with its impulse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acting {
    /// Its place in the list of the step.
    pub index: usize,
    pub law: Law,
    pub impulse: [f64; Law::MOST_ROWS],
    pub level: Level,
    /// Where its rows are taken as directions of impulses, and where as velocities or gaps.
    pub input: Place,
    pub output: Place,
    /// How these places change with the restitution of the law, if they do.
    pub slope: Option<Place>,
}

/// The impulse of a law from the rows that a problem has of it.
pub(crate) fn impulse(rows: &[f64]) -> [f64; Law::MOST_ROWS] {
    let mut impulse = [0.0; Law::MOST_ROWS];
    impulse.iter_mut().zip(rows).for_each(|(p, row)| *p = *row);
    impulse
}
