//! `cargo xtask bits`: the motions of all examples have the same bits on a virtual machine as on this one.

use crate::report::{Outcome, Report};
use crate::{cargo, has, targets};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-wasip1";
const EXAMPLE: [&str; 5] = ["build", "--release", "-p", "carom-scene", "--example=bits"];

/// Runs a program of the virtual machine: its file, a folder that it sees as `/`, its words.
const RUNNER: &str = r#"
const { WASI } = require("node:wasi");
const [file, folder, ...words] = process.argv.slice(1);
const wasi = new WASI({ version: "preview1", args: ["bits", ...words], preopens: { "/": folder } });
WebAssembly.compile(require("node:fs").readFileSync(file))
  .then((module) => WebAssembly.instantiate(module, wasi.getImportObject()))
  .then((instance) => wasi.start(instance));
"#;

pub fn run() -> Report {
    let mut report = Report::default();
    report.step("bits of wasm32", compare);
    report
}

fn compare() -> Outcome {
    if !has("node", &["--version"]) {
        return Outcome::Skipped("node is not installed".into());
    }
    if !targets::install(TARGET) {
        return Outcome::Skipped(format!("`rustup target add {TARGET}` is not possible here"));
    }
    if !(cargo(&EXAMPLE, &[]) && cargo(&[&EXAMPLE[..], &["--target", TARGET]].concat(), &[])) {
        return Outcome::Failed;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let here = target.join("release/examples/bits");
    let there = target.join(TARGET).join("release/examples/bits.wasm");
    let mut equal = true;
    for name in examples(&root) {
        let file = format!("examples/{name}");
        let ours = output(Command::new(&here).arg(&file).current_dir(&root));
        let words = ["--no-warnings", "-e", RUNNER];
        let theirs = output(Command::new("node").args(words).arg(&there).arg(&root).arg(format!("/{file}")));
        let (ours, theirs) = (figures(&ours), figures(&theirs));
        println!("{file}: {ours}{}", if ours == theirs { String::new() } else { format!(", there {theirs}") });
        equal &= ours == theirs && !ours.is_empty();
    }
    equal.into()
}

/// What stands behind the name of the file.
fn figures(line: &str) -> &str {
    line.trim().split_once(": ").map_or("", |(_, figures)| figures)
}

fn examples(root: &Path) -> Vec<String> {
    let files = std::fs::read_dir(root.join("examples")).into_iter().flatten().flatten();
    let mut names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(".toml"));
    names.sort();
    names
}

fn output(command: &mut Command) -> String {
    command.output().map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
}
