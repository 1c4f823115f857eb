//! Studies of many runs: sweeps, bifurcation diagrams, Lyapunov exponents, periodic orbits, basins of attraction.
//!
//! They see a model through its [`Stepper`](carom::Stepper) alone: step, set the state, look at what the laws did; those that differentiate
//! motions through a [`Sensitivity`](carom::sensitivity::Sensitivity). Runs are spread over
//! threads by [`parallel::map`]; what a run gives does not depend on their number.

pub mod basin;
pub mod bifurcation;
pub mod error_bar;
pub mod lyapunov;
mod march;
pub mod orbit;
pub mod orbit_points;
pub mod parallel;
pub mod range;
pub mod saltation;
pub mod tangent;

pub use march::{March, Strike};

use carom::{ModelError, StepError};

/// Why a study could not be done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StudyError {
    #[error("{0}")]
    Build(String),
    #[error("the step from t = {t:?} failed: {source}")]
    Step { t: f64, source: StepError },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the run does not come forward: more than {steps} steps up to t = {t:?}")]
    Stalled { t: f64, steps: u64 },
    #[error("{what} is {value}: {reason}")]
    Option { what: &'static str, value: String, reason: &'static str },
    #[error("the model has {positions} coordinates and {velocities} velocities; perturbations need as many of both")]
    Unequal { positions: usize, velocities: usize },
    #[error(
        "no periodic orbit was found: Newton's method ends at the distance {residual:.3e} between a state and its image"
    )]
    NoOrbit { residual: f64 },
    #[error("the motion does not come to the section within {time} s")]
    NoReturn { time: f64 },
    #[error(
        "the orbit of {period} s does not repeat, the second round ends at the distance {residual:.3e}: the model depends on time"
    )]
    NotAutonomous { period: f64, residual: f64 },
    #[error("interrupted")]
    Interrupted,
}

impl StudyError {
    /// A value that makes no sense.
    pub fn option(what: &'static str, value: impl ToString, reason: &'static str) -> StudyError {
        StudyError::Option { what, value: value.to_string(), reason }
    }
}

/// Makes a stepper at the initial state of a run.
pub type Make<'a> = dyn Fn() -> Result<Box<dyn carom::Stepper>, StudyError> + Sync + 'a;

/// Whether the user wants to stop.
pub type Stop<'a> = dyn Fn() -> bool + Sync + 'a;
