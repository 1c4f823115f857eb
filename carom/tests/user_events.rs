//! Events of the user with every scheme: found, located to rounding, in order; a stop ends the run there.

use carom::model::{Contact, Lagrangian};
use carom::scheme::{AnyModel, Family, MoreauJean, SCHEMES, SchemeRow};
use carom::simulation::{Direction, FixedStep, RunEvent, UserEvent};
use carom::testbed::BouncingBall;
use carom::{Mechanical, Simulation, SimulationError};

fn mechanical() -> impl Iterator<Item = &'static SchemeRow> {
    SCHEMES.iter().filter(|row| row.family == Family::Mechanical)
}

fn run_of(row: &SchemeRow, model: impl Mechanical + 'static, end: f64, h: f64) -> Simulation {
    let model = AnyModel::Mechanical(Box::new(model));
    let stepper = (row.bind)(&serde_json::json!({}), model, carom_solve::solver::default());
    let stepper = stepper.unwrap_or_else(|e| panic!("{}: {e}", row.info.name));
    Simulation::new(stepper, Box::new(FixedStep { h }), end).unwrap()
}

fn default_run(model: impl Mechanical + 'static, end: f64, h: f64) -> Simulation {
    run_of(&SCHEMES[0], model, end, h)
}

/// Unit mass thrown up at 3 m/s from the height 1 m, weight 2 N: y = 1 + 3t − t², apex at t = 1.5, y = 0 at (3 +
/// √13)/2.
fn thrown() -> Lagrangian {
    Lagrangian::new(1)
        .force(|_, _, _, f| f[0] = -2.0)
        .tangents(|_, _, _, k, c| (k[0], c[0]) = (0.0, 0.0))
        .linear()
        .initial(&[1.0], &[3.0])
}

fn times(events: &[RunEvent], name: &str) -> Vec<f64> {
    events.iter().filter(|event| event.name == name).map(|event| event.t).collect()
}

#[test]
fn every_scheme_finds_events_of_smooth_motion() {
    for row in mechanical() {
        let name = row.info.name;
        let mut run = run_of(row, thrown(), 3.3, 0.03)
            .with_event(UserEvent::new("apex", |_, _, v| v[0]))
            .with_event(UserEvent::new("height", |_, q, _| q[0] - 2.5))
            .with_event(UserEvent::new("up", |_, q, _| q[0] - 2.5).crossing(Direction::Rising))
            .with_event(UserEvent::new("down", |_, q, _| q[0] - 2.5).crossing(Direction::Falling));
        let events = run.record().unwrap().events;
        // y = 2.5 at t = 1.5 ± √0.75; schemes of first order are off by their steps
        let near = |found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len(), "{name}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 0.08, "{name}: {found} {expected}");
            }
        };
        let both = [1.5 - 0.75f64.sqrt(), 1.5 + 0.75f64.sqrt()];
        near(&times(&events, "apex"), &[1.5]);
        near(&times(&events, "height"), &both);
        near(&times(&events, "up"), &both[..1]);
        near(&times(&events, "down"), &both[1..]);
        assert!(events.windows(2).all(|pair| pair[0].t <= pair[1].t), "{name}: not in order");
        for event in events.iter().filter(|event| event.name == "height") {
            assert!((event.after.q[0] - 2.5).abs() < 1e-14, "{name}: {:e}", event.after.q[0] - 2.5);
        }
    }
}

/// The trapezoidal rule and the cubic are exact for a constant force, so that times are those of the closed form.
#[test]
fn times_are_exact_where_the_scheme_is() {
    let mut run = default_run(thrown(), 3.4, 0.1).with_event(UserEvent::new("floor", |_, q, _| q[0]));
    let events = run.record().unwrap().events;
    let exact = 0.5 * (3.0 + 13f64.sqrt());
    assert_eq!(events.len(), 1);
    assert!((events[0].t - exact).abs() < 2e-15, "{:e}", events[0].t - exact);
    assert_eq!((events[0].kind, &events[0].contact), ("user", &None));
}

#[test]
fn a_stop_ends_the_run_at_the_event_with_every_scheme() {
    for row in mechanical() {
        let name = row.info.name;
        let mut run = run_of(row, thrown(), 10.0, 0.07)
            .with_event(UserEvent::new("apex", |_, _, v| v[0]))
            .with_event(UserEvent::new("later", |_, q, _| q[0] + 5.0).stopping())
            .with_event(UserEvent::new("down", |_, q, _| q[0] - 2.5).crossing(Direction::Falling).stopping());
        let solution = run.record().unwrap();
        let last = solution.len() - 1;
        assert!((solution.q(last)[0] - 2.5).abs() < 1e-13, "{name}: {:e}", solution.q(last)[0] - 2.5);
        let (stopped, t) = run.stopped().unwrap();
        assert_eq!((stopped, t), ("down", solution.t[last]), "{name}");
        let names: Vec<&str> = solution.events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["apex", "down"], "{name}");
        let end = &solution.events[1].after;
        assert_eq!((end.t, &end.q[..], &end.v[..]), (t, solution.q(last), solution.v(last)), "{name}");
        assert!(run.advance().unwrap().is_none() && run.next().is_none(), "{name} goes on");
    }
}

