//! Closed contacts that are set free for a short time within a long step, against closed forms.

use crate::{Log, run};
use carom::EventKind;
use carom::model::{Contact, Lagrangian};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{Control, Flow};

const G: f64 = 9.81;
const MU: f64 = 0.3;
const SPAN: f64 = 10.0;
const FLOWS: [Flow; 3] = [Flow::Hem5, Flow::Rkf45, Flow::Dop853];

type Push = Box<dyn Fn(f64) -> [f64; 3] + Send>;

/// Unit mass at rest on a rough plane, pushed by a force of time.
fn mass(rows: usize, push: Push) -> Lagrangian {
    let unit = |k: usize| {
        move |_: f64, _: &[f64], row: &mut [f64]| {
            row.fill(0.0);
            row[k] = 1.0;
        }
    };
    let mut floor = Contact::new("floor", |_, q| q[2]).gradient(unit(2));
    for k in 0..rows {
        floor = floor.friction(MU, move |_, q| q[k]).gradient(unit(k));
    }
    Lagrangian::new(3)
        .force(move |t, _, _, f| {
            f.copy_from_slice(&push(t));
            f[2] -= G;
        })
        .contact(floor)
        .initial(&[0.0; 3], &[0.0; 3])
        .linear()
}

/// A push a (1 − z²)², z = (t − t₀)/w, that comes and goes.
#[derive(Clone, Copy)]
struct Pulse {
    place: f64,
    width: f64,
    size: f64,
}

impl Pulse {
    fn at(self, t: f64) -> f64 {
        let z = (t - self.place) / self.width;
        if z.abs() < 1.0 { self.size * (1.0 - z * z).powi(2) } else { 0.0 }
    }

    /// When it exceeds `limit`.
    fn begins(self, limit: f64) -> f64 {
        self.place - self.width * (1.0 - (limit / self.size).sqrt()).sqrt()
    }

    /// Velocity and path at `t` of a mass that is free from `begins` on and held back by `limit`.
    fn motion(self, limit: f64, t: f64) -> [f64; 2] {
        let Pulse { place, width: w, size: a } = self;
        // integrals of (1 − z²)² up to z, which are constant and linear beyond 1
        let once = |z: f64| z - 2.0 * z.powi(3) / 3.0 + z.powi(5) / 5.0;
        let twice = |z: f64| z * z / 2.0 - z.powi(4) / 6.0 + z.powi(6) / 30.0;
        let [first, now] = [self.begins(limit), t].map(|t| (t - place) / w);
        let (inside, beyond) = (now.min(1.0), (now - 1.0).max(0.0));
        let speed = once(inside) - once(first);
        let path = twice(inside) - twice(first) - once(first) * (inside - first) + beyond * speed;
        let s = t - self.begins(limit);
        [a * w * speed - limit * s, a * w * w * path - 0.5 * limit * s * s]
    }

    /// The first time after its end at which component `k` of the motion is back at zero.
    fn ends(self, limit: f64, k: usize) -> f64 {
        let (mut low, mut high) = (self.place, self.place + 20.0 * self.width);
        assert!(self.motion(limit, low)[k] > 0.0 && self.motion(limit, high)[k] < 0.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.motion(limit, middle)[k] > 0.0 { low = middle } else { high = middle }
        }
        low
    }
}

fn kinds(log: &Log) -> Vec<EventKind> {
    log.events.iter().map(|event| event.kind).collect()
}

fn pulses(limit: f64) -> impl Iterator<Item = Pulse> {
    // a pulse is above its limit for as long as 1.08 widths: down to a hundredth of the span
    let widths = [1.0, 0.3, 0.1];
    let each = |width: f64| (0..12).map(move |k| (width, 1.13 + 0.613 * f64::from(k)));
    let all = widths.into_iter().flat_map(each);
    all.map(move |(width, place)| Pulse { place, width, size: 2.0 * limit })
}

