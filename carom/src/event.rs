//! What happened inside a step: a list of events with the states before and after each, on buffers that are reused.
//!
//! Schemes that locate events fill the list anew in every step, in the order of time. Events of one instant have the
//! same time: an impact of two contacts is two entries with the same states.

use crate::{Key, State};

/// What happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A contact closes with a jump of the velocity.
    Impact,
    /// A contact stays closed from here on.
    Closing,
    /// A contact stays closed after impacts that become ever faster.
    Accumulation,
    /// A closed contact opens without a jump.
    TakeOff,
    /// A slipping contact comes to stick.
    Stick,
    /// A sticking contact begins to slip.
    Slip,
    /// A slipping contact goes on in another direction.
    SlipReversal,
    /// The region of a contact begins or ends.
    Edge,
    /// The equations of sliding have no solution; the velocity jumps without a collision.
    Inconsistency,
    /// Events have piled up, or the flow cannot go on: a capturing scheme does the next part.
    HandOver,
}

carom_solve::persist_enum!(EventKind {
    0 = Impact, 1 = Closing, 2 = Accumulation, 3 = TakeOff, 4 = Stick, 5 = Slip, 6 = SlipReversal, 7 = Edge, 8 =
    Inconsistency, 9 = HandOver,
});

impl EventKind {
    /// Every kind.
    pub const ALL: [EventKind; 10] = [
        EventKind::Impact,
        EventKind::Closing,
        EventKind::Accumulation,
        EventKind::TakeOff,
        EventKind::Stick,
        EventKind::Slip,
        EventKind::SlipReversal,
        EventKind::Edge,
        EventKind::Inconsistency,
        EventKind::HandOver,
    ];

    /// The name, as in result files.
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::Impact => "impact",
            EventKind::Closing => "closing",
            EventKind::Accumulation => "accumulation",
            EventKind::TakeOff => "take-off",
            EventKind::Stick => "stick",
            EventKind::Slip => "slip",
            EventKind::SlipReversal => "slip-reversal",
            EventKind::Edge => "edge",
            EventKind::Inconsistency => "inconsistency",
            EventKind::HandOver => "hand-over",
        }
    }
}

/// An instant at which the motion is not smooth.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time [s].
    pub t: f64,
    /// What happens.
    pub kind: EventKind,
    /// The contact, where the event belongs to one.
    pub contact: Option<Key>,
    /// The state just before.
    pub before: State,
    /// The state just after.
    pub after: State,
}

carom_solve::persist!(Event { t, kind, contact, before, after });

/// The events of a step.
#[derive(Clone, Debug, Default)]
pub struct Events {
    pool: Vec<Event>, // entries beyond `len` are buffers
    len: usize,
}

carom_solve::persist!(Events { pool, len });

impl Events {
    /// An empty list without buffers.
    pub const fn new() -> Events {
        Events { pool: Vec::new(), len: 0 }
    }

    /// Buffers for this many events, with states like the given one.
    pub fn reserve(&mut self, events: usize, state: &State) {
        let like = |_| Event {
            t: state.t,
            kind: EventKind::HandOver,
            contact: None,
            before: state.clone(),
            after: state.clone(),
        };
        self.pool.extend((self.pool.len()..events).map(like));
    }

    /// Empties the list; buffers stay.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds an event at the time of `after`, without allocating once there were as many.
    pub fn push(&mut self, kind: EventKind, contact: Option<Key>, before: &State, after: &State) {
        match self.pool.get_mut(self.len) {
            Some(event) => {
                (event.t, event.kind, event.contact) = (after.t, kind, contact);
                event.before.copy_from(before);
                event.after.copy_from(after);
            }
            None => self.pool.push(Event { t: after.t, kind, contact, before: before.clone(), after: after.clone() }),
        }
        self.len += 1;
    }

    /// Appends the events of another list.
    pub fn append(&mut self, other: &Events) {
        for event in other.iter() {
            self.push(event.kind, event.contact, &event.before, &event.after);
        }
    }

    /// The events, in the order of time.
    pub fn as_slice(&self) -> &[Event] {
        &self.pool[..self.len]
    }

    /// Goes through the events in the order of time.
    pub fn iter(&self) -> std::slice::Iter<'_, Event> {
        self.as_slice().iter()
    }

    /// Number of events; buffers do not count.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The list of schemes that locate no events.
pub(crate) static NONE: Events = Events::new();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_refilled_in_place_and_names_agree_with_result_files() {
        let (a, b) = (State::new(1.0, &[0.0], &[-1.0]), State::new(1.0, &[0.0], &[0.5]));
        let mut events = Events::new();
        events.push(EventKind::Impact, Some(Key(3)), &a, &b);
        events.clear();
        assert!(events.is_empty());
        events.push(EventKind::TakeOff, None, &b, &b);
        assert_eq!((events.len(), events.as_slice()[0].kind), (1, EventKind::TakeOff));
        assert_eq!(events.as_slice()[0].before.v, [0.5]);
        for kind in EventKind::ALL {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
    }
}
