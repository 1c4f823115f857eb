//! What the projected schemes share [acary2012]: Moreau-Jean's law for velocities and a law for positions in one Newton
//! loop.
//!
//! ```text
//!     M(q_θ)(v⁺ − v) = h F(t_θ, q_θ, v_θ) + B P,     velocity law of Moreau-Jean for P                 (1)
//!     q⁺ = retract(q, d),   d = h v_θ + N G τ,       q_θ = retract(q, θ d)                             (2)
//!     position law for (g(q⁺), τ),   G = normal rows at q⁺ transposed,   N = I or M⁻¹                  (3)
//! ```
//!
//! One iteration from (v^n, d^n), with A = M + hθC + h²θ²K:
//!
//! ```text
//!     v_free = v^n + A⁻¹ (h F − M (v^n − v)),     v^{n+1} = v_free + A⁻¹ (B P − hθ K N G (τ − τ^n))    (4)
//!     y = g(q^n) + Gᵀ (h v_θ^{n+1} − d^n) + Gᵀ N G τ     is the linearised gap                         (5)
//! ```
//!
//! `decoupled` solves the velocity law with τ = τ^n, then the position law with that velocity. `coupled` solves both at
//! once: stiff systems need it, because their forces answer to a displacement of the wall's nodes within the step. The
//! forces of (4) are those at q^n in either case, τ included, so the limit is the same.
//!
//! The loop ends when (1) and, for each contact, *both sides* of (3) hold: gaps with a multiplier are zero, the others
//! not negative. A linearised projection overshoots to g = O(τ²) > 0, which a test for penetration alone would accept.

use super::moreau_jean::{self, MoreauJean, Residual};
use super::{Reactions, SchemeError, Step, StepError, System};
use crate::{Mechanical, State};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub mod combined;
pub mod direct;
mod position;

/// The metric N in which positions are moved to the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The nearest point in the coordinates as they are.
    Identity,
    /// The nearest point in the norm of the mass matrix; it does not depend on the choice of coordinates.
    InverseMass,
}

/// Whether the two laws of an iteration are solved together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Splitting {
    Coupled,
    Decoupled,
}

/// Which contacts the position law holds for, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// All: `0 ≤ g ⊥ τ ≥ 0`.
    Direct,
    /// Those that act: `g = 0` with τ of any sign where P > 0, `0 ≤ g ⊥ τ ≥ 0` where P = 0.
    Combined,
}

/// The iteration of either scheme, put together from its options.
pub(super) struct Projector {
    pub(super) base: MoreauJean,
    pub(super) rule: Rule,
    pub(super) metric: Metric,
    pub(super) splitting: Splitting,
    /// [m]
    pub(super) gap_tolerance: f64,
}

/// Buffers of a step.
#[derive(Default)]
pub struct Work {
    pub(super) base: moreau_jean::Work,
    passes: u32,               // rounds of activation
    at: State,                 // where the coupling at the end was evaluated
    coupled: bool,             // whether that is the iterate q^n
    violated: bool,            // whether a gap without a law was found violated
    moved: Vec<f64>,           // (n) d of the iterate q^n
    tau: Vec<f64>,             // (laws) multipliers
    set: Vec<usize>,           // laws in the position problem
    member: Vec<bool>,         // (laws) whether the law is in the set
    pressed: Vec<bool>,        // (active) whether P > 0
    position: position::Stage, // the position problem, alone or with the velocity problem
}

impl Work {
    /// Rounds of activation of the last step; one in the direct scheme.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    pub(super) fn new(model: &mut dyn Mechanical, base: moreau_jean::Work) -> Work {
        let n = model.dim();
        let mut work = Work { base, moved: vec![0.0; n], ..Work::default() };
        work.base.displacement = vec![0.0; n];
        work.position = position::Stage::new(model);
        work
    }

    pub(super) fn reactions(&self) -> &Reactions {
        &self.base.reactions
    }
}

impl Projector {
    pub(super) fn validate(&self) -> Result<(), OptionError> {
        self.base.validate()?;
        if self.base.reaction == moreau_jean::ReactionDirection::Start {
            return Err(OptionError::new("reaction", "a projection needs the rows at the end: use \"mid\" or \"end\""));
        }
        let gap = self.gap_tolerance;
        if !(gap > 0.0 && gap.is_finite()) {
            return Err(OptionError::new("gap-tolerance", format!("{gap} is not a finite length > 0")));
        }
        // a gap that was projected to zero within the tolerance must count as closed
        if self.base.activation <= gap {
            let reason = format!("{} must be larger than gap-tolerance = {gap}", self.base.activation);
            return Err(OptionError::new("activation", reason));
        }
        Ok(())
    }

