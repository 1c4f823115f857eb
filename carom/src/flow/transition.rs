//! What lies between smooth phases: the discrete state, the contacts that touch, and how far a phase may go.
//!
//! `impact.rs` holds the impacts, `choice.rs` the phase after them. Contacts outside their region take no part.

use super::acceleration::{Acceleration, Watch, size_of};
use super::booking::Booking;
use super::contact::{Candidate, ContactProblem};
use super::edge::{Edge, Sorting};
use super::phase::{Mode, Phase};
use super::projection::{Projection, gap_rounding};
use crate::scheme::{Events, StepError, System};
use crate::{Key, Mechanical, ModelError, Pair, State};
use carom_solve::Certificate;

/// Gaps and velocities count as zero below this multiple of their rounding.
pub(crate) const ROUNDING: f64 = 16.0;

/// A slip at rest begins unless it is held back by more than this part of the forces along it.
const BEGINS: f64 = 1e-9;

/// What is too small to be followed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resolution {
    /// A flight or a slip that ends within this time is over [s].
    pub flight: f64,
    /// A contact with at most this normal velocity stays closed [m/s].
    pub speed: f64,
    /// A gap up to this value touches, as one up to its rounding does [m].
    pub gap: f64,
    /// A flight that rises by less than this part of the rounding of its gap is over [-].
    pub rise: f64,
}

/// The discrete state and the buffers that change it.
#[derive(Default)]
pub struct Transition {
    /// Modes of the laws now.
    pub phase: Phase,
    /// Modes before the last change.
    pub last: Phase,
    pub projection: Projection,
    pub contact: ContactProblem,
    /// Contacts at their wall.
    pub touching: Vec<Key>,
    /// Monitors that have changed sign.
    pub flagged: Vec<(Key, Watch)>,
    pub resolution: Resolution,
    /// Whether flagged slips stop, be they planar or spatial.
    pub is_stopping: bool,
    /// Whether impacts end with the gaps that touch at zero.
    pub lands: bool,
    /// Whether all contacts that touch stay closed, without restitution.
    pub is_plastic: bool,
    pub booking: Booking,
    pub events: Events,
    pub worst: Certificate,
    pub solves: u32,
    /// Whether the accelerations of the phase were evaluated at the state, after all changes.
    pub is_surveyed: bool,
    /// How contacts that meet at an edge are sorted out, and over which time [s]; by accelerations alone where nothing is said.
    pub sorting: Option<(Sorting, f64)>,
    /// Whether regions begin or end here: then contacts are sorted out even if their rows are independent.
    pub is_crossing: bool,
    pub(super) other: Phase,
    pub(super) edge: Edge,
    pub(super) dropped: Vec<usize>,        // laws that do not carry behind an edge
    pub(super) candidates: Vec<Candidate>, // contacts that may stay closed
    pub(super) active: Vec<usize>,         // laws of an impact
    pub(super) struck: Vec<Key>,           // contacts of the impacts of this instant
    pub(super) before: State,              // before an impact
    pub(super) start: State,               // before the change
    pub(super) increment: Vec<f64>,        // (n)
}

impl Transition {
    /// Buffers for a model: all contacts open at its initial state, whose laws are in the booking.
    pub fn new(model: &mut dyn Mechanical, lands: bool) -> Result<Transition, ModelError> {
        let mut new = Transition { lands, ..Transition::default() };
        let initial = model.initial();
        model.couple(initial.t, &initial.q, &mut new.booking.reactions.coupling)?;
        let coupling = &new.booking.reactions.coupling;
        new.phase.open(coupling);
        let laws = coupling.len();
        new.touching.reserve(laws);
        new.struck.reserve(laws);
        new.flagged.reserve(2 * laws);
        new.candidates.reserve(laws);
        new.active.reserve(laws);
        new.dropped.reserve(laws);
        new.events.reserve(3 * laws + 2, &initial);
        Ok(new)
    }

    /// Whether law `i` of the coupling touches at `q`, which the coupling belongs to.
    pub fn touches(&self, acceleration: &Acceleration, i: usize, q: &[f64]) -> bool {
        let coupling = &acceleration.coupling;
        let rounding = ROUNDING * gap_rounding(coupling, i, q);
        !coupling.pairs[i].law.is_equality() && coupling.gap(i) <= rounding.max(self.resolution.gap)
    }

    /// Whether law `i` is a contact that is closed and inside its region.
    pub fn holds(&self, acceleration: &Acceleration, i: usize) -> bool {
        let (coupling, pair) = (&acceleration.coupling, acceleration.coupling.pairs[i]);
        let closed = !pair.law.is_equality() && self.phase.mode(pair.key, i, pair.law).is_closed();
        closed && coupling.is_present(i)
    }

    /// Whether law `i` is a contact that is closed and has left its region.
    pub fn is_beyond(&self, acceleration: &Acceleration, i: usize) -> bool {
        let (coupling, pair) = (&acceleration.coupling, acceleration.coupling.pairs[i]);
        !coupling.is_present(i) && self.phase.mode(pair.key, i, pair.law).is_closed()
    }

