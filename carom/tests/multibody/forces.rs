//! Springs, loads, motors, stops and friction of joints; the energy ledger.

use super::{combined, distance, moreau, run};
use carom::model::{Along, Combination, Tangent};
use carom::multibody::pair::{Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact, Joint, Load, Motor, Multibody, MultibodyModel, Signal, Spring};
use carom::scheme::ReactionDirection::Mid;
use carom::scheme::{Bound, EventDriven, MoreauJean};
use carom::simulation::{Adaptive, FixedStep, LedgerObserver, simulate_adaptive};
use carom::{LinearSolve, Mechanical, Simulation, Space, Span};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Two bodies in space with all kinds of springs and loads.
fn springy(is_planar: bool) -> MultibodyModel {
    let system = if is_planar { Multibody::planar() } else { Multibody::spatial() };
    let body = |name: &str, x: f64| {
        let body = Body::new(name, 1.2, [[0.2, 0.03, -0.01], [0.03, 0.25, 0.02], [-0.01, 0.02, 0.3]]).at([x, 0.3]);
        match is_planar {
            true => body.angle(0.4).velocity([0.3, -0.2]).turning(0.5 + x),
            false => body.attitude([0.9, 0.1, x, 0.3]).velocity([0.3, -0.2, x]).spin([0.5, -0.4, 0.3 + x]),
        }
    };
    let axis = if is_planar { [0.0, 0.0, 1.0] } else { [0.6, 0.0, 0.8] };
    let hinge = Joint::revolute("hinge", "ground", "a").at([0.1, 0.2]).axis(axis);
    let load = |x: &[f64], out: &mut [f64]| {
        out[0] = x[0].sin() * x[2] + x[3];
        out[1] = x[1] * x[1] - 0.3 * x[4];
        out[5] = 0.2 * x[5] * x[1];
    };
    let inputs = vec![
        Signal::Time,
        Signal::Coordinate("hinge".into()),
        Signal::Rate("hinge".into()),
        Signal::Position("b".into(), 0),
        Signal::Velocity("b".into(), 1),
        Signal::Spin("b".into(), 2),
    ];
    system
        .gravity([0.0, -9.81])
        .body(body("a", 0.2))
        .body(body("b", 1.1))
        .joint(hinge)
        .joint(Joint::revolute("elbow", "a", "b").at([0.6, 0.3]).axis(axis))
        .spring(
            Spring::between("strut", ("a", [0.4, 0.1]), ("b", [0.9, 0.5]), 50.0).damping(0.7).preload(3.0).rest(0.4),
        )
        .spring(Spring::between("tie", ("ground", [0.0, 2.0]), ("b", [1.0, 0.4]), 20.0).damping(0.2))
        .spring(Spring::on("coil", "hinge", 4.0).damping(0.1).preload(0.5).rest(0.2))
        .spring(Spring::torsion("bush", "a", "b", axis, 3.0).damping(0.3))
        .load(Load::new("gust", "b", inputs.clone(), load).at([0.1, -0.2]))
        .load(Load::new("jet", "a", inputs.clone(), load).at([0.3, 0.2]).in_body())
        .motor(Motor::effort("drive", "hinge", inputs, |x: &[f64], out: &mut [f64]| out[0] = x[0] * x[2]))
        .assemble(1e-12)
        .build()
        .unwrap()
}

fn forces_along(model: &mut MultibodyModel, (dt, dq, dv): (f64, &[f64], &[f64])) -> Vec<f64> {
    let at = model.initial();
    let n = at.v.len();
    let (mut moved, mut force, mut slope) = (at.q.clone(), vec![0.0; n], vec![0.0; n]);
    let h = 1e-4;
    for (offset, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
        let way: Vec<f64> = dq.iter().map(|d| offset * h * d).collect();
        let v: Vec<f64> = at.v.iter().zip(dv).map(|(v, d)| v + offset * h * d).collect();
        model.retract(&at.q, &way, &mut moved);
        model.force(0.4 + offset * h * dt, &moved, &v, &mut force).unwrap();
        slope.iter_mut().zip(&force).for_each(|(s, f)| *s += weight * f / (12.0 * h));
    }
    slope
}

