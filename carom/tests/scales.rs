//! No absolute lengths, times or masses: a model in other units has the same motion, whatever the scheme.
//!
//! Units that are powers of four scale every number of a run exactly, square roots included: nothing but a constant
//! with a unit can change a bit then. Powers of ten round, and the motion is the same but for that.

use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::model::{Lcs, Matrices};
use carom::multibody::pair::{Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact, Multibody, MultibodyModel};
use carom::scheme::{AnyModel, Claim, Family, SCHEMES, SchemeRow};
use carom::simulation::{Adaptive, Audit, Controller, FixedStep, SimulationError};
use carom::{Simulation, State, Warning};
use carom_solve::{Law, Options};
use serde_json::{Value, json};

/// Units of a model: what a metre, a kilogram and a second are in it. The pull of gravity is the same for all, but for
/// runs that show what a rounding of it does.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Units {
    length: f64,
    mass: f64,
    time: f64,
    pull: f64,
}

const SI: Units = Units { length: 1.0, mass: 1.0, time: 1.0, pull: 9.81 };

impl Units {
    fn gravity(self) -> f64 {
        self.pull * self.length / (self.time * self.time)
    }
}

/// What a scheme can do: the laws of the models follow from it.
#[derive(Clone, Copy)]
struct Laws {
    restitution: f64,
    friction: f64,
}

/// A ball that falls from 1 m on the floor and bounces.
struct Ball(Units, Laws);

impl Functions for Ball {
    fn kinetic<D: Scalar>(&self, _: D, _: &[D], v: &[D]) -> D {
        v[0] * v[0] * (0.5 * self.0.mass)
    }
    fn potential<D: Scalar>(&self, _: D, q: &[D]) -> D {
        q[0] * (self.0.mass * self.0.gravity())
    }
    fn outputs<D: Scalar>(&self, _: D, q: &[D], out: &mut [D]) {
        out[0] = q[0];
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("floor", Law::UNILATERAL).restitution(self.1.restitution)]
    }
}

/// A block of 1 m by 1.5 m that falls on a corner, rocks and slides.
struct Block(Units, Laws);

impl Functions for Block {
    fn kinetic<D: Scalar>(&self, _: D, _: &[D], v: &[D]) -> D {
        let inertia = self.0.mass * self.0.length * self.0.length * (1.5 * 1.5 + 1.0) / 12.0;
        (v[0] * v[0] + v[1] * v[1]) * (0.5 * self.0.mass) + v[2] * v[2] * (0.5 * inertia)
    }
    fn potential<D: Scalar>(&self, _: D, q: &[D]) -> D {
        q[1] * (self.0.mass * self.0.gravity())
    }
    fn outputs<D: Scalar>(&self, _: D, q: &[D], out: &mut [D]) {
        let (a, b) = (0.5 * self.0.length, 0.75 * self.0.length);
        let rows = if self.1.friction > 0.0 { 2 } else { 1 };
        for (k, side) in [1.0, -1.0].into_iter().enumerate() {
            out[rows * k] = q[1] - q[2].cos() * b + q[2].sin() * (side * a);
            if rows == 2 {
                out[rows * k + 1] = q[0] + q[2].sin() * b + q[2].cos() * (side * a);
            }
        }
    }
    fn laws(&self) -> Vec<NamedLaw> {
        let law = if self.1.friction > 0.0 { Law::coulomb(self.1.friction, 1) } else { Law::UNILATERAL };
        ["left", "right"].map(|name| NamedLaw::new(name, law).restitution(self.1.restitution)).into()
    }
}

/// A mass on a rod of 1 m that swings against a wall.
struct Pendulum(Units, Laws);

impl Functions for Pendulum {
    fn kinetic<D: Scalar>(&self, _: D, _: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * (0.5 * self.0.mass)
    }
    fn potential<D: Scalar>(&self, _: D, q: &[D]) -> D {
        q[1] * (self.0.mass * self.0.gravity())
    }
    fn outputs<D: Scalar>(&self, _: D, q: &[D], out: &mut [D]) {
        out[0] = (q[0] * q[0] + q[1] * q[1]).sqrt() - self.0.length;
        out[1] = q[0] + 0.3 * self.0.length;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        let wall = NamedLaw::new("wall", Law::UNILATERAL).restitution(self.1.restitution);
        vec![NamedLaw::new("rod", Law::EQUALITY), wall]
    }
}

