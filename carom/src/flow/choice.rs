//! The phase that starts at an event: impacts first, then the contact problem among the contacts that stay.
//!
//! A contact that touches is closed if its velocity is rounding or below the resolution, if its next flight is not resolvable (2 U/|a|),
//! or if it would not rise above the rounding of its gap (U²/2|a|); then the contact problem decides whether it stays. Where the rows of
//! such contacts are dependent, or where regions meet, the edge problem may be asked first. Each change of mode is an event.

use super::acceleration::{Acceleration, Watch};
use super::contact::Candidate;
use super::phase::Mode;
use super::projection::gap_rounding_at;
use super::transition::{ROUNDING, Transition};
use crate::scheme::{EventKind, StepError, System};
use crate::{Mechanical, State};
use carom_solve::Law;

/// Most impacts without time between them.
const AT_ONCE: u32 = 16;

impl Transition {
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
            self.phase.still = 0.0;
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

    /// Drops the candidates that do not carry behind an edge: where regions meet, and where rows are dependent.
    fn sort(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        state: &State,
    ) -> Result<(), StepError> {
        let Some((sorting, h)) = self.sorting.filter(|_| self.candidates.len() > 1) else { return Ok(()) };
        // bilateral laws come first: they take part and stay
        let bilateral = acceleration.coupling.pairs.iter().enumerate().filter(|(_, pair)| pair.law.is_equality());
        self.active.clear();
        self.active.extend(bilateral.map(|(i, _)| i));
        let mut k = self.active.len();
        self.active.extend(self.candidates.iter().map(|c| c.law));
        if !(self.is_crossing || self.edge.is_dependent(acceleration, system.model, &self.active)) {
            return Ok(());
        }
        self.edge.solve(sorting, acceleration, system, (&self.active, state), h)?;
        self.solves += 1;
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
        let fastest = state.v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let row = coupling.offset[i];
            let listed = self.candidates.iter().any(|c| c.law == i) || self.dropped.contains(&i);
            if listed || pair.law.is_equality() || !self.touching.contains(&pair.key) {
                continue;
            }
            let (u, rounding) = Self::velocity(acceleration, row, &state.v);
            let a = coupling.rows.dot(row, &acceleration.value) + acceleration.curvature.value[row];
            let unresolved = 2.0 * u.abs() <= -a * self.resolution.flight;
            let invisible = u * u <= -2.0 * a * self.resolution.rise * gap_rounding_at(coupling, i, state);
            let flagged = |watch: Watch| self.flagged.contains(&(pair.key, watch));
            // one that was held may approach by what the flow has left; others have an impact first
            let held = self.last.mode(pair.key, i, pair.law).is_closed();
            let least = if held { -self.resolution.speed } else { 0.0 };
            // what other constraints have left of a velocity is rounded like the fastest one
            let noise = rounding.max(ROUNDING * f64::EPSILON * fastest * size_of_row(coupling.rows.row(row)));
            let slow = u <= rounding.max(self.resolution.speed) && u >= least.min(-noise);
            if slow || unresolved || invisible {
                let leaving = flagged(Watch::TakeOff) || flagged(Watch::StickLimit);
                let (slip, limit) = self.slip(acceleration, i, &state.v);
                self.phase.still = self.phase.still.max(limit);
                self.candidates.push(Candidate { law: i, slip, leaving });
            } else if u < 0.0 {
                *approaches = true;
            }
        }
        Ok(self.candidates.len() > known)
    }

    /// The direction in which a contact slips, if it does so beyond what is resolved, and what is.
    fn slip(&self, acceleration: &Acceleration, i: usize, v: &[f64]) -> (Option<[f64; 2]>, f64) {
        let coupling = &acceleration.coupling;
        let (mut slip, mut limit, mut speed) = ([0.0; 2], 0.0f64, 0.0f64);
        let normal = coupling.offset[i];
        let press = coupling.rows.dot(normal, &acceleration.free) + acceleration.curvature.value[normal];
        let brake = coupling.pairs[i].law.mu() * press.abs();
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
        ((!stops).then(|| slip.map(|x| x / speed)), limit)
    }

    /// Multipliers of redundant contacts are not unique: a contact leaves or slips only if the contact problem says so, and one does leave
    /// where not all of them can be held. Corrects the monitors of the last evaluation.
    pub fn arbitrate(
        &mut self,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
    ) -> Result<(), StepError> {
        if !(acceleration.is_contradictory() || acceleration.monitors.iter().any(|m| m.violated)) {
            return Ok(());
        }
        self.candidates.clear();
        for (law, pair) in acceleration.coupling.pairs.iter().enumerate().filter(|(_, p)| !p.law.is_equality()) {
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
            let mode = self.other.mode(monitor.key, usize::MAX, Law::UNILATERAL);
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

/// Σ |c| of a row.
fn size_of_row(row: &[(usize, f64)]) -> f64 {
    row.iter().map(|(_, c)| c.abs()).sum()
}
