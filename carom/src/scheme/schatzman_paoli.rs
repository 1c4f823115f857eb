//! Schatzman-Paoli scheme: event capturing at the position level, in two steps [paoli2002, acary2009].
//!
//! ```text
//!     M(q_k)(q_{k+1} − 2 q_k + q_{k−1}) = h² F(t_k, q_k, (q_{k+1} − q_{k−1})/2h) + h G(z) P_k                   (1)
//!     z = (q_{k+1} + e q_{k−1})/(1 + e),   0 ≤ g(z) ⊥ P_k ≥ 0;   bilateral: g(q_{k+1}) = 0                      (2)
//! ```
//!
//! Written as a two-step over q_k with the velocities w = (q_{k+1} − q_k)/h between grid points, so that P_k is an
//! impulse:
//!
//! ```text
//!     M(q_k)(w⁺ − w⁻) = h F(t_k, q_k, (w⁻ + w⁺)/2) + G(z) P_k,   q_{k+1} = retract(q_k, h w⁺)                    (3)
//!     z = retract(q_k, h (w⁺ − e w⁻)/(1 + e)),   at the time t_k + h (1 − e)/(1 + e)                           (4)
//! ```
//!
//! Bilateral reactions act along G(q_k) instead of G(z), which makes them the second-order SHAKE form of leapfrog
//! [ryckaert1977]. Each contact has its own e in (4), and a moving obstacle its own time. Damping is implicit, with A =
//! M + (h/2) C; forces are taken at q_k, so a spring of frequency ω needs h ω < 2 (leapfrog). Forces that are not
//! linear in v and gaps that are not linear in q are met by Newton's loop: G and g anew at each z, until |g| is small
//! on both sides of zero (`gap-tolerance`).
//!
//! Start: w⁻ = v₀ − (h/2) M⁻¹F₀, which makes the first free position q₀ + h v₀ + (h²/2) M⁻¹F₀, of second order. The
//! scheme remembers w from step to step; a step from another state, or of another length h, starts again from the
//! velocity of that state.
//!
//! Velocities: `centred` gives v(t_k) = (q_{k+1} − q_{k−1})/2h, of second order in smooth motion; it needs the position
//! one step ahead, which the next step then uses (one problem per step). An impact takes two of them and is seen in up
//! to three steps, over which its impulse is shared out as (P_k + P_{k+1})/2. `backward` gives (q_k − q_{k−1})/h, of
//! first order, which after the two steps of an impact is exactly −e times the last one before.
//!
//! Order 1 in positions (every norm) and in velocities (l1), 1/2 in l2, none in sup; order 2 in smooth motion.
//! Penetration is zero for e = 0 only, and of order h for e > 0 (q_{k+1} = −e q_{k−1} on the way out). Closed contacts
//! do not chatter. Energy is not bounded where elastic impacts meet stiff springs (1 J to 98 J with h ω about 0.1): a
//! run warns of it (`energy-gain`). No friction, no relays.
//!
//! | `w_before`, `w_after` (n) velocity between grid points [m/s] | `P` (m) impulse [N s] | `e` restitution [-] |

use super::{Claim, Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step, StepError, System};
use crate::balance::{Balance, GapLaw, GapLaws, Limits, Newton, Place};
use crate::model::Combination;
use crate::{Mechanical, State};
use carom_solve::options::positive;
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
    /// A gap that is closed by a reaction vanishes up to this value, on both sides; by default 1e-12 of the length of
    /// the model [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_tolerance: Option<f64>,
    /// Relative tolerance of Newton's loop on the impulse balance (3) [-].
    pub newton_tolerance: f64,
    /// Most Newton iterations in a two-step.
    pub newton_iterations: u32,
}

/// How velocities are formed from positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// From the positions one step before and one step ahead: second order in smooth motion.
    Centred,
    /// From this position and the one before: first order, shows the impact law exactly.
    Backward,
}

impl Default for SchatzmanPaoli {
    fn default() -> Self {
        SchatzmanPaoli {
            velocity: Difference::Centred,
            gap_tolerance: None,
            newton_tolerance: 1e-10,
            newton_iterations: 50,
        }
    }
}

