//! Sensitivities of motions with impacts: how the state depends on the initial state and on parameters [leine2004,
//! mueller1995].
//!
//! ```text
//!     Ẏ = A(t) Y between events (A along the motion, contacts that are closed held),    Y⁺ = S Y⁻ at each event            (1)
//! ```
//!
//! [`Sensitivity`] carries a motion of the event-driven scheme and a frame of perturbations (δq, δv, δp) with it. The
//! frame is any number of columns: the unit matrix gives the derivative of the flow, one column the growth of one
//! perturbation. Where there are more coordinates than velocities δq is an increment on the chart of the model.
//!
//! [`step`] is the same for steps of capturing schemes: the derivative of their discrete map.

mod difference;
mod field;
mod jump;
mod magnus;
mod saltation;
pub mod step;

use crate::model::{Along, CouplingTangent, Tangent};
use crate::scheme::{BindError, Bound, EventDriven, SchemeError, StepError, Stepper};
use crate::simulation::{Drive, FixedStep, SimulationError};
use crate::{Key, Mechanical, ModelError, State};
use carom_solve::Solver;
use field::Field;
use magnus::Magnus;
use saltation::Saltation;

pub use difference::DifferenceTangent;
pub use saltation::GRAZING;
pub use step::StepSensitivity;

/// Most steps up to a given time.
const STEPS: u64 = 10_000_000;

/// A state that is at most so many times the tolerance of the motion inside an obstacle is on its surface.
const INSIDE: f64 = 1e3;

/// Why a sensitivity could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SensitivityError {
    /// The scheme cannot work with the model, its options or the solver.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// A step of the scheme failed.
    #[error("the step from t = {t:?} failed: {source}")]
    Step {
        /// Time at which the step begins [s].
        t: f64,
        /// Why it failed.
        source: StepError,
    },
    /// The model or its tangent cannot answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An event at which the motion has no derivative.
    #[error("the motion has no derivative at t = {t:?}: {event}")]
    NotDifferentiable {
        /// Time [s].
        t: f64,
        /// The event, in words.
        event: &'static str,
    },
    /// Too many steps before the goal.
    #[error("the motion does not come forward: more than {steps} steps up to t = {t:?}")]
    Stalled {
        /// Time that was reached [s].
        t: f64,
        /// Number of steps that is allowed.
        steps: u64,
    },
    /// Coefficients of friction depend on the state.
    #[error("friction that depends on the state has no derivatives yet; motions need none")]
    VaryingFriction,
    /// Contacts have a restitution along their tangents.
    #[error("restitution along tangents has no derivatives yet; motions need none")]
    Rebounds,
    /// Bodies may sleep.
    #[error("motions in which bodies sleep have no derivatives; leave `sleep` out")]
    Sleep,
    /// Coordinates and velocities differ in number, as with quaternions, and the increments have no chart.
    #[error(
        "the model has {positions} coordinates and {velocities} velocities; sensitivities need as many of both, or a chart of the increments that the scheme can use"
    )]
    Unequal {
        /// Number of coordinates.
        positions: usize,
        /// Number of velocities.
        velocities: usize,
    },
    /// The scheme has no derivative of its steps.
    #[error("steps of the scheme `{scheme}` have no derivative; those of {known} have one")]
    NoTangent {
        /// Name of the scheme asked for.
        scheme: String,
        /// Names of those that have one, with commas between.
        known: String,
    },
    /// Scheme, model and solver cannot be bound together.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Anything else that stops a run.
    #[error(transparent)]
    Simulation(Box<SimulationError>),
}

impl From<SimulationError> for SensitivityError {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Step { t, source, .. } => SensitivityError::Step { t, source },
            SimulationError::Stalled { t, steps } => SensitivityError::Stalled { t, steps },
            SimulationError::Model(error) => SensitivityError::Model(error),
            SimulationError::Scheme(error) => SensitivityError::Scheme(error),
            other => SensitivityError::Simulation(Box::new(other)),
        }
    }
}

