//! Schatzman-Paoli scheme: event capturing at the position level, in two steps [paoli2002, acary2009].
//!
//! ```text
//!     M(q_k)(q_{k+1} − 2 q_k + q_{k−1}) = h² F(t_k, q_k, (q_{k+1} − q_{k−1})/2h) + h G(z) P_k                   (1)
//!     z = (q_{k+1} + e q_{k−1})/(1 + e),   0 ≤ g(z) ⊥ P_k ≥ 0;   bilateral: g(q_{k+1}) = 0                      (2)
//! ```
//!
//! Written as a leap over q_k with the velocities w = (q_{k+1} − q_k)/h between grid points, so that P_k is an impulse:
//!
//! ```text
//!     M(q_k)(w⁺ − w⁻) = h F(t_k, q_k, (w⁻ + w⁺)/2) + G(z) P_k,   q_{k+1} = retract(q_k, h w⁺)                    (3)
//!     z = retract(q_k, h (w⁺ − e w⁻)/(1 + e)),   at the time t_k + h (1 − e)/(1 + e)                           (4)
//! ```
//!
//! Bilateral reactions act along G(q_k) instead of G(z), which makes them the second-order SHAKE form of leapfrog [ryckaert1977].
//! Each contact has its own e in (4), and a moving obstacle its own time. Damping is implicit, with A = M + (h/2) C; forces are taken
//! at q_k, so a spring of frequency ω needs h ω < 2 (leapfrog). Forces that are not linear in v and gaps that are not linear in q
//! are met by Newton's loop: G and g anew at each z, until |g| is small on both sides of zero (`gap-tolerance`).
//!
//! Start: w⁻ = v₀ − (h/2) M⁻¹F₀, which makes the first free position q₀ + h v₀ + (h²/2) M⁻¹F₀, of second order. The scheme remembers w
//! from step to step; a step from another state, or of another length h, starts again from the velocity of that state.
//!
//! Velocities: `centred` gives v(t_k) = (q_{k+1} − q_{k−1})/2h, of second order in smooth motion; it needs the position one step ahead,
//! which the next step then uses (one problem per step). An impact takes two leaps and is seen in up to three steps, over
//! which its impulse is shared out as (P_k + P_{k+1})/2. `backward` gives (q_k − q_{k−1})/h, of first order, which after the two leaps of an
//! impact is exactly −e times the last one before.
//!
//! Order 1 in positions (every norm) and in velocities (l1), 1/2 in l2, none in sup; order 2 in smooth motion. Penetration is zero
//! for e = 0 only, and of order h for e > 0 (q_{k+1} = −e q_{k−1} on the way out). Closed contacts do not chatter. No friction, no relays.
//!
//! | `w_before`, `w_after` (n) velocity between grid points [m/s] | `P` (m) impulse [N s] | `e` restitution [-] |

use super::gap_problem::{Balance, GapProblem, Reading, unresolved};
use super::{Claim, Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step, StepError, System};
use crate::model::{Combination, Constancy};
use crate::{Coupling, Mechanical, State};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod tangent;

/// Options of the Schatzman-Paoli scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SchatzmanPaoli {
    /// Which difference of positions is the velocity: "centred" (second order) or "backward" (shows the impact law).
    pub velocity: Difference,
    /// A gap that is closed by a reaction vanishes up to this value, on both sides [m].
    pub gap_tolerance: f64,
    /// Relative tolerance of Newton's loop on the impulse balance (3) [-].
    pub newton_tolerance: f64,
    /// Most Newton iterations in a leap.
    pub newton_iterations: u32,
}

/// How velocities are formed from positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    Centred,
    Backward,
}

impl Default for SchatzmanPaoli {
    fn default() -> Self {
        SchatzmanPaoli {
            velocity: Difference::Centred,
            gap_tolerance: 1e-12,
            newton_tolerance: 1e-10,
            newton_iterations: 50,
        }
    }
}

