//! The `carom` command.

mod arguments;
mod check;
mod console;
mod converge;
mod examples;
mod failure;
mod list;
mod new;
mod progress;
mod reproduce;
mod run;
mod show;
mod solve;
mod study;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Run(run) => run::run(&run),
        Command::Check(check) => check::check(&check),
        Command::Converge(converge) => converge::converge(&converge),
        Command::Solve(solve) => solve::solve(&solve),
        Command::Profile(profile) => solve::profile(&profile),
        Command::Sweep(arguments) => study::sweep(&arguments),
        Command::Bifurcation(arguments) => study::bifurcation(&arguments),
        Command::Lyapunov(arguments) => study::lyapunov(&arguments),
        Command::Orbit(arguments) => study::orbit(&arguments),
        Command::Basin(arguments) => study::basin(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::List { what } => list::list(what),
        Command::Show { name } => show::show(&name),
        Command::New(new) => new::new(&new),
        Command::Schema => new::schema(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
