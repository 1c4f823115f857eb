//! A thousand balls poured into a box, ours beside Siconos, MuJoCo and PyBullet; more balls on our side alone.
//!
//! `cargo xtask bench granular [--no-peers] [--large]`: the model file is `pour.toml`, the others' scenes are in
//! `benches/peers/granular`. All run on one thread; times are CPU time (ours: the wall clock). What each engine really
//! reaches is told beside its time: the residual of the contact problems (ours: the certificate; Siconos: its own
//! measure), the deepest overlap, and the largest speed that is left, found in the same way for all. With `--large`:
//! 1e4 and 1e5 balls, ours alone, a tenth of the time. With `--phases`: where the time of our steps goes; `--sleep`
//! lets the heap sleep there.

#[path = "../exact/engines.rs"]
#[allow(dead_code)]
mod engines;
mod phases;

use carom::ModelError;
use carom::simulation::{Observer, StepView};
use carom_scene::{Overrides, Scene};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const STEPS: usize = 750;

/// Others: package, driver, the last word it takes.
const PEERS: [(&str, &str, &[&str]); 3] = [
    ("siconos", "siconos_", &["1e-4", "1e-6"]),
    ("mujoco", "mujoco_", &["CG", "Newton"]),
    ("pybullet", "pybullet_", &["50"]),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    // `cargo test --benches` calls this with --test: nothing to measure then
    if words.iter().any(|word| word == "--test") {
        return;
    }
    let asks = |word: &str| words.iter().any(|asked| asked == word);
    if asks("--phases") {
        let tolerance = words.iter().find(|word| word.parse::<f64>().is_ok()).map_or("1e-6", String::as_str);
        let result = scene(10, 1750, tolerance, asks("--sleep")).and_then(|scene| phases::run(&scene));
        return result.unwrap_or_else(|reason| println!("failed: {reason}"));
    }
    header();
    for tolerance in ["1e-4", "1e-6", "1e-8"] {
        print(&format!("carom, tolerance {tolerance}"), ours(10, STEPS, tolerance));
    }
    if asks("--large") {
        for layers in [100, 1000] {
            print(&format!("carom 1e-4, {layers}00 balls"), ours(layers, STEPS / 10, "1e-4"));
        }
    }
    if !asks("--no-peers") {
        for (package, driver, settings) in PEERS {
            let Some(python) = python(package) else {
                println!("{package} is not installed and does not install here: left out");
                continue;
            };
            for setting in settings {
                print(&format!("{package}, {setting}"), theirs(&python, driver, setting));
            }
        }
    }
    println!(
        "\nfirst and last: mean of the first and of the last tenth of the run [µs per step]; speed: the largest left."
    );
}

/// What is told of an engine.
struct Row {
    micro: [f64; 3], // first tenth, last tenth, all [µs per step]
    contacts: usize,
    residual: Option<f64>,
    penetration: f64, // [radii]
    height: f64,      // of the middle of all balls [radii]
    speed: f64,       // [m/s]
}

fn header() {
    let [a, b, c] = ["first", "last", "mean"];
    let rest = format!("{:>9}{:>11}{:>12}{:>9}{:>10}", "contacts", "residual", "overlap/r", "height", "speed");
    println!("{:28}{a:>10}{b:>10}{c:>10}{rest}", "");
}

fn print(name: &str, row: Result<Row, String>) {
    match row {
        Err(reason) => println!("{name:28} failed: {reason}"),
        Ok(Row { micro: [a, b, c], contacts, residual, penetration, height, speed }) => {
            let residual = residual.map_or("-".into(), |x| format!("{x:.1e}"));
            let rest = format!("{contacts:>9}{residual:>11}{penetration:>12.1e}{height:>9.3}{speed:>10.1e}");
            println!("{name:28}{a:>10.0}{b:>10.0}{c:>10.0}{rest}");
        }
    }
}

/// Clock, residual and contacts, step by step.
struct Meter {
    clock: Instant,
    seconds: Vec<f64>,
    residual: f64,
    contacts: usize,
}

impl Observer for Meter {
    fn asks_for_contacts(&self) -> bool {
        false
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.seconds.push(self.clock.elapsed().as_secs_f64());
        self.residual = self.residual.max(view.step.worst.residual);
        self.contacts = view.reactions().impulse.chunks(3).filter(|p| p[0] > 0.0).count();
        self.clock = Instant::now();
        Ok(ControlFlow::Continue(()))
    }
}

