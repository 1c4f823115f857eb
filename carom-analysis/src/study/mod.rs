//! Studies of many runs: sweeps, bifurcation diagrams, Lyapunov exponents, periodic orbits, basins of attraction,
//! convergence.
//!
//! A study is a file of `catalogue/` and a row of [`STUDIES`]: options, units of work and how their parts make a
//! [`Document`](document::Document). [`runner`] runs them all. They see a model as a [`Subject`](carom::Subject).
//!
//! The mathematics beside them sees a [`Stepper`](carom::Stepper): step, set the state, look at what the laws did;
//! where motions are differentiated a [`Sensitivity`](carom::sensitivity::Sensitivity). What a run gives does not
//! depend on the number of threads.

pub mod basin;
pub mod bifurcation;
mod catalogue;
mod cyclic;
pub mod document;
pub mod error_bar;
pub mod exact;
pub mod lyapunov;
mod motion;
pub mod orbit;
pub mod orbit_points;
pub mod parallel;
pub mod range;
pub mod runner;
pub mod saltation;
pub mod sobol;
pub mod tangent;

pub use catalogue::{STUDIES, find};
pub use cyclic::Cyclic;
pub use motion::{Impact, Motion};

use carom::simulation::{Observer, StepView};
use carom::{ModelError, StepError, SubjectError};
use std::ops::ControlFlow;
use std::path::Path;

/// Why a study could not be done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StudyError {
    /// The model cannot be made or followed; the reason in words.
    #[error("{0}")]
    Build(String),
    /// A step of the scheme failed.
    #[error("the step from t = {t:?} failed: {source}")]
    Step {
        /// Time at its start [s].
        t: f64,
        /// Reason that the scheme gives.
        source: StepError,
    },
    /// The model cannot be evaluated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// More steps than allowed before the end was reached.
    #[error("the run does not come forward: more than {steps} steps up to t = {t:?}")]
    Stalled {
        /// Time that was reached [s].
        t: f64,
        /// Most steps that were allowed.
        steps: u64,
    },
    /// A value of an option that makes no sense.
    #[error("{what} is {value}: {reason}")]
    Option {
        /// The option in words.
        what: &'static str,
        /// The value that was given.
        value: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Different numbers of coordinates and velocities: the coordinates are not minimal.
    #[error("the model has {positions} coordinates and {velocities} velocities; this study needs as many of both")]
    Unequal {
        /// Number of coordinates.
        positions: usize,
        /// Number of velocities.
        velocities: usize,
    },
    /// Newton's method comes to no periodic orbit.
    #[error(
        "no periodic orbit was found: Newton's method ends at the distance {residual:.3e} between a state and its image"
    )]
    NoOrbit {
        /// Distance between the last state and its image after a round.
        residual: f64,
    },
    /// The orbit repeats sooner.
    #[error("the orbit repeats after {least} of {rounds} rounds")]
    Shorter {
        /// Rounds that were asked for.
        rounds: usize,
        /// Rounds after which it repeats.
        least: usize,
    },
    /// A state behind a wall.
    #[error("the state at t = {t:?} lies inside the obstacle of `{contact}`: the gap is {gap:.3e}")]
    Inside {
        /// Time [s].
        t: f64,
        /// Name of the contact.
        contact: String,
        /// Its gap [m].
        gap: f64,
    },
    /// A result that is infinite or not a number.
    #[error("{what} is {value} at t = {t:?}; only finite numbers are results")]
    NotFinite {
        /// The quantity in words.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Time [s].
        t: f64,
    },
    /// The section was not met.
    #[error("the motion does not come to the section within {time} s")]
    NoReturn {
        /// Time that was waited [s].
        time: f64,
    },
    /// An orbit of free period that does not repeat.
    #[error(
        "the orbit of {period} s does not repeat, the second round ends at the distance {residual:.3e}: the model depends on time"
    )]
    NotAutonomous {
        /// Length of the first round [s].
        period: f64,
        /// Distance between the state and its image after the second round.
        residual: f64,
    },
    /// An option that makes no sense, with a hint.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do about it; may be empty.
        hint: String,
    },
    /// The model is not good with these values of parameters.
    #[error("{0}")]
    Refused(String),
    /// Not a single run succeeded, or the only one failed.
    #[error("{0}")]
    Computation(String),
    /// Files could not be written or read.
    #[error("{0}")]
    Environment(String),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl From<SubjectError> for StudyError {
    /// Options of the model or of its scheme that do not fit.
    fn from(error: SubjectError) -> Self {
        match error.hint.is_empty() {
            true => StudyError::Build(error.message),
            false => StudyError::Usage { message: error.message, hint: error.hint },
        }
    }
}

impl StudyError {
    /// A value that makes no sense.
    pub fn option(what: &'static str, value: impl ToString, reason: &'static str) -> StudyError {
        StudyError::Option { what, value: value.to_string(), reason }
    }

    /// What is asked for makes no sense.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> StudyError {
        StudyError::Usage { message: message.into(), hint: hint.into() }
    }

    /// A file or folder that cannot be used.
    pub fn cannot(what: &str, path: &Path, error: &std::io::Error) -> StudyError {
        StudyError::Environment(format!("cannot {what} `{}`: {error}", path.display()))
    }

    /// Whether the options are to blame.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            StudyError::Usage { .. }
                | StudyError::Option { .. }
                | StudyError::Unequal { .. }
                | StudyError::NotAutonomous { .. }
        )
    }

    /// What to do about it; may be empty.
    pub fn hint(&self) -> &str {
        match self {
            StudyError::Usage { hint, .. } => hint,
            StudyError::NotAutonomous { .. } => "give the period of the forcing, for example --period '2*pi/om'",
            StudyError::NoReturn { .. } => "take another --section, or another start with --start",
            StudyError::Shorter { .. } => "ask for as many rounds with --multiple, or try another --start",
            StudyError::Inside { .. } => "give a --start outside of obstacles",
            StudyError::NoOrbit { .. } => "try more --transient periods or another --start",
            StudyError::Option { .. } => "see `carom help` of this command",
            StudyError::Unequal { .. } => "take a model in minimal coordinates",
            _ => "",
        }
    }
}

/// Makes a stepper at the initial state of a run.
pub type Make<'a> = dyn Fn() -> Result<Box<dyn carom::Stepper>, StudyError> + Sync + 'a;

/// Whether the user wants to stop.
pub type Stop<'a> = dyn Fn() -> bool + Sync + 'a;

/// Ends a run when the user asks to stop.
pub struct StopOnRequest<'a>(pub &'a Stop<'a>);

impl Observer for StopOnRequest<'_> {
    fn asks_for_contacts(&self) -> bool {
        false
    }

    fn observe(&mut self, _view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        Ok(if (self.0)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
