//! One-step problems of a run as files that `carom solve` reads.
//!
//! Names tell the kind, the steps done before, the solve within the step, and the time at its start:
//! `fclib-00000123-1-t0.456000000.hdf5`. Problems that are not solved are always written, with `-failed` at the end.

use crate::arguments::RunArguments;
use crate::failure::Failure;
use carom_scene::problem_file::{Kind, capture, encode};
use carom_solve::OneStepProblem;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes after which nothing more is written but failures.
const MOST_BYTES: u64 = 2_000_000_000;

/// Failures that are written beyond the limit.
const MOST_FAILURES: u64 = 100;

/// What became of the problems.
#[derive(Debug, Default)]
pub struct Dumped {
    pub folder: PathBuf,
    pub written: u64,
    /// Due, but beyond the limit.
    pub left_out: u64,
    /// Due, but no format holds them.
    pub unwritable: u64,
    /// Why the first of them could not be written.
    pub reason: Option<String>,
    /// The disk did not take a file: nothing was written afterwards.
    pub error: Option<String>,
}

/// Writes problems.
pub struct Dump {
    every: u64,
    most: u64,
    bytes: u64,
    failures: u64,
    last: (u64, u64), // step of the last problem, and its number in that step
    done: Dumped,
}

impl Dump {
    /// A writer where one is asked for. Its folder must not hold problems of an earlier run.
    pub fn open(arguments: &RunArguments) -> Result<Option<Dump>, Failure> {
        let Some(folder) = &arguments.dump_problems else { return Ok(None) };
        let failed =
            |e: std::io::Error| Failure::Environment(format!("cannot use the folder `{}`: {e}", folder.display()));
        fs::create_dir_all(folder).map_err(failed)?;
        for entry in fs::read_dir(folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if is_dumped(Path::new(&name)) {
                let message = format!("`{}` holds problems of an earlier run", folder.display());
                return Err(Failure::usage(message, "choose another folder with --dump-problems, or empty this one"));
            }
        }
        Ok(Some(Dump {
            every: arguments.dump_every,
            most: arguments.dump_most,
            bytes: 0,
            failures: 0,
            last: (u64::MAX, 0),
            done: Dumped { folder: folder.clone(), ..Dumped::default() },
        }))
    }

    /// Sees a problem; `(steps, time)` is where the run stands.
    pub fn take(&mut self, problem: &OneStepProblem<'_>, (steps, time): (u64, f64), failed: bool) {
        self.last = if self.last.0 == steps { (steps, self.last.1 + 1) } else { (steps, 1) };
        let due = failed || steps.is_multiple_of(self.every);
        if !due || self.done.error.is_some() {
            return;
        }
        let full = self.done.written >= self.most || self.bytes >= MOST_BYTES;
        if full && !(failed && self.failures < MOST_FAILURES) {
            self.done.left_out += 1;
            return;
        }
        self.failures += u64::from(failed);
        let name = format!("{steps:08}-{}-t{time:.9}{}", self.last.1, if failed { "-failed" } else { "" });
        let stored = capture(&name, problem).map_err(|e| e.to_string());
        match stored.and_then(|stored| encode(&stored).map_err(|e| e.to_string())) {
            Ok(file) => {
                let path = self.done.folder.join(format!("{}-{name}.{}", file.kind.name(), file.extension()));
                match fs::write(&path, &file.bytes) {
                    Ok(()) => self.done.written += 1,
                    Err(e) => self.done.error = Some(format!("cannot write `{}`: {e}", path.display())),
                }
                self.bytes += file.bytes.len() as u64;
            }
            Err(reason) => {
                self.done.unwritable += 1;
                self.done.reason.get_or_insert(reason);
            }
        }
    }

    pub fn finish(self) -> Dumped {
        self.done
    }
}

impl Dumped {
    /// What the user should know beyond the number of files.
    pub fn warnings(&self) -> Vec<String> {
        let mut list = Vec::new();
        if self.left_out > 0 {
            let (written, left_out) = (self.written, self.left_out);
            list.push(format!(
                "warning: {written} problems were written, {left_out} more were left out; see --dump-every and --dump-most"
            ));
        }
        if let Some(reason) = &self.reason {
            list.push(format!("warning: {} problems were not written: {reason}", self.unwritable));
        }
        list
    }
}

/// Whether a name is one of those that are given here.
fn is_dumped(name: &Path) -> bool {
    let text = name.to_string_lossy();
    Kind::ALL.iter().any(|kind| {
        let rest = text.strip_prefix(kind.name()).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| rest.len() > 8 && rest.bytes().take(8).all(|byte| byte.is_ascii_digit()))
    })
}
