//! One-step problems of a run as files that `carom solve` reads.
//!
//! Names tell the kind, the steps done before, the solve within the step, and the time at its start:
//! `fclib-00000123-1-t0.456000000.hdf5`. Problems that are not solved are always written, with `-failed` at the end.

use crate::arguments::RunArguments;
use crate::failure::Failure;
use carom::simulation::{Observer, StepView};
use carom::{ModelError, Stepper};
use carom_analysis::folder::{Replace, write_file};
use carom_analysis::results::Warning;
use carom_scene::problem_file::{FileFormat, capture, encode};
use carom_solve::solver::Path as SolverPath;
use carom_solve::{Certificate, Law, OneStepProblem, Reaction, SolveError, Solver, SolverInfo, Unsupported};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// Writes problems. The solver hands them over, and the run tells where it stands.
#[derive(Clone)]
pub struct Dump(Arc<Mutex<Writer>>);

struct Writer {
    at: (u64, f64), // steps done, and the time that they reached [s]: solvers know neither
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
        let writer = Writer {
            at: (0, 0.0),
            every: arguments.dump_every,
            most: arguments.dump_most,
            bytes: 0,
            failures: 0,
            last: (u64::MAX, 0),
            done: Dumped { folder: folder.clone(), ..Dumped::default() },
        };
        Ok(Some(Dump(Arc::new(Mutex::new(writer)))))
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What became of the problems.
    pub fn finish(&self) -> Dumped {
        std::mem::take(&mut self.writer().done)
    }
}

impl Observer for Dump {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.writer().at = (0, stepper.from().t);
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.writer().at = (view.index, view.to().t);
        Ok(ControlFlow::Continue(()))
    }
}

/// A solver whose problems are written.
pub struct Dumping {
    inner: Box<dyn Solver>,
    dump: Dump,
}

impl Dumping {
    pub fn new(inner: Box<dyn Solver>, dump: Dump) -> Dumping {
        Dumping { inner, dump }
    }
}

impl Solver for Dumping {
    fn info(&self) -> &'static SolverInfo {
        self.inner.info()
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        self.inner.admits(laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let result = self.inner.solve(problem, z);
        self.dump.writer().take(problem, result.is_err() || self.inner.warning().is_some());
        result
    }

    fn path(&self) -> SolverPath {
        self.inner.path()
    }

    fn warning(&self) -> Option<carom_solve::SolverWarning> {
        self.inner.warning()
    }

    fn accept(&self) -> Option<f64> {
        self.inner.accept()
    }

    fn log(&self) -> String {
        self.inner.log()
    }
}

impl Writer {
    /// Sees a problem.
    fn take(&mut self, problem: &OneStepProblem<'_>, failed: bool) {
        let (steps, time) = self.at;
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
                match write_file(&path, Replace::Never, &[], |out| out.write_all(&file.bytes)) {
                    Ok(()) => self.done.written += 1,
                    Err(error) => self.done.error = Some(error.to_string()),
                }
                self.bytes += file.bytes.len() as u64;
            }
            Err(reason) => {
                self.done.unwritable += 1;
                self.done.reason.get_or_insert(reason);
            }
        }
    }
}

impl Dumped {
    /// What the user should know beyond the number of files.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        let (written, left_out, unwritable) = (self.written, self.left_out, self.unwritable);
        let limit = (left_out > 0).then(|| Warning {
            kind: "dump-limit".into(),
            message: format!("{written} problems were written, {left_out} more were left out"),
            hint: Some("see --dump-every and --dump-most".into()),
            ..Warning::default()
        });
        let format = self.reason.as_ref().map(|reason| Warning {
            kind: "dump-format".into(),
            message: format!("{unwritable} problems were not written: {reason}"),
            ..Warning::default()
        });
        limit.into_iter().chain(format)
    }
}

/// Whether a name is one of those that are given here.
fn is_dumped(name: &Path) -> bool {
    let text = name.to_string_lossy();
    FileFormat::ALL.iter().any(|kind| {
        let rest = text.strip_prefix(kind.name()).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| rest.len() > 8 && rest.bytes().take(8).all(|byte| byte.is_ascii_digit()))
    })
}
