//! Eggs that go over the edge of a table.

use crate::{G, rough, run, stepper};
use carom::multibody::pair::{Block, Ellipsoid, Pair, Shape, between};
use carom::multibody::{Body, Frame, Multibody, Solid, Vector};

const HALF: [f64; 3] = [0.06, 0.04, 0.04];

fn egg() -> Shape {
    Shape::Ellipsoid(Ellipsoid {
        centre: [0.0; 3],
        axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        half: HALF,
    })
}

/// With its upper face in z = 0 and an edge in x = 0.5.
fn table() -> Shape {
    Shape::Block(Block { centre: [0.0, 0.0, -0.05], ..Block::new([0.5, 0.3, 0.05]) })
}

/// An upright egg whose lowest point is beyond the edge by s, and δ below the table: the largest over θ of
/// s sin θ + (c − δ) cos θ − √(a² sin² θ + c² cos² θ).
fn gap(s: f64, depth: f64) -> f64 {
    let [a, _, c] = HALF;
    let at = |angle: f64| {
        let (sin, cos) = angle.sin_cos();
        s * sin + (c - depth) * cos - (a * sin).hypot(c * cos)
    };
    let [mut low, mut high] = [0.0, 0.5];
    for _ in 0..200 {
        let (one, other) = (low + 0.382 * (high - low), high - 0.382 * (high - low));
        if at(one) > at(other) { high = other } else { low = one }
    }
    at(low.max(0.0))
}

#[test]
fn the_gap_of_an_egg_goes_smoothly_over_an_edge() {
    let frame = |x: f64, z: f64| Frame { centre: Vector([x, 0.03, z]), ..Frame::ground() };
    for depth in [1e-4, 1e-6, 1e-9, 0.0, -1e-6] {
        let mut last = None::<[f64; 3]>;
        for k in -200..400 {
            let s = 1e-5 * f64::from(k);
            let egg_frame = frame(0.5 + s, HALF[2] - depth);
            let frames = (&Frame::ground(), &egg_frame);
            let (pair, is_exchanged) = between(&table(), &egg(), frames).unwrap();
            assert!(!is_exchanged);
            let touch = pair.touch::<f64>(0, frames);
            let expected = if s <= 0.0 { -depth } else { gap(s, depth) };
            assert!((touch.gap - expected).abs() < 1e-12, "{depth:e} {s:e}: {:e} {expected:e}", touch.gap);
            // normals turn by s c/a² or so
            if let Some(before) = last {
                let turn = touch.normal.0.iter().zip(before).fold(0.0f64, |turn, (a, b)| turn.max((a - b).abs()));
                assert!(turn < 2.0 * 1e-5 * HALF[2] / HALF[0].powi(2), "{depth:e} {s:e}: {turn:e}");
            }
            last = Some(touch.normal.0);
        }
    }
}

#[test]
fn eggs_that_go_over_an_edge_go_on() {
    for friction in [0.0, 0.2, 0.5] {
        for [x, y] in [[0.8, 0.0], [1.0, 0.1], [1.2, 0.3], [1.5, 0.0], [2.0, 0.1]] {
            let mass = 900.0 * 4.0 / 3.0 * std::f64::consts::PI * HALF.iter().product::<f64>();
            let moment = |i: usize, j: usize| 0.2 * mass * (HALF[i].powi(2) + HALF[j].powi(2));
            let inertia = [moment(1, 2), moment(0, 2), moment(0, 1)];
            let model = Multibody::spatial()
                .gravity([0.0, 0.0, -G])
                .material("wood", rough(friction, 0.0))
                .body(Body::new("egg", mass, inertia).at([0.1, 0.0, HALF[2]]).velocity([x, y, 0.0]))
                .solid(Solid::new("ground", "table", table()).material("wood"))
                .solid(Solid::new("egg", "shell", egg()).material("wood"));
            let mut stepper = stepper(model.build().unwrap());
            let start = stepper.energies().unwrap().0.total();
            let mut most = f64::NEG_INFINITY;
            let last = run(&mut *stepper, 1e-3, 900, |stepper| {
                most = most.max(stepper.energies().unwrap().1.total());
            });
            // what an overlap of a step may give
            assert!(most < start + 1e-3 * mass * G * HALF[0], "{friction} {x} {y}: {:e}", most - start);
            // slow ones rub to rest on the table, others have fallen
            assert!(last.q[2] < 0.0 || friction > 0.0, "{friction} {x} {y}: {last:?}");
        }
    }
}
