//! Models of Python functions: `M(q) v̇ = f(t, q, v)` with gaps, the shortest way to a run.
//!
//! What a function raises ends the run and comes back as it was raised.

use crate::convert::to_json;
use crate::error::{hinted, usage};
use crate::solution::Solution;
use crate::supervise::Watching;
use carom::model::{Contact, Lagrangian};
use carom::scheme::AnyModel;
use carom::simulation::{Adaptive, Controller, FixedStep, Simulation};
use carom::{ModelError, State};
use carom_analysis::results::{Columns, Inputs, Method, RecordOptions, RunRecorder};
use carom_scene::suggest;
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// What a function has raised, and when.
type Raised = Arc<Mutex<Option<(PyErr, f64)>>>;

/// A function of Python with the place for what it raises.
struct Function {
    call: Py<PyAny>,
    raised: Raised,
}

impl Function {
    fn new(call: &Bound<'_, PyAny>, raised: &Raised) -> Function {
        Function { call: call.clone().unbind(), raised: raised.clone() }
    }

    /// Writes what the function gives for time and state.
    fn fill(&self, t: f64, state: &[&[f64]], out: &mut [f64], what: &'static str) -> Result<(), ModelError> {
        let done = Python::attach(|py| {
            let arrays: Vec<_> = state.iter().map(|part| PyArray1::from_slice(py, part)).collect();
            let value = match &arrays[..] {
                [q] if what == MASS => self.call.bind(py).call1((q,)),
                [q] => self.call.bind(py).call1((t, q)),
                [q, v, ..] => self.call.bind(py).call1((t, q, v)),
                [] => self.call.bind(py).call0(),
            }?;
            if let Ok(array) = value.cast::<PyArray1<f64>>()
                && array.len() == out.len()
            {
                let array = array.readonly();
                out.iter_mut().zip(array.as_array()).for_each(|(out, x)| *out = *x);
                return Ok(());
            }
            let numbers = numbers(&value, what)?;
            if numbers.len() != out.len() {
                let told = format!("{what} has {} numbers, {} are wanted", numbers.len(), out.len());
                return Err(usage(py, told, ""));
            }
            out.copy_from_slice(&numbers);
            Ok(())
        });
        done.map_err(|error| {
            let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
            raised.get_or_insert((error, t));
            ModelError::Quantity { quantity: what.into(), value: f64::NAN, t }
        })
    }

    fn number(&self, t: f64, q: &[f64], what: &'static str) -> Result<f64, ModelError> {
        let mut out = [0.0];
        self.fill(t, &[q], &mut out, what).map(|()| out[0])
    }
}

/// What the mass function is called, which has no time.
const MASS: &str = "the mass";

