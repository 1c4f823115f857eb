//! Stored problems in files: readers and writers.
//!
//! | kind | content | unknowns |
//! |---|---|---|
//! | `lcp` | n, M, q | `0 ≤ M z + q ⊥ z ≥ 0` |
//! | `mlcp` | flags, n, m, blocks, M, q and/or A, B, C, D, a, b | `A u + C v + a = 0`, `0 ≤ D u + B v + b ⊥ v ≥ 0` |
//! | `relay` | n, M, q, lb, ub | `−(M λ + q) ∈ N_[lb, ub](λ)` |
//! | `friction` | dim, contacts, W, q, mu | `u = W r + q` with Coulomb's law |
//! | `global-friction` | dim, contacts, M, H, q, b, mu | `M v = q + H r`, `u = Hᵀ v + b` with Coulomb's law |
//! | `fclib` | HDF5 with `fclib_local` or `fclib_global` | as the two before |
//!
//! All but the last are token streams of the Siconos platform [acary2018], where a matrix is dense, sparse-block or
//! sparse. Files do not say of what kind they are: the kind is found by what fits, with the name of the file as a hint,
//! unless it is given. What follows a complete problem is ignored, except that numbers are kept as
//! [`ProblemFile::trailing`].

mod error;
mod fclib;
mod hierarchical;
mod matrix;
mod siconos;
mod token;
mod write;

use carom_solve::StoredProblem;
pub use error::{FileError, Position, Reason};
use std::path::Path;
pub use write::{Encoded, capture, encode};

/// The kind of a problem file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Linear complementarity problem.
    Lcp,
    /// Mixed linear complementarity problem.
    Mlcp,
    /// Relay, or box-constrained, problem.
    Relay,
    /// Frictional contact in reduced form, with the Delassus matrix W.
    Friction,
    /// Frictional contact in global form, with mass matrix M and directions H.
    GlobalFriction,
    /// Frictional contact of either form in the HDF5 format FCLIB.
    Fclib,
}

impl FileFormat {
    /// Every kind, in the order of the table of this module.
    pub const ALL: [FileFormat; 6] = [
        FileFormat::Lcp,
        FileFormat::Mlcp,
        FileFormat::Relay,
        FileFormat::Friction,
        FileFormat::GlobalFriction,
        FileFormat::Fclib,
    ];

    /// The word for the command line.
    pub fn name(self) -> &'static str {
        match self {
            FileFormat::Lcp => "lcp",
            FileFormat::Mlcp => "mlcp",
            FileFormat::Relay => "relay",
            FileFormat::Friction => "friction",
            FileFormat::GlobalFriction => "global-friction",
            FileFormat::Fclib => "fclib",
        }
    }

    /// The kind with this [`name`](Self::name).
    pub fn find(name: &str) -> Option<FileFormat> {
        FileFormat::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a file holds.
#[derive(Clone, Debug)]
pub struct ProblemFile {
    /// The problem itself, as solvers take it.
    pub problem: StoredProblem,
    /// FileFormat in which it was found.
    pub kind: FileFormat,
    /// Numbers that follow the problem; some files keep (a part of) a solution there. Not part of the problem.
    pub trailing: Vec<f64>,
    /// What a reader should know: inconsistencies that were resolved.
    pub notes: Vec<String>,
}

/// Reads a file. Without a kind, the kind is found by content and name.
pub fn read(path: impl AsRef<Path>, kind: Option<FileFormat>) -> Result<ProblemFile, FileError> {
    let path = path.as_ref();
    let name = path.to_string_lossy();
    let bytes = std::fs::read(path).map_err(|error| FileError::new(&name, Reason::Io(error.to_string())))?;
    parse(&name, &bytes, kind)
}

/// Reads the bytes of a file. The name stands in errors, gives the problem its name, and is a hint to the kind.
pub fn parse(name: &str, bytes: &[u8], kind: Option<FileFormat>) -> Result<ProblemFile, FileError> {
    match (kind, hierarchical::is_hdf5(bytes)) {
        (None | Some(FileFormat::Fclib), true) => fclib::parse(name, bytes),
        (Some(FileFormat::Fclib), false) => {
            let error = FileError::new(name, Reason::NotHdf5);
            Err(error.hint("FCLIB files are HDF5; a text file has another kind"))
        }
        (Some(_), true) => {
            Err(FileError::new(name, Reason::NotText { offset: 0 }).hint("this is an HDF5 file: its kind is `fclib`"))
        }
        (kind, false) => siconos::parse(name, bytes, kind),
    }
}

/// The FCLIB file of a friction problem of one dimension, with or without equality laws, as bytes.
pub fn encode_fclib(problem: &StoredProblem) -> Result<Vec<u8>, FileError> {
    fclib::encode(problem.name(), problem)
}

/// The last part of a path without its extensions.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let file = file.strip_suffix(".dat").unwrap_or(file);
    file.strip_suffix(".hdf5").or_else(|| file.strip_suffix(".h5")).unwrap_or(file)
}
