//! Free flights of order 8: accuracy of the motion and of its events, and what they cost.

use crate::{Log, run, simulation};
use carom::model::{Contact, Lagrangian};
use carom::scheme::event_driven::{Control, Flow};
use carom::scheme::{Bound, EventDriven};
use carom::simulation::{Direction, Statistics, UserEvent};
use carom::testbed::{ExactSolution, LinearOscillator, Pendulum};
use carom::{EventKind, State, Stepper};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The scheme to a tolerance.
fn to(flow: Flow, tolerance: f64) -> EventDriven {
    EventDriven { flow, atol: Some(tolerance), rtol: tolerance, ..EventDriven::default() }
}

fn fixed() -> EventDriven {
    EventDriven { flow: Flow::Dop853, control: Control::Fixed, ..EventDriven::default() }
}

/// An oscillator of period π that strikes its wall at each half period with all its speed.
const STRIKING: LinearOscillator =
    LinearOscillator { mass: 1.0, damping: 0.0, stiffness: 4.0, restitution: 1.0, q0: 1.0, v0: 0.0 };

/// Largest errors of times and of speeds at impacts.
fn strikes(problem: &LinearOscillator, log: &Log, end: f64) -> f64 {
    let (found, exact) = (log.of(EventKind::Impact), problem.impacts(end).collect::<Vec<_>>());
    assert_eq!(found.len(), exact.len());
    found.iter().zip(exact).fold(0.0, |worst, (found, exact)| {
        worst.max((found.t - exact.time).abs()).max((found.before.v[0] - exact.before).abs())
    })
}

fn cost(problem: &LinearOscillator, scheme: EventDriven, end: f64) -> Statistics {
    let mut run = simulation(problem.model(), scheme, end, end);
    run.run(&mut []).unwrap();
    *run.statistics()
}

/// Times and speeds of 13 impacts have errors of the size of the tolerance, in flights and steps of any length.
#[test]
fn impacts_carry_the_accuracy_of_the_tolerance() {
    for tolerance in [1e-6, 1e-9, 1e-12] {
        for h in [0.05, 0.7, 20.0] {
            let worst = strikes(&STRIKING, &run(STRIKING.model(), to(Flow::Dop853, tolerance), 20.0, h), 20.0);
            assert!(worst < 10.0 * tolerance, "{tolerance:e} {h}: {worst:e}");
            let damped = LinearOscillator { damping: 0.5, restitution: 0.9, ..STRIKING };
            let worst = strikes(&damped, &run(damped.model(), to(Flow::Dop853, tolerance), 5.0, h), 5.0);
            assert!(worst < 10.0 * tolerance, "{tolerance:e} {h}: {worst:e}");
        }
    }
}

/// With error per unit step the error over the span is bounded by the tolerance times the span, and the work is of the
/// same size.
#[test]
fn error_per_unit_step() {
    for tolerance in [1e-6, 1e-9] {
        let scheme = EventDriven { control: Control::Epus, ..to(Flow::Dop853, tolerance) };
        let worst = strikes(&STRIKING, &run(STRIKING.model(), scheme.clone(), 20.0, 20.0), 20.0);
        assert!(worst < 20.0 * tolerance, "{tolerance:e}: {worst:e}");
        let [eps, epus] = [to(Flow::Dop853, tolerance), scheme].map(|s| cost(&STRIKING, s, 20.0).evaluations as f64);
        assert!(epus / eps > 0.7 && epus / eps < 1.5, "{tolerance:e}: {eps} {epus}");
    }
}

/// The table of the flow's page: evaluations to the same tolerance, and what they buy.
#[test]
fn work_against_the_other_flows() {
    // tolerance, and by how much the work of HEM5 and of Fehlberg's pair is larger at least
    for (tolerance, factors) in [(1e-6, [4.0, 1.4]), (1e-9, [12.0, 3.0]), (1e-12, [25.0, 6.0])] {
        let work = [Flow::Hem5, Flow::Rkf45, Flow::Dop853].map(|flow| {
            let count = cost(&STRIKING, to(flow, tolerance), 20.0).evaluations;
            let worst = strikes(&STRIKING, &run(STRIKING.model(), to(flow, tolerance), 20.0, 20.0), 20.0);
            println!("{tolerance:.0e} {flow:?}: {count} evaluations, error {worst:.1e}");
            count as f64
        });
        assert!(work[0] > factors[0] * work[2] && work[1] > factors[1] * work[2], "{tolerance:e}: {work:?}");
    }
}

