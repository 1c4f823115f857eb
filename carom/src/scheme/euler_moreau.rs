//! Euler-Moreau θ-γ-scheme for first-order systems: complementarity systems, relays, circuits [acary2008].
//!
//! ```text
//!     E (x⁺ − x) = h [θ f(t⁺, x⁺) + (1−θ) f(t, x)] + h B [γ λ⁺ + (1−γ) λ]                       (1)
//!     y⁺ = h(t⁺, x⁺) + D λ⁺,    λ⁺ ∈ Law(y⁺)                                                    (2)
//! ```
//!
//! or, with `collocation = "midpoint"`, equations and laws at the middle of the step,
//!
//! ```text
//!     E (x_m − x) = h/2 [f(t_m, x_m) + B λ],   y_m = h(t_m, x_m) + D λ,   λ ∈ Law(y_m),   x⁺ = 2 x_m − x     (3)
//! ```
//!
//! The matrix of the one-step problem is `D + hγ C (E − hθ ∂f/∂x)⁻¹ B`. Sources enter with the same weights as the rest
//! of f. E may be singular: equations without a derivative hold at t⁺ (at t_m in (3)) whatever θ. Relays are implicit:
//! a sliding surface is reached exactly and held to round-off, without chatter. Laws that are switched in time are
//! those at t⁺ (t_m in (3)).
//!
//! Order 1 with θ = 1 (default). θ = 1/2, γ = 1 has order 2 where λ acts on a continuous output through relative degree
//! 1 (a rectifier with an inductive load), and order 1 where the output sees λ directly (a diode bridge): λ is not
//! centred. There (3) has order 2. With relative degree 1 (3) is not advised: laws hold at midpoints alone, and outputs
//! at grid points alternate about their bound. With γ < 1 the scheme remembers λ from step to step, from λ = 0 at the
//! start.
//!
//! With relative degree 2 and more, between λ and an output under a unilateral law, the scheme runs and is
//! *inconsistent*: λ grows like h⁻ʳ and the state after an impact depends on h [acary2008homsp]. Take `homsp` there.
//!
//! Nonlinear systems are solved by Newton's method with B at the last iterate.
//!
//! | `x_free` = x + `increment` without λ | `W` kept while h, E, ∂f/∂x and rows are constant | `impulse` = h times the λ that acted |

use super::{Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step, StepError, System, Variant};
use crate::balance::Limits;
use crate::model::Constancy;
use crate::{ContactList, FirstOrder, State};
use carom_solve::options::within;
use carom_solve::{
    Certificate, Law, OneStepProblem, OptionError, Options, Parts, ProblemWork, Reaction, Rows, SolveError, Solver,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// Where in the step equations and laws hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Collocation {
    /// (1) and (2): laws at the end.
    #[default]
    End,
    /// (3): everything at the middle; θ and γ have no part in it.
    Midpoint,
}

/// Options of the Euler-Moreau scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EulerMoreau {
    /// Weight of the end of the step in the rate f [-], in [0, 1].
    pub theta: f64,
    /// Weight of the new λ against the one of the step before [-], in (0, 1].
    pub gamma: f64,
    /// Where laws are imposed: "end", or "midpoint" together with the equations (order 2; `theta` and `gamma` are not
    /// used).
    pub collocation: Collocation,
    /// Relative tolerance of Newton's loop [-].
    pub newton_tolerance: f64,
    /// Most Newton iterations in a step.
    pub newton_iterations: u32,
}

impl Default for EulerMoreau {
    fn default() -> Self {
        EulerMoreau {
            theta: 1.0,
            gamma: 1.0,
            collocation: Collocation::End,
            newton_tolerance: 1e-10,
            newton_iterations: 50,
        }
    }
}

impl Options for EulerMoreau {
    fn validate(&self) -> Result<(), OptionError> {
        within("theta", self.theta, 0.0..=1.0)?;
        within("gamma", self.gamma, (Bound::Excluded(0.0), Bound::Included(1.0)))?;
        self.limits().validate()
    }
}