/// A dumb-bell of two spheres, 1 m apart, that falls on the floor, spins and slides: seven coordinates, lengths and a
/// quaternion, and six velocities.
fn dumb_bell(units: Units, laws: Laws) -> MultibodyModel {
    let Units { length, mass, time, .. } = units;
    let floor = Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] };
    let contact = |name: &str, side: f64| {
        let sphere = Sphere { centre: [0.5 * side * length, 0.0, 0.0], radius: 0.2 * length };
        let pair = SpherePlane { plane: floor, sphere };
        Contact::new(name, "ground", "bell", pair).restitution(laws.restitution).friction(laws.friction)
    };
    let body = Body::new("bell", mass, [0.05, 0.3, 0.32].map(|j| j * mass * length * length))
        .at([0.0, 0.0, length])
        .attitude([0.8, 0.36, -0.48, 0.0])
        .velocity([0.3 * length / time, -0.1 * length / time, 0.0])
        .spin([0.5 / time, -0.4 / time, 0.3 / time]);
    let bodies = Multibody::spatial().gravity([0.0, 0.0, -units.gravity()]).body(body);
    bodies.contact(contact("left", 1.0)).contact(contact("right", -1.0)).build().unwrap()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Ball,
    Block,
    Pendulum,
    DumbBell,
}

impl Kind {
    /// The model, and the units of its coordinates and of what velocities move.
    fn model(self, units: Units, laws: Laws) -> (AnyModel, [Vec<f64>; 2]) {
        let Units { length, .. } = units;
        let state = |q: &[f64], v: &[f64], units: &[f64], time: f64| {
            let scaled = |x: &[f64]| x.iter().zip(units).map(|(x, unit)| x * unit).collect::<Vec<f64>>();
            State::new(0.0, &scaled(q), &scaled(v).iter().map(|v| v / time).collect::<Vec<f64>>())
        };
        match self {
            Kind::Ball => {
                let unit = vec![length];
                let start = state(&[1.0], &[0.0], &unit, units.time);
                (
                    AnyModel::Mechanical(Box::new(DualLagrangian::new(Ball(units, laws), start).unwrap())),
                    [unit.clone(), unit],
                )
            }
            Kind::Block => {
                let unit = vec![length, length, 1.0];
                let start = state(&[0.0, 1.0, 0.2], &[0.3, 0.0, 0.2], &unit, units.time);
                (
                    AnyModel::Mechanical(Box::new(DualLagrangian::new(Block(units, laws), start).unwrap())),
                    [unit.clone(), unit],
                )
            }
            Kind::Pendulum => {
                let unit = vec![length, length];
                let start = state(&[0.6, -0.8], &[0.0, 0.0], &unit, units.time);
                (
                    AnyModel::Mechanical(Box::new(DualLagrangian::new(Pendulum(units, laws), start).unwrap())),
                    [unit.clone(), unit],
                )
            }
            Kind::DumbBell => {
                let of = |count: usize| (0..count).map(|k| if k < 3 { length } else { 1.0 }).collect();
                (AnyModel::Mechanical(Box::new(dumb_bell(units, laws))), [of(7), of(6)])
            }
        }
    }
}

/// A run in metres and seconds: times, positions and velocities of every point, and impacts.
#[derive(Debug, PartialEq)]
struct Run {
    points: Vec<(f64, Vec<f64>, Vec<f64>)>,
    impacts: Vec<(f64, String)>,
}

/// A scheme with options on a model that it can treat, with equal steps or with adaptive ones.
struct Case {
    row: &'static SchemeRow,
    options: &'static str,
    kind: Kind,
    adaptive: Option<&'static str>,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Case { row, options, kind, adaptive } = self;
        write!(f, "{} {options} {kind:?}", row.info.name)?;
        adaptive.map_or(Ok(()), |adaptive| write!(f, " adaptive {adaptive}"))
    }
}

