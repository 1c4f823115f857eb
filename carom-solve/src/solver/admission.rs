//! What every solver asks before it starts: options and laws that make sense, numbers that are finite.

use super::{SolveError, Unsupported};
use crate::{Certificate, Delassus, Law, OneStepProblem, OptionError, Reaction};

/// Refuses numbers that are not positive and finite.
pub(super) fn positive(field: &'static str, value: f64) -> Result<(), OptionError> {
    match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(OptionError::new(field, "must be positive and finite")),
    }
}

/// Refuses a limit of zero.
pub(super) fn count(field: &'static str, value: usize) -> Result<(), OptionError> {
    match value {
        0 => Err(OptionError::new(field, "must be at least 1")),
        _ => Ok(()),
    }
}

/// The beginning of methods for all laws: refuses what cannot be solved, and solves what needs no reaction at all.
pub(super) fn begin(
    solver: &'static str,
    problem: &OneStepProblem<'_>,
    w: &Delassus,
    z: &mut Reaction,
) -> Result<Option<Certificate>, SolveError> {
    valid(solver, problem.laws())?;
    finite(problem, w)?;
    if !at_rest(problem) {
        return Ok(None);
    }
    z.reset(problem.size());
    Ok(Some(problem.certify(z)))
}

/// Refuses laws whose data make no sense.
pub(super) fn valid(solver: &'static str, laws: &[Law]) -> Result<(), Unsupported> {
    match laws.iter().find(|law| !law.is_valid()) {
        None => Ok(()),
        Some(law) => Err(Unsupported {
            solver,
            law: law.name(),
            hint: "its bounds must be ordered, its coefficient finite and not negative",
        }),
    }
}

/// Refuses laws whose data make no sense, and spatial friction.
pub(super) fn planar(solver: &'static str, laws: &[Law]) -> Result<(), Unsupported> {
    valid(solver, laws)?;
    match laws.iter().find(|law| matches!(law, Law::Coulomb3 { .. })) {
        None => Ok(()),
        Some(law) => Err(Unsupported { solver, law: law.name(), hint: "use `auto` or `nsgs`" }),
    }
}

/// Refuses problems with entries that are not finite.
#[inline]
pub(super) fn finite(problem: &OneStepProblem<'_>, w: &Delassus) -> Result<(), SolveError> {
    if !problem.b().iter().all(|x| x.is_finite()) {
        return Err(SolveError::NotFinite("b"));
    }
    if !w.is_finite() {
        return Err(SolveError::NotFinite("W"));
    }
    Ok(())
}

/// Whether no reaction at all is a solution: nothing approaches, and no law asks for more.
pub(super) fn at_rest(problem: &OneStepProblem<'_>) -> bool {
    problem.laws().iter().zip(problem.offsets()).all(|(law, &row)| {
        let b = problem.b()[row];
        match *law {
            Law::Equality => b == 0.0,
            Law::Unilateral | Law::Coulomb2 { .. } | Law::Coulomb3 { .. } => b >= 0.0,
            Law::Box { lower, upper } => {
                lower <= 0.0 && upper >= 0.0 && (b == 0.0 || (b > 0.0 && lower == 0.0) || (b < 0.0 && upper == 0.0))
            }
        }
    })
}
