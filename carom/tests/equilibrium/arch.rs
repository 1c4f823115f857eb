//! Semicircular arches of stones without mortar: they stand just above their limit of thickness and fall just below.
//!
//! The limits are those of linear programs in the thrust at the crown and its moment, polished to 1e-12: with the real
//! weight of sectors of a ring between radial joints, and with that of trapezia whose corners are on the two circles.

use super::*;
use carom::multibody::contact::Surface;
use carom::multibody::pair::{Convex, Plane, Shape};
use carom::multibody::{Body, Mass, Solid};
use std::f64::consts::PI;

/// Area, distance of the mass centre from the middle of the arch, and inertia about it of a sector of a ring.
fn sector(angle: f64, t: f64) -> (f64, f64, f64) {
    let [r, s] = [1.0 - t / 2.0, 1.0 + t / 2.0];
    let area = angle / 2.0 * (s * s - r * r);
    let far = 2.0 / 3.0 * (s.powi(3) - r.powi(3)) * 2.0 * (angle / 2.0).sin() / (2.0 * area);
    (area, far, angle / 4.0 * (s.powi(4) - r.powi(4)) - area * far * far)
}

/// An arch of n stones of thickness t, mean radius 1 and weight per area 1.
fn arch(n: usize, t: f64, mu: f64, sectors: bool) -> (Multibody, f64) {
    let stone = Surface { friction: mu, ..Surface::default() };
    let mut all = Multibody::planar().gravity([0.0, -1.0]).material("stone", stone);
    let floor = Shape::Plane(Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] });
    all = all.solid(Solid::new("ground", "floor", floor).material("stone"));
    let mut weight = 0.0;
    for k in 0..n {
        let corner = |radius: f64, joint: usize| {
            let (s, c) = (PI * joint as f64 / n as f64).sin_cos();
            [radius * c, radius * s]
        };
        let [r, s] = [1.0 - t / 2.0, 1.0 + t / 2.0];
        let convex = Convex::polygon(&[corner(r, k), corner(s, k), corner(s, k + 1), corner(r, k + 1)]).unwrap();
        let shape = Shape::Convex(convex);
        let drawn = Mass::of(&shape, 1.0, true).unwrap();
        let (mass, centre, inertia) = match sectors {
            false => (drawn.mass, drawn.centre, drawn.inertia[2][2]),
            true => {
                let (area, far, inertia) = sector(PI / n as f64, t);
                let (s, c) = (PI * (k as f64 + 0.5) / n as f64).sin_cos();
                (area, [far * c, far * s, 0.0], inertia)
            }
        };
        weight += mass;
        let name = format!("stone{k}");
        all = all
            .body(Body::new(&name, mass, inertia).at([centre[0], centre[1]]))
            .solid(Solid::new(&name, "stone", shape.moved(centre.map(|x| -x))).material("stone"));
    }
    (all, weight)
}

/// Stones, friction, limits of sectors and of trapezia, and the thrust of these two over the weight.
const LIMITS: [(usize, f64, [f64; 2], [f64; 2]); 5] = [
    (11, 0.6, [0.1049103430, 0.1045891449], [0.19588376, 0.19790004]),
    (21, 0.4, [0.1067899387, 0.1066948011], [0.19715533, 0.19770651]),
    (11, 0.35, [0.1452698097, 0.1488217866], [0.175; 2]),
    (21, 0.35, [0.1495063369, 0.1504668921], [0.175; 2]),
    (11, 0.31, [0.1884302496, 0.1921816728], [0.155; 2]),
];

#[test]
fn arches_stand_above_their_limit_and_fall_below() {
    for (n, mu, limits, thrusts) in LIMITS {
        for (k, sectors) in [true, false].into_iter().enumerate() {
            let (above, weight) = arch(n, limits[k] * (1.0 + 1e-5), mu, sectors);
            let found = here(&above);
            // what pushes the feet outwards; its range closes where the arch falls
            let feet = found.laws.iter().filter(|law| law.name.starts_with(&format!("ground/floor - stone{}/", n - 1)));
            let thrust: f64 = feet.map(|law| law.reaction[1].middle).sum();
            near(thrust.abs() / weight, thrusts[k], 2e-4);
            let (below, _) = arch(n, limits[k] * (1.0 - 1e-5), mu, sectors);
            assert!(falls(&below), "{n} stones, friction {mu}, sectors {sectors}");
        }
    }
}
