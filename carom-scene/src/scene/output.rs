//! Result columns of a scene: the catalogue of its run, and the numbers of one row.

use carom::scheme::{Family, Reactions, Stepper};
use carom::simulation::{Catalogue, Column};
use carom::{Key, Labels, ModelError};
use carom_solve::Law;

use super::Scene;
use crate::expression::{Evaluator, Tape};

/// Named expressions that are recorded.
#[derive(Clone, Debug)]
pub struct Outputs {
    /// Names in the file; the columns are called `output.NAME`.
    pub names: Vec<String>,
    /// Full names of the columns that the model itself has; their values follow those of `names`.
    pub derived: Vec<String>,
    /// Which of all columns are computed from multipliers, so that they have no value before the first step.
    pub of_steps: Vec<bool>,
    pub(super) tape: Tape,
}

impl Outputs {
    /// Evaluates all columns: those of `names`, then those of `derived`.
    pub fn evaluator(&self) -> Evaluator {
        Evaluator::new(&self.tape)
    }

    /// Full names of all columns.
    fn full_names(&self) -> impl Iterator<Item = String> {
        self.names.iter().map(|name| format!("output.{name}")).chain(self.derived.iter().cloned())
    }

    /// The same columns with these parameters.
    pub(super) fn bind(&self, parameters: &[f64]) -> Outputs {
        Outputs { tape: self.tape.bind(parameters), ..self.clone() }
    }
}

/// All columns with their names, in the order of result files.
pub(super) fn columns(
    family: Family,
    (coordinates, velocities): (&[String], &[String]),
    laws: &[(&str, Law)],
    (projects, levels): (bool, &[usize]),
    outputs: &Outputs,
) -> Vec<(String, Column)> {
    let labels = Labels {
        coordinates: coordinates.to_vec(),
        velocities: velocities.to_vec(),
        contacts: laws.iter().map(|(name, law)| ((*name).to_owned(), *law)).collect(),
        ..Labels::default()
    };
    let is_mechanical = family == Family::Mechanical;
    let dofs = (coordinates.len(), velocities.len());
    let outputs: Vec<String> = outputs.full_names().collect();
    let all =
        Catalogue { family, labels: &labels, dofs, has_energy: is_mechanical, projects, levels, outputs: &outputs };
    all.columns()
}

/// Multipliers of the last step by row: λ itself, or its mean over the step where the scheme knows only the integral;
/// zero before the first step.
pub fn multipliers(stepper: &dyn Stepper, rows: usize, out: &mut Vec<f64>) {
    let (reactions, h) = (stepper.reactions(), stepper.to().t - stepper.from().t);
    out.clear();
    out.extend((0..rows).map(|row| multiplier(reactions, row, h)));
}

fn multiplier(reactions: &Reactions, row: usize, h: f64) -> f64 {
    let Some(at) = reactions.find(Key::from(row), row) else { return 0.0 };
    let at = reactions.range(at).start;
    match (reactions.multiplier.get(at), reactions.impulse.get(at)) {
        (Some(lambda), _) => *lambda,
        (None, Some(impulse)) if h > 0.0 => impulse / h,
        _ => 0.0,
    }
}

impl Scene {
    /// All columns with their names, in the order of result files.
    pub fn columns(&self) -> Vec<(String, Column)> {
        let laws: Vec<(&str, Law)> = self.laws.iter().map(|law| (law.name.as_str(), law.law)).collect();
        columns(
            self.family,
            (&self.coordinates, &self.velocities),
            &laws,
            (self.scheme.projects(), &self.levels),
            &self.outputs,
        )
    }

    /// Evaluates the given columns along a run.
    pub fn sampler(&self, columns: &[Column]) -> Sampler {
        let rows = if self.family == Family::FirstOrder { self.laws.len() } else { 0 };
        let (output, lambda) = (Vec::new(), Vec::new());
        let sums = columns.iter().any(|c| matches!(c, Column::ImpactLoss | Column::FrictionLoss | Column::Loss(_)));
        let losses = if sums { vec![(0.0, 0.0); self.laws.len()] } else { Vec::new() };
        Sampler { columns: columns.to_vec(), outputs: self.outputs.evaluator(), output, rows, lambda, losses }
    }
}

/// Reads the values of columns from a stepper.
#[derive(Clone, Debug)]
pub struct Sampler {
    columns: Vec<Column>,
    outputs: Evaluator,
    output: Vec<f64>,
    /// Multipliers of a first-order model.
    rows: usize,
    lambda: Vec<f64>,
    /// (laws) lost along normals and along tangents, where a column asks for it.
    losses: Vec<(f64, f64)>,
}

carom_solve::persist!(Sampler { output, lambda, losses } skip { columns, outputs, rows });

