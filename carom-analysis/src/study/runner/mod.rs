//! The one runner of all studies: options become a plan, a plan has units of work, units give parts, parts make a
//! document.
//!
//! ```text
//! Study (options) ── plan(subject) ──▶ Plan ── compute(unit) on threads ──▶ parts ── gather ──▶ Document ──▶ files
//!                                                    │  one JSON line each, as it is done
//!                                                    ▼
//!                                     STUDY.jsonl: a line that says what it is of, then rows in any order
//! ```
//!
//! A [`Job`] is a study on its way: `job.rs`. Files of rows are those of `store.rs`.
//!
//! - Results do not depend on the number of threads: units know nothing of one another, and parts are gathered in their
//!   order.
//! - Each unit is fenced: an error or a panic is a failed part that names the model and the values of its parameters;
//!   the others go on.
//! - A study that was interrupted or killed goes on where it ended: whole lines of the same model, options and version
//!   count.
//! - The folder is checked before anything is computed; an earlier document stays until the new one is whole. One that
//!   an interruption has left says in each file that it is partial.
//! - A shard `k` of `n` computes every n-th unit into a file of its own, `auto` what no file holds; a run without them
//!   gathers all. Any number of writers on one folder see each other's rows. Two rows of one unit must be equal.
//! - Other programs distribute units by themselves: they open a job, let others make rows of it, and take them.

mod job;
mod store;

pub use job::{Job, run_study};

use super::document::Document;
use super::{Stop, StudyError};
use carom::Subject;
use carom_solve::Options;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a study is, for lists, pages and commands.
#[derive(Clone, Copy, Debug)]
pub struct StudyInfo {
    /// Name on the command line.
    pub name: &'static str,
    /// Name of its report and of its file of parts.
    pub stem: &'static str,
    /// One line.
    pub title: &'static str,
    /// Keys of the bibliography.
    pub citations: &'static [&'static str],
    /// Text of its source file, whose head is its page.
    pub source: &'static str,
    /// Files that it may write besides its report.
    pub files: &'static [&'static str],
    /// What its progress counts.
    pub counts: &'static str,
    /// Whether parts stay in the folder of a finished study, so that it is not computed again.
    pub keeps_parts: bool,
    /// Whether it measures times: one unit after the other unless threads are asked for.
    pub timed: bool,
}

impl StudyInfo {
    /// One whose files have its name, whose parts go and that measures no times.
    pub const fn new(name: &'static str, title: &'static str, source: &'static str) -> StudyInfo {
        let (citations, files) = (&[], &[]);
        StudyInfo {
            name,
            stem: name,
            title,
            citations,
            source,
            files,
            counts: "units",
            keeps_parts: false,
            timed: false,
        }
    }
}

/// A study: its options, as flags of the command, table of a file and keywords alike.
pub trait Study: Options {
    /// What it is.
    const INFO: StudyInfo;
    /// The work that it makes of a subject.
    type Plan: Plan + 'static;

    /// Checks the options against a subject; nothing expensive happens here.
    ///
    /// # Errors
    /// Fails for options that make no sense.
    fn plan(&self, subject: Arc<dyn Subject>) -> Result<Self::Plan, StudyError>;
}

/// Checked work in units that know nothing of one another.
pub trait Plan: Send + Sync {
    /// What a unit gives. Numbers that are not finite need [`exact`](super::exact).
    type Part: Serialize + DeserializeOwned + Send + Sync;

    /// Number of units.
    fn units(&self) -> usize;

    /// A unit in words: the values of its parameters.
    fn label(&self, unit: usize) -> String;

    /// Steps of progress in a unit.
    fn ticks(&self, _unit: usize) -> usize {
        1
    }

    /// Does one unit.
    ///
    /// # Errors
    /// An error is a failed part; [`StudyError::Interrupted`] leaves none.
    fn compute(&self, unit: usize, watch: &Watch<'_>) -> Result<Self::Part, StudyError>;

    /// Whether a part is all of its unit: what an interruption left is shown, but computed again.
    fn is_whole(&self, _unit: usize, _part: &Self::Part) -> bool {
        true
    }

    /// Makes the document; parts of units that were not done are missing.
    ///
    /// # Errors
    /// Fails where there is nothing to show.
    fn gather(&self, parts: &[Option<Outcome<Self::Part>>]) -> Result<Document, StudyError>;
}

/// A part, or why there is none.
pub type Outcome<P> = Result<P, Failed>;

/// A unit that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// How.
    pub how: How,
    /// The reason.
    pub message: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

/// How a unit failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// The computation.
    Failed,
    /// The model is not good with these values.
    Refused,
    /// The options make no sense.
    Usage,
    /// A panic: a bug.
    Panic,
}

