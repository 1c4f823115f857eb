//! Redundant contacts whose velocities contradict each other by a little.
//!
//! Contacts that stick and hold a body twice leave `W` singular. The part `δ` of `b` outside the range of `W` is then
//! out of reach of all reactions: with `δ = 0` all of them stick, with `δ ≠ 0` they slip at velocities of that size.
//! Time steps leave such parts behind, as large as what the step before has missed. No method sees directions of slips
//! that are as small as its own errors, and all stop at a residual of about `‖δ‖`. With `a δ` instead, `a ≫ 1`, the
//! problem is a usual one, and its solution goes on smoothly to that of `δ`:
//!
//! ```text
//!     λ(1) ≈ λ(a) − (a − 1)/a (λ(2a) − λ(a)),      errors of a²                             (1)
//! ```
//!
//! `a` is taken smaller as long as the certificate is not content.

use super::super::{SolveError, Solver, growth};
use super::Auto;
use crate::{Certificate, Law, OneStepProblem, Parts, ProblemWork, Reaction, Shape};

/// Largest number of rows.
const ROWS: usize = 64;

/// Length of a column, relative to the longest, that is nothing but rounding.
const REDUNDANT: f64 = 1e-10;

/// Parts of `b` outside the range of `W` that matter: smaller ones are rounding, larger ones need no help.
const LEAST: f64 = 1e-13;
const MOST: f64 = 1e-6;

/// How large they are made, relative to `b`.
const ENLARGED: [f64; 3] = [1e-5, 1e-6, 1e-7];

/// Residual that the enlarged problems are solved to, and the steps for it.
const FINE: f64 = 1e-13;
const STEPS: usize = 100;

/// Workspace of (1).
#[derive(Default)]
pub(super) struct Jammed {
    basis: Vec<f64>, // (m × m) columns of the scaled W one after the other, then an orthonormal basis of its range
    part: Vec<f64>,  // (m) δ
    b: Vec<f64>,     // (m) b with δ enlarged
    work: ProblemWork,
    near: Reaction,
    far: Reaction,
    best: Vec<f64>,
}

impl Auto {
    /// Solves with the part that contradicts enlarged, and goes back (1).
    pub(super) fn enlarge_contradiction(
        &mut self,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        z.lambda.resize(problem.size(), 0.0);
        let frictional = |law: &Law| matches!(law.shape(), Shape::Cone1 { .. } | Shape::Cone2 { .. });
        if problem.size() > ROWS || !problem.laws().iter().all(frictional) {
            return self.skip();
        }
        let size = self.jammed.find_part(problem);
        if !(LEAST..MOST).contains(&size) {
            return self.skip();
        }
        let mut least = problem.certify(z).residual;
        self.jammed.best.clone_from(&z.lambda);
        for enlarged in ENLARGED {
            self.extrapolate(enlarged / size, problem, z);
            let certificate = problem.certify(z);
            if growth::accepts_alone(problem, certificate, tolerance) {
                return Ok(certificate);
            }
            if certificate.residual < least {
                least = certificate.residual;
                self.jammed.best.clone_from(&z.lambda);
            }
        }
        z.lambda.clone_from(&self.jammed.best);
        problem.conclude(z, 0.0, 0)
    }

    /// (1) with this a.
    fn extrapolate(&mut self, a: f64, problem: &OneStepProblem<'_>, z: &mut Reaction) {
        let Auto { jammed, interior, proximal, .. } = self;
        let Jammed { part, b, work, near, far, .. } = jammed;
        for (times, point) in [(a, &mut *near), (2.0 * a, &mut *far)] {
            b.clear();
            b.extend(problem.b().iter().zip(&*part).map(|(b, part)| b + (times - 1.0) * part));
            let enlarged = OneStepProblem::new(Parts { b, ..*problem.parts() }, work);
            // what they miss is seen by the certificate of the problem itself
            interior.limit(STEPS);
            let _ = interior.solve(&enlarged, point);
            proximal.limit(FINE, STEPS);
            let _ = proximal.solve(&enlarged, point);
        }
        let back = (a - 1.0) / a;
        for ((lambda, near), far) in z.lambda.iter_mut().zip(&near.lambda).zip(&far.lambda) {
            *lambda = near - back * (far - near);
        }
        for (i, law) in problem.laws().iter().enumerate() {
            law.project(&mut z.lambda[problem.rows(i)]);
        }
    }
}

impl Jammed {
    /// Finds δ; its size relative to b, in scaled variables.
    fn find_part(&mut self, problem: &OneStepProblem<'_>) -> f64 {
        let (m, w) = (problem.size(), problem.delassus());
        self.basis.clear();
        self.basis.resize(m * m, 0.0);
        let root = |i: usize| w.scale(i).sqrt();
        for i in 0..w.laws() {
            for (j, block) in w.row(i) {
                let (rows, columns) = (w.rows(i), w.rows(j));
                for (k, x) in block.iter().enumerate() {
                    let (row, column) = (rows.start + k / columns.len(), columns.start + k % columns.len());
                    self.basis[column * m + row] = x / (root(i) * root(j));
                }
            }
        }
        let rank = orthonormalise(&mut self.basis, m);
        self.part.clear();
        self.part.extend_from_slice(problem.b());
        for i in 0..w.laws() {
            self.part[w.rows(i)].iter_mut().for_each(|x| *x /= root(i));
        }
        let whole = dot(&self.part, &self.part);
        // twice: the first pass leaves rounding of b
        for column in self.basis.chunks_exact(m).take(rank).chain(self.basis.chunks_exact(m).take(rank)) {
            take_out(column, &mut self.part);
        }
        let size = (dot(&self.part, &self.part) / whole).sqrt();
        for i in 0..w.laws() {
            self.part[w.rows(i)].iter_mut().for_each(|x| *x *= root(i));
        }
        size
    }
}

/// An orthonormal basis of what the columns span, in their place; the number of its vectors.
fn orthonormalise(columns: &mut [f64], m: usize) -> usize {
    let mut longest = 0.0;
    for k in 0..m {
        let square = |j: usize| dot(&columns[j * m..(j + 1) * m], &columns[j * m..(j + 1) * m]);
        let pivot = (k..m).max_by(|&i, &j| square(i).total_cmp(&square(j))).unwrap_or(k);
        let length = square(pivot).sqrt();
        if k == 0 {
            longest = length;
        }
        // a NaN ends it as well
        let independent = length > REDUNDANT * longest;
        if !independent {
            return k;
        }
        for row in 0..m {
            columns.swap(k * m + row, pivot * m + row);
        }
        let (done, rest) = columns.split_at_mut(k * m);
        let (own, rest) = rest.split_at_mut(m);
        done.chunks_exact(m).for_each(|other| take_out(other, own));
        let length = dot(own, own).sqrt();
        own.iter_mut().for_each(|x| *x /= length);
        rest.chunks_exact_mut(m).for_each(|other| take_out(own, other));
    }
    m
}

/// x ← x − (unit·x) unit.
fn take_out(unit: &[f64], x: &mut [f64]) {
    let along = dot(unit, x);
    x.iter_mut().zip(unit).for_each(|(x, unit)| *x -= along * unit);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
