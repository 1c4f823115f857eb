//! Laws of rows of first-order models: `law = "complementarity"`, `"equality"`, or `"relay"` with `lower` and `upper`.

use carom_solve::Law;

use crate::diagnostic::suggest;
use crate::kind::RowTable;
use crate::scene::context::Context;

/// The laws of rows; the first one is that of a row which names none.
const ROW_LAWS: &[RowLaw] = &[
    RowLaw { name: "complementarity", bounded: false, law: |_, _| Some(Law::UNILATERAL) },
    RowLaw { name: "relay", bounded: true, law: relay },
    RowLaw { name: "equality", bounded: false, law: |_, _| Some(Law::EQUALITY) },
];

/// A law of rows.
struct RowLaw {
    /// Its word.
    name: &'static str,
    /// Whether it has `lower` and `upper`.
    bounded: bool,
    law: fn(&RowTable, &mut Context) -> Option<Law>,
}

/// λ between its bounds where y = 0.
fn relay(table: &RowTable, context: &mut Context) -> Option<Law> {
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

/// The law of a row with its numbers.
pub(crate) fn of_row(table: &RowTable, context: &mut Context) -> Option<Law> {
    let name = table.law.as_ref().map_or(ROW_LAWS[0].name, |law| law.value.as_str());
    let names = || ROW_LAWS.iter().map(|row| row.name);
    let Some(row) = ROW_LAWS.iter().find(|row| row.name == name) else {
        let hint = suggest(name, names(), true, || format!("laws: {}", names().collect::<Vec<_>>().join(", ")));
        let place = table.law.as_ref().map_or(&table.place, |text| &text.place);
        context.out.error(place, format!("unknown law {name:?}")).hint(hint);
        return None;
    };
    if let Some(bound) = table.lower.as_ref().or(table.upper.as_ref()).filter(|_| !row.bounded) {
        context.out.error(&bound.place, "only a relay has bounds").hint("law = \"relay\"");
        return None;
    }
    (row.law)(table, context)
}