fn scene(layers: usize, steps: usize, tolerance: &str, sleeps: bool) -> Result<Scene, String> {
    let overrides = Overrides {
        set: vec![("layers".into(), layers.to_string())],
        end: Some(2e-3 * steps as f64),
        solver: Some(format!("{{ name = \"auto\", tolerance = {tolerance} }}").into()),
        ..Overrides::default()
    };
    let mut text = include_str!("pour.toml").to_owned();
    if sleeps {
        text = text.replace("[contacts]\n", "[contacts]\nsleep = { speed = 0.05, after = 0.1 }\n");
    }
    carom_scene::from_str("pour.toml", &text, &overrides).map_err(|found| format!("{found:?}"))
}

fn ours(layers: usize, steps: usize, tolerance: &str) -> Result<Row, String> {
    let scene = scene(layers, steps, tolerance, false)?;
    let mut simulation = scene.simulation().map_err(|e| e.to_string())?;
    let mut meter = Meter { clock: Instant::now(), seconds: Vec::with_capacity(steps), residual: 0.0, contacts: 0 };
    simulation.run(&mut [&mut meter]).map_err(|e| e.to_string())?;
    let state = simulation.stepper().from();
    let radius = 0.1;
    let balls: Vec<[f64; 3]> = state.q.chunks(7).map(|q| [q[0], q[1], q[2]]).collect();
    let speed = state.v.chunks(6).map(|v| v[..3].iter().map(|x| x * x).sum::<f64>().sqrt()).fold(0.0, f64::max);
    let (part, mean) = ((steps / 10).max(1), |part: &[f64]| 1e6 * part.iter().sum::<f64>() / part.len() as f64);
    let times = &meter.seconds;
    Ok(Row {
        micro: [mean(&times[..part]), mean(&times[times.len() - part..]), mean(times)],
        contacts: meter.contacts,
        residual: Some(meter.residual),
        penetration: penetration(&balls, radius) / radius,
        height: balls.iter().map(|x| x[2]).sum::<f64>() / (radius * balls.len() as f64),
        speed,
    })
}

/// The deepest of all overlaps, by trying all pairs along one axis.
fn penetration(balls: &[[f64; 3]], r: f64) -> f64 {
    let half = 1.1 * r * 10.0 + 0.1;
    let mut sorted = balls.to_vec();
    sorted.sort_unstable_by(|a, b| a[2].total_cmp(&b[2]));
    let walls = sorted.iter().map(|x| (r - x[2]).max(x[0].abs() + r - half).max(x[1].abs() + r - half));
    let mut worst = walls.fold(0.0, f64::max);
    for (k, a) in sorted.iter().enumerate() {
        for b in sorted[k + 1..].iter().take_while(|b| b[2] - a[2] < 2.0 * r) {
            let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
            worst = worst.max(2.0 * r - square.sqrt());
        }
    }
    worst
}

/// The Python that has a package: Debian's for Siconos, one of our own for the others.
fn python(package: &str) -> Option<PathBuf> {
    let system = PathBuf::from("/usr/bin/python3");
    let probe = |python: &Path, module: &str| {
        let mut command = Command::new(python);
        command.args(["-c", &format!("import {module}")]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    match package {
        "siconos" => probe(&system, "siconos.mechanics.collision.bullet, numpy").then_some(system),
        package => engines::python_with(package),
    }
}

fn theirs(python: &Path, driver: &str, setting: &str) -> Result<Row, String> {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/granular").join(format!("{driver}.py"));
    let mut command = Command::new(python);
    command.env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    command.arg(driver).args(["1000", &STEPS.to_string(), "2e-3", "0.5", setting]);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().rfind(|line| line.starts_with('{')).ok_or("it told nothing")?;
    let line: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let number = |name: &str| line[name].as_f64().unwrap_or(f64::NAN);
    Ok(Row {
        micro: ["first", "last", "mean"].map(number),
        contacts: number("contacts") as usize,
        residual: Some(number("residual")).filter(|x| *x > 0.0),
        penetration: number("penetration"),
        height: number("height"),
        speed: number("speed"),
    })
}