impl Case {
    /// Whether a number that is given is the tolerance of positions and of velocities: in other units of time it cannot
    /// be the same for both.
    fn has_one_tolerance(&self) -> bool {
        self.row.info.name == "event-driven" && self.adaptive.is_some_and(|adaptive| adaptive.contains("tolerance"))
    }

    /// A run of this length; a dumb-bell, which costs more, has its impacts early.
    fn run(&self, units: Units, end: f64, h: f64) -> Result<Run, String> {
        let end = if self.kind == Kind::DumbBell { 0.4 * end } else { end };
        let has = |claim| self.row.info.claims.contains(&claim);
        let laws = Laws {
            restitution: if has(Claim::Inelastic) { 0.0 } else { 0.5 },
            friction: if has(Claim::Friction) { 0.3 } else { 0.0 },
        };
        let (model, unit) = self.kind.model(units, laws);
        let options: Value = serde_json::from_str(self.options).unwrap();
        let (end, h, solver) = (end * units.time, h * units.time, carom_solve::solver::default());
        let (stepper, control): (_, Box<dyn Controller>) = match self.adaptive {
            None => ((self.row.bind)(&options, model, solver), Box::new(FixedStep { h })),
            Some(adaptive) => {
                let mut adaptive: Value = serde_json::from_str(adaptive).unwrap();
                // a tolerance that is given is a length of the model
                if let Some(tolerance) = adaptive.get_mut("tolerance") {
                    *tolerance = json!(tolerance.as_f64().unwrap() * units.length);
                }
                let adaptive = Adaptive::read(&adaptive).unwrap();
                let stepper = (self.row.bind_adaptive)(&options, adaptive.accuracy(), model, solver);
                (stepper, Box::new(adaptive.control(h, (0.0, end))))
            }
        };
        let simulation = Simulation::new(stepper.map_err(|e| e.to_string())?, control, end);
        let solution = simulation.map_err(|e| e.to_string())?.record().map_err(|e| e.to_string())?;
        // the smallest numbers have lost digits: they are no powers of two apart
        let whole = |x: f64| if x.abs() > 1e-250 { x } else { 0.0 };
        let point = |k: usize| {
            let q = solution.q(k).iter().zip(&unit[0]).map(|(q, unit)| whole(q / unit)).collect();
            let v = solution.v(k).iter().zip(&unit[1]).map(|(v, unit)| whole(v / unit * units.time)).collect();
            (solution.t[k] / units.time, q, v)
        };
        let impacts = solution.impacts.iter().map(|i| (i.t / units.time, i.contact.clone())).collect();
        Ok(Run { points: (0..solution.len()).map(point).collect(), impacts })
    }
}

/// Steps of the event-driven scheme that it chooses itself.
const CONTROLLED: [&str; 5] = [
    r#"{ "flow": "rkf45" }"#,
    r#"{ "flow": "dop853" }"#,
    r#"{ "control": "epus" }"#,
    r#"{ "rtol": 0.0 }"#,
    r#"{ "dense": "order-4", "edge": "sort" }"#,
];

/// Models that a scheme can treat.
fn kinds(row: &SchemeRow) -> impl Iterator<Item = Kind> {
    let pendulum = row.info.claims.contains(&Claim::Bilateral).then_some(Kind::Pendulum);
    [Kind::Ball, Kind::Block, Kind::DumbBell].into_iter().chain(pendulum)
}

/// All mechanical schemes with equal steps.
fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for row in SCHEMES.iter().filter(|row| row.family == Family::Mechanical) {
        let events = row.info.name == "event-driven";
        let variants = row.variants.iter().map(|variant| variant.options);
        let others = variants.chain([row.measured].into_iter().chain(CONTROLLED).filter(|_| events));
        for options in std::iter::once("{}").chain(others.filter(|options| *options != "{}")) {
            all.extend(kinds(row).map(|kind| Case { row, options, kind, adaptive: None }));
        }
    }
    all
}