impl Options for SchatzmanPaoli {
    fn validate(&self) -> Result<(), OptionError> {
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

impl Registered for SchatzmanPaoli {}

/// The leap (3) over one grid point.
#[derive(Default)]
struct Leap {
    t: f64,                      // t_k
    q: Vec<f64>,                 // q_k
    w_before: Vec<f64>,          // (n) w⁻
    w_after: Vec<f64>,           // (n) w⁺
    q_after: Vec<f64>,           // q_{k+1}
    impulses: Vec<(usize, f64)>, // P_k, by law
}

impl Leap {
    fn new(state: &State) -> Leap {
        let (q, v) = (|| state.q.clone(), || state.v.clone());
        Leap { t: state.t, q: q(), w_before: v(), w_after: v(), q_after: q(), impulses: Vec::new() }
    }

    /// Starts where another one ended, at time `t`.
    fn follow(&mut self, last: &Leap, t: f64) {
        self.t = t;
        self.q.copy_from_slice(&last.q_after);
        self.w_before.copy_from_slice(&last.w_after);
    }
}

/// The leap from which the step that starts at `owner` goes on: over `owner` (centred), or to it (backward).
#[derive(Default)]
struct Memory {
    leap: Leap,
    owner: State,
    h: f64,     // step size; 0 where nothing is remembered
    share: f64, // part of the leap's impulse that no step has told yet
}

impl Memory {
    fn belongs_to(&self, state: &State, h: f64) -> bool {
        // the driver rounds times to its grid
        let here = (self.owner.t - state.t).abs() <= 1e-9 * h;
        self.h == h && here && self.owner.q == state.q && self.owner.v == state.v
    }

    fn keep(&mut self, state: &State, h: f64, share: f64) {
        self.owner.copy_from(state);
        (self.h, self.share) = (h, share);
    }
}

/// Buffers of a leap, in the order in which it sets them.
#[derive(Default)]
struct Buffers {
    constancy: Constancy,
    h: f64,
    middle: State,         // (t_k, q_k, (w⁻ + w⁺)/2): where forces are taken
    force: Vec<f64>,       // (n) F there
    balance: Vec<f64>,     // (n) h F − M (w⁺ − w⁻)
    factored: Option<f64>, // step size of the constant factorisation
    w_free: Vec<f64>,      // (n) w⁺ without reactions
    increment: Vec<f64>,   // (n) differences of positions and velocities
    problem: GapProblem,
}

/// What a step leaves for the next one, and its buffers.
#[derive(Default)]
pub struct Work {
    here: Memory, // for steps from the state that is being left
    next: Memory, // for steps from the state that is being reached
    leaping: Buffers,
    recalled: bool,    // whether the step went on from a leap
    started: Vec<f64>, // (n) w⁻ of a start
    end: Coupling,     // coupling at the end of the step
    reactions: Box<Reactions>,
}

impl Scheme for SchatzmanPaoli {
    type Model = dyn Mechanical;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "schatzman-paoli",
        title: "Schatzman-Paoli scheme",
        order: Order { position: 1.0, velocity: 1.0, smooth: 2.0 },
        level: "position",
        claims: &[Claim::PenetrationFirstOrder, Claim::Bilateral],
        citations: &["paoli2002", "acary2009", "ryckaert1977"],
        source: include_str!("schatzman_paoli.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let problem = GapProblem::new(Self::INFO.name, Reading::Restitution, self.gap_tolerance, model)?;
        let (n, initial) = (model.dim(), model.initial());
        let memory = || Memory { leap: Leap::new(&initial), owner: initial.clone(), ..Memory::default() };
        let leaping = Buffers {
            constancy: model.constancy(),
            middle: initial.clone(),
            force: vec![0.0; n],
            balance: vec![0.0; n],
            w_free: vec![0.0; n],
            increment: vec![0.0; n],
            problem,
            ..Buffers::default()
        };
        Ok(Work { here: memory(), next: memory(), leaping, ..Work::default() })
    }

    fn step(
        &self,
        w: &mut Work,
        mut system: System<'_, Self::Model>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError> {
        let mut step = Step { advanced: h, ..Step::default() };
        let system = &mut system;
        w.leaping.h = h;

        // 1 laws at the start; recall the leap that belongs to `from`, or start from its velocity
        w.list(system.model, from)?;
        let known = Self::recall(w, from, h);
        w.recalled = known;
        w.next.h = 0.0;
        if !known {
            w.here.h = 0.0;
            step.evaluations += 1;
            Self::start(w, system.model, from)?;
        }
        let Work { here, next, leaping, .. } = w;
        to.t = from.t + h;
        match self.velocity {
            // 2 backward: leap over `from`
            Difference::Backward => {
                next.leap.follow(&here.leap, from.t);
                self.leap(leaping, &mut next.leap, system, &mut step)?;
                to.q.copy_from_slice(&next.leap.q_after);
                to.v.copy_from_slice(&next.leap.w_after);
                here.share = 0.0;
                next.keep(to, h, 1.0);
            }
            // 2 centred: leap over `from`, if that is not known, and over the state to be reached
            Difference::Centred => {
                if !known {
                    next.leap.follow(&here.leap, from.t);
                    self.leap(leaping, &mut next.leap, system, &mut step)?;
                    std::mem::swap(here, next);
                    here.keep(from, h, 1.0);
                }
                next.leap.follow(&here.leap, to.t);
                self.leap(leaping, &mut next.leap, system, &mut step)?;
                to.q.copy_from_slice(&next.leap.q);
                for (v, (a, b)) in to.v.iter_mut().zip(next.leap.w_before.iter().zip(&next.leap.w_after)) {
                    *v = 0.5 * (a + b);
                }
                next.keep(to, h, 0.5);
            }
        }
        if !to.is_finite() {
            w.next.h = 0.0;
            return Err(StepError::NotFinite);
        }

        // 3 impulses that belong to the change of velocity
        Self::report(w, system.model, to)?;
        Ok(step)
    }

    fn forget(&self, w: &mut Work) {
        (w.here.h, w.next.h) = (0.0, 0.0);
        w.leaping.problem.forget();
    }

    fn invalidate(&self, w: &mut Work) {
        w.leaping.factored = None;
        w.leaping.problem.refactored();
    }

    fn overlooks(&self) -> Option<&'static str> {
        Some("with restitution its gaps are taken before the end of the step, in full and half steps alike")
    }

    fn reach(&self) -> f64 {
        match self.velocity {
            Difference::Centred => 2.0,
            Difference::Backward => 1.0,
        }
    }

    fn needs_equal_steps(&self) -> Option<&'static str> {
        Some("it is a two-step scheme, and throws a penetration out in one step however short that is")
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.reactions
    }
}

