//! Solutions: what a run has found, in memory or read back from its folder.

use crate::convert::to_python;
use crate::dense::{Dense, DenseError};
use crate::error::{failure, hinted, results, usage};
use carom_analysis::results::{KeptTable, KeptValues, Recorded, Stored, tables};
use carom_cli::MemoryRun;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A run that has ended.
#[pyclass(frozen, module = "carom._carom")]
pub struct Solution {
    inner: Mutex<Inner>,
}

struct Inner {
    /// Nothing where the files of a run were read.
    run: Option<MemoryRun>,
    tables: Vec<KeptTable>,
    /// Columns that NumPy has taken over, by the places of table and column.
    taken: HashMap<(usize, usize), Py<PyArray1<f64>>>,
    summary: Value,
    dense: Option<Dense>,
}

/// What only a run of a model file in this process has.
const NO_FILE: &str = "the results are not those of a model file that was run in this process";

/// Reads the files of a run.
#[pyfunction]
pub fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Solution> {
    let read = py.detach(|| {
        let summary = Stored::summary_of(&folder)?;
        let tables = tables(&folder, &summary)?;
        Ok((summary, tables))
    });
    let (summary, tables) = read.map_err(|error| results(py, &error))?;
    let inner = Inner { run: None, tables, taken: HashMap::new(), summary, dense: None };
    Ok(Solution { inner: Mutex::new(inner) })
}

impl Solution {
    /// Of a run.
    pub fn of(mut run: MemoryRun) -> Solution {
        let (tables, summary) = (run.take_tables(), serde_json::to_value(run.summary()).unwrap_or_default());
        let inner = Inner { run: Some(run), tables, taken: HashMap::new(), summary, dense: None };
        Solution { inner: Mutex::new(inner) }
    }

    /// Of a run whose model is no file.
    pub fn recorded(mut recorded: Recorded) -> Solution {
        let (tables, summary) =
            (std::mem::take(&mut recorded.tables), serde_json::to_value(&recorded.summary).unwrap_or_default());
        let inner = Inner { run: None, tables, taken: HashMap::new(), summary, dense: None };
        Solution { inner: Mutex::new(inner) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn table(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name() == name)
    }

    /// The tables with all their numbers.
    fn whole(&self, py: Python<'_>) -> PyResult<Vec<KeptTable>> {
        let mut all = self.tables.clone();
        for ((table, column), array) in &self.taken {
            all[*table].restore(*column, array.bind(py).readonly().as_slice()?.to_vec());
        }
        Ok(all)
    }
}

#[pymethods]
impl Solution {
    /// Name, unit and kind of the columns of a table; nothing where there is no such table.
    fn columns(&self, table: &str) -> Option<Vec<(String, Option<String>, String)>> {
        let inner = self.inner();
        let table = &inner.tables[inner.table(table)?];
        let info = |column: &carom_analysis::results::KeptColumn| {
            let kind = serde_json::to_value(column.info.kind).ok();
            let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
            (column.info.name.clone(), column.info.unit.clone(), kind)
        };
        Some(table.columns().iter().map(info).collect())
    }

    /// Number of rows of a table.
    fn rows(&self, table: &str) -> usize {
        let inner = self.inner();
        inner.table(table).map_or(0, |table| inner.tables[table].rows())
    }

    /// A column by its place: an array of numbers that nobody may change, or a list of words.
    fn column(&self, py: Python<'_>, table: &str, column: usize) -> PyResult<Py<PyAny>> {
        let mut inner = self.inner();
        let Some(place) = inner.table(table) else { return Ok(PyList::empty(py).into_any().unbind()) };
        if let Some(array) = inner.taken.get(&(place, column)) {
            return Ok(array.clone_ref(py).into_any());
        }
        if let Some(numbers) = inner.tables[place].take(column) {
            let array = PyArray1::from_vec(py, numbers);
            array.readwrite().make_nonwriteable();
            inner.taken.insert((place, column), array.clone().unbind());
            return Ok(array.into_any().unbind());
        }
        match inner.tables[place].columns().get(column).map(|column| &column.values) {
            Some(KeptValues::Words(words)) => {
                let known: Vec<Bound<'_, PyAny>> =
                    words.known.iter().map(|word| word.into_bound_py_any(py)).collect::<PyResult<_>>()?;
                let list = PyList::new(py, words.rows.iter().map(|word| &known[*word as usize]))?;
                Ok(list.into_any().unbind())
            }
            _ => Err(usage(py, format!("there is no column {column}"), "")),
        }
    }

    /// What `summary.json` says.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.inner().summary)
    }

    /// Why the run failed, in words.
    fn failure(&self) -> Option<String> {
        let inner = self.inner();
        let message = inner.summary["failure"]["message"].as_str().map(str::to_owned);
        message.or_else(|| inner.run.as_ref()?.failure().map(|failure| format!("{failure:?}")))
    }

    /// Expected numbers of the file: quantity, value, tolerance, actual value, whether it holds.
    fn expectations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let inner = self.inner();
        for outcome in inner.run.iter().flat_map(|run| run.expectations()) {
            let fields = PyDict::new(py);
            fields.set_item("quantity", &outcome.expectation.text)?;
            fields.set_item("value", outcome.expectation.value)?;
            fields.set_item("tolerance", outcome.expectation.tolerance)?;
            fields.set_item("actual", outcome.actual)?;
            fields.set_item("holds", outcome.holds)?;
            list.append(fields)?;
        }
        Ok(list)
    }

    /// Writes what `carom run` writes.
    fn save(&self, py: Python<'_>, folder: PathBuf, csv: bool) -> PyResult<()> {
        let mut inner = self.inner();
        let tables = inner.whole(py)?;
        let Some(run) = &mut inner.run else {
            return Err(usage(py, NO_FILE, "a model of equations has them: carom.Lagrangian"));
        };
        run.write(&folder, &tables, csv).map_err(|error| failure(py, &error))
    }

    /// The page of the report.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        match &mut self.inner().run {
            Some(run) => run.report().map_err(|error| failure(py, &error)),
            None => Err(usage(py, NO_FILE, "a model of equations has one: carom.Lagrangian")),
        }
    }

    /// Positions and velocities at times, by the interpolant of the scheme, time after time.
    fn at(&self, py: Python<'_>, times: Vec<f64>) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let mut inner = self.inner();
        let Inner { run, dense, tables, taken, .. } = &mut *inner;
        let Some(run) = run else {
            return Err(usage(py, NO_FILE, "run a model of equations"));
        };
        let dense = match dense {
            Some(dense) => dense,
            None => {
                let last = match (taken.get(&(0, 0)), tables[0].columns().first().map(|column| &column.values)) {
                    (Some(array), _) => array.bind(py).readonly().as_slice()?.last().copied(),
                    (None, Some(KeptValues::Numbers(times))) => times.last().copied(),
                    _ => None,
                };
                dense.insert(Dense::new(run.scene().clone(), last.unwrap_or(f64::NAN)))
            }
        };
        py.detach(|| dense.at(&times)).map_err(|error| match error {
            DenseError::Outside { t, start, end } => {
                usage(py, format!("t = {t:?} lies outside of the run"), format!("it goes from {start:?} to {end:?}"))
            }
            DenseError::Run(message) => hinted(py, "RunError", &message, ""),
        })
    }
}
