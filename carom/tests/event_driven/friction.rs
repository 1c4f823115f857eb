//! Sticking and slipping phases against closed forms.

use crate::{Log, run};
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::model::{Contact, Lagrangian};
use carom::scheme::EventDriven;
use carom::{Event, EventKind, State};
use carom_solve::Law;

const G: f64 = 9.81;
const MU: f64 = 0.3;

type Push = Box<dyn Fn(f64, &[f64], &[f64]) -> [f64; 2] + Send>;

/// Unit mass over a rough plane in space, pushed along it; the plane moves with `belt` m/s along x.
fn block(spatial: bool, belt: f64, push: Push, q: [f64; 3], v: [f64; 3]) -> Lagrangian {
    let unit = |k: usize| {
        move |_: f64, _: &[f64], row: &mut [f64]| {
            row.fill(0.0);
            row[k] = 1.0;
        }
    };
    let slip = move |t: f64, q: &[f64]| q[0] - belt * t;
    let mut floor = Contact::new("floor", |_, q| q[2]).gradient(unit(2)).friction(MU, slip).gradient(unit(0));
    if spatial {
        floor = floor.friction(MU, |_, q| q[1]).gradient(unit(1));
    }
    Lagrangian::new(3)
        .force(move |t, q, v, f| {
            let [x, y] = push(t, q, v);
            f.copy_from_slice(&[x, y, -G]);
        })
        .contact(floor)
        .initial(&q, &v)
        .linear()
}

fn kinds(log: &Log) -> Vec<EventKind> {
    log.events.iter().map(|event: &Event| event.kind).collect()
}

/// The block stops after v/(μ g) at v²/(2 μ g), and stays.
#[test]
fn sliding_block_stops_in_time_and_place() {
    for spatial in [false, true] {
        let v = if spatial { [0.9, 1.2, 0.0] } else { [1.5, 0.0, 0.0] };
        for h in [0.02, 0.3, 5.0] {
            let log =
                run(block(spatial, 0.0, Box::new(|_, _, _| [0.0; 2]), [0.0; 3], v), EventDriven::default(), 2.0, h);
            assert_eq!(kinds(&log), [EventKind::Stick], "{spatial} {h}");
            let (time, place) = (1.5 / (MU * G), 1.5 * 1.5 / (2.0 * MU * G));
            assert!((log.events[0].t - time).abs() < 1e-10, "{spatial} {h}: {:e}", log.events[0].t - time);
            let end = log.last();
            assert!((end.q[0].hypot(end.q[1]) - place).abs() < 1e-10, "{:e}", end.q[0].hypot(end.q[1]) - place);
            assert!(end.v.iter().all(|v| v.abs() < 1e-14) && end.q[2].abs() < 1e-14, "{end:?}");
        }
    }
}

/// A push that grows overcomes friction at t₀ = μ g/k; then x = k (t − t₀)³/6.
#[test]
fn sticking_block_starts_to_slide() {
    let (rate, end): (f64, f64) = (4.0, 1.5);
    let start = MU * G / rate;
    for spatial in [false, true] {
        let push: Push = Box::new(move |t, _, _| [rate * t, 0.0]);
        let log = run(block(spatial, 0.0, push, [0.0; 3], [0.0; 3]), EventDriven::default(), end, 0.1);
        assert_eq!(kinds(&log), [EventKind::Slip]);
        assert!((log.events[0].t - start).abs() < 1e-10, "{:e}", log.events[0].t - start);
        let error = log.last().q[0] - rate * (end - start).powi(3) / 6.0;
        assert!(error.abs() < 1e-9, "{spatial}: {error:e}");
    }
}

/// A strong harmonic push: the slip turns around without sticking.
#[test]
fn slip_reverses_under_a_strong_push() {
    let amplitude = 20.0f64;
    let push: Push = Box::new(move |t, _, _| [amplitude * t.cos(), 0.0]);
    // v = A sin t − μ g t until it vanishes
    let log = run(block(false, 0.0, push, [0.0; 3], [1e-9, 0.0, 0.0]), EventDriven::default(), 4.0, 0.2);
    let speed = |t: f64| 1e-9 + amplitude * t.sin() - MU * G * t;
    let (mut low, mut high) = (1.0, 3.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if speed(middle) > 0.0 { low = middle } else { high = middle }
    }
    assert_eq!(kinds(&log)[0], EventKind::SlipReversal, "{:?}", kinds(&log));
    assert!((log.events[0].t - low).abs() < 1e-9, "{:e}", log.events[0].t - low);
}

/// A block on a belt, held by a spring, with friction that weakens with the speed of slip.
struct Belt {
    spring: f64,
    weakening: f64,
    speed: f64,
}

impl Functions for Belt {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[0] * q[0] * (0.5 * self.spring) + q[1] * G
    }
    fn force<D: Scalar>(&self, _t: D, _q: &[D], v: &[D], out: &mut [D]) {
        out[0] = (v[0] - self.speed) * self.weakening;
    }
    fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
        out[0] = q[1];
        out[1] = q[0] - t * self.speed;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("belt", Law::coulomb(MU, 1))]
    }
}

impl Belt {
    /// Time of slip and of the whole cycle. The block slips from x = μ g/k at x′ = V with x″ = −k x + μ g + c (x′ − V),
    /// an oscillator with negative damping about (μ g − c V)/k, until x′ = V again; then the belt takes it back.
    fn cycle(&self) -> (f64, f64) {
        let Belt { spring: k, weakening: c, speed } = *self;
        let w = (k - 0.25 * c * c).sqrt();
        let a = c * speed / k;
        let b = (speed - 0.5 * c * a) / w;
        let y = |t: f64| (0.5 * c * t).exp() * (a * (w * t).cos() + b * (w * t).sin());
        let rate = |t: f64| {
            let turned = b * (w * t).cos() - a * (w * t).sin();
            0.5 * c * y(t) + (0.5 * c * t).exp() * w * turned
        };
        // slower than the belt after half a turn, faster after a whole one
        let (mut low, mut high) = (std::f64::consts::PI / w, 2.0 * std::f64::consts::PI / w);
        assert!(rate(low) < speed && rate(high) > speed);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if rate(middle) < speed { low = middle } else { high = middle }
        }
        (low, low + (a - y(low)) / speed)
    }
}

/// Stick-slip on a belt: both phases have the length of the closed form.
#[test]
fn block_on_a_belt_has_the_period_of_its_closed_form() {
    let belt = || Belt { spring: 4.0, weakening: 0.3, speed: 0.5 };
    let (slip, period) = belt().cycle();
    let scheme = EventDriven { atol: Some(1e-11), rtol: 1e-11, ..EventDriven::default() };
    let model = DualLagrangian::new(belt(), State::new(0.0, &[0.0, 0.0], &[0.5, 0.0])).unwrap();
    let log = run(model, scheme, 30.0, 0.2);
    let (slips, sticks) = (log.of(EventKind::Slip), log.of(EventKind::Stick));
    // the first slip starts at x = V t = μ g/k
    assert!((slips[0].t - MU * G / (4.0 * 0.5)).abs() < 1e-9, "{:e}", slips[0].t - MU * G / 2.0);
    assert!(slips.len() > 5);
    for (pair, stick) in slips.windows(2).zip(&sticks) {
        assert!((pair[1].t - pair[0].t - period).abs() < 1e-8, "{:e}", pair[1].t - pair[0].t - period);
        assert!((stick.t - pair[0].t - slip).abs() < 1e-8, "{:e}", stick.t - pair[0].t - slip);
    }
}
