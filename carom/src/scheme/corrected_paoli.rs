//! Corrected Paoli-Schatzman scheme: Crank-Nicolson flight, impacts at the root of a quadratic [nqi2016, paoli2002].
//!
//! ```text
//!     M(q_m)(v̂ − v) = (h/2)[F(t, q, v) + F(t+h, q̂, v̂)] + B P,   q̂ = retract(q, (h/2)(v + v̂)),   q_m half way  (1)
//!     held contacts, bilateral constraints: 0 ≤ C(q̂) v̂ ⊥ P ≥ 0 (Coulomb's law with friction), or C(q̂) v̂ = 0    (2)
//!     φ(s) = g + s U + s² c/2,   c = 2 (ĝ − g − h U)/h²             consistent: φ(h) = ĝ                           (3)
//!     φ(s) = g + s w + s² c/2,   w = (ĝ − g)/h,  c = (Û − U)/h      printed                                        (4)
//! ```
//!
//! g and U are gap and normal velocity at the start, ĝ and Û those at the end of the flight (1). If no gap is negative
//! there, the step is the flight. Otherwise the smallest root s of all φ ends the step: `advanced = s`, and
//!
//! ```text
//!     q(s) = retract(q, s a + s² d/2), v(s) = a + s d, d = (v̂ − v)/h, a = v (consistent) or (v + v̂)/2 (printed)  (5)
//!     M(q(s))(v⁺ − v(s)) = Cᵀ P,   0 ≤ U⁺ + e min(U⁻, 0) ⊥ P ≥ 0   for all contacts that touch, as one problem  (6)
//! ```
//!
//! The next step has the full length again: the grid is not uniform. Impacts are events with the states before and
//! after. Variants:
//!
//! - `consistent` (default): φ is the gap along the flight itself, φ(0) ≥ 0 > φ(h), so that a root always exists. Order
//!   2. A gap that is open at both ends but dips below zero between them is an impact too.
//! - `printed`: the formulas of the paper. Its φ starts with the mean velocity and is not negative at h in general:
//!   where it has no root, the flight is halved, at most ten times, and then the contact is reflected on the spot (only
//!   if it approaches). Order 1.
//!
//! From a wall the root s = 0 does not count. A contact whose rebound would last less than `stick · h` does not
//! rebound: it is held, with (2), until P vanishes. Heights and speeds lost by this are of second order in h. Where
//! impacts follow each other without end within 1e-9 of a step (collapse between several contacts), the Moreau-Jean
//! scheme does the rest of the step after `max-impacts`.
//!
//! The flight is Crank-Nicolson, which does not damp: where a stiff spring (h ω ≫ 1) meets impacts, energy may grow
//! without bound (19.6 J to 6.8e5 J in 100 steps with h ω = 140). A run warns of it (`energy-gain`).
//!
//! Where rows vary, s is polished on the gap along (5) until that vanishes. A `consistent` flight whose quadratic dips
//! below zero while its gap does not has no impact. The `printed` path may end before the gap closes: that impact is
//! taken where it is, with the warning `open-impact`.
//!
//! Steps end at different times if their lengths differ, so that step doubling cannot estimate errors: no adaptive
//! steps.
//!
//! | `P` (m) impulse [N s] | `φ` gap along the flight [m] | `U`, `Û` normal velocity [m/s] | `e` restitution [-] |

use super::{
    Claim, EventKind, Events, MoreauJean, Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step,
    StepError, System, Variant, moreau_jean,
};
use crate::balance::{Balance, Lengths, Limits, Newton, Place, VelocityLaws};
use crate::{Coupling, Mechanical, State, Warnings};
use carom_solve::options::{at_least, at_least_one, fraction};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod flight;
mod impact;
mod log;
mod tangent;

/// Parts of a step shorter than this part of it do not end it.
const PART: f64 = 1e-9;

/// Halvings of a flight without root, in the printed variant.
const HALVINGS: u32 = 10;

/// Options of the corrected Paoli-Schatzman scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CorrectedPaoli {
    /// The quadratic that gives the impact time: "consistent" (order 2) or "printed" (order 1, as published).
    pub variant: ImpactTime,
    /// A gap at or below this value touches; by default 1e-11 of the length of the model [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation: Option<f64>,
    /// A contact whose rebound would last less than this part of the step stays closed [-].
    pub stick: f64,
    /// Impacts within 1e-9 of a step after which the Moreau-Jean scheme does its rest.
    pub max_impacts: u32,
    /// Relative tolerance of Newton's loop on the impulse balance (1) [-].
    pub newton_tolerance: f64,
    /// Most Newton iterations in a flight.
    pub newton_iterations: u32,
}

