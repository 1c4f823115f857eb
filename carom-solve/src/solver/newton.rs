//! Semismooth Newton method on the function of Alart and Curnier, without a proximal term [alart1991, qi1993].
//!
//! ```text
//!     F_N = r_N − max(r_N − ρ_N u_N, 0),   F_T = r_T − P_B(r_T − ρ_T u_T),   u = W r + b              (1)
//!     J Δr = −F,   J ∈ ∂F                                                                       (2)
//! ```
//!
//! with `B` the disc of radius `μ max(r_N − ρ_N u_N, 0)`; the other laws have `F = r − P(r − ρ u)`. Steps are halved
//! until `‖F‖` falls below the largest of its last five values. Convergence near a solution is quadratic and takes a
//! handful of factorisations, but far from it the line search may stall, most of all where `W` is singular. From the
//! guess first, then from zero; where both stall, proximal steps lead on (see `proximal`), unless the option `safeguard
//! = "none"` asks for the bare method.

use super::proximal::{Limits, Rounds};
use super::scaled::Scaled;
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission, growth};
use crate::options::{at_least_one, positive};
use crate::{Certificate, Law, OneStepProblem, OptionError, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do where the line search stalls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Safeguard {
    /// Go on with proximal steps.
    #[default]
    Proximal,
    /// Fail.
    None,
}

/// Options of the Newton method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct NewtonOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of Newton steps in all, one factorisation each; at most 200 of them from one start [-].
    pub max_iterations: usize,
    /// Where the line search stalls: `proximal` steps, or `none` [-].
    pub safeguard: Safeguard,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        NewtonOptions { tolerance: 1e-10, max_iterations: 5_000, safeguard: Safeguard::Proximal }
    }
}

impl Options for NewtonOptions {
    fn validate(&self) -> Result<(), OptionError> {
        positive("tolerance", self.tolerance)?;
        at_least_one("max-iterations", self.max_iterations)
    }
}

/// Steps from one start at most.
const LONGEST: usize = 200;

/// The Newton method and its workspace.
pub struct Newton {
    options: NewtonOptions,
    scaled: Scaled,
    rounds: Rounds,
}

impl Configured for Newton {
    type Options = NewtonOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "newton",
        title: "semismooth Newton method on the Alart-Curnier function",
        laws: "equality, unilateral, box, planar friction, spatial friction",
        accuracy: 1e-10,
        citations: &["alart1991", "qi1993"],
        source: include_str!("newton.rs"),
    };

    fn configure(options: NewtonOptions) -> Self {
        Newton { options, scaled: Scaled::default(), rounds: Rounds::default() }
    }
}

impl Solver for Newton {
    fn info(&self) -> &'static SolverInfo {
        const { &Newton::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::narrow("newton", laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        self.admits(problem.laws())?;
        if let Some(certificate) = admission::begin(problem, &w, z)? {
            return Ok(certificate);
        }
        self.scaled.load(problem, &w);
        self.rounds.prepare(problem, &self.scaled)?;
        self.scaled.import(problem, &z.lambda, &mut self.rounds.centre);
        self.run();
        self.scaled.export(problem, &self.rounds.best, &mut z.lambda);
        growth::conclude(problem, z, self.options.tolerance, self.rounds.effort.newton, self.rounds.diverging)
    }

    fn log(&self) -> String {
        match self.rounds.effort.proximal {
            0 => format!("newton {}", self.rounds.effort.newton),
            steps => format!("newton {}, {steps} of them proximal", self.rounds.effort.newton),
        }
    }
}

impl Newton {
    /// From the guess, from zero, and on with proximal steps.
    fn run(&mut self) {
        let NewtonOptions { tolerance, max_iterations, safeguard } = self.options;
        let limits = Limits { tolerance, max_iterations: max_iterations.min(LONGEST) };
        if self.rounds.newton(&self.scaled, limits) {
            return;
        }
        if self.rounds.centre.iter().any(|&r| r != 0.0) {
            self.rounds.centre.fill(0.0);
            if self.rounds.newton(&self.scaled, limits) {
                return;
            }
        }
        if safeguard == Safeguard::Proximal {
            self.rounds.run(&self.scaled, None, Limits { tolerance, max_iterations });
        }
    }
}
