//! First-order models from equations:
//!
//! ```text
//!     x' = f(t, x) + B(t, x) λ,   y = h(t, x) + D λ                                       (1)
//! ```
//!
//! with ∂f/∂x and ∂h/∂x by symbolic differentiation, evaluated as flat tapes over `[t | x]` and the parameters.

use super::derive::{SINGLE, count};
use super::{EquationError, Source};
use crate::expression::{Evaluator, Graph, NodeId, Tape};
use carom::model::{Constancy, Labels};
use carom::{Coupling, FirstOrder, Key, ModelError, Pair, Space, State};
use carom_solve::{Archive, ArchiveError, DenseLu, Law, LinearSolve, Persist};

/// The expressions of (1). Slots of the graph are `t`, then the states.
#[derive(Clone, Debug)]
pub struct StateSource {
    /// Holds the nodes of all expressions below.
    pub graph: Graph,
    /// Names of the states x, in the order of their slots.
    pub states: Vec<String>,
    /// (n) f.
    pub rate: Vec<NodeId>,
    /// Rows of y, each with its multiplier.
    pub rows: Vec<SourceRow>,
}

/// A row of (1).
#[derive(Clone, Debug)]
pub struct SourceRow {
    /// Name of the row in messages and in the columns of results.
    pub name: String,
    /// h
    pub output: NodeId,
    /// (n) the column of B.
    pub input: Vec<NodeId>,
}

/// The derivatives of (1), row-major.
#[derive(Clone, Debug)]
pub struct StateTangents {
    /// (n × n) ∂f/∂x.
    pub rate: Vec<NodeId>,
    /// (m × n) ∂h/∂x.
    pub output: Vec<NodeId>,
}

impl StateSource {
    /// Differentiates: by sweeps where single derivatives would be too many. The graph may have `most` nodes.
    pub fn tangents(&mut self, most: usize) -> Result<StateTangents, EquationError> {
        count();
        let (slots, coordinates) = (1..1 + self.states.len(), self.states.len());
        let by_sweeps = self.graph.count().saturating_mul(coordinates) > SINGLE;
        let graph = &mut self.graph;
        let mut gradient = |node: NodeId| {
            let slots = slots.clone();
            let row = if by_sweeps { graph.gradient_by_sweep(node, slots) } else { graph.gradient(node, slots) };
            if graph.count() > most { Err(EquationError::TooLarge { coordinates, most }) } else { Ok(row) }
        };
        let rate: Vec<_> = self.rate.iter().map(|&f| gradient(f)).collect::<Result<_, _>>()?;
        let output: Vec<_> = self.rows.iter().map(|row| gradient(row.output)).collect::<Result<_, _>>()?;
        Ok(StateTangents { rate: rate.concat(), output: output.concat() })
    }
}

/// The equations (1), derived and compiled. With the values of parameters they make models, as often as wanted.
#[derive(Clone, Debug)]
pub struct StatePlan {
    states: Vec<String>,
    rows: Vec<String>,
    constancy: Constancy,
    rate: Tape,
    tangent: Tape,
    outputs: Tape,  // h
    coupling: Tape, // h, ∂h/∂x, Bᵀ
}

impl StatePlan {
    /// Compiles.
    pub fn new(source: &StateSource, tangents: &StateTangents) -> StatePlan {
        let graph = &source.graph;
        let constant = |nodes: &[NodeId]| nodes.iter().all(|&node| graph.is_fixed(node));
        let outputs: Vec<NodeId> = source.rows.iter().map(|row| row.output).collect();
        let input: Vec<NodeId> = source.rows.iter().flat_map(|row| row.input.iter().copied()).collect();
        let constancy = Constancy {
            mass: true,
            tangents: constant(&tangents.rate),
            rows: constant(&tangents.output) && constant(&input),
            drift: false,
            still: outputs.iter().chain(&input).all(|&node| !graph.depends_on(node, Source::TIME)),
        };
        StatePlan {
            constancy,
            rate: Tape::compile(graph, &source.rate),
            tangent: Tape::compile(graph, &tangents.rate),
            outputs: Tape::compile(graph, &outputs),
            coupling: Tape::compile(graph, &[&outputs[..], &tangents.output, &input].concat()),
            states: source.states.clone(),
            rows: source.rows.iter().map(|row| row.name.clone()).collect(),
        }
    }

    /// The same equations with these parameters.
    #[must_use]
    pub fn bind(&self, parameters: &[f64]) -> StatePlan {
        StatePlan {
            rate: self.rate.bind(parameters),
            tangent: self.tangent.bind(parameters),
            outputs: self.outputs.bind(parameters),
            coupling: self.coupling.bind(parameters),
            ..self.clone()
        }
    }

    /// A model with these laws and the feedthrough D (m × m, row-major) that starts at this state.
    pub fn model(&self, laws: &[Law], feedthrough: &[f64], initial: State) -> StateEquations {
        StateEquations {
            constancy: self.constancy,
            rate: Evaluator::new(&self.rate),
            tangent: Evaluator::new(&self.tangent),
            outputs: Evaluator::new(&self.outputs),
            coupling: Evaluator::new(&self.coupling),
            states: self.states.clone(),
            laws: self.rows.iter().cloned().zip(laws.iter().copied()).collect(),
            feedthrough: feedthrough.to_vec(),
            initial,
            lu: DenseLu::default(),
        }
    }
}

/// A first-order model made of equations.
pub struct StateEquations {
    states: Vec<String>,
    laws: Vec<(String, Law)>,
    initial: State,
    constancy: Constancy,
    rate: Evaluator,
    tangent: Evaluator,
    outputs: Evaluator,
    coupling: Evaluator,
    feedthrough: Vec<f64>,
    lu: DenseLu,
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
    fn persist(&mut self, archive: &mut Archive, _last: &State) -> Result<bool, ArchiveError> {
        self.lu.persist(archive).map(|()| true)
    }

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
        Labels { coordinates: self.states.clone(), contacts: self.laws.clone(), ..Labels::default() }
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