#[test]
fn two_zeros_in_one_step_and_many_events_at_once() {
    let mut run = default_run(thrown(), 1.0, 0.1)
        .with_event(UserEvent::new("two", |t, _, _| (t - 0.31) * (t - 0.36)))
        .with_event(UserEvent::new("same", |t, _, _| t - 0.36));
    let events = run.record().unwrap().events;
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["two", "two", "same"]);
    for (event, t) in events.iter().zip([0.31, 0.36, 0.36]) {
        assert!((event.t - t).abs() < 2e-16, "{} {:e}", event.name, event.t - t);
    }
    // a stop at one of several zeros in a step drops those after it
    let mut run = default_run(thrown(), 1.0, 0.1)
        .with_event(UserEvent::new("late", |t, _, _| t - 0.37))
        .with_event(UserEvent::new("stop", |t, _, _| t - 0.33).stopping())
        .with_event(UserEvent::new("early", |t, _, _| t - 0.32))
        .with_event(UserEvent::new("stop too", |t, _, _| t - 0.331).stopping());
    let events = run.record().unwrap().events;
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["early", "stop"]);
    assert!((run.state().t - 0.33).abs() < 1e-16);
}

#[test]
fn zeros_at_grid_points_are_found_once_and_one_at_the_start_is_none() {
    let mut run = default_run(thrown(), 1.0, 0.125)
        .with_event(UserEvent::new("start", |t, _, _| t))
        .with_event(UserEvent::new("grid", |t, _, _| t - 0.5))
        .with_event(UserEvent::new("end", |t, _, _| t - 1.0))
        .with_event(UserEvent::new("sample", |t, _, _| t - 0.515625));
    let events = run.record().unwrap().events;
    assert!(times(&events, "start").is_empty());
    assert_eq!(times(&events, "grid"), [0.5]);
    assert_eq!(times(&events, "end"), [1.0]);
    assert_eq!(times(&events, "sample"), [0.515625]);
}

/// A zero that is touched is promised to nobody; the zero of its rate is found.
#[test]
fn a_touched_zero_is_found_by_its_rate() {
    let at = std::f64::consts::PI / 7.0;
    let mut run = default_run(thrown(), 1.0, 0.1)
        .with_event(UserEvent::new("touched", move |t, _, _| (t - at) * (t - at)))
        .with_event(UserEvent::new("rate", move |t, _, _| 2.0 * (t - at)));
    let events = run.record().unwrap().events;
    assert!(times(&events, "touched").is_empty());
    assert!((times(&events, "rate")[0] - at).abs() < 2e-16);
}

/// A block that friction brings to rest: v0 = 1, μ g = 2, at rest from t = 0.5 at x = 0.25 on.
#[test]
fn reaching_zero_for_good_is_an_event() {
    let block = || {
        Lagrangian::new(2)
            .force(|_, _, _, f| (f[0], f[1]) = (0.0, -10.0))
            .contact(Contact::new("floor", |_, q| q[1]).friction(0.2, |_, q| q[0]))
            .initial(&[0.0, 0.0], &[1.0, 0.0])
    };
    let rest = || UserEvent::new("rest", |_, _, v| v[0] - 1e-12).crossing(Direction::Falling);
    let events = default_run(block(), 1.0, 0.01).with_event(rest()).record().unwrap().events;
    assert_eq!(events.len(), 1);
    assert!((events[0].t - 0.5).abs() < 0.011, "{}", events[0].t);
    let mut run = default_run(block(), 1.0, 0.01).with_event(rest().stopping());
    let solution = run.record().unwrap();
    let last = solution.len() - 1;
    assert!((solution.t[last] - 0.5).abs() < 0.011 && (solution.q(last)[0] - 0.25).abs() < 0.011);
    assert!(solution.v(last)[0].abs() < 1e-9);
}

/// An impact is a jump of the velocity through zero: the last state is one after it.
#[test]
fn an_impact_is_found_as_a_jump() {
    let ball = BouncingBall::default();
    for row in mechanical() {
        let name = row.info.name;
        let inelastic = row.info.claims.contains(&carom::scheme::Claim::Inelastic);
        let ball = BouncingBall { restitution: if inelastic { 0.0 } else { 0.5 }, ..ball };
        let event = UserEvent::new("bounce", |_, _, v| v[0] + 1e-6).crossing(Direction::Rising).stopping();
        let mut run = run_of(row, ball.model(), 5.0, 0.013).with_event(event);
        let solution = run.record().unwrap();
        let last = solution.len() - 1;
        assert!((solution.t[last] - 1.0).abs() < 0.014, "{name}: {}", solution.t[last]);
        assert!(solution.v(last)[0] > -2e-6, "{name}: {}", solution.v(last)[0]);
        assert!(solution.q(last)[0].abs() < 0.03, "{name}: {}", solution.q(last)[0]);
    }
}

