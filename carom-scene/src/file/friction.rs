//! The coefficient of friction of a contact: a formula, or two coefficients for rest and for sliding.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;

use super::reader::{Item, Read, Reader, table};
use super::value::Formula;
use crate::diagnostic::Place;

table! {
    /// Friction that is another one at rest than while sliding.
    pub struct FrictionTable {
        /// Coefficient at rest, of t, coordinates, velocities and parameters.
        pub rest as "static": Formula,
        /// Coefficient while sliding, fast where `speed` is given.
        pub kinetic: Formula,
        /// Speed in which the coefficient falls from `static` to `kinetic`, by a factor of e; at once without it [m/s].
        pub speed: Option<Formula>,
    }
}

/// A coefficient of friction.
#[derive(Clone, Debug)]
pub enum Friction {
    /// Of parameters alone, or of the state and the sliding speed.
    Formula(Formula),
    /// At rest and while sliding.
    Table(FrictionTable),
}

impl Friction {
    /// Where it stands.
    pub fn place(&self) -> &Place {
        match self {
            Friction::Formula(formula) => &formula.place,
            Friction::Table(table) => &table.place,
        }
    }

    /// The coefficient, at rest where that makes a difference.
    pub fn at_rest(&self) -> &Formula {
        match self {
            Friction::Formula(formula) => formula,
            Friction::Table(table) => &table.rest,
        }
    }
}

impl Read for Friction {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        match item.get_ref() {
            DeValue::Table(_) => FrictionTable::read(item, reader).map(Friction::Table),
            _ => Formula::read(item, reader).map(Friction::Formula),
        }
    }
}

impl JsonSchema for Friction {
    fn schema_name() -> Cow<'static, str> {
        "Friction".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (formula, table) = (generator.subschema_for::<Formula>(), generator.subschema_for::<FrictionTable>());
        json_schema!({ "anyOf": [formula, table] })
    }
}