/// How the time of an impact is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImpactTime {
    /// The gap along the flight: equation (3).
    Consistent,
    /// As published: equation (4).
    Printed,
}

impl Default for CorrectedPaoli {
    fn default() -> Self {
        CorrectedPaoli {
            variant: ImpactTime::Consistent,
            activation: None,
            stick: 1e-3,
            max_impacts: 50,
            newton_tolerance: 1e-10,
            newton_iterations: 50,
        }
    }
}

impl Options for CorrectedPaoli {
    fn validate(&self) -> Result<(), OptionError> {
        at_least("activation", self.activation.unwrap_or(0.0), 0.0)?;
        fraction("stick", self.stick)?;
        at_least_one("max-impacts", self.max_impacts)?;
        self.limits().validate()
    }
}

impl Registered for CorrectedPaoli {
    const VARIANTS: &'static [Variant] = &[Variant {
        options: r#"{ "variant": "printed" }"#,
        order: Order { position: 1.0, velocity: 1.0, smooth: 2.0 },
    }];
}

/// What is known of a law at the start of a flight and at its end.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    counts: bool,    // whether it is a contact that is present: others have no path
    gap: f64,        // g
    activation: f64, // up to where it touches
    velocity: f64,   // U
    ahead: f64,      // ĝ
    bend: f64,       // c of (3)
    held: bool,      // whether it takes part in (2)
}

carom_solve::persist!(Path { counts, gap, activation, velocity, ahead, bend, held });

impl Path {
    /// Whether it may close.
    fn is_free(&self) -> bool {
        self.counts && !self.held
    }
}

/// Buffers of a step, in the order in which the step sets them.
#[derive(Default)]
pub struct Work {
    reactions: Box<Reactions>,    // laws at the start of the step; what they did
    driven: Vec<f64>,             // (rows) work that obstacles do by their own motion [J]
    state: State,                 // where the step has come to
    here: Coupling,               // coupling there
    u: Vec<f64>,                  // (rows) relative velocity there
    paths: Vec<Path>,             // (laws) along the flight
    newton: Newton,               // the flight (1)
    lengths: Lengths,             // what gaps are judged by
    warnings: Warnings,           // of tolerances that are too large
    laws: VelocityLaws,           // (2), or (6)
    ahead: State,                 // q̂, v̂
    touching: State,              // (5)
    touch: Coupling,              // coupling there
    before: Vec<f64>,             // (rows) relative velocity before the impact
    after: Vec<f64>,              // (rows) and after it
    events: Events,               // impacts of the step
    struck: State,                // state before an impact
    rest: Box<moreau_jean::Work>, // for a step with too many impacts
    log: Option<Box<log::Log>>,   // what the step was made of, where its derivative is asked for
}

carom_solve::persist!(Work {
    reactions, driven, state, here, u, paths, newton, lengths, warnings, laws, ahead, touching, touch, before,
    after, events, struck, rest,
} skip { log });

