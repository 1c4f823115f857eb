//! The active set of a few planar contacts: what each one does is guessed, and changed until all of it holds.
//!
//! A contact is open, sticks or slips one way or the other; a bounded reaction is at a bound or between them. Where
//! that is known, the laws are linear equations for fewer unknowns,
//!
//! ```text
//!     open   λ = 0            stick   u = 0            slip σ   u_N = 0,  λ_T = σ μ λ_N           (1)
//! ```
//!
//! Their solution is one of the problem if every other condition holds: `u_N ≥ 0`, `λ_N ≥ 0`, `|λ_T| ≤ μ λ_N`,
//! `σ u_T ≤ 0`. Else the statuses that it contradicts are changed all at once, by the signs of `λ − u/w` with the
//! diagonal `w` of `W`: Newton's method on the function of Alart and Curnier [alart1991], which is piecewise linear
//! here. It starts from the statuses of the guess. A few contacts need two or three such steps, which cost much less
//! than the pivots of Lemke's method from no reaction at all. Groups of laws that do not see each other are problems of
//! their own, those of one law with a closed form. Where statuses do not settle, or where (1) is nearly singular, as
//! for contacts that stick and are redundant, other methods follow. The certificate decides.

use super::groups::Groups;
use super::growth;
use super::local::Local;
use crate::{Certificate, Delassus, Law, OneStepProblem, Reaction, Shape};

/// Largest number of laws.
const LAWS: usize = 2000;

/// Largest number of rows that see each other.
const ROWS: usize = 64;

/// Laws up to which groups are not worth looking for.
const FEW: usize = 3;

/// Systems (1) that are solved at most, besides one for each law.
const STEPS: usize = 6;

/// Residual of a point that is a solution to rounding, and relative size of a sum that is nothing but rounding.
const EXACT: f64 = 1e-13;

/// Part of a diagonal entry that elimination leaves at least of a row that can be told from the others.
const DEPENDENT: f64 = 1e-8;

/// Part that is nothing but rounding.
const REDUNDANT: f64 = 1e-12;

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

/// A law of the group.
#[derive(Clone, Copy, Debug)]
struct Part {
    shape: Shape,
    status: Status,
    row: usize, // its first one in the group
}

impl Part {
    /// Whether this is one row with bounds.
    #[inline]
    fn is_row(&self) -> bool {
        matches!(self.shape, Shape::Interval { .. })
    }
}

/// Workspace of (1).
#[derive(Debug, Default)]
pub(super) struct PlanarSet {
    groups: Groups,
    group: Group,
}

/// One group with its laws and rows numbered from zero.
#[derive(Debug, Default)]
struct Group {
    part: Vec<Part>,  // (laws)
    first: Vec<u32>,  // (all laws) first row of each law in its group
    w: Vec<f64>,      // (m × m)
    b: Vec<f64>,      // (m)
    lambda: Vec<f64>, // (m)
    u: Vec<f64>,      // (m)
    size: Vec<f64>,   // (m) sums of the absolute values of the terms of u
    row: Vec<usize>,  // (k) rows with u = 0, which are those of the unknowns
    matrix: Vec<f64>, // (k × (k + 1)) equations (1) with their right-hand side
}

impl PlanarSet {
    /// Solves (1) until the statuses hold. Where they do not, groups for which they did have their reactions, and the
    /// others those of the guess.
    pub(super) fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Option<Certificate> {
        let laws = problem.laws();
        if laws.len() > LAWS || !is_planar(laws) {
            return None;
        }
        let w = problem.delassus();
        if laws.len() <= FEW {
            self.groups.join(laws.len());
        } else {
            self.groups.find(&w);
        }
        let rows = |members: &[u32]| members.iter().map(|&i| laws[i as usize].size()).sum::<usize>();
        let largest = self.groups.iter().map(rows).max().unwrap_or(0);
        if largest > ROWS {
            return None;
        }
        self.group.reserve(laws.len(), largest);
        z.lambda.resize(problem.size(), 0.0);
        if !z.lambda.iter().all(|x| x.is_finite()) {
            z.lambda.fill(0.0);
        }
        let mut settled = true;
        for members in self.groups.iter() {
            settled &= match *members {
                // one that no other law sees has a closed form
                [i] => solve_alone(problem, &w, i as usize, &mut z.lambda),
                _ => self.group.solve(problem, &w, members, &mut z.lambda),
            };
        }
        let certificate = if settled { problem.conclude(z, EXACT, 0).ok()? } else { return None };
        (!growth::is_growing(problem, certificate)).then_some(certificate)
    }
}

