//! Models of closures without derivatives, in any units: their differences find their own steps.

use carom::model::{Along, Combination, Contact, CouplingTangent, FirstOrderSystem, Lagrangian, Output, Tangent};
use carom::scheme::higher_order::RungeKutta;
use carom::scheme::{Bound, EventDriven, HigherOrder, MoreauJean, Stepper};
use carom::sensitivity::DifferenceTangent;
use carom::simulation::FixedStep;
use carom::{Coupling, FirstOrder, Mechanical, Simulation, Space, State};
use carom_solve::{Law, LinearSolve, solver};

/// A metre and a second in the units of a model.
#[derive(Clone, Copy, Debug)]
struct Units {
    length: f64,
    time: f64,
}

const SI: Units = Units { length: 1.0, time: 1.0 };

fn others() -> Vec<Units> {
    let small = [(1e-12, 1.0), (1e-9, 1.0), (1e-9, 1e-9), (1.0, 1e-9)];
    let large = [(1e-3, 1e3), (1e6, 1.0), (1e9, 1e-6), (1e12, 1.0)];
    small.into_iter().chain(large).map(|(length, time)| Units { length, time }).collect()
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

/// A rod on a spring beside a floor: two lengths and an angle, with a weight beside which changes are small.
fn rod(u: Units, start: [f64; 3]) -> Lagrangian {
    let (k, g) = (40.0 / (u.time * u.time), 9.81 * u.length / (u.time * u.time));
    Lagrangian::new(3)
        .constant_mass(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.3 * u.length * u.length])
        .force(move |_, q, v, f| {
            let l = u.length;
            f[0] = -k * (q[0] - 0.5 * l * q[2].sin()) - 3.0 * v[0] / u.time;
            f[1] = -k * q[1] - 1e3 * g - 2.0 * v[1] / u.time;
            f[2] = -k * l * l * q[2].sin() + 0.2 * k * l * q[0] - l * l * v[2] / u.time;
        })
        .contact(Contact::new("tip", move |_, q| q[1] - u.length * q[2].cos() + 0.7 * u.length * q[2].sin()))
        .initial(&[start[0] * u.length, start[1] * u.length, start[2]], &[0.0, 0.0, 0.0])
}

/// Columns of M + hC + h²K and rows of gaps by differences, against closed forms: also where a coordinate is zero, far
/// smaller than the others, or an angle beside lengths of 1e-12 or 1e12 m.
#[test]
fn differences_are_as_good_in_any_units() {
    for units in others().into_iter().filter(|units| units.time == 1.0).chain([SI]) {
        let l = units.length;
        for start in [[0.3, 1.2, 0.4], [0.0, 1.0, 0.0], [1e-7, 2.0, 1e-6], [0.5, 1.0, 0.0]] {
            let mut model = rod(units, start);
            let mut at = Space::initial(&model);
            at.v.copy_from_slice(&[0.0, 0.2 * l, -0.1]);
            let (h, k, th) = (0.1, 40.0, start[2]);
            let combination = Combination { mass: 1.0, damping: h, stiffness: h * h };
            model.factor(&at, combination).unwrap();
            // in metres: rows of torques by 1/l², columns of angles as they are
            let exact = [
                [1.0 + h * 3.0 + h * h * k, 0.0, -h * h * 0.5 * k * th.cos()],
                [0.0, 1.0 + h * 2.0 + h * h * k, 0.0],
                [-h * h * 0.2 * k, 0.0, 0.3 + h + h * h * k * th.cos()],
            ];
            for column in 0..3 {
                let mut x = [0.0; 3];
                x[column] = 1.0;
                let mut rhs = [x[0] * l, x[1] * l, x[2] * l * l];
                model.solve(&mut rhs);
                let found = [rhs[0] / l, rhs[1] / l, rhs[2]];
                for (row, e) in exact.iter().zip(x) {
                    let sum: f64 = row.iter().zip(found).map(|(a, x)| a * x).sum();
                    assert!((sum - e).abs() < 1e-6, "{units:?} {start:?}: {sum} {e}");
                }
            }
            let mut coupling = Coupling::default();
            model.couple(0.0, &at.q, &mut coupling).unwrap();
            let mut row = [0.0; 3];
            coupling.rows.add_row(0, 1.0, &mut row);
            let exact = [0.0, 1.0, th.sin() + 0.7 * th.cos()];
            for (found, exact) in [row[0], row[1], row[2] / l].into_iter().zip(exact) {
                assert!((found - exact).abs() < 1e-9, "{units:?} {start:?}: {row:?} {exact}");
            }
        }
    }
}

/// The same of a first-order system: ẋ = a − x³/L² with a load, and an output.
#[test]
fn first_order_systems_are_differentiated_in_any_units() {
    for length in [1e-12, 1e-6, 1.0, 1e6, 1e12] {
        for start in [[0.0, 1.0], [0.5, 0.0], [1e-6, 0.3]] {
            let rate = move |_: f64, x: &[f64], out: &mut [f64]| {
                out[0] = 1e2 * length - 3.0 * x[0] - x[0].powi(3) / (length * length) + 0.5 * x[1];
                out[1] = length * (x[0] / length).sin() - 2.0 * x[1];
            };
            let output = Output::new(
                "wall",
                Law::UNILATERAL,
                move |_, x: &[f64]| 2.0 * length - x[0] + 0.1 * x[1],
                |_, _: &[f64], b: &mut [f64]| b.copy_from_slice(&[1.0, 0.0]),
            );
            let initial = start.map(|x| x * length);
            let mut model = FirstOrderSystem::new(&initial, rate).output(output).build().unwrap();
            let at = model.initial();
            model.factor(&at, 0.1).unwrap();
            let x = start[0];
            let exact = [[1.0 + 0.1 * (3.0 + 3.0 * x * x), -0.05], [-0.1 * x.cos(), 1.2]];
            for column in 0..2 {
                let mut found = [0.0; 2];
                found[column] = 1.0;
                model.solve(&mut found);
                for (i, row) in exact.iter().enumerate() {
                    let sum = row[0] * found[0] + row[1] * found[1];
                    let e = f64::from(u8::from(i == column));
                    assert!((sum - e).abs() < 1e-6, "{length:e} {start:?}: {sum} {e}");
                }
            }
            let mut coupling = Coupling::default();
            model.couple(0.0, &at.q, &mut coupling).unwrap();
            let mut row = [0.0; 2];
            coupling.rows.add_row(0, 1.0, &mut row);
            assert!((row[0] + 1.0).abs() < 1e-9 && (row[1] - 0.1).abs() < 1e-9, "{length:e} {start:?}: {row:?}");
        }
    }
}
