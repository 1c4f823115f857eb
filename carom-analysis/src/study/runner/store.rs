//! Files of rows in the folder of a study: each writer has one of its own, and reads those of the others.
//!
//! ```text
//! sweep.jsonl                          all units            what the study is of
//! sweep.2-of-5.jsonl                   a shard              {"unit":3,"part":[...]}
//! sweep.auto-HOST-PID-START.jsonl      --shard auto         {"unit":0,"failed":{...}}
//! ```
//!
//! A row is a line with its end. Lines are appended at once, so that a kill loses no more than the units on their way.

use super::{Failed, Outcome, Run, Share, StudyInfo};
use crate::folder::disk::{self, Output};
use crate::folder::{Folder, FolderError, Replace, Sharing, write_file};
use crate::study::StudyError;
use crate::study::document::Document;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What is known of each unit.
pub(super) type Parts<P> = Vec<Option<Outcome<P>>>;

/// A line of a file of rows: either of both.
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

/// A row with the end of its line.
pub(super) fn line<P: Serialize>(unit: usize, outcome: &Outcome<P>) -> Result<String, StudyError> {
    let line = WrittenLine { unit, part: outcome.as_ref().ok(), failed: outcome.as_ref().err() };
    let text = serde_json::to_string(&line);
    text.map(|text| text + "\n").map_err(|e| StudyError::Environment(format!("a part cannot be written: {e}")))
}

/// The rows of a text. A line without its end, or one that is none, is left out: its unit is computed again.
pub(super) fn read<P: DeserializeOwned>(text: &str) -> impl Iterator<Item = (usize, Outcome<P>)> {
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).filter_map(|line| {
        let Line { unit, part, failed } = serde_json::from_str::<Line<P>>(line).ok()?;
        Some((unit, part.map(Ok).or(failed.map(Err))?))
    })
}

/// Puts a row in its place; whether it is new. One that is there must be equal, unless it has times of the clock.
///
/// # Errors
/// Fails with the unit that has two different rows.
pub(super) fn put<P: Serialize>(
    parts: &mut Parts<P>,
    unit: usize,
    outcome: Outcome<P>,
    timed: bool,
) -> Result<bool, usize> {
    match parts.get_mut(unit) {
        Some(place @ None) => {
            *place = Some(outcome);
            Ok(true)
        }
        Some(Some(known)) if !timed && line(unit, known).ok() != line(unit, &outcome).ok() => Err(unit),
        _ => Ok(false),
    }
}

/// Two rows of one unit that differ.
pub(super) fn contradiction(study: &str, label: &str) -> StudyError {
    let with = if label.is_empty() { String::new() } else { format!(", {label},") };
    StudyError::usage(
        format!("two rows of one unit of this {study}{with} differ"),
        "they come from different machines or builds: compute all with one of them, from the start with --fresh",
    )
}

/// Rows are brought to the disk this often.
const SYNC: Duration = Duration::from_secs(1);

/// Files of others are looked at this often, and no more than for a small part of the time.
const LOOK: Duration = Duration::from_millis(5);
const PART: u32 = 20;

/// The file of rows of a writer, and the folder that it is in.
pub(super) struct Store {
    info: StudyInfo,
    folder: Folder,
    path: PathBuf,
    file: Output,
    head: String,
    synced: Instant,
    looked: Instant,
    /// How long to wait until the next look.
    pause: Duration,
    /// Files of others, with the bytes that were read.
    seen: BTreeMap<PathBuf, u64>,
    /// Whether files of others do not count.
    alone: bool,
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
    /// Claims the folder and opens the file; rows of the same study that are there are read.
    pub fn open<P: Serialize + DeserializeOwned>(
        path: &Path,
        info: &StudyInfo,
        description: &Value,
        run: &Run<'_>,
        parts: &mut Parts<P>,
    ) -> Result<Store, StudyError> {
        let folder = Folder::claim(path, info.stem, Sharing::Shared)?;
        if run.share == Share::All {
            let report = format!("{}.html", info.stem);
            folder.check(info.files.iter().copied().chain([report.as_str()]))?;
        }
        let name = match run.share {
            Share::All => format!("{}.jsonl", info.stem),
            Share::Shard(k, n) => format!("{}.{k}-of-{n}.jsonl", info.stem),
            Share::Auto => format!("{}.auto-{}.jsonl", info.stem, writer()),
        };
        let (path, head) = (path.join(name), format!("{description}\n"));
        // it appears with its first line: a file without one is somebody else's
        if !path.exists() {
            write_file(&path, Replace::Always, &[], |out| out.write_all(head.as_bytes()))?;
        }
        let file = Output::append(&path)?;
        // two studies at once would mix their rows; where the system has no locks there is none
        if let Err(TryLockError::WouldBlock) = file.file().try_lock() {
            let path = path.display();
            let text = format!("another {} is writing `{path}`; choose another folder with --out", info.name);
            return Err(StudyError::Environment(text));
        }
        let (now, alone) = (Instant::now(), run.fresh && run.share != Share::All);
        let mut store = Store {
            info: *info,
            folder,
            path,
            file,
            head,
            synced: now,
            looked: now,
            pause: LOOK,
            seen: BTreeMap::new(),
            alone,
        };
        store.resume(run.fresh, parts)?;
        Ok(store)
    }

