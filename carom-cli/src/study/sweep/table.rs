//! The rows of a sweep in a CSV file that grows while it runs and is read again after an interruption.

use crate::failure::Failure;
use crate::study::{csv_number, csv_text, write};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Finished,
    /// The computation failed.
    Failed,
    /// The model is not good with these values.
    Refused,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Status::Finished => "finished",
            Status::Failed => "failed",
            Status::Refused => "refused",
        }
    }

    fn read(word: &str) -> Option<Status> {
        [Status::Finished, Status::Failed, Status::Refused].into_iter().find(|status| status.word() == word)
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub values: Vec<f64>,
    pub status: Status,
    pub reason: String,
    /// Empty where the run did not finish.
    pub measured: Vec<f64>,
}

/// All rows, and the file to which new ones are appended.
pub struct Table {
    path: PathBuf,
    file: File,
    header: Vec<String>,
    /// By the number of the run.
    pub rows: Vec<Option<Row>>,
}

impl Table {
    /// A new table; an earlier one is overwritten.
    pub fn create(path: &Path, header: Vec<String>, count: usize) -> Result<Table, Failure> {
        let mut table = Table::open(path, header, count)?;
        table.file.set_len(0).map_err(|e| cannot(path, &e))?;
        let line = header_line(&table.header);
        table.file.write_all(line.as_bytes()).map_err(|e| cannot(path, &e))?;
        Ok(table)
    }

    /// A table that goes on: whole rows are kept, a piece of one at the end is dropped.
    pub fn resume(path: &Path, header: Vec<String>, count: usize, varied: usize) -> Result<Table, Failure> {
        let mut table = Table::open(path, header, count)?;
        let text = std::fs::read_to_string(path).map_err(|e| cannot(path, &e))?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        if lines.next().map(|line| format!("{line}\n")) != Some(header_line(&table.header)) {
            let line = header_line(&table.header);
            table.file.set_len(0).and_then(|()| table.file.write_all(line.as_bytes())).map_err(|e| cannot(path, &e))?;
            return Ok(table);
        }
        for line in lines {
            if let Some((run, row)) = read(line, varied, table.header.len())
                && let Some(place) = table.rows.get_mut(run)
            {
                *place = Some(row);
            }
        }
        table.file.set_len(whole as u64).map_err(|e| cannot(path, &e))?;
        Ok(table)
    }

    fn open(path: &Path, header: Vec<String>, count: usize) -> Result<Table, Failure> {
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(|e| cannot(path, &e))?;
        // two sweeps at once would mix their rows; where the system has no locks there is none
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let path = path.display();
            return Err(Failure::Environment(format!(
                "another sweep is writing `{path}`; choose another folder with --out"
            )));
        }
        Ok(Table { path: path.to_path_buf(), file, header, rows: vec![None; count] })
    }

    /// Adds a row and hands it to the file at once.
    pub fn append(&mut self, run: usize, row: Row) -> Result<(), Failure> {
        let line = line(run, &row, self.header.len());
        self.file.write_all(line.as_bytes()).map_err(|e| cannot(&self.path, &e))?;
        if let Some(place) = self.rows.get_mut(run) {
            *place = Some(row);
        }
        Ok(())
    }

    /// Writes the rows in order.
    pub fn finish(&self) -> Result<(), Failure> {
        write(&self.path, |out| {
            out.write_all(header_line(&self.header).as_bytes())?;
            for (run, row) in self.rows.iter().enumerate() {
                if let Some(row) = row {
                    out.write_all(line(run, row, self.header.len()).as_bytes())?;
                }
            }
            Ok(())
        })
    }
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::Environment(format!("cannot write `{}`: {error}", path.display()))
}

fn header_line(header: &[String]) -> String {
    let cells: Vec<String> = header.iter().map(|name| csv_text(name)).collect();
    cells.join(",") + "\n"
}

fn line(run: usize, row: &Row, columns: usize) -> String {
    let mut cells = vec![(run + 1).to_string()];
    cells.extend(row.values.iter().map(|x| csv_number(*x)));
    cells.extend([row.status.word().to_owned(), csv_text(&row.reason.replace(['\n', '\r'], " "))]);
    cells.extend(row.measured.iter().map(|x| csv_number(*x)));
    cells.resize(columns, String::new());
    cells.join(",") + "\n"
}

/// A row of a file; nothing where it is not one.
fn read(line: &str, varied: usize, columns: usize) -> Option<(usize, Row)> {
    let cells = split(line);
    if cells.len() != columns {
        return None;
    }
    let run = cells[0].parse::<usize>().ok()?.checked_sub(1)?;
    let values = cells[1..=varied].iter().map(|x| x.parse().ok()).collect::<Option<Vec<f64>>>()?;
    let status = Status::read(&cells[varied + 1])?;
    let measured = match status {
        Status::Finished => cells[varied + 3..].iter().map(|x| x.parse().unwrap_or(f64::NAN)).collect(),
        _ => Vec::new(),
    };
    Some((run, Row { values, status, reason: cells[varied + 2].clone(), measured }))
}

/// Cells of a line; quoted ones may hold commas.
fn split(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            letter => cell.push(letter),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let rows = [
            Row {
                values: vec![0.1, -2e-9],
                status: Status::Finished,
                reason: String::new(),
                measured: vec![1.5, f64::NAN],
            },
            Row {
                values: vec![1.0 / 3.0, 7.0],
                status: Status::Failed,
                reason: "a \"b\", c\nd".into(),
                measured: Vec::new(),
            },
        ];
        for (k, row) in rows.iter().enumerate() {
            let text = line(k, row, 7);
            let (run, found) = read(text.trim_end(), 2, 7).unwrap();
            assert_eq!((run, &found.values, found.status), (k, &row.values, row.status));
            assert_eq!(found.reason, row.reason.replace('\n', " "));
            assert_eq!(found.measured.len(), row.measured.len());
        }
        for broken in ["", "1,2", "x,1,2,finished,,1,2", "0,1,2,finished,,1,2", "1,1,2,running,,1,2"] {
            assert!(read(broken, 2, 7).is_none(), "{broken}");
        }
    }
}
