//! The elements of a circuit as they are written: `NAME = [NODE, NODE, VALUE]`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;

use crate::diagnostic::Place;
use crate::file::{Formula, Item, Read, Reader, Text, entries};

/// Elements of one kind in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Elements {
    /// Entries of the table, one for each key.
    pub items: Vec<Element>,
}

/// An element between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Key of the entry.
    pub name: Text,
    /// First and second node; currents count from the first to the second.
    pub nodes: [Text; 2],
    /// Resistance, voltage, gate or the like, by the kind of the element; ideal diodes have none.
    pub value: Option<Formula>,
    /// Where the list of nodes and value stands.
    pub place: Place,
}

/// A node: a text, or a whole number.
fn node(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Text> {
    match item.get_ref() {
        DeValue::Integer(number) => Some(Text { value: number.to_string(), place: reader.place(item.span()) }),
        _ => Text::read(item, reader),
    }
}

fn element(name: Text, item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Element> {
    let DeValue::Array(array) = item.get_ref() else {
        reader.wrong_type(item, "an element, as in [\"a\", \"b\", 100]");
        return None;
    };
    let items: Vec<&Item<'_>> = array.iter().collect();
    let (first, second, value) = match items.as_slice() {
        [first, second] => (*first, *second, None),
        [first, second, value] => (*first, *second, Some(*value)),
        items => {
            let message = format!("an element has two nodes and a value, found {} items", items.len());
            reader.error(item.span(), message);
            return None;
        }
    };
    let (first, second) = (node(first, reader), node(second, reader));
    let value = match value {
        Some(value) => Some(Formula::read(value, reader)?),
        None => None,
    };
    Some(Element { name, nodes: [first?, second?], value, place: reader.place(item.span()) })
}

impl Read for Elements {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        Some(Elements { items: entries(item, reader, element)? })
    }
}

impl JsonSchema for Elements {
    fn schema_name() -> Cow<'static, str> {
        "Elements".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "minItems": 2,
                "maxItems": 3,
                "items": { "type": ["string", "number"] }
            }
        })
    }
}
