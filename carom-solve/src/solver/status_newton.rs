//! The statuses of the guess, with Newton's method on what they leave of a small problem.
//!
//! A contact is open, sticks or slips. Where that is known, the laws are smooth equations for fewer unknowns,
//!
//! ```text
//!     open   λ = 0                              stick   u = 0
//!     slip   λ = λ_N (1, μ d), ‖d‖ = 1:         u_N = 0,   d⊥·u_T = 0                      (1)
//! ```
//!
//! and likewise for the other laws (at a bound, or between bounds with u = 0). With `P = ∂λ/∂x` for the unknowns `x` of
//! each law (a free reaction, or `λ_N` and the angle of `d`) and the rows `Q` of its equations `Q u = 0`, Newton's
//! method solves
//!
//! ```text
//!     (Q W P + K) Δx = −Q (W λ + b),     K = −d·u_T for the angle of a slip, else 0        (2)
//! ```
//!
//! A few sweeps of Gauss-Seidel find most statuses; those that the solution of (1) contradicts are changed, a few
//! times. A Newton method on the branches of the Alart-Curnier function [alart1991] that it starts on, in other words.
//! The certificate decides.

use super::growth;
use crate::{Certificate, Delassus, DenseLu, Law, LinearSolve, OneStepProblem, Reaction, Shape};

/// Largest number of laws: beyond it the factors cost more than sweeps.
const LAWS: usize = 16;

/// Iterations in all.
const ITERATIONS: usize = 12;

/// How often statuses are changed.
const CHANGES: usize = 3;

/// Relative step after which the matrix is kept.
const SMALL: f64 = 1e-3;

/// Relative step after which the error, about its square, may be small enough.
const NEAR: f64 = 1e-5;

/// Largest turn of a direction in one iteration.
const TURN: f64 = 0.5;

/// Part of the friction force by which a contact that sticks is inside its cone.
const INSIDE: f64 = 1e-10;

/// What a law does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    /// λ is known: zero, or a bound.
    Fixed,
    /// u = 0.
    Free,
    /// λ = λ_N (1, μ d).
    Slip([f64; 2]),
}

/// One law with its unknowns.
#[derive(Clone, Copy, Debug)]
struct Part {
    status: Status,
    first: usize,     // its first unknown
    unknowns: usize,  // 0 to 3
    p: [[f64; 3]; 3], // columns of P
    q: [[f64; 3]; 3], // rows of Q
}

const UNIT: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Workspace of (2).
#[derive(Debug, Default)]
pub(super) struct StatusNewton {
    part: Vec<Part>, // (laws)
    u: Vec<f64>,     // (m)
    step: Vec<f64>,  // (unknowns)
    guess: Vec<f64>, // (m) for the methods that follow
    lu: DenseLu,
}

impl StatusNewton {
    /// Solves (1) from the guess. `z.lambda` is as before where that is no solution of the problem.
    pub(super) fn solve(
        &mut self,
        problem: &OneStepProblem<'_>,
        tolerance: f64,
        z: &mut Reaction,
    ) -> Option<Certificate> {
        let general = |law: &Law| law.shape() == Shape::General;
        if problem.laws().len() > LAWS || z.lambda.len() != problem.size() || problem.laws().iter().any(general) {
            return None;
        }
        self.guess.clear();
        self.guess.extend_from_slice(&z.lambda);
        self.read(problem, &mut z.lambda);
        let solved = self.iterate(problem, tolerance, z);
        if solved.is_none() {
            z.lambda.copy_from_slice(&self.guess);
        }
        solved
    }

    /// Statuses and reactions of the guess.
    fn read(&mut self, problem: &OneStepProblem<'_>, lambda: &mut [f64]) {
        self.part.clear();
        self.part.reserve(problem.laws().len());
        self.step.clear();
        self.step.reserve(problem.size());
        for (law, &row) in problem.laws().iter().zip(problem.offsets()) {
            let lambda = &mut lambda[row..row + law.size()];
            let status = guessed(law, lambda);
            self.part.push(Part { status, first: 0, unknowns: 0, p: UNIT, q: UNIT });
        }
        self.u.clear();
        self.u.resize(problem.size(), 0.0);
    }

