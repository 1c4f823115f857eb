//! `--figures`: every chart of a report as an SVG file.

use crate::failure::Failure;
use carom_analysis::files::write_whole;
use carom_analysis::report::Report;
use std::path::Path;

/// Writes the charts and images of a report, named after their titles.
pub fn write(report: &Report, folder: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, e| Failure::Environment(format!("cannot write `{}`: {e}", path.display()));
    std::fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
    for (name, svg) in report.figures() {
        let path = folder.join(format!("{name}.svg"));
        write_whole(&path, |out| out.write_all(svg.as_bytes())).map_err(|e| failed(&path, e))?;
    }
    Ok(())
}