impl Registered for EulerMoreau {
    const VARIANTS: &'static [Variant] = &[
        Variant { options: r#"{ "theta": 0.5 }"#, order: Order { position: 1.0, velocity: 1.0, smooth: 2.0 } },
        Variant {
            options: r#"{ "collocation": "midpoint" }"#,
            order: Order { position: 2.0, velocity: 2.0, smooth: 2.0 },
        },
    ];
}

/// The stage equation E (X − x) = g + c f(T, X) + d B λ.
#[derive(Clone, Copy, Default, PartialEq)]
struct Stage {
    rate: f64,  // c
    input: f64, // d
}

/// Buffers of a step, in the order in which the step sets them.
#[derive(Default)]
pub struct Work {
    constancy: Constancy,
    algebraic: Vec<bool>, // (n) rows of E that are zero
    stage: Stage,
    factored: Option<Stage>, // of the constant factorisation
    kept: bool,              // W of the last problem is still that of the next one
    list: ContactList,       // the laws of the step
    moved_rows: Vec<f64>,    // (m) λ in the order of a new list
    reactions: Reactions,    // coupling at the stage, outputs, λ
    known: Vec<f64>,         // (n) g, phase 1
    at: State,               // (T, X) the iterate
    moved: Vec<f64>,         // (n) the next X, phase 4
    balance: Vec<f64>,       // (n) g + c f − E (X − x), then the increment of X without λ, phase 2
    rate: Vec<f64>,          // (n) f(T, X)
    inertia: Vec<f64>,       // (n) E (X − x)
    load: Vec<f64>,          // (n) d B λ
    input: Rows,             // d Bᵀ, with c in place of d in algebraic equations
    laws: Vec<Law>,
    b: Vec<f64>,
    problem: ProblemWork,
    z: Reaction,
    old: Vec<f64>, // (m) λ of the step before, where γ < 1
}

impl Scheme for EulerMoreau {
    type Model = dyn FirstOrder;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "euler-moreau",
        title: "Euler-Moreau θ-γ-scheme for first-order systems",
        order: Order { position: 1.0, velocity: 1.0, smooth: 1.0 },
        level: "output",
        claims: &[],
        citations: &["acary2008", "acary2008homsp"],
        source: include_str!("euler_moreau.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let n = model.dim();
        let algebraic: Vec<bool> = (0..n).map(|i| model.is_algebraic(i)).collect();
        if self.collocation == Collocation::End && self.theta == 0.0 && algebraic.contains(&true) {
            let reason = "with theta = 0 cannot treat equations without a derivative";
            return Err(SchemeError::Incapable { scheme: Self::INFO.name, reason, contact: None });
        }
        Ok(Work {
            constancy: model.constancy(),
            algebraic,
            moved: model.initial().q,
            at: model.initial(),
            known: vec![0.0; n],
            balance: vec![0.0; n],
            rate: vec![0.0; n],
            inertia: vec![0.0; n],
            load: vec![0.0; n],
            ..Work::default()
        })
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
        let mut step = Step { advanced: h, ..Step::default() };

        // 1 start: outputs before, the known part g, and the iterate X = x
        self.start(w, model, from, h)?;
        step.evaluations += 1 + u32::from(self.uses_old_rate());
        let linear = w.constancy.linear();
        loop {
            // 2 free motion: the increment of X without λ
            self.free(w, model)?;

            // 3 problem: b = y at X, moved by the increment; W is kept where it is constant
            if !linear || !w.kept {
                lay_out(w);
            }
            let c = &w.reactions.coupling;
            w.b.clear();
            w.b.extend(c.pairs.iter().enumerate().map(|(i, p)| p.gap + c.rows.dot(i, &w.balance)));
            w.laws.clear();
            w.laws.extend(c.pairs.iter().map(|p| p.law));

            // 4 solve and update: X ← X + increment + A⁻¹ d B λ
            if !w.laws.is_empty() {
                let certificate = solve(w, model, solver)?;
                step.worst = step.worst.worse(certificate);
                step.solves += 1;
                w.balance.iter_mut().zip(&w.z.response).for_each(|(d, r)| *d += r);
            }
            model.retract(&w.at.q, &w.balance, &mut w.moved);
            std::mem::swap(&mut w.at.q, &mut w.moved);
            step.iterations += 1;
            if linear {
                break;
            }

            // 5 the nonlinear balance at the new X
            step.evaluations += 1;
            if self.converged(w, model, from, step.iterations)? {
                break;
            }
        }
        self.finish(w, model, (from, to), h)?;
        Ok(step)
    }

