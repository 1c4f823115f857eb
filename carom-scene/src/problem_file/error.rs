//! What is wrong with a problem file, and where.

use carom_solve::StoredError;
use std::fmt;

/// Where a reader stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Line and running number of the token, both from 1.
    Token {
        /// Line in the file.
        line: usize,
        /// Number of tokens up to this one.
        token: usize,
    },
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
    /// The operating system refuses to read or write the file; its message.
    #[error("cannot be read or written: {0}")]
    Io(String),
    /// A text file with bytes that are no text.
    #[error("is not text (byte {offset})")]
    NotText {
        /// Offset of the first such byte.
        offset: usize,
    },
    /// FCLIB was asked for, but the file is not HDF5.
    #[error("is not an HDF5 file")]
    NotHdf5,
    /// A file that is too short.
    #[error("the file ends where {expected} should stand")]
    End {
        /// What should stand there.
        expected: &'static str,
    },
    /// A value that is not of the right form.
    #[error("`{found}` stands where {expected} should")]
    Unexpected {
        /// What should stand there.
        expected: &'static str,
        /// The value in the file, shortened where it is long.
        found: String,
    },
    /// A number that is infinite or not a number.
    #[error("{what} is not finite")]
    NotFinite {
        /// What the number is.
        what: &'static str,
    },
    /// A size that contradicts another one.
    #[error("{what} is {found}, expected {expected}")]
    Mismatch {
        /// What the size is.
        what: &'static str,
        /// Size in the file.
        found: usize,
        /// Size that it should have.
        expected: usize,
    },
    /// A size or an index beyond what the file or the problem can hold.
    #[error("{what} is {found}, at most {limit} is possible here")]
    TooLarge {
        /// What the number is.
        what: &'static str,
        /// Number in the file.
        found: usize,
        /// Largest possible number.
        limit: usize,
    },
    /// Offsets that must rise, and do not.
    #[error("{what} is not rising")]
    NotRising {
        /// Which list it is.
        what: &'static str,
    },
    /// Text that fits none of the kinds.
    #[error("is no known problem: it starts with `{start}`")]
    Unknown {
        /// The first tokens of the file.
        start: String,
    },
    /// Contacts with rolling friction.
    #[error("rolling friction (dimension {dimension}) is not treated")]
    Rolling {
        /// Rows per contact.
        dimension: usize,
    },
    /// HDF5 without a problem of FCLIB.
    #[error("has no group `fclib_local` or `fclib_global`")]
    NoProblem,
    /// HDF5 cannot be read or written; the message of its library.
    #[error("{0}")]
    Hdf5(String),
    /// Numbers that do not make a problem.
    #[error("{0}")]
    Problem(#[from] StoredError),
    /// A law that has no place in the format.
    #[error("{law} (law {index}) cannot be written to an FCLIB file")]
    Law {
        /// Name of the kind of law.
        law: &'static str,
        /// Position of the law in the problem, from 0.
        index: usize,
    },
}

/// A file that could not be read or written.
#[derive(Clone, Debug, PartialEq)]
pub struct FileError {
    /// Path of the file, or name of the problem that was to be written.
    pub file: String,
    /// Where in the file; none where it is about the file as a whole.
    pub position: Option<Position>,
    /// What is wrong.
    pub reason: Reason,
    /// What to do about it.
    pub hint: Option<String>,
}

impl FileError {
    pub(crate) fn new(file: &str, reason: Reason) -> FileError {
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
