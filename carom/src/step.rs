//! One step, whoever does it: what it works with, what it tells about itself, and why it could not be done.

use crate::{Key, ModelError};
use carom_solve::{Certificate, SolveError, Solver};

/// The model and the solver that a step works with.
pub struct System<'a, M: ?Sized> {
    pub model: &'a mut M,
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
}

/// An estimate of the local error of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalError {
    /// The error divided by the tolerances [-]: a step with at most 1 is accepted.
    pub value: f64,
    /// Order p of the step in this place: the estimate falls like h^{p+1}.
    pub order: u32,
}

/// A step that could not be done. The driver adds time and names.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    #[error(transparent)]
    Model(Box<ModelError>),
    #[error("the one-step problem was not solved: {error}")]
    Solve { error: Box<SolveError>, contact: Option<Key> },
    #[error(
        "Newton's loop stopped at residual {residual:.3e} (tolerance {tolerance:.3e}) after {iterations} iterations; try a smaller step"
    )]
    Newton { residual: f64, tolerance: f64, iterations: u32 },
    #[error(
        "the projection stopped at gap {gap:.3e} (tolerance {tolerance:.1e}) after {iterations} iterations; try a smaller step"
    )]
    Projection { gap: f64, tolerance: f64, iterations: u32, contact: Key },
    #[error("the new state is not finite; the step may be too large for the forces")]
    NotFinite,
    #[error(
        "the smallest step {h:.3e} has an error of {error:.3e} times the tolerance; allow smaller steps (`h-min`), or a larger tolerance"
    )]
    TooSmall { h: f64, error: f64 },
    #[error("a gap of {gap:.3e} was passed unseen and could not be located; try smaller steps")]
    Tunnelled { gap: f64, contact: Key },
    #[error(
        "the region of the contact begins where its gap is {gap:.3e} already: the position would have to jump; let the region begin before the gap closes"
    )]
    Inside { gap: f64, contact: Key },
}

impl StepError {
    /// The contact that the error speaks of, by its key.
    pub fn key(&self) -> Option<Key> {
        match self {
            StepError::Solve { contact, .. } => *contact,
            StepError::Projection { contact, .. }
            | StepError::Tunnelled { contact, .. }
            | StepError::Inside { contact, .. } => Some(*contact),
            StepError::Model(_) | StepError::Newton { .. } | StepError::NotFinite | StepError::TooSmall { .. } => None,
        }
    }
}

// boxed, so that the result of a step that succeeds is small
impl From<ModelError> for StepError {
    fn from(error: ModelError) -> Self {
        StepError::Model(Box::new(error))
    }
}
