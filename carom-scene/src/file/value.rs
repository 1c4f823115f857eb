//! The values that tables are made of, each with its place.

use std::borrow::Cow;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;

use super::reader::{Item, Read, Reader, ordered};
use crate::diagnostic::Place;

/// A text, or the key of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The text without quotes and escapes.
    pub value: String,
    /// Where it stands.
    pub place: Place,
}

/// A whole number.
#[derive(Clone, Debug, PartialEq)]
pub struct Integer {
    /// The number itself.
    pub value: i64,
    /// Where it stands.
    pub place: Place,
}

/// A number, or an expression in quotes.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// The number or the text of the expression.
    pub content: Content,
    /// Where the whole value stands.
    pub place: Place,
    /// Where the text of the expression starts, if it stands in the file as it is.
    inside: Option<usize>,
}

/// What a formula is.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Finite.
    Number(f64),
    /// Text without quotes and escapes, not yet parsed.
    Expression(String),
}

/// Named formulas in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries {
    /// Keys with their formulas.
    pub items: Vec<(Text, Formula)>,
    /// Where the table stands.
    pub place: Place,
}

/// Named texts in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// Keys with their texts.
    pub items: Vec<(Text, Text)>,
    /// Where the table stands.
    pub place: Place,
}

/// One formula, or a list of them.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOrMore {
    /// The formulas; a single one is a list of one.
    pub items: Vec<Formula>,
    /// Where the formula or the list stands.
    pub place: Place,
}

/// A matrix by rows; a single number is a 1×1 matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Formulas of each row, from left to right.
    pub rows: Vec<Vec<Formula>>,
    /// Where the matrix stands.
    pub place: Place,
}

/// A point of the plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// x and y.
    pub coordinates: [Formula; 2],
}

impl Formula {
    /// A formula that does not come from a quoted text.
    pub fn new(content: Content, place: Place, inside: Option<usize>) -> Formula {
        Formula { content, place, inside }
    }

    /// A part of the expression as a formula of its own.
    pub fn slice(&self, span: Range<usize>) -> Formula {
        let text = match &self.content {
            Content::Expression(text) => text.get(span.clone()).unwrap_or_default().to_owned(),
            Content::Number(_) => String::new(),
        };
        let inside = self.inside.map(|start| start + span.start);
        Formula::new(Content::Expression(text), self.part(span), inside)
    }

    /// The place of a part of the expression; the whole value where escapes hide the part.
    pub fn part(&self, span: Range<usize>) -> Place {
        match self.inside {
            Some(start) => self.place.at(start + span.start..start + span.end),
            None => self.place.clone(),
        }
    }
}

/// Start of the content of a quoted text, if the file shows it letter by letter.
fn content_start(raw: &str, value: &str) -> Option<usize> {
    let quotes = if raw.starts_with("\"\"\"") || raw.starts_with("'''") { 3 } else { 1 };
    let content = raw.get(quotes..raw.len().checked_sub(quotes)?)?;
    // a line break directly after three quotes does not belong to the value
    let skipped = if quotes < 3 { 0 } else { content.len().checked_sub(value.len())? };
    let newline = matches!(content.get(..skipped)?, "" | "\n" | "\r\n");
    (newline && content.get(skipped..)? == value).then_some(quotes + skipped)
}

impl Read for Text {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        match item.get_ref() {
            DeValue::String(text) => Some(Text { value: text.to_string(), place: reader.place(item.span()) }),
            _ => {
                reader.wrong_type(item, "a text in quotes");
                None
            }
        }
    }
}

impl Read for Integer {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let value = match item.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        if value.is_none() {
            reader.wrong_type(item, "a whole number");
        }
        Some(Integer { value: value?, place: reader.place(item.span()) })
    }
}

/// The value of a number; whole numbers beyond 64 bits are rounded like any other.
pub(super) fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok().map(|x| x as f64),
        _ => None,
    }
}

impl Read for Formula {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let place = reader.place(item.span());
        if let DeValue::String(text) = item.get_ref() {
            let raw = reader.source.text.get(item.span()).unwrap_or_default();
            let inside = content_start(raw, text).map(|start| item.span().start + start);
            return Some(Formula::new(Content::Expression(text.to_string()), place, inside));
        }
        match number(item.get_ref()) {
            Some(value) if value.is_finite() => Some(Formula::new(Content::Number(value), place, None)),
            Some(_) => {
                reader.error(item.span(), "the number is not finite").hint("a 64-bit float ends at 1.8e308");
                None
            }
            None => {
                reader.wrong_type(item, "a number or an expression in quotes");
                None
            }
        }
    }
}

