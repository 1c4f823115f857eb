//! Contacts that come and go in event-driven runs: closed forms, and the same motion as with contacts that are listed.

use crate::{G, UP, ball, floor, rough, thrown};
use carom::multibody::pair::{Block, Plane, Shape, Sphere, SphereBlock, SpherePlane, SphereSphere};
use carom::multibody::{Body, Contact, Multibody, MultibodyModel, Solid};
use carom::scheme::{Bound, EventDriven, Stepper};
use carom::{Event, EventKind, State};

/// Runs to the end in steps of h; returns the last state, all events, and how often the list of contacts was another.
fn drive(model: MultibodyModel, end: f64, h: f64) -> (State, Vec<Event>, u64) {
    let bound = Bound::new(EventDriven::default(), Box::new(model), carom_solve::solver::default()).unwrap();
    let (mut stepper, mut events): (Box<dyn Stepper>, Vec<Event>) = (Box::new(bound), Vec::new());
    let mut goal = h;
    while goal < end + 0.5 * h {
        while stepper.from().t < goal * (1.0 - 1e-14) {
            let t = stepper.from().t;
            stepper.attempt(goal - t).unwrap_or_else(|error| panic!("at {t}: {error}"));
            events.extend(stepper.events().iter().cloned());
            stepper.accept();
        }
        goal += h;
    }
    let last = stepper.from().clone();
    (last, events, stepper.contact_version())
}

fn times(events: &[Event], kind: EventKind) -> Vec<f64> {
    events.iter().filter(|event| event.kind == kind).map(|event| event.t).collect()
}

/// A ball falls on a box with restitution 0.5: impacts at t₀ (1, 2, 2.5, 2.75, ...), rest at 3 t₀.
#[test]
fn a_ball_bounces_on_a_box_that_it_does_not_know_of_at_first() {
    let table = Shape::Block(Block { centre: [0.0, 0.0, -0.5], ..Block::new([1.0, 1.0, 0.5]) });
    let (height, first) = (0.8, (2.0f64 * 0.7 / G).sqrt());
    let model = Multibody::spatial()
        .gravity([0.0, 0.0, -G])
        .material("rubber", rough(0.0, 0.5))
        .body(Body::new("ball", 1.0, 0.004).at([0.1, 0.2, height]))
        .solid(Solid::new("ground", "table", table).material("rubber"))
        .solid(Solid::new("ball", "ball", ball(0.1)).material("rubber"));
    let (last, events, lists) = drive(model.build().unwrap(), 1.5, 0.01);
    assert!(lists >= 2, "the list has not changed");
    let found = times(&events, EventKind::Impact);
    for (k, t) in found.iter().take(12).enumerate() {
        let expected = first * (3.0 - 2.0 * 0.5f64.powi(k as i32));
        assert!((t - expected).abs() < 1e-9, "impact {k} at {t}, not {expected}");
    }
    assert!(found.len() > 12, "{found:?}");
    let rest = times(&events, EventKind::Accumulation);
    assert!(rest.len() == 1 && (rest[0] - 3.0 * first).abs() < 1e-7, "{rest:?}");
    assert!((last.q[2] - 0.1).abs() < 1e-9 && last.v.iter().all(|v| v.abs() < 1e-9), "{last:?}");
}

/// Three balls in a row meet without losses: the velocity goes from one to the next. Gaps of 0.3 m are far beyond what
/// is listed in a step.
#[test]
fn balls_that_meet_hand_on_their_velocity() {
    let mut model = Multibody::spatial().material("steel", rough(0.0, 1.0));
    for (i, (x, v)) in [(0.0, 2.0), (0.5, 0.0), (1.0, 0.0)].into_iter().enumerate() {
        let name = format!("b{i}");
        model = model
            .body(Body::new(&name, 1.0, 0.004).at([x, 0.0, 0.0]).velocity([v, 0.0, 0.0]))
            .solid(Solid::new(&name, "ball", ball(0.1)).material("steel"));
    }
    let (last, events, _) = drive(model.build().unwrap(), 0.5, 0.01);
    let found = times(&events, EventKind::Impact);
    assert!(found.len() == 2 && (found[0] - 0.15).abs() < 1e-12 && (found[1] - 0.3).abs() < 1e-12, "{found:?}");
    for (i, (x, v)) in [(0.3, 0.0), (0.8, 0.0), (1.4, 2.0)].into_iter().enumerate() {
        let (at, speed) = (last.q[7 * i], last.v[6 * i]);
        assert!((at - x).abs() < 1e-12 && (speed - v).abs() < 1e-12, "{i}: {at} {speed}");
    }
}

/// Balls over a box and a floor, thrown at each other, with friction: the same motion with contacts that are listed.
#[test]
fn events_are_those_of_listed_contacts() {
    let surface = rough(0.3, 0.5);
    let sphere = Sphere { centre: [0.0; 3], radius: 0.1 };
    let (plane, step) =
        (Plane { point: [0.0; 3], normal: UP }, Block { centre: [0.3, 0.0, 0.05], ..Block::new([0.2, 0.3, 0.05]) });
    let (mut listed, mut automatic) = (thrown(), thrown().material("rubber", surface));
    automatic = automatic
        .solid(Solid::new("ground", "floor", floor()).material("rubber"))
        .solid(Solid::new("ground", "step", Shape::Block(step)).material("rubber"));
    for j in 0..4 {
        let name = format!("b{j}");
        automatic = automatic.solid(Solid::new(&name, "ball", ball(0.1)).material("rubber"));
        let on = |contact: Contact| Contact { surface, ..contact };
        listed = listed
            .contact(on(Contact::new(&format!("f{j}"), "ground", &name, SpherePlane { plane, sphere })))
            .contact(on(Contact::new(&format!("s{j}"), "ground", &name, SphereBlock { block: step, sphere })));
        for i in 0..j {
            let pair = SphereSphere { first: sphere, second: sphere };
            listed = listed.contact(on(Contact::new(&format!("c{i}{j}"), &format!("b{i}"), &name, pair)));
        }
    }
    let (expected, all, _) = drive(listed.build().unwrap(), 0.8, 0.01);
    let (found, some, lists) = drive(automatic.build().unwrap(), 0.8, 0.01);
    assert!(lists > 10, "{lists} lists");
    let (impacts, others) = (times(&all, EventKind::Impact), times(&some, EventKind::Impact));
    assert!(impacts.len() > 10, "{impacts:?}");
    for (a, b) in impacts.iter().zip(&others).take(10) {
        assert!((a - b).abs() < 1e-7, "{a} {b}: {impacts:?} {others:?}");
    }
    for (x, y) in found.q.iter().zip(&expected.q).chain(found.v.iter().zip(&expected.v)) {
        assert!((x - y).abs() < 1e-5, "{x} {y}");
    }
}
