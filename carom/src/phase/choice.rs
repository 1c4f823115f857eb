//! The phase that starts at an event: impacts first, then the contact problem among the contacts that stay.
//!
//! A contact that touches is closed if its velocity is rounding or below the resolution, if its next flight is not
//! resolvable (2 U/|a|), or if it would not rise above the rounding of its gap (U²/2|a|); then the contact problem
//! decides whether it stays. Where the rows of such contacts are dependent, or where regions meet, the edge problem may
//! be asked first. Each change of mode is an event.

use super::acceleration::{ModeChange, Monitor, size_of};
use super::contact::{Candidate, NEARLY};
use super::mode::Mode;
use super::transition::{ROUNDING, Transition};
use crate::{EventKind, Mechanical, State, StepError, System, WarningKind};
use carom_solve::elementary::hypot;

/// Reactions at less than this part of the largest from the limit of their cones are there.
const LIMIT: f64 = 1e-6;

/// Most impacts without time between them.
const AT_ONCE: u32 = 16;

/// Impacts that do not end.
pub const AT_ONE_INSTANT: WarningKind = WarningKind {
    name: "impacts-at-once",
    message: "a contact still approaches after 16 impacts at one instant",
    unit: "of the velocities behind the contact",
    hint: "look for a contact that no impulse can stop, or for contacts that contradict each other",
};

impl Transition {
    /// Chooses the phase that starts here among the contacts that touch, after impacts where some approach. Changes of
    /// mode are events if `announced`.
    pub fn choose_phase(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        state: &mut State,
        announced: bool,
    ) -> Result<(), StepError> {
        let mut impacts = 0;
        self.is_evaluated = false;
        self.last.copy_from(&self.phase);
        self.start.copy_from(state);
        // an impact that is fast enough to be one needs no accelerations
        if self.resolution.speed != Some(0.0) && self.approaches(&state.v) {
            impacts += 1;
            self.apply_impact(system, 0.0, state)?;
        }
        for _ in 0..AT_ONCE {
            self.settle(system, state, &mut impacts)?;
            self.phase.recognise(&self.last);
            self.is_evaluated = self.phase.is_free() && self.is_touching() && self.candidates.is_empty();
            self.project(system, state)?;
            if !self.has_turned(&state.v) {
                break;
            }
        }
        if announced {
            self.announce(state);
        }
        self.marks.iter_mut().for_each(|mark| mark.struck = false);
        Ok(())
    }

    /// Impacts until no contact that touches approaches, and the modes of those that stay.
    fn settle(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        state: &mut State,
        impacts: &mut u32,
    ) -> Result<(), StepError> {
        loop {
            self.phase.open(&self.acceleration.coupling);
            self.phase.still = 0.0;
            self.candidates.clear();
            self.marks.iter_mut().for_each(|mark| mark.is_asked = false);
            let mut approaches = false;
            while self.add_candidates(system, state, &mut approaches)? && !approaches {
                self.drop_behind_edge(system, state)?;
                if self.rests(system, state)? {
                    continue;
                }
                self.rub_candidates(system, state)?;
                let certificate =
                    self.contact.choose_modes(&self.acceleration, system, &self.candidates, &mut self.phase)?;
                self.worst = self.worst.worse(certificate);
                self.solves += 1;
            }
            if !approaches {
                return Ok(());
            }
            if *impacts >= AT_ONCE {
                self.warn_of_impacts(state);
                return Ok(());
            }
            *impacts += 1;
            self.apply_impact(system, 0.0, state)?;
        }
    }

    /// The friction of candidates that do not slide is that of rest, where it varies.
    fn rub_candidates(&mut self, system: &mut System<'_, dyn Mechanical>, state: &State) -> Result<(), StepError> {
        let Transition { acceleration, candidates, .. } = self;
        let rests = |i| candidates.iter().any(|c| c.law == i && c.slip.is_none());
        let at = (state.t, &state.q[..], &state.v[..]);
        Ok(acceleration.rubbing.rub(system.model, at, rests, &mut acceleration.coupling)?)
    }