impl Scheme for CorrectedPaoli {
    type Model = dyn Mechanical;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "corrected-paoli",
        title: "corrected Paoli-Schatzman scheme",
        order: Order { position: 2.0, velocity: 2.0, smooth: 2.0 },
        level: "velocity",
        projects: false,
        claims: &[Claim::PenetrationFirstOrder, Claim::Friction, Claim::Bilateral],
        citations: &["nqi2016", "paoli2002"],
        source: include_str!("corrected_paoli.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let initial = model.initial();
        let mut all = Coupling::default();
        model.couple(initial.t, &initial.q, &mut all)?;
        let (laws, rows) = (all.pairs.len(), all.drift.len());
        let mut events = Events::new();
        events.reserve(laws + 1, &initial);
        Ok(Work {
            events,
            struck: initial.clone(),
            paths: Vec::with_capacity(laws),
            before: Vec::with_capacity(rows),
            after: Vec::with_capacity(rows),
            newton: Newton::new(model, flight(), self.limits()),
            lengths: Lengths::of(model),
            laws: VelocityLaws::with_room(&all),
            touching: initial.clone(),
            ahead: initial.clone(),
            state: initial,
            rest: Box::new(MoreauJean::default().workspace(model)?),
            ..Work::default()
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
        let mut step = Step::default();
        // 1 start: laws, gaps and relative velocities
        self.start(w, system.model, from)?;
        w.start_log();
        let (mut impacts, mut halvings) = (0, 0);
        loop {
            let left = h - step.advanced;
            let share = 0.5f64.powi(halvings as i32);
            let length = left * share;
            // 2 flight over the rest of the step, with contacts that rest held
            self.fly(w, &mut system, length, &mut step)?;
            w.log_flight(length, share);
            // 3 the first contact that closes; the printed quadratic may have no root
            let s = match self.first_impact(w, length) {
                Found::Nothing => {
                    w.log_end();
                    w.advance_to_end();
                    step.advanced = if halvings == 0 { h } else { step.advanced + length };
                    break;
                }
                Found::NoRoot if halvings < HALVINGS => {
                    halvings += 1;
                    continue;
                }
                Found::NoRoot => 0.0,
                Found::Impact(s) => s,
            };
            // 4 state at the impact, and all impacts there at once
            let Some(s) = self.move_to_impact(w, system.model, s, length)? else {
                w.log_end();
                w.advance_to_end();
                step.advanced = if halvings == 0 { h } else { step.advanced + length };
                break;
            };
            self.impact(w, &mut system, length, &mut step)?;
            self.log_impact(w, s, length);
            step.advanced = if s >= left { h } else { step.advanced + s };
            (impacts, halvings) = (impacts + 1, 0);
            if step.advanced > PART * h {
                break;
            }
            // 5 impacts without end: another scheme does the rest
            if impacts >= self.max_impacts {
                self.hand_over(w, &mut system, h, &mut step)?;
                break;
            }
            self.arrive(w, system.model)?;
        }
        to.copy_from(&w.state);
        to.t = from.t + step.advanced;
        if !to.is_finite() {
            return Err(StepError::NotFinite);
        }
        // the velocity whose product with the impulse is the obstacle's part of the work
        let Reactions { obstacle, impulse, .. } = &mut *w.reactions;
        for ((velocity, p), driven) in obstacle.iter_mut().zip(impulse.iter()).zip(&w.driven) {
            if *p != 0.0 {
                *velocity = driven / p;
            }
        }
        Ok(step)
    }

    fn clear_guess(&self, w: &mut Work) {
        w.laws.problem.z.lambda.fill(0.0);
        w.lengths.forget();
        MoreauJean::default().clear_guess(&mut w.rest);
    }

    fn drop_factors(&self, w: &mut Work) {
        w.newton.invalidate();
        MoreauJean::default().drop_factors(&mut w.rest);
    }

    fn contacts_changed(&self, w: &mut Work) {
        MoreauJean::default().contacts_changed(&mut w.rest);
    }

    fn order(&self) -> Order {
        let order = if self.variant == ImpactTime::Consistent { 2.0 } else { 1.0 };
        Order { position: order, velocity: order, smooth: 2.0 }
    }

    fn cannot_be_doubled(&self) -> Option<&'static str> {
        Some("its steps end at impacts, so that full and half steps end at different times")
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.reactions
    }

    fn events<'w>(&self, work: &'w Work) -> &'w Events {
        &work.events
    }

    fn warnings<'w>(&self, work: &'w Work) -> Option<&'w Warnings> {
        Some(&work.warnings)
    }
}

/// (1), with reactions along the rows at q_m.
fn flight() -> Balance {
    let (middle, end) = (Place::theta(0.5), Place::end(0.5));
    Balance { mass: middle, start: 0.5, force: (0.5, end), end, output: end, input: middle }
}

/// What a flight runs into.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    Nothing,
    /// The time from the start of the flight [s].
    Impact(f64),
    /// A gap is closed at the end, but its quadratic has no root.
    NoRoot,
}

impl CorrectedPaoli {
    fn limits(&self) -> Limits {
        Limits { tolerance: self.newton_tolerance, iterations: self.newton_iterations }
    }

    /// Coupling and relative velocities at the start of the step; no law has acted.
    fn start(&self, w: &mut Work, model: &mut dyn Mechanical, from: &State) -> Result<(), StepError> {
        let is_same = w.laws.start(&w.newton, model, from, &mut w.reactions.coupling)?;
        if !is_same {
            // the impulses of other laws are no guess
            w.laws.problem.z.lambda.fill(0.0);
        }
        w.events.clear();
        w.reactions.start(&from.v);
        w.reactions.work.clear();
        w.reactions.work.resize(w.reactions.before.len(), 0.0);
        w.driven.clear();
        w.driven.resize(w.reactions.before.len(), 0.0);
        w.state.copy_from(from);
        // laws and rows of `here` are those of the reactions; gaps differ after impacts only
        if w.newton.constancy.rows && is_same {
            w.here.pairs.clone_from(&w.reactions.coupling.pairs);
            w.here.region.clone_from(&w.reactions.coupling.region);
            w.here.drift.clone_from(&w.reactions.coupling.drift);
        } else {
            w.here.copy_from(&w.reactions.coupling);
        }
        w.u.clone_from(&w.reactions.before);
        Ok(())
    }

