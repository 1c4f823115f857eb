//! Lemke's complementary pivoting with the lexicographic rule [lemke1965, cottle1992, murty1988].
//!
//! The problem is written as a linear complementarity problem with free unknowns,
//!
//! ```text
//!     w = M z + q,   0 ≤ w ⊥ z ≥ 0,   or  w = 0, z free                                   (1)
//! ```
//!
//! Free unknowns are eliminated first (complete pivoting; redundant rows are dropped if nothing depends on them). Then the
//! path of `w = M z + q + 1 z₀` is followed from `z = 0`, `z₀` large, to `z₀ = 0`:
//!
//! 1. `z₀` enters the basis, the row with the most negative `q` leaves;
//! 2. the complement of the variable that left enters; the row that blocks it leaves, ties by the lexicographic rule;
//! 3. until `z₀` leaves (a solution) or nothing blocks (a ray).
//!
//! The equations of the final basis are solved again from the entries of `W`, with iterative refinement: the accuracy does
//! not suffer from the pivots. The solution is exact up to rounding.
//!
//! Planar friction is first written with three unknowns per contact; where that fails, with the four of [stewart1996], for
//! which Lemke's method has a convergence proof with any coefficient of friction. Pivots below 1e-9 are refused at first;
//! the last attempts admit them down to 1e-13.
//! For copositive-plus `M` a ray proves that the problem is infeasible [cottle1992, theorem 4.4.13].
//!
//! Cost: about `n` pivots of `n²` operations. Good up to some hundreds of unknowns.

mod dictionary;

use super::lcp_form::{Friction, LcpForm};
use super::ranked::RankedLu;
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission};
use crate::{Certificate, DenseLu, Law, LinearSolve, OneStepProblem, OptionError, Options, Reaction};
use dictionary::{Dictionary, Variable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Relative size below which a pivot among the free unknowns counts as zero.
const REDUNDANT: f64 = 1e-13;

/// Relative sizes below which an entry is no pivot, in the order in which they are tried.
const NEGLIGIBLE: [f64; 2] = [1e-9, 1e-13];

/// Options of Lemke's method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LemkeOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of pivots [-].
    pub max_pivots: usize,
}

impl Default for LemkeOptions {
    fn default() -> Self {
        LemkeOptions { tolerance: 1e-10, max_pivots: 10_000 }
    }
}

impl Options for LemkeOptions {
    fn validate(&self) -> Result<(), OptionError> {
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(OptionError::new("tolerance", "must be positive and finite"));
        }
        if self.max_pivots == 0 {
            return Err(OptionError::new("max-pivots", "must be at least 1"));
        }
        Ok(())
    }
}

/// Lemke's method and its workspace.
pub struct Lemke {
    options: LemkeOptions,
    form: LcpForm,
    reduced: Vec<f64>,               // (N × (N + 1)) M, q after the elimination of the free unknowns
    kept_rows: Vec<usize>,           // free rows that were eliminated
    kept_columns: Vec<usize>,        // free unknowns that were eliminated
    done_row: Vec<bool>,             // (N)
    done_column: Vec<bool>,          // (N)
    pairs: Vec<(usize, usize, f64)>, // rows, columns and sign of the reduced LCP
    dictionary: Dictionary,
    system: BasisSystem,
    best: Vec<f64>, // (m) reactions of the error that is kept
}

/// How the pivots ended.
enum Ending {
    Solved,
    Ray,
    TooMany,
}

impl Configured for Lemke {
    type Options = LemkeOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "lemke",
        title: "Lemke's complementary pivoting, lexicographic",
        laws: "equality, unilateral, box, planar friction",
        accuracy: 1e-12,
        citations: &["lemke1965", "cottle1992", "murty1988", "stewart1996"],
        source: include_str!("lemke.rs"),
    };

    fn configure(options: LemkeOptions) -> Self {
        Lemke {
            options,
            form: LcpForm::default(),
            reduced: Vec::new(),
            kept_rows: Vec::new(),
            kept_columns: Vec::new(),
            done_row: Vec::new(),
            done_column: Vec::new(),
            pairs: Vec::new(),
            dictionary: Dictionary::default(),
            system: BasisSystem::default(),
            best: Vec::new(),
        }
    }
}

