//! `--figures`: every chart of a report as an SVG file.

use crate::failure::Failure;
use carom_analysis::files::write_whole;
use carom_analysis::report::Report;
use std::path::{Path, PathBuf};

/// The folder of `--figures`; who asks for another format is told how to get it.
pub fn folder(text: &str) -> Result<PathBuf, String> {
    let format = text.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if !text.contains(['/', '\\']) && ["png", "pdf", "jpg", "eps"].contains(&format.as_str()) {
        return Err(format!(
            "figures are SVG files, and DIR is the folder for them; rsvg-convert, inkscape or a browser make {format} of \
             them, as in `rsvg-convert --zoom 3 chart.svg -o chart.png` (a folder of that name: ./{text})"
        ));
    }
    Ok(text.into())
}

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
