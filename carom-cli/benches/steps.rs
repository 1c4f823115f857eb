//! Time per step, side by side with Siconos where it is installed (Debian: siconos, libsiconos-kernel-dev, libsiconos-numerics-dev).
//!
//! `cargo xtask bench steps`. Best of several runs: ours by the wall clock, the peer by the CPU clock of its thread (which favours the peer).
//! A speed claim is a ratio of two numbers of one run.

mod peer;

use carom::simulation::{Observer, Recorder};
use carom_scene::{Overrides, Scene};
use peer::Peer;
use std::path::Path;
use std::time::{Duration, Instant};

/// A case: our seconds per step, the peer's program, and the ratio that is asked for.
struct Case {
    name: &'static str,
    ours: f64,
    peer: &'static str,
    arguments: &'static [&'static str],
    what: &'static str,
    asked: f64,
}

fn main() {
    // `cargo test --benches` calls this with --test: nothing to measure then
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let cases = [
        Case {
            name: "bouncing ball, 1 dof, from its model file",
            ours: per_step("bouncing-ball", Overrides { step: Some(1e-4), ..Overrides::default() }, false),
            peer: "ball",
            arguments: &["h=1e-4", "T=5", "reps=5"],
            what: "Siconos' C++ loop",
            asked: 20.0,
        },
        Case {
            name: "bouncing ball, the same, every state kept in memory",
            ours: per_step("bouncing-ball", Overrides { step: Some(1e-4), ..Overrides::default() }, true),
            peer: "ball",
            arguments: &["h=1e-4", "T=5", "reps=5"],
            what: "Siconos' C++ loop, nothing kept",
            asked: 20.0,
        },
        Case {
            name: "impacting bar, 1000 elements, from its model file",
            ours: per_step("impacting-bar", Overrides::default(), false),
            peer: "bar_solve",
            arguments: &["N=1000", "h=2e-6"],
            what: "Siconos' linear solve alone",
            asked: 50.0,
        },
        Case {
            name: "slider-crank, 3 dof, 4 frictional corners, from its file",
            ours: per_step("slider-crank", Overrides::default(), false),
            peer: "slider_crank",
            arguments: &["h=1e-5", "reps=5"],
            what: "Siconos' C++ model",
            asked: 15.0,
        },
        Case {
            name: "diode bridge, 2 states, 4 diodes, from its netlist",
            ours: per_step("diode-bridge", Overrides::default(), false),
            peer: "diode_bridge",
            arguments: &["h=1e-6", "T=5e-3", "reps=5"],
            what: "Siconos' EulerMoreau with Lemke",
            asked: 10.0,
        },
    ];
    for (name, step) in [
        ("rocking-block", 1e-4),
        ("planar-ball", 1e-4),
        ("double-pendulum", 1e-4),
        ("newtons-cradle", 1e-5),
        ("buck-converter", 2.5e-7),
        ("twisting-controller", 1e-3),
    ] {
        let ours = per_step(name, Overrides { step: Some(step), ..Overrides::default() }, false);
        println!("{:58} {:>10}", format!("{name}, h = {step:e}"), duration(ours));
    }
    println!();
    for case in &cases {
        let theirs = peer(case.peer, case.arguments);
        let ratio = theirs.map_or("peer not installed, no ratio".into(), |t| {
            format!("{} {}: {:.1} times faster (asked: {})", case.what, duration(t), t / case.ours, case.asked)
        });
        println!("{:58} {:>10}   {ratio}", case.name, duration(case.ours));
    }
}

/// Best seconds per step of an example.
fn per_step(example: &str, overrides: Overrides, record: bool) -> f64 {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(format!("{example}.toml"));
    let scene = match carom_scene::load(&path, &overrides) {
        Ok(scene) => scene,
        Err(findings) => panic!("{findings:?}"),
    };
    (0..25).map(|_| one_run(&scene, record)).fold(f64::INFINITY, f64::min)
}

fn one_run(scene: &Scene, record: bool) -> f64 {
    let mut simulation = scene.simulation().expect("a scene that was loaded");
    let mut recorder = Recorder::default();
    let mut observers: Vec<&mut dyn Observer> = Vec::new();
    if record {
        observers.push(&mut recorder);
    }
    let clock = Instant::now();
    simulation.run(&mut observers).expect("the examples run");
    clock.elapsed().as_secs_f64() / simulation.statistics().steps as f64
}

/// Seconds per step of a peer program, or nothing where the peer is not installed.
fn peer(name: &str, arguments: &[&str]) -> Option<f64> {
    let arguments: Vec<String> = arguments.iter().map(|&word| word.into()).collect();
    let output = Peer::build(name)?.run(&arguments, Duration::from_secs(120));
    output.split_whitespace().next()?.parse().ok()
}

fn duration(seconds: f64) -> String {
    if seconds < 1e-6 { format!("{:.0} ns", 1e9 * seconds) } else { format!("{:.2} µs", 1e6 * seconds) }
}
