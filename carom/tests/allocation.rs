//! No scheme allocates in a step: each model is run once to warm the buffers up, then once more from the start under a
//! counting allocator, through free flight, impacts and closed contact.

#[path = "../../carom-solve/tests/counting/mod.rs"]
mod counting;

use carom::model::{
    AffineRow, Contact, DualLagrangian, FirstOrderSystem, Functions, Lagrangian, Linear, LinearContact, NamedLaw,
    Output, Piece, Scalar, SparseMatrix, Sweeping,
};
use carom::scheme::{
    Accuracy, AnyModel, BindError, Claim, Estimator, Family, SCHEMES, SchemeError, SchemeRow, Stepper,
};
use carom::simulation::{FixedStep, GapMonitor, LedgerObserver, Observer, StepView};
use carom::testbed::{
    Corner, DiodeBridge, Disc, ExactState, Play, Rectifier, RigidBody, SlidingMode, SpinningBall, ThirdDegree,
};
use carom::{EventKind, FirstOrder, ImpactLaw, Mechanical, ModelError, Simulation, State};
use carom_solve::{Law, SOLVERS, SolverRow};
use counting::allocations;
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// A model with the step and the number of steps that take it through its phases.
struct Case {
    name: &'static str,
    model: Box<dyn Mechanical>,
    h: f64,
    steps: usize,
    /// Whether there are steps without any reaction and steps with one.
    phases: (bool, bool),
}

fn ball() -> Lagrangian {
    Lagrangian::new(1)
        .constant_mass(&[1.0])
        .force(|_, _, _, f| f[0] = -2.0)
        .tangents(|_, _, _, k, c| {
            k[0] = 0.0;
            c[0] = 0.0;
        })
        .contact(Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(0.5))
        .initial(&[1.0], &[0.0])
        .linear()
}

/// The same without the word that it is linear.
fn nonlinear_ball() -> Lagrangian {
    Lagrangian::new(1)
        .force(|_, _, _, f| f[0] = -2.0)
        .contact(Contact::new("floor", |_, q| q[0]).restitution(0.5))
        .initial(&[1.0], &[0.0])
}

fn rocking_block(restitution: f64) -> Lagrangian {
    let corner = |name: &str, side: f64| {
        Contact::new(name, move |_, q| q[1] - 0.75 * q[2].cos() + side * 0.5 * q[2].sin()).restitution(restitution)
    };
    Lagrangian::new(3)
        .constant_mass(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.25 / 12.0])
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -9.81, 0.0]))
        .potential(|q| 9.81 * q[1])
        .contact(corner("A", 1.0))
        .contact(corner("B", -1.0))
        .initial(&[0.0, 1.0, 0.2], &[0.0, 0.0, 0.2])
}

/// Disc of radius 0.1 dropped with spin: it bounces, slips and then rolls.
fn spinning_disc(restitution: f64) -> Lagrangian {
    Lagrangian::new(3)
        .constant_mass(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 5e-3])
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -9.81, 0.0]))
        .contact(
            Contact::new("floor", |_, q| q[1] - 0.1).restitution(restitution).friction(0.3, |_, q| q[0] + 0.1 * q[2]),
        )
        .initial(&[0.0, 0.3, 0.0], &[1.0, 0.0, 20.0])
}

/// Point mass thrown on a rough plane.
fn sliding_point() -> Lagrangian {
    Lagrangian::new(3)
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, 0.0, -9.81]))
        .contact(
            Contact::new("floor", |_, q| q[2]).restitution(0.4).friction(0.3, |_, q| q[0]).friction(0.3, |_, q| q[1]),
        )
        .initial(&[0.0, 0.0, 0.2], &[1.0, 0.5, 0.0])
}

/// Rod of 50 elements that flies against a wall, 5 µm away, and back.
fn bar() -> Linear {
    let (elements, stiffness, mass) = (50, 210e9 * 3.14e-4 * 50.0, 7800.0 * 3.14e-4 / 50.0 / 6.0);
    let (mut m, mut k) = (Vec::new(), Vec::new());
    for e in 0..elements {
        for (i, j, a, b) in [(e, e, 2.0, 1.0), (e, e + 1, 1.0, -1.0), (e + 1, e, 1.0, -1.0), (e + 1, e + 1, 2.0, 1.0)] {
            m.push((i, j, a * mass));
            k.push((i, j, b * stiffness));
        }
    }
    let n = elements + 1;
    let matrix = |entries: &[_]| SparseMatrix::from_triplets(n, entries).unwrap();
    let initial = State::new(0.0, &vec![5e-6; n], &vec![-0.1; n]);
    Linear::new(&matrix(&m), &matrix(&[]), &matrix(&k), initial).unwrap().with_contact(LinearContact {
        name: "wall".into(),
        law: Law::UNILATERAL,
        restitution: 0.0,
        tangential: 0.0,
        rows: vec![AffineRow { entries: vec![(0, 1.0)], constant: 0.0, rate: 0.0 }],
    })
}

