//! Mechanisms of rigid bodies at one instant, built by hand, and their dense solution by a pseudo-inverse.
#![allow(dead_code, reason = "not every test uses all of it")]

use carom_solve::{DenseLu, Law, LinearSolve, OneStepProblem, Parts, ProblemWork, Reaction, Rows};
use nalgebra::{DMatrix, DVector};
use std::ops::Range;

pub type V3 = [f64; 3];

pub fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn unit(a: V3) -> V3 {
    a.map(|x| x / dot(a, a).sqrt())
}

pub fn minus(a: V3, b: V3) -> V3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Two directions perpendicular to one.
pub fn across(d: V3) -> [V3; 2] {
    let other = if d[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let u = unit(cross(d, other));
    [u, cross(d, u)]
}

/// Blocks of A, one per body.
pub struct Bodies {
    pub size: usize,
    pub matrix: Vec<DMatrix<f64>>,
    lu: Vec<DenseLu>,
    entries: Vec<f64>,
    /// Whether the entries are told.
    pub tells: bool,
}

impl LinearSolve for Bodies {
    fn dim(&self) -> usize {
        self.size * self.matrix.len()
    }
    fn solve(&self, rhs: &mut [f64]) {
        for (x, lu) in rhs.chunks_exact_mut(self.size).zip(&self.lu) {
            lu.solve(x);
        }
    }
    fn block(&self, dof: usize) -> Range<usize> {
        let first = dof / self.size * self.size;
        first..first + self.size
    }
    fn solve_block(&self, block: Range<usize>, rhs: &mut [f64]) {
        self.lu[block.start / self.size].solve(rhs);
    }
    fn matrix(&self, block: Range<usize>, out: &mut [f64]) -> bool {
        if self.tells {
            let first = block.start * self.size;
            out.copy_from_slice(&self.entries[first..first + self.size * self.size]);
        }
        self.tells
    }
}

/// The same as one dense block.
pub struct OneBlock<'a>(pub &'a Bodies);

impl LinearSolve for OneBlock<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn solve(&self, rhs: &mut [f64]) {
        self.0.solve(rhs);
    }
}

/// Rigid bodies in space (six degrees of freedom, axes of the world) or in the plane xz (x, z, angle about −y).
pub struct Mechanism {
    pub size: usize,
    pub centre: Vec<V3>,
    pub matrix: Vec<DMatrix<f64>>,
    pub output: Vec<Vec<(usize, f64)>>,
    pub laws: Vec<Law>,
    pub velocity: Vec<f64>,
}

impl Mechanism {
    pub fn space() -> Mechanism {
        let (centre, matrix, output, laws, velocity) = Default::default();
        Mechanism { size: 6, centre, matrix, output, laws, velocity }
    }

    pub fn plane() -> Mechanism {
        Mechanism { size: 3, ..Mechanism::space() }
    }

    /// A body with its inertia about its centre; it falls with velocity −9.81 along z (gravity during one second).
    pub fn body(&mut self, centre: V3, mass: f64, inertia: [V3; 3]) -> usize {
        let mut m = DMatrix::zeros(self.size, self.size);
        if self.size == 6 {
            for i in 0..3 {
                m[(i, i)] = mass;
                (0..3).for_each(|j| m[(3 + i, 3 + j)] = inertia[i][j]);
            }
            self.velocity.extend([0.0, 0.0, -9.81, 0.0, 0.0, 0.0]);
        } else {
            (m[(0, 0)], m[(1, 1)], m[(2, 2)]) = (mass, mass, inertia[1][1]);
            self.velocity.extend([0.0, -9.81, 0.0]);
        }
        self.centre.push(centre);
        self.matrix.push(m);
        self.centre.len() - 1
    }

