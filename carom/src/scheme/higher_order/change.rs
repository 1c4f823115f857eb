//! What happens between smooth phases: impacts over the critical interval, and the choice of the next phase.
//!
//! A contact that touches is closed if its velocity is rounding, if its next flight is not resolvable (2 U/|a| at most `closing` δ), or if it
//! would not rise above the rounding of its gap (U²/2|a|); then the contact problem decides whether it stays. The flight time counts and
//! not the velocity: a velocity may decay for ever at constant flight times.

use super::Work;
use crate::flow::acceleration::friction;
use crate::flow::projection::gap_rounding;
use crate::flow::{Candidate, Mode, Watch};
use crate::scheme::{StepError, System};
use crate::{Mechanical, State};
use carom_solve::Law;

/// Most impacts without time between them.
const AT_ONCE: u32 = 16;

/// Gaps and velocities count as zero below this multiple of their rounding.
const ROUNDING: f64 = 16.0;

impl Work {
    /// Whether law `i` of the coupling touches at `state`, which the coupling belongs to.
    fn touches(&self, i: usize, state: &State) -> bool {
        let coupling = &self.stages.acceleration.coupling;
        let pair = coupling.pairs[i];
        pair.law != Law::Equality && coupling.gap(i) <= ROUNDING * gap_rounding(coupling, i, &state.q)
    }

    /// Whether law `i` is a contact that is closed and inside its region.
    fn holds(&self, i: usize) -> bool {
        let coupling = &self.stages.acceleration.coupling;
        let pair = coupling.pairs[i];
        let closed = pair.law != Law::Equality && self.phase.mode(pair.key, i, pair.law).is_closed();
        closed && coupling.is_present(i)
    }

    /// Whether law `i` is a contact that is closed and has left its region.
    fn is_beyond(&self, i: usize) -> bool {
        let coupling = &self.stages.acceleration.coupling;
        let pair = coupling.pairs[i];
        !coupling.is_present(i) && self.phase.mode(pair.key, i, pair.law).is_closed()
    }

    /// Normal velocity of law `i`, and what of it is rounding.
    fn normal_velocity(&self, i: usize) -> (f64, f64) {
        self.velocity(self.stages.acceleration.coupling.offset[i])
    }

    fn velocity(&self, row: usize) -> (f64, f64) {
        let coupling = &self.stages.acceleration.coupling;
        let terms = coupling.rows.row(row).iter().map(|&(j, c)| (c * self.state.v[j]).abs()).sum::<f64>();
        let size = terms + coupling.drift[row].abs();
        (coupling.rows.dot(row, &self.state.v) + coupling.drift[row], ROUNDING * f64::EPSILON * size)
    }

    /// The phase in which a step starts: the one that the last step ended in, if this is its end, or a new one.
    pub(super) fn enter(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        let known = self.is_known && self.end.q == self.state.q && self.end.v == self.state.v;
        self.is_known = false;
        self.stages.acceleration.couple(system.model, self.state.t, &self.state.q)?;
        self.touching.clear();
        let (mut approaches, mut vanished) = (false, false);
        for i in 0..self.stages.acceleration.coupling.len() {
            vanished |= self.is_beyond(i);
            if !self.touches(i, &self.state) {
                continue;
            }
            let pair = self.stages.acceleration.coupling.pairs[i];
            self.touching.push(pair.key);
            let (u, rounding) = self.normal_velocity(i);
            approaches |= u < -rounding && !(known && self.phase.mode(pair.key, i, pair.law).is_closed());
        }
        if known && !(approaches || vanished) {
            return Ok(());
        }
        self.flagged.clear();
        self.settle(system)
    }

