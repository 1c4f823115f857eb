//! Linear models: matrices from rows or from a chain of elements, affine gaps.

use std::sync::OnceLock;

use carom::State;
use carom::model::{AffineRow, Linear, LinearContact, SparseMatrix};
use carom::scheme::AnyModel;

use super::{Bound, Compile, Kind, KindRow, Plan, Words, declare_coordinates, length};
use crate::diagnostic::Place;
use crate::equations::{EquationError, EquationPlan, Slip, Source, SourceLaw};
use crate::expression::{Evaluator, NodeId, Tape};
use crate::file::{Entries, Formula, Matrix, ModelFile, Text, table};
use crate::scene::context::Context;
use crate::scene::coordinates::{Target, listed, numbered};
use crate::scene::law::{self, LawNodes};
use crate::scene::{BuildError, LawInfo, check};

pub(super) const ROW: KindRow = KindRow::of::<LinearTable>(Words {
    name: "linear",
    about: "mass, damping and stiffness as matrices or as a chain of identical elements, stored sparse",
    template: include_str!("linear.toml"),
});

table! {
    /// A linear model M v' + C v + K q = f(t), from matrices or from a chain of equal elements.
    pub struct LinearTable {
        /// "linear"
        pub kind: Text,
        /// Names of the coordinates; q0, q1, ... by default.
        pub coordinates: Option<Vec<Text>>,
        /// Mass matrix by rows, of numbers or expressions of parameters.
        pub mass: Option<Matrix>,
        /// Damping matrix by rows.
        pub damping: Option<Matrix>,
        /// Stiffness matrix by rows.
        pub stiffness: Option<Matrix>,
        /// A chain of equal elements of two nodes, instead of matrices.
        pub chain: Option<ChainTable>,
        /// Forces by coordinate, of t [N].
        pub force: Option<Entries>,
        /// A length that is typical of the model, positive; tolerances of gaps are parts of it. By default the lengths
        /// that a run meets [m].
        pub length: Option<Formula>,
    }
}

table! {
    /// A chain of equal elements; element i joins the nodes i and i + 1.
    pub struct ChainTable {
        /// Number of elements; there is one node more.
        pub elements: Formula,
        /// Element mass, 2 by 2.
        pub mass: Matrix,
        /// Element damping, 2 by 2.
        pub damping: Option<Matrix>,
        /// Element stiffness, 2 by 2.
        pub stiffness: Option<Matrix>,
        /// Base of the names of the nodes: "q" makes q0, q1, ...
        pub base: Option<Text>,
    }
}

/// Most elements of a chain.
const ELEMENT_LIMIT: usize = 500_000;
/// Most rows of a matrix that is written out.
const ROW_LIMIT: usize = 2_000;
/// Largest model whose derivatives are taken: it is written out in equations then.
const TANGENT_LIMIT: usize = 64;

/// The three matrices.
#[derive(Clone, Debug)]
struct Matrices {
    mass: SparseMatrix,
    damping: SparseMatrix,
    stiffness: SparseMatrix,
}

impl Kind for LinearTable {
    fn place(&self) -> &Place {
        &self.place
    }

    fn names<'a>(&'a self, file: &ModelFile, context: &mut Context) -> Option<Compile<'a>> {
        let (names, base) = match (&self.mass, &self.chain) {
            (Some(mass), None) => self.listed(mass, context)?,
            (None, Some(chain)) => self.chained(chain, context)?,
            (Some(mass), Some(_)) => {
                context.out.error(&mass.place, "give either `mass` or `chain`, not both");
                return None;
            }
            (None, None) => {
                context.out.error(&self.place, "a linear model needs `mass` or `chain`");
                return None;
            }
        };
        context.names.base = base;
        declare_coordinates(names, file, context);
        Some(Box::new(|file, context| self.compile(file, context)))
    }

    fn check_numbers(&self, file: &ModelFile, context: &mut Context) {
        self.matrices(context);
        law::numbers(file, context);
        length(self.length.as_ref(), context);
    }
}

