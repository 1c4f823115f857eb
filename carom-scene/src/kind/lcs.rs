//! Linear complementarity systems: matrices of numbers, sources of time.

// matrices have the names that the literature gives them
#![allow(non_snake_case)]

use carom::State;
use carom::model::{Lcs, Matrices};
use carom::scheme::AnyModel;
use carom_solve::Law;

use super::{Bound, Compile, Kind, KindRow, Plan, Words, declare_states, refuse_mechanical, row};
use crate::diagnostic::Place;
use crate::expression::{Evaluator, NodeId, Tape};
use crate::file::{Matrix, ModelFile, OneOrMore, Text, table};
use crate::scene::context::Context;
use crate::scene::coordinates::{listed, numbered};
use crate::scene::{BuildError, LawInfo};

pub(super) const ROW: KindRow = KindRow::of::<LcsTable>(Words {
    name: "lcs",
    about: "E x' = A x + B lambda + a(t), y = C x + D lambda + c(t): complementarity, relays, equalities by row",
    template: include_str!("lcs.toml"),
});

table! {
    /// A linear complementarity system E x' = A x + B lambda + a(t), y = C x + D lambda + c(t).
    pub struct LcsTable {
        /// "lcs"
        pub kind: Text,
        /// Names of the states; x0, x1, ... by default.
        pub states: Option<Vec<Text>>,
        /// Matrix before x'; the unit matrix by default, rows of zeros are algebraic equations.
        pub E: Option<Matrix>,
        /// Matrix of the states, by rows, of numbers or expressions of parameters.
        pub A: Matrix,
        /// How multipliers enter the rates: one row per state.
        pub B: Option<Matrix>,
        /// Outputs of the states: one row per law.
        pub C: Option<Matrix>,
        /// Outputs of the multipliers; 0 by default.
        pub D: Option<Matrix>,
        /// Sources in the rates, one per state, of t.
        pub a: Option<OneOrMore>,
        /// Sources in the outputs, one per law, of t.
        pub c: Option<OneOrMore>,
    }
}

impl Kind for LcsTable {
    fn place(&self) -> &Place {
        &self.place
    }

    fn names<'a>(&'a self, file: &ModelFile, context: &mut Context) -> Option<Compile<'a>> {
        let before = context.out.errors();
        let (n, m) = (self.A.rows.len(), self.rows());
        let states = match &self.states {
            Some(names) if names.len() != n => {
                let place = names.first().map_or(&self.place, |name| &name.place).clone();
                context.out.error(&place, format!("{} states are named, but A has {n} rows", names.len()));
                None
            }
            Some(names) => listed(names, &self.place, context),
            None => numbered("x", n, &self.A.place, context),
        };
        let rows = match row::names(file, context) {
            Some(rows) if rows.is_empty() => Some((0..m).map(|k| format!("y{k}")).collect()),
            Some(rows) if rows.len() == m => Some(rows),
            Some(rows) => {
                let place = file.row.iter().flatten().next().map_or(&self.place, |row| &row.place).clone();
                context.out.error(&place, format!("there are {} rows, but C has {m}", rows.len()));
                None
            }
            None => None,
        };
        for row in file.row.iter().flatten() {
            if let Some(formula) = &row.output {
                context.out.error(&formula.place, "the outputs of this kind of model are C x + D lambda + c(t)");
            }
            if let Some(entries) = row.input.as_ref().or(row.feedthrough.as_ref()) {
                context.out.error(&entries.place, "the inputs of this kind of model are the matrices B and D");
            }
        }
        refuse_mechanical(file, false, context);
        if context.out.errors() > before {
            return None;
        }
        let rows: Vec<String> = rows?;
        declare_states(states?, &rows, self, context)?;
        Some(Box::new(move |_, context| {
            let state_source = source("a", self.a.as_ref(), n, context);
            let output_source = source("c", self.c.as_ref(), m, context);
            let sources = [state_source?, output_source?];
            Some(Box::new(LcsPlan { table: self.clone(), rows, sources }))
        }))
    }

    fn check_numbers(&self, file: &ModelFile, context: &mut Context) {
        self.matrices(context);
        row::laws(file, context);
    }
}

impl LcsTable {
    fn rows(&self) -> usize {
        self.C.as_ref().map_or(0, |c| c.rows.len())
    }

    fn matrices(&self, context: &mut Context) -> Option<Matrices> {
        let (n, m) = (self.A.rows.len(), self.rows());
        let mut full = |name: &str, matrix: Option<&Matrix>, (rows, columns): (usize, usize)| match matrix {
            Some(matrix) => dense(name, matrix, (rows, columns), context),
            None => Some(vec![0.0; rows * columns]),
        };
        let a = full("A", Some(&self.A), (n, n));
        let (b, c) = (full("B", self.B.as_ref(), (n, m)), full("C", self.C.as_ref(), (m, n)));
        let d = full("D", self.D.as_ref(), (m, m));
        let e = match &self.E {
            Some(matrix) => full("E", Some(matrix), (n, n)).map(Some),
            None => Some(None),
        };
        Some(Matrices { e: e?, a: a?, b: b?, c: c?, d: d? })
    }
}

/// A matrix of numbers, row-major.
fn dense(name: &str, matrix: &Matrix, (rows, columns): (usize, usize), context: &mut Context) -> Option<Vec<f64>> {
    if matrix.rows.len() != rows {
        context.out.error(&matrix.place, format!("{name} has {} rows, expected {rows}", matrix.rows.len()));
        return None;
    }
    let before = context.out.errors();
    let mut values = Vec::with_capacity(rows * columns);
    for (i, row) in matrix.rows.iter().enumerate() {
        if row.len() != columns {
            let place = row.first().map_or(&matrix.place, |first| &first.place).clone();
            let message = format!("row {} of {name} has {} entries, expected {columns}", i + 1, row.len());
            context.out.error(&place, message);
            continue;
        }
        values.extend(row.iter().filter_map(|formula| context.number(formula)));
    }
    (context.out.errors() == before).then_some(values)
}

