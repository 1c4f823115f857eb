//! The one runner of all studies: options become a plan, a plan has units of work, units give parts, parts make a
//! document.
//!
//! ```text
//! Study (options) ── plan(subject) ──▶ Plan ── compute(unit) on threads ──▶ parts ── gather ──▶ Document ──▶ files
//!                                                    │  one JSON line each, as it is done
//!                                                    ▼
//!                                     STUDY.jsonl: a line that says what it is of, then parts in any order
//! ```
//!
//! - Results do not depend on the number of threads: units know nothing of one another, and parts are gathered in their
//!   order.
//! - Each unit is fenced: an error or a panic is a failed part that names the model and the values of its parameters;
//!   the others go on.
//! - A study that was interrupted or killed goes on where it ended: whole lines of the same model, options and version
//!   count.
//! - The folder is checked before anything is computed; an earlier document stays until the new one is whole. One that
//!   an interruption has left says in each file that it is partial.
//! - A shard `k` of `n` computes every n-th unit into a file of its own; a run without shards gathers them all.

use super::document::Document;
use super::{Stop, StudyError, parallel};
use crate::folder::disk::{self, Output};
use crate::folder::{Folder, FolderError, Replace, Sharing, write_file};
use crate::results::fingerprint;
use carom::Subject;
use carom_solve::Options;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::{self, TryLockError};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

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
    type Plan: Plan;

    /// Checks the options against a subject; nothing expensive happens here.
    ///
    /// # Errors
    /// Fails for options that make no sense.
    fn plan(&self, subject: Arc<dyn Subject>) -> Result<Self::Plan, StudyError>;
}

