//! What rows of the registry of schemes claim.

use carom::scheme::{Family, Order, SCHEMES, SchemeRow};
use serde_json::Value;

/// A claim of the registry: a scheme, options in JSON, and the orders that it has with them.
pub struct Claimed {
    pub row: &'static SchemeRow,
    pub options: Value,
    pub order: Order,
}

impl Claimed {
    pub fn name(&self) -> String {
        format!("{} {}", self.row.info.name, self.options)
    }
}

/// All rows of a family with the options that their orders are stated for, and all variants.
pub fn claimed(family: Family) -> Vec<Claimed> {
    let read = |options| serde_json::from_str(options).unwrap();
    let mut all = Vec::new();
    for row in SCHEMES.iter().filter(|row| row.family == family) {
        all.push(Claimed { row, options: read(row.measured), order: row.info.order });
        let variants = row.variants.iter();
        all.extend(variants.map(|variant| Claimed { row, options: read(variant.options), order: variant.order }));
    }
    all
}
