//! Units of result columns: from `[units]`, from contacts, from what a model of its kind has.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use carom::simulation::Column;

use super::context::Context;
use crate::diagnostic::suggest;
use crate::file::{ModelFile, Text};

/// Longest unit [characters].
const LONGEST: usize = 24;

/// Units by the full names of columns, where they differ from those that columns have by themselves; `None` if one of
/// them has a mistake.
pub(super) fn read(
    file: &ModelFile,
    columns: &[(String, Column)],
    cyclic: &[(usize, f64)],
    context: &mut Context,
) -> Option<BTreeMap<String, String>> {
    let before = context.out.errors();
    let n = context.names.coordinates.len();
    let mut coordinates: Vec<Option<String>> = vec![None; n];
    // what repeats itself after 2π is an angle
    for &(i, _) in cyclic.iter().filter(|(_, length)| (length - TAU).abs() < 1e-9) {
        coordinates[i] = Some("rad".into());
    }
    let mut named: BTreeMap<String, String> =
        context.names.units.iter().map(|(name, unit)| (name.clone(), (*unit).to_owned())).collect();
    let is_base = |key: &str| context.names.velocities.is_some() && crate::kind::multibody::is_base(key);
    let words = file.units.iter().flat_map(|words| &words.items).filter(|(key, _)| !is_base(&key.value));
    for (key, unit) in words.collect::<Vec<_>>() {
        let Some(unit) = checked(unit, context) else { continue };
        if let Some(&i) = context.names.index.get(&key.value) {
            coordinates[i] = Some(unit);
        } else if context.names.base.as_ref() == Some(&key.value) {
            coordinates.fill(Some(unit));
        } else if let Some(name) = column(&key.value, columns) {
            named.insert(name, unit);
        } else if context.values.iter().any(|parameter| parameter.name.value == key.value) {
            named.insert(of_parameter(&key.value), unit);
        } else {
            let known = context.names.coordinates.iter().chain(columns.iter().map(|(name, _)| name));
            let known = known.chain(context.values.iter().map(|parameter| &parameter.name.value));
            let hint = suggest(&key.value, known.map(String::as_str), false, || {
                "write a coordinate, a parameter, a column of [output.columns], or the full name of a result column in \
                 quotes"
                    .into()
            });
            context.out.error(&key.place, format!("there is no column or parameter `{}`", key.value)).hint(hint);
        }
    }
    let contacts = file.contact.as_deref().unwrap_or_default();
    let gaps: Vec<Option<String>> =
        contacts.iter().map(|contact| contact.unit.as_ref().and_then(|unit| checked(unit, context))).collect();
    // the coordinate whose rate a velocity is
    let velocities = context.names.velocities();
    let rated = |i: usize| velocities.get(i).and_then(|name| context.names.index.get(name)).copied();
    for (name, column) in columns {
        let gap = |law: usize| gaps.get(law).and_then(Option::as_deref);
        let unit = match *column {
            Column::Position(i) => coordinates[i].clone(),
            Column::Velocity(i) => rated(i).and_then(|i| coordinates[i].as_deref()).map(rate),
            Column::Gap(law) => gap(law).map(String::from),
            Column::Impulse { law, row: 0 } => gap(law).map(|unit| format!("{} s", force(unit))),
            Column::Force { law, row: 0 } => gap(law).map(force),
            _ => None,
        };
        if let Some(unit) = unit {
            named.entry(name.clone()).or_insert(unit);
        }
    }
    (context.out.errors() == before).then_some(named)
}

/// Where the unit of a parameter stands among those of columns.
pub(super) fn of_parameter(name: &str) -> String {
    format!("parameter.{name}")
}

/// The column that a key names, in full or without `output.`.
fn column(key: &str, columns: &[(String, Column)]) -> Option<String> {
    let is = |name: &str| name == key || name.strip_prefix("output.") == Some(key);
    columns.iter().map(|(name, _)| name).find(|name| is(name)).cloned()
}

/// The unit of the rate of a quantity.
fn rate(unit: &str) -> String {
    if unit.contains('/') { format!("({unit})/s") } else { format!("{unit}/s") }
}

/// The unit of what does work along a quantity.
fn force(unit: &str) -> String {
    match unit {
        "m" => "N".into(),
        "rad" => "N m".into(),
        unit if unit.contains(['/', ' ']) => format!("J/({unit})"),
        unit => format!("J/{unit}"),
    }
}

fn checked(unit: &Text, context: &mut Context) -> Option<String> {
    let text = unit.value.trim();
    if text.is_empty() || text.chars().count() > LONGEST || text.chars().any(char::is_control) {
        let message = format!("{:?} is not a unit: 1 to {LONGEST} characters", unit.value);
        context.out.error(&unit.place, message).hint("as in \"m\", \"rad\", \"V\", or \"1\" for a pure number");
        return None;
    }
    Some(text.to_owned())
}
