//! Events of a file: named zero functions that are recorded, or end the run.

use std::collections::HashMap;

use carom::simulation::{Action, Direction, UserEvent};

use super::context::{Context, label};
use crate::diagnostic::suggest;
use crate::expression::{Evaluator, Tape};
use crate::file::{EventTable, Text};

/// Most events of a file.
const LIMIT: usize = 1000;

/// A named zero function.
#[derive(Clone, Debug)]
pub struct EventInfo {
    /// Name in the file, under which it is listed.
    pub name: String,
    /// Crossings of zero that count.
    pub direction: Direction,
    /// What happens at such a crossing.
    pub action: Action,
    tape: Tape,
}

impl EventInfo {
    /// The same event with these parameters.
    pub(super) fn bind(&self, parameters: &[f64]) -> EventInfo {
        EventInfo { tape: self.tape.bind(parameters), ..self.clone() }
    }

    /// The event for a run.
    pub fn build(&self) -> UserEvent {
        let event = UserEvent::new(self.name.clone(), self.function()).crossing(self.direction);
        if self.action == Action::Stop { event.stopping() } else { event }
    }

    /// The function of time, coordinates and velocities whose zeros are the event.
    pub fn function(&self) -> impl FnMut(f64, &[f64], &[f64]) -> f64 + Send + use<> {
        let mut evaluator = Evaluator::new(&self.tape);
        move |t, q, v| evaluator.eval(t, q, v).first().copied().unwrap_or(f64::NAN)
    }
}

/// Reads all events; `None` if one of them has a mistake.
pub(super) fn read(tables: &[EventTable], context: &mut Context) -> Option<Vec<EventInfo>> {
    let before = context.out.errors();
    if let Some(table) = tables.get(LIMIT) {
        context.out.error(&table.place, format!("there are more than {LIMIT} events"));
        return None;
    }
    let mut names: HashMap<String, &Text> = HashMap::new();
    let mut events = Vec::new();
    for table in tables {
        let name = label(&table.name, &mut context.out);
        if let Some(first) = name.as_ref().and_then(|name| names.insert(name.clone(), &table.name)) {
            let line = first.place.source.position(first.place.span.start).0;
            let message = format!("the name {:?} is taken by another event", table.name.value);
            context.out.error(&table.name.place, message).hint(format!("the other one is in line {line}"));
        }
        events.extend(event(table, context));
    }
    (context.out.errors() == before).then_some(events)
}

fn event(table: &EventTable, context: &mut Context) -> Option<EventInfo> {
    let directions = [("rising", Direction::Rising), ("falling", Direction::Falling), ("both", Direction::Both)];
    let direction = word("direction", table.direction.as_ref(), &directions, context);
    let actions = [("record", Action::Record), ("stop", Action::Stop)];
    let action = word("action", table.action.as_ref(), &actions, context);
    let node = context.node(&table.when)?;
    if context.graph.is_fixed(node) {
        let value = context.value(node);
        context
            .out
            .error(&table.when.place, format!("the expression is always {value}: it has no zeros to find"))
            .hint("it depends on t, coordinates or velocities, as in when = \"y - 0.5\"");
        return None;
    }
    let tape = Tape::compile(&context.graph, &[node]);
    Some(EventInfo { name: table.name.value.clone(), direction: direction?, action: action?, tape })
}

/// One of a few words; the default where it is missing.
pub(super) fn word<T: Copy + Default>(
    what: &str,
    text: Option<&Text>,
    words: &[(&'static str, T)],
    context: &mut Context,
) -> Option<T> {
    let Some(text) = text else { return Some(T::default()) };
    let found = words.iter().find(|(word, _)| *word == text.value).map(|(_, value)| *value);
    if found.is_none() {
        let names = || words.iter().map(|(word, _)| *word);
        let all = || format!("one of {}", names().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "));
        let hint = suggest(&text.value, names(), true, all);
        context.out.error(&text.place, format!("unknown {what} {:?}", text.value)).hint(hint);
    }
    found
}
