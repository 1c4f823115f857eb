//! Laws of contacts by the keys of model files. A law is one file that reads its keys, and one row of [`LAWS`].

mod coulomb;
mod rolling;

use carom_solve::Law;

use crate::file::{ContactTable, Formula, OneOrMore};
use crate::scene::context::Context;

/// The laws of contacts, the most special ones first: a contact has the first one that it asks for.
pub(crate) const LAWS: &[LawRow] = &[rolling::ROW, coulomb::ROW, SIGNORINI];

/// The form of a law, and the expression of each of its rows behind the gap.
type Rows<'a> = (Law, Vec<&'a Formula>);

/// A row of [`LAWS`].
pub(crate) struct LawRow {
    /// Whether a contact has keys of this law.
    pub asked: fn(&ContactTable) -> bool,
    /// The form of the law (its numbers do not matter), and the expression of each row behind the gap.
    pub rows: for<'a> fn(&'a ContactTable, &mut Context) -> Option<Rows<'a>>,
    /// The law with its numbers; keys that are missing have been told by `rows`.
    pub law: fn(&ContactTable, &mut Context) -> Option<Law>,
}

/// A gap that opens and closes, and nothing else.
const SIGNORINI: LawRow =
    LawRow { asked: |_| true, rows: |_, _| Some((Law::UNILATERAL, Vec::new())), law: |_, _| Some(Law::UNILATERAL) };

/// The law that a contact asks for.
pub(crate) fn of(table: &ContactTable) -> &'static LawRow {
    LAWS.iter().find(|row| (row.asked)(table)).unwrap_or(&SIGNORINI)
}

/// The tangents of a contact: displacements, or velocities.
fn slips(table: &ContactTable) -> Option<&OneOrMore> {
    table.slip.as_ref().or(table.sliding.as_ref())
}

/// A coefficient in [0, largest].
pub(crate) fn coefficient(formula: &Formula, what: &str, largest: f64, context: &mut Context) -> Option<f64> {
    let value = context.number(formula)?;
    if (0.0..=largest).contains(&value) {
        return Some(value);
    }
    let range = if largest.is_finite() { format!("outside of [0, {largest}]") } else { "negative".into() };
    context.out.error(&formula.place, format!("{what} is {value}, {range}"));
    None
}
