//! The event table: one row per event that the scheme has located or the user watches for. There is no file before the
//! first event.

use super::column::Candidate;
use super::table::{Cell, CellType, Column, Table};
use super::{RecordOptions, ResultError, Written};
use carom::simulation::{Accumulations, Column as Quantity, RunEvent, StepView};
use carom_solve::{Archive, ArchiveError, Persist};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Writes `events.parquet` and `events.csv`.
pub(super) struct Events {
    directory: PathBuf,
    options: RecordOptions,
    table: Option<Table>,
    /// Positions and velocities that are kept.
    states: Vec<Candidate>,
    /// Number of events by kind.
    pub counts: BTreeMap<String, u64>,
    pub accumulations: Accumulations,
}

impl Persist for Events {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let mut is_open = self.table.is_some();
        is_open.persist(archive)?;
        if is_open && self.table.is_none() {
            let missing = archive.mismatch("events that were written before are missing");
            self.table = Some(self.open().map_err(|_| missing)?);
        }
        if let Some(table) = &mut self.table {
            table.persist(archive)?;
        }
        // a table that begins later is a new one
        self.options.resumes = false;
        (&mut self.counts, &mut self.accumulations).persist(archive)
    }
}

impl Events {
    /// Prepares for events. `columns` are those of the trajectory.
    pub fn new(directory: &Path, columns: &[Candidate], options: &RecordOptions) -> Events {
        let kept = columns.iter().filter(|c| matches!(c.column, Quantity::Position(_) | Quantity::Velocity(_)));
        Events {
            directory: directory.to_path_buf(),
            options: options.clone(),
            table: None,
            states: kept.cloned().collect(),
            counts: BTreeMap::new(),
            accumulations: Accumulations::default(),
        }
    }

    /// Records the events of a step.
    pub fn take(&mut self, view: &mut StepView<'_>) -> Result<(), ResultError> {
        view.events().iter().try_for_each(|event| self.push(event))
    }

    fn push(&mut self, event: &RunEvent) -> Result<(), ResultError> {
        match self.counts.get_mut(event.kind) {
            Some(count) => *count += 1,
            None => _ = self.counts.insert(event.kind.into(), 1),
        }
        self.accumulations.take(event);
        if self.table.is_none() {
            self.table = Some(self.open()?);
        }
        let Some(table) = &mut self.table else { return Ok(()) };
        let contact = event.contact.as_deref().unwrap_or_default();
        let mut cells = vec![Cell::Real(event.t), Cell::Text(&event.name), Cell::Text(event.kind), Cell::Text(contact)];
        for state in [&event.before, &event.after] {
            cells.extend(self.states.iter().map(|candidate| {
                let value = match candidate.column {
                    Quantity::Position(i) => state.q.get(i),
                    Quantity::Velocity(i) => state.v.get(i),
                    _ => None,
                };
                value.map_or(Cell::Missing, |x| Cell::Real(*x))
            }));
        }
        table.push(&cells)
    }

    /// `t, name, kind, contact`, then `before.q.NAME`, `before.v.NAME`, `after.q.NAME`, `after.v.NAME`.
    fn open(&self) -> Result<Table, ResultError> {
        Table::create(&self.directory, "events", self.columns(), &self.options)
    }

    /// Waits until what a checkpoint counts with is on the disk.
    pub fn sync(&mut self) -> Result<(), ResultError> {
        self.table.as_mut().map_or(Ok(()), Table::sync)
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![Column::of_list("t", Some("s"), CellType::Real)];
        columns.extend(["name", "kind", "contact"].map(|name| Column::of_list(name, None, CellType::Text)));
        for side in ["before", "after"] {
            columns.extend(self.states.iter().map(|candidate| {
                Column::of_list(format!("{side}.{}", candidate.name), candidate.unit.as_deref(), CellType::Real)
            }));
        }
        columns
    }

    /// Brings all rows to the disk.
    pub fn save(&mut self) -> Result<(), ResultError> {
        self.table.as_mut().map_or(Ok(()), Table::save)
    }

    /// Closes the files, if there are any.
    pub fn finish(self, partial: Option<&str>) -> Written {
        self.table.map_or_else(Written::default, |table| table.finish(partial))
    }
}