/// Names, and the one that stands for all of them.
type Named = (Vec<String>, Option<String>);

impl LinearTable {
    /// The names of a model whose matrices are written out.
    fn listed(&self, mass: &Matrix, context: &mut Context) -> Option<Named> {
        let n = mass.rows.len();
        if n == 0 || n > ROW_LIMIT {
            let message = match n {
                0 => "the model has no coordinates".into(),
                n => format!("{n} rows; the limit is {ROW_LIMIT}"),
            };
            context.out.error(&mass.place, message);
            return None;
        }
        match &self.coordinates {
            Some(names) if names.len() != n => {
                let message = format!("{} coordinates are named, but the mass matrix has {n} rows", names.len());
                let place = names.first().map_or(&self.place, |name| &name.place).clone();
                context.out.error(&place, message);
                None
            }
            Some(names) => Some((listed(names, &self.place, context)?, None)),
            None => Some((numbered("q", n, &mass.place, context)?, Some("q".into()))),
        }
    }

    /// The names of a chain: element i joins the nodes i and i + 1.
    fn chained(&self, chain: &ChainTable, context: &mut Context) -> Option<Named> {
        for matrix in [&self.damping, &self.stiffness].into_iter().flatten() {
            let message = "matrices are given twice: the chain has its own";
            context.out.error(&matrix.place, message).hint("move it into `chain`");
        }
        if let Some(first) = self.coordinates.as_ref().and_then(|names| names.first()) {
            let hint = "choose the base of the names with chain.base";
            context.out.error(&first.place, "the coordinates of a chain are numbered").hint(hint);
        }
        let elements = context.structural(&chain.elements)?;
        if !(elements.fract() == 0.0 && (1.0..=ELEMENT_LIMIT as f64).contains(&elements)) {
            let message = format!("{elements} elements: a whole number from 1 to {ELEMENT_LIMIT} is needed");
            context.out.error(&chain.elements.place, message);
            return None;
        }
        let base = chain.base.as_ref().map_or("q", |base| base.value.as_str());
        let place = chain.base.as_ref().map_or(&chain.place, |base| &base.place);
        if !crate::expression::is_identifier(base) {
            let message = format!("`{base}` is not a name: letters, digits and `_`, not starting with a digit");
            context.out.error(place, message);
            return None;
        }
        // the range was checked
        Some((numbered(base, elements as usize + 1, place, context)?, Some(base.to_string())))
    }

    /// Mass, damping and stiffness as they are written: of the model, or of an element.
    fn written(&self) -> [Option<&Matrix>; 3] {
        match &self.chain {
            Some(chain) => [Some(&chain.mass), chain.damping.as_ref(), chain.stiffness.as_ref()],
            None => [self.mass.as_ref(), self.damping.as_ref(), self.stiffness.as_ref()],
        }
    }

    /// The values of all matrices.
    fn matrices(&self, context: &mut Context) -> Option<Matrices> {
        let (n, chain) = (context.names.coordinates.len(), self.chain.is_some());
        let [mass, damping, stiffness] = self.written().map(|matrix| {
            let Some(matrix) = matrix else { return SparseMatrix::from_triplets(n, &[]).ok() };
            let entries = values(matrix, if chain { 2 } else { n }, context)?;
            let elements = 0..if chain { n - 1 } else { 1 };
            let all: Vec<_> = elements.flat_map(|i| entries.iter().map(move |&(r, c, x)| (i + r, i + c, x))).collect();
            let all = SparseMatrix::from_triplets(n, &all).ok();
            if all.is_none() {
                context.out.error(&matrix.place, "the matrix is not finite");
            }
            all
        });
        let matrices = Matrices { mass: mass?, damping: damping?, stiffness: stiffness? };
        if !matrices.mass.is_symmetric() {
            context.out.error(self.mass_place(), "the mass matrix is not symmetric");
            return None;
        }
        Some(matrices)
    }

