//! The impact table: one row each time a contact closes.

use super::table::{Cell, Column, Kind, Table};
use super::{RecordOptions, ResultError, Written};
use carom::ModelError;
use carom::simulation::{Impact, Observer, StepView};
use std::ops::ControlFlow;
use std::path::Path;

/// Columns after `t` and `contact`: velocities in m/s, impulses in N s; the tangents are null where the law has none.
const COLUMNS: [(&str, Kind); 9] = [
    ("normal.before", Kind::Real),
    ("normal.after", Kind::Real),
    ("normal.impulse", Kind::Real),
    ("tangent1.before", Kind::Optional),
    ("tangent1.after", Kind::Optional),
    ("tangent1.impulse", Kind::Optional),
    ("tangent2.before", Kind::Optional),
    ("tangent2.after", Kind::Optional),
    ("tangent2.impulse", Kind::Optional),
];

/// Writes `impacts.parquet` and `impacts.csv`. Breaks the run when it cannot go on; [`Impacts::finish`] tells why.
pub struct Impacts {
    table: Table,
    count: u64,
    error: Option<ResultError>,
}

impl Impacts {
    /// Opens the files in `directory`, which is made where needed; those of an earlier run are removed.
    pub fn create(directory: impl AsRef<Path>, options: &RecordOptions) -> Result<Impacts, ResultError> {
        let first = [("t", Kind::Real), ("contact", Kind::Text)];
        let columns = first.iter().chain(&COLUMNS).map(|(name, kind)| Column { name: (*name).into(), kind: *kind });
        let table = Table::create(directory.as_ref(), "impacts", columns.collect(), options)?;
        Ok(Impacts { table, count: 0, error: None })
    }

    /// Impacts so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Records the impacts of a step; tells whether there were any.
    pub(super) fn take(&mut self, view: &StepView<'_>) -> Result<bool, ResultError> {
        let before = self.count;
        for acting in view.impacts() {
            self.count += 1;
            self.push(&view.impact(acting))?;
        }
        Ok(self.count > before)
    }

    fn push(&mut self, impact: &Impact) -> Result<(), ResultError> {
        let mut cells = [Cell::Missing; 2 + COLUMNS.len()];
        cells[0] = Cell::Real(impact.t);
        cells[1] = Cell::Text(&impact.contact);
        for (quantity, values) in [&impact.before, &impact.after, &impact.impulse].into_iter().enumerate() {
            for (row, value) in values.iter().take(3).enumerate() {
                cells[2 + 3 * row + quantity] = Cell::Real(*value);
            }
        }
        self.table.push(&cells)
    }

    /// Brings all rows to the disk.
    pub(super) fn save(&mut self) -> Result<(), ResultError> {
        self.table.save()
    }

    /// Closes the files. All rows before an error are kept.
    pub fn finish(self) -> Written {
        let mut written = self.table.finish();
        written.error = self.error.or(written.error);
        written
    }
}

impl Observer for Impacts {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        if self.error.is_none() {
            self.error = self.take(view).err();
        }
        Ok(if self.error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
