//! Standard output and standard error, either of which may be a closed pipe or a full disk.

use crate::failure::Failure;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Prints a line. A reader that went away (`carom list schemes | head -1`) has seen enough; that is no failure.
pub fn print_line(line: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Environment(format!("cannot print: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a line to standard error; where that is closed, the exit code has to do.
pub fn print_warning(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
