//! Bodies with contacts and play against closed forms and the reference numbers of their specification.

mod bearing;
mod breaker;
mod cams;
mod impacts;
mod play;
mod ring;
mod rolling;
mod slider_crank;
mod sliding;

use carom::multibody::Multibody;
use carom::scheme::{
    Bound, CombinedProjection, EventDriven, Forecast, Metric, MoreauJean, ReactionDirection, Scheme, System,
};
use carom::simulation::{FixedStep, Observer, StepView};
use carom::{Coupling, Event, EventKind, Mechanical, ModelError, Simulation, Space, State, StepError};
use carom_solve::solver::Configured as _;
use carom_solve::solver::auto::{Auto, AutoOptions};
use std::ops::ControlFlow;

const GRAVITY: f64 = 9.81;

/// What happened in each step.
struct Trace {
    /// Names of the laws.
    names: Vec<String>,
    states: Vec<State>,
    /// Impulses of all laws, after each step.
    impulses: Vec<Vec<Vec<f64>>>,
    /// Gaps of all laws that are contacts, at the start and after each step; zero for the others.
    gaps: Vec<Vec<f64>>,
    energy: Vec<f64>,
}

impl Trace {
    /// The place of a law.
    fn law(&self, name: &str) -> usize {
        self.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("{name} is not in {:?}", self.names))
    }

    fn least_gap(&self) -> f64 {
        self.gaps.iter().flatten().copied().fold(0.0, f64::min)
    }

    fn last(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    /// Time at the end of the first step with a normal impulse of this law.
    fn first(&self, name: &str) -> Option<f64> {
        let law = self.law(name);
        self.impulses.iter().position(|p| p[law][0] > 0.0).map(|k| self.states[k + 1].t)
    }

    /// Normal and tangential impulse of a law in the last step.
    fn last_impulse(&self, name: &str) -> &[f64] {
        &self.impulses[self.impulses.len() - 1][self.law(name)]
    }

    /// Part of the steps in which a law acts.
    fn share(&self, name: &str) -> f64 {
        let law = self.law(name);
        self.impulses.iter().filter(|p| p[law][0] > 0.0).count() as f64 / self.impulses.len() as f64
    }
}

/// Steps of size `h` while `goes_on`.
fn attempt<S>(
    scheme: &S,
    description: &Multibody,
    h: f64,
    mut goes_on: impl FnMut(&State) -> bool,
) -> Result<Trace, StepError>
where
    S: Scheme<Model = dyn Mechanical>,
{
    let model = description.build().unwrap();
    let names: Vec<String> = model.labels().contacts.iter().map(|(name, _)| name.clone()).collect();
    let mut model: Box<dyn Mechanical> = Box::new(model);
    let mut solver = accurate();
    let mut work = scheme.workspace(&mut *model).unwrap();
    let mut from = model.initial();
    let mut to = from.clone();
    let mut coupling = Coupling::default();
    let mut gaps = |model: &mut dyn Mechanical, at: &State| -> Result<Vec<f64>, StepError> {
        model.couple(at.t, &at.q, &mut coupling)?;
        Ok(coupling.pairs.iter().map(|p| if p.law.is_equality() { 0.0 } else { p.gap }).collect())
    };
    let mut trace = Trace {
        names,
        states: vec![from.clone()],
        impulses: Vec::new(),
        gaps: vec![gaps(&mut *model, &from)?],
        energy: model.energy(&from).iter().map(|e| e.total()).collect(),
    };
    let mut k = 0;
    while goes_on(&from) {
        k += 1;
        let system = System { model: &mut *model, solver: &mut *solver };
        scheme.step(&mut work, system, &from, h, &mut to)?;
        to.t = f64::from(k) * h;
        let reactions = scheme.reactions(&work);
        let impulse = |i: usize| reactions.impulse[reactions.range(i)].to_vec();
        trace.impulses.push((0..reactions.len()).map(impulse).collect());
        trace.gaps.push(gaps(&mut *model, &to)?);
        trace.energy.extend(model.energy(&to).map(|e| e.total()));
        trace.states.push(to.clone());
        std::mem::swap(&mut from, &mut to);
    }
    Ok(trace)
}

fn run<S: Scheme<Model = dyn Mechanical>>(scheme: &S, description: &Multibody, h: f64, steps: usize) -> Trace {
    let mut left = steps;
    let count = |_: &State| {
        let goes_on = left > 0;
        left = left.saturating_sub(1);
        goes_on
    };
    attempt(scheme, description, h, count).unwrap()
}

/// The default solver, with two more digits than by default.
fn accurate() -> Box<dyn carom_solve::Solver> {
    let options = AutoOptions { tolerance: 1e-12, ..AutoOptions::default() };
    Box::new(Auto::new(options).unwrap())
}

/// Moreau-Jean with this forecast and reactions at mid-step.
fn capturing(forecast: Forecast) -> MoreauJean {
    MoreauJean { forecast, ..MoreauJean::default() }
}

fn gamma(gamma: f64) -> Forecast {
    Forecast::Explicit { gamma }
}

/// Events and states of an event-driven run.
#[derive(Default)]
struct Log {
    names: Vec<String>,
    events: Vec<Event>,
    states: Vec<State>,
    lowest: f64,
}

impl Log {
    /// Events of a kind at the contact with this name.
    fn of(&self, kind: EventKind, name: &str) -> Vec<&Event> {
        let law = self.names.iter().position(|n| n == name).unwrap() as u128;
        self.events.iter().filter(|e| e.kind == kind && e.contact.is_some_and(|key| key.0 == law)).collect()
    }
}

impl Observer for Log {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.events.extend(view.stepper.events().iter().cloned());
        self.states.push(view.to().clone());
        for pair in &view.stepper.coupling()?.pairs {
            if !pair.law.is_equality() {
                self.lowest = self.lowest.min(pair.gap);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// An event-driven run with tight tolerances.
fn located(description: &Multibody, end: f64, h: f64) -> Log {
    let model = description.build().unwrap();
    let names = model.labels().contacts.iter().map(|(name, _)| name.clone()).collect();
    let scheme = EventDriven { rtol: 1e-12, ..EventDriven::default() };
    let stepper = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap();
    let mut log = Log { names, ..Log::default() };
    simulation.run(&mut [&mut log]).unwrap();
    log
}

#[track_caller]
fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} instead of {expected} ± {tolerance}");
}
