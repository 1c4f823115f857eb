//! The linear systems of the methods that factor matrices,
//!
//! ```text
//!     (X + Y W) x = b,   X and Y with one block per law,   W = C A⁻¹ B                              (1)
//! ```
//!
//! in scaled variables. They are factored in the space of contacts, with the pattern of `W`, or in that of velocities,
//!
//! ```text
//!     (I + A⁻¹ B X⁻¹ Y C) v = A⁻¹ B X⁻¹ b,   x = X⁻¹ (b − Y C v)                                   (2)
//! ```
//!
//! with one block per body [acary2018]: `W` ties all contacts of a body to each other, (2) ties bodies that touch.
//! Which one is cheaper is known from the symbolic analysis. What (2) loses in accuracy where `X` is small is paid back
//! by steps of refinement with (1); where they do not help, the space of contacts takes over.

use super::scaled::Scaled;
use crate::block_lu::{BlockLu, invert};
use crate::{OneStepProblem, SolveError};

mod velocity_space;

use velocity_space::VelocitySpace;

/// Steps of refinement of (2) at most.
const REFINEMENTS: usize = 5;

/// Relative residual of (1), each law in its own scale, that needs no further refinement.
const REFINED: f64 = 1e-12;

/// Relative residual of (1) beyond which the answer of (2) is no answer.
const BROKEN: f64 = 1e-2;

/// Systems of a problem that (2) may fail to solve before a method is told so; after twice as many (2) is given up.
const FORGIVEN: usize = 3;

/// Rows of `W` per row of (2) from which on the space of velocities is taken without a look at the other one.
const CERTAIN: f64 = 1.4;

/// The blocks of one law, three by three and row-major; rows that the law does not have are those of the unit matrix in
/// `x`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Diagonal {
    pub x: [f64; 9],
    pub y: [f64; 9],
    /// X⁻¹, where Y = I: near the boundary of a cone it has digits that `x` has lost.
    pub inverse: [f64; 9],
}

/// A factorisation of (1) and its workspace.
#[derive(Default)]
pub(super) struct LinearSystem {
    /// (laws) X and Y, to be filled before [`factor`](Self::factor).
    pub diagonal: Vec<Diagonal>,
    contacts: BlockLu,
    is_analysed: bool, // whether `contacts` has the present pattern
    matrix: Vec<f64>,  // (blocks × width²) X + Y W
    velocities: VelocitySpace,
    by_velocities: bool, // the cheaper way
    failures: usize,     // of that way, for this problem
    is_unit: bool,       // Y = I
    rest: Vec<f64>,      // residual of (1)
    kept: Vec<f64>,      // answer before the last refinement
    response: Vec<f64>,  // W x
}

impl LinearSystem {
    /// Chooses the space for a problem; nothing is allocated for a pattern that was seen last.
    pub fn analyse(&mut self, problem: &OneStepProblem<'_>, scaled: &Scaled) -> Result<(), SolveError> {
        let n = scaled.len();
        self.diagonal.resize(scaled.laws.len(), Diagonal::default());
        for buffer in [&mut self.rest, &mut self.kept, &mut self.response] {
            buffer.resize(n, 0.0);
        }
        self.is_analysed = false;
        self.failures = 0;
        self.by_velocities = self.velocities.load(problem, scaled)?;
        if self.by_velocities && problem.size() as f64 >= CERTAIN * self.velocities.size() as f64 {
            return Ok(());
        }
        let analysed = self.analyse_contacts(scaled);
        if self.by_velocities {
            self.by_velocities =
                analysed.is_err() || self.velocities.multiplications() < self.contacts.multiplications();
            return Ok(());
        }
        analysed
    }

    fn analyse_contacts(&mut self, scaled: &Scaled) -> Result<(), SolveError> {
        if !self.is_analysed {
            self.contacts.analyse(&scaled.pattern)?;
            self.matrix.resize(scaled.value.len(), 0.0);
            self.is_analysed = true;
        }
        Ok(())
    }

    /// Multiplications of one factorisation.
    pub fn multiplications(&self) -> f64 {
        if self.by_velocities { self.velocities.multiplications() } else { self.contacts.multiplications() }
    }

    /// Factors with Y = I, whatever `diagonal` holds there, and with the inverses given.
    pub fn factor_shifted(&mut self, scaled: &Scaled) -> bool {
        self.is_unit = true;
        for block in &mut self.diagonal {
            block.y = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        }
        self.factor_either(scaled)
    }

