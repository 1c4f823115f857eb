//! Models of closures without derivatives, in any units: their differences find their own steps.

use carom::model::{Along, Contact, CouplingTangent, Lagrangian, Tangent};
use carom::scheme::higher_order::RungeKutta;
use carom::scheme::{Bound, EventDriven, HigherOrder, MoreauJean, Stepper};
use carom::sensitivity::DifferenceTangent;
use carom::simulation::FixedStep;
use carom::{Simulation, State};
use carom_solve::solver;

/// A metre and a second in the units of a model.
#[derive(Clone, Copy, Debug)]
struct Units {
    length: f64,
    time: f64,
}

const SI: Units = Units { length: 1.0, time: 1.0 };

fn others() -> Vec<Units> {
    let all = [(1e-12, 1.0), (1e-9, 1.0), (1e-9, 1e-9), (1.0, 1e-9), (1e-3, 1e3), (1e6, 1.0), (1e9, 1e-6)];
    all.map(|(length, time)| Units { length, time }).to_vec()
}

/// A mass on a hardening spring in a round bowl whose wall breathes; no derivative is told.
fn bowl(u: Units) -> Lagrangian {
    let stiffness = 40.0 / (u.time * u.time);
    Lagrangian::new(2)
        .force(move |_, q, _, f| {
            let r = f64::hypot(q[0], q[1]) / u.length;
            f[0] = -stiffness * (1.0 + r * r) * q[0];
            f[1] = -stiffness * (1.0 + r * r) * q[1] - 9.81 * u.length / (u.time * u.time);
        })
        .contact(
            Contact::new("wall", move |t, q| {
                u.length * (0.3 + 0.02 * (7.0 * t / u.time).sin()) - f64::hypot(q[0], q[1])
            })
            .restitution(0.6),
        )
        .initial(&[0.2 * u.length, 0.1 * u.length], &[u.length / u.time, 0.0])
}

/// The end of a run over a second, in metres and seconds.
fn end(stepper: Box<dyn Stepper>, u: Units) -> Vec<f64> {
    let fixed = Box::new(FixedStep { h: 0.01 * u.time });
    let mut simulation = Simulation::new(stepper, fixed, u.time).unwrap();
    while simulation.advance().unwrap().is_some() {}
    let State { q, v, .. } = simulation.state();
    q.iter().map(|q| q / u.length).chain(v.iter().map(|v| v * u.time / u.length)).collect()
}

fn compare(name: &str, tolerance: f64, make: impl Fn(Units) -> Box<dyn Stepper>) {
    let reference = end(make(SI), SI);
    let mut worst = 0.0f64;
    for units in others() {
        let found = end(make(units), units);
        let apart = found.iter().zip(&reference).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        println!("{name} {units:?}: {apart:e}");
        worst = worst.max(apart);
    }
    assert!(worst < tolerance, "{name}: {worst:e}");
}

/// Tangents steer Newton's loop alone, whose tolerance is 1e-10 of the velocity; impacts amplify what is left.
#[test]
fn moreau_jean_in_any_units() {
    compare("moreau-jean", 1e-6, |u| {
        Box::new(Bound::new(MoreauJean::default(), Box::new(bowl(u)), solver::default()).unwrap())
    });
}

/// Rows by differences are good to about 1e-12 of them, γ to 1e-8.
#[test]
fn event_driven_in_any_units() {
    compare("event-driven", 1e-6, |u| {
        let scheme = EventDriven { atol: Some(1e-10 * u.length), rtol: 1e-10, ..EventDriven::default() };
        Box::new(Bound::new(scheme, Box::new(bowl(u)), solver::default()).unwrap())
    });
}

#[test]
fn higher_order_in_any_units() {
    compare("higher-order", 1e-6, |u| {
        let scheme = HigherOrder { method: RungeKutta::RadauIia3, ..HigherOrder::default() };
        Box::new(Bound::new(scheme, Box::new(bowl(u)), solver::default()).unwrap())
    });
}

/// Derivatives of the force along a direction, against the closed form.
#[test]
fn tangents_by_differences_in_any_units() {
    for units in others().into_iter().chain([SI]) {
        let mut tangent = DifferenceTangent::new(Box::new(bowl(units)));
        let (q, v) = ([0.2 * units.length, 0.1 * units.length], [0.3 * units.length / units.time, 0.0]);
        let (dq, zero) = ([0.7 * units.length, -0.4 * units.length], [0.0, 0.0]);
        let along = Along { t: 0.0, q: &dq, v: &zero, p: &[] };
        let mut found = [0.0; 2];
        tangent.force((0.0, &q, &v), along, &mut found).unwrap();
        let k = 40.0 / (units.time * units.time);
        let (x, y) = (0.2, 0.1);
        let square: f64 = x * x + y * y;
        let inner = 2.0 * (x * 0.7 - y * 0.4);
        for (i, (at, d)) in [(x, 0.7), (y, -0.4)].into_iter().enumerate() {
            let exact = -k * units.length * ((1.0 + square) * d + inner * at);
            assert!((found[i] / exact - 1.0).abs() < 1e-8, "{units:?}: {} {exact}", found[i]);
        }
        let mut out = CouplingTangent::default();
        tangent.coupling((0.0, &q, &v), along, &mut out).unwrap();
        let exact = -units.length * (0.7 * x - 0.4 * y) / square.sqrt();
        assert!((out.gap[0] / exact - 1.0).abs() < 1e-8, "{units:?}: {} {exact}", out.gap[0]);
    }
}
