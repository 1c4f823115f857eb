//! Robot descriptions become model files.

mod kinematics;
mod mistakes;
mod own;
mod robots;

use carom_scene::import::{Imported, Options, import_text};
use carom_scene::{Diagnostic, Overrides, Scene};
use std::path::Path;

/// Imports a text.
fn read(name: &str, text: &str) -> Result<Imported, Vec<Diagnostic>> {
    import_text(Path::new(name), text, &Options::default())
}

/// The scene of a robot, from 0 to `end` in steps of this size.
fn scene(name: &str, imported: &Imported, end: f64, step: f64) -> Scene {
    let overrides = Overrides { end: Some(end), step: Some(step.into()), ..Overrides::default() };
    carom_scene::from_str(name, &imported.text, &overrides)
        .unwrap_or_else(|errors| panic!("{name}: {}\n{}", errors[0], imported.text))
}

/// The last state of a run, with the scene.
fn run(name: &str, imported: &Imported, end: f64, step: f64) -> (Scene, carom::State) {
    let scene = scene(name, imported, end, step);
    let mut simulation = scene.simulation().unwrap();
    let done = simulation.run(&mut []).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(done, "{name} did not finish");
    let state = simulation.state().clone();
    (scene, state)
}

/// A coordinate of a state by name.
fn coordinate(scene: &Scene, state: &carom::State, name: &str) -> f64 {
    state.q[scene.coordinates.iter().position(|known| known == name).unwrap_or_else(|| panic!("no {name}"))]
}
