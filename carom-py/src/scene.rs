//! Scenes: checked models, ready to run as often as wanted.

use crate::convert::{to_json, to_python};
use crate::error::{failure, finding_fields, findings_error, usage};
use crate::many::run_many;
use crate::sensitivity::sensitivity;
use crate::solution::Solution;
use crate::stepper::Stepper;
use crate::supervise::Watching;
use carom_cli::{MemoryOptions, MemoryRun};
use carom_scene::scene::{Amount, Choice, Chosen};
use carom_scene::{Overrides, suggest};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// A checked model.
#[pyclass(frozen, module = "carom._carom")]
pub struct Scene {
    scene: Arc<carom_scene::Scene>,
}

/// Loads a model file, or a built-in example.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf, changes: &Bound<'_, PyDict>) -> PyResult<Scene> {
    let overrides = overrides(Overrides::default(), changes)?;
    let scene = py.detach(|| carom_cli::load(&path, &overrides)).map_err(|error| failure(py, &error))?;
    Ok(Scene { scene: Arc::new(scene) })
}

/// Loads a model from its text.
#[pyfunction]
pub fn load_text(py: Python<'_>, name: &str, text: &str, changes: &Bound<'_, PyDict>) -> PyResult<Scene> {
    let overrides = overrides(Overrides::default(), changes)?;
    let loaded = py.detach(|| carom_scene::from_str(name, text, &overrides));
    Ok(Scene { scene: Arc::new(loaded.map_err(|findings| findings_error(py, &findings))?) })
}

/// What may be changed of a file besides its parameters.
const CHANGES: [&str; 7] = ["scheme", "solver", "step", "steps", "end", "output", "adaptive"];

/// Changes of a scene: parameters under `set`, and the settings of [`CHANGES`].
fn overrides(mut all: Overrides, changes: &Bound<'_, PyDict>) -> PyResult<Overrides> {
    let py = changes.py();
    let Value::Object(table) = to_json(changes.as_any())? else { return Ok(all) };
    for (key, value) in table {
        let wrong = |wanted: &str| usage(py, format!("`{key}` is {value}"), format!("{wanted} is wanted"));
        match (key.as_str(), &value) {
            (_, Value::Null) => {}
            ("set", Value::Object(values)) => {
                for (name, value) in values {
                    all.set.retain(|(known, _)| known != name);
                    all.set.push((name.clone(), expression(value).ok_or_else(|| wrong("a number or an expression"))?));
                }
            }
            ("scheme", value) => all.scheme = Some(chosen(value).ok_or_else(|| wrong("a name or a dictionary"))?),
            ("solver", value) => all.solver = Some(chosen(value).ok_or_else(|| wrong("a name or a dictionary"))?),
            ("step", value) => {
                (all.step, all.steps) = (Some(amount(value).ok_or_else(|| wrong("a number or an expression"))?), None);
            }
            ("steps", value) => {
                (all.steps, all.step) = (Some(value.as_u64().ok_or_else(|| wrong("a whole number"))?), None);
            }
            ("end", value) => all.end = Some(value.as_f64().ok_or_else(|| wrong("a number"))?),
            ("output", value) => {
                all.output = Some(amount(value).ok_or_else(|| wrong("a number or an expression"))?);
            }
            ("adaptive", value) => {
                all.adaptive = Some(adaptive(value).ok_or_else(|| wrong("a tolerance, a dictionary or False"))?);
            }
            (other, _) => {
                let hint = suggest(other, CHANGES, false, || format!("there are {}", CHANGES.join(", ")));
                return Err(usage(py, format!("there is no setting `{other}`"), hint));
            }
        }
    }
    Ok(all)
}

/// A number as an expression that gives it back, or an expression.
fn expression(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Some(whole.to_string()),
            // 17 digits give the same number back
            None => number.as_f64().map(|x| format!("{x:?}")),
        },
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn amount(value: &Value) -> Option<Amount> {
    match value {
        Value::Number(number) => number.as_f64().map(Amount::Number),
        Value::String(text) => Some(text.clone().into()),
        _ => None,
    }
}

fn chosen(value: &Value) -> Option<Chosen> {
    match value {
        Value::String(text) => Some(text.clone().into()),
        Value::Object(table) => {
            let mut options = table.clone();
            let name = options.remove("name")?.as_str()?.to_owned();
            Some(Choice { name, options: Value::Object(options) }.into())
        }
        _ => None,
    }
}

/// Adaptive steps as text of the command line.
fn adaptive(value: &Value) -> Option<String> {
    match value {
        Value::Bool(false) => Some("off".into()),
        Value::Object(table) => {
            let entry = |(key, value): (&String, &Value)| {
                let text = match value {
                    Value::String(_) => value.to_string(),
                    Value::Number(number) => format!("{:?}", number.as_f64()?),
                    _ => return None,
                };
                Some(format!("{key} = {text}"))
            };
            Some(format!("{{ {} }}", table.iter().map(entry).collect::<Option<Vec<_>>>()?.join(", ")))
        }
        value => expression(value),
    }
}

impl Scene {
    /// One that was loaded.
    pub fn of(scene: Arc<carom_scene::Scene>) -> Scene {
        Scene { scene }
    }

    /// What it holds.
    pub fn inner(&self) -> &Arc<carom_scene::Scene> {
        &self.scene
    }
}

