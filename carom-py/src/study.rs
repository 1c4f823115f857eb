//! Studies: one function for all rows of the registry.

use crate::convert::{to_json, to_python};
use crate::error::{study as study_error, usage};
use crate::scene::Scene;
use crate::supervise::supervised;
use carom_analysis::report::Cell;
use carom_analysis::study::document::{Document, Table};
use carom_analysis::study::runner::Run;
use carom_analysis::study::{STUDIES, find};
use carom_scene::suggest;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs a study with a table of options; what it found as a dictionary.
#[pyfunction]
#[pyo3(signature = (name, scene, options, out=None, threads=None, shard=None, fresh=false))]
#[expect(clippy::too_many_arguments, reason = "the flags of the command")]
pub fn study(
    py: Python<'_>,
    name: &str,
    scene: &Scene,
    options: &Bound<'_, PyDict>,
    out: Option<PathBuf>,
    threads: Option<usize>,
    shard: Option<(usize, usize)>,
    fresh: bool,
) -> PyResult<Py<PyAny>> {
    let Some(row) = find(name) else {
        let names = || STUDIES.iter().map(|row| row.info.name);
        let hint = suggest(name, names(), false, || format!("there are {}", names().collect::<Vec<_>>().join(", ")));
        return Err(usage(py, format!("no study is named `{name}`"), hint));
    };
    let options = to_json(options.as_any())?;
    let schema = (row.schema)();
    let known = || schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    for (key, _) in options.as_object().into_iter().flatten() {
        if !known().any(|name| name == key) {
            let all = || format!("options: {}", known().collect::<Vec<_>>().join(", "));
            return Err(usage(py, format!("`{name}` has no option `{key}`"), suggest(key, known(), false, all)));
        }
    }
    let stop = AtomicBool::new(false);
    let asked = || stop.load(Ordering::Relaxed);
    let subject = scene.inner().clone();
    let work = || {
        let run = Run { folder: out.as_deref(), threads, shard, fresh, stop: &asked, progress: &|_| {} };
        let ran = (row.run)(&options, subject, &run)?;
        let page = ran.document.as_ref().map(|document| {
            let mut page = Vec::new();
            // a page in memory can be written
            let _ = document.report().write(&mut page);
            String::from_utf8(page).unwrap_or_default()
        });
        Ok((ran, page))
    };
    let (ran, raised) = supervised(py, || stop.store(true, Ordering::Relaxed), work)?;
    let (ran, page) = match (ran, &raised) {
        (Ok(ran), _) => ran,
        (Err(_), Some(raised)) => return Err(raised.clone_ref(py)),
        (Err(error), None) => return Err(study_error(py, &error)),
    };
    let found = PyDict::new(py);
    found.set_item("study", row.info.name)?;
    found.set_item("interrupted", ran.interrupted)?;
    found.set_item("done", ran.done)?;
    found.set_item("units", ran.units)?;
    found.set_item("raised", raised)?;
    found.set_item("page", page)?;
    if let Some(document) = &ran.document {
        fill(py, &found, document)?;
    }
    found.into_py_any(py)
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