    fn mass_place(&self) -> &Place {
        self.written()[0].map_or(&self.place, |mass| &mass.place)
    }

    fn compile(&self, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Plan>> {
        let before = context.out.errors();
        // forces are checked even if a contact has a mistake
        let laws = law::nodes(file, context);
        let mut rows = Vec::new();
        for law in laws.iter().flatten() {
            self.affine(law, &mut rows, context);
        }
        let mut forces: Vec<(usize, NodeId)> = Vec::new();
        for (key, formula) in self.force.iter().flat_map(|force| &force.items) {
            let (Some(Target::Position(i)), Some(node)) = (context.target(key, false), context.node(formula)) else {
                continue;
            };
            if let Some(&slot) = context.graph.slots(node).iter().find(|&&slot| slot != 0) {
                let name = context.slot_name(slot);
                let message = format!("the force depends on {name}; in a linear model it may depend on t only");
                context.out.error(&formula.place, message).hint("use damping and stiffness, or kind = \"lagrangian\"");
            }
            forces.push((i, node));
        }
        if context.out.errors() > before {
            return None;
        }
        let source = self.source(&laws?, &forces, context);
        let (indices, nodes): (Vec<usize>, Vec<NodeId>) = forces.into_iter().unzip();
        let forces = (!nodes.is_empty()).then(|| (indices, Tape::compile(&context.graph, &nodes)));
        let size = context.names.coordinates.len();
        let equations = OnceLock::new();
        Some(Box::new(LinearPlan { table: self.clone(), rows, forces, size, source, equations }))
    }

    /// The outputs of a law from their derivatives, which must not vary.
    fn affine(&self, law: &LawNodes, rows: &mut Vec<Row>, context: &mut Context) {
        if law.slip == Slip::Velocity {
            let place = law.outputs.get(1).map_or(&self.place, |(_, place)| place).clone();
            context
                .out
                .error(&place, "a linear model takes the tangential displacement: `slip` instead of `sliding`")
                .hint("use kind = \"lagrangian\" where no displacement exists");
            return;
        }
        if let Some((_, place)) = &law.region {
            context
                .out
                .error(&place.clone(), "a linear model has no regions: its contacts count everywhere")
                .hint("use kind = \"lagrangian\" for a contact with `where`");
            return;
        }
        if let Some((_, place)) = &law.friction {
            context
                .out
                .error(&place.clone(), "a linear model has constant coefficients of friction")
                .hint("use kind = \"lagrangian\" for friction that depends on the state");
            return;
        }
        for (node, place) in &law.outputs {
            let slots = context.graph.slots(*node);
            let mut nodes = context.graph.gradient(*node, slots.iter().copied());
            if let Some(k) = nodes.iter().position(|&slope| !context.graph.is_fixed(slope)) {
                not_affine(slots[k], place, context);
                return;
            }
            let zeros: Vec<(usize, f64)> = slots.iter().map(|&slot| (slot, 0.0)).collect();
            nodes.push(context.graph.bind(*node, &zeros));
            rows.push(Row { slots, numbers: Tape::compile(&context.graph, &nodes), place: place.clone() });
        }
    }

    /// The model as energies and forces, T = vᵀM v/2 and f − C v − K q, where it is small enough.
    fn source(&self, laws: &[LawNodes], forces: &[(usize, NodeId)], context: &mut Context) -> Option<Source> {
        let n = context.names.coordinates.len();
        if n > TANGENT_LIMIT {
            return None;
        }
        let [mass, damping, stiffness] = self.written().map(|matrix| self.entries(matrix, context));
        let graph = &mut context.graph;
        let zero = graph.constant(0.0);
        let mut all = vec![zero; n];
        forces.iter().for_each(|&(i, node)| all[i] = node);
        let (half, mut kinetic) = (graph.constant(0.5), Vec::new());
        for (i, j, node) in mass? {
            let (a, b) = (graph.input(1 + n + i), graph.input(1 + n + j));
            let square = graph.multiply(a, b);
            let term = graph.multiply(node, square);
            kinetic.push(graph.multiply(half, term));
        }
        for (matrix, first) in [(damping?, 1 + n), (stiffness?, 1)] {
            for (i, j, node) in matrix {
                let x = graph.input(first + j);
                let term = graph.multiply(node, x);
                all[i] = graph.subtract(all[i], term);
            }
        }
        Some(Source {
            kinetic: graph.sum(kinetic),
            graph: graph.clone(),
            coordinates: context.names.coordinates.clone(),
            potential: zero,
            forces: all,
            laws: laws.iter().map(LawNodes::source).collect::<Vec<SourceLaw>>(),
            initial: State::default(),
        })
    }

    /// The entries of a matrix as expressions; mistakes in them are told where the numbers are read.
    fn entries(&self, matrix: Option<&Matrix>, context: &mut Context) -> Option<Vec<(usize, usize, NodeId)>> {
        let (n, mut all) = (context.names.coordinates.len(), Vec::new());
        let elements = if self.chain.is_some() { n - 1 } else { 1 };
        for (i, row) in matrix.iter().flat_map(|matrix| matrix.rows.iter().enumerate()) {
            for (j, formula) in row.iter().enumerate() {
                let node = context.quiet_node(formula)?;
                all.extend((0..elements).map(|k| (i + k, j + k, node)).filter(|&(i, j, _)| i < n && j < n));
            }
        }
        Some(all)
    }
}

/// Values of a matrix that must be n×n.
fn values(matrix: &Matrix, n: usize, context: &mut Context) -> Option<Vec<(usize, usize, f64)>> {
    if matrix.rows.len() != n {
        let message = format!("the matrix has {} rows, expected {n}", matrix.rows.len());
        context.out.error(&matrix.place, message);
        return None;
    }
    let before = context.out.errors();
    let mut entries = Vec::new();
    for (i, row) in matrix.rows.iter().enumerate() {
        if row.len() != n {
            let place = row.first().map_or(&matrix.place, |first| &first.place).clone();
            context.out.error(&place, format!("row {} of the matrix has {} entries, expected {n}", i + 1, row.len()));
            continue;
        }
        for (j, formula) in row.iter().enumerate() {
            match context.number(formula) {
                Some(value) if value != 0.0 => entries.push((i, j, value)),
                _ => {}
            }
        }
    }
    (context.out.errors() == before).then_some(entries)
}

fn not_affine(slot: usize, place: &Place, context: &mut Context) {
    let message = format!("the expression is not affine in {}", context.slot_name(slot));
    let hint = "a linear model needs a constant slope; use kind = \"lagrangian\" for this";
    context.out.error(place, message).hint(hint);
}

/// An affine output: its slopes by slot and its value at zero, of parameters.
#[derive(Debug)]
struct Row {
    slots: Vec<usize>,
    numbers: Tape,
    place: Place,
}

impl Row {
    fn bind(&self, parameters: &[f64], context: &mut Context) -> Option<AffineRow> {
        let numbers = self.numbers.bind(parameters).constants();
        let (&constant, slopes) = numbers.split_last()?;
        let mut row = AffineRow { entries: Vec::new(), constant, rate: 0.0 };
        for (&slot, &slope) in self.slots.iter().zip(slopes) {
            match slot {
                _ if !slope.is_finite() => {
                    not_affine(slot, &self.place, context);
                    return None;
                }
                0 => row.rate = slope,
                _ if slope == 0.0 => {}
                slot => row.entries.push((slot - 1, slope)),
            }
        }
        if !constant.is_finite() {
            context.out.error(&self.place, "the expression is not finite where all coordinates are zero");
            return None;
        }
        Some(row)
    }
}

/// Affine laws and forces of time.
#[derive(Debug)]
struct LinearPlan {
    table: LinearTable,
    rows: Vec<Row>,
    /// The coordinates and the forces on them.
    forces: Option<(Vec<usize>, Tape)>,
    /// Number of coordinates.
    size: usize,
    source: Option<Source>,
    equations: OnceLock<Result<EquationPlan, EquationError>>,
}

impl Plan for LinearPlan {
    fn bind(&self, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Bound>> {
        let (matrices, laws) = (self.table.matrices(context), law::numbers(file, context));
        let length = length(self.table.length.as_ref(), context);
        let parameters = context.vector();
        let rows: Option<Vec<AffineRow>> = self.rows.iter().map(|row| row.bind(&parameters, context)).collect();
        let (laws, mut rows) = (laws?, rows?.into_iter());
        let contacts = laws.iter().map(|law| LinearContact {
            name: law.name.clone(),
            law: law.law,
            restitution: law.restitution,
            tangential: law.tangential,
            rows: rows.by_ref().take(law.law.size()).collect(),
        });
        Some(Box::new(LinearModel {
            matrices: matrices?,
            length: length?,
            coordinates: context.names.coordinates.clone(),
            contacts: contacts.collect(),
            laws,
            forces: self.forces.as_ref().map(|(indices, tape)| (indices.clone(), tape.bind(&parameters))),
            mass: self.table.mass_place().clone(),
        }))
    }

    fn equations(&self) -> Result<&EquationPlan, BuildError> {
        let Some(source) = &self.source else {
            return Err(BuildError::Tangent(format!(
                "derivatives of linear models are made for up to {TANGENT_LIMIT} coordinates, the model has {}",
                self.size
            )));
        };
        self.equations
            .get_or_init(|| EquationPlan::new(&mut source.clone()))
            .as_ref()
            .map_err(|error| error.clone().into())
    }
}

/// A linear model with numbers.
#[derive(Debug)]
struct LinearModel {
    matrices: Matrices,
    length: Option<f64>,
    coordinates: Vec<String>,
    contacts: Vec<LinearContact>,
    laws: Vec<LawInfo>,
    forces: Option<(Vec<usize>, Tape)>,
    mass: Place,
}

impl LinearModel {
    fn linear(&self, initial: &State) -> Result<Linear, BuildError> {
        let Matrices { mass, damping, stiffness } = &self.matrices;
        let model = Linear::new(mass, damping, stiffness, initial.clone()).map_err(|_| BuildError::Size)?;
        let mut model = model.with_labels(self.coordinates.clone()).with_length(self.length);
        for contact in &self.contacts {
            model = model.with_contact(contact.clone());
        }
        if let Some((indices, tape)) = self.forces.clone() {
            let mut evaluator = Evaluator::new(&tape);
            // a step starts where the last one ended
            let mut last = f64::NAN;
            model = model.with_force(move |t: f64, out: &mut [f64]| {
                if t != last {
                    evaluator.eval(t, &[], &[]);
                    last = t;
                }
                for (&i, value) in indices.iter().zip(evaluator.values()) {
                    out[i] += value;
                }
            });
        }
        Ok(model)
    }
}

impl Bound for LinearModel {
    fn laws(&self) -> Vec<LawInfo> {
        self.laws.clone()
    }

    fn model(&self, initial: &State) -> Result<AnyModel, BuildError> {
        Ok(AnyModel::Mechanical(Box::new(self.linear(initial)?)))
    }

    fn start(&self, state: &State, _: &ModelFile, context: &mut Context) -> Option<AnyModel> {
        let model = self.linear(state).ok()?;
        if model.mass_is_positive_definite() {
            return Some(AnyModel::Mechanical(Box::new(model)));
        }
        let n = state.q.len();
        // naming the coordinate costs n³: only where that is quick
        let pivot = (n <= 500).then(|| {
            let mut mass = vec![0.0; n * n];
            self.matrices.mass.triplets().for_each(|(i, j, x)| mass[i * n + j] = x);
            check::bad_pivot(n, &mass)
        });
        check::not_positive(&self.mass, pivot.flatten(), context);
        None
    }
}