#[pymethods]
impl Scene {
    /// The same model with changes.
    fn with_changes(&self, py: Python<'_>, changes: &Bound<'_, PyDict>) -> PyResult<Scene> {
        let overrides = overrides(self.scene.overrides().clone(), changes)?;
        let scene = self.scene.with_overrides(&overrides).map_err(|findings| findings_error(py, &findings))?;
        Ok(Scene { scene: Arc::new(scene) })
    }

    /// Runs it; what was computed comes back whatever the end was, beside what a handler of signals has raised.
    #[pyo3(signature = (every, columns, progress))]
    fn run(
        &self,
        py: Python<'_>,
        every: Option<u64>,
        columns: Vec<String>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Solution, Option<PyErr>)> {
        let options = MemoryOptions { every, columns };
        let mut watching = Watching::new(self.scene.span.start, progress);
        let run = py.detach(|| MemoryRun::new(self.scene.clone(), &options, &mut watching));
        let run = run.map_err(|error| failure(py, &error))?;
        Ok((Solution::of(run), watching.raised))
    }

    /// Runs it with many values of parameters, on all cores.
    fn run_many(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        values: Vec<Vec<f64>>,
        measures: Option<Vec<String>>,
        threads: Option<usize>,
    ) -> PyResult<Py<PyAny>> {
        run_many(py, &self.scene, &names, &values, measures.as_deref(), threads)
    }

    /// Its motion with derivatives by parameters at these times.
    fn sensitivity<'py>(&self, py: Python<'py>, names: Vec<String>, times: Vec<f64>) -> PyResult<Bound<'py, PyDict>> {
        sensitivity(py, &self.scene, &names, &times)
    }

    /// A stepper at the start.
    fn stepper(&self, py: Python<'_>) -> PyResult<Stepper> {
        Stepper::new(py, &self.scene)
    }

    /// Measures of a run that are worth a note.
    fn quantities(&self) -> Vec<String> {
        carom::Subject::quantities(&*self.scene)
    }

    /// What was changed of the text, as `with_changes` takes it.
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let all = self.scene.overrides();
        let chosen = |chosen: &Chosen| match chosen {
            Chosen::Text(text) => Value::from(text.as_str()),
            Chosen::Value(choice) => choice.table(),
        };
        let amount = |amount: &Amount| match amount {
            Amount::Number(x) => Value::from(*x),
            Amount::Text(text) => Value::from(text.as_str()),
        };
        let set: Map<String, Value> = all.set.iter().map(|(k, v)| (k.clone(), Value::from(v.as_str()))).collect();
        let mut table = Map::new();
        table.extend((!set.is_empty()).then(|| ("set".to_owned(), Value::Object(set))));
        table.extend(all.scheme.as_ref().map(|value| ("scheme".to_owned(), chosen(value))));
        table.extend(all.solver.as_ref().map(|value| ("solver".to_owned(), chosen(value))));
        table.extend(all.step.as_ref().map(|value| ("step".to_owned(), amount(value))));
        table.extend(all.steps.map(|value| ("steps".to_owned(), Value::from(value))));
        table.extend(all.end.map(|value| ("end".to_owned(), Value::from(value))));
        table.extend(all.output.as_ref().map(|value| ("output".to_owned(), amount(value))));
        table.extend(all.adaptive.as_ref().map(|value| ("adaptive".to_owned(), Value::from(value.as_str()))));
        to_python(py, &Value::Object(table))
    }

    /// The name of the text that it was read from.
    #[getter]
    fn file(&self) -> &str {
        &self.scene.source().name
    }

    /// The text that it was read from.
    #[getter]
    fn text(&self) -> &str {
        self.scene.text()
    }

    /// What it is: names, numbers, methods.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let scene = &*self.scene;
        let facts = PyDict::new(py);
        facts.set_item("name", &scene.name)?;
        facts.set_item("description", scene.description.as_deref().unwrap_or_default())?;
        let parameters = PyDict::new(py);
        scene.parameters.iter().try_for_each(|(name, value)| parameters.set_item(name, value))?;
        facts.set_item("parameters", parameters)?;
        facts.set_item("coordinates", &scene.coordinates)?;
        facts.set_item("velocities", &scene.velocities)?;
        facts.set_item("contacts", scene.laws.iter().map(|law| law.name.as_str()).collect::<Vec<_>>())?;
        facts.set_item("events", scene.events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>())?;
        facts.set_item("q0", &scene.initial.q)?;
        facts.set_item("v0", &scene.initial.v)?;
        facts.set_item("start", scene.span.start)?;
        facts.set_item("end", scene.span.end)?;
        facts.set_item("step", scene.span.step)?;
        facts.set_item("scheme", to_python(py, &scene.scheme.table())?)?;
        facts.set_item("solver", to_python(py, &scene.solver.table())?)?;
        facts.set_item("adaptive", scene.adaptive.is_some())?;
        let mechanical = scene.family == carom::scheme::Family::Mechanical;
        facts.set_item("family", if mechanical { "mechanical" } else { "first-order" })?;
        let warnings = PyList::empty(py);
        scene.warnings.iter().try_for_each(|warning| warnings.append(finding_fields(py, warning)?))?;
        facts.set_item("warnings", warnings)?;
        let units: Map<String, Value> =
            scene.units.iter().map(|(name, unit)| (name.clone(), unit.clone().into())).collect();
        facts.set_item("units", to_python(py, &Value::Object(units))?)?;
        Ok(facts)
    }
}
