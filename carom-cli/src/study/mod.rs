//! Studies of many runs: `carom sweep`, `carom bifurcation`, `carom lyapunov`, `carom orbit`, `carom basin`.

pub mod arguments;
mod basin;
mod bifurcation;
mod lyapunov;
mod orbit;
mod orbit_section;
mod sweep;

pub use basin::basin;
pub use bifurcation::bifurcation;
pub use lyapunov::lyapunov;
pub use orbit::orbit;
pub use sweep::sweep;

use crate::examples;
use crate::failure::{Failure, print};
use crate::progress::watch_for_interrupts;
use crate::run::stem;
use arguments::StudyArguments;
use carom::sensitivity::Sensitivity;
use carom_analysis::report::Report;
use carom_analysis::study::StudyError;
use carom_analysis::study::bifurcation::Observe;
use carom_analysis::study::range::Varied;
use carom_scene::Scene;
use carom_scene::expression::{Graph, Scope};
use carom_scene::nearest::nearest;
use carom_scene::scene::Column;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// A model and where its results go.
struct Setting {
    scene: Scene,
    folder: PathBuf,
}

/// Loads the model; warnings are printed.
fn load(arguments: &StudyArguments, study: &str) -> Result<Setting, Failure> {
    let scene = examples::load(&arguments.file, &arguments.overrides())?;
    if !arguments.quiet {
        scene.warnings.iter().for_each(print);
    }
    let folder = arguments.out.clone().unwrap_or_else(|| {
        let mut name = stem(&arguments.file).into_os_string();
        name.push(format!("-{study}"));
        PathBuf::from("out").join(name)
    });
    watch_for_interrupts();
    Ok(Setting { scene, folder })
}

/// Loads the model of a study in which trajectories are compared at the same times: steps are equal.
fn load_equal_steps(arguments: &StudyArguments, study: &str) -> Result<Setting, Failure> {
    let Setting { scene, folder } = load(arguments, study)?;
    if scene.adaptive.is_none() {
        return Ok(Setting { scene, folder });
    }
    if arguments.step.is_none() {
        let message = "the study needs equal steps, the model file has adaptive ones";
        return Err(Failure::usage(message, "give --step SECONDS"));
    }
    let overrides = carom_scene::Overrides { adaptive: Some("off".into()), ..scene.overrides().clone() };
    Ok(Setting { scene: scene.with_overrides(&overrides).map_err(Failure::Model)?, folder })
}

/// Loads the model of a study that differentiates motions: the scheme is event-driven, with the options of the file if it is there, or else
/// with this tolerance.
fn load_event_driven(arguments: &StudyArguments, study: &str, tolerance: f64) -> Result<Setting, Failure> {
    let Setting { scene, folder } = load(arguments, study)?;
    if scene.family != carom::scheme::Family::Mechanical {
        return Err(Failure::usage(
            "the study needs a mechanical model, this one is of first order",
            "see docs/studies.md",
        ));
    }
    if scene.scheme.name == "event-driven" {
        return Ok(Setting { scene, folder });
    }
    if arguments.scheme.is_some() {
        let message = format!(
            "derivatives go through impacts with the scheme `event-driven` alone, not with `{}`",
            scene.scheme.name
        );
        return Err(Failure::usage(
            message,
            "leave out --scheme, or take `carom lyapunov` with `--method perturbation` or `tangent`",
        ));
    }
    let overrides = carom_scene::Overrides {
        scheme: Some(event_driven(tolerance)),
        adaptive: scene.adaptive.is_some().then(|| "off".into()),
        step: if scene.adaptive.is_some() { arguments.step.or(Some(scene.span.step)) } else { arguments.step },
        ..scene.overrides().clone()
    };
    Ok(Setting { scene: scene.with_overrides(&overrides).map_err(Failure::Model)?, folder })
}

/// The event-driven scheme with the flow that is quickest between impacts.
fn event_driven(tolerance: f64) -> String {
    format!("{{ name = \"event-driven\", flow = \"rkf45\", atol = {tolerance:e}, rtol = {tolerance:e} }}")
}

/// The motion of a scene with its derivatives.
fn sensitivity(scene: &Scene, parameters: &[&str]) -> Result<Sensitivity, Failure> {
    scene.sensitivity(parameters).map_err(|error| Failure::usage(error.to_string(), "see docs/studies.md"))
}

/// Makes the folder; what stands in files of these names is of an earlier study.
fn prepare(folder: &Path, files: &[&str]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Failure::Environment(format!("cannot make the folder `{}`: {e}", folder.display())))?;
    for file in files {
        // what cannot be removed cannot be written either, and that is told
        let _ = std::fs::remove_file(folder.join(file));
    }
    Ok(())
}

/// Writes a file whole or not at all.
fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Failure> {
    let part = path.with_extension("part");
    let written = std::fs::File::create(&part).and_then(|file| {
        let mut file = BufWriter::new(file);
        fill(&mut file)?;
        file.flush()?;
        std::fs::rename(&part, path)
    });
    written.map_err(|e| {
        let _ = std::fs::remove_file(&part);
        Failure::Environment(format!("cannot write `{}`: {e}", path.display()))
    })
}

fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write(path, |file| file.write_all(text.as_bytes()))
}

fn write_report(path: &Path, report: &Report) -> Result<(), Failure> {
    write(path, |file| report.write(file))
}