fn pendulum() -> Lagrangian {
    Lagrangian::new(2)
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -9.81]))
        .contact(Contact::bilateral("rod", |_, q| 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)))
        .initial(&[1.0, 0.0], &[0.0, 0.0])
}

/// Double pendulum by dual numbers, with a rough wall.
struct DoublePendulum;

impl Functions for DoublePendulum {
    fn kinetic<D: Scalar>(&self, _t: D, q: &[D], v: &[D]) -> D {
        v[0] * v[0] + v[1] * v[1] * 0.5 + v[0] * v[1] * (q[0] - q[1]).cos()
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        -(q[0].cos() * 2.0 + q[1].cos()) * 9.81
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = q[0].sin() + q[1].sin() + 0.2;
        out[1] = -q[0].cos() - q[1].cos();
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("wall", Law::coulomb(0.2, 1)).restitution(0.1)]
    }
}

fn cases() -> Vec<Case> {
    let dual = DualLagrangian::new(DoublePendulum, State::new(0.0, &[1.0, 1.0], &[0.0, 0.0])).unwrap();
    let (spin, body) = (SpinningBall::default(), RigidBody::default());
    vec![
        Case { name: "ball", model: Box::new(ball()), h: 8.5e-3, steps: 600, phases: (true, true) },
        Case { name: "nonlinear ball", model: Box::new(nonlinear_ball()), h: 8.5e-3, steps: 600, phases: (true, true) },
        Case { name: "rocking block", model: Box::new(rocking_block(0.5)), h: 1e-2, steps: 200, phases: (true, true) },
        Case { name: "spinning disc", model: Box::new(spinning_disc(0.4)), h: 5e-3, steps: 400, phases: (true, true) },
        Case { name: "soft disc", model: Box::new(spinning_disc(0.0)), h: 5e-3, steps: 400, phases: (true, true) },
        Case { name: "sliding point", model: Box::new(sliding_point()), h: 5e-3, steps: 300, phases: (true, true) },
        Case { name: "bar", model: Box::new(bar()), h: 2e-6, steps: 400, phases: (true, true) },
        Case { name: "pendulum", model: Box::new(pendulum()), h: 1e-2, steps: 200, phases: (false, true) },
        Case { name: "double pendulum", model: Box::new(dual), h: 5e-3, steps: 400, phases: (true, true) },
        Case { name: "ball with spin", model: Box::new(spin.model()), h: 7.3e-3, steps: 300, phases: (true, true) },
        Case { name: "free body", model: Box::new(body.model()), h: 1e-2, steps: 100, phases: (true, false) },
    ]
}

/// Steps from the initial state; returns how many steps had a reaction and how many had none.
fn run(stepper: &mut dyn Stepper, initial: &State, case: (f64, usize)) -> (usize, usize) {
    let (h, steps) = case;
    let (mut with, mut without) = (0, 0);
    stepper.restart(initial);
    for _ in 0..steps {
        stepper.attempt(h).unwrap();
        stepper.accept();
        if stepper.reactions().impulse.iter().any(|p| *p != 0.0) {
            with += 1;
        } else {
            without += 1;
        }
    }
    (with, without)
}

fn check(row: &SchemeRow, options: &Value, solver: &SolverRow) {
    let names = format!("{} and {} with {options}", row.info.name, solver.info.name);
    let ran = check_bound(&names, |model| (row.bind)(options, model, (solver.build)(&json!({})).unwrap()));
    assert!(ran >= 2, "{names}: only {ran} cases are not refused");
}

