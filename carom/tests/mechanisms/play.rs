//! Play of joints: which rows stay, which contacts come, what is refused.

use super::*;
use carom::multibody::{Body, Clearance, Joint, Load, MultibodyError, Signal, Spring};

fn pair(is_planar: bool, joint: Joint) -> Multibody {
    let system = if is_planar { Multibody::planar() } else { Multibody::spatial() };
    let joint = joint.at([0.0, 0.0]);
    system.body(Body::new("arm", 1.0, 0.1).at([0.3, 0.0])).joint(joint)
}

/// Numbers of rows and of contacts, and the gaps at the start.
fn laws(system: &Multibody) -> (usize, Vec<f64>) {
    let model = system.build().unwrap();
    let mut model: Box<dyn Mechanical> = Box::new(model);
    let mut coupling = Coupling::default();
    let q = model.initial().q;
    model.couple(0.0, &q, &mut coupling).unwrap();
    let rows = coupling.pairs.iter().filter(|pair| pair.law.is_equality()).count();
    let gaps = coupling.pairs.iter().filter(|pair| !pair.law.is_equality()).map(|pair| pair.gap).collect();
    (rows, gaps)
}

#[test]
fn rows_and_contacts_are_those_of_the_table() {
    let play = Clearance::new(1e-3, 0.01).friction(0.1);
    let z = [0.0, 0.0, 1.0];
    let x = [1.0, 0.0, 0.0];
    let revolute = || Joint::revolute("joint", "ground", "arm").axis(z);
    let prismatic = || Joint::prismatic("joint", "ground", "arm").axis(x);
    let cylindrical = || Joint::cylindrical("joint", "ground", "arm").axis(x);
    let spherical = || Joint::spherical("joint", "ground", "arm");
    let cases: [(&str, bool, Joint, usize, Vec<f64>); 12] = [
        ("ideal revolute in the plane", true, revolute(), 2, vec![]),
        ("revolute in the plane", true, revolute().clearance(play), 0, vec![1e-3]),
        ("ideal revolute", false, revolute(), 5, vec![]),
        ("short revolute", false, revolute().clearance(play), 3, vec![1e-3]),
        ("long revolute", false, revolute().clearance(play.length(0.02)), 1, vec![1e-3; 2]),
        ("long revolute with axial play", false, revolute().clearance(play.length(0.02).axial(2e-3)), 0, vec![1e-3; 4]),
        ("cylindrical", false, cylindrical().clearance(play.length(0.02)), 0, vec![1e-3; 2]),
        ("short cylindrical", false, cylindrical().clearance(play), 2, vec![1e-3]),
        ("prismatic in the plane", true, prismatic().clearance(play.length(0.02)), 0, vec![1e-3; 4]),
        ("round prismatic", false, prismatic().clearance(play.length(0.02)), 1, vec![1e-3; 2]),
        ("square prismatic", false, prismatic().clearance(play.length(0.02).square()), 0, vec![1e-3; 16]),
        ("spherical", false, spherical().clearance(play), 0, vec![1e-3]),
    ];
    for (name, is_planar, joint, rows, gaps) in cases {
        let (found, starts) = laws(&pair(is_planar, joint));
        assert_eq!(found, rows, "{name}");
        assert_eq!(starts.len(), gaps.len(), "{name}: {starts:?}");
        for (gap, expected) in starts.iter().zip(&gaps) {
            assert!((gap - expected).abs() < 1e-16, "{name}: {starts:?}");
        }
    }
}

#[test]
fn a_play_that_is_lost_in_rounding_is_refused() {
    let joint = |play: Clearance| pair(true, Joint::revolute("hinge", "ground", "arm").clearance(play));
    let error = joint(Clearance::new(1e-14, 0.01)).build().err().unwrap();
    assert!(error.to_string().contains("use an ideal joint"), "{error}");
    assert!(error.to_string().contains("hinge"), "{error}");
    // the limit is a part of the length of the model, whatever its unit
    assert!(joint(Clearance::new(1e-9, 0.01)).build().is_ok());
    let far = |play: f64| {
        let mut system = joint(Clearance::new(play, 0.01));
        system.length = Some(1e4);
        system.build()
    };
    assert!(far(1e-9).is_err());
    assert!(far(1e-7).is_ok());
}