impl Failed {
    fn of(error: &StudyError) -> Failed {
        let how = match error {
            StudyError::Refused(_) => How::Refused,
            error if error.is_usage() => How::Usage,
            _ => How::Failed,
        };
        Failed { how, message: error.to_string(), hint: error.hint().to_owned() }
    }

    fn panicked(text: &str, subject: &str, label: &str) -> Failed {
        let with = if label.is_empty() { String::new() } else { format!(" with {label}") };
        let message = format!("a bug in carom or in the model, {subject}{with}: {text}");
        Failed { how: How::Panic, message, hint: String::new() }
    }

    /// The error of a study that consists of this unit alone.
    pub fn error(&self) -> StudyError {
        match self.how {
            How::Usage => StudyError::usage(self.message.clone(), self.hint.clone()),
            _ if self.hint.is_empty() => StudyError::Computation(self.message.clone()),
            _ => StudyError::Computation(format!("{}; {}", self.message, self.hint)),
        }
    }
}

/// Does something that may panic; a panic gives its message.
///
/// # Errors
/// Fails where it panics.
pub fn fenced<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason".into())
    })
}

/// The part of a study with one unit.
///
/// # Errors
/// Fails as the unit did.
pub fn only<P>(parts: &[Option<Outcome<P>>]) -> Result<&P, StudyError> {
    match parts.first() {
        Some(Some(Ok(part))) => Ok(part),
        Some(Some(Err(failed))) => Err(failed.error()),
        _ => Err(StudyError::Interrupted),
    }
}

/// What a unit looks at on its way.
pub struct Watch<'a> {
    /// Whether the user wants to stop.
    pub stop: &'a Stop<'a>,
    progress: &'a (dyn Fn(Progress) + Sync),
    ticked: AtomicUsize,
    most: usize,
}

impl Watch<'_> {
    /// One step of progress.
    pub fn tick(&self) {
        if self.ticked.fetch_add(1, Ordering::Relaxed) < self.most {
            (self.progress)(Progress::Done(1));
        }
    }
}

/// Progress of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It begins, with so many steps of progress to come; so many of all units are there already.
    Begin {
        /// Steps of progress to come.
        ticks: usize,
        /// Units that are there already.
        kept: usize,
        /// Number of all units.
        units: usize,
    },
    /// So many steps more.
    Done(usize),
    /// All is computed, or the user has stopped it: the document is made.
    Gather,
}

/// Which units a run computes, and where their rows go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// All that are missing, which makes the document.
    #[default]
    All,
    /// Every n-th from the k-th on, counted from 1: into a file of their own.
    Shard(usize, usize),
    /// Those that no file of the folder holds, into a file of their own: any number of writers complement each other.
    Auto,
}

/// How a study is run.
pub struct Run<'a> {
    /// Where its files go; nothing is written where there is nothing.
    pub folder: Option<&'a Path>,
    /// Threads; as many as there are processors where there is nothing.
    pub threads: Option<usize>,
    /// What of it is computed.
    pub share: Share,
    /// Whether parts of earlier runs are forgotten.
    pub fresh: bool,
    /// Whether the user wants to stop.
    pub stop: &'a Stop<'a>,
    /// Sees the progress.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl Default for Run<'_> {
    fn default() -> Self {
        Run { folder: None, threads: None, share: Share::All, fresh: false, stop: &|| false, progress: &|_| {} }
    }
}

/// What a run gave.
#[derive(Debug)]
pub struct Ran {
    /// The document; a shard has none, nor has a study that was interrupted before there was anything to show.
    pub document: Option<Document>,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Units that are done, and kept in the file of parts.
    pub done: usize,
    /// All units.
    pub units: usize,
}

/// Opens a study with a table of options.
pub type OpenRow = fn(&Value, Arc<dyn Subject>, &Run<'_>) -> Result<Box<dyn Job>, StudyError>;

/// A row of the registry of studies.
pub struct StudyRow {
    /// What it is.
    pub info: StudyInfo,
    /// JSON Schema of its options.
    pub schema: fn() -> Value,
    /// Names, defaults and meanings of its options.
    pub options: fn() -> Vec<carom_solve::OptionDoc>,
    /// Checks a table of options and reads what is there already.
    pub open: OpenRow,
}

impl StudyRow {
    /// The row of a study.
    pub const fn of<S: Study>() -> StudyRow {
        StudyRow { info: S::INFO, schema: S::schema, options: S::describe, open: job::read_and_open::<S> }
    }

    /// Runs it with a table of options.
    ///
    /// # Errors
    /// As [`run_study`].
    pub fn run(&self, table: &Value, subject: Arc<dyn Subject>, run: &Run<'_>) -> Result<Ran, StudyError> {
        job::drive((self.open)(table, subject, run)?, run)
    }
}