/// Checked work in units that know nothing of one another.
pub trait Plan: Sync {
    /// What a unit gives. Numbers that are not finite need [`exact`](super::exact).
    type Part: Serialize + DeserializeOwned + Send;

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

/// How a study is run.
pub struct Run<'a> {
    /// Where its files go; nothing is written where there is nothing.
    pub folder: Option<&'a Path>,
    /// Threads; as many as there are processors where there is nothing.
    pub threads: Option<usize>,
    /// Number of this shard, from 1, and of all shards.
    pub shard: Option<(usize, usize)>,
    /// Whether parts of earlier runs are forgotten.
    pub fresh: bool,
    /// Whether the user wants to stop.
    pub stop: &'a Stop<'a>,
    /// Sees the progress.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl Default for Run<'_> {
    fn default() -> Self {
        Run { folder: None, threads: None, shard: None, fresh: false, stop: &|| false, progress: &|_| {} }
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

/// Runs a study with a table of options.
pub type RunRow = fn(&Value, Arc<dyn Subject>, &Run<'_>) -> Result<Ran, StudyError>;

/// A row of the registry of studies.
pub struct StudyRow {
    /// What it is.
    pub info: StudyInfo,
    /// JSON Schema of its options.
    pub schema: fn() -> Value,
    /// Names, defaults and meanings of its options.
    pub options: fn() -> Vec<carom_solve::OptionDoc>,
    /// Runs it with a table of options.
    pub run: RunRow,
}

impl StudyRow {
    /// The row of a study.
    pub const fn of<S: Study>() -> StudyRow {
        StudyRow { info: S::INFO, schema: S::schema, options: S::describe, run: read_and_run::<S> }
    }
}

fn read_and_run<S: Study>(table: &Value, subject: Arc<dyn Subject>, run: &Run<'_>) -> Result<Ran, StudyError> {
    let options = S::read(table).map_err(|e| StudyError::usage(e.to_string(), "see `carom help` of this command"))?;
    run_study(&options, subject, run)
}

/// Runs a study.
///
/// # Errors
/// Fails for options that make no sense, for a folder that holds another study or cannot be written, and where nothing
/// was found.
pub fn run_study<S: Study>(study: &S, subject: Arc<dyn Subject>, run: &Run<'_>) -> Result<Ran, StudyError> {
    if let Some((k, n)) = run.shard.filter(|(k, n)| !(1..=*n).contains(k)) {
        return Err(StudyError::usage(format!("there is no shard {k} of {n}"), "shards count from 1, as in 2 of 5"));
    }
    let plan = study.plan(subject.clone())?;
    let units = plan.units();
    let mut parts: Parts<S> = (0..units).map(|_| None).collect();
    let mut store = match run.folder {
        Some(folder) => Some(Store::open(folder, &S::INFO, &describe(study, &*subject, units), run, &mut parts)?),
        None => None,
    };
    let threads = run.threads.or(S::INFO.timed.then_some(1));
    compute(&plan, subject.name(), &mut parts, store.as_mut(), &Run { threads, ..*run })?;
    (run.progress)(Progress::Gather);
    let interrupted = (run.stop)();
    let done = parts.iter().flatten().count();
    if run.shard.is_some() {
        return Ok(Ran { document: None, interrupted, done, units });
    }
    let mut document = match plan.gather(&parts) {
        // there is nothing to show yet
        Err(_) if interrupted => return Ok(Ran { document: None, interrupted, done, units }),
        // what was computed says why: it is not computed again
        Err(error) => {
            return Err(store.map_or(Ok(()), |store| store.finish(&S::INFO, &parts)).err().unwrap_or(error));
        }
        Ok(document) => document,
    };
    document.partial = interrupted.then(|| format!("interrupted after {done} of {units} units"));
    if let Some(store) = store {
        // parts stay until the document is in its place
        store.publish(&S::INFO, &mut document, &parts)?;
    }
    Ok(Ran { document: Some(document), interrupted, done, units })
}

/// Parts of a study; those that are not done are missing.
type Parts<S> = Vec<Option<Outcome<<<S as Study>::Plan as Plan>::Part>>>;

/// Everything that parts depend on.
fn describe<S: Study>(study: &S, subject: &dyn Subject, units: usize) -> Value {
    json!({
        "study": S::INFO.name,
        "carom": env!("CARGO_PKG_VERSION"),
        "format": crate::folder::FORMAT,
        "model": fingerprint(&subject.identity()),
        "options": study,
        "units": units,
    })
}

/// Computes the parts that are missing.
fn compute<P: Plan>(
    plan: &P,
    subject: &str,
    parts: &mut [Option<Outcome<P::Part>>],
    mut store: Option<&mut Store>,
    run: &Run<'_>,
) -> Result<(), StudyError> {
    let units = parts.len();
    let kept = parts.iter().flatten().count();
    let mine = |unit: &usize| run.shard.is_none_or(|(k, n)| unit % n == k - 1);
    let missing: Vec<usize> = (0..units).filter(|unit| parts[*unit].is_none()).filter(mine).collect();
    let ticks = missing.iter().map(|unit| plan.ticks(*unit)).sum();
    (run.progress)(Progress::Begin { ticks, kept, units });
    let task = |k: usize| {
        let (unit, ticked) = (missing[k], AtomicUsize::new(0));
        let watch = Watch { stop: run.stop, progress: run.progress, ticked, most: plan.ticks(unit) };
        let done = fenced(|| plan.compute(unit, &watch));
        (run.progress)(Progress::Done(watch.most.saturating_sub(watch.ticked.load(Ordering::Relaxed))));
        match done {
            Ok(Ok(part)) => Some(Ok(part)),
            Ok(Err(StudyError::Interrupted)) => None,
            Ok(Err(error)) => Some(Err(Failed::of(&error))),
            Err(panic) => Some(Err(Failed::panicked(&panic, subject, &plan.label(unit)))),
        }
    };
    let mut trouble = None;
    let threads = parallel::threads(run.threads, missing.len());
    parallel::each(missing.len(), threads, &|_| !(run.stop)(), &task, &mut |k, outcome| {
        let (Some(outcome), None) = (outcome, &trouble) else { return };
        let whole = outcome.as_ref().map_or(true, |part| plan.is_whole(missing[k], part));
        if let Some(store) = store.as_deref_mut().filter(|_| whole) {
            trouble = store.append(missing[k], &outcome).err();
        }
        parts[missing[k]] = Some(outcome);
    });
    trouble.map_or(Ok(()), Err)
}

/// A line of the file of parts: either of both.
#[derive(Deserialize)]
#[serde(bound = "P: DeserializeOwned")]
struct Line<P> {
    unit: usize,
    part: Option<P>,
    failed: Option<Failed>,
}

/// The same as it is written.
#[derive(Serialize)]
struct WrittenLine<'a, P> {
    unit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'a Failed>,
}

/// The file of parts is brought to the disk this often.
const SYNC: Duration = Duration::from_secs(1);

/// The file of parts, and the folder that it is in.
struct Store {
    folder: Folder,
    path: PathBuf,
    file: Output,
    head: String,
    synced: Instant,
}

impl From<FolderError> for StudyError {
    fn from(error: FolderError) -> StudyError {
        match error.hint() {
            Some(hint) => StudyError::usage(error.to_string(), hint),
            None => StudyError::Environment(error.to_string()),
        }
    }
}

impl Store {
    /// Claims the folder and opens the file; parts of the same study that are there are read.
    fn open<P: DeserializeOwned>(
        path: &Path,
        info: &StudyInfo,
        description: &Value,
        run: &Run<'_>,
        parts: &mut [Option<Outcome<P>>],
    ) -> Result<Store, StudyError> {
        let folder = Folder::claim(path, info.stem, Sharing::Shared)?;
        if run.shard.is_none() {
            let report = format!("{}.html", info.stem);
            folder.check(info.files.iter().copied().chain([report.as_str()]))?;
        }
        let name = match run.shard {
            Some((k, n)) => format!("{}.{k}-of-{n}.jsonl", info.stem),
            None => format!("{}.jsonl", info.stem),
        };
        let (path, head) = (path.join(name), format!("{description}\n"));
        // it appears with its first line: a file without one is somebody else's
        if !path.exists() {
            write_file(&path, Replace::Always, &[], |out| out.write_all(head.as_bytes()))?;
        }
        let file = Output::append(&path)?;
        // two studies at once would mix their parts; where the system has no locks there is none
        if let Err(TryLockError::WouldBlock) = file.file().try_lock() {
            let path = path.display();
            let text = format!("another {} is writing `{path}`; choose another folder with --out", info.name);
            return Err(StudyError::Environment(text));
        }
        let mut store = Store { folder, path, file, head, synced: Instant::now() };
        store.resume(info, run, parts)?;
        Ok(store)
    }

    /// Reads whole lines, of the files of shards as well; a piece of a line at the end is dropped.
    fn resume<P: DeserializeOwned>(
        &mut self,
        info: &StudyInfo,
        run: &Run<'_>,
        parts: &mut [Option<Outcome<P>>],
    ) -> Result<(), StudyError> {
        let folder = self.folder.path();
        let mut files = self.shards(info)?;
        files.retain(|_| run.shard.is_none());
        files.push(self.path.clone());
        for path in files {
            let text = disk::read(&path)?.unwrap_or_default();
            let (first, _) = text.split_once('\n').unwrap_or_default();
            let known = serde_json::from_str::<Value>(first).is_ok_and(|head| head["study"] == info.name);
            if !known {
                return Err(FolderError::Foreign { path }.into());
            }
            let own = path == self.path;
            match (run.fresh, own) {
                (true, true) => {
                    // a file without its first line would be nobody's
                    write_file(&path, Replace::Always, &[], |out| out.write_all(self.head.as_bytes()))?;
                    self.file = Output::append(&path)?;
                    let _ = self.file.file().try_lock();
                    continue;
                }
                (true, false) => {
                    disk::remove(&path)?;
                    continue;
                }
                _ if text.starts_with(&self.head) => {}
                _ => {
                    return Err(StudyError::usage(
                        format!("`{}` holds another {}", folder.display(), info.name),
                        "choose another folder with --out, or forget it with --fresh",
                    ));
                }
            }
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            for line in text[self.head.len()..whole].lines() {
                // a line that is none is computed again
                let Ok(Line { unit, part, failed }) = serde_json::from_str::<Line<P>>(line) else { continue };
                if let Some(place) = parts.get_mut(unit) {
                    *place = part.map(Ok).or(failed.map(Err));
                }
            }
            if own {
                self.file.cut(whole as u64).map_err(|e| StudyError::cannot("write", &path, &e))?;
            }
        }
        Ok(())
    }

    /// The files of shards in the folder, in order.
    fn shards(&self, info: &StudyInfo) -> Result<Vec<PathBuf>, StudyError> {
        let folder = self.folder.path();
        let entries = fs::read_dir(folder).map_err(|e| StudyError::cannot("read", folder, &e))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path != &self.path && is_shard(path, info.stem));
        files.sort();
        Ok(files)
    }

    /// Hands a part to the file at once.
    fn append<P: Serialize>(&mut self, unit: usize, outcome: &Outcome<P>) -> Result<(), StudyError> {
        let line = line(unit, outcome)?;
        let mut written = self.file.write_all(line.as_bytes());
        if self.synced.elapsed() >= SYNC {
            written = written.and_then(|()| self.file.sync());
            self.synced = Instant::now();
        }
        written.map_err(|e| StudyError::cannot("write", &self.path, &e))
    }

    /// Puts the document in its place; parts stay where it is partial.
    fn publish<P: Serialize>(
        self,
        info: &StudyInfo,
        document: &mut Document,
        parts: &[Option<Outcome<P>>],
    ) -> Result<(), StudyError> {
        let shards = self.shards(info)?;
        let Store { folder, path, head, file, .. } = self;
        file.sync().map_err(|e| StudyError::cannot("write", &path, &e))?;
        let mut draft = folder.draft()?;
        document.write(&mut draft, info.stem)?;
        draft.publish(document.partial.as_deref())?;
        if document.partial.is_none() { settle(&path, &shards, &head, info, parts) } else { Ok(()) }
    }

    /// After the last unit of a study that has no document.
    fn finish<P: Serialize>(self, info: &StudyInfo, parts: &[Option<Outcome<P>>]) -> Result<(), StudyError> {
        settle(&self.path, &self.shards(info)?, &self.head, info, parts)
    }
}

/// After the last unit: parts in their order, or no file at all.
fn settle<P: Serialize>(
    path: &Path,
    shards: &[PathBuf],
    head: &str,
    info: &StudyInfo,
    parts: &[Option<Outcome<P>>],
) -> Result<(), StudyError> {
    if info.keeps_parts {
        let lines = parts.iter().enumerate().filter_map(|(unit, outcome)| Some(line(unit, outcome.as_ref()?)));
        let text = std::iter::once(Ok(head.to_owned())).chain(lines).collect::<Result<String, StudyError>>()?;
        write_file(path, Replace::Always, &[], |out| out.write_all(text.as_bytes()))?;
    } else {
        disk::remove(path)?;
    }
    shards.iter().try_for_each(|shard| Ok(disk::remove(shard)?))
}

/// Whether a file has the parts of a shard: `sweep.2-of-5.jsonl`.
fn is_shard(path: &Path, study: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let middle = name.strip_prefix(study).and_then(|rest| rest.strip_prefix('.'));
    let middle = middle.and_then(|rest| rest.strip_suffix(".jsonl")).and_then(|rest| rest.split_once("-of-"));
    middle.is_some_and(|(k, n)| k.parse::<usize>().is_ok() && n.parse::<usize>().is_ok())
}

fn line<P: Serialize>(unit: usize, outcome: &Outcome<P>) -> Result<String, StudyError> {
    let line = WrittenLine { unit, part: outcome.as_ref().ok(), failed: outcome.as_ref().err() };
    let text = serde_json::to_string(&line);
    text.map(|text| text + "\n").map_err(|e| StudyError::Environment(format!("a part cannot be written: {e}")))
}
