//! Small vibrations with preload, in closed form.

use super::*;
use carom::State;
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::model::{Contact as Wall, Lagrangian};
use carom::multibody::pair::{Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact, Joint, Spring};
use std::f64::consts::PI;

#[track_caller]
fn are(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * b.abs().max(1.0);
    assert!(found.iter().zip(expected).all(close), "{found:.12?} instead of {expected:.12?}");
}

/// Two vertical springs bear a planar body: sway and rotation have the stiffness m g/l of the preload.
#[test]
fn a_planar_body_on_two_springs() {
    let mut system = Multibody::planar().gravity([0.0, -G]).body(Body::new("body", 2.0, 0.05));
    for (name, x) in [("left", -0.2), ("right", 0.2)] {
        system = system.spring(Spring::between(name, ("ground", [x, 0.45]), ("body", [x, 0.1]), 400.0).rest(0.35));
    }
    let found = rest(&system);
    near(found.state.q[1], -2.0 * G / 800.0, 1e-12);
    are(&frequencies(&found), &[5.07738479165, 20.0, 26.2703371298], 1e-11);
}

#[test]
fn a_body_in_space_on_four_springs() {
    let mut system = Multibody::spatial().gravity([0.0, 0.0, -G]).body(Body::new("body", 4.0, [0.03, 0.05, 0.07]));
    for (i, x) in [-0.2, 0.2].into_iter().enumerate() {
        for (j, y) in [-0.15, 0.15].into_iter().enumerate() {
            let spring = Spring::between(&format!("s{i}{j}"), ("ground", [x, y, 0.35]), ("body", [x, y, 0.05]), 500.0);
            system = system.spring(spring.rest(0.3));
        }
    }
    let expected = [5.52172717021, 5.52955891571, 10.4698031054, 22.360679775, 39.6967772726, 40.5647040577];
    are(&frequencies(&rest(&system)), &expected, 1e-10);
}

/// Beads on a string that is tight: the tension holds them back across, the stiffness along.
#[test]
fn beads_on_a_tight_string() {
    let (n, m, a, k, tension) = (5, 0.1, 0.2, 300.0, 12.0);
    let mut system = Multibody::planar();
    let (mut before, mut x) = ("ground".to_owned(), 0.0);
    for i in 1..=n {
        let name = format!("bead{i}");
        system = system
            .body(Body::new(&name, m, 1e-4).at([x + a, 0.0]))
            .spring(Spring::between(&format!("s{i}"), (&before, [x, 0.0]), (&name, [x + a, 0.0]), k).preload(tension));
        (before, x) = (name, x + a);
    }
    system = system.spring(Spring::between("last", (&before, [x, 0.0]), ("ground", [x + a, 0.0]), k).preload(tension));
    let found = here(&system);
    let wave = |j: usize, stiffness: f64| 2.0 * (stiffness / m).sqrt() * (j as f64 * PI / (2.0 * (n + 1) as f64)).sin();
    let mut expected = vec![0.0; n];
    expected.extend((1..=n).flat_map(|j| [wave(j, tension / a), wave(j, k)]));
    expected.sort_by(f64::total_cmp);
    are(&frequencies(&found), &expected, 1e-12);
    // the first one across is half a sine
    let vibrations = found.vibrations.unwrap();
    let first = &vibrations.modes[n];
    let shape: Vec<f64> = (0..n).map(|i| first.shape[3 * i + 1]).collect();
    let sine: Vec<f64> = (1..=n).map(|i| (i as f64 * PI / 6.0).sin()).collect();
    are(&shape, &sine, 1e-10);
}

/// An upright rod on a torsion spring: the weight softens it, and a soft spring lets it fall.
#[test]
fn an_upright_rod_on_a_torsion_spring() {
    let (m, l, i) = (0.7, 0.4, 0.03);
    for (k, is_planar) in [(4.0, true), (4.0, false), (1.0, true), (1.0, false)] {
        let system = if is_planar { Multibody::planar() } else { Multibody::spatial() };
        let system = system
            .gravity([0.0, -G])
            .body(Body::new("rod", m, i).at([0.0, l]))
            .joint(Joint::revolute("hinge", "ground", "rod").at([0.0, 0.0]).axis([0.0, 0.0, 1.0]))
            .spring(Spring::on("coil", "hinge", k).damping(0.01));
        let found = here(&system);
        let square = (k - m * G * l) / (i + m * l * l);
        let modes = &found.vibrations.as_ref().unwrap().modes;
        assert_eq!(modes.len(), 1);
        near(modes[0].omega, square.max(0.0).sqrt(), 1e-11);
        near(modes[0].growth, (-square).max(0.0).sqrt(), 1e-11);
        if square > 0.0 {
            near(modes[0].damping, 0.01 / (2.0 * square.sqrt() * (i + m * l * l)), 1e-12);
        }
    }
}

