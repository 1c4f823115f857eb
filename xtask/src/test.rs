//! `cargo xtask test`: what must hold at every commit, and with `--all` what takes longer.

use crate::report::{Outcome, Report};
use crate::{bits, cargo, fuzz, has, run as execute, targets, wheel};
use std::process::Command;
use std::time::Duration;

pub fn run(all: bool) -> Report {
    let mut report = Report::default();
    report.step("format", || match has("cargo", &["fmt", "--version"]) {
        true => cargo(&["fmt", "--all", "--check"], &[]).into(),
        false => Outcome::Skipped("rustfmt is not installed".into()),
    });
    report.step("lints", || match has("cargo", &["clippy", "--version"]) {
        true => cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]).into(),
        false => Outcome::Skipped("clippy is not installed".into()),
    });
    let browser = chromium();
    if !browser {
        report.step("browser tests", || Outcome::Skipped(NO_CHROMIUM.into()));
    }
    // property tests draw the same cases every time; set the seed yourself to search further
    let mut environment = vec![];
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        environment.push(("PROPTEST_RNG_SEED", "20261115"));
    }
    if browser {
        environment.push(("CAROM_REQUIRE_BROWSER", "1"));
    }
    report.step("tests: building", || cargo(&["test", "--workspace", "--no-run"], &[]).into());
    let mut arguments = vec!["test", "--workspace", "--no-fail-fast"];
    if all {
        arguments.extend(["--", "--include-ignored"]);
    }
    report.step("tests: running", || cargo(&arguments, &environment).into());
    report.step("fuzz", || fuzz(Duration::from_secs(if all { 300 } else { 30 })).into());
    report.step("python", || wheel::test(all));
    if all {
        report.append(targets::run());
        report.append(bits::run());
    } else {
        report.step("core crates on wasm32", targets::core);
    }
    report
}

/// The same cases every time, in their order, as many as there is time for; the tests have built the command.
fn fuzz(time: Duration) -> bool {
    let found = fuzz::run(&fuzz::Request { time, ..fuzz::Request::default() });
    found.inspect_err(|reason| eprintln!("xtask: {reason}")) == Ok(0)
}

/// What is said where there is no browser.
pub const NO_CHROMIUM: &str = "chromium is missing; installing it needs root on Debian or Ubuntu";

/// Whether chromium is there, after an attempt to install it as root on Debian or Ubuntu.
pub fn chromium() -> bool {
    let there = || has("chromium", &["--version"]);
    if there() {
        return true;
    }
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    if !root || !has("apt-get", &["--version"]) {
        return false;
    }
    println!("xtask: installing chromium");
    let apt =
        |arguments: &[&str]| execute(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"));
    apt(&["update", "-qq"]) && apt(&["install", "-y", "-qq", "--no-install-recommends", "chromium"]) && there()
}
