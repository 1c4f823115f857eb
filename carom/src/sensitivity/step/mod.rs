//! Sensitivities of the steps of capturing schemes: the derivative of the discrete map on its active branch.
//!
//! ```text
//!     x_{k+1} = Φ_h(x_k, p),     δx_{k+1} = ∂Φ_h/∂x δx_k + ∂Φ_h/∂p δp     with the laws that act and their branches as they are       (1)
//! ```
//!
//! [`StepSensitivity`] carries a run of a scheme and a frame of perturbations (δq, δv, δp, δt) with it. What comes out
//! is the derivative of the *discrete* map, which is what differences of runs give as long as no contact acts in
//! another step. It is not the derivative of the motion: where impacts happen on the grid (Moreau-Jean,
//! Schatzman-Paoli), neighbours have theirs in the same step, so that the change of the impact time, a part of the
//! saltation matrix that does not vanish with the step, is lost. The corrected Paoli-Schatzman scheme solves for the
//! impact time: there it is a part of the map, and the derivative tends to that of the motion.
//!
//! Steps of one length leave δt at zero. Where steps end at impacts, δt is how the time of the state changes; a step
//! that is made to end at a given time undoes it.

pub use crate::balance::Frame;

use super::{ContactCounts, Impact, STEPS, SensitivityError};
use crate::balance::BalanceTangent;
use crate::model::Tangent;
use crate::scheme::{
    BindError, Bound, CorrectedPaoli, Differentiable, Done, MoreauJean, PositionLevel, SchatzmanPaoli, Scheme, Step,
    Stepper,
};
use crate::simulation::{Accepted, Drive, FixedStep};
use crate::{Mechanical, State};
use carom_solve::Solver;
use serde_json::Value;

/// A scheme bound to its model whose steps carry a frame.
trait Carrier: Send {
    fn stepper(&self) -> &dyn Stepper;
    fn stepper_mut(&mut self) -> &mut dyn Stepper;
    fn advance_columns(&self, h: f64, tangent: &mut BalanceTangent, frame: &mut Frame) -> Result<(), SensitivityError>;
}

impl<S: Differentiable> Carrier for Bound<S> {
    fn stepper(&self) -> &dyn Stepper {
        self
    }

    fn stepper_mut(&mut self) -> &mut dyn Stepper {
        self
    }

    fn advance_columns(&self, h: f64, tangent: &mut BalanceTangent, frame: &mut Frame) -> Result<(), SensitivityError> {
        if frame.is_empty() {
            return Ok(());
        }
        tangent.list(self.from(), h * self.scheme().reach(), &self.reactions().coupling)?;
        Ok(self.scheme().advance_columns(self.work(), Done { from: self.from(), to: self.to() }, tangent, frame)?)
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

/// Schemes whose step has a derivative, and whether it knows charts of increments.
const ROWS: &[(&str, Bind, bool)] = &[
    (MoreauJean::INFO.name, bind::<MoreauJean>, true),
    (SchatzmanPaoli::INFO.name, bind::<SchatzmanPaoli>, true),
    (CorrectedPaoli::INFO.name, bind::<CorrectedPaoli>, false),
    (PositionLevel::INFO.name, bind::<PositionLevel>, true),
];

/// Names of the schemes whose step has a derivative.
pub fn differentiable() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.0)
}

/// A run of a scheme with perturbations.
pub struct StepSensitivity {
    carrier: Box<dyn Carrier>,
    tangent: BalanceTangent,
    /// The perturbations.
    pub frame: Frame,
    /// What happened since the last [`ContactCounts::clear`]; `divergence`, `sticks` and `is_plain` are not told.
    pub counts: ContactCounts,
    /// Steps so far.
    pub steps: u64,
    drive: Drive<FixedStep>,
}

impl StepSensitivity {
    /// Binds a scheme by name and options, two models that are the same, the tangent of it and a solver; starts at the
    /// initial state with the unit frame.
    pub fn new(
        (scheme, options): (&str, &Value),
        models: [Box<dyn Mechanical>; 2],
        tangent: Box<dyn Tangent>,
        solver: Box<dyn Solver>,
    ) -> Result<StepSensitivity, SensitivityError> {
        let Some((_, bind, charts)) = ROWS.iter().find(|row| row.0 == scheme) else {
            let known = differentiable().collect::<Vec<_>>().join(", ");
            return Err(SensitivityError::NoTangent { scheme: scheme.to_owned(), known });
        };
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
        let initial = model.initial();
        if initial.q.len() != initial.v.len() && !(*charts && model.chart().is_some()) {
            return Err(SensitivityError::Unequal { positions: initial.q.len(), velocities: initial.v.len() });
        }
        let carrier = bind(options, model, solver)?;
        let tangent = BalanceTangent::new(other, tangent);
        let frame = Frame::new(tangent.n, tangent.parameters);
        // steps have the length of each call
        let mut drive = Drive::new(FixedStep { h: f64::INFINITY }, initial.t);
        drive.limit(STEPS);
        Ok(StepSensitivity { carrier, tangent, frame, counts: ContactCounts::default(), steps: 0, drive })
    }

    /// Degrees of freedom, and number of parameters.
    pub fn dimensions(&self) -> (usize, usize) {
        (self.tangent.n, self.tangent.parameters)
    }

    /// The present state of the run.
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
        self.drive.restart(state.t);
    }

    /// One step of at most `h`.
    pub fn step(&mut self, h: f64) -> Result<Step, SensitivityError> {
        self.set_goal(self.state().t + h, h);
        Ok(self.take(false)?.unwrap_or_default())
    }

    /// Carries the run and the frame to the time `until`, which is met exactly, by steps of at most `h`.
    pub fn advance(&mut self, until: f64, h: f64) -> Result<(), SensitivityError> {
        self.set_goal(until, h);
        while self.take(true)?.is_some() {}
        Ok(())
    }

    fn set_goal(&mut self, until: f64, h: f64) {
        self.drive.set_step(h);
        self.drive.set_goal(self.state().t, until);
    }

    /// One step; its length may be what is left to a given time, where that is `tied`. `None` at that time.
    fn take(&mut self, tied: bool) -> Result<Option<Step>, SensitivityError> {
        if !self.drive.step(self.carrier.stepper_mut())? {
            return Ok(None);
        }
        let Accepted { step, h, is_last } = self.drive.accepted;
        self.frame.begin(tied && is_last);
        self.carrier.advance_columns(h, &mut self.tangent, &mut self.frame)?;
        self.drive.facts.record(self.carrier.stepper_mut(), true)?;
        self.count(step.advanced < h);
        self.carrier.stepper_mut().accept();
        self.steps += 1;
        Ok(Some(step))
    }

    /// Counts impacts and rests. A step that is cut short ends with an impact, though the contact may have acted
    /// before.
    fn count(&mut self, is_short: bool) {
        let t = self.carrier.stepper().to().t;
        for acting in self.drive.facts.acting() {
            if acting.comes_to_rest() {
                self.counts.rest(acting.key);
            }
            if !acting.rests() && (acting.is_new || (is_short && acting.before < 0.0)) {
                self.counts.impact(Impact { t, contact: acting.key, before: acting.before }, true);
            }
        }
    }
}
