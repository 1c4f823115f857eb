//! `carom converge`: errors and orders over a range of steps, scheme by scheme.

mod report;
mod table;

use crate::arguments::ConvergeArguments;
use crate::console::say;
use crate::examples;
use crate::failure::{Failure, print};
use crate::progress::{interrupted, watch_for_interrupts};
use crate::run::stem;
use carom::Simulation;
use carom_analysis::convergence::{Computed, Plan, Reference, Study, study};
use carom_scene::{Overrides, Scene};
use std::path::PathBuf;

/// Most steps of one run of a study: all states are kept in memory.
const MOST_STEPS: f64 = 2e7;

/// A finished study of a model.
struct Studies<'a> {
    scene: &'a Scene,
    plan: Plan,
    /// What the errors are measured against.
    reference: String,
    studies: Vec<Study>,
}

pub fn converge(arguments: &ConvergeArguments) -> Result<(), Failure> {
    let scene = examples::load(&arguments.file, &arguments.changes.overrides())?;
    if !arguments.quiet {
        scene.warnings.iter().for_each(print);
    }
    let plan = plan(arguments, &scene)?;
    let schemes = schemes(arguments, &scene)?;
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
    let studies = measure(arguments, &scene, plan, &schemes)?;
    let wrote = std::fs::write(&csv, table::csv(&studies)).map_err(|e| (e, &csv));
    wrote
        .and_then(|()| report::write(&studies, &html).map_err(|e| (e, &html)))
        .map_err(|(e, path)| Failure::Environment(format!("cannot write `{}`: {e}", path.display())))?;
    if !arguments.quiet {
        table::print(&studies)?;
        say(format_args!("table  {}\nreport {}", csv.display(), html.display()))?;
    }
    if interrupted() { Err(Failure::Interrupted) } else { failures(&studies) }
}

/// Runs everything; a user who stops gets the schemes that are finished.
fn measure<'a>(
    arguments: &ConvergeArguments,
    scene: &'a Scene,
    plan: Plan,
    schemes: &[(String, Scene)],
) -> Result<Studies<'a>, Failure> {
    let measured =
        |e: carom_analysis::error::MeasureError| Failure::Computation(format!("the errors cannot be measured: {e}"));
    let computed;
    let (reference, described) = match &scene.reference {
        Some(exact) => (Reference::Exact(exact.solution.as_ref()), format!("the exact solution of {}", exact.testbed)),
        None => {
            let finest = finest(&plan) * arguments.refine as usize;
            let h = (plan.end - plan.start) / finest as f64;
            let solution = make(&schemes[0].1, h).and_then(|mut s| s.record().map_err(|e| e.to_string()));
            let solution = solution.map_err(|e| Failure::Computation(format!("the reference run failed: {e}")))?;
            computed = Computed::new(solution).map_err(measured)?;
            (Reference::Computed(&computed), format!("a run of {} with {finest} steps", schemes[0].0))
        }
    };
    let mut studies = Vec::new();
    for (name, variant) in schemes {
        if interrupted() {
            break;
        }
        // after a wish to stop the remaining runs of the scheme are refused
        let make = |h| if interrupted() { Err("interrupted".into()) } else { make(variant, h) };
        studies.push(study(name, &plan, &reference, make).map_err(measured)?);
    }
    Ok(Studies { scene, plan, reference: described, studies })
}

fn make(scene: &Scene, h: f64) -> Result<Simulation, String> {
    let stepper = scene.stepper().map_err(|e| e.to_string())?;
    let controller = Box::new(carom::simulation::FixedStep { h });
    Simulation::new(stepper, controller, scene.span.end).map_err(|e| e.to_string())
}

/// `COARSE:FINE[:LEVELS]`.
fn plan(arguments: &ConvergeArguments, scene: &Scene) -> Result<Plan, Failure> {
    let hint = "write coarse and fine steps, for example --steps 0.1:1e-4, or with the number of levels 0.1:1e-4:7";
    let wrong = |why: String| Failure::usage(format!("--steps {}: {why}", arguments.steps), hint);
    let parts: Vec<&str> = arguments.steps.split(':').collect();
    let (coarse, fine, levels) = match parts.as_slice() {
        [coarse, fine] => (coarse, fine, None),
        [coarse, fine, levels] => (coarse, fine, Some(*levels)),
        _ => return Err(wrong("two or three parts are needed".into())),
    };
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
    let (Some(coarse), Some(fine)) = (number(coarse), number(fine)) else {
        return Err(wrong("steps must be positive numbers".into()));
    };
    let span = scene.span.end - scene.span.start;
    if fine >= coarse || coarse > span {
        return Err(wrong(format!(
            "the fine step must be below the coarse one, and that at most the span of {span} s"
        )));
    }
    if span / fine > MOST_STEPS {
        return Err(wrong(format!("{:.1e} steps do not fit into memory; the most is {MOST_STEPS:.0e}", span / fine)));
    }
    let levels = match levels {
        Some(text) => text
            .trim()
            .parse::<usize>()
            .ok()
            .filter(|n| (2..=100).contains(n))
            .ok_or_else(|| wrong("levels must be 2 to 100".into()))?,
        None => ((coarse / fine).log10() * 3.0).ceil() as usize + 1,
    };
    let mut plan = Plan::between((scene.span.start, scene.span.end), coarse, fine, levels, arguments.grids as usize);
    plan.skip_multiples_of = arguments.skip_multiples.map(|n| n as usize);
    if plan.counts.len() < 2 {
        return Err(wrong("two different numbers of steps are needed for an order".into()));
    }
    let reference = finest(&plan) as f64 * arguments.refine as f64;
    if scene.reference.is_none() && reference > MOST_STEPS {
        let hint = format!("take a larger fine step, or a smaller --refine; the most is {MOST_STEPS:.0e} steps");
        return Err(Failure::usage(format!("{reference:.1e} steps of the reference run do not fit into memory"), hint));
    }
    Ok(plan)
}

/// The largest number of steps of a plan.
fn finest(plan: &Plan) -> usize {
    plan.counts.iter().max().copied().unwrap_or(1)
}

/// The schemes to compare, each with the scene that uses it; that of the file where none is named.
fn schemes(arguments: &ConvergeArguments, scene: &Scene) -> Result<Vec<(String, Scene)>, Failure> {
    let named: Vec<&String> =
        arguments.schemes.iter().filter(|s| !s.trim().is_empty()).chain(&arguments.scheme).collect();
    if named.is_empty() {
        return Ok(vec![(scene.scheme.describe(), scene.clone())]);
    }
    named
        .into_iter()
        .map(|text| {
            let overrides = Overrides { scheme: Some(text.clone()), ..scene.overrides().clone() };
            let variant = scene.with_overrides(&overrides).map_err(Failure::Model)?;
            Ok((variant.scheme.describe(), variant))
        })
        .collect()
}

/// A level without a single successful grid is a failure of the computation, after everything was written.
fn failures(studies: &Studies<'_>) -> Result<(), Failure> {
    for study in &studies.studies {
        for level in &study.levels {
            if let (true, Some((count, reason))) = (level.grids.is_empty(), &level.failed) {
                return Err(Failure::Computation(format!(
                    "{}: all {count} runs with h = {:.3e} failed: {reason}",
                    study.scheme, level.step
                )));
            }
        }
    }
    Ok(())
}
