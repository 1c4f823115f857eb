//! Orders in attitudes: rotations do not commute, and methods of high order sum rates of increments (`model::Chart`).
//!
//! Tables of errors are those of an independent prototype with the same methods; ends of motions are known to 1e-15 by
//! two retractions in extended precision, and between them from classical Runge-Kutta steps on quaternion components.

use carom::rotation::{Quaternion, Retraction, Vector, cross, dot, logarithm, product, rotate};
use carom::scheme::event_driven::{Control, Dense, Flow, Propagate};
use carom::scheme::higher_order::RungeKutta;
use carom::scheme::{Bound, EventDriven, HigherOrder, MoreauJean, Scheme};
use carom::simulation::{FixedStep, Observer, StepView};
use carom::testbed::RigidBody;
use carom::{Mechanical, ModelError, Simulation, State, Stepper};
use std::ops::ControlFlow;

const EXP: Retraction = Retraction::Exponential;
const CAYLEY: Retraction = Retraction::Cayley;

/// The free body at t = 10.
const BODY: ([f64; 4], [f64; 3]) = (
    [0.235788718796603, 0.471384960514086, 0.016645211168064, -0.849660423954512],
    [0.410371790471828, -1.473633262920237, -0.718425362955924],
);

/// The top with Ω = (1, 0, 5) at t = 2.
const TOP: ([f64; 4], [f64; 3]) = (
    [0.971320463146999, -0.232377746583503, -0.029915754253082, 0.040523923947993],
    [0.866797480502614, 0.234894166436607, 5.0],
);

fn top() -> RigidBody {
    RigidBody::top([1.0, 0.0, 5.0])
}

fn stepper<S: Scheme<Model = dyn Mechanical> + 'static>(body: &RigidBody, scheme: S) -> Box<dyn Stepper> {
    let bound = Bound::new(scheme, Box::new(body.model()), carom_solve::solver::default());
    Box::new(bound.unwrap_or_else(|error| panic!("{error}")))
}

fn simulation<S: Scheme<Model = dyn Mechanical> + 'static>(
    body: &RigidBody,
    scheme: S,
    end: f64,
    h: f64,
) -> Simulation {
    Simulation::new(stepper(body, scheme), Box::new(FixedStep { h }), end).unwrap()
}

/// The angle between two attitudes.
fn angle(a: &[f64], b: &[f64]) -> f64 {
    let turn = logarithm(product([a[0], -a[1], -a[2], -a[3]], [b[0], b[1], b[2], b[3]]));
    dot(turn, turn).sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Errors in attitude and angular velocity at the end, for each step.
fn errors<S: Scheme<Model = dyn Mechanical> + Clone + 'static>(
    (body, end, exact): (RigidBody, f64, ([f64; 4], [f64; 3])),
    scheme: &S,
    steps: &[f64],
) -> Vec<[f64; 2]> {
    let run = |h: &f64| {
        let mut run = simulation(&body, scheme.clone(), end, *h);
        run.run(&mut []).unwrap();
        [angle(&exact.0, &run.state().q), distance(&exact.1, &run.state().v)]
    };
    steps.iter().map(run).collect()
}

/// The mean order from the first to the last error, with steps halved in between.
fn order(errors: &[f64]) -> f64 {
    (errors[0] / errors[errors.len() - 1]).log2() / (errors.len() - 1) as f64
}

fn check_table(found: &[[f64; 2]], table: &[f64], part: f64) {
    for (found, expected) in found.iter().zip(table) {
        assert!((found[0] / expected - 1.0).abs() < part, "{found:?} instead of {expected:e}");
    }
}

fn flow(flow: Flow) -> EventDriven {
    EventDriven { flow, control: Control::Fixed, ..EventDriven::default() }
}

fn free(retraction: Retraction) -> (RigidBody, f64, ([f64; 4], [f64; 3])) {
    (RigidBody::default().with(retraction), 10.0, BODY)
}

fn heavy(retraction: Retraction) -> (RigidBody, f64, ([f64; 4], [f64; 3])) {
    (top().with(retraction), 2.0, TOP)
}

