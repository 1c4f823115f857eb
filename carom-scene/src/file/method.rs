//! The choice of a scheme or a solver: a name, or a table with a name and options; and tables of options alone.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::reader::{Item, Read, Reader, ordered};
use super::value::Text;
use crate::diagnostic::{Diagnostics, Place, SourceText};
use crate::scene::Choice;

/// A named method with its table of options.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Name of the scheme or solver.
    pub name: Text,
    /// Options as they are written, without the name.
    pub options: Map<String, Value>,
    /// Key and value of each option, in the order of the file.
    pub places: Vec<(Text, Place)>,
}

impl Method {
    /// A choice that a program made.
    pub(crate) fn from_value(option: &str, choice: &Choice, out: &mut Diagnostics) -> Option<Method> {
        let source = SourceText::new(option, &choice.name);
        let place = Reader::new(&source, option, out).place(0..choice.name.len());
        let Value::Object(options) = &choice.options else {
            out.error(&place, format!("the options {} are no table", choice.options));
            return None;
        };
        let name = Text { value: choice.name.clone(), place };
        Some(Method { name, options: options.clone(), places: Vec::new() })
    }

    /// Reads the text of a command-line option: a bare name, or an inline table of TOML.
    pub(crate) fn from_option(option: &str, text: &str, out: &mut Diagnostics) -> Option<Method> {
        let source = SourceText::new(option, text);
        let mut reader = Reader::new(&source, option, out);
        let trimmed = text.trim();
        if !trimmed.starts_with('{') {
            let start = text.len() - text.trim_start().len();
            let name = Text { value: trimmed.into(), place: reader.place(start..start + trimmed.len()) };
            return Some(Method { name, options: Map::new(), places: Vec::new() });
        }
        match DeValue::parse(text) {
            Ok(item) => Method::read(&item, &mut reader),
            Err(error) => {
                reader
                    .error(error.span().unwrap_or(0..text.len()), error.message().to_string())
                    .hint("write a name, or a table such as { name = \"...\", option = 1 }");
                None
            }
        }
    }
}

impl Read for Method {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        if let DeValue::String(_) = item.get_ref() {
            return Some(Method { name: Text::read(item, reader)?, options: Map::new(), places: Vec::new() });
        }
        let DeValue::Table(table) = item.get_ref() else {
            reader.wrong_type(item, "a name in quotes, or a table such as { name = \"...\" }");
            return None;
        };
        let name = reader.field::<Text>(table, "name", &[], &reader.place(item.span()));
        let (options, places) = options(table, &["name"], reader)?;
        Some(Method { name: name?, options, places })
    }
}

type Options = (Map<String, Value>, Vec<(Text, Place)>);

/// The entries of a table as options, but for some keys.
fn options(table: &DeTable<'_>, except: &[&str], reader: &mut Reader<'_>) -> Option<Options> {
    let (mut options, mut places) = (Map::new(), Vec::new());
    let mut complete = true;
    for (key, item) in ordered(table) {
        let option = key.get_ref().to_string();
        if except.contains(&option.as_str()) {
            continue;
        }
        reader.inside(&option, |reader| match json(item, reader) {
            Some(value) => {
                options.insert(option.clone(), value);
                let key = Text { value: option.clone(), place: reader.place(key.span()) };
                places.push((key, reader.place(item.span())));
            }
            None => complete = false,
        });
    }
    complete.then_some((options, places))
}

/// A table of options; a number alone stands for the tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Options as they are written.
    pub options: Map<String, Value>,
    /// Key and value of each option, in the order of the file.
    pub places: Vec<(Text, Place)>,
    /// Where the table stands.
    pub place: Place,
}

impl Settings {
    /// Reads the text of a command-line option: a number, or an inline table of TOML.
    pub(crate) fn from_option(option: &str, text: &str, out: &mut Diagnostics) -> Option<Settings> {
        let source = SourceText::new(option, text);
        let mut reader = Reader::new(&source, option, out);
        let (table, trimmed) = (text.trim_start().starts_with('{'), text.trim());
        match DeValue::parse(text) {
            Ok(item) => Settings::read(&item, &mut reader),
            Err(error) => {
                // what a parser of values has to say of a single word is of no help
                let (span, message) = match table {
                    true => (error.span().unwrap_or(0..text.len()), error.message().to_string()),
                    false => (0..text.len(), format!("`{trimmed}` is no tolerance")),
                };
                reader
                    .error(span, message)
                    .hint("write a tolerance such as 1e-6, a table such as { tolerance = 1e-6, max = 0.1 }, or off");
                None
            }
        }
    }
}

impl Read for Settings {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let place = reader.place(item.span());
        let (options, places) = match item.get_ref() {
            DeValue::Table(table) => options(table, &[], reader)?,
            DeValue::Float(_) | DeValue::Integer(_) => {
                let key = Text { value: "tolerance".into(), place: place.clone() };
                (Map::from_iter([("tolerance".to_string(), json(item, reader)?)]), vec![(key, place.clone())])
            }
            _ => {
                reader.wrong_type(item, "a tolerance, or a table such as { tolerance = 1e-6 }");
                return None;
            }
        };
        Some(Settings { options, places, place })
    }
}

/// The options come from the library, see [`crate::schema`].
impl JsonSchema for Settings {
    fn schema_name() -> Cow<'static, str> {
        "Settings".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "object"] })
    }
    fn inline_schema() -> bool {
        true
    }
}

/// The value as JSON. The depth of TOML values is limited by their parser.
pub(super) fn json(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Value> {
    match item.get_ref() {
        DeValue::String(text) => Some(Value::from(text.as_ref())),
        DeValue::Boolean(value) => Some(Value::from(*value)),
        DeValue::Integer(number) => {
            let value = i64::from_str_radix(number.as_str(), number.radix()).ok();
            if value.is_none() {
                reader.error(item.span(), format!("the integer {number} does not fit into 64 bits"));
            }
            value.map(Value::from)
        }
        DeValue::Float(number) => {
            let value = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
            if value.is_none() {
                reader.error(item.span(), "the number is not finite");
            }
            value.map(Value::Number)
        }
        DeValue::Datetime(_) => {
            reader.wrong_type(item, "an option");
            None
        }
        DeValue::Array(array) => {
            array.iter().map(|item| json(item, reader)).collect::<Option<Vec<_>>>().map(Value::from)
        }
        DeValue::Table(table) => {
            let entries = ordered(table).into_iter();
            let entries = entries.map(|(key, item)| Some((key.get_ref().to_string(), json(item, reader)?)));
            entries.collect::<Option<Map<_, _>>>().map(Value::from)
        }
    }
}

/// The names and options come from the registries, see [`crate::schema`].
impl JsonSchema for Method {
    fn schema_name() -> Cow<'static, str> {
        "Method".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"] })
    }
    fn inline_schema() -> bool {
        true
    }
}
