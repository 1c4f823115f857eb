//! Numbers in parts: those that are not finite, for which JSON has no word, become `"NaN"`, `"inf"` and `"-inf"`.
//!
//! `#[serde(with = "exact")]` on a field of numbers, a list of them, or lists of lists.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A number, or what has numbers in it.
pub trait Exact: Sized {
    /// As JSON that reads back as the same.
    fn to_json(&self) -> Value;
    /// Back again.
    fn from_json(value: &Value) -> Option<Self>;
}

impl Exact for f64 {
    fn to_json(&self) -> Value {
        if self.is_finite() { Value::from(*self) } else { Value::from(self.to_string()) }
    }

    fn from_json(value: &Value) -> Option<f64> {
        value.as_f64().or_else(|| value.as_str()?.parse().ok())
    }
}

impl<T: Exact> Exact for Option<T> {
    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_json)
    }

    fn from_json(value: &Value) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::from_json(value).map(Some) }
    }
}

impl<T: Exact> Exact for Vec<T> {
    fn to_json(&self) -> Value {
        self.iter().map(T::to_json).collect()
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(T::from_json).collect()
    }
}

impl<A: Exact, B: Exact> Exact for (A, B) {
    fn to_json(&self) -> Value {
        Value::Array(vec![self.0.to_json(), self.1.to_json()])
    }

    fn from_json(value: &Value) -> Option<Self> {
        Some((A::from_json(value.get(0)?)?, B::from_json(value.get(1)?)?))
    }
}

/// For `#[serde(with)]`.
///
/// # Errors
/// As the serialiser.
pub fn serialize<T: Exact, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.to_json().serialize(serializer)
}

/// For `#[serde(with)]`.
///
/// # Errors
/// Fails for what is no number.
pub fn deserialize<'de, T: Exact, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    T::from_json(&value).ok_or_else(|| D::Error::custom(format!("{value} has no numbers")))
}

/// Results for programs, as JSON has them everywhere else: no number where it is not finite.
pub fn plain(parts: &impl Serialize) -> Value {
    fn clean(value: &mut Value) {
        match value {
            Value::String(text) if matches!(text.as_str(), "NaN" | "inf" | "-inf") => *value = Value::Null,
            Value::Array(all) => all.iter_mut().for_each(clean),
            Value::Object(all) => all.values_mut().for_each(clean),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(parts).unwrap_or(Value::Null);
    clean(&mut value);
    value
}

#[cfg(test)]
mod tests {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Part {
        #[serde(with = "super")]
        all: Vec<(f64, Option<f64>)>,
    }

    #[test]
    fn numbers_read_back_bit_by_bit() {
        let numbers = [0.1 + 0.2, 1.0 / 3.0, 5e-324, f64::MAX, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let part = Part { all: numbers.map(|x| (x, Some(-x))).into_iter().chain([(1.0, None)]).collect() };
        let text = serde_json::to_string(&part).unwrap();
        let back: Part = serde_json::from_str(&text).unwrap();
        for (a, b) in part.all.iter().zip(&back.all) {
            let bits = |x: f64| if x.is_nan() { 0 } else { x.to_bits() };
            assert_eq!((bits(a.0), a.1.map(bits)), (bits(b.0), b.1.map(bits)), "{text}");
        }
        assert_eq!(super::plain(&part)["all"][5], serde_json::json!([null, null]));
    }
}
