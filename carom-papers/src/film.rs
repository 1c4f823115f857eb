//! Every state of a run, with what the contacts did.

use crate::Trouble;
use carom::scheme::Stepper;
use carom::simulation::{Observer, StepView};
use carom::{ModelError, Simulation, State};
use std::ops::ControlFlow;

/// States, impulses, gaps and energies of a run, step by step.
#[derive(Clone, Debug, Default)]
pub struct Film {
    /// Names of the laws.
    pub names: Vec<String>,
    /// At the start and after each step.
    pub states: Vec<State>,
    /// First two rows of the impulse of each law: normal and tangential; zeros at the start [N s].
    pub impulses: Vec<Vec<[f64; 2]>>,
    /// Smallest gap of all contacts so far [m].
    pub least_gap: f64,
    /// Total energy, where the model knows it [J].
    pub energy: Vec<f64>,
}

impl Film {
    /// Runs until the end, or while `goes_on`.
    pub fn of(simulation: &mut Simulation, goes_on: &mut dyn FnMut(&State) -> bool) -> Result<Film, Trouble> {
        let mut camera = Camera { film: Film::default(), goes_on };
        simulation.run(&mut [&mut camera]).map_err(|e| Trouble(e.to_string()))?;
        Ok(camera.film)
    }

    /// Place of a law.
    pub fn law(&self, name: &str) -> Result<usize, Trouble> {
        let found = self.names.iter().position(|known| known == name);
        found.ok_or_else(|| Trouble(format!("there is no contact `{name}`")))
    }

    /// End of the first step in which a law acts, `NaN` where it never does [s].
    pub fn first(&self, name: &str) -> Result<f64, Trouble> {
        let law = self.law(name)?;
        Ok(self.impulses.iter().position(|p| p[law][0] > 0.0).map_or(f64::NAN, |k| self.states[k].t))
    }

    /// The state after the last step.
    pub fn last(&self) -> Result<&State, Trouble> {
        self.states.last().ok_or_else(|| Trouble("a run without states".into()))
    }
}

struct Camera<'a> {
    film: Film,
    goes_on: &'a mut dyn FnMut(&State) -> bool,
}

impl Camera<'_> {
    fn see(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        let film = &mut self.film;
        film.states.push(stepper.to().clone());
        film.energy.extend(stepper.energies().map(|(_, to)| to.total()));
        for pair in &stepper.coupling()?.pairs {
            if !pair.law.is_equality() {
                film.least_gap = film.least_gap.min(pair.gap);
            }
        }
        Ok(())
    }
}

impl Observer for Camera<'_> {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.film.names = stepper.labels().contacts.iter().map(|(name, _)| name.clone()).collect();
        self.film.impulses.push(vec![[0.0; 2]; self.film.names.len()]);
        self.see(stepper)
    }
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let reactions = view.stepper.reactions();
        let row = |i: usize, k: usize| reactions.impulse[reactions.range(i)].get(k).copied().unwrap_or(0.0);
        self.film.impulses.push((0..reactions.len()).map(|i| [row(i, 0), row(i, 1)]).collect());
        self.see(view.stepper)?;
        let goes_on = (self.goes_on)(view.to());
        Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}
