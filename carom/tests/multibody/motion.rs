//! Free bodies, tops, a double pendulum in space and a screw: orders and invariants.

use super::{combined, distance, hem5, largest, moreau, rod, run};
use carom::multibody::{Body, Joint, Multibody, MultibodyModel};
use carom::rotation::{Retraction, dot, logarithm, product, rotate};
use carom::scheme::MoreauJean;
use carom::scheme::ReactionDirection::{End, Mid};
use carom::{Coupling, Space, State};

const FREE: ([f64; 4], [f64; 3]) = (
    [0.235788718796603, 0.471384960514086, 0.016645211168064, -0.849660423954512],
    [0.410371790471828, -1.473633262920237, -0.718425362955924],
);

fn free(retraction: Retraction) -> MultibodyModel {
    let body = Body::new("body", 1.3, [1.0, 2.0, 3.0]).spin([0.3, 1.5, -0.7]).velocity([1.0, -2.0, 0.5]);
    Multibody::spatial().retraction(retraction).body(body).build().unwrap()
}

fn angle(a: &[f64], b: &[f64]) -> f64 {
    let turn = logarithm(product([a[0], -a[1], -a[2], -a[3]], [b[0], b[1], b[2], b[3]]));
    dot(turn, turn).sqrt()
}

fn momentum(state: &State) -> [f64; 3] {
    let p = [state.q[3], state.q[4], state.q[5], state.q[6]];
    rotate(p, [state.v[3], 2.0 * state.v[4], 3.0 * state.v[5]])
}

/// Attitude errors of the midpoint rule as in an independent prototype, with both retractions; energy and momentum.
#[test]
fn a_free_body_turns_as_it_should() {
    let steps = [0.1, 0.05, 0.025, 0.0125];
    let tables = [
        (Retraction::Exponential, [1.510e-2, 3.780e-3, 9.452e-4, 2.363e-4]),
        (Retraction::Cayley, [5.810e-2, 1.459e-2, 3.652e-3, 9.131e-4]),
    ];
    for (retraction, table) in tables {
        let start = momentum(&free(retraction).initial());
        for (h, expected) in steps.into_iter().zip(table) {
            let mut model = free(retraction);
            let energy = model.energy(&model.initial()).unwrap().total();
            let scheme = || MoreauJean { newton_tolerance: 1e-16, ..moreau(Mid) };
            let end = run(free(retraction), scheme(), 10.0, h);
            let error = angle(&FREE.0, &end.q[3..]);
            assert!((error / expected - 1.0).abs() < 0.01, "{retraction:?} {h}: {error:e} instead of {expected:e}");
            let gained = model.energy(&end).unwrap().total() / energy - 1.0;
            assert!(gained.abs() < 1e-13, "{retraction:?} {h}: {gained:e}");
            let turned = largest(free(retraction), scheme(), (10.0, h), |state| {
                distance(&momentum(state), &start) / dot(start, start).sqrt()
            });
            match retraction {
                Retraction::Cayley => assert!(turned < 1e-13, "{turned:e}"),
                Retraction::Exponential => {
                    let expected = 3.0e-3 * (h / 0.1).powi(2);
                    assert!((turned / expected - 1.0).abs() < 0.05, "{h}: {turned:e}");
                }
            }
            assert!(distance(&end.q[..3], &[10.0, -20.0, 5.0]) < 1e-12);
        }
    }
}

