//! Accumulations end where they end: times of rest against closed forms and a tiny integrator of its own.

use crate::{run, simulation};
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::model::{Contact, Lagrangian};
use carom::scheme::EventDriven;
use carom::simulation::{Accumulation, Accumulations, Observer, SimulationError, StepView};
use carom::{EventKind, Mechanical, ModelError, State, StepError};
use carom_solve::Law;
use std::ops::ControlFlow;

/// Restitutions of every test.
const SLOW: [f64; 5] = [0.9, 0.99, 0.995, 0.999, 0.9999];

#[derive(Default)]
struct Watch {
    found: Accumulations,
    hand_overs: usize,
}

impl Observer for Watch {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.hand_overs += view.stepper.events().iter().filter(|e| e.kind == EventKind::HandOver).count();
        for event in view.events() {
            self.found.take(event);
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn accumulations(model: impl Mechanical + 'static, end: f64, h: f64) -> Vec<Accumulation> {
    let mut watch = Watch::default();
    let scheme = EventDriven { atol: Some(1e-12), rtol: 1e-12, ..EventDriven::default() };
    simulation(model, scheme, end, h).run(&mut [&mut watch]).unwrap();
    assert_eq!(watch.hand_overs, 0);
    watch.found.list
}

/// Balls over a floor with g = 2, each with its own restitution and height.
fn balls(falls: &[(f64, f64)]) -> Lagrangian {
    let n = falls.len();
    let mut model = Lagrangian::new(n).force(|_, _, _, f| f.fill(-2.0));
    for (k, (_, e)) in falls.iter().enumerate() {
        let floor = Contact::new(&format!("floor {k}"), move |_, q| q[k]).restitution(*e);
        model = model.contact(floor.gradient(move |_, _, row| {
            row.fill(0.0);
            row[k] = 1.0;
        }));
    }
    let heights: Vec<f64> = falls.iter().map(|fall| fall.0).collect();
    model.initial(&heights, &vec![0.0; n]).linear()
}

/// √height (1 + e)/(1 − e).
fn rest((height, e): (f64, f64)) -> f64 {
    height.sqrt() * (1.0 + e) / (1.0 - e)
}

fn is_rest(what: &str, found: f64, exact: f64) {
    assert!((found - exact).abs() < 1e-9 * exact, "{what}: {found}, {exact}, {:e}", (found - exact) / exact);
}

#[test]
fn a_ball_rests_at_its_time() {
    for e in SLOW {
        let exact = rest((1.0, e));
        for h in if e < 0.995 { vec![0.05, 0.5, 2.0 * exact] } else { vec![0.5] } {
            let found = accumulations(balls(&[(1.0, e)]), exact + 1.0, h);
            assert_eq!(found.len(), 1, "{e} {h}");
            is_rest(&format!("limit {e} {h}"), found[0].limit, exact);
            is_rest(&format!("closed {e} {h}"), found[0].closed, exact);
        }
    }
}

/// Two balls that come to rest at the same time, and at others.
#[test]
fn two_accumulations_at_once() {
    for (a, b) in [((1.0, 0.99), (1.0, 0.99)), ((1.0, 0.9), (0.25, 0.95)), ((2.0, 0.99), (0.5, 0.995))] {
        let found = accumulations(balls(&[a, b]), rest(a).max(rest(b)) + 1.0, 0.5);
        assert_eq!(found.len(), 2, "{found:?}");
        for (k, fall) in [a, b].into_iter().enumerate() {
            let own = found.iter().find(|one| one.contact == format!("floor {k}")).unwrap();
            is_rest(&format!("{a:?} {b:?} {k}"), own.limit, rest(fall));
        }
    }
}

/// A particle under gravity over y = c x² + A sin ωt.
#[derive(Clone, Copy, Debug)]
struct Floor {
    curvature: f64,
    amplitude: f64,
    frequency: f64,
    restitution: f64,
}

const FALL: f64 = 9.81;

impl Functions for Floor {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[1] * FALL
    }
    fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
        out[0] = q[1] - q[0] * q[0] * self.curvature - (t * self.frequency).sin() * self.amplitude;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("floor", Law::UNILATERAL).restitution(self.restitution)]
    }
}

