//! Event-driven integration: smooth phases to a tolerance, events located to rounding [brasey1994, acary2008].
//!
//! ```text
//!     index sets     I₁ = {closed gaps},  I₂ = {i in I₁ : |U| ≤ veps, kept by (4)}                                     (1)
//!     smooth phase   M v̇ = F + B λ with U = C v + ∂y/∂t = 0 on I₂: HEM5, or Fehlberg's pair on C v̇ + γ = 0              (2)
//!     impact         U⁺ = U⁻ + W P,   0 ≤ U⁺ + e U⁻ ⊥ P ≥ 0 over I₁ at once; with friction one friction problem         (3)
//!     contact        0 ≤ C M⁻¹F + γ + W λ ⊥ λ ≥ 0 over those with |U⁺| ≤ veps: those with λ > 0 are the next I₂          (4)
//! ```
//!
//! A step goes on with the error below the tolerance or up to the first event: a gap closes, a multiplier λ_N vanishes, a slip begins, ends
//! or turns, the region of a contact ends. Events are looked for on a quintic dense output and then located on the flow itself, so that the
//! state at an event has the accuracy of the flow. Orders hold for `control = "fixed"`; otherwise the tolerances tell the error.
//!
//! Accumulations end when U⁺ ≤ `veps`, or when the next flight would not rise above the rounding of its gap: the error of the time of rest is
//! of the order of veps/(1 − e). Redundant contacts are solved by minimum rank, and who leaves is decided by (4). Where regions of contacts meet,
//! where redundant contacts contradict each other within a step, and where contacts close with dependent rows, `edge` chooses the problem that
//! decides which ones carry. Where (4) has no solution while a contact slips (Painlevé), it is stopped by an impulse without a collision.
//! Events that pile up without time between them are made plastic; more than `max-events` of them within a step of the driver, and phases
//! that cannot go on, are left to the Moreau-Jean scheme for `hand-over-step`. A gap that was passed unseen is an error, never a result, and
//! so is a region that begins inside an obstacle.
//!
//! | `start`, `end` ends of the smooth part | `phase` modes of the laws (I₂) | `dense` the motion between | `crowd` counts of events |

use super::{
    Accuracy, AnyModel, Claim, Events, LocalError, MoreauJean, Order, Reactions, Registered, Scheme, SchemeError,
    SchemeInfo, Step, StepError, System, Variant, moreau_jean,
};
use crate::flow::{
    Acceleration, Hem5, Hermite, Newton, OrderFour, Phase, Resolution, Stages, Tableau, Transition, Watch,
};
use crate::{Key, Mechanical, State};
use carom_solve::{Certificate, Law};

mod control;
mod crowd;
mod land;
mod options;
mod point;
mod search;
mod step;

use control::Judgement;
use crowd::Crowd;
pub use options::{Control, Dense, EdgeMethod, EventDriven, Flow, Propagate};
use point::Point;

const FIFTH: Order = Order { position: 5.0, velocity: 5.0, smooth: 5.0 };
const FOURTH: Order = Order { position: 4.0, velocity: 4.0, smooth: 4.0 };

