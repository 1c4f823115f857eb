//! The driver: a loop over steps that any scheme can be put into.

mod accumulation;
mod adaptive;
mod audit;
mod checkpoint;
mod column;
mod controller;
mod drive;
mod facts;
mod ledger;
mod observer;
mod passed;
mod root;
mod solution;
mod user_event;
mod zero;

pub use accumulation::{Accumulation, Accumulations};
pub use adaptive::Adaptive;
pub use audit::{
    Audit, DAMPED, ENERGY_GAIN, ENERGY_LOSS, HAND_OVERS, IMPACT_GAIN, LISTED_LATE, PASSED, PENETRATION, PUSH_APART,
};
pub use checkpoint::Keeper;
pub use column::{Catalogue, Column, ColumnKind};
pub use controller::{Controller, FixedStep, StandardControl, Verdict};
pub use facts::{Acting, Impact, Lists, REST, RunEvent, SWITCH, USER};
pub use ledger::{EnergyLedger, LedgerObserver};
pub use observer::{GapMonitor, Observer, StepView};
pub use solution::{Recorder, Snapshot, Solution, Span, simulate, simulate_adaptive, simulate_first_order};
pub use user_event::{Action, Direction, Occurrence, UserEvent, ZeroFunction};

pub use drive::PARTED_STEP;
pub(crate) use drive::{Accepted, Drive};

use crate::scheme::{SchemeError, SolverPath, Step, StepError, Stepper};
use crate::{Labels, ModelError, State, Warnings};
use carom_solve::Certificate;
use std::ops::ControlFlow;
use user_event::Watch;

