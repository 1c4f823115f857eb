//! What users of event-driven tools report as failures, each as a case that has to pass.

use crate::{Log, run, simulation};
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::model::{Contact, Lagrangian};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{Control, Flow};
use carom::testbed::BouncingBall;
use carom::{EventKind, Key, State};
use carom_solve::Law;

/// Balls of 1 kg under −2 N, each over its own floor.
fn balls(restitution: f64, q: &[f64], v: &[f64]) -> Lagrangian {
    let n = q.len();
    let mut model = Lagrangian::new(n).force(|_, _, _, f| f.fill(-2.0)).initial(q, v).linear();
    for k in 0..n {
        let gradient = move |_: f64, _: &[f64], row: &mut [f64]| {
            row.fill(0.0);
            row[k] = 1.0;
        };
        let floor = Contact::new(&format!("floor{k}"), move |_, q| q[k]).gradient(gradient).restitution(restitution);
        model = model.contact(floor);
    }
    model
}

fn impacts(log: &Log) -> Vec<f64> {
    log.of(EventKind::Impact).iter().map(|event| event.t).collect()
}

/// A ball that falls through the floor after many bounces.
#[test]
fn no_ball_falls_through_after_many_bounces() {
    for e in [0.3, 0.7, 0.9, 0.99, 1.0] {
        for h in [0.013, 0.4, 7.0] {
            for veps in [1e-12, 1e-6] {
                let ball = BouncingBall { restitution: e, force: -9.81, ..BouncingBall::default() };
                let scheme = EventDriven { veps: Some(veps), ..EventDriven::default() };
                let log = run(ball.model(), scheme, 100.0, h);
                assert!(log.lowest > -1e-10, "{e} {h} {veps}: {:e}", log.lowest);
                let (q, v) = ball.state_at(100.0);
                let rough = if e > 0.98 { 1e-8 } else { 1e-5 };
                assert!((log.last().q[0] - q).abs() < rough && (log.last().v[0] - v).abs() < rough, "{e} {h} {veps}");
            }
        }
    }
}

/// An event exactly at the start and at the end of steps: the impacts at 1, 2, 2.5, ... are points of these grids.
#[test]
fn events_on_the_points_of_the_grid() {
    for h in [1.0, 0.5, 0.25, 0.125] {
        let log = run(BouncingBall::default().model(), EventDriven::default(), 2.7, h);
        let times = impacts(&log);
        assert_eq!(times.len(), 3, "{h}: {times:?}");
        for (t, exact) in times.iter().zip([1.0, 2.0, 2.5]) {
            assert!((t - exact).abs() < 1e-14, "{h}: {t}");
        }
    }
}

/// Two events in one step, in their order, and simultaneous ones at one instant.
#[test]
fn several_events_in_one_step_keep_their_order() {
    let log = run(balls(0.5, &[1.0, 1.1, 0.9], &[0.0; 3]), EventDriven::default(), 1.3, 10.0);
    let first: Vec<u128> = log.of(EventKind::Impact).iter().filter_map(|e| e.contact.map(|k| k.0)).collect();
    assert_eq!(first, [2, 0, 1]);
    for (t, height) in impacts(&log).iter().zip([0.9f64, 1.0, 1.1]) {
        assert!((t - height.sqrt()).abs() < 1e-14, "{t}");
    }
    let log = run(balls(0.5, &[1.0; 3], &[0.0; 3]), EventDriven::default(), 1.3, 10.0);
    assert_eq!(log.of(EventKind::Impact).len(), 3);
    assert_eq!(log.instants().len(), 1, "{:?}", log.instants());
}

