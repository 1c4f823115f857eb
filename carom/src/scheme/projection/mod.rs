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
//! (4) takes the directions B from the last iterate and A has no part of their change. Where a short arm turns fast, as
//! that of a pin in its hole, iterates jump from one side of the solution to the other. A loop that fails is therefore
//! done again with iterates that are mixed (`balance/mixing.rs`). Fixed point and test are the same.
//!
//! The loop ends when (1) and, for each contact, *both sides* of (3) hold: gaps with a multiplier are zero, the others
//! not negative. A linearised projection overshoots to g = O(τ²) > 0, which a test for penetration alone would accept.

use super::moreau_jean::{self, MoreauJean};
use super::{SchemeError, Step, StepError, System};
use crate::balance::{Laws, Newton, PARTS};
use crate::{Mechanical, State};
use carom_solve::options::positive;
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub mod combined;
pub mod direct;
mod position;

/// What `gap-tolerance` is at most of `activation`, where one of them is given.
const BELOW: f64 = 1e-2;

/// The metric N in which positions are moved to the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The nearest point in the coordinates as they are, as published; metres and radians count alike, so that the
    /// motion depends on the units.
    Identity,
    /// The nearest point in the norm of the mass matrix; it does not depend on the choice of coordinates.
    InverseMass,
}

/// Whether the two laws of an iteration are solved together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Splitting {
    /// Both at once, for stiff systems.
    Coupled,
    /// The velocity law first, then the position law with that velocity.
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
    pub(super) gap_tolerance: Option<f64>,
}

/// Buffers of a step.
#[derive(Default)]
pub struct Work {
    pub(super) base: moreau_jean::Work,
    passes: u32,               // rounds of activation
    rounds: combined::Rounds,  // those of the last steps
    violated: bool,            // whether a gap without a law was found violated
    moved: Vec<f64>,           // (n) d of the iterate q^n
    tau: Vec<f64>,             // (laws) multipliers
    set: Vec<usize>,           // laws in the position problem
    member: Vec<bool>,         // (laws) whether the law is in the set
    has_impulse: Vec<bool>,    // (active) whether P > 0
    position: position::Stage, // the position problem, alone or with the velocity problem
    before: [Vec<f64>; 3],     // v, displacement and τ of the iterate before, where iterates are mixed
}

carom_solve::persist!(Work {
    base,
    passes,
    rounds,
    violated,
    moved,
    tau,
    set,
    member,
    has_impulse,
    position,
    before,
} skip {});

impl Work {
    /// Rounds of activation of the last step; one in the direct scheme.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// Finds out which of the acting laws have an impulse.
    fn has_impulse(&mut self, model: &dyn Mechanical) {
        self.has_impulse.clear();
        if !self.base.laws.is_empty() {
            self.base.laws.problem.has_impulse(model, &mut self.has_impulse);
        }
    }
}

/// What both schemes take from their [`Projector`]: all of a scheme but its facts.
macro_rules! projected {
    () => {
        type Model = dyn $crate::Mechanical;
        type Work = super::Work;

        fn check_options(&self) -> Result<(), OptionError> {
            self.validate()
        }

        fn workspace(&self, model: &mut Self::Model) -> Result<Self::Work, $crate::scheme::SchemeError> {
            self.projector().workspace(model)
        }

        fn step(
            &self,
            work: &mut Self::Work,
            system: $crate::System<'_, Self::Model>,
            from: &$crate::State,
            h: f64,
            to: &mut $crate::State,
        ) -> Result<$crate::Step, $crate::StepError> {
            self.projector().step(work, system, from, h, to)
        }

        fn clear_guess(&self, work: &mut Self::Work) {
            self.projector().base.clear_guess(&mut work.base);
        }

        fn drop_factors(&self, work: &mut Self::Work) {
            self.projector().base.drop_factors(&mut work.base);
        }

        fn set_impact_law(&self, work: &mut Self::Work, law: $crate::ImpactLaw) -> bool {
            self.projector().base.set_impact_law(&mut work.base, law)
        }

        fn contacts_changed(&self, work: &mut Self::Work) {
            self.projector().base.contacts_changed(&mut work.base);
        }

        fn stopped(&self, work: &mut Self::Work) {
            self.projector().base.stopped(&mut work.base);
        }

        fn order(&self) -> $crate::scheme::Order {
            self.projector().base.order()
        }

        fn may_miss_contact(&self) -> Option<&'static str> {
            self.projector().base.may_miss_contact()
        }

        fn reactions<'w>(&self, work: &'w Self::Work) -> &'w $crate::Reactions {
            &work.base.reactions
        }

        fn warnings<'w>(&self, work: &'w Self::Work) -> Option<&'w $crate::Warnings> {
            Some(&work.base.warnings)
        }
    };
}
use projected;

