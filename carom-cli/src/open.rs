//! `--open`: shows a report in the browser of the desktop.

use crate::failure::Failure;
use std::path::Path;
use std::process::{Command, Stdio};

/// What opens a file on this system.
const OPENER: &str = if cfg!(target_os = "windows") {
    "explorer"
} else if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Opens a file; the results are there in any case.
pub fn open(file: &Path) -> Result<(), Failure> {
    let place = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let status = Command::new(OPENER).arg(&place).stdin(Stdio::null()).stdout(Stdio::null()).status();
    let reason = match status {
        // the explorer of Windows never says that it succeeded
        Ok(status) if status.success() || cfg!(target_os = "windows") => return Ok(()),
        Ok(status) => format!("it ended with {status}"),
        Err(error) => error.to_string(),
    };
    let file = file.display();
    Err(Failure::Environment(format!("`{OPENER}` did not open `{file}`: {reason}; the results are written")))
}
