//! The `carom` command.

mod arguments;
mod check;
mod console;
mod examples;
mod failure;
mod flags;
mod generate;
mod list;
mod new;
mod print;
mod progress;
mod reproduce;
mod run;
mod show;
mod solve;
mod study;

use arguments::{Arguments, Command};
use clap::{CommandFactory, FromArgMatches};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = Arguments::command().subcommands(study::commands()).get_matches();
    let study = matches.subcommand().and_then(|(name, matches)| study::study(name, matches));
    let done = study.unwrap_or_else(|| match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => run_command(arguments.command),
        Err(error) => error.exit(),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run_command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(run) => run::run(&run),
        Command::Check(check) => check::check(&check),
        Command::Solve(solve) => solve::solve(&solve),
        Command::Generate(arguments) => generate::generate(&arguments),
        Command::Profile(profile) => solve::profile(&profile),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::List { what } => list::list(what),
        Command::Show { name } => show::show(&name),
        Command::New(new) => new::new(&new),
        Command::Schema => new::schema(),
    }
}
