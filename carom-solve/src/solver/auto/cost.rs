//! What a factorisation costs, in Gauss-Seidel sweeps.

use super::InteriorPoint;
use crate::OneStepProblem;

/// Sweeps that are always worth doing.
pub(super) const LEAST: f64 = 100.0;

/// Laws beyond which no factorisation is tried.
pub(super) const LARGEST: usize = 20_000;

/// Factorisations that the methods after Gauss-Seidel need.
const FACTORISATIONS: f64 = 25.0;

/// Multiplications of one factorisation that nobody wants to wait for.
const UNAFFORDABLE: f64 = 2e11;

/// The sweeps that cost as much as the factorisations that would replace them.
pub(super) fn in_sweeps(interior: &mut InteriorPoint, problem: &OneStepProblem<'_>) -> f64 {
    let w = problem.delassus();
    if w.laws() > LARGEST {
        return f64::INFINITY;
    }
    let laws = w.laws() as f64;
    let entries: usize = (0..w.laws()).flat_map(|i| w.row(i)).map(|(_, block)| block.len()).sum();
    let sweep = 0.45 * entries as f64 + 40.0 * laws;
    let factorisation = interior.multiplications(problem).map_or(f64::INFINITY, |x| 0.25 * x + 400.0 * laws);
    (FACTORISATIONS * factorisation / sweep).max(LEAST)
}

pub(super) fn is_affordable(interior: &mut InteriorPoint, problem: &OneStepProblem<'_>) -> bool {
    problem.laws().len() <= LARGEST && interior.multiplications(problem).is_ok_and(|x| x <= UNAFFORDABLE)
}
