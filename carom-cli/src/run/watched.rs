//! The solver of a run, watched: what it does is counted, and its problems are written to files where that is asked for.

use super::dump::{Dump, Dumped};
use super::tally::Tally;
use carom::ModelError;
use carom::scheme::Stepper;
use carom::simulation::{Observer, StepView};
use carom_solve::{Certificate, Law, OneStepProblem, Reaction, SolveError, Solver, SolverInfo, Unsupported};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

/// Where a run stands; solvers know no time.
#[derive(Default)]
pub struct Clock {
    steps: AtomicU64, // done so far
    time: AtomicU64,  // bits of the time of the last accepted state
}

impl Clock {
    fn set(&self, steps: u64, time: f64) {
        self.steps.store(steps, Ordering::Relaxed);
        self.time.store(time.to_bits(), Ordering::Relaxed);
    }

    /// Steps done, and the time that they reached [s].
    fn read(&self) -> (u64, f64) {
        (self.steps.load(Ordering::Relaxed), f64::from_bits(self.time.load(Ordering::Relaxed)))
    }
}

/// Moves the clock.
pub struct Hand(pub Arc<Clock>);

impl Observer for Hand {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.0.set(0, stepper.from().t);
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.0.set(view.index, view.to().t);
        Ok(ControlFlow::Continue(()))
    }
}

/// What was seen, sent when the solver is dropped.
pub struct Seen {
    pub tally: Tally,
    pub dumped: Option<Dumped>,
}

/// A solver that forwards to another one.
pub struct Watched {
    inner: Box<dyn Solver>,
    tally: Tally,
    dump: Option<(Dump, Arc<Clock>)>,
    seen: Sender<Seen>,
}

impl Watched {
    pub fn new(inner: Box<dyn Solver>, dump: Option<(Dump, Arc<Clock>)>, seen: Sender<Seen>) -> Watched {
        Watched { inner, tally: Tally::default(), dump, seen }
    }
}

impl Solver for Watched {
    fn info(&self) -> &'static SolverInfo {
        self.inner.info()
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        self.inner.admits(laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let result = self.inner.solve(problem, z);
        self.tally.count(&*self.inner, problem.laws().len(), &result);
        if let Some((dump, clock)) = &mut self.dump {
            dump.take(problem, clock.read(), result.is_err());
        }
        result
    }

    fn log(&self) -> String {
        self.inner.log()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let seen =
            Seen { tally: std::mem::take(&mut self.tally), dumped: self.dump.take().map(|(dump, _)| dump.finish()) };
        // nobody waits for it where the run did not begin
        let _ = self.seen.send(seen);
    }
}
