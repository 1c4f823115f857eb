//! Many runs of a scene with other values of its parameters, on all cores; results are in the order of the values.

use crate::error::{findings_error, hinted, usage};
use crate::solution::Solution;
use crate::supervise::supervised;
use carom::Subject;
use carom::simulation::{Observer, StepView};
use carom::{ModelError, SubjectError};
use carom_analysis::study::{StopOnRequest, parallel};
use carom_cli::{MemoryOptions, MemoryRun};
use carom_scene::{Diagnostic, Scene};
use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a run has no numbers.
enum Trouble {
    Model(Vec<Diagnostic>),
    Run(String),
    Stopped,
}

/// Stops where the user asks for it, and sees nothing else.
struct Quiet<'a>(&'a AtomicBool);

impl Observer for Quiet<'_> {
    fn asks_for_contacts(&self) -> bool {
        false
    }

    fn observe(&mut self, _view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        Ok(if self.0.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

/// Measures of all runs as a dictionary of arrays, with the reasons where there are none under ""; or, where no
/// measures are asked for, solutions.
pub fn run_many(
    py: Python<'_>,
    scene: &Arc<Scene>,
    names: &[String],
    values: &[Vec<f64>],
    measures: Option<&[String]>,
    threads: Option<usize>,
) -> PyResult<Py<PyAny>> {
    let count = values.first().map_or(0, Vec::len);
    if let Some(measures) = measures {
        // a measure that does not exist is told once
        let known = Subject::meter(&**scene, measures);
        known.map_err(|SubjectError { message, hint }| usage(py, message, hint)).map(|_| ())?;
    }
    let stop = AtomicBool::new(false);
    let with = |k: usize| {
        let set: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(values.iter().map(|all| all[k])).collect();
        scene.with(&set).map_err(Trouble::Model)
    };
    let threads = parallel::threads(threads, count);
    let ask = || stop.store(true, Ordering::Relaxed);
    let Some(measures) = measures else {
        let run = |k: usize| {
            if stop.load(Ordering::Relaxed) {
                return Err(Trouble::Stopped);
            }
            let scene = Arc::new(with(k)?);
            MemoryRun::new(scene, &MemoryOptions::default(), &mut Quiet(&stop))
                .map_err(|failure| Trouble::Run(format!("{failure:?}")))
        };
        let (runs, raised) = supervised(py, ask, || parallel::map(count, threads, &run))?;
        raised.map_or(Ok(()), Err)?;
        let list = PyList::empty(py);
        for run in runs {
            match run {
                Ok(run) => list.append(Py::new(py, Solution::of(run))?)?,
                Err(trouble) => return Err(trouble.error(py)),
            }
        }
        return list.into_py_any(py);
    };
    let run = |k: usize| -> Result<Vec<f64>, Trouble> {
        if stop.load(Ordering::Relaxed) {
            return Err(Trouble::Stopped);
        }
        let scene = with(k)?;
        let told = |error: SubjectError| Trouble::Run(error.message);
        let mut meter = Subject::meter(&scene, measures).map_err(told)?;
        let mut simulation = Subject::simulation(&scene, None).map_err(told)?;
        let asked = || stop.load(Ordering::Relaxed);
        match simulation.run(&mut [&mut *meter, &mut StopOnRequest(&asked)]) {
            Ok(true) => Ok(meter.values()),
            Ok(false) => Err(Trouble::Stopped),
            Err(error) => Err(Trouble::Run(error.to_string())),
        }
    };
    let (runs, raised) = supervised(py, ask, || parallel::map(count, threads, &run))?;
    raised.map_or(Ok(()), Err)?;
    let (all, troubles) = (PyDict::new(py), PyDict::new(py));
    for (j, name) in measures.iter().enumerate() {
        let column = runs.iter().map(|run| run.as_ref().map_or(f64::NAN, |values| values[j]));
        all.set_item(name, PyArray1::from_vec(py, column.collect()))?;
    }
    for (k, run) in runs.iter().enumerate() {
        if let Err(trouble) = run {
            troubles.set_item(k, trouble.words())?;
        }
    }
    all.set_item("", troubles)?;
    all.into_py_any(py)
}

impl Trouble {
    fn words(&self) -> String {
        match self {
            Trouble::Model(findings) => findings.first().map_or_else(String::new, |found| found.message.clone()),
            Trouble::Run(message) => message.clone(),
            Trouble::Stopped => "stopped".into(),
        }
    }

    fn error(&self, py: Python<'_>) -> PyErr {
        match self {
            Trouble::Model(findings) => findings_error(py, findings),
            trouble => hinted(py, "RunError", &trouble.words(), ""),
        }
    }
}
