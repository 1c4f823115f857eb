//! Hierarchical files: the few things that the FCLIB format needs of HDF5, so that the library behind can be exchanged.

use super::{FileError, Position, Reason};
use hdf5_pure::{CharacterSet, Datatype, File, FileBuilder, GroupBuilder, StringPadding, is_hdf5_bytes};

/// Whether the bytes are an HDF5 file.
pub(super) fn is_hdf5(bytes: &[u8]) -> bool {
    is_hdf5_bytes(bytes)
}

/// A tree of datasets that can be read.
pub(super) trait Tree {
    fn has_group(&self, path: &str) -> bool;
    fn has_dataset(&self, path: &str) -> bool;
    fn numbers(&self, path: &str) -> Result<Vec<f64>, FileError>;
    fn integers(&self, path: &str) -> Result<Vec<i64>, FileError>;
}

/// An HDF5 file in memory.
pub(super) struct Hdf5<'a> {
    name: &'a str,
    file: File,
    length: usize,
}

impl<'a> Hdf5<'a> {
    pub(super) fn open(name: &'a str, bytes: &[u8]) -> Result<Self, FileError> {
        let file = File::from_bytes(bytes.to_vec())
            .map_err(|error| FileError::new(name, Reason::Hdf5(error.to_string())).hint("is the file damaged?"))?;
        if usize::try_from(file.superblock().eof_address).unwrap_or(usize::MAX) > bytes.len() {
            let error = FileError::new(name, Reason::End { expected: "the rest of the data" });
            return Err(error.hint("is the file truncated?"));
        }
        Ok(Hdf5 { name, file, length: bytes.len() })
    }

    /// The dataset, if its size can come out of this file: compression gains a factor of a thousand at most.
    fn dataset(&self, path: &str) -> Result<hdf5_pure::Dataset, FileError> {
        let dataset = self.file.dataset(path).map_err(|error| self.error(path, error))?;
        let shape = dataset.shape().map_err(|error| self.error(path, error))?;
        let found = shape.iter().fold(1usize, |a, &b| a.saturating_mul(usize::try_from(b).unwrap_or(usize::MAX)));
        let limit = self.length.saturating_mul(1100);
        if found > limit {
            let reason = Reason::TooLarge { what: "the number of entries", found, limit };
            return Err(FileError::new(self.name, reason).at(Position::Dataset(path.to_string())));
        }
        Ok(dataset)
    }

    fn error(&self, path: &str, error: hdf5_pure::Error) -> FileError {
        let error = FileError::new(self.name, Reason::Hdf5(error.to_string()));
        error.at(Position::Dataset(path.to_string()))
    }
}

impl Tree for Hdf5<'_> {
    fn has_group(&self, path: &str) -> bool {
        self.file.group(path).is_ok()
    }

    fn has_dataset(&self, path: &str) -> bool {
        self.file.dataset(path).is_ok()
    }

    fn numbers(&self, path: &str) -> Result<Vec<f64>, FileError> {
        self.dataset(path)?.read_f64().map_err(|error| self.error(path, error))
    }

    fn integers(&self, path: &str) -> Result<Vec<i64>, FileError> {
        self.dataset(path)?.read_i64().map_err(|error| self.error(path, error))
    }
}

/// A group to be written: datasets and groups by name.
#[derive(Default)]
pub(super) struct Group {
    pub(super) groups: Vec<(&'static str, Group)>,
    pub(super) datasets: Vec<(&'static str, Data)>,
}

/// Content of a dataset.
pub(super) enum Data {
    Numbers(Vec<f64>),
    Integers(Vec<i32>),
    Text(String),
}

/// The bytes of a file with this root.
pub(super) fn encode(name: &str, root: Group) -> Result<Vec<u8>, FileError> {
    let failed = |error: String| FileError::new(name, Reason::Hdf5(error));
    let mut builder = FileBuilder::new();
    for (name, group) in root.groups {
        let mut inner = builder.create_group(name);
        fill(&mut inner, group);
        builder.add_group(inner.finish());
    }
    builder.finish().map_err(|error| failed(error.to_string()))
}

fn fill(builder: &mut GroupBuilder, group: Group) {
    for (name, data) in group.datasets {
        let dataset = builder.create_dataset(name);
        match data {
            Data::Numbers(list) => dataset.with_f64_data(&list),
            Data::Integers(list) => dataset.with_i32_data(&list),
            Data::Text(text) => {
                // one string of fixed length with its zero at the end, as C programs expect it
                let charset = if text.is_ascii() { CharacterSet::Ascii } else { CharacterSet::Utf8 };
                let mut bytes = text.into_bytes();
                bytes.push(0);
                let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let datatype = Datatype::String { size, padding: StringPadding::NullTerminate, charset };
                dataset.with_raw_data(datatype, bytes, 1).with_shape(&[])
            }
        };
    }
    for (name, group) in group.groups {
        let mut inner = builder.create_group(name);
        fill(&mut inner, group);
        builder.add_group(inner.finish());
    }
}