    /// Velocity along a row, and what of it is rounding.
    pub fn velocity(acceleration: &Acceleration, row: usize, v: &[f64]) -> (f64, f64) {
        let coupling = &acceleration.coupling;
        let (mut u, mut size) = (coupling.drift[row], coupling.drift[row].abs());
        for &(j, c) in coupling.rows.row(row) {
            u += c * v[j];
            size += (c * v[j]).abs();
        }
        (u, ROUNDING * f64::EPSILON * size)
    }

    /// The phase in which a step starts, from the state alone: unless `known` and nothing contradicts the phase at hand.
    pub fn enter(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        state: &mut State,
        known: bool,
    ) -> Result<(), StepError> {
        acceleration.couple(system.model, state.t, &state.q)?;
        self.touching.clear();
        let (mut approaches, mut vanished) = (false, false);
        for i in 0..acceleration.coupling.len() {
            vanished |= self.is_beyond(acceleration, i);
            if !self.touches(acceleration, i, &state.q) {
                continue;
            }
            let pair = acceleration.coupling.pairs[i];
            self.touching.push(pair.key);
            let (u, rounding) = Self::velocity(acceleration, acceleration.coupling.offset[i], &state.v);
            approaches |= u < -rounding && !(known && self.phase.mode(pair.key, i, pair.law).is_closed());
        }
        if known && !(approaches || vanished) {
            return Ok(());
        }
        if !known {
            self.phase.open(&acceleration.coupling);
        }
        self.flagged.clear();
        self.settle(acceleration, system, state, known)
    }

    /// Lists the contacts that touch: those of the gaps flagged, those that are closed, and those at their wall.
    pub fn gather(&mut self, acceleration: &Acceleration, q: &[f64]) {
        self.touching.clear();
        self.touching.extend(self.flagged.iter().filter(|f| f.1 == Watch::Closing).map(|f| f.0));
        for (i, pair) in acceleration.coupling.pairs.iter().enumerate() {
            let touches = self.holds(acceleration, i) || self.touches(acceleration, i, q);
            if touches && !self.touching.contains(&pair.key) {
                self.touching.push(pair.key);
            }
        }
    }

    /// How far a phase may go at once: a spatial slip at most to half its speed. Nothing if it has come to its stop.
    pub fn reach(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        state: &State,
        left: f64,
    ) -> Result<Option<f64>, StepError> {
        let coupling = &acceleration.coupling;
        let turns = |(i, pair): (usize, &Pair)| {
            coupling.range(i).len() == 3 && matches!(self.phase.mode(pair.key, i, pair.law), Mode::Slip(_))
        };
        if !coupling.pairs.iter().enumerate().any(turns) {
            return Ok(Some(left));
        }
        acceleration.survey(system.model, &self.phase, (state.t, &state.q, &state.v))?;
        let coupling = &acceleration.coupling;
        let mut reach = left;
        self.flagged.clear();
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Mode::Slip(d) = self.phase.mode(pair.key, i, pair.law) else { continue };
            let (mut square, mut power, mut along, mut size) = (0.0, 0.0, 0.0, 0.0);
            for (row, d) in coupling.range(i).skip(1).zip(d) {
                let u = Self::velocity(acceleration, row, &state.v).0;
                let a = coupling.rows.dot(row, &acceleration.value) + acceleration.curvature.value[row];
                square += u * u;
                power += u * a;
                along += d * a;
                size += size_of(coupling.rows.row(row), &acceleration.free);
            }
            // one that begins has the velocity of rounding, which tells nothing of its stop
            if square.sqrt() <= self.phase.still && along > -BEGINS * size {
                continue;
            }
            // |u| falls at the rate −u·u̇/|u|
            if coupling.range(i).len() == 3 && power < 0.0 {
                let stop = -square / power;
                if stop <= self.resolution.flight {
                    self.flagged.push((pair.key, Watch::SlipEnd));
                }
                reach = reach.min(0.5 * stop);
            }
        }
        Ok(self.flagged.is_empty().then_some(reach))
    }

    /// Ends the spatial slips that `reach` has found to stop.
    pub fn stop(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        state: &mut State,
    ) -> Result<(), StepError> {
        self.touching.clear();
        for (i, pair) in acceleration.coupling.pairs.iter().enumerate() {
            if self.holds(acceleration, i) {
                self.touching.push(pair.key);
            }
        }
        self.is_stopping = true;
        let settled = self.settle(acceleration, system, state, true);
        self.is_stopping = false;
        settled
    }

    /// Onto the constraints of the phase; leaves the coupling at the state.
    pub fn project(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        state: &mut State,
    ) -> Result<(), StepError> {
        if self.phase.is_free() {
            return Ok(acceleration.couple(system.model, state.t, &state.q)?);
        }
        self.projection.positions(acceleration, system.model, &self.phase, state)?;
        self.restore(acceleration, system, state)
    }

    /// Velocities onto the constraints of the phase, at the positions to which the coupling belongs.
    pub fn restore(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        state: &mut State,
    ) -> Result<(), StepError> {
        self.projection.velocities(acceleration, system.model, &self.phase, state)?;
        self.booking.projected(&acceleration.coupling, &self.projection);
        Ok(())
    }
}
