//! Result columns: their names, and the numbers of one row.
//!
//! | name | what |
//! |---|---|
//! | `t` | time [s] |
//! | `q.NAME`, `v.NAME` | coordinate, velocity |
//! | `gap.CONTACT` | gap, or value of a bilateral constraint |
//! | `impulse.CONTACT`, `.t1`, `.t2` | impulse of the step: normal, tangential |
//! | `energy.kinetic`, `energy.potential`, `energy.total` | [J] |
//! | `output.NAME` | column of `[output.columns]` |

use carom::scheme::Stepper;
use carom::{Key, ModelError};
use carom_solve::Law;

use super::Scene;
use crate::expression::{Registers, Tape};

/// A result column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Time,
    Position(usize),
    Velocity(usize),
    /// Gap of a law.
    Gap(usize),
    /// Impulse of a law: row 0 is normal, 1 and 2 are tangential.
    Impulse {
        law: usize,
        row: usize,
    },
    Kinetic,
    Potential,
    Total,
    /// A column of `[output.columns]`.
    Output(usize),
}

/// Expressions of time, coordinates and velocities with their working memory; make one per thread.
#[derive(Clone, Debug)]
pub struct Evaluator {
    tape: Tape,
    registers: Registers,
    values: Vec<f64>,
}

impl Evaluator {
    pub(super) fn new(tape: &Tape) -> Evaluator {
        Evaluator { registers: tape.registers(), values: vec![0.0; tape.outputs()], tape: tape.clone() }
    }

    /// All values at a state.
    pub fn eval(&mut self, t: f64, q: &[f64], v: &[f64]) -> &[f64] {
        self.tape.eval_state((t, q, v), &mut self.registers, &mut self.values);
        &self.values
    }
}

/// Named expressions that are recorded.
#[derive(Clone, Debug)]
pub struct Outputs {
    pub names: Vec<String>,
    pub(super) tape: Tape,
}

impl Outputs {
    pub fn evaluator(&self) -> Evaluator {
        Evaluator::new(&self.tape)
    }
}

/// All columns with their names, in the order of result files.
pub(super) fn columns(coordinates: &[String], laws: &[(&str, Law)], outputs: &[String]) -> Vec<(String, Column)> {
    let mut all = vec![("t".to_string(), Column::Time)];
    all.extend(coordinates.iter().enumerate().map(|(i, name)| (format!("q.{name}"), Column::Position(i))));
    all.extend(coordinates.iter().enumerate().map(|(i, name)| (format!("v.{name}"), Column::Velocity(i))));
    for (law, (name, kind)) in laws.iter().enumerate() {
        all.push((format!("gap.{name}"), Column::Gap(law)));
        for row in 0..kind.size() {
            let suffix = if row == 0 { String::new() } else { format!(".t{row}") };
            all.push((format!("impulse.{name}{suffix}"), Column::Impulse { law, row }));
        }
    }
    all.push(("energy.kinetic".into(), Column::Kinetic));
    all.push(("energy.potential".into(), Column::Potential));
    all.push(("energy.total".into(), Column::Total));
    all.extend(outputs.iter().enumerate().map(|(i, name)| (format!("output.{name}"), Column::Output(i))));
    all
}

impl Scene {
    /// All columns with their names, in the order of result files.
    pub fn columns(&self) -> Vec<(String, Column)> {
        let laws: Vec<(&str, Law)> = self.laws.iter().map(|law| (law.name.as_str(), law.law)).collect();
        columns(&self.coordinates, &laws, &self.outputs.names)
    }

    /// Evaluates the given columns along a run.
    pub fn sampler(&self, columns: &[Column]) -> Sampler {
        Sampler { columns: columns.to_vec(), outputs: self.outputs.evaluator(), output: Vec::new() }
    }
}

/// Reads the values of columns from a stepper.
#[derive(Clone, Debug)]
pub struct Sampler {
    columns: Vec<Column>,
    outputs: Evaluator,
    output: Vec<f64>,
}

impl Sampler {
    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Writes one row at the state `to` of the stepper, as observers see it; before the first step impulses are zero.
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
        if has(|column| matches!(column, Column::Gap(_))) {
            let coupling = stepper.coupling()?;
            for (out, column) in out.iter_mut().zip(&self.columns) {
                if let Column::Gap(law) = column {
                    // outside its region a contact has no gap
                    let present = coupling.pairs.get(*law).filter(|_| coupling.is_present(*law));
                    *out = present.map_or(f64::NAN, |pair| pair.gap);
                }
            }
        }
        let state = stepper.to();
        if has(|column| matches!(column, Column::Output(_))) {
            self.output.clear();
            self.output.extend_from_slice(self.outputs.eval(state.t, &state.q, &state.v));
        }
        let reactions = stepper.reactions();
        for (out, column) in out.iter_mut().zip(&self.columns) {
            match *column {
                Column::Time => *out = state.t,
                Column::Position(i) => *out = state.q.get(i).copied().unwrap_or(f64::NAN),
                Column::Velocity(i) => *out = state.v.get(i).copied().unwrap_or(f64::NAN),
                Column::Output(i) => *out = self.output.get(i).copied().unwrap_or(f64::NAN),
                Column::Impulse { law, row } => {
                    // keys are the numbers of laws; mostly they stand in order
                    let key = Key(law as u64);
                    let at = reactions.find(key, law);
                    *out = at
                        .and_then(|at| reactions.impulse.get(reactions.range(at).start + row))
                        .copied()
                        .unwrap_or(0.0);
                }
                _ => {}
            }
        }
        Ok(())
    }
}
