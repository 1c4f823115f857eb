//! A run that is cut at every tenth step (or fifth, or sixth) and built anew each time leaves the files of a run that
//! was never cut, byte by byte: every kind of stepping, and every thing that one remembers from step to step.

use carom::Simulation;
use carom::simulation::{Keeper, Lists, Observer};
use carom_analysis::folder::{Folder, Sharing};
use carom_analysis::results::{Inputs, RecordOptions, RunRecorder};
use carom_scene::scene::TimeSpan;
use carom_scene::{Overrides, Scene, examples};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Takes the memory after every tenth step, and ends the run.
struct Cut {
    every: u64,
    memory: Option<Vec<u8>>,
}

impl Keeper for Cut {
    fn is_due(&mut self, index: u64) -> bool {
        index.is_multiple_of(self.every)
    }

    fn keep(&mut self, memory: Vec<u8>) -> ControlFlow<()> {
        self.memory = Some(memory);
        ControlFlow::Break(())
    }
}

/// An example, its changes, and the number of steps at most.
struct Case {
    example: &'static str,
    scheme: Option<&'static str>,
    adaptive: Option<&'static str>,
    steps: u64,
    inelastic: bool,
}

const fn case(example: &'static str, scheme: Option<&'static str>, steps: u64) -> Case {
    Case { example, scheme, adaptive: None, steps, inelastic: false }
}

const fn adaptive(example: &'static str, tolerance: &'static str, steps: u64) -> Case {
    Case { example, scheme: None, adaptive: Some(tolerance), steps, inelastic: false }
}

/// A ball that stays on the floor, for schemes without restitution.
const fn inelastic(scheme: &'static str) -> Case {
    Case { example: "bouncing-ball", scheme: Some(scheme), adaptive: None, steps: 100, inelastic: true }
}

struct Folders(PathBuf);

