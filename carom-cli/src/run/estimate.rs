//! `carom run --estimate`: the run again with finer steps, to tell how far off it is.

use crate::progress::Progress;
use carom::simulation::Observer;
use carom_analysis::results::{Estimate, Probe};
use carom_scene::Scene;

/// What is made finer in a scene, and by how much.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refinement {
    /// The step, halved.
    Step,
    /// The tolerance of adaptive steps, a tenth of it.
    Tolerance,
    /// The tolerances of a scheme that controls its error by itself.
    SchemeTolerance,
}

impl Refinement {
    fn of(scene: &Scene) -> Refinement {
        match tolerances(scene).is_empty() {
            _ if scene.adaptive.is_some() => Refinement::Tolerance,
            false => Refinement::SchemeTolerance,
            true => Refinement::Step,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Refinement::Step => "step, halved twice",
            Refinement::Tolerance => "tolerance of the steps, a tenth of it twice",
            Refinement::SchemeTolerance => "tolerances of the scheme, a tenth of them twice",
        }
    }

    /// The scene, `level` times finer.
    fn refine(self, scene: &Scene, level: i32) -> Scene {
        let mut finer = scene.clone();
        let tenth = 0.1f64.powi(level);
        match self {
            Refinement::Step => finer.span.step *= 0.5f64.powi(level),
            Refinement::Tolerance => finer.adaptive.iter_mut().for_each(|adaptive| *adaptive = adaptive.refined(tenth)),
            Refinement::SchemeTolerance => {
                for (name, value) in tolerances(scene) {
                    finer.scheme.options[name] = (value * tenth).into();
                }
            }
        }
        finer
    }
}

/// The tolerances of a scheme that controls its own error, as the scene gives them or by default; none where it takes
/// the steps that it is asked for.
fn tolerances(scene: &Scene) -> Vec<(&'static str, f64)> {
    let Some(row) = carom::scheme::find(&scene.scheme.name) else { return Vec::new() };
    if scene.scheme.options.get("control").is_some_and(|control| control == "fixed") {
        return Vec::new();
    }
    let options = (row.options)();
    let default = |name: &str| options.iter().find(|option| option.name == name)?.default.parse().ok();
    let given = |name: &str| scene.scheme.options.get(name).and_then(serde_json::Value::as_f64);
    let value = |name| Some((name, given(name).or_else(|| default(name))?));
    let all: Vec<_> = ["rtol", "atol"].into_iter().filter_map(value).collect();
    match all.iter().all(|(_, value)| *value == 0.0) {
        // nothing to divide: the default is meant
        true => default("rtol").map(|rtol| ("rtol", rtol)).into_iter().collect(),
        false => all,
    }
}

/// A probe for the run of a scene that is `level` times finer.
pub fn probe(scene: &Scene, level: u32) -> Probe {
    match Refinement::of(scene) {
        Refinement::Step => Probe::on_a_grid(scene.span.steps(), 1 << level),
        _ => Probe::at_the_end(),
    }
}

/// Runs again, twice, and compares. An error is that of a finer run.
pub fn estimate(scene: &Scene, first: Probe, quiet: bool) -> Result<Option<Estimate>, String> {
    let refinement = Refinement::of(scene);
    let (mut runs, mut last) = (vec![first], None);
    for level in 1..=2 {
        let finer = refinement.refine(scene, level);
        let mut simulation = finer.simulation().map_err(|error| error.to_string())?;
        let (mut probe, mut watch) = (probe(scene, level as u32), finer.watch());
        let mut progress = Progress::new(finer.span.start, quiet);
        let mut observers: Vec<&mut dyn Observer> = vec![&mut probe, &mut progress];
        if !scene.expectations.is_empty() {
            observers.push(&mut watch);
        }
        match simulation.run(&mut observers) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        }
        probe.figures = figures(&watch);
        runs.push(probe);
        last = Some(simulation);
    }
    let ([a, b, c], Some(last)) = (&runs[..], &mut last) else { return Ok(None) };
    Ok(Some(Estimate::of(refinement.words(), [a, b, c], refinement == Refinement::Step, last.stepper())))
}

/// The measured values of the expected numbers.
pub fn figures(watch: &carom_scene::scene::Watch) -> Vec<(String, f64)> {
    watch.outcomes().into_iter().map(|outcome| (outcome.expectation.text, outcome.actual)).collect()
}
