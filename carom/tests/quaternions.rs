//! More coordinates than velocities: every scheme of the registry on a spinning ball with a quaternion, against its
//! closed form. Distances are those of the model.

use carom::scheme::{AnyModel, BindError, Claim, Family, SchemeError, SchemeRow};
use carom::simulation::{Adaptive, FixedStep, LedgerObserver, Recorder};
use carom::testbed::{ExactSolution, SpinningBall};
use carom::{SCHEMES, Simulation, State};
use serde_json::Value;

fn mechanical() -> impl Iterator<Item = &'static SchemeRow> {
    SCHEMES.iter().filter(|row| row.family == Family::Mechanical)
}

/// The balls that a scheme takes: a smooth symmetric top, and a rough homogeneous ball.
fn balls(row: &SchemeRow) -> Vec<SpinningBall> {
    let restitution = if row.info.claims.contains(&Claim::Inelastic) { 0.0 } else { 0.5 };
    let mut all = vec![SpinningBall { restitution, ..SpinningBall::default() }];
    if row.info.claims.contains(&Claim::Friction) {
        // one impact: it must stick, or the ball slides on
        let friction = if restitution == 0.0 { 0.6 } else { SpinningBall::rough().friction };
        all.push(SpinningBall { restitution, friction, ..SpinningBall::rough() });
    }
    all
}

fn simulation(row: &SchemeRow, ball: &SpinningBall, end: f64, h: f64) -> Simulation {
    let options: Value = serde_json::from_str(row.measured).unwrap();
    let model = AnyModel::Mechanical(Box::new(ball.model()));
    let stepper = (row.bind)(&options, model, carom_solve::solver::default()).unwrap();
    Simulation::new(stepper, Box::new(FixedStep { h }), end).unwrap()
}

/// Largest entries of the difference from the closed form in positions and velocities.
fn error(run: &mut Simulation, ball: &SpinningBall) -> [f64; 2] {
    let state = run.state().clone();
    let mut exact = State::new(state.t, &[0.0; 7], &[0.0; 6]);
    ball.at(state.t, &mut exact.q, &mut exact.v);
    let mut difference = [0.0; 12];
    assert_eq!(run.stepper().dimension(), 12);
    run.stepper().difference(&exact, &state, &mut difference);
    let largest = |part: &[f64]| part.iter().fold(0.0f64, |m, d| m.max(d.abs()));
    [largest(&difference[..6]), largest(&difference[6..])]
}

/// In flight schemes have the order that they claim, in attitudes as well.
#[test]
fn free_motion_has_its_order() {
    for row in mechanical() {
        for ball in balls(row) {
            let errors = [10, 20, 40].map(|steps| {
                let mut run = simulation(row, &ball, 0.8, 0.8 / f64::from(steps));
                run.record().unwrap();
                error(&mut run, &ball)
            });
            let norm = |e: &[f64; 2]| e[0].max(e[1]);
            let exact = errors.iter().all(|e| norm(e) < 1e-12);
            let order = (norm(&errors[1]) / norm(&errors[2])).log2();
            let claimed = row.info.order.smooth;
            assert!(exact || order > claimed - 0.15, "{}: {order} {errors:?}", row.info.name);
            assert!(norm(&errors[2]) < if claimed < 1.5 { 0.1 } else { 1e-4 }, "{}: {errors:?}", row.info.name);
        }
    }
}

/// Through impacts with and without friction, up to the third flight: the error falls with the step.
#[test]
fn impacts_are_right() {
    for row in mechanical() {
        for ball in balls(row) {
            let mean = |counts: &[u32]| {
                let all = counts.iter().map(|&steps| {
                    let mut run = simulation(row, &ball, 2.6, 2.6 / f64::from(steps));
                    run.record().unwrap();
                    let [q, v] = error(&mut run, &ball);
                    q.max(v)
                });
                all.sum::<f64>() / counts.len() as f64
            };
            let (coarse, fine) = (mean(&[251, 257, 263, 269]), mean(&[2003, 2011, 2017, 2027]));
            let what = format!("{} with friction {}: {coarse:e} {fine:e}", row.info.name, ball.friction);
            assert!(fine < 1e-2 && (fine < coarse / 3.0 || fine < 1e-10), "{what}");
        }
    }
}

