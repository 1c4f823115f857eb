//! Higher-order event capturing: Runge-Kutta methods between events that are located roughly, a velocity step across
//! each of them [acary2009].
//!
//! ```text
//!     smooth phase   M v̇ = F + B λ,  C v̇ + γ = 0 on closed contacts, by a Runge-Kutta method of order p            (1)
//!     location       the first change of sign of a gap, of λ_N, of μλ_N − |λ_T| or of a slip velocity, to δ = max(C h^{p+1}, floor)     (2)
//!     critical step  0 ≤ U⁺ + e U⁻ ⊥ P ≥ 0 over the bracket of a gap, with the contact forced and q⁺ on the wall      (3)
//!     closing        2U⁺/|a| ≤ `closing` δ: the next flight is not resolved, the contact stays closed if λ ≥ 0         (4)
//! ```
//!
//! Errors of size δ at finitely many events keep the global order p: in positions (l1, sup) and velocities (l1) on
//! trajectories with isolated impacts, accumulations that end in rest, and take-offs. `takeoff = "end-of-step"` shows
//! what is lost without (2) for λ_N: order 2. Events of one bracket are one impact problem; contacts open and close
//! independently. Accumulations end by (4). Redundant contacts stay as long as some reaction inside all cones holds
//! them. Where the contact problem has no solution the rest of a step is left to the Moreau-Jean scheme, and a
//! hundredth of it where changes of mode pile up without an impact; more than `max-events` events in a step are an
//! error.
//!
//! Where the stages of an implicit method do not converge, or an explicit method is not stable because the step reaches
//! more than 1.7 time constants of the fastest motion, the phase is followed in shorter parts. `herk-2` fails there: it
//! is not stable with shorter ones either.
//!
//! C is 1e-3/τ^p unless it is given, with the time τ since the motion began, or the one in which it goes as far as
//! its start is from the origin: δ has no units then, and an event at a given time keeps the order.
//!
//! The direction of a spatial slip turns ever faster as its speed vanishes: such a stop is approached by parts that
//! halve the speed, down to δ. It costs order where the slip turns until the end.
//!
//! Methods: `radau-iia-2|3` (p = 3, 5), `lobatto-iiia-2|3|4` (p = 2, 4, 6), implicit, with a dense Newton matrix of s·n
//! unknowns; `herk-2|3|4` (p = 2, 3, 4) and `hem5` (p = 5), half-explicit. Closed contacts slip or stick (planar and
//! spatial friction), with transitions located by (2); impacts with friction are one friction problem. Bilateral
//! constraints are held in (1) and projected at the end of each phase, positions and velocities, as closed contacts
//! are: no drift. γ is exact for models that differentiate their constraints twice; for models that do not, it is taken
//! by differences, which limits the accuracy to about 1e-8 where rows vary and closed contacts slide along them.
//!
//! | `delta` width of brackets [s] | `left`, `right` ends of a bracket | `phase` modes of the laws | `lambda` multipliers [N] |

use super::{
    Claim, EventKind, Events, MoreauJean, Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step,
    StepError, System, Variant, moreau_jean,
};
use crate::integrator::{Newton, Stages};
use crate::phase::{Acceleration, ModeChange, Resolution, StageLog, Transition};
use crate::{Mechanical, ModelError, Pair, State, Warnings};
use carom_solve::options::{at_least, at_least_one, fraction, positive};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod change;
mod cubic;
mod locate;
mod stall;

pub use crate::integrator::RungeKutta;
use locate::{PhaseEnd, Probe};
use stall::Stall;

/// The shortest part of a step to which a phase is cut where its stages do not converge or are not stable.
const SHORTEST: f64 = 1e-6;

/// By how much the next part may be longer than the last one that was short because stages did not converge.
const LONGER: f64 = 1.25;

/// Time constants of the fastest motion that an explicit method may reach.
const REACH: f64 = 1.7;

/// Beyond this Heun's method fails: it is never stable without damping, vibrations grow by y⁴/8 in a step that reaches
/// y.
const REACH_OF_HEUN: f64 = 1.0;

/// Part of a step that is left to another scheme where phases go nowhere.
const HAND_OVER: f64 = 1e-2;

/// Most unknowns of the implicit stages.
const UNKNOWNS: usize = 2000;

/// C τ^p, and the smallest δ as a part of the step.
const WIDTH: f64 = 1e-3;
const FLOOR: f64 = 1e-12;

