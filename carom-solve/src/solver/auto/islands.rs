//! Laws that do not see each other, neither directly nor through others: each such group is a problem of its own.
//!
//! Groups are solved side by side, each one to a third of the tolerance: the residual of all of them together is
//! relative to norms over all, which are at least the root of a third of the sums over the groups. The result does not
//! depend on the number of threads.

use super::super::groups::Groups;
use super::super::{Configured, Solver};
use super::{Auto, AutoOptions};
use crate::{Delassus, Measure, OneStepProblem, ProblemWork, Reaction, Rows, StoredProblem};
use rayon::prelude::*;

/// Laws of the largest group at most: larger ones are better solved through their bodies.
const LARGEST: usize = 2000;

/// The groups of a problem.
#[derive(Default)]
pub(super) struct Islands {
    groups: Groups,
}

impl Islands {
    /// Number of groups.
    pub(super) fn number(&self) -> usize {
        self.groups.number()
    }

    /// Finds the groups; false where there is one only, or a large one.
    pub(super) fn find(&mut self, w: &Delassus) -> bool {
        self.groups.find(w);
        self.number() > 1 && self.groups.iter().all(|members| members.len() <= LARGEST)
    }

    /// Solves each group from its part of the guess; those that fail leave their best points.
    pub(super) fn solve(
        &self,
        options: &AutoOptions,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        lambda: &mut [f64],
    ) {
        let residual = AutoOptions { accept: None, full_error: None, measure: Measure::Residual, ..options.clone() };
        let options = AutoOptions { tolerance: tolerance / 3.0, ..residual };
        let w = problem.delassus();
        let parts: Vec<(&[u32], Option<StoredProblem>, Reaction)> = self
            .groups
            .iter()
            .map(|members| {
                let guess = members.iter().flat_map(|&i| &lambda[problem.rows(i as usize)]).copied().collect();
                (members, part(problem, &w, members), Reaction { lambda: guess, ..Reaction::default() })
            })
            .collect();
        // side by side there is no order: a history tells of the first one of the largest groups
        let history = problem.history().cloned();
        let largest = self.groups.iter().fold(&[][..], |most, next| if next.len() > most.len() { next } else { most });
        let solve = |solver: &mut Auto, (members, part, mut z): (&[u32], Option<StoredProblem>, Reaction)| {
            // what is left unsolved is seen by the certificate of the whole
            if let Some(part) = part {
                let _ = part.with(&mut ProblemWork::default(), |p| match &history {
                    Some(history) if std::ptr::eq(members, largest) => solver.solve(&p.recorded(history), &mut z),
                    _ => solver.solve(p, &mut z),
                });
            }
            (members.to_vec(), z.lambda)
        };
        let solved: Vec<(Vec<u32>, Vec<f64>)> =
            parts.into_par_iter().map_init(|| Auto::configure(options.clone()), solve).collect();
        for (members, own) in solved {
            let mut own = own.into_iter();
            for row in members.iter().flat_map(|&i| problem.rows(i as usize)) {
                lambda[row] = own.next().unwrap_or(0.0);
            }
        }
    }
}

/// The problem of some laws, in reduced form.
fn part(problem: &OneStepProblem<'_>, w: &Delassus, members: &[u32]) -> Option<StoredProblem> {
    let mut first = Vec::with_capacity(members.len());
    let mut size = 0;
    for &i in members {
        first.push(size);
        size += problem.rows(i as usize).len();
    }
    let mut rows = Rows::new(size);
    for &i in members {
        for k in 0..problem.rows(i as usize).len() {
            rows.push_sparse(w.row(i as usize).flat_map(|(j, block)| {
                {
                    // a block of zeros may lead out of the group
                    let place = members.binary_search(&(j as u32)).ok();
                    let width = w.rows(j).len();
                    place.into_iter().flat_map(move |place| (0..width).map(move |c| (place, c, block[k * width + c])))
                }
                .map(|(place, c, value)| (first[place] + c, value))
            }));
        }
    }
    let b = members.iter().flat_map(|&i| &problem.b()[problem.rows(i as usize)]).copied().collect();
    let laws = members.iter().map(|&i| problem.laws()[i as usize]).collect();
    StoredProblem::reduced("", rows, b, laws).ok()
}

#[cfg(test)]
mod tests {
    use super::Islands;
    use crate::{ProblemWork, family};

    #[test]
    fn towers_are_islands_and_walls_are_not() {
        // ten cubes of four contacts each; one wall; arches of 52 contacts
        for (name, size, number, laws) in [("box-stack", 400, 10, 40), ("bridge", 520, 10, 52), ("wall", 400, 1, 400)] {
            let problem = family::find(name).unwrap().build(size, 1).unwrap();
            problem.with(&mut ProblemWork::default(), |p| {
                let mut islands = Islands::default();
                assert_eq!(islands.find(&p.delassus()), number > 1, "{name}");
                assert_eq!(islands.number(), number, "{name}");
                if number > 1 {
                    assert!(islands.groups.iter().all(|members| members.len() == laws), "{name}");
                }
            });
        }
    }
}