#[test]
fn wrong_plays_are_refused() {
    let revolute = |play| Joint::revolute("joint", "ground", "arm").axis([0.0, 0.0, 1.0]).clearance(play);
    let good = Clearance::new(1e-3, 0.01);
    let wrong = [
        (false, revolute(Clearance::new(-1e-3, 0.01))),
        (false, revolute(Clearance::new(f64::NAN, 0.01))),
        (false, revolute(Clearance::new(0.02, 0.01))),
        (false, revolute(good.length(-1.0))),
        (true, revolute(good.axial(1e-3))),
        (false, revolute(good.restitution(2.0))),
        (false, revolute(good.friction(-1.0))),
        (false, Joint::prismatic("joint", "ground", "arm").axis([1.0, 0.0, 0.0]).clearance(good)),
        (false, Joint::fixed("joint", "ground", "arm").clearance(good)),
    ];
    for (is_planar, joint) in wrong {
        let clearance = joint.clearance;
        let error = pair(is_planar, joint).build().err();
        assert!(
            matches!(error, Some(MultibodyError::Number { .. } | MultibodyError::Misfit { .. })),
            "{clearance:?}: {error:?}"
        );
    }
}

/// A pin that is free in its hole falls until it touches, and stays there without restitution.
#[test]
fn a_loose_pin_falls_by_its_play() {
    let play = 0.01;
    let system = Multibody::planar()
        .gravity([0.0, -GRAVITY])
        .body(Body::new("pin", 1.0, 1.0))
        .joint(Joint::revolute("hole", "ground", "pin").at([0.0, 0.0]).clearance(Clearance::new(play, 0.05)));
    let log = located(&system, 0.2, 1e-2);
    let hit = log.of(EventKind::Impact, "hole.pin")[0];
    near(hit.t, (2.0 * play / GRAVITY).sqrt(), 1e-12);
    near(hit.before.v[1], -(2.0 * play * GRAVITY).sqrt(), 1e-11);
    near(hit.after.v[1], 0.0, 1e-12);
    near(log.states[log.states.len() - 1].q[1], -play, 1e-12);
}

/// A toggle press under load: its pins have 0.1 mm of play and are held by some 10 kN, so that they swing in their
/// holes many times within a step. Plain iterates fail there, mixed ones come to the motion of small steps.
#[test]
fn pins_under_load_come_through_large_steps() {
    let pin = |name: &str, a: &str, b: &str, at: [f64; 2]| {
        Joint::revolute(name, a, b).at(at).clearance(Clearance::new(1e-4, 0.01).friction(0.1))
    };
    let push = |t: &[f64], out: &mut [f64]| out[0] = -4e3 * (20.0 * t[0]).sin();
    let press = Multibody::planar()
        .gravity([0.0, -GRAVITY])
        .body(Body::new("upper", 1.0, 3.4e-3).at([0.02, -0.1]))
        .body(Body::new("lower", 1.0, 3.4e-3).at([0.02, -0.3]))
        .body(Body::new("ram", 2.0, 1e-2).at([0.0, -0.4]))
        .joint(pin("top", "ground", "upper", [0.0, 0.0]))
        .joint(pin("knee", "upper", "lower", [0.04, -0.2]))
        .joint(pin("wrist", "lower", "ram", [0.0, -0.4]))
        .joint(Joint::prismatic("guide", "ground", "ram").at([0.0, -0.4]).axis([0.0, 1.0]))
        .spring(Spring::on("workpiece", "guide", 2e7).damping(100.0))
        .load(Load::new("push", "upper", vec![Signal::Time], push));
    let after = |h: f64| {
        let trace = run(&MoreauJean::default(), &press, h, (0.04 / h).round() as usize);
        (trace.last().q[2], trace.last().q[7])
    };
    let ((angle, ram), (expected, height)) = (after(2e-4), after(1e-5));
    // first order in the step
    near(angle, expected, 5e-4);
    near(ram, height, 2e-5);
}
