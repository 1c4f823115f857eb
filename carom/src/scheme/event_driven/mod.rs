//! Event-driven integration: smooth phases to a tolerance, events located to rounding [brasey1994, acary2008].
//!
//! ```text
//!     index sets     I₁ = {closed gaps},  I₂ = {i in I₁ : |U| ≤ veps, kept by (4)}                                     (1)
//!     smooth phase   M v̇ = F + B λ with U = C v + ∂y/∂t = 0 on I₂: HEM5, or Fehlberg's pair on C v̇ + γ = 0              (2)
//!                    M v̇ = F where I₂ is empty: also Dormand and Prince's pair of order 8
//!     impact         U⁺ = U⁻ + W P,   0 ≤ U⁺ + e U⁻ ⊥ P ≥ 0 over I₁ at once; with friction one friction problem         (3)
//!     contact        0 ≤ C M⁻¹F + γ + W λ ⊥ λ ≥ 0 over those with |U⁺| ≤ veps: those with λ > 0 are the next I₂          (4)
//! ```
//!
//! (3) is Newton's law, one of those that a simulation may choose (`impacts`); the others tell P in its place.
//!
//! A step goes on with the error below the tolerance or up to the first event: a gap closes, a multiplier λ_N vanishes,
//! a slip begins, ends or turns, the region of a contact ends. Events are looked for on a dense output, quintic or of
//! order 7, and then located on the flow itself, so that the state at an event has the accuracy of the flow. Orders
//! hold for `control = "fixed"`; otherwise the tolerances tell the error.
//!
//! Friction across a slow slip in space is stiff: it turns the slip into the direction in which it is accelerated at
//! the rate μ λ_N w/|u|. Where a step spans more than 30 of these times the phase goes on by Radau's method of order 5
//! [hairer1996], each step once and in halves, which tells its error. The directions of friction at its stages are
//! unknowns beside the accelerations: a slip that begins has no velocity that tells its direction. A slip that turns
//! while it stops, at less than 10 `rtol` of the velocities behind it, is at rest, and the contact problem says where
//! it goes on.
//!
//! Accumulations end when U⁺ ≤ `veps`, or when the next flight would not rise above the rounding of its gap: the
//! contact closes earlier than in truth by about veps/(1 − e), and the limit of the series of impacts is told besides.
//! Redundant contacts stay as long as some reaction inside all cones holds them; who leaves is decided by (4). Where
//! regions of contacts meet, where redundant contacts contradict each other within a step, and where contacts close
//! with dependent rows, `edge` chooses the problem that decides which ones carry. Where (4) has no solution while a
//! contact slips (Painlevé), it is stopped by an impulse without a collision. Events that pile up without time between
//! them are made plastic; where that does not help, and where phases cannot go on, the Moreau-Jean scheme does a part
//! of `hand-over-step`, or a shorter one where its Newton's loop fails. More than `max-events` events within a step of
//! the driver are an error. A gap that was passed unseen is an error, never a result, and so is a region that begins
//! inside an obstacle.
//!
//! Tolerances that are not given have no units: they are parts of the largest coordinates and velocities that the run
//! has met (`atol`, `veps`, `drift-limit`) and of the longest step that was asked for (`h-min`, `hand-over-step`), so
//! that the same model in other units has the same motion. Those that are given are numbers in the units of the model.
//! `control = "epus"` counts the error per unit of time where `atol` is given, else per step that was asked for.
//!
//! `flow = "dop853"` integrates free flights by Dormand and Prince's pair [hairer1993], and phases with closed contacts
//! or bilateral constraints by HEM5; each takes up its last step again where the phase changes. Evaluations of forces
//! per period of an oscillator in free motion, with the error after ten periods, and for 13 impacts of one that strikes
//! its wall, with the largest error of their times and speeds:
//!
//! | tolerance | `hem5` | `rkf45` | `dop853` | 13 impacts: `hem5` | `rkf45` | `dop853` |
//! |---|---|---|---|---|---|---|
//! | 1e-3 | 124, 4e-4 | 45, 5e-2 | 33, 9e-3 | 1246, 4e-4 | 699, 5e-2 | 909, 6e-3 |
//! | 1e-6 | 640, 1e-7 | 179, 6e-5 | 72, 1e-5 | 5059, 1e-7 | 1645, 6e-5 | 985, 4e-6 |
//! | 1e-9 | 3016, 5e-11 | 712, 5e-8 | 163, 1e-8 | 22518, 5e-11 | 5691, 5e-8 | 1465, 2e-9 |
//! | 1e-12 | 12820, 4e-14 | 2833, 5e-11 | 381, 1e-11 | 95011, 4e-14 | 21823, 5e-11 | 2856, 3e-12 |
//!
//! Take it where flights last several steps, at any tolerance: at equal error it needs from three quarters (errors of
//! 1e-5) to a fifth or less (1e-11) of the evaluations of HEM5, whose error is far below its tolerance. Where one step
//! spans a whole flight, as with constant forces, `hem5` is cheaper (18 evaluations per impact of the ball against 25),
//! and stays the default.
//!
//! | `start`, `end` ends of the smooth part | `phase` modes of the laws (I₂) | `smooth` methods and the motion between | `memory` of the last step |

