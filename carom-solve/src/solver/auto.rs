//! The default: a ladder of methods, from the cheapest to the surest; the certificate decides when to stop.
//!
//! | problem | rungs |
//! |---|---|
//! | one law | closed form, then as below |
//! | no friction, up to 200 rows | Lemke, Gauss-Seidel |
//! | planar friction, up to 24 rows | Lemke, Gauss-Seidel, enumeration |
//! | planar friction, up to 400 rows | 100 Gauss-Seidel sweeps, Lemke, Gauss-Seidel |
//! | larger, no spatial friction | Gauss-Seidel, Lemke |
//! | spatial friction | Gauss-Seidel |
//!
//! Small planar problems start with Lemke's method [lemke1965, cottle1992]: a few pivots cost less than the many sweeps that
//! nearly singular `W` need. Gauss-Seidel [jourdan1998, acary2018] starts from the guess, or from the best point so far.
//! A rung is tried only if the one before missed the tolerance; if all did, the error carries the best certificate. Without
//! friction a ray of Lemke's method outweighs it: for positive semidefinite `W` it proves that there is no solution, and
//! reactions that grow without bound have small relative residuals.

use super::enumerative::{Enumerative, EnumerativeOptions, combinations};
use super::lemke::{Lemke, LemkeOptions};
use super::local::Local;
use super::nsgs::{Nsgs, NsgsOptions};
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission};
use crate::{Certificate, Law, OneStepProblem, OptionError, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of the default solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AutoOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of Gauss-Seidel sweeps over all laws [-].
    pub max_sweeps: usize,
}

impl Default for AutoOptions {
    fn default() -> Self {
        AutoOptions { tolerance: 1e-10, max_sweeps: 10_000 }
    }
}

impl AutoOptions {
    fn sweeps(&self) -> NsgsOptions {
        NsgsOptions { tolerance: self.tolerance, max_sweeps: self.max_sweeps, ..NsgsOptions::default() }
    }
}

impl Options for AutoOptions {
    fn validate(&self) -> Result<(), OptionError> {
        self.sweeps().validate()
    }
}

/// One method of the ladder.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rung {
    ClosedForm,
    Lemke,
    FewSweeps,
    Sweeps,
    Enumeration,
}

/// Sweeps of the short rung.
const FEW: usize = 100;

/// The rungs for a problem.
fn ladder(laws: &[Law], rows: usize) -> &'static [Rung] {
    use Rung::*;
    let spatial = laws.iter().any(|law| matches!(law, Law::Coulomb3 { .. }));
    let planar = laws.iter().any(|law| matches!(law, Law::Coulomb2 { .. }));
    match (laws.len(), spatial, planar, rows) {
        (1, true, ..) => &[ClosedForm, Sweeps],
        (1, ..) => &[ClosedForm, Lemke, Enumeration],
        (_, true, ..) => &[Sweeps],
        (_, _, false, ..=200) => &[Lemke, Sweeps, Enumeration],
        (_, _, true, ..=24) => &[Lemke, Sweeps, Enumeration],
        (_, _, true, ..=400) => &[FewSweeps, Lemke, Sweeps],
        _ => &[Sweeps, Lemke],
    }
}

/// The default solver and the workspaces of its methods.
pub struct Auto {
    options: AutoOptions,
    lemke: Lemke,
    nsgs: Nsgs,
    enumerative: Enumerative,
    best: Vec<f64>, // (m) reactions of the best certificate so far
}

impl Configured for Auto {
    type Options = AutoOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "auto",
        title: "a ladder of methods, chosen by laws and size",
        laws: "equality, unilateral, box, planar friction, spatial friction",
        accuracy: 1e-10,
        citations: &["lemke1965", "cottle1992", "jourdan1998", "acary2018"],
        source: include_str!("auto.rs"),
    };

    fn configure(options: AutoOptions) -> Self {
        let tolerance = options.tolerance;
        Auto {
            lemke: Lemke::configure(LemkeOptions { tolerance, ..LemkeOptions::default() }),
            nsgs: Nsgs::configure(options.sweeps()),
            enumerative: Enumerative::configure(EnumerativeOptions { tolerance, ..EnumerativeOptions::default() }),
            best: Vec::new(),
            options,
        }
    }
}

impl Solver for Auto {
    fn info(&self) -> &'static SolverInfo {
        const { &Auto::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::valid("auto", laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let mut failed: Option<SolveError> = None;
        let mut ray: Option<SolveError> = None;
        let friction = problem.laws().iter().any(|law| matches!(law, Law::Coulomb2 { .. } | Law::Coulomb3 { .. }));
        for &rung in ladder(problem.laws(), problem.size()) {
            let error = match self.climb(rung, problem, z) {
                Ok(certificate) => return Ok(certificate),
                Err(error) => error,
            };
            if matches!(error, SolveError::Ray { .. }) && !friction {
                ray = Some(error.clone());
            }
            // nothing to compare: a law or a number that no other method will like better, or a rung that does not fit
            let Some(certificate) = error.certificate() else {
                match failed {
                    None => return Err(error),
                    Some(_) => continue,
                }
            };
            let before = failed.as_ref().and_then(SolveError::certificate).map_or(f64::INFINITY, |c| c.residual);
            if failed.is_none() || certificate.residual < before {
                self.best.clear();
                self.best.extend_from_slice(&z.lambda);
                failed = Some(error);
            } else {
                z.lambda.copy_from_slice(&self.best);
            }
        }
        if let Some(error) = ray {
            // Lemke's error is that of no reaction at all
            z.reset(problem.size());
            problem.certify(z);
            return Err(error);
        }
        match failed {
            None => problem.conclude(z, self.options.tolerance, 0),
            Some(error) => {
                problem.certify(z);
                Err(error)
            }
        }
    }
}

impl Auto {
    fn climb(&mut self, rung: Rung, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        match rung {
            Rung::ClosedForm => self.one_law(problem, z),
            Rung::Lemke => self.lemke.solve(problem, z),
            Rung::FewSweeps => self.nsgs.sweep_up_to(FEW.min(self.options.max_sweeps), problem, z),
            Rung::Sweeps => self.nsgs.solve(problem, z),
            Rung::Enumeration => {
                let size = combinations(problem.laws());
                if size > 4096 {
                    return Err(SolveError::TooLarge { what: "combinations of states", size, limit: 4096 });
                }
                self.enumerative.solve(problem, z)
            }
        }
    }

    fn one_law(&self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        self.admits(problem.laws())?;
        admission::finite(problem, &w)?;
        z.lambda.resize(problem.size(), 0.0);
        let (law, block) = (problem.laws()[0], w.diagonal(0));
        match (law, problem.b(), block) {
            (Law::Unilateral, &[b], &[w]) if w > 0.0 => z.lambda[0] = (-b / w).max(0.0),
            (_, b, _) => Local::new(law, block).solve(b, &mut z.lambda),
        }
        problem.conclude(z, self.options.tolerance, 0)
    }
}