/// A flight without events near by costs twelve evaluations per step; the dense output three more, once.
#[test]
fn the_dense_output_is_paid_for_where_it_is_used() {
    let far = || {
        let wall = Contact::new("wall", |_, q| q[0] + 5.0).gradient(|_, _, row| row[0] = 1.0);
        Lagrangian::new(1).force(|_, q, _, f| f[0] = -q[0].sin()).contact(wall).initial(&[1.0], &[0.0])
    };
    let mut stepper = Bound::new(fixed(), Box::new(far()), carom_solve::solver::default()).unwrap();
    let first = stepper.attempt(0.5).unwrap();
    stepper.accept();
    let second = stepper.attempt(0.5).unwrap();
    let mut state = State::default();
    [0.2, 0.6, 0.9].into_iter().for_each(|s| stepper.interpolate(s, &mut state));
    stepper.accept();
    let third = stepper.attempt(0.5).unwrap();
    // the first step also looks at its start, the third one pays for the dense output of the second
    assert_eq!([second.evaluations, third.evaluations], [12, 15], "{first:?}");
}

/// The pendulum in its angle, with the closed form of the one on a circle.
fn pendulum(wall: Option<f64>) -> Lagrangian {
    let free = Lagrangian::new(1).force(|_, q, _, f| f[0] = -q[0].sin()).initial(&[FRAC_PI_2], &[0.0]);
    match wall {
        None => free,
        Some(x) => {
            let tip = Contact::new("wall", move |_, q| q[0].sin() - x);
            free.contact(tip.gradient(|_, q, row| row[0] = q[0].cos()).restitution(1.0))
        }
    }
}

/// Order 8 of the free motion, at all times and in both states.
#[test]
fn order_in_free_motion() {
    let errors = [10, 20, 40].map(|n| {
        let log = run(pendulum(None), fixed(), 6.0, 6.0 / f64::from(n));
        log.states.iter().fold(0.0f64, |worst, state| {
            let (mut q, mut v) = ([0.0; 2], [0.0; 2]);
            Pendulum::default().at(state.t, &mut q, &mut v);
            let ((sin, cos), rate) = (state.q[0].sin_cos(), state.v[0]);
            let place = (sin - q[0]).abs().max((-cos - q[1]).abs());
            worst.max(place).max((rate * cos - v[0]).abs()).max((rate * sin - v[1]).abs())
        })
    });
    let slopes = [(errors[0] / errors[1]).log2(), (errors[1] / errors[2]).log2()];
    assert!(slopes.iter().all(|slope| (slope - 8.0).abs() < 0.5), "{slopes:?} {errors:?}");
}

/// Order 8 through impacts, with steps that end at them.
#[test]
fn order_through_impacts() {
    let errors = [23, 46, 92].map(|n| {
        let h = 10.0 / f64::from(n);
        let log = run(STRIKING.model(), fixed(), 10.0, h);
        strikes(&STRIKING, &log, 10.0)
    });
    let slopes = [(errors[0] / errors[1]).log2(), (errors[1] / errors[2]).log2()];
    assert!(slopes.iter().all(|slope| (slope - 8.0).abs() < 0.5), "{slopes:?} {errors:?}");
}

/// A wall that the gap sees by a curve: impacts at odd multiples of an elliptic integral.
#[test]
fn impacts_of_a_pendulum_on_a_wall() {
    // from rest at a right angle to the angle −π/6: K(k) + F(φ, k) with k = sin π/4, sin φ = sin(π/12)/k
    let k = FRAC_PI_4.sin();
    let integral = |end: f64| {
        let (count, root) = (2000, |x: f64| 1.0 / (1.0 - (k * x.sin()).powi(2)).sqrt());
        let d = end / f64::from(2 * count);
        // Simpson's rule
        let inner = |i: i32| if i % 2 == 1 { 4.0 } else { 2.0 } * root(d * f64::from(i));
        d / 3.0 * (root(0.0) + root(end) + (1..2 * count).map(inner).sum::<f64>())
    };
    let first = integral(FRAC_PI_2) + integral(((PI / 12.0).sin() / k).asin());
    for tolerance in [1e-6, 1e-9, 1e-12] {
        let log = run(pendulum(Some(-0.5)), to(Flow::Dop853, tolerance), 50.0, 50.0);
        let found = log.of(EventKind::Impact);
        let count = (0.5 * (50.0 / first + 1.0)).floor() as usize;
        assert!(found.len() == count && count > 8, "{}", found.len());
        for (n, impact) in found.iter().enumerate() {
            let exact = first * (2 * n + 1) as f64;
            // the error grows with time
            assert!(
                (impact.t - exact).abs() < 10.0 * tolerance * (1.0 + exact),
                "{tolerance:e} {n}: {:e}",
                impact.t - exact
            );
        }
    }
}

