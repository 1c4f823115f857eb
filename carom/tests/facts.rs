//! Facts of a step are worked out once, whoever asks how often; warnings of all sides come together.

use carom::model::{Combination, Contact, Lagrangian};
use carom::scheme::{Bound, Forecast, MoreauJean, Stepper};
use carom::simulation::{Acting, FixedStep, GapMonitor, LedgerObserver, Lists, Observer, StepView};
use carom::{
    Coupling, Key, LinearSolve, Mechanical, ModelError, Pair, Simulation, Space, State, Warning, WarningKind, Warnings,
};
use carom_solve::{
    Certificate, Law, OneStepProblem, Reaction, SolveError, Solver, SolverInfo, SolverWarning, Unsupported,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Clone, Default)]
struct Counts {
    energies: Arc<AtomicU64>,
    gaps: Arc<AtomicU64>,
}

/// The ball of the examples: dropped from 1 m under 2 N with restitution 1/2. It counts how often it is asked.
fn ball(counts: &Counts) -> Box<dyn Mechanical> {
    let Counts { energies, gaps } = counts.clone();
    let gap = move |_t: f64, q: &[f64]| {
        gaps.fetch_add(1, Relaxed);
        q[0]
    };
    let model = Lagrangian::new(1)
        .constant_mass(&[1.0])
        .force(|_, _, _, f| f[0] = -2.0)
        .potential(move |q| {
            energies.fetch_add(1, Relaxed);
            2.0 * q[0]
        })
        .contact(Contact::new("floor", gap).gradient(|_, _, row| row[0] = 1.0).restitution(0.5))
        .initial(&[1.0], &[0.0]);
    Box::new(model)
}

fn simulation(model: Box<dyn Mechanical>, solver: Box<dyn Solver>) -> Simulation {
    let stepper = Bound::new(MoreauJean::default(), model, solver).unwrap();
    Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-2 }), 5.0).unwrap()
}

/// A ball that has bounced and is pressed back while it still overlaps closes with the part e of the velocity with
/// which it opened: Newton's law is u⁺ ≥ −e u⁻ whatever the sign of u⁻. That is told.
#[test]
fn a_contact_that_is_pressed_shut_while_it_opens_is_told() {
    let model = Lagrangian::new(1)
        .constant_mass(&[1.0])
        .force(|t, _, _, f| f[0] = if t > 0.03 { -100.0 } else { 0.0 })
        .contact(Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(0.5))
        .initial(&[0.005], &[-1.0]);
    let scheme = MoreauJean { forecast: Forecast::Explicit { gamma: 0.0 }, ..MoreauJean::default() };
    let stepper = Bound::new(scheme, Box::new(model) as Box<dyn Mechanical>, carom_solve::solver::default()).unwrap();
    let mut run = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 0.01 }), 0.04).unwrap();
    let impacts = run.record().unwrap().impacts;
    let told: Vec<_> = impacts.iter().map(|i| (i.before[0], i.after[0], i.pressed)).collect();
    // it bounces in the second step, flies in the third, and would leave the fourth with 0.5 − 1 m/s
    assert_eq!(told, [(-1.0, 0.5, false), (0.5, -0.25, true)]);
    // P (u + u⁺)/2 with P = 1.5 and 0.25 N s
    let losses: Vec<f64> = impacts.iter().map(|impact| impact.loss.unwrap()).collect();
    assert!((losses[0] - 0.375).abs() < 1e-15 && (losses[1] + 0.03125).abs() < 1e-15, "{losses:?}");
}

/// When the ball comes to rest, in units of `unit` m.
#[derive(Default)]
struct Rest(Vec<u64>);

