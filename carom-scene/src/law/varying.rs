//! Friction that depends on the state: a coefficient of time, coordinates, velocities and the sliding speed of its
//! contact, or two coefficients for rest and for sliding.

use super::{coefficient, slips};
use crate::equations::Slip;
use crate::expression::{Function, NodeId, Unary, parse};
use crate::file::{ContactTable, Content, Formula, Friction};
use crate::scene::context::Context;

/// The sliding speed of a contact in its own coefficient of friction, unless the file has given the name away.
const SPEED: &str = "speed";

/// Whether a formula depends on more than parameters.
pub(super) fn depends(formula: &Formula, context: &Context) -> bool {
    let Content::Expression(text) = &formula.content else { return false };
    let varies = |name: &str| name == "t" || name == SPEED || context.names.index.contains_key(name);
    let of_state = |name: &str| varies(name) && context.parameters.find(name).is_none();
    parse(text).is_ok_and(|ast| ast.names().any(|(name, _)| of_state(name)))
}

/// Checks the numbers of a table; the coefficient at rest is checked as that of the law.
pub(super) fn check_numbers(table: &ContactTable, context: &mut Context) -> Option<()> {
    let Some(Friction::Table(friction)) = &table.friction else { return Some(()) };
    if !depends(&friction.kinetic, context) {
        coefficient(&friction.kinetic, "the coefficient of kinetic friction", f64::INFINITY, context)?;
    }
    let Some(formula) = &friction.speed else { return Some(()) };
    let speed = context.number(formula)?;
    if speed > 0.0 {
        return Some(());
    }
    let message = format!("the speed of the falling coefficient is {speed}, not positive");
    context.out.error(&formula.place, message).hint("leave it out for a coefficient that falls at once");
    None
}

/// The coefficients while sliding and at rest of a contact with these tangents; `Some(None)` where they are one number.
pub(crate) fn nodes(
    table: &ContactTable,
    (tangents, kind): (&[NodeId], Slip),
    context: &mut Context,
) -> Option<Option<[NodeId; 2]>> {
    let tangents = &tangents[..slips(table).map_or(0, |slip| slip.items.len()).min(tangents.len())];
    match &table.friction {
        Some(Friction::Formula(formula)) if depends(formula, context) => {
            let (speed, rest) = (speed(tangents, kind, context), context.graph.constant(0.0));
            let sliding = with_speed(speed, context, |context| context.node(formula))?;
            Some(Some([sliding, with_speed(rest, context, |context| context.quiet_node(formula))?]))
        }
        Some(Friction::Table(friction)) => {
            let (rest, kinetic) = (context.node(&friction.rest), context.node(&friction.kinetic));
            let (rest, kinetic) = (rest?, kinetic?);
            let Some(scale) = &friction.speed else { return Some(Some([kinetic, rest])) };
            // kinetic + (static − kinetic) exp(−speed/scale)
            let (speed, scale) = (speed(tangents, kind, context), context.node(scale)?);
            let graph = &mut context.graph;
            let ratio = graph.divide(speed, scale);
            let exponent = graph.negate(ratio);
            let (fall, more) = (graph.unary(Unary::Exp, exponent), graph.subtract(rest, kinetic));
            let more = graph.multiply(more, fall);
            Some(Some([graph.add(kinetic, more), rest]))
        }
        _ => Some(None),
    }
}

/// Reads something with a meaning for the sliding speed.
fn with_speed<T>(speed: NodeId, context: &mut Context, read: impl FnOnce(&mut Context) -> T) -> T {
    let defined = context.all.define(SPEED, speed).is_ok();
    let result = read(context);
    if defined {
        context.all.forget(SPEED);
    }
    result
}

/// |u_T|; what slides does so at a positive speed, however small.
fn speed(tangents: &[NodeId], kind: Slip, context: &mut Context) -> NodeId {
    let mut squares = Vec::new();
    for &y in tangents {
        let u = if kind == Slip::Velocity { y } else { rate(y, context) };
        squares.push(context.graph.multiply(u, u));
    }
    let graph = &mut context.graph;
    let (square, least) = (graph.sum(squares), graph.constant(f64::MIN_POSITIVE));
    let speed = graph.unary(Unary::Sqrt, square);
    graph.call(Function::Maximum, &[speed, least])
}

/// The rate of a displacement.
fn rate(y: NodeId, context: &mut Context) -> NodeId {
    let mut terms = vec![context.graph.derivative(y, 0)];
    for j in 0..context.names.coordinates.len() {
        let (slope, slot) = (context.graph.derivative(y, 1 + j), context.velocity(j));
        let v = context.graph.input(slot);
        terms.push(context.graph.multiply(slope, v));
    }
    context.graph.sum(terms)
}
