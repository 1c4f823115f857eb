//! The rows of a first-order model: names and laws.

use std::collections::HashSet;

use carom_solve::Law;

use crate::file::{ModelFile, RowTable};
use crate::nearest::nearest;
use crate::scene::context::{Context, label};

const LAWS: [&str; 3] = ["complementarity", "relay", "equality"];

/// No rows may be given.
pub(super) fn none(file: &ModelFile, reason: &str, context: &mut Context) {
    if let Some(row) = file.row.iter().flatten().next() {
        context.out.error(&row.place, format!("[[row]] has no place here: {reason}"));
    }
}

/// All rows; `None` if one of them has a mistake.
pub(super) fn read(file: &ModelFile, context: &mut Context) -> Option<Vec<(String, Law)>> {
    let before = context.out.errors();
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for table in file.row.iter().flatten() {
        let name = label(&table.name, &mut context.out);
        if name.as_ref().is_some_and(|name| !seen.insert(name.clone())) {
            context.out.error(&table.name.place, format!("the name {:?} is taken by another row", table.name.value));
        }
        rows.extend(name.zip(law(table, context)));
    }
    (context.out.errors() == before).then_some(rows)
}

fn law(table: &RowTable, context: &mut Context) -> Option<Law> {
    let name = table.law.as_ref().map_or(LAWS[0], |law| law.value.as_str());
    if name != "relay"
        && let Some(bound) = table.lower.as_ref().or(table.upper.as_ref())
    {
        context.out.error(&bound.place, "only a relay has bounds").hint("law = \"relay\"");
        return None;
    }
    match (name, &table.law) {
        ("complementarity", _) => Some(Law::UNILATERAL),
        ("equality", _) => Some(Law::EQUALITY),
        ("relay", _) => {
            let mut bound = |formula: &Option<_>, default| match formula {
                Some(formula) => context.number(formula),
                None => Some(default),
            };
            let (lower, upper) = (bound(&table.lower, -1.0), bound(&table.upper, 1.0));
            let (lower, upper) = (lower?, upper?);
            if lower > upper {
                let message = format!("the lower bound {lower} is above the upper bound {upper}");
                context.out.error(&table.place, message);
                return None;
            }
            Some(Law::interval(lower, upper))
        }
        (unknown, text) => {
            let hint = match nearest(unknown, LAWS) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("laws: {}", LAWS.join(", ")),
            };
            let place = text.as_ref().map_or(&table.place, |text| &text.place);
            context.out.error(place, format!("unknown law {unknown:?}")).hint(hint);
            None
        }
    }
}