    /// A slender rod; its inertia about its axis is `axial` times that across.
    pub fn rod(&mut self, from: V3, to: V3, mass: f64, axial: f64) -> usize {
        let d = minus(to, from);
        let (length, e) = (dot(d, d).sqrt(), unit(d));
        let across = mass * length * length / 12.0;
        let mut inertia = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let same = if i == j { 1.0 } else { 0.0 };
                inertia[i][j] = across * (same - (1.0 - axial) * e[i] * e[j]);
            }
        }
        self.body(std::array::from_fn(|k| 0.5 * (from[k] + to[k])), mass, inertia)
    }

    /// Entries of the velocity along `d` of a point of a body.
    fn point(&self, body: usize, at: V3, d: V3, sign: f64) -> Vec<(usize, f64)> {
        let s = minus(at, self.centre[body]);
        let first = body * self.size;
        let turn = cross(s, d);
        if self.size == 6 {
            (0..3).map(|k| (first + k, sign * d[k])).chain((0..3).map(|k| (first + 3 + k, sign * turn[k]))).collect()
        } else {
            vec![(first, sign * d[0]), (first + 1, sign * d[2]), (first + 2, -sign * turn[1])]
        }
    }

    fn turn(&self, body: usize, d: V3, sign: f64) -> Vec<(usize, f64)> {
        (0..3).map(|k| (body * 6 + 3 + k, sign * d[k])).collect()
    }

    pub fn push(&mut self, law: Law, rows: Vec<Vec<(usize, f64)>>) {
        for mut row in rows {
            row.sort_by_key(|x| x.0);
            self.output.push(row);
        }
        self.laws.push(law);
    }

    /// Velocity of b relative to a (none: the ground) along d at a point.
    pub fn relative(&self, a: Option<usize>, b: usize, at: V3, d: V3) -> Vec<(usize, f64)> {
        let mut row = self.point(b, at, d, 1.0);
        if let Some(a) = a {
            row.extend(self.point(a, at, d, -1.0));
        }
        row
    }

    fn relative_turn(&self, a: Option<usize>, b: usize, d: V3) -> Vec<(usize, f64)> {
        let mut row = self.turn(b, d, 1.0);
        if let Some(a) = a {
            row.extend(self.turn(a, d, -1.0));
        }
        row
    }

    /// The points of two bodies stay together.
    pub fn ball(&mut self, a: Option<usize>, b: usize, at: V3) {
        let axes: &[V3] = match self.size {
            6 => &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            _ => &[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        };
        for &d in axes {
            self.push(Law::EQUALITY, vec![self.relative(a, b, at, d)]);
        }
    }

    pub fn hinge(&mut self, a: Option<usize>, b: usize, at: V3, axis: V3) {
        self.ball(a, b, at);
        for d in across(axis) {
            self.push(Law::EQUALITY, vec![self.relative_turn(a, b, d)]);
        }
    }

    /// A contact with friction: rows along n, t1 and, in space, t2.
    pub fn contact(&mut self, a: Option<usize>, b: usize, at: V3, n: V3, mu: f64) {
        let [t, s] = across(n);
        self.contact_along(a, b, at, [n, t, s], mu);
    }

    pub fn contact_along(&mut self, a: Option<usize>, b: usize, at: V3, [n, t, s]: [V3; 3], mu: f64) {
        let rows = match self.size {
            6 => [n, t, s].map(|d| self.relative(a, b, at, d)).to_vec(),
            _ => [n, cross([0.0, 1.0, 0.0], n)].map(|d| self.relative(a, b, at, d)).to_vec(),
        };
        self.push(Law::coulomb(mu, if self.size == 6 { 2 } else { 1 }), rows);
    }

    pub fn bodies(&self) -> Bodies {
        let lu = self.matrix.iter().map(|m| {
            let mut lu = DenseLu::default();
            let n = self.size;
            lu.matrix_mut(n).iter_mut().enumerate().for_each(|(k, x)| *x = m[(k / n, k % n)]);
            lu.factor().unwrap();
            lu
        });
        let entries = self.matrix.iter().flat_map(|m| m.transpose().iter().copied().collect::<Vec<f64>>()).collect();
        Bodies { size: self.size, entries, lu: lu.collect(), matrix: self.matrix.clone(), tells: true }
    }

    pub fn rows(&self, change: impl Fn(usize, f64) -> f64) -> Rows {
        let mut rows = Rows::new(self.size * self.centre.len());
        let mut k = 0;
        for row in &self.output {
            rows.push_sparse(row.iter().map(|&(dof, x)| {
                k += 1;
                (dof, change(k, x))
            }));
        }
        rows
    }

    /// u without reactions.
    pub fn free(&self) -> Vec<f64> {
        self.output.iter().map(|row| row.iter().map(|&(dof, x)| x * self.velocity[dof]).sum()).collect()
    }

    /// A problem with these rows, handed to `work`.
    pub fn with<T>(&self, lhs: &dyn LinearSolve, input: &Rows, work: impl FnOnce(&OneStepProblem<'_>) -> T) -> T {
        let (output, b) = (self.rows(|_, x| x), self.free());
        let parts = Parts { lhs, output: &output, input, feedthrough: None, b: &b, laws: &self.laws };
        work(&OneStepProblem::new(parts, &mut ProblemWork::default()))
    }

    /// Velocities after the reactions.
    pub fn after(&self, z: &Reaction) -> Vec<f64> {
        self.velocity.iter().zip(&z.response).map(|(v, x)| v + x).collect()
    }
}

/// The dense solution of equality rows by the singular values of scaled S = C A⁻¹ B.
pub struct Dense {
    pub inverse: DMatrix<f64>,
    pub output: DMatrix<f64>,
    pub input: DMatrix<f64>,
    /// Pseudo-inverse of S, unscaled again.
    pub pseudo: DMatrix<f64>,
    pub rank: usize,
    /// Diagonal of S.
    pub own: Vec<f64>,
    pub equal: Vec<usize>,
}

pub fn dense(rows: &Rows, n: usize) -> DMatrix<f64> {
    let mut m = DMatrix::zeros(rows.len(), n);
    for i in 0..rows.len() {
        rows.row(i).iter().for_each(|&(j, x)| m[(i, j)] += x);
    }
    m
}

impl Dense {
    pub fn of(mechanism: &Mechanism, input: &Rows) -> Dense {
        let size = mechanism.size;
        let n = size * mechanism.centre.len();
        let mut inverse = DMatrix::zeros(n, n);
        for (k, m) in mechanism.matrix.iter().enumerate() {
            inverse.view_mut((k * size, k * size), (size, size)).copy_from(&m.clone().try_inverse().unwrap());
        }
        let output = dense(&mechanism.rows(|_, x| x), n);
        let input = dense(input, n).transpose();
        let mut equal = Vec::new();
        let mut row = 0;
        for law in &mechanism.laws {
            if law.is_equality() {
                equal.push(row);
            }
            row += law.size();
        }
        let (c, b) = (output.select_rows(&equal), input.select_columns(&equal));
        let mut s = &c * &inverse * &b;
        let own: Vec<f64> = (0..equal.len()).map(|k| s[(k, k)]).collect();
        for i in 0..equal.len() {
            for j in 0..equal.len() {
                s[(i, j)] /= (own[i] * own[j]).sqrt();
            }
        }
        let svd = s.svd(true, true);
        let cut = 1e-10 * svd.singular_values.max();
        let rank = svd.rank(cut);
        let mut pseudo = svd.pseudo_inverse(cut).unwrap();
        for i in 0..equal.len() {
            for j in 0..equal.len() {
                pseudo[(i, j)] /= (own[i] * own[j]).sqrt();
            }
        }
        Dense { inverse, output, input, pseudo, rank, own, equal }
    }

    /// Reactions of the equality rows for the reactions `rest` of all rows (zero at equality rows).
    pub fn reactions(&self, b: &[f64], rest: &DVector<f64>) -> DVector<f64> {
        let u = DVector::from_column_slice(b) + &self.output * &self.inverse * &self.input * rest;
        let mut all = rest.clone();
        let w = &self.output * &self.inverse * &self.input;
        // once more for what rounding has left: S is badly conditioned
        let mut left = u.select_rows(&self.equal);
        for _ in 0..3 {
            let own = -&self.pseudo * left;
            self.equal.iter().zip(own.iter()).for_each(|(&row, &x)| all[row] += x);
            left = (DVector::from_column_slice(b) + &w * &all).select_rows(&self.equal);
        }
        all
    }

    /// W and b of the rows `rest` where the equality rows hold.
    pub fn reduced(&self, b: &[f64], rest: &[usize]) -> (DMatrix<f64>, DVector<f64>) {
        let w = &self.output * &self.inverse * &self.input;
        let part = |i: &[usize], j: &[usize]| w.select_rows(i).select_columns(j);
        let b = DVector::from_column_slice(b);
        let across = part(rest, &self.equal) * &self.pseudo;
        let w = part(rest, rest) - &across * part(&self.equal, rest);
        (w, b.select_rows(rest) - across * b.select_rows(&self.equal))
    }

    /// A⁻¹ B λ.
    pub fn response(&self, lambda: &DVector<f64>) -> DVector<f64> {
        &self.inverse * (&self.input * lambda)
    }
}