/// Dips that are far shallower than the steps are long are seen, and near misses are none.
#[test]
fn grazing_contacts_are_told_from_near_misses() {
    let swing = |wall: f64| {
        let contact = Contact::new("wall", move |_, q| q[0] - wall).gradient(|_, _, row| row[0] = 1.0);
        Lagrangian::new(1).force(|_, q, _, f| f[0] = -q[0]).contact(contact.restitution(1.0)).initial(&[1.0], &[0.0])
    };
    for depth in [1e-3, 1e-6, 1e-9] {
        for control in [Control::Eps, Control::Fixed] {
            let scheme = EventDriven { control, ..to(Flow::Dop853, 1e-12) };
            let h = if control == Control::Fixed { 0.11 } else { 6.0 };
            let log = run(swing(-1.0 + depth), scheme.clone(), 6.0, h);
            let impacts = log.of(EventKind::Impact);
            assert_eq!(impacts.len(), 1, "{depth:e} {control:?}");
            // where cos t = −1 + depth; an error of 1e-12 in the gap moves it by 1e-12/√(2 depth)
            let exact = (-1.0 + depth).acos();
            assert!((impacts[0].t - exact).abs() < 1e-11 / depth.sqrt(), "{depth:e}: {:e}", impacts[0].t - exact);
            assert!(run(swing(-1.0 - depth), scheme, 6.0, h).events.is_empty(), "{depth:e} {control:?}");
        }
    }
}

/// A flight over the edge of a table: the table counts up to x = 1, the ground behind it, whatever the length of the
/// steps.
#[test]
fn flights_over_an_edge_end_on_the_right_side() {
    // x = sin(t)·a, z = 1 − t²: over the edge where sin t = 1/a, on the table at t = 1, on the ground at √2
    let throw = |a: f64| {
        let row = |_: f64, _: &[f64], row: &mut [f64]| row.copy_from_slice(&[0.0, 1.0]);
        let table = Contact::new("table", |_, q| q[1]).gradient(row).region(|_, q| 1.0 - q[0]);
        let ground = Contact::new("ground", |_, q| q[1] + 1.0).gradient(row).region(|_, q| q[0] - 1.0);
        let model = Lagrangian::new(2).force(|_, q, _, f| (f[0], f[1]) = (-q[0], -2.0));
        model.contact(table.restitution(0.5)).contact(ground.restitution(0.5)).initial(&[0.0, 1.0], &[a, 0.0])
    };
    for (h, tolerance) in [(0.05, 1e-6), (1.45, 1e-6), (1.45, 1e-12)] {
        let log = run(throw(1.5), to(Flow::Dop853, tolerance), 1.45, h);
        let (edges, impacts) = (log.of(EventKind::Edge), log.of(EventKind::Impact));
        assert!(
            edges.iter().all(|edge| (edge.t - (1.0f64 / 1.5).asin()).abs() < 10.0 * tolerance) && !edges.is_empty()
        );
        assert_eq!(impacts.iter().map(|impact| impact.contact.map(|key| key.0)).collect::<Vec<_>>(), [Some(1)]);
        assert!((impacts[0].t - 2.0f64.sqrt()).abs() < 10.0 * tolerance, "{h} {tolerance:e}");
        let log = run(throw(1.1), to(Flow::Dop853, tolerance), 1.45, h);
        let impacts = log.of(EventKind::Impact);
        assert!(impacts[0].contact.map(|key| key.0) == Some(0) && (impacts[0].t - 1.0).abs() < 10.0 * tolerance);
    }
}