impl From<crate::balance::TangentError> for SensitivityError {
    fn from(error: crate::balance::TangentError) -> Self {
        match error {
            crate::balance::TangentError::Model(error) => SensitivityError::Model(error),
            crate::balance::TangentError::NotDifferentiable { t, event } => {
                SensitivityError::NotDifferentiable { t, event }
            }
        }
    }
}

/// An impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Time [s].
    pub t: f64,
    /// The contact that was struck.
    pub contact: Key,
    /// Normal velocity before [m/s].
    pub before: f64,
}

/// Most impacts that are listed one by one.
const LISTED: usize = 1000;

/// What happened on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactCounts {
    /// Number of impacts, of all contacts.
    pub impacts: u64,
    /// Impacts of each contact.
    pub by_contact: Vec<(Key, u64)>,
    /// The first 1000 impacts.
    pub listed: Vec<Impact>,
    /// Of each of these how its time changes along each column of the frame.
    pub delays: Vec<Vec<f64>>,
    /// Slowest approach of all impacts [m/s]; infinite without one.
    pub slowest: f64,
    /// Impacts below [`GRAZING`]: derivatives are infinite at zero.
    pub grazing: u64,
    /// How often a contact came to rest: perturbations of its gap and its velocity vanish.
    pub rests: u64,
    /// Contacts that came to rest.
    pub rested: Vec<Key>,
    /// How often a slip came to stick: the perturbation along it vanishes.
    pub sticks: u64,
    /// Impacts of several contacts at one instant, where derivatives hold on one side only.
    pub simultaneous: u64,
    /// ∫ tr A dt over the smooth parts.
    pub divergence: f64,
    /// Whether all events were impacts of one contact without friction in free flight: then det S = e² for each.
    pub is_plain: bool,
}

impl Default for ContactCounts {
    fn default() -> Self {
        ContactCounts {
            impacts: 0,
            by_contact: Vec::new(),
            listed: Vec::new(),
            delays: Vec::new(),
            slowest: f64::INFINITY,
            grazing: 0,
            rests: 0,
            rested: Vec::new(),
            sticks: 0,
            simultaneous: 0,
            divergence: 0.0,
            is_plain: true,
        }
    }
}

impl ContactCounts {
    fn impact(&mut self, impact: Impact, plain: bool) {
        let (key, speed) = (impact.contact, impact.before.abs());
        if self.listed.len() < LISTED {
            self.listed.push(impact);
        }
        self.impacts += 1;
        self.is_plain &= plain;
        self.slowest = self.slowest.min(speed);
        self.grazing += u64::from(speed < GRAZING);
        match self.by_contact.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += 1,
            None => self.by_contact.push((key, 1)),
        }
    }

    fn rest(&mut self, key: Key) {
        self.rests += 1;
        self.is_plain = false;
        if !self.rested.contains(&key) {
            self.rested.push(key);
        }
    }

    /// Starts over.
    pub fn clear(&mut self) {
        self.by_contact.clear();
        self.rested.clear();
        self.listed.clear();
        let (by_contact, rested) = (std::mem::take(&mut self.by_contact), std::mem::take(&mut self.rested));
        *self =
            ContactCounts { by_contact, rested, listed: std::mem::take(&mut self.listed), ..ContactCounts::default() };
    }
}

/// A gap with its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// The gap itself [m].
    pub value: f64,
    /// By time.
    pub rate: f64,
    /// By positions, velocities (zeros) and parameters.
    pub slope: Vec<f64>,
}

/// A motion with perturbations.
pub struct Sensitivity {
    stepper: Bound<EventDriven>,
    drive: Drive<FixedStep>, // steps as long as they can be: they end at events or at the goal
    field: Field,
    magnus: Magnus,
    saltation: Saltation,
    /// What happened since the last [`ContactCounts::clear`].
    pub counts: ContactCounts,
    columns: Vec<f64>, // each of `size` entries
    next: Vec<f64>,    // (size)
    matrix: Vec<f64>,  // (size × size) A
    pending: f64,      // time of a constant A that the columns have not seen yet [s]
    /// Steps of the scheme so far.
    pub steps: u64,
    sample: State,
}