impl Read for Entries {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let items = entries(item, reader, |name, item, reader| Some((name, Formula::read(item, reader)?)))?;
        Some(Entries { items, place: reader.place(item.span()) })
    }
}

impl Read for Words {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let items = entries(item, reader, |name, item, reader| Some((name, Text::read(item, reader)?)))?;
        Some(Words { items, place: reader.place(item.span()) })
    }
}

/// Reads all entries of a table in their order, so that each mistake is told.
pub(crate) fn entries<T>(
    item: &Item<'_>,
    reader: &mut Reader<'_>,
    mut read: impl FnMut(Text, &Item<'_>, &mut Reader<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let table = reader.table(item)?;
    let mut items = Some(Vec::with_capacity(table.len()));
    for (key, item) in ordered(table) {
        if reader.out.is_full() {
            return None;
        }
        let value = key.get_ref().to_string();
        let entry = reader.inside(&value.clone(), |reader| {
            let place = reader.place(key.span());
            read(Text { value, place }, item, reader)
        });
        match (&mut items, entry) {
            (Some(items), Some(entry)) => items.push(entry),
            _ => items = None,
        }
    }
    items
}

/// Reads the items of a list without extending the path.
fn list<T: Read>(item: &Item<'_>, reader: &mut Reader<'_>, expected: &str) -> Option<Vec<T>> {
    let DeValue::Array(array) = item.get_ref() else {
        reader.wrong_type(item, expected);
        return None;
    };
    let mut all = Vec::with_capacity(array.len());
    for item in array.iter() {
        all.push(T::read(item, reader)?);
    }
    Some(all)
}

impl Read for OneOrMore {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let items = match item.get_ref() {
            DeValue::Array(_) => list(item, reader, "a list")?,
            _ => vec![Formula::read(item, reader)?],
        };
        Some(OneOrMore { items, place: reader.place(item.span()) })
    }
}

impl Read for Matrix {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let place = reader.place(item.span());
        let DeValue::Array(array) = item.get_ref() else {
            return Some(Matrix { rows: vec![vec![Formula::read(item, reader)?]], place });
        };
        let mut rows = Vec::with_capacity(array.len());
        for row in array.iter() {
            rows.push(list(row, reader, "a row of the matrix, as in [[1, 0], [0, 1]]")?);
        }
        Some(Matrix { rows, place })
    }
}

impl Read for Point {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let items: Vec<Formula> = list(item, reader, "a point, as in [\"x\", \"y\"]")?;
        match <[Formula; 2]>::try_from(items) {
            Ok(coordinates) => Some(Point { coordinates }),
            Err(items) => {
                reader.error(item.span(), format!("a point has 2 coordinates, found {}", items.len()));
                None
            }
        }
    }
}

/// Gives types an inline schema.
macro_rules! schema {
    ($($type:ident: $schema:tt,)*) => {$(
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

schema! {
    Text: { "type": "string" },
    Integer: { "type": "integer" },
    Formula: { "type": ["number", "string"] },
    Entries: { "type": "object", "additionalProperties": { "type": ["number", "string"] } },
    Words: { "type": "object", "additionalProperties": { "type": "string" } },
    OneOrMore: { "type": ["number", "string", "array"], "items": { "type": ["number", "string"] } },
    Matrix: {
        "type": ["number", "string", "array"],
        "items": { "type": "array", "items": { "type": ["number", "string"] } }
    },
    Point: { "type": "array", "items": { "type": ["number", "string"] }, "minItems": 2, "maxItems": 2 },
}

#[cfg(test)]
mod tests {
    use super::content_start;

    #[test]
    fn content_of_quoted_texts_is_found_unless_escaped() {
        assert_eq!(content_start("\"x + 1\"", "x + 1"), Some(1));
        assert_eq!(content_start("'x'", "x"), Some(1));
        assert_eq!(content_start("\"\"", ""), Some(1));
        assert_eq!(content_start("\"\\u0078\"", "x"), None);
        assert_eq!(content_start("\"\"\"x\"\"\"", "x"), Some(3));
        assert_eq!(content_start("'''\nx'''", "x"), Some(4));
        assert_eq!(content_start("'''\r\nx\n'''", "x\n"), Some(5));
        assert_eq!(content_start("\"\"\"a\\\n  b\"\"\"", "ab"), None);
        assert_eq!(content_start("\"", ""), None);
        assert_eq!(content_start("", ""), None);
    }
}
