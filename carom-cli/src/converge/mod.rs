//! `carom converge`: errors, orders and work over a range of steps or tolerances, scheme by scheme.

mod plan;
mod report;
mod table;
mod work;

use crate::arguments::ConvergeArguments;
use crate::console::say;
use crate::examples;
use crate::failure::{Failure, print};
use crate::progress::{interrupted, watch_for_interrupts};
use crate::run::stem;
use carom::scheme::Family;
use carom::{Simulation, Solution};
use carom_analysis::convergence::{Computed, Reference, Study, study, study_tolerances};
use carom_analysis::error::MeasureError;
use carom_scene::scene::Exact;
use carom_scene::{Overrides, Scene};
use plan::Plans;
use std::path::PathBuf;

/// A finished study of a model.
struct Studies<'a> {
    scene: &'a Scene,
    plans: Plans,
    /// What the errors are measured against.
    reference: String,
    studies: Vec<Study>,
}

impl Studies<'_> {
    /// What has errors, as letters of studies and as written: first-order systems have states alone.
    fn sides(&self) -> &'static [(char, &'static str, &'static str)] {
        match self.scene.family {
            Family::Mechanical => &[('q', "q", "positions"), ('v', "v", "velocities")],
            Family::FirstOrder => &[('q', "x", "states")],
        }
    }
}

pub fn converge(arguments: &ConvergeArguments) -> Result<(), Failure> {
    let scene = examples::load(&arguments.file, &arguments.changes.overrides())?;
    if !arguments.quiet {
        scene.warnings.iter().for_each(print);
    }
    let plans = plan::plans(arguments, &scene)?;
    let methods = methods(arguments, &scene, &plans)?;
    let folder = arguments.out.clone().unwrap_or_else(|| {
        let mut name = stem(&arguments.file).into_os_string();
        name.push("-convergence");
        PathBuf::from("out").join(name)
    });
    watch_for_interrupts();
    std::fs::create_dir_all(&folder)
        .map_err(|e| Failure::Environment(format!("cannot make the folder `{}`: {e}", folder.display())))?;
    let (csv, html) = (folder.join("convergence.csv"), folder.join("convergence.html"));
    for earlier in [&csv, &html] {
        // what cannot be removed cannot be written either, and that is told
        let _ = std::fs::remove_file(earlier);
    }
    let studies = measure(arguments, &scene, plans, &methods)?;
    let wrote = std::fs::write(&csv, table::csv(&studies)).map_err(|e| (e, &csv));
    wrote
        .and_then(|()| report::write(&studies, &html).map_err(|e| (e, &html)))
        .map_err(|(e, path)| Failure::Environment(format!("cannot write `{}`: {e}", path.display())))?;
    if !arguments.quiet {
        table::print(&studies)?;
        if arguments.work {
            work::print(&studies)?;
        }
        say(format_args!("table  {}\nreport {}", csv.display(), html.display()))?;
    }
    if interrupted() { Err(Failure::Interrupted) } else { failures(&studies) }
}

/// Runs everything; a user who stops gets the methods that are finished.
fn measure<'a>(
    arguments: &ConvergeArguments,
    scene: &'a Scene,
    plans: Plans,
    methods: &[Method],
) -> Result<Studies<'a>, Failure> {
    let measured = |e: MeasureError| Failure::Computation(format!("the errors cannot be measured: {e}"));
    let computed;
    let (reference, described) = match &scene.reference {
        Some(exact) => {
            let reference = match &exact.solution {
                Exact::Motion(exact) => Reference::Exact(exact.as_ref()),
                Exact::State(exact) => Reference::State(exact.as_ref()),
            };
            (reference, format!("the exact solution of {}", exact.testbed))
        }
        None => {
            let (solution, described) = reference_run(arguments, &plans, methods)?;
            computed = Computed::new(solution).map_err(measured)?;
            (Reference::Computed(&computed), described)
        }
    };
    let mut studies = Vec::new();
    for method in methods {
        if interrupted() {
            break;
        }
        // after a wish to stop the remaining runs of the method are refused
        let make = |size| if interrupted() { Err("interrupted".into()) } else { method.make(size) };
        let study = match &plans.steps {
            Some(plan) if method.scene.adaptive.is_none() => study(&method.name, plan, &reference, make),
            _ => study_tolerances(&method.name, &plans.tolerances, &reference, make),
        };
        studies.push(study.map_err(measured)?);
    }
    Ok(Studies { scene, plans, reference: described, studies })
}

