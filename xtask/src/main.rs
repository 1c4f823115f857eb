//! Project chores: `cargo xtask` names them.

mod bits;
mod fuzz;
mod picture;
mod report;
mod targets;
mod test;
mod wheel;

use std::process::{Command, ExitCode};

const HELP: &str = "cargo xtask CHORE

  test                   format, lints, all tests but the long ones, and the core crates on wasm32; installs Debian's
                         chromium for the browser tests where it is missing and may be installed
  test --all             the long tests and `targets` as well
  targets                checks Windows, macOS, Linux on aarch64 and wasm32 (libraries); exit code 3 where a target
                         could not be installed
  fuzz [MINUTES] [WHAT]... [--seed N] [--carom PATH]
                         commands with mutated files and random options, judged by what they leave; findings are kept
                         in target/fuzz. WHAT: models, bodies, runs, robots, problems, meshes, commands, studies
  wheel [--profile NAME] the Python package as one file below target/wheels, by the profile `dist` or another one;
                         installs maturin from PyPI below target
  picture                docs/report.png anew: runs an example and takes a picture of its report with chromium
  book                   the book as a site of static pages in target/book: `carom docs --site` of a release build
  bench [steps|solvers]  speed, side by side with Siconos where it is installed; more words go to the benchmark
  bench exact            how exact ten scenes are, beside engines that PyPI has (installed below target)
  bench granular         a thousand balls poured into a box, beside Siconos and engines that PyPI has
  bench soak [--short]   a thousand million steps: energy and memory must stay
  bits                   all examples on a virtual machine (wasm32, under node): the bits of their motions are those of
                         this one; exit code 3 where the virtual machine is missing
";

/// Exit code of a chore that was called wrongly.
const USAGE: u8 = 2;
/// Exit code of `targets` where nothing failed but not everything could be checked.
const INCOMPLETE: u8 = 3;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let code = match words[..] {
        ["test"] => test::run(false).close(0),
        ["test", "--all"] => test::run(true).close(0),
        ["bits"] => bits::run().close(INCOMPLETE),
        ["targets"] => targets::run().close(INCOMPLETE),
        ["fuzz", ref words @ ..] => attack(words),
        ["book"] => {
            let words = ["run", "--release", "--package", "carom-cli", "--", "docs", "--site", "target/book"];
            u8::from(!cargo(&words, &[]))
        }
        ["picture"] => match picture::run() {
            Ok(()) => 0,
            Err(reason) => {
                eprintln!("xtask: {reason}");
                1
            }
        },
        ["wheel", ref words @ ..] => match wheel_profile(words) {
            Some(profile) => match wheel::run(profile) {
                Ok(_) => 0,
                Err(reason) => {
                    eprintln!("xtask: {reason}");
                    1
                }
            },
            None => usage(&words.join(" ")),
        },
        ["bench"] => u8::from(!(bench("steps", &[]) && bench("solvers", &[]))),
        ["bench", name @ ("steps" | "solvers" | "exact" | "granular" | "soak"), ref words @ ..] => {
            u8::from(!bench(name, words))
        }
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            0
        }
        _ => usage(&words.join(" ")),
    };
    ExitCode::from(code)
}

/// Builds the command with its assertions, and attacks it.
fn attack(words: &[&str]) -> u8 {
    let request = match fuzz::Request::read(words) {
        Ok(request) => request,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            return USAGE;
        }
    };
    if request.carom.is_none() && !cargo(&["build", "--workspace", "--bin", "carom"], &[]) {
        return 1;
    }
    match fuzz::run(&request) {
        Ok(found) => u8::from(found > 0),
        Err(reason) => {
            eprintln!("xtask: {reason}");
            1
        }
    }
}

/// Tells how chores are called.
fn usage(words: &str) -> u8 {
    eprint!("xtask: no chore is called `{words}`\n\n{HELP}");
    USAGE
}

/// The profile of a wheel: that of packages, or another one.
fn wheel_profile<'a>(words: &[&'a str]) -> Option<&'a str> {
    match words {
        [] => Some("dist"),
        ["--profile", profile] => Some(profile),
        _ => None,
    }
}

/// One benchmark with its own words.
fn bench(name: &str, words: &[&str]) -> bool {
    let arguments = ["bench", "--profile", "dist", "-p", "carom-cli", "--bench", name, "--"];
    cargo(&[&arguments, words].concat(), &[])
}

/// Whether this program runs and succeeds; what it prints is not shown.
fn has(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|o| o.status.success())
}

fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> bool {
    println!("xtask: cargo {}", arguments.join(" "));
    run(Command::new("cargo").args(arguments).envs(environment.iter().copied()))
}

fn run(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
