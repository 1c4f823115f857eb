//! One step, whoever does it: what it works with, what it tells about itself, and why it could not be done.

use crate::{Key, ModelError};
use carom_solve::{Certificate, SolveError, Solver};

/// The model and the solver that a step works with.
pub struct System<'a, M: ?Sized> {
    /// The system that moves.
    pub model: &'a mut M,
    /// Solves the one-step problems.
    pub solver: &'a mut dyn Solver,
}

/// What a step tells about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Time advanced [s], at most the step asked for.
    pub advanced: f64,
    /// Estimate of the local error, where the scheme has one.
    pub error: Option<LocalError>,
    /// The worst certificate of all problems solved.
    pub worst: Certificate,
    /// One-step problems solved.
    pub solves: u32,
    /// Newton iterations, counting the first solve: the linearised steps that were solved.
    pub iterations: u32,
    /// Evaluations of the right-hand side: calls of the model's forces, or of its rate.
    pub evaluations: u32,
    /// Tries that a scheme which chooses its own steps has rejected before this one.
    pub rejected: u32,
}

carom_solve::persist!(Step { advanced, error, worst, solves, iterations, evaluations, rejected });

/// An estimate of the local error of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalError {
    /// The error divided by the tolerances [-]: a step with at most 1 is accepted.
    pub value: f64,
    /// Order p of the step in this place: the estimate falls like h^{p+1}.
    pub order: u32,
}

carom_solve::persist!(LocalError { value, order });

/// A step that could not be done. The driver adds time and names.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// An evaluation of the model failed.
    #[error(transparent)]
    Model(Box<ModelError>),
    /// A one-step problem was not solved.
    #[error("the one-step problem was not solved: {error}")]
    Solve {
        /// Why the solver gave up.
        error: Box<SolveError>,
        /// The contact to blame, where one is known.
        contact: Option<Key>,
    },
    /// The laws contradict each other, as the model tells.
    #[error("{reason}; the one-step problem has no solution: {error}")]
    Contradiction {
        /// What cannot be.
        reason: String,
        /// Why the solver gave up.
        error: Box<SolveError>,
    },
    /// Newton's loop did not converge.
    #[error(
        "Newton's loop stopped at residual {residual:.3e} (tolerance {tolerance:.3e}) after {iterations} iterations; try a smaller step"
    )]
    Newton {
        /// What is left of the residual, or the last change of the iterate, by scheme.
        residual: f64,
        /// What it should have come below, in the same unit.
        tolerance: f64,
        /// Iterations done.
        iterations: u32,
    },
    /// Positions could not be moved to where the constraints hold.
    #[error(
        "the projection stopped at gap {gap:.3e} (tolerance {tolerance:.1e}) after {iterations} iterations; try a smaller step"
    )]
    Projection {
        /// The worst gap that is left [m].
        gap: f64,
        /// The gap that would have been accepted [m].
        tolerance: f64,
        /// Iterations done.
        iterations: u32,
        /// The contact or constraint with this gap.
        contact: Key,
    },
    /// A step failed near a position where joints of a mechanism hold a direction together.
    #[error(
        "{error}; near a singular position: {joints} nearly hold one direction together, and the motion may end there"
    )]
    Singular {
        /// Names of the joints and motors.
        joints: String,
        /// How the step failed.
        error: Box<StepError>,
    },
    /// The step ended in infinity or NaN.
    #[error("the new state is not finite; the step may be too large for the forces")]
    NotFinite,
    /// An explicit method is not stable with steps of this length.
    #[error(
        "the explicit method is unstable: its step reaches {reach:.3} time constants of the fastest motion, at most {limit} are stable; take a smaller step, or an implicit method (`radau-iia-3`)"
    )]
    Unstable {
        /// How many time constants the step reaches [-].
        reach: f64,
        /// How many are stable [-].
        limit: f64,
    },
    /// The error of a scheme that controls it by itself is too large with its smallest step.
    #[error(
        "the smallest step {h:.3e} has an error of {error:.3e} times the tolerance; allow smaller steps (`h-min`), or a larger tolerance"
    )]
    TooSmall {
        /// Length of the step [s].
        h: f64,
        /// Its error divided by the tolerance [-].
        error: f64,
    },
    /// A contact closed unseen, and the time of it was not found.
    #[error("a gap of {gap:.3e} was passed unseen and could not be located; try smaller steps")]
    Tunnelled {
        /// The gap after it was passed [m].
        gap: f64,
        /// The contact that was passed.
        contact: Key,
    },
    /// Events have not come to an end within a step.
    #[error(
        "more than {limit} events within a step of {h:.3e} s: they accumulate without an end, or the step is long; allow more (`max-events`), or take shorter steps"
    )]
    Events {
        /// How many were allowed.
        limit: u32,
        /// Length of the step [s].
        h: f64,
        /// The contact of the last one.
        contact: Option<Key>,
    },
    /// A contact is closed already where its region begins.
    #[error(
        "the region of the contact begins where its gap is {gap:.3e} already: the position would have to jump; let the region begin before the gap closes"
    )]
    Inside {
        /// The gap at the edge of the region [m].
        gap: f64,
        /// The contact whose region begins.
        contact: Key,
    },
}

impl StepError {
    /// Whether a shorter step may do where this one did not converge.
    pub(crate) fn may_be_of_length(&self) -> bool {
        match self {
            StepError::Singular { error, .. } => error.may_be_of_length(),
            _ => matches!(self, StepError::Newton { .. } | StepError::Projection { .. } | StepError::Solve { .. }),
        }
    }

    /// The contact that the error speaks of, by its key.
    pub fn key(&self) -> Option<Key> {
        match self {
            StepError::Solve { contact, .. } | StepError::Events { contact, .. } => *contact,
            StepError::Projection { contact, .. }
            | StepError::Tunnelled { contact, .. }
            | StepError::Inside { contact, .. } => Some(*contact),
            StepError::Singular { error, .. } => error.key(),
            StepError::Model(_)
            | StepError::Contradiction { .. }
            | StepError::Newton { .. }
            | StepError::NotFinite
            | StepError::Unstable { .. }
            | StepError::TooSmall { .. } => None,
        }
    }
}

// boxed, so that the result of a step that succeeds is small
impl From<ModelError> for StepError {
    fn from(error: ModelError) -> Self {
        StepError::Model(Box::new(error))
    }
}