impl Floor {
    /// The time of rest from impacts on exact parabolas, each one bracketed and halved to rounding; the last flights
    /// are summed up as a series.
    fn rest(&self, q: [f64; 2], v: [f64; 2]) -> f64 {
        let (mut t, mut q, mut v) = (0.0f64, q, v);
        loop {
            let at = |s: f64| {
                let (x, y) = (q[0] + v[0] * s, q[1] + v[1] * s - 0.5 * FALL * s * s);
                y - self.curvature * x * x - self.amplitude * (self.frequency * (t + s)).sin()
            };
            // normal velocity and acceleration at the start tell how long the flight is, if it is a small one
            let row = [-2.0 * self.curvature * q[0], 1.0];
            let u = row[0] * v[0] + row[1] * v[1] - self.amplitude * self.frequency * (self.frequency * t).cos();
            let fall = FALL + 2.0 * self.curvature * v[0] * v[0]
                - self.amplitude * self.frequency * self.frequency * (self.frequency * t).sin();
            let flight = 2.0 * u / fall;
            if t > 0.0 && u < 4e-6 {
                return t + flight / (1.0 - self.restitution);
            }
            let mut low = if t > 0.0 { 0.25 * flight } else { 0.0 };
            let step = if t > 0.0 { 0.125 * flight } else { 1e-3 };
            while at(low + step) > 0.0 {
                low += step;
            }
            let mut high = low + step;
            while 0.5 * (low + high) > low && 0.5 * (low + high) < high {
                let middle = 0.5 * (low + high);
                if at(middle) > 0.0 { low = middle } else { high = middle }
            }
            (q, v) = ([q[0] + v[0] * low, q[1] + v[1] * low - 0.5 * FALL * low * low], [v[0], v[1] - FALL * low]);
            t += low;
            let row = [-2.0 * self.curvature * q[0], 1.0];
            let u = row[0] * v[0] + row[1] * v[1] - self.amplitude * self.frequency * (self.frequency * t).cos();
            let p = -(1.0 + self.restitution) * u / (row[0] * row[0] + row[1] * row[1]);
            v = [v[0] + p * row[0], v[1] + p * row[1]];
        }
    }
}

#[test]
fn rest_on_curved_and_moving_floors() {
    for (curvature, amplitude) in [(0.3, 0.0), (0.0, 0.02), (0.2, 0.01)] {
        for restitution in [0.5, 0.9, 0.95] {
            let floor = Floor { curvature, amplitude, frequency: 3.0, restitution };
            let (q, v) = ([0.4, 0.5], [0.3, 0.0]);
            let exact = floor.rest(q, v);
            let model = DualLagrangian::new(floor, State::new(0.0, &q, &v)).unwrap();
            let found = accumulations(model, exact + 0.1, 0.05);
            assert_eq!(found.len(), 1, "{floor:?}: {found:?}");
            is_rest(&format!("{floor:?}"), found[0].limit, exact);
        }
    }
}

/// Against impacts on parabolas in arithmetic of 40 digits: two thousand of them amplify the rounding of double
/// precision by thousands, so that the integrator above has errors up to 7e-9 itself.
#[test]
fn long_rest_on_curved_and_moving_floors() {
    for (curvature, amplitude, exact, tolerance) in [
        (0.3, 0.0, 57.975_400_742_440_64, 1e-9),
        (0.0, 0.02, 63.553_459_171_608_89, 1e-9),
        (0.2, 0.01, 60.489_905_590_166_4, 3e-9),
    ] {
        let floor = Floor { curvature, amplitude, frequency: 3.0, restitution: 0.99 };
        let model = DualLagrangian::new(floor, State::new(0.0, &[0.4, 0.5], &[0.3, 0.0])).unwrap();
        let found = accumulations(model, exact + 0.1, 0.05);
        let error = (found[0].limit - exact) / exact;
        assert!(found.len() == 1 && error.abs() < tolerance, "{floor:?}: {error:e}");
    }
}