/// Adaptive steps, with the error measured where the model measures it.
#[test]
fn adaptive_steps_keep_their_tolerance() {
    for row in mechanical() {
        for ball in balls(row) {
            let adaptive = Adaptive { tolerance: Some(1e-5), ..Adaptive::default() };
            let model = AnyModel::Mechanical(Box::new(ball.model()));
            let solver = carom_solve::solver::default();
            let table = serde_json::json!({});
            let stepper = match (row.bind_adaptive)(&table, adaptive.accuracy(), model, solver) {
                Ok(stepper) => stepper,
                Err(BindError::Scheme(SchemeError::EqualSteps { .. })) => continue,
                Err(other) => panic!("{}: {other}", row.info.name),
            };
            let control = adaptive.control(1e-3, (0.0, 2.6));
            let mut run = Simulation::new(stepper, Box::new(control), 2.6).unwrap();
            run.record().unwrap_or_else(|error| panic!("{}: {error}", row.info.name));
            let [q, v] = error(&mut run, &ball);
            // first order in smooth motion: so many more steps add up
            let most = if row.info.order.smooth < 1.5 { 5e-3 } else { 2e-3 };
            assert!(q < most && v < most, "{} with friction {}: {q:e} {v:e}", row.info.name, ball.friction);
        }
    }
}

/// Quaternions stay of unit length, interpolants as well, and the ledger closes.
#[test]
fn interpolants_and_ledgers_are_right() {
    for row in mechanical() {
        for ball in balls(row) {
            let mut run = simulation(row, &ball, 0.8, 0.01);
            let norm = |q: &[f64]| q[3..].iter().map(|x| x * x).sum::<f64>();
            let mut between = run.state().clone();
            while run.stepper().from().t < 0.75 {
                let stepper = run.stepper();
                stepper.attempt(0.01).unwrap();
                stepper.interpolate(0.4, &mut between);
                assert!((norm(&between.q) - 1.0).abs() < 1e-12, "{}", row.info.name);
                let mut exact = State::new(between.t, &[0.0; 7], &[0.0; 6]);
                ball.at(between.t, &mut exact.q, &mut exact.v);
                let mut difference = [0.0; 12];
                stepper.difference(&exact, &between, &mut difference);
                let far = difference[..6].iter().fold(0.0f64, |m, d| m.max(d.abs()));
                let most = if row.info.order.smooth < 1.5 { 2e-2 } else { 2e-5 };
                assert!(far < most, "{} at {}: {far:e}", row.info.name, between.t);
                stepper.accept();
            }
            let mut run = simulation(row, &ball, 2.6, 2.6 / 2003.0);
            let (mut ledger, mut recorder) = (LedgerObserver::default(), Recorder::default());
            run.run(&mut [&mut ledger, &mut recorder]).unwrap();
            let solution = recorder.into_solution();
            assert_eq!(solution.dofs(), (7, 6));
            let longest = (0..solution.len()).fold(0.0f64, |m, k| m.max((norm(solution.q(k)) - 1.0).abs()));
            assert!(longest < 1e-12, "{}: {longest:e}", row.info.name);
            let residue = ledger.ledger().unwrap().residue();
            assert!(residue.abs() < 2e-2, "{} with friction {}: {residue:e}", row.info.name, ball.friction);
        }
    }
}

/// The same ball in other units of length and mass: the same motion, whatever the quaternion beside positions of 1e-12
/// or 1e12 is.
#[test]
fn units_change_nothing() {
    let mut failed = Vec::new();
    for row in mechanical() {
        for ball in balls(row) {
            let end = |length: f64, mass: f64| {
                let SpinningBall { radius, inertia, gravity, height, velocity, .. } = ball;
                let ball = SpinningBall {
                    mass: mass * ball.mass,
                    radius: length * radius,
                    inertia: inertia.map(|j| mass * length * length * j),
                    gravity: length * gravity,
                    height: length * height,
                    velocity: velocity.map(|v| length * v),
                    ..ball
                };
                let mut run = simulation(row, &ball, 2.6, 0.01);
                run.record().unwrap_or_else(|error| panic!("{} {length:e}: {error}", row.info.name));
                let state = run.state();
                let positions = state.q.iter().enumerate().map(|(k, q)| if k < 3 { q / length } else { *q });
                let velocities = state.v.iter().enumerate().map(|(k, v)| if k < 3 { v / length } else { *v });
                positions.chain(velocities).collect::<Vec<f64>>()
            };
            let usual = end(1.0, 1.0);
            for (length, mass) in [(-40, 0), (-20, 10), (20, -10), (40, 0)] {
                let scaled = end(2f64.powi(length), 2f64.powi(mass));
                let apart = usual.iter().zip(&scaled).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
                if apart >= 1e-12 {
                    failed.push(format!("{} friction {} 2^{length}: {apart:.1e}", row.info.name, ball.friction));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
