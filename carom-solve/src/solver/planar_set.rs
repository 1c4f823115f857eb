//! The active set of a few planar contacts: what each one does is guessed, and changed until all of it holds.
//!
//! A contact is open, sticks or slips one way or the other; a bounded reaction is at a bound or between them. Where that
//! is known, the laws are linear equations for fewer unknowns,
//!
//! ```text
//!     open   λ = 0            stick   u = 0            slip σ   u_N = 0,  λ_T = σ μ λ_N           (1)
//! ```
//!
//! Their solution is one of the problem if every other condition holds: `u_N ≥ 0`, `λ_N ≥ 0`, `|λ_T| ≤ μ λ_N`,
//! `σ u_T ≤ 0`. Else the statuses that it contradicts are changed all at once, by the signs of `λ − u/w` with the
//! diagonal `w` of `W`: Newton's method on the function of Alart and Curnier [alart1991], which is piecewise linear
//! here. It starts from the statuses of the guess. A few contacts need two or three such steps, which cost much less
//! than the pivots of Lemke's method from no reaction at all. Where statuses do not settle, or where (1) is nearly
//! singular, as for contacts that stick and are redundant, other methods follow. The certificate decides.

use super::growth;
use super::product::dot;
use crate::{Certificate, Law, OneStepProblem, Reaction, Shape};

/// Largest problem that is tried.
const ROWS: usize = 64;

/// Systems (1) that are solved at most.
const STEPS: usize = 8;

/// Residual of a point that is a solution to rounding, and relative size of a sum that is nothing but rounding.
const EXACT: f64 = 1e-13;

/// Part of a diagonal entry below which elimination has left nothing of it.
const DEPENDENT: f64 = 1e-8;

/// What a law does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    /// The reaction is the bound, or zero.
    Fixed(f64),
    /// u = 0 in every row.
    Free,
    /// λ_T = σ μ λ_N, with σ μ given.
    Slip(f64),
}

/// Workspace of (1).
#[derive(Debug, Default)]
pub(super) struct PlanarSet {
    status: Vec<Status>, // (laws)
    w: Vec<f64>,         // (m × m)
    u: Vec<f64>,         // (m)
    size: Vec<f64>,      // (m) sums of the absolute values of the terms of u
    guess: Vec<f64>,     // (m) for the methods that follow
    row: Vec<usize>,     // (k) rows with u = 0, which are those of the unknowns
    matrix: Vec<f64>,    // (k × (k + 1)) equations (1) with their right-hand side
}

impl PlanarSet {
    /// Solves (1) until the statuses hold. `z.lambda` is as before where they do not.
    pub(super) fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Option<Certificate> {
        let m = problem.size();
        if m > ROWS || !is_planar(problem.laws()) {
            return None;
        }
        self.reserve(m);
        z.lambda.resize(m, 0.0);
        self.guess.clear();
        self.guess.extend_from_slice(&z.lambda);
        let solved = self.settle(problem, z).filter(|certificate| !growth::is_growing(problem, *certificate));
        if solved.is_none() {
            z.lambda.copy_from_slice(&self.guess);
        }
        solved
    }

    /// Room for m rows, whatever their statuses.
    fn reserve(&mut self, m: usize) {
        if self.guess.capacity() < m {
            self.status.reserve(m);
            self.w.reserve(m * m);
            self.u.reserve(m);
            self.size.reserve(m);
            self.guess.reserve(m);
            self.row.reserve(m);
            self.matrix.reserve(m * (m + 1));
        }
    }

