//! `carom run`: one simulation, with result files and a report.

mod checkpoint;
mod dump;
mod estimate;
mod film;
mod frames;
pub mod memory;
mod report;
mod sizes;
mod space;
mod table;

use crate::arguments::RunArguments;
use crate::console::{print_line, print_warning};
use crate::failure::{Failure, print};
use crate::figures::Figures;
use crate::open::open;
use crate::progress::{Progress, watch_for_interrupts, when_left, wind_up};
use crate::{examples, gltf, progress};
use carom::simulation::{Lists, Observer};
use carom_analysis::folder::{Folder, Sharing};
use carom_analysis::results::{
    Checkpoints, Columns, Inputs, Method, Outputs, PlayOf, RecordOptions, Recorded, ResultError, RunRecorder, Sampling,
    Status, Warning, fingerprint, report_values,
};
use carom_scene::scene::{Outcome, PlayInfo};
use carom_scene::{Diagnostic, Overrides, Scene, suggest};
use dump::{Dump, Dumped, Dumping};
use frames::Frames;
use sizes::StepSizes;
use space::SpaceFilm;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The kind of warnings about the model file.
const FILE: &str = "file";

/// The name of the report.
const REPORT: &str = "report.html";

/// Impacts and events that the report knows; all of them are in the result files.
const LISTED: usize = 20_000;

/// A run and what is left of it.
struct Run {
    scene: Arc<Scene>,
    recorded: Recorded,
    /// The first impacts and events.
    lists: Lists,
    frames: Option<Frames>,
    /// Of models in space.
    space: Option<SpaceFilm>,
    /// Of adaptive steps.
    sizes: Option<StepSizes>,
    expectations: Vec<Outcome>,
    /// Problems that were written to files.
    dumped: Option<Dumped>,
}

pub fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let scene = examples::load(&arguments.file, &arguments.overrides())?;
    if !arguments.quiet {
        scene.warnings.iter().for_each(print);
    }
    if arguments.gltf.is_some() && scene.space().is_none() {
        let hint = "a planar model is drawn in its report".to_string();
        return Err(Failure::usage("--gltf: the model is not one of bodies in space", hint));
    }
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from("out").join(stem(&arguments.file)));
    watch_for_interrupts();
    let figures = arguments.figures.as_deref().map(|place| Figures::claim(place, &folder)).transpose()?;
    if let Some(Some(file)) = &arguments.gltf {
        gltf::check(file)?;
    }
    let mut progress = Progress::new(scene.span.start, arguments.quiet);
    let (mut run, failure) = simulate(arguments, Arc::new(scene), Some(&folder), &mut progress)?;
    drop(progress);
    if !arguments.no_report || figures.is_some() || arguments.gltf.is_some() {
        let report = report::build(&run, arguments.report_size);
        let mut draft = run.recorded.draft.as_mut();
        if let Some(draft) = draft.as_mut().filter(|_| !arguments.no_report) {
            draft.write(REPORT, |out| report.write(out))?;
        }
        if let Some(file) = &arguments.gltf {
            gltf::write(&report, file.as_deref(), draft)?;
        }
        figures.map_or(Ok(()), |figures| figures.write(&report))?;
    }
    run.recorded.publish().map_err(|error| recording(error, Some(&folder)))?;
    if !arguments.quiet {
        // those of the file were printed with their places
        let told = run.recorded.summary.warnings.iter().filter(|warning| warning.kind != FILE);
        told.for_each(|warning| print_warning(format_args!("warning: {warning}")));
    }
    let printed = match (arguments.json, arguments.quiet) {
        (true, _) => {
            let text = serde_json::to_string_pretty(&run.recorded.summary);
            text.map_err(|e| Failure::Environment(e.to_string())).and_then(print_line)
        }
        (false, true) => Ok(()),
        (false, false) => table::print(&run, &folder, !arguments.no_report),
    };
    let opened = if arguments.open { open(&folder.join(REPORT)) } else { Ok(()) };
    if let Some(failure) = failure {
        return Err(failure);
    }
    printed.and(opened)?;
    let missed = run.expectations.iter().filter(|outcome| !outcome.holds).count();
    match run.recorded.summary.status {
        Status::Interrupted => {
            Err(Failure::Interrupted(format!("results up to then are in `{}`, marked as partial", folder.display())))
        }
        _ if missed > 0 => Err(Failure::Expectation(missed)),
        _ if arguments.strict => strict(&run.recorded.summary.warnings),
        _ => Ok(()),
    }
}

/// With `--strict` a warning is a failure.
fn strict(warnings: &[Warning]) -> Result<(), Failure> {
    match warnings {
        [] => Ok(()),
        some => {
            let kinds: Vec<&str> = some.iter().map(|warning| warning.kind.as_str()).collect();
            let told = format!("{} warning(s) under --strict: {}", some.len(), kinds.join(", "));
            Err(Failure::Computation(told))
        }
    }
}

