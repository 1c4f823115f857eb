//! Laws besides unilateral contacts, redundant and moving contacts, other solvers, and wrong use.

use super::*;
use carom::model::{AffineRow, Contact, Lagrangian, Linear, LinearContact, SparseMatrix};
use carom::scheme::Splitting;
use carom::simulation::FixedStep;
use carom::testbed::BouncingBall;
use carom::{Simulation, SimulationError};
use carom_solve::{Law, Options};

/// Every arrangement of both schemes.
fn directs() -> Vec<DirectProjection> {
    let mut all = Vec::new();
    for coupling in [Splitting::Coupled, Splitting::Decoupled] {
        for metric in [Metric::Identity, Metric::InverseMass] {
            for forecast in [gamma(0.0), Forecast::Free] {
                all.push(DirectProjection { coupling, metric, ..direct(forecast) });
            }
        }
    }
    all
}

fn combineds() -> Vec<CombinedProjection> {
    let both = |coupling| {
        [Metric::Identity, Metric::InverseMass].map(|metric| CombinedProjection { coupling, metric, ..combined() })
    };
    [Splitting::Coupled, Splitting::Decoupled].into_iter().flat_map(both).collect()
}

/// Block on three collinear points, one of them twice: four contacts, rank two.
fn redundant_block() -> Lagrangian {
    let point = |name: &str, side: f64| {
        Contact::new(name, move |_, q| q[1] - 0.75 * q[2].cos() + side * q[2].sin())
            .gradient(move |_, q, row| row.copy_from_slice(&[0.0, 1.0, 0.75 * q[2].sin() + side * q[2].cos()]))
            .restitution(0.3)
    };
    Lagrangian::new(3)
        .constant_mass(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.27])
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -9.81, 0.0]))
        .contact(point("left", 0.5))
        .contact(point("middle", 0.0))
        .contact(point("right", -0.5))
        .contact(point("right again", -0.5))
        .initial(&[0.0, 1.0, 0.2], &[0.0, 0.0, 0.2])
}

#[test]
fn redundant_contacts_are_projected() {
    for scheme in directs() {
        let trace = run(&scheme, redundant_block(), 1e-2, 300);
        assert!(trace.least_gap() > -1e-11, "{scheme:?}: {}", trace.least_gap());
        near(trace.last().q[1], 0.75, 2e-3);
    }
    for scheme in combineds() {
        let trace = run(&scheme, redundant_block(), 1e-2, 300);
        assert!(trace.least_gap() > -1e-11, "{scheme:?}: {}", trace.least_gap());
        near(trace.last().q[1], 0.75, 1e-9);
        assert!(trace.last().v.iter().all(|v| v.abs() < 1e-8));
    }
}

/// A pendulum in Cartesian coordinates that starts off its circle: the constraint holds from the first step on.
#[test]
fn bilateral_constraints_hold_in_position() {
    let pendulum = || {
        Lagrangian::new(2)
            .force(|_, _, _, f| f.copy_from_slice(&[0.0, -9.81]))
            .contact(Contact::bilateral("rod", |_, q| 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)))
            .contact(Contact::new("wall", |_, q| q[0] + 0.3).restitution(0.5))
            .initial(&[1.001, 0.0], &[0.0, 0.0])
    };
    let check = |name: String, trace: Trace| {
        for (k, gaps) in trace.gaps.iter().enumerate().skip(1) {
            assert!(gaps[0].abs() < 1e-11 && gaps[1] > -1e-11, "{name}, step {k}: {gaps:?}");
        }
        assert!(trace.impulses.iter().any(|p| p[1] > 0.0), "{name}: the wall was not hit");
    };
    for scheme in directs() {
        check(format!("{scheme:?}"), run(&scheme, pendulum(), 5e-3, 600));
    }
    for scheme in combineds() {
        check(format!("{scheme:?}"), run(&scheme, pendulum(), 5e-3, 600));
    }
}