    /// Factors with the blocks in `diagonal`. False if there is no way.
    pub fn factor(&mut self, scaled: &Scaled) -> bool {
        self.is_unit = false;
        if self.by_velocities {
            for block in &mut self.diagonal {
                block.inverse = invert::<3, 9>(&block.x, &block.x);
            }
        }
        self.factor_either(scaled)
    }

    fn factor_either(&mut self, scaled: &Scaled) -> bool {
        if self.by_velocities {
            self.velocities.factor(&self.diagonal);
            return true;
        }
        if self.analyse_contacts(scaled).is_err() {
            return false;
        }
        match scaled.pattern.width {
            1 => self.fill::<1, 1>(scaled),
            2 => self.fill::<2, 4>(scaled),
            _ => self.fill::<3, 9>(scaled),
        }
        self.contacts.factor(&self.matrix);
        true
    }

    /// X + Y W.
    fn fill<const B: usize, const N: usize>(&mut self, scaled: &Scaled) {
        let matrix = self.matrix.as_chunks_mut::<N>().0;
        let value = scaled.value.as_chunks::<N>().0;
        if self.is_unit {
            matrix.copy_from_slice(value);
        }
        for (i, block) in self.diagonal.iter().enumerate() {
            if !self.is_unit {
                let range = scaled.pattern.start[i]..scaled.pattern.start[i + 1];
                let y: [f64; N] = std::array::from_fn(|k| block.y[k / B * 3 + k % B]);
                for (out, w) in matrix[range.clone()].iter_mut().zip(&value[range]) {
                    let mut sum = [0.0; N];
                    for row in 0..B {
                        for k in 0..B {
                            for column in 0..B {
                                sum[row * B + column] += y[row * B + k] * w[k * B + column];
                            }
                        }
                    }
                    *out = sum;
                }
            }
            let own = &mut matrix[scaled.diagonal[i]];
            for k in 0..N {
                own[k] += block.x[k / B * 3 + k % B];
            }
        }
    }

    /// `x ← (X + Y W)⁻¹ b`. False if the answer is of no use.
    pub fn solve(&mut self, scaled: &Scaled, b: &[f64], x: &mut [f64]) -> bool {
        if self.by_velocities {
            if self.solve_by_velocities(scaled, b, x) {
                return true;
            }
            self.failures += 1;
            // interior points where this happens again and again lead nowhere
            if self.is_unit && self.failures > FORGIVEN {
                return false;
            }
            self.by_velocities = false;
            let factored = self.factor_either(scaled);
            self.by_velocities = self.failures <= 2 * FORGIVEN;
            if !factored {
                return false;
            }
        }
        self.contacts.solve(&self.matrix, b, x)
    }

    fn solve_by_velocities(&mut self, scaled: &Scaled, b: &[f64], x: &mut [f64]) -> bool {
        x.fill(0.0);
        self.rest.copy_from_slice(b);
        let size = self.velocities.balanced(&self.rest);
        let mut missed = f64::INFINITY;
        for _ in 0..=REFINEMENTS {
            self.kept.copy_from_slice(x);
            self.velocities.correct(&self.rest, x);
            self.residual(scaled, b, x);
            let now = self.velocities.balanced(&self.rest);
            if now <= REFINED * size {
                return true;
            }
            if now.is_nan() || now >= missed {
                x.copy_from_slice(&self.kept);
                break;
            }
            missed = now;
        }
        missed <= BROKEN * size
    }

    /// `rest ← b − (X + Y W) x`.
    fn residual(&mut self, scaled: &Scaled, b: &[f64], x: &[f64]) {
        let width = scaled.pattern.width;
        self.response.fill(0.0);
        scaled.pattern.add_mul(&scaled.value, x, &mut self.response);
        let rows = self.rest.chunks_mut(width).zip(b.chunks(width));
        let points = x.chunks(width).zip(self.response.chunks(width));
        for (block, ((rest, b), (x, w))) in self.diagonal.iter().zip(rows.zip(points)) {
            for row in 0..width {
                let mut sum = b[row];
                for k in 0..width {
                    sum -= block.x[row * 3 + k] * x[k] + block.y[row * 3 + k] * w[k];
                }
                rest[row] = sum;
            }
        }
    }
}

#[cfg(test)]
mod tests;
