//! Mass, and the factored matrix A = a M + b C + c K.
//!
//! ```text
//!     C = −∂F/∂v:  [Ω]× J − [JΩ]×  of the gyroscopic torque,  and that of springs and dampers                      (1)
//!     K = −∂F/∂q:  of springs, along increments of the bodies                                                      (2)
//! ```
//!
//! Bodies without springs have a block of their own, inverted in closed form. Bodies that springs couple make dense
//! blocks of neighbours in the list; where such a block would be large the whole matrix is sparse. Springs are
//! differentiated by dual numbers; loads only steer Newton's loop and are left out.

use super::bend::Brace;
use super::couple::columns;
use super::force::spring;
use super::motion::Motion;
use super::plan::{Inertial, PlacedSpring, Plan};
use super::{Frame, Vector};
use crate::ModelError;
use crate::model::{Combination, SparseFactor, SparseMatrix};
use carom_solve::{DenseLu, LinearSolve, Singular};
use num_dual::{Dual, Dual64};
use std::ops::Range;

/// Most velocities of a dense block.
const DENSE: usize = 96;

/// A factored block.
enum Block {
    /// One body without springs.
    Free(Free),
    /// Neighbours in the list: the matrix and its factors.
    Dense(Vec<f64>, DenseLu),
    /// A part of the sparse matrix.
    Sparse,
}

/// The block of a body without springs: that of its translation is a multiple of the unit matrix.
#[derive(Default)]
struct Free {
    translation: f64,
    rotation: [[f64; 3]; 3],
    inverse: [[f64; 3]; 3], // of the rotation
}

/// The matrix factored last.
pub(crate) struct Operator {
    size: usize, // velocities of a body
    n: usize,
    intervals: Vec<Range<usize>>, // bodies of each block, in order
    of_body: Vec<usize>,          // block of each body
    blocks: Vec<Block>,
    sparse: Option<SparseFactor>,
    entries: Vec<(usize, usize, f64)>, // of spring and body blocks, where the matrix is sparse
    dual: Motion<Dual64>,              // a spring with one coordinate moving
    pub braces: Vec<Brace>,            // (bodies) what reactions add to rotations; empty where nothing
}

impl Operator {
    pub fn new(plan: &Plan) -> Operator {
        let (size, bodies) = (plan.sizes().1, plan.bodies.len());
        // bodies that springs touch, and intervals that hold bodies which a spring couples
        let mut last: Vec<usize> = (0..bodies).collect();
        let mut touched = vec![false; bodies];
        for spring in &plan.springs {
            let [a, b] = spring.bodies;
            [a, b].into_iter().filter(|body| *body > 0).for_each(|body| touched[body - 1] = true);
            if a > 0 && b > 0 {
                let (low, high) = (a.min(b) - 1, a.max(b) - 1);
                last[low] = last[low].max(high);
            }
        }
        let mut intervals: Vec<Range<usize>> = Vec::new();
        let mut body = 0;
        while body < bodies {
            let (start, mut end) = (body, last[body]);
            while body <= end {
                end = end.max(last[body]);
                body += 1;
            }
            intervals.push(start..body);
        }
        let is_sparse = intervals.iter().any(|interval| interval.len() * size > DENSE);
        let mut of_body = vec![0; bodies];
        let mut blocks = Vec::new();
        for (k, interval) in intervals.iter().enumerate() {
            of_body[interval.clone()].fill(k);
            blocks.push(match () {
                () if is_sparse => Block::Sparse,
                () if interval.len() == 1 && !touched[interval.start] => Block::Free(Free::default()),
                () => Block::Dense(vec![0.0; (interval.len() * size).pow(2)], DenseLu::default()),
            });
        }
        Operator {
            size,
            n: bodies * size,
            intervals,
            of_body,
            blocks,
            sparse: is_sparse.then(SparseFactor::default),
            entries: Vec::new(),
            dual: Motion::new(plan),
            braces: Vec::new(),
        }
    }

    /// Factors A at a motion.
    pub fn factor(
        &mut self,
        plan: &Plan,
        (t, v): (f64, &[f64]),
        motion: &Motion<f64>,
        c: Combination,
    ) -> Result<(), ModelError> {
        let size = self.size;
        if self.sparse.is_some() {
            return self.factor_sparse(plan, (t, v), motion, c);
        }
        for (block, interval) in self.blocks.iter_mut().zip(&self.intervals) {
            match block {
                Block::Free(free) => {
                    let body = &plan.bodies[interval.start];
                    free.translation = c.mass * body.mass;
                    free.rotation = rotation_matrix(
                        (body, self.braces.get(interval.start)),
                        plan.is_planar,
                        &v[interval.start * size..],
                        c,
                    );
                    let source = Singular { column: size * interval.start, pivot: 0.0 };
                    free.inverse = invert(free.rotation, plan.is_planar).ok_or(ModelError::Singular { t, source })?;
                }
                Block::Dense(a, _) => {
                    let columns = interval.len() * size;
                    a.fill(0.0);
                    for (k, body) in interval.clone().enumerate() {
                        let braced = (&plan.bodies[body], self.braces.get(body));
                        add_body(braced, plan.is_planar, &v[body * size..], c, |i, j, x| {
                            a[(k * size + i) * columns + k * size + j] += x;
                        });
                    }
                }
                Block::Sparse => {}
            }
        }
        self.dual.copy(motion);
        for item in &plan.springs {
            let body = item.bodies.into_iter().find(|body| *body > 0).unwrap_or(1);
            let k = self.of_body[body - 1];
            let interval = self.intervals[k].clone();
            if let Block::Dense(a, _) = &mut self.blocks[k] {
                let (first, columns) = (interval.start * size, interval.len() * size);
                add_spring(plan, item, motion, &mut self.dual, c, |i, j, x| a[(i - first) * columns + j - first] += x);
            }
        }
        for block in &mut self.blocks {
            if let Block::Dense(a, lu) = block {
                lu.matrix_mut(a.len().isqrt()).copy_from_slice(a);
                lu.factor().map_err(|source| ModelError::Singular { t, source })?;
            }
        }
        Ok(())
    }

