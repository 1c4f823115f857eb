//! `cargo xtask targets`: the crates compile for other machines with nothing but `rustup target add`, because nothing
//! in the default build needs a C compiler.

use crate::report::{Outcome, Report};
use crate::{cargo, run as execute};
use std::path::PathBuf;
use std::process::Command;

/// Machines that the command is checked for.
const MACHINES: [&str; 5] = [
    "x86_64-pc-windows-msvc",
    "x86_64-pc-windows-gnu",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "aarch64-unknown-linux-gnu",
];
const WASM: &str = "wasm32-unknown-unknown";
const CORE: [&str; 2] = ["carom-solve", "carom"];
const LIBRARIES: [&str; 6] =
    ["carom-solve", "carom", "carom-equations", "carom-scene", "carom-analysis", "carom-papers"];

pub fn run() -> Report {
    let mut report = Report::default();
    for target in MACHINES {
        report.step(target, || check(target, &["carom-cli"]));
    }
    report.step(&format!("{WASM} (libraries)"), || check(WASM, &LIBRARIES));
    report
}

/// The two core crates in a browser.
pub fn core() -> Outcome {
    check(WASM, &CORE)
}

/// Checks packages for a target, with its standard library installed where it is missing.
fn check(target: &str, packages: &[&str]) -> Outcome {
    if !install(target) {
        return Outcome::Skipped(format!("`rustup target add {target}` is not possible here"));
    }
    let mut arguments = vec!["check", "--target", target];
    arguments.extend(packages.iter().flat_map(|package| ["-p", package]));
    cargo(&arguments, &[]).into()
}

/// Whether the standard library of a target is there, after an attempt to install it.
pub fn install(target: &str) -> bool {
    let add = || execute(Command::new("rustup").args(["target", "add", target]));
    installed(target) || add() && installed(target)
}

/// Whether the compiler has the standard library of a target.
fn installed(target: &str) -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    let folder = output.ok().filter(|o| o.status.success()).and_then(|o| String::from_utf8(o.stdout).ok());
    let files = folder.and_then(|folder| std::fs::read_dir(PathBuf::from(folder.trim())).ok());
    files.is_some_and(|mut files| {
        files.any(|file| file.is_ok_and(|f| f.file_name().to_string_lossy().starts_with("libcore-")))
    })
}
