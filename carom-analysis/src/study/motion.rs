//! One trajectory from one time to the next, with counts of what happens at its contacts.

use super::{Stop, StudyError};
use carom::simulation::{Acting, FixedStep, SimulationError, StepView};
use carom::{Coupling, Key, Simulation, State, Stepper};
use std::ops::ControlFlow;

/// Steps of an interval may be so many times more than its length asks for.
const EXCESS: f64 = 1000.0;

/// Steps between two looks at the wish to stop.
const LOOK: u64 = 64;

/// An impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Time, located where the scheme does that [s].
    pub t: f64,
    /// The contact.
    pub contact: Key,
    /// Normal relative velocity before [m/s].
    pub before: f64,
    /// Normal relative velocity after [m/s].
    pub after: f64,
}

/// A run that goes to given times, which it meets exactly, and counts impacts and rests on the way.
///
/// A contact that acts without relative velocity before and after rests; that is no impact.
pub struct Motion {
    run: Simulation,
    h: f64,
    /// Impacts so far.
    pub impacts: u64,
    /// How often a contact came to rest.
    pub sticks: u64,
    /// Contacts that came to rest.
    pub stuck: Vec<Key>,
    /// Impacts of each contact.
    pub by_contact: Vec<(Key, u64)>,
    /// Slowest approach of all impacts [m/s].
    pub slowest: f64,
}

impl From<SimulationError> for StudyError {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Step { t, source, .. } => StudyError::Step { t, source },
            SimulationError::Stalled { t, steps } => StudyError::Stalled { t, steps },
            SimulationError::Model(error) => StudyError::Model(error),
            other => StudyError::Build(other.to_string()),
        }
    }
}

impl Motion {
    /// Steps of at most `h`.
    pub fn new(stepper: Box<dyn Stepper>, h: f64) -> Result<Motion, StudyError> {
        let t = stepper.from().t;
        Ok(Motion {
            run: Simulation::new(stepper, Box::new(FixedStep { h }), t)?,
            h,
            impacts: 0,
            sticks: 0,
            stuck: Vec::new(),
            by_contact: Vec::new(),
            slowest: f64::INFINITY,
        })
    }

    /// Starts again from a state; counts go on.
    pub fn restart(&mut self, state: &State) {
        self.run.restart(state);
    }

    /// Sets all counts to zero.
    pub fn forget_counts(&mut self) {
        (self.impacts, self.sticks, self.slowest) = (0, 0, f64::INFINITY);
        self.by_contact.clear();
        self.stuck.clear();
    }

    /// The present state.
    pub fn state(&self) -> &State {
        self.run.state()
    }

    /// The scheme with its model, which measures distances.
    pub fn stepper(&mut self) -> &mut dyn Stepper {
        self.run.stepper()
    }

    /// Laws and gaps at the state of the last restart.
    pub fn coupling(&mut self) -> Result<&Coupling, StudyError> {
        Ok(self.run.stepper().coupling()?)
    }

    /// Goes to the time `end`.
    pub fn to(&mut self, end: f64) -> Result<(), StudyError> {
        self.watched(end, &|| false, &mut |_| {})
    }

    /// Goes to the time `end` and shows each impact.
    ///
    /// # Errors
    /// Fails as steps do, and with [`StudyError::Interrupted`] soon after the user wants to stop.
    pub fn watched(&mut self, end: f64, stop: &Stop<'_>, impact: &mut dyn FnMut(&Impact)) -> Result<(), StudyError> {
        // intervals may be many and short
        if stop() {
            return Err(StudyError::Interrupted);
        }
        let length = end - self.state().t;
        self.run.limit_steps((EXCESS * (length / self.h + 10.0)) as u64);
        let Motion { run, impacts, sticks, stuck, by_contact, slowest, .. } = self;
        let mut count = |acting: &Acting, view: &StepView<'_>| {
            if acting.comes_to_rest() {
                *sticks += 1;
                if !stuck.contains(&acting.key) {
                    stuck.push(acting.key);
                }
            }
            if acting.rests() || !acting.is_impact() {
                return;
            }
            let (contact, before, after) = (acting.key, acting.before, acting.after);
            *impacts += 1;
            *slowest = slowest.min(before.abs());
            match by_contact.iter_mut().find(|(key, _)| *key == contact) {
                Some((_, count)) => *count += 1,
                None => by_contact.push((contact, 1)),
            }
            impact(&Impact { t: acting.located.unwrap_or(view.to().t), contact, before, after });
        };
        let came = run.advance_to(end, &mut |view| {
            view.acting().iter().for_each(|acting| count(acting, view));
            if view.index % LOOK == LOOK - 1 && stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if came { Ok(()) } else { Err(StudyError::Interrupted) }
    }
}
