//! Events of the user: named functions of time and state whose zeros are sought along the run of any scheme.
//!
//! The driver samples each function on the scheme's interpolant, at [`SAMPLES`] points of a step, and closes the
//! bracket of every change of sign to rounding. Rules:
//!
//! - **Once per zero**: a change of sign is one event, from below (rising) or from above (falling).
//! - **A function that stays at zero** has one event when it gets there and one when it leaves. A velocity that
//!   friction
//!   brings to rest for good is found once, and its first slip afterwards. A run that starts at a zero has no event
//!   there, unless a law holds it there for a while.
//! - **Zero is zero to rounding**: what the function changes by when its arguments change by rounding; and, where laws
//!   act or zero was met before, rounding of the largest value so far and of what laws add. No number is given in
//!   units.
//! - **A zero that is touched without crossing** is seen only where a sample hits it exactly; do not count on it. Watch
//!   the rate instead: its sign changes there.
//! - **Two zeros of one function in a step** are both found if a sample lies between them.
//! - **A jump through zero** (of a velocity, at an impact) is an event as well: its states before and after differ.
//! - An event that stops ends the run there: the step is taken again, shorter, so that the last state is one of the
//!   scheme.

use super::SimulationError;
use super::root::{End, close};
use super::zero::{Held, Rest, Zero};
use crate::State;
use crate::scheme::{Step, Stepper};
use carom_solve::{Archive, ArchiveError, Persist};

/// Points of a step at which functions are evaluated, besides its start.
pub const SAMPLES: u32 = 8;

/// Which crossings count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
    /// Either way.
    #[default]
    Both,
}

/// What an event does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// It is listed.
    #[default]
    Record,
    /// It is listed and ends the run.
    Stop,
}

/// A zero function of `(t, q, v)`.
pub type ZeroFunction = Box<dyn FnMut(f64, &[f64], &[f64]) -> f64 + Send>;

/// A named zero function.
pub struct UserEvent {
    /// Name in lists of events.
    pub name: String,
    /// Which crossings of zero count.
    pub direction: Direction,
    /// Whether it ends the run.
    pub action: Action,
    function: ZeroFunction,
    last: f64, // value at the last accepted state
    rest: Rest,
}

impl UserEvent {
    /// Crossings in both directions are recorded.
    pub fn new(name: impl Into<String>, function: impl FnMut(f64, &[f64], &[f64]) -> f64 + Send + 'static) -> Self {
        let (direction, action) = (Direction::Both, Action::Record);
        let (function, rest) = (Box::new(function), Rest::default());
        UserEvent { name: name.into(), direction, action, function, last: f64::NAN, rest }
    }

    /// Only crossings in this direction count.
    pub fn crossing(self, direction: Direction) -> Self {
        UserEvent { direction, ..self }
    }

    /// The run ends at the first event.
    pub fn stopping(self) -> Self {
        UserEvent { action: Action::Stop, ..self }
    }

    fn value(&mut self, at: &State) -> Result<f64, SimulationError> {
        let value = (self.function)(at.t, &at.q, &at.v);
        if value.is_nan() {
            return Err(SimulationError::Event { name: self.name.clone(), t: at.t });
        }
        Ok(value)
    }

    /// The value at a sample, and the zero since the last one, if there is one that counts.
    fn sample(&mut self, at: &mut State, held: Held<'_>) -> Result<(f64, Option<Zero>), SimulationError> {
        let value = self.value(at)?;
        let zero = self.rest.sample(value, at, held, &mut self.function);
        let rises = |zero: &Zero| zero.to > zero.from;
        let counts = |zero: &Zero| match self.direction {
            Direction::Both => true,
            Direction::Rising => rises(zero),
            Direction::Falling => !rises(zero),
        };
        Ok((value, zero.filter(counts)))
    }

    /// Whether going from one value to another is an event.
    fn counts(&self, from: f64, to: f64) -> bool {
        let rising = from < 0.0 && to >= 0.0 && self.direction != Direction::Falling;
        let falling = from > 0.0 && to <= 0.0 && self.direction != Direction::Rising;
        rising || falling
    }
}

/// A zero that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// Number of the event in the list of the run.
    pub event: usize,
    /// Name of the event.
    pub name: String,
    /// States on both sides of the zero, of which the later one has crossed; they differ by rounding where nothing
    /// jumps.
    pub before: State,
    /// The later one of the two.
    pub after: State,
}

