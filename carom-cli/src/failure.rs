//! What can go wrong, how it is shown, and with which exit code.

use crate::console::print_warning;
use carom_analysis::folder::FolderError;
use carom_scene::Diagnostic;
use std::io::IsTerminal;

/// A command that did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// Something of the environment: files that cannot be read or written.
    Environment(String),
    /// Mistakes in a model file.
    Model(Vec<Diagnostic>),
    /// A mistake on the command line, with a hint.
    Usage {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// The computation failed; results so far were kept.
    Computation(String),
    /// Expected numbers were not met.
    Expectation(usize),
    /// So many columns of two results differ by more than this part of their range.
    Difference {
        /// How many.
        over: usize,
        /// The part.
        limit: f64,
    },
    /// Stopped by the user; what is left of the work, in words.
    Interrupted(String),
}

impl Failure {
    /// A mistake with a hint.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), hint: hint.into() }
    }

    fn code(&self) -> u8 {
        match self {
            Failure::Environment(_) => 1,
            Failure::Model(_) | Failure::Usage { .. } => 2,
            Failure::Computation(_) => 3,
            Failure::Expectation(_) | Failure::Difference { .. } => 4,
            Failure::Interrupted(_) => 130,
        }
    }

    /// Prints to standard error and tells the exit code.
    pub fn tell(&self) -> u8 {
        match self {
            Failure::Model(diagnostics) => diagnostics.iter().for_each(print),
            Failure::Usage { message, hint } => print_warning(format_args!("error: {message}\nhint: {hint}")),
            Failure::Environment(message) | Failure::Computation(message) => {
                print_warning(format_args!("error: {message}"))
            }
            Failure::Expectation(missed) => print_warning(format_args!("error: {missed} expected number(s) not met")),
            Failure::Difference { over, limit } => {
                print_warning(format_args!("error: {over} column(s) differ by more than {limit:e} of their range"))
            }
            Failure::Interrupted(left) => print_warning(format_args!("interrupted: {left}")),
        }
        self.code()
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Failure {
        match error.hint() {
            Some(hint) => Failure::usage(error.to_string(), hint),
            None => Failure::Environment(error.to_string()),
        }
    }
}

/// Prints one finding: `file:line:column`, reason, the place in the text, a hint.
pub fn print(diagnostic: &Diagnostic) {
    // the first line is for editors and scripts; the picture below it for people
    print_warning(diagnostic);
    if std::io::stderr().is_terminal()
        && let Some(picture) = diagnostic.picture()
    {
        print_warning(picture);
    }
}
