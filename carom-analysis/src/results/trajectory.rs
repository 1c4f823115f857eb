//! The trajectory table: one row per recorded step.
//!
//! Impulses, multipliers of projections and measures are sums over the steps since the row before, so that thinning out
//! rows loses none; forces are those of the last step, everything else is the state at its end. In first-order
//! models the outputs of rows, and multipliers, are those of the last step. Contacts are those of the labels; contacts
//! that a model finds on its way are in the impact table alone.

use super::column::{Outputs, catalogue, impulse_rows, is_first_order, select};
use super::curve::{Curves, History};
use super::table::{Cell, CellType, Column, Table};
use super::{Columns, RecordOptions, ResultError, Written};
use carom::model::Energy;
use carom::scheme::{Reactions, Stepper};
use carom::simulation::{Column as Quantity, Observer, StepView};
use carom::{Coupling, ModelError, State};
use std::ops::ControlFlow;
use std::path::Path;

/// Writes `trajectory.parquet` and `trajectory.csv`. Breaks the run when it cannot go on; [`Trajectory::finish`] tells
/// why.
pub struct Trajectory {
    table: Table,
    sources: Vec<Quantity>,
    every: u64,
    /// First row of each contact in `impulse`.
    offset: Vec<usize>,
    impulse: Vec<f64>,
    /// (rows) of the last step; not numbers where there is none, or none of this length.
    force: Vec<f64>,
    /// (contacts) multipliers of projections.
    tau: Vec<f64>,
    /// Measures of the higher-order sweeping process, all levels of one law after the other.
    levels: Vec<f64>,
    chains: Vec<usize>,
    /// (rows) outputs and multipliers of the last step of a first-order model.
    after: Vec<f64>,
    lambda: Vec<f64>,
    pub(super) gaps: Gaps,
    outputs: Option<Outputs>,
    output: Vec<f64>,
    /// The latest state, where outputs need it.
    state: State,
    /// The latest row; its outputs are evaluated when it is written.
    row: Vec<Cell<'static>>,
    next: Vec<Cell<'static>>,
    written: bool,
    started: bool,
    curves: Option<Curves>,
    /// Columns that have a curve.
    curve_columns: Vec<usize>,
    error: Option<ResultError>,
}

/// Gaps of the contacts of the labels, now and at their smallest.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// `None` where the model does not list the contact.
    now: Vec<Option<f64>>,
    /// Unilateral contacts alone; `None` where it was never listed.
    pub smallest: Vec<Option<f64>>,
    /// Of all contacts, also of those without a label.
    pub overall: Option<f64>,
}

impl Gaps {
    fn see(&mut self, coupling: &Coupling) {
        self.now.fill(None);
        // outside its region a contact has no gap
        let present = coupling.pairs.iter().enumerate().filter(|(i, _)| coupling.is_present(*i));
        for pair in present.map(|(_, pair)| pair) {
            let i = usize::try_from(pair.key.0).unwrap_or(usize::MAX);
            if let Some(now) = self.now.get_mut(i) {
                *now = Some(pair.gap);
            }
            if !pair.law.is_contact() {
                continue;
            }
            let smaller = |other: Option<f64>| Some(other.map_or(pair.gap, |other| other.min(pair.gap)));
            if let Some(smallest) = self.smallest.get_mut(i) {
                *smallest = smaller(*smallest);
            }
            self.overall = smaller(self.overall);
        }
    }
}

impl Trajectory {
    /// Opens the files. The columns come from the labels and the state of `stepper`.
    pub fn create(
        directory: impl AsRef<Path>,
        stepper: &mut dyn Stepper,
        options: &RecordOptions,
        outputs: Option<Outputs>,
    ) -> Result<Trajectory, ResultError> {
        let names = outputs.as_ref().map_or(&[][..], |outputs| &outputs.names);
        let list = select(catalogue(stepper, names), &options.columns)?;
        let columns = list.iter().map(|candidate| Column {
            name: candidate.name.clone(),
            kind: match candidate.column {
                Quantity::Gap(_) | Quantity::Force { .. } => CellType::Optional,
                _ => CellType::Real,
            },
        });
        let table = Table::create(directory.as_ref(), "trajectory", columns.collect(), options)?;
        // a report cannot show thousands of columns, even if the file has them
        let drawn = |candidate: &super::column::Candidate| {
            candidate.column != Quantity::Time && (candidate.auto || matches!(options.columns, Columns::Only(_)))
        };
        let curve_columns: Vec<usize> = (0..list.len()).filter(|i| drawn(&list[*i])).collect();
        let curve_names = curve_columns.iter().map(|i| list[*i].name.clone()).collect();
        let curves = (options.report_values > 0).then(|| Curves::new(curve_names, options.report_values));
        let labels = stepper.labels();
        let offset = impulse_rows(labels);
        let contacts = labels.contacts.len();
        let first_order = is_first_order(stepper.from());
        Ok(Trajectory {
            table,
            sources: list.iter().map(|candidate| candidate.column).collect(),
            every: options.every.max(1),
            impulse: vec![0.0; offset.last().copied().unwrap_or(0)],
            force: vec![f64::NAN; offset.last().copied().unwrap_or(0)],
            tau: vec![0.0; contacts],
            offset,
            levels: vec![0.0; stepper.reactions().levels.len()],
            chains: stepper.reactions().chains.clone(),
            after: vec![0.0; if first_order { contacts } else { 0 }],
            lambda: vec![0.0; if first_order { contacts } else { 0 }],
            gaps: Gaps { now: vec![None; contacts], smallest: vec![None; contacts], overall: None },
            output: vec![0.0; names.len()],
            outputs,
            state: State::default(),
            row: Vec::with_capacity(list.len()),
            next: Vec::with_capacity(list.len()),
            written: true,
            started: false,
            curves,
            curve_columns,
            error: None,
        })
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.table.rows()
    }

