//! Laws by the words of model files: of contacts by their keys, a file that reads them and a row of [`LAWS`]; of rows
//! of first-order models by name, a row of `ROW_LAWS`.

mod coulomb;
mod rolling;
mod row;
pub(crate) mod varying;

pub(crate) use row::of_row;

use carom_solve::{Disc, Law};

use crate::file::{ContactTable, Formula, OneOrMore};
use crate::scene::context::Context;

/// The laws of contacts, the most special ones first: a contact has the first one that it asks for.
const LAWS: &[LawRow] = &[rolling::ROW, coulomb::ROW, SIGNORINI];

/// A row of [`LAWS`].
struct LawRow {
    /// Whether a contact has keys of this law.
    asked: fn(&ContactTable) -> bool,
    /// The expression of each row behind the gap; tells what is missing.
    rows: for<'a> fn(&'a ContactTable, &mut Context) -> Option<Vec<&'a Formula>>,
    /// What these rows are: one disc behind the other.
    discs: for<'a> fn(&'a ContactTable) -> Vec<DiscKeys<'a>>,
}

/// A disc of a law by its keys.
pub(crate) struct DiscKeys<'a> {
    /// Number of rows.
    pub rows: usize,
    /// μ; zero where it is not given.
    pub coefficient: Option<&'a Formula>,
    /// What it is called.
    pub what: &'static str,
    /// Whether it may depend on the state.
    pub varies: bool,
}

/// A gap that opens and closes, and nothing else.
const SIGNORINI: LawRow = LawRow { asked: |_| true, rows: |_, _| Some(Vec::new()), discs: |_| Vec::new() };

/// The law that a contact asks for.
fn of(table: &ContactTable) -> &'static LawRow {
    LAWS.iter().find(|row| (row.asked)(table)).unwrap_or(&SIGNORINI)
}

/// The form of the law of a contact (its numbers do not matter), and the expression of each row behind the gap.
pub(crate) fn rows<'a>(table: &'a ContactTable, context: &mut Context) -> Option<(Law, Vec<&'a Formula>)> {
    let formulas = (of(table).rows)(table, context)?;
    Some((behind_a_gap(&discs(table), |_| Some(0.0))?, formulas))
}

/// The discs of the law of a contact.
pub(crate) fn discs(table: &ContactTable) -> Vec<DiscKeys<'_>> {
    (of(table).discs)(table)
}

/// The law of a contact with its numbers; keys that are missing have been told by [`rows`].
pub(crate) fn numbers(table: &ContactTable, context: &mut Context) -> Option<Law> {
    varying::check_numbers(table, context)?;
    behind_a_gap(&discs(table), |disc| match disc.coefficient {
        // the model knows its number
        Some(formula) if disc.varies && varying::depends(formula, context) => Some(1.0),
        Some(formula) => coefficient(formula, disc.what, f64::INFINITY, context),
        None => Some(0.0),
    })
}

/// All coefficients are read, so that each mistake is told.
fn behind_a_gap(discs: &[DiscKeys<'_>], mut mu: impl FnMut(&DiscKeys<'_>) -> Option<f64>) -> Option<Law> {
    let mut all = [Some(Disc::default()); 3];
    for (out, disc) in all.iter_mut().zip(discs) {
        *out = mu(disc).map(|mu| Disc::cone(disc.rows as u8, mu));
    }
    let [sliding, rolling, spinning] = all;
    Some(Law::new(0.0, f64::INFINITY, [sliding?, rolling?, spinning?]))
}

/// The tangents of a contact: displacements, or velocities.
fn slips(table: &ContactTable) -> Option<&OneOrMore> {
    table.slip.as_ref().or(table.sliding.as_ref())
}

/// What contacts without friction are told.
pub(crate) const NO_GRIP: &str = "tangential restitution needs `friction`: without it nothing would turn back";

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
