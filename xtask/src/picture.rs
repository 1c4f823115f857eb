//! `cargo xtask picture`: the picture of a report on the front page, made anew by a browser without a window.

use crate::{cargo, test};
use std::path::Path;
use std::process::Command;

/// The model whose report is shown.
const MODEL: &str = "examples/rocking-block.toml";
/// Width and height of the window [px].
const WINDOW: (u32, u32) = (1400, 900);

/// Runs the model and takes the picture; what went wrong otherwise.
pub fn run() -> Result<(), String> {
    if !test::chromium() {
        return Err(format!("{}; docs/report.png is as it was", test::NO_CHROMIUM));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = std::env::temp_dir().join(format!("carom-picture-{}", std::process::id()));
    let (model, out) = (root.join(MODEL), folder.join("results"));
    let words = ["run", "--release", "--package", "carom-cli", "--", "run", "--quiet"];
    let places = [model.to_string_lossy(), "--out".into(), out.to_string_lossy()];
    let words: Vec<&str> = words.into_iter().chain(places.iter().map(AsRef::as_ref)).collect();
    let made = match cargo(&words, &[]) {
        true => shoot("chromium", &out.join("report.html"), &root.join("docs/report.png")),
        false => Err(format!("the run of {MODEL} failed; docs/report.png is as it was")),
    };
    // what is left in the folder for temporary files is no failure
    let _ = std::fs::remove_dir_all(&folder);
    made
}

/// One picture of a page in a window that is not shown.
fn shoot(browser: &str, page: &Path, picture: &Path) -> Result<(), String> {
    let page = page.canonicalize().map_err(|error| format!("there is no report {}: {error}", page.display()))?;
    let before = std::fs::metadata(picture).and_then(|data| data.modified()).ok();
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb"]);
    // charts are drawn by scripts, which are given time
    command.args(["--virtual-time-budget=5000", "--force-prefers-color-scheme=light"]);
    command.arg(format!("--window-size={},{}", WINDOW.0, WINDOW.1));
    command.arg(format!("--screenshot={}", picture.display())).arg(format!("file://{}", page.display()));
    let output = command.output().map_err(|error| format!("{browser} does not start: {error}"))?;
    let after = std::fs::metadata(picture).and_then(|data| data.modified()).ok();
    match output.status.success() && after.is_some() && after != before {
        true => Ok(()),
        false => Err(format!("{browser} took no picture: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model is there, and what can go wrong is told.
    #[test]
    fn failures_are_told() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(root.join(MODEL).is_file());
        let (page, picture) = (root.join("README.md"), root.join("no-such-folder/report.png"));
        let told = |browser: &str, page: &Path| shoot(browser, page, &picture).unwrap_err();
        assert!(told("no-such-browser", &page).contains("no-such-browser does not start"));
        assert!(told("no-such-browser", &root.join("nothing.html")).contains("there is no report"));
        // a browser that succeeds and leaves nothing
        assert!(cfg!(not(unix)) || told("true", &page).contains("took no picture"));
    }
}