/// Steps one trajectory from its initial state to the end of the span, or from one given time to the next.
pub struct Simulation {
    stepper: Box<dyn Stepper>,
    drive: Drive<Box<dyn Controller>>,
    watch: Watch,
    warnings: Warnings, // of observers
    is_resumed: bool,   // whether observers have seen the start
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Tries that were not accepted.
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

carom_solve::persist!(Statistics { steps, rejected, solves, iterations, evaluations, worst });

/// Where and why a run ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// A step could not be done, nor a smaller one.
    #[error(
        "step {index} from t = {t:?} with h = {h:.3e} failed{}: {source}{}",
        contact.as_ref().map(|c| format!(" at contact `{c}`")).unwrap_or_default(),
        if *may_part { "; such a step may be done in parts: `part = true` in `[simulation]`" } else { "" }
    )]
    Step {
        /// Number of steps accepted so far.
        index: u64,
        /// Time at its start [s].
        t: f64,
        /// Length of the step that was tried [s].
        h: f64,
        /// Name of the contact to blame, where one is known.
        contact: Option<String>,
        /// Whether parts of the step might be done and were not tried, see [`Simulation::parting`].
        may_part: bool,
        /// What went wrong.
        source: StepError,
    },
    /// The local error is too large even with the smallest step.
    #[error(
        "the step control gave up at t = {t:?}: with the smallest step h = {h:.3e} the error is {error:.3e} times the tolerance; allow smaller steps (`min`), or a larger `tolerance`"
    )]
    StepTooSmall {
        /// Time at the start of the step [s].
        t: f64,
        /// Length of the step [s].
        h: f64,
        /// Its error divided by the tolerance [-].
        error: f64,
    },
    /// The limit of steps was reached before the end.
    #[error("the run does not come forward: more than {steps} steps up to t = {t:?}")]
    Stalled {
        /// Time reached [s].
        t: f64,
        /// The limit.
        steps: u64,
    },
    /// The scheme cannot work with this model or solver.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// An evaluation of the model failed outside of a step.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// End or step size make no sense; with the reason.
    #[error("the span is not usable: {0}")]
    Span(String),
    /// The function of an event of the user gave NaN.
    #[error("the function of event `{name}` is not a number at t = {t:?}")]
    Event {
        /// Name of the event.
        name: String,
        /// Time at which it was evaluated [s].
        t: f64,
    },
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
        let mut drive = Drive::new(controller, t);
        drive.set_goal(t, end);
        let (watch, warnings) = (Watch::default(), Warnings::default());
        Ok(Simulation { stepper, drive, watch, warnings, is_resumed: false })
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

    /// Takes a step again, shorter, where a contact is passed inside it, so that it ends where the contact has closed
    /// and the scheme sees it. The next step has its full length again. Where shapes touch by themselves and
    /// move by more than their thickness in a step, it ends just before they meet, and the next one is short. Schemes
    /// whose steps must be of one size refuse.
    pub fn shortening(mut self) -> Result<Self, SimulationError> {
        self.may_vary()?;
        self.drive.shortens = true;
        Ok(self)
    }

    /// Takes a step of a fixed size that does not converge in parts, which end on the same grid, with a warning.
    /// Schemes whose steps must be of one size refuse.
    pub fn parting(mut self) -> Result<Self, SimulationError> {
        self.may_vary()?;
        self.drive.parts = true;
        Ok(self)
    }

    /// Whether steps may have other lengths than the usual one.
    fn may_vary(&self) -> Result<(), SimulationError> {
        match self.stepper.needs_equal_steps() {
            None => Ok(()),
            Some(reason) => {
                let scheme = self.stepper.info().name;
                Err(SchemeError::EqualSteps { scheme, reason, shortens: false }.into())
            }
        }
    }

    /// Name and time of the event that ended the run.
    pub fn stopped(&self) -> Option<(&str, f64)> {
        let event = self.watch.events.get(self.watch.stopped?)?;
        Some((event.name.as_str(), self.stepper.from().t))
    }

    /// Ends with an error where more than so many steps are needed to come to the end, or to each time of
    /// [`Simulation::advance_to`].
    pub fn limit_steps(&mut self, most: u64) {
        self.drive.limit(most);
    }

    /// Runs to the end, to an event that stops, or until an observer breaks. Returns whether no observer did.
    pub fn run(&mut self, observers: &mut [&mut dyn Observer]) -> Result<bool, SimulationError> {
        if observers.is_empty() {
            while self.advance_unseen()? {}
            return Ok(true);
        }
        let asks = self.start(observers)?;
        self.go(asks, |view| show(observers, view))
    }

    /// Shows the initial state; whether somebody asks for contacts.
    fn start(&mut self, observers: &mut [&mut dyn Observer]) -> Result<bool, ModelError> {
        if !std::mem::take(&mut self.is_resumed) {
            for observer in observers.iter_mut() {
                observer.start(&mut *self.stepper)?;
            }
        }
        Ok(observers.iter().any(|observer| observer.asks_for_contacts()))
    }

    /// Goes to the time `until`, which is met exactly and becomes the end of the run, and shows each step. Returns
    /// whether `see` did not break.
    pub fn advance_to(
        &mut self,
        until: f64,
        see: &mut dyn FnMut(&mut StepView<'_>) -> ControlFlow<()>,
    ) -> Result<bool, SimulationError> {
        if !until.is_finite() {
            return Err(SimulationError::Span(format!("the end {until} must be finite")));
        }
        self.drive.set_goal(self.stepper.from().t, until);
        self.go(true, |view| Ok(see(view)))
    }

    /// Starts again from a state, with nothing remembered but the counts.
    pub fn restart(&mut self, state: &State) {
        self.stepper.restart(state);
        self.drive.restart(state.t);
        self.watch.restart();
    }

    /// Shows each step, with its contacts where somebody asks for them.
    fn go(
        &mut self,
        asks: bool,
        mut see: impl FnMut(&mut StepView<'_>) -> Result<ControlFlow<()>, ModelError>,
    ) -> Result<bool, SimulationError> {
        let mut rejected = self.drive.statistics.rejected;
        while self.attempt()? {
            self.drive.facts.record(&mut *self.stepper, asks)?;
            let statistics = &self.drive.statistics;
            let stopped = self.watch.stopped.and_then(|event| self.watch.events.get(event));
            let mut view = StepView {
                step: &self.drive.accepted.step,
                index: statistics.steps,
                rejected: statistics.rejected - rejected,
                end: self.drive.goal(),
                occurrences: &self.watch.found,
                stopped: stopped.map(|event| event.name.as_str()),
                stepper: &mut *self.stepper,
                facts: &mut self.drive.facts,
                warnings: &mut self.warnings,
            };
            rejected = statistics.rejected;
            let flow = see(&mut view)?;
            self.stepper.accept();
            if flow.is_break() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One accepted step without observers; `None` at the end of the span.
    pub fn advance(&mut self) -> Result<Option<Step>, SimulationError> {
        Ok(self.advance_unseen()?.then_some(self.drive.accepted.step))
    }

    /// Whether there was a step before the end of the span.
    #[inline]
    fn advance_unseen(&mut self) -> Result<bool, SimulationError> {
        let is_step = self.attempt()?;
        if is_step {
            // nobody looks at this step: to the next one that is seen, all contacts are new
            self.drive.facts.clear();
            self.stepper.accept();
        }
        Ok(is_step)
    }

    /// One step, cut where an event ends the run; `to` then holds it. `false` at the end of the span.
    #[inline(always)]
    fn attempt(&mut self) -> Result<bool, SimulationError> {
        if self.watch.stopped.is_some() || !self.drive.step(&mut *self.stepper)? {
            return Ok(false);
        }
        if !self.watch.events.is_empty() {
            let step = &mut self.drive.accepted.step;
            if let Some(shorter) = self.watch.watch_step(&mut *self.stepper, *step, self.drive.statistics.steps)? {
                *step = shorter;
            }
        }
        Ok(true)
    }

    /// Counts of the run so far.
    pub fn statistics(&self) -> &Statistics {
        &self.drive.statistics
    }

    /// What model, scheme, solver and observers have warned of so far.
    pub fn warnings(&self) -> Warnings {
        let mut all = self.warnings.clone();
        all.extend(&self.drive.warnings);
        self.stepper.warnings(&mut all);
        all
    }

    /// Names of coordinates and contacts.
    pub fn labels(&self) -> &Labels {
        self.stepper.labels()
    }

    /// What the solver did so far, path by path.
    pub fn solver_paths(&self) -> &[SolverPath] {
        self.stepper.solver_paths()
    }

    /// The bound scheme that does the steps.
    pub fn stepper(&mut self) -> &mut dyn Stepper {
        &mut *self.stepper
    }

    /// The last accepted state.
    pub fn state(&self) -> &State {
        self.stepper.from()
    }
}

/// Shows a step to all of them.
#[inline(always)]
fn show(observers: &mut [&mut dyn Observer], view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
    let mut flow = ControlFlow::Continue(());
    for observer in observers.iter_mut() {
        if observer.observe(view)?.is_break() {
            flow = ControlFlow::Break(());
        }
    }
    Ok(flow)
}

/// The stepper as an iterator: the same loop, one copied state per step.
impl Iterator for Simulation {
    type Item = Result<Snapshot, SimulationError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance() {
            Ok(step) => step.map(|step| Ok(Snapshot { state: self.state().clone(), step })),
            Err(error) => {
                // an iterator must end after an error
                self.drive.set_goal(f64::NEG_INFINITY, f64::NEG_INFINITY);
                Some(Err(error))
            }
        }
    }
}