#[test]
fn fehlberg_has_order_five() {
    let (scheme, steps) = (flow(Flow::Rkf45), [0.2, 0.1, 0.05, 0.025]);
    let found = errors(free(EXP), &scheme, &steps);
    check_table(&found, &[2.845e-5, 9.748e-7, 3.140e-8, 9.93e-10], 0.02);
    let found = errors(free(CAYLEY), &scheme, &steps);
    check_table(&[found[0], found[3]], &[2.257e-5, 9.71e-10], 0.02);
    let (steps, table) = ([0.1, 0.05, 0.025, 0.0125], [1.074e-4, 3.969e-6, 1.318e-7, 4.22e-9]);
    check_table(&errors(heavy(EXP), &scheme, &steps), &table, 0.02);
    let found = errors(heavy(CAYLEY), &scheme, &steps);
    check_table(&[found[0], found[3]], &[1.145e-4, 4.80e-9], 0.02);
    let fourth = EventDriven { propagate: Propagate::Y4, ..scheme };
    for problem in [free(EXP), free(CAYLEY), heavy(EXP), heavy(CAYLEY)] {
        let attitudes: Vec<f64> = errors(problem, &fourth, &[0.05, 0.025, 0.0125]).iter().map(|e| e[0]).collect();
        assert!(order(&attitudes) > 3.8, "{attitudes:?}");
    }
}

#[test]
fn dop853_has_order_eight() {
    let scheme = flow(Flow::Dop853);
    let steps = [0.5, 0.25, 0.125];
    check_table(&errors(free(EXP), &scheme, &steps), &[6.089e-7, 1.840e-9, 5.42e-12], 0.05);
    check_table(&errors(free(CAYLEY), &scheme, &steps), &[5.649e-7, 2.07e-9, 6.8e-12], 0.05);
    let steps = [0.2, 0.1, 0.05];
    check_table(&errors(heavy(EXP), &scheme, &steps), &[7.307e-7, 2.546e-9, 9.03e-12], 0.05);
    check_table(&errors(heavy(CAYLEY), &scheme, &steps), &[1.120e-6, 4.13e-9, 1.3e-11], 0.05);
}

/// A fast heavy top: the centre of a body of 15 kg, 1 m from the fixed point, after 2 s.
#[test]
fn a_fast_top_has_the_tabled_errors() {
    let exact = [-0.15041682274564, -0.72416559163689, -0.67302226956045];
    // the axis of symmetry is y of the space at the start: e₃ is turned about x from z to y
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let attitude = [half, -half, 0.0, 0.0];
    // Ω = (0, 150, −4.61538) in axes that are those of the space at the start
    let spin = rotate([half, half, 0.0, 0.0], [0.0, 150.0, -4.61538]);
    let across = 0.234375 + 15.0;
    let body =
        RigidBody { inertia: [across, across, 0.46875], weight: 15.0 * 9.81, attitude, spin, ..RigidBody::default() };
    for (method, steps, table) in [
        (Flow::Rkf45, [4e-3, 2e-3, 1e-3], [3.71e-2, 1.19e-3, 3.73e-5]),
        (Flow::Dop853, [16e-3, 8e-3, 4e-3], [2.8e-2, 3.9e-5, 3.8e-8]),
    ] {
        let found = steps.map(|h| {
            let mut run = simulation(&body, flow(method), 2.0, h);
            run.run(&mut []).unwrap();
            let q = &run.state().q;
            distance(&rotate([q[0], q[1], q[2], q[3]], [0.0, 0.0, 1.0]), &exact)
        });
        println!("{method:?}: {found:?}");
        for (found, expected) in found.iter().zip(table) {
            assert!((found / expected - 1.0).abs() < 0.05, "{method:?}: {found:e} instead of {expected:e}");
        }
    }
}

#[test]
fn hem5_has_order_five() {
    for (problem, steps) in [(free(EXP), [0.1, 0.05, 0.025]), (free(CAYLEY), [0.1, 0.05, 0.025])]
        .into_iter()
        .chain([(heavy(EXP), [0.05, 0.025, 0.0125]), (heavy(CAYLEY), [0.05, 0.025, 0.0125])])
    {
        let attitudes: Vec<f64> = errors(problem, &flow(Flow::Hem5), &steps).iter().map(|e| e[0]).collect();
        let order = order(&attitudes);
        println!("{order:.2} {attitudes:?}");
        assert!(order > 4.7, "{order} {attitudes:?}");
    }
}