/// A mass that sticks is pushed over its limit for a while, slides, and sticks again.
#[test]
fn a_short_push_is_not_overlooked() {
    let limit = MU * G;
    for pulse in pulses(limit) {
        let (begins, ends) = (pulse.begins(limit), pulse.ends(limit, 0));
        let path = pulse.motion(limit, ends)[1];
        for (flow, h) in FLOWS.into_iter().flat_map(|flow| [0.1, 1.0, SPAN].map(|h| (flow, h))) {
            let what = format!("{flow:?} {h} at {} of {}", pulse.place, pulse.width);
            for (rows, direction) in [(1, [1.0, 0.0]), (1, [-1.0, 0.0]), (2, [0.6, -0.8])] {
                let push: Push = Box::new(move |t| [direction[0] * pulse.at(t), direction[1] * pulse.at(t), 0.0]);
                let scheme = EventDriven { flow, atol: Some(1e-11), rtol: 1e-11, ..EventDriven::default() };
                let log = run(mass(rows, push), scheme, SPAN, h);
                assert_eq!(kinds(&log), [EventKind::Slip, EventKind::Stick], "{what}: {:?}", log.events);
                assert!((log.events[0].t - begins).abs() < 1e-9, "{what}: {:e}", log.events[0].t - begins);
                // the second derivative of the push jumps
                assert!((log.events[1].t - ends).abs() < 1e-8, "{what}: {:e}", log.events[1].t - ends);
                let end = log.last();
                let miss = (end.q[0] - direction[0] * path).hypot(end.q[1] - direction[1] * path);
                assert!(miss < 1e-8, "{what}: {miss:e}");
            }
        }
    }
}

/// A multiplier dips below zero for a while: the mass takes off and lands.
#[test]
fn a_short_lift_is_not_overlooked() {
    for pulse in pulses(G) {
        let (begins, ends) = (pulse.begins(G), pulse.ends(G, 1));
        for (flow, h) in FLOWS.into_iter().flat_map(|flow| [0.1, 1.0, SPAN].map(|h| (flow, h))) {
            let what = format!("{flow:?} {h} at {} of {}", pulse.place, pulse.width);
            let scheme = EventDriven { flow, atol: Some(1e-11), rtol: 1e-11, ..EventDriven::default() };
            let log = run(mass(0, Box::new(move |t| [0.0, 0.0, pulse.at(t)])), scheme, ends + 1.0, h);
            let expected = [EventKind::TakeOff, EventKind::Impact, EventKind::Closing];
            assert_eq!(kinds(&log), expected, "{what}: {:?}", log.events);
            assert!((log.events[0].t - begins).abs() < 1e-9, "{what}: {:e}", log.events[0].t - begins);
            // the second derivative of the push jumps
            assert!((log.events[1].t - ends).abs() < 1e-8, "{what}: {:e}", log.events[1].t - ends);
        }
    }
}

/// Steps of one length cannot be shortened: the place is found all the same.
#[test]
fn steps_of_one_length_see_a_short_push() {
    let limit = MU * G;
    for pulse in pulses(limit) {
        for (flow, h) in FLOWS.into_iter().flat_map(|flow| [0.5, SPAN].map(|h| (flow, h))) {
            let push: Push = Box::new(move |t| [pulse.at(t), 0.0, 0.0]);
            let scheme = EventDriven { flow, control: Control::Fixed, ..EventDriven::default() };
            let log = run(mass(1, push), scheme, SPAN, h);
            let miss = log.events[0].t - pulse.begins(limit);
            assert!(log.events[0].kind == EventKind::Slip && miss.abs() < 1e-9, "{flow:?} {h}: {miss:e}");
        }
    }
}

/// A push in step with the span: over its limit for a hundredth of each half period, or nearly so.
#[test]
fn no_period_is_in_step_with_the_samples() {
    let limit = MU * G;
    for (flow, periods) in FLOWS.into_iter().flat_map(|flow| [1.0, 2.0, 10.0, 64.0, 100.0].map(|n| (flow, n))) {
        let rate = 2.0 * std::f64::consts::PI * periods / SPAN;
        for part in [1.0005, 0.9995] {
            let push: Push = Box::new(move |t| [part * limit * (rate * t).sin(), 0.0, 0.0]);
            let scheme = EventDriven { flow, atol: Some(1e-11), rtol: 1e-11, ..EventDriven::default() };
            let log = run(mass(1, push), scheme, SPAN, SPAN);
            if part < 1.0 {
                assert!(log.events.is_empty(), "{flow:?} {periods}: {:?}", log.events);
                continue;
            }
            let miss = log.events[0].t - (1.0f64 / part).asin() / rate;
            assert!(miss.abs() < 1e-9, "{flow:?} {periods}: {miss:e}");
            let slips = log.of(EventKind::Slip).len();
            assert_eq!((slips, log.of(EventKind::Stick).len()), (2 * periods as usize, slips), "{flow:?} {periods}");
        }
    }
}
