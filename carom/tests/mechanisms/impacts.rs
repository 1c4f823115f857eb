//! One impact solve: two spheres with spin, and chains of balls. The step is so short that nothing but the impact is
//! left of it.

use super::*;
use carom::multibody::pair::{Sphere, SphereSphere};
use carom::multibody::{Body, Contact};

const RADIUS: f64 = 0.1;

fn ball(name: &str, x: f64) -> Body {
    Body::new(name, 1.0, 0.4 * RADIUS * RADIUS).at([x, 0.0, 0.0])
}

fn touching(name: &str, a: &str, b: &str) -> Contact {
    let sphere = Sphere { centre: [0.0; 3], radius: RADIUS };
    Contact::new(name, a, b, SphereSphere { first: sphere, second: sphere })
}

/// Velocities after the impact.
fn after(system: &Multibody) -> Vec<f64> {
    run(&capturing(Forecast::Free), system, 1e-14, 1).last().v.clone()
}

#[test]
fn two_spheres_with_spin() {
    for (mu, expected) in [(0.1, [1.6, 0.1552228, -0.0388057]), (0.5, [1.6, 0.2857143, -0.0714286])] {
        let system = Multibody::spatial()
            .body(ball("a", 0.0).velocity([2.0, 1.0, 0.0]).spin([0.0, 0.0, 10.0]))
            .body(ball("b", 2.0 * RADIUS).velocity([0.0, 0.0, 0.5]).spin([3.0, 0.0, 0.0]))
            .contact(touching("hit", "a", "b").restitution(0.6).friction(mu));
        let v = after(&system);
        // closed form: u = velocity of b's point − velocity of a's
        let u: [f64; 3] = [-2.0, -1.0 - RADIUS * 10.0, 0.5];
        let normal: f64 = 1.6 * 2.0 / 2.0;
        let slip = u[1].hypot(u[2]);
        let shear = (slip / 7.0).min(mu * normal);
        let exact = [normal, -shear * u[1] / slip, -shear * u[2] / slip];
        for i in 0..3 {
            near(exact[i], expected[i], 5.1e-8);
            near(v[6 + i] - [0.0, 0.0, 0.5][i], exact[i], 1e-12);
            near(v[i] - [2.0, 1.0, 0.0][i], -exact[i], 1e-12);
        }
    }
}

fn chain(balls: usize, e: f64, is_planar: bool) -> Vec<f64> {
    let mut system = if is_planar { Multibody::planar() } else { Multibody::spatial() };
    let names: Vec<String> = (0..balls).map(|i| format!("ball{i}")).collect();
    for (i, name) in names.iter().enumerate() {
        let speed = if i == 0 { 1.0 } else { 0.0 };
        system = system.body(ball(name, 2.0 * RADIUS * i as f64).velocity([speed, 0.0, 0.0]));
    }
    for pair in names.windows(2) {
        system = system.contact(touching(&format!("{}-{}", pair[0], pair[1]), &pair[0], &pair[1]).restitution(e));
    }
    let v = after(&system);
    (0..balls).map(|i| v[i * if is_planar { 3 } else { 6 }]).collect()
}

#[test]
fn chains_of_balls_by_the_law_of_newton() {
    for is_planar in [true, false] {
        for (e, expected) in [(1.0, [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]), (0.5, [0.0, 0.5, 0.5])] {
            for (v, expected) in chain(3, e, is_planar).into_iter().zip(expected) {
                near(v, expected, 1e-12);
            }
        }
    }
}