impl Work {
    /// Laws, gaps and velocities at the start of the step.
    fn list(&mut self, model: &mut dyn Mechanical, from: &State) -> Result<(), StepError> {
        let Work { leaping, reactions, here, next, .. } = self;
        if !leaping.problem.start(model, (from.t, &from.q), &mut reactions.coupling)? {
            // laws have other numbers than in the leaps that are remembered; those that are gone have told what they did
            let list = &leaping.problem.list;
            for leap in [&mut here.leap, &mut next.leap] {
                leap.impulses.retain_mut(|impulse| list.after(impulse.0).map(|i| impulse.0 = i).is_some());
            }
        }
        reactions.start(&from.v);
        Ok(())
    }
}

impl SchatzmanPaoli {
    /// Brings the memory that belongs to `from` to `here`; a step that is tried again finds it there.
    fn recall(w: &mut Work, from: &State, h: f64) -> bool {
        if w.next.belongs_to(from, h) {
            std::mem::swap(&mut w.here, &mut w.next);
        }
        w.here.belongs_to(from, h)
    }

    /// The leap that would have led to `from`: w⁻ = v − (h/2) M⁻¹F.
    fn start(w: &mut Work, model: &mut dyn Mechanical, from: &State) -> Result<(), StepError> {
        let Buffers { force, factored, h, problem, .. } = &mut w.leaping;
        *factored = None;
        problem.refactored();
        model.factor(from, Combination::MASS)?;
        model.force(from.t, &from.q, &from.v, force)?;
        model.solve(force);
        let leap = &mut w.here.leap;
        leap.q_after.copy_from_slice(&from.q);
        for (w, (v, a)) in leap.w_after.iter_mut().zip(from.v.iter().zip(&*force)) {
            *w = v - 0.5 * *h * a;
        }
        w.started.clone_from(&leap.w_after);
        Ok(())
    }

    /// Solves (3) with (2).
    fn leap(
        &self,
        b: &mut Buffers,
        leap: &mut Leap,
        system: &mut System<'_, dyn Mechanical>,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let System { model, solver } = system;

        // 1 iterate from w⁺ = w⁻
        leap.w_after.copy_from_slice(&leap.w_before);
        b.middle.t = leap.t;
        b.middle.q.copy_from_slice(&leap.q);
        b.middle.v.copy_from_slice(&leap.w_before);
        model.force(leap.t, &leap.q, &b.middle.v, &mut b.force)?;
        for (r, f) in b.balance.iter_mut().zip(&b.force) {
            *r = b.h * f;
        }
        step.evaluations += 1;
        b.problem.begin();
        b.problem.place_base(*model, leap.t, &leap.q)?;
        for pass in 0u32.. {
            // 2 free motion
            if pass == 0 || !b.constancy.linear() {
                Self::free(b, leap, *model)?;
            }

            // 3 reactions: (2) linearised at the last z; w⁺ = w_free + A⁻¹ G P
            let reacting = !b.problem.is_empty();
            if reacting {
                let certificate = b.problem.solve(*model, *solver, (&leap.w_after, &b.w_free))?;
                step.worst = step.worst.worse(certificate);
                step.solves += 1;
            }
            leap.w_after.copy_from_slice(&b.w_free);
            if reacting {
                leap.w_after.iter_mut().zip(b.problem.response()).for_each(|(w, dw)| *w += dw);
            }
            step.iterations += 1;

            // 4 gaps at the new z: other laws may close, curved ones move
            let changed = Self::place(b, leap, *model, pass == 0)?;
            if b.constancy.linear() {
                if !changed {
                    break;
                }
                continue;
            }
            step.evaluations += 1;
            if self.converged(b, leap, *model, pass + 1)? {
                break;
            }
        }
        for (d, w) in b.increment.iter_mut().zip(&leap.w_after) {
            *d = b.h * w;
        }
        model.retract(&leap.q, &b.increment, &mut leap.q_after);
        leap.impulses.clear();
        leap.impulses.extend(b.problem.impulses().map(|(law, p)| (law, p.first().copied().unwrap_or(0.0))));
        Ok(())
    }