impl Solver for Lemke {
    fn info(&self) -> &'static SolverInfo {
        const { &Lemke::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::planar("lemke", laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        admission::finite(problem, &w)?;
        z.lambda.resize(problem.size(), 0.0);
        // one unilateral row: λ = max(0, −b/w)
        if let ([Law::Unilateral], &[b]) = (problem.laws(), problem.b())
            && let &[w] = w.diagonal(0)
            && w > 0.0
        {
            z.lambda[0] = (-b / w).max(0.0);
            return problem.conclude(z, self.options.tolerance, 0);
        }
        self.admits(problem.laws())?;
        if admission::at_rest(problem) {
            z.reset(problem.size());
            return problem.conclude(z, self.options.tolerance, 0);
        }
        let friction = problem.laws().iter().any(|law| matches!(law, Law::Coulomb2 { .. }));
        let forms: &[Friction] =
            if friction { &[Friction::Compact, Friction::Polyhedral] } else { &[Friction::Compact] };
        let mut kept: Option<SolveError> = None;
        for negligible in NEGLIGIBLE {
            for &form in forms {
                self.form.build(problem, &w, form);
                let error = match self.attempt(negligible, problem, z) {
                    Ok(certificate) => return Ok(certificate),
                    Err(error) => error,
                };
                // the first error counts, unless a later attempt came nearer; nothing comes nearer than a ray
                let nearer = match (&kept, &error) {
                    (None, _) => true,
                    (
                        Some(SolveError::NotConverged { certificate: old, .. }),
                        SolveError::NotConverged { certificate: new, .. },
                    ) => new.residual < old.residual,
                    _ => false,
                };
                if nearer {
                    self.best.clear();
                    self.best.extend_from_slice(&z.lambda);
                    kept = Some(error);
                }
            }
        }
        z.lambda.copy_from_slice(&self.best);
        problem.certify(z);
        Err(kept.unwrap_or(SolveError::NotFinite("W")))
    }
}

impl Lemke {
    /// Solves the LCP in `form`.
    fn attempt(
        &mut self,
        negligible: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        self.eliminate_free();
        self.reduce();
        let (ending, pivots) = self.follow_path(negligible);
        match ending {
            Ending::Solved => {
                self.solve_basis();
                self.form.unscale(&self.system.lambda, &mut z.lambda);
                problem.conclude(z, self.options.tolerance, pivots)
            }
            Ending::Ray => {
                z.reset(problem.size());
                Err(SolveError::Ray { certificate: problem.certify(z), pivots })
            }
            Ending::TooMany => {
                z.reset(problem.size());
                let certificate = problem.certify(z);
                Err(SolveError::NotConverged { certificate, tolerance: self.options.tolerance, iterations: pivots })
            }
        }
    }

    /// Gaussian elimination of the free unknowns with complete pivoting among them, on a copy `(M, q)`.
    fn eliminate_free(&mut self) {
        let (n, form) = (self.form.size(), &self.form);
        self.kept_rows.clear();
        self.kept_columns.clear();
        self.done_row.clear();
        self.done_row.resize(n, false);
        self.done_column.clear();
        self.done_column.resize(n, false);
        let width = n + 1;
        self.reduced.resize(n * width, 0.0);
        for (row, (entries, q)) in self.reduced.chunks_mut(width).zip(form.matrix().chunks(n.max(1)).zip(form.q())) {
            row[..n].copy_from_slice(entries);
            row[n] = *q;
        }
        let mut threshold = 0.0;
        while let Some((row, column, size)) = self.largest_free() {
            if self.kept_rows.is_empty() {
                threshold = REDUNDANT * size.max(1.0);
            }
            if size <= threshold {
                break;
            }
            self.done_row[row] = true;
            self.done_column[column] = true;
            self.kept_rows.push(row);
            self.kept_columns.push(column);
            self.eliminate(row, column);
        }
    }

    fn eliminate(&mut self, row: usize, column: usize) {
        let width = self.form.size() + 1;
        let (above, rest) = self.reduced.split_at_mut(row * width);
        let (own, below) = rest.split_at_mut(width);
        let inverse = 1.0 / own[column];
        let others = above.chunks_mut(width).chain(below.chunks_mut(width));
        let wanted = self.done_row.iter().enumerate().filter(|(i, _)| *i != row).map(|(_, done)| !done);
        for (other, _) in others.zip(wanted).filter(|(_, wanted)| *wanted) {
            let factor = other[column] * inverse;
            if factor != 0.0 {
                for (x, y) in other.iter_mut().zip(&*own) {
                    *x -= factor * y;
                }
                other[column] = 0.0;
            }
        }
    }

    fn largest_free(&self) -> Option<(usize, usize, f64)> {
        let n = self.form.size();
        let mut best: Option<(usize, usize, f64)> = None;
        for i in (0..n).filter(|&i| self.form.is_free(i) && !self.done_row[i]) {
            for j in (0..n).filter(|&j| self.form.is_free(j) && !self.done_column[j]) {
                let size = self.reduced[i * (n + 1) + j].abs();
                if best.is_none_or(|b| size > b.2) {
                    best = Some((i, j, size));
                }
            }
        }
        best
    }

