//! The scheme, the solver and the control of steps: names and options checked against the registries.

use carom::SCHEMES;
use carom::scheme::{AnyModel, Registered, find, fitting};
use carom::simulation::Adaptive;
use carom_solve::solver::Configured;
use carom_solve::{OptionDoc, OptionError, Options, SOLVERS};
use serde_json::{Map, Value};

use super::context::Context;
use crate::diagnostic::{Place, suggest};
use crate::file::{Method, Settings, Text};

/// A scheme or a solver with its table of options, as the registries take them.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Choice {
    /// Name in the registry.
    pub name: String,
    /// Table of options; those that are absent have their defaults.
    pub options: Value,
}

/// A scheme or a solver from outside a file: as a value, or as text of the command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Chosen {
    /// A name, or an inline table such as `{ name = "moreau-jean", theta = 1 }`.
    Text(String),
    /// Name and options.
    Value(Choice),
}

impl From<&str> for Chosen {
    fn from(text: &str) -> Chosen {
        Chosen::Text(text.into())
    }
}

impl From<String> for Chosen {
    fn from(text: String) -> Chosen {
        Chosen::Text(text)
    }
}

impl From<Choice> for Chosen {
    fn from(choice: Choice) -> Chosen {
        Chosen::Value(choice)
    }
}

impl Choice {
    /// Whether it is a scheme that projects positions.
    pub(super) fn projects(&self) -> bool {
        find(&self.name).is_some_and(|row| row.info.projects)
    }

    /// A scheme by its value: the options are those that are not the default.
    ///
    /// ```
    /// use carom::scheme::MoreauJean;
    /// let choice = carom_scene::scene::Choice::scheme(&MoreauJean { theta: 1.0, ..MoreauJean::default() });
    /// assert_eq!(choice.describe(), "moreau-jean, theta 1.0");
    /// ```
    pub fn scheme<S: Registered>(scheme: &S) -> Choice {
        Choice::of(S::INFO.name, scheme)
    }

    /// A solver by its options, likewise.
    pub fn solver<S: Configured>(options: &S::Options) -> Choice {
        Choice::of(S::INFO.name, options)
    }

    fn of<O: Options>(name: &str, options: &O) -> Choice {
        // what is no table is refused with the options of the scheme
        let table = |options: &O| serde_json::to_value(options).unwrap_or_default();
        let (mut own, default) = (table(options), table(&O::default()));
        if let Value::Object(entries) = &mut own {
            entries.retain(|key, value| default.get(key) != Some(value));
        }
        Choice { name: name.into(), options: own }
    }

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
    /// Asked for where there is something to say of them: they are made of a schema each time.
    options: fn() -> Vec<OptionDoc>,
    check: Check,
}

/// The scheme of the file, or the one that fits the model.
pub(super) fn scheme(
    method: Option<&Method>,
    model: impl FnOnce() -> Option<AnyModel>,
    context: &mut Context,
) -> Option<Choice> {
    let row = |row: &'static carom::scheme::SchemeRow| Row {
        name: row.info.name,
        options: row.options,
        check: Box::new(|table| (row.check)(table)),
    };
    let default = if method.is_none() { model().map_or("", |mut model| fitting(&mut model)) } else { "" };
    choose("scheme", method, default, SCHEMES.iter().map(row).collect(), context)
}

pub(super) fn solver(method: Option<&Method>, context: &mut Context) -> Option<Choice> {
    let row = |row: &'static carom_solve::SolverRow| Row {
        name: row.info.name,
        options: row.options,
        check: Box::new(|table| (row.build)(table).map(|_| ())),
    };
    choose("solver", method, "", SOLVERS.iter().map(row).collect(), context)
}

/// The row that the file names; the default one, or else the first, where it names none.
fn choose(what: &str, method: Option<&Method>, default: &str, rows: Vec<Row>, context: &mut Context) -> Option<Choice> {
    let Some(method) = method else {
        let name = rows.iter().find(|row| row.name == default).or(rows.first())?.name.to_string();
        return Some(Choice { name, options: Value::Object(Map::new()) });
    };
    let name = method.name.value.as_str();
    let Some(row) = rows.iter().find(|row| row.name == name) else {
        let names = || rows.iter().map(|row| row.name);
        let all = || format!("valid {what}s: {}", names().collect::<Vec<_>>().join(", "));
        let hint = suggest(name, names(), true, all);
        context.out.error(&method.name.place, format!("unknown {what} {name:?}")).hint(hint);
        return None;
    };
    let given = Given { options: &method.options, places: &method.places, place: &method.name.place };
    given.check(&format!("{what} {name:?}"), row, context)?;
    Some(Choice { name: name.into(), options: Value::Object(method.options.clone()) })
}

/// The control of adaptive steps.
pub(super) fn adaptive(settings: &Settings, context: &mut Context) -> Option<Adaptive> {
    let check: Check = Box::new(|table| Adaptive::read(table).map(|_| ()));
    let row = Row { name: "adaptive", options: Adaptive::describe, check };
    let given = Given { options: &settings.options, places: &settings.places, place: &settings.place };
    given.check("`adaptive`", &row, context)?;
    Adaptive::read(&Value::Object(settings.options.clone())).ok()
}

/// Options as they stand in a file.
struct Given<'a> {
    options: &'a Map<String, Value>,
    places: &'a [(Text, Place)],
    /// Where to point if no option is to blame.
    place: &'a Place,
}

impl Given<'_> {
    /// Unknown and refused options are reported.
    fn check(&self, what: &str, row: &Row, context: &mut Context) -> Option<()> {
        let before = context.out.errors();
        let options = if self.places.is_empty() { Vec::new() } else { (row.options)() };
        for (key, _) in self.places {
            let known = || options.iter().map(|option| option.name.as_str());
            if known().any(|option| option == key.value) {
                continue;
            }
            let all = || format!("options: {}", known().collect::<Vec<_>>().join(", "));
            let hint = suggest(&key.value, known(), false, all);
            context.out.error(&key.place, format!("{what} has no option `{}`", key.value)).hint(hint);
        }
        if context.out.errors() > before {
            return None;
        }
        if let Err(error) = (row.check)(&Value::Object(self.options.clone())) {
            self.refuse(row, &error, context);
            return None;
        }
        Some(())
    }

    /// Points at the option that was refused.
    fn refuse(&self, row: &Row, error: &OptionError, context: &mut Context) {
        let place_of = |name: &str| self.places.iter().find(|(key, _)| key.value == name).map(|(_, place)| place);
        // an error without a field comes from reading: the option that fails alone is the one
        let alone = |key: &str| {
            let single = self.options.get(key).map(|value| Map::from_iter([(key.to_string(), value.clone())]));
            single.is_some_and(|table| (row.check)(&Value::Object(table)).is_err())
        };
        let guilty = || self.places.iter().find(|(key, _)| alone(&key.value));
        let found = error.field.and_then(|name| place_of(name).map(|place| (name, place)));
        let found = found.or_else(|| guilty().map(|(key, place)| (key.value.as_str(), place)));
        let place = found.map_or(self.place, |(_, place)| place);
        let mut diagnostic = crate::Diagnostic::new(crate::Severity::Error, place, error.reason.clone());
        let named = |option: &OptionDoc| found.is_some_and(|(name, _)| name == option.name);
        if let Some(option) = (row.options)().into_iter().find(named) {
            diagnostic.hint(format!("{} (default {})", option.meaning, option.default));
        }
        context.out.push(diagnostic);
    }
}