/// Returns how many cases were not refused.
fn check_bound(names: &str, bind: impl Fn(AnyModel) -> Result<Box<dyn Stepper>, BindError>) -> usize {
    let mut ran = 0;
    for Case { name, model, h, steps, phases } in cases() {
        let initial = model.initial();
        let mut stepper = match bind(AnyModel::Mechanical(model)) {
            Ok(stepper) => stepper,
            // not every solver treats friction, nor does every scheme; not every scheme has adaptive steps with every
            // estimator
            Err(BindError::Scheme(SchemeError::Unsupported(_) | SchemeError::Incapable { .. })) => continue,
            Err(BindError::Scheme(SchemeError::Blind { .. } | SchemeError::EqualSteps { .. })) => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        run(&mut *stepper, &initial, (h, steps));
        let before = allocations();
        let (with, without) = run(&mut *stepper, &initial, (h, steps));
        let allocated = allocations() - before;
        assert_eq!((without > 0, with > 0), phases, "{name}: {with} steps with and {without} without reaction");
        assert_eq!(allocated, 0, "{names} on {name}: allocations in {steps} steps");
        ran += 1;
    }
    ran
}

/// The schemes of a family.
fn rows(family: Family) -> impl Iterator<Item = &'static SchemeRow> {
    SCHEMES.iter().filter(move |row| row.family == family)
}

/// First-order problems that have steps with and without reaction, with a step that takes the solver through several
/// active sets.
fn first_order_cases() -> Vec<(&'static str, Box<dyn FirstOrder>, f64)> {
    let cut_ball = vec![
        Piece::ball("ball", 1.0, |t, c| (c[0], c[1]) = (0.0, 1.5 * t.sin())),
        Piece::half_space("plane", &[0.3, 1.0], |t| 0.5 * t.sin()),
        Piece::interval("strip", 0, |_| (-0.2, f64::INFINITY)),
    ];
    let nonlinear = FirstOrderSystem::new(&[1.0, 0.0], |t, x, f| (f[0], f[1]) = (x[1], -x[0].powi(3) + t.cos()))
        .output(Output::new("relay", Law::interval(-0.3, 0.3), |_, x| x[1], |_, _, b| b[1] = 1.0))
        .output(Output::new("stop", Law::UNILATERAL, |_, x| x[1] + 0.5, |_, _, b| b[1] = 1.0));
    vec![
        ("bridge", DiodeBridge::default().system(), 5e-6),
        ("rectifier", Rectifier::default().system(), 1e-4),
        ("system 65", ThirdDegree::default().system(), 0.02),
        ("sliding mode", SlidingMode::default().system(), 0.01),
        ("play", Play.system(), 0.02),
        ("disc", Disc::default().system(), 0.01),
        ("corner", Corner.system(), 0.01),
        ("cut ball", Box::new(Sweeping::new(cut_ball, &[0.0, 0.0]).unwrap()), 0.01),
        ("nonlinear", Box::new(nonlinear), 0.02),
    ]
}

/// Two runs of 500 steps each, of which the second must not allocate. Returns the cases that were not refused.
fn check_first_order(names: &str, bind: impl Fn(AnyModel) -> Result<Box<dyn Stepper>, BindError>) -> Vec<&'static str> {
    let mut ran = Vec::new();
    for (name, model, h) in first_order_cases() {
        let initial = model.initial();
        let mut stepper = match bind(AnyModel::FirstOrder(model)) {
            Ok(stepper) => stepper,
            Err(BindError::Scheme(
                SchemeError::Incapable { .. } | SchemeError::EqualSteps { .. } | SchemeError::Degree { .. },
            )) => continue,
            Err(error) => panic!("{names} on {name}: {error}"),
        };
        run(&mut *stepper, &initial, (h, 500));
        let before = allocations();
        let (with, _) = run(&mut *stepper, &initial, (h, 500));
        assert_eq!(allocations() - before, 0, "{names} on {name}");
        assert!(with > 0, "{names} on {name}");
        ran.push(name);
    }
    ran
}

#[test]
fn no_first_order_step_allocates() {
    for row in rows(Family::FirstOrder) {
        let mut options = vec![json!({})];
        options.extend(row.variants.iter().map(|variant| serde_json::from_str(variant.options).unwrap()));
        for options in &options {
            for solver in ["auto", "lemke"] {
                let solver = carom_solve::solver::find(solver).unwrap();
                let names = format!("{} {options} and {}", row.info.name, solver.info.name);
                let bind = |model| (row.bind)(options, model, (solver.build)(&json!({})).unwrap());
                let ran = check_first_order(&names, bind);
                assert!(ran.len() >= 3, "{names}: {ran:?}");
            }
            let accuracy =
                Accuracy { tolerance: Some(1e-6), relative: 0.0, estimator: Estimator::Impact, smallest: None };
            let bind = |model| (row.bind_adaptive)(options, accuracy, model, carom_solve::solver::default());
            assert!(check_first_order(&format!("{} {options} doubled", row.info.name), bind).len() >= 3);
        }
    }
}