/// A run of the first method that is much finer than the finest one of the study.
fn reference_run(
    arguments: &ConvergeArguments,
    plans: &Plans,
    methods: &[Method],
) -> Result<(Solution, String), Failure> {
    let failed = |e: String| Failure::Computation(format!("the reference run failed: {e}"));
    let Some(method) = methods.first() else { return Err(failed("there is no method".into())) };
    let refine = arguments.refine as f64;
    let (size, described) = match (&method.scene.adaptive, &plans.steps) {
        (None, Some(plan)) => {
            let finest = plan::finest(plan) * arguments.refine as usize;
            ((plan.end - plan.start) / finest as f64, format!("a run of {} with {finest} steps", method.name))
        }
        _ => {
            let tolerance = plans.tolerances.iter().copied().fold(f64::INFINITY, f64::min) / refine;
            (tolerance, format!("a run of {} with the tolerance {tolerance:.1e}", method.name))
        }
    };
    let solution = method.make(size).and_then(|mut s| s.record().map_err(|e| e.to_string()));
    Ok((solution.map_err(failed)?, described))
}

/// A scheme with equal or adaptive steps.
struct Method {
    name: String,
    scene: Scene,
}

impl Method {
    /// A simulation with a step, or with a tolerance.
    fn make(&self, size: f64) -> Result<Simulation, String> {
        let mut scene = self.scene.clone();
        match &mut scene.adaptive {
            Some(adaptive) => adaptive.tolerance = size,
            None => scene.span.step = size,
        }
        scene.simulation().map_err(|e| e.to_string())
    }
}

/// All methods: each scheme with equal steps, then each one with adaptive steps, as far as they are asked for.
fn methods(arguments: &ConvergeArguments, scene: &Scene, plans: &Plans) -> Result<Vec<Method>, Failure> {
    let named: Vec<Option<String>> =
        arguments.schemes.iter().filter(|s| !s.trim().is_empty()).chain(&arguments.scheme).cloned().map(Some).collect();
    let named = if named.is_empty() { vec![scene.overrides().scheme.clone()] } else { named };
    let mut controls: Vec<Option<String>> = Vec::new();
    if plans.steps.is_some() {
        controls.push(Some("off".into()));
    }
    if !plans.tolerances.is_empty() {
        match arguments.adaptive.as_slice() {
            // the options of the file, or the defaults
            [] => controls.push(scene.adaptive.is_none().then(|| "{}".into())),
            given => controls.extend(given.iter().cloned().map(Some)),
        }
    }
    let mut methods = Vec::new();
    for adaptive in &controls {
        for scheme in &named {
            let overrides =
                Overrides { scheme: scheme.clone(), adaptive: adaptive.clone(), ..scene.overrides().clone() };
            let scene = scene.with_overrides(&overrides).map_err(Failure::Model)?;
            let given = adaptive.as_deref().filter(|_| arguments.adaptive.len() > 1);
            methods.push(Method { name: describe(&scene, given), scene });
        }
    }
    Ok(methods)
}

/// The scheme, and the control of adaptive steps; where several are compared with their options.
fn describe(scene: &Scene, options: Option<&str>) -> String {
    let scheme = scene.scheme.describe();
    match (&scene.adaptive, options) {
        (None, _) => scheme,
        (Some(_), None) => format!("{scheme}, adaptive"),
        (Some(_), Some(text)) => format!("{scheme}, adaptive {}", text.replace(['{', '}', '"'], "").trim()),
    }
}

/// A level without a single successful grid is a failure of the computation, after everything was written.
fn failures(studies: &Studies<'_>) -> Result<(), Failure> {
    for study in &studies.studies {
        for level in &study.levels {
            if let (true, Some((count, reason))) = (level.grids.is_empty(), &level.failed) {
                return Err(Failure::Computation(format!(
                    "{}: all {count} runs {} failed: {reason}",
                    study.scheme,
                    report::at(level)
                )));
            }
        }
    }
    Ok(())
}
