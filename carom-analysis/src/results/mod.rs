//! Result files of a run, written by observers while it goes on.
//!
//! | File | Content |
//! |---|---|
//! | `trajectory.parquet`, `trajectory.csv` | steps, and rows inside them: time, positions, velocities, gaps, impulses, ... |
//! | `impacts.parquet`, `impacts.csv` | one row each time a contact closes |
//! | `events.parquet`, `events.csv` | one row per event, with the states before and after; no file where there is none |
//! | `summary.json` | inputs, status, statistics, smallest gaps, certificate, energy ledger |
//!
//! - **Bounded memory**: rows wait in one row group (at most 65536 rows, about 4 million values), whatever the length
//!   of the run.
//! - **Nothing is lost**: files are written aside and take the place of an earlier result when they are whole; see
//!   [`folder`](crate::folder). Every full row group is a closed file `trajectory.part-00001.parquet`, ... there; the
//!   rows of the unfinished group are saved as the next part every few seconds. A process that is killed leaves the
//!   parts in `.carom/run.new`; any other end merges them into the single file by copying encoded row groups.
//! - **Partial results say so**: those of a run that failed or was interrupted have the key `carom.partial` in the
//!   metadata of Parquet files, a last line `# partial: ...` in CSV files, and `status` in the summary.
//! - **The same run gives the same bytes**: row groups depend on the number of rows alone; the clock only decides when
//!   they are saved.
//! - **Only finite numbers are results**: a value that is not finite ends the run with [`ResultError::NotFinite`]. A
//!   gap that the model does not list at some time is null, as are the tangents of an impact without friction, and what
//!   is not known in a row: multipliers before the first step, forces and works of friction inside a step.
//!
//! ```no_run
//! use carom_analysis::results::{Inputs, RecordOptions, RunRecorder};
//! # fn run(mut simulation: carom::Simulation) -> Result<(), Box<dyn std::error::Error>> {
//! let mut recorder = RunRecorder::create("results", simulation.stepper(), RecordOptions::default(), None)?;
//! let outcome = simulation.run(&mut [&mut recorder]);
//! let recorded = recorder.finish(Inputs::default(), &outcome, &simulation);
//! println!("{:?}: {} impacts", recorded.summary.status, recorded.summary.impacts);
//! # Ok(())
//! # }
//! ```

mod checkpoint;
mod column;
pub mod compare;
mod csv;
mod curve;
mod estimate;
mod events;
mod impacts;
mod kept;
mod parquet_file;
mod play;
mod recorder;
mod rows;
mod stored;
mod summary;
mod table;
mod trajectory;
mod values;

pub use checkpoint::{Checkpoints, Identity};
pub use column::{ColumnInfo, Columns, Outputs};
pub use curve::History;
pub use estimate::{Difference, Estimate, Probe};
pub use impacts::{Impacts, ORDER, PRESSED};
pub use kept::{KeptColumn, KeptTable, KeptValues, Words};
pub use play::{PlayOf, PlaySummary};
pub use recorder::{Recorded, RunRecorder};
pub use rows::Sampling;
pub use stored::{Stored, StoredColumn, StoredImpact, tables};
pub use summary::{
    EnergySummary, Failure, Inputs, Method, Residuals, SmallestGaps, SolverPath, Status, Stop, Summary, Totals,
    Warning, fingerprint,
};
pub use trajectory::{RowKind, Trajectory};

use crate::folder::FolderError;
use crate::report::LIMIT;
use carom::ModelError;
use parquet::errors::ParquetError;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a run is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordOptions {
    /// Each n-th step is a row; the first and the last state always are. 0 means 1.
    pub every: u64,
    /// Rows inside steps.
    pub sampling: Sampling,
    /// Columns of the trajectory.
    pub columns: Columns,
    /// Units of columns by name, where they differ from those that columns have by themselves.
    pub units: BTreeMap<String, String>,
    /// Joints with play.
    pub plays: Vec<PlayOf>,
    /// Write `.parquet` files.
    pub parquet: bool,
    /// Write `.csv` files.
    pub csv: bool,
    /// Keep all rows in memory and write nothing.
    pub keep: bool,
    /// Numbers kept in memory for the report: beyond them rows are thinned, and extremes kept. 0 keeps none.
    pub report_values: usize,
    /// Rows of a row group; chosen from the number of columns if `None`.
    pub rows_per_group: Option<usize>,
    /// Rows that wait in memory are saved this often; more rarely if saving takes more than a twentieth of the time.
    pub save_interval: Duration,
    /// Rows that an earlier run has left aside stay: a checkpoint says how many of them count.
    pub resumes: bool,
}