impl Sampler {
    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Writes one row at the state `to` of the stepper, as observers see it; before the first step impulses are zero.
    /// Losses are sums over all calls: there is one for each step.
    /// `out` is cut or filled to the number of columns.
    pub fn sample(&mut self, stepper: &mut dyn Stepper, out: &mut Vec<f64>) -> Result<(), ModelError> {
        out.clear();
        out.resize(self.columns.len(), f64::NAN);
        let has = |wanted: fn(&Column) -> bool| self.columns.iter().any(wanted);
        if has(|column| matches!(column, Column::Kinetic | Column::Potential | Column::Total))
            && let Some((_, energy)) = stepper.energies()
        {
            for (out, column) in out.iter_mut().zip(&self.columns) {
                match column {
                    Column::Kinetic => *out = energy.kinetic,
                    Column::Potential => *out = energy.potential,
                    Column::Total => *out = energy.total(),
                    _ => {}
                }
            }
        }
        if has(|column| matches!(column, Column::Gap(_) | Column::After(_))) {
            let coupling = stepper.coupling()?;
            for (out, column) in out.iter_mut().zip(&self.columns) {
                if let Column::Gap(law) | Column::After(law) = column {
                    // outside its region a contact has no gap
                    let at = coupling.find(Key::from(*law), *law).filter(|at| coupling.is_present(*at));
                    *out = at.map_or(f64::NAN, |at| coupling.pairs[at].gap);
                }
            }
        }
        if self.rows > 0 {
            multipliers(stepper, self.rows, &mut self.lambda);
        }
        let state = stepper.to();
        if has(|column| matches!(column, Column::Output(_))) {
            self.output.clear();
            let third = if self.rows > 0 { &self.lambda } else { &state.v };
            self.output.extend_from_slice(self.outputs.eval(state.t, &state.q, third));
        }
        let reactions = stepper.reactions();
        for (law, lost) in self.losses.iter_mut().enumerate() {
            let at = reactions.find(Key::from(law), law).filter(|_| !reactions.impulse.is_empty());
            let (normal, friction) = at.map_or((0.0, 0.0), |at| reactions.losses(at));
            *lost = (lost.0 + normal, lost.1 + friction);
        }
        self.fill(stepper, out);
        Ok(())
    }

    /// What needs no computing: states, outputs that were evaluated, what the laws did.
    fn fill(&self, stepper: &dyn Stepper, out: &mut [f64]) {
        let (state, reactions) = (stepper.to(), stepper.reactions());
        let h = state.t - stepper.from().t;
        for (out, column) in out.iter_mut().zip(&self.columns) {
            match *column {
                Column::Time => *out = state.t,
                Column::Position(i) => *out = state.q.get(i).copied().unwrap_or(f64::NAN),
                Column::Velocity(i) => *out = state.v.get(i).copied().unwrap_or(f64::NAN),
                Column::Output(i) => *out = self.output.get(i).copied().unwrap_or(f64::NAN),
                Column::Multiplier(row) => *out = self.lambda.get(row).copied().unwrap_or(0.0),
                Column::After(law) => {
                    // before the first step the output without multipliers stands there already
                    let at = reactions.find(Key::from(law), law);
                    if let Some(after) = at.and_then(|at| reactions.after.get(reactions.range(at).start)) {
                        *out = *after;
                    }
                }
                Column::Impulse { law, row } => {
                    // keys are the numbers of laws; mostly they stand in order
                    let key = Key::from(law);
                    let at = reactions.find(key, law);
                    *out = at
                        .and_then(|at| reactions.impulse.get(reactions.range(at).start + row))
                        .copied()
                        .unwrap_or(0.0);
                }
                Column::Force { law, row } => {
                    // a contact that is not listed does not act
                    let row = reactions.find(Key::from(law), law).map(|at| reactions.range(at).start + row);
                    let none = if h > 0.0 { 0.0 } else { f64::NAN };
                    *out = row.map_or(none, |row| reactions.force(row, h).unwrap_or(f64::NAN));
                }
                Column::Projection(law) => {
                    let at = reactions.find(Key::from(law), law);
                    *out = at.and_then(|at| reactions.projection.get(at)).copied().unwrap_or(0.0);
                }
                Column::ImpactLoss => *out = self.losses.iter().map(|lost| lost.0).sum(),
                Column::FrictionLoss => *out = self.losses.iter().map(|lost| lost.1).sum(),
                Column::Loss(law) => *out = self.losses.get(law).map_or(0.0, |lost| lost.0 + lost.1),
                Column::Level { law, level } => {
                    *out = reactions.levels(law).get(level).copied().unwrap_or(0.0);
                }
                _ => {}
            }
        }
    }
}
