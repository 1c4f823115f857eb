//! Motions with their derivatives by parameters, as arrays.

use crate::error::{hinted, usage};
use crate::supervise::supervised;
use carom::Subject;
use carom::sensitivity::{Sensitivity, SensitivityError};
use carom_scene::Scene;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Part of a parameter by which it is changed, to see what the state at the start makes of it.
const CHANGE: f64 = 1e-3;

/// What was found: entries one after the other, times slowest.
#[derive(Default)]
struct Found {
    q: Vec<f64>,
    v: Vec<f64>,
    /// Of each time and parameter.
    dq: Vec<f64>,
    dv: Vec<f64>,
    impact_times: Vec<f64>,
    contacts: Vec<String>,
    before: Vec<f64>,
    /// Of each impact and parameter.
    delays: Vec<f64>,
}

/// Why there are no derivatives.
enum Trouble {
    Usage(String, String),
    Run(String),
}

impl From<SensitivityError> for Trouble {
    fn from(error: SensitivityError) -> Trouble {
        Trouble::Run(error.to_string())
    }
}

/// The state at the start and its derivative by a parameter, by differences of fourth order; on one side, of second
/// order, where the other side is no value of it.
fn start(scene: &Scene, name: &str) -> Result<Vec<f64>, Trouble> {
    let value = scene.parameters.iter().find(|(known, _)| known == name).map_or(0.0, |(_, value)| *value);
    let h = CHANGE * if value == 0.0 { 1.0 } else { value.abs() };
    let at = |k: f64| {
        let changed = scene.with(&[(name, value + k * h)]).ok()?;
        Some([&changed.initial.q[..], &changed.initial.v].concat())
    };
    let sum = |all: [(f64, f64); 4]| {
        let states: Option<Vec<(f64, Vec<f64>)>> = all.iter().map(|(k, weight)| Some((*weight, at(*k)?))).collect();
        let states = states?;
        let entry = |i: usize| states.iter().map(|(weight, state)| weight * state[i]).sum::<f64>() / h;
        Some((0..states[0].1.len()).map(entry).collect())
    };
    let sides = [
        [(-2.0, 1.0 / 12.0), (-1.0, -2.0 / 3.0), (1.0, 2.0 / 3.0), (2.0, -1.0 / 12.0)],
        [(0.0, 11.0 / 6.0), (-1.0, -3.0), (-2.0, 1.5), (-3.0, -1.0 / 3.0)],
        [(0.0, -11.0 / 6.0), (1.0, 3.0), (2.0, -1.5), (3.0, 1.0 / 3.0)],
    ];
    sides.into_iter().find_map(sum).ok_or_else(|| {
        Trouble::Usage(format!("`{name}` cannot be changed: the model is refused with other values"), String::new())
    })
}

/// Carries a motion and its derivatives to these times.
fn compute(scene: &Scene, names: &[&str], times: &[f64], stop: &AtomicBool) -> Result<Found, Trouble> {
    if let Some(unknown) = names.iter().find(|name| !scene.parameters.iter().any(|(known, _)| known == *name)) {
        let known = || scene.parameters.iter().map(|(name, _)| name.as_str());
        let all = || format!("parameters: {}", known().collect::<Vec<_>>().join(", "));
        let hint = carom_scene::suggest(unknown, known(), false, all);
        return Err(Trouble::Usage(format!("there is no parameter `{unknown}`"), hint));
    }
    let mut motion: Sensitivity =
        Subject::sensitivity(scene, names).map_err(|error| Trouble::Usage(error.message, error.hint))?;
    let (n, _) = motion.dimensions();
    if motion.state().q.len() != n {
        let message = format!("the model has {} coordinates and {n} velocities", motion.state().q.len());
        return Err(Trouble::Usage(message, "derivatives by parameters need as many of both".into()));
    }
    let starts: Vec<Vec<f64>> = names.iter().map(|name| start(scene, name)).collect::<Result<_, _>>()?;
    motion.set_columns(names.len());
    for (k, (column, start)) in motion.columns_mut().zip(&starts).enumerate() {
        column.fill(0.0);
        column[..2 * n].copy_from_slice(start);
        column[2 * n + k] = 1.0;
    }
    let mut found = Found::default();
    for time in times {
        if !motion.advance_while(*time, &mut |_, _| !stop.load(Ordering::Relaxed))? {
            break;
        }
        found.q.extend(&motion.state().q);
        found.v.extend(&motion.state().v);
        for column in motion.columns() {
            found.dq.extend(&column[..n]);
            found.dv.extend(&column[n..2 * n]);
        }
    }
    let laws = Subject::laws(scene);
    for (impact, delays) in motion.counts.listed.iter().zip(&motion.counts.delays) {
        let law = laws.iter().find(|law| law.key == impact.contact);
        found.impact_times.push(impact.t);
        found.contacts.push(law.map_or_else(String::new, |law| law.name.to_owned()));
        found.before.push(impact.before);
        found.delays.extend(delays);
    }
    Ok(found)
}

/// A motion with its derivatives by parameters at these times, as flat arrays.
pub fn sensitivity<'py>(
    py: Python<'py>,
    scene: &Arc<Scene>,
    names: &[String],
    times: &[f64],
) -> PyResult<Bound<'py, PyDict>> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let stop = AtomicBool::new(false);
    let ask = || stop.store(true, Ordering::Relaxed);
    let (found, raised) = supervised(py, ask, || compute(scene, &names, times, &stop))?;
    raised.map_or(Ok(()), Err)?;
    let found = found.map_err(|trouble| match trouble {
        Trouble::Usage(message, hint) => usage(py, message, hint),
        Trouble::Run(message) => hinted(py, "RunError", &message, ""),
    })?;
    let all = PyDict::new(py);
    for (name, values) in [
        ("q", found.q),
        ("v", found.v),
        ("dq", found.dq),
        ("dv", found.dv),
        ("impact_times", found.impact_times),
        ("before", found.before),
        ("delays", found.delays),
    ] {
        all.set_item(name, PyArray1::from_vec(py, values))?;
    }
    all.set_item("contacts", found.contacts)?;
    Ok(all)
}