/// Exact derivatives of all forces, against differences.
#[test]
fn tangents_are_derivatives_of_forces() {
    let mut random = Pcg64::seed_from_u64(5);
    for is_planar in [true, false] {
        let mut model = springy(is_planar);
        let at = model.initial();
        let n = at.v.len();
        let mut x = || random.random_range(-1.0..1.0);
        let (dq, dv): (Vec<f64>, Vec<f64>) = ((0..n).map(|_| x()).collect(), (0..n).map(|_| x()).collect());
        let mut found = vec![0.0; n];
        let along = Along { t: 0.7, q: &dq, v: &dv, p: &[] };
        model.tangent().force((0.4, &at.q, &at.v), along, &mut found).unwrap();
        let expected = forces_along(&mut model, (0.7, &dq, &dv));
        assert!(distance(&found, &expected) < 1e-7, "{found:?} {expected:?}");
    }
}

/// The iteration matrix has the exact stiffness and damping of springs; loads are left out.
#[test]
fn iteration_matrices_know_springs() {
    for is_planar in [true, false] {
        let axis = [0.0, 0.0, 1.0];
        let system = || if is_planar { Multibody::planar() } else { Multibody::spatial() };
        let body = |name: &str, x: f64| {
            let body = Body::new(name, 1.2, [0.2, 0.25, 0.3]).at([x, 0.3]);
            if is_planar { body.turning(0.4) } else { body.attitude([0.9, 0.1, x, 0.3]).spin([0.5, -0.4, 0.3 + x]) }
        };
        let mut model = system()
            .body(body("a", 0.2))
            .body(body("b", 1.1))
            .body(body("c", 3.0))
            .spring(Spring::between("strut", ("a", [0.4, 0.1]), ("b", [0.9, 0.5]), 50.0).damping(0.7).preload(3.0))
            .spring(Spring::torsion("bush", "ground", "b", axis, 3.0).damping(0.3))
            .build()
            .unwrap();
        let (at, c) = (model.initial(), Combination { mass: 0.9, damping: 0.2, stiffness: 0.05 });
        let n = at.v.len();
        model.factor(&at, c).unwrap();
        assert_eq!(model.block(0), 0..2 * n / 3);
        let x: Vec<f64> = (0..n).map(|i| (i as f64 + 1.0).sin()).collect();
        let zero = vec![0.0; n];
        let (by_position, by_velocity) =
            (forces_along(&mut model, (0.0, &x, &zero)), forces_along(&mut model, (0.0, &zero, &x)));
        let mut product = vec![0.0; n];
        model.mass_mul(&at.q, &x, &mut product).unwrap();
        for i in 0..n {
            product[i] = c.mass * product[i] - c.damping * by_velocity[i] - c.stiffness * by_position[i];
        }
        model.solve(&mut product);
        assert!(distance(&product, &x) < 1e-8, "{product:?}");
    }
}

/// What is applied and what dampers take is what the energy changes by, at second order.
#[test]
fn the_energy_ledger_closes() {
    for is_planar in [true, false] {
        let missed: Vec<f64> = [2e-3, 1e-3]
            .into_iter()
            .map(|h| {
                let scheme = combined(Mid);
                let bound = Bound::new(scheme, Box::new(springy(is_planar)), carom_solve::solver::default()).unwrap();
                let mut run = Simulation::new(Box::new(bound), Box::new(FixedStep { h }), 1.0).unwrap();
                let mut ledger = LedgerObserver::default();
                run.run(&mut [&mut ledger]).unwrap();
                let ledger = ledger.ledger().unwrap();
                assert!(ledger.applied.abs() > 0.1);
                ledger.residue().abs()
            })
            .collect();
        assert!(missed[1] < 1e-4 && missed[1] < 0.3 * missed[0], "{missed:?}");
    }
}

