//! What is done with a problem that misses its tolerance by little: in time stepping one of a million should not end a
//! run, but it should be told.

use super::{SolveError, SolverWarning, growth};
use crate::{Certificate, OneStepProblem, Reaction, WarningKind};

/// A problem was not solved to the tolerance, and its best point was taken all the same.
pub const LOOSE: WarningKind = WarningKind {
    name: "loose-solution",
    message: "a contact problem was not solved to its tolerance, and the best point was taken (option `accept`)",
    unit: "1",
    hint: "a larger budget lets the solver go on; a smaller `accept` makes it an error",
};

/// Up to which error the best point is taken where the tolerance is missed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accept {
    /// So many tolerances.
    Tolerances(f64),
    /// This error [-], or the tolerance where that is larger.
    Error(f64),
}

impl Default for Accept {
    /// A hundred tolerances: time steps have larger errors by far.
    fn default() -> Self {
        Accept::Tolerances(100.0)
    }
}

impl Accept {
    /// The largest error that is accepted [-].
    pub fn limit(self, tolerance: f64) -> f64 {
        match self {
            Accept::Tolerances(times) => times * tolerance,
            Accept::Error(error) => error,
        }
    }
}

impl OneStepProblem<'_> {
    /// The certificate of the best point of a failed solve, in `z`, where it misses the tolerance by no more than is
    /// accepted. What was ended by the clock, what has no solution and what diverges is not.
    pub fn tolerate(&self, error: &SolveError, accept: Accept, z: &mut Reaction) -> Option<Certificate> {
        let (claimed, tolerance) = match error {
            SolveError::NotConverged { certificate, tolerance, .. } => (certificate, *tolerance),
            SolveError::Exhausted { certificate, tolerance, rungs } if !rungs.is_late() => (certificate, *tolerance),
            _ => return None,
        };
        let limit = accept.limit(tolerance);
        // one that was refused in spite of its error is no solution
        if !(claimed.error() > tolerance && claimed.error() <= limit) || z.lambda.len() != self.size() {
            return None;
        }
        let certificate = self.certify_by(claimed.measure(), z);
        (certificate.error() <= limit && !growth::is_growing(self, certificate)).then_some(certificate)
    }
}

impl SolverWarning {
    /// That the point of this certificate was taken.
    pub fn loose(certificate: &Certificate) -> SolverWarning {
        SolverWarning { kind: &LOOSE, value: certificate.error(), law: Some(certificate.law) }
    }
}
