//! Position-level θ-scheme: inelastic contact written on the gap at the end of the step, without an impact law [acary2012].
//!
//! ```text
//!     M(q_θ)(v⁺ − v) = h F(t_θ, q_θ, v_θ) + G(q⁺) P                                   (1)
//!     q⁺ = retract(q, h v_θ),    x_θ = (1−θ) x + θ x⁺                                 (2)
//!     0 ≤ g(q⁺) ⊥ P ≥ 0;   bilateral: g(q⁺) = 0                                       (3)
//!     friction: rows (g(q⁺)/hθ, U_T⁺) in Coulomb's law;  relays: U⁺
//! ```
//!
//! Newton's loop repeats the linearised step with A = M + hθC + h²θ²K; gaps and G are taken anew at each q⁺ until |g| is small on
//! both sides of zero (`gap-tolerance`). Gaps are never violated.
//!
//! The price is paid by the velocity. Where a wall is hit at speed v₀ after the fraction σ of a step, the position stops at the wall
//! and (2) leaves
//!
//! ```text
//!     v⁺ = v₀ (1 − (1−σ)/θ),   then   v ← −((1−θ)/θ) v   in each step of closed contact                  (4)
//! ```
//!
//! With θ = 1/2 (the trapezoidal rule) the velocity alternates between ±v₀(1 − 2σ) as long as the contact is closed: a spurious
//! oscillation, of the full size v₀ for σ = 0 or 1 and absent for σ = 1/2, whatever the step. On a finite-element mesh only the small
//! mass of the contact node oscillates, and the force with it; a rigid body flies off again, with |1 − 2σ| as an accidental
//! coefficient of restitution, so that nothing converges. θ > 1/2 damps the oscillation, θ < 1/2 makes it grow; θ = 1 (default) is at rest
//! one step after the impact.
//!
//! Contacts with e > 0 are refused: (3) has no room for restitution. Order 1 in positions and velocities (l1) with θ = 1, also in free
//! motion, where θ = 1/2 has order 2. Persistent constraints that are curved are of order 1 for every θ, for reactions act along G(q⁺).
//!
//! | `v_free` (n) free velocity [m/s] | `P` (m) impulse [N s] | `theta` [-] |

use super::gap_problem::{Balance, GapProblem, Reading, cancelled, unresolved};
use super::{Claim, Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step, StepError, System};
use crate::model::{Combination, Constancy};
use crate::{Coupling, Mechanical, State};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod tangent;

/// Options of the position-level scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PositionLevel {
    /// Weight of the end of the step in forces and positions [-], in (0, 1]; 1/2 is the trapezoidal rule, which oscillates in contact.
    pub theta: f64,
    /// A gap that is closed by a reaction vanishes up to this value, on both sides [m].
    pub gap_tolerance: f64,
    /// Relative tolerance of Newton's loop on the impulse balance (1) [-].
    pub newton_tolerance: f64,
    /// Most Newton iterations in a step.
    pub newton_iterations: u32,
}

impl Default for PositionLevel {
    fn default() -> Self {
        PositionLevel { theta: 1.0, gap_tolerance: 1e-12, newton_tolerance: 1e-10, newton_iterations: 50 }
    }
}

impl Options for PositionLevel {
    fn validate(&self) -> Result<(), OptionError> {
        if !(self.theta > 0.0 && self.theta <= 1.0) {
            return Err(OptionError::new("theta", format!("{} is not in (0, 1]", self.theta)));
        }
        if !(self.gap_tolerance > 0.0 && self.gap_tolerance.is_finite()) {
            return Err(OptionError::new(
                "gap-tolerance",
                format!("{} is not a finite length > 0", self.gap_tolerance),
            ));
        }
        if !(self.newton_tolerance > 0.0 && self.newton_tolerance < 1.0) {
            return Err(OptionError::new("newton-tolerance", format!("{} is not in (0, 1)", self.newton_tolerance)));
        }
        if self.newton_iterations == 0 {
            return Err(OptionError::new("newton-iterations", "at least one iteration is needed"));
        }
        Ok(())
    }
}

impl Registered for PositionLevel {}

