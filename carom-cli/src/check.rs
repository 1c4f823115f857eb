//! `carom check`: validate without running.

use crate::arguments::CheckArguments;
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
        println!("{text}");
        return match loaded {
            Ok(_) => Ok(()),
            Err(_) => Err(Failure::Model(Vec::new())),
        };
    }
    let scene = loaded?;
    scene.warnings.iter().for_each(print);
    let (contacts, constraints): (Vec<_>, Vec<_>) =
        scene.laws.iter().partition(|law| law.law != carom_solve::Law::Equality);
    println!("{}: good", arguments.file.display());
    println!(
        "  model        {}, {} coordinates, {} contacts, {} constraints",
        scene.name,
        scene.coordinates.len(),
        contacts.len(),
        constraints.len()
    );
    println!(
        "  span         {} s to {} s, step {} s, {} steps",
        scene.span.start,
        scene.span.end,
        scene.span.step,
        scene.span.steps()
    );
    println!("  scheme       {} {}", scene.scheme.name, scene.scheme.options);
    println!("  solver       {} {}", scene.solver.name, scene.solver.options);
    Ok(())
}
