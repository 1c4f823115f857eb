//! Studies: one function for all rows of the registry, and studies on their way for those who distribute their units.

use crate::convert::{to_json, to_python};
use crate::error::{failure, study as study_error, usage};
use crate::scene::Scene;
use crate::supervise::{supervised, supervised_with};
use carom_analysis::report::Cell;
use carom_analysis::study::document::{Document, Table};
use carom_analysis::study::runner::{Job as Work, Progress, Run, Share, StudyRow};
use carom_analysis::study::{STUDIES, StudyError, find};
use carom_cli::StudyInput;
use carom_scene::{Overrides, suggest};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The row of a study, and a table of its options.
fn row(name: &str, options: &Bound<'_, PyDict>) -> PyResult<(&'static StudyRow, Map<String, Value>)> {
    let py = options.py();
    let Some(row) = find(name) else {
        let names = || STUDIES.iter().map(|row| row.info.name);
        let hint = suggest(name, names(), false, || format!("there are {}", names().collect::<Vec<_>>().join(", ")));
        return Err(usage(py, format!("no study is named `{name}`"), hint));
    };
    let Value::Object(options) = to_json(options.as_any())? else { return Ok((row, Map::new())) };
    let schema = (row.schema)();
    let known = || schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    for key in options.keys() {
        if !known().any(|name| name == key) {
            let all = || format!("options: {}", known().collect::<Vec<_>>().join(", "));
            return Err(usage(py, format!("`{name}` has no option `{key}`"), suggest(key, known(), false, all)));
        }
    }
    Ok((row, options))
}

/// Model and options of a study from a file, a model file or a study file; or from the text of a study file, nothing
/// where the text is meant as a model.
#[pyfunction]
#[pyo3(signature = (name, path, options, text=None))]
pub fn study_input(
    py: Python<'_>,
    name: &str,
    path: PathBuf,
    options: &Bound<'_, PyDict>,
    text: Option<&str>,
) -> PyResult<Option<(Scene, Py<PyAny>)>> {
    let (row, given) = row(name, options)?;
    let overrides = Overrides::default();
    let input = py.detach(|| match text {
        None => Some(StudyInput::load(row, &path, &overrides, given)),
        Some(text) => StudyInput::from_text(row, (&path.to_string_lossy(), text), &overrides, given),
    });
    let Some(input) = input else { return Ok(None) };
    let input = input.map_err(|error| failure(py, &error))?;
    if input.is_file() {
        py.detach(|| input.check(row)).map_err(|error| failure(py, &error))?;
    }
    Ok(Some((Scene::of(input.scene.clone()), to_python(py, &input.options)?.unbind())))
}

/// What of a study is computed: all, a shard as a pair of numbers, or "auto".
fn share(shard: Option<&Bound<'_, PyAny>>) -> PyResult<Share> {
    match shard {
        None => Ok(Share::All),
        Some(word) if word.extract::<&str>().is_ok_and(|word| word == "auto") => Ok(Share::Auto),
        Some(pair) => match pair.extract::<(usize, usize)>() {
            Ok((k, n)) => Ok(Share::Shard(k, n)),
            Err(_) => Err(usage(pair.py(), "`shard` is no shard", "write (2, 5) for the second of five, or \"auto\"")),
        },
    }
}

/// A study on its way.
#[pyclass(frozen, module = "carom._carom")]
pub struct Job {
    name: &'static str,
    work: RwLock<Option<Box<dyn Work>>>,
}

/// Opens a study with a table of options.
#[pyfunction]
#[pyo3(signature = (name, scene, options, out=None, threads=None, shard=None, fresh=false))]
#[expect(clippy::too_many_arguments, reason = "the flags of the command")]
pub fn open_study(
    py: Python<'_>,
    name: &str,
    scene: &Scene,
    options: &Bound<'_, PyDict>,
    out: Option<PathBuf>,
    threads: Option<usize>,
    shard: Option<&Bound<'_, PyAny>>,
    fresh: bool,
) -> PyResult<Job> {
    let (row, options) = row(name, options)?;
    let (options, share, subject) = (Value::Object(options), share(shard)?, scene.inner().clone());
    let open = || {
        let run = Run { folder: out.as_deref(), threads, share, fresh, ..Run::default() };
        (row.open)(&options, subject, &run)
    };
    let (opened, raised) = supervised(py, || {}, open)?;
    raised.map_or(Ok(()), Err)?;
    let work = opened.map_err(|error| study_error(py, &error))?;
    Ok(Job { name: row.info.name, work: RwLock::new(Some(work)) })
}

impl Job {
    fn reading(&self) -> RwLockReadGuard<'_, Option<Box<dyn Work>>> {
        self.work.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn writing(&self) -> RwLockWriteGuard<'_, Option<Box<dyn Work>>> {
        self.work.write().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn ended() -> StudyError {
        StudyError::usage("the study has come to its end", "open it again")
    }
}

#[pymethods]
impl Job {
    /// Number of all units.
    fn units(&self, py: Python<'_>) -> usize {
        py.detach(|| self.reading().as_ref().map_or(0, |work| work.units()))
    }

    /// Units that are not done.
    fn missing(&self, py: Python<'_>) -> Vec<usize> {
        py.detach(|| self.reading().as_ref().map_or_else(Vec::new, |work| work.missing()))
    }

