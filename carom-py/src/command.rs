//! The `carom` command inside Python: the same words, the same files, the same exit codes.

use crate::supervise::supervised;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

/// One command at a time: a wish to stop is that of the process.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Runs a command line, whose first word is the name of the program, and tells the exit code.
///
/// Handlers of signals stay those of Python: what they raise asks the command to stop, which keeps what it has and ends
/// with the code 130.
#[pyfunction]
pub fn main(py: Python<'_>, words: Vec<OsString>) -> PyResult<u8> {
    if BUSY.swap(true, Ordering::Acquire) {
        return Err(crate::error::usage(py, "a command runs already in this process", "wait for its end"));
    }
    carom_cli::hosted();
    let done = supervised(py, carom_cli::stop, || carom_cli::main(words));
    BUSY.store(false, Ordering::Release);
    let (code, _) = done?;
    Ok(code)
}