impl Observer for Rest {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        if view.acting().iter().any(Acting::comes_to_rest) {
            self.0.push(view.index);
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Slow is relative to the motion: a ball in nanometres rests when the one in metres does, and not from its start on.
#[test]
fn rest_has_no_unit() {
    let rest = |unit: f64| {
        let ball = Lagrangian::new(1)
            .force(move |_, _, _, f| f[0] = -2.0 * unit)
            .tangents(|_, _, _, k, c| (k[0], c[0]) = (0.0, 0.0))
            .contact(Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(0.5))
            .initial(&[unit], &[0.0])
            .linear();
        let mut found = Rest::default();
        simulation(Box::new(ball), carom_solve::solver::default()).run(&mut [&mut found]).unwrap();
        found.0
    };
    let expected = rest(1.0);
    assert_eq!(expected.len(), 1, "{expected:?}");
    for unit in [1e-12, 1e-9, 1e-3, 1e3, 1e9, 1e12] {
        assert_eq!(rest(unit), expected, "{unit:e}");
    }
}

/// Asks for everything.
#[derive(Default)]
struct Curious {
    acting: Vec<(u64, Acting)>,
}

impl Observer for Curious {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        assert_eq!(stepper.energies().map(|(from, to)| (from.total(), to.total())), Some((2.0, 2.0)));
        stepper.coupling().map(|_| ())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let (from, to) = view.stepper.energies().unwrap();
        // the energies of these states, and of no others
        assert_eq!(from.potential, 2.0 * view.from().q[0]);
        assert_eq!((to.kinetic, to.potential), (0.5 * view.to().v[0] * view.to().v[0], 2.0 * view.to().q[0]));
        let gap = view.stepper.coupling()?.pairs[0].gap;
        assert_eq!(gap, view.to().q[0]);
        self.acting.extend(view.acting().iter().map(|acting| (view.index, *acting)));
        Ok(ControlFlow::Continue(()))
    }
}

#[test]
fn energies_are_evaluated_once_per_step_and_impacts_found_once() {
    let counts = Counts::default();
    let mut run = simulation(ball(&counts), carom_solve::solver::default());
    let (mut ledger, mut curious, mut other) = (LedgerObserver::default(), Curious::default(), Curious::default());
    let mut lists = Lists::new(usize::MAX);
    run.run(&mut [&mut ledger, &mut curious, &mut lists, &mut other]).unwrap();
    assert_eq!(run.statistics().steps, 500);
    assert_eq!(counts.energies.load(Relaxed), 501);
    assert_eq!(curious.acting, other.acting);
    let impacts = curious.acting.iter().filter(|(_, acting)| acting.is_impact());
    let times: Vec<f64> = impacts.map(|(step, _)| 1e-2 * *step as f64).collect();
    assert_eq!(times.len(), lists.impacts.len());
    // impacts of the ball: 1, 2, 2.5, ... seconds, each in the step that sees it
    for (time, exact) in times.iter().zip([1.0, 2.0, 2.5, 2.75]) {
        assert!((time - exact).abs() <= 0.05, "{times:?}");
    }
    assert!(lists.impacts.iter().zip(&times).all(|(impact, t)| (impact.t - t).abs() < 1e-12));
}

#[test]
fn the_coupling_at_the_end_is_asked_for_once() {
    let asked = |monitors: usize| {
        let counts = Counts::default();
        let mut gaps = vec![GapMonitor::default(); monitors];
        let mut observers: Vec<&mut dyn Observer> = gaps.iter_mut().map(|gap| gap as &mut dyn Observer).collect();
        simulation(ball(&counts), carom_solve::solver::default()).run(&mut observers).unwrap();
        counts.gaps.load(Relaxed)
    };
    // a coupling asks for a gap more than once, for its rate besides
    let counts = Counts::default();
    ball(&counts).couple(0.0, &[1.0], &mut Coupling::default()).unwrap();
    let once = counts.gaps.load(Relaxed);
    // the next step starts with it; only where the grid of time moves an end by rounding it is asked for anew
    let (first, others) = (asked(1) - asked(0), asked(3) - asked(1));
    assert!(first < 500 * once / 4 && others == 0, "{first} {others}, {once} at once");
}

const SOFT: WarningKind =
    WarningKind { name: "soft", message: "the spring is weak", unit: "N", hint: "take another one" };
const TIRED: WarningKind = WarningKind { name: "tired", message: "the solver is tired", unit: "", hint: "" };
const HIGH: WarningKind = WarningKind { name: "high", message: "it flies high", unit: "m", hint: "" };

/// A mass on the floor that warns each time it is asked for forces.
#[derive(Default)]
struct Touchy(Warnings);

impl LinearSolve for Touchy {
    fn dim(&self) -> usize {
        1
    }
    fn solve(&self, _rhs: &mut [f64]) {}
}

impl Space for Touchy {
    fn initial(&self) -> State {
        State::new(0.0, &[0.0], &[0.0])
    }
    fn couple(&mut self, _t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        out.clear(1);
        out.push(Pair { key: Key(0), law: Law::UNILATERAL, gap: q[0], restitution: 0.0 });
        out.rows.push_dense(&[1.0]);
        out.drift.push(0.0);
        Ok(())
    }
    fn warnings(&self) -> Option<&Warnings> {
        Some(&self.0)
    }
}

impl Mechanical for Touchy {
    fn force(&mut self, t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.0.raise(&SOFT, t, Some(Key(0)), t);
        out[0] = -1.0;
        Ok(())
    }
    fn mass_mul(&mut self, _q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out[0] = v[0];
        Ok(())
    }
    fn factor(&mut self, _at: &State, _c: Combination) -> Result<(), ModelError> {
        Ok(())
    }
}

/// The default solver with a complaint.
struct Tired(Box<dyn Solver>);

impl Solver for Tired {
    fn info(&self) -> &'static SolverInfo {
        self.0.info()
    }
    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        self.0.admits(laws)
    }
    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        self.0.solve(problem, z)
    }
    fn warning(&self) -> Option<SolverWarning> {
        Some(SolverWarning { kind: &TIRED, value: 3.0, law: None })
    }
}

