//! A run step by step, which can be stopped, changed, written down and taken up again.

use crate::error::{hinted, usage};
use carom::simulation::Simulation;
use carom::{State, Subject};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// Time, length of the step, positions and velocities.
type Row<'py> = (f64, f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// A run between two steps.
#[pyclass(module = "carom._carom")]
pub struct Stepper {
    scene: Arc<carom_scene::Scene>,
    simulation: Mutex<Simulation>,
    failed: bool,
}

impl Stepper {
    /// At the start of a scene.
    pub fn new(py: Python<'_>, scene: &Arc<carom_scene::Scene>) -> PyResult<Stepper> {
        let simulation = begin(py, scene)?;
        Ok(Stepper { scene: scene.clone(), simulation: Mutex::new(simulation), failed: false })
    }

    /// Nobody else has it.
    fn simulation(&mut self) -> &mut Simulation {
        self.simulation.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn row<'py>(&mut self, py: Python<'py>, h: f64) -> Row<'py> {
        let State { t, q, v } = self.simulation().state();
        (*t, h, PyArray1::from_slice(py, q), PyArray1::from_slice(py, v))
    }
}

fn begin(py: Python<'_>, scene: &carom_scene::Scene) -> PyResult<Simulation> {
    Subject::simulation(scene, None).map_err(|error| hinted(py, "RunError", &error.message, &error.hint))
}

#[pymethods]
impl Stepper {
    /// One step; nothing at the end of the span.
    fn advance<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Row<'py>>> {
        if self.failed {
            return Ok(None);
        }
        let simulation = self.simulation();
        match py.detach(|| simulation.advance()) {
            Ok(Some(step)) => Ok(Some(self.row(py, step.advanced))),
            Ok(None) => Ok(None),
            Err(error) => {
                // an iterator must end after an error
                self.failed = true;
                Err(hinted(py, "RunError", &error.to_string(), ""))
            }
        }
    }

    /// The last state.
    fn state<'py>(&mut self, py: Python<'py>) -> Row<'py> {
        self.row(py, 0.0)
    }

    /// Starts again from a state, with nothing remembered but the counts.
    fn restart(&mut self, py: Python<'_>, t: Option<f64>, q: Option<Vec<f64>>, v: Option<Vec<f64>>) -> PyResult<()> {
        let now = self.simulation().state();
        let state = State { t: t.unwrap_or(now.t), q: q.unwrap_or(now.q.clone()), v: v.unwrap_or(now.v.clone()) };
        if (state.q.len(), state.v.len()) != (now.q.len(), now.v.len()) {
            let wanted = format!("{} coordinates and {} velocities are wanted", now.q.len(), now.v.len());
            return Err(usage(py, "the state has another size", wanted));
        }
        if !state.q.iter().chain(&state.v).chain([&state.t]).all(|x| x.is_finite()) {
            return Err(usage(py, "the state is not finite", "give finite numbers"));
        }
        self.simulation().restart(&state);
        self.failed = false;
        Ok(())
    }

    /// All that it remembers, as bytes.
    fn save<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let memory = self.simulation().save(&mut []);
        let memory = memory.map_err(|error| hinted(py, "FilesError", &error.to_string(), ""))?;
        Ok(PyBytes::new(py, &memory))
    }

    /// Goes on where another stepper of the same scene has saved its memory.
    fn resume(&mut self, py: Python<'_>, memory: Vec<u8>) -> PyResult<()> {
        let mut simulation = begin(py, &self.scene)?;
        let resumed = simulation.resume(&mut [], memory);
        resumed.map_err(|error| usage(py, error.to_string(), "it was saved by a stepper of another scene"))?;
        (self.simulation, self.failed) = (Mutex::new(simulation), false);
        Ok(())
    }
}
