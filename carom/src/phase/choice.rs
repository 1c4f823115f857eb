//! The phase that starts at an event: impacts first, then the contact problem among the contacts that stay.
//!
//! A contact that touches is closed if its velocity is rounding or below the resolution, if its next flight is not
//! resolvable (2 U/|a|), or if it would not rise above the rounding of its gap (U²/2|a|); then the contact problem
//! decides whether it stays. Where the rows of such contacts are dependent, or where regions meet, the edge problem may
//! be asked first. Each change of mode is an event.

use super::acceleration::ModeChange;
use super::contact::Candidate;
use super::mode::Mode;
use super::projection::gap_rounding_at;
use super::transition::{ROUNDING, Transition};
use crate::{EventKind, Mechanical, State, StepError, System};

/// Most impacts without time between them.
const AT_ONCE: u32 = 16;

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
        if self.resolution.speed > 0.0 && self.approaches(&state.v) {
            impacts += 1;
            self.apply_impact(system, 0.0, state)?;
        }
        loop {
            self.phase.open(&self.acceleration.coupling);
            self.phase.still = 0.0;
            self.candidates.clear();
            self.marks.iter_mut().for_each(|mark| mark.is_asked = false);
            let mut approaches = false;
            while self.add_candidates(system, state, &mut approaches)? && !approaches {
                self.drop_behind_edge(system, state)?;
                let certificate =
                    self.contact.choose_modes(&self.acceleration, system, &self.candidates, &mut self.phase)?;
                self.worst = self.worst.worse(certificate);
                self.solves += 1;
            }
            if !approaches || impacts >= AT_ONCE {
                break;
            }
            impacts += 1;
            self.apply_impact(system, 0.0, state)?;
        }
        self.phase.recognise(&self.last);
        self.is_evaluated = self.phase.is_free() && self.is_touching() && self.candidates.is_empty();
        self.project(system, state)?;
        if announced {
            self.announce(state);
        }
        self.marks.iter_mut().for_each(|mark| mark.struck = false);
        Ok(())
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
        let fastest = state.v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let (row, mark) = (coupling.offset[i], self.marks[i]);
            if mark.is_asked || pair.law.is_equality() || !mark.touches {
                continue;
            }
            let (u, rounding) = self.velocity(row, &state.v);
            let a = coupling.rows.dot(row, &self.acceleration.value) + self.acceleration.curvature.value[row];
            let unresolved = 2.0 * u.abs() <= -a * self.resolution.flight;
            let invisible = u * u <= -2.0 * a * self.resolution.rise * gap_rounding_at(coupling, i, state);
            // one that was held may approach by what the flow has left; others have an impact first
            let held = self.last.mode(i).is_closed();
            let least = if held { -self.resolution.speed } else { 0.0 };
            // what other constraints have left of a velocity is rounded like the fastest one
            let noise = rounding.max(ROUNDING * f64::EPSILON * fastest * size_of_row(coupling.rows.row(row)));
            let slow = u <= rounding.max(self.resolution.speed) && u >= least.min(-noise);
            if slow || unresolved || invisible {
                let leaving = mark.has(ModeChange::TakeOff) || mark.has(ModeChange::StickLimit);
                self.marks[i].is_asked = true;
                let (slip, limit) = self.slip(i, &state.v);
                self.phase.still = self.phase.still.max(limit);
                self.candidates.push(Candidate { law: i, slip, leaving });
            } else if u < 0.0 {
                *approaches = true;
            }
        }
        Ok(self.candidates.len() > known)
    }

    /// The direction in which a contact slips, if it does so beyond what is resolved, and what is.
    fn slip(&self, i: usize, v: &[f64]) -> (Option<[f64; 2]>, f64) {
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
            speed = speed.hypot(u);
        }
        // a planar slip that was seen to end has ended; a spatial one may merely have turned by more than a right angle
        let ended = self.marks[i].has(ModeChange::SlipEnd);
        let planar = coupling.range(i).len() == 2;
        let stops = speed <= limit || (ended && (planar || self.is_stopping));
        ((!stops).then(|| slip.map(|x| x / speed)), limit)
    }

    /// Multipliers of redundant contacts are not unique: a contact leaves or slips only if the contact problem says so,
    /// and one does leave where not all of them can be held. Corrects the monitors of the last evaluation.
    pub fn resolve_redundancy(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        if !(self.acceleration.is_contradictory() || self.acceleration.monitors.iter().any(|m| m.violated)) {
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
}

/// Σ |c| of a row.
fn size_of_row(row: &[(usize, f64)]) -> f64 {
    row.iter().map(|(_, c)| c.abs()).sum()
}
