//! Catching-up algorithm for sweeping processes [moreau1977].
//!
//! ```text
//!     û = u + h f(t, u),     u⁺ = proj(K(t⁺), û)                                                  (1)
//! ```
//!
//! Intervals are clipped and a single ball is met along its radius. Other sets, intersections of half-spaces `aᵢ·u ≥
//! bᵢ`, intervals and balls, are projected onto through multipliers, with the laws of the one-step problem:
//!
//! ```text
//!     u⁺ = û + Σ λᵢ ∇gᵢ(u⁺),    0 ≤ gᵢ(u⁺) ⊥ λᵢ ≥ 0,     g = a·u − b,   or  g = (R² − |u − c|²)/2R            (2)
//! ```
//!
//! For polyhedra this is the dual problem `w = A Aᵀ λ + A û − b`. With balls it is repeated with their tangents at the
//! last point (each of which contains the ball) and the curvature `s = 1 + Σ λᵢ/Rᵢ` of the Lagrangian, a multiple of
//! the unit matrix: Newton's method for (2), quadratic, until round-off.
//!
//! Order 1; 2 in one dimension with smooth ends; polyhedra that translate are followed exactly between changes of the
//! active faces. The set may jump: u jumps to its projection. `impulse` is λ.

use super::{Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step, StepError, System};
use crate::model::{Pieces, Shape};
use crate::{ContactList, FirstOrder, Key, State};
use carom_solve::{Certificate, Law, LinearSolve, OneStepProblem, Options, Parts, ProblemWork, Reaction, Rows, Solver};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most Newton iterations of a projection onto a set with balls.
const ITERATIONS: u32 = 200;

/// Options of the catching-up algorithm: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CatchingUp {}

impl Options for CatchingUp {}

impl Registered for CatchingUp {}

/// The multiple s of the unit matrix.
struct Scaled {
    n: usize,
    s: f64,
}

impl LinearSolve for Scaled {
    fn dim(&self) -> usize {
        self.n
    }
    fn solve(&self, rhs: &mut [f64]) {
        if self.s != 1.0 {
            rhs.iter_mut().for_each(|x| *x /= self.s);
        }
    }
    fn block(&self, dof: usize) -> std::ops::Range<usize> {
        dof..dof + 1
    }
}

/// Buffers of a step, in the order in which the step sets them.
#[derive(Default)]
pub struct Work {
    list: ContactList,    // the rows of the step
    reactions: Reactions, // coupling and slacks at the start, at the end those of the end
    target: Vec<f64>,     // (n) û, phase 1
    pieces: Pieces,       // K(t⁺), phase 2
    rows: Rows,           // ∇g at the iterate, phase 3
    laws: Vec<Law>,
    b: Vec<f64>,
    increment: Vec<f64>, // (n)
    problem: ProblemWork,
    z: Reaction,
}

carom_solve::persist!(Work { list, reactions, target, rows, laws, b, increment, problem, z } skip { pieces });

