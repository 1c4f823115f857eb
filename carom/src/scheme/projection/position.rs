//! The position law of one iteration, as a one-step problem; equation numbers are those of the projected schemes.
//!
//! Alone, with the velocity known:
//!
//! ```text
//!     y = Gᵀ N G τ + b                                                                                 (a)
//! ```
//!
//! With N = M⁻¹ this is a problem over the bodies, as the velocity law is one: joints are eliminated along their trees.
//! It stands alone where forces do not answer to the displacement of many rows, as weights do not.
//!
//! With the velocity law, in the unknowns P and σ = τ/s and the outputs u and y/h, so that both halves have the units
//! and the size of impulses and velocities and one tolerance fits both (s = h w/(Gᵀ N G) with w = Gᵀ A⁻¹ G, contact by
//! contact):
//!
//! ```text
//!     ⎡ u   ⎤   ⎛ ⎡ 0       0      ⎤   ⎡ C  ⎤                      ⎞ ⎡ P ⎤
//!     ⎣ y/h ⎦ = ⎝ ⎣ 0   Gᵀ N G s/h ⎦ + ⎣ θGᵀ⎦ A⁻¹ [ B  −hθ K N G s ]⎠ ⎣ σ ⎦ + b                         (b)
//! ```

use super::{Metric, Projector, Splitting, Work};
use crate::balance::Problem;
use crate::model::Combination;
use crate::scheme::{Step, StepError, System};
use crate::{Mechanical, State};
use carom_solve::elementary::cbrt;
use carom_solve::{Identity, Law, LinearSolve, Rows};
use std::ops::Range;

/// From so many columns on, one trial tells first whether forces answer to any of them.
const MANY: usize = 8;

/// From so many rows on (a) is solved over the bodies: fewer are a small dense problem, whose pattern may change at
/// will.
const LONG: usize = 40;

/// Buffers of the position problem.
#[derive(Default)]
pub(super) struct Stage {
    alone: Problem, // (a): its output is Gᵀ, the normal rows of the set, its input (N G)ᵀ, or Gᵀ over the bodies
    lifted_set: Vec<usize>, // laws whose rows are in there, if they do not change
    joint: Joint,
    column: Vec<f64>, // (n)
    moved: State,     // q_θ moved along a column
    force: Vec<f64>,  // (n)
}

carom_solve::persist!(Stage { alone, lifted_set, joint, column, moved, force });

/// Buffers of the problem (b).
#[derive(Default)]
struct Joint {
    problem: Problem,
    kept: Option<f64>,  // step size of its rows, if they do not change
    active: Vec<usize>, // their acting laws
    set: Vec<usize>,    // their set
    scale: Vec<f64>,    // (set) s
    shift: Vec<f64>,    // (n) A⁻¹ hθ K N G τ^n
}

carom_solve::persist!(Joint { problem, kept, active, set, scale, shift });

impl Stage {
    pub(super) fn new(model: &mut dyn Mechanical) -> Stage {
        let zeros = || vec![0.0; model.dim()];
        let joint = Joint { shift: zeros(), ..Joint::default() };
        Stage { column: zeros(), force: zeros(), joint, moved: model.initial(), ..Stage::default() }
    }

    /// Drops the rows that were kept.
    pub(super) fn forget(&mut self) {
        self.lifted_set.clear();
        self.joint.kept = None;
    }
}