impl Default for RecordOptions {
    fn default() -> Self {
        RecordOptions {
            every: 1,
            sampling: Sampling::Auto,
            columns: Columns::Auto,
            units: BTreeMap::new(),
            plays: Vec::new(),
            parquet: true,
            csv: false,
            keep: false,
            report_values: report_values(LIMIT),
            rows_per_group: None,
            save_interval: Duration::from_secs(5),
            resumes: false,
        }
    }
}

/// Numbers to keep in memory for a report of at most so many bytes: packed, one of a smooth motion takes less than one.
pub fn report_values(bytes: usize) -> usize {
    bytes
}

/// What closing a result table left on the disk.
#[derive(Debug, Default)]
#[must_use]
pub struct Written {
    /// Names of the files inside the directory: the merged ones, or the parts that could not be merged.
    pub files: Vec<String>,
    /// Number of rows that the table was given.
    pub rows: u64,
    /// The rows, where they are kept in memory.
    pub kept: Option<KeptTable>,
    /// Why recording stopped, or why the files could not be completed.
    pub error: Option<ResultError>,
}

/// Why a run could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// The file system refuses.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// What was tried, e.g. `create`.
        action: &'static str,
        /// File or directory that it happened to.
        path: PathBuf,
        /// Reason that the system gives.
        source: io::Error,
    },
    /// The folder belongs to somebody else, or holds what must stay.
    #[error(transparent)]
    Folder(FolderError),
    /// Files of another version.
    #[error("cannot read `{}`: {reason}", path.display())]
    Version {
        /// File that tells the version.
        path: PathBuf,
        /// Which one, and which are known.
        reason: String,
    },
    /// The parquet library refuses.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Parquet {
        /// What was tried, e.g. `lay out`.
        action: &'static str,
        /// File that was to be written.
        path: PathBuf,
        /// Reason that the library gives.
        source: ParquetError,
    },
    /// The summary cannot be put into JSON.
    #[error("cannot write `{}`: {source}", path.display())]
    Json {
        /// File that was to be written.
        path: PathBuf,
        /// Reason that the library gives.
        source: serde_json::Error,
    },
    /// A value that is infinite or not a number.
    #[error("`{column}` is {value} at t = {t:?}; only finite numbers are results")]
    NotFinite {
        /// Name of the column.
        column: String,
        /// The value.
        value: f64,
        /// Time of the row [s].
        t: f64,
    },
    /// A column was asked for that the run does not have.
    #[error("there is no column `{name}`; there are {}", known.join(", "))]
    UnknownColumn {
        /// Name that was asked for.
        name: String,
        /// Names of the columns that there are.
        known: Vec<String>,
    },
    /// Two columns would have the same name.
    #[error("two columns are named `{name}`")]
    DuplicateColumn {
        /// Name of both.
        name: String,
    },
    /// A quantity of the user cannot be evaluated.
    #[error("the outputs cannot be evaluated at t = {t:?}: {source}")]
    Output {
        /// Time of the row [s].
        t: f64,
        /// Reason that the model gives.
        source: ModelError,
    },
    /// The model fails at a state of the run.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl From<FolderError> for ResultError {
    fn from(error: FolderError) -> ResultError {
        match error {
            FolderError::Io { action, path, source } => ResultError::Io { action, path, source },
            error => ResultError::Folder(error),
        }
    }
}

impl ResultError {
    /// Whether files could not be written, whatever was computed.
    pub fn is_environment(&self) -> bool {
        use ResultError::{Folder, Io, Json, Parquet, Version};
        matches!(self, Io { .. } | Parquet { .. } | Json { .. } | Folder(_) | Version { .. })
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ResultError + use<> {
        let path = path.to_path_buf();
        move |source| ResultError::Io { action, path, source }
    }

    /// The parquet library wraps errors of the file system; they are unwrapped, so that a full disk looks the same
    /// everywhere.
    pub(crate) fn parquet(action: &'static str, path: &Path) -> impl FnOnce(ParquetError) -> ResultError + use<> {
        let path = path.to_path_buf();
        move |source| match source {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(source) => ResultError::Io { action, path, source: *source },
                Err(inner) => ResultError::Parquet { action, path, source: ParquetError::External(inner) },
            },
            source => ResultError::Parquet { action, path, source },
        }
    }

    /// The contact that the error speaks of.
    pub fn contact(&self) -> Option<&str> {
        match self {
            ResultError::Model(error) => error.contact(),
            _ => None,
        }
    }

    /// The time that the error speaks of [s].
    pub fn time(&self) -> Option<f64> {
        match self {
            ResultError::NotFinite { t, .. } | ResultError::Output { t, .. } => Some(*t),
            ResultError::Model(error) => error.time(),
            _ => None,
        }
    }
}
