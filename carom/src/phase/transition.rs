//! What lies between smooth phases: the discrete state, the contacts that touch, and how far a phase may go.
//!
//! `impact.rs` holds the impacts, `choice.rs` the phase after them. Contacts outside their region take no part.

use super::acceleration::{Acceleration, ModeChange, size_of};
use super::account::ReactionAccount;
use super::contact::{Candidate, ContactProblem};
use super::edge::{Edge, Sorting};
use super::mode::{Mode, Phase};
use super::projection::Projection;
use crate::coupling::Matching;
use crate::{Coupling, Events, Key, Mechanical, ModelError, State, StepError, System, Warnings};
use carom_solve::Certificate;
use carom_solve::elementary::hypot;

/// Gaps and velocities count as zero below this multiple of their rounding.
pub(crate) const ROUNDING: f64 = 16.0;

/// Most that a spatial slip turns in an explicit step [rad]: friction across a slow one is stiff, and tolerances do not
/// see it.
const TURN: f64 = 0.25;

/// A slip that turns by less than this part of what it loses of its speed stops on a straight way.
const STRAIGHT: f64 = 0.1;

/// A slip at rest begins unless it is held back by more than this part of the forces along it.
const BEGINS: f64 = 1e-9;

/// A gap may be passed by this multiple of its rounding; beyond, an event was overlooked.
pub(crate) const PASSED: f64 = 1e3;

/// A contact with at most this part of the velocities behind its normal stays closed.
const SLOW: f64 = 5e-10;

/// A gap is closed up to this part of the positions behind it.
const TOUCH: f64 = 16.0 * f64::EPSILON;

/// What is known of a law at an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mark {
    /// Whether it is a contact at its wall.
    pub touches: bool,
    /// Whether it took part in an impact of this instant.
    pub(super) struck: bool,
    /// Whether it was asked already whether it stays closed.
    pub(super) is_asked: bool,
    flags: [bool; 4],
}

carom_solve::persist!(Mark { touches, struck, is_asked, flags });

impl Mark {
    /// Takes back that a monitor has changed its sign.
    pub(super) fn clear(&mut self, change: ModeChange) {
        self.flags[change as usize] = false;
    }

    /// Whether this monitor of the law has changed its sign.
    pub fn has(&self, change: ModeChange) -> bool {
        self.flags[change as usize]
    }
}

/// A flight shorter than this part of the longest one of its series may be one of rounding.
const SHORT: f64 = 1e-5;

/// The flights of a contact that bounces alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Hop {
    contact: Option<Key>,
    t: f64,      // of the last impact
    launch: f64, // normal velocity after the impact before, and after the last one [m/s]
    speed: f64,
    flight: f64, // between them [s]
    longest: f64,
}

carom_solve::persist!(Hop { contact, t, launch, speed, flight, longest });

impl Hop {
    /// Sees an impact at `t` after which the normal velocity is `speed`; the contact is none where there are several.
    pub fn take(&mut self, contact: Option<Key>, t: f64, speed: f64) {
        if contact.is_none() || self.contact != contact {
            *self = Hop { contact, t, speed, ..Hop::default() };
            return;
        }
        let flight = t - self.t;
        *self = Hop { launch: self.speed, speed, t, flight, longest: self.longest.max(flight), ..*self };
    }

    /// Whether a flight that ends at `t` without an impact is the next one of the series of a contact.
    pub fn is_next(&self, contact: Key, t: f64) -> bool {
        self.contact == Some(contact) && t - self.t <= self.flight
    }

    /// Whether the last flight was twice as long as its launch can explain with the acceleration `a`, and so short
    /// that only the rounding of its gap can: the gap is rounded more than its terms tell.
    pub fn is_lost(&self, a: f64) -> bool {
        self.contact.is_some() && self.flight < SHORT * self.longest && self.flight * -a > 4.0 * self.launch
    }
}

/// What is too small to be followed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resolution {
    /// A flight or a slip that ends within this time is over [s].
    pub flight: f64,
    /// A contact with at most this normal velocity stays closed [m/s]; by default a part of the velocities behind it.
    pub speed: Option<f64>,
    /// A gap up to this value touches, as one up to its rounding does [m]; by default the rounding of positions.
    pub gap: Option<f64>,
    /// A flight that rises by less than this part of the rounding of its gap is over [-].
    pub rise: f64,
    /// A spatial slip with at most this part of the velocities behind it is at rest [-].
    pub slip: f64,
}

carom_solve::persist!(Resolution { flight, speed, gap, rise, slip });