/// The heavy symmetric top as a body with a spherical joint: steady precession about the vertical, order 2.
#[test]
fn a_top_on_a_ball_joint_precesses() {
    // about the fixed point A = 0.5, C = 0.3, m g l = 2, tilt 30 degrees, spin 20
    let (mass, gravity) = (1.0, 9.81);
    let arm = 2.0 / (mass * gravity);
    let across = 0.5 - mass * arm * arm;
    let precession = 0.341762776853f64;
    let tilt = std::f64::consts::PI / 6.0;
    let (sin, cos) = (0.5 * tilt).sin_cos();
    let axis = [0.0, -tilt.sin(), tilt.cos()];
    // Ω = W e_z in axes of the body, with the spin about the axis as it is
    let spin = [0.0, precession * tilt.sin(), 20.0];
    let attitude = [cos, sin, 0.0, 0.0];
    let world = rotate(attitude, spin);
    let centre = axis.map(|x| arm * x);
    let velocity = [
        world[1] * centre[2] - world[2] * centre[1],
        world[2] * centre[0] - world[0] * centre[2],
        world[0] * centre[1] - world[1] * centre[0],
    ];
    let top = || {
        let body =
            Body::new("top", mass, [across, across, 0.3]).at(centre).attitude(attitude).spin(spin).velocity(velocity);
        let joint = Joint::spherical("tip", "ground", "top").at([0.0, 0.0, 0.0]);
        Multibody::spatial().gravity([0.0, 0.0, -gravity]).body(body).joint(joint).build().unwrap()
    };
    let turn = precession * 2.0;
    let expected = [tilt.sin() * turn.sin(), -tilt.sin() * turn.cos(), tilt.cos()];
    let errors: Vec<f64> = [4e-3, 2e-3, 1e-3]
        .into_iter()
        .map(|h| {
            let end = run(top(), combined(Mid), 2.0, h);
            distance(&end.q[..3].iter().map(|x| x / arm).collect::<Vec<_>>(), &expected)
        })
        .collect();
    let order = (errors[0] / errors[2]).log2() / 2.0;
    assert!((order - 2.0).abs() < 0.05, "{errors:?}");
    assert!(errors[2] < 1e-3, "{errors:?}");
}

/// A top that spins upright sleeps if C² w² > 4 A m g l and falls over otherwise: small tilts z = x + i y follow
/// A z'' − i C w z' − m g l z = 0.
#[test]
fn a_sleeping_top_stays_upright_where_it_spins_fast_enough() {
    let (across, along, weight, gravity) = (0.5f64, 0.3f64, 2.0f64, 9.81);
    let (arm, tilt) = (weight / gravity, 1e-5f64);
    let limit = (4.0 * across * weight).sqrt() / along;
    assert!((limit - 20.0 / 3.0).abs() < 1e-12);
    for spin in [0.9 * limit, 0.99 * limit, 1.01 * limit, 1.1 * limit] {
        let (sine, cosine) = (0.5 * tilt).sin_cos();
        let attitude = [cosine, sine, 0.0, 0.0];
        let inertia = across - arm * arm;
        let body = Body::new("top", 1.0, [inertia, inertia, along])
            .at(rotate(attitude, [0.0, 0.0, arm]))
            .attitude(attitude)
            .spin([0.0, 0.0, spin]);
        let joint = Joint::spherical("tip", "ground", "top").at([0.0, 0.0, 0.0]);
        let top = Multibody::spatial().gravity([0.0, 0.0, -gravity]).body(body).joint(joint).build().unwrap();
        let seconds = 8.0;
        let end = run(top, combined(Mid), seconds, 1e-3);
        let found = end.q[0].hypot(end.q[1]) / arm;
        // z = e^(i n t) (cosh(k t) − i n/k sinh(k t)) tilt, z' = 0 at first: n = C w/2A, k² = m g l/A − n²
        let turn = along * spin / (2.0 * across);
        let square = weight / across - turn * turn;
        let k = square.abs().sqrt();
        let (even, odd) = if square > 0.0 {
            ((k * seconds).cosh(), (k * seconds).sinh())
        } else {
            ((k * seconds).cos(), (k * seconds).sin())
        };
        let expected = tilt * even.hypot(turn / k * odd);
        println!("{spin}: {found:e} {expected:e}");
        assert!((found / expected - 1.0).abs() < 1e-3, "{spin}: {found:e} instead of {expected:e}");
        // what a stable one may reach
        let is_stable = spin > limit;
        assert_eq!(is_stable, found < 1.01 * tilt * (turn / k).max(1.0), "{spin}: {found:e}");
    }
}

/// Two slender rods in space with crossed hinges.
fn double_pendulum() -> MultibodyModel {
    Multibody::spatial()
        .gravity([0.0, 0.0, -9.81])
        .body(rod("first", 1.0, [[0.0; 3], [1.0, 0.0, 0.0]]))
        .body(rod("second", 1.0, [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]))
        .joint(Joint::revolute("shoulder", "ground", "first").at([0.0; 3]).axis([0.0, 1.0, 0.0]))
        .joint(Joint::revolute("elbow", "first", "second").at([1.0, 0.0, 0.0]).axis([1.0, 0.0, 0.0]))
        .build()
        .unwrap()
}

