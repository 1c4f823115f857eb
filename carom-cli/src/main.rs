//! The `carom` command.

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
mod solve;
mod study;
mod table;

use crate::console::print_text;
use arguments::{Arguments, Command};
use clap::{CommandFactory, FromArgMatches};
use failure::Failure;
use std::io::IsTerminal;
use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(message) if message.use_stderr() => refuse(&message),
        // what was asked for: help, or the version
        Err(message) => {
            let text = message.render();
            let text = if ::console::colors_enabled() { text.ansi().to_string() } else { text.to_string() };
            return ended(print_text(text.trim_end()));
        }
    };
    let study = matches.subcommand().and_then(|(name, matches)| study::study(name, matches));
    let done = study.unwrap_or_else(|| match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => run_command(arguments.command),
        Err(error) => refuse(&error),
    });
    ended(done)
}

/// Tells what is wrong with the command line; words of any length may be in it.
fn refuse(message: &clap::Error) -> ! {
    let text = message.render();
    let colours = std::io::stderr().is_terminal() && ::console::colors_enabled_stderr();
    let text = if colours { text.ansi().to_string() } else { text.to_string() };
    console::print_warning(text.trim_end());
    std::process::exit(message.exit_code())
}

/// The command with those of all studies.
fn command() -> clap::Command {
    Arguments::command().subcommands(study::commands())
}

fn ended(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
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
        Command::List { what } => list::list(what),
        Command::Show { name } => show::show(&name),
        Command::New(new) => new::new(&new),
        Command::Schema => new::schema(),
        Command::Docs { page } => docs::docs(page.as_deref()),
        Command::Completions { shell } => completions::completions(shell),
    }
}
