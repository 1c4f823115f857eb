//! The example files of this crate: they load without warnings, run to the end and reproduce their numbers.

use std::path::Path;

use carom_scene::{Overrides, Scene, load, new_example};

fn run(scene: &Scene) {
    let mut simulation = scene.simulation().unwrap();
    let mut watch = scene.watch();
    assert!(simulation.run(&mut [&mut watch]).unwrap());
    let outcomes = watch.outcomes();
    assert!(!outcomes.is_empty(), "{} expects nothing", scene.name);
    for outcome in outcomes {
        let e = &outcome.expectation;
        assert!(
            outcome.holds,
            "{}: {} is {:e}, expected {:e} ± {:e}",
            scene.name, e.text, outcome.actual, e.value, e.tolerance
        );
    }
}

#[test]
fn examples_reproduce_their_numbers() {
    let solids = ["box-stack-3d", "sliding-box", "spheres-poured"];
    let others = ["bouncing-ball", "linear-oscillator", "rocking-block", "impacting-bar", "two-mass-chain"];
    for name in others.into_iter().chain(solids) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name).with_extension("toml");
        let scene = load(&path, &Overrides::default()).unwrap_or_else(|all| panic!("{}", all[0]));
        assert!(scene.warnings.is_empty(), "{}", scene.warnings[0]);
        run(&scene);
    }
}

/// Friction of contacts whose normals turn past any direction, in a thousand balls that fall and settle.
#[test]
#[ignore = "long: a thousand balls"]
fn a_thousand_balls_are_poured() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/spheres-poured.toml");
    let overrides = Overrides { set: vec![("n".into(), "10".into())], ..Overrides::default() };
    run(&load(&path, &overrides).unwrap_or_else(|all| panic!("{}", all[0])));
}

#[test]
fn the_new_file_is_an_example() {
    let scene = carom_scene::from_str("new.toml", &new_example("a \"new\"\nball"), &Overrides::default()).unwrap();
    assert_eq!(scene.name, "a \"new\"\nball");
    assert!(scene.warnings.is_empty(), "{}", scene.warnings[0]);
    run(&scene);
}
