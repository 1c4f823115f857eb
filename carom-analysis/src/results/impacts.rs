//! The impact table: one row each time a contact closes, with what is lost at it. A contact that opens at the start of
//! the step and is pressed shut in it, by forces or by the impacts of others, has a note: its normal velocity is
//! positive before and negative after.

use super::table::{Cell, CellType, Column, Table};
use super::{RecordOptions, ResultError, Written};
use carom::simulation::{Impact, Observer, StepView};
use carom::{Labels, Law, ModelError};
use carom_solve::{Archive, ArchiveError, Persist};
use std::ops::ControlFlow;
use std::path::Path;

/// Columns after `t` and `contact`, by what rows of laws are called: velocities in m/s or rad/s, impulses in N s or N m
/// s. Null where the law has no such row; moments have columns where a contact of the run has them.
const ROWS: [(&str, &str); 6] = [
    ("normal", "normal"),
    ("t1", "tangent1"),
    ("t2", "tangent2"),
    ("r1", "rolling1"),
    ("r2", "rolling2"),
    ("spin", "spin"),
];

/// Rows that every table has.
const ALWAYS: usize = 3;

/// Columns behind them: energy lost, and what is unusual.
const LAST: usize = 2;

/// The note at an impact of a contact that opens.
pub const PRESSED: &str = "pressed shut while opening";

/// The note at an impact whose order among others is no fact of the model.
pub const ORDER: &str = "order of equal approaches decides";

/// What is unusual at an impact.
fn note(impact: &Impact) -> &'static str {
    match (impact.pressed, impact.order_decides) {
        (true, _) => PRESSED,
        (_, true) => ORDER,
        _ => "",
    }
}

/// What is told of a row.
const QUANTITIES: [&str; 3] = ["before", "after", "impulse"];

/// Writes `impacts.parquet` and `impacts.csv`. Breaks the run when it cannot go on; [`Impacts::finish`] tells why.
pub struct Impacts {
    table: Table,
    roles: Vec<&'static str>, // of the rows that have columns
    count: u64,
    error: Option<ResultError>,
}

impl Persist for Impacts {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        (&mut self.table, &mut self.count).persist(archive)
    }
}

impl Impacts {
    /// Opens the files in `directory`, which is made where needed.
    pub fn create(
        directory: impl AsRef<Path>,
        labels: &Labels,
        options: &RecordOptions,
    ) -> Result<Impacts, ResultError> {
        let has = |role: &str| labels.contacts.iter().any(|(_, law)| (0..law.size()).any(|row| law.role(row) == role));
        // contacts that come and go may be of any law
        let any = !labels.shapes.is_empty();
        let rows = ROWS.iter().enumerate().filter(|(k, (role, _))| *k < ALWAYS || any || has(role));
        let rows = rows.map(|(_, row)| row);
        let mut columns =
            vec![Column::of_list("t", Some("s"), CellType::Real), Column::of_list("contact", None, CellType::Text)];
        for (role, name) in rows.clone() {
            let kind = if *role == ROWS[0].0 { CellType::Real } else { CellType::Optional };
            columns.extend(QUANTITIES.map(|quantity| Column::of_list(format!("{name}.{quantity}"), None, kind)));
        }
        columns.push(Column::of_list("loss", Some("J"), CellType::Optional));
        columns.push(Column::of_list("note", None, CellType::Text));
        let table = Table::create(directory.as_ref(), "impacts", columns, options)?;
        Ok(Impacts { table, roles: rows.map(|(role, _)| *role).collect(), count: 0, error: None })
    }

    /// Impacts so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Records the impacts of a step.
    pub(super) fn take(&mut self, view: &StepView<'_>) -> Result<(), ResultError> {
        for (impact, law) in view.listed_impacts() {
            self.count += 1;
            self.push(&impact, &law)?;
        }
        Ok(())
    }

    fn push(&mut self, impact: &Impact, law: &Law) -> Result<(), ResultError> {
        let mut cells = [Cell::Missing; 2 + ROWS.len() * QUANTITIES.len() + LAST];
        let end = 2 + self.roles.len() * QUANTITIES.len();
        let cells = &mut cells[..end + LAST];
        cells[0] = Cell::Real(impact.t);
        cells[1] = Cell::Text(&impact.contact);
        for (quantity, values) in [&impact.before, &impact.after, &impact.impulse].into_iter().enumerate() {
            for (row, value) in values.iter().enumerate() {
                if let Some(place) = self.roles.iter().position(|role| *role == law.role(row)) {
                    cells[2 + QUANTITIES.len() * place + quantity] = Cell::Real(*value);
                }
            }
        }
        cells[end] = impact.loss.map_or(Cell::Missing, Cell::Real);
        cells[end + 1] = Cell::Text(note(impact));
        self.table.push(cells)
    }

    /// Brings all rows to the disk.
    pub(super) fn sync(&mut self) -> Result<(), ResultError> {
        self.table.sync()
    }

    pub(super) fn save(&mut self) -> Result<(), ResultError> {
        self.table.save()
    }

    /// Closes the files. All rows before an error are kept; `partial` says why there are no more.
    pub fn finish(self, partial: Option<&str>) -> Written {
        let mut written = self.table.finish(partial);
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
