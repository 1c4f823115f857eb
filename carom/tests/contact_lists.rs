//! Lists of contacts that change: every scheme of the registry, with fixed and adaptive steps, with and without
//! friction, has the motion of the full list, or says what is wrong.

use carom::model::{Contact, Lagrangian, Lcs, Matrices};
use carom::scheme::{AnyModel, BindError, Claim, Family, SchemeError, SchemeRow};
use carom::simulation::{Adaptive, Audit, FixedStep};
use carom::solver::{SolveError, Solver, SolverInfo, Unsupported};
use carom::testbed::{Listing, Turns};
use carom::{FirstOrder, Law, Mechanical, ModelError, SCHEMES, Simulation, SimulationError, StepError};
use carom_solve::{Certificate, OneStepProblem, Reaction};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A ball falls at 1 m/s through a floor at which it is listed below 1 cm only, in steps of 5 cm: it is first seen
/// where it overlaps. With a list that looks ahead there is nothing to tell.
#[test]
fn a_contact_that_is_listed_late_is_told() {
    let ball = || {
        Lagrangian::new(1)
            .constant_mass(&[1.0])
            .potential(|_| 0.0)
            .contact(Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0))
            .contact(Contact::new("roof", |_, q| 9.0 - q[0]).gradient(|_, _, row| row[0] = -1.0))
            .initial(&[0.12], &[-1.0])
    };
    let told = |list: Listing<Lagrangian>, steps: Steps| {
        let case = Case { row: &SCHEMES[0], steps, friction: 0.0 };
        let (mut run, mut audit) = (case.start(list, 0.5).unwrap(), Audit::default());
        run.run(&mut [&mut audit]).unwrap();
        let late = |w: &&carom::Warning| w.kind.name == "listed-late";
        audit.warnings().sorted().iter().filter(late).map(|w| (w.contact.is_some(), w.worst)).collect::<Vec<_>>()
    };
    let steps = Steps::Fixed(0.05);
    let late = told(Listing::new(ball()).near(0.01), steps);
    assert!(late.len() == 1 && late[0].0 && (late[0].1 - 0.03).abs() < 1e-12, "{late:?}");
    assert_eq!(told(Listing::new(ball()).near(0.01).looking_ahead(0.0), steps), []);
    // lists that change inside the doubled step
    assert_eq!(told(Listing::new(ball()).turning(Turns::EveryStep), Steps::Adaptive), []);
}

/// How steps are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Steps {
    Fixed(f64),
    Adaptive,
}

/// A scheme, its steps, and a coefficient of friction.
#[derive(Clone, Copy)]
struct Case {
    row: &'static SchemeRow,
    steps: Steps,
    friction: f64,
}

impl Case {
    fn name(&self) -> String {
        format!("{}, {:?}, friction {}", self.row.info.name, self.steps, self.friction)
    }

    fn restitution(&self) -> f64 {
        if self.row.info.claims.contains(&Claim::Inelastic) { 0.0 } else { 0.4 }
    }

    /// A block of 1 m by 1.5 m that falls on its left corner and rocks. The corners of its upper side never touch.
    fn block(&self) -> Lagrangian {
        let corner = |name: &str, x: f64, y: f64| {
            let contact = Contact::new(name, move |_, q| q[1] + y * q[2].cos() + x * q[2].sin())
                .gradient(move |_, q, row| row.copy_from_slice(&[0.0, 1.0, x * q[2].cos() - y * q[2].sin()]))
                .restitution(self.restitution());
            match self.friction {
                0.0 => contact,
                mu => contact
                    .friction(mu, move |_, q| q[0] + x * q[2].cos() - y * q[2].sin())
                    .gradient(move |_, q, row| row.copy_from_slice(&[1.0, 0.0, -x * q[2].sin() - y * q[2].cos()])),
            }
        };
        Lagrangian::new(3)
            .constant_mass(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.25 / 12.0])
            .force(|_, _, _, f| f.copy_from_slice(&[0.0, -9.81, 0.0]))
            .potential(|q| 9.81 * q[1])
            .contact(corner("left", -0.5, -0.75))
            .contact(corner("right", 0.5, -0.75))
            .contact(corner("above", 0.5, 0.75))
            .contact(corner("behind", -0.5, 0.75))
            .initial(&[0.0, 1.0, 0.1], &[0.3, 0.0, 0.1])
    }

    fn start(&self, model: impl Mechanical + 'static, end: f64) -> Result<Simulation, BindError> {
        let (model, solver) = (AnyModel::Mechanical(Box::new(model)), carom_solve::solver::default());
        let adaptive = Adaptive { tolerance: Some(1e-4), ..Adaptive::default() };
        let (stepper, control): (_, Box<dyn carom::simulation::Controller>) = match self.steps {
            Steps::Fixed(h) => ((self.row.bind)(&json!({}), model, solver)?, Box::new(FixedStep { h })),
            Steps::Adaptive => {
                let bind = self.row.bind_adaptive;
                (bind(&json!({}), adaptive.accuracy(), model, solver)?, Box::new(adaptive.control(1e-3, (0.0, end))))
            }
        };
        Ok(Simulation::new(stepper, control, end).unwrap())
    }

    /// Positions and velocities of all steps, or at the end.
    fn run(&self, model: impl Mechanical + 'static, end: f64) -> Result<Vec<f64>, SimulationError> {
        let mut run = self.start(model, end).unwrap_or_else(|error| panic!("{}: {error}", self.name()));
        let solution = run.record()?;
        // adaptive steps may be others by rounding: their ends count
        let last = solution.len() - 1;
        Ok(match self.steps {
            Steps::Fixed(_) => solution.positions().iter().chain(solution.velocities()).copied().collect(),
            Steps::Adaptive => solution.q(last).iter().chain(solution.v(last)).copied().collect(),
        })
    }
}