    fn iterate(&mut self, problem: &OneStepProblem<'_>, tolerance: f64, z: &mut Reaction) -> Option<Certificate> {
        let w = problem.delassus();
        let (mut changes, mut change) = (0, f64::INFINITY);
        for _ in 0..ITERATIONS {
            self.evaluate(problem, &w, &z.lambda);
            if change > SMALL {
                let size = self.lay_out(problem, &z.lambda);
                self.assemble(problem, &w, size);
                self.lu.factor().ok()?;
            }
            self.miss(problem);
            self.lu.solve(&mut self.step);
            change = self.advance(problem, &w, &mut z.lambda)?;
            if change > NEAR {
                continue;
            }
            let certificate = problem.certify(z);
            if growth::accepts_alone(problem, certificate, tolerance) {
                return Some(certificate);
            }
            if self.revise(problem, z) {
                change = f64::INFINITY;
                changes += 1;
                if changes > CHANGES {
                    return None;
                }
            }
        }
        None
    }

    /// `u ← W λ + b`.
    fn evaluate(&mut self, problem: &OneStepProblem<'_>, w: &Delassus, lambda: &[f64]) {
        w.mul(lambda, &mut self.u);
        for (u, b) in self.u.iter_mut().zip(problem.b()) {
            *u += b;
        }
    }

    /// Numbers the unknowns, and P and Q of each law; returns their number.
    fn lay_out(&mut self, problem: &OneStepProblem<'_>, lambda: &[f64]) -> usize {
        let mut size = 0;
        for ((part, law), &row) in self.part.iter_mut().zip(problem.laws()).zip(problem.offsets()) {
            part.first = size;
            part.unknowns = match (part.status, law.shape()) {
                (Status::Fixed, _) => 0,
                (Status::Free, _) => {
                    (part.p, part.q) = (UNIT, UNIT);
                    law.size()
                }
                (Status::Slip([c, s]), Shape::Cone2 { mu }) => {
                    let force = mu * lambda[row];
                    part.p[0] = [1.0, mu * c, mu * s];
                    part.p[1] = [0.0, -s * force, c * force];
                    part.q[0] = UNIT[0];
                    part.q[1] = [0.0, -s, c];
                    // without friction the direction does not matter
                    if mu > 0.0 { 2 } else { 1 }
                }
                (Status::Slip([sign, _]), _) => {
                    part.p[0] = [1.0, law.mu() * sign, 0.0];
                    part.q[0] = UNIT[0];
                    1
                }
            };
            size += part.unknowns;
        }
        size
    }

    /// Right-hand side of (2).
    fn miss(&mut self, problem: &OneStepProblem<'_>) {
        self.step.clear();
        for (i, own) in self.part.iter().enumerate() {
            let u = &self.u[problem.rows(i)];
            match own.status {
                Status::Fixed => {}
                Status::Free => self.step.extend(u.iter().map(|u| -u)),
                Status::Slip([c, s]) => {
                    self.step.push(-u[0]);
                    if own.unknowns == 2 {
                        self.step.push(s * u[1] - c * u[2]);
                    }
                }
            }
        }
    }

    /// Matrix of (2).
    fn assemble(&mut self, problem: &OneStepProblem<'_>, w: &Delassus, size: usize) {
        let StatusNewton { part, u, lu, .. } = self;
        let matrix = lu.matrix_mut(size);
        matrix.fill(0.0);
        for (i, own) in part.iter().enumerate() {
            let rows = problem.rows(i);
            if own.unknowns == 0 {
                continue;
            }
            for (j, block) in w.row(i) {
                let other = &part[j];
                for (l, p) in other.p[..other.unknowns].iter().enumerate() {
                    let response = times(block, rows.len(), p);
                    for (k, q) in own.q[..own.unknowns].iter().enumerate() {
                        matrix[(own.first + k) * size + other.first + l] = dot(q, &response);
                    }
                }
            }
            if let (Status::Slip([c, s]), 2) = (own.status, own.unknowns) {
                let at = own.first + 1;
                matrix[at * size + at] -= c * u[rows.start + 1] + s * u[rows.start + 2];
            }
        }
    }

    /// Takes the step; returns its size relative to the reactions.
    fn advance(&mut self, problem: &OneStepProblem<'_>, w: &Delassus, lambda: &mut [f64]) -> Option<f64> {
        let (mut change, mut whole) = (0.0, 0.0);
        for (i, (part, law)) in self.part.iter_mut().zip(problem.laws()).enumerate() {
            let lambda = &mut lambda[problem.rows(i)];
            let step = &self.step[part.first..part.first + part.unknowns];
            let before = [lambda[0], lambda.get(1).copied().unwrap_or(0.0), lambda.get(2).copied().unwrap_or(0.0)];
            match part.status {
                Status::Fixed => {}
                Status::Free => lambda.iter_mut().zip(step).for_each(|(lambda, step)| *lambda += step),
                Status::Slip(d) => {
                    lambda[0] += step[0];
                    let d = step.get(1).map_or(d, |turn| turned(d, *turn));
                    part.status = Status::Slip(d);
                    let force = law.mu() * lambda[0];
                    lambda[1..].iter_mut().zip(d).for_each(|(lambda, d)| *lambda = force * d);
                }
            }
            let scale = w.scale(i);
            for (before, after) in before.iter().zip(&*lambda) {
                change += scale * (after - before) * (after - before);
                whole += scale * after * after;
            }
        }
        let relative = if change > 0.0 { (change / whole).sqrt() } else { 0.0 };
        relative.is_finite().then_some(relative)
    }

