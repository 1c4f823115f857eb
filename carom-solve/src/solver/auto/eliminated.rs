//! Problems with equality rows: these are eliminated, the ladder is for what is left.

use super::super::{Configured, SolveError, Solver, admission};
use super::record::{Entry, Rungs};
use super::rung::Rung;
use super::{Auto, AutoOptions};
use crate::{Certificate, Measure, OneStepProblem, Reaction};

/// Corrections of the reactions of equality rows at most.
const REFINEMENTS: usize = 3;

/// Residual that needs no correction.
const REFINED: f64 = 1e-13;

/// Rows of a problem that goes to the ladder as a whole where its elimination fails, at most.
const SMALL: usize = 1000;

impl Auto {
    /// Solves without equality rows, then for these. None where the whole ladder is to be tried.
    pub(super) fn eliminate_equalities(
        &mut self,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Option<Result<Certificate, SolveError>> {
        if !problem.b().iter().all(|x| x.is_finite()) {
            return Some(Err(SolveError::NotFinite("b")));
        }
        if !self.elimination.factor(problem) {
            return None;
        }
        if admission::at_rest(problem) {
            z.reset(problem.size());
            let result = problem.conclude(z, self.options.tolerance, 0);
            self.record.push(Entry::of(Rung::AtRest, &result));
            return Some(result.map(|certificate| self.measured(problem, certificate, z).unwrap_or(certificate)));
        }
        let mut least = self.solve_reduced(problem, z);
        if least.is_err() && self.elimination.keep_more(problem) {
            least = self.solve_reduced(problem, z);
        }
        match least {
            Ok(certificate) => Some(Ok(certificate)),
            Err(_) if problem.size() <= SMALL => None,
            Err(residual) => Some(self.exhausted(problem, z, residual)),
        }
    }

    /// One pass: what is left, then the equality rows, corrected while it helps. The residual where it fails.
    fn solve_reduced(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, f64> {
        let tolerance = self.options.tolerance;
        let mut rungs = Rungs::default();
        problem.climb(Rung::Equalities.name());
        self.elimination.solve(problem, z, |reduced, inner| {
            let solver = self.reduced.get_or_insert_with(|| {
                let options = AutoOptions { accept: None, full_error: None, ..self.options.clone() };
                let options = AutoOptions { measure: Measure::Residual, tolerance: tolerance / 3.0, ..options };
                Box::new(Auto::configure(options))
            });
            // what it misses is seen by the certificate of the whole
            let _ = solver.solve(reduced, inner);
            rungs = solver.record;
        });
        let mut best = problem.certify(z);
        for _ in 0..REFINEMENTS {
            if best.residual <= REFINED {
                break;
            }
            self.best.clone_from(&z.lambda);
            self.elimination.refine(problem, z);
            let next = problem.certify(z);
            if next.residual.is_nan() || next.residual >= best.residual {
                z.lambda.copy_from_slice(&self.best);
                best = problem.certify(z);
                break;
            }
            best = next;
        }
        problem.note_end(&best);
        self.record.push(Entry::new(Rung::Equalities, best.residual));
        self.record.append(&rungs);
        match self.measured(problem, best, z) {
            Ok(certificate) if best.residual <= tolerance || self.options.measure == Measure::FullError => {
                Ok(certificate)
            }
            _ => Err(best.residual),
        }
    }
}
