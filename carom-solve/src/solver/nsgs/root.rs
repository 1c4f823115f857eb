//! `A⁻¹ = S Sᵀ`, block by block.

use crate::OneStepProblem;

/// Largest block.
const LARGEST: usize = 6;

/// Asymmetry of a block of the inverse, relative to its diagonal, that is rounding.
const SYMMETRIC: f64 = 1e-12;

/// S: lower Cholesky factors of the blocks of A⁻¹; buffers keep their capacity.
#[derive(Default)]
pub(super) struct Root {
    start: Vec<u32>,   // (n) first degree of freedom of its block
    at: Vec<usize>,    // (n) first value of its row
    value: Vec<f64>,   // rows up to the diagonal
    inverse: Vec<f64>, // one block of A⁻¹
}

impl Root {
    /// Takes over a problem; false where a block is large, or not symmetric and positive definite.
    pub(super) fn find(&mut self, problem: &OneStepProblem<'_>) -> bool {
        let Root { start, at, value, inverse } = self;
        let lhs = problem.parts().lhs;
        let n = lhs.dim();
        start.clear();
        at.clear();
        value.clear();
        while start.len() < n {
            let first = start.len();
            let block = lhs.block(first);
            let length = block.end.clamp(first + 1, n) - first;
            if length > LARGEST || block.start != first {
                return false;
            }
            inverse.clear();
            inverse.resize(length * length, 0.0);
            for (k, column) in inverse.chunks_mut(length).enumerate() {
                column[k] = 1.0;
                lhs.solve_block(first..first + length, column);
            }
            for i in 0..length {
                start.push(first as u32);
                let row = value.len();
                at.push(row);
                for j in 0..=i {
                    let other = at[first + j];
                    let dot: f64 = (0..j).map(|k| value[row + k] * value[other + k]).sum();
                    let (entry, mirrored) = (inverse[i * length + j], inverse[j * length + i]);
                    let size = inverse[i * length + i] + inverse[j * length + j];
                    if (entry - mirrored).abs() > SYMMETRIC * size {
                        return false;
                    }
                    let rest = 0.5 * (entry + mirrored) - dot;
                    if i == j && (rest <= 0.0 || rest.is_nan()) {
                        return false;
                    }
                    value.push(if i == j { rest.sqrt() } else { rest / value[other + j] });
                }
            }
        }
        true
    }

    /// Row of S: columns and values.
    pub(super) fn row(&self, dof: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let first = self.start[dof] as usize;
        (first..=dof).zip(self.value[self.at[dof]..].iter().copied())
    }
}
