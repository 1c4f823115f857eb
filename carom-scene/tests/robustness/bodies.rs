//! Models of bodies with random changes: loading ends with a scene or with errors that point into the text, and a scene
//! that loads makes a few steps without a panic.

use super::judge::judge;
use carom_mutations::{Mutation, Random, mutate, vary};
use carom_scene::{KINDS, Overrides, examples, from_str};

/// What is put into models of bodies besides.
const OWN: &[&str] = &[
    "1e300",
    "[[body]]\n",
    "[[joint]]\n",
    "\"ground\"",
    "{i}",
    "for = { i = \"1..3\" }\n",
    "\"revolute\"",
    "\"spherical\"",
    "\"fixed\"",
    "\"screw\"",
    "dimension = 2\n",
    "dimension = 3\n",
    "[assemble]\n",
    "\"plane\"",
    "\"disc\"",
    "\"box\"",
    "\"hole\"",
    "\"polygon\"",
    "\"convex\"",
    "\"mesh\"",
    "file = \"bodies.rs\"\n",
    "\"curve\"",
    "[0, 0, 1]",
    "[0, 0]",
    "clearance = { radial = 1e-4, radius = 0.01 }\n",
    "[units]\nlength = \"mm\"\n",
    "1e-20",
    "-1",
];

/// Steps are few, so that a change of the step costs little.
fn short(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once('=') {
        Some((key, _)) if key.trim() == "end" => "end = 0.002".to_owned(),
        Some((key, _)) if key.trim() == "step" => "step = 1e-3".to_owned(),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn two_thousand_changed_models_do_not_panic() {
    let names = ["screw-nut", "cam-follower", "box-stack", "rolling-disc", "double-pendulum-3d", "masonry-arch"];
    let mut texts: Vec<String> = names.iter().filter_map(|name| examples::find(name)).map(short).collect();
    texts.extend(KINDS.iter().filter(|row| row.name == "multibody").map(|row| short(&row.example("new"))));
    assert_eq!(texts.len(), 7);
    let donors: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut random = Random::new(1);
    let (mut loaded, mut failed) = (0, 0);
    for number in 0..2000 {
        let mut text = texts[number % texts.len()].clone();
        for _ in 0..1 + random.below(3) {
            text = match random.below(2) {
                0 => mutate(&text, random.below(usize::MAX), &Mutation::any(OWN, &mut random)),
                _ => vary(&text, &donors, &mut random).0,
            };
        }
        match from_str("changed.toml", &text, &Overrides::default()) {
            Ok(scene) => {
                loaded += 1;
                if scene.span.steps() <= 20
                    && let Ok(mut simulation) = scene.simulation()
                {
                    // a run may fail; it says so
                    let _ = simulation.run(&mut []);
                }
            }
            Err(found) => {
                failed += 1;
                judge(&found);
            }
        }
    }
    println!("{loaded} load, {failed} are refused");
    assert!(loaded > 100 && failed > 500, "{loaded} load, {failed} are refused");
}
