//! Mass and inertia of shapes with a density.

use super::{UP, ball, floor};
use carom::multibody::pair::{Block, Capsule, Convex, Cylinder, Ellipsoid, Shape, Sphere, Torus};
use carom::multibody::{Mass, Vector};

fn close(a: f64, b: f64, size: f64) {
    assert!((a - b).abs() < 1e-13 * size, "{a} {b}");
}

/// Textbook moments of shapes about their centre, along their own axes; the axis of round ones is z.
#[test]
fn shapes_have_the_mass_and_inertia_of_textbooks() {
    use std::f64::consts::PI;
    let (rho, r, l) = (7800.0, 0.3, 0.8);
    let (a, b, c) = (0.2, 0.5, 0.7);
    // slices of a capsule along its axis: two half balls and a cylinder, by Gauss and Legendre with two points a piece
    let slices = |f: &dyn Fn(f64, f64) -> f64| {
        let (n, reach) = (4000, l / 2.0 + r);
        let wide = |z: f64| (r * r - (z.abs() - l / 2.0).max(0.0).powi(2)).max(0.0);
        let mut sum = 0.0;
        for part in [[-reach, -l / 2.0], [-l / 2.0, l / 2.0], [l / 2.0, reach]] {
            let width = (part[1] - part[0]) / f64::from(n);
            for k in 0..n {
                let middle = part[0] + (f64::from(k) + 0.5) * width;
                for side in [-1.0, 1.0] {
                    let z = middle + side * width / 12f64.sqrt();
                    sum += f(z, wide(z)) * width / 2.0;
                }
            }
        }
        sum
    };
    let capsule = slices(&|_, square| PI * square);
    let along = slices(&|_, square| PI * square * square / 2.0) / capsule;
    let across = slices(&|z, square| PI * square * square / 4.0 + PI * square * z * z) / capsule;
    let at = [0.1, -0.2, 0.3];
    let axes = Block::new([1.0; 3]).axes;
    let cases = [
        (Shape::Sphere(Sphere { centre: at, radius: r }), 4.0 / 3.0 * PI * r.powi(3), [0.4 * r * r; 3]),
        (
            Shape::Block(Block { centre: at, ..Block::new([a / 2.0, b / 2.0, c / 2.0]) }),
            a * b * c,
            [(b * b + c * c) / 12.0, (a * a + c * c) / 12.0, (a * a + b * b) / 12.0],
        ),
        (
            Shape::Cylinder(Cylinder { centre: at, axis: UP, radius: r, half: l / 2.0 }),
            PI * r * r * l,
            [(3.0 * r * r + l * l) / 12.0, (3.0 * r * r + l * l) / 12.0, r * r / 2.0],
        ),
        (
            Shape::Ellipsoid(Ellipsoid { centre: at, axes, half: [a, b, c] }),
            4.0 / 3.0 * PI * a * b * c,
            [(b * b + c * c) / 5.0, (a * a + c * c) / 5.0, (a * a + b * b) / 5.0],
        ),
        (
            Shape::Torus(Torus { centre: at, axis: UP, radius: b, tube: a }),
            2.0 * PI * PI * b * a * a,
            [b * b / 2.0 + 5.0 / 8.0 * a * a, b * b / 2.0 + 5.0 / 8.0 * a * a, b * b + 0.75 * a * a],
        ),
        (
            Shape::Capsule(Capsule { ends: [-0.5, 0.5].map(|s| [at[0], at[1], at[2] + s * l]), radius: r }),
            capsule,
            [across, across, along],
        ),
    ];
    for (shape, volume, inertia) in cases {
        let found = Mass::of(&shape, rho, false).unwrap();
        close(found.mass, rho * volume, 10.0 * rho * volume);
        for i in 0..3 {
            close(found.centre[i], at[i], 1.0);
            for j in 0..3 {
                let wanted = if i == j { rho * volume * inertia[i] } else { 0.0 };
                // the slices are good to 1e-11
                assert!((found.inertia[i][j] - wanted).abs() < 1e-10 * found.mass, "{}: {found:?}", shape.name());
            }
        }
    }
    assert!(Mass::of(&floor(), rho, false).is_none());
    // in the plane: a disc, a rectangle, and a stadium of a disc and a rectangle with its halves moved apart
    close(Mass::of(&ball(r), rho, true).unwrap().inertia[2][2], rho * PI * r.powi(4) / 2.0, rho);
    let stadium = Shape::Capsule(Capsule { ends: [[-l / 2.0, 0.0, 0.0], [l / 2.0, 0.0, 0.0]], radius: r });
    let found = Mass::of(&stadium, 1.0, true).unwrap();
    close(found.mass, 2.0 * r * l + PI * r * r, 1.0);
    // half discs: centre at 4r/3π from their flat side, J about it = πr⁴/4 − A (4r/3π)²
    let (half, lever) = (PI * r * r / 2.0, 4.0 * r / (3.0 * PI));
    let ends = 2.0 * (PI * r.powi(4) / 4.0 - half * lever * lever + half * (lever + l / 2.0).powi(2));
    close(found.inertia[2][2], 2.0 * r * l * (4.0 * r * r + l * l) / 12.0 + ends, 1.0);
}