#[test]
fn no_doubled_step_allocates() {
    for row in rows(Family::Mechanical) {
        for estimator in [Estimator::Position, Estimator::VariableOrder, Estimator::Impact] {
            let accuracy = Accuracy { tolerance: Some(1e-6), relative: 0.0, estimator, smallest: None };
            let solver = carom_solve::solver::default;
            let bind = |model| (row.bind_adaptive)(&json!({}), accuracy, model, solver());
            check_bound(&format!("{} doubled, {estimator:?}", row.info.name), bind);
        }
    }
}

/// Flights of order 8 and the phases between them.
#[test]
fn no_flight_allocates() {
    let row = carom::scheme::find("event-driven").unwrap();
    let solver = carom_solve::solver::find("auto").unwrap();
    for options in [json!({ "flow": "dop853" }), json!({ "flow": "dop853", "control": "fixed" })] {
        check(row, &options, solver);
    }
}

#[test]
fn no_scheme_and_no_solver_allocates_in_a_step() {
    for row in rows(Family::Mechanical) {
        // these analyse the pattern of W anew, with allocations, whenever the set of acting laws changes; that repeated
        // solves of one pattern do not allocate is tested with the solvers
        let analysing = ["newton", "proximal", "interior-point", "admm"];
        for solver in SOLVERS.iter().filter(|solver| !analysing.contains(&solver.info.name)) {
            check(row, &json!({}), solver);
        }
    }
}

#[test]
fn no_option_of_moreau_jean_allocates_in_a_step() {
    let row = carom::scheme::find("moreau-jean").unwrap();
    check(row, &json!({ "reaction": "mid" }), &SOLVERS[0]);
    check(row, &json!({ "reaction": "end" }), &SOLVERS[0]);
    check(row, &json!({ "theta": 0.6, "forecast": { "explicit": { "gamma": 1.0 } } }), &SOLVERS[0]);
}

#[test]
fn no_impact_law_allocates_in_a_step() {
    for row in rows(Family::Mechanical).filter(|row| row.info.claims.contains(&Claim::ImpactLaws)) {
        for law in [ImpactLaw::Poisson, ImpactLaw::Sequential] {
            let names = format!("{} with {law:?}", row.info.name);
            let ran = check_bound(&names, |model| {
                let mut stepper = (row.bind)(&json!({}), model, (SOLVERS[0].build)(&json!({})).unwrap())?;
                stepper.set_impact_law(law)?;
                Ok(stepper)
            });
            assert!(ran >= 2, "{names}: only {ran} cases are not refused");
        }
    }
}