    /// Coupling and relative velocities where the step has come to.
    fn arrive(&self, w: &mut Work, model: &mut dyn Mechanical) -> Result<(), StepError> {
        w.here.fill(model, (w.state.t, &w.state.q), w.newton.constancy.rows, &w.laws.list)?;
        w.here.velocity(&w.state.v, &mut w.u);
        Ok(())
    }

    /// The smallest root of all quadratics over a flight of the given length.
    fn first_impact(&self, w: &Work, length: f64) -> Found {
        let mut found = Found::Nothing;
        for path in w.paths.iter().filter(|path| path.is_free()) {
            let next = self.root(path, length);
            found = match (found, next) {
                (Found::Impact(a), Found::Impact(b)) => Found::Impact(a.min(b)),
                (Found::Impact(a), _) => Found::Impact(a),
                (_, Found::Nothing) => found,
                (_, next) => next,
            };
        }
        found
    }

    /// The first time at which φ of a contact falls below zero.
    fn root(&self, path: &Path, h: f64) -> Found {
        let Path { gap, velocity, ahead, bend, activation, .. } = *path;
        let touches = gap <= activation;
        if touches && velocity * h < -activation {
            return Found::Impact(0.0);
        }
        let (slope, bend) = match self.variant {
            ImpactTime::Consistent => (velocity, bend),
            // Û − U = c h for the flight (1), where rows are constant
            ImpactTime::Printed => ((ahead - gap) / h, bend),
        };
        let closed = ahead < 0.0;
        if touches {
            // from the wall: φ/s = slope + s c/2
            let s = -2.0 * slope / bend;
            let returns = bend < 0.0 && s > 0.0 && s <= h;
            return match (returns, self.variant) {
                (true, ImpactTime::Consistent) => Found::Impact(s),
                (true, ImpactTime::Printed) if closed => Found::Impact(s),
                (false, ImpactTime::Printed) if closed && ahead < gap => Found::NoRoot,
                _ => Found::Nothing,
            };
        }
        let dips = self.variant == ImpactTime::Consistent && slope < 0.0 && slope + h * bend > 0.0;
        if !(closed || dips) {
            return Found::Nothing;
        }
        // a form without cancellation; the smaller root is the one on the way down
        let discriminant = slope * slope - 2.0 * bend * gap;
        let root = if discriminant < 0.0 {
            f64::NAN
        } else if slope <= 0.0 {
            2.0 * gap / (discriminant.sqrt() - slope)
        } else {
            (slope + discriminant.sqrt()) / -bend
        };
        match (root > 0.0 && root <= h, closed, self.variant) {
            (true, ..) => Found::Impact(root),
            (false, false, _) => Found::Nothing,
            // φ(h) = ĝ < 0 up to rounding
            (false, true, ImpactTime::Consistent) => Found::Impact(h),
            (false, true, ImpactTime::Printed) => Found::NoRoot,
        }
    }

    /// The rest of a step by the Moreau-Jean scheme.
    fn hand_over(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let scheme = MoreauJean::default();
        w.log_hand_over();
        w.events.push(EventKind::HandOver, None, &w.state, &w.state);
        w.newton.invalidate();
        scheme.drop_factors(&mut w.rest);
        w.rest.lengths.follow(&w.lengths);
        let again = System { model: &mut *system.model, solver: &mut *system.solver };
        let part = scheme.step(&mut w.rest, again, &w.state, h - step.advanced, &mut w.ahead)?;
        w.state.copy_from(&w.ahead);
        step.worst = step.worst.worse(part.worst);
        step.solves += part.solves;
        step.iterations += part.iterations;
        step.evaluations += part.evaluations;
        step.advanced = h;
        let (part, all) = (scheme.reactions(&w.rest), &mut w.reactions);
        part.coupling.check(w.state.t, &w.laws.list)?;
        for row in 0..part.impulse.len() {
            all.impulse[row] += part.impulse[row];
            all.work[row] += part.work(row);
            all.after[row] = part.after[row];
            w.driven[row] += part.impulse[row] * part.obstacle[row];
        }
        Ok(())
    }
}
