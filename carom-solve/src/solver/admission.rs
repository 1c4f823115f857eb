//! What every solver asks before it starts: laws that make sense, numbers that are finite.

use super::{SolveError, Unsupported};
use crate::{Certificate, Delassus, Law, OneStepProblem, Reaction, Shape};

/// The beginning of methods that factor matrices: refuses numbers that are not finite, and solves what needs no
/// reaction.
pub(super) fn begin(
    problem: &OneStepProblem<'_>,
    w: &Delassus,
    z: &mut Reaction,
) -> Result<Option<Certificate>, SolveError> {
    finite(problem, w)?;
    if !at_rest(problem) {
        return Ok(None);
    }
    z.reset(problem.size());
    Ok(Some(problem.certify(z)))
}

/// Refuses laws whose data make no sense.
#[inline]
pub(super) fn valid(solver: &'static str, laws: &[Law]) -> Result<(), Unsupported> {
    match laws.iter().find(|law| !law.is_valid()) {
        None => Ok(()),
        Some(law) => Err(Unsupported {
            solver,
            law: law.name(),
            hint: "its bounds must be ordered, its coefficients finite and not negative",
        }),
    }
}

/// Refuses laws whose data make no sense, and those whose sets the solver does not know.
pub(super) fn known(solver: &'static str, laws: &[Law], knows: impl Fn(&Law) -> bool) -> Result<(), Unsupported> {
    valid(solver, laws)?;
    match laws.iter().find(|law| !knows(law)) {
        None => Ok(()),
        Some(law) => Err(Unsupported { solver, law: law.name(), hint: "use `auto` or `nsgs`" }),
    }
}

/// Refuses all but intervals and planar friction.
pub(super) fn planar(solver: &'static str, laws: &[Law]) -> Result<(), Unsupported> {
    known(solver, laws, |law| matches!(law.shape(), Shape::Interval { .. } | Shape::Cone1 { .. }))
}

/// Refuses laws of more than three rows: blocks of factored matrices have no more.
pub(super) fn narrow(solver: &'static str, laws: &[Law]) -> Result<(), Unsupported> {
    known(solver, laws, |law| law.size() <= 3)
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

/// The same where the diagonal blocks of `W` were measured.
pub(super) fn finite_blocks(problem: &OneStepProblem<'_>) -> Result<(), SolveError> {
    if !problem.b().iter().all(|x| x.is_finite()) {
        return Err(SolveError::NotFinite("b"));
    }
    match problem.inertia().is_none_or(|inertia| inertia.is_finite()) {
        true => Ok(()),
        false => Err(SolveError::NotFinite("W")),
    }
}

/// Whether no reaction at all is a solution: nothing approaches, and no law asks for more.
#[inline]
pub(super) fn at_rest(problem: &OneStepProblem<'_>) -> bool {
    let mut laws = problem.laws().iter().zip(problem.offsets());
    laws.all(|(law, &row)| law.is_at_rest(&problem.b()[row..row + law.size()]))
}
