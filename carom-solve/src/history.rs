//! Histories of residuals, for those who ask for them: what was reached after which iteration, and when.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// One point of a history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Number of the rung of the ladder, from 1 on; 0 before the ladder or without one.
    pub rung: usize,
    /// Its name; that of the solver before the ladder or without one.
    pub name: &'static str,
    /// The method that works in it.
    pub method: &'static str,
    /// Sweeps or steps since it began.
    pub iteration: usize,
    /// Time since the history began [s].
    pub seconds: f64,
    /// Residual of the present point [-], that of the certificate; the best point is kept besides.
    pub residual: f64,
}

/// A history that is being written: attach it by [`OneStepProblem::recorded`](crate::OneStepProblem::recorded). Copies
/// write to the same one.
///
/// ```
/// use carom_solve::{History, ProblemWork, Reaction, family, solver};
/// let problem = family::find("wall").unwrap().build(100, 1).unwrap();
/// let history = History::new("auto");
/// let mut z = Reaction::default();
/// problem.with(&mut ProblemWork::default(), |p| solver::default().solve(&p.recorded(&history), &mut z)).unwrap();
/// let points = history.points();
/// assert!(points.len() > 3 && points.last().unwrap().residual <= 1e-10);
/// ```
#[derive(Clone, Debug)]
pub struct History(Arc<Mutex<Record>>);

#[derive(Debug)]
struct Record {
    start: Instant,
    rung: (usize, &'static str),
    points: Vec<Point>,
}

impl History {
    /// An empty history of this solver, whose clock starts now.
    pub fn new(solver: &'static str) -> History {
        History(Arc::new(Mutex::new(Record { start: Instant::now(), rung: (0, solver), points: Vec::new() })))
    }

    /// What was noted so far.
    pub fn points(&self) -> Vec<Point> {
        self.record().points.clone()
    }

    /// A new rung of the ladder.
    pub(crate) fn climb(&self, name: &'static str) {
        let mut record = self.record();
        record.rung = (record.rung.0 + 1, name);
    }

    /// A residual that a method has reached.
    pub(crate) fn note(&self, method: &'static str, iteration: usize, residual: f64) {
        let mut record = self.record();
        let (seconds, (rung, name)) = (record.start.elapsed().as_secs_f64(), record.rung);
        record.points.push(Point { rung, name, method, iteration, seconds, residual });
    }

    /// The residual at the end of a method, after the iterations that it has told of, if any.
    pub(crate) fn end(&self, residual: f64) {
        let (last, (rung, name)) = {
            let record = self.record();
            (record.points.last().copied(), record.rung)
        };
        match last.filter(|last| last.rung == rung) {
            Some(last) if last.residual == residual => {}
            Some(last) => self.note(last.method, last.iteration, residual),
            None => self.note(name, 0, residual),
        }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
