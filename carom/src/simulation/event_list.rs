//! The event list: what the scheme has located and what the user watches for, in the order of time.

use super::{Observer, StepView};
use crate::scheme::Event;
use crate::{ModelError, State};
use std::ops::ControlFlow;

/// The kind of events of the user in lists; the kinds of schemes are those of [`EventKind`](crate::scheme::EventKind).
pub const USER: &str = "user";

/// An event of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEvent {
    /// Time [s].
    pub t: f64,
    /// Name of a user event; kind and contact otherwise, as in `impact.floor`.
    pub name: String,
    pub kind: &'static str,
    /// The contact, where the event belongs to one.
    pub contact: Option<String>,
    /// States just before and just after.
    pub before: State,
    pub after: State,
}

/// Collects events and hands each to a sink. Schemes that capture impacts locate none: of them it sees the events of the user.
pub struct EventDetector<F: FnMut(RunEvent)> {
    sink: F,
    /// Events seen.
    pub count: u64,
}

impl<F: FnMut(RunEvent)> EventDetector<F> {
    pub fn new(sink: F) -> Self {
        EventDetector { sink, count: 0 }
    }
}

fn located(event: &Event, view: &StepView<'_>) -> RunEvent {
    let contact = event.contact.map(|key| view.stepper.labels().contact(key));
    let kind = event.kind.name();
    let name = contact.as_ref().map_or_else(|| kind.to_owned(), |contact| format!("{kind}.{contact}"));
    RunEvent { t: event.t, name, kind, contact, before: event.before.clone(), after: event.after.clone() }
}

impl<F: FnMut(RunEvent)> Observer for EventDetector<F> {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let (located_ones, mut watched) = (view.stepper.events(), view.occurrences.iter().peekable());
        if located_ones.is_empty() && watched.peek().is_none() {
            return Ok(ControlFlow::Continue(()));
        }
        self.count += (located_ones.len() + view.occurrences.len()) as u64;
        for event in located_ones.iter() {
            while let Some(found) = watched.next_if(|found| found.after.t <= event.t) {
                (self.sink)(found.into());
            }
            (self.sink)(located(event, view));
        }
        watched.for_each(|found| (self.sink)(found.into()));
        Ok(ControlFlow::Continue(()))
    }
}

impl From<&super::Occurrence> for RunEvent {
    fn from(found: &super::Occurrence) -> RunEvent {
        RunEvent {
            t: found.after.t,
            name: found.name.clone(),
            kind: USER,
            contact: None,
            before: found.before.clone(),
            after: found.after.clone(),
        }
    }
}
