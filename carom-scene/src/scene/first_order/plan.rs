//! Plans of linear and sweeping models: matrices and tapes.

use carom::model::{Lcs, Matrices, Piece, Shape, Sweeping};
use carom::{FirstOrder, State};
use carom_solve::Law;

use crate::equations::Program;
use crate::expression::Tape;
use crate::scene::BuildError;

/// A complementarity system that can be built.
#[derive(Clone, Debug)]
pub(in crate::scene) struct LcsPlan {
    pub states: Vec<String>,
    pub rows: Vec<(String, Law)>,
    pub matrices: Matrices,
    /// a(t) and c(t), where there are any.
    pub state_source: Option<Tape>,
    pub output_source: Option<Tape>,
    pub gates: Vec<Gate>,
}

/// A row whose law depends on the sign of an expression of time.
#[derive(Clone, Debug)]
pub(in crate::scene) struct Gate {
    pub row: usize,
    pub tape: Tape,
    /// The row is an equality while the gate is positive, and absent otherwise; or the other way round.
    pub on: bool,
}

impl LcsPlan {
    pub fn build(&self, initial: &State) -> Result<Box<dyn FirstOrder>, BuildError> {
        let mut model = Lcs::new(self.matrices.clone(), self.rows.clone(), &initial.q)?
            .with_names(self.states.clone())?
            .starting_at(initial.t);
        if let Some(tape) = &self.state_source {
            let mut program = Program::of(tape.clone());
            model = model.with_state_source(move |t, out| {
                out.copy_from_slice(program.eval(t, &[], &[]));
                Ok(())
            });
        }
        if let Some(tape) = &self.output_source {
            let mut program = Program::of(tape.clone());
            model = model.with_output_source(move |t, out| {
                out.copy_from_slice(program.eval(t, &[], &[]));
                Ok(())
            });
        }
        for Gate { row, tape, on } in self.gates.clone() {
            let mut program = Program::of(tape);
            model = model.with_timed_law(row, move |t| {
                let closed = program.eval(t, &[], &[]).iter().all(|gate| *gate > 0.0);
                Ok(if closed == on { Law::EQUALITY } else { Law::interval(0.0, 0.0) })
            })?;
        }
        Ok(Box::new(model))
    }
}

/// A sweeping process that can be built.
#[derive(Clone, Debug)]
pub(in crate::scene) struct SweepingPlan {
    pub states: Vec<String>,
    pub pieces: Vec<PiecePlan>,
    /// Rates over `[t | u]`.
    pub drift: Option<Tape>,
}

/// A piece of the set with its numbers, of time.
#[derive(Clone, Debug)]
pub(in crate::scene) struct PiecePlan {
    pub name: String,
    pub shape: Shape,
    pub numbers: Tape,
    /// Ends of an interval that are not given.
    pub open: [bool; 2],
}

impl PiecePlan {
    fn build(&self) -> Piece {
        let (mut program, open) = (Program::of(self.numbers.clone()), self.open);
        Piece::new(&self.name, self.shape, move |t, out| {
            out.copy_from_slice(program.eval(t, &[], &[]));
            for (k, end) in [f64::NEG_INFINITY, f64::INFINITY].into_iter().enumerate() {
                if open[k] {
                    out[k] = end;
                }
            }
            Ok(())
        })
    }
}

impl SweepingPlan {
    pub fn build(&self, initial: &State) -> Result<Box<dyn FirstOrder>, BuildError> {
        let pieces = self.pieces.iter().map(PiecePlan::build).collect();
        let mut model = Sweeping::new(pieces, &initial.q)?.with_names(self.states.clone())?.starting_at(initial.t);
        if let Some(tape) = &self.drift {
            let mut program = Program::of(tape.clone());
            model = model.with_drift(move |t, u, out| {
                out.copy_from_slice(program.eval(t, u, &[]));
                Ok(())
            });
        }
        Ok(Box::new(model))
    }
}