/// A number or an array of any shape as numbers.
fn numbers(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<f64>> {
    fn collect(value: &Value, all: &mut Vec<f64>) -> bool {
        match value {
            Value::Number(number) => {
                all.push(number.as_f64().unwrap_or(f64::NAN));
                true
            }
            Value::Array(items) => items.iter().all(|item| collect(item, all)),
            _ => false,
        }
    }
    let mut all = Vec::new();
    match to_json(value) {
        Ok(value) if collect(&value, &mut all) => Ok(all),
        Ok(_) => Err(usage(value.py(), format!("{what} is not made of numbers"), "")),
        Err(error) => Err(error),
    }
}

/// Runs a model of functions; what was computed comes back whatever the end was, beside what was raised and when.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one call with keywords on the side of Python")]
pub fn solve(
    py: Python<'_>,
    force: &Bound<'_, PyAny>,
    span: (f64, f64),
    q0: Vec<f64>,
    v0: Vec<f64>,
    mass: &Bound<'_, PyAny>,
    contacts: Vec<Bound<'_, PyDict>>,
    step: f64,
    scheme: &Bound<'_, PyAny>,
    solver: &str,
    adaptive: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Solution, Option<PyErr>, Option<f64>)> {
    let n = q0.len();
    let raised = Raised::default();
    let function = Function::new(force, &raised);
    let mut model =
        Lagrangian::new(n).initial(&q0, &v0).force(move |t, q, v, out| function.fill(t, &[q, v], out, "the force"));
    model = if mass.is_callable() {
        let function = Function::new(mass, &raised);
        model.mass(move |q, out| function.fill(f64::NAN, &[q], out, MASS))
    } else {
        let given = numbers(mass, MASS)?;
        let mut matrix = vec![0.0; n * n];
        match given.len() {
            1 => (0..n).for_each(|i| matrix[i * n + i] = given[0]),
            len if len == n => (0..n).for_each(|i| matrix[i * n + i] = given[i]),
            len if len == n * n => matrix = given,
            len => {
                return Err(usage(
                    py,
                    format!("the mass has {len} numbers"),
                    format!("1, {n} or {} are wanted", n * n),
                ));
            }
        }
        model.constant_mass(&matrix)
    };
    for contact in &contacts {
        model = model.contact(self::contact(contact, &raised)?);
    }
    let refused = |error: ModelError| usage(py, error.to_string(), "");
    let model = AnyModel::Mechanical(Box::new(model.build().map_err(refused)?));
    let (scheme_name, options) = choice(scheme)?;
    let Some(row) = carom::scheme::find(&scheme_name) else {
        let names = || carom::SCHEMES.iter().map(|row| row.info.name);
        let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
        return Err(usage(
            py,
            format!("no scheme is named `{scheme_name}`"),
            suggest(&scheme_name, names(), false, all),
        ));
    };
    let Some(solver_row) = carom_solve::solver::find(solver) else {
        return Err(usage(py, format!("no solver is named `{solver}`"), "carom.solvers() lists them"));
    };
    let built = (solver_row.build)(&Value::Object(Default::default())).map_err(|e| usage(py, e.to_string(), ""))?;
    let adaptive = match to_json(adaptive)? {
        Value::Null | Value::Bool(false) => None,
        Value::Number(tolerance) => Some(serde_json::json!({ "tolerance": tolerance })),
        table => Some(table),
    };
    use carom_solve::Options;
    let control = adaptive.as_ref().map(Adaptive::read).transpose().map_err(|e| usage(py, e.to_string(), ""))?;
    let bound = match &control {
        Some(control) => (row.bind_adaptive)(&options, control.accuracy(), model, built),
        None => (row.bind)(&options, model, built),
    };
    let told = |raised: &Raised, message: String| {
        let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or_else(|| usage(py, message, ""), |(error, _)| error)
    };
    let mut stepper = bound.map_err(|error| told(&raised, error.to_string()))?;
    let (start, end) = span;
    if !start.is_finite() {
        return Err(usage(py, format!("the start {start} is not finite"), ""));
    }
    stepper.restart(&State::new(start, &q0, &v0));
    let controller: Box<dyn Controller> = match &control {
        Some(control) => Box::new(control.control(step, span)),
        None => Box::new(FixedStep { h: step }),
    };
    let simulation = Simulation::new(stepper, controller, end);
    let mut simulation = simulation.map_err(|error| told(&raised, error.to_string()))?;
    let record = RecordOptions { columns: Columns::All, report_values: 0, ..RecordOptions::default() };
    let recorder = RunRecorder::in_memory(simulation.stepper(), record, None);
    let mut recorder = recorder.map_err(|error| hinted(py, "RunError", &error.to_string(), ""))?;
    let mut watching = Watching::new(start, progress);
    let outcome = py.detach(|| simulation.run(&mut [&mut recorder, &mut watching]));
    let inputs = Inputs {
        name: "solve".into(),
        scheme: Method { name: scheme_name, options },
        solver: Method { name: solver.into(), options: Value::Object(Default::default()) },
        start,
        end,
        step,
        adaptive,
        ..Inputs::default()
    };
    let recorded = recorder.close(inputs, &outcome, &simulation);
    let first = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    let at = first.as_ref().map(|(_, t)| *t).filter(|t| t.is_finite());
    Ok((Solution::recorded(recorded), first.map(|(error, _)| error).or(watching.raised), at))
}

/// A name, or a dictionary with a name and options.
fn choice(value: &Bound<'_, PyAny>) -> PyResult<(String, Value)> {
    match to_json(value)? {
        Value::String(name) => Ok((name, Value::Object(Default::default()))),
        Value::Object(mut options) => match options.remove("name") {
            Some(Value::String(name)) => Ok((name, Value::Object(options))),
            _ => Err(usage(value.py(), "the scheme has no name", "{\"name\": \"moreau-jean\", \"theta\": 1}")),
        },
        _ => Err(usage(value.py(), "the scheme is no name", "\"moreau-jean\", for example")),
    }
}

/// A contact of a dictionary with name, gap, restitution, friction, slip and gradient.
fn contact(fields: &Bound<'_, PyDict>, raised: &Raised) -> PyResult<Contact> {
    let get = |name: &str| fields.get_item(name);
    let name: String = get("name")?.map_or(Ok("contact".into()), |name| name.extract())?;
    let Some(gap) = get("gap")? else { return Err(usage(fields.py(), format!("contact `{name}` has no gap"), "")) };
    let function = Function::new(&gap, raised);
    let mut contact = Contact::new(&name, move |t, q| function.number(t, q, "the gap"));
    if let Some(gradient) = get("gradient")? {
        let function = Function::new(&gradient, raised);
        contact = contact.gradient(move |t, q, row| function.fill(t, &[q], row, "the gradient of the gap"));
    }
    if let Some(e) = get("restitution")? {
        contact = contact.restitution(e.extract()?);
    }
    if let Some(mu) = get("friction")? {
        let (mu, slips): (f64, Vec<Bound<'_, PyAny>>) =
            (mu.extract()?, get("slip")?.map_or(Ok(vec![]), |s| s.extract())?);
        for slip in slips {
            let function = Function::new(&slip, raised);
            contact = contact.friction(mu, move |t, q| function.number(t, q, "the slip"));
        }
    }
    Ok(contact)
}
