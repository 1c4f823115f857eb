//! Solvers of one-step problems, and their registry.

use crate::{Certificate, Law, Measure, OneStepProblem, OptionDoc, OptionError, Options, Reaction, WarningKind};
use serde_json::Value;

mod accept;
mod active_set;
mod admission;
pub mod admm;
mod alart_curnier;
pub mod auto;
mod common;
mod deadline;
pub mod enumerative;
pub(crate) mod equalities;
mod groups;
mod growth;
pub mod interior_point;
mod lcp_form;
pub mod lemke;
mod linear_system;
mod local;
pub mod newton;
pub mod newton_min;
pub mod nsgs;
mod path;
mod planar_set;
pub(crate) mod product;
pub mod proximal;
mod ranked;
mod scaled;
mod status_newton;

pub use accept::{Accept, LOOSE};
pub use path::{Method, Path};

/// Solves one-step problems. It may keep workspaces and factorisations between calls, never results.
pub trait Solver: Send {
    /// What the solver says of itself: name, laws, accuracy, sources.
    fn info(&self) -> &'static SolverInfo;

    /// Whether the solver can treat these laws at all.
    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported>;

    /// `z.lambda` is the guess on entry (of any length: it is cut or filled with zeros) and the answer on return.
    /// Ends with [`OneStepProblem::conclude`].
    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError>;

    /// The methods that the last solve took.
    fn path(&self) -> Path {
        Path::of(self.info().name)
    }

    /// What the user should know of the last solve.
    fn warning(&self) -> Option<SolverWarning> {
        None
    }

    /// The error up to which its options have it take a point with the warning [`LOOSE`]; none where they say nothing.
    fn accept(&self) -> Option<f64> {
        None
    }

    /// What the last solve did, in words; empty where there is nothing to tell.
    fn log(&self) -> String {
        String::new()
    }
}

/// A warning of a solver, which knows neither time nor contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverWarning {
    /// What happened.
    pub kind: &'static WarningKind,
    /// Its figure: the larger, the worse.
    pub value: f64,
    /// The law that it is worst at.
    pub law: Option<usize>,
}

/// What a solver says of itself; tests measure it.
#[derive(Debug)]
pub struct SolverInfo {
    /// Name in model files and on the command line.
    pub name: &'static str,
    /// One line on the method.
    pub title: &'static str,
    /// The laws it treats, in words.
    pub laws: &'static str,
    /// Residual that it reaches on well-conditioned problems (with its default options).
    pub accuracy: f64,
    /// Keys of `docs/references.bib`.
    pub citations: &'static [&'static str],
    /// Source of the file, whose head is the page.
    pub source: &'static str,
}

/// A law that a solver cannot treat.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("solver `{solver}` cannot treat {law}: {hint}")]
pub struct Unsupported {
    /// Name of the solver.
    pub solver: &'static str,
    /// Name of the law.
    pub law: &'static str,
    /// Which solver to take instead.
    pub hint: &'static str,
}

