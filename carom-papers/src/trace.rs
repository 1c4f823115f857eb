//! Runs of the built-in examples, with the columns that a figure needs.

use crate::Trouble;
use carom::scheme::Stepper;
use carom::simulation::{Observer, RunEvent, Statistics, StepView};
use carom::{ModelError, Simulation};
use carom_scene::scene::{Choice, Column, Sampler};
use carom_scene::{Overrides, Scene, examples};
use std::ops::ControlFlow;

/// What to change of an example.
#[derive(Clone, Debug, Default)]
pub struct Change<'a> {
    /// Scheme, where it is not that of the file.
    pub scheme: Option<Choice>,
    /// Parameters.
    pub set: &'a [(&'a str, f64)],
    /// Step size [s].
    pub step: Option<f64>,
    /// End of the span [s].
    pub end: Option<f64>,
}

impl Change<'_> {
    pub fn scheme(scheme: &Choice) -> Self {
        Change { scheme: Some(scheme.clone()), ..Change::default() }
    }
}

/// The changes as those of a model file.
pub fn overrides(change: &Change<'_>) -> Overrides {
    Overrides {
        set: change.set.iter().map(|(name, value)| ((*name).to_owned(), format!("{value:?}"))).collect(),
        scheme: change.scheme.clone().map(Into::into),
        step: change.step.map(Into::into),
        end: change.end,
        ..Overrides::default()
    }
}

/// An example with changes.
pub fn scene(example: &str, change: &Change<'_>) -> Result<Scene, Trouble> {
    let overrides = overrides(change);
    let loaded =
        examples::load(example, &overrides).ok_or_else(|| Trouble(format!("there is no example `{example}`")))?;
    loaded.map_err(|diagnostics| Trouble(diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))
}

/// Columns of a run at every step.
#[derive(Clone, Debug)]
pub struct Trace {
    pub t: Vec<f64>,
    /// One list per column asked for.
    pub columns: Vec<Vec<f64>>,
    /// Normal relative velocity of law 0 at the end of each step [m/s].
    pub approach: Vec<f64>,
    /// Displacements of the projection of law 0 in each step, zero without projection.
    pub projection: Vec<f64>,
    /// Largest penetration of all contacts [m].
    pub violation: f64,
    /// Events that the scheme has located, and those of the file.
    pub events: Vec<RunEvent>,
    pub statistics: Statistics,
    /// Most Newton iterations and most problems solved in a step.
    pub most: [u32; 2],
}

impl Trace {
    /// Runs a scene and keeps the named columns.
    pub fn of(scene: &Scene, names: &[&str]) -> Result<Trace, Trouble> {
        let all = scene.columns();
        let find = |name: &&str| {
            let found = all.iter().find(|(known, _)| known == name).map(|(_, column)| *column);
            found.ok_or_else(|| Trouble(format!("there is no column `{name}`")))
        };
        let mut columns = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let gaps = all.iter().map(|(_, column)| *column).filter(|column| matches!(column, Column::Gap(_)));
        columns.extend(gaps);
        let mut recorder = Recorder::new(scene.sampler(&columns), names.len());
        let mut simulation = scene.simulation().map_err(|e| Trouble(e.to_string()))?;
        simulation.run(&mut [&mut recorder]).map_err(|e| Trouble(format!("{}: {e}", scene.scheme.describe())))?;
        Ok(recorder.finish(&simulation))
    }

    /// The column by its place among the names that were asked for.
    pub fn column(&self, i: usize) -> &[f64] {
        &self.columns[i]
    }

    /// Values of a column over `from <= t <= to`.
    pub fn window(&self, i: usize, from: f64, to: f64) -> impl Iterator<Item = f64> + '_ {
        self.t.iter().zip(&self.columns[i]).filter(move |(t, _)| (from..=to).contains(*t)).map(|(_, x)| *x)
    }
}

/// Runs an example with changes and keeps the named columns.
pub fn trace(example: &str, change: &Change<'_>, names: &[&str]) -> Result<Trace, Trouble> {
    Trace::of(&scene(example, change)?, names)
}

struct Recorder {
    sampler: Sampler,
    row: Vec<f64>,
    kept: usize,
    trace: Trace,
}

impl Recorder {
    fn new(sampler: Sampler, kept: usize) -> Recorder {
        let trace = Trace {
            t: Vec::new(),
            columns: vec![Vec::new(); kept],
            approach: Vec::new(),
            projection: Vec::new(),
            violation: 0.0,
            events: Vec::new(),
            statistics: Statistics::default(),
            most: [0; 2],
        };
        Recorder { sampler, row: Vec::new(), kept, trace }
    }

    fn see(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.sampler.sample(stepper, &mut self.row)?;
        self.trace.t.push(stepper.to().t);
        for (column, value) in self.trace.columns.iter_mut().zip(&self.row) {
            column.push(*value);
        }
        for gap in &self.row[self.kept..] {
            self.trace.violation = self.trace.violation.max(-gap);
        }
        let reactions = stepper.reactions();
        self.trace.approach.push(reactions.after.first().copied().unwrap_or(0.0));
        self.trace.projection.push(reactions.projection.first().copied().unwrap_or(0.0));
        Ok(())
    }

    fn finish(mut self, simulation: &Simulation) -> Trace {
        self.trace.statistics = *simulation.statistics();
        self.trace
    }
}

impl Observer for Recorder {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.see(stepper)
    }
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.trace.events.extend_from_slice(view.events());
        let [iterations, solves] = &mut self.trace.most;
        (*iterations, *solves) = ((*iterations).max(view.step.iterations), (*solves).max(view.step.solves));
        self.see(view.stepper)?;
        Ok(ControlFlow::Continue(()))
    }
}
