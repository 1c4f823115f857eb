//! Brings positions and velocities back onto the constraints that a phase holds, in the metric of the mass.
//!
//! ```text
//!     q ← retract(q, −M⁻¹Cᵀ (C M⁻¹Cᵀ)⁺ g)   until |g| is rounding;     v ← v − M⁻¹Cᵀ (C M⁻¹Cᵀ)⁺ (C v + ∂y/∂t − u*)      (1)
//! ```
//!
//! Position rows are the normals of the laws held; velocity rows besides the tangents of sticking contacts. Redundant
//! rows are harmless.

use super::acceleration::Acceleration;
use super::magnitudes::ROUNDING;
use super::mode::{Mode, Phase};
use super::ranked::RankedLu;
use crate::{Coupling, Mechanical, ModelError, State, StepError};

/// Most Newton steps on the gaps.
const ITERATIONS: u32 = 12;

/// Gaps that stay above this part of the size of their terms cannot all be closed.
const CONTRADICTION: f64 = 1e-8;

/// Buffers of the projections.
#[derive(Default)]
pub struct Projection {
    rows: Vec<usize>,
    response: Vec<f64>, // (rows × n) M⁻¹Cᵀ
    system: RankedLu,
    x: Vec<f64>,
    change: Vec<f64>,    // (rows) of the velocities that the last projection has brought about
    increment: Vec<f64>, // (n)
    moved: Vec<f64>,
}

carom_solve::persist!(Projection { rows, response, system, x, change, increment, moved });

impl Projection {
    /// (1) for positions, with the coupling of `acceleration` left at the result. Constraints that contradict each
    /// other are an error.
    pub fn positions(
        &mut self,
        acceleration: &mut Acceleration,
        model: &mut dyn Mechanical,
        phase: &Phase,
        state: &mut State,
    ) -> Result<(), StepError> {
        // sizes met: those of the terms themselves vanish at the origin
        let (mut before, mut size) = (f64::INFINITY, 0.0f64);
        for iterations in 0..=ITERATIONS {
            acceleration.couple(model, phase, (state.t, &state.q, &state.v))?;
            let coupling = &acceleration.coupling;
            self.rows.clear();
            self.x.clear();
            let (mut worst, mut done) = ((0.0f64, None), true);
            for (i, pair) in coupling.pairs.iter().enumerate() {
                if phase.mode(i).is_closed() {
                    let rounding = acceleration.sizes.gap_rounding_at(coupling, i, state);
                    self.rows.push(coupling.offset[i]);
                    self.x.push(-pair.gap);
                    if pair.gap.abs() > worst.0 {
                        worst = (pair.gap.abs(), Some((i, pair.key)));
                    }
                    size = size.max(rounding / ROUNDING);
                    done &= pair.gap.abs() <= rounding;
                }
            }
            if done {
                break;
            }
            // a step that does not halve the gaps has come to rounding, or to a contradiction; so has the last one
            if worst.0 > 0.5 * before || iterations == ITERATIONS {
                let (gap, Some((i, contact))) = worst else { return Ok(()) };
                // or that the run has met: all terms may vanish where a body is in the origin
                let tolerance = CONTRADICTION * size.max(acceleration.sizes.length(coupling, i));
                return match gap > tolerance {
                    true => Err(StepError::Projection { gap, tolerance, iterations, contact }),
                    false => Ok(()),
                };
            }
            before = worst.0;
            acceleration.factor_mass(model, (state.t, &state.q, &state.v))?;
            self.solve(&acceleration.coupling, model);
            self.moved.clone_from(&state.q);
            model.retract(&self.moved, &self.increment, &mut state.q);
        }
        Ok(())
    }

    /// (1) for velocities, at the positions for which the coupling of `acceleration` was filled last; targets are zero.
    pub fn velocities(
        &mut self,
        acceleration: &mut Acceleration,
        model: &mut dyn Mechanical,
        phase: &Phase,
        state: &mut State,
    ) -> Result<(), ModelError> {
        let coupling = &acceleration.coupling;
        self.rows.clear();
        self.x.clear();
        for i in 0..coupling.len() {
            let range = coupling.range(i);
            let held = match phase.mode(i) {
                Mode::Open => 0,
                Mode::Held | Mode::Slip(_) => 1,
                Mode::Stick => range.len(),
            };
            for row in range.take(held) {
                self.rows.push(row);
                self.x.push(-(coupling.rows.dot(row, &state.v) + coupling.drift[row]));
            }
        }
        self.correct(acceleration, model, state)
    }

    /// Rows of the last projection of velocities, with impulse and change of velocity along each.
    pub fn impulses(&self) -> impl Iterator<Item = (usize, f64, f64)> {
        self.rows.iter().zip(&self.x).zip(&self.change).map(|((row, p), change)| (*row, *p, *change))
    }

    /// Multipliers of the last projection, row by row of those asked for.
    pub fn multipliers(&self) -> &[f64] {
        &self.x
    }

    /// Changes velocities so that `C v + ∂y/∂t` takes the given values on the given rows.
    pub fn impose(
        &mut self,
        acceleration: &mut Acceleration,
        model: &mut dyn Mechanical,
        targets: &[(usize, f64)],
        state: &mut State,
    ) -> Result<(), ModelError> {
        let coupling = &acceleration.coupling;
        self.rows.clear();
        self.x.clear();
        for &(row, target) in targets {
            self.rows.push(row);
            self.x.push(target - coupling.rows.dot(row, &state.v) - coupling.drift[row]);
        }
        self.correct(acceleration, model, state)
    }

    fn correct(
        &mut self,
        acceleration: &mut Acceleration,
        model: &mut dyn Mechanical,
        state: &mut State,
    ) -> Result<(), ModelError> {
        self.change.clone_from(&self.x);
        if self.x.iter().all(|x| *x == 0.0) {
            return Ok(());
        }
        acceleration.factor_mass(model, (state.t, &state.q, &state.v))?;
        self.solve(&acceleration.coupling, model);
        for (v, dv) in state.v.iter_mut().zip(&self.increment) {
            *v += dv;
        }
        Ok(())
    }

    /// `increment ← M⁻¹Cᵀ (C M⁻¹Cᵀ)⁺ x`.
    fn solve(&mut self, coupling: &Coupling, model: &dyn Mechanical) {
        let (n, m) = (model.dim(), self.rows.len());
        self.response.clear();
        self.response.resize(m * n, 0.0);
        for (row, response) in self.rows.iter().zip(self.response.chunks_exact_mut(n.max(1))) {
            coupling.rows.add_row(*row, 1.0, response);
            model.solve(response);
        }
        let w = self.system.matrix_mut(m);
        for (k, row) in self.rows.iter().enumerate() {
            for l in 0..m {
                w[k * m + l] = coupling.rows.dot(*row, &self.response[l * n..(l + 1) * n]);
            }
        }
        self.system.factor();
        self.system.solve(&mut self.x);
        self.increment.clear();
        self.increment.resize(n, 0.0);
        for (x, response) in self.x.iter().zip(self.response.chunks_exact(n.max(1))) {
            for (d, r) in self.increment.iter_mut().zip(response) {
                *d += x * r;
            }
        }
    }
}