    /// Pairs of the LCP that is left. A free unknown that could not be eliminated is dropped if nothing depends on it, and
    /// otherwise written as the difference of two nonnegative ones.
    fn reduce(&mut self) {
        let n = self.form.size();
        self.pairs.clear();
        let (mut rows, mut columns) = (0..n, 0..n);
        for k in (0..n).filter(|&k| !self.form.is_free(k)) {
            self.pairs.push((k, k, 1.0));
        }
        while let (Some(row), Some(column)) = (
            rows.find(|&i| self.form.is_free(i) && !self.done_row[i]),
            columns.find(|&j| self.form.is_free(j) && !self.done_column[j]),
        ) {
            let complementary = |k: &usize| !self.form.is_free(*k);
            let depends = (0..n)
                .filter(complementary)
                .any(|j| self.reduced[row * (n + 1) + j].abs() > REDUNDANT * 10.0)
                || (0..n).filter(complementary).any(|i| self.reduced[i * (n + 1) + column].abs() > REDUNDANT * 10.0);
            if depends {
                self.pairs.push((row, column, 1.0));
                self.pairs.push((row, column, -1.0));
            }
        }
    }

    /// Lemke's path on the reduced LCP.
    fn follow_path(&mut self, negligible: f64) -> (Ending, usize) {
        let width = self.form.size() + 1;
        let (pairs, reduced) = (&self.pairs, &self.reduced);
        self.dictionary.start(pairs.len(), negligible, |i, row| {
            let (r, _, sign) = pairs[i];
            let source = &reduced[r * width..(r + 1) * width];
            row[0] = sign * source[width - 1];
            for (x, &(_, c, s)) in row[1..].iter_mut().zip(pairs) {
                *x = sign * s * source[c];
            }
        });
        let Some(mut row) = self.dictionary.most_negative() else { return (Ending::Solved, 0) };
        let mut column = pairs.len() + 1;
        for pivots in 1..=self.options.max_pivots {
            let left = self.dictionary.pivot(row, column);
            if left == Variable::Artificial {
                return (Ending::Solved, pivots);
            }
            let Some(entering) = self.dictionary.column_of(left.complement()) else { return (Ending::Ray, pivots) };
            column = entering;
            match self.dictionary.blocking_row(column) {
                Some(blocking) => row = blocking,
                None => return (Ending::Ray, pivots),
            }
        }
        (Ending::TooMany, self.options.max_pivots)
    }

    /// Solves the equations of the final basis from the original entries.
    fn solve_basis(&mut self) {
        let system = &mut self.system;
        system.rows.clear();
        system.columns.clear();
        system.rows.extend_from_slice(&self.kept_rows);
        system.columns.extend_from_slice(&self.kept_columns);
        for &variable in self.dictionary.basic() {
            if let Variable::Z(k) = variable {
                system.rows.push(self.pairs[k].0);
                system.columns.push(self.pairs[k].1);
            }
        }
        system.solve(&self.form);
    }
}

/// `M_rc z_c = −q_r` for the rows and columns of a basis.
#[derive(Default)]
struct BasisSystem {
    rows: Vec<usize>,
    columns: Vec<usize>,
    lu: DenseLu,
    ranked: RankedLu,
    z: Vec<f64>,      // (N)
    lambda: Vec<f64>, // (m) scaled reactions
    w: Vec<f64>,      // (N)
    step: Vec<f64>,
}

impl BasisSystem {
    /// Sets `z` and the reactions to the basic solution, with two steps of iterative refinement.
    fn solve(&mut self, form: &LcpForm) {
        let (n, k) = (form.size(), self.rows.len());
        let gather = |target: &mut [f64]| {
            for (row, &r) in target.chunks_mut(k.max(1)).zip(&self.rows) {
                for (x, &c) in row.iter_mut().zip(&self.columns) {
                    *x = form.matrix()[r * n + c];
                }
            }
        };
        gather(self.lu.matrix_mut(k));
        let regular = self.lu.factor().is_ok();
        if !regular {
            gather(self.ranked.matrix_mut(k));
            self.ranked.factor(REDUNDANT);
        }
        self.z.clear();
        self.z.resize(n, 0.0);
        self.lambda.clear();
        self.lambda.extend_from_slice(form.shift());
        for _ in 0..3 {
            form.evaluate(&self.lambda, &self.z, &mut self.w);
            self.step.clear();
            self.step.extend(self.rows.iter().map(|&r| -self.w[r]));
            if regular {
                self.lu.solve(&mut self.step);
            } else {
                self.ranked.solve(&mut self.step);
            }
            for (&c, &step) in self.columns.iter().zip(&self.step) {
                self.z[c] += step;
                form.add_step(c, step, &mut self.lambda);
            }
        }
    }
}
