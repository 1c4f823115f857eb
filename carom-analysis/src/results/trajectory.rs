//! The trajectory table: what its rows are, and the numbers in them.
//!
//! | `row` | what |
//! |---|---|
//! | `start` | the initial state |
//! | `step` | the end of a step, every n-th where that is asked for, and the last |
//! | `output` | a state inside a step, from the interpolant of the scheme |
//! | `before` | just before an impact or an event; the next row has the same time and is just after it |
//! | `after` | just after it, where that is no row `step` |
//!
//! Impulses, multipliers of projections and measures are sums over the steps that have ended since the row before, so
//! that no row loses any. In first-order models the outputs of rows, and multipliers, are those of the step that the
//! row lies in, as are forces that a scheme knows as means. Contacts are those of the labels; contacts that a model
//! finds on its way are in the impact table alone.

use super::column::{Candidate, Outputs, catalogue, select};
use super::curve::{Curves, History};
use super::rows::Rows;
use super::table::{Cell, CellType, Column, Table};
use super::values::Values;
use super::{ColumnInfo, Columns, RecordOptions, ResultError, Written};
use carom::model::Energy;
use carom::scheme::{Motion, Stepper};
use carom::simulation::{Column as Quantity, ColumnKind, Observer, StepView};
use carom::{ModelError, State};
use carom_solve::{Archive, ArchiveError, Persist};
use std::ops::ControlFlow;
use std::path::Path;

/// What a row of the trajectory is; see the head of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// The initial state.
    Start,
    /// The end of a step.
    Step,
    /// Inside a step.
    Output,
    /// Just before an impact or an event.
    Before,
    /// Just after it.
    After,
}

impl RowKind {
    /// The word in the column `row`.
    pub fn word(self) -> &'static str {
        match self {
            RowKind::Start => "start",
            RowKind::Step => "step",
            RowKind::Output => "output",
            RowKind::Before => "before",
            RowKind::After => "after",
        }
    }
}

/// Place of the column `row`, after the time.
const ROW: usize = 1;

/// Writes `trajectory.parquet` and `trajectory.csv`. Breaks the run when it cannot go on; [`Trajectory::finish`] tells
/// why.
pub struct Trajectory {
    table: Table,
    /// Where the cells after time and `row` come from.
    sources: Vec<Quantity>,
    every: u64,
    pub(super) values: Values,
    outputs: Option<Outputs>,
    output: Vec<f64>,
    /// The latest state, where outputs need it.
    state: State,
    /// The latest row; its outputs are evaluated when it is written.
    row: Vec<Cell<'static>>,
    next: Vec<Cell<'static>>,
    written: bool,
    started: bool,
    rows: Rows,
    curves: Option<Curves>,
    /// Columns that have a curve.
    curve_columns: Vec<usize>,
    error: Option<ResultError>,
}

impl Persist for Trajectory {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Trajectory { table, values, state, row, written, started, rows, curves, .. } = self;
        (table, values, state, row).persist(archive)?;
        (written, started, rows).persist(archive)?;
        curves.as_mut().map_or(Ok(()), |curves| curves.persist(archive))
    }
}

impl Trajectory {
    /// Opens the files. The columns come from the labels and the state of `stepper`.
    pub fn create(
        directory: impl AsRef<Path>,
        stepper: &mut dyn Stepper,
        options: &RecordOptions,
        outputs: Option<Outputs>,
    ) -> Result<Trajectory, ResultError> {
        let list = select(catalogue(stepper, outputs.as_ref(), &options.units), &options.columns)?;
        let table = Table::create(directory.as_ref(), "trajectory", columns(&list), options)?;
        // a report cannot show thousands of columns, even if the file has them
        let drawn = |candidate: &Candidate| {
            candidate.column != Quantity::Time && (candidate.auto || matches!(options.columns, Columns::Only(_)))
        };
        let drawn: Vec<usize> = (0..list.len()).filter(|i| drawn(&list[*i])).collect();
        let curve_names = drawn.iter().map(|i| list[*i].name.clone()).collect();
        let curves = (options.report_values > 0).then(|| Curves::new(curve_names, options.report_values));
        Ok(Trajectory {
            table,
            sources: list.iter().skip(1).map(|candidate| candidate.column).collect(),
            every: options.every.max(1),
            values: Values::new(stepper),
            output: vec![0.0; outputs.as_ref().map_or(0, |outputs| outputs.names.len())],
            outputs,
            state: State::default(),
            row: Vec::with_capacity(list.len() + 1),
            next: Vec::with_capacity(list.len() + 1),
            written: true,
            started: false,
            rows: Rows::new(options, stepper, &list),
            curves,
            // behind the time stands `row`
            curve_columns: drawn.into_iter().map(|i| i + 1).collect(),
            error: None,
        })
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.table.rows()
    }