/// A round foot on the floor: it rolls where it sticks, and slides under the mass centre where it does not.
#[test]
fn a_round_foot_rocks() {
    let (m, j, r, e) = (1.3, 0.02, 0.25, 0.1);
    for (mu, is_planar) in [(0.5, true), (0.0, true), (0.5, false), (0.0, false)] {
        let system = if is_planar { Multibody::planar() } else { Multibody::spatial() };
        let plane = Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] };
        let pair = SpherePlane { plane, sphere: Sphere { centre: [0.0, e, 0.0], radius: r } };
        let system = system
            .gravity([0.0, -G])
            .body(Body::new("foot", m, j).at([0.0, r - e]))
            .contact(Contact::new("floor", "ground", "foot", pair).friction(mu));
        let omega = frequencies(&here(&system));
        let inertia = if mu > 0.0 { j + m * (r - e) * (r - e) } else { j };
        let rocking = (m * G * e / inertia).sqrt();
        let expected: &[f64] = match (mu > 0.0, is_planar) {
            (true, true) => &[rocking],
            (false, true) => &[0.0, rocking],
            (true, false) => &[0.0, rocking, rocking],
            (false, false) => &[0.0, 0.0, 0.0, rocking, rocking],
        };
        are(&omega, expected, 1e-10);
    }
}

/// Two equal masses on threads of one length: ω² = (2 ± √2) g/l.
#[derive(Clone)]
struct DoublePendulum;

impl Functions for DoublePendulum {
    fn kinetic<D: Scalar>(&self, _t: D, q: &[D], v: &[D]) -> D {
        v[0] * v[0] + v[1] * v[1] * 0.5 + v[0] * v[1] * (q[0] - q[1]).cos()
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        (q[0].cos() * -2.0 - q[1].cos()) * G
    }
    fn outputs<D: Scalar>(&self, _t: D, _q: &[D], _out: &mut [D]) {}
    fn laws(&self) -> Vec<NamedLaw> {
        Vec::new()
    }
}

#[test]
fn a_double_pendulum_in_minimal_coordinates() {
    let mut model = DualLagrangian::new(DoublePendulum, State::new(0.0, &[0.8, -0.5], &[0.0; 2])).unwrap();
    let (from, mut tangent) = (model.initial(), model.tangent());
    let found = equilibrium(&mut model, &mut tangent, &from, Where::FromHere).unwrap();
    assert!(found.steps > 0 && found.state.q.iter().all(|q| q.abs() < 1e-12), "{found:?}");
    let root = 2f64.sqrt();
    are(&frequencies(&found), &[((2.0 - root) * G).sqrt(), ((2.0 + root) * G).sqrt()], 1e-12);
    let modes = found.vibrations.unwrap().modes;
    are(&[modes[0].shape[0], modes[0].shape[1]], &[1.0 / root, 1.0], 1e-11);
}

/// A chain of masses by closures, one of which is pressed to a wall: the wall holds it, and the others swing.
#[test]
fn a_chain_against_a_wall() {
    let (n, k, m) = (4, 50.0, 0.4);
    let make = || -> Box<dyn Mechanical> {
        let model = Lagrangian::new(n)
            .constant_mass(&std::array::from_fn::<f64, 16, _>(|i| if i % 5 == 0 { m } else { 0.0 }))
            .force(move |_t, q, _v, f| {
                for i in 0..n {
                    let (left, right) = (if i == 0 { 0.0 } else { q[i - 1] }, if i + 1 == n { q[i] } else { q[i + 1] });
                    f[i] = k * (left - 2.0 * q[i] + right) + if i + 1 == n { 3.0 } else { 0.0 };
                }
            })
            .contact(Wall::new("wall", move |_t, q| 0.05 - q[n - 1]).gradient(move |_t, _q, row| {
                row.fill(0.0);
                row[n - 1] = -1.0;
            }))
            .initial(&[0.0; 4], &[0.0; 4])
            .build();
        Box::new(model.unwrap())
    };
    let found = rest_by_differences(make);
    near(found.state.q[n - 1], 0.05, 1e-12);
    // the springs in line pull back with k/4 · 0.05
    near_both(range(&found, "wall", 0), [3.0 - k / 4.0 * 0.05; 2], 1e-9);
    let wave = |j: usize| 2.0 * (k / m).sqrt() * (j as f64 * PI / 8.0).sin();
    are(&frequencies(&found), &[wave(1), wave(2), wave(3)], 1e-9);
}