/// A floor that oscillates gently and rises: the ball comes to rest on it and follows it.
#[test]
fn moving_obstacles_are_not_penetrated() {
    let floor = |t: f64| 0.3 * t + 0.01 * (3.0 * t).sin();
    let ball = || {
        Lagrangian::new(1)
            .force(|_, _, _, f| f[0] = -9.81)
            .contact(Contact::new("floor", move |t, q| q[0] - floor(t)).restitution(0.3))
            .initial(&[0.5], &[0.0])
    };
    let h = 2e-3;
    for scheme in directs() {
        assert!(run(&scheme, ball(), h, 1500).least_gap() > -1e-11, "{scheme:?}");
    }
    for scheme in combineds() {
        let trace = run(&scheme, ball(), h, 1500);
        assert!(trace.least_gap() > -1e-11, "{scheme:?}");
        let last = trace.last();
        near(last.q[0], floor(last.t), 1e-11);
        near(last.v[0], 0.3 + 0.03 * (3.0 * last.t).cos(), 1e-6);
    }
}

/// Boxes have no position law: without contacts the schemes are Moreau-Jean, to the last digit.
#[test]
fn boxes_act_as_in_moreau_jean() {
    let sliding = || {
        let unit = SparseMatrix::from_triplets(1, &[(0, 0, 1.0)]).unwrap();
        let none = SparseMatrix::from_triplets(1, &[]).unwrap();
        let initial = State::new(0.0, &[0.0], &[1.0]);
        Linear::new(&unit, &none, &unit, initial).unwrap().with_contact(LinearContact {
            name: "brake".into(),
            law: Law::interval(-1e-3, 1e-3),
            restitution: 0.0,
            tangential: 0.0,
            rows: vec![AffineRow { entries: vec![(0, 1.0)], constant: 0.0, rate: 0.0 }],
        })
    };
    let reference = run(&plain(Forecast::Free), sliding(), 1e-2, 500);
    assert!(reference.last().v[0].abs() < 0.3);
    for trace in [run(&direct(Forecast::Free), sliding(), 1e-2, 500), run(&combined(), sliding(), 1e-2, 500)] {
        assert_eq!(trace.states, reference.states);
    }
}

/// Friction in the velocity law, planar and spatial: a block slides to a stop after v²/(2 μ g), on the floor all the
/// time.
#[test]
fn friction_with_projection() {
    let (mu, g, speed) = (0.3, 10.0, 1.2);
    let block = |spatial: bool| {
        let floor = Contact::new("floor", |_, q| q[2]).restitution(0.2).friction(mu, |_, q| q[0]);
        let floor = if spatial { floor.friction(mu, |_, q| q[1]) } else { floor };
        Lagrangian::new(3)
            .force(move |_, _, _, f| f.copy_from_slice(&[0.0, 0.0, -g]))
            .contact(floor)
            .initial(&[0.0; 3], &[speed, 0.0, 0.0])
    };
    for spatial in [false, true] {
        for scheme in combineds() {
            let trace = run(&scheme, block(spatial), 1e-3, 600);
            near(trace.last().q[0], speed * speed / (2.0 * mu * g), speed * 1e-3);
            assert!(trace.last().v[0].abs() < 1e-12 && trace.gaps.iter().all(|g| g[0].abs() < 1e-12));
        }
    }
}

