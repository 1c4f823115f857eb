//! The rows of a first-order model: names and laws.

use std::collections::HashSet;

use carom_solve::Law;

use crate::file::{Entries, Formula, ModelFile, Text, table};
use crate::law;
use crate::scene::context::{Context, label};

table! {
    /// A law of a first-order model between an output y and a multiplier lambda.
    pub struct RowTable {
        /// Name in results.
        pub name: Text,
        /// "complementarity" (y and lambda not negative, one of them 0; the default), "relay" (lambda is `upper` where
        /// y < 0 and `lower` where y > 0) or "equality" (y = 0).
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

/// No rows may be given.
pub(super) fn none(file: &ModelFile, reason: &str, context: &mut Context) {
    if let Some(row) = file.row.iter().flatten().next() {
        context.out.error(&row.place, format!("[[row]] has no place here: {reason}"));
    }
}

/// The names of all rows; `None` if one of them has a mistake.
pub(super) fn names(file: &ModelFile, context: &mut Context) -> Option<Vec<String>> {
    let before = context.out.errors();
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for table in file.row.iter().flatten() {
        let name = label(&table.name, &mut context.out);
        if name.as_ref().is_some_and(|name| !seen.insert(name.clone())) {
            context.out.error(&table.name.place, format!("the name {:?} is taken by another row", table.name.value));
        }
        rows.extend(name);
    }
    (context.out.errors() == before).then_some(rows)
}

/// The laws of all rows; `None` if one of them has a mistake.
pub(super) fn laws(file: &ModelFile, context: &mut Context) -> Option<Vec<Law>> {
    let all: Vec<Option<Law>> = file.row.iter().flatten().map(|table| law::of_row(table, context)).collect();
    all.into_iter().collect()
}