impl Projector {
    pub(super) fn validate(&self) -> Result<(), OptionError> {
        positive("gap-tolerance", self.gap_tolerance.unwrap_or(1.0))?;
        self.base.validate()?;
        if self.base.reaction == moreau_jean::ReactionDirection::Start {
            return Err(OptionError::new("reaction", "a projection needs the rows at the end: use \"mid\" or \"end\""));
        }
        // a gap that was projected to zero within the tolerance must count as closed
        match (self.base.activation, self.gap_tolerance) {
            (Some(activation), Some(gap)) if activation <= gap => {
                let reason = format!("{activation} must be larger than gap-tolerance = {gap}");
                Err(OptionError::new("activation", reason))
            }
            (Some(0.0), None) => Err(OptionError::new("activation", "0 is not larger than any gap-tolerance")),
            _ => Ok(()),
        }
    }

    /// Up to where the gap of law `i` at the end vanishes [m].
    fn gap_tolerance(&self, w: &Work, i: usize) -> f64 {
        let tolerance = w.base.lengths.gap_tolerance(self.gap_tolerance, &w.base.laws.end, i);
        match (self.base.activation, self.gap_tolerance) {
            (Some(activation), None) => tolerance.min(BELOW * activation),
            _ => tolerance,
        }
    }

    pub(super) fn workspace(&self, model: &mut (dyn Mechanical + 'static)) -> Result<Work, SchemeError> {
        let mut base = super::Scheme::workspace(&self.base, model)?;
        base.newton.displacement = vec![0.0; model.dim()];
        let (moved, position) = (vec![0.0; model.dim()], position::Stage::new(model));
        let before = [vec![0.0; model.dim()], vec![0.0; model.dim()], vec![]];
        Ok(Work { base, moved, position, before, ..Work::default() })
    }

    pub(super) fn step(
        &self,
        w: &mut Work,
        mut system: System<'_, dyn Mechanical>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError> {
        let mut step = Step { advanced: h, ..Step::default() };

        // 1 start: laws, gaps and relative velocities at q
        self.start(w, system.model, from, h)?;

        // 2 free motion, from v⁺ = v and τ = 0
        w.base.newton.begin(system.model, (from, to), h, &mut step)?;

        // 3 which laws act: the forecast says, or only those that always do at first
        w.base.measure(system.model, from)?;
        match self.rule {
            Rule::Direct => self.base.activate(&mut w.base, from.t),
            Rule::Combined => {
                let pairs = w.base.reactions.coupling.pairs.iter().enumerate();
                w.base.laws.active.clear();
                w.base.laws.active.extend(pairs.filter(|(_, p)| !p.law.is_contact()).map(|(i, _)| i));
            }
        }

        // 4 to 6: Newton's loop on (1) to (3)
        self.newton(w, &mut system, (from, to), &mut step)?;

        // 7 contacts that are closed at the end act from the start: again, until there are no others
        while self.rule == Rule::Combined && self.enlarge(w, to.t) {
            self.clear(w);
            w.base.newton.restart(system.model, (from, to), &mut step)?;
            self.newton(w, &mut system, (from, to), &mut step)?;
            w.passes += 1;
        }
        if !to.is_finite() {
            return Err(StepError::NotFinite);
        }
        w.rounds.add(w.passes, step.solves, to.t, &mut w.base.warnings);
        w.base.report((from, to));
        w.base.reactions.projection.clone_from(&w.tau);
        Ok(step)
    }

    /// Coupling and relative velocities at the start; nothing is projected yet.
    fn start(&self, w: &mut Work, model: &mut dyn Mechanical, from: &State, h: f64) -> Result<(), StepError> {
        self.clear(w);
        if !w.base.start(model, from, h)? {
            // laws have other numbers now
            w.position.forget();
        }
        let laws = w.base.reactions.len();
        w.tau.resize(laws, 0.0);
        w.before[2].resize(laws, 0.0);
        w.member.resize(laws, false);
        w.passes = 1;
        Ok(())
    }

    /// Forgets the iterate: no displacement, no multiplier.
    fn clear(&self, w: &mut Work) {
        w.base.newton.displacement.fill(0.0);
        w.tau.fill(0.0);
        w.member.fill(false);
        w.set.clear();
        w.violated = false;
    }

    /// Adds the contacts that are closed at the end; whether there were any.
    fn enlarge(&self, w: &mut Work, t: f64) -> bool {
        let moreau_jean::Work { laws, lengths, warnings, .. } = &mut w.base;
        let (end, active) = (&laws.end, &mut laws.active);
        let before = active.len();
        for i in 0..end.len() {
            let closed = || end.gap(i) <= lengths.activation(self.base.activation, end, i);
            if closed() && active[..before].binary_search(&i).is_err() {
                lengths.doubt(end.gap(i), t, (end, i), warnings);
                active.push(i);
            }
        }
        active.sort_unstable();
        active.len() > before
    }

    /// Newton's loop from the iterate in `to`, whose free motion is there; once more with mixed iterates where it does
    /// not converge.
    fn newton(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<(), StepError> {
        let may_jump = !w.base.newton.constancy.rows;
        let mut solved = self.iterate(w, system, (from, to), false, step);
        for part in PARTS {
            match &solved {
                Err(StepError::Newton { .. } | StepError::Projection { .. }) if may_jump => {}
                _ => break,
            }
            self.clear(w);
            w.base.newton.restart(system.model, (from, to), step)?;
            w.base.newton.begin_mixing(part, w.tau.len());
            let mixed = self.iterate(w, system, (from, to), true, step);
            // the first failure tells more
            if mixed.is_ok() {
                solved = mixed;
            }
        }
        solved
    }

    /// (4) and (5) until (1) and (3) hold. With `mixes` iterates are mixed.
    fn iterate(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        mixes: bool,
        step: &mut Step,
    ) -> Result<(), StepError> {
        w.base.recall(&*system.model);
        w.base.strike(self.base.activation, system, from, step)?;
        self.place(w, system.model, (from, to));
        for iterations in 1u32.. {
            // 4 velocity law, with the displacement as it is
            if mixes {
                w.before[0].copy_from_slice(&to.v);
                w.before[1].copy_from_slice(&w.base.newton.displacement);
                w.before[2].copy_from_slice(&w.tau);
            }
            let moreau_jean::Work { newton, laws, .. } = &mut w.base;
            laws.problem.b.clear();
            if !laws.is_empty() {
                laws.couple(newton, system.model, (from, to))?;
                let again = laws.is_kept(newton);
                laws.lay_out(newton, again);
                laws.solve(newton, system, again, step)?;
            }
            newton.update(laws, to);

            // 5 position law, alone or with the velocity law
            if w.violated || !laws.is_empty() {
                laws.couple_end(newton, system.model, (from, to))?;
                self.gather(w, system.model, (from, to));
            }
            if w.set.is_empty() {
                w.base.newton.displacement.fill(0.0);
            } else {
                self.project(w, system, (from, to), step)?;
            }
            step.iterations += 1;

            // 6 new iterate and its residuals
            self.place(w, system.model, (from, to));
            if w.base.newton.constancy.linear() && w.set.is_empty() {
                w.base.laws.couple_end(&w.base.newton, system.model, (from, to))?;
                if self.worst_gap(w).is_none() {
                    return Ok(());
                }
            }
            step.evaluations += 1;
            if self.converged(w, system.model, (from, to), iterations)? {
                return Ok(());
            }
            if mixes {
                self.mix(w, system.model, (from, to))?;
                step.evaluations += 1;
            }
            w.base.newton.free(system.model, to)?;
        }
        Ok(())
    }

    /// Mixes the new iterate with those before, and finds the residual.
    #[cold]
    fn mix(&self, w: &mut Work, model: &mut dyn Mechanical, (from, to): (&State, &mut State)) -> Result<(), StepError> {
        let Work { base: moreau_jean::Work { newton, .. }, tau, before: [v, displacement, last], .. } = w;
        let Newton { mixing, displacement: moved, .. } = newton;
        mixing.mix(&mut [(&mut to.v[..], &v[..]), (&mut moved[..], &displacement[..]), (&mut tau[..], &last[..])]);
        self.place(w, model, (from, to));
        let moreau_jean::Work { newton, laws, .. } = &mut w.base;
        if !laws.is_empty() {
            laws.couple(newton, model, (from, to))?;
        }
        newton.residual(laws, model, (from, to))?;
        Ok(())
    }

    /// q⁺ and q_θ of the velocity in `to` and of the displacement.
    fn place(&self, w: &mut Work, model: &dyn Mechanical, (from, to): (&State, &mut State)) {
        w.base.newton.place(model, (from, to));
        w.base.newton.place_end(model, (from, to));
        w.base.laws.moved();
        w.moved.copy_from_slice(&w.base.newton.increment);
    }

    /// Which laws the position problem has: those of the rule that would be violated without it.
    fn gather(&self, w: &mut Work, model: &dyn Mechanical, (from, to): (&State, &State)) {
        if self.rule == Rule::Combined {
            w.has_impulse(model);
        }
        // change of d where τ = 0
        let (start, end) = (w.base.newton.h * (1.0 - self.base.theta), w.base.newton.h * self.base.theta);
        for ((d, moved), (a, b)) in w.base.newton.increment.iter_mut().zip(&w.moved).zip(from.v.iter().zip(&to.v)) {
            *d = start * a + end * b - moved;
        }
        let mut moves_joints = false;
        for i in 0..w.base.laws.end.len() {
            w.member[i] = self.has_gap_law(w, i) && (w.member[i] || self.would_miss(w, i));
            moves_joints |= w.member[i] && w.base.laws.end.pairs[i].law.is_equality();
        }
        w.set.clear();
        for i in 0..w.base.laws.end.len() {
            // a joint that moves its bodies pulls at the next ones: a chain would take them in one by one
            w.member[i] |= moves_joints && w.base.laws.end.pairs[i].law.is_equality();
            if w.member[i] {
                w.set.push(i);
            } else {
                w.tau[i] = 0.0;
            }
        }
    }

    /// Whether the position law would be missed by law `i` without a multiplier.
    fn would_miss(&self, w: &Work, i: usize) -> bool {
        let end = &w.base.laws.end;
        let (gap, equality, tolerance) = (end.pairs[i].gap, self.is_equality(w, i), self.gap_tolerance(w, i));
        let missed = |y: f64, tolerance: f64| if equality { y.abs() > tolerance } else { y < -tolerance };
        let linearised = gap + end.rows.dot(end.offset[i], &w.base.newton.increment);
        // far below the tolerance no multiplier is needed: contacts at rest cost nothing
        missed(linearised, 1e-3 * tolerance) || w.violated && missed(gap, tolerance)
    }

    /// Whether the position law holds for law `i`.
    fn has_gap_law(&self, w: &Work, i: usize) -> bool {
        let law = w.base.laws.end.pairs[i].law;
        let acts = || self.rule == Rule::Direct || w.base.laws.active.binary_search(&i).is_ok();
        law.is_equality() || law.is_contact() && w.base.laws.end.is_present(i) && acts()
    }

    /// Whether P > 0 for law `i`.
    fn is_pushing(&self, w: &Work, i: usize) -> bool {
        w.base.laws.active.binary_search(&i).is_ok_and(|k| w.has_impulse.get(k).copied().unwrap_or(false))
    }

    /// Whether `g = 0` is imposed on law `i`.
    fn is_equality(&self, w: &Work, i: usize) -> bool {
        w.base.laws.end.pairs[i].law.is_equality() || self.rule == Rule::Combined && self.is_pushing(w, i)
    }

    /// Whether the new iterate is the solution. Where no law acts, gaps are looked at only if the motion is.
    fn converged(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        ends: (&State, &State),
        iterations: u32,
    ) -> Result<bool, StepError> {
        let moreau_jean::Work { newton, laws, .. } = &mut w.base;
        if !laws.is_empty() {
            laws.couple(newton, model, ends)?;
        }
        let at = newton.residual(laws, model, ends)?;
        let allowed = newton.limits.tolerance * at.speed;
        let rows_settled = laws.is_empty() || laws.missed(newton, &ends.1.v, allowed) <= 1.0;
        let mut missed = None;
        if !laws.is_empty() || !w.set.is_empty() || at.is_small() {
            laws.couple_end(newton, model, ends)?;
            missed = self.worst_gap(w);
        }
        w.violated |= missed.is_some();
        match missed {
            Some((i, gap)) if at.is_small() && iterations >= self.base.newton_iterations => {
                let (tolerance, contact) = (self.gap_tolerance(w, i), w.base.laws.list[i]);
                Err(StepError::Projection { gap, tolerance, iterations, contact })
            }
            _ => {
                let done = at.is_small() && rows_settled && missed.is_none();
                w.base.newton.limits.judge(done, (at.residual, at.tolerance), iterations)
            }
        }
    }

    /// The law that misses (3) most, with its gap.
    fn worst_gap(&self, w: &Work) -> Option<(usize, f64)> {
        let mut worst: Option<(usize, f64, f64)> = None;
        for (i, pair) in w.base.laws.end.pairs.iter().enumerate() {
            if !self.has_gap_law(w, i) {
                continue;
            }
            let equality = self.is_equality(w, i);
            let missed = if equality || w.tau[i] > 0.0 { pair.gap.abs() } else { (-pair.gap).max(0.0) };
            // the multiplier of a contact that is not pressed any more may still pull
            let pulls = !equality && w.tau[i] < 0.0;
            let allowed = self.gap_tolerance(w, i) + w.base.lengths.rounding(&w.base.laws.end, i);
            if (missed > allowed || pulls || missed.is_nan()) && worst.is_none_or(|x| missed > x.2) {
                worst = Some((i, pair.gap, missed));
            }
        }
        worst.map(|(i, gap, _)| (i, gap))
    }
}
