//! `carom check`: validate without running.

use crate::arguments::CheckArguments;
use crate::console::say;
use crate::examples;
use crate::failure::{Failure, print};

pub fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let loaded = examples::load(&arguments.file, &arguments.changes.overrides());
    if arguments.json {
        let findings = match &loaded {
            Ok(scene) => &scene.warnings,
            Err(Failure::Model(findings)) => findings,
            Err(_) => return loaded.map(|_| ()),
        };
        let text = serde_json::to_string_pretty(findings).map_err(|e| Failure::Environment(e.to_string()))?;
        say(text)?;
        return match loaded {
            Ok(_) => Ok(()),
            Err(_) => Err(Failure::Model(Vec::new())),
        };
    }
    let scene = loaded?;
    scene.warnings.iter().for_each(print);
    let (contacts, constraints): (Vec<_>, Vec<_>) =
        scene.laws.iter().partition(|law| law.law != carom_solve::Law::Equality);
    say(format_args!("{}: good", arguments.file.display()))?;
    say(format_args!(
        "  model        {}, {} coordinates, {} contacts, {} constraints",
        scene.name,
        scene.coordinates.len(),
        contacts.len(),
        constraints.len()
    ))?;
    let span = &scene.span;
    let steps = match &scene.adaptive {
        Some(adaptive) => format!("adaptive steps, tolerance {:e}, first {} s", adaptive.tolerance, span.step),
        None => format!("step {} s, {} steps", span.step, span.steps()),
    };
    say(format_args!("  span         {} s to {} s, {steps}", span.start, span.end))?;
    say(format_args!("  scheme       {}", scene.scheme.describe()))?;
    say(format_args!("  solver       {}", scene.solver.describe()))?;
    Ok(())
}
