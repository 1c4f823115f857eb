//! The one-step problem of a balance, with its buffers.

use crate::{Coupling, Key, Step, StepError};
use carom_solve::{Law, LinearSolve, OneStepProblem, Parts, ProblemWork, Reaction, Rows, Solver};

/// Laws, rows and free velocities of a problem, and its solution.
#[derive(Default)]
pub(crate) struct Problem {
    pub laws: Vec<Law>,
    pub output: Rows,      // C
    pub input: Rows,       // Bᵀ
    pub feedthrough: Rows, // D; no rows where it is zero
    pub b: Vec<f64>,
    pub z: Reaction,   // its λ is the guess
    pub residual: f64, // of the last solution, as it is certified
    work: ProblemWork,
}

carom_solve::persist!(Problem { laws, output, input, feedthrough, b, z, residual, work });

impl Problem {
    /// Makes room for all laws of a coupling.
    pub fn make_room(&mut self, all: &Coupling) {
        let (n, rows) = (all.rows.columns(), all.rows.len());
        self.clear(n);
        for row in 0..rows {
            self.output.push_row_of(&all.rows, row);
            self.input.push_row_of(&all.rows, row);
        }
        self.laws.reserve(all.len());
        self.b.reserve(rows);
        self.z = Reaction { lambda: vec![0.0; rows], u: vec![0.0; rows], response: vec![0.0; n] };
    }

    /// No laws yet, rows of length `n`.
    pub fn clear(&mut self, n: usize) {
        self.laws.clear();
        self.output.clear(n);
        self.input.clear(n);
    }

    /// Solves from the guess in `z`, keeping W where nothing but b has changed since the last call (`again`). `key`
    /// names a law.
    #[inline]
    pub fn solve(
        &mut self,
        (lhs, solver): (&dyn LinearSolve, &mut dyn Solver),
        again: bool,
        step: &mut Step,
        key: impl Fn(usize) -> Option<Key>,
    ) -> Result<(), StepError> {
        let Problem { laws, output, input, feedthrough, b, z, residual, work } = self;
        let feedthrough = (!feedthrough.is_empty()).then_some(&*feedthrough);
        let parts = Parts { lhs, output, input, feedthrough, b, laws };
        let names = |law: usize| Some(key(law)?.0);
        let mut problem = if again { OneStepProblem::again(parts, work) } else { OneStepProblem::new(parts, work) };
        problem.name_by(&names);
        match solver.solve(&problem, z) {
            Ok(certificate) => {
                step.worst = if step.solves == 0 { certificate } else { step.worst.worse(certificate) };
                step.solves += 1;
                *residual = certificate.residual;
                Ok(())
            }
            Err(error) => {
                let contact = error.certificate().and_then(|certificate| key(certificate.law));
                Err(StepError::Solve { error: Box::new(error), contact })
            }
        }
    }

    /// Whether P > 0, for each law of the last problem: w P_N > u_N rather than P_N > 0, so that the rounded zeros of a
    /// solver do not count.
    pub fn has_impulse(&mut self, lhs: &dyn LinearSolve, out: &mut Vec<bool>) {
        let Problem { laws, output, input, b, z, work, .. } = self;
        let parts = Parts { lhs, output, input, feedthrough: None, b, laws };
        let problem = OneStepProblem::again(parts, work);
        out.clear();
        out.extend((0..laws.len()).map(|k| {
            let row = problem.rows(k).start;
            z.lambda[row] > 0.0 && problem.scale(k) * z.lambda[row] > z.u[row]
        }));
    }
}
