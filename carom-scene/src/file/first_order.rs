//! The tables of first-order models: sweeping processes, complementarity systems, equations with multipliers, circuits.

// matrices have the names that the literature gives them
#![allow(non_snake_case)]

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;

use super::reader::{Item, Read, Reader, ordered, table};
use super::value::{Entries, Formula, Matrix, OneOrMore, Text};
use crate::diagnostic::Place;

table! {
    /// A sweeping process: a state that stays in a moving set, given by [[set]].
    pub struct SweepingTable {
        /// "sweeping"
        pub kind: Text,
        /// Names of the states.
        pub states: Vec<Text>,
        /// Rates inside the set by state, of t and states; 0 where missing.
        pub drift: Option<Entries>,
    }
}

table! {
    /// A linear complementarity system E x' = A x + B lambda + a(t), y = C x + D lambda + c(t).
    pub struct LcsTable {
        /// "lcs"
        pub kind: Text,
        /// Names of the states; x0, x1, ... by default.
        pub states: Option<Vec<Text>>,
        /// Matrix before x'; the unit matrix by default, rows of zeros are algebraic equations.
        pub E: Option<Matrix>,
        /// Matrix of the states, by rows, of numbers or expressions of parameters.
        pub A: Matrix,
        /// How multipliers enter the rates: one row per state.
        pub B: Option<Matrix>,
        /// Outputs of the states: one row per law.
        pub C: Option<Matrix>,
        /// Outputs of the multipliers; 0 by default.
        pub D: Option<Matrix>,
        /// Sources in the rates, one per state, of t.
        pub a: Option<OneOrMore>,
        /// Sources in the outputs, one per law, of t.
        pub c: Option<OneOrMore>,
    }
}

table! {
    /// x' = f(t, x) + B(t, x) lambda, y = h(t, x) + D lambda, with outputs and inputs in [[row]].
    pub struct FirstOrderTable {
        /// "first-order"
        pub kind: Text,
        /// Names of the states.
        pub states: Vec<Text>,
        /// Rates by state, of t and states; 0 where missing.
        pub rate: Option<Entries>,
    }
}

table! {
    /// A circuit. Each element is NAME = [NODE, NODE, VALUE]; its current flows from the first node to the second.
    pub struct CircuitTable {
        /// "circuit"
        pub kind: Text,
        /// The node with potential 0; "0" or "gnd" where there is one, else the first node.
        pub ground: Option<Text>,
        /// NAME = [NODE, NODE, RESISTANCE].
        pub resistor: Option<Elements>,
        /// NAME = [NODE, NODE, CAPACITANCE].
        pub capacitor: Option<Elements>,
        /// NAME = [NODE, NODE, INDUCTANCE].
        pub inductor: Option<Elements>,
        /// NAME = [PLUS, MINUS, VOLTAGE], an expression of t.
        pub voltage: Option<Elements>,
        /// NAME = [FROM, TO, CURRENT], an expression of t.
        pub current: Option<Elements>,
        /// NAME = [ANODE, CATHODE]: ideal.
        pub diode: Option<Elements>,
        /// NAME = [NODE, NODE, GATE]: closed while the expression of t is positive.
        pub switch: Option<Elements>,
        /// NAME = [ANODE, CATHODE, BREAKDOWN VOLTAGE].
        pub zener: Option<Elements>,
    }
}

table! {
    /// A law of a first-order model between an output y and a multiplier lambda.
    pub struct RowTable {
        /// Name in results.
        pub name: Text,
        /// "complementarity" (y and lambda not negative, one of them 0; the default), "relay" (lambda is `upper` where y < 0 and `lower`
        /// where y > 0) or "equality" (y = 0).
        pub law: Option<Text>,
        /// Smallest multiplier of a relay; -1 by default.
        pub lower: Option<Formula>,
        /// Largest multiplier of a relay; 1 by default.
        pub upper: Option<Formula>,
        /// The output without multipliers, of t and states (kind "first-order").
        pub output: Option<Formula>,
        /// How the multiplier enters the rates, by state, of t and states (kind "first-order").
        pub input: Option<Entries>,
        /// How multipliers enter the output, by row (kind "first-order").
        pub feedthrough: Option<Entries>,
    }
}

table! {
    /// A piece of the moving set: an interval (state, lower, upper), a ball (center, radius) or half-spaces (inside).
    pub struct SetTable {
        /// Name in results.
        pub name: Text,
        /// The state of an interval.
        pub state: Option<Text>,
        /// Lower end of the interval, of t.
        pub lower: Option<Formula>,
        /// Upper end of the interval, of t.
        pub upper: Option<Formula>,
        /// Centre of a ball: one expression of t per state.
        pub center: Option<OneOrMore>,
        /// Radius of the ball, of t.
        pub radius: Option<Formula>,
        /// Expressions that are not negative inside: affine in the states, of t. Several make a polyhedron.
        pub inside: Option<OneOrMore>,
    }
}

/// Elements of one kind in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Elements {
    pub items: Vec<Element>,
}

/// An element between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    pub name: Text,
    pub nodes: [Text; 2],
    pub value: Option<Formula>,
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
        let table = reader.table(item)?;
        let mut items = Some(Vec::with_capacity(table.len()));
        for (key, item) in ordered(table) {
            if reader.out.is_full() {
                return None;
            }
            let value = key.get_ref().to_string();
            let read = reader.inside(&value.clone(), |reader| {
                element(Text { value, place: reader.place(key.span()) }, item, reader)
            });
            match (&mut items, read) {
                (Some(items), Some(read)) => items.push(read),
                _ => items = None,
            }
        }
        Some(Elements { items: items? })
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