/// Runs and records, in a folder or in memory. A failure of the computation comes back beside what was computed.
fn simulate(
    arguments: &RunArguments,
    scene: Arc<Scene>,
    folder: Option<&Path>,
    progress: &mut dyn Observer,
) -> Result<(Run, Option<Failure>), Failure> {
    let mut dump = Dump::open(arguments)?;
    let mut simulation = scene
        .simulation_with(|solver| match &dump {
            Some(dump) => Box::new(Dumping::new(solver, dump.clone())),
            None => solver,
        })
        .map_err(|e| Failure::Computation(e.to_string()))?;
    let options = record_options(arguments, &scene);
    let (mut recorder, memory, mut checkpoints) = match folder {
        Some(folder) => {
            let identity = checkpoint::identity(arguments, &scene, &options);
            let claim = claim(arguments, folder)?;
            let memory = arguments.resume.then(|| Checkpoints::read(folder, &identity)).transpose()?;
            let recorder = RunRecorder::in_folder(claim, simulation.stepper(), options, outputs(&scene));
            let recorder = recorder.map_err(|error| recording(error, Some(folder)))?;
            let every = arguments.checkpoint.map(Duration::from_secs_f64);
            let checkpoints = every.map(|every| Checkpoints::new(recorder.place(), identity, every));
            let aside = folder.join(".carom/run.new");
            when_left(move || format!("inside a long step; rows that were saved before are in `{}`", aside.display()));
            (recorder, memory, checkpoints)
        }
        None => {
            let recorder = RunRecorder::in_memory(simulation.stepper(), options, outputs(&scene));
            (recorder.map_err(|error| recording(error, None))?, None, None)
        }
    };
    let mut lists = Lists::new(LISTED);
    let mut frames = scene.drawing.as_ref().map(|drawing| Frames::new(drawing, &scene));
    let columns = recorder.trajectory().columns();
    let shows = !arguments.no_report || arguments.gltf.is_some();
    let mut space = shows.then(|| SpaceFilm::new(&scene, &columns, arguments.report_size, LISTED)).flatten();
    let mut sizes = scene.adaptive.map(|_| StepSizes::new());
    let mut watch = scene.watch();
    let estimates = arguments.estimate || scene.expectations.iter().any(|expected| expected.quantity.is_estimate());
    let mut probe = estimates.then(|| estimate::probe(&scene, 0));
    let outcome = {
        let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder, &mut lists, progress];
        if !scene.expectations.is_empty() {
            observers.push(&mut watch);
        }
        if let Some(frames) = &mut frames {
            observers.push(frames);
        }
        if let Some(space) = &mut space {
            observers.push(space);
        }
        if let Some(sizes) = &mut sizes {
            observers.push(sizes);
        }
        if let Some(dump) = &mut dump {
            observers.push(dump);
        }
        if let Some(probe) = &mut probe {
            observers.push(probe);
        }
        checkpoint::run(&mut simulation, &mut observers, memory, checkpoints.as_mut(), folder)?
    };
    let dumped = dump.map(|dump| dump.finish());
    if let (Some(mut probe), Ok(true)) = (probe, &outcome) {
        probe.figures = estimate::figures(&watch);
        match estimate::estimate(&scene, probe, arguments.quiet) {
            Ok(Some(estimate)) => {
                watch.set_estimates(|what| estimate.difference(what).unwrap_or(f64::NAN));
                recorder.set_estimate(estimate);
            }
            Ok(None) => {}
            Err(error) => recorder.warn(Warning {
                kind: "estimate".into(),
                message: format!("a finer run failed, so that nothing is known of the error: {error}"),
                ..Warning::default()
            }),
        }
    }
    if folder.is_some() {
        wind_up();
    }
    scene.warnings.iter().for_each(|warning| recorder.warn(file_warning(warning)));
    dumped.iter().flat_map(Dumped::warnings).for_each(|warning| recorder.warn(warning));
    let mut recorded = recorder.close(inputs(&scene, arguments), &outcome, &simulation);
    let failure = match (outcome, recorded.error.take()) {
        (Err(error), _) => Some(Failure::Computation(so_far(error, folder))),
        (Ok(_), Some(error)) if error.is_environment() => {
            let aside = folder.unwrap_or(Path::new("")).join(".carom/run.new");
            Some(Failure::Environment(format!("{error}; what was recorded before is in `{}`", aside.display())))
        }
        (Ok(_), Some(error)) => Some(recording(error, folder)),
        (Ok(_), None) => dumped.as_ref().and_then(|d| d.error.clone()).map(Failure::Environment),
    };
    // expectations speak of the whole run, and of the file as it is written
    let stopped = folder.is_some() && progress::interrupted();
    let finished = recorded.summary.status == Status::Finished && !stopped;
    // rows that are written besides the steps change no number
    let as_written = Overrides { output: None, ..scene.overrides().clone() } == Overrides::default();
    let expectations = if finished && as_written { watch.outcomes() } else { Vec::new() };
    let run = Run { scene, recorded, lists, frames, space, sizes, expectations, dumped };
    Ok((run, failure))
}

