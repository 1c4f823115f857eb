//! Comma-separated values with a header; numbers have the fewest digits that read back as the same number.

use super::ResultError;
use super::table::Cell;
use crate::files::{csv_partial, csv_text};
use crate::folder::disk::Output;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Text is handed to the file in pieces of about this size.
const PIECE: usize = 1 << 16;

/// A file that always ends with a whole line.
pub(super) struct CsvFile {
    path: PathBuf,
    file: Output,
    text: String,
    /// Length of the file, up to the last whole line.
    bytes: u64,
}

impl CsvFile {
    pub fn create<'a>(path: &Path, names: impl Iterator<Item = &'a str>) -> Result<CsvFile, ResultError> {
        let file = Output::create(path)?;
        let mut csv = CsvFile { path: path.to_path_buf(), file, text: String::with_capacity(2 * PIECE), bytes: 0 };
        csv.line(names.map(Cell::Text))?;
        Ok(csv)
    }

    /// Appends a line.
    pub fn line<'a>(&mut self, cells: impl Iterator<Item = Cell<'a>>) -> Result<(), ResultError> {
        for (i, cell) in cells.enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            match cell {
                // writing into a string cannot fail
                Cell::Real(x) => _ = write!(self.text, "{x:?}"),
                Cell::Missing => {}
                Cell::Text(text) => self.text.push_str(&csv_text(text, false)),
            }
        }
        self.text.push('\n');
        if self.text.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    /// Says that the table is not whole, and why.
    pub fn mark(&mut self, reason: &str) -> Result<(), ResultError> {
        self.text.push_str(&csv_partial(reason));
        self.flush()
    }

    /// Hands whole lines to the file. Nothing is tried twice: after an error the piece of a line is cut off.
    pub fn flush(&mut self) -> Result<(), ResultError> {
        if !self.text.is_empty() {
            let written = self.file.write_all(self.text.as_bytes());
            match written {
                Ok(()) => self.bytes += self.text.len() as u64,
                Err(_) => _ = self.file.cut(self.bytes),
            }
            self.text.clear();
            written.map_err(ResultError::io("write", &self.path))?;
        }
        Ok(())
    }
}