    fn clear_guess(&self, w: &mut Work) {
        w.z.lambda.clear();
        w.old.clear();
    }

    fn drop_factors(&self, w: &mut Work) {
        w.factored = None;
        w.kept = false;
    }

    fn order(&self) -> Order {
        let centred = self.collocation == Collocation::Midpoint;
        let smooth = if centred || self.theta == 0.5 { 2.0 } else { 1.0 };
        let through = if centred { 2.0 } else { 1.0 };
        Order { position: through, velocity: through, smooth }
    }

    fn needs_equal_steps(&self) -> Option<&'static str> {
        let remembers = self.collocation == Collocation::End && self.gamma < 1.0;
        remembers.then_some("with gamma < 1 it remembers λ of the step before")
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.reactions
    }
}

impl EulerMoreau {
    fn limits(&self) -> Limits {
        Limits { tolerance: self.newton_tolerance, iterations: self.newton_iterations }
    }

    /// Whether the rate at the start of the step is needed.
    fn uses_old_rate(&self) -> bool {
        self.collocation == Collocation::End && self.theta < 1.0
    }

    /// Outputs at the start, then the stage with its known part and X = x.
    fn start(&self, w: &mut Work, model: &mut dyn FirstOrder, from: &State, h: f64) -> Result<(), StepError> {
        let at = (from.t, &from.q[..]);
        let same = w.reactions.coupling.list(model, at, w.constancy.rows, &mut w.list)?;
        w.kept &= same && w.constancy.rows;
        if !same {
            for lambda in [&mut w.old, &mut w.z.lambda] {
                w.moved_rows.clear();
                let before = (0..w.list.len()).map(|i| w.list.before(i).and_then(|j| lambda.get(j)).copied());
                w.moved_rows.extend(before.map(|known| known.unwrap_or(0.0)));
                std::mem::swap(lambda, &mut w.moved_rows);
            }
        }
        let outputs = w.reactions.coupling.pairs.iter().map(|p| p.gap);
        w.reactions.before.clear();
        w.reactions.before.extend(outputs);
        w.old.resize(w.reactions.before.len(), 0.0);
        w.known.fill(0.0);
        let end = match self.collocation {
            Collocation::Midpoint => {
                w.stage = Stage { rate: 0.5 * h, input: 0.5 * h };
                from.t + 0.5 * h
            }
            Collocation::End => {
                w.stage = Stage { rate: h * self.theta, input: h * self.gamma };
                from.t + h
            }
        };
        if self.uses_old_rate() {
            model.rate(from.t, &from.q, &mut w.rate)?;
            let weight = h * (1.0 - self.theta);
            w.known.iter_mut().zip(&w.rate).for_each(|(g, f)| *g = weight * f);
        }
        if self.collocation == Collocation::End && self.gamma < 1.0 {
            let c = &w.reactions.coupling;
            let entering = if c.input.is_empty() { &c.rows } else { &c.input };
            let weight = h * (1.0 - self.gamma);
            w.old.iter().enumerate().for_each(|(i, l)| entering.add_row(i, weight * l, &mut w.known));
        }
        // what has no derivative holds at the end alone
        for (g, _) in w.known.iter_mut().zip(&w.algebraic).filter(|(_, algebraic)| **algebraic) {
            *g = 0.0;
        }
        w.at.t = end;
        w.at.q.copy_from_slice(&from.q);
        couple(w, model, end, &from.q)?;
        model.rate(end, &from.q, &mut w.rate)?;
        for ((r, g), f) in w.balance.iter_mut().zip(&w.known).zip(&w.rate) {
            *r = g + w.stage.rate * f;
        }
        Ok(())
    }

    /// `balance ← A⁻¹ balance` with A = E − c ∂f/∂x, factored once per step size where it is constant.
    fn free(&self, w: &mut Work, model: &mut dyn FirstOrder) -> Result<(), StepError> {
        if !(w.constancy.matrix() && w.factored == Some(w.stage)) {
            w.factored = None;
            w.kept = false;
            model.factor(&w.at, w.stage.rate)?;
            w.factored = Some(w.stage);
        }
        model.solve(&mut w.balance);
        Ok(())
    }

