//! What is wrong with a problem file, and where.

use carom_solve::StoredError;
use std::fmt;

/// Where a reader stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Line and running number of the token, both from 1.
    Token { line: usize, token: usize },
    /// Path of a dataset in a hierarchical file.
    Dataset(String),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Token { line, token } => write!(f, "line {line}, token {token}"),
            Position::Dataset(path) => write!(f, "{path}"),
        }
    }
}

/// Why a file is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Reason {
    #[error("cannot be read or written: {0}")]
    Io(String),
    #[error("is not text (byte {offset})")]
    NotText { offset: usize },
    #[error("is not an HDF5 file")]
    NotHdf5,
    #[error("the file ends where {expected} should stand")]
    End { expected: &'static str },
    #[error("`{found}` stands where {expected} should")]
    Unexpected { expected: &'static str, found: String },
    #[error("{what} is not finite")]
    NotFinite { what: &'static str },
    #[error("{what} is {found}, expected {expected}")]
    Mismatch { what: &'static str, found: usize, expected: usize },
    #[error("{what} is {found}, at most {limit} is possible here")]
    TooLarge { what: &'static str, found: usize, limit: usize },
    #[error("{what} is not rising")]
    NotRising { what: &'static str },
    #[error("is no known problem: it starts with `{start}`")]
    Unknown { start: String },
    #[error("rolling friction (dimension {dimension}) is not treated")]
    Rolling { dimension: usize },
    #[error("has no group `fclib_local` or `fclib_global`")]
    NoProblem,
    #[error("{0}")]
    Hdf5(String),
    #[error("{0}")]
    Problem(#[from] StoredError),
    #[error("{law} (law {index}) cannot be written to an FCLIB file")]
    Law { law: &'static str, index: usize },
}

/// A file that could not be read or written.
#[derive(Clone, Debug, PartialEq)]
pub struct FileError {
    pub file: String,
    pub position: Option<Position>,
    pub reason: Reason,
    /// What to do about it.
    pub hint: Option<String>,
}

impl FileError {
    pub fn new(file: &str, reason: Reason) -> FileError {
        FileError { file: file.to_string(), position: None, reason, hint: None }
    }

    pub(super) fn at(mut self, position: Position) -> FileError {
        self.position = Some(position);
        self
    }

    pub(super) fn hint(mut self, hint: &str) -> FileError {
        self.hint = Some(hint.to_string());
        self
    }

    /// Number of the token where a text reader stopped.
    pub(super) fn reached(&self) -> usize {
        match self.position {
            Some(Position::Token { token, .. }) => token,
            _ => 0,
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(position) = &self.position {
            write!(f, "{position}: ")?;
        }
        write!(f, "{}", self.reason)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.reason)
    }
}