/// Implicit and half-explicit tableaus, in attitudes and velocities.
#[test]
fn higher_order_methods_have_the_order_of_their_tableaus() {
    for method in RungeKutta::ALL {
        let p = f64::from(method.order());
        let scheme = HigherOrder { method, ..HigherOrder::default() };
        for (problem, h) in [(free(EXP), 0.1), (free(CAYLEY), 0.1), (heavy(EXP), 0.025), (heavy(CAYLEY), 0.025)] {
            let found = errors(problem, &scheme, &[h, h / 2.0, h / 4.0]);
            let largest: Vec<f64> = found.iter().map(|e| e[0].max(e[1])).collect();
            let attitudes: Vec<f64> = found.iter().map(|e| e[0]).collect();
            let orders = [order(&largest), order(&attitudes)];
            println!("{method:?}: {orders:.2?} {found:?}");
            assert!(orders.iter().all(|order| *order > p - 0.2), "{method:?}: {orders:?} {found:?}");
        }
    }
}

/// The motion after the time t, from classical Runge-Kutta steps on Ω and on the components of the quaternion.
fn reference(body: &RigidBody, t: f64) -> (Quaternion, Vector) {
    type Point = [f64; 7];
    let momentum = |w: Vector| -> Vector { std::array::from_fn(|i| body.inertia[i] * w[i]) };
    let rate = |x: &Point| -> Point {
        let (p, w) = ([x[0], x[1], x[2], x[3]], [x[4], x[5], x[6]]);
        let turn = product(p, [0.0, w[0], w[1], w[2]]);
        let torque = cross(momentum(w), w);
        std::array::from_fn(|i| if i < 4 { 0.5 * turn[i] } else { torque[i - 4] / body.inertia[i - 4] })
    };
    let along = |x: &Point, d: f64, k: &Point| -> Point { std::array::from_fn(|i| x[i] + d * k[i]) };
    let ([a, b, c, d], [e, f, g]) = (body.attitude, body.spin);
    let mut x = [a, b, c, d, e, f, g];
    let h = t / 1000.0;
    for _ in 0..1000 {
        let k1 = rate(&x);
        let k2 = rate(&along(&x, 0.5 * h, &k1));
        let k3 = rate(&along(&x, 0.5 * h, &k2));
        let k4 = rate(&along(&x, h, &k3));
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    ([x[0], x[1], x[2], x[3]], [x[4], x[5], x[6]])
}

/// Errors in attitude and velocity in the middle of one step from t = 0.
fn inside<S: Scheme<Model = dyn Mechanical> + 'static>(body: &RigidBody, scheme: S, h: f64) -> [f64; 2] {
    let mut stepper = stepper(body, scheme);
    stepper.attempt(h).unwrap();
    let mut middle = stepper.from().clone();
    stepper.interpolate(0.5, &mut middle);
    let (p, w) = reference(body, 0.5 * h);
    [angle(&p, &middle.q), distance(&w, &middle.v)]
}

/// Cubics of schemes without a dense output of their own, with ends of order 6.
#[test]
fn cubics_have_order_four_inside() {
    let scheme = HigherOrder { method: RungeKutta::LobattoIiia4, ..HigherOrder::default() };
    let found = [0.4, 0.2, 0.1, 0.05].map(|h| inside(&RigidBody::default(), scheme.clone(), h));
    check_table(&found, &[1.29e-4, 6.45e-6, 3.60e-7, 2.13e-8], 0.02);
    let found = [0.2, 0.1, 0.05].map(|h| inside(&RigidBody::default().with(CAYLEY), scheme.clone(), h)[0]);
    assert!(order(&found) > 3.9, "{found:?}");
}

