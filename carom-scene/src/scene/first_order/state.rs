//! Models of kind "first-order": rates, outputs and inputs as expressions. Where all of them are affine in the states with constant slopes
//! the model is a linear complementarity system, which more schemes understand.

use carom::model::Matrices;
use carom_solve::Law;

use super::LcsPlan;
use crate::equations::{SourceRow, StateSource};
use crate::expression::{NodeId, Tape};
use crate::file::{Entries, FirstOrderTable, ModelFile, RowTable};
use crate::nearest::nearest;
use crate::scene::blueprint::Blueprint;
use crate::scene::context::Context;
use crate::scene::coordinates::Target;

/// Largest product of expression nodes and states: derivation grows with it.
const WORK_LIMIT: usize = 20_000_000;

/// The plan.
pub(super) fn plan(
    table: &FirstOrderTable,
    file: &ModelFile,
    rows: &[(String, Law)],
    context: &mut Context,
) -> Option<Blueprint> {
    let before = context.out.errors();
    let rate = by_state(table.rate.as_ref(), "a rate", context);
    let m = rows.len();
    let mut feedthrough = vec![0.0; m * m];
    let mut drafts = Vec::new();
    for (k, (row, (name, law))) in file.row.iter().flatten().zip(rows).enumerate() {
        let Some(output) = &row.output else {
            context.out.error(&row.place, format!("the row `{name}` has no `output`"));
            continue;
        };
        let output = context.node_of_positions(output, "the output");
        let input = by_state(row.input.as_ref(), "an input", context);
        through(row, rows, &mut feedthrough[k * m..(k + 1) * m], context);
        if let Some(output) = output {
            drafts.push(SourceRow { name: name.clone(), law: *law, output, input });
        }
    }
    if context.out.errors() > before {
        return None;
    }
    let states = context.coordinates.clone();
    let work = context.graph.count().saturating_mul(states.len() + 1);
    if work > WORK_LIMIT {
        let message = format!("the model is too large: {} terms with {} states", context.graph.count(), states.len());
        context.out.error(&table.place, message);
        return None;
    }
    let source = StateSource { graph: context.graph.clone(), states, rate, rows: drafts, feedthrough };
    Some(match linear(&mut source.clone()) {
        Some(plan) => Blueprint::Lcs(Box::new(plan)),
        None => Blueprint::State(Box::new(source)),
    })
}

/// One node per state; zero where there is no entry.
fn by_state(entries: Option<&Entries>, what: &str, context: &mut Context) -> Vec<NodeId> {
    let zero = context.graph.constant(0.0);
    let mut nodes = vec![zero; context.coordinates.len()];
    for (key, formula) in entries.iter().flat_map(|entries| &entries.items) {
        let node = context.node_of_positions(formula, what);
        if let (Some(Target::Position(i)), Some(node)) = (context.target(key, None, false), node) {
            nodes[i] = node;
        }
    }
    nodes
}

/// The row of D.
fn through(row: &RowTable, rows: &[(String, Law)], out: &mut [f64], context: &mut Context) {
    for (key, formula) in row.feedthrough.iter().flat_map(|entries| &entries.items) {
        let Some(at) = rows.iter().position(|(name, _)| *name == key.value) else {
            let hint = match nearest(&key.value, rows.iter().map(|(name, _)| name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "the keys are names of rows".into(),
            };
            context.out.error(&key.place, format!("there is no row `{}`", key.value)).hint(hint);
            continue;
        };
        if let Some(value) = context.number(formula) {
            out[at] = value;
        }
    }
}

/// The system as matrices, if it is linear with constant coefficients.
fn linear(source: &mut StateSource) -> Option<LcsPlan> {
    let (n, m) = (source.states.len(), source.rows.len());
    let tangents = source.tangents();
    let input: Vec<NodeId> = source.rows.iter().flat_map(|row| row.input.iter().copied()).collect();
    let outputs: Vec<NodeId> = source.rows.iter().map(|row| row.output).collect();
    let graph = &mut source.graph;
    // the slope of a sign is zero, but it is not constant
    if graph.switches_with(&[source.rate.as_slice(), &outputs].concat(), 1..=n) {
        return None;
    }
    let constants = |nodes: &[NodeId], graph: &crate::expression::Graph| -> Option<Vec<f64>> {
        nodes.iter().map(|&node| graph.is_constant(node).filter(|x| x.is_finite())).collect()
    };
    let a = constants(&tangents.rate, graph)?;
    let c = constants(&tangents.output, graph)?;
    let transposed = constants(&input, graph)?;
    let b = (0..n).flat_map(|i| (0..m).map(move |k| (i, k))).map(|(i, k)| transposed[k * n + i]).collect();
    let zeros: Vec<(usize, f64)> = (1..=n).map(|slot| (slot, 0.0)).collect();
    let rates = graph.bind_all(&source.rate, &zeros);
    let outputs = graph.bind_all(&outputs, &zeros);
    let tape = |nodes: &[NodeId], graph: &crate::expression::Graph| {
        let any = nodes.iter().any(|&node| graph.is_constant(node) != Some(0.0));
        any.then(|| Tape::compile(graph, nodes))
    };
    Some(LcsPlan {
        states: source.states.clone(),
        rows: source.rows.iter().map(|row| (row.name.clone(), row.law)).collect(),
        matrices: Matrices { e: None, a, b, c, d: source.feedthrough.clone() },
        state_source: tape(&rates, graph),
        output_source: tape(&outputs, graph),
        gates: Vec::new(),
    })
}