    fn factor_sparse(
        &mut self,
        plan: &Plan,
        (t, v): (f64, &[f64]),
        motion: &Motion<f64>,
        c: Combination,
    ) -> Result<(), ModelError> {
        let size = self.size;
        let entries = &mut self.entries;
        entries.clear();
        for (k, body) in plan.bodies.iter().enumerate() {
            let braced = (body, self.braces.get(k));
            add_body(braced, plan.is_planar, &v[k * size..], c, |i, j, x| {
                entries.push((k * size + i, k * size + j, x));
            });
        }
        self.dual.copy(motion);
        for item in &plan.springs {
            add_spring(plan, item, motion, &mut self.dual, c, |i, j, x| entries.push((i, j, x)));
        }
        let matrix = SparseMatrix::from_triplets(self.n, entries)?;
        let symmetric = matrix.is_symmetric();
        match &mut self.sparse {
            Some(sparse) => sparse.factor(&matrix, symmetric).ok_or(ModelError::SparseSingular { t }),
            None => Ok(()),
        }
    }
}

/// The block of rotation of A; in the plane its last entry.
fn rotation_matrix(
    (body, brace): (&Inertial, Option<&Brace>),
    is_planar: bool,
    v: &[f64],
    c: Combination,
) -> [[f64; 3]; 3] {
    let mut a = body.inertia.map(|row| row.map(|x| c.mass * x));
    if let Some(brace) = brace {
        a.iter_mut().flatten().zip(brace.iter().flatten()).for_each(|(a, b)| *a += b);
    }
    if !is_planar && !body.is_isotropic && c.damping != 0.0 {
        let spin = [v[3], v[4], v[5]];
        let j = body.inertia;
        let momentum: [f64; 3] = j.map(|row| row[0] * spin[0] + row[1] * spin[1] + row[2] * spin[2]);
        for k in 0..3 {
            let column = Vector([j[0][k], j[1][k], j[2][k]]);
            let unit = Vector(std::array::from_fn(|i| f64::from(u8::from(i == k))));
            let change = Vector(spin).cross(column) - Vector(momentum).cross(unit);
            (0..3).for_each(|i| a[i][k] += c.damping * change.0[i]);
        }
    }
    a
}

/// The inverse; in the plane of the last entry alone.
fn invert(a: [[f64; 3]; 3], is_planar: bool) -> Option<[[f64; 3]; 3]> {
    if is_planar {
        let inverse = 1.0 / a[2][2];
        return inverse.is_finite().then_some([[0.0; 3], [0.0; 3], [0.0, 0.0, inverse]]);
    }
    let minor = |i: usize, j: usize| {
        let (r, s, k, l) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
        a[r][k] * a[s][l] - a[r][l] * a[s][k]
    };
    let determinant = a[0][0] * minor(0, 0) + a[0][1] * minor(0, 1) + a[0][2] * minor(0, 2);
    let inverse = std::array::from_fn(|i| std::array::from_fn(|j| minor(j, i) / determinant));
    (determinant != 0.0 && determinant.is_finite()).then_some(inverse)
}

/// Mass and gyroscopic part of a body.
fn add_body(
    (body, brace): (&Inertial, Option<&Brace>),
    is_planar: bool,
    v: &[f64],
    c: Combination,
    mut add: impl FnMut(usize, usize, f64),
) {
    let rotation = rotation_matrix((body, brace), is_planar, v, c);
    if is_planar {
        (0..2).for_each(|i| add(i, i, c.mass * body.mass));
        return add(2, 2, rotation[2][2]);
    }
    for i in 0..3 {
        add(i, i, c.mass * body.mass);
        (0..3).for_each(|j| add(3 + i, 3 + j, rotation[i][j]));
    }
}