/// A box cut in two turned and moved halves is the box.
#[test]
fn parts_add_up_to_the_whole_wherever_they_are() {
    let (x, y) = (Vector::<f64>([0.6, 0.8, 0.0]), Vector([-0.8 * 0.6, 0.6 * 0.6, 0.8]));
    let axes = [x.0, y.0, x.cross(y).0];
    let block = |shift: f64, half: f64| {
        let centre = std::array::from_fn(|i| [0.3, -0.1, 0.2][i] + shift * x.0[i]);
        Shape::Block(Block { centre, axes, half: [half, 0.2, 0.1] })
    };
    let whole = Mass::of(&block(0.0, 0.4), 500.0, false).unwrap();
    let parts = [block(-0.3, 0.1), block(0.1, 0.3)].map(|part| Mass::of(&part, 500.0, false).unwrap());
    let sum = Mass::sum(&parts).unwrap();
    close(sum.mass, whole.mass, whole.mass);
    for i in 0..3 {
        close(sum.centre[i], whole.centre[i], 1.0);
        for j in 0..3 {
            close(sum.inertia[i][j], whole.inertia[i][j], whole.mass);
        }
    }
}

/// Polygons and polyhedra: a box by its corners, a corner of a cube, regular polygons, and a triangle.
#[test]
fn convex_shapes_have_the_mass_and_inertia_of_textbooks() {
    use std::f64::consts::TAU;
    let block = Block { centre: [0.3, -0.1, 0.2], ..Block::new([0.4, 0.2, 0.1]) };
    let corners: Vec<[f64; 3]> = (0..8).map(|k| block.corner(k)).collect();
    let (one, other) = (
        Mass::of(&Shape::Block(block), 500.0, false).unwrap(),
        Mass::of(&Shape::Convex(Convex::around(&corners).unwrap()), 500.0, false).unwrap(),
    );
    close(one.mass, other.mass, one.mass);
    for i in 0..3 {
        close(one.centre[i], other.centre[i], 1.0);
        (0..3).for_each(|j| close(one.inertia[i][j], other.inertia[i][j], one.mass));
    }
    // x, y, z >= 0 and x + y + z <= 1: volume 1/6, centre 1/4, ∫x² = 1/60, ∫xy = 1/120
    let corner = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let found = Mass::of(&Shape::Convex(Convex::around(&corner).unwrap()), 6.0, false).unwrap();
    close(found.mass, 1.0, 1.0);
    for i in 0..3 {
        close(found.centre[i], 0.25, 1.0);
        close(found.inertia[i][i], 6.0 * 2.0 * (1.0 / 60.0 - 1.0 / 96.0), 1.0);
        close(found.inertia[i][(i + 1) % 3], -6.0 * (1.0 / 120.0 - 1.0 / 96.0), 1.0);
    }
    for n in [3u32, 5, 12] {
        // n triangles of height a and base s: A = n a s/2, J = A (a²/2 + s²/24)
        let (a, s) = ((TAU / f64::from(2 * n)).cos(), 2.0 * (TAU / f64::from(2 * n)).sin());
        let at = |k: u32| {
            let (sin, cos) = (TAU * f64::from(k) / f64::from(n)).sin_cos();
            [2.0 + cos, -1.0 + sin]
        };
        // the other way round is the same
        let points: Vec<[f64; 2]> = (0..n).rev().map(at).collect();
        let found = Mass::of(&Shape::Convex(Convex::polygon(&points).unwrap()), 1.0, true).unwrap();
        let area = f64::from(n) * a * s / 2.0;
        close(found.mass, area, 10.0);
        close(found.centre[0], 2.0, 10.0);
        close(found.centre[1], -1.0, 10.0);
        close(found.inertia[2][2], area * (a * a / 2.0 + s * s / 24.0), 10.0);
    }
}
