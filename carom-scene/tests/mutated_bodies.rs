//! Models of bodies with random changes: loading ends with a scene or with errors that point into the text, and a scene
//! that loads makes a few steps without a panic.

use carom_scene::{KINDS, Overrides, examples, from_str};

/// Whatever is put into the texts.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "\n",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    ".",
    ",",
    "-",
    "0",
    "9e9",
    "1e-300",
    "1e300",
    "nan",
    "\u{1F3B1}",
    "x'",
    "t",
    "(",
    ")",
    "^",
    "/0",
    "sin(",
    "\\",
    "#",
    "true",
    "name",
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
    "\"curve\"",
    "[0, 0, 1]",
    "[0, 0]",
    "clearance = { radial = 1e-4, radius = 0.01 }\n",
    "[units]\nlength = \"mm\"\n",
    "1e-20",
    "-1",
];

/// A generator of numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// One change: a piece put in, letters taken out, a part of the text doubled, or a line taken out or moved.
fn change(text: &str, random: &mut Random) -> String {
    let letters: Vec<char> = text.chars().collect();
    let at = random.below(letters.len());
    let mut new = letters.clone();
    match random.below(5) {
        0 => {
            new.splice(at..at, PIECES[random.below(PIECES.len())].chars());
        }
        1 => {
            new.drain(at..(at + 1 + random.below(20)).min(letters.len()));
        }
        2 => {
            let from = random.below(letters.len());
            let piece = letters[from..(from + 1 + random.below(60)).min(letters.len())].to_vec();
            new.splice(at..at, piece);
        }
        kind => {
            let mut lines: Vec<&str> = text.lines().collect();
            let line = lines.remove(random.below(lines.len()));
            if kind == 3 {
                lines.insert(random.below(lines.len() + 1), line);
            }
            return lines.join("\n") + "\n";
        }
    }
    new.into_iter().collect()
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
    let names = ["screw-nut", "cam-follower", "box-stack", "rolling-disc", "double-pendulum-3d"];
    let mut texts: Vec<String> = names.iter().filter_map(|name| examples::find(name)).map(short).collect();
    texts.extend(KINDS.iter().filter(|row| row.name == "multibody").map(|row| short(&row.example("new"))));
    assert_eq!(texts.len(), 6);
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
                assert!(!found.is_empty(), "{text}");
                for diagnostic in found {
                    assert!(!diagnostic.message.is_empty() && diagnostic.line > 0 && diagnostic.column > 0);
                    let span = diagnostic.span.clone().unwrap_or(0..0);
                    assert!(span.start <= span.end && span.end <= diagnostic.source.text.len(), "{diagnostic}");
                }
            }
        }
    }
    println!("{loaded} load, {failed} are refused");
    assert!(loaded > 100 && failed > 500, "{loaded} load, {failed} are refused");
}
