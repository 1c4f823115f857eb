//! `--figures`: every chart of a report as an SVG file.

use crate::failure::Failure;
use carom_analysis::folder::{Folder, Sharing};
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

/// The folder of `--figures`, claimed before anything is computed.
pub struct Figures(Folder);

impl Figures {
    /// Claims the folder, which is not that of the results.
    pub fn claim(folder: &Path, results: &Path) -> Result<Figures, Failure> {
        let place = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        if place(folder) == place(results) {
            let message = format!("--figures: `{}` is the folder of the results", folder.display());
            return Err(Failure::usage(message, "name another one, or one in it"));
        }
        Ok(Figures(Folder::claim(folder, "figures", Sharing::Alone)?))
    }

    /// Writes the charts and images of a report, named after their titles.
    pub fn write(self, report: &Report) -> Result<(), Failure> {
        let mut draft = self.0.draft()?;
        for (name, svg) in report.figures() {
            draft.write(&format!("{name}.svg"), |out| out.write_all(svg.as_bytes()))?;
        }
        draft.publish(None)?;
        Ok(())
    }
}
