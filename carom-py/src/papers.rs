//! Figures and tables of papers, computed anew and judged.

use crate::error::usage;
use crate::supervise::supervised;
use carom_analysis::study::parallel;
use carom_papers::{Effort, Outcome, PAPERS, reproduce as run};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::atomic::{AtomicBool, Ordering};

/// Names and titles of all items.
#[pyfunction]
pub fn papers() -> Vec<(String, String)> {
    let items = PAPERS.iter().flat_map(|paper| paper.items.iter().map(move |item| (paper, item)));
    items.map(|(paper, item)| (format!("{}/{}", paper.key, item.key), item.title.to_owned())).collect()
}

/// Computes items, by their full names; what became of each, nothing of those that an interruption has left out.
#[pyfunction]
pub fn reproduce<'py>(
    py: Python<'py>,
    names: Vec<String>,
    quick: bool,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let find = |name: &String| {
        let (paper, item) = name.split_once('/')?;
        PAPERS.iter().find(|known| known.key == paper)?.items.iter().find(|known| known.key == item)
    };
    let found: Option<Vec<_>> = names.iter().map(find).collect();
    let items = found.ok_or_else(|| usage(py, "there is no such item", "carom.papers() names all"))?;
    let effort = if quick { Effort::Quick } else { Effort::Full };
    let stop = AtomicBool::new(false);
    let task = |k: usize| (!stop.load(Ordering::Relaxed)).then(|| run(items[k], effort));
    let threads = parallel::threads(threads, items.len());
    let work = || parallel::map(items.len(), threads, &task);
    let (outcomes, raised) = supervised(py, || stop.store(true, Ordering::Relaxed), work)?;
    raised.map_or(Ok(()), Err)?;
    let list = PyList::empty(py);
    for outcome in outcomes.into_iter().flatten() {
        list.append(told(py, &outcome)?)?;
    }
    Ok(list)
}

/// An outcome as a dictionary.
fn told<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("verdict", outcome.verdict.word())?;
    all.set_item("reason", outcome.verdict.reason())?;
    let (checks, data) = (PyList::empty(py), PyDict::new(py));
    for check in &outcome.figure.checks {
        let row = PyDict::new(py);
        row.set_item("what", &check.what)?;
        row.set_item("measured", check.measured)?;
        row.set_item("range", check.range)?;
        row.set_item("holds", check.holds())?;
        row.set_item("source", check.source)?;
        checks.append(row)?;
    }
    for table in &outcome.figure.data {
        let columns = PyDict::new(py);
        for (k, name) in table.header.iter().enumerate() {
            let column = table.rows.iter().map(|row| row.get(k).copied().unwrap_or(f64::NAN));
            columns.set_item(name, PyArray1::from_vec(py, column.collect()))?;
        }
        data.set_item(&table.name, columns)?;
    }
    all.set_item("checks", checks)?;
    all.set_item("data", data)?;
    Ok(all)
}