    /// Rows that wait in memory, at most one row group.
    pub fn waiting(&self) -> usize {
        self.table.waiting()
    }

    /// Why recording stopped.
    pub fn error(&self) -> Option<&ResultError> {
        self.error.as_ref()
    }

    pub(super) fn saves(&self) -> u64 {
        self.table.saves
    }

    /// Records the first state.
    pub(super) fn begin(&mut self, stepper: &mut dyn Stepper, energy: Option<Energy>) -> Result<(), ResultError> {
        if self.started {
            return Ok(());
        }
        self.started = true;
        self.gaps.see(stepper.coupling()?);
        // outputs without multipliers, which nobody knows yet
        for (after, gap) in self.after.iter_mut().zip(&self.gaps.now) {
            *after = gap.unwrap_or(0.0);
        }
        self.make_row(stepper.from(), energy)?;
        self.write()
    }

    /// Records the end of a step.
    pub(super) fn take(&mut self, view: &mut StepView<'_>, energy: Option<Energy>) -> Result<(), ResultError> {
        self.gaps.see(view.stepper.coupling()?);
        self.add_impulses(view.reactions(), view.to().t - view.from().t);
        self.take_rows(view);
        self.make_row(view.to(), energy)?;
        if view.index.is_multiple_of(self.every) { self.write() } else { Ok(()) }
    }

