//! Sensitivities of the steps of capturing schemes: the derivative of the discrete map on its active branch.
//!
//! ```text
//!     x_{k+1} = Φ_h(x_k, p),     δx_{k+1} = ∂Φ_h/∂x δx_k + ∂Φ_h/∂p δp     with the laws that act and their branches as they are       (1)
//! ```
//!
//! [`StepSensitivity`] carries a run of a scheme and a frame of perturbations (δq, δv, δp, δt) with it. What comes out is the derivative of the
//! *discrete* map, which is what differences of runs give as long as no contact acts in another step. It is not the derivative of the
//! motion: where impacts happen on the grid (Moreau-Jean, Schatzman-Paoli), neighbours have theirs in the same step, so that the change of
//! the impact time, a part of the saltation matrix that does not vanish with the step, is lost. The corrected Paoli-Schatzman scheme solves
//! for the impact time: there it is a part of the map, and the derivative tends to that of the motion.
//!
//! Steps of one length leave δt at zero. Where steps end at impacts, δt is how the time of the state changes; a step that is made to end at a
//! given time undoes it.

pub mod balance;
mod branch;
mod frame;

pub use branch::{AT_START, Branch, Scratch};
pub use frame::{Frame, Parts};

use super::{Passage, STEPS, SensitivityError, Strike};
use crate::model::Tangent;
use crate::scheme::{
    BindError, Bound, CorrectedPaoli, MoreauJean, PositionLevel, Registered, SchatzmanPaoli, Scheme, Step, Stepper,
};
use crate::{Key, Keyed, Matching, Mechanical, State};
use carom_solve::Solver;
use serde_json::Value;

/// A relative velocity at most this large is rest [m/s].
const REST: f64 = 1e-9;

/// A step that was done.
#[derive(Clone, Copy, Debug)]
pub struct Done<'a> {
    pub from: &'a State,
    pub to: &'a State,
    /// The step that was asked for [s].
    pub h: f64,
}

/// A scheme whose step can be differentiated on its active branch.
pub trait Differentiable: Registered + Scheme<Model = dyn Mechanical> {
    /// Makes a work keep what the derivative needs besides the states.
    fn record(&self, _work: &mut Self::Work) {}

    /// (1) for each column, over the step that `work` has done last.
    fn carry(
        &self,
        work: &Self::Work,
        done: Done<'_>,
        branch: &mut Branch,
        frame: &mut Frame,
    ) -> Result<(), SensitivityError>;
}

/// A scheme bound to its model whose steps carry a frame.
trait Carrier: Send {
    fn stepper(&self) -> &dyn Stepper;
    fn stepper_mut(&mut self) -> &mut dyn Stepper;
    fn carry(&self, h: f64, branch: &mut Branch, frame: &mut Frame) -> Result<(), SensitivityError>;
}

impl<S: Differentiable> Carrier for Bound<S> {
    fn stepper(&self) -> &dyn Stepper {
        self
    }

    fn stepper_mut(&mut self) -> &mut dyn Stepper {
        self
    }

    fn carry(&self, h: f64, branch: &mut Branch, frame: &mut Frame) -> Result<(), SensitivityError> {
        branch.list(self.from(), h * self.scheme().reach(), &self.reactions().coupling)?;
        self.scheme().carry(self.work(), Done { from: self.from(), to: self.to(), h }, branch, frame)
    }
}

type Bind = fn(&Value, Box<dyn Mechanical>, Box<dyn Solver>) -> Result<Box<dyn Carrier>, BindError>;

fn bind<S: Differentiable>(
    options: &Value,
    model: Box<dyn Mechanical>,
    solver: Box<dyn Solver>,
) -> Result<Box<dyn Carrier>, BindError> {
    let mut bound = Bound::new(S::read(options)?, model, solver)?;
    let (scheme, work) = bound.parts_mut();
    scheme.record(work);
    Ok(Box::new(bound))
}

/// Schemes whose step has a derivative.
const ROWS: &[(&str, Bind)] = &[
    (MoreauJean::INFO.name, bind::<MoreauJean>),
    (SchatzmanPaoli::INFO.name, bind::<SchatzmanPaoli>),
    (CorrectedPaoli::INFO.name, bind::<CorrectedPaoli>),
    (PositionLevel::INFO.name, bind::<PositionLevel>),
];

/// Names of the schemes whose step has a derivative.
pub fn differentiable() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.0)
}

/// What was seen of a contact in the last step.
#[derive(Clone, Copy, Debug)]
struct Seen {
    key: Key,
    rested: bool,
}

impl Keyed for Seen {
    fn key(&self) -> Key {
        self.key
    }
}

/// A run of a scheme with perturbations.
pub struct StepSensitivity {
    carrier: Box<dyn Carrier>,
    branch: Branch,
    /// The perturbations.
    pub frame: Frame,
    /// What happened since the last [`Passage::clear`]; `divergence`, `sticks` and `is_plain` are not told.
    pub passage: Passage,
    /// Steps so far.
    pub steps: u64,
    last: Vec<Seen>,
    now: Vec<Seen>,
    matching: Matching,
}