    /// Changes the statuses that the point contradicts; whether there were any.
    fn revise(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> bool {
        let mut revised = false;
        for (i, (part, law)) in self.part.iter_mut().zip(problem.laws()).enumerate() {
            let rows = problem.rows(i);
            if let Some(status) = contradicted(law, part.status, &mut z.lambda[rows.clone()], &z.u[rows]) {
                part.status = status;
                revised = true;
            }
        }
        revised
    }
}

/// The status that a reaction shows; one outside its bounds is taken back.
fn guessed(law: &Law, lambda: &mut [f64]) -> Status {
    let (lower, upper) = law.bounds();
    if law.is_equality() {
        return Status::Free;
    }
    if !(lambda[0] > lower && lambda[0] < upper) {
        let bound = if lambda[0] >= upper { upper } else { lower };
        lambda.fill(0.0);
        lambda[0] = bound;
        return Status::Fixed;
    }
    sliding(law, lambda).unwrap_or(Status::Free)
}

/// Slip, where the friction force is at its limit.
fn sliding(law: &Law, lambda: &[f64]) -> Option<Status> {
    let limit = law.mu() * lambda[0];
    match *lambda {
        [_, t] if t.abs() >= (1.0 - INSIDE) * limit => Some(Status::Slip([t.signum(), 0.0])),
        [_, x, y] => {
            let force = (x * x + y * y).sqrt();
            (force >= (1.0 - INSIDE) * limit)
                .then(|| Status::Slip(if force > 0.0 { [x / force, y / force] } else { [1.0, 0.0] }))
        }
        _ => None,
    }
}

/// Another status where the point is none of the law, with a reaction to start from.
fn contradicted(law: &Law, status: Status, lambda: &mut [f64], u: &[f64]) -> Option<Status> {
    let (lower, upper) = law.bounds();
    if status == Status::Fixed {
        let pushed = if lambda[0] >= upper { u[0] > 0.0 } else { u[0] < 0.0 };
        return (pushed && lower < upper).then_some(Status::Free);
    }
    if lambda[0] < lower || lambda[0] > upper {
        let bound = if lambda[0] < lower { lower } else { upper };
        lambda.fill(0.0);
        lambda[0] = bound;
        return Some(Status::Fixed);
    }
    match status {
        // friction that pushes along: the contact sticks
        Status::Slip(d) if law.mu() > 0.0 && dot(&d, &u[1..]) > 0.0 => Some(Status::Free),
        Status::Free if law.size() > 1 => {
            let force = lambda[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
            if force <= law.mu() * lambda[0] {
                return None;
            }
            let factor = law.mu() * lambda[0] / force;
            lambda[1..].iter_mut().for_each(|x| *x *= factor);
            sliding(law, lambda)
        }
        _ => None,
    }
}

/// A unit vector turned by an angle, or by the largest one.
fn turned([c, s]: [f64; 2], turn: f64) -> [f64; 2] {
    let half = 0.5 * turn.clamp(-TURN, TURN);
    let inverse = 1.0 / (1.0 + half * half);
    let (cosine, sine) = ((1.0 - half * half) * inverse, 2.0 * half * inverse);
    [cosine * c - sine * s, cosine * s + sine * c]
}

#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A block of so many rows times a column.
#[inline]
fn times(block: &[f64], rows: usize, x: &[f64; 3]) -> [f64; 3] {
    if let &[a, b, c, d, e, f, g, h, i] = block {
        return [a * x[0] + b * x[1] + c * x[2], d * x[0] + e * x[1] + f * x[2], g * x[0] + h * x[1] + i * x[2]];
    }
    let mut out = [0.0; 3];
    for (out, row) in out.iter_mut().zip(block.chunks(block.len() / rows.max(1))) {
        *out = dot(row, x);
    }
    out
}

#[cfg(test)]
mod tests;