    /// Rows that wait in memory, at most one row group.
    pub fn waiting(&self) -> usize {
        self.table.waiting()
    }

    /// The columns of the file, with their units and how they are read.
    pub fn columns(&self) -> Vec<ColumnInfo> {
        self.table.infos()
    }

    /// Why recording stopped.
    pub fn error(&self) -> Option<&ResultError> {
        self.error.as_ref()
    }

    /// Waits until what a checkpoint counts with is on the disk.
    pub(super) fn sync(&mut self) -> Result<(), ResultError> {
        self.table.sync()
    }

    pub(super) fn saves(&self) -> u64 {
        self.table.saves
    }

    /// Records the first state.
    pub(super) fn begin(&mut self, stepper: &mut dyn Stepper, energy: Option<Energy>) -> Result<(), ResultError> {
        if self.started {
            return Ok(());
        }
        self.started = true;
        self.values.gaps.see(stepper.coupling()?);
        self.make_row(stepper.from(), energy, RowKind::Start)?;
        self.write()
    }

    /// Records a step: what is inside it, then its end.
    pub(super) fn take(&mut self, view: &mut StepView<'_>, energy: Option<Energy>) -> Result<(), ResultError> {
        self.values.hold(view.reactions(), view.to().t - view.from().t);
        let jumps = if self.rows.sees_nothing(view) { false } else { self.take_inside(view)? };
        self.values.gaps.see(view.stepper.coupling()?);
        self.values.add(view.reactions());
        let is_last = view.to().t >= view.end || view.stopped.is_some();
        let due = view.index.is_multiple_of(self.every) || is_last;
        self.make_row(view.to(), energy, if due || !jumps { RowKind::Step } else { RowKind::After })?;
        if due || jumps { self.write() } else { Ok(()) }
    }

    /// Records what is inside a step; whether its end is just after an impact or an event.
    #[cold]
    fn take_inside(&mut self, view: &mut StepView<'_>) -> Result<bool, ResultError> {
        let mut rows = std::mem::take(&mut self.rows);
        let jumps = rows.inside(self, view);
        self.rows = rows;
        jumps
    }