impl Sensitivity {
    /// Binds a scheme, two models that are the same, the tangent of it and a solver; starts at the initial state with
    /// the unit frame.
    pub fn new(
        scheme: EventDriven,
        models: [Box<dyn Mechanical>; 2],
        tangent: Box<dyn Tangent>,
        solver: Box<dyn Solver>,
    ) -> Result<Sensitivity, SensitivityError> {
        let [model, other] = models;
        if model.friction_varies() || !model.bearings().is_empty() {
            return Err(SensitivityError::VaryingFriction);
        }
        if model.has_rebounds() {
            return Err(SensitivityError::Rebounds);
        }
        if model.sleeps() {
            return Err(SensitivityError::Sleep);
        }
        let sample = model.initial();
        if sample.q.len() != sample.v.len() && model.chart().is_none() {
            return Err(SensitivityError::Unequal { positions: sample.q.len(), velocities: sample.v.len() });
        }
        let field = Field::new(other, tangent);
        let size = field.size();
        let mut drive = Drive::new(FixedStep { h: f64::INFINITY }, sample.t);
        drive.limit(STEPS);
        let mut new = Sensitivity {
            stepper: Bound::new(scheme, model, solver)?,
            drive,
            field,
            magnus: Magnus::new(size),
            saltation: Saltation::default(),
            counts: ContactCounts::default(),
            columns: Vec::new(),
            next: vec![0.0; size],
            matrix: vec![0.0; size * size],
            pending: 0.0,
            steps: 0,
            sample,
        };
        new.field.detect(&new.sample, 0.0)?;
        new.reset();
        Ok(new)
    }

    /// Degrees of freedom, and number of parameters.
    pub fn dimensions(&self) -> (usize, usize) {
        (self.field.n, self.field.parameters)
    }

    /// Entries of a column: δq, δv, δp.
    pub fn size(&self) -> usize {
        self.field.size()
    }

    /// The present state of the motion.
    pub fn state(&self) -> &State {
        self.stepper.from()
    }

    /// Increments of states and differences between them, of size 2n: attitudes are no vectors.
    pub fn space(&self) -> &dyn Stepper {
        &self.stepper
    }

    /// Names and laws of the contacts.
    pub fn labels(&self) -> &crate::Labels {
        self.stepper.labels()
    }

    /// Starts again from a state; the frame stays.
    pub fn restart(&mut self, state: &State) {
        self.stepper.restart(state);
        self.drive.restart(state.t);
        self.pending = 0.0;
    }

    /// The frame becomes the unit matrix.
    pub fn reset(&mut self) {
        let size = self.size();
        self.set_columns(size);
        for (k, column) in self.columns.chunks_exact_mut(size).enumerate() {
            column.fill(0.0);
            column[k] = 1.0;
        }
    }

    /// The frame gets this many columns.
    pub fn set_columns(&mut self, count: usize) {
        self.columns.resize(count * self.field.size(), 0.0);
    }

    /// The columns of the frame, one after the other.
    pub fn columns(&self) -> impl Iterator<Item = &[f64]> {
        self.columns.chunks_exact(self.field.size())
    }

