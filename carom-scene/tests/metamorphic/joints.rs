//! Chains of hinged rods: mirrored, bodies and joints in another order, joints told from their other side, renamed.

use super::{between, named_end, shuffled};
use carom_mutations::Random;
use std::fmt::Write;

struct Rod {
    length: f64,
    slope: f64,
    mass: f64,
}

/// How a chain is told.
struct Words {
    mirror: f64,
    bodies: Vec<usize>,
    joints: Vec<usize>,
    swaps: bool,
    name: &'static str,
}

const STEP: f64 = 1.0 / 512.0;

/// The largest difference.
fn largest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

/// x and y of the middles of all rods, and their angles.
fn run(rods: &[Rod], words: &Words, scheme: &str, step: f64) -> Vec<f64> {
    let (name, m) = (words.name, words.mirror);
    let mut hinges = vec![[0.0, 0.0]];
    for rod in rods {
        let [x, y] = hinges[hinges.len() - 1];
        hinges.push([x + rod.length * rod.slope.cos(), y + rod.length * rod.slope.sin()]);
    }
    let mut text = String::from(
        "version = 1\nname = \"chain\"\n[model]\nkind = \"multibody\"\ndimension = 2\ngravity = [0, -9.75]\n",
    );
    for &i in &words.bodies {
        let ([ax, ay], [bx, by], rod) = (hinges[i], hinges[i + 1], &rods[i]);
        let inertia = rod.mass * rod.length * rod.length / 12.0;
        write!(text, "[[body]]\nname = \"{name}{i}\"\nmass = {:?}\ninertia = {inertia:?}\n", rod.mass).unwrap();
        writeln!(text, "position = [{:?}, {:?}]\nangle = {:?}", m * 0.5 * (ax + bx), 0.5 * (ay + by), m * rod.slope)
            .unwrap();
    }
    for &i in &words.joints {
        let before = if i == 0 { "ground".into() } else { format!("{name}{}", i - 1) };
        let pair = if words.swaps { [format!("{name}{i}"), before] } else { [before, format!("{name}{i}")] };
        write!(text, "[[joint]]\nname = \"j{i}\"\nkind = \"revolute\"\nbodies = {pair:?}\n").unwrap();
        writeln!(text, "at = [{:?}, {:?}]", m * hinges[i][0], hinges[i][1]).unwrap();
    }
    write!(text, "[simulation]\nend = 0.5\nstep = {step:?}\nscheme = \"{scheme}\"\n").unwrap();
    let found = named_end(&text);
    let values =
        |i: usize| [("x", m), ("y", 1.0), ("angle", m)].map(|(what, by)| by * found[&format!("{name}{i}.{what}")]);
    (0..rods.len()).flat_map(values).collect()
}

#[test]
fn chains_in_other_words() {
    for case in 1100..1140 {
        let random = &mut Random::new(case);
        let n = 1 + random.below(5);
        let mut rod = || Rod {
            length: between(0.25, 1.0, random),
            slope: between(-2.0, 1.0, random),
            mass: between(0.5, 2.0, random),
        };
        let rods: Vec<Rod> = (0..n).map(|_| rod()).collect();
        let order: Vec<usize> = (0..n).collect();
        let scheme = ["moreau-jean", "combined-projection", "event-driven"][case as usize % 3];
        let plain = || Words { mirror: 1.0, bodies: order.clone(), joints: order.clone(), swaps: false, name: "rod" };
        let expected = run(&rods, &plain(), scheme, STEP);
        // rows of joints are told from one of their sides: both motions are as close to the true one as their scheme,
        // of second order, is
        let error = |words: &Words, at: &[f64]| match scheme {
            "event-driven" => 0.0,
            _ => 4.0 / 3.0 * largest(at, &run(&rods, words, scheme, 0.5 * STEP)),
        };
        let [bodies, joints] = [(); 2].map(|()| shuffled(n, random));
        for (what, words) in [
            ("mirrored", Words { mirror: -1.0, ..plain() }),
            ("bodies reordered", Words { bodies, ..plain() }),
            ("joints reordered", Words { joints, ..plain() }),
            ("joints from the other side", Words { swaps: true, ..plain() }),
            ("renamed", Words { name: "a", ..plain() }),
        ] {
            let found = run(&rods, &words, scheme, STEP);
            let errors = if words.swaps { error(&plain(), &expected) + error(&words, &found) } else { 0.0 };
            let (apart, bound) = (largest(&expected, &found), errors.max(1e-7));
            assert!(apart < bound, "case {case}, {what}, {scheme}: {apart:e}");
        }
    }
}