/// An impact at t = 0, and a start at rest on the wall.
#[test]
fn event_at_the_start() {
    let log = run(balls(0.5, &[0.0], &[-1.0]), EventDriven::default(), 0.4, 0.1);
    assert_eq!(impacts(&log), [0.0]);
    assert!((log.last().v[0] - (0.5 - 0.8)).abs() < 1e-14);
    let log = run(balls(0.5, &[0.0], &[0.0]), EventDriven::default(), 1.0, 0.1);
    assert!(log.events.is_empty() && log.last().q[0] == 0.0 && log.last().v[0] == 0.0, "{:?}", log.events);
    assert!((log.impulse[0] - 2.0).abs() < 1e-12);
}

/// A contact that persists after a plastic impact.
#[test]
fn contact_persists_after_a_plastic_impact() {
    let log = run(balls(0.0, &[1.0], &[0.0]), EventDriven::default(), 3.0, 0.4);
    let kinds: Vec<EventKind> = log.events.iter().map(|e| e.kind).collect();
    assert_eq!(kinds, [EventKind::Impact, EventKind::Closing]);
    assert!(log.last().q[0].abs() < 1e-15 && log.last().v[0] == 0.0);
}

/// A root that is touched without being crossed: the ball thrown up reaches the ceiling with no speed left; a bit
/// faster is an impact.
#[test]
fn a_gap_that_is_touched_without_crossing() {
    let ceiling = |v: f64| {
        Lagrangian::new(1)
            .force(|_, _, _, f| f[0] = -2.0)
            .contact(Contact::new("ceiling", |_, q| 1.0 - q[0]).gradient(|_, _, row| row[0] = -1.0).restitution(0.5))
            .initial(&[0.0], &[v])
            .linear()
    };
    for h in [0.3, 0.5, 1.0, 3.0] {
        let log = run(ceiling(2.0), EventDriven::default(), 2.0, h);
        assert!(log.last().q[0].abs() < 1e-7 && (log.last().v[0] + 2.0).abs() < 1e-7, "{h}: {:?}", log.last());
        assert!(log.lowest > -1e-12);
        let log = run(ceiling(2.0 - 1e-6), EventDriven::default(), 2.0, h);
        assert!(log.events.is_empty(), "{h}");
        let log = run(ceiling(2.0 + 1e-6), EventDriven::default(), 2.0, h);
        assert_eq!(impacts(&log).len(), 1, "{h}");
    }
}

/// A hundred events within a step of the driver.
#[test]
fn hundred_events_within_a_step() {
    let ball = BouncingBall { restitution: 0.97, ..BouncingBall::default() };
    let log = run(ball.model(), EventDriven::default(), 64.0, 64.0);
    let exact = carom::testbed::ExactSolution::jumps(&ball, 0.0, 64.0, 0.0);
    let times = impacts(&log);
    assert!(times.len() > 100 && times.len() >= 100);
    for (t, exact) in times.iter().zip(&exact).take(120) {
        assert!((t - exact).abs() < 1e-11, "{t} {exact}");
    }
}

/// Several accumulations at once end each at its own time.
#[test]
fn several_accumulations_at_once() {
    let heights = [1.0, 0.98, 1.0, 1.44];
    let log =
        run(balls(0.5, &heights, &[0.0; 4]), EventDriven { veps: Some(1e-8), ..EventDriven::default() }, 5.0, 0.5);
    let ends = log.of(EventKind::Accumulation);
    assert_eq!(ends.len(), 4, "{:?}", ends.iter().map(|e| e.t).collect::<Vec<_>>());
    for end in ends {
        // rest at 3 √height
        let exact = 3.0 * heights[end.contact.unwrap().0 as usize].sqrt();
        assert!((end.t - exact).abs() < 1e-7, "{} {exact}", end.t);
    }
    assert!(log.last().v.iter().all(|v| *v == 0.0) && log.lowest > -1e-12);
}