/// Options of the higher-order event-capturing scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct HigherOrder {
    /// Runge-Kutta method of the smooth phases, by family and stages.
    pub method: RungeKutta,
    /// C of δ = max(C h^{p+1}, floor), the width to which events are located [s^-p]; by default 1e-3/τ^p, with the time
    /// τ that has passed at the end of the step, or in which the motion goes as far as its start is from the origin.
    pub c: Option<f64>,
    /// Smallest δ [s]; by default 1e-12 h.
    pub floor: Option<f64>,
    /// A flight shorter than this multiple of δ is not resolved: the contact closes [-].
    pub closing: f64,
    /// "located", or "end-of-step": contacts then open at the end of the step in which λ_N changes sign, at the cost of
    /// order 2.
    pub takeoff: Takeoff,
    /// Newton's loop of implicit stages ends when velocities change by less than this part of the largest [-].
    pub newton_tolerance: f64,
    /// Most Newton iterations in a Runge-Kutta step.
    pub newton_iterations: u32,
    /// Most events in a step; more are an error.
    pub max_events: u32,
}

/// Where a contact whose multiplier vanishes opens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Takeoff {
    /// Where the multiplier vanishes.
    #[default]
    Located,
    /// At the end of the step.
    EndOfStep,
}

impl Default for HigherOrder {
    fn default() -> Self {
        HigherOrder {
            method: RungeKutta::RadauIia3,
            c: None,
            floor: None,
            closing: 4.0,
            takeoff: Takeoff::Located,
            newton_tolerance: 1e-13,
            newton_iterations: 50,
            max_events: 1_000_000,
        }
    }
}

impl Options for HigherOrder {
    fn validate(&self) -> Result<(), OptionError> {
        at_least("c", self.c.unwrap_or(0.0), 0.0)?;
        positive("floor", self.floor.unwrap_or(1.0))?;
        at_least("closing", self.closing, 1.0)?;
        fraction("newton-tolerance", self.newton_tolerance)?;
        at_least_one("newton-iterations", self.newton_iterations)?;
        at_least_one("max-events", self.max_events)
    }
}

const fn order(method: RungeKutta) -> Order {
    let p = method.order() as f64;
    Order { position: p, velocity: p, smooth: p }
}

