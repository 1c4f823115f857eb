//! The inverse of `A` block by block, where its blocks are small and many laws touch each of them.

use crate::LinearSolve;
use std::ops::Range;

/// Largest block that is inverted.
const LARGEST: usize = 32;

/// A⁻¹, one dense matrix per block of A.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockInverse {
    start: Vec<usize>,  // (blocks + 1) first degree of freedom
    block_of: Vec<u32>, // (n)
    at: Vec<usize>,     // (blocks) first value
    value: Vec<f64>,    // columns of the inverse of each block, one after the other
    is_computed: bool,
}

crate::persist!(BlockInverse { start, block_of, at, value, is_computed });

impl BlockInverse {
    /// Finds the blocks of A; no inverse yet.
    pub(crate) fn index(&mut self, a: &dyn LinearSolve) {
        let n = a.dim();
        self.start.clear();
        self.block_of.clear();
        self.is_computed = false;
        while self.block_of.len() < n {
            let first = self.block_of.len();
            self.block_of.resize(a.block(first).end.clamp(first + 1, n), self.start.len() as u32);
            self.start.push(first);
        }
        self.start.push(n);
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.is_computed = false;
    }

    /// Inverts the blocks if they are small, and if that needs fewer solutions than `wanted`.
    pub(super) fn invert(&mut self, a: &dyn LinearSolve, wanted: usize) {
        let small = self.start.windows(2).all(|ends| ends[1] - ends[0] <= LARGEST);
        if !small || 4 * a.dim() > wanted {
            return;
        }
        self.at.clear();
        self.value.clear();
        for ends in self.start.windows(2) {
            let (first, length) = (self.value.len(), ends[1] - ends[0]);
            self.at.push(first);
            self.value.resize(first + length * length, 0.0);
            for k in 0..length {
                let column = &mut self.value[first + k * length..first + (k + 1) * length];
                column[k] = 1.0;
                a.solve_block(ends[0]..ends[1], column);
            }
        }
        self.is_computed = true;
    }

    pub(crate) fn is_computed(&self) -> bool {
        self.is_computed
    }

    pub(crate) fn blocks(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Degrees of freedom.
    pub(crate) fn dim(&self) -> usize {
        self.block_of.len()
    }

    /// The block of a degree of freedom.
    #[inline]
    pub(crate) fn block_of(&self, dof: usize) -> usize {
        self.block_of[dof] as usize
    }

    /// The degrees of freedom of a block.
    #[inline]
    pub(crate) fn range(&self, block: usize) -> Range<usize> {
        self.start[block]..self.start[block + 1]
    }

    /// Column `dof` of A⁻¹ within its block.
    #[inline]
    pub(crate) fn column(&self, dof: usize) -> &[f64] {
        let block = self.block_of(dof);
        let (first, length) = (self.start[block], self.start[block + 1] - self.start[block]);
        &self.value[self.at[block] + (dof - first) * length..][..length]
    }
}
