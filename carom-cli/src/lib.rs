//! The `carom` command as a library: its program is thin, and so is the command of the Python package. Runs that
//! write nothing, for programs that look at results themselves, are [`MemoryRun`]s.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

/// The programs of the page on the Rust API are run as they stand.
#[cfg(doctest)]
#[doc = include_str!("../../docs/rust.md")]
mod rust_page {}

mod arguments;
mod check;
mod compare;
mod completions;
mod console;
mod docs;
mod examples;
mod failure;
mod figures;
mod flags;
mod gallery;
mod generate;
mod gltf;
mod import;
mod list;
mod new;
mod open;
mod print;
mod progress;
mod reproduce;
mod run;
mod show;
mod site;
mod solve;
mod study;
mod table;

use crate::console::print_text;
use arguments::{Arguments, Command};
use clap::{CommandFactory, FromArgMatches};
pub use examples::load;
pub use failure::Failure;
pub use progress::{hosted, stop};
pub use run::memory::{MemoryOptions, MemoryRun};
use std::ffi::OsString;
use std::io::IsTerminal;
pub use study::file::StudyInput;

/// Runs a command line, whose first word is the name of the program, and tells the exit code.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let matches = match command().try_get_matches_from(&words) {
        Ok(matches) => matches,
        Err(message) if message.use_stderr() => return refuse(&message),
        // what was asked for: help, or the version
        Err(message) => {
            let text = message.render();
            let text = if ::console::colors_enabled() { text.ansi().to_string() } else { text.to_string() };
            return ended(print_text(text.trim_end()));
        }
    };
    let mut refused = None;
    let study = matches.subcommand().and_then(|(name, matches)| study::study(name, matches, &words));
    let done = study.unwrap_or_else(|| match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => run_command(arguments.command),
        Err(error) => {
            refused = Some(refuse(&error));
            Ok(())
        }
    });
    refused.unwrap_or_else(|| ended(done))
}

/// Tells what is wrong with the command line; words of any length may be in it.
fn refuse(message: &clap::Error) -> u8 {
    let text = message.render();
    let colours = std::io::stderr().is_terminal() && ::console::colors_enabled_stderr();
    let text = if colours { text.ansi().to_string() } else { text.to_string() };
    console::print_warning(text.trim_end());
    message.exit_code().try_into().unwrap_or(2)
}

/// The command with those of all studies.
fn command() -> clap::Command {
    Arguments::command().subcommands(study::commands())
}

fn ended(done: Result<(), Failure>) -> u8 {
    match done {
        Ok(()) => 0,
        Err(failure) => failure.tell(),
    }
}

fn run_command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(run) => run::run(&run),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Check(check) => check::check(&check),
        Command::Solve(solve) => solve::solve(&solve),
        Command::Generate(arguments) => generate::generate(&arguments),
        Command::Import(arguments) => import::import(&arguments),
        Command::Profile(profile) => solve::profile(&profile),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Gallery(arguments) => gallery::run(&arguments),
        Command::List { what } => list::list(what),
        Command::Show { name } => show::show(&name),
        Command::New(new) => new::new(&new),
        Command::Schema { what } => new::schema(what),
        Command::Docs(arguments) => docs::docs(&arguments),
        Command::Completions { shell } => completions::completions(shell),
    }
}
