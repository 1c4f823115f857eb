//! `A⁻¹ = S Sᵀ`, block by block.

use crate::OneStepProblem;

/// Largest block.
const LARGEST: usize = 6;

/// Asymmetry of a block of the inverse, relative to its diagonal, that is rounding.
const SYMMETRIC: f64 = 1e-12;

/// S: lower Cholesky factors of the blocks of A⁻¹.
pub(super) struct Root {
    start: Vec<u32>, // (n) first degree of freedom of its block
    at: Vec<usize>,  // (n) first value of its row
    value: Vec<f64>, // rows up to the diagonal
}

impl Root {
    /// None where a block is large, or not symmetric and positive definite.
    pub(super) fn of(problem: &OneStepProblem<'_>) -> Option<Root> {
        let lhs = problem.parts().lhs;
        let n = lhs.dim();
        let mut root = Root { start: Vec::with_capacity(n), at: Vec::with_capacity(n), value: Vec::new() };
        let mut inverse = Vec::new();
        while root.start.len() < n {
            let first = root.start.len();
            let block = lhs.block(first);
            let length = block.end.clamp(first + 1, n) - first;
            if length > LARGEST || block.start != first {
                return None;
            }
            inverse.clear();
            inverse.resize(length * length, 0.0);
            for (k, column) in inverse.chunks_mut(length).enumerate() {
                column[k] = 1.0;
                lhs.solve_block(first..first + length, column);
            }
            for i in 0..length {
                root.start.push(first as u32);
                let row = root.value.len();
                root.at.push(row);
                for j in 0..=i {
                    let other = root.at[first + j];
                    let dot: f64 = (0..j).map(|k| root.value[row + k] * root.value[other + k]).sum();
                    let (entry, mirrored) = (inverse[i * length + j], inverse[j * length + i]);
                    let size = inverse[i * length + i] + inverse[j * length + j];
                    if (entry - mirrored).abs() > SYMMETRIC * size {
                        return None;
                    }
                    let rest = 0.5 * (entry + mirrored) - dot;
                    if i == j && (rest <= 0.0 || rest.is_nan()) {
                        return None;
                    }
                    root.value.push(if i == j { rest.sqrt() } else { rest / root.value[other + j] });
                }
            }
        }
        Some(root)
    }

    /// Row of S: columns and values.
    pub(super) fn row(&self, dof: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let first = self.start[dof] as usize;
        (first..=dof).zip(self.value[self.at[dof]..].iter().copied())
    }
}
