//! Complementarity and friction problems, certified.
//!
//! The one-step problem of nonsmooth dynamics: given a factored matrix `A`, rows `C` (output), `Bᵀ` (input), an
//! optional feedthrough `D`, a vector `b` and one law per group of rows, find `λ` and `u` with
//!
//! ```text
//!     u = (D + C A⁻¹ B) λ + b,        λᵢ ∈ Lawᵢ(uᵢ)   for each law i                      (1)
//! ```
//!
//! LCP, mixed LCP, relay, planar and spatial Coulomb friction, and any mixture of them, are the same struct with other
//! [laws](Law). The Delassus matrix `W = D + C A⁻¹ B` is a view that a solver may ask for.
//!
//! A solver only claims; the problem certifies: every [`Certificate`] is computed by [`OneStepProblem::certify`] from
//! the ingredients, never from the solver's own numbers.
//!
//! ```
//! use carom_solve::{Identity, Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows, solver};
//! // 0 ≤ 2 λ − 4 ⊥ λ ≥ 0
//! let w = Rows::dense(1, &[2.0]);
//! let parts = Parts { lhs: &Identity(1), output: &w, input: &Rows::dense(1, &[1.0]), feedthrough: None,
//!     b: &[-4.0], laws: &[Law::UNILATERAL] };
//! let mut work = ProblemWork::default();
//! let mut z = Reaction::default();
//! let problem = OneStepProblem::new(parts, &mut work);
//! let certificate = solver::default().solve(&problem, &mut z).unwrap();
//! assert!((z.lambda[0] - 2.0).abs() < 1e-15 && certificate.residual < 1e-15);
//! ```

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod block_lu;
mod certificate;
mod delassus;
mod dense;
pub mod elementary;
pub mod family;
mod history;
mod inertia;
pub mod law;
pub mod options;
pub mod persist;
mod problem;
mod rows;
pub mod solver;
mod stored;
mod warning;

pub use certificate::{Certificate, Measure};
pub use delassus::Delassus;
pub use dense::{DenseLu, Singular};
pub use history::{History, Point};
pub use law::{Disc, Law, Shape};
pub use options::{OptionDoc, OptionError, Options, page};
pub use persist::{Archive, ArchiveError, Blank, Persist};
pub use problem::{Identity, LinearSolve, Names, OneStepProblem, Parts, ProblemWork, Reaction, Reference};
pub use rows::Rows;
pub use solver::equalities::Redundancy;
pub use solver::{SOLVERS, SolveError, Solver, SolverInfo, SolverRow, SolverWarning, Unsupported};
pub use stored::{BlockFactor, GlobalParts, StoredError, StoredProblem};
pub use warning::WarningKind;
