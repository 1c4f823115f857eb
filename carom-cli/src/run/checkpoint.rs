//! A run that goes on after it was cut short.

use super::inputs;
use crate::arguments::RunArguments;
use crate::failure::Failure;
use crate::progress::{interrupted, wind_up};
use carom::simulation::Observer;
use carom::{Simulation, SimulationError};
use carom_analysis::results::{Checkpoints, Identity, RecordOptions, fingerprint};
use carom_scene::Scene;
use serde_json::{Map, Value, json};
use std::path::Path;

/// All that decides what is computed and written.
pub fn identity(arguments: &RunArguments, scene: &Scene, options: &RecordOptions) -> Identity {
    let mut all = match serde_json::to_value(inputs(scene, arguments)) {
        Ok(Value::Object(inputs)) => inputs,
        _ => Map::new(),
    };
    let RecordOptions { every, sampling, columns, csv, report_values, .. } = options;
    let estimates = arguments.estimate || scene.expectations.iter().any(|expected| expected.quantity.is_estimate());
    let files = [
        ("every", json!(every)),
        ("output", json!(format!("{sampling:?}"))),
        ("columns", json!(format!("{columns:?}"))),
        ("csv", json!(csv)),
        ("report-values", json!(report_values)),
        ("report", json!(!arguments.no_report)),
        ("gltf", json!(arguments.gltf.is_some())),
        ("estimate", json!(estimates)),
    ];
    all.extend(files.map(|(name, value)| (name.to_owned(), value)));
    Identity { model: fingerprint(&scene.content()), options: all }
}

/// Runs to the end, from the start or from a checkpoint. One that the user stops writes a last checkpoint.
pub fn run(
    simulation: &mut Simulation,
    observers: &mut [&mut dyn Observer],
    memory: Option<Vec<u8>>,
    checkpoints: Option<&mut Checkpoints>,
    folder: Option<&Path>,
) -> Result<Result<bool, SimulationError>, Failure> {
    let Some(folder) = folder else { return Ok(simulation.run(observers)) };
    if let Some(memory) = memory {
        let refused = |error| Failure::Environment(format!("cannot go on in `{}`: {error}", folder.display()));
        simulation.resume(observers, memory).map_err(refused)?;
    }
    let Some(checkpoints) = checkpoints else { return Ok(simulation.run(observers)) };
    let outcome = simulation.run_kept(observers, checkpoints);
    let failed = |error| format!("{error}; --resume goes on from the checkpoint before, where there is one");
    if let Some(error) = checkpoints.error.take() {
        return Err(Failure::Environment(failed(error)));
    }
    if matches!(outcome, Ok(false)) && interrupted() {
        wind_up();
        // rows that cannot be written are told as ever
        if let Ok(memory) = simulation.save(observers) {
            checkpoints.write(&memory).map_err(|error| Failure::Environment(failed(error)))?;
            let t = simulation.state().t;
            return Err(Failure::Interrupted(format!(
                "at t = {t:?} s; the same command with --resume goes on from there; rows so far are in `{}`",
                folder.join(".carom/run.new").display()
            )));
        }
    }
    Ok(outcome)
}
