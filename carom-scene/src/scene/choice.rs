//! The scheme and the solver: names and options checked against the registries.

use carom::SCHEMES;
use carom_solve::{OptionDoc, OptionError, SOLVERS};
use serde_json::{Map, Value};

use super::context::Context;
use crate::diagnostic::Place;
use crate::file::Method;
use crate::nearest::nearest;

/// A scheme or a solver with its table of options, as the registries take them.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Choice {
    pub name: String,
    pub options: Value,
}

impl Choice {
    /// Name and the options that the file sets, for people: `moreau-jean, theta = 1`.
    pub fn describe(&self) -> String {
        let mut text = self.name.clone();
        for (key, value) in self.options.as_object().into_iter().flatten() {
            let value = value.to_string().replace(['{', '}', '"'], "").replace(':', " ").replace(',', ", ");
            text.push_str(&format!(", {key} {value}"));
        }
        text
    }

    /// The choice as one table with the name in it.
    pub fn table(&self) -> Value {
        let mut table = Map::new();
        table.insert("name".into(), self.name.clone().into());
        if let Value::Object(options) = &self.options {
            table.extend(options.clone());
        }
        table.into()
    }
}

type Check = Box<dyn Fn(&Value) -> Result<(), OptionError>>;

/// A row of either registry.
struct Row {
    name: &'static str,
    options: Vec<OptionDoc>,
    check: Check,
}

pub(super) fn scheme(method: Option<&Method>, context: &mut Context) -> Option<Choice> {
    let row = |row: &'static carom::scheme::SchemeRow| Row {
        name: row.info.name,
        options: (row.options)(),
        check: Box::new(|table| (row.check)(table)),
    };
    choose("scheme", method, SCHEMES.iter().map(row).collect(), context)
}

pub(super) fn solver(method: Option<&Method>, context: &mut Context) -> Option<Choice> {
    let row = |row: &'static carom_solve::SolverRow| Row {
        name: row.info.name,
        options: (row.options)(),
        check: Box::new(|table| (row.build)(table).map(|_| ())),
    };
    choose("solver", method, SOLVERS.iter().map(row).collect(), context)
}

fn choose(what: &str, method: Option<&Method>, rows: Vec<Row>, context: &mut Context) -> Option<Choice> {
    let Some(method) = method else {
        let name = rows.first()?.name.to_string();
        return Some(Choice { name, options: Value::Object(Map::new()) });
    };
    let name = method.name.value.as_str();
    let Some(row) = rows.iter().find(|row| row.name == name) else {
        let hint = match nearest(name, rows.iter().map(|row| row.name)) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("valid {what}s: {}", rows.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")),
        };
        context.out.error(&method.name.place, format!("unknown {what} {name:?}")).hint(hint);
        return None;
    };
    let before = context.out.errors();
    for (key, _) in &method.places {
        let known = || row.options.iter().map(|option| option.name.as_str());
        if known().any(|option| option == key.value) {
            continue;
        }
        let hint = match nearest(&key.value, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("options: {}", known().collect::<Vec<_>>().join(", ")),
        };
        context.out.error(&key.place, format!("{what} {name:?} has no option `{}`", key.value)).hint(hint);
    }
    if context.out.errors() > before {
        return None;
    }
    let options = Value::Object(method.options.clone());
    if let Err(error) = (row.check)(&options) {
        refuse(method, row, &error, context);
        return None;
    }
    Some(Choice { name: name.into(), options })
}

/// Points at the option that was refused.
fn refuse(method: &Method, row: &Row, error: &OptionError, context: &mut Context) {
    let place_of = |name: &str| method.places.iter().find(|(key, _)| key.value == name).map(|(_, place)| place);
    // an error without a field comes from reading: the option that fails alone is the one
    let alone = |key: &str| {
        let single = method.options.get(key).map(|value| Map::from_iter([(key.to_string(), value.clone())]));
        single.is_some_and(|table| (row.check)(&Value::Object(table)).is_err())
    };
    let guilty = || method.places.iter().find(|(key, _)| alone(&key.value)).map(|(_, place)| place);
    let place: &Place = error.field.and_then(place_of).or_else(guilty).unwrap_or(&method.name.place);
    let mut diagnostic = crate::Diagnostic::new(crate::Severity::Error, place, error.reason.clone());
    let option = row.options.iter().find(|option| place.field.ends_with(&format!(".{}", option.name)));
    if let Some(option) = option {
        diagnostic.hint(format!("{} (default {})", option.meaning, option.default));
    }
    context.out.push(diagnostic);
}
