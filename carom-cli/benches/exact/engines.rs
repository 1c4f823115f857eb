//! Other engines: installed from PyPI into a virtual environment, run scene by scene as processes of their own.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The package, the driver in `benches/peers/exact`, and the settings that are run.
const ENGINES: [(&str, &str, &[&str]); 5] = [
    ("mujoco", "mujoco_", &["default", "best"]),
    ("pybullet", "pybullet_", &["default", "best"]),
    ("rapier3d", "rapier_", &["default", "best"]),
    ("drake", "drake_", &["default"]),
    ("exudyn", "exudyn_", &["default"]),
];

/// Where a number of another engine stands in what its driver prints, and what is subtracted.
pub struct Reading {
    pub at: &'static str,
    pub less: f64,
}

/// An engine that is installed.
pub struct Engine {
    name: &'static str,
    driver: PathBuf,
    python: PathBuf,
    settings: &'static [&'static str],
}

/// One line of the table.
pub struct Row {
    pub name: String,
    pub cells: Vec<String>,
    pub cost: String,
}

/// Engines that can be installed here.
pub fn install() -> Vec<Engine> {
    let drivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/exact");
    let mut engines = Vec::new();
    for (name, driver, settings) in ENGINES {
        match python_with(name) {
            Some(python) => {
                let driver = drivers.join(format!("{driver}.py"));
                engines.push(Engine { name, driver, python, settings });
            }
            None => println!("{name} does not install here: left out"),
        }
    }
    println!();
    engines
}

/// A Python of our own below `target` with a package of PyPI, where it installs.
pub fn python_with(package: &str) -> Option<PathBuf> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engines");
    let python = home.join("bin/python");
    if !python.exists() && !quiet(Command::new("python3").args(["-m", "venv"]).arg(&home)) {
        return None;
    }
    quiet(Command::new(&python).args(["-m", "pip", "install", "-q", "numpy", package])).then_some(python)
}

fn quiet(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

impl Engine {
    /// One line per setting.
    pub fn rows(&self, scene: &str, readings: &[Reading]) -> Vec<Row> {
        self.settings.iter().filter_map(|setting| self.row(setting, scene, readings)).collect()
    }

    fn row(&self, setting: &str, scene: &str, readings: &[Reading]) -> Option<Row> {
        let mut command = Command::new(&self.python);
        command.env("NB", "1000").arg(&self.driver).args([setting, scene]);
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let line: Value = serde_json::from_str(text.lines().find(|line| line.starts_with('{'))?).ok()?;
        let found = &line["r"];
        let number = |reading: &Reading| match found.pointer(reading.at).and_then(Value::as_f64) {
            Some(x) if !reading.at.is_empty() => format!("{:.2e}", x - reading.less),
            _ => "-".into(),
        };
        // beside the numbers, or at the top where several runs share it
        let beside = readings.first().and_then(|reading| reading.at.rsplit_once('/')).map_or("", |(above, _)| above);
        let cost = [beside, ""].iter().find_map(|at| found.pointer(&format!("{at}/cpu_per_sim_s"))?.as_f64());
        Some(Row {
            name: format!("{} {setting}", self.name),
            cells: readings.iter().map(number).collect(),
            cost: cost.map_or("-".into(), |cost| format!("{cost:.2e}")),
        })
    }
}
