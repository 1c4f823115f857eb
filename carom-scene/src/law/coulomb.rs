//! Coulomb friction: `friction`, with `slip` or `sliding` for its tangents.

use super::{DiscKeys, LawRow, slips};
use crate::file::{ContactTable, Formula, Friction};
use crate::scene::context::Context;

pub(super) const ROW: LawRow = LawRow { asked, rows, discs: |table| vec![disc(table)] };

fn asked(table: &ContactTable) -> bool {
    table.friction.is_some() || slips(table).is_some()
}

/// The tangents, one in the plane or two in space.
pub(super) fn rows<'a>(table: &'a ContactTable, context: &mut Context) -> Option<Vec<&'a Formula>> {
    match (&table.friction, slips(table)) {
        (None, None) => None,
        (Some(friction), None) => {
            context
                .out
                .error(friction.place(), "friction needs `slip`, the tangential displacement of the contact")
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
            1..=2 => Some(slip.items.iter().collect()),
            count => {
                let message = format!("a slip has one (planar) or two (spatial) components, found {count}");
                context.out.error(&slip.place, message);
                None
            }
        },
    }
}

/// The tangents with the coefficient of sliding friction.
pub(super) fn disc(table: &ContactTable) -> DiscKeys<'_> {
    let rows = slips(table).map_or(0, |slip| slip.items.len().min(2));
    let coefficient = table.friction.as_ref().map(Friction::at_rest);
    DiscKeys { rows, coefficient, what: "the coefficient of friction", varies: true }
}