impl Options for SchatzmanPaoli {
    fn validate(&self) -> Result<(), OptionError> {
        positive("gap-tolerance", self.gap_tolerance.unwrap_or(1.0))?;
        self.limits().validate()
    }
}

impl Registered for SchatzmanPaoli {}

/// (3) over one grid point.
#[derive(Default)]
struct TwoStep {
    from: State,                 // t_k, q_k, w⁻
    to: State,                   // t_{k+1}, q_{k+1}, w⁺
    impulses: Vec<(usize, f64)>, // P_k, by law
}

carom_solve::persist!(TwoStep { from, to, impulses });

impl TwoStep {
    /// Starts where another one ended, at time `t`.
    fn follow(&mut self, last: &TwoStep, t: f64) {
        self.from.copy_from(&last.to);
        self.from.t = t;
    }
}

/// The two-step from which the step that starts at `owner` goes on: over `owner` (centred), or to it (backward).
#[derive(Default)]
struct LastStep {
    last: TwoStep,
    owner: State,
    h: f64,     // step size; 0 where nothing is remembered
    share: f64, // part of its impulse that no step has told yet
}

carom_solve::persist!(LastStep { last, owner, h, share });

impl LastStep {
    fn new(initial: &State) -> LastStep {
        let last = TwoStep { from: initial.clone(), to: initial.clone(), impulses: Vec::new() };
        LastStep { last, owner: initial.clone(), h: 0.0, share: 0.0 }
    }

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

/// What a step leaves for the next one, and its buffers.
#[derive(Default)]
pub struct Work {
    here: LastStep,    // for steps from the state that is being left
    next: LastStep,    // for steps from the state that is being reached
    laws: GapLaws,     // gaps at z
    newton: Newton,    // (3)
    recalled: bool,    // whether the step went on from a two-step
    started: Vec<f64>, // (n) w⁻ of a start
    reactions: Box<Reactions>,
}

carom_solve::persist!(Work { here, next, laws, newton, recalled, started, reactions } skip {});

impl Scheme for SchatzmanPaoli {
    type Model = dyn Mechanical;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "schatzman-paoli",
        title: "Schatzman-Paoli scheme",
        order: Order { position: 1.0, velocity: 1.0, smooth: 2.0 },
        level: "position",
        projects: false,
        claims: &[Claim::PenetrationFirstOrder, Claim::Bilateral],
        citations: &["paoli2002", "acary2009", "ryckaert1977"],
        source: include_str!("schatzman_paoli.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let scheme = Self::INFO.name;
        let kind = (GapLaw::Restitution, self.gap_tolerance);
        let laws = GapLaws::new(scheme, kind, model, |reason, contact| SchemeError::Incapable {
            scheme,
            reason,
            contact: Some(contact),
        })?;
        let (newton, initial) = (Newton::new(model, BALANCE, self.limits()), model.initial());
        let (here, next) = (LastStep::new(&initial), LastStep::new(&initial));
        Ok(Work { here, next, laws, newton, started: initial.v, ..Work::default() })
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

        // 1 laws at the start; recall the two-step that belongs to `from`, or start from its velocity
        w.list(system.model, from)?;
        let known = Self::recall(w, from, h);
        w.recalled = known;
        w.next.h = 0.0;
        if !known {
            w.here.h = 0.0;
            step.evaluations += 1;
            Self::start(w, system.model, from, h)?;
        }
        to.t = from.t + h;
        match self.velocity {
            // 2 backward: over `from`
            Difference::Backward => {
                w.advance(system, from.t, h, &mut step)?;
                to.q.copy_from_slice(&w.next.last.to.q);
                to.v.copy_from_slice(&w.next.last.to.v);
                w.here.share = 0.0;
                w.next.keep(to, h, 1.0);
            }
            // 2 centred: over `from`, if that is not known, and over the state to be reached
            Difference::Centred => {
                if !known {
                    w.advance(system, from.t, h, &mut step)?;
                    std::mem::swap(&mut w.here, &mut w.next);
                    w.here.keep(from, h, 1.0);
                }
                w.advance(system, to.t, h, &mut step)?;
                let TwoStep { from: middle, to: after, .. } = &w.next.last;
                to.q.copy_from_slice(&middle.q);
                for (v, (a, b)) in to.v.iter_mut().zip(middle.v.iter().zip(&after.v)) {
                    *v = 0.5 * (a + b);
                }
                w.next.keep(to, h, 0.5);
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

    fn clear_guess(&self, w: &mut Work) {
        (w.here.h, w.next.h) = (0.0, 0.0);
        w.laws.forget();
    }

    fn drop_factors(&self, w: &mut Work) {
        w.newton.invalidate();
    }

    fn may_miss_contact(&self) -> Option<&'static str> {
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

/// (3): mass and force at q_k, with the mean velocity.
const BALANCE: Balance = Balance {
    mass: Place::START,
    start: 0.0,
    force: (1.0, Place { tau: 0.0, alpha: 0.0, beta: 0.0, gamma: 0.5, delta: 0.5 }),
    end: AHEAD,
    output: AHEAD,
    input: AHEAD,
};

/// q_{k+1} = retract(q_k, h w⁺).
const AHEAD: Place = Place { tau: 1.0, alpha: 0.0, beta: 1.0, gamma: 0.0, delta: 1.0 };

impl Work {
    /// Laws, gaps and velocities at the start of the step.
    fn list(&mut self, model: &mut dyn Mechanical, from: &State) -> Result<(), StepError> {
        if !self.laws.start(model, (from.t, &from.q), &mut self.reactions.coupling)? {
            // laws have other numbers than in what is remembered; those that are gone have told what they did
            let list = &self.laws.list;
            for last in [&mut self.here.last, &mut self.next.last] {
                last.impulses.retain_mut(|impulse| list.after(impulse.0).map(|i| impulse.0 = i).is_some());
            }
        }
        self.reactions.start(&from.v);
        Ok(())
    }

    /// Solves (3) with (2) over the end of `here`, at time `t`, into `next`.
    fn advance(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        t: f64,
        h: f64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let Work { here, next, laws, newton, .. } = self;
        next.last.follow(&here.last, t);
        let TwoStep { from, to, impulses } = &mut next.last;
        laws.begin();
        laws.place_base(system.model, t, &from.q)?;
        newton.begin(system.model, (from, to), h, step)?;
        newton.solve(laws, system, (from, to), step)?;
        impulses.clear();
        impulses.extend(laws.impulses().map(|(law, p)| (law, p.first().copied().unwrap_or(0.0))));
        Ok(())
    }
}

impl SchatzmanPaoli {
    fn limits(&self) -> Limits {
        Limits { tolerance: self.newton_tolerance, iterations: self.newton_iterations }
    }

    /// Brings the memory that belongs to `from` to `here`; a step that is tried again finds it there.
    fn recall(w: &mut Work, from: &State, h: f64) -> bool {
        if w.next.belongs_to(from, h) {
            std::mem::swap(&mut w.here, &mut w.next);
        }
        w.here.belongs_to(from, h)
    }

    /// The two-step that would have led to `from`: w⁻ = v − (h/2) M⁻¹F.
    fn start(w: &mut Work, model: &mut dyn Mechanical, from: &State, h: f64) -> Result<(), StepError> {
        w.newton.invalidate();
        model.factor(from, Combination::MASS)?;
        model.force(from.t, &from.q, &from.v, &mut w.started)?;
        model.solve(&mut w.started);
        for (w, v) in w.started.iter_mut().zip(&from.v) {
            *w = v - 0.5 * h * *w;
        }
        let last = &mut w.here.last.to;
        last.q.copy_from_slice(&from.q);
        last.v.copy_from_slice(&w.started);
        Ok(())
    }

    /// Shares the impulses of both two-steps out to this step, so that M (v⁺ − v) is the impulse of the forces and
    /// theirs.
    fn report(w: &mut Work, model: &mut dyn Mechanical, to: &State) -> Result<(), StepError> {
        for memory in [&w.here, &w.next] {
            for &(law, impulse) in &memory.last.impulses {
                w.reactions.add_impulse((law, &[impulse]), memory.share);
            }
        }
        w.laws.report(model, to, &mut w.reactions)
    }
}