impl Scheme for CatchingUp {
    type Model = dyn FirstOrder;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "catching-up",
        title: "Catching-up algorithm for sweeping processes",
        order: Order { position: 1.0, velocity: 1.0, smooth: 1.0 },
        level: "position",
        projects: false,
        claims: &[],
        citations: &["moreau1977"],
        source: include_str!("catching_up.rs"),
    };

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        if model.set().is_none() {
            let reason = "needs a sweeping process: a model with a moving set";
            return Err(SchemeError::Incapable { scheme: Self::INFO.name, reason, contact: None });
        }
        let n = model.dim();
        Ok(Work { target: vec![0.0; n], increment: vec![0.0; n], ..Work::default() })
    }

    fn step(
        &self,
        w: &mut Work,
        system: System<'_, Self::Model>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError> {
        let System { model, solver } = system;
        let mut step = Step { advanced: h, evaluations: 1, iterations: 1, ..Step::default() };
        to.t = from.t + h;

        // 1 drift
        let r = &mut w.reactions;
        r.coupling.list(model, (from.t, &from.q), false, &mut w.list)?;
        r.before.clear();
        r.before.extend(r.coupling.pairs.iter().map(|p| p.gap));
        model.rate(from.t, &from.q, &mut w.target)?;
        w.target.iter_mut().for_each(|d| *d *= h);
        w.increment.copy_from_slice(&w.target);
        model.retract(&from.q, &w.increment, &mut w.target);

        // 2 the set at the end of the step
        if let Some(set) = model.set() {
            set.pieces(to.t, &mut w.pieces)?;
        }
        let r = &mut w.reactions;
        r.impulse.clear();
        r.impulse.resize(r.coupling.len(), 0.0);
        to.q.copy_from_slice(&w.target);

        // 3 projection
        if !clip(w, &mut to.q)? && !radial(w, &mut to.q) {
            let (worst, iterations) = project(w, solver, &mut to.q)?;
            (step.worst, step.iterations, step.solves) = (worst, iterations, iterations);
        }
        if !to.is_finite() {
            return Err(StepError::NotFinite);
        }

        // 4 report
        let r = &mut w.reactions;
        r.coupling.fill(model, (to.t, &to.q), false, &w.list)?;
        r.after.clear();
        r.after.extend(r.coupling.pairs.iter().map(|p| p.gap));
        r.obstacle.resize(r.after.len(), 0.0);
        Ok(step)
    }

    fn clear_guess(&self, w: &mut Work) {
        w.z.lambda.clear();
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.reactions
    }
}

/// Clips where all pieces are intervals. Returns whether they are.
fn clip(w: &mut Work, u: &mut [f64]) -> Result<bool, StepError> {
    if !w.pieces.shapes.iter().all(|(shape, _)| matches!(shape, Shape::Interval { .. })) {
        return Ok(false);
    }
    let mut row = 0;
    for (shape, ends) in w.pieces.iter() {
        if let Shape::Interval { coordinate } = shape {
            let x = u[coordinate];
            let clipped = x.max(ends[0]).min(ends[1]);
            w.reactions.impulse[row] = (clipped - x).max(0.0);
            w.reactions.impulse[row + 1] = (x - clipped).max(0.0);
            u[coordinate] = clipped;
            row += 2;
        }
    }
    // intervals of one coordinate may have nothing in common
    for (k, (shape, ends)) in w.pieces.iter().enumerate() {
        if let Shape::Interval { coordinate } = shape
            && !(ends[0]..=ends[1]).contains(&u[coordinate])
        {
            let gap = (u[coordinate] - ends[0]).min(ends[1] - u[coordinate]);
            return Err(StepError::Projection { gap, tolerance: 0.0, iterations: 1, contact: Key::from(2 * k) });
        }
    }
    Ok(true)
}

/// Meets a single ball along its radius. Returns whether the set is one.
fn radial(w: &mut Work, u: &mut [f64]) -> bool {
    let [(Shape::Ball, start)] = w.pieces.shapes[..] else { return false };
    let n = u.len();
    let (centre, radius) = (&w.pieces.numbers[start..start + n], w.pieces.numbers[start + n]);
    let distance = u.iter().zip(centre).map(|(u, c)| (u - c) * (u - c)).sum::<f64>().sqrt();
    if distance > radius {
        for (u, c) in u.iter_mut().zip(centre) {
            *u = c + (*u - c) * (radius / distance);
        }
        w.reactions.impulse[0] = distance - radius;
    }
    true
}