impl Registered for HigherOrder {
    const VARIANTS: &'static [Variant] = &[
        Variant { options: r#"{ "method": "radau-iia-2" }"#, order: order(RungeKutta::RadauIia2) },
        Variant { options: r#"{ "method": "radau-iia-3" }"#, order: order(RungeKutta::RadauIia3) },
        Variant { options: r#"{ "method": "lobatto-iiia-2" }"#, order: order(RungeKutta::LobattoIiia2) },
        Variant { options: r#"{ "method": "lobatto-iiia-3" }"#, order: order(RungeKutta::LobattoIiia3) },
        Variant { options: r#"{ "method": "lobatto-iiia-4" }"#, order: order(RungeKutta::LobattoIiia4) },
        Variant { options: r#"{ "method": "herk-2" }"#, order: order(RungeKutta::Herk2) },
        Variant { options: r#"{ "method": "herk-3" }"#, order: order(RungeKutta::Herk3) },
        Variant { options: r#"{ "method": "herk-4" }"#, order: order(RungeKutta::Herk4) },
        Variant { options: r#"{ "method": "hem5" }"#, order: order(RungeKutta::Hem5) },
    ];
}

/// Buffers of a step.
pub struct Work {
    stages: Stages,         // (1)
    log: StageLog,          // what the reactions did at the stages
    transition: Transition, // modes of the laws now, v̇ and λ, (3), and which contacts stay closed
    state: State,           // where the step has come to
    left: Probe,            // start of a phase, then left end of a bracket
    right: Probe,           // end of the interval, then right end of a bracket
    trial: Probe,           // a trial step
    lengths: Vec<f64>,      // trial steps of a scan
    end: State,             // end of the last step
    is_known: bool,         // whether the phase goes on from it
    watches: bool,          // whether a contact is closed, so that multipliers are watched
    since: Option<f64>,     // time at which the motion began
    natural: f64,           // time in which it goes as far as its start is from the origin, or zero
    delta: f64,
    part: f64,          // longest part of a phase whose stages converge, where that was met
    shortest: f64,      // part of a phase
    reach: Option<f64>, // of an explicit method
    takeoff: Takeoff,
    rest: Box<moreau_jean::Work>, // for the rest of a step whose contact problem has no solution
}

carom_solve::persist!(Work {
    stages, log, transition, state, left, right, trial, lengths, end, is_known, watches, since, natural, delta,
    part, shortest, reach, rest,
} skip { takeoff });

impl Scheme for HigherOrder {
    type Model = dyn Mechanical;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "higher-order",
        title: "higher-order event capturing",
        order: order(RungeKutta::RadauIia3),
        level: "acceleration",
        projects: false,
        claims: &[Claim::PenetrationFirstOrder, Claim::Friction, Claim::VaryingFriction, Claim::Bilateral],
        citations: &["acary2009"],
        source: include_str!("mod.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let initial = model.initial();
        let transition = Transition::new(model, true)?;
        let coupling = &transition.account.reactions.coupling;
        let refuse = |reason, contact| Err(SchemeError::Incapable { scheme: Self::INFO.name, reason, contact });
        if let Some(pair) =
            coupling.pairs.iter().find(|pair| pair.law.is_relay() || pair.law.shape() == carom_solve::Shape::General)
        {
            let contact = Some(model.labels().contact(pair.key));
            return refuse(
                "has phases for Coulomb friction alone, not for relays, rolling or adhesion; take the scheme `moreau-jean`",
                contact,
            );
        }
        let tableau = self.method.tableau();
        if !tableau.explicit && tableau.stages() * model.dim() > UNKNOWNS {
            let reason = "solves implicit stages by dense matrices, too large for this model; take a `herk` method";
            return refuse(reason, None);
        }
        let heun = self.method == RungeKutta::Herk2;
        let reach = tableau.explicit.then_some(if heun { REACH_OF_HEUN } else { REACH });
        let newton = Newton { tolerance: self.newton_tolerance, iterations: self.newton_iterations };
        let probe = Probe::new(&initial, coupling);
        Ok(Work {
            stages: Stages::new(tableau, newton, initial.clone()),
            log: StageLog::new(model),
            transition,
            state: initial.clone(),
            left: probe.clone(),
            right: probe.clone(),
            trial: probe,
            lengths: Vec::new(),
            end: initial,
            is_known: false,
            watches: false,
            since: None,
            natural: 0.0,
            delta: 0.0,
            part: f64::INFINITY,
            shortest: 0.0,
            reach,
            takeoff: self.takeoff,
            rest: Box::new(MoreauJean::default().workspace(model)?),
        })
    }

    fn step(
        &self,
        w: &mut Work,
        mut system: System<'_, Self::Model>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError> {
        // 1 start: laws, gaps and velocities; impacts of contacts that touch; the phase
        self.start(w, &mut system, from, h)?;
        let (mut left, mut events, mut stall) = (h, 0, Stall::default());
        let mut done = w.enter(&mut system);
        let mut step = Step { advanced: h, ..Step::default() };
        loop {
            match done {
                Ok(()) if left <= 4.0 * f64::EPSILON * h => break,
                Ok(()) if events > self.max_events => {
                    let contact = w.transition.events.iter().rev().find_map(|event| event.contact);
                    return Err(StepError::Events { limit: self.max_events, h, contact });
                }
                Ok(()) => {}
                // a contact problem without solution: the Moreau-Jean scheme does the rest
                Err(StepError::Solve { .. }) => {
                    w.hand_over(&mut system, from.t + h, &mut step)?;
                    break;
                }
                Err(error) => return Err(error),
            }
            // changes of mode that go nowhere: it does a part
            if stall.is_stuck(w.transition.marks.len()) {
                let part = left.min(HAND_OVER * h);
                w.hand_over(&mut system, w.state.t + part, &mut step)?;
                (left, stall) = (left - part, Stall::default());
                done = w.enter(&mut system);
                continue;
            }
            // 2 smooth motion over the rest of the step, or up to the first event; 3 impact or change of mode, the next
            // phase
            events += 1;
            let (known, version, rest) = (w.transition.events.len(), w.transition.phase.version(), left);
            done = w.advance(&mut system, &mut left);
            if w.transition.phase.version() != version || left == rest {
                let is_impact = w.transition.events.iter().skip(known).any(|event| event.kind == EventKind::Impact);
                stall.see(w.state.t, h, is_impact);
            }
        }
        // 4 end: on the constraints of the last phase
        to.copy_from(&w.state);
        to.t = from.t + h;
        w.end.copy_from(to);
        w.transition.account.conclude(&w.transition.acceleration.coupling, &w.state.v);
        step.worst = step.worst.worse(w.transition.worst);
        step.solves += w.transition.solves;
        step.evaluations += w.transition.acceleration.evaluations;
        step.iterations += w.stages.iterations;
        if to.is_finite() { Ok(step) } else { Err(StepError::NotFinite) }
    }

    fn clear_guess(&self, w: &mut Work) {
        (w.is_known, w.since, w.part) = (false, None, f64::INFINITY);
        w.transition.acceleration.sizes.forget();
        w.stages.forget();
    }

    fn drop_factors(&self, w: &mut Work) {
        w.transition.acceleration.invalidate();
    }

    fn contacts_changed(&self, w: &mut Work) {
        MoreauJean::default().contacts_changed(&mut w.rest);
    }

    fn order(&self) -> Order {
        order(self.method)
    }

    fn warnings<'w>(&self, work: &'w Work) -> Option<&'w Warnings> {
        Some(&work.transition.warnings)
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.transition.account.reactions
    }

    fn events<'w>(&self, work: &'w Work) -> &'w Events {
        &work.transition.events
    }
}

impl HigherOrder {
    /// Coupling and relative velocities at the start, and the width of brackets.
    fn start(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        from: &State,
        h: f64,
    ) -> Result<(), StepError> {
        w.transition.start(system.model, false, from)?;
        w.state.copy_from(from);
        w.shortest = SHORTEST * h;
        if w.since.is_none_or(|since| since > from.t) {
            w.since = Some(from.t);
        }
        (w.transition.acceleration.evaluations, w.stages.iterations) = (0, 0);
        w.meet(system.model, h)?;
        let tau = w.natural.max(from.t + h - w.since.unwrap_or(from.t));
        let p = self.method.order() as i32;
        let width = self.c.map_or_else(|| WIDTH * h * (h / tau).powi(p), |c| c * h.powi(p + 1));
        w.delta = width.min(0.25 * h).max(self.floor.unwrap_or(FLOOR * h));
        let flight = self.closing * w.delta;
        w.transition.resolution = Resolution { flight, speed: Some(0.0), gap: Some(0.0), rise: 4.0, slip: 0.0 };
        Ok(())
    }
}

/// Whether a shorter part may do what this one did not: iterates and stages may have gone where the model is not
/// defined.
fn asks_for_less(error: &StepError) -> bool {
    match error {
        StepError::Newton { .. } | StepError::NotFinite => true,
        StepError::Unstable { limit, .. } => *limit == REACH,
        StepError::Model(error) => !matches!(**error, ModelError::Callback(_)),
        _ => false,
    }
}

impl Work {
    /// Meets the start of a step; that of the first one with its forces.
    fn meet(&mut self, model: &mut dyn Mechanical, h: f64) -> Result<(), StepError> {
        let acceleration = &mut self.transition.acceleration;
        if acceleration.sizes.time == 0.0 {
            acceleration.free_motion(model, (self.state.t, &self.state.q, &self.state.v))?;
            let Acceleration { sizes, free, .. } = acceleration;
            sizes.meet(model, &self.state, (free, h), h);
            self.natural = sizes.natural_time(&self.state.v, free);
        } else {
            acceleration.sizes.meet(model, &self.state, (&[], h), h);
        }
        Ok(())
    }

    /// One phase, or a part of it, and the change that ends it.
    fn advance(&mut self, system: &mut System<'_, dyn Mechanical>, left: &mut f64) -> Result<(), StepError> {
        let coupling = &self.transition.acceleration.coupling;
        let closed = |(i, pair): (usize, &Pair)| !pair.law.is_equality() && self.transition.phase.mode(i).is_closed();
        self.watches = coupling.pairs.iter().enumerate().any(closed);
        let Some(reach) = self.transition.reach(system, &self.state, *left)? else {
            return self.transition.stop(system, &mut self.state);
        };
        let mut length = reach.length.min(self.part);
        let mut outcome = self.follow(system, length);
        // stages that do not converge, or are not stable, ask for a shorter part of the phase
        while outcome.as_ref().is_err_and(asks_for_less) && 0.5 * length >= self.shortest {
            length *= 0.5;
            self.part = length;
            outcome = self.follow(system, length);
        }
        if length == self.part {
            self.part *= LONGER;
        }
        match outcome? {
            PhaseEnd::Smooth => {
                *left = if length < *left { *left - length } else { 0.0 };
                std::mem::swap(&mut self.left, &mut self.right);
                self.arrive(system)?;
                // a contact that was not let go although it wanted to is asked again at the start of the next step
                self.is_known = !self.left.monitors.iter().any(|m| m.change == ModeChange::TakeOff && m.value < 0.0);
                Ok(())
            }
            PhaseEnd::Event => {
                *left -= self.right.u;
                let changed = self.change(system);
                self.is_known = changed.is_ok();
                changed
            }
        }
    }

    /// A part of a step, up to the time `end`, by the Moreau-Jean scheme.
    fn hand_over(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        end: f64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let scheme = MoreauJean::default();
        let left = end - self.state.t;
        self.is_known = false;
        if left <= 0.0 {
            return Ok(());
        }
        scheme.drop_factors(&mut self.rest);
        self.transition.acceleration.invalidate();
        let again = System { model: &mut *system.model, solver: &mut *system.solver };
        let part = scheme.step(&mut self.rest, again, &self.state, left, &mut self.right.state)?;
        step.worst = step.worst.worse(part.worst);
        step.solves += part.solves;
        step.evaluations += part.evaluations;
        step.iterations += part.iterations;
        let state = &self.right.state;
        self.transition.events.push(EventKind::HandOver, None, &self.state, state);
        self.state.copy_from(state);
        self.transition.account.part(scheme.reactions(&self.rest), self.state.t)?;
        Ok(self.transition.couple(system.model, &self.state)?)
    }
}