/// A chain in space with a stop, a motor, a spring and friction; a loop in the plane.
#[test]
fn no_step_of_bodies_allocates() {
    use carom::Space;
    use carom::multibody::{Body, Joint, Motor, Multibody, Spring};
    let space = || {
        let name = |i: usize| if i == 0 { "ground".to_string() } else { format!("rod{i}") };
        let mut system = Multibody::spatial().gravity([0.0, 0.0, -9.81]);
        for i in 0..4 {
            let (x, axis) = (i as f64, if i % 2 == 0 { [0.0, 1.0, 0.0] } else { [0.0, 1.0, 1.0] });
            system = system.body(Body::new(&name(i + 1), 1.0, [1e-2, 0.1, 0.1]).at([x + 0.5, 0.0, 0.0]));
            let joint = Joint::revolute(&format!("j{i}"), &name(i), &name(i + 1)).at([x, 0.0, 0.0]).axis(axis);
            system = system.joint(if i == 2 { joint.stops(-0.1, 0.1, 0.3) } else { joint });
        }
        system
            .spring(Spring::on("coil", "j1", 5.0).damping(0.1))
            .motor(Motor::position("drive", "j0", |x: &[f64], out: &mut [f64]| out[0] = 0.3 * (1.0 - x[0].cos())))
            .build()
            .unwrap()
    };
    let plane = || {
        let (joint, link) = (|n: &str, a: &str, b: &str| Joint::revolute(n, a, b), Body::new);
        Multibody::planar()
            .gravity([0.0, -9.81])
            .body(link("crank", 1.0, 0.1).at([0.0, 0.5]))
            .body(link("rod", 1.0, 0.1).at([0.5, 1.0]))
            .body(link("slider", 1.0, 0.1).at([1.0, 1.0]))
            .joint(joint("A", "ground", "crank").at([0.0, 0.0]).friction(0.2))
            .joint(joint("B", "crank", "rod").at([0.0, 1.0]))
            .joint(joint("C", "rod", "slider").at([1.0, 1.0]))
            .joint(Joint::prismatic("guide", "ground", "slider").at([1.0, 1.0]).axis([1.0, 0.0]))
            .build()
            .unwrap()
    };
    // balls, boxes and polyhedra that touch by themselves: lists of contacts come and go
    let heap = || {
        use carom::multibody::Solid;
        use carom::multibody::contact::Surface;
        use carom::multibody::pair::{Block, Convex, Plane, Shape, Sphere};
        let surface = Surface { friction: 0.3, restitution: 0.2, ..Surface::default() };
        let floor = Shape::Plane(Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] });
        let mut all = Multibody::spatial().gravity([0.0, 0.0, -9.81]).material("steel", surface);
        all = all.solid(Solid::new("ground", "floor", floor).material("steel"));
        for i in 0..6 {
            let name = format!("b{i}");
            let shape = match i % 3 {
                0 => Shape::Block(Block::new([0.1, 0.08, 0.1])),
                1 => {
                    let corner = |k: usize| {
                        std::array::from_fn(|i| if k % 3 == i { 0.12 - 0.24 * (k / 3) as f64 } else { 0.01 })
                    };
                    Shape::Convex(Convex::around(&std::array::from_fn::<_, 6, _>(corner)).unwrap())
                }
                _ => Shape::Sphere(Sphere { centre: [0.0; 3], radius: 0.1 }),
            };
            all = all
                .body(Body::new(&name, 1.0, 0.01).at([0.0, 0.0, 0.15 + 0.22 * i as f64]))
                .solid(Solid::new(&name, "shape", shape).material("steel"));
        }
        all.build().unwrap()
    };
    for scheme in ["moreau-jean", "combined-projection"] {
        let row = carom::scheme::find(scheme).unwrap();
        for model in [space(), plane(), heap()] {
            let initial = model.initial();
            let model = AnyModel::Mechanical(Box::new(model));
            let mut stepper = (row.bind)(&json!({}), model, carom_solve::solver::default()).unwrap();
            run(&mut *stepper, &initial, (1e-3, 400));
            // a list that is gone at once, as by a restart, is met as well
            run(&mut *stepper, &initial, (1e-3, 400));
            let before = allocations();
            run(&mut *stepper, &initial, (1e-3, 400));
            assert_eq!(allocations() - before, 0, "{scheme}");
        }
    }
}

/// Rod that leans on its tip and slides: the equations of sliding have no solution, and an impulse stops the slip.
struct PainleveRod;

impl Functions for PainleveRod {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 3.0) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[1] * 9.81
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = q[1] - q[2].sin();
        out[1] = q[0] - q[2].cos();
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("tip", Law::coulomb(2.0, 1))]
    }
}

#[test]
fn an_inconsistency_does_not_allocate() {
    let row = carom::scheme::find("event-driven").unwrap();
    for options in [json!({}), json!({ "flow": "rkf45" }), json!({ "edge": "lcp" }), json!({ "edge": "sort" })] {
        let theta = 0.9f64;
        let initial = State::new(0.0, &[0.0, theta.sin(), theta], &[-1.0, 0.0, 0.0]);
        let model = Box::new(DualLagrangian::new(PainleveRod, initial.clone()).unwrap());
        let solver = carom_solve::solver::default();
        let mut stepper = (row.bind)(&options, AnyModel::Mechanical(model), solver).unwrap();
        run(&mut *stepper, &initial, (0.01, 40));
        stepper.restart(&initial);
        let before = allocations();
        stepper.attempt(0.01).unwrap();
        let allocated = allocations() - before;
        let kinds: Vec<EventKind> = stepper.events().iter().map(|event| event.kind).collect();
        assert_eq!(kinds.first(), Some(&EventKind::Inconsistency), "{options}");
        assert_eq!(allocated, 0, "{options}");
    }
}

/// Two grounds that are one up to the edge and part there, and a region that ends: sorting does not allocate either.
struct Parting;

impl Functions for Parting {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[0] * 9.81
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = q[0];
        out[1] = if q[1].re() > 0.0 { q[0] - q[1] * q[1] } else { q[0] };
    }
    fn region<D: Scalar>(&self, law: usize, _t: D, q: &[D]) -> D {
        if law == 0 { D::from(0.3) - q[1] } else { D::from(f64::INFINITY) }
    }
    fn laws(&self) -> Vec<NamedLaw> {
        ["flat", "second"].map(|name| NamedLaw::new(name, Law::UNILATERAL)).to_vec()
    }
}

