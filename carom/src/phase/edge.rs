//! Which contacts carry behind an edge, where several meet with dependent rows: at velocities or at a stage of the flow
//! [haddouni2013].
//!
//! ```text
//!     stage   0 ≤ Λ ⊥ W Λ + C₂ M⁻¹F − r ≥ 0,   W = C₂ M⁻¹C₁ᵀ,   r = −(C₂ v + ∂y/∂t)/(h a₂₁)            (1)
//!     sort    0 ≤ P ⊥ C M⁻¹Cᵀ P + C (v + h M⁻¹F) + ∂y/∂t ≥ 0,   C at retract(q, h v/2)                  (2)
//! ```
//!
//! (1) is the first stage of HEM5 over the normals of all of them, rows from the second stage: the slack of the
//! constraint is complementary to the multiplier. (2) is one velocity step. W may be singular; only the sets {Λ > 0}
//! and {P > 0} are of use, since P/h sees half of the curvature alone. A contact with neither reaction nor slack stays:
//! it is redundant. Bilateral laws take part with both signs.

use super::acceleration::Acceleration;
use super::mode::Phase;
use super::ranked::RankedLu;
use crate::integrator;
use crate::{Coupling, Key, Mechanical, State, StepError, System};
use carom_solve::{Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows};

/// Which of the two problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sorting {
    /// (1).
    Stage,
    /// (2).
    Velocity,
}

carom_solve::persist_enum!(Sorting { 0 = Stage, 1 = Velocity });

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

carom_solve::persist!(Edge { coupling, laws, output, input, b, moved, increment, free, work, z, response, rank });

impl Edge {
    /// Whether the normal rows of the laws `members` are dependent at the point where `acceleration` was evaluated
    /// last.
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

    /// Solves (1) or (2) with a step of `h` over the laws `members` of a phase at `state`, where `acceleration` has its
    /// coupling.
    pub fn solve(
        &mut self,
        sorting: Sorting,
        (acceleration, phase): (&mut Acceleration, &Phase),
        system: &mut System<'_, dyn Mechanical>,
        (members, state): (&[usize], &State),
        h: f64,
    ) -> Result<&[f64], StepError> {
        let model = &mut *system.model;
        acceleration.free_motion(model, (state.t, &state.q, &state.v))?;
        let (reach, time) = match sorting {
            Sorting::Stage => (integrator::A[0][0] * h, integrator::C[1] * h),
            Sorting::Velocity => (0.5 * h, 0.5 * h),
        };
        self.increment.clear();
        self.increment.extend(state.v.iter().map(|v| reach * v));
        self.moved.clone_from(&state.q);
        model.retract(&state.q, &self.increment, &mut self.moved);
        self.coupling.fill(model, (state.t + time, &self.moved), false, phase.keys())?;
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
            let (here, there) = (&acceleration.coupling, &self.coupling);
            let (law, row) = (here.pairs[i].law, there.offset[i]);
            self.laws.push(if law.is_equality() { law } else { Law::UNILATERAL });
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
        let name = |law: usize| Some(acceleration.coupling.pairs[*members.get(law)?].key.0);
        let mut problem = OneStepProblem::new(parts, &mut self.work);
        problem.name_by(&name);
        system.solver.solve(&problem, &mut self.z).map_err(|error| {
            let contact = error.certificate().and_then(|c| name(c.law)).map(Key);
            StepError::Solve { error: Box::new(error), contact }
        })?;
        Ok(&self.z.lambda)
    }

    /// Whether member `k` of the last problem carries, or rests without a share of the load.
    pub fn carries(&self, k: usize) -> bool {
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let of = |x: &[f64]| x.get(k).copied().unwrap_or(0.0);
        of(&self.z.lambda) > NOTHING * largest(&self.z.lambda) || of(&self.z.u) <= TIE * largest(&self.b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;
    use crate::model::{Contact, Lagrangian};

    /// Where a flat meets the parabola z = x², the stage problem and the velocity problem pick the parabola.
    #[test]
    fn both_problems_pick_the_parabola() {
        let mut model = Lagrangian::new(2)
            .constant_mass(&[1.0, 0.0, 0.0, 1.0])
            .force(|_t, _q, _v, f| (f[0], f[1]) = (-9.81, 0.0))
            .contact(Contact::new("flat", |_t, q| q[0]).gradient(|_t, _q, row| (row[0], row[1]) = (1.0, 0.0)))
            .contact(
                Contact::new("parabola", |_t, q| q[0] - q[1] * q[1])
                    .gradient(|_t, q, row| (row[0], row[1]) = (1.0, -2.0 * q[1])),
            )
            .initial(&[0.0, 0.0], &[0.0, 2.0]);
        let state = State::new(0.5, &[0.0, 0.0], &[0.0, 2.0]);
        let (mut acceleration, mut phase) = (Acceleration::new(&mut model), Phase::default());
        model.couple(state.t, &state.q, &mut acceleration.coupling).unwrap();
        phase.open(&acceleration.coupling);
        let mut solver = carom_solve::solver::default();
        let mut edge = Edge::default();
        let mut solve = |sorting, h: f64| {
            let mut system = System { model: &mut model as &mut dyn Mechanical, solver: &mut *solver };
            let tools = (&mut acceleration, &phase);
            let found = edge.solve(sorting, tools, &mut system, (&[0, 1], &state), h).unwrap().to_vec();
            (found, [edge.carries(0), edge.carries(1)])
        };
        let (lambda, carries) = solve(Sorting::Stage, 1e-2);
        assert!(lambda[0].abs() < 1e-10 && (lambda[1] - 17.81).abs() < 1e-10, "{lambda:?}");
        assert_eq!(carries, [false, true]);
        for (h, p) in [(1e-3, 0.01381), (1e-4, 0.001381)] {
            let (found, carries) = solve(Sorting::Velocity, h);
            assert_eq!(carries, [false, true]);
            assert!(found[0].abs() < 1e-10 && (found[1] - p).abs() < 1e-6, "{found:?}");
        }
    }
}
