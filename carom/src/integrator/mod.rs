//! Runge-Kutta methods for smooth motion: what they ask of it is [`Motion`]. They know neither contacts nor events.
//!
//! | method | order | what it advances |
//! |---|---|---|
//! | [`Dop853`] | 8 | motion without reactions |
//! | [`Hem5`] | 5 | constraints at the velocity level ([`HalfExplicit`]) |
//! | [`Stages`] | of its [`Tableau`] | accelerations with reactions ([`IndexOne`]) |
//!
//! Motion inside a step is that of [`Hermite`], [`OrderFour`] or the dense output of [`Dop853`].

mod dop853;
mod hem5;
mod hermite;
mod order_four;
mod stages;
mod tableau;

pub(crate) use dop853::Dop853;
pub(crate) use hem5::{A, C, Hem5};
pub(crate) use hermite::{Hermite, Quintic};
pub(crate) use order_four::OrderFour;
pub(crate) use stages::{Newton, Stages};
pub use tableau::RungeKutta;
pub(crate) use tableau::Tableau;

use crate::model::{Chart, Places};
use crate::{State, StepError};

/// Smooth motion, as an integrator sees it.
pub(crate) trait Motion {
    /// `out ← q ⊕ dq`.
    fn retract(&self, q: &[f64], dq: &[f64], out: &mut [f64]);

    /// What increments are, where `retract` is no sum.
    fn chart(&self) -> Option<&dyn Chart>;

    /// Whether there are no reactions.
    fn is_free(&self) -> bool;

    /// `out ← v̇` without reactions.
    fn free(&mut self, at: &State, out: &mut [f64]) -> Result<(), StepError>;
}

/// Motion with constraints at the velocity level: reactions act along columns at one point, so that velocities obey the
/// rows at another.
pub(crate) trait HalfExplicit: Motion {
    /// Goes to the start of a step.
    fn start(&mut self, at: &State) -> Result<(), StepError>;

    /// Takes the columns at the point where `start` or the last `react` has gone to; `free` was asked there last.
    fn turn(&mut self, at: &State) -> Result<(), StepError>;

    /// Goes to `(t, q)` and adds to `out` the reactions, per `weight`, with which the velocity `v` obeys the
    /// constraints there.
    fn react(&mut self, at: (f64, &[f64]), v: (&[f64], f64), out: &mut [f64]) -> Result<(), StepError>;
}

/// Motion whose reactions are functions of the state: constraints at the level of accelerations.
pub(crate) trait IndexOne: Motion {
    /// Starts the sums over the stages of a step.
    fn start(&mut self);

    /// `out ← v̇` at stage `i` of a step, which has this weight in what adds up over the step.
    fn stage(&mut self, i: usize, weight: f64, at: &State, out: &mut [f64]) -> Result<(), StepError>;

    /// `out ← v̇`.
    fn rate(&mut self, at: &State, out: &mut [f64]) -> Result<(), StepError>;

    /// A number that changes where v̇ becomes another function.
    fn version(&self) -> u64;

    /// Whether v̇ is affine where there are no reactions.
    fn is_affine(&self) -> bool;

    /// Part of v̇ by which it is inexact, below which iterations stand still.
    fn inexactness(&self) -> f64;

    /// The size of a coordinate or of a velocity, which is not zero.
    fn size(&self, is_velocity: bool, j: usize) -> f64;

    /// The size of what velocity `j` moves, at `q`.
    fn position(&self, q: &[f64], j: usize) -> f64;

    /// What a unit of velocity `j` is worth beside those of others, a power of two.
    fn unit(&self, j: usize) -> f64;

    /// What of v̇ is rounding, where large forces cancel, in the largest of these units.
    fn rounding(&self) -> f64 {
        0.0
    }
}

/// What errors of a step are measured by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerances<'a> {
    pub absolute: Absolute<'a>,
    pub places: &'a Places,
    pub relative: f64,
}

