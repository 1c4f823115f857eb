//! What Newton's loop asks of the laws of a balance, and when it ends.

use super::Newton;
use crate::{Mechanical, State, Step, StepError, System};
use carom_solve::OptionError;
use carom_solve::options::{at_least_one, fraction};

/// When Newton's loop ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Limits {
    /// Relative tolerance of the balance [-].
    pub tolerance: f64,
    /// Most iterations.
    pub iterations: u32,
}

impl Limits {
    /// Refuses values that make no sense, by the names `newton-tolerance` and `newton-iterations`.
    pub fn validate(&self) -> Result<(), OptionError> {
        fraction("newton-tolerance", self.tolerance)?;
        at_least_one("newton-iterations", self.iterations)
    }

    /// Whether the loop is done; an error where it may not go on.
    #[inline]
    pub fn judge(&self, done: bool, (residual, tolerance): (f64, f64), iterations: u32) -> Result<bool, StepError> {
        if !done && iterations >= self.iterations {
            return Err(StepError::Newton { residual, tolerance, iterations });
        }
        Ok(done)
    }
}

/// The laws of a balance, as Newton's loop meets them.
pub(crate) trait Laws {
    /// Whether no law acts.
    fn is_empty(&self) -> bool;

    /// Solves for P with the velocity without reactions in `newton.v_free`, at the rows of the iterate in `to`; at
    /// `first` its q⁺ is not placed yet.
    fn react(
        &mut self,
        newton: &mut Newton,
        system: &mut System<'_, dyn Mechanical>,
        ends: (&State, &mut State),
        first: bool,
        step: &mut Step,
    ) -> Result<(), StepError>;

    /// A⁻¹ B P of the last solve.
    fn response(&self) -> &[f64];

    /// Goes to the new iterate. Returns whether laws act now that were not in the problem.
    fn follow(
        &mut self,
        newton: &Newton,
        model: &mut dyn Mechanical,
        ends: (&State, &State),
        first: bool,
    ) -> Result<bool, StepError>;

    /// `out ← out + B P` with the rows of the new iterate.
    fn add_reactions(&self, newton: &Newton, out: &mut [f64]);

    /// `out ← out + |B| |P|` with the same rows: what rounding of the reactions is relative to. Nothing where they are
    /// not what cancels.
    fn add_sizes(&self, _acts_in_middle: bool, _out: &mut [f64]) {}

    /// By how much the last solution misses the laws at the new iterate, as a multiple of what is allowed: `allowed`
    /// for velocities [√J].
    fn missed(&mut self, newton: &Newton, v: &[f64], allowed: f64) -> f64;

    /// Whether the rows of the last problem may serve for the next iterate, with what they miss there.
    fn goes_on(&self) -> bool {
        false
    }

    /// The impulses of the last solve by the rows of all laws; nothing where A need not know them.
    fn impulses(&self, _out: &mut Vec<f64>) {}

    /// What is allowed, to tell of laws that are missed.
    fn tolerance(&self, allowed: f64) -> f64;

    /// The certified residual of the last solve [-]: the balance cannot be met better than its impulses are known.
    fn certified(&self) -> f64 {
        0.0
    }
}

/// How far an iterate is from the solution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Residual {
    /// Of the balance, and what is allowed [√J].
    pub residual: f64,
    pub tolerance: f64,
    /// The largest velocity [√J].
    pub speed: f64,
}

impl Residual {
    pub fn is_small(&self) -> bool {
        self.residual <= self.tolerance
    }
}
