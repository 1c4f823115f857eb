//! The motion between the rows of a run: the run again, whose steps are asked for their interpolants.
//!
//! Rows have the ends of steps; what a scheme knows inside a step is gone when the next one has begun. The same steps
//! are taken again, to the last bit, as far as times are asked for. Times that grow go on where the last one ended.

use carom::simulation::Simulation;
use carom::{State, Subject};
use carom_scene::Scene;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Why there is no state at a time.
pub enum DenseError {
    /// It lies before the start or after the end.
    Outside {
        /// Time [s].
        t: f64,
        /// Start of the run.
        start: f64,
        /// Its end.
        end: f64,
    },
    /// The run cannot be taken again; the reason.
    Run(String),
}

/// A run that is taken again.
pub struct Dense {
    scene: Arc<Scene>,
    end: f64,
    simulation: Option<Simulation>,
}

impl Dense {
    /// Of a run that has come to this time.
    pub fn new(scene: Arc<Scene>, end: f64) -> Dense {
        Dense { scene, end, simulation: None }
    }

    /// Positions and velocities at times in any order, one after the other.
    ///
    /// # Errors
    /// Fails for times outside of the run.
    pub fn at(&mut self, times: &[f64]) -> Result<(Vec<f64>, Vec<f64>), DenseError> {
        let (start, end) = (self.scene.span.start, self.end);
        if let Some(t) = times.iter().find(|t| !(start..=end).contains(*t)) {
            return Err(DenseError::Outside { t: *t, start, end });
        }
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|a, b| times[*a].total_cmp(&times[*b]));
        let mut states: Vec<State> = vec![State::default(); times.len()];
        let Some(first) = order.first() else { return Ok((Vec::new(), Vec::new())) };
        let mut simulation = match self.simulation.take().filter(|run| run.state().t <= times[*first]) {
            Some(simulation) => simulation,
            None => Subject::simulation(&*self.scene, None).map_err(|error| DenseError::Run(error.message))?,
        };
        let mut left = order.iter().copied().peekable();
        // states at the very end belong to the last step, all others to the step that they begin or lie in
        let last = simulation.state().t >= end;
        while let Some(k) = left.next_if(|k| last && times[*k] >= end) {
            states[k].copy_from(simulation.state());
        }
        if start >= end {
            left.by_ref().for_each(|k| states[k].copy_from(simulation.state()));
        }
        if left.peek().is_some() {
            let until = self.scene.span.end;
            let run = simulation.advance_to(until, &mut |view| {
                let (from, to) = (view.from().t, view.to().t);
                let is_last = to >= end;
                while let Some(k) = left.next_if(|k| times[*k] < to || is_last) {
                    if times[k] >= to {
                        states[k].copy_from(view.to());
                    } else {
                        let part = (times[k] - from) / (to - from);
                        view.stepper.interpolate(part, &mut states[k]);
                    }
                }
                if left.peek().is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            run.map_err(|error| DenseError::Run(error.to_string()))?;
        }
        self.simulation = Some(simulation);
        let all = |part: fn(&State) -> &[f64]| states.iter().flat_map(part).copied().collect();
        Ok((all(|state| &state.q), all(|state| &state.v)))
    }
}
