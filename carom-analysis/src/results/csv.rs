//! Comma-separated values with a header; numbers have the fewest digits that read back as the same number.

use super::ResultError;
use super::table::Cell;
use crate::files::{csv_partial, csv_text};
use crate::folder::disk::Output;
use carom_solve::{Archive, ArchiveError, Persist};
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
    /// A new file with its header, or one that goes on from a checkpoint.
    pub fn create<'a>(
        path: &Path,
        names: impl Iterator<Item = &'a str>,
        resumes: bool,
    ) -> Result<CsvFile, ResultError> {
        let file = if resumes { Output::append(path)? } else { Output::create(path)? };
        let mut csv = CsvFile { path: path.to_path_buf(), file, text: String::with_capacity(2 * PIECE), bytes: 0 };
        if !resumes {
            csv.line(names.map(Cell::Text))?;
        }
        Ok(csv)
    }

    /// Waits until all lines are on the disk.
    pub fn sync(&mut self) -> Result<(), ResultError> {
        self.flush()?;
        self.file.sync().map_err(ResultError::io("write", &self.path))
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

/// The lines are in the file, see [`CsvFile::sync`]: its length is all that is written down. Lines beyond it are of a
/// run that went on after the checkpoint.
impl Persist for CsvFile {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        self.bytes.persist(archive)?;
        if archive.is_reading() {
            let is_whole = self.file.file().metadata().is_ok_and(|found| found.len() >= self.bytes);
            if !is_whole || self.file.cut(self.bytes).is_err() {
                return Err(archive.mismatch("lines that were written before are missing"));
            }
        }
        Ok(())
    }
}
