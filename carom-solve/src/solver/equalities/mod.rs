//! Equality rows are eliminated first: joints of mechanisms, beside contacts.
//!
//! Rows E are equalities, rows I the others. With the saddle system
//!
//! ```text
//!     A x − B_E λ_E = f,   C_E x = g                                                         (1)
//! ```
//!
//! `P f` is its answer x for g = 0, and `x₀` that for f = 0 and g = −b_E. What is left is a problem of the same kind
//!
//! ```text
//!     u_I = C_I P B_I λ_I + b_I + C_I x₀,   λ_I ∈ Law(u_I)                                   (2)
//! ```
//!
//! and λ_E follows from (1) with f = B_I λ_I. (1) is factored in the order of the tree of bodies, see `plan.rs`: for
//! chains, trees and stars the cost is linear in the bodies, where the Delassus matrix of a star is full. Redundant
//! rows are found on the way; the motion does not depend on how they share their load, and reactions are those of
//! minimum norm in scaled variables.
//!
//! A spatial contact that cannot move along one tangent, as all do in mechanisms whose joints keep them in a plane, is
//! a planar one: its block of (2) would be singular.

mod kernel;
mod plan;
mod rank;
mod saddle;
mod solve;
mod tree;

use crate::inertia::Inertia;
use crate::{Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows, Shape};
pub use rank::Redundancy;
use saddle::{CUT, Given, Saddle};
use solve::Constrained;
use std::cell::RefCell;

/// Fewest equality rows that are eliminated.
const FEWEST: usize = 3;

/// Mobility of a tangent, relative to that of the normal, that counts as none.
const FLAT: f64 = 1e-9;

/// Velocity along such a tangent, relative to the largest one, that counts as none.
const STILL: f64 = 1e-12;

/// A cut that keeps all rows which are not redundant to rounding.
const LAST_CUT: f64 = 1e-14;

/// The elimination and its workspace.
#[derive(Default)]
pub(super) struct Elimination {
    saddle: Saddle,
    other: Saddle,        // of the rows before: velocities and positions of joints take turns
    equal: Vec<usize>,    // (E) laws
    row: Vec<usize>,      // (E) their rows
    rest: Vec<Remainder>, // laws of I
    laws: Vec<Law>,
    output: Rows,
    input: Rows,
    b: Vec<f64>,
    start: Vec<f64>,  // (n) x₀
    body: Vec<f64>,   // (n)
    lambda: Vec<f64>, // (E)
    work: ProblemWork,
    z: Reaction,
    factored: Option<u64>, // measurement of the problem whose rows are factored
}

/// A law that stays.
#[derive(Clone, Copy)]
struct Remainder {
    law: usize,
    row: usize,
    flat: usize, // tangent that is left out; zero if none
}

impl Remainder {
    /// Rows of the problem that stay, of a law of `size` rows.
    fn rows(self, size: usize) -> impl Iterator<Item = usize> {
        (0..size).filter(move |&k| k == 0 || k != self.flat).map(move |k| self.row + k)
    }
}

/// Whether equality rows are eliminated first.
pub(super) fn pays(problem: &OneStepProblem<'_>) -> bool {
    let parts = problem.parts();
    // bodies in between, and nothing else
    parts.feedthrough.is_none()
        && parts.lhs.dim() > 0
        && problem.laws().iter().filter(|law| law.is_equality()).nth(FEWEST - 1).is_some()
}

