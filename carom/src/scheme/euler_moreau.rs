//! Euler-Moreau θ-γ-scheme for first-order systems: complementarity systems, relays, circuits [acary2008].
//!
//! ```text
//!     E (x⁺ − x) = h [θ f(t⁺, x⁺) + (1−θ) f(t, x)] + h B_θ [γ λ⁺ + (1−γ) λ],   B_θ = θ B(x⁺) + (1−θ) B(x)      (1)
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
//! By default θ = 1/2 where h |ω| ≤ 2 for all rates ω of the system without its laws (the eigenvalues of E⁻¹ ∂f/∂x, at
//! the start and every 256 steps) and all relative degrees are 1, and else θ = 1. θ = 1/2 has order 2 where λ acts on
//! a continuous output through relative degree 1 (a rectifier with an inductive load, a relay, friction), with errors
//! 10 to 1000 times smaller than those of θ = 1, which has order 1. But θ = 1/2 does not damp: what the step does not
//! resolve, a snubber or a stray capacitance, would change its sign from step to step and stay, and so would
//! the rate of an output of relative degree 2 that a relay or an equality holds at zero. θ = 1 damps both; equations
//! without a derivative have it as well. λ itself is implicit (γ = 1), so that what decays through laws is damped by
//! any θ.
//!
//! Where the output sees λ directly (D is not zero: a diode with a resistor, a diode bridge) θ = 1/2 has order 1: what
//! λ cancels is centred, λ is not. A capacitor behind a blocking diode then leaks with h λ̇/2: 0.39 of its voltage in a
//! rectifier where θ = 1 misses 0.005. There θ = 1 is the default, and (3) has order 2. With relative degree 1 (3) is
//! not advised: laws hold at midpoints alone, and outputs at grid points alternate about their bound. With γ < 1 the
//! scheme remembers λ from step to step, from λ = 0 at the start.
//!
//! With relative degree 2 and more, between λ and an output under a unilateral law, the scheme is *inconsistent*: λ
//! grows like h⁻ʳ and the state after an impact depends on h [acary2008homsp]. It is refused there; `homsp` treats it.
//! `any-degree` lets it run all the same, with a warning.
//!
//! Nonlinear systems are solved by Newton's method with B at the last iterate. Where that goes to and fro between two
//! values of B, as with an input like √|s|, the one between them is found by false position.
//!
//! | `x_free` = x + `increment` without λ | `W` kept while h, E, ∂f/∂x and rows are constant | `impulse` = h times the λ that acted |

mod search;
mod stage;
mod weight;

use super::{Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step, StepError, System, Variant, fitting};
use crate::balance::Limits;
use crate::state::{append, copy};
use crate::warning::{WarningKind, Warnings};
use crate::{Coupling, FirstOrder, ModelError, State};
use carom_solve::options::within;
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stage::{Stage, couple, lay_out, residual, solve};
use std::ops::Bound;

pub use stage::Work;
pub(super) use stage::unsolved;

/// Steps of a nonlinear system after which its rates are looked at again.
const LOOK: u32 = 256;

/// The relative degree is too high.
const INCONSISTENT: WarningKind = WarningKind {
    name: "inconsistent",
    message: "the relative degree is 2 or more: the scheme is inconsistent, results depend on the step",
    unit: "",
    hint: "take `homsp`, and leave `any-degree` to studies of this effect",
};

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
    /// Weight of the end of the step in the rate f [-], in [0, 1]; by default 1/2 where the step resolves all rates of
    /// the system and no output sees its multiplier directly, else 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// Weight of the new λ against the one of the step before [-], in (0, 1].
    pub gamma: f64,
    /// Where laws are imposed: "end", or "midpoint" together with the equations (order 2; `theta` and `gamma` are not
    /// used).
    pub collocation: Collocation,
    /// Relative tolerance of Newton's loop [-].
    pub newton_tolerance: f64,
    /// Most Newton iterations in a step.
    pub newton_iterations: u32,
    /// Runs also with relative degree 2 and more under unilateral laws, where the scheme is inconsistent.
    pub any_degree: bool,
}

impl Default for EulerMoreau {
    fn default() -> Self {
        EulerMoreau {
            theta: None,
            gamma: 1.0,
            collocation: Collocation::End,
            newton_tolerance: 1e-10,
            newton_iterations: 100,
            any_degree: false,
        }
    }
}