/// How far a phase may go at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// A spatial slip loses at most half its speed [s].
    pub length: f64,
    /// It turns little besides [s].
    pub turn: f64,
    /// Rate at which friction turns it into the direction in which it is accelerated [1/s]; infinite where it begins.
    pub stiffness: f64,
}

/// The discrete state and the buffers that change it.
#[derive(Default)]
pub struct Transition {
    /// v̇ and λ at one point, with laws, gaps and rows there.
    pub acceleration: Acceleration,
    /// Modes of the laws now.
    pub phase: Phase,
    /// Modes before the last change.
    pub last: Phase,
    pub projection: Projection,
    pub contact: ContactProblem,
    /// (laws) what is known at the event.
    pub marks: Vec<Mark>,
    pub resolution: Resolution,
    /// Whether flagged slips stop, be they planar or spatial.
    pub is_stopping: bool,
    /// Whether impacts end with the gaps that touch at zero.
    pub lands: bool,
    /// Whether all contacts that touch stay closed, without restitution.
    pub is_plastic: bool,
    pub account: ReactionAccount,
    pub events: Events,
    pub worst: Certificate,
    pub solves: u32,
    pub warnings: Warnings,
    /// Whether the accelerations of the phase were evaluated at the state, after all changes.
    pub is_evaluated: bool,
    /// How contacts that meet at an edge are sorted out, and over which time [s]; by accelerations alone where nothing
    /// is said.
    pub sorting: Option<(Sorting, f64)>,
    /// Whether regions begin or end here: then contacts are sorted out even if their rows are independent.
    pub is_crossing: bool,
    pub(super) other: Phase,
    pub(super) edge: Edge,
    pub(super) candidates: Vec<Candidate>, // contacts that may stay closed
    pub(super) active: Vec<usize>,         // laws of an impact
    pub(super) before: State,              // before an impact
    pub(super) start: State,               // before the change
    pub(super) increment: Vec<f64>,        // (n)
    pub(super) hop: Hop,
    extent: Vec<f64>, // (n) positions with the way over a step of the driver
    matching: Matching,
}

carom_solve::persist!(Transition {
    acceleration,
    phase,
    last,
    projection,
    contact,
    marks,
    resolution,
    is_stopping,
    lands,
    is_plastic,
    account,
    events,
    worst,
    solves,
    warnings,
    is_evaluated,
    sorting,
    is_crossing,
    other,
    edge,
    candidates,
    active,
    before,
    start,
    increment,
    hop,
    extent,
    matching,
} skip {});

impl Transition {
    /// Buffers for a model: all contacts open at its initial state, whose laws are in the account.
    pub fn new(model: &mut dyn Mechanical, lands: bool) -> Result<Transition, ModelError> {
        let (acceleration, extent) = (Acceleration::new(model), vec![0.0; model.dim()]);
        let mut new = Transition { acceleration, extent, lands, ..Transition::default() };
        let initial = model.initial();
        model.couple(initial.t, &initial.q, &mut new.account.reactions.coupling)?;
        let coupling = &new.account.reactions.coupling;
        new.phase.open(coupling);
        let laws = coupling.len();
        new.marks.reserve(laws);
        new.candidates.reserve(laws);
        new.active.reserve(laws);
        new.events.reserve(3 * laws + 2, &initial);
        Ok(new)
    }

    /// What an evaluation at a point needs: the phase, and the buffers.
    pub fn evaluator(&mut self) -> (&Phase, &mut Acceleration) {
        (&self.phase, &mut self.acceleration)
    }

    /// Laws, gaps and rows at a state.
    pub fn couple(&mut self, model: &mut dyn Mechanical, at: &State) -> Result<(), ModelError> {
        self.acceleration.couple(model, &self.phase, (at.t, &at.q, &at.v))
    }

    /// Starts the books of a step: its contacts, and where they are at `from`.
    pub fn start(&mut self, model: &mut dyn Mechanical, constant: bool, from: &State) -> Result<(), StepError> {
        self.account.start(model, constant, from)?;
        self.events.clear();
        (self.worst, self.solves) = (Certificate::default(), 0);
        Ok(())
    }