    pub(super) fn workspace(&self, model: &mut (dyn Mechanical + 'static)) -> Result<Work, SchemeError> {
        let base = super::Scheme::workspace(&self.base, model)?;
        Ok(Work::new(model, base))
    }

    /// Coupling and relative velocities at the start; nothing is projected yet.
    pub(super) fn start(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        h: f64,
        (from, to): (&State, &mut State),
    ) -> Result<(), StepError> {
        self.clear(w);
        w.base.h = h;
        // the end of the last step, but for the rounding of time
        let recent = (from.t - w.at.t).abs() <= 4.0 * f64::EPSILON * from.t.abs().max(h);
        if w.coupled && recent && w.at.q == from.q {
            w.base.start_from_end(from);
        } else if !w.base.start(model, from)? {
            // laws have other numbers now
            w.position.forget();
        }
        self.base.restart(&mut w.base, model, from, to)?;
        w.coupled = false;
        let laws = w.base.reactions.len();
        w.tau.resize(laws, 0.0);
        w.member.resize(laws, false);
        w.passes = 1;
        Ok(())
    }

    /// Forgets the iterate: no displacement, no multiplier.
    pub(super) fn clear(&self, w: &mut Work) {
        w.base.displacement.fill(0.0);
        w.tau.fill(0.0);
        w.member.fill(false);
        w.set.clear();
        w.violated = false;
    }

    /// Newton's loop from the iterate in `to`: (4) and (5) until (1) and (3) hold.
    pub(super) fn newton(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<(), StepError> {
        let mut iterations = 0;
        loop {
            // 2 free motion
            self.base.free(&mut w.base, system.model, to)?;

            // 3 forecast: which laws act, once; the first q⁺
            if iterations == 0 {
                if self.rule == Rule::Direct {
                    self.base.activate(&mut w.base);
                }
                MoreauJean::guess(&mut w.base);
                self.place(w, system.model, from, to);
            }

            // 4 velocity law, with the displacement as it is
            w.base.b.clear();
            if !w.base.active.is_empty() {
                Self::couple(w, system.model, to)?;
                self.base.lay_out(&mut w.base, system.model)?;
                let certificate = MoreauJean::solve(&mut w.base, system.model, system.solver)?;
                step.worst = step.worst.worse(certificate);
                step.solves += 1;
            }
            MoreauJean::update(&w.base, to);

            // 5 position law, alone or with the velocity law
            if w.violated || !w.base.active.is_empty() {
                Self::couple(w, system.model, to)?;
                self.gather(w, system.model, (from, to));
            }
            if w.set.is_empty() {
                w.base.displacement.fill(0.0);
            } else {
                self.project(w, system, (from, to), step)?;
            }
            iterations += 1;
            step.iterations += 1;

            // 6 new iterate and its residuals
            self.place(w, system.model, from, to);
            if w.base.constancy.linear() && w.set.is_empty() {
                Self::couple(w, system.model, to)?;
                if self.worst_gap(w, to).is_none() {
                    return Ok(());
                }
            }
            step.evaluations += 1;
            if self.converged(w, system.model, (from, to), iterations)? {
                return Ok(());
            }
        }
    }

    /// q⁺ of the velocity in `to` and of the displacement.
    fn place(&self, w: &mut Work, model: &dyn Mechanical, from: &State, to: &mut State) {
        self.base.place_end(&mut w.base, model, from, to);
        w.moved.copy_from_slice(&w.base.increment);
        w.coupled = false;
    }

    /// The coupling at q⁺, unless it is there.
    fn couple(w: &mut Work, model: &mut dyn Mechanical, to: &State) -> Result<(), StepError> {
        if w.coupled {
            return Ok(());
        }
        w.base.end.fill(model, (to.t, &to.q), w.base.constancy.rows, &w.base.list)?;
        w.coupled = true;
        w.at.t = to.t;
        w.at.q.clone_from(&to.q);
        Ok(())
    }

    /// Which laws the position problem has: those of the rule that would be violated without it.
    fn gather(&self, w: &mut Work, model: &dyn Mechanical, (from, to): (&State, &State)) {
        if self.rule == Rule::Combined {
            MoreauJean::pressed(&mut w.base, model, &mut w.pressed);
        }
        // change of d where τ = 0
        let (start, end) = (w.base.h * (1.0 - self.base.theta), w.base.h * self.base.theta);
        for ((d, moved), (a, b)) in w.base.increment.iter_mut().zip(&w.moved).zip(from.v.iter().zip(&to.v)) {
            *d = start * a + end * b - moved;
        }
        w.set.clear();
        // far below the tolerance no multiplier is needed: contacts at rest cost nothing
        let slack = 1e-3 * self.gap_tolerance;
        for i in 0..w.base.end.len() {
            let (gap, equality) = (w.base.end.pairs[i].gap, self.is_equality(w, i));
            let missed = |y: f64, tolerance: f64| if equality { y.abs() > tolerance } else { y < -tolerance };
            let linearised = gap + w.base.end.rows.dot(w.base.end.offset[i], &w.base.increment);
            let member = self.governs(w, i)
                && (w.member[i] || missed(linearised, slack) || w.violated && missed(gap, self.gap_tolerance));
            w.member[i] = member;
            if member {
                w.set.push(i);
            } else {
                w.tau[i] = 0.0;
            }
        }
    }

    /// Whether the position law holds for law `i`.
    fn governs(&self, w: &Work, i: usize) -> bool {
        let law = w.base.end.pairs[i].law;
        let acts = || self.rule == Rule::Direct || w.base.active.binary_search(&i).is_ok();
        law.is_equality() || law.is_contact() && w.base.end.is_present(i) && acts()
    }

    /// Whether P > 0 for law `i`.
    fn is_pressed(&self, w: &Work, i: usize) -> bool {
        w.base.active.binary_search(&i).is_ok_and(|k| w.pressed.get(k).copied().unwrap_or(false))
    }

    /// Whether `g = 0` is imposed on law `i`.
    fn is_equality(&self, w: &Work, i: usize) -> bool {
        w.base.end.pairs[i].law.is_equality() || self.rule == Rule::Combined && self.is_pressed(w, i)
    }

    /// Whether the new iterate is the solution. Where no law acts, gaps are looked at only if the motion is.
    fn converged(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        ends: (&State, &State),
        iterations: u32,
    ) -> Result<bool, StepError> {
        let idle = w.base.active.is_empty() && w.set.is_empty();
        if !idle {
            Self::couple(w, model, ends.1)?;
        }
        self.base.place_theta(&mut w.base, model, ends.0, ends.1);
        let Residual { residual, tolerance, turned } = self.base.residual(&mut w.base, model, ends)?;
        let mut missed = None;
        if !idle || residual <= tolerance {
            Self::couple(w, model, ends.1)?;
            missed = self.worst_gap(w, ends.1);
        }
        if residual <= tolerance && turned && missed.is_none() {
            return Ok(true);
        }
        w.violated |= missed.is_some();
        if iterations < self.base.newton_iterations {
            return Ok(false);
        }
        match missed {
            Some((i, gap)) if residual <= tolerance => Err(StepError::Projection {
                gap,
                tolerance: self.gap_tolerance,
                iterations,
                contact: w.base.end.pairs[i].key,
            }),
            _ => Err(StepError::Newton { residual, tolerance, iterations }),
        }
    }

    /// The law that misses (3) most, with its gap.
    fn worst_gap(&self, w: &Work, to: &State) -> Option<(usize, f64)> {
        let size = to.q.iter().fold(0.0f64, |m, q| m.max(q.abs()));
        let mut worst: Option<(usize, f64, f64)> = None;
        for (i, pair) in w.base.end.pairs.iter().enumerate() {
            if !self.governs(w, i) {
                continue;
            }
            let equality = self.is_equality(w, i);
            let missed = if equality || w.tau[i] > 0.0 { pair.gap.abs() } else { (-pair.gap).max(0.0) };
            // the multiplier of a contact that is not pressed any more may still pull
            let pulls = !equality && w.tau[i] < 0.0;
            let row = w.base.end.rows.row(w.base.end.offset[i]);
            let rounding = 8.0 * f64::EPSILON * size * row.iter().map(|x| x.1.abs()).sum::<f64>();
            if (missed > self.gap_tolerance + rounding || pulls || missed.is_nan())
                && worst.is_none_or(|x| missed > x.2)
            {
                worst = Some((i, pair.gap, missed));
            }
        }
        worst.map(|(i, gap, _)| (i, gap))
    }

    /// Impulses, velocities and multipliers, law by law.
    pub(super) fn report(w: &mut Work, (from, to): (&State, &State)) -> Result<(), StepError> {
        if !to.is_finite() {
            return Err(StepError::NotFinite);
        }
        MoreauJean::report(&mut w.base, (from, to));
        w.base.reactions.projection.clone_from(&w.tau);
        Ok(())
    }
}
