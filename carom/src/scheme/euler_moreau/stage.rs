//! The stage equation of a step with its buffers: residual, coupling, and the one-step problem.

use super::search::Search;
use crate::model::Constancy;
use crate::scheme::{Reactions, StepError};
use crate::warning::Warnings;
use crate::{ContactList, FirstOrder, State};
use carom_solve::{Certificate, Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows, SolveError, Solver};

/// The stage equation E (X − x) = g + c f(T, X) + d B λ.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Stage {
    pub rate: f64,  // c
    pub input: f64, // d
}

carom_solve::persist!(Stage { rate, input });

/// Buffers of a step, in the order in which the step sets them.
#[derive(Default)]
pub struct Work {
    pub(super) constancy: Constancy,
    pub(super) factors: Vec<f64>,    // (n) from B λ to rates
    pub(super) algebraic: Vec<bool>, // (n) rows of E that are zero
    pub(super) fastest: Option<f64>, // [1/s] largest rate of the system, where θ follows from it
    pub(super) looked: u32,          // steps since then
    pub(super) theta: f64,           // of this step
    pub(super) stage: Stage,
    pub(super) factored: Option<Stage>, // of the constant factorisation
    pub(super) kept: bool,              // W of the last problem is still that of the next one
    pub(super) list: ContactList,       // the laws of the step
    pub(super) moved_rows: Vec<f64>,    // (m) λ in the order of a new list
    pub(super) reactions: Reactions,    // coupling at the stage, outputs, λ
    pub(super) entering: Rows,          // Bᵀ at the start, where it varies and counts
    pub(super) column: Vec<f64>,        // (n) of B_θ
    pub(super) known: Vec<f64>,         // (n) g, phase 1
    pub(super) at: State,               // (T, X) the iterate
    pub(super) moved: Vec<f64>,         // (n) the next X, phase 4
    pub(super) search: Search,          // of nonlinear systems, phase 6
    pub(super) balance: Vec<f64>,       // (n) g + c f − E (X − x), then the increment of X without λ, phase 2
    pub(super) rate: Vec<f64>,          // (n) f(T, X)
    pub(super) inertia: Vec<f64>,       // (n) E (X − x)
    pub(super) load: Vec<f64>,          // (n) d B λ
    pub(super) input: Rows,             // d Bᵀ, with c in place of d in algebraic equations
    pub(super) spare: Rows,
    pub(super) laws: Vec<Law>,
    pub(super) b: Vec<f64>,
    pub(super) problem: ProblemWork,
    pub(super) z: Reaction,
    pub(super) old: Vec<f64>,         // (m) λ of the step before, where γ < 1
    pub(super) is_inconsistent: bool, // a unilateral law acts through relative degree 2 or more
    pub(super) is_damped: bool, // some law does, sees λ directly, or equations have no derivative: θ = 1 unless given
    pub(super) warnings: Warnings,
}

carom_solve::persist!(Work {
    factors, algebraic, fastest, looked, theta, stage, factored, kept, list, moved_rows, reactions, entering,
    column, known, at, moved, search, balance, rate, inertia, load, input, spare, laws, b, problem, z, old,
    is_inconsistent, is_damped, warnings,
} skip { constancy });

/// Residual of the stage equation and of the outputs at X, relative to their terms; `balance` is left without λ for the
/// next pass.
pub(super) fn residual(w: &mut Work, model: &mut dyn FirstOrder, from: &State) -> Result<f64, StepError> {
    model.rate(w.at.t, &w.at.q, &mut w.rate)?;
    let at = std::mem::take(&mut w.at);
    let coupled = couple(w, model, at.t, &at.q);
    w.at = at;
    coupled?;
    lay_out(w);
    w.load.fill(0.0);
    w.input.add_transpose_mul(&w.z.lambda, &mut w.load);
    model.difference(&from.q, &w.at.q, &mut w.balance);
    model.inertia_mul(&w.balance, &mut w.inertia);
    let mut missed = 0.0f64;
    for i in 0..w.balance.len() {
        let free = w.known[i] + w.stage.rate * w.rate[i] - w.inertia[i];
        let scale = w.known[i].abs() + (w.stage.rate * w.rate[i]).abs() + w.inertia[i].abs() + w.load[i].abs();
        missed = missed.max(ratio(free + w.load[i], scale));
        w.balance[i] = free;
    }
    Ok(missed.max(missed_outputs(w)))
}

