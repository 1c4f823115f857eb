//! Models of kind "first-order": rates, outputs and inputs as expressions. Where all of them are affine in the states
//! with constant slopes the model is a linear complementarity system, which more schemes understand.

use carom::State;
use carom::model::Matrices;
use carom::scheme::AnyModel;
use carom_solve::Law;

use super::lcs::LcsModel;
use super::{Bound, Compile, Kind, KindRow, Plan, Words, declare_states, most, refuse_mechanical, row, too_large};
use crate::diagnostic::{Place, suggest};
use crate::equations::{SourceRow, StatePlan, StateSource};
use crate::expression::{NodeId, Tape};
use crate::file::{Entries, Integer, ModelFile, Text, table};
use crate::scene::context::Context;
use crate::scene::coordinates::{self, Target};
use crate::scene::{BuildError, LawInfo};

pub(super) const ROW: KindRow = KindRow::of::<FirstOrderTable>(Words {
    name: "first-order",
    about: "x' = f(t, x) + B(t, x) lambda, y = h(t, x) + D lambda as equations",
    template: include_str!("first_order.toml"),
});

table! {
    /// x' = f(t, x) + B(t, x) lambda, y = h(t, x) + D lambda, with outputs and inputs in [[row]].
    pub struct FirstOrderTable {
        /// "first-order"
        pub kind: Text,
        /// Names of the states.
        pub states: Vec<Text>,
        /// Rates by state, of t and states; 0 where missing.
        pub rate: Option<Entries>,
        /// Number of operations that the derived equations may have; 2e6 by default, which is half a gigabyte.
        pub operations: Option<Integer>,
    }
}

impl Kind for FirstOrderTable {
    fn place(&self) -> &Place {
        &self.place
    }

    fn names<'a>(&'a self, file: &ModelFile, context: &mut Context) -> Option<Compile<'a>> {
        let before = context.out.errors();
        let states = coordinates::listed(&self.states, &self.place, context)?;
        let rows = row::names(file, context)?;
        refuse_mechanical(file, false, context);
        if context.out.errors() > before {
            return None;
        }
        declare_states(states, &rows, self, context)?;
        Some(Box::new(|file, context| self.compile(rows, file, context)))
    }

    fn check_numbers(&self, file: &ModelFile, context: &mut Context) {
        row::laws(file, context);
        feedthrough(file, context);
    }
}

