//! Problems with equality rows: these are eliminated, the ladder is for what is left.

use super::super::{Configured, SolveError, Solver, SolverWarning, admission, growth};
use super::record::{Entry, Rungs};
use super::rung::Rung;
use super::{Auto, AutoOptions};
use crate::{Certificate, Measure, OneStepProblem, Reaction, WarningKind};

/// Redundant rows of a mechanism that has drifted cannot hold all at once.
pub const CONTRADICTION: WarningKind = WarningKind {
    name: "contradictory-joints",
    message: "redundant equality rows contradict each other, and some of them were left out",
    unit: "1",
    hint: "a projection of the joints keeps their positions together; a smaller step makes them drift less",
};

/// Largest residual of redundant rows that are left out.
const CONTRADICTED: f64 = 1e-3;

/// How many times larger reactions may be that make redundant rows hold all the same.
const GROWN: f64 = 100.0;

/// Corrections of the reactions of equality rows at most.
const REFINEMENTS: usize = 3;

/// Residual that needs no correction.
const REFINED: f64 = 1e-13;

/// Rows of a problem that goes to the ladder as a whole where its elimination fails, at most.
const SMALL: usize = 1000;

impl Auto {
    /// Solves without equality rows, then for these. None where the whole ladder is to be tried.
    #[inline(never)]
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
        let result = match self.solve_reduced(problem, z) {
            Err(certificate) if self.elimination.has_dropped() => self.contradiction(problem, z, certificate),
            result => result,
        };
        match result {
            Ok(certificate) => Some(Ok(certificate)),
            Err(_) if problem.size() <= SMALL => None,
            Err(certificate) => Some(self.exhausted(problem, z, certificate.residual)),
        }
    }

    /// Rows that count as redundant do not hold. They are kept where that takes reactions of the same order; else they
    /// contradict the others, as those of mechanisms that have drifted do, and are left out with a warning.
    #[cold]
    fn contradiction(
        &mut self,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
        first: Certificate,
    ) -> Result<Certificate, Certificate> {
        let tolerance = self.options.tolerance;
        let left_out = self.elimination.missed_by_dropped(problem, z);
        let others = first.residual * first.residual * first.square - left_out;
        let is_contradiction = first.residual <= CONTRADICTED
            && others <= tolerance * tolerance * first.square
            && !growth::is_growing(problem, first);
        self.first.clone_from(&z.lambda);
        if self.elimination.keep_more(problem)
            && let Ok(certificate) = self.solve_reduced(problem, z)
            && certificate.size() <= GROWN * first.size()
        {
            return Ok(certificate);
        }
        z.lambda.clone_from(&self.first);
        let certificate = problem.certify_by(self.options.measure, z);
        if !is_contradiction {
            return Err(certificate);
        }
        self.warning = Some(SolverWarning { kind: &CONTRADICTION, value: first.residual, law: Some(first.law) });
        Ok(certificate)
    }

    /// One pass: what is left, then the equality rows, corrected while it helps.
    fn solve_reduced(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, Certificate> {
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
        // contacts that cannot move are not held by any reaction, however large
        if self.elimination.may_grow() && growth::is_growing(problem, best) {
            return Err(best);
        }
        match self.measured(problem, best, z) {
            Ok(certificate) if best.residual <= tolerance || self.options.measure == Measure::FullError => {
                Ok(certificate)
            }
            _ => Err(best),
        }
    }
}