fn cases(fixed: f64) -> Vec<Case> {
    let mut all = Vec::new();
    for row in SCHEMES.iter().filter(|row| row.family == Family::Mechanical) {
        let rough = row.info.claims.contains(&Claim::Friction);
        for friction in if rough { vec![0.0, 0.3] } else { vec![0.0] } {
            for steps in [Steps::Fixed(fixed), Steps::Adaptive] {
                let case = Case { row, steps, friction };
                match case.start(case.block(), END) {
                    Err(BindError::Scheme(SchemeError::EqualSteps { .. })) => {}
                    _ => all.push(case),
                }
            }
        }
    }
    all
}

/// The largest difference between two runs; infinite where they have other steps.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

const END: f64 = 0.7;

/// Rounding and the tolerance of Newton's loops, after some impacts that spread them.
const ROUNDING: f64 = 5e-8;

/// The order of the list turns round in each call: the right motion, or an error that names the contact.
#[test]
fn orders_that_change_inside_a_step_are_right_or_refused() {
    let mut failures = Vec::new();
    for case in cases(2e-3) {
        let turning = || Listing::new(case.block()).turning(Turns::EveryCall);
        let mut run = match case.start(turning(), END) {
            Ok(run) => run,
            Err(BindError::Scheme(SchemeError::Model(ModelError::Contacts { .. }))) => continue,
            Err(other) => panic!("{}: {other}", case.name()),
        };
        match run.record() {
            Ok(solution) => {
                let exact = case.start(case.block(), END).unwrap().record().unwrap();
                let far = distance(exact.positions(), solution.positions());
                if far > ROUNDING {
                    failures.push(format!("{}: {far:e}", case.name()));
                }
            }
            Err(SimulationError::Step { source: StepError::Model(error), .. }) => {
                let ModelError::Contacts { change, .. } = *error else { panic!("{}: {error}", case.name()) };
                assert_eq!(change, "is listed in another place", "{}", case.name());
            }
            Err(other) => failures.push(format!("{}: {other}", case.name())),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The order of the list turns round from step to step.
#[test]
fn orders_that_change_from_step_to_step_do_not_matter() {
    let mut failures = Vec::new();
    for case in cases(2e-3) {
        let full = case.run(case.block(), END).unwrap();
        let turned = case.run(Listing::new(case.block()).turning(Turns::EveryStep), END);
        match turned.map(|turned| distance(&full, &turned)) {
            Ok(far) if far < ROUNDING => {}
            other => failures.push(format!("{}: {other:?}", case.name())),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Contacts that may close within the step are listed, others come and go with their distance.
#[test]
fn nearby_lists_have_the_motion_of_the_full_list() {
    let mut failures = Vec::new();
    for case in cases(2e-3) {
        let full = case.run(case.block(), END).unwrap();
        let radii: &[f64] = if case.friction == 0.0 { &[1e-3, 1e-2, 0.1, 1.0] } else { &[1e-3, 0.1] };
        for &radius in radii {
            let near = Listing::new(case.block()).near(radius).looking_ahead(50.0).turning(Turns::EveryStep);
            match case.run(near, END).map(|near| distance(&full, &near)) {
                Ok(far) if far < ROUNDING => {}
                other => failures.push(format!("{} in {radius} m: {other:?}", case.name())),
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// A contact that is listed only after it has closed: first order, as far as a step may move it, or a refusal. Laws on
/// positions throw a penetration out in one step, with a velocity that does not fall with the step: they need it listed
/// before.
#[test]
fn contacts_that_are_listed_late_cost_an_order_at_most() {
    let mut failures = Vec::new();
    let rows = SCHEMES.iter().filter(|row| row.family == Family::Mechanical && row.info.level != "position");
    for row in rows {
        let mut errors = Vec::new();
        for h in [4e-3, 1e-3] {
            let case = Case { row, steps: Steps::Fixed(h), friction: 0.0 };
            let full = case.start(case.block(), 0.6).unwrap().record().unwrap();
            let late = Listing::new(case.block()).near(1e-12);
            match case.start(late, 0.6).unwrap().record() {
                Ok(solution) => {
                    let last = |s: &carom::Solution| s.q(s.len() - 1).to_vec();
                    errors.push(distance(&last(&full), &last(&solution)) / h);
                }
                Err(SimulationError::Step { source, .. }) => {
                    let refused = matches!(source, StepError::Tunnelled { .. } | StepError::Inside { .. });
                    if !(refused && row.info.order.position > 1.5) {
                        failures.push(format!("{}: {source}", row.info.name));
                    }
                }
                Err(other) => panic!("{}: {other}", row.info.name),
            }
        }
        // the speeds are below 4 m/s and 10 rad/s
        if !errors.iter().all(|e| *e < 20.0) {
            failures.push(format!("{}: {errors:?}", row.info.name));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// A solver that counts guesses that are not zero.
struct Counting {
    inner: Box<dyn Solver>,
    warm: Arc<AtomicUsize>,
}

impl Solver for Counting {
    fn info(&self) -> &'static SolverInfo {
        self.inner.info()
    }
    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        self.inner.admits(laws)
    }
    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        self.warm.fetch_add(usize::from(z.lambda.iter().any(|x| *x != 0.0)), Ordering::Relaxed);
        self.inner.solve(problem, z)
    }
}

/// A block at rest whose contacts get new keys in each step: where they name the old ones, guesses are as warm as ever.
#[test]
fn heirs_take_the_warm_start_over() {
    for row in SCHEMES.iter().filter(|row| row.family == Family::Mechanical) {
        let case = Case { row, steps: Steps::Fixed(1e-2), friction: 0.0 };
        let rest = || case.block().initial(&[0.0, 0.75, 0.0], &[0.0; 3]);
        let warm = |model: Listing<Lagrangian>| {
            let warm = Arc::new(AtomicUsize::new(0));
            let solver = Counting { inner: carom_solve::solver::default(), warm: warm.clone() };
            let model = AnyModel::Mechanical(Box::new(model));
            let stepper = (row.bind)(&json!({}), model, Box::new(solver)).unwrap();
            let run = Simulation::new(stepper, Box::new(FixedStep { h: 1e-2 }), 0.3).unwrap().record();
            let run = run.unwrap_or_else(|error| panic!("{}: {error}", row.info.name));
            let height = run.q(run.len() - 1)[1];
            assert!((height - 0.75).abs() < 1e-9, "{}: {height}", row.info.name);
            warm.load(Ordering::Relaxed)
        };
        let stable = warm(Listing::new(rest()));
        let (heirs, strangers) =
            (warm(Listing::new(rest()).renaming(true)), warm(Listing::new(rest()).renaming(false)));
        // this one drops its guesses where the list changes
        let drops = row.info.name == "corrected-paoli";
        assert_eq!(heirs, if drops { strangers } else { stable }, "{}", row.info.name);
        assert!(stable == 0 || strangers < stable, "{}: {strangers} of {stable}", row.info.name);
        let has_guess = !matches!(row.info.name, "higher-order" | "event-driven");
        assert!(stable > 10 || !has_guess, "{}: {stable} guesses only", row.info.name);
    }
}

/// Rows of a first-order system change places from step to step: λ of the step before goes with its row.
#[test]
fn rows_of_first_order_systems_may_change_places() {
    // two states pushed off their walls, coupled through A and through D
    let system = || {
        let matrices = Matrices {
            e: None,
            a: vec![-0.5, 1.0, -1.0, -0.2],
            b: vec![1.0, 0.0, 0.3, 1.0],
            c: vec![1.0, 0.2, 0.0, 1.0],
            d: vec![0.1, 0.05, 0.0, 0.2],
        };
        let laws = vec![("first".into(), Law::UNILATERAL), ("second".into(), Law::interval(-0.3, 0.4))];
        Lcs::new(matrices, laws, &[1.0, 0.0]).unwrap().with_constant_state_source(&[-1.0, 0.5]).unwrap()
    };
    let row = carom::scheme::find("euler-moreau").unwrap();
    for options in [json!({}), json!({ "gamma": 0.6 }), json!({ "theta": 0.5 }), json!({ "collocation": "midpoint" })] {
        let run = |model: Box<dyn FirstOrder>| {
            let stepper = (row.bind)(&options, AnyModel::FirstOrder(model), carom_solve::solver::default()).unwrap();
            Simulation::new(stepper, Box::new(FixedStep { h: 0.01 }), 3.0).unwrap().record()
        };
        let full = run(Box::new(system())).unwrap();
        let turned = run(Box::new(Listing::new(system()).turning(Turns::EveryStep))).unwrap();
        let far = distance(full.positions(), turned.positions());
        assert!(far < 1e-12, "{options}: {far:e}");
        let wrong = run(Box::new(Listing::new(system()).turning(Turns::EveryCall)));
        let Err(SimulationError::Step { source: StepError::Model(error), .. }) = wrong else { panic!("{options}") };
        assert!(matches!(*error, ModelError::Contacts { .. }), "{options}: {error}");
    }
}
