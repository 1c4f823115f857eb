//! First-order models: from the tables of a file to plans that can be built as often as wanted.
//!
//! Expressions may use `t`, the states and the parameters; those of `[output.columns]` also the multipliers `lambda_ROW` and, in
//! circuits, potentials `v_NODE`, voltages `v_ELEMENT` and currents `i_ELEMENT`.

mod circuit;
mod lcs;
mod plan;
mod row;
mod state;
mod sweeping;

pub(super) use plan::{Gate, LcsPlan, PiecePlan, SweepingPlan};

use carom_solve::Law;

use super::blueprint::Blueprint;
use super::context::Context;
use super::coordinates;
use crate::expression::NodeId;
use crate::file::{ModelFile, ModelTable, Text};

/// What is read before expressions of states can be.
pub(super) struct Names {
    rows: Vec<(String, Law)>,
    kind: Kind,
}

enum Kind {
    Sweeping,
    Lcs(Box<carom::model::Matrices>),
    State,
    Circuit(Box<circuit::Draft>),
}

/// A first-order model whose expressions have been read.
pub(super) struct Draft {
    pub rows: Vec<(String, Law)>,
    pub blueprint: Blueprint,
    /// Columns that every run of the model has, with their names.
    pub derived: Vec<(String, NodeId)>,
}

/// Reads what names states and rows, and declares them. `None` also for mechanical models.
pub(super) fn names(file: &ModelFile, values: &[(Text, f64)], context: &mut Context) -> Option<Names> {
    let before = context.out.errors();
    let (states, rows, kind) = match &file.model {
        ModelTable::Sweeping(table) => {
            row::none(file, "a sweeping process has its laws from [[set]]", context);
            let states = coordinates::listed(&table.states, &table.place, context)?;
            (states, sweeping::rows(file, &table.place, context)?, Kind::Sweeping)
        }
        ModelTable::Lcs(table) => {
            let (states, rows, matrices) = lcs::read(table, file, context)?;
            (states, rows, Kind::Lcs(Box::new(matrices)))
        }
        ModelTable::FirstOrder(table) => {
            let states = coordinates::listed(&table.states, &table.place, context)?;
            (states, row::read(file, context)?, Kind::State)
        }
        ModelTable::Circuit(table) => {
            row::none(file, "a circuit has its laws from its elements", context);
            let draft = circuit::read(table, context)?;
            (draft.states(), draft.rows(), Kind::Circuit(Box::new(draft)))
        }
        ModelTable::Lagrangian(_) | ModelTable::Linear(_) => return None,
    };
    refuse(file, context);
    if context.out.errors() > before {
        return None;
    }
    if states.len() > coordinates::DENSE_LIMIT || rows.len() > ROW_LIMIT {
        let message = format!(
            "{} states and {} rows are too many: the matrices are dense, the limits are {} and {ROW_LIMIT}",
            states.len(),
            rows.len(),
            coordinates::DENSE_LIMIT
        );
        context.out.error(file.model.place(), message);
        return None;
    }
    let multipliers = rows.iter().map(|(name, _)| format!("lambda_{}", name.replace(['-', '.'], "_"))).collect();
    coordinates::declare_states(states, multipliers, values, context);
    Some(Names { rows, kind })
}

/// Most rows of a first-order model.
const ROW_LIMIT: usize = 256;

/// Tables that only mechanical models have, and sets of other kinds.
fn refuse(file: &ModelFile, context: &mut Context) {
    let contacts = file.contact.iter().flatten().map(|table| &table.place);
    let constraints = file.constraint.iter().flatten().map(|table| &table.place);
    if let Some(place) = contacts.chain(constraints).next() {
        context
            .out
            .error(place, "contacts and constraints belong to mechanical models")
            .hint("the laws of a first-order model are [[row]]s, those of a sweeping process [[set]]s");
    }
    if !matches!(file.model, ModelTable::Sweeping(_))
        && let Some(set) = file.set.iter().flatten().next()
    {
        context.out.error(&set.place, "only a model of kind \"sweeping\" has a moving set");
    }
}

/// Reads the expressions.
pub(super) fn draft(file: &ModelFile, names: Names, context: &mut Context) -> Option<Draft> {
    let Names { rows, kind } = names;
    let (blueprint, derived) = match (&file.model, kind) {
        (ModelTable::Sweeping(table), Kind::Sweeping) => (sweeping::plan(table, file, context)?, Vec::new()),
        (ModelTable::Lcs(table), Kind::Lcs(matrices)) => (lcs::plan(table, *matrices, &rows, context)?, Vec::new()),
        (ModelTable::FirstOrder(table), Kind::State) => (state::plan(table, file, &rows, context)?, Vec::new()),
        (ModelTable::Circuit(_), Kind::Circuit(draft)) => draft.plan(context)?,
        _ => return None,
    };
    Some(Draft { rows, blueprint, derived })
}