/// The registered solvers that treat these laws give the same motion.
#[test]
fn other_solvers_agree() {
    let reference = run(&combined(), redundant_block(), 1e-2, 150);
    for name in ["lemke", "nsgs", "newton-min", "enumerative"] {
        let row = carom_solve::solver::find(name).unwrap();
        let solver = (row.build)(&serde_json::json!({ "tolerance": 1e-12 })).unwrap();
        let stepper = carom::scheme::Bound::new(combined(), Box::new(redundant_block()), solver).unwrap();
        let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-2 }), 1.5).unwrap();
        match simulation.record() {
            Ok(solution) => near(solution.q(150)[1], reference.last().q[1], 1e-6),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn wrong_options_are_refused_by_name() {
    let refused = |scheme: DirectProjection| scheme.validate().unwrap_err().field;
    assert_eq!(refused(DirectProjection { theta: -0.1, ..direct(Forecast::Free) }), Some("theta"));
    assert_eq!(refused(direct(gamma(3.0))), Some("forecast"));
    assert_eq!(refused(DirectProjection { gap_tolerance: Some(0.0), ..direct(Forecast::Free) }), Some("gap-tolerance"));
    let both = DirectProjection { activation: Some(1e-13), gap_tolerance: Some(1e-12), ..direct(Forecast::Free) };
    assert_eq!(refused(both), Some("activation"));
    assert_eq!(refused(DirectProjection { activation: Some(0.0), ..direct(Forecast::Free) }), Some("activation"));
    let start = DirectProjection { reaction: ReactionDirection::Start, ..direct(Forecast::Free) };
    assert_eq!(refused(start), Some("reaction"));
    assert_eq!(
        CombinedProjection { newton_iterations: 0, ..combined() }.validate().unwrap_err().field,
        Some("newton-iterations")
    );
    assert!(DirectProjection::default().validate().is_ok() && CombinedProjection::default().validate().is_ok());
}

/// Constraints that contradict each other, a mass that loses rank, forces that are not numbers: typed errors, no panic.
#[test]
fn failures_are_typed() {
    let torn = || {
        Lagrangian::new(2)
            .contact(Contact::bilateral("here", |_, q| q[0]))
            .contact(Contact::bilateral("there", |_, q| q[0] - 1.0))
            .initial(&[0.0; 2], &[0.0; 2])
    };
    for scheme in combineds() {
        let error = attempt(&scheme, torn(), 1e-2, 10).err().unwrap();
        assert!(matches!(error, StepError::Solve { contact: Some(_), .. } | StepError::Projection { .. }), "{error}");
    }
    let fading = || {
        Lagrangian::new(1)
            .mass(|q, m| m[0] = (q[0] - 0.5).max(0.0))
            .force(|_, _, _, f| f[0] = 0.0)
            .initial(&[1.0], &[-1.0])
    };
    for scheme in directs() {
        let error = attempt(&scheme, fading(), 0.3, 10).err().unwrap();
        assert!(matches!(error, StepError::Model(_)), "{error}");
    }
    let lost = || {
        Lagrangian::new(1)
            .force(|t, _, _, f| f[0] = if t > 0.5 { f64::NAN } else { -2.0 })
            .contact(Contact::new("floor", |_, q| q[0]))
            .initial(&[0.1], &[0.0])
    };
    for scheme in combineds() {
        assert!(attempt(&scheme, lost(), 1e-2, 100).is_err());
    }
    // the driver tells step and time, and keeps nothing of the failed step
    let stepper = carom::scheme::Bound::new(combined(), Box::new(lost()), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-2 }), 1.0).unwrap();
    let error = simulation.record().unwrap_err();
    assert!(matches!(error, SimulationError::Step { index: 50, .. }), "{error}");
    assert!(simulation.state().is_finite() && (simulation.state().t - 0.5).abs() < 1e-9);
}

/// A restart forgets: the same run again gives the same bits.
#[test]
fn restarts_repeat() {
    use carom::scheme::Stepper;
    let model = Box::new(BouncingBall::default().model());
    let mut stepper = carom::scheme::Bound::new(combined(), model, carom_solve::solver::default()).unwrap();
    let initial = stepper.from().clone();
    let mut once = || {
        stepper.restart(&initial);
        for _ in 0..600 {
            stepper.attempt(8.5e-3).unwrap();
            stepper.accept();
        }
        stepper.from().clone()
    };
    assert_eq!(once(), once());
}
