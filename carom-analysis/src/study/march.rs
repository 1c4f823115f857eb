//! One trajectory from one time to the next, with what happens at its contacts.

use super::{Stop, StudyError};
use carom::scheme::{Event, EventKind};
use carom::{Key, State, Stepper};

/// Steps of an interval may be so many times more than its length asks for.
const EXCESS: f64 = 1000.0;

/// A relative velocity at most this large is rest [m/s].
const REST: f64 = 1e-9;

/// An impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strike {
    pub t: f64,
    pub contact: Key,
    /// Normal relative velocity before and after [m/s].
    pub before: f64,
    pub after: f64,
}

/// What is known of a contact from the last step.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    key: Key,
    acted: bool,
    rested: bool,
}

/// A stepper that goes to given times, which it meets exactly, and counts impacts and rests on the way.
///
/// An impact is one that the scheme has located, or a step in which a contact acts after one in which it did not. A rest begins where a contact acts without relative velocity before or after.
pub struct March {
    pub stepper: Box<dyn Stepper>,
    /// Longest step [s].
    pub h: f64,
    pub impacts: u64,
    /// How often a contact came to rest.
    pub sticks: u64,
    /// Contacts that came to rest.
    pub stuck: Vec<Key>,
    /// Impacts of each contact.
    pub by_contact: Vec<(Key, u64)>,
    /// Slowest approach of all impacts [m/s].
    pub slowest: f64,
    last: Vec<Last>,
    now: Vec<Last>,
}

impl March {
    pub fn new(stepper: Box<dyn Stepper>, h: f64) -> March {
        March {
            stepper,
            h,
            impacts: 0,
            sticks: 0,
            stuck: Vec::new(),
            by_contact: Vec::new(),
            slowest: f64::INFINITY,
            last: Vec::new(),
            now: Vec::new(),
        }
    }

    /// Starts again from a state; counts go on.
    pub fn restart(&mut self, state: &State) {
        self.stepper.restart(state);
        self.last.clear();
    }

    /// Sets all counts to zero.
    pub fn forget_counts(&mut self) {
        (self.impacts, self.sticks, self.slowest) = (0, 0, f64::INFINITY);
        self.by_contact.clear();
        self.stuck.clear();
    }

    pub fn state(&self) -> &State {
        self.stepper.from()
    }

    /// Goes to the time `end`.
    pub fn to(&mut self, end: f64) -> Result<(), StudyError> {
        self.watched(end, &|| false, &mut |_, _| {})
    }

    /// Goes to the time `end`; each impact is shown with the stepper as it is after it.
    pub fn watched(
        &mut self,
        end: f64,
        stop: &Stop<'_>,
        impact: &mut dyn FnMut(&Strike, &mut dyn Stepper),
    ) -> Result<(), StudyError> {
        let start = self.stepper.from().t;
        let most = (EXCESS * ((end - start) / self.h + 10.0)) as u64;
        let mut steps = 0;
        loop {
            let t = self.stepper.from().t;
            let left = end - t;
            // the sum of step lengths is rounded: no step is made of what that leaves
            let slack = 1e-9 * self.h + f64::EPSILON * end.abs() * (steps + 4) as f64;
            if left <= slack {
                return Ok(());
            }
            if steps % 4096 == 4095 && stop() {
                return Err(StudyError::Interrupted);
            }
            let last = self.h + slack >= left;
            let h = if last { left } else { self.h };
            let step = self.stepper.attempt(h).map_err(|source| StudyError::Step { t, source })?;
            if last && step.advanced == h {
                self.stepper.stamp(end);
            }
            self.look(impact);
            self.stepper.accept();
            steps += 1;
            if steps > most {
                return Err(StudyError::Stalled { t, steps: most });
            }
        }
    }

    /// Looks at the contacts after a step.
    fn look(&mut self, impact: &mut dyn FnMut(&Strike, &mut dyn Stepper)) {
        let mut strikes: [Option<Strike>; 8] = [None; 8];
        let mut found = 0;
        let (reactions, t) = (self.stepper.reactions(), self.stepper.to().t);
        self.now.clear();
        for i in 0..reactions.len() {
            if !reactions.law(i).is_contact() {
                continue;
            }
            let (row, contact) = (reactions.range(i).start, reactions.key(i));
            let acted = reactions.impulse[row] > 0.0;
            if !acted {
                continue;
            }
            let (before, after) = (reactions.before[row], reactions.after[row]);
            let last = self.last.iter().find(|last| last.key == contact).copied().unwrap_or_default();
            let rested = before.abs() <= REST && after.abs() <= REST;
            let is_impact = |event: &&Event| event.kind == EventKind::Impact && event.contact == Some(contact);
            let located = self.stepper.events().iter().rfind(is_impact).map(|event| event.t);
            let struck = !rested && (!last.acted || located.is_some());
            if rested && !last.rested {
                self.sticks += 1;
                if !self.stuck.contains(&contact) {
                    self.stuck.push(contact);
                }
            }
            self.now.push(Last { key: contact, acted, rested });
            if struck {
                self.impacts += 1;
                self.slowest = self.slowest.min(before.abs());
                match self.by_contact.iter_mut().find(|(key, _)| *key == contact) {
                    Some((_, count)) => *count += 1,
                    None => self.by_contact.push((contact, 1)),
                }
                if let Some(place) = strikes.get_mut(found) {
                    *place = Some(Strike { t: located.unwrap_or(t), contact, before, after });
                    found += 1;
                }
            }
        }
        std::mem::swap(&mut self.last, &mut self.now);
        for strike in strikes.iter().flatten() {
            impact(strike, &mut *self.stepper);
        }
    }
}
