//! Trajectories in memory, for library users, studies and tests.

use super::{
    Adaptive, FixedStep, Impact, Lists, Observer, RunEvent, Simulation, SimulationError, Statistics, StepView,
};
use crate::scheme::{AnyModel, Bound, Doubled, Registered, SchemeError, Step, Stepper};
use crate::state::append;
use crate::{FirstOrder, Mechanical, ModelError, State};
use carom_solve::Options;
use std::ops::ControlFlow;

/// One step of the iterator.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The state after the step.
    pub state: State,
    /// What the step tells about itself.
    pub step: Step,
}

/// A recorded trajectory: samples at the start and after each step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// Times of the samples [s].
    pub t: Vec<f64>,
    dofs: (usize, usize),
    q: Vec<f64>,
    v: Vec<f64>,
    /// Contacts that closed, in the order of time.
    pub impacts: Vec<Impact>,
    /// Events of schemes that locate them, and of the user.
    pub events: Vec<RunEvent>,
    /// Counts of the run.
    pub statistics: Statistics,
}

impl Solution {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.t.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    /// Positions of sample `k`.
    pub fn q(&self, k: usize) -> &[f64] {
        &self.q[k * self.dofs.0..(k + 1) * self.dofs.0]
    }

    /// Velocities of sample `k`.
    pub fn v(&self, k: usize) -> &[f64] {
        &self.v[k * self.dofs.1..(k + 1) * self.dofs.1]
    }

    /// Number of coordinates and of velocities.
    pub fn dofs(&self) -> (usize, usize) {
        self.dofs
    }

    /// Positions of all samples, one sample after the other.
    pub fn positions(&self) -> &[f64] {
        &self.q
    }

    /// Velocities of all samples, one sample after the other.
    pub fn velocities(&self) -> &[f64] {
        &self.v
    }

    /// Coordinate `i` over time.
    pub fn coordinate(&self, i: usize) -> Vec<f64> {
        self.q.iter().skip(i).step_by(self.dofs.0.max(1)).copied().collect()
    }

    /// Velocity `i` over time.
    pub fn velocity(&self, i: usize) -> Vec<f64> {
        self.v.iter().skip(i).step_by(self.dofs.1.max(1)).copied().collect()
    }
}

/// Records all states.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    solution: Solution,
}

impl Recorder {
    #[inline]
    fn push(&mut self, state: &State) {
        self.solution.t.push(state.t);
        append(&state.q, &mut self.solution.q);
        append(&state.v, &mut self.solution.v);
    }

    /// The samples; lists and counts are empty.
    pub fn into_solution(self) -> Solution {
        self.solution
    }
}

impl Observer for Recorder {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        let state = stepper.from().clone();
        self.solution.dofs = (state.q.len(), state.v.len());
        self.push(&state);
        Ok(())
    }

    fn asks_for_contacts(&self) -> bool {
        false
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.push(view.to());
        Ok(ControlFlow::Continue(()))
    }
}

/// How long a simulation goes, by name: numbers that look alike cannot change places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// End of the motion [s]; it starts at the time of the model's initial state.
    pub end: f64,
    /// Length of a step [s]; of the first one, where steps are adaptive.
    pub step: f64,
}

/// Simulates a mechanical model over `span` with the default solver, and records everything.
pub fn simulate<S>(model: impl Mechanical + 'static, scheme: S, span: Span) -> Result<Solution, SimulationError>
where
    S: Registered,
{
    let model = AnyModel::Mechanical(Box::new(model)).accept::<S>()?;
    let stepper = Box::new(Bound::new(scheme, model, carom_solve::solver::default())?);
    let mut simulation = Simulation::new(stepper, Box::new(FixedStep { h: span.step }), span.end)?;
    simulation.record()
}

/// Simulates a first-order system over `span` with the default solver, and records everything.
pub fn simulate_first_order<S>(
    model: impl FirstOrder + 'static,
    scheme: S,
    span: Span,
) -> Result<Solution, SimulationError>
where
    S: Registered,
{
    let model = AnyModel::FirstOrder(Box::new(model)).accept::<S>()?;
    let stepper = Box::new(Bound::new(scheme, model, carom_solve::solver::default())?);
    Simulation::new(stepper, Box::new(FixedStep { h: span.step }), span.end)?.record()
}

/// Simulates a mechanical model over `span` with adaptive steps and the default solver, and records everything.
pub fn simulate_adaptive<S>(
    model: impl Mechanical + 'static,
    scheme: S,
    adaptive: &Adaptive,
    span: Span,
) -> Result<Solution, SimulationError>
where
    S: Registered,
{
    let model = AnyModel::Mechanical(Box::new(model)).accept::<S>()?;
    adaptive.validate().map_err(|source| SchemeError::Option { scheme: S::INFO.name, source })?;
    let (accuracy, solver) = (adaptive.accuracy(), carom_solve::solver::default());
    let stepper: Box<dyn Stepper> = match scheme.controlled(&accuracy) {
        Some(scheme) => Box::new(Bound::new(scheme, model, solver)?),
        None => Box::new(Bound::new(Doubled { base: scheme, accuracy }, model, solver)?),
    };
    let control = adaptive.control(span.step, (stepper.from().t, span.end));
    Simulation::new(stepper, Box::new(control), span.end)?.record()
}

impl Simulation {
    /// Runs to the end and keeps every state, impact and event.
    pub fn record(&mut self) -> Result<Solution, SimulationError> {
        let mut recorder = Recorder::default();
        let mut lists = Lists::new(usize::MAX);
        self.run(&mut [&mut recorder, &mut lists])?;
        let Lists { impacts, events, .. } = lists;
        Ok(Solution { impacts, events, statistics: *self.statistics(), ..recorder.into_solution() })
    }
}