    /// w_free = w^n + A⁻¹ (h F − M (w^n − w⁻)) with A = M + (h/2) C at q_k, factored once per step size where it is constant.
    fn free(b: &mut Buffers, leap: &Leap, model: &mut dyn Mechanical) -> Result<(), StepError> {
        if !(b.constancy.matrix() && b.factored == Some(b.h)) {
            b.factored = None;
            b.problem.refactored();
            model.factor(&b.middle, Combination { mass: 1.0, damping: 0.5 * b.h, stiffness: 0.0 })?;
            b.factored = Some(b.h);
        }
        b.w_free.copy_from_slice(&b.balance);
        model.solve(&mut b.w_free);
        b.w_free.iter_mut().zip(&leap.w_after).for_each(|(free, w)| *free += w);
        Ok(())
    }

    /// (4) for every restitution, and the gaps there. Returns whether the set of acting laws changed.
    fn place(b: &mut Buffers, leap: &Leap, model: &mut dyn Mechanical, first: bool) -> Result<bool, StepError> {
        loop {
            for point in &mut b.problem.points {
                let e = point.restitution;
                point.reach = b.h / (1.0 + e);
                point.t = leap.t + point.reach * (1.0 - e);
                for (d, (after, before)) in b.increment.iter_mut().zip(leap.w_after.iter().zip(&leap.w_before)) {
                    *d = point.reach * (after - e * before);
                }
                model.retract(&leap.q, &b.increment, &mut point.q);
            }
            if !b.problem.couple(model)? {
                return Ok(b.problem.activate(first));
            }
        }
    }

    /// Residual of (3) at the new iterate, left in `balance` without the reactions for the next pass, and of the gaps.
    fn converged(
        &self,
        b: &mut Buffers,
        leap: &Leap,
        model: &mut dyn Mechanical,
        iterations: u32,
    ) -> Result<bool, StepError> {
        let velocities = leap.w_after.iter().zip(&leap.w_before);
        for ((m, d), (after, before)) in b.middle.v.iter_mut().zip(&mut b.increment).zip(velocities) {
            *m = 0.5 * (after + before);
            *d = after - before;
        }
        model.force(leap.t, &leap.q, &b.middle.v, &mut b.force)?;
        model.mass_mul(&leap.q, &b.increment, &mut b.balance)?;
        let judge = Balance { h: b.h, force: &b.force, jump: &b.increment, after: &leap.w_after };
        let still = judge.is_still();
        let mut tolerance = judge.residual(&mut b.balance, self.newton_tolerance, !b.problem.is_empty());
        b.increment.copy_from_slice(&b.balance);
        b.problem.add_reactions(&mut b.increment);
        let residual = b.increment.iter().fold(0.0f64, |m, r| m.max(r.abs()));
        let speed = leap.w_after.iter().fold(0.0f64, |m, w| m.max(w.abs()));
        if !(residual.is_finite() && speed.is_finite()) {
            return Err(StepError::NotFinite);
        }
        if still && residual > tolerance {
            tolerance += unresolved(model, (&leap.q, &leap.w_after), &mut b.increment)?;
        }
        let missed = b.problem.missed(&leap.w_after, self.newton_tolerance * speed);
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

    /// Shares the impulses of both leaps out to this step, so that M (v⁺ − v) is the impulse of the forces and theirs.
    fn report(w: &mut Work, model: &mut dyn Mechanical, to: &State) -> Result<(), StepError> {
        let reactions = &mut *w.reactions;
        let mut acted = false;
        for memory in [&w.here, &w.next] {
            for &(law, impulse) in &memory.leap.impulses {
                acted |= impulse != 0.0;
                reactions.add_impulse((law, &[impulse]), memory.share);
            }
        }
        if acted {
            w.end.fill(model, (to.t, &to.q), w.leaping.constancy.rows, &w.leaping.problem.list)?;
            reactions.finish(&w.end, &to.v);
        }
        Ok(())
    }
}