/// Claims the folder of the results, and checks that its files may be written.
fn claim(arguments: &RunArguments, folder: &Path) -> Result<Folder, Failure> {
    let mut claim = Folder::claim(folder, "run", Sharing::Alone)?;
    claim.protect([&arguments.file]);
    claim.check(
        [(REPORT, !arguments.no_report), (gltf::MOTION, arguments.gltf == Some(None))]
            .iter()
            .filter(|(_, w)| *w)
            .map(|(name, _)| name),
    )?;
    Ok(claim)
}

/// What ended a run, and where its results are.
fn so_far(error: impl std::fmt::Display, folder: Option<&Path>) -> String {
    match folder {
        Some(folder) => format!("{error}; results so far are in `{}`", folder.display()),
        None => error.to_string(),
    }
}

/// A finding in the model file as a warning of the run.
fn file_warning(found: &Diagnostic) -> Warning {
    let message = format!("{}:{}:{}: {}", found.file(), found.line, found.column, found.message);
    Warning { kind: FILE.into(), message, hint: found.hint.clone(), ..Warning::default() }
}

/// What stopped the recording: numbers that are none, a wrong choice of columns, or the disk.
fn recording(error: ResultError, folder: Option<&Path>) -> Failure {
    match error {
        ResultError::NotFinite { .. } | ResultError::Output { .. } | ResultError::Model(_) => {
            Failure::Computation(so_far(error, folder))
        }
        ResultError::UnknownColumn { name, known } => {
            let all = || format!("there are {}", known.join(", "));
            let hint = suggest(&name, known.iter().map(String::as_str), false, all);
            Failure::usage(format!("--columns: there is no column `{name}`"), hint)
        }
        ResultError::Folder(error) => error.into(),
        _ => Failure::Environment(error.to_string()),
    }
}

fn record_options(arguments: &RunArguments, scene: &Scene) -> RecordOptions {
    let columns = match arguments.columns.as_slice() {
        [] => Columns::Auto,
        [all] if all == "all" => Columns::All,
        some => Columns::Only(some.to_vec()),
    };
    RecordOptions {
        every: arguments.every.unwrap_or(scene.every),
        sampling: scene.output.map_or(Sampling::Auto, Sampling::Grid),
        columns,
        units: scene.units.clone(),
        plays: scene.plays.iter().map(play_of).collect(),
        csv: arguments.csv,
        resumes: arguments.resume,
        report_values: if arguments.no_report && arguments.figures.is_none() && arguments.gltf.is_none() {
            0
        } else {
            report_values(arguments.report_size)
        },
        ..RecordOptions::default()
    }
}

fn play_of(info: &PlayInfo) -> PlayOf {
    PlayOf { joint: info.joint.clone(), size: info.size, laws: info.laws.clone() }
}

fn outputs(scene: &Scene) -> Option<Outputs> {
    let carom_scene::scene::Outputs { names, derived, of_steps, .. } = &scene.outputs;
    if names.is_empty() && derived.is_empty() {
        return None;
    }
    let mut evaluator = scene.outputs.evaluator();
    let outputs = Outputs::new(names.clone(), move |t, q, v, out| {
        out.copy_from_slice(evaluator.eval(t, q, v));
        Ok(())
    });
    Some(outputs.with_derived(derived.iter().cloned()).with_multipliers(of_steps.clone()))
}

fn inputs(scene: &Scene, arguments: &RunArguments) -> Inputs {
    let parameters = scene.parameters.iter().map(|(name, value)| (name.clone(), (*value).into()));
    let method =
        |choice: &carom_scene::scene::Choice| Method { name: choice.name.clone(), options: choice.options.clone() };
    Inputs {
        name: scene.name.clone(),
        model: arguments.file.file_name().map(|name| name.to_string_lossy().into_owned()),
        fingerprint: Some(fingerprint(&scene.content())),
        parameters: serde_json::Value::Object(parameters.collect()),
        scheme: method(&scene.scheme),
        solver: method(&scene.solver),
        impacts: (scene.family == carom::scheme::Family::Mechanical).then(|| scene.impacts.name().into()),
        materials: scene.combine().map(Into::into),
        start: scene.span.start,
        end: scene.span.end,
        step: scene.span.step,
        adaptive: scene.adaptive.and_then(|adaptive| serde_json::to_value(adaptive).ok()),
    }
}

/// The name of a file without its ending.
pub fn stem(file: &Path) -> PathBuf {
    file.file_stem().map_or_else(|| PathBuf::from("run"), PathBuf::from)
}