/// A mass between two walls, ten thousand impacts within each step: v eⁿ after impact n, at the time of a geometric
/// series.
#[test]
fn a_fast_slot_has_the_right_sign() {
    for e in [1.0f64, 0.9999] {
        let width = 1e-4;
        let slot = Lagrangian::new(1)
            .contact(Contact::new("left", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(e))
            .contact(Contact::new("right", move |_, q| width - q[0]).gradient(|_, _, row| row[0] = -1.0).restitution(e))
            .initial(&[0.0], &[1.0])
            .linear();
        let end = 1.23456;
        let log = run(slot, EventDriven::default(), end, 1.0);
        let (mut t, mut n) = (width, 1);
        while t + width / e.powi(n) <= end {
            t += width / e.powi(n);
            n += 1;
        }
        let (speed, away) = (e.powi(n), e.powi(n) * (end - t));
        let (x, v) = if n % 2 == 1 { (width - away, -speed) } else { (away, speed) };
        assert_eq!(log.of(EventKind::Impact).len(), n as usize, "{e}");
        assert!(log.of(EventKind::HandOver).is_empty());
        assert!((log.last().q[0] - x).abs() < 1e-9 * width.max(1.0), "{e}: {} {x}", log.last().q[0]);
        assert!((log.last().v[0] - v).abs() < 1e-9, "{e}: {} {v}", log.last().v[0]);
    }
}

/// A budget that runs out is an error that tells the time and the contact; what was computed before stays.
#[test]
fn a_budget_that_runs_out_is_an_error() {
    for max_events in [1, 20] {
        let scheme = EventDriven { max_events, ..EventDriven::default() };
        let mut watch = crate::Log::default();
        let failed = simulation(balls(&[(1.0, 0.9)]), scheme, 30.0, 30.0).run(&mut [&mut watch]).unwrap_err();
        let SimulationError::Step { contact, source: StepError::Events { limit, .. }, .. } = &failed else {
            panic!("{failed:?}")
        };
        assert_eq!((contact.as_deref(), *limit), (Some("floor 0"), max_events));
        assert_eq!(watch.of(EventKind::Impact).len(), max_events as usize + 1);
    }
}

/// Rest of the lower and of the upper ball with e = 0.9 and 0.99 [s].
const STACK: [[f64; 2]; 2] = [[3.524458287214134, 4.345774339137755], [37.4775821819678, 45.94759698400175]];

/// Restitution, inclinations of the walls in degrees, and the time of rest [s].
const CORNER: [(f64, [f64; 2], f64); 4] = [
    (0.9, [-45.0, 45.0], 6.9715137619899955),
    (0.99, [-45.0, 45.0], 72.72771849894978),
    (0.5, [-60.0, 50.0], 0.9099894403043955),
    (0.5, [-30.0, 25.0], 2.0263572055024223),
];

/// A point mass over contacts with these gaps n·q, under g = 9.81.
fn over(walls: &[(&str, [f64; 2])], e: f64, (q, v): ([f64; 2], [f64; 2]), pull: [f64; 2]) -> Lagrangian {
    let mut model = Lagrangian::new(2).force(move |_, _, _, f| f.copy_from_slice(&pull));
    for &(name, n) in walls {
        let wall = Contact::new(name, move |_, q| n[0] * q[0] + n[1] * q[1]).restitution(e);
        model = model.contact(wall.gradient(move |_, _, row| row.copy_from_slice(&n)));
    }
    model.initial(&q, &v).linear()
}

/// Two masses on one another that bounce on the floor: the lower one comes to rest, then the upper one on it.
/// References: from event to event in 60 digits.
#[test]
fn two_stacked_balls_rest_in_turn() {
    for (e, lower, upper) in [(0.9, STACK[0][0], STACK[0][1]), (0.99, STACK[1][0], STACK[1][1])] {
        let gaps = [("floor", [1.0, 0.0]), ("between", [-1.0, 1.0])];
        let model = over(&gaps, e, ([0.3, 0.8], [0.0, 0.0]), [-9.81, -9.81]);
        let found = accumulations(model, 1.1 * upper, 0.1);
        assert_eq!(found.iter().map(|a| a.contact.as_str()).collect::<Vec<_>>(), ["floor", "between"]);
        is_rest("lower", found[0].limit, lower);
        is_rest("upper", found[1].limit, upper);
    }
}

/// A mass in a corner of two walls. At a right angle both accumulate on their own. Where the angle is acute, an impact
/// on a wall presses the mass to the other one. Where it is obtuse, each impact on a wall throws it off the other one,
/// on which it comes to rest again: accumulations accumulate. References: from event to event in 60 digits.
///
/// With more restitution the last two are no test: a change of the start by 1e-16 changes the time of rest by 1.6e-4 of
/// it (acute, e = 0.9), and by 0.6 % and more (obtuse, e = 0.9; both, e = 0.99).
#[test]
fn a_mass_rests_in_a_corner() {
    for (e, [left, right], rest) in CORNER {
        let normal = |degrees: f64| [-degrees.to_radians().sin(), degrees.to_radians().cos()];
        let walls = [("left", normal(left)), ("right", normal(right))];
        let model = over(&walls, e, ([0.05, 0.6], [0.3, 0.0]), [0.0, -9.81]);
        let found = accumulations(model, 1.1 * rest, 0.1);
        let last = found.iter().map(|a| a.limit).fold(0.0, f64::max);
        is_rest(&format!("{e} {left} {right}"), last, rest);
    }
}
