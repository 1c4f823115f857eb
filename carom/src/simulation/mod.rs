//! The driver: a loop over steps that any scheme can be put into.

mod accumulation;
mod adaptive;
mod controller;
mod event_list;
mod impact;
mod ledger;
mod observer;
mod root;
mod solution;
mod user_event;

pub use accumulation::{Accumulation, Accumulations};
pub use adaptive::Adaptive;
pub use controller::{Controller, FixedStep, StandardControl, Verdict};
pub use event_list::{EventDetector, RunEvent, USER};
pub use impact::{Impact, ImpactDetector};
pub use ledger::{EnergyLedger, LedgerObserver};
pub use observer::{GapMonitor, Observer, StepView};
pub use solution::{Recorder, Snapshot, Solution, simulate, simulate_adaptive, simulate_first_order};
pub use user_event::{Action, Direction, Occurrence, UserEvent, ZeroFunction};

use crate::scheme::{SchemeError, Step, StepError, Stepper};
use crate::{Key, ModelError};
use carom_solve::Certificate;
use std::ops::ControlFlow;
use user_event::Watch;

/// Steps one trajectory from its initial state to the end of the span.
pub struct Simulation {
    stepper: Box<dyn Stepper>,
    controller: Box<dyn Controller>,
    end: f64,
    h: f64,
    grid: Grid,
    statistics: Statistics,
    watch: Watch,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Statistics {
    pub steps: u64,
    pub rejected: u64,
    /// One-step problems solved, those of rejected steps included, as in the next two.
    pub solves: u64,
    /// Newton iterations: linearised steps solved.
    pub iterations: u64,
    /// Evaluations of the right-hand side.
    pub evaluations: u64,
    /// The worst certificate of all accepted steps.
    pub worst: Certificate,
}

/// Times `base + count·h`: steps of one size do not accumulate rounding.
#[derive(Clone, Copy, Debug, Default)]
struct Grid {
    base: f64,
    count: u64,
    h: f64,
}

impl Grid {
    /// The time after a step of size `advanced` from `t`, of which `h` was asked.
    fn after(&mut self, t: f64, advanced: f64) -> f64 {
        if advanced != self.h {
            *self = Grid { base: t, count: 0, h: advanced };
        }
        self.count += 1;
        self.base + self.count as f64 * self.h
    }
}

/// Where and why a run ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    #[error("step {index} from t = {t:?} with h = {h:.3e} failed{}: {source}", contact.as_ref().map(|c| format!(" at contact `{c}`")).unwrap_or_default())]
    Step { index: u64, t: f64, h: f64, contact: Option<String>, source: StepError },
    #[error(
        "the step control gave up at t = {t:?}: with the smallest step h = {h:.3e} the error is {error:.3e} times the tolerance; allow smaller steps (`min`), or a larger `tolerance`"
    )]
    StepTooSmall { t: f64, h: f64, error: f64 },
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the span is not usable: {0}")]
    Span(String),
    #[error("the function of event `{name}` is not a number at t = {t:?}")]
    Event { name: String, t: f64 },
}

impl Simulation {
    /// A run of `stepper` until `end`, with step sizes from `controller`.
    pub fn new(stepper: Box<dyn Stepper>, controller: Box<dyn Controller>, end: f64) -> Result<Self, SimulationError> {
        let (t, h) = (stepper.from().t, controller.first());
        if !(end.is_finite() && end >= t) {
            return Err(SimulationError::Span(format!("the end {end} must be finite and not before the start {t}")));
        }
        if !(h.is_finite() && h > 0.0) {
            return Err(SimulationError::Span(format!("the step {h} must be finite and positive")));
        }
        let grid = Grid { base: t, count: 0, h };
        let (statistics, watch) = (Statistics::default(), Watch::default());
        Ok(Simulation { stepper, controller, end, h, grid, statistics, watch })
    }

