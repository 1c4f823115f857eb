//! `--gltf`: the motion of a model in space as a file for viewers and editors.

use crate::failure::Failure;
use carom_analysis::folder::{Draft, Replace, check_file, write_file};
use carom_analysis::gltf;
use carom_analysis::report::Report;
use std::path::{Path, PathBuf};

/// Its name beside the results.
pub const MOTION: &str = "motion.glb";

/// The file of `--gltf`: it is a binary one.
pub fn file(text: &str) -> Result<PathBuf, String> {
    match Path::new(text).extension().map(|ending| ending.to_ascii_lowercase()) {
        Some(ending) if ending == "glb" => Ok(text.into()),
        _ => Err("the file is written in the binary form of glTF: let its name end with .glb".into()),
    }
}

/// Whether the file of `--gltf` may be written: carom names itself at its beginning.
pub fn check(path: &Path) -> Result<(), Failure> {
    Ok(check_file(path, Replace::Marked("carom"), &[])?)
}

/// Writes the motion of a report, to a file or with the other results.
pub fn write(report: &Report, path: Option<&Path>, draft: Option<&mut Draft>) -> Result<(), Failure> {
    let Some(space) = report.run.as_ref().and_then(|run| run.space.as_ref()) else { return Ok(()) };
    let fill = |out: &mut dyn std::io::Write| gltf::write(&report.title, space, out);
    match (path, draft) {
        (Some(path), _) => write_file(path, Replace::Marked("carom"), &[], fill)?,
        (None, Some(draft)) => _ = draft.write(MOTION, fill)?,
        (None, None) => {}
    }
    Ok(())
}