    /// Keeps an error and breaks.
    fn flow(&mut self, taken: Result<(), ResultError>) -> ControlFlow<()> {
        if let Err(error) = taken {
            self.error.get_or_insert(error);
        }
        if self.error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn add_impulses(&mut self, reactions: &Reactions, h: f64) {
        // a contact that is not listed does not act
        self.force.fill(if h > 0.0 { 0.0 } else { f64::NAN });
        self.levels.iter_mut().zip(&reactions.levels).for_each(|(sum, mu)| *sum += mu);
        for (i, key) in reactions.coupling.pairs.iter().map(|pair| &pair.key).enumerate() {
            let contact = usize::try_from(key.0).unwrap_or(usize::MAX);
            let (Some(first), Some(end)) =
                (self.offset.get(contact), contact.checked_add(1).and_then(|next| self.offset.get(next)))
            else {
                continue;
            };
            for (sum, impulse) in self.impulse[*first..*end].iter_mut().zip(&reactions.impulse[reactions.range(i)]) {
                *sum += impulse;
            }
            for (force, row) in self.force[*first..*end].iter_mut().zip(reactions.range(i)) {
                *force = reactions.force(row, h).unwrap_or(f64::NAN);
            }
            if let Some(tau) = reactions.projection.get(i) {
                self.tau[contact] += tau;
            }
        }
    }

    /// Outputs and multipliers of a first-order model: where a scheme knows only the integral of λ, its mean over the
    /// step.
    fn take_rows(&mut self, view: &StepView<'_>) {
        let (reactions, h) = (view.reactions(), view.to().t - view.from().t);
        for (i, key) in reactions.coupling.pairs.iter().map(|pair| &pair.key).enumerate() {
            let at = usize::try_from(key.0).unwrap_or(usize::MAX);
            let (Some(after), Some(lambda)) = (self.after.get_mut(at), self.lambda.get_mut(at)) else { continue };
            let row = reactions.range(i).start;
            *after = reactions.after[row];
            *lambda = reactions.multiplier.get(row).copied().unwrap_or(reactions.impulse[row] / h);
        }
    }

    /// Makes the row of a state; the row before stays where a number is not finite.
    fn make_row(&mut self, state: &State, energy: Option<Energy>) -> Result<(), ResultError> {
        let real = |x: Option<f64>| x.map_or(Cell::Missing, Cell::Real);
        self.next.clear();
        self.next.extend(self.sources.iter().map(|source| match *source {
            Quantity::Time => Cell::Real(state.t),
            Quantity::Position(i) => real(state.q.get(i).copied()),
            Quantity::Velocity(i) => real(state.v.get(i).copied()),
            Quantity::Gap(i) => real(self.gaps.now.get(i).copied().flatten()),
            Quantity::Impulse { law, row } => real(self.impulse.get(self.offset[law] + row).copied()),
            Quantity::Force { law, row } => {
                real(self.force.get(self.offset[law] + row).copied().filter(|force| !force.is_nan()))
            }
            Quantity::Projection(i) => real(self.tau.get(i).copied()),
            Quantity::Level { law, level } => real(self.levels.get(self.chains[law] + level).copied()),
            Quantity::After(row) => real(self.after.get(row).copied()),
            Quantity::Multiplier(row) => real(self.lambda.get(row).copied()),
            Quantity::Kinetic => real(energy.map(|energy| energy.kinetic)),
            Quantity::Potential => real(energy.map(|energy| energy.potential)),
            Quantity::Total => real(energy.map(|energy| energy.total())),
            // not yet evaluated
            Quantity::Output(_) => Cell::Real(0.0),
        }));
        self.table.check(&self.next)?;
        std::mem::swap(&mut self.row, &mut self.next);
        if self.outputs.is_some() {
            self.state.copy_from(state);
        }
        self.written = false;
        Ok(())
    }

    /// Writes the latest row.
    fn write(&mut self) -> Result<(), ResultError> {
        self.written = true;
        if let Some(outputs) = &mut self.outputs {
            let State { t, q, v } = &self.state;
            let v = if self.lambda.is_empty() { v } else { &self.lambda };
            (outputs.evaluate)(*t, q, v, &mut self.output).map_err(|source| ResultError::Output { t: *t, source })?;
            for (cell, source) in self.row.iter_mut().zip(&self.sources) {
                if let Quantity::Output(i) = source {
                    *cell = Cell::Real(self.output[*i]);
                }
            }
        }
        self.table.push(&self.row)?;
        self.impulse.fill(0.0);
        self.tau.fill(0.0);
        self.levels.fill(0.0);
        if let (Some(curves), Some(Cell::Real(t))) = (&mut self.curves, self.row.first()) {
            let value = |i: &usize| if let Cell::Real(x) = self.row[*i] { x } else { f64::NAN };
            curves.push(*t, self.curve_columns.iter().map(value));
        }
        Ok(())
    }

    /// Writes the last row, closes the files and hands out the history. All rows before an error are kept.
    pub fn finish(mut self) -> (Written, History) {
        let last = if self.written { Ok(()) } else { self.write() };
        let mut written = self.table.finish();
        // the first error is the cause
        written.error = self.error.or(last.err()).or(written.error);
        (written, self.curves.map(Curves::finish).unwrap_or_default())
    }
}

impl Observer for Trajectory {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        let energy = stepper.energies().map(|(from, _)| from);
        let begun = self.begin(stepper, energy);
        _ = self.flow(begun);
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        if self.error.is_some() {
            return Ok(ControlFlow::Break(()));
        }
        let energy = view.stepper.energies().map(|(_, to)| to);
        let taken = self.take(view, energy);
        Ok(self.flow(taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom::{Key, Pair};
    use carom_solve::Law;

    #[test]
    fn gaps_follow_the_keys() {
        let mut gaps = Gaps { now: vec![None; 3], smallest: vec![None; 3], overall: None };
        let pair = |key, law, gap| Pair { key: Key(key), law, gap, restitution: 0.0 };
        let mut coupling = Coupling::default();
        coupling.push(pair(2, Law::UNILATERAL, 0.3));
        coupling.push(pair(0, Law::EQUALITY, -5.0));
        coupling.push(pair(u128::MAX, Law::UNILATERAL, 0.2));
        gaps.see(&coupling);
        assert_eq!(gaps.now, [Some(-5.0), None, Some(0.3)]);
        coupling.pairs.clear();
        coupling.push(pair(2, Law::coulomb(0.1, 1), 0.4));
        gaps.see(&coupling);
        assert_eq!(gaps.now, [None, None, Some(0.4)]);
        assert_eq!((gaps.smallest, gaps.overall), (vec![None, None, Some(0.3)], Some(0.2)));
    }
}
