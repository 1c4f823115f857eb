//! Rolling and spinning friction behind Coulomb's: `rolling` and `spinning` are lengths, the largest moments per normal
//! force, and `turning` lists the angles about the tangents and then the normal (their rates, where the contact has
//! `sliding`).

use carom_solve::{Disc, Law};

use super::{LawRow, Rows, coefficient, coulomb, slips};
use crate::file::{ContactTable, Formula};
use crate::scene::context::Context;

pub(super) const ROW: LawRow = LawRow { asked, rows, law };

fn asked(table: &ContactTable) -> bool {
    table.rolling.is_some() || table.spinning.is_some() || table.turning.is_some()
}

fn rows<'a>(table: &'a ContactTable, context: &mut Context) -> Option<Rows<'a>> {
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
    let (_, mut formulas) = coulomb::rows(table, context)?;
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
    Some((form(table, [0.0; 3])?, formulas))
}

fn coulomb_is_asked(table: &ContactTable) -> bool {
    table.friction.is_some() && slips(table).is_some()
}

fn law(table: &ContactTable, context: &mut Context) -> Option<Law> {
    let mu = coulomb::friction(table, context)?;
    let mut length = |formula: &Option<Formula>, what| match formula {
        Some(formula) => coefficient(formula, what, f64::INFINITY, context),
        None => Some(0.0),
    };
    let rolling = length(&table.rolling, "the coefficient of rolling friction");
    let spinning = length(&table.spinning, "the coefficient of spinning friction");
    form(table, [mu, rolling?, spinning?])
}

/// The law with these coefficients of sliding, rolling and spinning friction.
fn form(table: &ContactTable, [mu, rolling, spinning]: [f64; 3]) -> Option<Law> {
    let tangents = slips(table)?.items.len().clamp(1, 2) as u8;
    let spin = u8::from(table.spinning.is_some());
    let discs = [Disc::cone(tangents, mu), Disc::cone(tangents, rolling), Disc::cone(spin, spinning)];
    Some(Law::new(0.0, f64::INFINITY, discs))
}
