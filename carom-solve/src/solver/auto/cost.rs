//! What sweeps and factorisations cost, in nanoseconds of a usual core; the weights were measured.

use super::InteriorPoint;
use crate::OneStepProblem;

/// Sweeps that are always worth doing.
pub(super) const LEAST: f64 = 100.0;

/// Laws beyond which a factorisation is looked at only where bodies have few neighbours.
const MANY: usize = 20_000;

/// Pairs of bodies per body up to which a factorisation has little fill: lines, walls, most of what lies in a plane.
const THIN: f64 = 2.5;

/// Laws beyond which no factorisation is tried.
pub(super) const LARGEST: usize = 200_000;

/// The factorisations of a path are cheap where they cost fewer sweeps than this.
pub(super) const CHEAP: f64 = 1000.0;

/// Accelerated sweeps that are worth doing where those of a course follow, which cost less than half.
pub(super) const BRIEF: f64 = 200.0;

/// Factorisations that the methods after Gauss-Seidel need.
const FACTORISATIONS: f64 = 25.0;

/// Steps of the interior-point method that are always granted where a factorisation is affordable at all: most paths
/// are shorter.
const STEPS: f64 = 60.0;

/// Steps after which nothing is to be hoped for.
const MOST: f64 = 5000.0;

/// The steps that are always granted may cost so many times the budget.
const GENEROUS: f64 = 10.0;

/// Laws that a small problem counts as.
const SMALL: usize = 1000;

/// What a costly rung may take.
pub(super) fn allowed(budget: f64, problem: &OneStepProblem<'_>) -> f64 {
    budget * problem.laws().len().max(SMALL) as f64
}

/// One sweep.
pub(super) fn sweep(problem: &OneStepProblem<'_>) -> f64 {
    let w = problem.delassus();
    let entries: usize = (0..w.laws()).flat_map(|i| w.row(i)).map(|(_, block)| block.len()).sum();
    0.45 * entries as f64 + 40.0 * w.laws() as f64
}

/// One sweep of a long course, as methods that factor are compared with it: the sweeps of a course that tries several
/// ways help less than those of one that is known to be good.
fn long_sweep(problem: &OneStepProblem<'_>) -> f64 {
    let per_law = if problem.parts().lhs.dim() > 0 { 50.0 } else { f64::INFINITY };
    sweep(problem).min(per_law * problem.laws().len() as f64)
}

/// The sweeps of a course that a costly rung may take, where one costs so much per law.
pub(super) fn sweeps(budget: f64, per_law: Option<f64>, problem: &OneStepProblem<'_>) -> f64 {
    let one = per_law.map_or_else(|| long_sweep(problem), |per_law| per_law * problem.laws().len() as f64);
    (allowed(budget, problem) / one).max(LEAST)
}

/// One factorisation; infinite where there is none.
pub(super) fn factorisation(interior: &mut InteriorPoint, problem: &OneStepProblem<'_>) -> f64 {
    let laws = problem.laws().len();
    if laws > LARGEST || (laws > MANY && !is_thin(problem)) {
        return f64::INFINITY;
    }
    interior.multiplications(problem).map_or(f64::INFINITY, |x| 0.25 * x + 400.0 * laws as f64)
}

/// Whether bodies have few neighbours, as told by the degrees of freedom of laws that follow each other: even the
/// analysis of a packing in space takes more memory than everything else.
fn is_thin(problem: &OneStepProblem<'_>) -> bool {
    let rows = problem.parts().output;
    let size = if problem.laws().iter().any(|law| law.size() > 2) { 6 } else { 3 };
    let (mut pairs, mut last) = (0, None);
    for &first in &problem.offsets()[..problem.laws().len()] {
        let row = rows.row(first);
        let ends = row.first().zip(row.last()).map(|(a, b)| (a.0 / size, b.0 / size));
        if ends != last {
            (pairs, last) = (pairs + 1, ends);
        }
    }
    pairs as f64 * size as f64 <= THIN * problem.parts().lhs.dim() as f64
}

/// The sweeps that cost as much as the factorisations that would replace them.
pub(super) fn in_sweeps(factorisation: f64, problem: &OneStepProblem<'_>) -> f64 {
    let one = if problem.laws().len() < super::LARGE { sweep(problem) } else { long_sweep(problem) };
    (FACTORISATIONS * factorisation / one).max(LEAST)
}

/// Steps of the interior-point method that the budget grants.
pub(super) fn iterations(budget: f64, factorisation: f64, problem: &OneStepProblem<'_>) -> usize {
    let most = allowed(budget, problem) / factorisation;
    most.clamp(STEPS, MOST) as usize
}

pub(super) fn is_affordable(budget: f64, factorisation: f64, problem: &OneStepProblem<'_>) -> bool {
    STEPS * factorisation <= GENEROUS * allowed(budget, problem)
}