carom_solve::persist!(Occurrence { event, name, before, after });

/// A zero that ends the run: its place in the step, and the samples around it.
#[derive(Clone, Copy)]
struct Cut {
    event: usize,
    samples: (f64, f64),
    at: f64,
    zero: Zero,
}

/// The events of a run.
#[derive(Default)]
pub(super) struct Watch {
    pub events: Vec<UserEvent>,
    /// Those of the last step, in the order of time.
    pub found: Vec<Occurrence>,
    /// The event that ended the run.
    pub stopped: Option<usize>,
    values: Vec<f64>,      // (events) at the last sample
    is_held: bool,         // whether laws act in this step
    moved: Vec<f64>,       // (positions and velocities) sizes of what they add
    sample: State,         // on the interpolant
    sides: (State, State), // of a zero
}

/// Names and functions of events are those of the run.
impl Persist for Watch {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Watch { events, found, stopped, values, is_held, moved, sample: _, sides: _ } = self;
        archive.same(events.len(), "the run watches for another number of events")?;
        for UserEvent { last, rest, .. } in events {
            (last, rest).persist(archive)?;
        }
        (found, stopped, values).persist(archive)?;
        (is_held, moved).persist(archive)
    }
}

impl Watch {
    /// Forgets the states so far.
    pub fn restart(&mut self) {
        self.events.iter_mut().for_each(|event| (event.last, event.rest) = (f64::NAN, Rest::default()));
        self.found.clear();
        self.stopped = None;
    }

    /// Looks for zeros in step number `index`, which was accepted. Returns the step that replaces it where an event
    /// ends the run.
    pub fn watch_step(
        &mut self,
        stepper: &mut dyn Stepper,
        step: Step,
        index: u64,
    ) -> Result<Option<Step>, SimulationError> {
        self.found.clear();
        if self.events.is_empty() || self.stopped.is_some() {
            return Ok(None);
        }
        self.begin(stepper)?;
        self.look_at_laws(stepper);
        let mut cut = None;
        // a step of no length, as schemes that locate events have, is a jump alone
        let first = if stepper.to().t > stepper.from().t { 1 } else { SAMPLES + 1 };
        for k in first..=SAMPLES + 1 {
            let samples = [k - 1, k].map(|k| f64::from(k.min(SAMPLES)) / f64::from(SAMPLES));
            // the last sample is the state itself: after an impact that ends the step
            if k > SAMPLES {
                self.sample.copy_from(stepper.to());
            } else {
                stepper.interpolate(samples[1], &mut self.sample);
            }
            cut = self.compare(stepper, samples)?;
            if cut.is_some() {
                break;
            }
        }
        let shorter = cut.map(|cut| self.stop(stepper, (step, index), cut)).transpose()?.flatten();
        for event in &mut self.events {
            event.last = event.value(stepper.to())?;
            if shorter.is_some() {
                event.rest.resume(event.last);
            }
        }
        Ok(shorter)
    }

    /// What the laws do in this step.
    fn look_at_laws(&mut self, stepper: &dyn Stepper) {
        self.is_held = stepper.reactions().impulse.iter().any(|p| *p != 0.0);
        self.moved.clear();
        if !self.is_held {
            return;
        }
        stepper.law_sizes(&mut self.moved);
        let (from, n) = (stepper.from(), self.moved.len());
        if !from.v.is_empty() {
            // positions move by velocities over the step, where they are their integrals
            let h = if from.q.len() == n { stepper.to().t - from.t } else { 0.0 };
            self.moved.resize(from.q.len() + n, 0.0);
            self.moved.copy_within(..n, from.q.len());
            (0..from.q.len())
                .for_each(|k| self.moved[k] = h * self.moved.get(from.q.len() + k).copied().unwrap_or(0.0));
        }
    }

    /// Values at the start of the step.
    fn begin(&mut self, stepper: &dyn Stepper) -> Result<(), SimulationError> {
        self.values.clear();
        for event in &mut self.events {
            if event.last.is_nan() {
                self.sample.copy_from(stepper.from());
                event.last = event.sample(&mut self.sample, Held::default())?.0;
            }
            self.values.push(event.last);
        }
        Ok(())
    }