#[test]
fn edges_do_not_allocate() {
    let row = carom::scheme::find("event-driven").unwrap();
    for flow in ["hem5", "rkf45", "dop853"] {
        for edge in ["contact", "lcp", "sort"] {
            let options = json!({ "flow": flow, "edge": edge });
            let initial = State::new(0.0, &[0.0, -1.0], &[0.0, 2.0]);
            let model = Box::new(DualLagrangian::new(Parting, initial.clone()).unwrap());
            let solver = carom_solve::solver::default();
            let mut stepper = (row.bind)(&options, AnyModel::Mechanical(model), solver).unwrap();
            run(&mut *stepper, &initial, (0.05, 60));
            let before = allocations();
            run(&mut *stepper, &initial, (0.05, 60));
            assert_eq!(allocations() - before, 0, "{options}");
        }
    }
}

/// Breaks a run at some time, so that it can be continued.
struct Pause {
    at: f64,
}

impl Observer for Pause {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        Ok(if view.from().t < self.at && view.to().t >= self.at {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }
}

/// The driver with its monitors: the second half of a run, with impacts and closed contact in both halves.
#[test]
fn driver_and_monitors_do_not_allocate() {
    for row in rows(Family::Mechanical) {
        let restitution = if row.info.claims.contains(&Claim::Inelastic) { 0.0 } else { 0.5 };
        let model = AnyModel::Mechanical(Box::new(rocking_block(restitution)));
        let stepper = (row.bind)(&json!({}), model, carom_solve::solver::default()).unwrap();
        let mut simulation = Simulation::new(stepper, Box::new(FixedStep { h: 1e-2 }), 3.0).unwrap();
        let (mut gaps, mut ledger, mut pause) = (GapMonitor::default(), LedgerObserver::default(), Pause { at: 1.995 });
        assert!(!simulation.run(&mut [&mut gaps, &mut ledger, &mut pause]).unwrap());
        let before = allocations();
        assert!(simulation.run(&mut [&mut gaps, &mut ledger, &mut pause]).unwrap());
        assert_eq!(allocations() - before, 0, "{}", row.info.name);
        // schemes that end steps at impacts need more
        assert!(simulation.statistics().steps >= 300);
    }
}

/// Allocations of each step, as the next one begins.
#[derive(Default)]
struct PerStep {
    last: u64,
    all: Vec<u64>,
}

impl Observer for PerStep {
    fn observe(&mut self, _view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let now = allocations();
        self.all.push(now - self.last);
        self.last = now;
        Ok(ControlFlow::Continue(()))
    }
}

/// A bullet to and fro between thin plates, in steps that are cut where it meets them.
#[test]
fn steps_that_are_cut_do_not_allocate() {
    use carom::multibody::contact::Surface;
    use carom::multibody::pair::{Block, Shape, Sphere};
    use carom::multibody::{Body, Multibody, Solid};
    let plate = |x: f64| Shape::Block(Block { centre: [x, 0.0, 0.0], ..Block::new([0.001, 1.0, 1.0]) });
    let ball = Shape::Sphere(Sphere { centre: [0.0; 3], radius: 0.005 });
    let model = Multibody::spatial()
        .material("steel", Surface { restitution: 1.0, ..Surface::default() })
        .solid(Solid::new("ground", "left", plate(-0.5)).material("steel"))
        .solid(Solid::new("ground", "right", plate(0.5)).material("steel"))
        .body(Body::new("bullet", 0.01, 1e-7).velocity([300.0, 0.0, 0.0]))
        .solid(Solid::new("bullet", "ball", ball).material("steel"))
        .build()
        .unwrap();
    let row = carom::scheme::find("moreau-jean").unwrap();
    let model = AnyModel::Mechanical(Box::new(model));
    let stepper = (row.bind)(&json!({}), model, carom_solve::solver::default()).unwrap();
    let mut run = Simulation::new(stepper, Box::new(FixedStep { h: 1e-3 }), 0.2).unwrap().shortening().unwrap();
    let mut seen = PerStep { last: allocations(), all: Vec::with_capacity(10_000) };
    run.run(&mut [&mut seen]).unwrap();
    let steps = seen.all.len();
    assert!(steps > 250 && run.statistics().rejected > 100, "{steps} steps, {:?}", run.statistics());
    assert_eq!(seen.all[steps / 2..].iter().sum::<u64>(), 0, "{:?}", seen.all);
}