    /// Reads what is there, or forgets it. A piece of a line at the end of the own file is dropped.
    fn resume<P: Serialize + DeserializeOwned>(&mut self, fresh: bool, parts: &mut Parts<P>) -> Result<(), StudyError> {
        let text = disk::read(&self.path)?.unwrap_or_default();
        self.rows(&self.path, &text, fresh)?;
        if fresh {
            // a file without its first line would be nobody's
            write_file(&self.path, Replace::Always, &[], |out| out.write_all(self.head.as_bytes()))?;
            self.file = Output::append(&self.path)?;
            let _ = self.file.file().try_lock();
            if !self.alone {
                for path in self.others()? {
                    let text = disk::read(&path)?.unwrap_or_default();
                    self.rows(&path, &text, fresh)?;
                    disk::remove(&path)?;
                }
            }
            return Ok(());
        }
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let contradiction = |unit: usize| contradiction(self.info.name, &format!("number {unit}"));
        for (unit, outcome) in read(&text[self.head.len()..whole]) {
            put(parts, unit, outcome, self.info.timed).map_err(contradiction)?;
        }
        self.file.cut(whole as u64).map_err(|e| StudyError::cannot("write", &self.path, &e))?;
        let name = self.info.name;
        self.look(parts, &|unit| self::contradiction(name, &format!("number {unit}")), &mut |_| {})
    }

    /// The rows of a file, after its first line, which must be that of this very study.
    fn rows<'t>(&self, path: &Path, text: &'t str, any: bool) -> Result<&'t str, StudyError> {
        let (first, rest) = text.split_once('\n').unwrap_or_default();
        match serde_json::from_str::<Value>(first) {
            Ok(head) if head["study"] == self.info.name => {
                if any || text.starts_with(&self.head) {
                    return Ok(rest);
                }
                let ours = serde_json::from_str(&self.head).unwrap_or_default();
                let why = difference(&head, &ours);
                Err(StudyError::usage(
                    format!("`{}` holds another {}: {why}", path.display(), self.info.name),
                    "choose another folder with --out, or forget it with --fresh",
                ))
            }
            _ => Err(FolderError::Foreign { path: path.to_path_buf() }.into()),
        }
    }

    /// A number that other writers do not have.
    pub fn number(&self) -> u64 {
        let name = self.path.file_name().unwrap_or_default().as_encoded_bytes();
        let sum = name
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
        sum ^ (sum >> 32)
    }

    /// Whether it is time to look at what others have done.
    pub fn is_due(&self) -> bool {
        !self.alone && self.looked.elapsed() >= self.pause
    }

    /// Reads rows that others have added; `done` hears of those that are new here.
    pub fn look<P: Serialize + DeserializeOwned>(
        &mut self,
        parts: &mut Parts<P>,
        contradiction: &dyn Fn(usize) -> StudyError,
        done: &mut dyn FnMut(usize),
    ) -> Result<(), StudyError> {
        if self.alone {
            return Ok(());
        }
        let begun = Instant::now();
        for path in self.others()? {
            let from = self.seen.get(&path).copied().unwrap_or(0);
            let Some(text) = disk::read_from(&path, from)? else { continue };
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            let rows = if from == 0 { self.rows(&path, &text, false)? } else { &text[..whole] };
            for (unit, outcome) in read(rows) {
                if put(parts, unit, outcome, self.info.timed).map_err(contradiction)? {
                    done(unit);
                }
            }
            self.seen.insert(path, from + whole as u64);
        }
        self.looked = Instant::now();
        self.pause = LOOK.max(PART * (self.looked - begun));
        Ok(())
    }

    /// The files of other writers in the folder, in order.
    fn others(&self) -> Result<Vec<PathBuf>, StudyError> {
        let folder = self.folder.path();
        let entries = fs::read_dir(folder).map_err(|e| StudyError::cannot("read", folder, &e))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| *path != self.path && has_rows(path, self.info.stem));
        files.sort();
        Ok(files)
    }

    /// Hands a row to the file at once.
    pub fn append<P: Serialize>(&mut self, unit: usize, outcome: Option<&Outcome<P>>) -> Result<(), StudyError> {
        let Some(outcome) = outcome else { return Ok(()) };
        let line = line(unit, outcome)?;
        let mut written = self.file.write_all(line.as_bytes());
        if self.synced.elapsed() >= SYNC {
            written = written.and_then(|()| self.file.sync());
            self.synced = Instant::now();
        }
        written.map_err(|e| StudyError::cannot("write", &self.path, &e))
    }

    /// Puts the document in its place; rows stay where it is partial.
    pub fn publish<P: Serialize>(self, document: &mut Document, parts: &Parts<P>) -> Result<(), StudyError> {
        let others = self.others()?;
        let Store { info, folder, path, head, file, .. } = self;
        file.sync().map_err(|e| StudyError::cannot("write", &path, &e))?;
        let mut draft = folder.draft()?;
        document.write(&mut draft, info.stem)?;
        draft.publish(document.partial.as_deref())?;
        if document.partial.is_none() { settle(&info, &path, &others, &head, parts) } else { Ok(()) }
    }

    /// After the last unit of a study that has no document.
    pub fn finish<P: Serialize>(self, parts: &Parts<P>) -> Result<(), StudyError> {
        settle(&self.info, &self.path, &self.others()?, &self.head, parts)
    }
}