/// Why a problem was not solved.
#[expect(clippy::large_enum_variant, reason = "a failed step allocates nothing")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum SolveError {
    #[error("{} after {iterations} iterations (worst law: {})", missed(certificate, *tolerance), certificate.law)]
    NotConverged { certificate: Certificate, tolerance: f64, iterations: usize },
    #[error("Lemke's method ended on a ray after {pivots} pivots: the problem has no solution, or W is not copositive")]
    Ray { certificate: Certificate, pivots: usize },
    #[error("no basic solution among the {candidates} candidates")]
    NoSolution { certificate: Certificate, candidates: usize },
    #[error("{}; tried {rungs:#}{}", outcome(certificate, *tolerance), advice(rungs))]
    Exhausted { certificate: Certificate, tolerance: f64, rungs: auto::Rungs },
    #[error("the problem is too large for this solver: {size} {what}, at most {limit}")]
    TooLarge { what: &'static str, size: usize, limit: usize },
    #[error("the problem has an entry that is not finite ({0})")]
    NotFinite(&'static str),
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

impl SolveError {
    /// The certificate of the best point, where there is one.
    pub fn certificate(&self) -> Option<Certificate> {
        match self {
            SolveError::NotConverged { certificate, .. }
            | SolveError::Ray { certificate, .. }
            | SolveError::NoSolution { certificate, .. }
            | SolveError::Exhausted { certificate, .. } => Some(*certificate),
            SolveError::TooLarge { .. } | SolveError::NotFinite(_) | SolveError::Unsupported(_) => None,
        }
    }
}

/// What the best point misses.
fn outcome(certificate: &Certificate, tolerance: f64) -> String {
    if certificate.error() > tolerance {
        format!("{} (worst law: {})", missed(certificate, tolerance), certificate.law)
    } else {
        format!("no point was accepted, the best one has the residual {:.3e}", certificate.residual)
    }
}

/// By how much, in the words of the measure.
fn missed(certificate: &Certificate, tolerance: f64) -> String {
    let residual = certificate.residual;
    match certificate.measure() {
        Measure::Residual => format!("residual {residual:.3e} above the tolerance {tolerance:.1e}"),
        Measure::FullError => {
            let full = certificate.error();
            format!("full error {full:.3e} (residual {residual:.3e}) above the tolerance {tolerance:.1e}")
        }
    }
}

/// What may be done about it.
fn advice(rungs: &auto::Rungs) -> String {
    let option = rungs.stopped_by();
    option.map_or_else(String::new, |option| format!("; a larger `{option}` lets it go on"))
}

/// A solver type that the registry can build from a table of options.
pub trait Configured: Solver + 'static {
    /// The table of options.
    type Options: Options;
    /// What the solver says of itself.
    const INFO: SolverInfo;
    /// Whether its own options have what the others get from the registry: the [`Measure`] that the tolerance means,
    /// and `accept`.
    const IS_COMPLETE: bool = false;
    /// A solver with these options, if they make sense.
    fn new(options: Self::Options) -> Result<Self, OptionError>
    where
        Self: Sized,
    {
        options.validate()?;
        Ok(Self::configure(options))
    }

    /// A solver with options that are known to make sense; [`Configured::new`] checks them.
    #[doc(hidden)]
    fn configure(options: Self::Options) -> Self;
}

/// One row of the registry: all that the command line, Python and the documentation need.
pub struct SolverRow {
    /// What the solver says of itself.
    pub info: &'static SolverInfo,
    /// A solver from a table of options.
    pub build: fn(&Value) -> Result<Box<dyn Solver>, OptionError>,
    /// The options with defaults and meanings.
    pub options: fn() -> Vec<OptionDoc>,
    /// JSON Schema of the table of options.
    pub schema: fn() -> Value,
}

impl SolverRow {
    const fn of<S: Configured>() -> SolverRow {
        SolverRow {
            info: &S::INFO,
            build: common::build::<S>,
            options: common::describe::<S>,
            schema: common::schema::<S>,
        }
    }
}

/// Every solver. The first one is the default.
pub static SOLVERS: &[SolverRow] = &[
    SolverRow::of::<auto::Auto>(),
    SolverRow::of::<lemke::Lemke>(),
    SolverRow::of::<enumerative::Enumerative>(),
    SolverRow::of::<nsgs::Nsgs>(),
    SolverRow::of::<newton_min::NewtonMin>(),
    SolverRow::of::<newton::Newton>(),
    SolverRow::of::<interior_point::InteriorPoint>(),
    SolverRow::of::<proximal::Proximal>(),
    SolverRow::of::<admm::Admm>(),
];

/// The row of a solver by name.
pub fn find(name: &str) -> Option<&'static SolverRow> {
    SOLVERS.iter().find(|row| row.info.name == name)
}

/// The default solver with its default options.
pub fn default() -> Box<dyn Solver> {
    Box::new(auto::Auto::configure(Default::default()))
}