impl Projector {
    /// Solves the position law of the set, with the velocity law if they are coupled, and moves.
    pub(super) fn project(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<(), StepError> {
        let newton = &w.base.newton;
        let is_constant = newton.constancy.rows && (self.metric == Metric::Identity || newton.constancy.mass);
        w.position.alone.laws.clear();
        for k in 0..w.set.len() {
            let law = if self.is_equality(w, w.set[k]) { Law::EQUALITY } else { Law::UNILATERAL };
            w.position.alone.laws.push(law);
        }
        if !(is_constant && w.position.lifted_set == w.set) {
            w.position.lifted_set.clear();
            let Problem { output: normals, .. } = &mut w.position.alone;
            normals.clear(system.model.dim());
            for &i in &w.set {
                normals.push_row_of(&w.base.laws.end.rows, w.base.laws.end.offset[i]);
            }
            if self.metric == Metric::InverseMass {
                // the model keeps one factor at a time: that of A is made again
                w.base.newton.invalidate();
                system.model.factor(&w.base.newton.at, Combination::MASS)?;
                if !is_constant && self.stands_alone(w, system.model, step)? {
                    let Problem { output: normals, input, .. } = &mut w.position.alone;
                    input.clone_from(normals);
                    self.alone(w, system, true, step)?;
                    w.base.newton.displacement.copy_from_slice(&w.position.alone.z.response);
                    return w.base.newton.factor(system.model);
                }
            }
            self.lift(w, system.model);
            if self.metric == Metric::InverseMass {
                w.base.newton.factor(system.model)?;
            }
            if is_constant {
                w.position.lifted_set.clone_from(&w.set);
            }
        }
        match self.splitting {
            Splitting::Decoupled => self.alone(w, system, false, step)?,
            Splitting::Coupled => self.together(w, system, (from, to), step)?,
        }
        w.base.newton.displacement.fill(0.0);
        for (k, &i) in w.set.iter().enumerate() {
            w.position.alone.input.add_row(k, w.tau[i], &mut w.base.newton.displacement);
        }
        Ok(())
    }

    /// Images of the normal rows under N, whose matrix is factored.
    fn lift(&self, w: &mut Work, model: &dyn Mechanical) {
        let Stage { alone: Problem { output: normals, input: lifted, .. }, column, .. } = &mut w.position;
        lifted.clear(model.dim());
        for k in 0..w.set.len() {
            if self.metric == Metric::Identity {
                lifted.push_row_of(normals, k);
                continue;
            }
            respond(model, normals.row(k), column);
            let blocks = Blocks { model, row: normals.row(k) };
            lifted.push_sparse(blocks.flat_map(|block| block.map(|j| (j, column[j]))));
        }
    }

    /// Whether (a) is solved alone, over the bodies: with many rows, and no force that answers to a displacement along
    /// them, or to none in any case. The matrix of N is factored.
    fn stands_alone(&self, w: &mut Work, model: &mut dyn Mechanical, step: &mut Step) -> Result<bool, StepError> {
        if self.splitting == Splitting::Decoupled || w.set.len() < LONG {
            return Ok(w.set.len() >= LONG);
        }
        let Stage { alone: Problem { output: normals, .. }, column, .. } = &mut w.position;
        column.fill(0.0);
        (0..w.set.len()).for_each(|k| normals.add_row(k, weight(k), column));
        model.solve(column);
        Ok(!self.forces_answer(w, model, step)?)
    }

    /// (a), with the change of d that the velocity makes in `increment`.
    fn alone(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        over_bodies: bool,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let Work { base, set, tau, position: Stage { alone: problem, .. }, .. } = w;
        problem.b.clear();
        problem.z.lambda.clear();
        for (k, &i) in set.iter().enumerate() {
            problem.b.push(base.laws.end.pairs[i].gap + problem.output.dot(k, &base.newton.increment));
            problem.z.lambda.push(tau[i]);
        }
        let unit = Identity(system.model.dim());
        let lhs: &dyn LinearSolve = if over_bodies { &*system.model } else { &unit };
        problem.solve((lhs, &mut *system.solver), false, step, |law| Some(base.laws.list[*set.get(law)?]))?;
        for ((&i, &lambda), law) in set.iter().zip(&problem.z.lambda).zip(&problem.laws) {
            tau[i] = admissible(law, lambda);
        }
        Ok(())
    }

    /// (b): new P, τ and velocity.
    fn together(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<(), StepError> {
        let joint = &w.position.joint;
        let again = joint.kept == Some(w.base.newton.h) && joint.active == w.base.laws.active && joint.set == w.set;
        if !again {
            self.lay_out_joint(w, system.model, step)?;
        }
        self.offset_joint(w, system.model, from);
        let Work { base, set, tau, position: Stage { alone, joint, .. }, .. } = w;
        let (rows, acting) = (base.laws.problem.b.len(), base.laws.active.len());
        // velocity laws first, then those of positions
        let problem = &mut joint.problem;
        problem.laws.clear();
        problem.laws.extend(base.laws.problem.laws.iter().take(acting).chain(&alone.laws));
        let (active, list) = (&base.laws.active, &base.laws.list);
        problem.solve((&*system.model, &mut *system.solver), again, step, |k| {
            Some(list[*active.get(k).or_else(|| set.get(k - acting))?])
        })?;
        let z = &mut base.laws.problem.z;
        z.lambda.clear();
        z.lambda.extend_from_slice(&problem.z.lambda[..rows]);
        z.u.clear();
        z.u.extend_from_slice(&problem.z.u[..rows]);
        let sigmas = problem.z.lambda[rows..].iter().zip(&joint.scale);
        for ((&i, law), (sigma, s)) in set.iter().zip(&alone.laws).zip(sigmas) {
            tau[i] = admissible(law, s * sigma);
        }
        let parts = joint.shift.iter().zip(&problem.z.response);
        for ((v, free), (shift, response)) in to.v.iter_mut().zip(&base.newton.v_free).zip(parts) {
            *v = free + shift + response;
        }
        if self.rule == super::Rule::Combined {
            w.has_impulse(system.model);
        }
        Ok(())
    }

    /// Whether forces answer to the displacement in `column`, one along all columns of N G: many bodies under their
    /// weight alone need no trial for each of them.
    fn forces_answer(&self, w: &mut Work, model: &mut dyn Mechanical, step: &mut Step) -> Result<bool, StepError> {
        let Stage { alone: Problem { output: normals, .. }, column, moved, force, .. } = &mut w.position;
        let ways = w.set.iter().map(|&i| w.base.lengths.met(&w.base.laws.end, i));
        let way = ways.fold(f64::INFINITY, f64::min);
        let most = (0..w.set.len()).fold(0.0f64, |m, k| m.max(normals.dot(k, column).abs()));
        stiffness(model, &w.base.newton.at, (column, cbrt(f64::EPSILON) * way / most), moved, force)?;
        step.evaluations += 2;
        Ok(column.iter().any(|x| *x != 0.0))
    }

    /// Rows of (b).
    fn lay_out_joint(&self, w: &mut Work, model: &mut dyn Mechanical, step: &mut Step) -> Result<(), StepError> {
        let (h, theta) = (w.base.newton.h, self.base.theta);
        // with a few columns a trial for all of them does not pay
        let answers = w.set.len() < MANY || {
            let Stage { alone: Problem { input: lifted, .. }, column, .. } = &mut w.position;
            column.fill(0.0);
            (0..w.set.len()).for_each(|k| lifted.add_row(k, weight(k), column));
            self.forces_answer(w, model, step)?
        };
        let velocities = &w.base.laws.problem;
        let rows = velocities.b.len();
        let Stage { alone: Problem { output: normals, input: lifted, .. }, column, joint, moved, force, .. } =
            &mut w.position;
        let Joint { problem: Problem { output, input, feedthrough, .. }, kept, scale, .. } = joint;
        *kept = None;
        output.clear(model.dim());
        input.clear(model.dim());
        scale.clear();
        for row in 0..rows {
            output.push_row_of(&velocities.output, row);
            input.push_row_of(&velocities.input, row);
        }
        for k in 0..w.set.len() {
            // inverse masses of the velocity and of the position law
            respond(model, normals.row(k), column);
            let (inverse, metric) = (normals.dot(k, column), product(normals.row(k), lifted.row(k), column));
            let s = if inverse > 0.0 && metric > 0.0 { h * inverse / metric } else { h };
            scale.push(s);
            output.push_sparse(normals.row(k).iter().map(|&(j, x)| (j, theta * x)));
            if !answers {
                input.push_sparse([]);
                continue;
            }
            // K N G by central differences of the forces: it steers the iteration only
            column.fill(0.0);
            lifted.add_row(k, 1.0, column);
            let distance = cbrt(f64::EPSILON) * w.base.lengths.met(&w.base.laws.end, w.set[k]) / metric;
            stiffness(model, &w.base.newton.at, (column, distance), moved, force)?;
            step.evaluations += 2;
            let entries = column.iter().enumerate().filter(|x| *x.1 != 0.0);
            input.push_sparse(entries.map(|(j, x)| (j, -h * theta * s * x)));
        }
        feedthrough.clear(rows + w.set.len());
        for _ in 0..rows {
            feedthrough.push_sparse([]);
        }
        for k in 0..w.set.len() {
            let entries = (0..w.set.len()).map(|l| {
                let x = product(normals.row(k), lifted.row(l), column);
                (rows + l, x * scale[l] / h)
            });
            feedthrough.push_sparse(entries.filter(|x| x.1 != 0.0));
        }
        if w.base.newton.constancy.linear() {
            joint.kept = Some(h);
            joint.active.clone_from(&w.base.laws.active);
            joint.set.clone_from(&w.set);
        }
        Ok(())
    }

    /// b of (b), the velocity A⁻¹ hθ K N G τ^n that it starts from besides v_free, and the guess.
    fn offset_joint(&self, w: &mut Work, model: &dyn Mechanical, from: &State) {
        let (h, theta) = (w.base.newton.h, self.base.theta);
        let velocities = &w.base.laws.problem;
        let rows = velocities.b.len();
        let Stage { alone: Problem { output: normals, .. }, joint, column, .. } = &mut w.position;
        let Joint { problem: Problem { output, input, b, z, .. }, scale, shift, .. } = joint;
        shift.fill(0.0);
        z.lambda.clear();
        z.lambda.extend_from_slice(&velocities.z.lambda[..rows]);
        for (k, &i) in w.set.iter().enumerate() {
            let sigma = w.tau[i] / scale[k];
            input.add_row(rows + k, -sigma, shift);
            z.lambda.push(sigma);
        }
        model.solve(shift);
        b.clear();
        for row in 0..rows {
            b.push(velocities.b[row] + output.dot(row, shift));
        }
        let (start, end) = (h * (1.0 - theta), h * theta);
        for (j, d) in column.iter_mut().enumerate() {
            *d = start * from.v[j] + end * (w.base.newton.v_free[j] + shift[j]) - w.moved[j];
        }
        for (k, &i) in w.set.iter().enumerate() {
            b.push((w.base.laws.end.pairs[i].gap + normals.dot(k, column)) / h);
        }
    }
}

/// What column k counts in a displacement along all of them: weights that no symmetry has.
fn weight(k: usize) -> f64 {
    1.0 + 0.37 * ((k % 7) as f64)
}

/// A multiplier without the rounding that a solver leaves below zero.
fn admissible(law: &Law, tau: f64) -> f64 {
    if law.is_unilateral() { tau.max(0.0) } else { tau }
}

/// The intervals of degrees of freedom that A⁻¹ of a sparse row fills.
struct Blocks<'a> {
    model: &'a dyn Mechanical,
    row: &'a [(usize, f64)],
}

impl Iterator for Blocks<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let block = self.model.block(self.row.first()?.0);
        let within = self.row.iter().take_while(|(j, _)| block.contains(j)).count();
        self.row = &self.row[within..];
        Some(block)
    }
}