/// After the last unit: rows in their order, or no file at all. The file of a writer that still lives stays.
fn settle<P: Serialize>(
    info: &StudyInfo,
    path: &Path,
    others: &[PathBuf],
    head: &str,
    parts: &Parts<P>,
) -> Result<(), StudyError> {
    if info.keeps_parts {
        let lines = parts.iter().enumerate().filter_map(|(unit, outcome)| Some(line(unit, outcome.as_ref()?)));
        let text = std::iter::once(Ok(head.to_owned())).chain(lines).collect::<Result<String, StudyError>>()?;
        write_file(path, Replace::Always, &[], |out| out.write_all(text.as_bytes()))?;
    } else {
        disk::remove(path)?;
    }
    for other in others {
        let lives = |file: Output| matches!(file.file().try_lock(), Err(TryLockError::WouldBlock));
        if !Output::append(other).is_ok_and(lives) {
            disk::remove(other)?;
        }
    }
    Ok(())
}

/// Why a file of rows is of another study than this one.
fn difference(theirs: &Value, ours: &Value) -> String {
    let differs = |key: &str| theirs[key] != ours[key];
    if differs("carom") || differs("format") {
        let version = |head: &Value| format!("{} ({})", head["carom"].as_str().unwrap_or("?"), head["format"]);
        return format!("carom {} wrote it, and this is {}", version(theirs), version(ours));
    }
    if differs("model") {
        return "its model is another one, or changed in another way".into();
    }
    let names = ours["options"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let other: Vec<&str> = names.filter(|name| theirs["options"][name] != ours["options"][name]).collect();
    match other.is_empty() {
        true => "its first line is another one".into(),
        false => format!("it has other values of {}", other.join(", ")),
    }
}

/// Whether a file has rows of a study: `sweep.jsonl`, `sweep.2-of-5.jsonl`, `sweep.auto-....jsonl`.
fn has_rows(path: &Path, study: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some(middle) = name.strip_prefix(study).and_then(|rest| rest.strip_suffix(".jsonl")) else { return false };
    let shard = |text: &str| {
        text.split_once("-of-").is_some_and(|(k, n)| k.parse::<usize>().is_ok() && n.parse::<usize>().is_ok())
    };
    middle.is_empty() || middle.strip_prefix('.').is_some_and(|text| text.starts_with("auto-") || shard(text))
}

/// A name that no other writer has, on any machine: host, process and the time of its start.
fn writer() -> String {
    let named = |path: &str| fs::read_to_string(path).ok();
    let host = named("/proc/sys/kernel/hostname").or_else(|| named("/etc/hostname"));
    let host = host.or_else(|| std::env::var("COMPUTERNAME").ok()).unwrap_or_default();
    let host: String = host.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}-{:x}", if host.is_empty() { "host" } else { &host }, std::process::id(), start.as_nanos())
}
