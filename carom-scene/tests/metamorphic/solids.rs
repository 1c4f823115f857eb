//! Solids in space over a floor and in the plane: model files of bodies.

use super::{between, distance, end, shuffled};
use carom_mutations::Random;
use std::fmt::Write;

type Vector = [f64; 3];

struct Solid {
    size: Vector,
    place: Vector,
    velocity: Vector,
    spin: Vector,
    is_ball: bool,
}

fn random_solids(random: &mut Random) -> Vec<Solid> {
    let n = 1 + random.below(3);
    let mut vector = |low: f64, high: f64| [(); 3].map(|()| between(low, high, random));
    let mut solids: Vec<Solid> = (0..n)
        .map(|i| Solid {
            size: vector(0.2, 0.6),
            place: vector(-0.1, 0.1).map(|x| x + 0.9 * i as f64),
            velocity: vector(-1.0, 1.0),
            spin: vector(-3.0, 3.0),
            is_ball: i % 2 == 0,
        })
        .collect();
    solids.iter_mut().for_each(|solid| solid.place[2] = 0.6 + 0.2 * solid.place[0]);
    solids
}

/// The model file, with vectors mapped and solids in an order. Spins are pseudovectors: a mirror turns their sign.
fn file(solids: &[Solid], order: &[usize], map: &dyn Fn(Vector) -> Vector, mirror: bool, scheme: &str) -> String {
    let list = |x: Vector| format!("[{:?}, {:?}, {:?}]", x[0], x[1], x[2]);
    let mut text = String::from(
        "version = 1\nname = \"solids\"\n[model]\nkind = \"multibody\"\ngravity = [0, 0, -9.75]\n[contacts]\n\
         material = \"wood\"\n[[material]]\nname = \"wood\"\nfriction = 0.25\nrestitution = 0.25\n[[body]]\n\
         name = \"ground\"\n[[body.shape]]\nkind = \"plane\"\nname = \"floor\"\nnormal = [0, 0, 1]\n",
    );
    for &i in order {
        let solid = &solids[i];
        let spin = map(solid.spin).map(|x| if mirror { -x } else { x });
        // equal moments of inertia: a turned frame has the same ones
        write!(
            text,
            "[[body]]\nname = \"solid{i}\"\nmass = 1\ninertia = [0.05, 0.05, 0.05]\nposition = {}\nvelocity = {}\n\
             spin_world = {}\n[[body.shape]]\n",
            list(map(solid.place)),
            list(map(solid.velocity)),
            list(spin)
        )
        .unwrap();
        match solid.is_ball {
            true => writeln!(text, "kind = \"sphere\"\nname = \"ball\"\nradius = {:?}", 0.5 * solid.size[0]).unwrap(),
            false => writeln!(text, "kind = \"box\"\nname = \"box\"\nsize = {}", list(map(solid.size).map(f64::abs)))
                .unwrap(),
        }
    }
    write!(text, "[simulation]\nend = 0.6\nstep = {:?}\nscheme = \"{scheme}\"\n", 1.0 / 512.0).unwrap();
    text
}

/// Places of the centres at the end, in the order of the solids.
fn places(text: &str, order: &[usize]) -> Vec<Vector> {
    let state = end(text);
    assert_eq!(state.q.len(), 7 * order.len());
    let mut places = vec![[0.0; 3]; order.len()];
    for (k, &i) in order.iter().enumerate() {
        places[i].copy_from_slice(&state.q[7 * k..7 * k + 3]);
    }
    places
}

const SCHEMES: &[&str] = &["moreau-jean", "combined-projection"];

/// What tolerances of the contact solver become after impacts of boxes (found: 3e-6), far below the scheme's own error.
const TOLERANCE: f64 = 1e-4;

/// Mirrored, and turned by a quarter about the vertical, which maps boxes to boxes.
#[test]
fn mirrored_and_turned_solids() {
    for case in 600..620 {
        let solids = random_solids(&mut Random::new(case));
        let order: Vec<usize> = (0..solids.len()).collect();
        let scheme = SCHEMES[case as usize % SCHEMES.len()];
        let expected = places(&file(&solids, &order, &|x| x, false, scheme), &order);
        let maps: [(&dyn Fn(Vector) -> Vector, bool); 2] =
            [(&|[x, y, z]| [-x, y, z], true), (&|[x, y, z]| [-y, x, z], false)];
        for (map, mirror) in maps {
            let found = places(&file(&solids, &order, map, mirror, scheme), &order);
            let expected: Vec<Vector> = expected.iter().map(|x| map(*x)).collect();
            let apart = distance(&expected.concat(), &found.concat());
            assert!(apart < TOLERANCE, "case {case}, mirror {mirror}: {apart:e}, {scheme}");
        }
    }
}

#[test]
fn reordered_solids() {
    for case in 700..720 {
        let random = &mut Random::new(case);
        let solids = random_solids(random);
        let order: Vec<usize> = (0..solids.len()).collect();
        let other = shuffled(solids.len(), random);
        let scheme = SCHEMES[case as usize % SCHEMES.len()];
        let [expected, found] =
            [order, other].map(|order| places(&file(&solids, &order, &|x| x, false, scheme), &order));
        let apart = distance(&expected.concat(), &found.concat());
        assert!(apart < TOLERANCE, "case {case}: {apart:e}, {scheme}");
    }
}
