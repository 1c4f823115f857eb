//! Project chores. `cargo xtask test` checks everything; `cargo xtask bench` measures, with the peers that are installed.

use std::process::{Command, ExitCode};

const HELP: &str = "cargo xtask <chore>

  test     format, lints and all tests; installs Debian's chromium for the browser tests where it is missing and may be installed
  bench [steps|solvers] [...]    speed, side by side with Siconos where it is installed; what follows goes to the benchmark
";

fn main() -> ExitCode {
    let chore = std::env::args().nth(1).unwrap_or_default();
    let done = match chore.as_str() {
        "test" => test(),
        "bench" => bench(&std::env::args().skip(2).collect::<Vec<_>>()),
        _ => {
            eprint!("{HELP}");
            false
        }
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One benchmark with its own words, or all of them.
fn bench(words: &[String]) -> bool {
    let run = |name: &str, words: &[String]| {
        let mut arguments = vec!["bench", "--profile", "dist", "-p", "carom-cli", "--bench", name, "--"];
        arguments.extend(words.iter().map(String::as_str));
        cargo(&arguments, &[])
    };
    match words.split_first() {
        None => run("steps", &[]) && run("solvers", &[]),
        Some((name, words)) if name == "steps" || name == "solvers" => run(name, words),
        Some((name, _)) => {
            eprintln!("xtask: no benchmark is named `{name}`\n\n{HELP}");
            false
        }
    }
}

fn test() -> bool {
    let browser = chromium();
    // property tests draw the same cases every time; set the seed yourself to search further
    let mut environment = vec![];
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        environment.push(("PROPTEST_RNG_SEED", "20261115"));
    }
    if browser {
        environment.push(("CAROM_REQUIRE_BROWSER", "1"));
    }
    let linted = if has("cargo", &["clippy", "--version"]) {
        cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])
    } else {
        println!("xtask: clippy is not installed, lints are skipped");
        true
    };
    let formatted = if has("cargo", &["fmt", "--version"]) {
        cargo(&["fmt", "--all", "--check"], &[])
    } else {
        println!("xtask: rustfmt is not installed, the format check is skipped");
        true
    };
    let tested = cargo(&["test", "--workspace"], &environment);
    if !browser {
        println!("xtask: SKIPPED the browser tests: chromium is missing and could not be installed");
    }
    for (name, good) in [("format", formatted), ("lints", linted), ("tests", tested)] {
        println!("xtask: {name} {}", if good { "passed" } else { "FAILED" });
    }
    formatted && linted && tested
}

/// Whether chromium is there, after an attempt to install it as root on Debian or Ubuntu.
fn chromium() -> bool {
    let there = || has("chromium", &["--version"]);
    if there() {
        return true;
    }
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    if !root || !has("apt-get", &["--version"]) {
        println!("xtask: chromium is missing, and installing it needs root on Debian or Ubuntu");
        return false;
    }
    println!("xtask: installing chromium for the browser tests");
    let apt =
        |arguments: &[&str]| run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"));
    apt(&["update", "-qq"]) && apt(&["install", "-y", "-qq", "--no-install-recommends", "chromium"]) && there()
}

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
