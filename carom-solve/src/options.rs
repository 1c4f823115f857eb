//! Options of solvers and schemes: one plain struct is the table of a model file, the Python keywords and the Rust literal.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A struct of options. Derive `Serialize`, `Deserialize` (with unknown fields denied and defaults filled in) and `JsonSchema`.
pub trait Options: Default + Serialize + DeserializeOwned + JsonSchema {
    /// Refuses values that make no sense, by field.
    fn validate(&self) -> Result<(), OptionError> {
        Ok(())
    }

    /// Reads and validates a table of options.
    fn read(table: &Value) -> Result<Self, OptionError> {
        let options: Self =
            serde_json::from_value(table.clone()).map_err(|e| OptionError { field: None, reason: e.to_string() })?;
        options.validate()?;
        Ok(options)
    }

    /// The defaults as a table.
    fn defaults() -> Value {
        serde_json::to_value(Self::default()).unwrap_or(Value::Null)
    }

    /// JSON Schema of the table.
    fn schema() -> Value {
        schemars::schema_for!(Self).to_value()
    }

    /// Name, default and meaning of each option, for `carom show`.
    fn describe() -> Vec<OptionDoc> {
        let (schema, defaults) = (Self::schema(), Self::defaults());
        let properties = schema.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(|(name, property)| OptionDoc {
                name: name.clone(),
                // an option that is not set by default has none
                default: defaults.get(name).map_or_else(|| "null".into(), Value::to_string),
                meaning: property.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " "),
            })
            .collect()
    }
}

/// One option as its page shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OptionDoc {
    /// Key in the table.
    pub name: String,
    /// Default in JSON.
    pub default: String,
    /// What it does, with its unit.
    pub meaning: String,
}

/// An option that cannot be read or makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{reason}", field.map(|f| format!("option `{f}`: ")).unwrap_or_default())]
pub struct OptionError {
    /// The option, where one is to blame.
    pub field: Option<&'static str>,
    /// What is wrong.
    pub reason: String,
}

impl OptionError {
    /// An option with a value that makes no sense.
    pub fn new(field: &'static str, reason: impl Into<String>) -> Self {
        OptionError { field: Some(field), reason: reason.into() }
    }
}

/// The page of a scheme or solver: the `//!` head of its source file, without the fences around formulas.
pub fn page(source: &str) -> String {
    let mut text = String::new();
    let head = source.lines().map_while(|line| line.strip_prefix("//!"));
    for line in head.filter(|line| !line.trim_start().starts_with("```")) {
        text.push_str(line.strip_prefix(' ').unwrap_or(line));
        text.push('\n');
    }
    text
}