/// The part of a tolerance that does not depend on the ends of the step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Absolute<'a> {
    /// One number for all.
    Given(f64),
    /// A part of what coordinates and velocities have met so far, and of the way in the time of a step that was asked
    /// for: what is fast is measured by its velocity.
    Part { part: f64, q: &'a [f64], v: &'a [f64], time: f64 },
}

impl Tolerances<'_> {
    /// The mean size of errors of positions, as increments, and of velocities at the end of a step.
    pub fn measure(
        &self,
        positions: impl Iterator<Item = f64>,
        velocities: impl Iterator<Item = f64>,
        (from, to): (&State, &State),
    ) -> f64 {
        let position = |(k, x): (usize, f64)| x / self.scale(false, k, (&from.q, &to.q));
        let velocity = |(k, x): (usize, f64)| x / self.scale(true, k, (&from.v, &to.v));
        let sum: f64 = positions.enumerate().map(position).map(|x| x * x).sum::<f64>()
            + velocities.enumerate().map(velocity).map(|x| x * x).sum::<f64>();
        (sum / (2 * from.v.len()).max(1) as f64).sqrt()
    }

    /// What an error in component `k` of the increment of positions, or of velocities, is divided by: `atol + rtol
    /// max(|x|, |x⁺|)`, with the coordinate that the increment belongs to, or a radian.
    #[inline]
    fn scale(&self, is_velocity: bool, k: usize, (from, to): (&[f64], &[f64])) -> f64 {
        let size = |x: &[f64]| if is_velocity { x[k].abs() } else { self.places.size(x, k) };
        let here = size(from).max(size(to));
        let absolute = match self.absolute {
            Absolute::Given(absolute) => absolute,
            Absolute::Part { part, v, .. } if is_velocity => part * here.max(v[k]),
            Absolute::Part { part, q, v, time } => part * here.max(q[k]).max(time * v[k]),
        };
        // nothing moves and nothing will: there is no error either
        (absolute + self.relative * here).max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::{Absolute, Places, Tolerances};
    use crate::testbed::SpinningBall;

    #[test]
    fn errors_are_measured_by_their_own_coordinate_where_there_is_one() {
        let (paired, places) = (Places::default(), Places::of(&SpinningBall::default().model()));
        let given = |absolute| Tolerances { absolute: Absolute::Given(absolute), places: &paired, relative: 0.1 };
        let (from, to) = ([1.0, -3.0], [-2.0, 1.0]);
        assert_eq!(given(0.5).scale(false, 0, (&from, &to)), 0.5 + 0.1 * 2.0);
        assert_eq!(given(0.5).scale(true, 1, (&from, &to)), 0.5 + 0.1 * 3.0);
        // seven coordinates of six velocities: a length is measured by itself, a rotation by a radian
        let (long, end) = ([1e-9, 0.0, 2e-9, 1.0, 0.0, 0.0, 0.0], [1e-9, 3e-9, 0.0, 0.6, 0.8, 0.0, 0.0]);
        let space = Tolerances { places: &places, ..given(0.0) };
        assert_eq!([1, 2, 4].map(|k| space.scale(false, k, (&long, &end))), [0.1 * 3e-9, 0.1 * 2e-9, 0.1]);
        // sizes met before: of the coordinate, of the way, of the velocity, or those of the step
        let met = Tolerances {
            absolute: Absolute::Part { part: 0.01, q: &[4.0, 0.0], v: &[2.0, 50.0], time: 0.1 },
            places: &paired,
            relative: 0.0,
        };
        assert_eq!(met.scale(false, 0, (&from, &to)), 0.01 * 4.0);
        assert_eq!(met.scale(false, 1, (&from, &to)), 0.01 * 5.0);
        assert_eq!(met.scale(true, 0, (&from, &to)), 0.01 * 2.0);
        assert_eq!(met.scale(true, 1, (&from, &to)), 0.01 * 50.0);
    }
}
