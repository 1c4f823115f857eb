//! Which contacts carry behind an edge, where several meet with dependent rows: at velocities or at a stage of the flow [haddouni2013].
//!
//! ```text
//!     stage   0 ≤ Λ ⊥ W Λ + C₂ M⁻¹F − r ≥ 0,   W = C₂ M⁻¹C₁ᵀ,   r = −(C₂ v + ∂y/∂t)/(h a₂₁)            (1)
//!     sort    0 ≤ P ⊥ C M⁻¹Cᵀ P + C (v + h M⁻¹F) + ∂y/∂t ≥ 0,   C at retract(q, h v/2)                  (2)
//! ```
//!
//! (1) is the first stage of HEM5 over the normals of all of them, rows from the second stage: the slack of the constraint is
//! complementary to the multiplier. (2) is one velocity step. W may be singular; only the sets {Λ > 0} and {P > 0} are of use, since P/h sees
//! half of the curvature alone. A contact with neither reaction nor slack stays: it is redundant. Bilateral laws take part with both signs.

use super::acceleration::Acceleration;
use super::hem5;
use super::ranked::RankedLu;
use crate::scheme::{StepError, System};
use crate::{Coupling, Mechanical, State};
use carom_solve::{Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows};

/// Which of the two problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sorting {
    /// (1).
    Stage,
    /// (2).
    Velocity,
}

/// Reactions below this part of the largest are zero.
const NOTHING: f64 = 1e-9;

/// Slacks below this part of the largest term of the problem are zero: velocities are rounding to about as much of h g.
const TIE: f64 = 1e-7;

/// Buffers of both problems.
#[derive(Default)]
pub struct Edge {
    coupling: Coupling,
    laws: Vec<Law>,
    output: Rows,
    input: Rows,
    b: Vec<f64>,
    moved: Vec<f64>,
    increment: Vec<f64>,
    free: Vec<f64>,
    work: ProblemWork,
    z: Reaction,
    response: Vec<f64>, // (members × n) M⁻¹Cᵀ
    rank: RankedLu,
}

impl Edge {
    /// Whether the normal rows of the laws `members` are dependent at the point where `acceleration` was evaluated last.
    pub fn is_dependent(&mut self, acceleration: &Acceleration, model: &dyn Mechanical, members: &[usize]) -> bool {
        let (coupling, n, m) = (&acceleration.coupling, model.dim(), members.len());
        if n == 0 {
            return m > 0;
        }
        self.response.clear();
        self.response.resize(m * n, 0.0);
        for (&i, response) in members.iter().zip(self.response.chunks_exact_mut(n)) {
            coupling.rows.add_row(coupling.offset[i], 1.0, response);
            model.solve(response);
        }
        let w = self.rank.matrix_mut(m);
        for (&i, row) in members.iter().zip(w.chunks_exact_mut(m.max(1))) {
            for (w, response) in row.iter_mut().zip(self.response.chunks_exact(n)) {
                *w = coupling.rows.dot(coupling.offset[i], response);
            }
        }
        !self.rank.factor()
    }

    /// Solves (1) or (2) with a step of `h` over the laws `members` at `state`, where `acceleration` has its coupling.
    pub fn solve(
        &mut self,
        sorting: Sorting,
        acceleration: &mut Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        (members, state): (&[usize], &State),
        h: f64,
    ) -> Result<&[f64], StepError> {
        let model = &mut *system.model;
        acceleration.fall(model, (state.t, &state.q, &state.v))?;
        let (reach, time) = match sorting {
            Sorting::Stage => (hem5::A[0][0] * h, hem5::C[1] * h),
            Sorting::Velocity => (0.5 * h, 0.5 * h),
        };
        self.increment.clear();
        self.increment.extend(state.v.iter().map(|v| reach * v));
        self.moved.clone_from(&state.q);
        model.retract(&state.q, &self.increment, &mut self.moved);
        model.couple(state.t + time, &self.moved, &mut self.coupling)?;
        // velocities without reactions, divided by the weight of Λ
        let scale = if sorting == Sorting::Stage { reach } else { 1.0 };
        let part = if sorting == Sorting::Stage { reach } else { h };
        self.free.clear();
        self.free.extend(state.v.iter().zip(&acceleration.free).map(|(v, a)| (v + part * a) / scale));
        self.laws.clear();
        self.b.clear();
        self.output.clear(model.dim());
        self.input.clear(model.dim());
        for &i in members {
            // a law that is not there any more is taken as it was
            let (here, pair) = (&acceleration.coupling, acceleration.coupling.pairs[i]);
            let (there, j) = self.coupling.find(pair.key, i).map_or((here, i), |j| (&self.coupling, j));
            self.laws.push(if pair.law.is_equality() { pair.law } else { Law::UNILATERAL });
            let row = there.offset[j];
            self.output.push_row_of(&there.rows, row);
            match sorting {
                Sorting::Stage => self.input.push_row_of(&here.rows, here.offset[i]),
                Sorting::Velocity => self.input.push_row_of(&there.rows, row),
            }
            self.b.push(there.rows.dot(row, &self.free) + there.drift[row] / scale);
        }
        let parts = Parts {
            lhs: &*model,
            output: &self.output,
            input: &self.input,
            feedthrough: None,
            b: &self.b,
            laws: &self.laws,
        };
        self.z.reset(self.b.len());
        let problem = OneStepProblem::new(parts, &mut self.work);
        system
            .solver
            .solve(&problem, &mut self.z)
            .map_err(|error| StepError::Solve { error: Box::new(error), contact: None })?;
        Ok(&self.z.lambda)
    }

    /// Whether member `k` of the last problem carries, or rests without a share of the load.
    pub fn carries(&self, k: usize) -> bool {
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let of = |x: &[f64]| x.get(k).copied().unwrap_or(0.0);
        of(&self.z.lambda) > NOTHING * largest(&self.z.lambda) || of(&self.z.u) <= TIE * largest(&self.b)
    }
}
