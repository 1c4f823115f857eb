//! Linear complementarity systems: matrices of numbers, sources of time.

use carom::model::Matrices;
use carom_solve::Law;

use super::{LcsPlan, row};
use crate::expression::{NodeId, Tape};
use crate::file::{LcsTable, Matrix, ModelFile, OneOrMore};
use crate::scene::blueprint::Blueprint;
use crate::scene::context::Context;
use crate::scene::coordinates::{listed, numbered};

type Read = (Vec<String>, Vec<(String, Law)>, Matrices);

/// Reads matrices, names of states and rows.
pub(super) fn read(table: &LcsTable, file: &ModelFile, context: &mut Context) -> Option<Read> {
    let n = table.A.rows.len();
    let states = match &table.states {
        Some(names) if names.len() != n => {
            let place = names.first().map_or(&table.place, |name| &name.place).clone();
            context.out.error(&place, format!("{} states are named, but A has {n} rows", names.len()));
            None
        }
        Some(names) => listed(names, &table.place, context),
        None => numbered("x", n, &table.A.place, context),
    };
    let m = table.C.as_ref().map_or(0, |c| c.rows.len());
    let given = row::read(file, context);
    let rows = match given {
        Some(rows) if rows.is_empty() => Some((0..m).map(|k| (format!("y{k}"), Law::UNILATERAL)).collect()),
        Some(rows) if rows.len() == m => Some(rows),
        Some(rows) => {
            let place = file.row.iter().flatten().next().map_or(&table.place, |row| &row.place).clone();
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
    let mut full = |name: &str, matrix: Option<&Matrix>, (rows, columns): (usize, usize)| match matrix {
        Some(matrix) => dense(name, matrix, (rows, columns), context),
        None => Some(vec![0.0; rows * columns]),
    };
    let a = full("A", Some(&table.A), (n, n));
    let (b, c) = (full("B", table.B.as_ref(), (n, m)), full("C", table.C.as_ref(), (m, n)));
    let d = full("D", table.D.as_ref(), (m, m));
    let e = match &table.E {
        Some(matrix) => full("E", Some(matrix), (n, n)).map(Some),
        None => Some(None),
    };
    Some((states?, rows?, Matrices { e: e?, a: a?, b: b?, c: c?, d: d? }))
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

/// The plan, once sources can be read.
pub(super) fn plan(
    table: &LcsTable,
    matrices: Matrices,
    rows: &[(String, Law)],
    context: &mut Context,
) -> Option<Blueprint> {
    let state_source = source("a", table.a.as_ref(), context.coordinates.len(), context);
    let output_source = source("c", table.c.as_ref(), rows.len(), context);
    Some(Blueprint::Lcs(Box::new(LcsPlan {
        states: context.coordinates.clone(),
        rows: rows.to_vec(),
        matrices,
        state_source: state_source?,
        output_source: output_source?,
        gates: Vec::new(),
    })))
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