/// Dense outputs of the event-driven scheme: quintic, of order 4, and of DOP853, with velocities.
#[test]
fn dense_outputs_have_their_orders() {
    let quintic = flow(Flow::Hem5);
    let fourth = EventDriven { dense: Dense::Order4, ..quintic.clone() };
    for (name, scheme, steps, orders) in [
        ("quintic", quintic, [0.4, 0.2, 0.1], [5.7, 4.7]),
        ("order 4", fourth, [0.4, 0.2, 0.1], [4.7, 4.7]),
        ("order 7", flow(Flow::Dop853), [0.8, 0.4, 0.2], [7.5, 7.5]),
    ] {
        for body in [RigidBody::default(), RigidBody::default().with(CAYLEY)] {
            let found = steps.map(|h| inside(&body, scheme.clone(), h));
            for k in 0..2 {
                let found = found.map(|e| e[k]);
                println!("{name}: {:.2} {found:?}", order(&found));
                assert!(order(&found) > orders[k], "{name} {k}: {} {found:?}", order(&found));
            }
        }
    }
}

/// Steps of a controlled flow are as long as those of other models of the same order: errors of attitudes are estimated
/// on the increments that are summed.
#[test]
fn tolerances_are_met() {
    for (method, steps) in [(Flow::Hem5, 900), (Flow::Rkf45, 250), (Flow::Dop853, 50)] {
        for problem in [free(EXP), free(CAYLEY)] {
            let scheme = EventDriven { flow: method, atol: Some(1e-9), rtol: 0.0, ..EventDriven::default() };
            let (body, end, exact) = problem;
            let mut run = simulation(&body, scheme, end, 1.0);
            run.run(&mut []).unwrap();
            let (error, count) = (angle(&exact.0, &run.state().q), run.statistics().steps);
            println!("{method:?}: {error:e} in {count} steps");
            assert!(error < 2e-7 && count < steps, "{method:?}: {error:e} in {count} steps");
        }
    }
}

/// Largest changes of energy (relative) and of the direction and size of the momentum along a run.
struct Invariants {
    body: RigidBody,
    momentum: Vector,
    energy: f64,
    changes: [f64; 2],
}

impl Invariants {
    fn of(body: RigidBody) -> Invariants {
        let state = State::new(0.0, &body.attitude, &body.spin);
        let momentum = body.angular_momentum(&state);
        Invariants { body, momentum, energy: Invariants::energy(&body, &state), changes: [0.0; 2] }
    }

    fn energy(body: &RigidBody, state: &State) -> f64 {
        0.5 * (0..3).map(|i| body.inertia[i] * state.v[i] * state.v[i]).sum::<f64>()
    }
}

impl Observer for Invariants {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let energy = Invariants::energy(&self.body, view.to()) / self.energy - 1.0;
        let momentum = self.body.angular_momentum(view.to());
        let norm = dot(self.momentum, self.momentum).sqrt();
        let change = distance(&momentum, &self.momentum) / norm;
        self.changes = [self.changes[0].max(energy.abs()), self.changes[1].max(change)];
        Ok(ControlFlow::Continue(()))
    }
}

fn midpoint() -> MoreauJean {
    MoreauJean { newton_tolerance: 1e-16, ..MoreauJean::default() }
}

/// The midpoint rule on a free body: second order with both maps; energy is conserved, and with Cayley's map the vector
/// of the momentum.
#[test]
fn moreau_jean_on_a_free_body() {
    let steps = [0.1, 0.05, 0.025, 0.0125];
    for (map, table, direction) in [
        (EXP, [1.510e-2, 3.780e-3, 9.452e-4, 2.363e-4], Some(3.0e-3)),
        (CAYLEY, [5.810e-2, 1.459e-2, 3.652e-3, 9.131e-4], None),
    ] {
        let found = errors(free(map), &midpoint(), &steps);
        check_table(&found, &table, 0.01);
        for (found, expected) in found.iter().zip([7.204e-3, 1.801e-3, 4.502e-4, 1.126e-4]) {
            assert!((found[1] / expected - 1.0).abs() < 0.01, "{found:?}");
        }
        let attitudes: Vec<f64> = found.iter().map(|e| e[0]).collect();
        assert!((order(&attitudes) - 2.0).abs() < 0.05);
        for (k, h) in steps.iter().enumerate() {
            let mut run = simulation(&RigidBody::default().with(map), midpoint(), 10.0, *h);
            let mut seen = Invariants::of(RigidBody::default());
            run.run(&mut [&mut seen]).unwrap();
            let [energy, momentum] = seen.changes;
            println!("{map:?} h = {h}: energy {energy:e}, momentum {momentum:e}");
            assert!(energy < 1e-13, "{map:?}: {energy:e}");
            match direction {
                Some(first) if k == 0 => assert!((momentum / first - 1.0).abs() < 0.05, "{momentum:e}"),
                Some(_) => {}
                None => assert!(momentum < 1e-13, "{momentum:e}"),
            }
        }
    }
}

