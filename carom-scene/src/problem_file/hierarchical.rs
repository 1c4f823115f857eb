//! Hierarchical files: the few things that the FCLIB format needs of HDF5, so that the library behind can be exchanged.

use super::{FileError, Position, Reason};
use hdf5_pure::{CharacterSet, Datatype, File, FileBuilder, GroupBuilder, StringPadding, is_hdf5_bytes};
use std::cell::Cell;

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
    /// Entries of all datasets so far.
    read: Cell<usize>,
}

/// Entries that any file may have, and those for each of its bytes: real problems are compressed by a factor of ten.
const ENTRIES: usize = 4_000_000;
const PER_BYTE: usize = 32;

impl<'a> Hdf5<'a> {
    pub(super) fn open(name: &'a str, bytes: &[u8]) -> Result<Self, FileError> {
        let file = File::from_bytes(bytes.to_vec())
            .map_err(|error| FileError::new(name, Reason::Hdf5(error.to_string())).hint("is the file damaged?"))?;
        if usize::try_from(file.superblock().eof_address).unwrap_or(usize::MAX) > bytes.len() {
            let error = FileError::new(name, Reason::End { expected: "the rest of the data" });
            return Err(error.hint("is the file truncated?"));
        }
        Ok(Hdf5 { name, file, length: bytes.len(), read: Cell::new(0) })
    }

    /// The dataset, if it and those before are not too large beside the bytes of the file.
    fn dataset(&self, path: &str) -> Result<hdf5_pure::Dataset, FileError> {
        let dataset = self.file.dataset(path).map_err(|error| self.error(path, error))?;
        let shape = dataset.shape().map_err(|error| self.error(path, error))?;
        let found = shape.iter().fold(1usize, |a, &b| a.saturating_mul(usize::try_from(b).unwrap_or(usize::MAX)));
        let (found, limit) = (found.saturating_add(self.read.get()), self.length.saturating_mul(PER_BYTE).max(ENTRIES));
        if found > limit {
            let reason = Reason::TooLarge { what: "the number of entries up to here", found, limit };
            let error = FileError::new(self.name, reason).at(Position::Dataset(path.to_string()));
            return Err(error.hint("a file that is not compressed may have as many as it holds: h5repack -f NONE"));
        }
        self.read.set(found);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Zeros that compress a thousand times are read up to the budget of the file, all datasets together.
    #[test]
    fn a_small_file_does_not_become_a_large_one() {
        let bomb = |count: usize, datasets: [&'static str; 2]| {
            let mut builder = FileBuilder::new();
            let mut group = builder.create_group("g");
            for name in datasets {
                let zeros = vec![0.0; count];
                group.create_dataset(name).with_f64_data(&zeros).with_chunks(&[count as u64]).with_deflate(9);
            }
            builder.add_group(group.finish());
            builder.finish().unwrap()
        };
        let bytes = bomb(5_000_000, ["a", "b"]);
        assert!(bytes.len() < 120_000, "{} bytes", bytes.len());
        let error = Hdf5::open("bomb", &bytes).unwrap().numbers("g/a").unwrap_err();
        assert!(matches!(error.reason, Reason::TooLarge { found: 5_000_000, limit: 4_000_000, .. }), "{error}");
        assert!(error.to_string().contains("h5repack"), "{error}");
        let bytes = bomb(3_000_000, ["a", "b"]);
        let tree = Hdf5::open("bomb", &bytes).unwrap();
        assert_eq!(tree.numbers("g/a").unwrap().len(), 3_000_000);
        assert!(matches!(tree.numbers("g/b").unwrap_err().reason, Reason::TooLarge { found: 6_000_000, .. }));
    }
}