    /// Keeps an error and breaks.
    fn flow(&mut self, taken: Result<(), ResultError>) -> ControlFlow<()> {
        if let Err(error) = taken {
            self.error.get_or_insert(error);
        }
        if self.error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Makes the row of a state; the row before stays where a number is not finite.
    fn make_row(&mut self, state: &State, energy: Option<Energy>, kind: RowKind) -> Result<(), ResultError> {
        self.next.clear();
        self.next.extend([Cell::Real(state.t), Cell::Text(kind.word())]);
        let values = &self.values;
        self.next.extend(self.sources.iter().map(|source| values.cell(*source, state, energy, kind)));
        self.table.check(&self.next)?;
        std::mem::swap(&mut self.row, &mut self.next);
        if self.outputs.is_some() {
            self.state.copy_from(state);
        }
        self.written = false;
        Ok(())
    }

    /// The cells of a state inside the step, with its outputs.
    pub(super) fn inside(
        &mut self,
        stepper: &mut dyn Stepper,
        state: &State,
        kind: RowKind,
        cells: &mut Vec<Cell<'static>>,
    ) -> Result<(), ResultError> {
        self.values.gaps.look(stepper.coupling_of(state)?);
        let energy = stepper.energy_of(state);
        cells.clear();
        cells.extend([Cell::Real(state.t), Cell::Text(kind.word())]);
        cells.extend(self.sources.iter().map(|source| self.values.cell(*source, state, energy, kind)));
        evaluate(&mut self.outputs, &self.values.lambda, (&self.sources, &mut self.output), state, cells)
    }

    /// Writes a row inside the step. What the steps before have summed up goes with it.
    pub(super) fn write_inside(&mut self, cells: &[Cell<'static>]) -> Result<(), ResultError> {
        self.row.clear();
        self.row.extend_from_slice(cells);
        for (cell, source) in self.row[ROW + 1..].iter_mut().zip(&self.sources) {
            if source.kind(Motion::Steps) == ColumnKind::Sum {
                *cell = self.values.cell(*source, &self.state, None, RowKind::Output);
            }
        }
        self.push()
    }

    /// Writes the latest row.
    fn write(&mut self) -> Result<(), ResultError> {
        evaluate(
            &mut self.outputs,
            &self.values.lambda,
            (&self.sources, &mut self.output),
            &self.state,
            &mut self.row,
        )?;
        self.push()
    }

    fn push(&mut self) -> Result<(), ResultError> {
        self.written = true;
        self.table.push(&self.row)?;
        self.values.clear_sums();
        if let (Some(curves), Some(Cell::Real(t))) = (&mut self.curves, self.row.first()) {
            let value = |i: &usize| if let Cell::Real(x) = self.row[*i] { x } else { f64::NAN };
            curves.push(*t, self.curve_columns.iter().map(value));
        }
        Ok(())
    }

    /// The latest row.
    pub(super) fn latest(&self) -> &[Cell<'static>] {
        &self.row
    }

    /// Writes the last row, closes the files and hands out the history. All rows before an error are kept; `partial`
    /// says why there are no more.
    pub fn finish(mut self, partial: Option<&str>) -> (Written, History) {
        let last = if self.written { Ok(()) } else { self.write() };
        let mut written = self.table.finish(partial);
        // the first error is the cause
        written.error = self.error.or(last.err()).or(written.error);
        (written, self.curves.map(Curves::finish).unwrap_or_default())
    }
}

/// The columns of the file: time, `row`, and the others.
fn columns(list: &[Candidate]) -> Vec<Column> {
    let column = |candidate: &Candidate| Column {
        info: candidate.info(),
        kind: match candidate.column {
            Quantity::Gap(_) | Quantity::Force { .. } | Quantity::After(_) | Quantity::Multiplier(_) => {
                CellType::Optional
            }
            Quantity::FrictionLoss | Quantity::Loss(_) => CellType::Optional,
            Quantity::Output(_) if candidate.kind == ColumnKind::Held => CellType::Optional,
            _ => CellType::Real,
        },
    };
    let mut columns: Vec<Column> = list.iter().map(column).collect();
    let info = ColumnInfo { name: "row".into(), unit: None, kind: ColumnKind::Word };
    columns.insert(ROW.min(columns.len()), Column { info, kind: CellType::Text });
    columns
}

/// Evaluates the outputs of a row. Before the first step those of multipliers have no value.
fn evaluate(
    outputs: &mut Option<Outputs>,
    lambda: &[f64],
    (sources, values): (&[Quantity], &mut Vec<f64>),
    State { t, q, v }: &State,
    row: &mut [Cell<'static>],
) -> Result<(), ResultError> {
    let Some(outputs) = outputs else { return Ok(()) };
    let v = if lambda.is_empty() { v } else { lambda };
    (outputs.evaluate)(*t, q, v, values).map_err(|source| ResultError::Output { t: *t, source })?;
    let is_known = lambda.iter().all(|x| !x.is_nan());
    for (cell, source) in row[ROW + 1..].iter_mut().zip(sources) {
        if let Quantity::Output(i) = source {
            let lacks = !is_known && outputs.of_steps.get(*i) == Some(&true);
            *cell = if lacks { Cell::Missing } else { Cell::Real(values[*i]) };
        }
    }
    Ok(())
}

impl Observer for Trajectory {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        let energy = stepper.energies().map(|(from, _)| from);
        let begun = self.begin(stepper, energy);
        _ = self.flow(begun);
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        if self.error.is_some() {
            return Ok(ControlFlow::Break(()));
        }
        let energy = view.stepper.energies().map(|(_, to)| to);
        let taken = self.take(view, energy);
        Ok(self.flow(taken))
    }
}
