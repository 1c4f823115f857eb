//! Springs and dampers.

use carom::multibody::joint::Anchor;
use carom::multibody::{Spring, SpringEnds};

use super::Mechanism;
use super::joint::pair;
use super::number::{refuse, word};
use super::repeat::{Copy, copies};
use super::tables::SpringTable;
use crate::diagnostic::Place;
use crate::file::{Formula, ModelFile, OneOrMore};
use crate::law;
use crate::scene::context::Context;

/// A spring with its place.
#[derive(Clone, Debug)]
pub(super) struct SpringInfo {
    pub spring: Spring,
    pub place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Linear,
    Torsion,
}

/// Reads all springs into the mechanism.
pub(super) fn read(file: &ModelFile, mechanism: &mut Mechanism, context: &mut Context) {
    for Copy { table, index } in copies(file.spring.as_ref(), |table: &SpringTable| table.repeat.as_ref(), context) {
        if context.out.is_full() {
            return;
        }
        context.indexed(&index, |context| {
            let name = format!("spring {}", mechanism.springs.len() + 1);
            if let Some(spring) = spring(table, &name, mechanism, context) {
                mechanism.springs.push(SpringInfo { spring, place: table.kind.place.clone() });
            }
        });
    }
}

fn spring(table: &SpringTable, name: &str, mechanism: &Mechanism, context: &mut Context) -> Option<Spring> {
    let before = context.out.errors();
    let kind = word(&table.kind, "kind of spring", &[("linear", Word::Linear), ("torsion", Word::Torsion)], context)?;
    let ends = match (&table.joint, &table.between) {
        (Some(joint), None) => {
            let coordinate = mechanism.coordinate(joint, context)?;
            let turns = mechanism.turns(&coordinate);
            if turns != (kind == Word::Torsion) {
                let (what, other) = if turns { ("turns", "torsion") } else { ("slides", "linear") };
                let message = format!("the joint `{}` {what}", coordinate.joint);
                context.out.error(&table.kind.place, message).hint(format!("write kind = {other:?}"));
            }
            let lists = [&table.at_a, &table.at_b, &table.axis].into_iter().flatten().map(|list| &list.place);
            let place = lists.chain(table.ends.iter().flatten().map(|list| &list.place)).next();
            refuse(place, "a spring on a joint has no points of its own", "leave it out", context);
            SpringEnds::Coordinate(coordinate)
        }
        (None, Some(names)) => between(table, kind, names, mechanism, context)?,
        (Some(_), Some(names)) => {
            let place = names.first().map_or(&table.kind.place, |text| &text.place);
            context.out.error(place, "give either `between` or `joint`, not both");
            return None;
        }
        (None, None) => {
            let error = context.out.error(&table.kind.place, "the spring acts between nothing");
            error.hint("give between = [\"ground\", \"body\"], or joint = \"...\"");
            return None;
        }
    };
    let number = |formula: &Option<Formula>, what: &str, context: &mut Context| match formula {
        Some(formula) => law::coefficient(formula, what, f64::INFINITY, context),
        None => Some(0.0),
    };
    let (stiffness, damping) =
        (number(&table.stiffness, "the stiffness", context), number(&table.damping, "the damping", context));
    let preload = table.preload.as_ref().map_or(Some(0.0), |formula| context.number(formula));
    let measure = &mechanism.measure;
    let unit = if kind == Word::Torsion { measure.angle } else { measure.length };
    let rest = match &table.rest {
        Some(formula) => Some(context.number(formula)? * unit),
        None => None,
    };
    if let Some(formula) = table.rest.as_ref().filter(|_| {
        let is_length = matches!(ends, SpringEnds::Points { .. });
        is_length && rest.is_some_and(|rest| rest < 0.0)
    }) {
        context.out.error(&formula.place, "the rest length of the spring is negative");
    }
    if table.stiffness.is_none() && table.damping.is_none() && table.preload.is_none() {
        let error = context.out.error(&table.kind.place, "the spring does nothing");
        error.hint("give stiffness, damping or preload");
    }
    let spring = Spring {
        name: table.name.as_ref().map_or(name.to_owned(), |name| name.value.clone()),
        ends,
        stiffness: stiffness?,
        damping: damping?,
        preload: preload?,
        rest,
    };
    (context.out.errors() == before).then_some(spring)
}

/// A spring between two bodies.
fn between(
    table: &SpringTable,
    kind: Word,
    names: &[crate::file::Text],
    mechanism: &Mechanism,
    context: &mut Context,
) -> Option<SpringEnds> {
    let measure = &mechanism.measure;
    let bodies = pair(Some(names), &table.kind, mechanism, context)?;
    if kind == Word::Torsion {
        let lists = [&table.at_a, &table.at_b].into_iter().flatten().map(|list| &list.place);
        let place = lists.chain(table.ends.iter().flatten().map(|list| &list.place)).next();
        refuse(place, "a torsion spring has no points", "it acts about an axis; leave it out", context);
        let axis = match (&table.axis, measure.planar) {
            (None, true) => [0.0, 0.0, 1.0],
            (Some(list), true) => {
                refuse(Some(&list.place), "a planar torsion spring has no axis", "leave it out", context);
                return None;
            }
            (Some(list), false) => measure.direction(list, "the axis", context)?,
            (None, false) => {
                let error = context.out.error(&table.kind.place, "a torsion spring between bodies needs an `axis`");
                error.hint("or give the joint that it acts on: joint = \"...\"");
                return None;
            }
        };
        return Some(SpringEnds::Angle { bodies, axis: Anchor::Drawn([axis, axis]) });
    }
    let mut point = |list: &OneOrMore| measure.vector(list, measure.length, "a point", context);
    let points = match (&table.at_a, &table.at_b, table.ends.as_deref()) {
        (None, None, Some([a, b])) => Anchor::Drawn([point(a)?, point(b)?]),
        (None, None, Some(ends)) => {
            let place = ends.first().map_or(&table.kind.place, |end| &end.place);
            context.out.error(place, format!("there are two ends, found {}", ends.len()));
            return None;
        }
        (None, None, None) => {
            let error = context.out.error(&table.kind.place, "a spring between bodies needs its points");
            error.hint("give at_a and at_b in axes of the bodies, or ends = [[...], [...]] as drawn");
            return None;
        }
        (a, b, Some(_)) => {
            let place = a.as_ref().or(b.as_ref()).map_or(&table.kind.place, |list| &list.place);
            context.out.error(place, "give either `ends`, or `at_a` and `at_b`");
            return None;
        }
        (a, b, None) => {
            let mut point = |list: &Option<OneOrMore>| list.as_ref().map_or(Some([0.0; 3]), &mut point);
            let points = [point(a)?, point(b)?];
            Anchor::Bodies(std::array::from_fn(|k| mechanism.about_centre(&bodies[k], points[k])))
        }
    };
    Some(SpringEnds::Points { bodies, points })
}