/// Adaptive steps of all mechanical schemes that have them. A tolerance that is given is a length: models that turn
/// have no such one.
fn adaptive_cases() -> Vec<Case> {
    let mut all = Vec::new();
    for row in SCHEMES.iter().filter(|row| row.family == Family::Mechanical) {
        let mut add = |kind, adaptive| all.push(Case { row, options: "{}", kind, adaptive: Some(adaptive) });
        for kind in kinds(row) {
            add(kind, "{}");
            add(kind, r#"{ "relative": 1e-5 }"#);
        }
        add(Kind::Ball, r#"{ "tolerance": 1e-5 }"#);
        add(Kind::Ball, r#"{ "tolerance": 1e-5, "estimator": "position" }"#);
        add(Kind::Block, r#"{ "estimator": "variable-order" }"#);
    }
    all
}

/// Lengths, masses and times in units of 2^k or 10^k.
fn all_units(base: f64, exponents: &[i32]) -> Vec<Units> {
    let mut all = Vec::new();
    for &k in exponents {
        all.push(Units { length: base.powi(k), ..SI });
        all.push(Units { mass: base.powi(k), ..SI });
        all.push(Units { time: base.powi(k), ..SI });
    }
    all
}

/// How far two runs are apart at the points of both; infinite where they have other impacts or steps.
fn distance(a: &Run, b: &Run) -> f64 {
    let far = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    let names = |run: &Run| run.impacts.iter().map(|impact| impact.1.clone()).collect::<Vec<_>>();
    if a.points.len() != b.points.len() || names(a) != names(b) {
        return f64::INFINITY;
    }
    a.points.iter().zip(&b.points).fold(0.0, |most, (a, b)| most.max(far(&a.1, &b.1)).max(far(&a.2, &b.2)))
}

/// How far two runs are apart in their first impacts and at the end. A step ends at an event, and rounding decides on
/// the last impact of a series and on the steps around it.
fn distance_of_events(a: &Run, b: &Run) -> f64 {
    let first = |run: &Run| Run { impacts: run.impacts.iter().take(10).cloned().collect(), points: Vec::new() };
    let (a_first, b_first) = (first(a), first(b));
    let pairs = a_first.impacts.iter().zip(&b_first.impacts);
    let (late, ends) = (
        pairs.fold(0.0f64, |most, (a, b)| most.max((a.0 - b.0).abs())),
        [a, b].map(|run| Run { points: run.points.last().cloned().into_iter().collect(), impacts: Vec::new() }),
    );
    distance(&a_first, &b_first).max(late).max(distance(&ends[0], &ends[1]))
}

/// What is not the same to the last bit in units that are powers of four, near 1e-12, 1e-9, 1e-3, 1e3, 1e6 and 1e12.
fn changed_bits(cases: &[Case], (end, h): (f64, f64)) -> Vec<String> {
    let mut failed = Vec::new();
    for case in cases {
        // a scheme that refuses a model refuses it in all units
        let expected = case.run(SI, end, h);
        for units in all_units(2.0, &[-40, -30, -10, 10, 20, 40]) {
            if case.has_one_tolerance() && units.time != 1.0 {
                continue;
            }
            let found = case.run(units, end, h);
            let why = match (&found, &expected) {
                (Ok(found), Ok(expected)) if found == expected => continue,
                (Err(_), Err(_)) => continue,
                (Ok(found), Ok(expected)) => {
                    let first = found.points.iter().zip(&expected.points).find(|(a, b)| a != b);
                    format!("{} and {} impacts, {first:?}", found.impacts.len(), expected.impacts.len())
                }
                (found, expected) => format!("{:?}, {:?}", found.as_ref().err(), expected.as_ref().err()),
            };
            failed.push(format!("{case} {units:?}: {why}"));
        }
    }
    failed
}

#[test]
fn units_that_are_powers_of_four_change_no_bit() {
    let cases = cases();
    for case in &cases {
        assert!(!case.run(SI, 2.0, 0.01).unwrap().impacts.is_empty(), "{case}");
    }
    let failed = changed_bits(&cases, (2.0, 0.01));
    assert!(failed.is_empty(), "{} of them:\n{}", failed.len(), failed.join("\n"));
}

/// The same for adaptive steps: first, smallest and largest steps and estimates have no units but those of the
/// tolerance.
#[test]
fn adaptive_steps_have_no_units() {
    let cases = adaptive_cases();
    let runs = cases.iter().filter_map(|case| case.run(SI, 1.0, 0.01).ok());
    let impacts = runs.map(|run| run.impacts.len()).collect::<Vec<_>>();
    assert!(impacts.len() > 30 && impacts.iter().all(|count| *count > 0), "{impacts:?}");
    let failed = changed_bits(&cases, (1.0, 0.01));
    assert!(failed.is_empty(), "{} of them:\n{}", failed.len(), failed.join("\n"));
}

/// What rounding does to a motion is told by runs with a pull that is some units in the last place off.
#[test]
fn powers_of_ten_change_no_more_than_rounding_does() {
    let mut failed = Vec::new();
    for case in cases() {
        let run = |units| case.run(units, 1.0, 0.01);
        let expected = run(SI).unwrap();
        let off = |ulps: f64| run(Units { pull: SI.pull * (1.0 + ulps * f64::EPSILON), ..SI }).unwrap();
        let events = case.row.info.name == "event-driven";
        let distance = |a: &Run, b: &Run| if events { distance_of_events(a, b) } else { distance(a, b) };
        let rounding = [-8.0, -4.0, -2.0, 2.0, 4.0, 8.0].map(|ulps| distance(&off(ulps), &expected));
        let rounding = rounding.into_iter().fold(1e-14, f64::max);
        // with brackets around events rounding decides on the trial step that ends one
        let most = if case.row.info.name == "higher-order" { 1e-6 } else { 1e-9 };
        assert!(rounding < most, "{case} is no test: {rounding:e}");
        for units in all_units(10.0, &[-12, -9, -3, 3, 6, 12]) {
            match run(units).map(|found| distance(&found, &expected)) {
                Ok(far) if far <= 10.0 * rounding => {}
                other => failed.push(format!("{case} {units:?}: {other:?}, {rounding:e}")),
            }
        }
    }
    assert!(failed.is_empty(), "{} of them:\n{}", failed.len(), failed.join("\n"));
}

/// Units of a first-order system: of its states, outputs, multipliers and of time.
#[derive(Clone, Copy, Debug)]
struct Signals {
    state: f64,
    output: f64,
    lambda: f64,
    time: f64,
}

/// A swing of two states that is clamped, pulled by a relay, or fed through a diode that sees its own current.
fn swing(kind: usize, units: Signals) -> Lcs {
    let Signals { state, output, lambda, time } = units;
    let scaled = |x: &[f64], unit: f64| x.iter().map(|x| x * unit).collect::<Vec<f64>>();
    let (law, input, through) = match kind {
        0 => (Law::UNILATERAL, [1.0, 0.5], 0.0),
        1 => (Law::interval(-0.7 * lambda, 0.7 * lambda), [1.0, 0.3], 0.0),
        _ => (Law::UNILATERAL, [1.0, -0.2], 0.75),
    };
    let matrices = Matrices {
        e: None,
        a: scaled(&[-0.1, 2.0, -2.0, -0.3], 1.0 / time),
        b: scaled(&input, state / (lambda * time)),
        c: scaled(&[1.0, 0.1], output / state),
        d: if through == 0.0 { vec![] } else { vec![through * output / lambda] },
    };
    Lcs::new(matrices, vec![("law".into(), law)], &scaled(&[1.0, 0.2], state)).unwrap()
}

/// States of a run in its own units, point by point.
fn swings(row: &SchemeRow, options: &str, kind: usize, units: Signals) -> Result<Vec<Vec<f64>>, String> {
    let options: Value = serde_json::from_str(options).unwrap();
    let model = AnyModel::FirstOrder(Box::new(swing(kind, units)));
    let stepper = (row.bind)(&options, model, carom_solve::solver::default()).map_err(|e| e.to_string())?;
    follow(Simulation::new(stepper, Box::new(FixedStep { h: 0.0625 * units.time }), 8.0 * units.time), units)
}

/// The same with adaptive steps and a tolerance in the unit of the states, or without one.
fn adaptive_swings(
    row: &SchemeRow,
    tolerance: Option<f64>,
    kind: usize,
    units: Signals,
) -> Result<Vec<Vec<f64>>, String> {
    let model = AnyModel::FirstOrder(Box::new(swing(kind, units)));
    let adaptive = Adaptive { tolerance: tolerance.map(|tolerance| tolerance * units.state), ..Adaptive::default() };
    let stepper = (row.bind_adaptive)(&json!({}), adaptive.accuracy(), model, carom_solve::solver::default());
    let control = adaptive.control(0.0625 * units.time, (0.0, 8.0 * units.time));
    follow(Simulation::new(stepper.map_err(|e| e.to_string())?, Box::new(control), 8.0 * units.time), units)
}

fn follow(simulation: Result<Simulation, SimulationError>, units: Signals) -> Result<Vec<Vec<f64>>, String> {
    let solution = simulation.map_err(|e| e.to_string())?.record().map_err(|e| e.to_string())?;
    Ok((0..solution.len()).map(|k| solution.q(k).iter().map(|x| x / units.state).collect()).collect())
}

/// First-order systems: bit by bit in units of 2^k, and to rounding in those of 10^k.
#[test]
fn signals_have_no_absolute_size() {
    let one = Signals { state: 1.0, output: 1.0, lambda: 1.0, time: 1.0 };
    let (mut compared, mut failed) = (0, Vec::new());
    for row in SCHEMES.iter().filter(|row| row.family == Family::FirstOrder) {
        for options in std::iter::once("{}").chain(row.variants.iter().map(|variant| variant.options)) {
            for kind in 0..3 {
                // a scheme that refuses a system refuses it in all units
                let expected = swings(row, options, kind, one);
                for (base, exponents) in [(2.0f64, [-40, -10, 10, 40]), (10.0, [-12, -3, 3, 12])] {
                    for (k, unit) in exponents.into_iter().flat_map(|k| (0..4).map(move |unit| (k, unit))) {
                        let mut units = one;
                        *[&mut units.state, &mut units.output, &mut units.lambda, &mut units.time][unit] = base.powi(k);
                        let found = swings(row, options, kind, units);
                        let agrees = match (&found, &expected) {
                            // homsp balances the matrices itself, with roots that round
                            (Ok(found), Ok(expected)) if base == 2.0 && row.info.name != "homsp" => found == expected,
                            (Ok(found), Ok(expected)) => {
                                let pairs = found.iter().flatten().zip(expected.iter().flatten());
                                found.len() == expected.len() && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12)
                            }
                            (found, expected) => found.is_err() && expected.is_err(),
                        };
                        compared += usize::from(expected.is_ok());
                        if !agrees {
                            failed.push(format!("{} {options} {kind} {units:?}: {:?}", row.info.name, found.err()));
                        }
                    }
                }
            }
        }
    }
    assert!(compared > 300, "{compared}");
    assert!(failed.is_empty(), "{} of {compared}:\n{}", failed.len(), failed.join("\n"));
}

/// Adaptive steps of first-order systems: bit by bit in units of 2^k.
#[test]
fn adaptive_steps_of_signals_have_no_units() {
    let one = Signals { state: 1.0, output: 1.0, lambda: 1.0, time: 1.0 };
    let (mut compared, mut failed) = (0, Vec::new());
    // homsp balances the matrices itself, with roots that round
    for row in SCHEMES.iter().filter(|row| row.family == Family::FirstOrder && row.info.name != "homsp") {
        for (kind, tolerance) in (0..3).flat_map(|kind| [(kind, None), (kind, Some(1e-4))]) {
            let expected = adaptive_swings(row, tolerance, kind, one);
            for (k, unit) in [-40, -10, 10, 40].into_iter().flat_map(|k| (0..4).map(move |unit| (k, unit))) {
                let mut units = one;
                *[&mut units.state, &mut units.output, &mut units.lambda, &mut units.time][unit] = 2f64.powi(k);
                let found = adaptive_swings(row, tolerance, kind, units);
                compared += usize::from(expected.is_ok());
                let agrees = found == expected || found.is_err() && expected.is_err();
                if !agrees {
                    failed.push(format!("{} {tolerance:?} {kind} {units:?}: {:?}", row.info.name, found.err()));
                }
            }
        }
    }
    assert!(compared > 50, "{compared}");
    assert!(failed.is_empty(), "{} of {compared}:\n{}", failed.len(), failed.join("\n"));
}

/// The block of above in a bowl that it is thrown across: steps far too long for it.
struct Thrown(Units, Laws, bool);

impl Functions for Thrown {
    fn kinetic<D: Scalar>(&self, t: D, q: &[D], v: &[D]) -> D {
        Block(self.0, self.1).kinetic(t, q, v)
    }
    fn potential<D: Scalar>(&self, t: D, q: &[D]) -> D {
        Block(self.0, self.1).potential(t, q)
    }
    fn outputs<D: Scalar>(&self, _: D, q: &[D], out: &mut [D]) {
        let l = self.0.length;
        // a corner over the floor, or beside a post that is 0.02 m thick
        out[0] = if self.2 {
            q[1] - q[2].cos() * (0.75 * l) + q[2].sin() * (0.5 * l)
        } else {
            ((q[0] + q[2].sin() * (0.75 * l) - 2.0 * l).powi(2) + 1e-12 * l * l).sqrt() - 0.01 * l
        };
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("corner", Law::UNILATERAL).restitution(self.1.restitution)]
    }
}

/// What a run with the audit warns of, with its figures in metres; models that turn have the same warnings in all
/// units.
fn warnings(units: Units, forecast: &str, floor: bool) -> Vec<(String, f64)> {
    let laws = Laws { restitution: 0.5, friction: 0.0 };
    let unit = [units.length, units.length, 1.0];
    let q: Vec<f64> = [0.0, 1.0, 0.2].iter().zip(unit).map(|(x, u)| x * u).collect();
    let v: Vec<f64> = [40.0, 0.0, 0.2].iter().zip(unit).map(|(x, u)| x * u / units.time).collect();
    let model = DualLagrangian::new(Thrown(units, laws, floor), State::new(0.0, &q, &v)).unwrap();
    let row = SCHEMES.iter().find(|row| row.info.name == "moreau-jean").unwrap();
    let options: Value = serde_json::from_str(forecast).unwrap();
    let model = AnyModel::Mechanical(Box::new(model));
    let stepper = (row.bind)(&options, model, carom_solve::solver::default()).unwrap();
    let fixed = Box::new(FixedStep { h: 0.3 * units.time });
    let mut run = Simulation::new(stepper, fixed, 0.6 * units.time).unwrap();
    let mut audit = Audit::default();
    run.run(&mut [&mut audit]).unwrap();
    let in_metres = |w: &Warning| w.worst / if w.kind.unit == "m deep" { units.length } else { 1.0 };
    audit.warnings().sorted().iter().map(|w| (w.kind.name.to_owned(), in_metres(w))).collect()
}

/// An angle beside lengths is no length: what is rounding of a gap comes from what is behind that gap.
#[test]
fn warnings_have_no_units() {
    let late = r#"{ "forecast": { "explicit": { "gamma": 0.0 } } }"#;
    for (forecast, floor, kind) in [(late, true, "penetration"), ("{}", false, "passed")] {
        let expected = warnings(SI, forecast, floor);
        assert!(expected.iter().any(|warning| warning.0 == kind), "{expected:?}");
        for exponent in [-40, 40] {
            let length = Units { length: 2f64.powi(exponent), ..SI };
            for units in [length, Units { time: 2f64.powi(exponent / 2), ..length }] {
                assert_eq!(warnings(units, forecast, floor), expected, "{units:?}");
            }
        }
    }
}