use super::{
    Accuracy, Claim, Events, LocalError, MoreauJean, Motion, Order, Reactions, Registered, Scheme, SchemeError,
    SchemeInfo, Step, StepError, System, Variant, moreau_jean,
};
use crate::phase::{Phase, Resolution, Transition};
use crate::{ImpactLaw, Mechanical, State, Warnings};
use carom_solve::{OptionError, Options};

mod control;
mod count;
mod gaps;
mod locate;
mod memory;
mod monitors;
mod options;
mod point;
mod search;
mod smooth;
mod steered;
mod step;

use memory::Memory;
pub use options::{Control, Dense, Drift, EdgeMethod, EventDriven, Flow, Propagate};
use point::Trial;
use smooth::Smooth;
use step::Done;

const FIFTH: Order = Order { position: 5.0, velocity: 5.0, smooth: 5.0 };
const FOURTH: Order = Order { position: 4.0, velocity: 4.0, smooth: 4.0 };
const EIGHTH: Order = Order { position: 8.0, velocity: 8.0, smooth: 8.0 };

impl Registered for EventDriven {
    const MEASURED: &'static str = r#"{ "control": "fixed" }"#;
    const VARIANTS: &'static [Variant] = &[
        Variant { options: r#"{ "control": "fixed", "flow": "rkf45", "propagate": "y4" }"#, order: FOURTH },
        Variant { options: r#"{ "control": "fixed", "flow": "rkf45", "propagate": "y5" }"#, order: FIFTH },
        Variant { options: r#"{ "control": "fixed", "flow": "dop853" }"#, order: EIGHTH },
    ];
}

/// Buffers of a step.
pub struct Work {
    smooth: Smooth,               // methods of smooth motion, and the motion inside the last step
    transition: Transition,       // modes of the laws, (3), (4), reactions and events
    trial: Trial,                 // the step that is tried: points of it, and how it is judged
    memory: Memory,               // what is remembered of the last step
    sums: Sums,                   // what the reactions did over the smooth part
    state: State,                 // at the end, after the event
    rest: Box<moreau_jean::Work>, // for parts that another scheme does
}

carom_solve::persist!(Work { smooth, transition, trial, memory, sums, state, rest } skip {});

/// (rows) Impulses [N s], work [J], and the part of the obstacles' own motion in it, over the smooth part of a step.
#[derive(Default)]
struct Sums {
    impulse: Vec<f64>,
    work: Vec<f64>,
    driven: Vec<f64>,
}

carom_solve::persist!(Sums { impulse, work, driven });

impl Work {
    /// Modes of the laws during the last step and after it.
    pub(crate) fn phases(&self) -> (&Phase, &Phase) {
        (&self.memory.begun, &self.memory.ended)
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
        projects: false,
        claims: &[
            Claim::ConservesEnergyElastic,
            Claim::NoPenetration,
            Claim::Friction,
            Claim::VaryingFriction,
            Claim::ImpactLaws,
            Claim::Rebounds,
            Claim::Bilateral,
        ],
        citations: &["brasey1994", "acary2008", "hairer1993", "hairer1996"],
        source: include_str!("mod.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let initial = model.initial();
        let transition = Transition::new(model, false)?;
        let coupling = &transition.account.reactions.coupling;
        if let Some(pair) =
            coupling.pairs.iter().find(|pair| pair.law.is_relay() || pair.law.shape() == carom_solve::Shape::General)
        {
            return Err(SchemeError::Incapable {
                scheme: Self::INFO.name,
                reason: "has phases for Coulomb friction alone, not for relays, rolling or adhesion; take the scheme `moreau-jean`",
                contact: Some(model.labels().contact(pair.key)),
            });
        }
        Ok(Work {
            smooth: Smooth::new(self, model),
            trial: Trial::new(&initial, coupling),
            memory: Memory::new(&transition.phase, initial.clone()),
            transition,
            sums: Sums::default(),
            state: initial,
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
        if w.memory.count.is_full() {
            let contact = w.transition.events.iter().rev().find_map(|event| event.contact);
            return Err(StepError::Events { limit: self.max_events, h, contact });
        }
        // 1 start: laws, gaps and velocities; impacts of contacts that touch; the phase
        w.reset(&mut system, from)?;
        let done = if w.memory.count.is_stuck() {
            Err(None)
        } else {
            // 2 smooth motion to the tolerance, or up to the first event; 3 the event and the phase after it
            let begun = self.begin(w, &mut system, from, h);
            begun.and_then(|()| self.motion(w, &mut system, h)).map_err(Some)
        };
        let mut step = Step::default();
        match done {
            Ok(Done { advanced, is_continuous }) => {
                step.advanced = advanced;
                to.copy_from(&w.state);
                to.t = from.t + advanced;
                w.memory.end(to, &w.transition.phase, is_continuous);
            }
            // events have piled up, or the phase cannot go on: the Moreau-Jean scheme does a part
            Err(error) => {
                step.advanced = self.hand_over(w, &mut system, (from, h), error, &mut step)?;
                to.copy_from(&w.state);
                to.t = from.t + step.advanced;
            }
        }
        if self.control != Control::Fixed {
            let order = if w.smooth.is_flight() { 7 } else { 4 };
            step.error = Some(LocalError { value: w.trial.judged.error.min(1.0), order });
        }
        // 4 end
        w.transition.account.conclude(&w.transition.acceleration.coupling, &to.v);
        step.worst = step.worst.worse(w.transition.worst);
        step.solves += w.transition.solves;
        // those of a step that failed, and of a dense output that was asked for later, count for the next step
        step.evaluations += w.smooth.take_evaluations() + std::mem::take(&mut w.transition.acceleration.evaluations);
        step.rejected = w.trial.rejected;
        if to.is_finite() { Ok(step) } else { Err(StepError::NotFinite) }
    }

    fn clear_guess(&self, w: &mut Work) {
        w.memory.forget();
        w.transition.acceleration.sizes.forget();
        w.trial.watched.suspect = None;
        w.transition.acceleration.release_regions();
    }

    fn set_impact_law(&self, w: &mut Work, law: ImpactLaw) -> bool {
        w.transition.contact.impacts.law = law;
        MoreauJean::default().set_impact_law(&mut w.rest, law)
    }

    fn contacts_changed(&self, w: &mut Work) {
        MoreauJean::default().contacts_changed(&mut w.rest);
    }

    fn drop_factors(&self, w: &mut Work) {
        w.invalidate();
    }

    fn order(&self) -> Order {
        match self.flow {
            Flow::Rkf45 if self.propagate == Propagate::Y4 => FOURTH,
            Flow::Rkf45 | Flow::Hem5 => FIFTH,
            Flow::Dop853 => EIGHTH,
        }
    }

    fn controlled(&self, accuracy: &Accuracy) -> Option<Self> {
        let control = if self.control == Control::Fixed { Control::Eps } else { self.control };
        let h_min = accuracy.smallest.or(self.h_min).map(|h| h.min(self.h_max.unwrap_or(f64::MAX)));
        let (atol, rtol) = accuracy.tolerances();
        Some(EventDriven { atol, rtol, control, h_min, ..self.clone() })
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

    fn motion(&self) -> Motion {
        Motion::Dense
    }

    fn is_dense(&self, w: &Work) -> bool {
        w.smooth.is_dense()
    }

    fn interpolate(&self, w: &mut Work, model: &mut Self::Model, ends: (&State, &State), s: f64, out: &mut State) {
        // at the end the state before the event
        let s = s.min(1.0);
        if s <= 0.0 {
            return out.copy_from(ends.0);
        }
        if !w.smooth.at(model, (&w.memory.begun, &mut w.transition.acceleration), s, out) {
            super::interpolate(model, ends, s, false, out);
        }
    }
}
