//! Under construction [cottle1992].

use super::{Configured, SolveError, Solver, SolverInfo, Unsupported};
use crate::{Certificate, Law, OneStepProblem, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of the solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AutoOptions {
    /// Largest accepted residual [-].
    pub tolerance: f64,
}

impl Default for AutoOptions {
    fn default() -> Self {
        AutoOptions { tolerance: 1e-10 }
    }
}

impl Options for AutoOptions {}

/// The solver and its workspace.
pub struct Auto {
    options: AutoOptions,
}

impl Configured for Auto {
    type Options = AutoOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "auto",
        title: "Auto",
        laws: "all",
        accuracy: 1e-10,
        citations: &["cottle1992"],
        source: include_str!("auto.rs"),
    };
    fn configure(options: Self::Options) -> Self {
        Auto { options }
    }
}

impl Solver for Auto {
    fn info(&self) -> &'static SolverInfo {
        const { &<Auto as Configured>::INFO }
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
