//! A table that is written row by row in bounded memory: rows wait in one row group, full groups become closed part
//! files, and the end merges the parts.
//!
//! The rows that wait are saved from time to time as the part that follows the closed ones; the same name is written
//! again when the group is full. So the clock never moves the boundary of a row group.

use super::csv::CsvFile;
use super::kept::KeptTable;
use super::parquet_file::Layout;
use super::{ColumnInfo, RecordOptions, ResultError, Written};
use crate::folder::disk;
use carom::simulation::ColumnKind;
use carom_solve::{Archive, ArchiveError, Persist};
use parquet::data_type::ByteArray;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Values of a row group, at most (beyond the smallest number of rows).
const VALUES_PER_GROUP: usize = 1 << 22;
const ROWS_PER_GROUP: (usize, usize) = (1024, 1 << 16);
/// Saving may take this part of the time.
const SAVING_SHARE: u32 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellType {
    Real,
    /// A real number or null.
    Optional,
    Text,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub kind: CellType,
    pub info: ColumnInfo,
}

impl Column {
    /// A column of a list, whose rows are not joined by lines.
    pub fn of_list(name: impl Into<String>, unit: Option<&str>, cell: CellType) -> Column {
        let name = name.into();
        let kind = match cell {
            CellType::Text => ColumnKind::Word,
            _ if name == "t" => ColumnKind::Time,
            _ => ColumnKind::Held,
        };
        Column { kind: cell, info: ColumnInfo { name, unit: unit.map(String::from), kind } }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Real(f64),
    Missing,
    Text(&'a str),
}

carom_solve::persist_enum!(Cell<'static> { 0 = Missing, 1 = Real(x), 2 = Text(text) });

/// The waiting values of a column.
pub(super) enum Buffer {
    Real(Vec<f64>),
    /// Values that are present, and for each row 1 if it is.
    Optional {
        values: Vec<f64>,
        levels: Vec<i16>,
    },
    /// Texts, and some that were met, so that they are copied without allocating.
    Text {
        values: Vec<ByteArray>,
        met: Vec<ByteArray>,
    },
}

/// Texts of a column that are remembered.
const MET: usize = 16;

/// One result table with its files.
pub(super) struct Table {
    directory: PathBuf,
    stem: &'static str,
    columns: Vec<Column>,
    parquet: Option<Groups>,
    csv: Option<CsvFile>,
    kept: Option<KeptTable>,
    rows: u64,
    /// Number of times that rows went to the disk, for those who want to do so at the same time.
    pub saves: u64,
    clock: Clock,
    finished: bool,
    /// Closed parts that are known to be on the disk.
    synced: usize,
}

/// The row group that is being filled, and the parts before it.
struct Groups {
    layout: Layout,
    buffers: Vec<Buffer>,
    waiting: usize,
    rows_per_group: usize,
    /// Full groups on the disk.
    closed: usize,
    /// Waiting rows that are also on the disk.
    saved: usize,
}

struct Clock {
    last: Instant,
    interval: Duration,
    pause: Duration,
}

impl Table {
    /// Creates the directory where needed, and opens the files.
    ///
    /// The first column is the time, for messages.
    pub fn create(
        directory: &Path,
        stem: &'static str,
        columns: Vec<Column>,
        options: &RecordOptions,
    ) -> Result<Table, ResultError> {
        if !options.keep {
            disk::make_folder(directory)?;
        }
        let kept = options.keep.then(|| KeptTable::new(stem, &columns));
        let parquet = (options.parquet && !options.keep).then(|| Groups::new(&columns, options.rows_per_group));
        let path = directory.join(format!("{stem}.parquet"));
        let parquet = parquet.transpose().map_err(ResultError::parquet("lay out", &path))?;
        let csv = match options.csv && !options.keep {
            true => Some(CsvFile::create(&directory.join(format!("{stem}.csv")), names(&columns), options.resumes)?),
            false => None,
        };
        let clock = Clock { last: Instant::now(), interval: options.save_interval, pause: options.save_interval };
        let directory = directory.to_path_buf();
        Ok(Table { directory, stem, columns, parquet, csv, kept, rows: 0, saves: 0, clock, finished: false, synced: 0 })
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows that wait in memory.
    pub fn waiting(&self) -> usize {
        self.parquet.as_ref().map_or(0, |groups| groups.waiting)
    }

    /// What the columns are.
    pub fn infos(&self) -> Vec<ColumnInfo> {
        self.columns.iter().map(|column| column.info.clone()).collect()
    }

    /// Refuses numbers that are not finite, and missing ones where they are required.
    pub fn check(&self, cells: &[Cell<'_>]) -> Result<(), ResultError> {
        for (column, cell) in self.columns.iter().zip(cells) {
            let value = match (column.kind, cell) {
                (CellType::Real | CellType::Optional, Cell::Real(x)) if x.is_finite() => continue,
                (CellType::Optional, Cell::Missing) | (CellType::Text, Cell::Text(_)) => continue,
                (_, Cell::Real(x)) => *x,
                _ => f64::NAN,
            };
            let t = if let Some(Cell::Real(t)) = cells.first() { *t } else { f64::NAN };
            return Err(ResultError::NotFinite { column: column.info.name.clone(), value, t });
        }
        Ok(())
    }

    /// Appends a row, and saves when the group is full or some time has passed.
    pub fn push(&mut self, cells: &[Cell<'_>]) -> Result<(), ResultError> {
        self.check(cells)?;
        self.rows += 1;
        if let Some(groups) = &mut self.parquet {
            groups.push(cells);
        }
        if let Some(kept) = &mut self.kept {
            kept.push(cells);
            return Ok(());
        }
        if let Some(csv) = &mut self.csv {
            csv.line(cells.iter().copied())?;
        }
        if self.parquet.as_ref().is_some_and(|groups| groups.waiting >= groups.rows_per_group) {
            self.close_group()?;
        } else if self.clock.last.elapsed() >= self.clock.pause {
            self.save()?;
        }
        Ok(())
    }

    /// Brings all rows to the disk.
    pub fn save(&mut self) -> Result<(), ResultError> {
        let start = Instant::now();
        let path = self.next_part();
        let saved = self.parquet.as_mut().map_or(Ok(()), |groups| groups.save(&path));
        let flushed = self.csv.as_mut().map_or(Ok(()), CsvFile::flush);
        self.saves += 1;
        self.clock.last = Instant::now();
        self.clock.pause = self.clock.interval.max(start.elapsed().saturating_mul(SAVING_SHARE));
        saved.and(flushed)
    }

    /// Waits until closed parts and lines are on the disk: a checkpoint counts with them.
    pub fn sync(&mut self) -> Result<(), ResultError> {
        let closed = self.parquet.as_ref().map_or(0, |groups| groups.closed);
        for number in self.synced..closed {
            disk::sync(&self.part(number + 1))?;
        }
        self.synced = closed;
        self.csv.as_mut().map_or(Ok(()), CsvFile::sync)
    }

    fn close_group(&mut self) -> Result<(), ResultError> {
        self.save()?;
        if let Some(groups) = &mut self.parquet {
            groups.closed += 1;
            groups.clear();
        }
        Ok(())
    }

    /// Merges the parts. Where that is not possible the parts stay. `partial` says why rows are missing at the end.
    pub fn finish(mut self, partial: Option<&str>) -> Written {
        self.finished = true;
        let marked = partial.and_then(|reason| self.csv.as_mut().map(|csv| csv.mark(reason)));
        let saved = self.save().and(marked.unwrap_or(Ok(())));
        let mut files = Vec::new();
        let merged = self.merge(&mut files, partial);
        if self.csv.is_some() {
            files.push(format!("{}.csv", self.stem));
        }
        Written { files, rows: self.rows, kept: self.kept.take(), error: saved.and(merged).err() }
    }

    /// Lists the single file, or the parts where it could not be written.
    fn merge(&self, files: &mut Vec<String>, partial: Option<&str>) -> Result<(), ResultError> {
        let Some(groups) = &self.parquet else { return Ok(()) };
        let parts: Vec<PathBuf> = (1..=groups.parts()).map(|number| self.part(number)).collect();
        let path = self.directory.join(format!("{}.parquet", self.stem));
        let complete = groups.saved == groups.waiting;
        let merged = if complete { groups.layout.merge(&path, &parts, partial) } else { Ok(()) };
        if !complete || merged.is_err() {
            files.extend((1..=groups.parts()).map(|number| part_name(self.stem, number)));
            return merged;
        }
        files.push(format!("{}.parquet", self.stem));
        for part in &parts {
            disk::remove(part)?;
        }
        Ok(())
    }

    fn part(&self, number: usize) -> PathBuf {
        self.directory.join(part_name(self.stem, number))
    }

    fn next_part(&self) -> PathBuf {
        self.part(self.parquet.as_ref().map_or(0, |groups| groups.closed) + 1)
    }
}

/// A table that is given up, e.g. while a panic unwinds, leaves all rows in parts.
impl Drop for Table {
    fn drop(&mut self) {
        if !self.finished {
            _ = self.save();
        }
    }
}

/// Closed parts stay on the disk: they are counted alone.
impl Persist for Table {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        self.rows.persist(archive)?;
        if let Some(Groups { buffers, waiting, closed, saved, .. }) = &mut self.parquet {
            (waiting, closed).persist(archive)?;
            buffers.as_mut_slice().persist(archive)?;
            if archive.is_reading() {
                *saved = 0;
            }
        }
        self.csv.as_mut().map_or(Ok(()), |csv| csv.persist(archive))
    }
}

impl Persist for Buffer {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        match self {
            Buffer::Real(values) => values.persist(archive),
            Buffer::Optional { values, levels } => (values, levels).persist(archive),
            Buffer::Text { values, met } => {
                for list in [values, met] {
                    let mut texts: Vec<Vec<u8>> = list.iter().map(|text| text.data().to_vec()).collect();
                    texts.persist(archive)?;
                    if archive.is_reading() {
                        *list = texts.into_iter().map(ByteArray::from).collect();
                    }
                }
                Ok(())
            }
        }
    }
}

impl Groups {
    fn new(columns: &[Column], rows: Option<usize>) -> Result<Groups, parquet::errors::ParquetError> {
        let (fewest, most) = ROWS_PER_GROUP;
        let rows_per_group =
            rows.unwrap_or_else(|| (VALUES_PER_GROUP / columns.len().max(1)).clamp(fewest, most)).max(1);
        let buffers = columns.iter().map(|column| Buffer::new(column.kind)).collect();
        Ok(Groups { layout: Layout::new(columns)?, buffers, waiting: 0, rows_per_group, closed: 0, saved: 0 })
    }

    fn push(&mut self, cells: &[Cell<'_>]) {
        for (buffer, cell) in self.buffers.iter_mut().zip(cells) {
            buffer.push(*cell);
        }
        self.waiting += 1;
    }

    /// Writes the waiting rows as the part after the closed ones.
    fn save(&mut self, path: &Path) -> Result<(), ResultError> {
        if self.saved < self.waiting {
            self.layout.write(path, &self.buffers)?;
            self.saved = self.waiting;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.buffers.iter_mut().for_each(Buffer::clear);
        (self.waiting, self.saved) = (0, 0);
    }

    /// Parts on the disk.
    fn parts(&self) -> usize {
        self.closed + usize::from(self.saved > 0)
    }
}

impl Buffer {
    fn new(kind: CellType) -> Buffer {
        match kind {
            CellType::Real => Buffer::Real(Vec::new()),
            CellType::Optional => Buffer::Optional { values: Vec::new(), levels: Vec::new() },
            CellType::Text => Buffer::Text { values: Vec::new(), met: Vec::new() },
        }
    }

    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Buffer::Real(values), Cell::Real(x)) => values.push(x),
            (Buffer::Optional { values, levels }, Cell::Real(x)) => {
                values.push(x);
                levels.push(1);
            }
            (Buffer::Optional { levels, .. }, _) => levels.push(0),
            (Buffer::Text { values, met }, Cell::Text(text)) => {
                let known = met.iter().find(|known| known.data() == text.as_bytes()).cloned();
                values.push(known.unwrap_or_else(|| {
                    let new = ByteArray::from(text);
                    met.extend((met.len() < MET).then(|| new.clone()));
                    new
                }));
            }
            // refused by `check`
            (Buffer::Real(_) | Buffer::Text { .. }, _) => {}
        }
    }

    fn clear(&mut self) {
        match self {
            Buffer::Real(values) => values.clear(),
            Buffer::Optional { values, levels } => {
                values.clear();
                levels.clear();
            }
            Buffer::Text { values, .. } => values.clear(),
        }
    }
}

fn names(columns: &[Column]) -> impl Iterator<Item = &str> {
    columns.iter().map(|column| column.info.name.as_str())
}

fn part_name(stem: &str, number: usize) -> String {
    format!("{stem}.part-{number:05}.parquet")
}