    /// Watches for an event of the user besides those it has.
    ///
    /// ```
    /// use carom::scheme::{Bound, MoreauJean};
    /// use carom::simulation::{Direction, FixedStep, Simulation, UserEvent};
    /// use carom::testbed::BouncingBall;
    ///
    /// let model: Box<dyn carom::Mechanical> = Box::new(BouncingBall::default().model());
    /// let stepper = Bound::new(MoreauJean::default(), model, carom_solve::solver::default())?;
    /// let apex = UserEvent::new("apex", |_t, _q, v| v[0]).crossing(Direction::Falling).stopping();
    /// let mut run = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-3 }), 5.0)?.with_event(apex);
    /// let solution = run.record()?;
    /// assert_eq!(run.stopped().map(|(name, _)| name), Some("apex"));
    /// assert!((solution.events[0].t - 1.5).abs() < 2e-3 && solution.events[0].after.v[0].abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_event(mut self, event: UserEvent) -> Self {
        self.watch.events.push(event);
        self
    }

    /// Name and time of the event that ended the run.
    pub fn stopped(&self) -> Option<(&str, f64)> {
        let event = self.watch.events.get(self.watch.stopped?)?;
        Some((event.name.as_str(), self.stepper.from().t))
    }

    /// Runs to the end, to an event that stops, or until an observer breaks. Returns whether no observer did.
    pub fn run(&mut self, observers: &mut [&mut dyn Observer]) -> Result<bool, SimulationError> {
        for observer in observers.iter_mut() {
            observer.start(&mut *self.stepper)?;
        }
        let mut rejected = self.statistics.rejected;
        while let Some(step) = self.attempt()? {
            let mut view = StepView {
                step,
                index: self.statistics.steps,
                rejected: self.statistics.rejected - rejected,
                end: self.end,
                occurrences: &self.watch.found,
                stopped: self
                    .watch
                    .stopped
                    .and_then(|event| self.watch.events.get(event))
                    .map(|event| event.name.as_str()),
                stepper: &mut *self.stepper,
            };
            rejected = self.statistics.rejected;
            let mut flow = ControlFlow::Continue(());
            for observer in observers.iter_mut() {
                if observer.observe(&mut view)?.is_break() {
                    flow = ControlFlow::Break(());
                }
            }
            self.stepper.accept();
            if flow.is_break() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One accepted step without observers; `None` at the end of the span.
    pub fn advance(&mut self) -> Result<Option<Step>, SimulationError> {
        let step = self.attempt()?;
        if step.is_some() {
            self.stepper.accept();
        }
        Ok(step)
    }

    /// One step, cut where an event ends the run; `to` then holds it.
    fn attempt(&mut self) -> Result<Option<Step>, SimulationError> {
        if self.watch.stopped.is_some() {
            return Ok(None);
        }
        let Some(step) = self.accepted()? else { return Ok(None) };
        let shorter = self.watch.look(&mut *self.stepper, step, self.statistics.steps)?;
        Ok(Some(shorter.unwrap_or(step)))
    }

    /// Tries steps until the controller accepts one.
    fn accepted(&mut self) -> Result<Option<Step>, SimulationError> {
        let t = self.stepper.from().t;
        let Some(mut h) = self.clip(t, self.h) else { return Ok(None) };
        loop {
            let step = match self.stepper.attempt(h) {
                Ok(step) => step,
                Err(source) => {
                    h = self.recover(t, h, source)?;
                    continue;
                }
            };
            self.count(&step);
            match self.controller.judge(&step, self.stepper.info(), h) {
                Verdict::Accept { next } => {
                    self.stamp(t, h, step.advanced);
                    self.h = next;
                    self.statistics.steps += 1;
                    self.statistics.worst = self.statistics.worst.worse(step.worst);
                    return Ok(Some(step));
                }
                Verdict::Retry { with } if with > 0.0 && with < h && t + with > t => {
                    self.statistics.rejected += 1;
                    h = with;
                }
                Verdict::Retry { .. } => {
                    let error = step.error.map_or(f64::NAN, |error| error.value);
                    return Err(SimulationError::StepTooSmall { t, h, error });
                }
                Verdict::GiveUp { error } => {
                    self.statistics.rejected += 1;
                    return Err(SimulationError::StepTooSmall { t, h, error });
                }
            }
        }
    }

    /// A smaller step after one that failed, where the controller has one.
    fn recover(&mut self, t: f64, h: f64, source: StepError) -> Result<f64, SimulationError> {
        match self.controller.recover(h).filter(|with| *with > 0.0 && *with < h && t + with > t) {
            Some(with) => {
                self.statistics.rejected += 1;
                Ok(with)
            }
            None => Err(self.failure(t, h, source)),
        }
    }

    /// The time of an accepted step: on the grid, and at the end exactly the end.
    fn stamp(&mut self, t: f64, h: f64, advanced: f64) {
        let after = self.grid.after(t, advanced);
        let last = advanced == h && h == self.end - t || (self.end - after).abs() <= self.rounding(t);
        self.stepper.stamp(if last { self.end } else { after });
    }

    /// The step size such that the last step ends at the end: cut there, or stretched by less than 1e-9 of a step so that none of that
    /// length follows. A step that misses the end by rounding keeps its size.
    fn clip(&self, t: f64, h: f64) -> Option<f64> {
        let (left, rounding) = (self.end - t, self.rounding(t));
        if left <= 0.0 || (left <= rounding && left <= 1e-9 * h) {
            None
        } else if (left - h).abs() <= 0.5 * rounding || h < left * (1.0 - 1e-9) {
            Some(h)
        } else {
            Some(left)
        }
    }

    /// What two times near t and the end cannot tell apart [s].
    fn rounding(&self, t: f64) -> f64 {
        4.0 * f64::EPSILON * t.abs().max(self.end.abs())
    }

    /// Work is work, be the step accepted or not.
    fn count(&mut self, step: &Step) {
        self.statistics.solves += u64::from(step.solves);
        self.statistics.iterations += u64::from(step.iterations);
        self.statistics.evaluations += u64::from(step.evaluations);
    }

    fn failure(&self, t: f64, h: f64, source: StepError) -> SimulationError {
        let name = |key: Key| self.stepper.labels().contact(key);
        let contact = match &source {
            StepError::Model(error) => error.contact().map(String::from),
            other => other.key().map(name),
        };
        SimulationError::Step { index: self.statistics.steps, t, h, contact, source }
    }

    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    pub fn stepper(&mut self) -> &mut dyn Stepper {
        &mut *self.stepper
    }

    /// The last accepted state.
    pub fn state(&self) -> &crate::State {
        self.stepper.from()
    }
}

/// The stepper as an iterator: the same loop, one copied state per step.
impl Iterator for Simulation {
    type Item = Result<Snapshot, SimulationError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance() {
            Ok(step) => step.map(|step| Ok(Snapshot { state: self.state().clone(), step })),
            Err(error) => {
                // an iterator must end after an error
                self.end = f64::NEG_INFINITY;
                Some(Err(error))
            }
        }
    }
}
