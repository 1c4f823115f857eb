//! Derivatives of motions and of steps where there are more coordinates than velocities, against differences of runs.
//! Perturbations of positions are increments, as many as there are velocities.

use carom::scheme::{Bound, EventDriven};
use carom::sensitivity::{DifferenceTangent, Sensitivity, SensitivityError, StepSensitivity};
use carom::testbed::{RigidBody, SpinningBall};
use carom::{Mechanical, SCHEMES, State, Stepper, rotation::Retraction, scheme::AnyModel};
use serde_json::json;

type Make<'a> = &'a dyn Fn() -> Box<dyn Mechanical>;

fn tight() -> EventDriven {
    EventDriven { atol: Some(1e-12), rtol: 1e-12, ..EventDriven::default() }
}

fn end(stepper: &mut dyn Stepper, from: &State, until: f64, h: f64) -> State {
    stepper.restart(from);
    while stepper.from().t < until - 1e-9 {
        let step = h.min(until - stepper.from().t);
        stepper.attempt(step).unwrap();
        stepper.accept();
    }
    stepper.from().clone()
}

/// Columns of the derivative of the map from the initial state to the end, by central differences of fourth order.
fn differences(stepper: &mut dyn Stepper, (until, h): (f64, f64), d: f64) -> Vec<Vec<f64>> {
    let (initial, size) = (stepper.from().clone(), stepper.dimension());
    let unit = |k: usize, s: f64| (0..size).map(|i| if i == k { s } else { 0.0 }).collect::<Vec<_>>();
    let mut column = |k: usize| {
        let mut far = |s: f64| {
            let mut ends = [-s, s].map(|s| {
                let mut moved = initial.clone();
                stepper.retract(&initial, &unit(k, s), &mut moved);
                end(stepper, &moved, until, h)
            });
            let mut apart = vec![0.0; size];
            let [a, b] = &mut ends;
            stepper.difference(a, b, &mut apart);
            apart.iter().map(|x| x / (2.0 * s)).collect::<Vec<f64>>()
        };
        let (near, wide) = (far(d), far(2.0 * d));
        near.iter().zip(&wide).map(|(a, b)| (4.0 * a - b) / 3.0).collect::<Vec<f64>>()
    };
    (0..size).map(&mut column).collect()
}

fn close<'a>(name: &str, found: impl Iterator<Item = &'a [f64]>, expected: &[Vec<f64>], most: f64) {
    let mut largest = 0.0f64;
    for (k, (found, expected)) in found.zip(expected).enumerate() {
        for (i, (a, b)) in found.iter().zip(expected).enumerate() {
            largest = largest.max((a - b).abs());
            assert!((a - b).abs() < most * (1.0 + b.abs()), "{name}: entry {i} of column {k}: {a} instead of {b}");
        }
    }
    println!("{name}: {largest:e}");
}

/// Free bodies, tops, and balls through impacts without and with friction.
#[test]
fn flows_have_derivatives() {
    let free = RigidBody::default();
    let top = RigidBody::top([1.0, 0.2, 5.0]);
    let cases: [(&str, Make<'_>, f64); 5] = [
        ("free body", &|| Box::new(free.model()), 3.0),
        ("free body, Cayley", &|| Box::new(free.with(Retraction::Cayley).model()), 3.0),
        ("top", &|| Box::new(top.model()), 1.0),
        ("ball", &|| Box::new(SpinningBall::default().model()), 2.3),
        ("rough ball", &|| Box::new(SpinningBall::rough().model()), 2.3),
    ];
    for (name, make, until) in cases {
        let tangent = Box::new(DifferenceTangent::new(make()));
        let solver = carom_solve::solver::default();
        let mut motion = Sensitivity::new(tight(), [make(), make()], tangent, solver).unwrap();
        motion.advance(until).unwrap();
        let mut stepper = Bound::new(tight(), make(), carom_solve::solver::default()).unwrap();
        let expected = differences(&mut stepper, (until, 0.1), 1e-3);
        close(name, motion.columns(), &expected, 1e-9);
        let impacts = motion.counts.impacts as i32;
        assert_eq!(impacts, if name.contains("ball") { 2 } else { 0 }, "{name}");
    }
}

/// The discrete maps of schemes.
#[test]
fn steps_have_derivatives() {
    let top = RigidBody::top([1.0, 0.2, 5.0]);
    let smooth = SpinningBall { restitution: 0.5, ..SpinningBall::default() };
    let cases: [(&str, &str, Make<'_>); 8] = [
        ("moreau-jean", "top", &|| Box::new(top.model())),
        ("moreau-jean", "top, Cayley", &|| Box::new(top.with(Retraction::Cayley).model())),
        ("moreau-jean", "ball", &|| Box::new(smooth.model())),
        ("moreau-jean", "rough ball", &|| Box::new(SpinningBall::rough().model())),
        ("schatzman-paoli", "top", &|| Box::new(top.model())),
        ("schatzman-paoli", "ball", &|| Box::new(smooth.model())),
        ("position-level", "top", &|| Box::new(top.model())),
        ("position-level", "top, Cayley", &|| Box::new(top.with(Retraction::Cayley).model())),
    ];
    // the impact at 1 s is inside a step
    let (until, h) = (57.0 * 0.021, 0.021);
    for (scheme, model, make) in cases {
        let options = json!({ "newton-tolerance": 1e-14 });
        let tangent = Box::new(DifferenceTangent::new(make()));
        let solver = carom_solve::solver::default();
        let mut run = StepSensitivity::new((scheme, &options), [make(), make()], tangent, solver).unwrap();
        run.advance(until, h).unwrap();
        let row = SCHEMES.iter().find(|row| row.info.name == scheme).unwrap();
        let mut stepper = (row.bind)(&options, AnyModel::Mechanical(make()), carom_solve::solver::default()).unwrap();
        let expected = differences(&mut *stepper, (until, h), 1e-5);
        close(&format!("{scheme} on {model}"), run.frame.states(), &expected, 1e-7);
    }
}

/// A scheme that does not know charts says so.
#[test]
fn others_refuse() {
    let make = || -> Box<dyn Mechanical> { Box::new(SpinningBall::default().model()) };
    let tangent = Box::new(DifferenceTangent::new(make()));
    let solver = carom_solve::solver::default();
    let refused = StepSensitivity::new(("corrected-paoli", &json!({})), [make(), make()], tangent, solver);
    let Err(error) = refused else { panic!("it takes the ball") };
    assert_eq!(error, SensitivityError::Unequal { positions: 7, velocities: 6 });
}
