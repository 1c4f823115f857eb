//! Sweeping processes: the pieces of the moving set and the drift.

use std::collections::HashSet;

use carom::model::Shape;
use carom_solve::Law;

use super::{PiecePlan, SweepingPlan};
use crate::diagnostic::Place;
use crate::expression::{NodeId, Tape};
use crate::file::{Formula, ModelFile, OneOrMore, SetTable, SweepingTable};
use crate::scene::blueprint::Blueprint;
use crate::scene::context::{Context, label};
use crate::scene::coordinates::Target;

/// The names of half-spaces: that of the set, with numbers where there are several.
fn half_spaces(table: &SetTable, inside: &OneOrMore) -> Vec<String> {
    let name = &table.name.value;
    match inside.items.len() {
        1 => vec![name.clone()],
        count => (1..=count).map(|k| format!("{name}{k}")).collect(),
    }
}

/// The rows of all pieces, as the model names them.
pub(super) fn rows(file: &ModelFile, place: &Place, context: &mut Context) -> Option<Vec<(String, Law)>> {
    let before = context.out.errors();
    let sets = file.set.as_deref().unwrap_or_default();
    if sets.is_empty() {
        context.out.error(place, "a sweeping process needs a moving set").hint("add [[set]] with a name");
    }
    let mut rows = Vec::new();
    for table in sets {
        let Some(name) = label(&table.name, &mut context.out) else { continue };
        match (&table.state, &table.center, &table.inside) {
            (Some(_), None, None) => rows.extend(["lower", "upper"].map(|end| format!("{name}.{end}"))),
            (None, Some(_), None) => rows.push(name),
            (None, None, Some(inside)) => rows.extend(half_spaces(table, inside)),
            _ => {
                let hint = "an interval has `state` with `lower` and `upper`, a ball `center` and `radius`, half-spaces `inside`";
                context.out.error(&table.place, "a set is an interval, a ball, or half-spaces").hint(hint);
            }
        }
    }
    let mut seen = HashSet::new();
    if let Some(twice) = rows.iter().find(|name| !seen.insert(name.as_str())) {
        let last = sets.iter().rev().find(|table| twice.starts_with(&table.name.value));
        let message = format!("the name `{twice}` is taken by another set");
        context.out.error(last.map_or(place, |table| &table.name.place), message);
    }
    (context.out.errors() == before).then(|| rows.into_iter().map(|name| (name, Law::UNILATERAL)).collect())
}

/// The plan.
pub(super) fn plan(table: &SweepingTable, file: &ModelFile, context: &mut Context) -> Option<Blueprint> {
    let before = context.out.errors();
    let zero = context.graph.constant(0.0);
    let mut drift = vec![zero; context.coordinates.len()];
    for (key, formula) in table.drift.iter().flat_map(|drift| &drift.items) {
        let node = context.node_of_positions(formula, "the drift");
        if let (Some(Target::Position(i)), Some(node)) = (context.target(key, None, false), node) {
            drift[i] = node;
        }
    }
    let mut pieces = Vec::new();
    for set in file.set.iter().flatten() {
        match (&set.state, &set.center, &set.inside) {
            (Some(_), ..) => pieces.extend(interval(set, context)),
            (_, Some(center), _) => pieces.extend(ball(set, center, context)),
            (.., Some(inside)) => {
                for (name, formula) in half_spaces(set, inside).into_iter().zip(&inside.items) {
                    pieces.extend(half_space(name, formula, context));
                }
            }
            _ => {}
        }
    }
    if context.out.errors() > before {
        return None;
    }
    let drifts = table.drift.as_ref().is_some_and(|drift| !drift.items.is_empty());
    let drift = drifts.then(|| Tape::compile(&context.graph, &drift));
    Some(Blueprint::Sweeping(Box::new(SweepingPlan { states: context.coordinates.clone(), pieces, drift })))
}

/// A key that another kind of set has.
fn superfluous(formula: Option<&Formula>, what: &str, context: &mut Context) {
    if let Some(formula) = formula {
        context.out.error(&formula.place, format!("{what} has no such value"));
    }
}

fn interval(set: &SetTable, context: &mut Context) -> Option<PiecePlan> {
    superfluous(set.radius.as_ref(), "an interval", context);
    let Some(Target::Position(coordinate)) = context.target(set.state.as_ref()?, None, false) else { return None };
    if set.lower.is_none() && set.upper.is_none() {
        context.out.error(&set.place, "an interval needs `lower` or `upper`");
        return None;
    }
    let zero = context.graph.constant(0.0);
    let mut end = |formula: &Option<Formula>| match formula {
        Some(formula) => context.node_of_time(formula, "the end of the interval"),
        None => Some(zero),
    };
    let (lower, upper) = (end(&set.lower), end(&set.upper));
    Some(PiecePlan {
        name: set.name.value.clone(),
        shape: Shape::Interval { coordinate },
        numbers: Tape::compile(&context.graph, &[lower?, upper?]),
        open: [set.lower.is_none(), set.upper.is_none()],
    })
}

fn ball(set: &SetTable, center: &OneOrMore, context: &mut Context) -> Option<PiecePlan> {
    superfluous(set.lower.as_ref().or(set.upper.as_ref()), "a ball", context);
    let n = context.coordinates.len();
    if center.items.len() != n {
        let message = format!("the centre has {} coordinates, but there are {n} states", center.items.len());
        context.out.error(&center.place, message);
        return None;
    }
    let Some(radius) = &set.radius else {
        context.out.error(&set.place, "a ball needs `radius`");
        return None;
    };
    let nodes: Option<Vec<NodeId>> = center
        .items
        .iter()
        .chain([radius])
        .map(|formula| context.node_of_time(formula, "centre or radius of the ball"))
        .collect();
    let numbers = Tape::compile(&context.graph, &nodes?);
    Some(PiecePlan { name: set.name.value.clone(), shape: Shape::Ball, numbers, open: [false; 2] })
}

/// `a(t)·u − b(t) ≥ 0` from an expression that is affine in the states.
fn half_space(name: String, formula: &Formula, context: &mut Context) -> Option<PiecePlan> {
    let node = context.node_of_positions(formula, "a half-space")?;
    let n = context.coordinates.len();
    let mut numbers = context.graph.gradient(node, 1..=n);
    for (i, &slope) in numbers.iter().enumerate() {
        if context.graph.slots(slope).iter().any(|slot| *slot != 0) || context.graph.switches_with(&[node], 1..=n) {
            let message = format!("the expression is not affine in {}", context.coordinates[i]);
            context.out.error(&formula.place, message).hint("a half-space needs slopes that depend on t alone");
            return None;
        }
    }
    if numbers.iter().all(|&slope| context.graph.is_constant(slope) == Some(0.0)) {
        context.out.error(&formula.place, "the expression contains no state");
        return None;
    }
    let zeros: Vec<(usize, f64)> = (1..=n).map(|slot| (slot, 0.0)).collect();
    let at_zero = context.graph.bind(node, &zeros);
    let offset = context.graph.negate(at_zero);
    numbers.push(offset);
    let numbers = Tape::compile(&context.graph, &numbers);
    Some(PiecePlan { name, shape: Shape::HalfSpace, numbers, open: [false; 2] })
}