impl Group {
    /// Room for so many laws in all, and for m rows whatever their statuses.
    fn reserve(&mut self, laws: usize, m: usize) {
        self.first.resize(laws.max(self.first.len()), 0);
        if self.u.capacity() < m {
            for buffer in [&mut self.b, &mut self.lambda, &mut self.u, &mut self.size] {
                buffer.reserve(m - buffer.len());
            }
            self.part.reserve(m - self.part.len());
            self.row.reserve(m - self.row.len());
            self.w.reserve(m * m - self.w.len());
            self.matrix.reserve(m * (m + 1) - self.matrix.len());
        }
    }

    /// Solves the problem of these laws; whether their statuses hold in the end.
    fn solve(&mut self, problem: &OneStepProblem<'_>, w: &Delassus, members: &[u32], lambda: &mut [f64]) -> bool {
        self.load(problem, w, members, lambda);
        if !self.settle() {
            return false;
        }
        for (part, &i) in self.part.iter().zip(members) {
            let rows = problem.rows(i as usize);
            lambda[rows.clone()].copy_from_slice(&self.lambda[part.row..part.row + rows.len()]);
        }
        true
    }

    fn load(&mut self, problem: &OneStepProblem<'_>, w: &Delassus, members: &[u32], lambda: &[f64]) {
        self.part.clear();
        self.b.clear();
        self.lambda.clear();
        for &i in members {
            let (rows, shape) = (problem.rows(i as usize), problem.laws()[i as usize].shape());
            self.first[i as usize] = self.b.len() as u32;
            self.part.push(Part { shape, status: Status::Free, row: self.b.len() });
            self.b.extend_from_slice(&problem.b()[rows.clone()]);
            self.lambda.extend_from_slice(&lambda[rows]);
        }
        let m = self.b.len();
        self.w.clear();
        self.w.resize(m * m, 0.0);
        for (part, &i) in self.part.iter().zip(members) {
            for (j, block) in w.row(i as usize) {
                // a block of zeros may lead out of the group
                if block.iter().all(|x| *x == 0.0) {
                    continue;
                }
                let at = part.row * m + self.first[j] as usize;
                match *block {
                    [x] => self.w[at] = x,
                    [a, b, c, d] => {
                        self.w[at..at + 2].copy_from_slice(&[a, b]);
                        self.w[at + m..at + m + 2].copy_from_slice(&[c, d]);
                    }
                    // one row, or one column
                    [a, b] if part.is_row() => self.w[at..at + 2].copy_from_slice(&[a, b]),
                    [a, b] => (self.w[at], self.w[at + m]) = (a, b),
                    _ => {}
                }
            }
        }
    }

    fn settle(&mut self) -> bool {
        self.evaluate();
        self.read();
        for _ in 0..STEPS + self.part.len() {
            self.lay_out();
            if !self.eliminate() {
                return false;
            }
            self.assign();
            self.evaluate();
            if !self.revise() {
                return true;
            }
        }
        false
    }

    /// `λ − u/w` of a row.
    #[inline]
    fn pull(&self, row: usize) -> f64 {
        let w = self.w[row * (self.b.len() + 1)];
        self.lambda[row] - self.u[row] / if w > 0.0 { w } else { 1.0 }
    }

    /// Statuses of the guess.
    fn read(&mut self) {
        for k in 0..self.part.len() {
            let Part { shape, row, .. } = self.part[k];
            self.part[k].status = match shape {
                Shape::Cone1 { mu } if self.pull(row) > 0.0 => closed(mu, self.pull(row), self.pull(row + 1)),
                Shape::Interval { lower, upper } => between(lower, upper, self.pull(row)),
                _ => Status::Fixed(0.0),
            };
        }
    }

    /// Equations (1), with the reactions that are known in `lambda`.
    fn lay_out(&mut self) {
        let m = self.b.len();
        self.row.clear();
        // whether there are bounds other than zero
        let mut known = false;
        for part in &self.part {
            match part.status {
                Status::Fixed(value) => {
                    self.lambda[part.row] = value;
                    known |= value != 0.0;
                    if !part.is_row() {
                        self.lambda[part.row + 1] = 0.0;
                    }
                }
                Status::Free if part.is_row() => self.row.push(part.row),
                Status::Free => self.row.extend([part.row, part.row + 1]),
                Status::Slip(_) => self.row.push(part.row),
            }
        }
        self.matrix.clear();
        for &i in &self.row {
            let entries = &self.w[i * m..(i + 1) * m];
            for part in &self.part {
                match part.status {
                    Status::Fixed(_) => {}
                    Status::Free if part.is_row() => self.matrix.push(entries[part.row]),
                    Status::Free => self.matrix.extend_from_slice(&entries[part.row..part.row + 2]),
                    Status::Slip(slope) => self.matrix.push(entries[part.row] + slope * entries[part.row + 1]),
                }
            }
            let mut right = -self.b[i];
            if known {
                for part in &self.part {
                    if let Status::Fixed(value) = part.status {
                        right -= entries[part.row] * value;
                    }
                }
            }
            self.matrix.push(right);
        }
    }