fn threads(asked: Option<u64>, tasks: usize) -> usize {
    carom_analysis::study::parallel::threads(asked.map(|n| n as usize), tasks)
}

/// The value of an expression of parameters.
fn evaluate(scene: &Scene, option: &str, text: &str) -> Result<f64, Failure> {
    let (mut graph, mut scope) = (Graph::new(), Scope::new());
    for (name, value) in &scene.parameters {
        let node = graph.constant(*value);
        // names of a scene are good and different
        let _ = scope.define(name, node);
    }
    let node = graph.expression(text, &scope).map_err(|error| {
        let hint = error.hint().unwrap_or_else(|| "use numbers and parameters of the model, such as 2*pi/om".into());
        Failure::usage(format!("{option} {text:?}: {error}"), hint)
    })?;
    match graph.is_constant(node) {
        Some(value) if value.is_finite() && value > 0.0 => Ok(value),
        value => {
            let value = value.map_or("no number".into(), |value| value.to_string());
            Err(Failure::usage(format!("{option} {text:?} is {value}"), "it must be a positive time in seconds"))
        }
    }
}

/// The period that an option gives, or the parameter `period`.
fn period(scene: &Scene, option: Option<&str>) -> Result<f64, Failure> {
    match option {
        Some(text) => evaluate(scene, "--period", text),
        None if scene.parameter("period").is_some() => evaluate(scene, "the parameter", "period"),
        None => Err(Failure::usage(
            "the period is not known",
            "give it, for example --period '2*pi/om', or give the model a parameter `period`",
        )),
    }
}

/// A list of values, of a parameter of the model.
fn varied_parameter(scene: &Scene, option: &str, text: &str) -> Result<Varied, Failure> {
    let varied = varied(option, text)?;
    if scene.parameter(&varied.name).is_none() {
        let known = scene.parameters.iter().map(|(name, _)| name.as_str());
        let hint = match nearest(&varied.name, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if scene.parameters.is_empty() => "the file has no parameters".into(),
            None => format!("parameters of the file: {}", known.collect::<Vec<_>>().join(", ")),
        };
        return Err(Failure::usage(format!("{option}: unknown parameter `{}`", varied.name), hint));
    }
    Ok(varied)
}

fn varied(option: &str, text: &str) -> Result<Varied, Failure> {
    Varied::parse(text)
        .map_err(|error| Failure::usage(format!("{option}: {error}"), "for example e=0.1:0.9:9 or e=0.1,0.5"))
}

/// A column by its name, or a coordinate or velocity by its short name.
fn column(scene: &Scene, option: &str, name: &str) -> Result<Column, Failure> {
    let short = match name.strip_suffix('\'') {
        Some(name) => scene.coordinates.iter().position(|known| known == name).map(Column::Velocity),
        None => scene.coordinates.iter().position(|known| known == name).map(Column::Position),
    };
    let columns = scene.columns();
    let found = short.or_else(|| columns.iter().find(|(known, _)| known == name).map(|(_, column)| *column));
    found.ok_or_else(|| {
        let names = columns.iter().map(|(name, _)| name.as_str()).chain(scene.coordinates.iter().map(String::as_str));
        let hint = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "columns are q.NAME, v.NAME, gap.CONTACT, impulse.CONTACT, energy.total, output.NAME".into(),
        };
        Failure::usage(format!("{option}: there is no result column `{name}`"), hint)
    })
}

/// Reads a column from a state.
fn observer(scene: &Scene, column: Column) -> Option<Observe> {
    match column {
        Column::Position(i) => Some(Box::new(move |state| state.q.get(i).copied().unwrap_or(f64::NAN))),
        Column::Velocity(i) => Some(Box::new(move |state| state.v.get(i).copied().unwrap_or(f64::NAN))),
        Column::Output(i) => {
            let mut outputs = scene.outputs.evaluator();
            Some(Box::new(move |state| outputs.eval(state.t, &state.q, &state.v).get(i).copied().unwrap_or(f64::NAN)))
        }
        _ => None,
    }
}

/// A study that could not be done: nonsense from the command line, an interrupt, or the computation.
fn failed(error: StudyError) -> Failure {
    match error {
        StudyError::Interrupted => Failure::Interrupted,
        StudyError::NotAutonomous { .. } => {
            Failure::usage(error.to_string(), "give the period of the forcing, for example --period '2*pi/om'")
        }
        StudyError::NoReturn { .. } => {
            Failure::Computation(format!("{error}; take another --section, or another start with --start"))
        }
        StudyError::NoOrbit { .. } => {
            Failure::Computation(format!("{error}; try more --transient periods or another --start"))
        }
        StudyError::Option { .. } => Failure::usage(error.to_string(), "see `carom help` of this command"),
        StudyError::Unequal { .. } => Failure::usage(error.to_string(), "take a model in minimal coordinates"),
        error => Failure::Computation(error.to_string()),
    }
}

/// A bar with the remaining time on a terminal, silence otherwise.
fn bar(total: u64, what: &str, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total);
    let template = format!("{{bar:32}} {{pos}} of {{len}} {what}  {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// A number of a CSV file; nothing where it is none.
fn csv_number(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { String::new() }
}

/// A text of a CSV file.
fn csv_text(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"").replace(['\n', '\r'], " "))
    } else {
        text.to_owned()
    }
}