    /// Computes units here, and gives their rows.
    fn rows(&self, py: Python<'_>, units: Vec<usize>) -> PyResult<String> {
        let stop = AtomicBool::new(false);
        let asked = || stop.load(Ordering::Relaxed);
        let work = || match &*self.reading() {
            Some(work) => work.rows(&units, &asked),
            None => Err(Job::ended()),
        };
        let (rows, raised) = supervised(py, || stop.store(true, Ordering::Relaxed), work)?;
        raised.map_or(Ok(()), Err)?;
        rows.map_err(|error| study_error(py, &error))
    }

    /// Takes rows that were computed elsewhere; how many of them are new.
    fn take(&self, py: Python<'_>, rows: &str) -> PyResult<usize> {
        let taken = py.detach(|| self.writing().as_mut().map_or_else(|| Err(Job::ended()), |work| work.take(rows)));
        taken.map_err(|error| study_error(py, &error))
    }

    /// Computes what is missing on threads of this process. A function is told how much of how much is done some times
    /// a second. What a handler of signals, or this function, has raised comes back.
    fn compute(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<Option<PyErr>> {
        let stop = AtomicBool::new(false);
        let (done, ticks) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let asked = || stop.load(Ordering::Relaxed);
        let count = |event: Progress| match event {
            Progress::Begin { ticks: all, .. } => ticks.store(all, Ordering::Relaxed),
            Progress::Done(n) => _ = done.fetch_add(n, Ordering::Relaxed),
            Progress::Gather => {}
        };
        let work = || match self.writing().as_mut() {
            Some(work) => work.compute(&Run { stop: &asked, progress: &count, ..Run::default() }),
            None => Err(Job::ended()),
        };
        let tell = |py: Python<'_>| {
            py.check_signals()?;
            match (&progress, ticks.load(Ordering::Relaxed)) {
                // it has not begun
                (None, _) | (_, 0) => Ok(()),
                (Some(told), ticks) => told.call1(py, (done.load(Ordering::Relaxed), ticks)).map(|_| ()),
            }
        };
        let (computed, raised) = supervised_with(py, || stop.store(true, Ordering::Relaxed), tell, work)?;
        match (computed, raised) {
            (Ok(()) | Err(_), Some(raised)) => Ok(Some(raised)),
            (Ok(()), None) => Ok(None),
            (Err(error), None) => Err(study_error(py, &error)),
        }
    }

    /// Gives its folder free; what is done stays there.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.writing().take()));
    }

    /// Makes the document, and puts its files in their places; what it says as a dictionary.
    fn finish(&self, py: Python<'_>, interrupted: bool) -> PyResult<Py<PyAny>> {
        let work = || {
            let work = self.writing().take().ok_or_else(Job::ended)?;
            let ran = work.finish(interrupted)?;
            let page = ran.document.as_ref().map(|document| {
                let mut page = Vec::new();
                // a page in memory can be written
                let _ = document.report().write(&mut page);
                String::from_utf8(page).unwrap_or_default()
            });
            Ok((ran, page))
        };
        let (ran, raised) = supervised(py, || {}, work)?;
        raised.map_or(Ok(()), Err)?;
        let (ran, page) = ran.map_err(|error: StudyError| study_error(py, &error))?;
        let found = PyDict::new(py);
        found.set_item("study", self.name)?;
        found.set_item("interrupted", ran.interrupted)?;
        found.set_item("done", ran.done)?;
        found.set_item("units", ran.units)?;
        found.set_item("page", page)?;
        if let Some(document) = &ran.document {
            fill(py, &found, document)?;
        }
        found.into_py_any(py)
    }
}
/// What a document says.
fn fill(py: Python<'_>, found: &Bound<'_, PyDict>, document: &Document) -> PyResult<()> {
    found.set_item("title", &document.title)?;
    found.set_item("headline", &document.headline)?;
    found.set_item("warnings", &document.warnings)?;
    found.set_item("failure", &document.failure)?;
    found.set_item("partial", &document.partial)?;
    found.set_item("data", to_python(py, &document.json())?)?;
    let (facts, tables) = (PyDict::new(py), PyList::empty(py));
    for section in &document.sections {
        for (name, value) in &section.facts {
            facts.set_item(name, value)?;
        }
        for table in &section.tables {
            tables.append(columns(py, table)?)?;
        }
    }
    found.set_item("facts", facts)?;
    found.set_item("tables", tables)
}

/// A table by its columns.
fn columns<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (k, column) in table.columns.iter().enumerate() {
        let name = if column.key.is_empty() { &column.title } else { &column.key };
        let cells = PyList::empty(py);
        for row in &table.rows {
            match row.get(k) {
                Some(Cell::Text(text)) => cells.append(text)?,
                Some(Cell::Number(x) | Cell::Formatted { value: x, .. }) => cells.append(x)?,
                Some(Cell::Count(count)) => cells.append(count)?,
                Some(Cell::Empty) | None => cells.append(py.None())?,
            }
        }
        all.set_item(name, cells)?;
    }
    let told = PyDict::new(py);
    told.set_item("name", &table.caption)?;
    told.set_item("file", &table.file)?;
    told.set_item("columns", all)?;
    Ok(told)
}