#[test]
fn values_that_are_none_are_an_error_by_name() {
    let mut run = default_run(thrown(), 1.0, 0.1).with_event(UserEvent::new("log", |t, _, _| (0.45 - t).ln()));
    match run.record() {
        Err(SimulationError::Event { name, t }) => assert!(name == "log" && t > 0.45 && t < 0.5, "{name} {t}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn adaptive_steps_have_events() {
    let adaptive = carom::simulation::Adaptive { tolerance: Some(1e-5), ..Default::default() };
    let scheme = carom::scheme::Doubled { base: MoreauJean::default(), accuracy: adaptive.accuracy() };
    let model: Box<dyn Mechanical> = Box::new(thrown());
    let stepper = carom::scheme::Bound::new(scheme, model, carom_solve::solver::default()).unwrap();
    let run = Simulation::new(Box::new(stepper), Box::new(adaptive.control(0.01, (0.0, 9.0))), 9.0).unwrap();
    let mut run = run.with_event(UserEvent::new("floor", |_, q, _| q[0]).stopping());
    let solution = run.record().unwrap();
    let exact = 0.5 * (3.0 + 13f64.sqrt());
    assert!((solution.t[solution.len() - 1] - exact).abs() < 1e-13);
}

/// A block of weight 10 `unit` on a floor with friction 0.5, thrown at 1, under the force F sin 3t with F below the
/// limit of friction; F grows beyond it after `late`.
fn held(unit: f64, late: f64) -> Lagrangian {
    let force = move |t: f64| if t < late { 2.0 * (3.0 * t).sin() } else { 2.0 * (3.0 * t).sin() + 8.0 };
    Lagrangian::new(2)
        .force(move |t, _, _, f| (f[0], f[1]) = (unit * force(t), -10.0 * unit))
        .contact(Contact::new("floor", |_, q| q[1]).friction(0.5, |_, q| q[0]))
        .initial(&[0.0, 0.0], &[unit, 0.0])
}

/// A velocity that friction holds at zero is there to rounding: one event when it stops, one when it slips again, in
/// any unit and with any scheme.
#[test]
fn a_function_that_is_held_at_zero_has_one_event() {
    let friction = |row: &&SchemeRow| row.info.claims.contains(&carom::scheme::Claim::Friction);
    for row in mechanical().filter(friction) {
        let name = row.info.name;
        for unit in [1.0, 1e-9, 1e9] {
            let stops = || UserEvent::new("stop", |_, _, v| v[0]);
            let events = run_of(row, held(unit, 9.0), 3.0, 0.01).with_event(stops()).record().unwrap().events;
            let found = times(&events, "stop");
            assert_eq!(found.len(), 1, "{name}, unit {unit:e}: {found:?}");
            // held from the start on: nothing is reached
            let down = UserEvent::new("down", |_, _, v| v[1]);
            let events = run_of(row, held(unit, 9.0), 3.0, 0.01).with_event(down).record().unwrap().events;
            assert!(times(&events, "down").is_empty(), "{name}, unit {unit:e}: {}", times(&events, "down").len());
            let events = run_of(row, held(unit, 2.0), 3.0, 0.01).with_event(stops()).record().unwrap().events;
            let found = times(&events, "stop");
            assert_eq!(found.len(), 2, "{name}, unit {unit:e}: {found:?}");
            assert!((found[1] - 2.0).abs() < 0.021, "{name}, unit {unit:e}: {found:?}");
        }
    }
}

/// ẋ = 1.1 sin t + λ with a relay: x slides at zero until |sin t| passes 1/1.1, leaves and comes back. Sliding is one
/// event each way, however small the steps are, and the relay lists its switches.
#[test]
fn sliding_has_one_event_each_way() {
    use carom::model::{Lcs, Matrices};
    use carom::scheme::{Bound, EulerMoreau};
    let matrices = Matrices { e: None, a: vec![0.0], b: vec![1.0], c: vec![1.0], d: vec![] };
    // from x = 0 it slides at once: nothing is reached there
    for (h, start) in [(1e-2, 0.2), (1e-3, 0.2), (1e-4, 0.2), (1e-2, 0.0), (1e-3, 0.0)] {
        let relay = vec![("relay".to_string(), carom_solve::Law::interval(-1.0, 1.0))];
        let model = Lcs::new(matrices.clone(), relay, &[start]).unwrap().with_state_source(|t, a| {
            a[0] = 1.1 * t.sin();
            Ok(())
        });
        let stepper = Bound::new(EulerMoreau::default(), Box::new(model), carom_solve::solver::default()).unwrap();
        let run = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), 8.0).unwrap();
        let events = run.with_event(UserEvent::new("zero", |_, q, _| q[0])).record().unwrap().events;
        let found = times(&events, "zero");
        let reached = usize::from(start > 0.0);
        assert_eq!(found.len(), 5 + reached, "h = {h}: {found:?}");
        let (first, half) = ((1.0f64 / 1.1).asin(), std::f64::consts::PI);
        for (k, exact) in [(0, first), (2, first + half), (4, first + 2.0 * half)] {
            assert!((found[k + reached] - exact).abs() < 2.0 * h, "h = {h}: {found:?}");
        }
        assert_eq!(times(&events, "switch.relay").len(), 5 + reached, "h = {h}: {:?}", times(&events, "switch.relay"));
    }
}