impl Elimination {
    /// Factors (1). False where that is not possible.
    pub(super) fn factor(&mut self, problem: &OneStepProblem<'_>) -> bool {
        let (laws, offsets) = (problem.laws(), problem.offsets());
        let known = self.factored.is_some() && self.factored == problem.measurement();
        let equal = || (0..laws.len()).filter(|&i| laws[i].is_equality());
        let is_same = known && self.equal.iter().copied().eq(equal());
        self.rest.clear();
        let rest = (0..laws.len()).filter(|&i| !laws[i].is_equality());
        self.rest.extend(rest.map(|law| Remainder { law, row: offsets[law], flat: 0 }));
        let p = problem.parts();
        let given = Given { a: p.lhs, output: p.output, input: p.input };
        if is_same {
            return true;
        }
        self.factored = None;
        self.equal.clear();
        self.equal.extend(equal());
        self.row.clear();
        self.row.extend(self.equal.iter().map(|&i| offsets[i]));
        if !self.saddle.is_for(given, &self.row) {
            std::mem::swap(&mut self.saddle, &mut self.other);
        }
        if !self.saddle.factor(given, &self.row, CUT) {
            return false;
        }
        self.body.resize(p.lhs.dim(), 0.0);
        self.lambda.resize(self.row.len(), 0.0);
        self.factored = Some(problem.measure(|inertia| self.measure(problem, inertia)));
        problem.inertia().is_none_or(|inertia| inertia.is_finite())
    }

    /// The diagonal blocks of W.
    fn measure(&mut self, problem: &OneStepProblem<'_>, inertia: &mut Inertia) {
        let own = self.saddle.own_of_rows();
        let p = problem.parts();
        self.body.fill(0.0);
        let mut place = 0;
        for (i, law) in problem.laws().iter().enumerate() {
            if self.equal.get(place) == Some(&i) {
                inertia.push(1, &own[place..place + 1]);
                place += 1;
                continue;
            }
            const MOST: usize = Law::MOST_ROWS;
            let (n, first, mut block) = (law.size(), problem.offsets()[i], [0.0; MOST * MOST]);
            for k in 0..n {
                let row = p.input.row(first + k);
                p.input.add_row(first + k, 1.0, &mut self.body);
                for_blocks(p, row, |block| p.lhs.solve_block(block.clone(), &mut self.body[block]));
                (0..n).for_each(|r| block[r * n + k] = p.output.dot(first + r, &self.body));
                for_blocks(p, row, |block| self.body[block].fill(0.0));
            }
            inertia.push(n, &block[..n * n]);
        }
    }