const SECOND: [f64; 3] = [0.927700483577, 0.490330623655, -0.385937420156];

fn open(state: &State) -> f64 {
    let mut coupling = Coupling::default();
    double_pendulum().couple(0.0, &state.q, &mut coupling).unwrap();
    coupling.pairs.iter().fold(0.0, |most, pair| pair.gap.abs().max(most))
}

fn energy(state: &State) -> f64 {
    double_pendulum().energy(state).unwrap().total()
}

#[test]
fn a_double_pendulum_is_of_second_order_with_reactions_in_the_middle() {
    let errors: Vec<f64> = [2e-3, 1e-3]
        .into_iter()
        .map(|h| distance(&run(double_pendulum(), combined(Mid), 2.0, h).q[7..10], &SECOND))
        .collect();
    assert!((errors[1] / 2.371e-5 - 1.0).abs() < 0.1, "{errors:?}");
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 2.0).abs() < 0.1, "{order}");
    let end = run(double_pendulum(), combined(Mid), 2.0, 1e-3);
    assert!(open(&end) < 1e-12, "{:e}", open(&end));
    assert!(energy(&end).abs() < 2e-4, "{:e}", energy(&end));
}

#[test]
fn a_double_pendulum_loses_energy_with_reactions_at_the_end() {
    let ends: Vec<State> = [2e-3, 1e-3].into_iter().map(|h| run(double_pendulum(), combined(End), 2.0, h)).collect();
    let errors: Vec<f64> = ends.iter().map(|end| distance(&end.q[7..10], &SECOND)).collect();
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 1.0).abs() < 0.15, "{errors:?}");
    assert!((energy(&ends[1]) / -0.352 - 1.0).abs() < 0.02, "{}", energy(&ends[1]));
}

#[test]
fn joints_drift_at_second_order_without_projection() {
    let drift = |h: f64| largest(double_pendulum(), moreau(Mid), (2.0, h), open);
    let drifts = [drift(2e-3), drift(1e-3)];
    assert!((drifts[1] / 8.70e-6 - 1.0).abs() < 0.05, "{drifts:?}");
    assert!((drifts[0] / 3.45e-5 - 1.0).abs() < 0.05, "{drifts:?}");
}

#[test]
fn hem5_keeps_its_order_with_joints() {
    let errors: Vec<f64> = [0.02, 0.01, 0.005]
        .into_iter()
        .map(|h| distance(&run(double_pendulum(), hem5(), 2.0, h).q[7..10], &SECOND))
        .collect();
    let orders = [(errors[0] / errors[1]).log2(), (errors[1] / errors[2]).log2()];
    assert!(orders.iter().all(|order| *order > 4.7), "{errors:?} {orders:?}");
    // of an independent prototype
    for (error, expected) in errors.iter().zip([2.146e-7, 7.40e-9, 2.40e-10]) {
        assert!((error / expected - 1.0).abs() < 0.02, "{errors:?}");
    }
}

/// A nut falls along a vertical screw with g/(1 + I (2π/p)²/m), and turns as it should.
#[test]
fn a_nut_falls_along_its_screw() {
    let nut = || {
        Multibody::spatial()
            .gravity([0.0, 0.0, -9.81])
            .body(Body::new("nut", 1.0, [1e-3, 1e-3, 2e-3]))
            .joint(Joint::screw("thread", "ground", "nut", 0.02).at([0.0; 3]).axis([0.0, 0.0, 1.0]))
            .build()
            .unwrap()
    };
    let end = run(nut(), MoreauJean::default(), 2.0, 1e-3);
    let expected = 9.81 / (1.0 + 2e-3 * (std::f64::consts::TAU / 0.02).powi(2));
    assert!((expected - 0.04944754).abs() < 1e-8);
    assert!((end.v[2] + 2.0 * expected).abs() < 1e-9, "{}", end.v[2]);
    assert!((end.q[2] + 2.0 * expected).abs() < 1e-9, "{}", end.q[2]);
    // 4.9 turns are counted
    assert!((end.q[7] + 2.0 * expected * std::f64::consts::TAU / 0.02).abs() < 1e-6, "{}", end.q[7]);
}