/// Without any exit of accumulations the guards end them, in a bounded number of steps.
#[test]
fn accumulation_without_exit_does_not_hang() {
    for h in [0.5, 4.0] {
        let scheme = EventDriven { veps: Some(0.0), geps: Some(0.0), ..EventDriven::default() };
        let mut log = Log::default();
        let mut simulation = simulation(BouncingBall::default().model(), scheme, 4.0, h);
        simulation.run(&mut [&mut log]).unwrap();
        assert!(simulation.statistics().steps < 6000, "{}", simulation.statistics().steps);
        let end = log.last();
        assert!((end.t - 4.0).abs() < 1e-8 && end.q[0].abs() < 1e-3 && end.v[0].abs() < 1e-2, "{h}: {end:?}");
        assert!(log.of(EventKind::HandOver).is_empty(), "{h}");
    }
}

/// A wall that no impulse can stop: what is left of its approach is told, with the time and the contact.
#[test]
fn impacts_that_do_not_end_are_told() {
    struct Press;
    impl Functions for Press {
        fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
            v[0] * v[0] * 0.5
        }
        fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
            out[0] = (t - 0.5) * -2.0 + q[0] * 0.0;
        }
        fn laws(&self) -> Vec<NamedLaw> {
            vec![NamedLaw::new("press", Law::UNILATERAL)]
        }
    }
    let model = DualLagrangian::new(Press, State::new(0.0, &[0.0], &[1.0])).unwrap();
    let mut simulation = simulation(model, EventDriven::default(), 1.0, 0.3);
    let ended = simulation.run(&mut []);
    let warnings = simulation.warnings().sorted();
    let found = warnings.iter().find(|warning| warning.kind.name == "impacts-at-once");
    let found = found.unwrap_or_else(|| panic!("{ended:?} {warnings:?}"));
    assert!((found.t - 0.5).abs() < 1e-12 && found.contact == Some(Key(0)), "{found:?}");
    // nothing of the velocity behind the contact, that of the press, was stopped
    assert!((found.worst - 1.0).abs() < 1e-12, "{found:?}");
}

/// Teeth finer than a step of fixed length can be looked at: that an impact may have been passed over is told. A step
/// that fits the teeth leaves no doubt.
#[test]
fn teeth_that_a_fixed_step_passes_over_are_told() {
    // a mass slides along x over teeth of 40 μm, 10 mm above their tops
    const WAVE: f64 = std::f64::consts::TAU / 4e-5;
    let warnings = |end: f64| {
        let teeth = Contact::new("teeth", |_, q| q[1] - 0.05 * (WAVE * q[0]).sin())
            .gradient(|_, q, row| (row[0], row[1]) = (-0.05 * WAVE * (WAVE * q[0]).cos(), 1.0));
        let model = Lagrangian::new(2).contact(teeth).initial(&[0.0, 0.06], &[1.0, 0.0]);
        let scheme = EventDriven { control: Control::Fixed, ..EventDriven::default() };
        let mut simulation = simulation(model, scheme, end, end);
        simulation.run(&mut []).unwrap();
        simulation.warnings().sorted()
    };
    let told = warnings(1.0);
    let found = told.iter().find(|warning| warning.kind.name == "unclear-gap").unwrap_or_else(|| panic!("{told:?}"));
    assert!(found.t < 1.0 && found.contact == Some(Key(0)) && found.worst <= 1.0 / 16384.0, "{found:?}");
    assert!(warnings(1e-3).is_empty());
}

/// A ball on a table that shakes, driven at a step far longer than the period of the table.
#[test]
fn a_table_that_shakes_faster_than_the_step_is_seen() {
    struct Table;
    impl Functions for Table {
        fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
            v[0] * v[0] * 0.5
        }
        fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
            q[0] * 2.0
        }
        fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
            out[0] = q[0] - (t * 40.0).sin() * 0.1;
        }
        fn laws(&self) -> Vec<NamedLaw> {
            vec![NamedLaw::new("table", Law::UNILATERAL).restitution(0.2)]
        }
    }
    let model = || DualLagrangian::new(Table, State::new(0.0, &[1.0], &[0.0])).unwrap();
    // 1 − t² = 0.1 sin 40 t, the first root
    let gap = |t: f64| 1.0 - t * t - 0.1 * (40.0 * t).sin();
    let first = (0..100_000).map(|k| 2e-5 * f64::from(k)).find(|&t| gap(t) < 0.0).unwrap();
    for h in [0.02, 0.1, 1.0, 2.0] {
        let log = run(model(), EventDriven::default(), 2.0, h);
        assert!((impacts(&log)[0] - first).abs() < 3e-5, "{h}: {} {first}", impacts(&log)[0]);
        assert!(log.lowest > -1e-9, "{h}: {:e}", log.lowest);
    }
}