    /// Residual of the stage equation and of the outputs at the new X; `balance` is left without λ for the next pass.
    fn converged(
        &self,
        w: &mut Work,
        model: &mut dyn FirstOrder,
        from: &State,
        iterations: u32,
    ) -> Result<bool, StepError> {
        let size = w.at.q.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let moved = w.balance.iter().fold(0.0f64, |m, d| m.max(d.abs()));
        if !(size.is_finite() && moved.is_finite()) {
            return Err(StepError::NotFinite);
        }
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
        missed = missed.max(missed_outputs(w));
        // the last correction was rounding
        let settled = moved <= 4.0 * f64::EPSILON * size;
        let done = missed <= self.newton_tolerance || settled;
        self.limits().judge(done, (missed, self.newton_tolerance), iterations)
    }

    /// The state at the end, and what the laws did.
    fn finish(
        &self,
        w: &mut Work,
        model: &dyn FirstOrder,
        (from, to): (&State, &mut State),
        h: f64,
    ) -> Result<(), StepError> {
        to.t = from.t + h;
        match self.collocation {
            Collocation::End => to.q.copy_from_slice(&w.at.q),
            Collocation::Midpoint => {
                model.difference(&from.q, &w.at.q, &mut w.balance);
                w.balance.iter_mut().for_each(|d| *d *= 2.0);
                model.retract(&from.q, &w.balance, &mut to.q);
            }
        }
        if !to.is_finite() {
            return Err(StepError::NotFinite);
        }
        let lambda: &[f64] = if w.laws.is_empty() { &[] } else { &w.z.lambda };
        let r = &mut w.reactions;
        r.after.clear();
        r.after.extend_from_slice(if w.laws.is_empty() { &[] } else { &w.z.u });
        r.obstacle.resize(lambda.len(), 0.0);
        r.multiplier.clear();
        r.multiplier.extend_from_slice(lambda);
        r.impulse.clear();
        let gamma = if self.collocation == Collocation::Midpoint { 1.0 } else { self.gamma };
        r.impulse.extend(lambda.iter().zip(&w.old).map(|(new, old)| h * (gamma * new + (1.0 - gamma) * old)));
        w.old.copy_from_slice(lambda);
        Ok(())
    }
}

/// Outputs and laws at another (t, x) of the step; rows as well, unless they are constant and known.
#[inline]
fn couple(w: &mut Work, model: &mut dyn FirstOrder, t: f64, x: &[f64]) -> Result<(), StepError> {
    w.reactions.coupling.fill(model, (t, x), w.constancy.rows, &w.list)?;
    w.kept &= w.constancy.rows;
    Ok(())
}

/// `input ← d Bᵀ`, with c in place of d in equations without a derivative.
fn lay_out(w: &mut Work) {
    let c = &w.reactions.coupling;
    let entering = if c.input.is_empty() { &c.rows } else { &c.input };
    let Stage { rate, input } = w.stage;
    let algebraic = &w.algebraic;
    w.input.clear(entering.columns());
    for row in entering.iter() {
        w.input.push_sparse(row.iter().map(|&(j, x)| (j, x * if algebraic[j] { rate } else { input })));
    }
}

/// λ, y and the response of the state.
fn solve(w: &mut Work, model: &dyn FirstOrder, solver: &mut dyn Solver) -> Result<Certificate, StepError> {
    let c = &w.reactions.coupling;
    let feedthrough = if c.feedthrough.is_empty() { None } else { Some(&c.feedthrough) };
    let parts = Parts { lhs: model, output: &c.rows, input: &w.input, feedthrough, b: &w.b, laws: &w.laws };
    let problem = match w.kept {
        true => OneStepProblem::again(parts, &mut w.problem),
        false => OneStepProblem::new(parts, &mut w.problem),
    };
    let result = solver.solve(&problem, &mut w.z);
    w.kept = w.constancy.linear();
    result.map_err(|error| unsolved(error, &w.reactions))
}

/// The error of a solver, with the row that misses its law most.
pub(super) fn unsolved(error: SolveError, reactions: &Reactions) -> StepError {
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
