//! Ends of phases: an impact over the critical interval, or a change of mode. What is shared with other schemes is in `flow/transition.rs`.

use super::Work;
use crate::Mechanical;
use crate::flow::Watch;
use crate::scheme::{StepError, System};

impl Work {
    /// The phase in which a step starts: the one that the last step ended in, if this is its end, or a new one.
    pub(super) fn enter(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        let known = self.is_known && self.end.q == self.state.q && self.end.v == self.state.v;
        self.is_known = false;
        self.transition.enter(&mut self.stages.acceleration, system, &mut self.state, known)
    }

    /// Ends the phase at the bracket: an impact at its left end over its width, or a change of mode at its right end.
    pub(super) fn change(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        let flagged = &mut self.transition.flagged;
        flagged.clear();
        flagged.extend(self.right.monitors.iter().filter(|m| m.violated).map(|m| (m.key, m.watch)));
        let (left, right) = (self.left.u, self.right.u);
        let impact = flagged.iter().any(|f| f.1 == Watch::Closing);
        if !impact {
            std::mem::swap(&mut self.left, &mut self.right);
        }
        self.arrive(system)?;
        let acceleration = &mut self.stages.acceleration;
        self.transition.gather(acceleration, &self.state.q);
        if impact {
            self.transition.strike(acceleration, system, right - left, &mut self.state)?;
        }
        self.transition.settle(acceleration, system, &mut self.state, true)
    }

    /// Moves to the state of `left`, on the constraints of the phase, and books what the reactions did on the way.
    pub(super) fn arrive(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.state.copy_from(&self.left.state);
        let acceleration = &mut self.stages.acceleration;
        self.transition.booking.smooth(&acceleration.coupling, &self.left.impulse, &self.left.work);
        self.transition.project(acceleration, system, &mut self.state)
    }
}
