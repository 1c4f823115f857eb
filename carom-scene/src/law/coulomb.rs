//! Coulomb friction: `friction`, with `slip` or `sliding` for its tangents.

use carom_solve::Law;

use super::{LawRow, Rows, coefficient, slips};
use crate::file::ContactTable;
use crate::scene::context::Context;

pub(super) const ROW: LawRow = LawRow { asked, rows, law };

fn asked(table: &ContactTable) -> bool {
    table.friction.is_some() || slips(table).is_some()
}

/// The tangents, one in the plane or two in space.
pub(super) fn rows<'a>(table: &'a ContactTable, context: &mut Context) -> Option<Rows<'a>> {
    match (&table.friction, slips(table)) {
        (None, None) => None,
        (Some(friction), None) => {
            context
                .out
                .error(&friction.place, "friction needs `slip`, the tangential displacement of the contact")
                .hint("for a wheel or a foot at x on a floor: slip = \"x\", or its velocity: sliding = \"x'\"");
            None
        }
        (None, Some(slip)) => {
            let name = if table.slip.is_some() { "slip" } else { "sliding" };
            let message = format!("`{name}` without `friction` has no effect");
            context.out.error(&slip.place, message).hint("add friction = ...");
            None
        }
        (Some(_), Some(slip)) => match slip.items.len() {
            count @ 1..=2 => Some((Law::coulomb(0.0, count), slip.items.iter().collect())),
            count => {
                let message = format!("a slip has one (planar) or two (spatial) components, found {count}");
                context.out.error(&slip.place, message);
                None
            }
        },
    }
}

fn law(table: &ContactTable, context: &mut Context) -> Option<Law> {
    let mu = friction(table, context)?;
    Some(Law::coulomb(mu, slips(table)?.items.len().clamp(1, 2)))
}

/// The coefficient of sliding friction.
pub(super) fn friction(table: &ContactTable, context: &mut Context) -> Option<f64> {
    coefficient(table.friction.as_ref()?, "the coefficient of friction", f64::INFINITY, context)
}