    /// Ends the phase at the bracket: an impact at its left end over its width, or a change of mode at its right end.
    pub(super) fn change(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.flagged.clear();
        self.flagged.extend(self.right.monitors.iter().filter(|m| m.violated).map(|m| (m.key, m.watch)));
        let (left, right) = (self.left.u, self.right.u);
        let impact = self.flagged.iter().any(|f| f.1 == Watch::Closing);
        if !impact {
            std::mem::swap(&mut self.left, &mut self.right);
        }
        self.arrive(system)?;
        self.touching.clear();
        self.touching.extend(self.flagged.iter().filter(|f| f.1 == Watch::Closing).map(|f| f.0));
        let coupling = &self.stages.acceleration.coupling;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let closed = self.holds(i);
            if (closed || self.touches(i, &self.state)) && !self.touching.contains(&pair.key) {
                self.touching.push(pair.key);
            }
        }
        if impact {
            self.strike(system, right - left)?;
        }
        self.settle(system)
    }

    /// How far a phase may go at once: a spatial slip at most to half its speed. Nothing if it has come to its stop.
    pub(super) fn reach(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        left: f64,
    ) -> Result<Option<f64>, StepError> {
        let State { t, q, v } = &self.state;
        let coupling = &self.stages.acceleration.coupling;
        let turns = |(i, pair): (usize, &crate::Pair)| {
            coupling.range(i).len() == 3 && matches!(self.phase.mode(pair.key, i, pair.law), Mode::Slip(_))
        };
        if !coupling.pairs.iter().enumerate().any(turns) {
            return Ok(Some(left));
        }
        self.stages.acceleration.survey(system.model, &self.phase, (*t, q, v))?;
        let (coupling, acceleration) = (&self.stages.acceleration.coupling, &self.stages.acceleration);
        let mut reach = left;
        self.flagged.clear();
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Mode::Slip(_) = self.phase.mode(pair.key, i, pair.law) else { continue };
            let (mut square, mut power) = (0.0, 0.0);
            for row in coupling.range(i).skip(1) {
                let u = self.velocity(row).0;
                square += u * u;
                power += u * (coupling.rows.dot(row, &acceleration.value) + acceleration.curvature.value[row]);
            }
            // |u| falls at the rate −u·u̇/|u|
            if coupling.range(i).len() == 3 && power < 0.0 {
                let stop = -square / power;
                if stop <= self.closing * self.delta {
                    self.flagged.push((pair.key, Watch::SlipEnd));
                }
                reach = reach.min(0.5 * stop);
            }
        }
        Ok(self.flagged.is_empty().then_some(reach))
    }

    /// Ends the spatial slips that `reach` has found to stop.
    pub(super) fn stop(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.touching.clear();
        let coupling = &self.stages.acceleration.coupling;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            if self.holds(i) {
                self.touching.push(pair.key);
            }
        }
        self.is_stopping = true;
        let settled = self.settle(system);
        self.is_stopping = false;
        settled
    }

    /// Moves to the state of `left`, on the constraints of the phase, and books what the reactions did on the way.
    pub(super) fn arrive(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.state.copy_from(&self.left.state);
        self.book(false);
        self.project(system)
    }

    /// Onto the constraints of the phase; leaves the coupling at the state.
    fn project(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        let acceleration = &mut self.stages.acceleration;
        if self.phase.is_free() {
            return Ok(acceleration.couple(system.model, self.state.t, &self.state.q)?);
        }
        self.projection.positions(acceleration, system.model, &self.phase, &mut self.state)?;
        Ok(self.projection.velocities(acceleration, system.model, &self.phase, &mut self.state)?)
    }

    /// One impact of all contacts that touch, over a critical interval of this width; they end on the wall.
    fn strike(&mut self, system: &mut System<'_, dyn Mechanical>, width: f64) -> Result<(), StepError> {
        let acceleration = &mut self.stages.acceleration;
        self.active.clear();
        self.other.open(&acceleration.coupling);
        for (i, pair) in acceleration.coupling.pairs.iter().enumerate() {
            if pair.law == Law::Equality || self.touching.contains(&pair.key) {
                self.active.push(i);
                self.other.set(pair.key, Mode::Held);
            }
        }
        let tools = (acceleration, &mut self.projection);
        self.right.state.copy_from(&self.state);
        let certificate = self.contact.impact(tools, system, &self.active, width, &mut self.state)?;
        self.worst = self.worst.worse(certificate);
        self.solves += 1;
        self.book(true);
        if width > 0.0 {
            let ends = self.right.state.v.iter().zip(&self.state.v);
            for (d, (before, after)) in self.increment.iter_mut().zip(ends) {
                *d = 0.5 * width * (before + after);
            }
            system.model.retract(&self.right.state.q, &self.increment, &mut self.state.q);
            self.state.t += width;
        }
        self.projection.positions(&mut self.stages.acceleration, system.model, &self.other, &mut self.state)?;
        Ok(())
    }

    /// Chooses the phase that starts here among the contacts that touch, after impacts where some approach.
    fn settle(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        let mut strikes = 0;
        self.last.copy_from(&self.phase);
        loop {
            self.phase.open(&self.stages.acceleration.coupling);
            self.candidates.clear();
            let mut approaches = false;
            while self.recruit(system, &mut approaches)? && !approaches {
                let acceleration = &self.stages.acceleration;
                let certificate = self.contact.settle(acceleration, system, &self.candidates, &mut self.phase)?;
                self.worst = self.worst.worse(certificate);
                self.solves += 1;
            }
            if !approaches || strikes >= AT_ONCE {
                break;
            }
            strikes += 1;
            self.strike(system, 0.0)?;
        }
        self.phase.recognise(&self.last);
        self.project(system)
    }

    /// Adds the contacts that are closed as far as the current phase tells; returns whether there are new ones. `approaches` tells
    /// whether one that is not closed moves against its wall.
    fn recruit(&mut self, system: &mut System<'_, dyn Mechanical>, approaches: &mut bool) -> Result<bool, StepError> {
        if self.touching.is_empty() {
            return Ok(false);
        }
        let State { t, q, v } = &self.state;
        self.stages.acceleration.survey(system.model, &self.phase, (*t, q, v))?;
        let known = self.candidates.len();
        for i in 0..self.stages.acceleration.coupling.len() {
            let (coupling, acceleration) = (&self.stages.acceleration.coupling, &self.stages.acceleration);
            let (pair, row) = (coupling.pairs[i], coupling.offset[i]);
            let listed = self.candidates.iter().any(|c| c.law == i);
            if listed || pair.law == Law::Equality || !self.touching.contains(&pair.key) {
                continue;
            }
            let (u, rounding) = self.normal_velocity(i);
            let a = coupling.rows.dot(row, &acceleration.value) + acceleration.curvature.value[row];
            let unresolved = 2.0 * u.abs() <= -a * self.closing * self.delta;
            let invisible = u * u <= -8.0 * a * gap_rounding(coupling, i, q);
            let flagged = |watch: Watch| self.flagged.contains(&(pair.key, watch));
            if u.abs() <= rounding || unresolved || invisible {
                let leaving = flagged(Watch::TakeOff) || flagged(Watch::StickLimit);
                self.candidates.push(Candidate { law: i, slip: self.slip(i), leaving });
            } else if u < 0.0 {
                *approaches = true;
            }
        }
        Ok(self.candidates.len() > known)
    }

    /// The direction in which a contact slips, if it does so beyond what δ resolves.
    fn slip(&self, i: usize) -> Option<[f64; 2]> {
        let (coupling, acceleration) = (&self.stages.acceleration.coupling, &self.stages.acceleration);
        let (mut slip, mut limit, mut speed) = ([0.0; 2], 0.0f64, 0.0f64);
        let normal = coupling.offset[i];
        let press = coupling.rows.dot(normal, &acceleration.free) + acceleration.curvature.value[normal];
        let brake = friction(coupling.pairs[i].law) * press.abs();
        for (k, row) in coupling.range(i).skip(1).enumerate() {
            let (u, rounding) = self.velocity(row);
            let terms = coupling.rows.row(row).iter().map(|&(j, c)| (c * acceleration.free[j]).abs()).sum::<f64>();
            let change = terms + acceleration.curvature.value[row].abs() + brake;
            limit = limit.max(rounding + self.closing * self.delta * change);
            slip[k] = u;
            speed = speed.hypot(u);
        }
        // a planar slip that was seen to end has ended; a spatial one may merely have turned by more than a right angle
        let ended = self.flagged.contains(&(coupling.pairs[i].key, Watch::SlipEnd));
        let planar = coupling.range(i).len() == 2;
        let stops = speed <= limit || (ended && (planar || self.is_stopping));
        (!stops).then(|| slip.map(|x| x / speed))
    }

    /// Books impulses and work: those of the last smooth part, or those of the last impact.
    fn book(&mut self, impact: bool) {
        let coupling = &self.stages.acceleration.coupling;
        let (impulse, reactions) =
            (if impact { &self.contact.impulse } else { &self.left.impulse }, &mut self.reactions);
        if impulse.iter().all(|p| *p == 0.0) {
            return;
        }
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Some(j) = reactions.find(pair.key, i) else { continue };
            for (row, place) in coupling.range(i).zip(reactions.range(j)) {
                let Some(p) = impulse.get(row).filter(|p| **p != 0.0) else { continue };
                reactions.impulse[place] += p;
                if !impact {
                    reactions.work[place] += self.left.work[row];
                    continue;
                }
                let (before, after) = (self.contact.before[row], self.contact.after[row]);
                reactions.work[place] += 0.5 * p * (before + after);
                if !self.struck[j] {
                    reactions.before[place] = before;
                }
                reactions.after[place] = after;
            }
            if impact && impulse.get(coupling.offset[i]).is_some_and(|p| *p != 0.0) {
                self.struck[j] = true;
            }
        }
    }

    /// Remembers the end, and reports velocities there of laws that acted without an impact, and the obstacles' own motion.
    pub(super) fn conclude(&mut self, to: &State) {
        self.end.copy_from(to);
        let coupling = &self.stages.acceleration.coupling;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Some(j) = self.reactions.find(pair.key, i) else { continue };
            for (row, place) in coupling.range(i).zip(self.reactions.range(j)) {
                let reactions = &mut self.reactions;
                reactions.obstacle[place] = 0.5 * (reactions.coupling.drift[place] + coupling.drift[row]);
                if !self.struck[j] && reactions.impulse[place] != 0.0 {
                    reactions.after[place] = coupling.rows.dot(row, &self.state.v) + coupling.drift[row];
                }
            }
        }
    }
}
