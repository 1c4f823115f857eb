//! Result tables, read back with the parquet library or from comma-separated values.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::{self, File};
use std::path::Path;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(f64),
    Text(String),
    Missing,
}

/// Names and rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub names: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    pub fn read(path: &Path) -> Table {
        let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let reader = SerializedFileReader::new(file).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr();
        let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
        let value = |field: &Field| match field {
            Field::Double(x) => Value::Number(*x),
            Field::Str(text) if !text.is_empty() => Value::Text(text.clone()),
            Field::Str(_) => Value::Missing,
            Field::Null => Value::Missing,
            other => panic!("unexpected type of column: {other:?}"),
        };
        let rows = reader.get_row_iter(None).unwrap();
        let rows = rows.map(|row| row.unwrap().get_column_iter().map(|(_, field)| value(field)).collect()).collect();
        Table { names, rows }
    }

    /// A file of comma-separated values without quotes.
    pub fn read_csv(path: &Path) -> Table {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.ends_with('\n') && !text.contains('"'));
        let mut lines = text.lines();
        let value = |text: &str| match (text, text.parse()) {
            ("", _) => Value::Missing,
            (_, Ok(number)) => Value::Number(number),
            _ => Value::Text(text.to_owned()),
        };
        let names: Vec<String> = lines.next().unwrap().split(',').map(str::to_owned).collect();
        let rows: Vec<Vec<Value>> = lines.map(|line| line.split(',').map(value).collect()).collect();
        assert!(rows.iter().all(|row| row.len() == names.len()));
        Table { names, rows }
    }

    /// The rows of a trajectory that are its start and the ends of steps.
    pub fn steps(mut self) -> Table {
        let Some(at) = self.names.iter().position(|name| name == "row") else { panic!("no trajectory") };
        self.rows.retain(|row| matches!(&row[at], Value::Text(kind) if kind == "start" || kind == "step"));
        self
    }

    /// Rows of a file without reading them.
    pub fn count(path: &Path) -> i64 {
        SerializedFileReader::new(File::open(path).unwrap()).unwrap().metadata().file_metadata().num_rows()
    }

    /// Why a file has not all rows, as it says itself.
    pub fn partial(path: &Path) -> Option<String> {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let words = reader.metadata().file_metadata().key_value_metadata()?;
        words.iter().find(|word| word.key == "carom.partial")?.value.clone()
    }

    /// A column of numbers, or of none where they are missing.
    pub fn numbers(&self, name: &str) -> Vec<Option<f64>> {
        let Some(i) = self.names.iter().position(|known| known == name) else {
            panic!("no column {name} among {:?}", self.names)
        };
        let number = |row: &Vec<Value>| match row[i] {
            Value::Number(x) => Some(x),
            Value::Missing => None,
            ref other => panic!("{name} is {other:?}"),
        };
        self.rows.iter().map(number).collect()
    }

    /// A column of numbers.
    pub fn column(&self, name: &str) -> Vec<f64> {
        let missing = || panic!("a number of {name} is missing");
        self.numbers(name).into_iter().map(|x| x.unwrap_or_else(missing)).collect()
    }

    pub fn last(&self, name: &str) -> f64 {
        self.numbers(name).pop().flatten().expect("a row with a number")
    }
}