/// A crank at a prescribed speed, or angle, and the work of its motor.
#[test]
fn motors_prescribe() {
    let crank = |motor: Motor| {
        Multibody::spatial()
            .gravity([0.0, -9.81, 0.0])
            .body(Body::new("crank", 2.0, [0.1, 0.2, 0.3]).at([0.5, 0.0, 0.0]))
            .joint(Joint::revolute("pin", "ground", "crank").at([0.0; 3]).axis([0.0, 0.0, 1.0]))
            .motor(motor)
            .assemble(1e-12)
            .build()
            .unwrap()
    };
    let angle = |t: f64| 0.8 * (3.0 * t).sin();
    let rate = |t: f64| 2.4 * (3.0 * t).cos();
    for motor in [
        Motor::position("drive", "pin", move |x: &[f64], out: &mut [f64]| out[0] = angle(x[0])),
        Motor::velocity("drive", "pin", move |x: &[f64], out: &mut [f64]| out[0] = rate(x[0])),
    ] {
        let end = run(crank(motor), combined(Mid), 1.0, 1e-2);
        let expected = angle(1.0);
        assert!(distance(&end.q[..2], &[0.5 * expected.cos(), 0.5 * expected.sin()]) < 1e-11, "{:?}", end.q);
        assert!((end.v[5] - rate(1.0)).abs() < 1e-9, "{}", end.v[5]);
    }
}

/// A rod falls on the stop of its hinge: Newton's law at the time that the closed form tells.
#[test]
fn a_pendulum_hits_its_stop() {
    // weightless start at rest, torque 1 on the inertia 1/3 + stop at 0.6: s = 1.5 t², hits at t = √0.4
    let model = || {
        Multibody::planar()
            .body(Body::new("rod", 1.0, 1.0 / 12.0).at([0.5, 0.0]))
            .joint(Joint::revolute("hinge", "ground", "rod").at([0.0, 0.0]).stops(-1.0, 0.6, 0.5))
            .motor(Motor::effort("push", "hinge", vec![], |_: &[f64], out: &mut [f64]| out[0] = 1.0))
            .build()
            .unwrap()
    };
    let bound = Bound::new(EventDriven::default(), Box::new(model()), carom_solve::solver::default()).unwrap();
    let mut run = Simulation::new(Box::new(bound), Box::new(FixedStep { h: 0.01 }), 1.0).unwrap();
    run.run(&mut []).unwrap();
    // after the impact: from −0.5 · 3 t₁ at 0.6 with the acceleration 3
    let first = 0.4f64.sqrt();
    let left = 1.0 - first;
    let expected = 0.6 - 1.5 * first * left + 1.5 * left * left;
    assert!((run.state().q[2] - expected).abs() < 1e-8, "{} {expected}", run.state().q[2]);
    let end = super::run(model(), MoreauJean::default(), 1.0, 1e-4);
    assert!((end.q[2] - expected).abs() < 1e-3, "{} {expected}", end.q[2]);
}

/// Friction of constant size in a hinge: the rod stops after ½ J ω²/T, and stays.
#[test]
fn friction_of_a_hinge_stops_it() {
    let model = || {
        Multibody::planar()
            .body(Body::new("wheel", 1.0, 0.5).turning(4.0))
            .joint(Joint::revolute("hinge", "ground", "wheel").at([0.0, 0.0]).friction(2.0))
            .build()
            .unwrap()
    };
    let end = run(model(), moreau(Mid), 1.5, 1e-3);
    assert!((end.q[2] - 2.0).abs() < 1e-8, "{}", end.q[2]);
    assert!(end.v[2].abs() < 1e-12);
    // full and half steps of adaptive ones have impulses of their own lengths
    let adaptive = Adaptive { tolerance: Some(1e-5), ..Adaptive::default() };
    let solution = simulate_adaptive(model(), moreau(Mid), &adaptive, Span { end: 1.5, step: 1e-2 }).unwrap();
    let last = solution.q(solution.len() - 1)[2];
    assert!((last - 2.0).abs() < 1e-3, "{last}");
}

