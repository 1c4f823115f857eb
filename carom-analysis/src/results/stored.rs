//! Results of a run, read back from their folder.

use super::{ColumnInfo, KeptTable, KeptValues, ResultError, Words};
use crate::folder::{self, FORMAT, other_format};
use carom::simulation::ColumnKind;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;

/// What a run left in its folder.
#[derive(Clone, Debug)]
pub struct Stored {
    /// What `summary.json` says.
    pub summary: Value,
    /// Columns of the trajectory; the first is the time.
    pub columns: Vec<StoredColumn>,
    /// The list of impacts.
    pub impacts: Vec<StoredImpact>,
}

/// A column of numbers.
#[derive(Clone, Debug)]
pub struct StoredColumn {
    /// Its name, unit and kind.
    pub info: ColumnInfo,
    /// One value per row; not a number where there is none.
    pub values: Vec<f64>,
}

/// An impact of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredImpact {
    /// When it happened [s].
    pub t: f64,
    /// Name of the contact.
    pub contact: String,
    /// Its normal impulse.
    pub impulse: f64,
}

/// The tables of a run as they are in its folder: trajectory, impacts and, where there are any, events.
///
/// # Errors
/// Fails where a file cannot be read.
pub fn tables(folder: &Path, summary: &Value) -> Result<Vec<KeptTable>, ResultError> {
    let infos = summary["columns"].as_array().into_iter().flatten();
    let infos: Vec<ColumnInfo> = infos.filter_map(|info| serde_json::from_value(info.clone()).ok()).collect();
    let known = |name: &str| infos.iter().find(|info| info.name == name).cloned();
    let mut tables = Vec::new();
    for stem in ["trajectory", "impacts", "events"] {
        let path = folder.join(format!("{stem}.parquet"));
        if stem != "trajectory" && !path.exists() {
            continue;
        }
        let (mut columns, mut rows) = (Vec::new(), 0);
        for (name, read) in table(&path)? {
            let kind = if matches!(read, Read::Words(_)) { ColumnKind::Word } else { ColumnKind::Held };
            let own = ColumnInfo { name: name.clone(), unit: None, kind };
            let info = known(&name).filter(|_| stem == "trajectory").unwrap_or(own);
            let values = match read {
                Read::Numbers(values) => KeptValues::Numbers(values),
                Read::Words(list) => {
                    let mut words = Words::default();
                    list.iter().for_each(|word| words.push(word));
                    KeptValues::Words(words)
                }
            };
            rows = values.len();
            columns.push(KeptTable::read(info, values));
        }
        tables.push(KeptTable { stem, columns, rows });
    }
    Ok(tables)
}

/// A table as it is in the file: numbers, or words.
enum Read {
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

impl Stored {
    /// Reads the files of a run.
    ///
    /// # Errors
    /// Fails where a file is missing, is not one of carom's or is of another version.
    pub fn open(folder: &Path) -> Result<Stored, ResultError> {
        let summary = Stored::summary_of(folder)?;
        let columns = table(&folder.join("trajectory.parquet"))?;
        let described = summary["columns"].as_array();
        let infos = described.into_iter().flatten();
        let infos: Vec<ColumnInfo> = infos.filter_map(|info| serde_json::from_value(info.clone()).ok()).collect();
        let numbers = columns.into_iter().filter_map(|(name, read)| {
            let info = infos.iter().find(|info| info.name == name)?;
            match read {
                Read::Numbers(values) => Some(StoredColumn { info: info.clone(), values }),
                Read::Words(_) => None,
            }
        });
        let columns = numbers.collect();
        Ok(Stored { summary, columns, impacts: impacts(&folder.join("impacts.parquet"))? })
    }

    /// Reads `summary.json` alone.
    ///
    /// # Errors
    /// Fails where it is missing, is not one of carom's or is of another version.
    pub fn summary_of(folder: &Path) -> Result<Value, ResultError> {
        folder::settle(folder)?;
        let path = folder.join("summary.json");
        let text = fs::read_to_string(&path).map_err(ResultError::io("read", &path))?;
        let summary: Value = match serde_json::from_str(&text) {
            Ok(summary) => summary,
            Err(source) => return Err(ResultError::Json { path, source }),
        };
        match (summary["format"].as_u64(), summary["carom"].as_str()) {
            (None, Some(_)) => {}
            (Some(format), _) if format <= u64::from(FORMAT) => {}
            (Some(other), _) => return Err(ResultError::Version { path, reason: other_format(other) }),
            (None, None) => {
                return Err(ResultError::Version { path, reason: "it is no summary of carom's".into() });
            }
        }
        Ok(summary)
    }

    /// The times of the rows [s].
    pub fn times(&self) -> &[f64] {
        self.columns.iter().find(|column| column.info.name == "t").map_or(&[], |column| &column.values)
    }
}

fn impacts(path: &Path) -> Result<Vec<StoredImpact>, ResultError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let (mut times, mut contacts, mut impulses) = (Vec::new(), Vec::new(), Vec::new());
    for (name, read) in table(path)? {
        match (name.as_str(), read) {
            ("t", Read::Numbers(values)) => times = values,
            ("contact", Read::Words(words)) => contacts = words,
            ("normal.impulse", Read::Numbers(values)) => impulses = values,
            _ => {}
        }
    }
    let rows = times.into_iter().zip(contacts).zip(impulses);
    Ok(rows.map(|((t, contact), impulse)| StoredImpact { t, contact, impulse }).collect())
}

/// All columns of a file with numbers or words.
fn table(path: &Path) -> Result<Vec<(String, Read)>, ResultError> {
    let file = File::open(path).map_err(ResultError::io("open", path))?;
    read(file).map_err(ResultError::parquet("read", path))
}

fn read(file: File) -> Result<Vec<(String, Read)>, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let mut columns: Vec<(String, Read)> = Vec::new();
    for i in 0..schema.num_columns() {
        let mut column: Option<Read> = None;
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group)?;
            let rows = group.metadata().num_rows() as usize;
            append(group.get_column_reader(i)?, rows, &mut column)?;
        }
        if let Some(column) = column {
            columns.push((schema.column(i).name().to_owned(), column));
        }
    }
    Ok(columns)
}

/// Appends the values of one row group; columns of other types are left out.
fn append(reader: ColumnReader, rows: usize, column: &mut Option<Read>) -> Result<(), ParquetError> {
    let mut levels = Vec::new();
    match reader {
        ColumnReader::DoubleColumnReader(mut reader) => {
            let mut found = Vec::new();
            reader.read_records(rows, Some(&mut levels), None, &mut found)?;
            let Read::Numbers(values) = column.get_or_insert(Read::Numbers(Vec::new())) else { return Ok(()) };
            let mut found = found.into_iter();
            if levels.is_empty() {
                values.extend(found);
            } else {
                let value = |level: &i16| if *level > 0 { found.next() } else { None };
                values.extend(levels.iter().map(value).map(|x| x.unwrap_or(f64::NAN)));
            }
        }
        ColumnReader::ByteArrayColumnReader(mut reader) => {
            let mut found: Vec<ByteArray> = Vec::new();
            reader.read_records(rows, Some(&mut levels), None, &mut found)?;
            let Read::Words(words) = column.get_or_insert(Read::Words(Vec::new())) else { return Ok(()) };
            words.extend(found.iter().map(|word| word.as_utf8().unwrap_or_default().to_owned()));
        }
        _ => {}
    }
    Ok(())
}