    /// Locates the zeros between the last two samples; returns the first that ends the run.
    fn compare(&mut self, stepper: &mut dyn Stepper, [low, high]: [f64; 2]) -> Result<Option<Cut>, SimulationError> {
        let mut cut: Option<Cut> = None;
        for event in 0..self.events.len() {
            let held = Held { is_held: self.is_held, moved: &self.moved };
            let (value, zero) = self.events[event].sample(&mut self.sample, held)?;
            let last = std::mem::replace(&mut self.values[event], value);
            let Some(zero) = zero else { continue };
            let at = self.locate(stepper, event, ((low, last), (high, value)), zero)?;
            if self.events[event].action == Action::Stop && cut.is_none_or(|cut| at < cut.at) {
                cut = Some(Cut { event, samples: (low, high), at, zero });
            }
        }
        Ok(cut)
    }

    /// Closes the bracket of a zero and lists it; returns its place in the step.
    fn locate(
        &mut self,
        stepper: &mut dyn Stepper,
        event: usize,
        (low, high): (End, End),
        zero: Zero,
    ) -> Result<f64, SimulationError> {
        let (user, (before, after)) = (&mut self.events[event], &mut self.sides);
        let at = if low.0 < high.0 {
            let bracket = ((low.0, zero.seen(low.1)), (high.0, zero.seen(high.1)));
            let (low, high) = close(bracket, resolution(stepper), |s| {
                stepper.interpolate(s, after);
                user.value(after).map(|value| zero.seen(value))
            })?;
            for (s, state) in [(low.0, &mut *before), (high.0, &mut *after)] {
                match s {
                    0.0 => state.copy_from(stepper.from()),
                    s => stepper.interpolate(s, state),
                }
            }
            high.0
        } else {
            // the step ends with a jump through zero
            match stepper.to().t > stepper.from().t {
                true => stepper.interpolate(1.0, before),
                false => before.copy_from(stepper.from()),
            }
            after.copy_from(stepper.to());
            1.0
        };
        let place = self.found.partition_point(|found| found.after.t <= after.t);
        let (before, after, name) = (before.clone(), after.clone(), user.name.clone());
        self.found.insert(place, Occurrence { event, name, before, after });
        Ok(at)
    }

    /// Takes the step again, such that it ends at the zero along steps of the scheme itself. Nothing is returned where
    /// it ends there already.
    fn stop(
        &mut self,
        stepper: &mut dyn Stepper,
        (step, index): (Step, u64),
        cut: Cut,
    ) -> Result<Option<Step>, SimulationError> {
        let listed = self.found.iter().position(|found| found.event == cut.event);
        let listed = listed.unwrap_or(self.found.len().saturating_sub(1));
        self.found.truncate(listed + 1);
        self.stopped = Some(cut.event);
        if cut.at >= 1.0 {
            return Ok(None);
        }
        let (t, whole) = (stepper.from().t, step.advanced);
        let resolution = whole * resolution(stepper);
        let user = &mut self.events[cut.event];
        let mut shorter = step;
        let mut along = |h: f64, user: &mut UserEvent| {
            let tried = stepper.attempt(h);
            shorter = tried.map_err(|source| SimulationError::Step {
                index,
                t,
                h,
                contact: None,
                may_part: false,
                source,
            })?;
            stepper.set_time(t + shorter.advanced);
            user.value(stepper.to()).map(|value| cut.zero.seen(value))
        };
        // the interpolant is not the scheme: a jump may lie in another part of the step, which is the place where its
        // own steps cross
        let mut last = (0.0, cut.zero.seen(user.last));
        let mut h = cut.at * whole;
        for s in [cut.samples.0, cut.samples.1, 1.0] {
            let next = if s * whole > last.0 { (s * whole, along(s * whole, user)?) } else { last };
            if user.counts(last.1, next.1) {
                h = close((last, next), resolution, |h| along(h, user))?.1.0;
                break;
            }
            last = next;
        }
        along(h, user)?;
        if shorter.advanced < h * (1.0 - 1e-9) {
            // the scheme did not go that far this time; the event is still to come
            self.stopped = None;
            self.found.truncate(listed);
        } else if let Some(found) = self.found.last_mut() {
            found.after.copy_from(stepper.to());
        }
        Ok(Some(shorter))
    }
}

/// The smallest part of the last step that changes the time.
fn resolution(stepper: &dyn Stepper) -> f64 {
    let (from, to) = (stepper.from().t, stepper.to().t);
    let part = f64::EPSILON * from.abs().max(to.abs()) / (to - from).abs();
    // a step of no length has no parts
    if part.is_finite() { part.clamp(f64::EPSILON, 0.5) } else { 0.5 }
}