/// Newton's method for (2); a single pass where there is no ball. Returns the worst certificate and the passes.
fn project(w: &mut Work, solver: &mut dyn Solver, u: &mut [f64]) -> Result<(Certificate, u32), StepError> {
    let n = u.len();
    let curved = w.pieces.shapes.iter().any(|(shape, _)| *shape == Shape::Ball);
    let mut worst = Certificate::default();
    let mut lhs = Scaled { n, s: 1.0 };
    for iteration in 1..=ITERATIONS {
        linearise(w, u);
        for (d, (x, target)) in w.increment.iter_mut().zip(u.iter().zip(&w.target)) {
            *d = (target - x) / lhs.s;
        }
        for (i, b) in w.b.iter_mut().enumerate() {
            *b += w.rows.dot(i, &w.increment);
        }
        let parts = Parts { lhs: &lhs, output: &w.rows, input: &w.rows, feedthrough: None, b: &w.b, laws: &w.laws };
        let pairs = &w.reactions.coupling.pairs;
        let name = |law: usize| Some(pairs.get(law)?.key.0);
        let mut problem = OneStepProblem::new(parts, &mut w.problem);
        problem.name_by(&name);
        let certificate =
            solver.solve(&problem, &mut w.z).map_err(|error| super::euler_moreau::unsolved(error, &w.reactions))?;
        worst = worst.worse(certificate);
        w.increment.iter_mut().zip(&w.z.response).for_each(|(d, r)| *d += r);
        u.iter_mut().zip(&w.increment).for_each(|(x, d)| *x += d);
        if !curved || settled(w, u, &mut lhs.s) {
            w.reactions.impulse.copy_from_slice(&w.z.lambda);
            return Ok((worst, iteration));
        }
    }
    let ball = w.pieces.shapes.iter().position(|(shape, _)| *shape == Shape::Ball).unwrap_or(0);
    let rows: usize = w.pieces.shapes[..ball].iter().map(|(shape, _)| shape.rows()).sum();
    let gap = -w.increment.iter().fold(0.0f64, |m, d| m.max(d.abs()));
    Err(StepError::Projection { gap, tolerance: f64::EPSILON, iterations: ITERATIONS, contact: Key::from(rows) })
}

/// Values and gradients of g at u.
fn linearise(w: &mut Work, u: &[f64]) {
    let n = u.len();
    w.rows.clear(n);
    w.laws.clear();
    w.b.clear();
    let Work { pieces, rows, laws, b, .. } = w;
    let mut push = |value: f64| {
        // an end at infinity never acts
        let finite = value.is_finite();
        laws.push(if finite { Law::UNILATERAL } else { Law::interval(0.0, 0.0) });
        b.push(if finite { value } else { 0.0 });
    };
    for (shape, numbers) in pieces.iter() {
        match shape {
            Shape::Interval { coordinate } => {
                rows.push_sparse([(coordinate, 1.0)]);
                push(u[coordinate] - numbers[0]);
                rows.push_sparse([(coordinate, -1.0)]);
                push(numbers[1] - u[coordinate]);
            }
            Shape::HalfSpace => {
                rows.push_dense(&numbers[..n]);
                push(numbers[..n].iter().zip(u).map(|(a, u)| a * u).sum::<f64>() - numbers[n]);
            }
            Shape::Ball => {
                let radius = numbers[n];
                rows.push_sparse(u.iter().zip(numbers).enumerate().map(|(j, (u, c))| (j, (c - u) / radius)));
                let square: f64 = u.iter().zip(numbers).map(|(u, c)| (u - c) * (u - c)).sum();
                push((radius * radius - square) / (2.0 * radius));
            }
        }
    }
}

/// Whether (2) holds to round-off after the last increment d: balls are missed by |d|²/2R, and stationarity by |Δs|
/// |d|. Updates s.
fn settled(w: &Work, u: &[f64], s: &mut f64) -> bool {
    let n = u.len();
    let square: f64 = w.increment.iter().map(|d| d * d).sum();
    let (mut row, mut next, mut outside, mut size) = (0, 1.0, false, 0.0f64);
    for (shape, numbers) in w.pieces.iter() {
        if shape == Shape::Ball {
            let radius = numbers[n];
            next += w.z.lambda[row] / radius;
            outside |= square > 2.0 * f64::EPSILON * radius * radius;
            size = size.max(radius);
        }
        row += shape.rows();
    }
    let change = (next - *s).abs() * square.sqrt();
    let scale = u.iter().zip(&w.target).fold(size, |m, (u, target)| m.max((u - target).abs()));
    *s = next;
    !outside && change <= 4.0 * f64::EPSILON * scale
}
