//! The position law of one iteration, as a one-step problem; equation numbers are those of the projected schemes.
//!
//! Alone, with the velocity known:
//!
//! ```text
//!     y = Gᵀ N G τ + b                                                                                 (a)
//! ```
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
use crate::model::Combination;
use crate::scheme::moreau_jean::MoreauJean;
use crate::scheme::{Step, StepError, System};
use crate::{Mechanical, State};
use carom_solve::{Identity, Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows};

/// Buffers of the position problem.
#[derive(Default)]
pub(super) struct Stage {
    laws: Vec<Law>,
    normals: Rows,          // Gᵀ: the normal rows of the set
    lifted: Rows,           // (N G)ᵀ
    lifted_set: Vec<usize>, // laws whose rows are in `lifted`, if they do not change
    b: Vec<f64>,
    problem: ProblemWork,
    z: Reaction,
    joint: Joint,
    column: Vec<f64>, // (n)
    moved: State,     // q_θ moved along a column
    force: Vec<f64>,  // (n)
}

/// Buffers of the problem (b).
#[derive(Default)]
struct Joint {
    kept: Option<f64>,  // step size of the rows below, if they do not change
    active: Vec<usize>, // their acting laws
    set: Vec<usize>,    // their set
    output: Rows,
    input: Rows,
    feedthrough: Rows,
    scale: Vec<f64>, // (set) s
    problem: ProblemWork,
    shift: Vec<f64>, // (n) A⁻¹ hθ K N G τ^n
}

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
        self.lift(w, system.model)?;
        w.position.laws.clear();
        for k in 0..w.set.len() {
            let law = if self.is_equality(w, w.set[k]) { Law::EQUALITY } else { Law::UNILATERAL };
            w.position.laws.push(law);
        }
        let certificate = match self.splitting {
            Splitting::Decoupled => self.alone(w, system)?,
            Splitting::Coupled => self.together(w, system, (from, to), step)?,
        };
        step.worst = step.worst.worse(certificate);
        step.solves += 1;
        w.base.displacement.fill(0.0);
        for (k, &i) in w.set.iter().enumerate() {
            w.position.lifted.add_row(k, w.tau[i], &mut w.base.displacement);
        }
        Ok(())
    }

    /// Normal rows of the set and their images under N.
    fn lift(&self, w: &mut Work, model: &mut dyn Mechanical) -> Result<(), StepError> {
        let Stage { normals, lifted, lifted_set, column, .. } = &mut w.position;
        let constant = w.base.constancy.rows && (self.metric == Metric::Identity || w.base.constancy.mass);
        if constant && *lifted_set == w.set {
            return Ok(());
        }
        lifted_set.clear();
        normals.clear(model.dim());
        for &i in &w.set {
            normals.push_row_of(&w.base.end.rows, w.base.end.offset[i]);
        }
        lifted.clear(model.dim());
        match self.metric {
            Metric::Identity => {
                for k in 0..w.set.len() {
                    lifted.push_row_of(normals, k);
                }
            }
            Metric::InverseMass => {
                // the model keeps one factor at a time: that of A is made again
                w.base.factored = None;
                model.factor(&w.base.at_theta, Combination::MASS)?;
                for k in 0..w.set.len() {
                    column.fill(0.0);
                    normals.add_row(k, 1.0, column);
                    model.solve(column);
                    lifted.push_dense(column);
                }
                self.base.factor(&mut w.base, model)?;
            }
        }
        if constant {
            lifted_set.clone_from(&w.set);
        }
        Ok(())
    }

    /// (a), with the change of d that the velocity makes in `increment`.
    fn alone(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
    ) -> Result<carom_solve::Certificate, StepError> {
        let Stage { laws, normals, lifted, b, problem, z, .. } = &mut w.position;
        b.clear();
        z.lambda.clear();
        for (k, &i) in w.set.iter().enumerate() {
            b.push(w.base.end.pairs[i].gap + normals.dot(k, &w.base.increment));
            z.lambda.push(w.tau[i]);
        }
        let unit = Identity(system.model.dim());
        let problem = OneStepProblem::new(
            Parts { lhs: &unit, output: normals, input: lifted, feedthrough: None, b, laws },
            problem,
        );
        let solved = system.solver.solve(&problem, z);
        let certificate = solved.map_err(|error| {
            let law = error.certificate().and_then(|c| w.set.get(c.law));
            StepError::Solve { contact: law.map(|&i| w.base.end.pairs[i].key), error: Box::new(error) }
        })?;
        for ((&i, &tau), law) in w.set.iter().zip(&z.lambda).zip(laws.iter()) {
            w.tau[i] = admissible(law, tau);
        }
        Ok(certificate)
    }

    /// (b): new P, τ and velocity.
    fn together(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<carom_solve::Certificate, StepError> {
        let joint = &w.position.joint;
        let again = joint.kept == Some(w.base.h) && joint.active == w.base.active && joint.set == w.set;
        if !again {
            self.lay_out_joint(w, system.model, step)?;
        }
        self.offset_joint(w, system.model, from);
        let rows = w.base.b.len();
        let Stage { laws, b, z, joint, .. } = &mut w.position;
        // velocity laws first, then those of positions
        laws.splice(0..0, w.base.laws.iter().take(w.base.active.len()).copied());
        let parts = Parts {
            lhs: system.model,
            output: &joint.output,
            input: &joint.input,
            feedthrough: Some(&joint.feedthrough),
            b,
            laws,
        };
        let problem = if again {
            OneStepProblem::again(parts, &mut joint.problem)
        } else {
            OneStepProblem::new(parts, &mut joint.problem)
        };
        let certificate = system.solver.solve(&problem, z).map_err(|error| {
            let law = error.certificate().map(|c| c.law);
            let law = law.and_then(|k| w.base.active.get(k).or_else(|| w.set.get(k - w.base.active.len())));
            StepError::Solve { contact: law.map(|&i| w.base.end.pairs[i].key), error: Box::new(error) }
        })?;
        w.base.z.lambda.clear();
        w.base.z.lambda.extend_from_slice(&z.lambda[..rows]);
        w.base.z.u.clear();
        w.base.z.u.extend_from_slice(&z.u[..rows]);
        let positions = w.set.iter().zip(&laws[w.base.active.len()..]);
        for ((&i, law), (sigma, s)) in positions.zip(z.lambda[rows..].iter().zip(&joint.scale)) {
            w.tau[i] = admissible(law, s * sigma);
        }
        for ((v, free), (shift, response)) in
            to.v.iter_mut().zip(&w.base.v_free).zip(joint.shift.iter().zip(&z.response))
        {
            *v = free + shift + response;
        }
        if self.rule == super::Rule::Combined {
            MoreauJean::pressed(&mut w.base, system.model, &mut w.pressed);
        }
        Ok(certificate)
    }

    /// Rows of (b).
    fn lay_out_joint(&self, w: &mut Work, model: &mut dyn Mechanical, step: &mut Step) -> Result<(), StepError> {
        let (h, theta, n) = (w.base.h, self.base.theta, model.dim());
        let rows = w.base.b.len();
        let Stage { normals, lifted, column, joint, moved, force, .. } = &mut w.position;
        joint.kept = None;
        joint.output.clear(n);
        joint.input.clear(n);
        joint.scale.clear();
        for row in 0..rows {
            joint.output.push_row_of(&w.base.output, row);
            joint.input.push_row_of(&w.base.input, row);
        }
        for k in 0..w.set.len() {
            // inverse masses of the velocity and of the position law
            column.fill(0.0);
            normals.add_row(k, 1.0, column);
            model.solve(column);
            let (inverse, metric) = (normals.dot(k, column), product(normals.row(k), lifted.row(k), column));
            let s = if inverse > 0.0 && metric > 0.0 { h * inverse / metric } else { h };
            joint.scale.push(s);
            joint.output.push_sparse(normals.row(k).iter().map(|&(j, x)| (j, theta * x)));
            // K N G by central differences of the forces: it steers the iteration only
            column.fill(0.0);
            lifted.add_row(k, 1.0, column);
            stiffness(model, &w.base.at_theta, column, moved, force)?;
            step.evaluations += 2;
            let entries = column.iter().enumerate().filter(|x| *x.1 != 0.0);
            joint.input.push_sparse(entries.map(|(j, x)| (j, -h * theta * s * x)));
        }
        joint.feedthrough.clear(rows + w.set.len());
        for _ in 0..rows {
            joint.feedthrough.push_sparse([]);
        }
        for k in 0..w.set.len() {
            let entries = (0..w.set.len()).map(|l| {
                let x = product(normals.row(k), lifted.row(l), column);
                (rows + l, x * joint.scale[l] / h)
            });
            joint.feedthrough.push_sparse(entries.filter(|x| x.1 != 0.0));
        }
        if w.base.constancy.linear() {
            joint.kept = Some(h);
            joint.active.clone_from(&w.base.active);
            joint.set.clone_from(&w.set);
        }
        Ok(())
    }

    /// b of (b), the velocity A⁻¹ hθ K N G τ^n that it starts from besides v_free, and the guess.
    fn offset_joint(&self, w: &mut Work, model: &dyn Mechanical, from: &State) {
        let (h, theta) = (w.base.h, self.base.theta);
        let rows = w.base.b.len();
        let Stage { normals, b, z, joint, column, .. } = &mut w.position;
        joint.shift.fill(0.0);
        z.lambda.clear();
        z.lambda.extend_from_slice(&w.base.z.lambda[..rows]);
        for (k, &i) in w.set.iter().enumerate() {
            let sigma = w.tau[i] / joint.scale[k];
            joint.input.add_row(rows + k, -sigma, &mut joint.shift);
            z.lambda.push(sigma);
        }
        model.solve(&mut joint.shift);
        b.clear();
        for row in 0..rows {
            b.push(w.base.b[row] + joint.output.dot(row, &joint.shift));
        }
        let (start, end) = (h * (1.0 - theta), h * theta);
        for (j, d) in column.iter_mut().enumerate() {
            *d = start * from.v[j] + end * (w.base.v_free[j] + joint.shift[j]) - w.moved[j];
        }
        for (k, &i) in w.set.iter().enumerate() {
            b.push((w.base.end.pairs[i].gap + normals.dot(k, column)) / h);
        }
    }
}

/// A multiplier without the rounding that a solver leaves below zero.
fn admissible(law: &Law, tau: f64) -> f64 {
    if law.is_unilateral() { tau.max(0.0) } else { tau }
}

/// Product of two sparse rows, with a dense buffer.
fn product(a: &[(usize, f64)], b: &[(usize, f64)], dense: &mut [f64]) -> f64 {
    for &(j, _) in a {
        dense[j] = 0.0;
    }
    for &(j, x) in b {
        dense[j] = x;
    }
    Rows::product(a, dense)
}

/// `x ← K x = −∂F/∂q x` at a state; zero where the forces are not defined nearby.
fn stiffness(
    model: &mut dyn Mechanical,
    at: &State,
    x: &mut [f64],
    moved: &mut State,
    force: &mut [f64],
) -> Result<(), StepError> {
    let length = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let size = length(x);
    if !(size > 0.0 && size.is_finite()) {
        x.fill(0.0);
        return Ok(());
    }
    let distance = f64::EPSILON.cbrt() * length(&at.q).max(1.0) / size;
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
