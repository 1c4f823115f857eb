//! Runs end where they are asked to end, with every scheme and whatever the steps.

use carom::Simulation;
use carom::model::Lagrangian;
use carom::scheme::{AnyModel, BindError, Family, SCHEMES, SchemeError, Stepper};
use carom::simulation::{Adaptive, Controller, FixedStep};
use carom::testbed::{BouncingBall, DiodeBridge, Disc, ExactState, Play, ThirdDegree};
use serde_json::json;

fn models(family: Family) -> Vec<AnyModel> {
    match family {
        Family::Mechanical => vec![AnyModel::Mechanical(Box::new(
            BouncingBall { restitution: 0.0, ..BouncingBall::default() }.model() as Lagrangian,
        ))],
        Family::FirstOrder => vec![
            AnyModel::FirstOrder(DiodeBridge::default().system()),
            AnyModel::FirstOrder(ThirdDegree::default().system()),
            AnyModel::FirstOrder(Play.system()),
            AnyModel::FirstOrder(Disc::default().system()),
        ],
    }
}

/// Ends exactly at `start + span`; steps are `span` divided by `parts`, which need not be a whole number.
fn check(name: &str, stepper: Box<dyn Stepper>, controller: impl Fn(f64, f64) -> Box<dyn Controller>, span: f64) {
    let start = stepper.from().t;
    let end = start + span;
    let mut simulation = Simulation::new(stepper, controller(start, end), end).unwrap();
    let finished = simulation.run(&mut []);
    assert!(finished.is_ok(), "{name}: {finished:?}");
    assert_eq!(simulation.state().t, end, "{name}: {:e} before the end", end - simulation.state().t);
}

/// A hair less and a hair more than a whole number of steps, besides whole numbers and halves.
const PARTS: [f64; 8] = [7.0, 10.0, 7.5, 7.0 + 3e-10, 7.0 - 3e-10, 7.0 + 3e-14, 7.0 + 1e-12, 7.0 - 1e-12];

#[test]
fn equal_steps_end_at_the_end() {
    for row in SCHEMES {
        let mut ran = 0;
        for parts in PARTS {
            for model in models(row.family) {
                let span = if row.family == Family::FirstOrder { 1e-3 } else { 1.3 };
                let bound = (row.bind)(&json!({}), model, carom_solve::solver::default());
                match bound {
                    Ok(stepper) => {
                        let h = span / parts;
                        let fixed = |_, _| -> Box<dyn Controller> { Box::new(FixedStep { h }) };
                        check(&format!("{} in {parts} steps", row.info.name), stepper, fixed, span);
                        ran += 1;
                    }
                    Err(BindError::Scheme(SchemeError::Incapable { .. } | SchemeError::Degree { .. })) => {}
                    Err(error) => panic!("{}: {error}", row.info.name),
                }
            }
        }
        assert!(ran >= PARTS.len(), "{}", row.info.name);
    }
}

#[test]
fn adaptive_steps_end_at_the_end() {
    for row in SCHEMES {
        for (tolerance, span) in [(1e-3, 1.3), (1e-4, 4.0), (1e-5, 1.0 / 3.0)] {
            let adaptive = Adaptive { tolerance: Some(tolerance), ..Adaptive::default() };
            for model in models(row.family) {
                let span = if row.family == Family::FirstOrder { 1e-3 * span } else { span };
                let bound = (row.bind_adaptive)(&json!({}), adaptive.accuracy(), model, carom_solve::solver::default());
                match bound {
                    Ok(stepper) => {
                        let control = |start, end| -> Box<dyn Controller> {
                            Box::new(adaptive.control(1e-2 * span, (start, end)))
                        };
                        check(&format!("{} to {tolerance:e}", row.info.name), stepper, control, span);
                    }
                    Err(BindError::Scheme(
                        SchemeError::Incapable { .. } | SchemeError::EqualSteps { .. } | SchemeError::Degree { .. },
                    )) => {}
                    Err(error) => panic!("{}: {error}", row.info.name),
                }
            }
        }
    }
}

/// The smallest step of an adaptive run is the one of a scheme that controls the error itself, too.
#[test]
fn the_smallest_step_reaches_schemes_with_their_own_control() {
    // a kink in the force at 0.5 asks for short steps
    let model = || {
        let force = |_: f64, q: &[f64], _: &[f64], f: &mut [f64]| f[0] = -1e4 * (q[0] - 0.5).max(0.0);
        AnyModel::Mechanical(Box::new(Lagrangian::new(1).force(force).initial(&[0.0], &[1.0])))
    };
    let row = carom::scheme::find("event-driven").unwrap();
    let attempt = |min: Option<f64>| {
        let adaptive = Adaptive { tolerance: Some(1e-9), min, ..Adaptive::default() };
        let solver = carom_solve::solver::default();
        let stepper = (row.bind_adaptive)(&json!({}), adaptive.accuracy(), model(), solver).unwrap();
        let control = adaptive.control(0.1, (0.0, 1.0));
        Simulation::new(stepper, Box::new(control), 1.0).unwrap().run(&mut [])
    };
    assert!(attempt(None).is_ok() && attempt(Some(1e-10)).is_ok());
    let error = attempt(Some(0.05)).unwrap_err().to_string();
    assert!(error.contains("5.000e-2"), "{error}");
}