/// Outputs and laws at another (t, x) of the step; rows as well, unless they are constant and known.
#[inline]
pub(super) fn couple(w: &mut Work, model: &mut dyn FirstOrder, t: f64, x: &[f64]) -> Result<(), StepError> {
    w.reactions.coupling.fill(model, (t, x), w.constancy.rows, &w.list)?;
    w.kept &= w.constancy.rows;
    Ok(())
}

/// `input ← d B_θᵀ`, with c in place of d in equations without a derivative.
pub(super) fn lay_out(w: &mut Work) {
    let c = &w.reactions.coupling;
    let entering = if c.input.is_empty() { &c.rows } else { &c.input };
    let Stage { rate, input } = w.stage;
    let (n, theta) = (entering.columns(), w.theta);
    w.input.clear(n);
    for (i, row) in entering.iter().enumerate() {
        let weight = |j: usize| if w.algebraic[j] { rate } else { input };
        if i >= w.entering.len() {
            w.input.push_sparse(row.iter().map(|&(j, x)| (j, x * weight(j))));
            continue;
        }
        // B of both ends; what has no derivative holds at the end alone
        w.column.clear();
        w.column.resize(n, 0.0);
        row.iter().for_each(|&(j, x)| w.column[j] += x * weight(j) * if w.algebraic[j] { 1.0 } else { theta });
        for &(j, x) in w.entering.row(i).iter().filter(|(j, _)| !w.algebraic[*j]) {
            w.column[j] += (1.0 - theta) * x * input;
        }
        w.input.push_dense(&w.column);
    }
}

/// λ, y and the response of the state.
pub(super) fn solve(
    w: &mut Work,
    model: &mut dyn FirstOrder,
    solver: &mut dyn Solver,
) -> Result<Certificate, StepError> {
    let c = &w.reactions.coupling;
    let feedthrough = if c.feedthrough.is_empty() { None } else { Some(&c.feedthrough) };
    let parts = Parts { lhs: &*model, output: &c.rows, input: &w.input, feedthrough, b: &w.b, laws: &w.laws };
    let mut problem = match w.kept {
        true => OneStepProblem::again(parts, &mut w.problem),
        false => OneStepProblem::new(parts, &mut w.problem),
    };
    let pairs = &c.pairs;
    let name = |law: usize| Some(pairs.get(law)?.key.0);
    problem.name_by(&name);
    let result = solver.solve(&problem, &mut w.z);
    w.kept = w.constancy.linear();
    result.map_err(|error| match model.explain(w.at.t) {
        Some(reason) => StepError::Contradiction { reason, error: Box::new(error) },
        None => unsolved(error, &w.reactions),
    })
}

/// The error of a solver, with the row that misses its law most.
pub(in crate::scheme) fn unsolved(error: SolveError, reactions: &Reactions) -> StepError {
    let pairs = &reactions.coupling.pairs;
    let contact = error.certificate().and_then(|c| pairs.get(c.law)).map(|p| p.key);
    StepError::Solve { error: Box::new(error), contact }
}

/// Largest difference between the outputs that the law saw and those at X, relative to the terms of the outputs.
fn missed_outputs(w: &Work) -> f64 {
    let c = &w.reactions.coupling;
    let mut missed = 0.0f64;
    for (i, pair) in c.pairs.iter().enumerate() {
        let mut y = pair.gap;
        let mut scale = pair.gap.abs() + w.z.u[i].abs();
        for &(j, d) in if c.feedthrough.is_empty() { &[] } else { c.feedthrough.row(i) } {
            y += d * w.z.lambda[j];
            scale += (d * w.z.lambda[j]).abs();
        }
        scale += c.rows.row(i).iter().map(|&(j, x)| (x * w.at.q[j]).abs()).sum::<f64>();
        missed = missed.max(ratio(y - w.z.u[i], scale));
    }
    missed
}

/// |x|/scale, and zero where both are.
fn ratio(x: f64, scale: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.abs() / scale }
}
