//! `carom check`: validate without running.

use crate::arguments::CheckArguments;
use crate::console::{print_line, print_text};
use crate::examples;
use crate::failure::{Failure, print};
use crate::study::file::{StudyInput, kinds};
use carom::scheme::{AnyModel, Family};
use carom::zero_dynamics::{self, PMatrix};
use carom_analysis::study::find;
use carom_scene::{Overrides, Scene, StudyFile};
use serde_json::Map;

pub fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let scheme = arguments.scheme.clone().map(Into::into);
    let overrides = Overrides { scheme, ..arguments.changes.overrides() };
    if let Some(file) = StudyFile::load(&arguments.file, &kinds()) {
        let checked = file.map_err(Failure::Model).and_then(|file| studies(&file, arguments, &overrides));
        return match (checked, arguments.json) {
            (Err(Failure::Model(findings)), true) => {
                let text = serde_json::to_string_pretty(&findings).map_err(|e| Failure::Environment(e.to_string()))?;
                print_line(text)?;
                Err(Failure::Model(Vec::new()))
            }
            (Ok(_), true) => print_line("[]"),
            (checked, _) => print_text(checked?),
        };
    }
    let loaded = examples::load(&arguments.file, &overrides);
    if arguments.json {
        let findings = match &loaded {
            Ok(scene) => &scene.warnings,
            Err(Failure::Model(findings)) => findings,
            Err(_) => return loaded.map(|_| ()),
        };
        let text = serde_json::to_string_pretty(findings).map_err(|e| Failure::Environment(e.to_string()))?;
        print_line(text)?;
        return match loaded {
            Ok(_) => Ok(()),
            Err(_) => Err(Failure::Model(Vec::new())),
        };
    }
    let scene = loaded?;
    scene.warnings.iter().for_each(print);
    print_text(format_args!("{}: good", arguments.file.display()))?;
    print_text(format_args!("  model        {}, {}", scene.name, size(&scene)))?;
    let span = &scene.span;
    let steps = match &scene.adaptive {
        Some(adaptive) => {
            let tolerance = adaptive.tolerance.map_or_else(|| adaptive.words(), |tolerance| format!("{tolerance:e}"));
            format!("adaptive steps, tolerance {tolerance}, first {} s", short(span.step))
        }
        None => format!("step {} s, {} steps", short(span.step), span.steps()),
    };
    print_text(format_args!("  span         {} s to {} s, {steps}", short(span.start), short(span.end)))?;
    print_text(format_args!("  scheme       {}", scene.scheme.describe()))?;
    print_text(format_args!("  solver       {}", scene.solver.describe()))?;
    structure(&scene)
}

/// Checks all studies of a file; what they are.
fn studies(file: &StudyFile, arguments: &CheckArguments, overrides: &Overrides) -> Result<String, Failure> {
    let mut text = format!("{}: good", arguments.file.display());
    for table in &file.studies {
        let Some(row) = find(table.name) else { continue };
        let input = StudyInput::load(row, &arguments.file, overrides, Map::new())?;
        let units = input.check(row)?;
        if text.lines().count() == 1 {
            text += &format!("\n  model        {}, {}", input.scene.name, size(&input.scene));
        }
        text += &format!("\n  {:<12} {units} {}", table.name, row.info.counts);
    }
    Ok(text)
}

/// A number with six digits, as many as people read.
fn short(x: f64) -> String {
    format!("{x:.5e}").parse::<f64>().unwrap_or(x).to_string()
}

fn size(scene: &Scene) -> String {
    let n = scene.coordinates.len();
    if scene.family == Family::FirstOrder {
        return format!("{n} states, {} rows", scene.laws.len());
    }
    let constraints = scene.laws.iter().filter(|law| law.law.is_equality()).count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let contacts = count(scene.laws.len() - constraints, "contact");
    format!("{}, {contacts}, {}", count(n, "coordinate"), count(constraints, "constraint"))
}

/// Relative degree, zeros and the P-matrix check of linear complementarity systems.
fn structure(scene: &Scene) -> Result<(), Failure> {
    let Ok(AnyModel::FirstOrder(mut model)) = scene.model() else { return Ok(()) };
    let Some(lcs) = model.linear().filter(|_| !scene.laws.is_empty()) else { return Ok(()) };
    let report = zero_dynamics::report(lcs);
    let degrees = scene.laws.iter().zip(&report.degrees).map(|(law, degree)| match degree {
        Some(degree) => format!("{} {degree}", law.name),
        None => format!("{} none", law.name),
    });
    print_text(format_args!("  relative degree  {}", degrees.collect::<Vec<_>>().join(", ")))?;
    if let Some(judged) = &report.p_matrix {
        let direct = report.degrees.iter().all(|degree| *degree == Some(0));
        let name = if direct { "matrix D       " } else { "leading matrix " };
        print_text(format_args!("  {name}  {}", words(judged, direct, scene)))?;
    }
    if report.problem.is_none() {
        let zeros: Vec<String> = report.zeros.iter().map(|&zero| complex(zero)).collect();
        print_text(format_args!(
            "  zeros            {}",
            if zeros.is_empty() { "none".into() } else { zeros.join(", ") }
        ))?;
    }
    if let Some(problem) = &report.problem {
        print_text(format_args!("  for homsp        {problem}"))?;
    }
    Ok(())
}

fn words(judged: &PMatrix, direct: bool, scene: &Scene) -> String {
    match judged {
        PMatrix::No { rows, minor } => {
            let names: Vec<&str> =
                rows.iter().filter_map(|&row| scene.laws.get(row)).map(|law| law.name.as_str()).collect();
            // a passive system may do without: its multipliers need not be unique then
            let harm = if direct { "multipliers may not be unique" } else { "not well posed" };
            format!("not a P-matrix: the principal minor of {} is {:.3e}; {harm}", names.join(", "), minor + 0.0)
        }
        PMatrix::Yes => "a P-matrix: well posed".into(),
        PMatrix::Unknown => "too large to tell whether it is a P-matrix; no counter-example was found".into(),
    }
}

/// A zero in 1/s.
fn complex((re, im): (f64, f64)) -> String {
    if im == 0.0 {
        format!("{re:.6}")
    } else {
        format!("{re:.6} {} {:.6} i", if im < 0.0 { '-' } else { '+' }, im.abs())
    }
}
