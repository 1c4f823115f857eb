//! A dumb-bell of two spheres in space that falls on the floor with friction, spins and slides, and comes to rest.

use crate::{both, moreau_jean, run};
use carom::multibody::pair::{Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact, Multibody, MultibodyModel};
use carom::scheme::{EventDriven, HigherOrder};
use carom::{EventKind, State};

fn bell(restitution: f64, friction: f64) -> MultibodyModel {
    let floor = Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] };
    let contact = |name: &str, side: f64| {
        let sphere = Sphere { centre: [0.5 * side, 0.0, 0.0], radius: 0.2 };
        let pair = SpherePlane { plane: floor, sphere };
        Contact::new(name, "ground", "bell", pair).restitution(restitution).friction(friction)
    };
    let body = Body::new("bell", 1.0, [0.05, 0.3, 0.32])
        .at([0.0, 0.0, 1.0])
        .attitude([0.8, 0.36, -0.48, 0.0])
        .velocity([0.3, -0.1, 0.0])
        .spin([0.5, -0.4, 0.3]);
    let bodies = Multibody::spatial().gravity([0.0, 0.0, -9.81]).body(body);
    bodies.contact(contact("left", 1.0)).contact(contact("right", -1.0)).build().unwrap()
}

/// The slip of a sphere stops at t = 0.984 s and goes on the other way: a stop must not be taken again and again.
#[test]
fn a_slip_that_turns_around_goes_on() {
    let (end, h) = (1.45, 0.01);
    let high = run(bell(0.5, 0.3), HigherOrder::default(), end, h);
    let tight = EventDriven { atol: Some(1e-11), rtol: 1e-11, ..EventDriven::default() };
    let driven = run(bell(0.5, 0.3), tight, end, h);
    assert_eq!(high.count(EventKind::HandOver), 0);
    assert!(high.count(EventKind::SlipReversal) > 0, "the slip does not turn");
    for (a, b) in high.end.q.iter().chain(&high.end.v).zip(driven.end.q.iter().chain(&driven.end.v)) {
        assert!((a - b).abs() < 1e-6, "{:?} {:?}", high.end, driven.end);
    }
}

/// Spheres that touch the floor do not slip in the end: the dumb-bell rolls on, and that costs next to nothing.
#[test]
fn a_dumb_bell_rolls_in_the_end() {
    let steps = moreau_jean(bell(0.5, 0.3), 3.0, 1e-3);
    let mut speeds = Vec::new();
    for (name, log) in both(|| bell(0.5, 0.3), 3.0, 0.01) {
        assert_eq!(log.count(EventKind::HandOver), 0, "{name}");
        assert!(log.lowest > -1e-9, "{name}: {:e}", log.lowest);
        assert!(log.evaluations <= 10 * steps.evaluations, "{name}: {} {}", log.evaluations, steps.evaluations);
        assert!(log.events.iter().all(|event| event.t < 1.6), "{name}: {:?}", log.events.last());
        speeds.push(is_rolling(name, &log.end));
        assert!(speeds[0] > 0.2, "{speeds:?}");
    }
    assert!((speeds[0] - speeds[1]).abs() < 1e-6, "{speeds:?}");
}

/// Without restitution, and with much friction: slips in space begin, turn and stop next to the limit of sticking,
/// where friction across them is stiff.
#[test]
fn slow_slips_in_space_cost_little() {
    for (restitution, friction) in [(0.0, 0.3), (0.3, 1.0)] {
        let steps = moreau_jean(bell(restitution, friction), 2.0, 1e-3);
        let mut speeds = Vec::new();
        for (name, log) in both(|| bell(restitution, friction), 2.0, 0.01) {
            assert_eq!(log.count(EventKind::HandOver), 0, "{name}");
            assert!(log.evaluations <= 10 * steps.evaluations, "{name}: {} {}", log.evaluations, steps.evaluations);
            speeds.push(is_rolling(name, &log.end));
        }
        assert!((speeds[0] - speeds[1]).abs() < 1e-6, "{speeds:?}");
    }
}

/// v + ω × r vanishes at the lowest points, with ω along the axis of the spheres; returns |ω|.
fn is_rolling(name: &str, State { q, v, .. }: &State) -> f64 {
    assert!((q[2] - 0.2).abs() < 1e-9, "{name}: {q:?}");
    assert!((v[0].hypot(v[1]) - 0.2 * v[3].abs()).abs() < 1e-9, "{name}: {v:?}");
    assert!([v[2], v[4], v[5]].iter().all(|v| v.abs() < 1e-9), "{name}: {v:?}");
    v[3].abs()
}
