//! Tests of the whole way from text to numbers; tests of single files are beside their code.

mod derivative;
mod mechanics;
mod simplify;
mod syntax;
mod tape;

use super::{Graph, NodeId, Scope, Tape};

/// A scope with t, the coordinates x, y, z with velocities, and the parameters a, b, in this order of slots.
fn scope() -> Scope {
    let mut scope = Scope::new();
    scope.declare_time().unwrap();
    scope.declare_coordinates(&["x", "y", "z"]).unwrap();
    scope.declare_parameter("a").unwrap();
    scope.declare_parameter("b").unwrap();
    scope
}

const X: usize = 1;
const Y: usize = 2;
const VX: usize = 4;
const A: usize = 7;
const B: usize = 8;

fn build(graph: &mut Graph, text: &str) -> NodeId {
    graph.expression(text, &scope()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn evaluate(graph: &Graph, node: NodeId, inputs: &[f64]) -> f64 {
    let tape = Tape::compile(graph, &[node]);
    let mut out = [0.0];
    tape.eval(inputs, &mut tape.registers(), &mut out);
    out[0]
}

/// The value of a text at t, x, y, z, x', y', z', a, b = 0.5, 2, 3, 5, 7, 11, 13, 17, 19.
fn value(text: &str) -> f64 {
    let mut graph = Graph::new();
    let node = build(&mut graph, text);
    evaluate(&graph, node, &[0.5, 2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0])
}