/// The wobble of the momentum with the exponential map is bounded, and nothing grows with Cayley's.
#[test]
fn long_free_flights_are_bounded() {
    for (map, limit) in [(EXP, 3.0e-3 * 1.05), (CAYLEY, 1e-13)] {
        let mut run = simulation(&RigidBody::default().with(map), midpoint(), 1e4, 0.1);
        let mut seen = Invariants::of(RigidBody::default());
        run.run(&mut [&mut seen]).unwrap();
        let [energy, momentum] = seen.changes;
        println!("{map:?}: energy {energy:e}, momentum {momentum:e}");
        assert!(energy < 1e-13 && momentum < limit, "{map:?}: {energy:e} {momentum:e}");
    }
}

/// Times at which Ω₂ changes its sign.
struct Flips {
    times: Vec<f64>,
}

impl Observer for Flips {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let (from, to) = (view.from(), view.to());
        if from.v[1] * to.v[1] < 0.0 {
            self.times.push(from.t + (to.t - from.t) * from.v[1] / (from.v[1] - to.v[1]));
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// A body that turns about its middle axis flips at intervals 2K(k²)/λ.
#[test]
fn the_middle_axis_flips() {
    let body = RigidBody { spin: [1e-3, 1.0, 0.0], ..RigidBody::default() };
    let exact = 28.7314244372;
    let interval = |h: f64| {
        let (mut run, mut flips) = (simulation(&body, midpoint(), 45.0, h), Flips { times: Vec::new() });
        run.run(&mut [&mut flips]).unwrap();
        assert_eq!(flips.times.len(), 2, "{:?}", flips.times);
        flips.times[1] - flips.times[0]
    };
    let found = [0.1, 0.05, 0.01].map(interval);
    println!("{found:?}");
    for (found, expected) in found.iter().zip([28.72633, 28.73015, 28.73137]) {
        assert!((found - expected).abs() < 2e-5, "{found} {expected}");
    }
    let ratio = (found[0] - exact) / (found[1] - exact);
    assert!((ratio - 4.0).abs() < 0.1, "{ratio}");
}

/// Steady precession of a heavy top, slow: its axis goes round the vertical at W.
#[test]
fn a_top_precesses_steadily() {
    let (rate, tilt, end) = (0.341762776853f64, std::f64::consts::PI / 6.0, 10.0);
    let (sin, cos) = tilt.sin_cos();
    // 0.5 cos W² − 0.3·20 W + 2 = 0
    assert!((0.5 * cos * rate * rate - 6.0 * rate + 2.0).abs() < 1e-11);
    let body = RigidBody::top([0.0, rate * sin, 20.0]);
    let (turned, up) = ((rate * end).sin_cos(), cos);
    let expected = [turned.0 * sin, -turned.1 * sin, up];
    for (map, table) in [(EXP, [1.230e-2, 3.082e-3, 7.708e-4]), (CAYLEY, [8.19e-3, 2.06e-3, 5.17e-4])] {
        let found = [0.01, 0.005, 0.0025].map(|h| {
            let mut run = simulation(&body.with(map), midpoint(), end, h);
            run.run(&mut []).unwrap();
            let q = &run.state().q;
            let axis = rotate([q[0], q[1], q[2], q[3]], [0.0, 0.0, 1.0]);
            distance(&axis, &expected)
        });
        println!("{map:?}: {found:?}");
        for (found, expected) in found.iter().zip(table) {
            assert!((found / expected - 1.0).abs() < 0.02, "{map:?}: {found:e} {expected:e}");
        }
        assert!((order(&found) - 2.0).abs() < 0.05 && found[0] < 1.3e-2);
    }
}
