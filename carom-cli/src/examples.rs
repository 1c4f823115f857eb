//! How a file argument is resolved: a model file, or a built-in example.

use crate::failure::Failure;
use crate::study::file::kinds;
use carom_scene::examples::{EXAMPLES, find};
use carom_scene::nearest::nearest;
use carom_scene::{Overrides, Scene, StudyFile};
use std::path::Path;

/// Loads a model file; where no such file exists, the built-in example of that name.
///
/// # Errors
/// Fails with all that is wrong with the file.
pub fn load(file: &Path, overrides: &Overrides) -> Result<Scene, Failure> {
    let example = file.to_str().filter(|_| !file.is_file()).and_then(find);
    let loaded = match (example, file.to_str()) {
        (Some(text), Some(name)) => carom_scene::from_str(name, text, overrides),
        _ => carom_scene::load(file, overrides),
    };
    if loaded.is_err()
        && file.is_file()
        && std::fs::read_to_string(file).is_ok_and(|text| StudyFile::is_meant(&text, &kinds()))
    {
        let hint = format!("its studies are commands: carom sweep {}", file.display());
        return Err(Failure::usage(format!("`{}` is a study file, not a model file", file.display()), hint));
    }
    loaded.map_err(|mut diagnostics| {
        // a file that is not there has one finding; an example is there, and its findings have hints of their own
        if let (None, false, [only]) = (example, file.exists(), diagnostics.as_mut_slice()) {
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