/// Stiffness and damping of a spring, column by column.
fn add_spring(
    plan: &Plan,
    item: &PlacedSpring,
    motion: &Motion<f64>,
    dual: &mut Motion<Dual64>,
    c: Combination,
    mut add: impl FnMut(usize, usize, f64),
) {
    let size = plan.sizes().1;
    for moved in item.bodies.into_iter().filter(|body| *body > 0) {
        for j in 0..size {
            for (weight, is_position) in [(c.stiffness, true), (c.damping, false)] {
                if weight == 0.0 {
                    continue;
                }
                seed(plan.is_planar, motion, dual, moved, j, is_position);
                let (effort, lines) = spring(plan, item, dual);
                for (body, line) in item.bodies.into_iter().zip(lines).filter(|(body, _)| *body > 0) {
                    let column = columns(plan.is_planar, &dual.frames[body], &line.scaled(effort));
                    for (i, x) in column.iter().take(size).enumerate() {
                        add((body - 1) * size + i, (moved - 1) * size + j, -weight * x.eps);
                    }
                }
            }
        }
        dual.frames[moved] = constant(&motion.frames[moved]);
        dual.velocities[moved] = motion.velocities[moved].map(|x| Vector::constant(x.0));
    }
}

fn constant(frame: &Frame) -> Frame<Dual64> {
    Frame { centre: Vector::constant(frame.centre.0), axes: frame.axes.map(|axis| Vector::constant(axis.0)) }
}

/// Lets coordinate `j` of a body move: its increment, or its velocity.
fn seed(is_planar: bool, motion: &Motion<f64>, dual: &mut Motion<Dual64>, body: usize, j: usize, is_position: bool) {
    let frame = &motion.frames[body];
    let unit = Vector(std::array::from_fn(|i| f64::from(u8::from(i == j))));
    let zero = Vector::zero();
    let (way, turn) = match (is_planar, j) {
        (true, 0 | 1) | (false, 0..3) => (unit, zero),
        (true, _) => (zero, frame.axes[2]),
        (false, j) => (zero, frame.axes[j - 3]),
    };
    let with = |x: Vector, rate: Vector| Vector(std::array::from_fn(|i| Dual::new(x.0[i], rate.0[i])));
    let [velocity, spin] = motion.velocities[body];
    if is_position {
        let axes = frame.axes.map(|axis| with(axis, turn.cross(axis)));
        dual.frames[body] = Frame { centre: with(frame.centre, way), axes };
        // the angular velocity in axes of the body stays
        dual.velocities[body] = [with(velocity, zero), with(spin, turn.cross(spin))];
    } else {
        dual.frames[body] = constant(frame);
        dual.velocities[body] = [with(velocity, way), with(spin, turn)];
    }
}

impl Motion<Dual64> {
    /// The same motion without derivatives.
    fn copy(&mut self, motion: &Motion<f64>) {
        self.near.copy_from_slice(&motion.near);
        for (to, from) in self.frames.iter_mut().zip(&motion.frames) {
            *to = constant(from);
        }
        for (to, from) in self.velocities.iter_mut().zip(&motion.velocities) {
            *to = from.map(|x| Vector::constant(x.0));
        }
    }
}

impl LinearSolve for Operator {
    fn dim(&self) -> usize {
        self.n
    }

    fn solve(&self, rhs: &mut [f64]) {
        if let Some(sparse) = &self.sparse {
            return sparse.solve(rhs);
        }
        for interval in &self.intervals {
            let block = interval.start * self.size..interval.end * self.size;
            self.solve_block(block.clone(), &mut rhs[block]);
        }
    }

    fn block(&self, dof: usize) -> Range<usize> {
        if self.sparse.is_some() {
            return 0..self.n;
        }
        let interval = &self.intervals[self.of_body[dof / self.size]];
        interval.start * self.size..interval.end * self.size
    }

    fn solve_block(&self, block: Range<usize>, rhs: &mut [f64]) {
        match &self.blocks[self.of_body[block.start / self.size]] {
            Block::Free(free) => {
                if self.size == 3 {
                    let [x, y, turn] = [rhs[0], rhs[1], rhs[2]];
                    rhs.copy_from_slice(&[x / free.translation, y / free.translation, turn * free.inverse[2][2]]);
                    return;
                }
                rhs[..3].iter_mut().for_each(|x| *x /= free.translation);
                let [x, y, z] = [rhs[3], rhs[4], rhs[5]];
                rhs[3..].iter_mut().zip(free.inverse).for_each(|(r, row)| *r = row[0] * x + row[1] * y + row[2] * z);
            }
            Block::Dense(_, lu) => lu.solve(rhs),
            Block::Sparse => self.solve(rhs),
        }
    }

    fn matrix(&self, block: Range<usize>, out: &mut [f64]) -> bool {
        match &self.blocks[self.of_body[block.start / self.size]] {
            Block::Free(free) => {
                let size = self.size;
                out.fill(0.0);
                let turn = if size == 3 { 2 } else { 3 };
                (0..turn).for_each(|i| out[i * size + i] = free.translation);
                for i in turn..size {
                    for j in turn..size {
                        // in the plane the last entry counts
                        let (k, l) = if size == 3 { (2, 2) } else { (i - 3, j - 3) };
                        out[i * size + j] = free.rotation[k][l];
                    }
                }
                true
            }
            Block::Dense(a, _) => {
                out.copy_from_slice(a);
                true
            }
            Block::Sparse => false,
        }
    }
}
