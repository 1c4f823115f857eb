//! Flags of a command from the description of its options: the JSON Schema of the struct that the library reads.
//!
//! Kebab-case keys are the flags, doc comments the help, ranges and words of enums are checked. Extensions of the
//! schema: `x-value` the name of the value, `x-required` (here or in a study file), `x-commas` where commas separate
//! values, and `x-missing` the value of a flag that is given without one.

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use serde_json::{Map, Value, json};

/// What a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlagValue {
    Switch,
    Whole,
    Number,
    Text,
    /// One of some words.
    Word,
    /// A number, or nothing.
    NumberOrNothing,
    Texts,
    Numbers,
}

/// The options of a schema, in its order, with what they take.
fn options(schema: &Value) -> impl Iterator<Item = (&String, &Value, FlagValue)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, property)| (name, property, kind(property)))
}

fn has_type(property: &Value, wanted: &str) -> bool {
    match &property["type"] {
        Value::Array(types) => types.iter().any(|known| known == wanted),
        one => one == wanted,
    }
}

fn kind(property: &Value) -> FlagValue {
    if !words(property).is_empty() {
        return FlagValue::Word;
    }
    if has_type(property, "array") {
        return if has_type(&property["items"], "number") { FlagValue::Numbers } else { FlagValue::Texts };
    }
    match () {
        () if property["anyOf"].is_array() => FlagValue::NumberOrNothing,
        () if has_type(property, "boolean") => FlagValue::Switch,
        () if has_type(property, "integer") => FlagValue::Whole,
        () if has_type(property, "number") => FlagValue::Number,
        () => FlagValue::Text,
    }
}

/// Words of an enum with their meanings.
fn words(property: &Value) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    collect(property, &mut found);
    found
}

fn collect<'a>(property: &'a Value, found: &mut Vec<(&'a str, &'a str)>) {
    for word in property["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        found.push((word, ""));
    }
    if let Some(word) = property["const"].as_str() {
        found.push((word, property["description"].as_str().unwrap_or_default()));
    }
    for part in ["oneOf", "anyOf"].iter().flat_map(|key| property[key].as_array().into_iter().flatten()) {
        collect(part, found);
    }
}

/// Text that lives as long as the command does.
fn forever(text: impl Into<String>) -> &'static str {
    Box::leak(text.into().into_boxed_str())
}

/// The flags of a schema.
pub fn arguments(schema: &Value) -> Vec<Arg> {
    options(schema).map(|(name, property, kind)| argument(name, property, kind)).collect()
}

fn argument(name: &str, property: &Value, kind: FlagValue) -> Arg {
    let help = property["description"].as_str().unwrap_or_default().replace('\n', " ");
    let name = forever(name);
    let mut arg = Arg::new(name).long(name).help(help);
    if let Some(value) = property["x-value"].as_str() {
        arg = arg.value_name(forever(value)).allow_hyphen_values(matches!(value, "EXPRESSION" | "NUMBERS"));
    }
    let shown = match &property["default"] {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    if let Some(shown) = shown {
        arg = arg.default_value(forever(shown));
    }
    arg = match kind {
        FlagValue::Switch => arg.action(ArgAction::SetTrue),
        FlagValue::Whole => {
            let least = property["minimum"].as_f64().map_or(0, |x| x as u64);
            let most = property["maximum"].as_f64().map_or(u64::MAX, |x| x as u64);
            arg.value_parser(value_parser!(u64).range(least..=most))
        }
        FlagValue::Number => arg.value_parser(number).allow_negative_numbers(true),
        FlagValue::NumberOrNothing => arg.allow_negative_numbers(true).value_parser(number_or_true),
        FlagValue::Word => {
            let values = words(property).into_iter().map(|(word, help)| {
                let value = PossibleValue::new(forever(word));
                if help.is_empty() { value } else { value.help(forever(help.replace('\n', " "))) }
            });
            arg.value_parser(values.collect::<Vec<_>>())
        }
        FlagValue::Text => arg,
        FlagValue::Texts if property["x-commas"] == true => arg.action(ArgAction::Append).value_delimiter(','),
        FlagValue::Texts => arg.action(ArgAction::Append),
        FlagValue::Numbers => arg.action(ArgAction::Append).value_delimiter(',').value_parser(number),
    };
    match &property["x-missing"] {
        Value::Null => {}
        value => arg = arg.num_args(0..=1).default_missing_value(forever(value.to_string())),
    }
    arg
}

fn number(text: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| "it must be a finite number".to_owned())
}

/// What `x-missing = true` stands for, or a number.
fn number_or_true(text: &str) -> Result<Value, String> {
    if text == "true" { Ok(json!(true)) } else { number(text).map(|x| json!(x)) }
}

/// The table of options that was given; what was not is left to the defaults.
pub fn table(schema: &Value, matches: &ArgMatches) -> Value {
    let mut table = Map::new();
    for (name, _, kind) in options(schema) {
        if matches.value_source(name).is_none_or(|source| source == clap::parser::ValueSource::DefaultValue) {
            continue;
        }
        let value = match kind {
            FlagValue::Switch => Some(json!(matches.get_flag(name))),
            FlagValue::Whole => matches.get_one::<u64>(name).map(|x| json!(x)),
            FlagValue::Number => matches.get_one::<f64>(name).map(|x| json!(x)),
            FlagValue::NumberOrNothing => matches.get_one::<Value>(name).cloned(),
            FlagValue::Text | FlagValue::Word => matches.get_one::<String>(name).map(|x| json!(x)),
            FlagValue::Texts => matches.get_many::<String>(name).map(|all| all.map(|x| json!(x)).collect()),
            FlagValue::Numbers => matches.get_many::<f64>(name).map(|all| all.map(|x| json!(x)).collect()),
        };
        table.extend(value.map(|value| (name.clone(), value)));
    }
    Value::Object(table)
}
