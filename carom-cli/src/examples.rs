//! The built-in examples, and how a file argument is resolved.

use crate::failure::Failure;
use carom_scene::nearest::nearest;
use carom_scene::{Overrides, Scene};
use std::path::Path;

/// Name and text of every example.
pub const EXAMPLES: &[(&str, &str)] = &[
    ("bouncing-ball", include_str!("../../examples/bouncing-ball.toml")),
    ("linear-oscillator", include_str!("../../examples/linear-oscillator.toml")),
    ("rocking-block", include_str!("../../examples/rocking-block.toml")),
    ("planar-ball", include_str!("../../examples/planar-ball.toml")),
    ("double-pendulum", include_str!("../../examples/double-pendulum.toml")),
    ("impacting-bar", include_str!("../../examples/impacting-bar.toml")),
    ("two-mass-chain", include_str!("../../examples/two-mass-chain.toml")),
    ("newtons-cradle", include_str!("../../examples/newtons-cradle.toml")),
];

/// The example of this name.
pub fn find(name: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Loads a model file; where no such file exists, the built-in example of that name.
pub fn load(file: &Path, overrides: &Overrides) -> Result<Scene, Failure> {
    let example = file.to_str().filter(|_| !file.is_file()).and_then(find);
    let loaded = match (example, file.to_str()) {
        (Some(text), Some(name)) => carom_scene::from_str(name, text, overrides),
        _ => carom_scene::load(file, overrides),
    };
    loaded.map_err(|mut diagnostics| {
        if let (false, [only]) = (file.exists(), diagnostics.as_mut_slice()) {
            let near = file.to_str().and_then(|name| nearest(name, EXAMPLES.iter().map(|(known, _)| *known)));
            only.hint(match near {
                Some(near) => format!("did you mean the example `{near}`?"),
                None => {
                    "`carom new NAME` writes one to start from, `carom list examples` names those that are built in"
                        .into()
                }
            });
        }
        Failure::Model(diagnostics)
    })
}
