//! Under construction [cottle1992].

use super::{Configured, SolveError, Solver, SolverInfo, Unsupported};
use crate::{Certificate, Law, OneStepProblem, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of the solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct NsgsOptions {
    /// Largest accepted residual [-].
    pub tolerance: f64,
}

impl Default for NsgsOptions {
    fn default() -> Self {
        NsgsOptions { tolerance: 1e-10 }
    }
}

impl Options for NsgsOptions {}

/// The solver and its workspace.
pub struct Nsgs {
    options: NsgsOptions,
}

impl Configured for Nsgs {
    type Options = NsgsOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "nsgs",
        title: "Nsgs",
        laws: "all",
        accuracy: 1e-10,
        citations: &["cottle1992"],
        source: include_str!("nsgs.rs"),
    };
    fn configure(options: Self::Options) -> Self {
        Nsgs { options }
    }
}

impl Solver for Nsgs {
    fn info(&self) -> &'static SolverInfo {
        const { &<Nsgs as Configured>::INFO }
    }

    fn admits(&self, _laws: &[Law]) -> Result<(), Unsupported> {
        Ok(())
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        z.lambda.resize(problem.size(), 0.0);
        let w = problem.delassus();
        let mut u = vec![0.0; problem.size()];
        for _ in 0..2000 {
            for (i, law) in problem.laws().iter().enumerate() {
                w.mul(&z.lambda, &mut u);
                let rows = problem.rows(i);
                let lambda: Vec<f64> = z.lambda[rows.clone()].to_vec();
                let v: Vec<f64> = rows.clone().map(|k| u[k] + problem.b()[k]).collect();
                let mut f = vec![0.0; v.len()];
                law.natural_map(&lambda, &v, 1.0 / w.scale(i), &mut f);
                for (k, f) in rows.zip(f) {
                    z.lambda[k] -= f;
                }
            }
        }
        drop(w);
        problem.conclude(z, self.options.tolerance, 0)
    }
}
