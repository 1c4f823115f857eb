//! Impacts of all contacts that touch, at once, and impulses without a collision; each one is an event.

use super::mode::Mode;
use super::transition::Transition;
use crate::{EventKind, Mechanical, State, StepError, System};

impl Transition {
    /// One impact of all contacts that touch, over a critical interval of this width.
    pub fn apply_impact(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        width: f64,
        state: &mut State,
    ) -> Result<(), StepError> {
        self.active.clear();
        self.other.open(&self.acceleration.coupling);
        for (i, pair) in self.acceleration.coupling.pairs.iter().enumerate() {
            if pair.law.is_equality() || self.marks[i].touches {
                self.active.push(i);
                self.other.set(i, Mode::Held);
            }
        }
        self.before.copy_from(state);
        self.contact.is_plastic = self.is_plastic;
        let tools = (&mut self.acceleration, &mut self.projection);
        let certificate = self.contact.impact(tools, system, &self.active, width, state)?;
        self.worst = self.worst.worse(certificate);
        self.solves += 1;
        self.account.impact(&self.acceleration.coupling, &self.contact);
        if self.contact.impacts.is_asked() && !self.is_plastic {
            let done = &self.contact.impacts.done;
            done.warn(&self.acceleration.coupling, state.t, &mut self.warnings);
            self.account.reactions.collisions.extend_from_slice(&done.collisions);
        }
        if width > 0.0 {
            self.increment.clear();
            self.increment.extend(self.before.v.iter().zip(&state.v).map(|(a, b)| 0.5 * width * (a + b)));
            system.model.retract(&self.before.q, &self.increment, &mut state.q);
            state.t += width;
        }
        if self.lands {
            self.projection.positions(&mut self.acceleration, system.model, &self.other, state)?;
        }
        let coupling = &self.acceleration.coupling;
        let mut alone = None;
        for &i in self.active.iter().filter(|&&i| !coupling.pairs[i].law.is_equality()) {
            if self.contact.impulse[coupling.offset[i]] > 0.0 {
                self.marks[i].struck = true;
                let speed = self.contact.after[coupling.offset[i]];
                alone = Some(alone.map_or((Some(coupling.pairs[i].key), speed), |_| (None, 0.0)));
                self.events.push(EventKind::Impact, Some(coupling.pairs[i].key), &self.before, state);
            }
        }
        if let Some((contact, speed)) = alone {
            self.hop.take(contact, state.t, speed);
        }
        Ok(())
    }

    /// An impulse without a collision: stops the slip of all contacts that touch and stay [genot1999]. Returns whether
    /// the impulse is inside the cones of friction; otherwise the velocities stay as they were.
    pub fn impulse_without_collision(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        state: &mut State,
    ) -> Result<bool, StepError> {
        self.couple(system.model, state)?;
        self.before.copy_from(state);
        self.active.clear();
        for (i, pair) in self.acceleration.coupling.pairs.iter().enumerate() {
            let row = self.acceleration.coupling.offset[i];
            let (u, rounding) = self.velocity(row, &state.v);
            let stays = self.marks[i].touches && u <= rounding.max(self.slow(i, &self.before.v));
            if pair.law.is_equality() || stays {
                self.active.push(i);
            }
        }
        let tools = (&mut self.acceleration, &mut self.projection);
        let inside = self.contact.stop(tools, system, &self.active, state)?;
        if !inside {
            state.copy_from(&self.before);
            return Ok(false);
        }
        self.account.impact(&self.acceleration.coupling, &self.contact);
        for &i in self.active.iter().filter(|&&i| self.acceleration.coupling.range(i).len() > 1) {
            let key = self.acceleration.coupling.pairs[i].key;
            self.events.push(EventKind::Inconsistency, Some(key), &self.before, state);
        }
        Ok(true)
    }

    /// Whether a contact that touches approaches faster than what counts as closed.
    pub(super) fn approaches(&self, v: &[f64]) -> bool {
        let coupling = &self.acceleration.coupling;
        coupling.pairs.iter().enumerate().any(|(i, pair)| {
            !pair.law.is_equality() && self.marks[i].touches && {
                let (u, rounding) = self.velocity(coupling.offset[i], v);
                u < -rounding.max(self.slow(i, v))
            }
        })
    }
}