    /// The phase of the step before goes on with the contacts of this one, from `from`; returns whether they are the
    /// same. A contact that was not listed then and is closed already was passed unseen.
    pub fn resume(&mut self, from: &State) -> Result<bool, StepError> {
        let coupling = &self.account.reactions.coupling;
        if coupling.has_keys(self.phase.keys()) {
            return Ok(true);
        }
        self.matching.begin();
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let rounding =
                (PASSED * self.acceleration.sizes.gap_rounding_at(coupling, i, from)).max(self.touch(coupling, i));
            let is_new = self.matching.find(pair.key, self.phase.keys()).is_none();
            let inherits = || coupling.heirs.iter().any(|heir| heir.0 == i);
            if is_new && !pair.law.is_equality() && coupling.gap(i) < -rounding && !inherits() {
                return Err(StepError::Tunnelled { gap: pair.gap, contact: pair.key });
            }
        }
        self.phase.relist(coupling, &mut self.matching);
        Ok(false)
    }

    /// Starts over with what is known at an event.
    pub fn clear_marks(&mut self) {
        self.marks.clear();
        self.marks.resize(self.account.reactions.len(), Mark::default());
    }

    /// Notes that a monitor has changed its sign.
    pub fn flag(&mut self, law: usize, change: ModeChange) {
        self.marks[law].flags[change as usize] = true;
    }

    /// Whether a contact is at its wall.
    pub(super) fn is_touching(&self) -> bool {
        self.marks.iter().any(|mark| mark.touches)
    }

    /// Whether law `i` of the coupling touches at `q`, which the coupling belongs to.
    pub fn touches(&self, i: usize, q: &[f64]) -> bool {
        let coupling = &self.acceleration.coupling;
        let rounding = ROUNDING * self.acceleration.sizes.gap_rounding(coupling, i, q);
        !coupling.pairs[i].law.is_equality() && coupling.gap(i) <= rounding.max(self.touch(coupling, i))
    }

    /// Sets the positions by which gaps touch: those of a state, with the way in a step of length h from there.
    pub fn extend(&mut self, at: &State, h: f64) {
        self.acceleration.sizes.extent(at, h, &mut self.extent);
    }

    /// Up to where the gap of law `i` of a coupling touches [m].
    pub fn touch(&self, coupling: &Coupling, i: usize) -> f64 {
        let row = || coupling.rows.row(coupling.offset[i]);
        self.resolution.gap.unwrap_or_else(|| TOUCH * size_of(row(), &self.extent))
    }

    /// Up to which normal velocity law `i` of the coupling stays closed [m/s], where `v` was among the velocities.
    pub fn slow(&self, i: usize, v: &[f64]) -> f64 {
        let coupling = &self.acceleration.coupling;
        let row = || coupling.rows.row(coupling.offset[i]);
        self.resolution.speed.unwrap_or_else(|| SLOW * self.acceleration.sizes.speed(row(), v))
    }

    /// Up to which speed the slip of law `i`, in space, is at rest, where `v` was among the velocities [m/s].
    pub(super) fn slip_at_rest(&self, i: usize, v: &[f64]) -> f64 {
        let coupling = &self.acceleration.coupling;
        let speed = |row| self.acceleration.sizes.speed(coupling.rows.row(row), v);
        let is_spatial = coupling.range(i).len() == 3;
        if is_spatial {
            coupling.range(i).skip(1).fold(0.0, |m, row| m.max(self.resolution.slip * speed(row)))
        } else {
            0.0
        }
    }

    /// Whether law `i` is a contact that is closed and inside its region.
    pub fn holds(&self, i: usize) -> bool {
        let (coupling, pair) = (&self.acceleration.coupling, self.acceleration.coupling.pairs[i]);
        let closed = !pair.law.is_equality() && self.phase.mode(i).is_closed();
        closed && coupling.is_present(i)
    }

    /// Whether law `i` is a contact that is closed and has left its region.
    pub fn is_beyond(&self, i: usize) -> bool {
        !self.acceleration.coupling.is_present(i) && self.phase.mode(i).is_closed()
    }

    /// Velocity along a row, and what of it is rounding.
    pub fn velocity(&self, row: usize, v: &[f64]) -> (f64, f64) {
        let coupling = &self.acceleration.coupling;
        let (mut u, mut size) = (coupling.drift[row], coupling.drift[row].abs());
        for &(j, c) in coupling.rows.row(row) {
            u += c * v[j];
            size += (c * v[j]).abs();
        }
        (u, ROUNDING * f64::EPSILON * size)
    }

    /// The phase in which a step starts, from the state alone: unless `known` and nothing contradicts the phase at
    /// hand, which `resume` has brought to the contacts of the step.
    pub fn enter(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        state: &mut State,
        known: bool,
    ) -> Result<(), StepError> {
        if !known {
            self.phase.open(&self.account.reactions.coupling);
        }
        self.couple(system.model, state)?;
        self.clear_marks();
        let (mut approaches, mut vanished) = (false, false);
        for i in 0..self.marks.len() {
            vanished |= self.is_beyond(i);
            if !self.touches(i, &state.q) {
                continue;
            }
            self.marks[i].touches = true;
            let (u, rounding) = self.velocity(self.acceleration.coupling.offset[i], &state.v);
            approaches |= u < -rounding && !(known && self.phase.mode(i).is_closed());
        }
        if known && !(approaches || vanished) {
            return Ok(());
        }
        self.choose_phase(system, state, known)
    }

    /// Lists the contacts that touch: those of the gaps flagged, those that are closed, and those at their wall.
    pub fn list_touching(&mut self, q: &[f64]) {
        for i in 0..self.marks.len() {
            let closes = self.marks[i].has(ModeChange::Closing);
            self.marks[i].touches = closes || self.holds(i) || self.touches(i, q);
        }
    }

    /// How far a phase may go at once. Nothing if a spatial slip has come to its stop.
    pub fn reach(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        state: &State,
        left: f64,
    ) -> Result<Option<Reach>, StepError> {
        let coupling = &self.acceleration.coupling;
        let turns = |i: usize| coupling.range(i).len() == 3 && matches!(self.phase.mode(i), Mode::Slip(_));
        if !(0..self.phase.keys().len()).any(turns) {
            return Ok(Some(Reach { length: left, turn: left, stiffness: 0.0 }));
        }
        self.acceleration.with_monitors(system.model, &self.phase, (state.t, &state.q, &state.v))?;
        self.clear_marks();
        let coupling = &self.acceleration.coupling;
        let (mut reach, mut stops) = (Reach { length: left, turn: left, stiffness: 0.0 }, false);
        for i in 0..coupling.len() {
            let (Mode::Slip(d), 3) = (self.phase.mode(i), coupling.range(i).len()) else { continue };
            let (mut u, mut a, mut size, mut friction) = ([0.0; 2], [0.0; 2], 0.0, 0.0f64);
            for (k, row) in coupling.range(i).skip(1).enumerate() {
                u[k] = self.velocity(row, &state.v).0;
                a[k] = coupling.rows.dot(row, &self.acceleration.value) + self.acceleration.curvature.value[row];
                size += size_of(coupling.rows.row(row), &self.acceleration.free);
                let free = coupling.rows.dot(row, &self.acceleration.free) + self.acceleration.curvature.value[row];
                friction = hypot(friction, a[k] - free);
            }
            let (speed, along) = (hypot(u[0], u[1]), d[0] * a[0] + d[1] * a[1]);
            // one that begins has the velocity of rounding, which tells nothing of its stop
            if speed <= self.phase.still && along > -BEGINS * size {
                reach.stiffness = f64::INFINITY;
                continue;
            }
            // |u| falls at the rate −u·u̇/|u|, and u turns at the rate u×u̇/|u|²
            let (power, turn) = (u[0] * a[0] + u[1] * a[1], (u[0] * a[1] - u[1] * a[0]).abs());
            let stop = if power < 0.0 { -speed * speed / power } else { f64::INFINITY };
            // a slow one that turns while it falls does not tell where it stops
            let wanders = power < 0.0 && turn > STRAIGHT * -power && speed <= self.slip_at_rest(i, &state.v);
            if stop <= self.resolution.flight || wanders || speed <= self.phase.still {
                self.marks[i].flags[ModeChange::SlipEnd as usize] = true;
                stops = true;
            }
            reach.length = reach.length.min(0.5 * stop);
            reach.turn = reach.turn.min(reach.length);
            if turn > 0.0 {
                reach.turn = reach.turn.min(TURN * speed * speed / turn);
            }
            reach.stiffness = reach.stiffness.max(friction / speed);
        }
        Ok((!stops).then_some(reach))
    }

    /// Ends the spatial slips that `reach` has found to stop.
    pub fn stop(&mut self, system: &mut System<'_, dyn Mechanical>, state: &mut State) -> Result<(), StepError> {
        for i in 0..self.marks.len() {
            self.marks[i].touches = self.holds(i);
        }
        self.is_stopping = true;
        let settled = self.choose_phase(system, state, true);
        self.is_stopping = false;
        settled
    }

    /// Onto the constraints of the phase; leaves the coupling at the state.
    pub fn project(&mut self, system: &mut System<'_, dyn Mechanical>, state: &mut State) -> Result<(), StepError> {
        if self.phase.is_free() {
            return Ok(self.couple(system.model, state)?);
        }
        self.projection.positions(&mut self.acceleration, system.model, &self.phase, state)?;
        self.restore(system, state)
    }

    /// Velocities onto the constraints of the phase, at the positions to which the coupling belongs.
    pub fn restore(&mut self, system: &mut System<'_, dyn Mechanical>, state: &mut State) -> Result<(), StepError> {
        self.projection.velocities(&mut self.acceleration, system.model, &self.phase, state)?;
        self.account.projected(&self.acceleration.coupling, &self.projection);
        Ok(())
    }
}