fn source(name: &str, list: Option<&OneOrMore>, count: usize, context: &mut Context) -> Option<Option<Tape>> {
    let Some(list) = list else { return Some(None) };
    if list.items.len() != count {
        let message = format!("{name} has {} entries, expected {count}", list.items.len());
        context.out.error(&list.place, message);
        return None;
    }
    let nodes: Vec<NodeId> =
        list.items.iter().filter_map(|formula| context.node_of_time(formula, "the source")).collect();
    (nodes.len() == count).then(|| Some(Tape::compile(&context.graph, &nodes)))
}

/// The table with its sources compiled.
#[derive(Debug)]
struct LcsPlan {
    table: LcsTable,
    rows: Vec<String>,
    sources: [Option<Tape>; 2],
}

impl Plan for LcsPlan {
    fn bind(&self, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Bound>> {
        let (matrices, laws) = (self.table.matrices(context), row::laws(file, context));
        let (parameters, mut laws) = (context.vector(), laws?);
        // rows that are not named are contacts
        laws.resize(self.rows.len(), Law::UNILATERAL);
        Some(Box::new(LcsModel {
            states: context.names.coordinates.clone(),
            rows: self.rows.iter().cloned().zip(laws).collect(),
            matrices: matrices?,
            sources: self.sources.each_ref().map(|tape| tape.as_ref().map(|tape| tape.bind(&parameters))),
            gates: Vec::new(),
            shorts: None,
        }))
    }
}

/// A complementarity system with numbers.
#[derive(Debug)]
pub(super) struct LcsModel {
    pub states: Vec<String>,
    pub rows: Vec<(String, Law)>,
    pub matrices: Matrices,
    /// a(t) and c(t), where there are any.
    pub sources: [Option<Tape>; 2],
    pub gates: Vec<Gate>,
    pub shorts: Option<Shorts>,
}

/// Loops of a circuit that would short its voltage sources.
#[derive(Clone, Debug)]
pub(super) struct Shorts {
    pub loops: Vec<ShortLoop>,
    /// Values of all sources.
    pub sources: Tape,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct ShortLoop {
    /// Sources by number, with their signs.
    pub sources: Vec<(usize, f64)>,
    /// Places in the list of gates; all must be closed.
    pub gates: Vec<usize>,
    /// Whether a positive and a negative voltage drives a current.
    pub drives: [bool; 2],
    /// What happens then.
    pub text: String,
}

impl Shorts {
    pub fn bind(&self, parameters: &[f64]) -> Shorts {
        Shorts { sources: self.sources.bind(parameters), loops: self.loops.clone() }
    }

    /// Tells of a loop that conducts at a time.
    fn teller(&self, gates: &[Gate]) -> impl FnMut(f64) -> Option<String> + Send + use<> {
        let (loops, mut sources) = (self.loops.clone(), Evaluator::new(&self.sources));
        let mut gates: Vec<Evaluator> = gates.iter().map(|gate| Evaluator::new(&gate.tape)).collect();
        move |t| {
            let values = sources.eval(t, &[], &[]).to_vec();
            let is_closed: Vec<bool> = gates.iter_mut().map(|g| g.eval(t, &[], &[]).iter().all(|x| *x > 0.0)).collect();
            loops.iter().find_map(|short| {
                let voltage: f64 = short.sources.iter().map(|&(k, sign)| sign * values[k]).sum();
                let drives = voltage > 0.0 && short.drives[0] || voltage < 0.0 && short.drives[1];
                let conducts = drives && short.gates.iter().all(|&gate| is_closed[gate]);
                conducts.then(|| format!("{} with {:e} V and no resistance", short.text, voltage.abs()))
            })
        }
    }
}

/// A row whose law depends on the sign of an expression of time.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pub row: usize,
    pub tape: Tape,
    /// The row is an equality while the gate is positive, and absent otherwise; or the other way round.
    pub on: bool,
}

impl Bound for LcsModel {
    fn laws(&self) -> Vec<LawInfo> {
        super::row_laws(&self.rows)
    }

    fn model(&self, initial: &State) -> Result<AnyModel, BuildError> {
        let mut model = Lcs::new(self.matrices.clone(), self.rows.clone(), &initial.q)?
            .with_names(self.states.clone())?
            .starting_at(initial.t);
        let function = |tape: &Tape| {
            let mut evaluator = Evaluator::new(tape);
            move |t: f64, out: &mut [f64]| {
                out.copy_from_slice(evaluator.eval(t, &[], &[]));
                Ok(())
            }
        };
        if let Some(tape) = &self.sources[0] {
            model = model.with_state_source(function(tape));
        }
        if let Some(tape) = &self.sources[1] {
            model = model.with_output_source(function(tape));
        }
        for &Gate { row, ref tape, on } in &self.gates {
            let mut evaluator = Evaluator::new(tape);
            model = model.with_timed_law(row, move |t| {
                let closed = evaluator.eval(t, &[], &[]).iter().all(|gate| *gate > 0.0);
                Ok(if closed == on { Law::EQUALITY } else { Law::interval(0.0, 0.0) })
            })?;
        }
        if let Some(shorts) = &self.shorts {
            model = model.with_explanation(shorts.teller(&self.gates));
        }
        Ok(AnyModel::FirstOrder(Box::new(model)))
    }
}
