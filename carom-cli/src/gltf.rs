//! `--gltf`: the motion of a model in space as a file for viewers and editors.

use crate::failure::Failure;
use carom_analysis::files::write_whole;
use carom_analysis::gltf;
use carom_analysis::report::Report;
use std::path::{Path, PathBuf};

/// The file of `--gltf`: it is a binary one.
pub fn file(text: &str) -> Result<PathBuf, String> {
    match Path::new(text).extension().map(|ending| ending.to_ascii_lowercase()) {
        Some(ending) if ending == "glb" => Ok(text.into()),
        _ => Err("the file is written in the binary form of glTF: let its name end with .glb".into()),
    }
}

/// Writes the motion of a report.
pub fn write(report: &Report, path: &Path) -> Result<(), Failure> {
    let Some(space) = report.run.as_ref().and_then(|run| run.space.as_ref()) else { return Ok(()) };
    write_whole(path, |out| gltf::write(&report.title, space, out))
        .map_err(|e| Failure::Environment(format!("cannot write `{}`: {e}", path.display())))
}