    fn settle(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Option<Certificate> {
        problem.delassus().to_dense(&mut self.w);
        self.read(problem, &mut z.lambda);
        for _ in 0..STEPS {
            self.lay_out(problem, &mut z.lambda);
            self.eliminate()?;
            self.assign(problem, &mut z.lambda);
            self.evaluate(problem, &z.lambda);
            if !self.revise(problem, &z.lambda) {
                return problem.conclude(z, EXACT, 0).ok();
            }
        }
        None
    }

    /// Statuses of the guess.
    fn read(&mut self, problem: &OneStepProblem<'_>, lambda: &mut [f64]) {
        if !lambda.iter().all(|x| x.is_finite()) {
            lambda.fill(0.0);
        }
        self.evaluate(problem, lambda);
        self.status.clear();
        let m = problem.size();
        for (law, &row) in problem.laws().iter().zip(problem.offsets()) {
            let pull = |k: usize| lambda[k] - self.u[k] / diagonal(&self.w, m, k);
            self.status.push(match law.shape() {
                Shape::Cone1 { mu } if pull(row) > 0.0 => closed(mu, pull(row), pull(row + 1)),
                Shape::Cone1 { .. } => Status::Fixed(0.0),
                _ => between(law, pull(row)),
            });
        }
    }

    /// Equations (1), with the reactions that are known in `lambda` and zeros in place of the others.
    fn lay_out(&mut self, problem: &OneStepProblem<'_>, lambda: &mut [f64]) {
        let m = problem.size();
        self.row.clear();
        for ((status, law), &row) in self.status.iter().zip(problem.laws()).zip(problem.offsets()) {
            lambda[row..row + law.size()].fill(0.0);
            match status {
                Status::Fixed(value) => lambda[row] = *value,
                Status::Free => self.row.extend(row..row + law.size()),
                Status::Slip(_) => self.row.push(row),
            }
        }
        self.matrix.clear();
        for &i in &self.row {
            let entries = &self.w[i * m..(i + 1) * m];
            for ((status, law), &column) in self.status.iter().zip(problem.laws()).zip(problem.offsets()) {
                match status {
                    Status::Fixed(_) => {}
                    Status::Free => self.matrix.extend_from_slice(&entries[column..column + law.size()]),
                    Status::Slip(slope) => self.matrix.push(entries[column] + slope * entries[column + 1]),
                }
            }
            self.matrix.push(-problem.b()[i] - dot(entries, lambda));
        }
    }

    /// Gauss' elimination with pivots on the diagonal; the unknowns are left in the last column.
    fn eliminate(&mut self) -> Option<()> {
        let (k, m) = (self.row.len(), self.u.len());
        let width = k + 1;
        for (p, &row) in self.row.iter().enumerate() {
            let (above, below) = self.matrix.split_at_mut((p + 1) * width);
            let pivots = &above[p * width + p..];
            // written so that a NaN is refused as well
            if !(pivots[0].abs() > DEPENDENT * self.w[row * m + row].abs()) {
                return None;
            }
            let inverse = 1.0 / pivots[0];
            for other in below.chunks_exact_mut(width) {
                let factor = other[p] * inverse;
                for (x, y) in other[p + 1..].iter_mut().zip(&pivots[1..]) {
                    *x -= factor * y;
                }
            }
        }
        for p in (0..k).rev() {
            let (above, row) = self.matrix.split_at_mut(p * width);
            row[k] /= row[p];
            for other in above.chunks_exact_mut(width) {
                other[k] -= other[p] * row[k];
            }
        }
        Some(())
    }

    /// The unknowns into their places.
    fn assign(&self, problem: &OneStepProblem<'_>, lambda: &mut [f64]) {
        let width = self.row.len() + 1;
        for (&row, unknowns) in self.row.iter().zip(self.matrix.chunks_exact(width)) {
            lambda[row] = unknowns[width - 1];
        }
        for (status, &row) in self.status.iter().zip(problem.offsets()) {
            if let Status::Slip(slope) = status {
                lambda[row + 1] = slope * lambda[row];
            }
        }
    }

    /// `u ← W λ + b`, with the sizes of the sums.
    fn evaluate(&mut self, problem: &OneStepProblem<'_>, lambda: &[f64]) {
        self.u.clear();
        self.size.clear();
        for (entries, b) in self.w.chunks_exact(problem.size()).zip(problem.b()) {
            let (mut u, mut size) = (*b, b.abs());
            for (w, l) in entries.iter().zip(lambda) {
                let term = w * l;
                u += term;
                size += term.abs();
            }
            self.u.push(u);
            self.size.push(size);
        }
    }

    /// Changes the statuses that the point contradicts; whether there were any.
    fn revise(&mut self, problem: &OneStepProblem<'_>, lambda: &[f64]) -> bool {
        let mut revised = false;
        let (m, w, u) = (problem.size(), &self.w, &self.u);
        for ((status, law), &row) in self.status.iter_mut().zip(problem.laws()).zip(problem.offsets()) {
            let rounding = |k: usize| EXACT * self.size[k];
            let pull = |k: usize| lambda[k] - u[k] / diagonal(w, m, k);
            let next = match (*status, law.shape()) {
                (Status::Fixed(_), Shape::Cone1 { mu }) => {
                    if u[row] >= -rounding(row) {
                        continue;
                    }
                    closed(mu, pull(row), pull(row + 1))
                }
                (Status::Free, Shape::Cone1 { mu }) if lambda[row] >= 0.0 => {
                    if lambda[row + 1].abs() <= mu * lambda[row] {
                        continue;
                    }
                    closed(mu, lambda[row], lambda[row + 1])
                }
                (Status::Slip(slope), Shape::Cone1 { mu }) if lambda[row] >= 0.0 => {
                    if slope * u[row + 1] <= slope.abs() * rounding(row + 1) {
                        continue;
                    }
                    closed(mu, lambda[row], pull(row + 1))
                }
                (_, Shape::Cone1 { .. }) => Status::Fixed(0.0),
                (Status::Fixed(bound), _) => {
                    let (lower, upper) = law.bounds();
                    let pushed =
                        (bound > lower && u[row] > rounding(row)) || (bound < upper && u[row] < -rounding(row));
                    if !pushed {
                        continue;
                    }
                    Status::Free
                }
                _ => between(law, lambda[row]),
            };
            revised |= next != *status;
            *status = next;
        }
        revised
    }
}

/// Whether there is friction, and none but in the plane.
fn is_planar(laws: &[Law]) -> bool {
    let mut friction = false;
    laws.iter().all(|law| match law.shape() {
        Shape::Cone1 { .. } => {
            friction = true;
            true
        }
        Shape::Interval { .. } => true,
        Shape::Cone2 { .. } | Shape::General => false,
    }) && friction
}

/// Stick or slip of a contact that is closed, by the signs of λ − u/w.
fn closed(mu: f64, normal: f64, tangent: f64) -> Status {
    if mu > 0.0 && tangent.abs() <= mu * normal { Status::Free } else { Status::Slip(mu.copysign(tangent)) }
}

/// At a bound, or between them.
fn between(law: &Law, lambda: f64) -> Status {
    let (lower, upper) = law.bounds();
    if lambda > lower && lambda < upper || law.is_equality() {
        Status::Free
    } else {
        Status::Fixed(if lambda <= lower { lower } else { upper })
    }
}

/// An entry of the diagonal that can be divided by.
fn diagonal(w: &[f64], m: usize, k: usize) -> f64 {
    let w = w[k * m + k];
    if w > 0.0 { w } else { 1.0 }
}