/// Events of the user are found on the dense output of order 7.
#[test]
fn user_events_have_the_accuracy_of_the_tolerance() {
    for tolerance in [1e-6, 1e-9, 1e-12] {
        let turn = UserEvent::new("turn", |_t, _q, v| v[0]).crossing(Direction::Rising);
        let model = Lagrangian::new(1).force(|_, q, _, f| f[0] = -q[0]).initial(&[1.0], &[0.0]);
        let mut run = simulation(model, to(Flow::Dop853, tolerance), 20.0, 20.0).with_event(turn);
        let solution = run.record().unwrap();
        assert_eq!(solution.events.len(), 3);
        for (event, exact) in solution.events.iter().zip([PI, 3.0 * PI, 5.0 * PI]) {
            assert!((event.t - exact).abs() < 20.0 * tolerance, "{tolerance:e}: {:e}", event.t - exact);
        }
    }
}

/// A mass on a floor that a force lifts once per period: flights and rests take turns, and each method takes up its
/// step again.
#[test]
fn flights_and_rests_take_turns() {
    // q̈ = cos t − 4/5: lifted where cos t rises through 4/5, and back where the flight from there ends
    let model = || {
        let floor = Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0);
        Lagrangian::new(1).force(|t, _, _, f| f[0] = t.cos() - 0.8).contact(floor).initial(&[0.0], &[0.0])
    };
    let landing = |t0: f64, v0: f64| {
        let height = |t: f64| t0.cos() - t.cos() + (v0 - t0.sin()) * (t - t0) - 0.4 * (t - t0).powi(2);
        let (mut low, mut high) = (t0 + 1.0, t0 + 2.0 * PI);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if height(middle) > 0.0 { low = middle } else { high = middle }
        }
        low
    };
    for (flow, tolerance) in [(Flow::Dop853, 1e-6), (Flow::Dop853, 1e-10), (Flow::Hem5, 1e-10)] {
        let log = run(model(), to(flow, tolerance), 40.0, 40.0);
        let (lifts, lands) = (log.of(EventKind::TakeOff), log.of(EventKind::Impact));
        assert!(lands.len() == 7 && lifts.len() == 6, "{} {}", lands.len(), lifts.len());
        assert!((lands[0].t - landing(0.0, 0.0)).abs() < 10.0 * tolerance);
        for (k, (lift, land)) in lifts.iter().zip(&lands[1..]).enumerate() {
            let exact = 2.0 * PI * (k + 1) as f64 - 0.8f64.acos();
            assert!((lift.t - exact).abs() < 1e-11, "{flow:?} {k}: {:e}", lift.t - exact);
            let miss = land.t - landing(exact, 0.0);
            assert!(miss.abs() < 10.0 * tolerance, "{flow:?} {tolerance:e} {k}: {miss:e}");
        }
        assert!(log.lowest > -1e-12);
    }
    // the step of free flights is taken up again: few are rejected
    let mut run = simulation(model(), to(Flow::Dop853, 1e-10), 40.0, 40.0);
    run.run(&mut []).unwrap();
    assert!(run.statistics().rejected < 40, "{:?}", run.statistics());
}

/// A step that could not be done leaves nothing behind: the next try from the same state is that of a fresh start
/// there.
#[test]
fn a_step_that_failed_is_tried_again_from_its_state() {
    // a stiff spring from q = 1/2 on, which asks for steps far below the smallest one
    let model = || {
        let force = |_: f64, q: &[f64], _: &[f64], f: &mut [f64]| f[0] = -1e6 * (q[0] - 0.5).max(0.0);
        Lagrangian::new(1).force(force).initial(&[0.0], &[1.0])
    };
    for flow in [Flow::Hem5, Flow::Rkf45, Flow::Dop853] {
        let scheme = EventDriven { h_min: Some(0.05), ..to(flow, 1e-9) };
        let bind = || Bound::new(scheme.clone(), Box::new(model()), carom_solve::solver::default()).unwrap();
        let (mut tried, mut fresh) = (bind(), bind());
        for h in [0.1, 0.1, 0.1, 0.1, 0.08] {
            assert_eq!(tried.attempt(h).unwrap().advanced, h);
            tried.accept();
        }
        let from = tried.from().clone();
        assert!(tried.attempt(0.3).is_err(), "{flow:?}");
        fresh.restart(&from);
        for stepper in [&mut tried, &mut fresh] {
            assert_eq!(stepper.attempt(0.01).unwrap().advanced, 0.01, "{flow:?}");
        }
        assert_eq!(tried.to(), fresh.to(), "{flow:?}");
        assert!((tried.to().q[0] - 0.49).abs() < 1e-14, "{flow:?}: {:?}", tried.to());
    }
}
