//! Where the time of a step goes, from free flight through the pour to the settled heap.
//!
//! `cargo xtask bench granular --phases [tolerance]`: the pour goes on until the balls rest. A solver that forwards to
//! the default one holds the clock: what is not in it is geometry, rows, free motion and the tests of Newton's loop.
//! Certificates and assemblies of `W` are timed apart, once for each problem that was solved.

use carom::simulation::{Observer, StepView};
use carom::{ModelError, Simulation};
use carom_scene::Scene;
use carom_solve::solver::Path;
use carom_solve::{
    Certificate, Law, OneStepProblem, ProblemWork, Reaction, SolveError, Solver, SolverInfo, SolverWarning, Unsupported,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Name, and first and last step.
const PHASES: [(&str, u64, u64); 4] =
    [("free flight", 5, 25), ("pouring", 26, 750), ("coming to rest", 751, 1500), ("settled", 1501, 1750)];

/// What the solver has done since the last step.
#[derive(Default)]
struct Seen {
    solving: f64,     // seconds in the solver
    certificate: f64, // of one certificate of each problem
    assembly: f64,    // of its W
    solves: u32,
    laws: usize, // of the last problem
    sweeps: u64,
    ways: Vec<String>,
}

/// A solver that forwards and holds the clock.
struct Metered {
    inner: Box<dyn Solver>,
    seen: Arc<Mutex<Seen>>,
    work: ProblemWork,
    z: Reaction,
}

impl Solver for Metered {
    fn info(&self) -> &'static SolverInfo {
        self.inner.info()
    }
    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        self.inner.admits(laws)
    }
    fn path(&self) -> Path {
        self.inner.path()
    }
    fn warning(&self) -> Option<SolverWarning> {
        self.inner.warning()
    }
    fn accept(&self) -> Option<f64> {
        self.inner.accept()
    }
    fn log(&self) -> String {
        self.inner.log()
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let start = Instant::now();
        let result = self.inner.solve(problem, z);
        let solving = start.elapsed().as_secs_f64();
        let start = Instant::now();
        self.z.lambda.clone_from(&z.lambda);
        problem.certify(&mut self.z);
        let certificate = start.elapsed().as_secs_f64();
        let start = Instant::now();
        OneStepProblem::new(*problem.parts(), &mut self.work).delassus();
        let assembly = start.elapsed().as_secs_f64();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.solving += solving;
        seen.certificate += certificate;
        seen.assembly += assembly;
        seen.solves += 1;
        seen.laws = problem.laws().len();
        let log = self.inner.log();
        seen.sweeps += sweeps(&log);
        seen.ways.push(way(&log));
        result
    }
}

/// Sweeps that a log tells of.
fn sweeps(log: &str) -> u64 {
    let words: Vec<&str> = log.split_whitespace().collect();
    words.windows(2).filter(|pair| pair[0] == "nsgs").filter_map(|pair| pair[1].parse::<u64>().ok()).sum()
}

/// The methods that a log tells of.
fn way(log: &str) -> String {
    let names = log.split(", ").filter_map(|part| part.split_whitespace().next());
    names.collect::<Vec<_>>().join(" ")
}

/// Sums over the steps of a phase.
#[derive(Default)]
struct Phase {
    steps: f64,
    seconds: f64,
    seen: Seen,
    most: u64, // sweeps in a step
    speed: f64,
    ways: BTreeMap<String, u64>,
}

struct Phases {
    clock: Instant,
    seen: Arc<Mutex<Seen>>,
    phases: [Phase; PHASES.len()],
}

impl Observer for Phases {
    fn asks_for_contacts(&self) -> bool {
        false
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let seconds = self.clock.elapsed().as_secs_f64();
        let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        let place = PHASES.iter().position(|&(_, first, last)| (first..=last).contains(&view.index));
        if let Some(place) = place {
            let phase = &mut self.phases[place];
            phase.steps += 1.0;
            phase.seconds += seconds - seen.certificate - seen.assembly;
            phase.seen.solving += seen.solving;
            phase.seen.certificate += seen.certificate;
            phase.seen.assembly += seen.assembly;
            phase.seen.solves += seen.solves;
            phase.seen.laws += seen.laws;
            phase.seen.sweeps += seen.sweeps;
            phase.most = phase.most.max(seen.sweeps);
            seen.ways.into_iter().for_each(|way| *phase.ways.entry(way).or_default() += 1);
            let v = &view.stepper.to().v;
            phase.speed = v.chunks(6).map(|v| v[..3].iter().map(|x| x * x).sum::<f64>().sqrt()).fold(0.0, f64::max);
        }
        self.clock = Instant::now();
        Ok(ControlFlow::Continue(()))
    }
}

/// Runs the scene through all phases and prints them.
pub fn run(scene: &Scene) -> Result<(), String> {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let wrap = |inner| -> Box<dyn Solver> {
        Box::new(Metered { inner, seen: seen.clone(), work: ProblemWork::default(), z: Reaction::default() })
    };
    let mut simulation: Simulation = scene.simulation_with(wrap).map_err(|e| e.to_string())?;
    let mut phases = Phases { clock: Instant::now(), seen: seen.clone(), phases: Default::default() };
    let result = simulation.run(&mut [&mut phases]).map_err(|e| e.to_string());
    let names = ["step", "others", "solve", "(certif.", "W)", "solves", "laws", "sweeps", "most", "speed"];
    println!("{:16}{}", "", names.map(|name| format!("{name:>10}")).concat());
    for ((name, ..), phase) in PHASES.iter().zip(&phases.phases).filter(|(_, phase)| phase.steps > 0.0) {
        let Phase { steps, seconds, seen, most, speed, ways } = phase;
        let micro = |x: f64| format!("{:>10.0}", 1e6 * x / steps);
        let times =
            [*seconds, seconds - seen.solving, seen.solving, seen.certificate, seen.assembly].map(micro).concat();
        let per = |x: f64| x / steps;
        let (solves, laws, sweeps) = (per(seen.solves.into()), per(seen.laws as f64), per(seen.sweeps as f64));
        println!("{name:16}{times}{solves:>10.2}{laws:>10.0}{sweeps:>10.1}{most:>10}{speed:>10.1e}");
        for (way, number) in ways {
            println!("{:20}{number:>8} x {way}", "");
        }
    }
    println!("times in µs per step; others: geometry, rows, free motion, tests; speed: the largest at the end [m/s]");
    result.map(drop)
}
