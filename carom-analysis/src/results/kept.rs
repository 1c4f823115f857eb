//! Result tables in memory: all rows of a run, for programs that look at them and may write them to files later.

use super::table::{Cell, CellType, Column, Table};
use super::{ColumnInfo, RecordOptions, ResultError, Written};
use std::collections::HashMap;
use std::path::Path;

/// All rows of a table.
#[derive(Clone, Debug, Default)]
pub struct KeptTable {
    pub(super) stem: &'static str,
    pub(super) columns: Vec<KeptColumn>,
    pub(super) rows: usize,
}

/// A column of a table in memory.
#[derive(Clone, Debug)]
pub struct KeptColumn {
    /// Its name, unit and kind.
    pub info: ColumnInfo,
    /// One value per row.
    pub values: KeptValues,
    cell: CellType,
}

/// The values of a column.
#[derive(Clone, Debug)]
pub enum KeptValues {
    /// Numbers; not a number where there is none.
    Numbers(Vec<f64>),
    /// Words, each of them once, with their numbers by row.
    Words(Words),
}

/// Words of a column.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The different words.
    pub known: Vec<String>,
    /// One place in `known` per row.
    pub rows: Vec<u32>,
    places: HashMap<String, u32>,
}

impl KeptValues {
    pub(super) fn len(&self) -> usize {
        match self {
            KeptValues::Numbers(values) => values.len(),
            KeptValues::Words(words) => words.rows.len(),
        }
    }
}

impl Words {
    pub(super) fn push(&mut self, word: &str) {
        let last = self.rows.last().filter(|last| self.known[**last as usize] == word);
        let place = match last.or_else(|| self.places.get(word)) {
            Some(place) => *place,
            None => {
                let place = self.known.len() as u32;
                self.known.push(word.to_owned());
                self.places.insert(word.to_owned(), place);
                place
            }
        };
        self.rows.push(place);
    }

    /// The words of all rows.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|place| self.known[*place as usize].as_str())
    }
}

impl KeptTable {
    pub(super) fn new(stem: &'static str, columns: &[Column]) -> KeptTable {
        let column = |column: &Column| KeptColumn {
            info: column.info.clone(),
            values: match column.kind {
                CellType::Text => KeptValues::Words(Words::default()),
                CellType::Real | CellType::Optional => KeptValues::Numbers(Vec::new()),
            },
            cell: column.kind,
        };
        KeptTable { stem, columns: columns.iter().map(column).collect(), rows: 0 }
    }

    /// A column that was read from a file.
    pub(super) fn read(info: ColumnInfo, values: KeptValues) -> KeptColumn {
        let cell = if matches!(values, KeptValues::Words(_)) { CellType::Text } else { CellType::Optional };
        KeptColumn { info, values, cell }
    }

    pub(super) fn push(&mut self, cells: &[Cell<'_>]) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match (&mut column.values, cell) {
                (KeptValues::Numbers(values), Cell::Real(x)) => values.push(*x),
                (KeptValues::Numbers(values), _) => values.push(f64::NAN),
                (KeptValues::Words(words), Cell::Text(text)) => words.push(text),
                (KeptValues::Words(words), _) => words.push(""),
            }
        }
        self.rows += 1;
    }

    /// `trajectory`, `impacts` or `events`.
    pub fn name(&self) -> &'static str {
        self.stem
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Its columns.
    pub fn columns(&self) -> &[KeptColumn] {
        &self.columns
    }

    /// Takes the numbers of a column out, for those who keep them elsewhere; [`KeptTable::restore`] brings them back.
    pub fn take(&mut self, column: usize) -> Option<Vec<f64>> {
        match &mut self.columns.get_mut(column)?.values {
            KeptValues::Numbers(values) => Some(std::mem::take(values)),
            KeptValues::Words(_) => None,
        }
    }

    /// Brings numbers back that were taken.
    pub fn restore(&mut self, column: usize, numbers: Vec<f64>) {
        if let Some(KeptValues::Numbers(values)) = self.columns.get_mut(column).map(|column| &mut column.values) {
            *values = numbers;
        }
    }

    /// Writes the files that a run with these options would have written row by row: the same bytes.
    ///
    /// # Errors
    /// Fails where they cannot be written.
    pub(super) fn write(
        &self,
        directory: &Path,
        options: &RecordOptions,
        partial: Option<&str>,
    ) -> Result<Written, ResultError> {
        let columns = self.columns.iter().map(|column| Column { kind: column.cell, info: column.info.clone() });
        let mut table = Table::create(directory, self.stem, columns.collect(), options)?;
        let mut cells = Vec::with_capacity(self.columns.len());
        for row in 0..self.rows {
            cells.clear();
            cells.extend(self.columns.iter().map(|column| {
                match &column.values {
                    KeptValues::Numbers(values) => {
                        values.get(row).filter(|x| !x.is_nan()).map_or(Cell::Missing, |x| Cell::Real(*x))
                    }
                    KeptValues::Words(words) => words
                        .rows
                        .get(row)
                        .and_then(|place| words.known.get(*place as usize))
                        .map_or(Cell::Missing, |word| Cell::Text(word)),
                }
            }));
            table.push(&cells)?;
        }
        Ok(table.finish(partial))
    }
}