impl Folders {
    fn new(name: &str) -> Folders {
        // tests of the same example run side by side
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("carom-checkpoints-{}-{number}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folders(path)
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn scene(case: &Case) -> Scene {
    let overrides = Overrides {
        set: if case.inelastic { vec![("e".into(), "0".into())] } else { Vec::new() },
        scheme: case.scheme.map(|scheme| scheme.to_owned().into()),
        adaptive: case.adaptive.map(str::to_owned),
        ..Overrides::default()
    };
    let loaded = examples::load(case.example, &overrides).unwrap_or_else(|| panic!("no example {}", case.example));
    let mut scene = loaded.unwrap_or_else(|errors| panic!("{}: {errors:?}", case.example));
    // adaptive steps are counted, not cut: theirs grow
    if case.adaptive.is_some() {
        return scene;
    }
    // a part of the motion is enough
    let TimeSpan { start, end, step } = scene.span;
    scene.span.end = end.min(start + case.steps as f64 * step);
    scene
}

/// Rows of small groups, so that many of them are closed on the way.
fn recorder(folder: &Path, simulation: &mut Simulation, resumes: bool) -> RunRecorder {
    let options = RecordOptions { rows_per_group: Some(16), csv: true, resumes, ..RecordOptions::default() };
    let folder = Folder::claim(folder, "run", Sharing::Alone).unwrap();
    RunRecorder::in_folder(folder, simulation.stepper(), options, None).unwrap()
}

/// Files of a run, and what its history in memory is; with the number of pieces that it was done in.
fn files(case: &Case, folder: &Path, every: u64) -> (BTreeMap<String, Vec<u8>>, String, usize) {
    let scene = scene(case);
    let (mut memory, mut pieces) = (None::<Vec<u8>>, 1);
    loop {
        let mut simulation = scene.simulation().unwrap();
        simulation.limit_steps(case.steps);
        let mut recorder = recorder(folder, &mut simulation, memory.is_some());
        let (mut lists, mut watch) = (Lists::new(100), scene.watch());
        let mut cut = Cut { every, memory: None };
        let outcome = {
            let mut observers: [&mut dyn Observer; 3] = [&mut recorder, &mut lists, &mut watch];
            if let Some(memory) = memory.take() {
                simulation.resume(&mut observers, memory).unwrap_or_else(|e| panic!("{}: {e}", case.example));
            }
            simulation.run_kept(&mut observers, &mut cut)
        };
        memory = cut.memory;
        if memory.is_some() && matches!(outcome, Ok(false)) {
            pieces += 1;
            continue;
        }
        let recorded = recorder.finish(Inputs::default(), &outcome, &simulation);
        let told = format!("{:?} {:?} {:?}", recorded.history, lists, watch.outcomes());
        let names = recorded.summary.files.iter();
        let files = names.map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect();
        return (files, told, pieces);
    }
}

fn check(cases: &[Case], every: u64) {
    for case in cases {
        let name = format!("{} {:?} {:?}", case.example, case.scheme, case.adaptive);
        let folders = Folders::new(case.example);
        let (whole, told, _) = files(case, &folders.0.join("whole"), u64::MAX);
        let (parts, again, pieces) = files(case, &folders.0.join("parts"), every);
        assert!(pieces > 3, "{name}: {pieces} pieces");
        for (file, bytes) in &whole {
            assert!(
                parts.get(file) == Some(bytes),
                "{name}: {file} differs after {pieces} pieces{}",
                first(bytes, &parts[file])
            );
        }
        assert_eq!(whole.keys().collect::<Vec<_>>(), parts.keys().collect::<Vec<_>>(), "{name}");
        assert!(told == again, "{name}: lists differ");
    }
}

/// The first lines that differ, of texts.
fn first(a: &[u8], b: &[u8]) -> String {
    let (a, b) = (String::from_utf8_lossy(a), String::from_utf8_lossy(b));
    let differ = a.lines().zip(b.lines()).enumerate().find(|(_, (a, b))| a != b);
    differ.map_or_else(String::new, |(k, (a, b))| format!(", line {k}:\n{a:.300}\n{b:.300}"))
}

#[test]
fn capturing_schemes() {
    let explicit = "{ name = \"moreau-jean\", forecast = { explicit = { gamma = 0.5 } } }";
    check(
        &[
            case("sliding-block", None, 200),
            case("rocking-block", Some("moreau-jean"), 80),
            case("stick-slip", Some("moreau-jean"), 80),
            case("bouncing-ball", Some(explicit), 80),
            inelastic("position-level"),
            case("double-pendulum", Some("direct-projection"), 100),
            case("circuit-breaker", Some("combined-projection"), 60),
            case("bouncing-ball", Some("schatzman-paoli"), 150),
            case("double-pendulum", Some("corrected-paoli"), 100),
            case("two-mass-chain", None, 100),
            case("impacting-bar", None, 35),
        ],
        10,
    );
}

#[test]
fn adaptive_steps() {
    check(
        &[
            adaptive("bouncing-ball", "1e-6", 90),
            adaptive("planar-ball", "1e-6", 60),
            adaptive("diode-bridge", "1e-4", 60),
            adaptive("double-pendulum", "1e-4", 60),
        ],
        5,
    );
}

#[test]
fn first_order_systems() {
    check(
        &[
            case("diode-bridge", None, 100),
            case("diode-bridge", Some("{ name = \"euler-moreau\", theta = 0.5 }"), 80),
            case("rectifier", None, 100),
            case("sliding-mode", None, 150),
            case("twisting-controller", None, 150),
            case("higher-order-sweeping", Some("homsp"), 150),
            case("swept-disc", Some("catching-up"), 150),
            case("play-operator", None, 150),
        ],
        10,
    );
}

#[test]
fn bodies_in_space_and_in_the_plane() {
    check(
        &[
            case("box-stack-3d", None, 60),
            case("newtons-cradle-3d", None, 80),
            case("sphere-slip-to-roll", None, 100),
            case("slider-crank-play", None, 80),
            case("four-bar-3d", None, 60),
            case("dominoes", None, 60),
        ],
        10,
    );
}

#[test]
fn schemes_that_locate_events() {
    check(
        &[
            case("bouncing-ball-events", None, 60),
            case("rocking-block-events", None, 60),
            case("stick-slip", Some("event-driven"), 60),
            case("takeoff", None, 60),
            case("takeoff", Some("higher-order"), 60),
            case("impact-oscillator", Some("event-driven"), 60),
            case("pendulum", Some("{ name = \"event-driven\", flow = \"dop853\" }"), 60),
        ],
        6,
    );
}