    /// The columns of the frame, to be changed.
    pub fn columns_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.columns.chunks_exact_mut(self.field.size())
    }

    /// v̇ at the present state, as it goes on from here.
    pub fn rate(&mut self, out: &mut [f64]) -> Result<(), SensitivityError> {
        let State { t, q, v } = self.stepper.from();
        let (_, ended) = self.stepper.work().phases();
        Ok(self.field.rate(ended, (*t, q, v), out)?)
    }

    /// Gaps and their rates at the present state, of contacts that count here.
    pub fn gaps(&mut self) -> Result<Vec<(Key, f64, f64)>, SensitivityError> {
        let State { t, q, v } = self.stepper.from();
        let coupling = self.field.couple(*t, q)?;
        let contacts = coupling.pairs.iter().enumerate();
        let contacts = contacts.filter(|(i, pair)| !pair.law.is_equality() && coupling.is_present(*i));
        let entry = |(i, pair): (usize, &crate::Pair)| {
            let row = coupling.offset[i];
            (pair.key, pair.gap, coupling.rows.dot(row, v) + coupling.drift[row])
        };
        Ok(contacts.map(entry).collect())
    }

    /// Contacts and constraints that are closed at the present state.
    pub fn closed(&self) -> impl Iterator<Item = Key> + '_ {
        let (_, ended) = self.stepper.work().phases();
        ended.keys().iter().enumerate().filter(|(i, _)| ended.mode(*i).is_closed()).map(|(_, key)| *key)
    }

    /// The contact that the present state lies deepest inside of, with its gap [m]. What the tolerances of the scheme
    /// leave, beside the positions and the way in `span` seconds, is not inside.
    pub fn inside(&mut self, span: f64) -> Result<Option<(Key, f64)>, SensitivityError> {
        let (scheme, State { t, q, v }) = (self.stepper.scheme(), self.stepper.from());
        let coupling = self.field.couple(*t, q)?;
        let largest = q.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut deepest: Option<(Key, f64)> = None;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            if pair.law.is_equality() || !coupling.is_present(i) || pair.gap >= deepest.map_or(0.0, |d| d.1) {
                continue;
            }
            let row = coupling.offset[i];
            // where coordinates are not paired with velocities the largest one stands for all
            let size_of = |j: usize| if q.len() == v.len() { q[j].abs() } else { largest };
            let way = |&(j, c): &(usize, f64)| c.abs() * (size_of(j) + span * v[j].abs());
            let size = coupling.rows.row(row).iter().map(way).sum::<f64>() + span * coupling.drift[row].abs();
            if pair.gap < -INSIDE * (scheme.absolute(size) + scheme.rtol * size) {
                deepest = Some((pair.key, pair.gap));
            }
        }
        Ok(deepest)
    }

    /// The gap of a contact at a state, with its derivatives by time and by (q, v, p); `None` where the contact is not
    /// there.
    pub fn gap(&mut self, at: &State, contact: Key) -> Result<Option<Gap>, SensitivityError> {
        self.field.couple(at.t, &at.q)?;
        let Field { acceleration, tangent, n, parameters, .. } = &mut self.field;
        let coupling = &acceleration.coupling;
        let Some(i) = coupling.pairs.iter().position(|pair| pair.key == contact) else { return Ok(None) };
        let row = coupling.offset[i];
        let mut slope = vec![0.0; 2 * *n + *parameters];
        coupling.rows.add_row(row, 1.0, &mut slope[..*n]);
        let (value, rate) = (coupling.pairs[i].gap, coupling.drift[row]);
        let (zeros, mut unit) = (vec![0.0; *n], vec![0.0; *parameters]);
        let mut change = CouplingTangent::default();
        for k in 0..*parameters {
            unit.fill(0.0);
            unit[k] = 1.0;
            tangent.coupling((at.t, &at.q, &at.v), Along { t: 0.0, q: &zeros, v: &zeros, p: &unit }, &mut change)?;
            slope[2 * *n + k] = change.gap[i];
        }
        Ok(Some(Gap { value, rate, slope }))
    }

    /// The columns lose what the contacts that are closed now do not allow: gaps and velocities along them cannot
    /// differ.
    pub fn project_columns(&mut self) -> Result<(), SensitivityError> {
        let (_, ended) = self.stepper.work().phases();
        Ok(self.saltation.project_columns(&mut self.field, ended, self.stepper.from(), &mut self.columns)?)
    }

    /// Carries the motion and the frame to the time `until`.
    pub fn advance(&mut self, until: f64) -> Result<(), SensitivityError> {
        self.advance_while(until, &mut |_, _| true).map(|_| ())
    }

    /// As [`advance`](Self::advance), but after each step, which ends at an event where there is one, `go_on` is asked
    /// whether to go on. Returns whether `until` was reached.
    pub fn advance_while(
        &mut self,
        until: f64,
        go_on: &mut dyn FnMut(&State, &ContactCounts) -> bool,
    ) -> Result<bool, SensitivityError> {
        self.drive.set_goal(self.stepper.from().t, until);
        loop {
            let t = self.stepper.from().t;
            if until > t {
                self.field.detect(self.stepper.from(), until - t)?;
            }
            if !self.drive.step(&mut self.stepper)? {
                self.flush();
                return Ok(true);
            }
            self.steps += 1;
            self.advance_columns(t, self.drive.accepted.step.advanced)?;
            self.stepper.accept();
            if !go_on(self.stepper.from(), &self.counts) {
                self.flush();
                return Ok(false);
            }
        }
    }

    /// (1) over the step that was tried last.
    fn advance_columns(&mut self, t: f64, h: f64) -> Result<(), SensitivityError> {
        let all = self.stepper.events().as_slice();
        // impacts of contacts that touch where a motion starts
        let early = if h > 0.0 { all.iter().take_while(|event| event.t <= t).count() } else { 0 };
        let constant = self.field.is_constant(self.stepper.work().phases().0);
        if early > 0 || !constant {
            self.flush();
        }
        self.cross_events(0..early, true)?;
        if h > 0.0 && constant {
            if self.pending == 0.0 {
                let (begun, _) = self.stepper.work().phases();
                let State { t, q, v } = self.stepper.from();
                self.field.matrix(begun, (*t, q, v), &mut self.matrix)?;
            }
            self.pending += h;
        } else if h > 0.0 {
            let (stepper, field, sample) = (&mut self.stepper, &mut self.field, &mut self.sample);
            let mut at = |s: f64, out: &mut [f64]| {
                stepper.interpolate(s, sample);
                let (begun, _) = stepper.work().phases();
                field.matrix(begun, (sample.t, &sample.q, &sample.v), out)
            };
            let (columns, next) = (&mut self.columns, &mut self.next);
            self.counts.divergence += self.magnus.step(h, &mut at, &mut |flow| multiply(flow, columns, next))?;
        }
        let count = self.stepper.events().len();
        if count > early {
            self.flush();
        }
        self.cross_events(early..count, false)
    }

    /// The events of this range of the list, before the smooth part or after it.
    fn cross_events(&mut self, range: std::ops::Range<usize>, before: bool) -> Result<(), SensitivityError> {
        let events = &self.stepper.events().as_slice()[range];
        let Some(last) = events.last() else { return Ok(()) };
        let (begun, ended) = self.stepper.work().phases();
        let (phases, to) = if before { ((begun, begun), &last.after) } else { ((begun, ended), self.stepper.to()) };
        self.counts.is_plain &= events.iter().all(|e| e.kind == crate::EventKind::Impact);
        self.saltation.apply_events(&mut self.field, phases, (events, to), &mut self.columns, &mut self.counts)
    }

    /// The flow of a constant A over the time that is pending: steps of free flight are taken together.
    fn flush(&mut self) {
        if self.pending > 0.0 {
            self.counts.divergence += self.magnus.constant(&self.matrix, self.pending);
            multiply(&self.magnus.flow, &mut self.columns, &mut self.next);
            self.pending = 0.0;
        }
    }
}

/// Every column becomes its image.
fn multiply(flow: &[f64], columns: &mut [f64], next: &mut [f64]) {
    let size = next.len();
    for column in columns.chunks_exact_mut(size) {
        for (x, row) in next.iter_mut().zip(flow.chunks_exact(size)) {
            *x = row.iter().zip(&*column).map(|(a, b)| a * b).sum();
        }
        column.copy_from_slice(next);
    }
}
