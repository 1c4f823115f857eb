//! A file is derived and compiled once: loading, checks, runs, sweeps and tangents share the plan.

use carom_scene::equations::derivations;
use carom_scene::examples::{EXAMPLES, find};
use carom_scene::expression::compiled;
use carom_scene::{Overrides, Scene, from_str};

fn load(text: &str) -> Scene {
    from_str("file.toml", text, &Overrides::default()).unwrap()
}

/// Derivations and tapes of what is done, on this thread.
fn counted(work: impl FnOnce()) -> (u64, u64) {
    let before = (derivations(), compiled());
    work();
    (derivations() - before.0, compiled() - before.1)
}

#[test]
fn a_run_derives_once() {
    for (name, text) in EXAMPLES {
        let mut tapes = 0;
        let (derived, first) = counted(|| {
            let scene = load(text);
            (_, tapes) = counted(|| drop(scene.simulation().unwrap()));
        });
        println!("{name}: {derived} derivations, {first} tapes");
        assert!(derived <= 1 && tapes == 0, "{name}: {derived} derivations, {tapes} tapes after loading");
    }
}

#[test]
fn a_sweep_shares_the_equations() {
    for (name, parameter) in [("bouncing-ball", "e"), ("slider-crank", "m1"), ("rocking-block", "gravity")] {
        let scene = load(find(name).unwrap());
        let value = scene.parameter(parameter).unwrap();
        let (derived, tapes) = counted(|| {
            for k in 0..9 {
                let other = scene.with(&[(parameter, value * (1.0 - 1e-9 * f64::from(k)))]).unwrap();
                drop(other.simulation().unwrap());
            }
        });
        assert_eq!((derived, tapes), (0, 0), "{name}");
    }
}

const BEAD: &str = r#"
version = 1
name = "bead"
[parameters]
m = 2.0
k = 3.0
c = 0
n = 2
length = "2*k"
[model]
kind = "lagrangian"
coordinates = ["x"]
kinetic = "m/2*x'^2*(1 + c*x^2)"
potential = "k/2*x^n"
force.x = "-c*x'"
[[contact]]
name = "wall"
gap = "length - x"
[initial]
x = 1
[simulation]
end = 1
step = 0.01
"#;

/// A parameter that decides on the form of the equations compiles them again, once, and the motion is that of a file
/// with the value in it.
#[test]
fn parameters_of_the_form_compile_again() {
    let scene = load(BEAD);
    let end = |scene: &Scene| {
        let mut simulation = scene.simulation().unwrap();
        simulation.run(&mut []).unwrap();
        (simulation.state().q[0], simulation.state().v[0])
    };
    for (name, value, text, derived) in [
        ("m", 5.0, "m = 5.0", 0),
        ("n", 4.0, "n = 4.0", 1),
        ("c", 0.5, "c = 0.5", 1),
        ("c", 0.7, "c = 0.7", 0),
        ("k", 0.0, "k = 0.0", 1),
    ] {
        let mut other = None;
        let (found, _) = counted(|| other = scene.with(&[(name, value)]).ok());
        let old = BEAD.lines().find(|line| line.starts_with(&format!("{name} = "))).unwrap();
        match other {
            Some(other) => {
                let ((q, v), (q0, v0)) = (end(&other), end(&load(&BEAD.replace(old, text))));
                assert!((q - q0).abs() < 1e-13 && (v - v0).abs() < 1e-13, "{name}: {q} {q0}, {v} {v0}");
            }
            // the wall is at length = 2 k = 0 then, and the bead at 1
            None => assert_eq!((name, value), ("k", 0.0)),
        }
        assert_eq!(found, derived, "{name} = {value}");
    }
}

/// What is wrong with values is told by `with` as it is by loading.
#[test]
fn other_values_are_checked_alike() {
    let mut refused = 0;
    let crank = find("slider-crank").unwrap();
    let cases = [(crank, "m1", -1.0), (crank, "J3", -1.0), (crank, "l1", 1e200), (crank, "c", -0.5)];
    let bead = [(BEAD, "m", -2.0), (BEAD, "k", 0.4), (BEAD, "m", 0.0), (BEAD, "k", 0.6), (BEAD, "n", 1000.0)];
    for (text, name, value) in cases.into_iter().chain(bead) {
        let overrides = Overrides { set: vec![(name.into(), format!("{value:?}"))], ..Overrides::default() };
        let found = load(text).with(&[(name, value)]).map(|scene| scene.warnings);
        let expected = from_str("file.toml", text, &overrides).map(|scene| scene.warnings);
        assert_eq!(found, expected, "{name} = {value}");
        refused += usize::from(found.is_err());
    }
    assert!(refused >= 5, "{refused}");
}

/// Derivatives use the tapes of the model; only a parameter that was folded compiles them again.
#[test]
fn tangents_use_the_tapes_of_the_model() {
    let scene = load(BEAD);
    assert_eq!(counted(|| drop(scene.tangent(&["m", "k"]).unwrap())), (0, 0));
    assert_eq!(counted(|| drop(scene.tangent(&["c"]).unwrap())).0, 1);
    assert_eq!(counted(|| drop(scene.tangent(&["c"]).unwrap())), (0, 0));
}