/// Warns in one step.
struct Afraid;

impl Observer for Afraid {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        if view.index == 7 {
            view.warn(&HIGH, None, 9.0);
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[test]
fn warnings_of_model_solver_and_observers_come_together() {
    let mut run = simulation(Box::new(Touchy::default()), Box::new(Tired(carom_solve::solver::default())));
    run.run(&mut [&mut Afraid]).unwrap();
    let all: Vec<Warning> = run.warnings().sorted();
    let found = |kind: &WarningKind| *all.iter().find(|warning| warning.kind == kind).unwrap();
    assert_eq!(all.len(), 3);
    // forces are asked for in every step, up to its end
    let soft = found(&SOFT);
    assert!(soft.count >= 500 && soft.contact == Some(Key(0)) && soft.t <= 1e-2 && soft.worst > 4.98, "{soft:?}");
    assert_eq!((found(&TIRED).count, found(&TIRED).worst), (run.statistics().solves, 3.0));
    let high = found(&HIGH);
    assert!(high.count == 1 && (high.t - 0.07).abs() < 1e-12 && high.worst == 9.0, "{high:?}");
}

/// A box that lies on its two corners from the start has no impact; one that falls on them has.
#[test]
fn a_box_at_rest_has_no_impacts() {
    let corner = |name: &'static str, side: f64| {
        let gap = move |_t: f64, q: &[f64]| q[0] - 0.5 * q[1].cos() + 0.5 * side * q[1].sin();
        Contact::new(name, gap).restitution(0.3)
    };
    let impacts = |height: f64| {
        let model = Lagrangian::new(2)
            .constant_mass(&[1.0, 0.0, 0.0, 1.0 / 6.0])
            .force(|_, _, _, f| f.copy_from_slice(&[-9.81, 0.0]))
            .contact(corner("A", 1.0))
            .contact(corner("B", -1.0))
            .initial(&[height, 0.0], &[0.0, 0.0]);
        let mut lists = Lists::new(100);
        let mut simulation = simulation(Box::new(model), carom_solve::solver::default());
        simulation.run(&mut [&mut lists]).unwrap();
        lists.impacts
    };
    assert_eq!(impacts(0.5), []);
    assert!(impacts(0.6).len() >= 4);
}
