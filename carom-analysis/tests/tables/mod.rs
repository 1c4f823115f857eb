//! Result files read back.

// each test file uses a part
#![allow(dead_code)]

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// An empty directory of the test's own.
pub fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("results").join(name);
    _ = fs::remove_dir_all(&path);
    path
}

/// A parquet file in memory.
pub struct Read {
    pub names: Vec<String>,
    pub rows: Vec<Row>,
    pub groups: Vec<i64>,
    /// What the metadata tell of the columns.
    pub columns: serde_json::Value,
}

pub fn read(path: &Path) -> Read {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    let groups = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    let metadata = reader.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    let columns = metadata.into_iter().find(|entry| entry.key == "carom.columns").and_then(|entry| entry.value);
    let columns = serde_json::from_str(&columns.unwrap()).unwrap();
    Read { names, groups, columns, rows: reader.get_row_iter(None).unwrap().map(Result::unwrap).collect() }
}

impl Read {
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    fn fields(&self, name: &str) -> impl Iterator<Item = &Field> {
        let at = self.names.iter().position(|known| known == name).unwrap_or_else(|| panic!("{name}"));
        self.rows.iter().map(move |row| row.get_column_iter().nth(at).unwrap().1)
    }

    pub fn optional(&self, name: &str) -> Vec<Option<f64>> {
        let number = |field: &Field| match field {
            Field::Double(x) => Some(*x),
            Field::Null => None,
            other => panic!("{name}: {other:?}"),
        };
        self.fields(name).map(number).collect()
    }

    pub fn reals(&self, name: &str) -> Vec<f64> {
        self.optional(name).into_iter().map(Option::unwrap).collect()
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        let text = |field: &Field| match field {
            Field::Str(text) => text.clone(),
            other => panic!("{name}: {other:?}"),
        };
        self.fields(name).map(text).collect()
    }
}

/// The rows of a trajectory that are the start and the ends of steps.
pub fn steps(path: &Path) -> Read {
    let mut table = read(path);
    let mut kinds = table.texts("row").into_iter();
    table.rows.retain(|_| matches!(kinds.next().as_deref(), Some("start" | "step")));
    table
}