    /// Gauss' elimination with pivots on the diagonal; the unknowns are left in the last column. Redundant ones are
    /// zero. False where equations nearly depend on each other.
    fn eliminate(&mut self) -> bool {
        let (k, m) = (self.row.len(), self.b.len());
        let width = k + 1;
        for (p, &row) in self.row.iter().enumerate() {
            let (above, below) = self.matrix.split_at_mut((p + 1) * width);
            let pivots = &mut above[p * width + p..];
            let (left, whole) = (pivots[0].abs(), self.w[row * (m + 1)].abs());
            if left <= REDUNDANT * whole {
                // the others do without it
                pivots.fill(0.0);
                pivots[0] = 1.0;
                continue;
            }
            // a NaN is refused as well
            let independent = left > DEPENDENT * whole;
            if !independent {
                return false;
            }
            let inverse = 1.0 / pivots[0];
            for other in below.chunks_exact_mut(width) {
                let factor = other[p] * inverse;
                if factor != 0.0 {
                    for (x, y) in other[p + 1..].iter_mut().zip(&pivots[1..]) {
                        *x -= factor * y;
                    }
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
        true
    }

    /// The unknowns into their places.
    fn assign(&mut self) {
        let width = self.row.len() + 1;
        for (&row, unknowns) in self.row.iter().zip(self.matrix.chunks_exact(width)) {
            self.lambda[row] = unknowns[width - 1];
        }
        for part in &self.part {
            if let Status::Slip(slope) = part.status {
                self.lambda[part.row + 1] = slope * self.lambda[part.row];
            }
        }
    }

    /// `u ← W λ + b`, with the sizes of the sums.
    fn evaluate(&mut self) {
        self.u.clear();
        self.size.clear();
        for (entries, b) in self.w.chunks_exact(self.b.len()).zip(&self.b) {
            let (mut u, mut size) = (*b, b.abs());
            for (w, l) in entries.iter().zip(&self.lambda) {
                let term = w * l;
                u += term;
                size += term.abs();
            }
            self.u.push(u);
            self.size.push(size);
        }
    }

    /// Changes the statuses that the point contradicts; whether there were any.
    fn revise(&mut self) -> bool {
        let mut revised = false;
        for k in 0..self.part.len() {
            let Part { shape, status, row } = self.part[k];
            let (lambda, u) = (&self.lambda, &self.u);
            let rounding = |k: usize| EXACT * self.size[k];
            let next = match (status, shape) {
                (Status::Fixed(_), Shape::Cone1 { mu }) if u[row] < -rounding(row) => {
                    closed(mu, self.pull(row), self.pull(row + 1))
                }
                (Status::Free | Status::Slip(_), Shape::Cone1 { .. }) if lambda[row] < 0.0 => Status::Fixed(0.0),
                (Status::Free, Shape::Cone1 { mu }) => closed(mu, lambda[row], lambda[row + 1]),
                (Status::Slip(slope), Shape::Cone1 { mu }) if slope * u[row + 1] > slope.abs() * rounding(row + 1) => {
                    closed(mu, lambda[row], self.pull(row + 1))
                }
                (Status::Fixed(bound), Shape::Interval { lower, upper })
                    if (bound > lower && u[row] > rounding(row)) || (bound < upper && u[row] < -rounding(row)) =>
                {
                    Status::Free
                }
                (Status::Free, Shape::Interval { lower, upper }) => between(lower, upper, lambda[row]),
                _ => status,
            };
            revised |= next != status;
            self.part[k].status = next;
        }
        revised
    }
}

/// Solves a law that is alone in its group; false where there is no closed form.
#[inline]
fn solve_alone(problem: &OneStepProblem<'_>, w: &Delassus, i: usize, lambda: &mut [f64]) -> bool {
    let (rows, law) = (problem.rows(i), &problem.laws()[i]);
    Local::new(law, w.diagonal(i)).is_some_and(|local| {
        local.solve(&problem.b()[rows.clone()], &mut lambda[rows]);
        true
    })
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
#[inline]
fn closed(mu: f64, normal: f64, tangent: f64) -> Status {
    if mu > 0.0 && tangent.abs() <= mu * normal { Status::Free } else { Status::Slip(mu.copysign(tangent)) }
}

/// At a bound, or between them.
#[inline]
fn between(lower: f64, upper: f64, lambda: f64) -> Status {
    if lambda >= upper {
        Status::Fixed(upper)
    } else if lambda <= lower {
        Status::Fixed(lower)
    } else {
        Status::Free
    }
}
