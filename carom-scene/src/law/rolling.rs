//! Rolling and spinning friction behind Coulomb's: `rolling` and `spinning` are lengths, the largest moments per normal
//! force, and `turning` lists the angles about the tangents and then the normal (their rates, where the contact has
//! `sliding`).

use super::{DiscKeys, LawRow, coulomb, slips};
use crate::file::{ContactTable, Formula};
use crate::scene::context::Context;

pub(super) const ROW: LawRow = LawRow { asked, rows, discs };

fn asked(table: &ContactTable) -> bool {
    table.rolling.is_some() || table.spinning.is_some() || table.turning.is_some()
}

fn rows<'a>(table: &'a ContactTable, context: &mut Context) -> Option<Vec<&'a Formula>> {
    let place = table.rolling.as_ref().or(table.spinning.as_ref()).map_or(&table.place, |formula| &formula.place);
    let Some(turning) = &table.turning else {
        let message = "rolling friction needs `turning`, the angles about the tangents (and the normal) of the contact";
        context.out.error(place, message).hint("for a ball that turns by a and b: turning = [\"a\", \"b\"]");
        return None;
    };
    if table.rolling.is_none() && table.spinning.is_none() {
        let message = "`turning` without `rolling` or `spinning` has no effect";
        context.out.error(&turning.place, message).hint("add rolling = ...");
        return None;
    }
    if !coulomb_is_asked(table) {
        let message = "rolling friction needs `friction` with `slip` or `sliding`: without it nothing would roll";
        context.out.error(place, message);
        return None;
    }
    let mut formulas = coulomb::rows(table, context)?;
    let expected = formulas.len() + usize::from(table.spinning.is_some());
    if turning.items.len() != expected {
        let spin = if table.spinning.is_some() { " and one about the normal" } else { "" };
        let (tangents, found) = (formulas.len(), turning.items.len());
        let message =
            format!("`turning` has {tangents} angles about tangents, as many as there are{spin}; found {found}");
        context.out.error(&turning.place, message);
        return None;
    }
    formulas.extend(&turning.items);
    Some(formulas)
}

fn coulomb_is_asked(table: &ContactTable) -> bool {
    table.friction.is_some() && slips(table).is_some()
}

fn discs(table: &ContactTable) -> Vec<DiscKeys<'_>> {
    let sliding = coulomb::disc(table);
    let (coefficient, what) = (table.rolling.as_ref(), "the coefficient of rolling friction");
    let rolling = DiscKeys { rows: sliding.rows, coefficient, what, varies: false };
    let (coefficient, what) = (table.spinning.as_ref(), "the coefficient of spinning friction");
    let spinning = DiscKeys { rows: usize::from(coefficient.is_some()), coefficient, what, varies: false };
    vec![sliding, rolling, spinning]
}