impl Registered for EventDriven {
    const MEASURED: &'static str = r#"{ "control": "fixed" }"#;
    const VARIANTS: &'static [Variant] = &[
        Variant { options: r#"{ "control": "fixed", "flow": "rkf45", "propagate": "y4" }"#, order: FOURTH },
        Variant { options: r#"{ "control": "fixed", "flow": "rkf45", "propagate": "y5" }"#, order: FIFTH },
    ];

    fn take(model: AnyModel) -> Result<Box<dyn Mechanical>, SchemeError> {
        super::mechanical(model, Self::INFO.name)
    }
}

/// Buffers of a step.
pub struct Work {
    acceleration: Acceleration, // (2) at one point, with multipliers and monitors
    hem5: Hem5,
    fehlberg: Option<Box<Stages>>,
    transition: Transition, // modes of the laws, (3), (4), reactions and events
    start: Point,           // where the smooth part starts
    end: Point,             // where it ends, or the last trial
    middle: Point,          // a sample between
    left: Point,            // ends of a bracket
    right: Point,
    dense: Hermite,
    fourth: OrderFour,          // for `dense = "order-4"`
    flagged: Vec<(Key, Watch)>, // what happens at `end`
    state: State,               // at the end, after the event
    origin: State,              // where the last step started, and the phase there
    begun: Phase,
    last: State, // where it ended, and the phase there
    ended: Phase,
    is_known: bool,      // whether the phase goes on from `last`
    is_repeatable: bool, // whether `start` and `begun` belong to `origin`
    is_continuous: bool, // whether `end` is the start of the next step
    next: Option<f64>,   // step proposed
    may_grow: bool,
    span: f64,  // the step that the driver asks for
    touch: f64, // gaps up to this value touch
    crowd: Crowd,
    impulse: Vec<f64>, // (rows) of the smooth part
    work: Vec<f64>,
    driven: Vec<f64>,
    rejected: u32,
    judged: Judgement,            // of the last trial
    is_lost: bool,                // whether another scheme did the step
    is_parting: bool,             // whether the last trial met redundant contacts that part
    rest: Box<moreau_jean::Work>, // for hand-overs
}

impl Work {
    /// Modes of the laws during the last step and after it.
    pub(crate) fn phases(&self) -> (&Phase, &Phase) {
        (&self.begun, &self.ended)
    }
}

impl Scheme for EventDriven {
    type Model = dyn Mechanical;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "event-driven",
        title: "event-driven integration",
        order: FIFTH,
        level: "acceleration",
        claims: &[Claim::ConservesEnergyElastic, Claim::NoPenetration, Claim::Friction, Claim::Bilateral],
        citations: &["brasey1994", "acary2008"],
        source: include_str!("mod.rs"),
    };

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let initial = model.initial();
        let mut transition = Transition::new(model, false)?;
        transition.sorting = self.sorting(false);
        let coupling = &transition.booking.reactions.coupling;
        if let Some(pair) = coupling.pairs.iter().find(|pair| matches!(pair.law, Law::Box { .. })) {
            return Err(SchemeError::Incapable {
                scheme: Self::INFO.name,
                reason: "has no phases for relays and bounded multipliers; take the scheme `moreau-jean`",
                contact: Some(model.labels().contact(pair.key)),
            });
        }
        let newton = Newton { tolerance: 1e-13, iterations: 1 };
        let fehlberg = (self.flow == Flow::Rkf45).then(|| {
            let tableau = Tableau::fehlberg(if self.propagate == Propagate::Y5 { 5 } else { 4 });
            Box::new(Stages::of(tableau, newton, model))
        });
        let point = || Point::new(&initial, &transition.booking.reactions.coupling);
        Ok(Work {
            acceleration: Acceleration::new(model),
            hem5: Hem5::new(model),
            fehlberg,
            begun: transition.phase.clone(),
            ended: transition.phase.clone(),
            start: point(),
            end: point(),
            middle: point(),
            left: point(),
            right: point(),
            transition,
            dense: Hermite::default(),
            fourth: OrderFour::default(),
            flagged: Vec::new(),
            state: initial.clone(),
            origin: initial.clone(),
            last: initial,
            is_known: false,
            is_repeatable: false,
            is_continuous: false,
            next: None,
            may_grow: true,
            span: 0.0,
            touch: 0.0,
            crowd: Crowd::default(),
            impulse: Vec::new(),
            work: Vec::new(),
            driven: Vec::new(),
            rejected: 0,
            judged: Judgement { accepted: true, factor: 1.0, error: 0.0 },
            is_lost: false,
            is_parting: false,
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
        w.reset(&mut system, from)?;
        let advanced = if w.crowd.is_full() {
            Err(None)
        } else {
            // 2 smooth motion to the tolerance, or up to the first event; 3 the event and the phase after it
            let begun = self.begin(w, &mut system, from, h);
            let moved = begun.and_then(|()| self.motion(w, &mut system, h));
            moved.map_err(Some)
        };
        let mut step = Step::default();
        step.advanced = match advanced {
            Ok(advanced) => advanced,
            // events have piled up, or the phase cannot go on: the Moreau-Jean scheme does a part
            Err(error) => self.hand_over(w, &mut system, (from, h), error, &mut step)?,
        };
        if self.control != Control::Fixed {
            step.error = Some(LocalError { value: w.judged.error.min(1.0), order: 4 });
        }
        // 4 end
        to.copy_from(&w.state);
        to.t = from.t + step.advanced;
        w.remember(from, to);
        w.transition.booking.conclude(&w.acceleration.coupling, &to.v);
        step.worst = step.worst.worse(w.transition.worst);
        step.solves += w.transition.solves;
        step.evaluations += w.acceleration.evaluations;
        if let Some(stages) = &w.fehlberg {
            step.evaluations += stages.acceleration.evaluations;
        }
        step.iterations += w.rejected;
        if to.is_finite() { Ok(step) } else { Err(StepError::NotFinite) }
    }

    fn forget(&self, w: &mut Work) {
        (w.is_known, w.is_repeatable) = (false, false);
        (w.next, w.may_grow) = (None, true);
        w.crowd = Crowd::default();
        w.acceleration.unpin();
    }

    fn invalidate(&self, w: &mut Work) {
        w.invalidate();
    }

    fn order(&self) -> Order {
        if self.flow == Flow::Rkf45 && self.propagate == Propagate::Y4 { FOURTH } else { FIFTH }
    }

    fn controlled(&self, accuracy: &Accuracy) -> Option<Self> {
        let control = if self.control == Control::Fixed { Control::Eps } else { self.control };
        Some(EventDriven { atol: accuracy.tolerance, rtol: accuracy.relative, control, ..self.clone() })
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.transition.booking.reactions
    }

    fn events<'w>(&self, work: &'w Work) -> &'w Events {
        &work.transition.events
    }

    fn is_dense(&self, w: &Work) -> bool {
        w.dense.is_filled() || w.fourth.is_filled()
    }

    fn interpolate(&self, w: &mut Work, model: &mut Self::Model, ends: (&State, &State), s: f64, out: &mut State) {
        // at the end the state before the event
        let s = s.min(1.0);
        if s <= 0.0 {
            return out.copy_from(ends.0);
        }
        if w.fourth.is_filled() && w.fourth.at(model, s, out).is_ok() {
            return;
        }
        if w.dense.is_filled() {
            w.dense.at(model, s, out);
        } else {
            super::interpolate(model, ends, s, false, out);
        }
    }
}