impl FirstOrderTable {
    fn compile(&self, rows: Vec<String>, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Plan>> {
        let before = context.out.errors();
        let rate = by_state(self.rate.as_ref(), "a rate", context);
        let mut drafts = Vec::new();
        for (row, name) in file.row.iter().flatten().zip(&rows) {
            let Some(output) = &row.output else {
                context.out.error(&row.place, format!("the row `{name}` has no `output`"));
                continue;
            };
            let output = context.node_of_positions(output, "the output");
            let input = by_state(row.input.as_ref(), "an input", context);
            drafts.extend(output.map(|output| SourceRow { name: name.clone(), output, input }));
        }
        if context.out.errors() > before {
            return None;
        }
        let states = context.names.coordinates.clone();
        let graph = std::mem::take(&mut context.graph);
        let mut source = StateSource { graph, states, rate, rows: drafts };
        let tangents = match source.tangents(most(self.operations.as_ref())) {
            Ok(tangents) => tangents,
            Err(error) => {
                context.graph = source.graph;
                too_large(&error, self.operations.as_ref(), &self.place, context);
                return None;
            }
        };
        let linear = linear(&mut source, [&tangents.rate, &tangents.output]);
        let state = StatePlan::new(&source, &tangents);
        context.graph = source.graph;
        Some(Box::new(FirstOrderPlan { rows, linear, state }))
    }
}

/// One node per state; zero where there is no entry.
fn by_state(entries: Option<&Entries>, what: &str, context: &mut Context) -> Vec<NodeId> {
    let zero = context.graph.constant(0.0);
    let mut nodes = vec![zero; context.names.coordinates.len()];
    for (key, formula) in entries.iter().flat_map(|entries| &entries.items) {
        let node = context.node_of_positions(formula, what);
        if let (Some(Target::Position(i)), Some(node)) = (context.target(key, false), node) {
            nodes[i] = node;
        }
    }
    nodes
}

/// D, row-major; `None` if it has a mistake.
fn feedthrough(file: &ModelFile, context: &mut Context) -> Option<Vec<f64>> {
    let before = context.out.errors();
    let tables = file.row.as_deref().unwrap_or_default();
    let names = || tables.iter().map(|row| row.name.value.as_str());
    let mut all = vec![0.0; tables.len() * tables.len()];
    for (row, out) in tables.iter().zip(all.chunks_mut(tables.len().max(1))) {
        for (key, formula) in row.feedthrough.iter().flat_map(|entries| &entries.items) {
            let Some(at) = names().position(|name| name == key.value) else {
                let hint = suggest(&key.value, names(), false, || "the keys are names of rows".into());
                context.out.error(&key.place, format!("there is no row `{}`", key.value)).hint(hint);
                continue;
            };
            out[at] = context.number(formula).unwrap_or(0.0);
        }
    }
    (context.out.errors() == before).then_some(all)
}

/// A system whose slopes do not vary: tapes of A, C, Bᵀ and of the sources.
#[derive(Debug)]
struct LinearTapes {
    matrices: [Tape; 3],
    sources: [Option<Tape>; 2],
}

/// The system as matrices, if it is linear with constant coefficients.
fn linear(source: &mut StateSource, [rate, output]: [&[NodeId]; 2]) -> Option<LinearTapes> {
    let n = source.states.len();
    let input: Vec<NodeId> = source.rows.iter().flat_map(|row| row.input.iter().copied()).collect();
    let outputs: Vec<NodeId> = source.rows.iter().map(|row| row.output).collect();
    let graph = &mut source.graph;
    // the slope of a sign is zero, but it is not constant
    let switches = graph.switches_with(&[source.rate.as_slice(), &outputs].concat(), 1..=n);
    if switches || [rate, output, &input].concat().iter().any(|&node| !graph.is_fixed(node)) {
        return None;
    }
    let zeros: Vec<(usize, f64)> = (1..=n).map(|slot| (slot, 0.0)).collect();
    let sources = [graph.bind_all(&source.rate, &zeros), graph.bind_all(&outputs, &zeros)];
    let any = |nodes: &[NodeId]| nodes.iter().any(|&node| graph.is_constant(node) != Some(0.0));
    Some(LinearTapes {
        matrices: [rate, output, &input].map(|nodes| Tape::compile(graph, nodes)),
        sources: sources.map(|nodes| any(&nodes).then(|| Tape::compile(graph, &nodes))),
    })
}

/// The equations, and the matrices where they are linear.
#[derive(Debug)]
struct FirstOrderPlan {
    rows: Vec<String>,
    linear: Option<LinearTapes>,
    state: StatePlan,
}

impl Plan for FirstOrderPlan {
    fn bind(&self, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Bound>> {
        let (laws, through) = (row::laws(file, context), feedthrough(file, context));
        let (laws, d) = (laws?, through?);
        let (parameters, states) = (context.vector(), context.names.coordinates.clone());
        let (n, m) = (states.len(), laws.len());
        if let Some(LinearTapes { matrices, sources }) = &self.linear {
            let [a, c, transposed] = matrices.each_ref().map(|tape| tape.bind(&parameters).constants());
            if [&a, &c, &transposed].into_iter().flatten().all(|x| x.is_finite()) {
                let b = (0..n).flat_map(|i| (0..m).map(move |k| k * n + i)).map(|at| transposed[at]).collect();
                return Some(Box::new(LcsModel {
                    states,
                    rows: self.rows.iter().cloned().zip(laws).collect(),
                    matrices: Matrices { e: None, a, b, c, d },
                    sources: sources.each_ref().map(|tape| tape.as_ref().map(|tape| tape.bind(&parameters))),
                    gates: Vec::new(),
                    shorts: None,
                }));
            }
        }
        Some(Box::new(StateModel { rows: self.rows.clone(), laws, feedthrough: d, plan: self.state.bind(&parameters) }))
    }
}

/// The equations with numbers.
#[derive(Debug)]
struct StateModel {
    rows: Vec<String>,
    laws: Vec<Law>,
    feedthrough: Vec<f64>,
    plan: StatePlan,
}

impl Bound for StateModel {
    fn laws(&self) -> Vec<LawInfo> {
        super::row_laws(&self.rows.iter().cloned().zip(self.laws.iter().copied()).collect::<Vec<_>>())
    }

    fn model(&self, initial: &State) -> Result<AnyModel, BuildError> {
        let model = self.plan.model(&self.laws, &self.feedthrough, initial.clone());
        Ok(AnyModel::FirstOrder(Box::new(model)))
    }
}
