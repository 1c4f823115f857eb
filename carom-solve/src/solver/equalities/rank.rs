//! Which equality rows are redundant.

use super::Elimination;
use crate::OneStepProblem;

/// Part of its largest entry from which on a row has a share in a direction.
const SHARE: f64 = 1e-8;

/// The rank of the equality rows of a problem, and who shares what is redundant.
///
/// The motion is unique all the same; how the rows of one direction share their load is not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Redundancy {
    /// Number of equality rows.
    pub rows: usize,
    /// Number of independent ones.
    pub rank: usize,
    /// For each direction that was dropped the laws with a share in it, rising, by their number in the problem.
    pub shared: Vec<Vec<usize>>,
    /// Numbers that the factors hold: what the elimination costs.
    pub entries: usize,
}

impl Redundancy {
    /// Of the equality rows of a problem; none where they cannot be factored: a number is not finite, or thousands of
    /// rows close loops of one mechanism.
    pub fn of(problem: &OneStepProblem<'_>) -> Option<Redundancy> {
        let mut elimination = Elimination::default();
        elimination.factor(problem).then(|| elimination.redundancy())
    }
}

impl Elimination {
    /// What the last factorisation has found.
    fn redundancy(&self) -> Redundancy {
        let mut shared = Vec::new();
        let plan = &self.saddle.plan;
        let mut known = 0;
        for (mechanism, border) in plan.mechanisms.iter().zip(&self.saddle.border) {
            let places: Vec<usize> = mechanism.rows.clone().chain(mechanism.border.clone()).collect();
            known += places.len();
            for direction in border.null.chunks_exact(places.len().max(1)) {
                let largest = direction.iter().fold(0.0f64, |most, x| most.max(x.abs()));
                let has_share = |x: &(&f64, &usize)| x.0.abs() > SHARE * largest;
                let laws = direction.iter().zip(&places).filter(has_share);
                let mut laws: Vec<usize> = laws.map(|x| self.equal[plan.order[*x.1] as usize]).collect();
                laws.sort_unstable();
                shared.push(laws);
            }
        }
        // rows that touch nothing are directions of their own
        if known < self.equal.len() {
            let mut is_known = vec![false; self.equal.len()];
            plan.order.iter().for_each(|&row| is_known[row as usize] = true);
            let alone = self.equal.iter().zip(is_known).filter(|x| !x.1);
            shared.extend(alone.map(|x| vec![*x.0]));
        }
        let rows = self.equal.len();
        Redundancy { rows, rank: rows - shared.len(), shared, entries: self.saddle.entries() }
    }
}