impl Options for EulerMoreau {
    fn validate(&self) -> Result<(), OptionError> {
        within("theta", self.theta.unwrap_or(1.0), 0.0..=1.0)?;
        within("gamma", self.gamma, (Bound::Excluded(0.0), Bound::Included(1.0)))?;
        self.limits().validate()
    }
}

impl Registered for EulerMoreau {
    const VARIANTS: &'static [Variant] = &[
        Variant { options: r#"{ "theta": 1.0 }"#, order: Order { position: 1.0, velocity: 1.0, smooth: 1.0 } },
        Variant {
            options: r#"{ "collocation": "midpoint" }"#,
            order: Order { position: 2.0, velocity: 2.0, smooth: 2.0 },
        },
    ];
}

impl Scheme for EulerMoreau {
    type Model = dyn FirstOrder;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "euler-moreau",
        title: "Euler-Moreau θ-γ-scheme for first-order systems",
        order: Order { position: 1.0, velocity: 1.0, smooth: 2.0 },
        level: "output",
        projects: false,
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
        if self.collocation == Collocation::End && self.theta == Some(0.0) && algebraic.contains(&true) {
            let reason = "with theta = 0 cannot treat equations without a derivative";
            return Err(SchemeError::Incapable { scheme: Self::INFO.name, reason, contact: None });
        }
        let delayed = fitting::delayed(model)?;
        let inconsistent = delayed.iter().find(|row| row.law.is_unilateral());
        if let Some(row) = inconsistent.filter(|_| !self.any_degree) {
            return Err(SchemeError::Degree { scheme: Self::INFO.name, row: row.row.clone(), degree: row.degree });
        }
        Ok(Work {
            is_inconsistent: inconsistent.is_some(),
            is_damped: !delayed.is_empty() || algebraic.contains(&true) || sees_multipliers(model)?,
            constancy: model.constancy(),
            factors: factors(model, n),
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
        step.evaluations += 1 + u32::from(self.uses_old_rate(w));
        let linear = w.constancy.linear();
        loop {
            // 2 free motion: the increment of X without λ
            self.free(w, model)?;

            // 3 problem: b = y at X, moved by the increment; W is kept where it is constant
            if !w.kept && (linear || step.iterations == 0) {
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
            w.search.take(step.iterations, &w.input);
            if self.converged(w, model, from, step.iterations)? {
                break;
            }

            // 6 where B goes to and fro, one between
            w.search.turn(step.iterations, &mut w.input, &mut w.spare);
        }
        if w.is_inconsistent {
            w.warnings.raise(&INCONSISTENT, from.t, None, 0.0);
        }
        self.finish(w, model, (from, to), h)?;
        Ok(step)
    }

    fn clear_guess(&self, w: &mut Work) {
        w.z.lambda.clear();
        w.old.clear();
        if !w.constancy.matrix() {
            w.fastest = None;
        }
    }

    fn warnings<'w>(&self, work: &'w Work) -> Option<&'w Warnings> {
        Some(&work.warnings)
    }

    fn drop_factors(&self, w: &mut Work) {
        w.factored = None;
        w.kept = false;
    }

    fn order(&self) -> Order {
        let centred = self.collocation == Collocation::Midpoint;
        let smooth = if centred || self.theta.unwrap_or(0.5) == 0.5 { 2.0 } else { 1.0 };
        let through = if centred { 2.0 } else { 1.0 };
        Order { position: through, velocity: through, smooth }
    }

    fn needs_equal_steps(&self) -> Option<&'static str> {
        let remembers = self.collocation == Collocation::End && self.gamma < 1.0;
        remembers.then_some("with gamma < 1 it remembers λ of the step before")
    }

    fn add_load(&self, work: &Work, sign: f64, out: &mut [f64]) {
        // as much again beyond the middle
        let sign = if self.collocation == Collocation::Midpoint { 2.0 * sign } else { sign };
        work.input
            .iter()
            .zip(&work.z.lambda)
            .flat_map(|(row, lambda)| row.iter().map(move |x| (x, lambda)))
            .for_each(|((j, b), lambda)| out[*j] += sign * b * lambda);
    }

    fn state_factors<'w>(&self, work: &'w Work) -> &'w [f64] {
        &work.factors
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.reactions
    }
}