    /// The problem (2) from the guess `z`, handed to `solve`; then all reactions are in `z`. Nothing to be handed over
    /// where there are equality rows only.
    pub(super) fn solve(
        &mut self,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
        solve: impl FnOnce(&OneStepProblem<'_>, &mut Reaction),
    ) {
        let p = problem.parts();
        z.lambda.resize(problem.size(), 0.0);
        self.start.clear();
        self.start.resize(p.lhs.dim(), 0.0);
        if !self.rest.is_empty() {
            let (row, b) = (&self.row, p.b);
            self.saddle.react(p.lhs, |k| -b[row[k]], &mut self.start, &mut self.lambda);
            self.reduce(problem, z);
            let is_known = match self.flatten(problem) {
                Some(true) => {
                    self.reduce(problem, z);
                    false
                }
                flat => flat.is_some(),
            };
            let Elimination { saddle, laws, output, input, b, work, z: inner, .. } = self;
            let lhs = &Constrained { saddle: RefCell::new(saddle), a: p.lhs };
            let parts = Parts { lhs, output, input, feedthrough: None, b, laws };
            // its W has been assembled to look for flat contacts
            let reduced = if is_known { OneStepProblem::again(parts, work) } else { OneStepProblem::new(parts, work) };
            match problem.history() {
                Some(history) => solve(&reduced.recorded(history), inner),
                None => solve(&reduced, inner),
            }
            let mut lambda = inner.lambda.iter();
            z.lambda.fill(0.0);
            for rest in &self.rest {
                let size = problem.laws()[rest.law].size();
                rest.rows(size).for_each(|row| z.lambda[row] = lambda.next().copied().unwrap_or(0.0));
            }
        }
        self.recover(problem, z);
    }

    /// λ_E for the other reactions in `z`.
    fn recover(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) {
        let p = problem.parts();
        self.body.fill(0.0);
        for rest in &self.rest {
            let rows = rest.row..rest.row + problem.laws()[rest.law].size();
            rows.for_each(|row| p.input.add_row(row, z.lambda[row], &mut self.body));
        }
        let (row, b) = (&self.row, p.b);
        // bodies without equality rows answer too, but reach no equality row
        self.saddle.react(p.lhs, |k| -b[row[k]], &mut self.body, &mut self.lambda);
        row.iter().zip(&self.lambda).for_each(|(&row, &lambda)| z.lambda[row] = lambda);
    }

    /// Corrects λ_E by what `z.u` of the certificate misses.
    pub(super) fn refine(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) {
        self.body.fill(0.0);
        let (row, u) = (&self.row, &z.u);
        self.saddle.react(problem.parts().lhs, |k| -u[row[k]], &mut self.body, &mut self.lambda);
        row.iter().zip(&self.lambda).for_each(|(&row, &lambda)| z.lambda[row] += lambda);
    }

    /// Keeps rows that count as redundant but are not, to rounding. False where there is none.
    pub(super) fn keep_more(&mut self, problem: &OneStepProblem<'_>) -> bool {
        self.factored = None;
        self.saddle.cut_again(problem.parts().lhs, LAST_CUT)
    }

    /// Whether reactions may be large without an end: those of joints alone are as they must be.
    pub(super) fn may_grow(&self) -> bool {
        !self.rest.is_empty() || self.has_dropped()
    }

    /// Whether rows were left out as redundant.
    pub(super) fn has_dropped(&self) -> bool {
        self.saddle.dropped().next().is_some()
    }

    /// What these rows miss, squared and in scaled variables; `z.u` is that of the certificate.
    pub(super) fn missed_by_dropped(&self, problem: &OneStepProblem<'_>, z: &Reaction) -> f64 {
        let missed = |row: usize| z.u[self.row[row]].powi(2) / problem.scale(self.equal[row]);
        self.saddle.dropped().map(missed).sum()
    }

    /// Lays out (2).
    fn reduce(&mut self, problem: &OneStepProblem<'_>, z: &Reaction) {
        let p = problem.parts();
        self.laws.clear();
        self.output.clear(p.output.columns());
        self.input.clear(p.input.columns());
        self.b.clear();
        self.z.lambda.clear();
        for rest in &self.rest {
            let law = problem.laws()[rest.law];
            self.laws.push(if rest.flat > 0 { Law::coulomb(law.mu(), 1) } else { law });
            for row in rest.rows(law.size()) {
                self.output.push_row_of(p.output, row);
                self.input.push_row_of(p.input, row);
                self.b.push(p.b[row] + p.output.dot(row, &self.start));
                self.z.lambda.push(z.lambda[row]);
            }
        }
    }

    /// Finds tangents of spatial contacts that cannot move; whether there is one. None without such contacts.
    fn flatten(&mut self, problem: &OneStepProblem<'_>) -> Option<bool> {
        let spatial = |rest: &Remainder| matches!(problem.laws()[rest.law].shape(), Shape::Cone2 { .. });
        if !self.rest.iter().any(spatial) {
            return None;
        }
        let lhs = &Constrained { saddle: RefCell::new(&mut self.saddle), a: problem.parts().lhs };
        let Elimination { laws, output, input, b, work, .. } = self;
        let reduced = OneStepProblem::new(Parts { lhs, output, input, feedthrough: None, b, laws }, work);
        let w = reduced.delassus();
        let still = STILL * problem.b().iter().fold(0.0f64, |most, b| most.max(b.abs()));
        let mut is_flat = false;
        for (i, rest) in self.rest.iter_mut().enumerate().filter(|x| spatial(x.1)) {
            let (block, b) = (w.diagonal(i), &reduced.b()[reduced.rows(i)]);
            let cannot = |k: &usize| block[4 * k].abs() < FLAT * block[0] && b[*k].abs() <= still;
            rest.flat = [2, 1].into_iter().find(cannot).unwrap_or(0);
            is_flat |= rest.flat > 0;
        }
        Some(is_flat)
    }
}

/// The blocks of A that a row touches, one after the other; rows have rising columns.
fn for_blocks(p: &Parts<'_>, row: &[(usize, f64)], mut work: impl FnMut(std::ops::Range<usize>)) {
    let mut end = 0;
    for &(dof, _) in row {
        if dof >= end {
            let block = p.lhs.block(dof);
            end = block.end;
            work(block);
        }
    }
}
