//! Time per step (per impact, where steps end at events), side by side with Siconos where it is installed (Debian:
//! siconos, libsiconos-kernel-dev, libsiconos-numerics-dev).
//!
//! `cargo xtask bench steps [WORD]`: all cases, or those whose name contains the word. Best of several runs: ours by
//! the wall clock, the peer by the CPU clock of its thread (which favours the peer). A speed claim is a ratio of two
//! numbers of one run.

mod peer;

use carom::multibody::pair::{Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact, Joint, Multibody};
use carom::scheme::{Bound, EventKind, MoreauJean};
use carom::simulation::{FixedStep, Observer, Recorder, Simulation};
use carom::testbed::multibody::SliderCrank;
use carom::{Mechanical, solver};
use carom_scene::{Overrides, Scene};
use peer::Peer;
use std::path::Path;
use std::time::{Duration, Instant};

/// A case: what measures our seconds, the peer's program, and the ratio that is asked for.
struct Case {
    name: &'static str,
    ours: fn() -> f64,
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
    let word = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let cases = [
        Case {
            name: "bouncing ball, 1 dof, from its model file",
            ours: || per_step("bouncing-ball", Some(1e-4), false),
            peer: "ball",
            arguments: &["h=1e-4", "T=5", "reps=5"],
            what: "Siconos' C++ loop",
            asked: 20.0,
        },
        Case {
            name: "bouncing ball, the same, every state kept in memory",
            ours: || per_step("bouncing-ball", Some(1e-4), true),
            peer: "ball",
            arguments: &["h=1e-4", "T=5", "reps=5"],
            what: "Siconos' C++ loop, nothing kept",
            asked: 20.0,
        },
        Case {
            name: "bouncing ball, event-driven, per impact, from its file",
            ours: per_impact,
            peer: "ball_event_driven",
            arguments: &["e=0.9", "impacts=50", "h=20", "reps=20"],
            what: "Siconos' event-driven C++ loop",
            asked: 10.0,
        },
        Case {
            name: "impacting bar, 1000 elements, from its model file",
            ours: || per_step("impacting-bar", None, false),
            peer: "bar_solve",
            arguments: &["N=1000", "h=2e-6"],
            what: "Siconos' linear solve alone",
            asked: 50.0,
        },
        Case {
            name: "slider-crank, 3 dof, 4 frictional corners, from its file",
            ours: || per_step("slider-crank", None, false),
            peer: "slider_crank",
            arguments: &["h=1e-5", "reps=5"],
            what: "Siconos' C++ model",
            asked: 15.0,
        },
        Case {
            name: "slider-crank, three bodies in space, 4 corners",
            ours: bodies,
            peer: "slider_crank_bodies",
            arguments: &["h=1e-5", "T=0.02", "reps=3"],
            what: "Siconos' bodies and joints",
            asked: 10.0,
        },
        Case {
            name: "diode bridge, 2 states, 4 diodes, from its netlist",
            ours: || per_step("diode-bridge", None, false),
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
        if name.contains(&word) {
            println!("{:58} {:>10}", format!("{name}, h = {step:e}"), duration(per_step(name, Some(step), false)));
        }
    }
    println!();
    for case in cases.iter().filter(|case| case.name.contains(&word)) {
        let ours = (case.ours)();
        let theirs = peer(case.peer, case.arguments);
        let ratio = theirs.map_or("peer not installed, no ratio".into(), |t| {
            format!("{} {}: {:.1} times faster (asked: {})", case.what, duration(t), t / ours, case.asked)
        });
        println!("{:58} {:>10}   {ratio}", case.name, duration(ours));
    }
}

/// Best seconds per impact of the event-driven ball: restitution 0.9, 50 impacts before 18.9 s, far above the
/// accumulation at 19 s.
fn per_impact() -> f64 {
    let set = [("e", "0.9"), ("duration", "18.9")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let scene =
        load("bouncing-ball-events", &Overrides { set: set.to_vec(), step: Some(18.9.into()), ..Overrides::default() });
    let run = || {
        // without the event of the file: the peer watches for nothing either
        let stepper = scene.stepper().expect("a scene that was loaded");
        Simulation::new(stepper, scene.controller(), scene.span.end).expect("a scene that was loaded")
    };
    let events = run().record().expect("the examples run").events;
    let impacts = events.iter().filter(|event| event.kind == EventKind::Impact.name()).count();
    assert_eq!(impacts, 50, "the number of impacts is known in closed form");
    let time = || {
        let mut simulation = run();
        let clock = Instant::now();
        simulation.run(&mut []).expect("the examples run");
        clock.elapsed().as_secs_f64() / impacts as f64
    };
    (0..200).map(|_| time()).fold(f64::INFINITY, f64::min)
}

/// Best seconds per step of the slider-crank as three bodies in space with ideal joints.
fn bodies() -> f64 {
    let ([a, b], [l1, l2]) = (SliderCrank::SLIDER, [SliderCrank::CRANK, SliderCrank::ROD]);
    let body = |name, i: usize, x: f64, speed: f64, spin: f64| {
        let j = SliderCrank::INERTIAS[i];
        Body::new(name, SliderCrank::MASSES[i], [1e-5, j, j]).at([x, 0.0]).velocity([0.0, speed]).turning(spin)
    };
    let hinge = |name, a, b, x: f64| Joint::revolute(name, a, b).at([x, 0.0]).axis([0.0, 0.0, 1.0]);
    let mut system = Multibody::spatial()
        .gravity([0.0, -9.81])
        .body(body("crank", 0, 0.5 * l1, 75.0 * l1, 150.0))
        .body(body("rod", 1, l1 + 0.5 * l2, 75.0 * l1, -75.0))
        .body(body("slider", 2, l1 + l2, 0.0, 0.0))
        .joint(hinge("support", "ground", "crank", 0.0))
        .joint(hinge("pin", "crank", "rod", l1))
        .joint(hinge("wrist", "rod", "slider", l1 + l2));
    for (name, x, y) in [("1", -a, b), ("2", a, b), ("3", -a, -b), ("4", a, -b)] {
        let side = y.signum();
        let plane = Plane { point: [0.0, y + side * SliderCrank::GUIDE, 0.0], normal: [0.0, -side, 0.0] };
        let corner = SpherePlane { plane, sphere: Sphere::point([x, y, 0.0]) };
        system = system.contact(Contact::new(name, "ground", "slider", corner).restitution(0.4).friction(0.01));
    }
    let run = || {
        let model = Box::new(system.build().expect("a mechanism that closes"));
        let stepper = Bound::new(MoreauJean::default(), model as Box<dyn Mechanical>, solver::default());
        let stepper = Box::new(stepper.expect("options that fit"));
        let mut simulation = Simulation::new(stepper, Box::new(FixedStep { h: 1e-5 }), 0.02).expect("a span");
        let clock = Instant::now();
        simulation.run(&mut []).expect("it runs");
        clock.elapsed().as_secs_f64() / simulation.statistics().steps as f64
    };
    (0..10).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn load(example: &str, overrides: &Overrides) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(format!("{example}.toml"));
    carom_scene::load(&path, overrides).unwrap_or_else(|findings| panic!("{findings:?}"))
}

/// Best seconds per step of an example.
fn per_step(example: &str, step: Option<f64>, record: bool) -> f64 {
    let scene = load(example, &Overrides { step: step.map(Into::into), ..Overrides::default() });
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