/// Whether an output sees a multiplier directly.
fn sees_multipliers(model: &mut dyn FirstOrder) -> Result<bool, ModelError> {
    let (mut coupling, start) = (Coupling::default(), model.initial());
    model.couple(start.t, &start.q, &mut coupling)?;
    Ok(coupling.feedthrough.iter().any(|row| row.iter().any(|entry| entry.1 != 0.0)))
}

impl EulerMoreau {
    fn limits(&self) -> Limits {
        Limits { tolerance: self.newton_tolerance, iterations: self.newton_iterations }
    }

    /// Whether the rate at the start of the step is needed.
    fn uses_old_rate(&self, w: &Work) -> bool {
        self.collocation == Collocation::End && w.theta < 1.0
    }

    /// θ of a step of `h`.
    fn choose_theta(&self, w: &mut Work, model: &mut dyn FirstOrder, from: &State, h: f64) -> Result<(), StepError> {
        if let Some(theta) = self.theta.or(w.is_damped.then_some(1.0)) {
            w.theta = theta;
            return Ok(());
        }
        w.looked += 1;
        let fastest = match w.fastest.filter(|_| w.constancy.matrix() || w.looked <= LOOK) {
            Some(fastest) => fastest,
            None => {
                self.drop_factors(w);
                w.looked = 0;
                weight::fastest(model, from, 0.5 * h, (&mut w.balance, &mut w.inertia))?
            }
        };
        w.fastest = Some(fastest);
        w.theta = weight::weight(h, fastest);
        Ok(())
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
        w.search.begin();
        w.known.fill(0.0);
        let end = match self.collocation {
            Collocation::Midpoint => {
                w.stage = Stage { rate: 0.5 * h, input: 0.5 * h };
                from.t + 0.5 * h
            }
            Collocation::End => {
                self.choose_theta(w, model, from, h)?;
                w.stage = Stage { rate: h * w.theta, input: h * self.gamma };
                from.t + h
            }
        };
        if self.uses_old_rate(w) {
            model.rate(from.t, &from.q, &mut w.rate)?;
            let weight = h * (1.0 - w.theta);
            w.known.iter_mut().zip(&w.rate).for_each(|(g, f)| *g = weight * f);
        }
        w.entering.clear(0);
        if self.uses_old_rate(w) && !w.constancy.rows {
            let c = &w.reactions.coupling;
            let entering = if c.input.is_empty() { &c.rows } else { &c.input };
            w.entering.clear(entering.columns());
            (0..entering.len()).for_each(|row| w.entering.push_row_of(entering, row));
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
        copy(&from.q, &mut w.at.q);
        if !w.constancy.still {
            couple(w, model, end, &from.q)?;
        }
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

    /// Whether the balance holds at the new X; `input` is that of X then.
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
        let missed = residual(w, model, from)?;
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
            Collocation::End => copy(&w.at.q, &mut to.q),
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
        append(if w.laws.is_empty() { &[] } else { &w.z.u }, &mut r.after);
        r.obstacle.resize(lambda.len(), 0.0);
        r.multiplier.clear();
        append(lambda, &mut r.multiplier);
        r.impulse.clear();
        let gamma = if self.collocation == Collocation::Midpoint { 1.0 } else { self.gamma };
        r.impulse.extend(lambda.iter().zip(&w.old).map(|(new, old)| h * (gamma * new + (1.0 - gamma) * old)));
        copy(lambda, &mut w.old);
        Ok(())
    }
}

/// 1/Σⱼ|Eᵢⱼ| for each state, 0 where there is no derivative.
fn factors(model: &dyn FirstOrder, n: usize) -> Vec<f64> {
    let (mut unit, mut column, mut sums) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for j in 0..n {
        unit[j] = 1.0;
        model.inertia_mul(&unit, &mut column);
        unit[j] = 0.0;
        sums.iter_mut().zip(&column).for_each(|(sum, e): (&mut f64, _)| *sum += e.abs());
    }
    sums.into_iter().map(|sum| if sum > 0.0 { 1.0 / sum } else { 0.0 }).collect()
}