/// Buffers of a step, in the order in which the step sets them.
#[derive(Default)]
pub struct Work {
    constancy: Constancy,
    h: f64,
    reactions: Box<Reactions>, // coupling and U at the start, phase 1; impulses and U⁺, phase 5
    at_theta: State,           // (q_θ, v_θ) where forces are taken
    force: Vec<f64>,           // (n) F there
    balance: Vec<f64>,         // (n) h F − M (v⁺ − v)
    factored: Option<f64>,     // step size of the constant factorisation, phase 2
    v_free: Vec<f64>,          // (n) velocity without reactions, phase 2
    problem: GapProblem,       // gaps at q⁺, phases 3 and 4
    increment: Vec<f64>,       // (n) differences of positions and velocities
    end: Coupling,             // coupling at q⁺, phase 5
    moved: Vec<f64>,           // q_θ next to itself
}

impl Scheme for PositionLevel {
    type Model = dyn Mechanical;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "position-level",
        title: "Position-level θ-scheme",
        order: Order { position: 1.0, velocity: 1.0, smooth: 1.0 },
        level: "position",
        claims: &[Claim::Inelastic, Claim::NoPenetration, Claim::Friction, Claim::Bilateral],
        citations: &["acary2012"],
        source: include_str!("position_level.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let problem = GapProblem::new(Self::INFO.name, Reading::Friction, self.gap_tolerance, model)?;
        let n = model.dim();
        Ok(Work {
            constancy: model.constancy(),
            at_theta: model.initial(),
            force: vec![0.0; n],
            balance: vec![0.0; n],
            v_free: vec![0.0; n],
            increment: vec![0.0; n],
            problem,
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
        let mut step = Step { advanced: h, evaluations: 1, ..Step::default() };

        // 1 start: laws and velocities at q; iterate from v⁺ = v
        w.h = h;
        self.start(w, model, from, to)?;
        loop {
            // 2 free motion
            if step.iterations == 0 || !w.constancy.linear() {
                self.free(w, model, to)?;
            }

            // 3 reactions: (3) linearised at the last q⁺; v⁺ = v_free + A⁻¹ G P
            let reacting = !w.problem.is_empty();
            if reacting {
                let certificate = w.problem.solve(model, solver, (&to.v, &w.v_free))?;
                step.worst = step.worst.worse(certificate);
                step.solves += 1;
            }
            to.v.copy_from_slice(&w.v_free);
            if reacting {
                to.v.iter_mut().zip(w.problem.response()).for_each(|(v, dv)| *v += dv);
            }
            step.iterations += 1;

            // 4 gaps at the new q⁺: other laws may close, curved ones move
            self.place(w, model, from, to);
            let changed = Self::couple(w, model, step.iterations == 1)?;
            if w.constancy.linear() {
                if !changed {
                    break;
                }
                continue;
            }
            step.evaluations += 1;
            if self.converged(w, model, (from, to), step.iterations)? {
                break;
            }
        }
        if !to.is_finite() {
            return Err(StepError::NotFinite);
        }

        // 5 report
        for impulse in w.problem.impulses() {
            w.reactions.add_impulse(impulse, 1.0);
        }
        if !w.problem.is_empty() {
            w.end.fill(model, (to.t, &to.q), w.constancy.rows, &w.problem.list)?;
            w.reactions.finish(&w.end, &to.v);
        }
        Ok(step)
    }

    fn forget(&self, w: &mut Work) {
        w.problem.forget();
    }

    fn invalidate(&self, w: &mut Work) {
        w.factored = None;
        w.problem.refactored();
    }

    fn order(&self) -> Order {
        let smooth = if self.theta == 0.5 { 2.0 } else { 1.0 };
        let impact = if self.theta == 1.0 { 1.0 } else { 0.0 };
        Order { position: impact, velocity: impact, smooth }
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.reactions
    }
}

impl PositionLevel {
    /// Coupling and relative velocities at the start, and the impulse balance of the first iterate v⁺ = v.
    fn start(&self, w: &mut Work, model: &mut dyn Mechanical, from: &State, to: &mut State) -> Result<(), StepError> {
        w.problem.start(model, (from.t, &from.q), &mut w.reactions.coupling)?;
        w.reactions.start(&from.v);
        w.problem.begin();
        to.v.copy_from_slice(&from.v);
        to.t = from.t + w.h;
        self.place(w, model, from, to);
        model.force(w.at_theta.t, &w.at_theta.q, &w.at_theta.v, &mut w.force)?;
        for (r, f) in w.balance.iter_mut().zip(&w.force) {
            *r = w.h * f;
        }
        Ok(())
    }

    /// (2): q_θ, v_θ and q⁺ that belong to the velocity in `to`.
    fn place(&self, w: &mut Work, model: &dyn Mechanical, from: &State, to: &mut State) {
        for ((m, a), b) in w.at_theta.v.iter_mut().zip(&from.v).zip(&to.v) {
            *m = (1.0 - self.theta) * a + self.theta * b;
        }
        w.at_theta.t = from.t + self.theta * w.h;
        for (weight, q) in [(self.theta * w.h, &mut w.at_theta.q), (w.h, &mut to.q)] {
            for (d, v) in w.increment.iter_mut().zip(&w.at_theta.v) {
                *d = weight * v;
            }
            model.retract(&from.q, &w.increment, q);
        }
        for point in &mut w.problem.points {
            (point.t, point.reach) = (to.t, self.theta * w.h);
            point.q.copy_from_slice(&to.q);
        }
    }

    /// Gaps at q⁺. Returns whether the set of acting laws changed.
    fn couple(w: &mut Work, model: &mut dyn Mechanical, first: bool) -> Result<bool, StepError> {
        w.problem.couple(model)?;
        Ok(w.problem.activate(first))
    }

    /// v_free = v^n + A⁻¹ (h F − M (v^n − v)) with A = M + hθC + h²θ²K at θ, factored once per step size where it is constant.
    fn free(&self, w: &mut Work, model: &mut dyn Mechanical, to: &State) -> Result<(), StepError> {
        if !(w.constancy.matrix() && w.factored == Some(w.h)) {
            let x = w.h * self.theta;
            w.factored = None;
            w.problem.refactored();
            model.factor(&w.at_theta, Combination { mass: 1.0, damping: x, stiffness: x * x })?;
            w.factored = Some(w.h);
        }
        w.v_free.copy_from_slice(&w.balance);
        model.solve(&mut w.v_free);
        w.v_free.iter_mut().zip(&to.v).for_each(|(free, v)| *free += v);
        Ok(())
    }

    /// Residual of (1) at the new iterate, left in `balance` without the reactions for the next pass, and of (3).
    fn converged(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        (from, to): (&State, &State),
        iterations: u32,
    ) -> Result<bool, StepError> {
        for (d, (a, b)) in w.increment.iter_mut().zip(to.v.iter().zip(&from.v)) {
            *d = a - b;
        }
        model.force(w.at_theta.t, &w.at_theta.q, &w.at_theta.v, &mut w.force)?;
        model.mass_mul(&w.at_theta.q, &w.increment, &mut w.balance)?;
        let judge = Balance { h: w.h, force: &w.force, jump: &w.increment, after: &to.v };
        let still = judge.is_still();
        let mut tolerance = judge.residual(&mut w.balance, self.newton_tolerance, !w.problem.is_empty());
        w.increment.copy_from_slice(&w.balance);
        w.problem.add_reactions(&mut w.increment);
        let residual = w.increment.iter().fold(0.0f64, |m, r| m.max(r.abs()));
        let speed = to.v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if !(residual.is_finite() && speed.is_finite()) {
            return Err(StepError::NotFinite);
        }
        if still && residual > tolerance {
            tolerance += unresolved(model, (&w.at_theta.q, &to.v), &mut w.increment)?;
        }
        // Newton's steps are exact but for rounding by now
        if iterations > 3 && residual > tolerance {
            tolerance += w.h * cancelled(model, &w.at_theta, &w.force, (&mut w.moved, &mut w.increment))?;
        }
        let missed = w.problem.missed(&to.v, self.newton_tolerance * speed);
        if residual <= tolerance && missed <= 1.0 {
            return Ok(true);
        }
        if iterations >= self.newton_iterations {
            // tell of the gaps where it is they that are missed
            let balanced = residual <= tolerance;
            let (residual, tolerance) =
                if balanced { (missed * self.gap_tolerance, self.gap_tolerance) } else { (residual, tolerance) };
            return Err(StepError::Newton { residual, tolerance, iterations });
        }
        Ok(false)
    }
}
