//! First-order models from equations:
//!
//! ```text
//!     x' = f(t, x) + B(t, x) λ,   y = h(t, x) + D λ                                       (1)
//! ```
//!
//! with ∂f/∂x and ∂h/∂x by symbolic differentiation, evaluated as flat tapes over `[t | x]`.

use super::model::Program;
use crate::expression::{Graph, NodeId};
use carom::model::{Constancy, Labels};
use carom::{Coupling, FirstOrder, Key, ModelError, Pair, Space, State};
use carom_solve::{DenseLu, Law, LinearSolve};

/// The expressions of (1). Slots of the graph are `t`, then the states.
#[derive(Clone, Debug)]
pub struct StateSource {
    pub graph: Graph,
    pub states: Vec<String>,
    /// (n) f.
    pub rate: Vec<NodeId>,
    pub rows: Vec<SourceRow>,
    /// (m × m) D, row-major.
    pub feedthrough: Vec<f64>,
}

/// A row of (1).
#[derive(Clone, Debug)]
pub struct SourceRow {
    pub name: String,
    pub law: Law,
    /// h
    pub output: NodeId,
    /// (n) the column of B.
    pub input: Vec<NodeId>,
}

/// The derivatives of (1), row-major.
pub(crate) struct StateTangents {
    /// (n × n) ∂f/∂x.
    pub rate: Vec<NodeId>,
    /// (m × n) ∂h/∂x.
    pub output: Vec<NodeId>,
}

impl StateSource {
    /// Differentiates.
    pub(crate) fn tangents(&mut self) -> StateTangents {
        let slots = 1..=self.states.len();
        let rate = self.rate.iter().flat_map(|&f| self.graph.gradient(f, slots.clone())).collect();
        let output = self.rows.iter().flat_map(|row| self.graph.gradient(row.output, slots.clone())).collect();
        StateTangents { rate, output }
    }
}

/// A first-order model made of equations.
pub struct StateEquations {
    states: Vec<String>,
    laws: Vec<(String, Law)>,
    initial: State,
    constancy: Constancy,
    rate: Program,
    tangent: Program,
    outputs: Program,  // h
    coupling: Program, // h, ∂h/∂x, Bᵀ
    feedthrough: Vec<f64>,
    lu: DenseLu,
}

impl StateEquations {
    /// Differentiates and compiles.
    pub fn new(mut source: StateSource, initial: State) -> StateEquations {
        let tangents = source.tangents();
        let graph = &source.graph;
        let constant = |nodes: &[NodeId]| nodes.iter().all(|&node| graph.is_constant(node).is_some());
        let outputs: Vec<NodeId> = source.rows.iter().map(|row| row.output).collect();
        let input: Vec<NodeId> = source.rows.iter().flat_map(|row| row.input.iter().copied()).collect();
        let constancy = Constancy {
            mass: true,
            tangents: constant(&tangents.rate),
            rows: constant(&tangents.output) && constant(&input),
            drift: false,
        };
        let coupling: Vec<NodeId> = outputs.iter().chain(&tangents.output).chain(&input).copied().collect();
        StateEquations {
            constancy,
            rate: Program::new(graph, &source.rate),
            tangent: Program::new(graph, &tangents.rate),
            outputs: Program::new(graph, &outputs),
            coupling: Program::new(graph, &coupling),
            states: source.states,
            laws: source.rows.into_iter().map(|row| (row.name, row.law)).collect(),
            feedthrough: source.feedthrough,
            initial,
            lu: DenseLu::default(),
        }
    }
}

#[cold]
fn undefined(laws: &[(String, Law)], values: &[f64], t: f64) -> ModelError {
    let row = values.iter().position(|x| !x.is_finite()).and_then(|row| laws.get(row));
    ModelError::Gap { contact: row.map_or("?", |(name, _)| name).into(), t }
}

impl LinearSolve for StateEquations {
    fn dim(&self) -> usize {
        self.states.len()
    }
    #[inline]
    fn solve(&self, rhs: &mut [f64]) {
        self.lu.solve(rhs);
    }
}

impl Space for StateEquations {
    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn couple(&mut self, t: f64, x: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        let (n, m) = (self.states.len(), self.laws.len());
        out.clear(n);
        let (values, rows) = self.coupling.eval(t, x, &[]).split_at(m);
        if !values.iter().all(|x| x.is_finite()) {
            return Err(undefined(&self.laws, values, t));
        }
        for (k, ((_, law), &gap)) in self.laws.iter().zip(values).enumerate() {
            out.push(Pair { key: Key::from(k), law: *law, gap, restitution: 0.0 });
            out.drift.push(0.0);
        }
        let (outputs, inputs) = rows.split_at(m * n);
        outputs.chunks_exact(n).for_each(|row| out.rows.push_dense(row));
        inputs.chunks_exact(n).for_each(|row| out.input.push_dense(row));
        if let Some(row) = rows.chunks_exact(n).position(|row| row.iter().any(|x| !x.is_finite())) {
            let contact = self.laws.get(row % m.max(1)).map_or("?", |(name, _)| name).into();
            return Err(ModelError::Gradient { contact, t });
        }
        if self.feedthrough.iter().any(|d| *d != 0.0) {
            out.feedthrough.clear(m);
            self.feedthrough.chunks_exact(m).for_each(|row| out.feedthrough.push_dense(row));
        }
        Ok(())
    }

    fn refresh(&mut self, t: f64, x: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        let values = self.outputs.eval(t, x, &[]);
        for (pair, &gap) in out.pairs.iter_mut().zip(values) {
            pair.gap = gap;
        }
        if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(undefined(&self.laws, values, t)) }
    }

    fn labels(&self) -> Labels {
        Labels { coordinates: self.states.clone(), contacts: self.laws.clone() }
    }
}

impl FirstOrder for StateEquations {
    fn constancy(&self) -> Constancy {
        self.constancy
    }

    fn rate(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.copy_from_slice(self.rate.eval(t, x, &[]));
        match out.iter().position(|x| !x.is_finite()) {
            Some(i) => Err(ModelError::Rate { state: self.states[i].as_str().into(), t }),
            None => Ok(()),
        }
    }

    fn factor(&mut self, at: &State, c: f64) -> Result<(), ModelError> {
        let n = self.states.len();
        let tangent = self.tangent.eval(at.t, &at.q, &[]);
        let matrix = self.lu.matrix_mut(n);
        for (k, (x, d)) in matrix.iter_mut().zip(tangent).enumerate() {
            let unit = f64::from(u8::from(k / n == k % n));
            *x = if c == 0.0 { unit } else { unit - c * d };
        }
        self.lu.factor().map_err(|source| ModelError::Singular { t: at.t, source })
    }
}
