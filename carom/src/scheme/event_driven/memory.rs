//! What is remembered between steps: where the last one began and ended and in which phases, the steps proposed, and
//! counts of events.

use super::control::Sizes;
use super::count::EventCount;
use crate::State;
use crate::phase::Phase;

/// What the last step has left behind.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Left {
    /// Nothing of use: there was no step, or another scheme did it.
    Nothing,
    /// Where it began; it was not done.
    Start,
    /// Where it began and where it ended.
    Both {
        /// Whether the point at its end is the start of the next step, with all that is known there.
        is_continuous: bool,
    },
}

carom_solve::persist_enum!(Left { 0 = Nothing, 1 = Start, 2 = Both { is_continuous } });

/// How a step begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Resume {
    /// From the state alone.
    Fresh,
    /// In the phase in which the last step has ended.
    Known {
        /// Whether all is known at the start.
        is_continuous: bool,
    },
    /// Once more from the point where the last one began.
    Repeat,
}

/// What is remembered between steps.
pub(super) struct Memory {
    left: Left,
    end: State, // where the last step ended
    /// Phases of the last step and after it.
    pub begun: Phase,
    pub ended: Phase,
    /// Time at which the motion began.
    pub since: Option<f64>,
    pub sizes: Sizes,
    /// The next step of a stiff phase.
    pub slow: Option<f64>,
    pub count: EventCount,
}

carom_solve::persist!(Memory { left, end, begun, ended, since, sizes, slow, count });

impl Memory {
    /// Before the first step.
    pub fn new(phase: &Phase, initial: State) -> Memory {
        Memory {
            left: Left::Nothing,
            end: initial,
            begun: phase.clone(),
            ended: phase.clone(),
            since: None,
            sizes: Sizes::default(),
            slow: None,
            count: EventCount::default(),
        }
    }

    /// How a step from `from` begins; the last one began at `start`, after impacts there. Steps are up to `span` long.
    pub fn resume(&self, from: &State, start: &State, span: f64) -> Resume {
        match self.left {
            Left::Both { is_continuous } if is_same(from, &self.end, span) => Resume::Known { is_continuous },
            Left::Start | Left::Both { .. } if is_same(from, start, span) => Resume::Repeat,
            Left::Nothing | Left::Start | Left::Both { .. } => Resume::Fresh,
        }
    }

    /// A step begins in a phase: should it fail, it may be tried again from there.
    pub fn begin(&mut self, phase: &Phase) {
        self.begun.copy_from(phase);
        self.left = Left::Start;
    }

    /// The step has ended at `to` in a phase.
    pub fn end(&mut self, to: &State, phase: &Phase, is_continuous: bool) {
        self.end.copy_from(to);
        self.ended.copy_from(phase);
        self.left = Left::Both { is_continuous };
    }

    /// Another scheme has done a part: modes, steps and counts are unknown.
    pub fn lose(&mut self, phase: &Phase) {
        self.ended.copy_from(phase);
        self.left = Left::Nothing;
        self.count = EventCount::default();
        self.slow = None;
        self.sizes.clear();
    }

    /// Forgets the motion.
    pub fn forget(&mut self) {
        self.left = Left::Nothing;
        (self.since, self.slow) = (None, None);
        self.count = EventCount::default();
        self.sizes = Sizes::default();
    }
}

/// Whether two states are the same but for the rounding of time.
fn is_same(a: &State, b: &State, span: f64) -> bool {
    a.q == b.q && a.v == b.v && (a.t - b.t).abs() <= 64.0 * f64::EPSILON * a.t.abs().max(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_goes_on_or_is_repeated_or_begins_anew() {
        let [start, end, other] = [0.0, 1.0, 2.0].map(|x| State::new(x, &[x], &[1.0]));
        let mut memory = Memory::new(&Phase::default(), start.clone());
        assert_eq!(memory.resume(&start, &start, 1.0), Resume::Fresh);
        memory.begin(&Phase::default());
        assert_eq!(memory.resume(&start, &start, 1.0), Resume::Repeat);
        assert_eq!(memory.resume(&end, &start, 1.0), Resume::Fresh);
        memory.end(&end, &Phase::default(), true);
        assert_eq!(memory.resume(&end, &start, 1.0), Resume::Known { is_continuous: true });
        assert_eq!(memory.resume(&start, &start, 1.0), Resume::Repeat);
        // after an impact where the step began
        assert_eq!(memory.resume(&start, &other, 1.0), Resume::Fresh);
        memory.lose(&Phase::default());
        assert_eq!(memory.resume(&end, &start, 1.0), Resume::Fresh);
    }
}