    /// Tells which contacts that touch still approach.
    #[cold]
    fn warn_of_impacts(&mut self, state: &State) {
        for i in 0..self.marks.len() {
            let row = self.acceleration.coupling.offset[i];
            let (u, rounding) = self.velocity(row, &state.v);
            if self.marks[i].touches && !self.marks[i].is_asked && u < 0.0 {
                let contact = self.acceleration.coupling.pairs[i].key;
                let part = -u * ROUNDING * f64::EPSILON / rounding;
                self.warnings.raise(&AT_ONE_INSTANT, state.t, Some(contact), part);
            }
        }
    }

    /// Whether a contact slips against the direction of its mode: what it had left of a normal velocity was taken from
    /// it, and its slip has changed with that. It is told then that it has not ended. A spatial slip that has come to
    /// its stop and goes on the other way is at rest: what is left of it ends before anything is resolved.
    fn has_turned(&mut self, v: &[f64]) -> bool {
        let mut turned = false;
        for k in 0..self.candidates.len() {
            let i = self.candidates[k].law;
            let Mode::Slip(d) = self.phase.mode(i) else { continue };
            let (slip, _) = self.slip(i, v, false);
            if slip.is_none_or(|slip| slip[0] * d[0] + slip[1] * d[1] >= 0.0) {
                continue;
            }
            if self.is_stopping && self.marks[i].has(ModeChange::SlipEnd) {
                let rows = self.acceleration.coupling.range(i).skip(1);
                let speed = rows.fold(0.0f64, |speed, row| hypot(speed, self.velocity(row, v).0));
                self.phase.still = self.phase.still.max(speed);
            } else {
                self.marks[i].clear(ModeChange::SlipEnd);
                turned = true;
            }
        }
        turned
    }

    /// Drops the candidates that do not carry behind an edge: where regions meet, and where rows are dependent.
    fn drop_behind_edge(&mut self, system: &mut System<'_, dyn Mechanical>, state: &State) -> Result<(), StepError> {
        let Some((sorting, h)) = self.sorting.filter(|_| self.candidates.len() > 1) else { return Ok(()) };
        // bilateral laws come first: they take part and stay
        let bilateral = self.acceleration.coupling.pairs.iter().enumerate().filter(|(_, pair)| pair.law.is_equality());
        self.active.clear();
        self.active.extend(bilateral.map(|(i, _)| i));
        let mut k = self.active.len();
        self.active.extend(self.candidates.iter().map(|c| c.law));
        if !(self.is_crossing || self.edge.is_dependent(&self.acceleration, system.model, &self.active)) {
            return Ok(());
        }
        self.edge.solve(sorting, (&mut self.acceleration, &self.phase), system, (&self.active, state), h)?;
        self.solves += 1;
        let edge = &self.edge;
        self.candidates.retain(|_| {
            k += 1;
            edge.carries(k - 1)
        });
        Ok(())
    }

