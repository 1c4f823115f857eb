//! Ends of phases: an impact over the critical interval, or a change of mode. What is shared with other schemes is in
//! `phase/transition.rs`.

use super::Work;
use crate::{Mechanical, StepError, System};

/// Ways of a gap in a bracket by which it may be closed where its region begins.
const ENTERED: f64 = 2.0;

impl Work {
    /// The phase in which a step starts: the one that the last step ended in, if this is its end, or a new one.
    pub(super) fn enter(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        let known = self.is_known && self.end.q == self.state.q && self.end.v == self.state.v;
        self.is_known = false;
        if known {
            self.transition.resume(&self.state)?;
        }
        self.transition.enter(system, &mut self.state, known)
    }

    /// Ends the phase at the bracket: an impact at its left end over its width, or a change of mode at its right end.
    pub(super) fn change(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.transition.clear_marks();
        for monitor in self.right.monitors.iter().chain(&self.right.gaps).filter(|m| m.violated) {
            self.transition.flag(monitor.law, monitor.change);
        }
        let (left, right) = (self.left.u, self.right.u);
        if let Some((law, gap)) = self.entered() {
            return Err(StepError::Inside { gap, contact: self.transition.phase.keys()[law] });
        }
        let impact = self.right.gaps.iter().any(|gap| gap.violated);
        if !impact {
            std::mem::swap(&mut self.left, &mut self.right);
        }
        self.arrive(system)?;
        self.transition.list_touching(&self.state.q);
        if impact {
            self.transition.apply_impact(system, right - left, &mut self.state)?;
        }
        self.transition.choose_phase(system, &mut self.state, true)
    }

    /// A contact whose region begins inside the bracket, and whose gap is closed there by more than it may have
    /// changed.
    fn entered(&self) -> Option<(usize, f64)> {
        let width = self.right.u - self.left.u;
        self.right.gaps.iter().filter(|gap| gap.violated).find_map(|gap| {
            let is_new = self.left.find(gap).is_none();
            (is_new && gap.value < -ENTERED * width * gap.rate.abs()).then_some((gap.law, gap.value))
        })
    }

    /// Moves to the state of `left`, on the constraints of the phase, and books what the reactions did on the way.
    pub(super) fn arrive(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.state.copy_from(&self.left.state);
        let transition = &mut self.transition;
        transition.account.smooth(&self.left.impulse, &self.left.work, &self.left.driven);
        transition.project(system, &mut self.state)
    }
}
