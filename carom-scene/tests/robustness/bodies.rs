//! Models of bodies with random changes: loading ends with a scene or with errors that point into the text, and a scene
//! that loads makes a few steps without a panic.

use super::mutation::{Mutation, PIECES, judge, mutate};
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

/// A generator of numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    /// A number from 0 to n − 1.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// One change: a piece put in, letters taken out, a part of the text doubled, or a line taken out or moved.
fn change(text: &str, random: &mut Random) -> String {
    let piece = PIECES.iter().chain(OWN).nth(random.below(PIECES.len() + OWN.len()));
    let piece = piece.map_or(String::new(), |piece| piece.to_string());
    let [at, other] = [(); 2].map(|()| random.below(usize::MAX));
    let mutation = match random.below(5) {
        0 => Mutation::Insert(piece),
        1 => Mutation::Delete(1 + random.below(20)),
        2 => Mutation::Copy(other, 1 + random.below(60)),
        3 => Mutation::Line(other, Some(random.below(usize::MAX))),
        _ => Mutation::Line(other, None),
    };
    mutate(text, at, &mutation)
}

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
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut loaded, mut failed) = (0, 0);
    for number in 0..2000 {
        let mut text = texts[number % texts.len()].clone();
        for _ in 0..1 + random.below(3) {
            text = change(&text, &mut random);
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
