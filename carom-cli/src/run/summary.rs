//! What the solver did, added to `summary.json`.

use super::SolverPath;
use crate::failure::Failure;
use carom_analysis::results::Summary;
use serde::Serialize;
use std::fs;
use std::path::Path;

/// The summary with one more key at its end.
#[derive(Serialize)]
struct Extended<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    solver: &'a [SolverPath],
}

/// Writes the summary again, complete at every moment. A summary that could not be written before is left alone.
pub fn extend(folder: &Path, summary: &Summary, solver: &[SolverPath]) -> Result<(), Failure> {
    let path = folder.join("summary.json");
    if !path.is_file() {
        return Ok(());
    }
    let part = folder.join("summary.json.part");
    let text = serde_json::to_string_pretty(&Extended { summary, solver }).map_err(std::io::Error::from);
    let written = text.and_then(|text| fs::write(&part, text + "\n")).and_then(|()| fs::rename(&part, &path));
    written.map_err(|e| {
        let _ = fs::remove_file(&part);
        Failure::Environment(format!("cannot write `{}`: {e}", path.display()))
    })
}