/// A gear of two wheels: their inertias add with the square of the ratio. A rack falls and turns its pinion.
#[test]
fn gears_and_racks_add_inertias() {
    let wheels = Multibody::planar()
        .body(Body::new("small", 1.0, 0.2).at([0.0, 0.0]))
        .body(Body::new("large", 1.0, 0.9).at([3.0, 0.0]))
        .joint(Joint::revolute("p", "ground", "small").at([0.0, 0.0]))
        .joint(Joint::revolute("q", "ground", "large").at([3.0, 0.0]))
        .joint(Joint::gear("mesh", "p", "q", -0.5))
        .motor(Motor::effort("drive", "p", vec![], |_: &[f64], out: &mut [f64]| out[0] = 1.0))
        .build()
        .unwrap();
    let end = run(wheels, moreau(Mid), 1.0, 1e-2);
    let expected = 1.0 / (0.2 + 0.25 * 0.9);
    assert!((end.v[2] - expected).abs() < 1e-10 && (end.v[5] + 0.5 * expected).abs() < 1e-10, "{:?}", end.v);
    let rack = Multibody::spatial()
        .gravity([0.0, 0.0, -9.81])
        .body(Body::new("pinion", 1.0, [0.1, 0.2, 0.1]))
        .body(Body::new("rack", 2.0, [0.1, 0.2, 0.1]).at([0.5, 0.0, 0.0]))
        .joint(Joint::revolute("pin", "ground", "pinion").at([0.0; 3]).axis([0.0, 1.0, 0.0]))
        .joint(Joint::prismatic("slide", "ground", "rack").at([0.5, 0.0, 0.0]).axis([0.0, 0.0, 1.0]))
        .joint(Joint::rack("mesh", "pin", "slide", -0.5))
        .build()
        .unwrap();
    let end = run(rack, moreau(Mid), 1.0, 1e-2);
    let expected = 9.81 * 2.0 / (2.0 + 0.2 / 0.25);
    assert!((end.v[8] + expected).abs() < 1e-9 && (end.v[4] - 2.0 * expected).abs() < 1e-9, "{:?}", end.v);
}

/// A sphere slips, then rolls at 5/7 of its speed; rolling friction stops it at the rate c g/(1 + 2/5).
#[test]
fn a_sphere_slips_then_rolls() {
    let model = |rolling: f64, spin: f64, speed: f64| {
        let plane = SpherePlane {
            plane: Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] },
            sphere: Sphere { centre: [0.0; 3], radius: 0.1 },
        };
        Multibody::spatial()
            .gravity([0.0, 0.0, -9.81])
            .body(
                Body::new("ball", 1.0, 0.4 * 0.01)
                    .at([0.0, 0.0, 0.1])
                    .velocity([speed, 0.0, 0.0])
                    .spin([0.0, spin, 0.0]),
            )
            .contact(Contact::new("floor", "ground", "ball", plane).friction(0.2).rolling(rolling))
            .build()
            .unwrap()
    };
    let end = run(model(0.0, 0.0, 3.0), moreau(Mid), 0.5, 2e-3);
    assert!((end.v[0] - 15.0 / 7.0).abs() < 1e-12, "{}", end.v[0]);
    let at = 3.0 * 0.4 / (1.4 * 0.2 * 9.81);
    let expected = 1.123385 + 15.0 / 7.0 * (0.5 - at);
    assert!((end.q[0] - expected).abs() < 2e-6, "{} {expected}", end.q[0]);
    let end = run(model(2e-3, 20.0, 2.0), moreau(Mid), 1.0, 1e-3);
    assert!((end.v[0] - (2.0 - 0.140142857143)).abs() < 1e-9, "{}", end.v[0]);
}