impl StepSensitivity {
    /// Binds a scheme by name and options, two models that are the same, the tangent of it and a solver; starts at the initial state with the
    /// unit frame.
    pub fn new(
        (scheme, options): (&str, &Value),
        models: [Box<dyn Mechanical>; 2],
        tangent: Box<dyn Tangent>,
        solver: Box<dyn Solver>,
    ) -> Result<StepSensitivity, SensitivityError> {
        let Some((_, bind)) = ROWS.iter().find(|row| row.0 == scheme) else {
            let known = differentiable().collect::<Vec<_>>().join(", ");
            return Err(SensitivityError::NoTangent { scheme: scheme.to_owned(), known });
        };
        let [model, other] = models;
        let initial = model.initial();
        if initial.q.len() != initial.v.len() {
            return Err(SensitivityError::Unequal { positions: initial.q.len(), velocities: initial.v.len() });
        }
        let carrier = bind(options, model, solver)?;
        let branch = Branch::new(other, tangent);
        let frame = Frame::new(branch.n, branch.parameters);
        let (passage, last, now) = (Passage::default(), Vec::new(), Vec::new());
        let matching = Matching::default();
        Ok(StepSensitivity { carrier, branch, frame, passage, steps: 0, last, now, matching })
    }

    /// Degrees of freedom, and number of parameters.
    pub fn dimensions(&self) -> (usize, usize) {
        (self.branch.n, self.branch.parameters)
    }

    pub fn state(&self) -> &State {
        self.carrier.stepper().from()
    }

    /// The scheme with the last step.
    pub fn stepper(&self) -> &dyn Stepper {
        self.carrier.stepper()
    }

    /// Starts again from a state, with nothing remembered. The columns stay and count as (δq, δv, δp, δt) there.
    pub fn restart(&mut self, state: &State) {
        self.carrier.stepper_mut().restart(state);
        self.frame.restart();
        self.last.clear();
    }

    /// One step of at most `h`.
    pub fn step(&mut self, h: f64) -> Result<Step, SensitivityError> {
        self.take(h, None, false)
    }

    /// Carries the run and the frame to the time `until`, which is met exactly, by steps of at most `h`.
    pub fn advance(&mut self, until: f64, h: f64) -> Result<(), SensitivityError> {
        // times are multiples of h from the start, or from the last impact that cut a step short: sums of h would round
        let (mut start, mut count) = (self.state().t, 0.0);
        for _ in 0..STEPS {
            let left = until - self.state().t;
            if left <= 1e-9 * h {
                return Ok(());
            }
            count += 1.0;
            let last = h * (1.0 + 1e-9) >= left;
            // schemes that remember a step want the same length again, not one that is rounded
            let length = if last && left < h * (1.0 - 1e-9) { left } else { h };
            let stamp = if last { until } else { start + count * h };
            if self.take(length, Some(stamp), last)?.advanced < length {
                (start, count) = (self.state().t, 0.0);
            }
        }
        Err(SensitivityError::Stalled { t: self.state().t, steps: STEPS })
    }

    /// A step that gets the time `stamp` if it is not cut short; its length may be what is left to a given time.
    fn take(&mut self, h: f64, stamp: Option<f64>, tied: bool) -> Result<Step, SensitivityError> {
        let stepper = self.carrier.stepper_mut();
        let t = stepper.from().t;
        let step = stepper.attempt(h).map_err(|source| SensitivityError::Step { t, source })?;
        if let Some(stamp) = stamp.filter(|_| step.advanced == h) {
            stepper.stamp(stamp);
        }
        self.frame.begin(tied);
        self.carrier.carry(h, &mut self.branch, &mut self.frame)?;
        self.look(step.advanced < h);
        self.carrier.stepper_mut().accept();
        self.steps += 1;
        Ok(step)
    }

    /// Looks at the contacts after a step. An impact is a step in which a contact acts after one in which it did not, or one that it cuts short.
    fn look(&mut self, shortened: bool) {
        let (reactions, t) = (self.carrier.stepper().reactions(), self.carrier.stepper().to().t);
        self.now.clear();
        self.matching.begin();
        for i in 0..reactions.len() {
            let row = reactions.range(i).start;
            let contact = reactions.law(i).is_contact();
            if !contact || reactions.impulse[row] <= 0.0 {
                continue;
            }
            let (key, before) = (reactions.key(i), reactions.before[row]);
            let rested = before.abs() <= REST && reactions.after[row].abs() <= REST;
            let last = self.matching.find(key, &self.last).map(|place| self.last[place]);
            if rested && !last.is_some_and(|last| last.rested) {
                self.passage.rest(key);
            }
            if !rested && (last.is_none() || (shortened && before < 0.0)) {
                self.passage.impact(Strike { t, contact: key, before }, true);
            }
            self.now.push(Seen { key, rested });
        }
        std::mem::swap(&mut self.last, &mut self.now);
    }
}
