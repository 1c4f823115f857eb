//! The event-driven scheme against closed forms and the reference numbers of its specification.

mod accumulation;
mod ball;
mod block;
mod dips;
mod edge;
mod edge_matrix;
mod failures;
mod flight;
mod friction;
mod ledger;
mod painleve;
mod release;
mod smooth;
mod turning;
mod zeros;

use carom::scheme::{Bound, EventDriven};
use carom::simulation::{FixedStep, Observer, StepView};
use carom::{Event, EventKind, Mechanical, ModelError, Simulation, State};
use std::ops::ControlFlow;

fn simulation(model: impl Mechanical + 'static, scheme: EventDriven, end: f64, h: f64) -> Simulation {
    let stepper = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap();
    Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap()
}

/// Keeps events, states and energies of a run.
#[derive(Default)]
struct Log {
    events: Vec<Event>,
    states: Vec<State>,
    energy: Vec<f64>,
    lowest: f64,
    impulse: Vec<f64>,
    /// Time and multipliers at the end of each step, before the event that ends it.
    multipliers: Vec<(f64, Vec<f64>)>,
}

impl Log {
    fn see(&mut self, stepper: &mut dyn carom::Stepper) -> Result<(), ModelError> {
        if let Some((_, energy)) = stepper.energies() {
            self.energy.push(energy.total());
        }
        for pair in &stepper.coupling()?.pairs {
            if !pair.law.is_equality() {
                self.lowest = self.lowest.min(pair.gap);
            }
        }
        Ok(())
    }

    /// Events of this kind.
    fn of(&self, kind: EventKind) -> Vec<&Event> {
        self.events.iter().filter(|event| event.kind == kind).collect()
    }

    /// Instants at which something happens.
    fn instants(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self.events.iter().map(|event| event.t).collect();
        times.dedup();
        times
    }

    /// λ at the end of the run.
    fn lambda(&self, row: usize) -> f64 {
        self.multipliers[self.multipliers.len() - 1].1[row]
    }

    fn last(&self) -> &State {
        &self.states[self.states.len() - 1]
    }
}

impl Observer for Log {
    fn start(&mut self, stepper: &mut dyn carom::Stepper) -> Result<(), ModelError> {
        self.states.push(stepper.from().clone());
        self.see(stepper)
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.events.extend(view.stepper.events().iter().cloned());
        self.states.push(view.to().clone());
        self.impulse.clone_from(&view.reactions().impulse);
        self.multipliers.push((view.to().t, view.reactions().multiplier.clone()));
        let advanced = view.step.advanced;
        self.impulse.iter_mut().for_each(|p| *p /= advanced);
        self.see(view.stepper)?;
        Ok(ControlFlow::Continue(()))
    }
}

fn run(model: impl Mechanical + 'static, scheme: EventDriven, end: f64, h: f64) -> Log {
    let mut log = Log::default();
    simulation(model, scheme, end, h).run(&mut [&mut log]).unwrap();
    log
}