/// `out ← A⁻¹ rowᵀ`, in the intervals that it fills alone.
fn respond(model: &dyn Mechanical, row: &[(usize, f64)], out: &mut [f64]) {
    (Blocks { model, row }).for_each(|block| out[block].fill(0.0));
    row.iter().for_each(|&(j, x)| out[j] += x);
    (Blocks { model, row }).for_each(|block| model.solve_block(block.clone(), &mut out[block]));
}

/// Product of two sparse rows, with a dense buffer.
fn product(a: &[(usize, f64)], b: &[(usize, f64)], dense: &mut [f64]) -> f64 {
    let ends = |row: &[(usize, f64)]| Some((row.first()?.0, row.last()?.0));
    let (Some(x), Some(y)) = (ends(a), ends(b)) else { return 0.0 };
    if x.1 < y.0 || y.1 < x.0 {
        return 0.0;
    }
    for &(j, _) in a {
        dense[j] = 0.0;
    }
    for &(j, x) in b {
        dense[j] = x;
    }
    Rows::product(a, dense)
}

/// `x ← K x = −∂F/∂q x` at a state, by forces at the `distance` times x; zero where they are not defined nearby.
fn stiffness(
    model: &mut dyn Mechanical,
    at: &State,
    (x, distance): (&mut [f64], f64),
    moved: &mut State,
    force: &mut [f64],
) -> Result<(), StepError> {
    if !(distance > 0.0 && distance.is_finite()) {
        x.fill(0.0);
        return Ok(());
    }
    for x in x.iter_mut() {
        *x *= distance;
    }
    model.retract(&at.q, x, &mut moved.q);
    model.force(at.t, &moved.q, &at.v, force)?;
    for x in x.iter_mut() {
        *x = -*x;
    }
    model.retract(&at.q, x, &mut moved.q);
    model.force(at.t, &moved.q, &at.v, x)?;
    let mut finite = true;
    for (x, forward) in x.iter_mut().zip(force.iter()) {
        *x = (*x - forward) / (2.0 * distance);
        finite &= x.is_finite();
    }
    if !finite {
        x.fill(0.0);
    }
    Ok(())
}
