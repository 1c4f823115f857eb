//! Options of solvers and schemes: one plain struct is the table of a model file, the Python keywords and the Rust
//! literal.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::fmt::Display;
use std::ops::{Bound, RangeBounds};

/// A struct of options. Derive `Serialize`, `Deserialize` (with unknown fields denied and defaults filled in) and
/// `JsonSchema`.
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

/// Refuses a number that is not positive and finite.
pub fn positive(field: &'static str, value: f64) -> Result<(), OptionError> {
    accept(value > 0.0 && value.is_finite(), field, || format!("{value} is not positive and finite"))
}

/// Refuses a number that is below `least` or not finite.
pub fn at_least(field: &'static str, value: f64, least: f64) -> Result<(), OptionError> {
    accept(value >= least && value.is_finite(), field, || format!("{value} is not a finite number ≥ {least}"))
}

/// Refuses a count of zero.
pub fn at_least_one<T: Default + PartialEq>(field: &'static str, value: T) -> Result<(), OptionError> {
    accept(value != T::default(), field, || "0 is not enough: at least 1 is needed".into())
}

/// Refuses a number outside of the open interval (0, 1).
pub fn fraction(field: &'static str, value: f64) -> Result<(), OptionError> {
    within(field, value, (Bound::Excluded(0.0), Bound::Excluded(1.0)))
}

/// Refuses a value outside of a range.
pub fn within<T: PartialOrd + Display>(
    field: &'static str,
    value: T,
    range: impl RangeBounds<T>,
) -> Result<(), OptionError> {
    accept(range.contains(&value), field, || {
        let from = match range.start_bound() {
            Bound::Included(x) => format!("[{x}"),
            Bound::Excluded(x) => format!("({x}"),
            Bound::Unbounded => "(−∞".into(),
        };
        match range.end_bound() {
            Bound::Included(x) => format!("{value} is not in {from}, {x}]"),
            Bound::Excluded(x) => format!("{value} is not in {from}, {x})"),
            Bound::Unbounded => format!("{value} is not in {from}, ∞)"),
        }
    })
}

fn accept(fits: bool, field: &'static str, reason: impl FnOnce() -> String) -> Result<(), OptionError> {
    if fits { Ok(()) } else { Err(OptionError::new(field, reason())) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_field_value_and_range() {
        let text = |result: Result<(), OptionError>| result.unwrap_err().to_string();
        assert_eq!(text(positive("tolerance", -1.0)), "option `tolerance`: -1 is not positive and finite");
        assert_eq!(text(at_least("c", f64::INFINITY, 0.5)), "option `c`: inf is not a finite number ≥ 0.5");
        assert_eq!(text(fraction("stick", 1.0)), "option `stick`: 1 is not in (0, 1)");
        assert_eq!(text(within("memory", 17, 0..=16)), "option `memory`: 17 is not in [0, 16]");
        assert_eq!(text(within("relaxation", 2.0, 1.0..2.0)), "option `relaxation`: 2 is not in [1, 2)");
        assert!(text(at_least_one("max-sweeps", 0)).contains("0 is not enough"));
        for nan in [positive("x", f64::NAN), at_least("x", f64::NAN, 0.0), fraction("x", f64::NAN)] {
            assert!(nan.is_err());
        }
        assert!(within("x", f64::NAN, 0.0..).is_err());
        assert_eq!(positive("x", 1.0).and(at_least("x", 0.0, 0.0)).and(fraction("x", 0.5)), Ok(()));
        assert_eq!(at_least_one("n", 1).and(within("n", 0.0, 0.0..=1.0)), Ok(()));
    }
}
