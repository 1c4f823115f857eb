//! Points swept by moving polygons: mirrored, turned, larger, reordered, renamed, later.

use super::{between, named_end, shuffled};
use carom_mutations::Random;
use std::f64::consts::TAU;
use std::fmt::Write;

/// A polygon whose middle moves on an ellipse.
struct Polygon {
    normals: Vec<[f64; 2]>,
    reach: Vec<f64>,
    way: [f64; 2],
    omega: f64,
    start: [f64; 2],
}

/// How it is told: what becomes of a vector, the time of the start, and an order of the sides.
struct Words<'a> {
    map: &'a dyn Fn([f64; 2]) -> [f64; 2],
    scale: f64,
    shift: f64,
    order: Vec<usize>,
    states: [&'static str; 2],
}

impl Polygon {
    fn random(random: &mut Random) -> Polygon {
        let n = 3 + random.below(4);
        let turn = between(0.0, TAU, random);
        let angle = |i: usize| turn + TAU * i as f64 / n as f64;
        let normals = (0..n).map(|i| [angle(i).cos(), angle(i).sin()]).collect();
        let reach = (0..n).map(|_| between(0.2, 0.5, random)).collect();
        let way = [between(0.5, 2.0, random), between(0.5, 2.0, random)];
        Polygon { normals, reach, way, omega: between(0.5, 2.0, random), start: [0.0, way[1]] }
    }

    fn run(&self, words: &Words) -> [f64; 2] {
        let [x, y] = words.states;
        let mut text =
            format!("version = 1\nname = \"swept\"\n[model]\nkind = \"sweeping\"\nstates = [\"{x}\", \"{y}\"]\n");
        let time = format!("{:?}*(t - ({:?}))", self.omega, words.shift);
        text += "[[set]]\nname = \"polygon\"\ninside = [";
        for &i in &words.order {
            // n·(x − c(t)) + r, with a middle that moves as (a sin, b cos)
            let (n, along) = ((words.map)(self.normals[i]), self.normals[i]);
            let (a, b) = (along[0] * self.way[0] * words.scale, along[1] * self.way[1] * words.scale);
            let reach = self.reach[i] * words.scale;
            write!(
                text,
                "\"({:?})*{x} + ({:?})*{y} - ({a:?})*sin({time}) - ({b:?})*cos({time}) + {reach:?}\", ",
                n[0], n[1]
            )
            .unwrap();
        }
        let start = (words.map)(self.start).map(|x| x * words.scale);
        let (from, to) = (words.shift, words.shift + 6.0);
        write!(text, "]\n[initial]\n{x} = {:?}\n{y} = {:?}\n", start[0], start[1]).unwrap();
        write!(text, "[simulation]\nstart = {from:?}\nend = {to:?}\nsteps = 300\n").unwrap();
        let found = named_end(&text);
        [found[x] / words.scale, found[y] / words.scale]
    }
}

#[test]
fn swept_points_in_other_words() {
    for case in 1000..1060 {
        let random = &mut Random::new(case);
        let polygon = Polygon::random(random);
        let order: Vec<usize> = (0..polygon.normals.len()).collect();
        let plain = || Words { map: &|x| x, scale: 1.0, shift: 0.0, order: order.clone(), states: ["u", "w"] };
        let expected = polygon.run(&plain());
        let mirror = |[x, y]: [f64; 2]| [-x, y];
        let turn = |[x, y]: [f64; 2]| [-y, x];
        let other = shuffled(order.len(), random);
        for (what, words) in [
            ("mirrored", Words { map: &mirror, ..plain() }),
            ("turned", Words { map: &turn, ..plain() }),
            ("larger", Words { scale: 2f64.powi(random.below(61) as i32 - 30), ..plain() }),
            ("reordered", Words { order: other, ..plain() }),
            ("renamed", Words { states: ["b", "a"], ..plain() }),
            ("later", Words { shift: between(-9.0, 9.0, random), ..plain() }),
        ] {
            let (found, expected) = (polygon.run(&words), (words.map)(expected));
            let apart = (found[0] - expected[0]).hypot(found[1] - expected[1]);
            assert!(apart < 1e-9, "case {case}, {what}: {apart:e}");
        }
    }
}
