//! Linear models: matrices from rows or from a chain of elements, affine gaps.

use carom::model::{AffineRow, LinearContact, SparseMatrix};

use super::blueprint::{LinearPlan, Matrices, TimeForces};
use super::context::Context;
use super::coordinates::{Target, listed, numbered};
use super::law::LawDraft;
use crate::diagnostic::Place;
use crate::equations::Slip;
use crate::expression::{NodeId, Tape};
use crate::file::{ChainTable, LinearTable, Matrix};

/// Most elements of a chain.
const ELEMENT_LIMIT: usize = 500_000;
/// Most rows of a matrix that is written out.
const ROW_LIMIT: usize = 2_000;

/// Entries of the three matrices before the names are declared.
pub(super) struct LinearDraft {
    pub matrices: Matrices,
    pub names: Vec<String>,
    /// Name that stands for all coordinates in tables by coordinate.
    pub base: Option<String>,
}

/// Reads matrices and names.
pub(super) fn read(table: &LinearTable, context: &mut Context) -> Option<LinearDraft> {
    match (&table.mass, &table.chain) {
        (Some(mass), None) => full(table, mass, context),
        (None, Some(chain)) => {
            for matrix in [&table.damping, &table.stiffness].into_iter().flatten() {
                let message = "matrices are given twice: the chain has its own";
                context.out.error(&matrix.place, message).hint("move it into `chain`");
            }
            if let Some(first) = table.coordinates.as_ref().and_then(|names| names.first()) {
                let hint = "choose the base of the names with chain.base";
                context.out.error(&first.place, "the coordinates of a chain are numbered").hint(hint);
            }
            self::chain(chain, context)
        }
        (Some(mass), Some(_)) => {
            context.out.error(&mass.place, "give either `mass` or `chain`, not both");
            None
        }
        (None, None) => {
            context.out.error(&table.place, "a linear model needs `mass` or `chain`");
            None
        }
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

fn assemble(n: usize, entries: &[(usize, usize, f64)], place: &Place, context: &mut Context) -> Option<SparseMatrix> {
    let matrix = SparseMatrix::from_triplets(n, entries).filter(SparseMatrix::is_finite);
    if matrix.is_none() {
        context.out.error(place, "the matrix is not finite");
    }
    matrix
}

fn check_symmetry(mass: &SparseMatrix, place: &Place, context: &mut Context) -> Option<()> {
    if mass.is_symmetric() {
        return Some(());
    }
    context.out.error(place, "the mass matrix is not symmetric");
    None
}

/// A model whose matrices are written out.
fn full(table: &LinearTable, mass: &Matrix, context: &mut Context) -> Option<LinearDraft> {
    let n = mass.rows.len();
    if n == 0 || n > ROW_LIMIT {
        let message =
            if n == 0 { "the model has no coordinates".into() } else { format!("{n} rows; the limit is {ROW_LIMIT}") };
        context.out.error(&mass.place, message);
        return None;
    }
    let names = match &table.coordinates {
        Some(names) if names.len() != n => {
            let message = format!("{} coordinates are named, but the mass matrix has {n} rows", names.len());
            let place = names.first().map_or(&table.place, |name| &name.place).clone();
            context.out.error(&place, message);
            None
        }
        Some(names) => listed(names, &table.place, context),
        None => numbered("q", n, &mass.place, context),
    };
    let mut matrix = |matrix: Option<&Matrix>| match matrix {
        Some(matrix) => {
            let entries = values(matrix, n, context)?;
            assemble(n, &entries, &matrix.place, context)
        }
        None => SparseMatrix::from_triplets(n, &[]),
    };
    let (m, c, k) = (matrix(Some(mass)), matrix(table.damping.as_ref()), matrix(table.stiffness.as_ref()));
    let matrices = Matrices { mass: m?, damping: c?, stiffness: k? };
    check_symmetry(&matrices.mass, &mass.place, context)?;
    let base = table.coordinates.is_none().then(|| "q".to_string());
    Some(LinearDraft { matrices, names: names?, base })
}

/// A chain of equal elements: element i joins the nodes i and i + 1.
fn chain(table: &ChainTable, context: &mut Context) -> Option<LinearDraft> {
    let elements = context.number(&table.elements);
    let mut element = |matrix: Option<&Matrix>| match matrix {
        Some(matrix) => values(matrix, 2, context),
        None => Some(Vec::new()),
    };
    let parts = [element(Some(&table.mass)), element(table.damping.as_ref()), element(table.stiffness.as_ref())];
    let elements = elements?;
    if !(elements.fract() == 0.0 && (1.0..=ELEMENT_LIMIT as f64).contains(&elements)) {
        let message = format!("{elements} elements: a whole number from 1 to {ELEMENT_LIMIT} is needed");
        context.out.error(&table.elements.place, message);
        return None;
    }
    // the range was checked
    let nodes = elements as usize + 1;
    let base = table.base.as_ref().map_or("q", |base| base.value.as_str());
    let place = table.base.as_ref().map_or(&table.place, |base| &base.place);
    if !crate::expression::is_identifier(base) {
        context.out.error(place, format!("`{base}` is not a name: letters, digits and `_`, not starting with a digit"));
        return None;
    }
    let names = numbered(base, nodes, place, context);
    let places = [Some(&table.mass), table.damping.as_ref(), table.stiffness.as_ref()];
    let [mass, damping, stiffness] = [0, 1, 2].map(|which| {
        let element = parts[which].as_ref()?;
        let place = places[which].map_or(&table.place, |matrix| &matrix.place);
        let all: Vec<_> =
            (0..nodes - 1).flat_map(|i| element.iter().map(move |&(r, c, x)| (i + r, i + c, x))).collect();
        assemble(nodes, &all, place, context)
    });
    let matrices = Matrices { mass: mass?, damping: damping?, stiffness: stiffness? };
    check_symmetry(&matrices.mass, &table.mass.place, context)?;
    Some(LinearDraft { matrices, names: names?, base: Some(base.to_string()) })
}

/// The plan of the model: affine laws and forces of time.
pub(super) fn plan(
    table: &LinearTable,
    matrices: Matrices,
    laws: &[LawDraft],
    context: &mut Context,
) -> Option<LinearPlan> {
    let before = context.out.errors();
    let mut contacts = Vec::new();
    for draft in laws {
        if draft.slip == Slip::Velocity {
            let place = draft.outputs.get(1).map_or(&table.place, |(_, place)| place).clone();
            context
                .out
                .error(&place, "a linear model takes the tangential displacement: `slip` instead of `sliding`")
                .hint("use kind = \"lagrangian\" where no displacement exists");
            continue;
        }
        if let Some((_, place)) = &draft.region {
            context
                .out
                .error(&place.clone(), "a linear model has no regions: its contacts count everywhere")
                .hint("use kind = \"lagrangian\" for a contact with `where`");
            continue;
        }
        let rows: Option<Vec<_>> = draft.outputs.iter().map(|(node, place)| affine(*node, place, context)).collect();
        let Some(rows) = rows else { continue };
        contacts.push(LinearContact { name: draft.name.clone(), law: draft.law, restitution: draft.restitution, rows });
    }
    let mut forces: Vec<(usize, NodeId)> = Vec::new();
    for (key, formula) in table.force.iter().flat_map(|force| &force.items) {
        let (Some(Target::Position(i)), Some(node)) = (context.target(key, None, false), context.node(formula)) else {
            continue;
        };
        if let Some(&slot) = context.graph.slots(node).iter().find(|&&slot| slot != 0) {
            let message =
                format!("the force depends on {}; in a linear model it may depend on t only", context.slot_name(slot));
            context.out.error(&formula.place, message).hint("use damping and stiffness, or kind = \"lagrangian\"");
        }
        forces.push((i, node));
    }
    if context.out.errors() > before {
        return None;
    }
    let (indices, nodes): (Vec<usize>, Vec<NodeId>) = forces.into_iter().unzip();
    let forces =
        (!nodes.is_empty()).then(|| TimeForces { tape: Tape::compile(&context.graph, &nodes), coordinates: indices });
    Some(LinearPlan { matrices, coordinates: context.coordinates.clone(), contacts, forces })
}

/// Reads an affine output from its derivatives, which must be constants.
fn affine(node: NodeId, place: &Place, context: &mut Context) -> Option<AffineRow> {
    let slots = context.graph.slots(node);
    let (mut row, mut rate) = (Vec::new(), 0.0);
    for &slot in &slots {
        let derivative = context.graph.derivative(node, slot);
        match context.graph.is_constant(derivative) {
            Some(value) if value.is_finite() && slot == 0 => rate = value,
            Some(value) if value.is_finite() => row.push((slot - 1, value)),
            _ => {
                let message = format!("the expression is not affine in {}", context.slot_name(slot));
                let hint = "a linear model needs a constant slope; use kind = \"lagrangian\" for this";
                context.out.error(place, message).hint(hint);
                return None;
            }
        }
    }
    let zeros: Vec<(usize, f64)> = slots.iter().map(|&slot| (slot, 0.0)).collect();
    let at_zero = context.graph.bind(node, &zeros);
    match context.graph.is_constant(at_zero) {
        Some(constant) if constant.is_finite() => Some(AffineRow { entries: row, constant, rate }),
        _ => {
            context.out.error(place, "the expression is not finite where all coordinates are zero");
            None
        }
    }
}
