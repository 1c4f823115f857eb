//! What happens between smooth phases: impacts of all contacts that touch, and the choice of the next phase.
//!
//! A contact that touches is closed if its velocity is rounding or below the resolution, if its next flight is not resolvable (2 U/|a|),
//! or if it would not rise above the rounding of its gap (U²/2|a|); then the contact problem decides whether it stays. Contacts outside
//! their region take no part. Each impact and each change of mode is an event.

use super::acceleration::{Acceleration, Watch, friction};
use super::booking::Booking;
use super::contact::{Candidate, ContactProblem};
use super::edge::{Edge, Sorting};
use super::phase::{Mode, Phase};
use super::projection::{Projection, gap_rounding};
use crate::scheme::{EventKind, Events, StepError, System};
use crate::{Key, Mechanical, ModelError, Pair, State};
use carom_solve::{Certificate, Law};

/// Most impacts without time between them.
const AT_ONCE: u32 = 16;

/// Gaps and velocities count as zero below this multiple of their rounding.
pub(crate) const ROUNDING: f64 = 16.0;

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
    other: Phase,
    edge: Edge,
    dropped: Vec<usize>,        // laws that do not carry behind an edge
    candidates: Vec<Candidate>, // contacts that may stay closed
    active: Vec<usize>,         // laws of an impact
    struck: Vec<Key>,           // contacts of the impacts of this instant
    before: State,              // before an impact
    start: State,               // before the change
    increment: Vec<f64>,        // (n)
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
        coupling.pairs[i].law != Law::Equality && coupling.gap(i) <= rounding.max(self.resolution.gap)
    }

    /// Whether law `i` is a contact that is closed and inside its region.
    pub fn holds(&self, acceleration: &Acceleration, i: usize) -> bool {
        let (coupling, pair) = (&acceleration.coupling, acceleration.coupling.pairs[i]);
        let closed = pair.law != Law::Equality && self.phase.mode(pair.key, i, pair.law).is_closed();
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
            let Mode::Slip(_) = self.phase.mode(pair.key, i, pair.law) else { continue };
            let (mut square, mut power) = (0.0, 0.0);
            for row in coupling.range(i).skip(1) {
                let u = Self::velocity(acceleration, row, &state.v).0;
                square += u * u;
                power += u * (coupling.rows.dot(row, &acceleration.value) + acceleration.curvature.value[row]);
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
        Ok(self.projection.velocities(acceleration, system.model, &self.phase, state)?)
    }

    /// One impact of all contacts that touch, over a critical interval of this width.
    pub fn strike(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        width: f64,
        state: &mut State,
    ) -> Result<(), StepError> {
        self.active.clear();
        self.other.open(&acceleration.coupling);
        for (i, pair) in acceleration.coupling.pairs.iter().enumerate() {
            if pair.law == Law::Equality || self.touching.contains(&pair.key) {
                self.active.push(i);
                self.other.set(pair.key, Mode::Held);
            }
        }
        self.before.copy_from(state);
        self.contact.is_plastic = self.is_plastic;
        let tools = (&mut *acceleration, &mut self.projection);
        let certificate = self.contact.impact(tools, system, &self.active, width, state)?;
        self.worst = self.worst.worse(certificate);
        self.solves += 1;
        self.booking.impact(&acceleration.coupling, &self.contact);
        if width > 0.0 {
            self.increment.clear();
            self.increment.extend(self.before.v.iter().zip(&state.v).map(|(a, b)| 0.5 * width * (a + b)));
            system.model.retract(&self.before.q, &self.increment, &mut state.q);
            state.t += width;
        }
        if self.lands {
            self.projection.positions(acceleration, system.model, &self.other, state)?;
        }
        let coupling = &acceleration.coupling;
        for &i in self.active.iter().filter(|&&i| coupling.pairs[i].law != Law::Equality) {
            if self.contact.impulse[coupling.offset[i]] > 0.0 {
                let key = coupling.pairs[i].key;
                self.struck.push(key);
                self.events.push(EventKind::Impact, Some(key), &self.before, state);
            }
        }
        Ok(())
    }

    /// An impulse without a collision: stops the slip of all contacts that touch and stay [genot1999]. Returns whether the impulse is
    /// inside the cones of friction; otherwise the velocities stay as they were.
    pub fn jam(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        state: &mut State,
    ) -> Result<bool, StepError> {
        acceleration.couple(system.model, state.t, &state.q)?;
        self.before.copy_from(state);
        self.active.clear();
        for (i, pair) in acceleration.coupling.pairs.iter().enumerate() {
            let row = acceleration.coupling.offset[i];
            let (u, rounding) = Self::velocity(acceleration, row, &state.v);
            let stays = self.touching.contains(&pair.key) && u <= rounding.max(self.resolution.speed);
            if pair.law == Law::Equality || stays {
                self.active.push(i);
            }
        }
        let tools = (&mut *acceleration, &mut self.projection);
        let inside = self.contact.stop(tools, system, &self.active, state)?;
        if !inside {
            state.copy_from(&self.before);
            return Ok(false);
        }
        self.booking.impact(&acceleration.coupling, &self.contact);
        for &i in self.active.iter().filter(|&&i| acceleration.coupling.range(i).len() > 1) {
            let key = acceleration.coupling.pairs[i].key;
            self.events.push(EventKind::Inconsistency, Some(key), &self.before, state);
        }
        Ok(true)
    }

    /// Chooses the phase that starts here among the contacts that touch, after impacts where some approach. Changes of mode are
    /// events if `announced`.
    pub fn settle(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        state: &mut State,
        announced: bool,
    ) -> Result<(), StepError> {
        let mut strikes = 0;
        self.is_surveyed = false;
        self.last.copy_from(&self.phase);
        self.start.copy_from(state);
        // an impact that is fast enough to be one needs no accelerations
        if self.resolution.speed > 0.0 && self.approaches(acceleration, &state.v) {
            strikes += 1;
            self.strike(acceleration, system, 0.0, state)?;
        }
        loop {
            self.phase.open(&acceleration.coupling);
            self.candidates.clear();
            self.dropped.clear();
            let mut approaches = false;
            while self.recruit(acceleration, system, state, &mut approaches)? && !approaches {
                self.sort(acceleration, system, state)?;
                let certificate = self.contact.settle(acceleration, system, &self.candidates, &mut self.phase)?;
                self.worst = self.worst.worse(certificate);
                self.solves += 1;
            }
            if !approaches || strikes >= AT_ONCE {
                break;
            }
            strikes += 1;
            self.strike(acceleration, system, 0.0, state)?;
        }
        self.phase.recognise(&self.last);
        self.is_surveyed = self.phase.is_free() && !self.touching.is_empty() && self.candidates.is_empty();
        self.project(acceleration, system, state)?;
        if announced {
            self.announce(acceleration, state);
        }
        self.struck.clear();
        Ok(())
    }

    /// Whether a contact that touches approaches faster than what counts as closed.
    fn approaches(&self, acceleration: &Acceleration, v: &[f64]) -> bool {
        let coupling = &acceleration.coupling;
        coupling.pairs.iter().enumerate().any(|(i, pair)| {
            let touches = pair.law != Law::Equality && self.touching.contains(&pair.key);
            touches && {
                let (u, rounding) = Self::velocity(acceleration, coupling.offset[i], v);
                u < -rounding.max(self.resolution.speed)
            }
        })
    }

    /// Drops the candidates that do not carry behind an edge.
    fn sort(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        state: &State,
    ) -> Result<(), StepError> {
        let Some((sorting, h)) = self.sorting.filter(|_| self.candidates.len() > 1) else { return Ok(()) };
        self.active.clear();
        self.active.extend(self.candidates.iter().map(|c| c.law));
        self.edge.solve(sorting, acceleration, system, (&self.active, state), h)?;
        self.solves += 1;
        let mut k = 0;
        let (edge, dropped) = (&self.edge, &mut self.dropped);
        self.candidates.retain(|candidate| {
            let carries = edge.carries(k);
            if !carries {
                dropped.push(candidate.law);
            }
            k += 1;
            carries
        });
        Ok(())
    }

    /// Opens the closed contacts that do not carry over a step of `h` although their rows are dependent; returns whether there are any.
    pub fn thin(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        (state, h): (&State, f64),
    ) -> Result<bool, StepError> {
        acceleration.couple(system.model, state.t, &state.q)?;
        self.active.clear();
        for i in 0..acceleration.coupling.len() {
            if self.holds(acceleration, i) {
                self.active.push(i);
            }
        }
        self.edge.solve(Sorting::Stage, acceleration, system, (&self.active, state), h)?;
        self.solves += 1;
        let mut thinned = false;
        for (k, &i) in self.active.iter().enumerate() {
            if !self.edge.carries(k) {
                self.phase.set(acceleration.coupling.pairs[i].key, Mode::Open);
                thinned = true;
            }
        }
        Ok(thinned)
    }

    /// Changes of mode as events.
    fn announce(&mut self, acceleration: &Acceleration, state: &State) {
        if self.phase.version() == self.last.version() {
            return;
        }
        for (i, pair) in acceleration.coupling.pairs.iter().enumerate() {
            let modes = (self.last.mode(pair.key, i, pair.law), self.phase.mode(pair.key, i, pair.law));
            let struck = self.struck.contains(&pair.key);
            let kind = match modes {
                (Mode::Open, Mode::Open) => continue,
                (Mode::Open, _) if struck && pair.restitution > 0.0 => EventKind::Accumulation,
                (Mode::Open, _) => EventKind::Closing,
                (_, Mode::Open) if struck => continue,
                (_, Mode::Open) => EventKind::TakeOff,
                (Mode::Slip(_), Mode::Stick) => EventKind::Stick,
                (Mode::Stick, Mode::Slip(_)) => EventKind::Slip,
                (Mode::Slip(a), Mode::Slip(b)) if a[0] * b[0] + a[1] * b[1] < 0.0 => EventKind::SlipReversal,
                _ => continue,
            };
            self.events.push(kind, Some(pair.key), &self.start, state);
        }
    }

    /// Adds the contacts that are closed as far as the current phase tells; returns whether there are new ones. `approaches` tells
    /// whether one that is not closed moves against its wall.
    fn recruit(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        state: &State,
        approaches: &mut bool,
    ) -> Result<bool, StepError> {
        if self.touching.is_empty() {
            return Ok(false);
        }
        acceleration.survey(system.model, &self.phase, (state.t, &state.q, &state.v))?;
        let known = self.candidates.len();
        let coupling = &acceleration.coupling;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let row = coupling.offset[i];
            let listed = self.candidates.iter().any(|c| c.law == i) || self.dropped.contains(&i);
            if listed || pair.law == Law::Equality || !self.touching.contains(&pair.key) {
                continue;
            }
            let (u, rounding) = Self::velocity(acceleration, row, &state.v);
            let a = coupling.rows.dot(row, &acceleration.value) + acceleration.curvature.value[row];
            let unresolved = 2.0 * u.abs() <= -a * self.resolution.flight;
            let invisible = u * u <= -2.0 * a * self.resolution.rise * gap_rounding(coupling, i, &state.q);
            let flagged = |watch: Watch| self.flagged.contains(&(pair.key, watch));
            // one that was held may approach by what the flow has left; others have an impact first
            let held = self.last.mode(pair.key, i, pair.law).is_closed();
            let least = if held { -self.resolution.speed } else { 0.0 };
            let slow = u <= rounding.max(self.resolution.speed) && u >= least.min(-rounding);
            if slow || unresolved || invisible {
                let leaving = flagged(Watch::TakeOff) || flagged(Watch::StickLimit);
                let slip = self.slip(acceleration, i, &state.v);
                self.candidates.push(Candidate { law: i, slip, leaving });
            } else if u < 0.0 {
                *approaches = true;
            }
        }
        Ok(self.candidates.len() > known)
    }

    /// The direction in which a contact slips, if it does so beyond what is resolved.
    fn slip(&self, acceleration: &Acceleration, i: usize, v: &[f64]) -> Option<[f64; 2]> {
        let coupling = &acceleration.coupling;
        let (mut slip, mut limit, mut speed) = ([0.0; 2], 0.0f64, 0.0f64);
        let normal = coupling.offset[i];
        let press = coupling.rows.dot(normal, &acceleration.free) + acceleration.curvature.value[normal];
        let brake = friction(coupling.pairs[i].law) * press.abs();
        for (k, row) in coupling.range(i).skip(1).enumerate() {
            let (u, rounding) = Self::velocity(acceleration, row, v);
            let terms = coupling.rows.row(row).iter().map(|&(j, c)| (c * acceleration.free[j]).abs()).sum::<f64>();
            let change = terms + acceleration.curvature.value[row].abs() + brake;
            limit = limit.max(rounding + self.resolution.flight * change);
            slip[k] = u;
            speed = speed.hypot(u);
        }
        // a planar slip that was seen to end has ended; a spatial one may merely have turned by more than a right angle
        let ended = self.flagged.contains(&(coupling.pairs[i].key, Watch::SlipEnd));
        let planar = coupling.range(i).len() == 2;
        let stops = speed <= limit || (ended && (planar || self.is_stopping));
        (!stops).then(|| slip.map(|x| x / speed))
    }

    /// Multipliers of redundant contacts are not unique: a contact leaves or slips only if the contact problem says so. Corrects the
    /// monitors of the last evaluation.
    pub fn arbitrate(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
    ) -> Result<(), StepError> {
        if !acceleration.monitors.iter().any(|m| m.violated) {
            return Ok(());
        }
        self.candidates.clear();
        for (law, pair) in acceleration.coupling.pairs.iter().enumerate().filter(|(_, p)| p.law != Law::Equality) {
            let slip = match self.phase.mode(pair.key, law, pair.law) {
                Mode::Open => continue,
                Mode::Held | Mode::Stick => None,
                Mode::Slip(d) => Some(d),
            };
            self.candidates.push(Candidate { law, slip, leaving: false });
        }
        self.contact.settle(acceleration, system, &self.candidates, &mut self.other)?;
        self.solves += 1;
        for monitor in &mut acceleration.monitors {
            let mode = self.other.mode(monitor.key, usize::MAX, Law::Unilateral);
            monitor.violated = match monitor.watch {
                Watch::TakeOff => mode == Mode::Open,
                Watch::StickLimit => matches!(mode, Mode::Slip(_)),
                Watch::Closing | Watch::SlipEnd => monitor.violated,
            };
            monitor.value = if monitor.violated { -monitor.value.abs() } else { monitor.value.abs() };
        }
        Ok(())
    }
}
