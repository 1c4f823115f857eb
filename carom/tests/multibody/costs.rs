//! What a step costs, from a hundred to ten thousand bodies.

use super::{moreau, rod, rod_of};
use carom::Stepper;
use carom::multibody::{Body, Joint, Multibody};
use carom::scheme::Bound;
use carom::scheme::ReactionDirection::Mid;

/// Bodies of one size: what is larger has more of them.
const LENGTH: f64 = 0.01;
const MASS: f64 = 0.01;

fn name(i: usize) -> String {
    if i == 0 { "ground".to_string() } else { format!("body{i}") }
}

fn empty() -> Multibody {
    Multibody::spatial().gravity([0.0, 0.0, -9.81])
}

/// Bodies that tumble and meet nothing.
fn free(n: usize) -> Multibody {
    (0..n).fold(empty(), |system, i| {
        let x = i as f64;
        let body = Body::new(&name(i + 1), MASS, [1e-7, 2e-7, 2.5e-7]).at([LENGTH * x, 0.0, 0.0]);
        system.body(body.spin([3.0 + x.sin(), 2.0, x.cos()]))
    })
}

/// Rods on hinges that cross in turn, from the horizontal.
fn chain(n: usize) -> Multibody {
    (0..n).fold(empty(), |system, i| {
        let (a, b) = (i as f64 * LENGTH, (i + 1) as f64 * LENGTH);
        let axis = if i % 2 == 0 { [0.0, 1.0, 1.0] } else { [0.0, 1.0, -1.0] };
        let hinge = Joint::revolute(&format!("hinge{i}"), &name(i), &name(i + 1)).at([a, 0.0, 0.0]).axis(axis);
        system.body(rod(&name(i + 1), MASS, [[a, 0.0, 0.0], [b, 0.0, 0.0]])).joint(hinge)
    })
}

/// Two rods on hinges at the end of each one; the first hangs from the ground.
fn tree(n: usize) -> Multibody {
    let mut ends: Vec<[f64; 3]> = vec![[0.0; 3]];
    (0..n).fold(empty(), |system, i| {
        let parent = i.div_ceil(2);
        let (from, a) = (ends[parent], 1.3 * i as f64);
        let way = [0.3 * a.cos(), 0.3 * a.sin(), -0.4 - 0.1 * (i % 3) as f64];
        let to = std::array::from_fn(|k| from[k] + 3.0 * LENGTH * way[k]);
        ends.push(to);
        let hinge = Joint::revolute(&format!("hinge{i}"), &name(parent), &name(i + 1)).at(from);
        // not as slender as the others: Newton's loop would not come below the rounding of what the first rod carries
        let across = MASS * LENGTH * LENGTH / 4.0;
        let body = rod_of(&name(i + 1), MASS, [from, to], [across; 3]);
        system.body(body).joint(hinge.axis([a.sin(), 0.5, a.cos()]))
    })
}

/// Arms on ball joints around a hub that spins.
fn star(n: usize) -> Multibody {
    let hub = Body::new(&name(1), n as f64 * MASS, [1.0, 2.0, 2.5].map(|j| j * n as f64 * MASS * LENGTH * LENGTH));
    (1..n).fold(empty().body(hub), |system, i| {
        let (a, b) = (2.4 * i as f64, 0.7 * i as f64);
        let way = [a.cos() * b.cos(), a.sin() * b.cos(), b.sin()];
        let ends = [1.0, 2.0].map(|x| way.map(|d| x * LENGTH * d));
        // those on one side are lighter: the hub turns
        let mass = if way[0] > 0.0 { MASS } else { 0.5 * MASS };
        let speed = if way[1] > 0.0 { 0.1 } else { 0.0 };
        let arm = rod(&name(i + 1), mass, ends).velocity([0.0, 0.0, speed]);
        system.body(arm).joint(Joint::spherical(&format!("ball{i}"), &name(1), &name(i + 1)).at(ends[0]))
    })
}

/// The least time of a step [ms], and the mean number of iterations.
fn cost(system: &Multibody, h: f64, steps: usize) -> (f64, f64) {
    let model = system.build().unwrap_or_else(|error| panic!("{error}"));
    let bound = Bound::new(moreau(Mid), Box::new(model), carom_solve::solver::default());
    let mut stepper: Box<dyn Stepper> = Box::new(bound.unwrap());
    let (mut best, mut iterations) = (f64::INFINITY, 0);
    for _ in 0..steps {
        let start = std::time::Instant::now();
        iterations += stepper.attempt(h).unwrap_or_else(|error| panic!("{error}")).iterations;
        stepper.accept();
        best = best.min(1e3 * start.elapsed().as_secs_f64());
    }
    (best, f64::from(iterations) / steps as f64)
}

/// Free bodies, chains, trees and stars: a step costs what its bodies cost, with an exponent of 1.1 at most.
#[test]
#[ignore = "long: it measures time, in release mode"]
fn steps_cost_what_their_bodies_cost() {
    type Make = fn(usize) -> Multibody;
    let makes: [(&str, Make); 4] = [("free", free), ("chain", chain), ("tree", tree), ("star", star)];
    let mut slow = Vec::new();
    for (what, make) in makes {
        let found = [(100, 200), (1000, 60), (10_000, 20)].map(|(n, steps)| cost(&make(n), 1e-4, steps));
        let exponent = (found[2].0 / found[0].0).log10() / 2.0;
        println!("{what}: (ms, iterations) {found:.4?}, exponent {exponent:.3}");
        if exponent > 1.1 {
            slow.push((what, exponent));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

/// A step of a thousand hinged rods that make a chain of 1 m and 1 kg.
#[test]
#[ignore = "long: it measures time, in release mode on a quiet machine"]
fn a_thousand_hinged_rods_step_in_three_milliseconds() {
    let n = 1000;
    let (length, mass) = (1.0 / n as f64, 1.0 / n as f64);
    let system = (0..n).fold(empty(), |system, i| {
        let (a, b) = (i as f64 * length, (i + 1) as f64 * length);
        let axis = if i % 2 == 0 { [0.0, 1.0, 1.0] } else { [0.0, 1.0, -1.0] };
        let hinge = Joint::revolute(&format!("hinge{i}"), &name(i), &name(i + 1)).at([a, 0.0, 0.0]).axis(axis);
        system.body(rod(&name(i + 1), mass, [[a, 0.0, 0.0], [b, 0.0, 0.0]])).joint(hinge)
    });
    let (best, iterations) = cost(&system, 1e-4, 200);
    println!("{best:.3} ms, {iterations} iterations");
    assert!(best < 3.0, "{best} ms");
}