/// A rod that spins while it falls: its ends sweep many circles within what the flow would take as one step.
#[test]
fn a_spinning_rod_hits_with_the_right_end() {
    struct Rod;
    impl Functions for Rod {
        fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
            (v[0] * v[0] + v[1] * v[1] / 3.0) * 0.5
        }
        fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
            q[0] * 2.0
        }
        fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
            out[0] = q[0] - q[1].sin();
            out[1] = q[0] + q[1].sin();
        }
        fn laws(&self) -> Vec<NamedLaw> {
            ["one", "other"].map(|name| NamedLaw::new(name, Law::UNILATERAL).restitution(0.5)).to_vec()
        }
    }
    let spin = 31.0;
    let model = || DualLagrangian::new(Rod, State::new(0.0, &[3.0, 0.0], &[0.0, spin])).unwrap();
    let gap = |t: f64| 3.0 - t * t - (spin * t).sin().abs();
    let first = (0..200_000).map(|k| 1e-5 * f64::from(k)).find(|&t| gap(t) < 0.0).unwrap();
    for h in [0.05, 0.5, 2.0] {
        let log = run(model(), EventDriven::default(), 1.6, h);
        let impact = log.of(EventKind::Impact)[0];
        assert!((impact.t - first).abs() < 2e-5, "{h}: {} {first}", impact.t);
        let end = if (spin * first).sin() > 0.0 { 0 } else { 1 };
        assert_eq!(impact.contact, Some(carom::Key(end)));
    }
}

/// Options that make no sense are refused by name, and forces that blow up end in a typed error.
#[test]
fn wrong_use_is_an_error_and_not_a_hang() {
    use carom_solve::Options;
    for (name, table) in [
        ("atol", serde_json::json!({ "atol": 0.0 })),
        ("veps", serde_json::json!({ "veps": -1.0 })),
        ("max-events", serde_json::json!({ "max-events": 0 })),
        ("dense", serde_json::json!({ "flow": "rkf45", "dense": "order-4" })),
    ] {
        let error = EventDriven::read(&table).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
    // x″ = x² from 1 reaches infinity in finite time
    let model = Lagrangian::new(1).force(|_, q, _, f| f[0] = q[0] * q[0]).initial(&[1.0], &[1.0]);
    let mut simulation = simulation(model, EventDriven::default(), 10.0, 1.0);
    let error = simulation.run(&mut []).unwrap_err();
    assert!(simulation.state().t > 1.0 && simulation.statistics().steps < 20_000, "{error}");
}

/// Nothing that moves: a run without coordinates ends, and a clock that no force can stop is an error.
#[test]
fn no_degree_of_freedom() {
    for flow in [Flow::Hem5, Flow::Rkf45] {
        let scheme = EventDriven { flow, ..EventDriven::default() };
        let log = run(Lagrangian::new(0), scheme.clone(), 1.0, 0.1);
        assert!(log.last().t == 1.0 && log.events.is_empty());
        let clock = Lagrangian::new(0).contact(Contact::new("clock", |t, _| 0.55 - t));
        let mut simulation = simulation(clock, scheme, 1.0, 0.1);
        let error = simulation.run(&mut []).unwrap_err();
        assert!(simulation.state().t >= 0.5 && simulation.state().t < 0.56, "{error}");
    }
}