    /// Changes of mode as events.
    fn announce(&mut self, state: &State) {
        if self.phase.version() == self.last.version() {
            return;
        }
        for (i, pair) in self.acceleration.coupling.pairs.iter().enumerate() {
            let (modes, struck) = ((self.last.mode(i), self.phase.mode(i)), self.marks[i].struck);
            let bounces = || struck || self.hop.is_next(pair.key, state.t);
            let kind = match modes {
                (Mode::Open, Mode::Open) => continue,
                (Mode::Open, _) if pair.restitution > 0.0 && bounces() => EventKind::Accumulation,
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

    /// Adds the contacts that are closed as far as the current phase tells; returns whether there are new ones.
    /// `approaches` tells whether one that is not closed moves against its wall.
    fn add_candidates(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        state: &State,
        approaches: &mut bool,
    ) -> Result<bool, StepError> {
        if !self.is_touching() {
            return Ok(false);
        }
        self.acceleration.with_monitors(system.model, &self.phase, (state.t, &state.q, &state.v))?;
        let known = self.candidates.len();
        let coupling = &self.acceleration.coupling;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let (row, mark) = (coupling.offset[i], self.marks[i]);
            if mark.is_asked || pair.law.is_equality() || !mark.touches {
                continue;
            }
            let (u, rounding) = self.velocity(row, &state.v);
            let a = coupling.rows.dot(row, &self.acceleration.value) + self.acceleration.curvature.value[row];
            let unresolved = 2.0 * u.abs() <= -a * self.resolution.flight;
            let noise = self.acceleration.sizes.gap_rounding_at(coupling, i, state);
            let invisible = u * u <= -2.0 * a * self.resolution.rise * noise || (mark.struck && self.hop.is_lost(a));
            // one that was held may approach by what the flow has left; others have an impact first
            let held = self.last.mode(i).is_closed();
            let limit = self.slow(i, &self.start.v);
            let least = if held { -limit } else { 0.0 };
            // what other constraints have left of a velocity is rounded like the fastest one, also of those before an
            // impact
            let fastest = self.acceleration.sizes.share_of(coupling.rows.row(row), (&state.v, &self.start.v));
            let noise = rounding.max(ROUNDING * f64::EPSILON * fastest);
            let slow = u <= rounding.max(limit) && u >= least.min(-noise);
            if slow || unresolved || invisible {
                let leaving = mark.has(ModeChange::TakeOff) || mark.has(ModeChange::StickLimit);
                self.marks[i].is_asked = true;
                let (slip, limit) = self.slip(i, &state.v, mark.has(ModeChange::SlipEnd));
                let rest = if slip.is_none() { self.slip_at_rest(i, &state.v) } else { 0.0 };
                self.phase.still = self.phase.still.max(limit).max(rest);
                self.candidates.push(Candidate { law: i, slip, leaving });
            } else if u < 0.0 {
                *approaches = true;
            }
        }
        Ok(self.candidates.len() > known)
    }

    /// The direction in which a contact slips, if it does so beyond what is resolved, and what is; `ended` tells
    /// whether its slip was seen to end.
    fn slip(&self, i: usize, v: &[f64], ended: bool) -> (Option<[f64; 2]>, f64) {
        let coupling = &self.acceleration.coupling;
        let (mut slip, mut limit, mut speed) = ([0.0; 2], 0.0f64, 0.0f64);
        let normal = coupling.offset[i];
        let press = coupling.rows.dot(normal, &self.acceleration.free) + self.acceleration.curvature.value[normal];
        let brake = coupling.pairs[i].law.mu() * press.abs();
        for (k, row) in coupling.range(i).skip(1).enumerate() {
            let (u, rounding) = self.velocity(row, v);
            let terms = coupling.rows.row(row).iter().map(|&(j, c)| (c * self.acceleration.free[j]).abs()).sum::<f64>();
            let change = terms + self.acceleration.curvature.value[row].abs() + brake;
            limit = limit.max(rounding + self.resolution.flight * change);
            slip[k] = u;
            speed = hypot(speed, u);
        }
        // a planar slip that was seen to end has ended; a spatial one may merely have turned by more than a right angle
        let planar = coupling.range(i).len() == 2;
        let stops = speed <= limit.max(self.slip_at_rest(i, v)) || (ended && (planar || self.is_stopping));
        ((!stops).then(|| slip.map(|x| x / speed)), limit)
    }

    /// Multipliers of redundant contacts are not unique: a contact leaves or slips only if no multiplier is inside all
    /// cones, and one does leave where not all of them can be held, as the contact problem says. Corrects the monitors
    /// of the last evaluation, which was at the velocity `v`.
    pub fn resolve_redundancy(&mut self, system: &mut System<'_, dyn Mechanical>, v: &[f64]) -> Result<(), StepError> {
        if !self.acceleration.is_contradictory() {
            self.acceleration.admit(&self.phase, v);
            return Ok(());
        }
        self.candidates.clear();
        for (law, pair) in self.acceleration.coupling.pairs.iter().enumerate() {
            let slip = match self.phase.mode(law) {
                _ if pair.law.is_equality() => continue,
                Mode::Open => continue,
                Mode::Held | Mode::Stick => None,
                Mode::Slip(d) => Some(d),
            };
            self.candidates.push(Candidate { law, slip, leaving: false });
        }
        self.contact.choose_modes(&self.acceleration, system, &self.candidates, &mut self.other)?;
        self.solves += 1;
        for monitor in &mut self.acceleration.monitors {
            let mode = self.other.mode(monitor.law);
            monitor.violated = match monitor.change {
                ModeChange::TakeOff => mode == Mode::Open,
                ModeChange::StickLimit => matches!(mode, Mode::Slip(_)),
                ModeChange::Closing | ModeChange::SlipEnd => monitor.violated,
            };
            monitor.value = if monitor.violated { -monitor.value.abs() } else { monitor.value.abs() };
        }
        Ok(())
    }

    /// Whether all candidates that do not slip can stay at rest: then they do, whatever reactions a solver would find.
    /// Where they are at the limit of that, those slip or leave that have nothing in reserve.
    fn rests(&mut self, system: &mut System<'_, dyn Mechanical>, state: &State) -> Result<bool, StepError> {
        let coupling = &self.acceleration.coupling;
        let rubs = |c: &Candidate| coupling.pairs[c.law].law.mu() > 0.0 || self.acceleration.rubbing.varies;
        let sticks = |c: &Candidate| coupling.range(c.law).len() > 1 && rubs(c);
        if self.candidates.iter().any(|c| c.slip.is_some()) || !self.candidates.iter().any(sticks) {
            return Ok(false);
        }
        self.phase.open(coupling);
        for candidate in &self.candidates {
            self.phase.set(candidate.law, if sticks(candidate) { Mode::Stick } else { Mode::Held });
        }
        if self.is_kept(system, state)? {
            return Ok(true);
        }
        if self.acceleration.is_contradictory() || !self.acceleration.is_deficient {
            return Ok(false);
        }
        let (lambda, coupling) = (&self.acceleration.lambda, &self.acceleration.coupling);
        let scale = lambda.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for candidate in &self.candidates {
            let (range, mu) = (coupling.range(candidate.law), coupling.pairs[candidate.law].law.mu());
            let (normal, tangents) = (lambda[range.start], &lambda[range.start + 1..range.end]);
            let tangent = tangents.iter().map(|x| x * x).sum::<f64>().sqrt();
            let reserve = mu * normal - tangent;
            if normal.abs() <= LIMIT * scale {
                self.phase.set(candidate.law, Mode::Open);
            } else if normal < 0.0 || reserve < -LIMIT * scale {
                // beyond the limit: accelerations tell
                return Ok(false);
            } else if tangent > 0.0 && reserve <= LIMIT * scale {
                let mut d = [0.0; 2];
                d.iter_mut().zip(tangents).for_each(|(d, x)| *d = -x / tangent);
                self.phase.set(candidate.law, Mode::Slip(d));
            }
        }
        self.is_kept(system, state)
    }

    /// Whether no law wants to change its mode in the phase at hand, at a state where no contact moves.
    fn is_kept(&mut self, system: &mut System<'_, dyn Mechanical>, state: &State) -> Result<bool, StepError> {
        let (phase, acceleration) = (&self.phase, &mut self.acceleration);
        acceleration.with_monitors(system.model, phase, (state.t, &state.q, &state.v))?;
        acceleration.admit(phase, &state.v);
        let (coupling, curvature) = (&acceleration.coupling, &acceleration.curvature.value);
        let along = |row: usize| coupling.rows.dot(row, &acceleration.value) + curvature[row];
        let terms = |row: usize| size_of(coupling.rows.row(row), &acceleration.free) + curvature[row].abs();
        let moves = |c: &Candidate| {
            let range = coupling.range(c.law);
            match phase.mode(c.law) {
                Mode::Open => along(range.start) >= -NEARLY * terms(range.start),
                Mode::Slip(d) => {
                    let rows = || range.clone().skip(1).zip(d);
                    let size = rows().map(|(row, _)| terms(row)).sum::<f64>() + terms(range.start);
                    rows().map(|(row, d)| d * along(row)).sum::<f64>() >= -NEARLY * size
                }
                Mode::Held | Mode::Stick => true,
            }
        };
        let is_violated = |m: &Monitor| m.violated && m.change != ModeChange::SlipEnd;
        Ok(!acceleration.is_contradictory()
            && !acceleration.monitors.iter().any(is_violated)
            && self.candidates.iter().all(moves))
    }
}
