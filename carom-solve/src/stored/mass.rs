//! A sparse matrix that falls apart into independent blocks, each factored on its own.
//!
//! Masses of many bodies are block-diagonal: the connected components of the pattern are found, the unknowns are
//! renumbered so that each component is contiguous, and each component gets a dense LU factorisation.

use super::StoredError;
use crate::{DenseLu, LinearSolve, Rows};
use std::ops::Range;

/// Largest coupled component that is factored densely.
const LARGEST: usize = 6000;

/// One factored component.
#[derive(Clone, Debug)]
enum Block {
    One(f64),
    Many(DenseLu),
}

/// The factor of a block-diagonal matrix.
#[derive(Clone, Debug, Default)]
pub struct BlockFactor {
    start: Vec<usize>, // (blocks + 1) first unknown of each block
    block: Vec<Block>,
}

impl BlockFactor {
    /// Factors a square matrix whose components are contiguous and start at `start`.
    pub(super) fn of(a: &Rows, start: Vec<usize>) -> Result<BlockFactor, StoredError> {
        let mut block = Vec::with_capacity(start.len().saturating_sub(1));
        for range in start.windows(2) {
            let (first, n) = (range[0], range[1] - range[0]);
            if n > LARGEST {
                return Err(StoredError::CoupledMass { dofs: n, limit: LARGEST });
            }
            if n == 1 {
                let value = a.row(first).iter().filter(|entry| entry.0 == first).map(|entry| entry.1).sum::<f64>();
                if value == 0.0 || !value.is_finite() {
                    return Err(StoredError::SingularMass { dof: first });
                }
                block.push(Block::One(value));
                continue;
            }
            let mut lu = DenseLu::default();
            let full = lu.matrix_mut(n);
            full.fill(0.0);
            for i in 0..n {
                // stored zeros couple nothing
                for &(j, value) in a.row(first + i).iter().filter(|entry| entry.1 != 0.0) {
                    full[i * n + j - first] += value;
                }
            }
            lu.factor().map_err(|singular| StoredError::SingularMass { dof: first + singular.column })?;
            block.push(Block::Many(lu));
        }
        Ok(BlockFactor { start, block })
    }

    /// First unknown of each independent block, and the number of unknowns at the end.
    pub fn starts(&self) -> &[usize] {
        &self.start
    }

    /// The block of an unknown.
    #[inline]
    fn block_of(&self, dof: usize) -> usize {
        // all of them are single unknowns
        if self.block.len() == self.dim() {
            return dof;
        }
        self.start.partition_point(|&start| start <= dof) - 1
    }
}

impl Block {
    #[inline]
    fn solve(&self, x: &mut [f64]) {
        match self {
            Block::One(value) => x[0] /= value,
            // nothing in, nothing out
            Block::Many(lu) if x.iter().any(|&x| x != 0.0) => lu.solve(x),
            Block::Many(_) => {}
        }
    }
}

impl LinearSolve for BlockFactor {
    fn dim(&self) -> usize {
        self.start.last().copied().unwrap_or(0)
    }

    fn solve(&self, rhs: &mut [f64]) {
        for (range, block) in self.start.windows(2).zip(&self.block) {
            block.solve(&mut rhs[range[0]..range[1]]);
        }
    }

    fn block(&self, dof: usize) -> Range<usize> {
        let k = self.block_of(dof);
        self.start[k]..self.start[k + 1]
    }

    fn solve_block(&self, block: Range<usize>, rhs: &mut [f64]) {
        self.block[self.block_of(block.start)].solve(rhs);
    }
}

/// An order of the unknowns in which every connected component of the pattern of `a` is contiguous, and the starts of
/// the components in that order. Components come in the order of their first unknown.
pub(super) fn components(a: &Rows) -> (Vec<usize>, Vec<usize>) {
    let n = a.len();
    let is_diagonal = a.iter().enumerate().all(|(i, row)| row.iter().all(|&(j, value)| i == j || value == 0.0));
    if is_diagonal {
        return ((0..n).collect(), (0..n + 1).collect());
    }
    let mut parent: Vec<usize> = (0..n).collect();
    for i in 0..n {
        for &(j, value) in a.row(i) {
            if value != 0.0 {
                let (x, y) = (root(&mut parent, i), root(&mut parent, j));
                // the smaller number leads, so that leaders are first unknowns
                parent[x.max(y)] = x.min(y);
            }
        }
    }
    let leader: Vec<usize> = (0..n).map(|i| root(&mut parent, i)).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| leader[i]);
    let mut start: Vec<usize> = (0..n).filter(|&k| k == 0 || leader[order[k]] != leader[order[k - 1]]).collect();
    start.push(n);
    (order, start)
}

/// The leader of the component of `i`; paths are halved on the way.
fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_components_are_found_and_solved() {
        // {0, 2}, {1}, {3, 4} with a one-sided coupling
        let a = Rows::dense(
            5,
            &[
                2.0, 0.0, 1.0, 0.0, 0.0, //
                0.0, 4.0, 0.0, 0.0, 0.0, //
                1.0, 0.0, 3.0, 0.0, 0.0, //
                0.0, 0.0, 0.0, 1.0, 5.0, //
                0.0, 0.0, 0.0, 0.0, 2.0,
            ],
        );
        let (order, start) = components(&a);
        assert_eq!((order, start), (vec![0, 2, 1, 3, 4], vec![0, 2, 3, 5]));
        let sorted = Rows::dense(
            5,
            &[
                2.0, 1.0, 0.0, 0.0, 0.0, //
                1.0, 3.0, 0.0, 0.0, 0.0, //
                0.0, 0.0, 4.0, 0.0, 0.0, //
                0.0, 0.0, 0.0, 1.0, 5.0, //
                0.0, 0.0, 0.0, 0.0, 2.0,
            ],
        );
        let factor = BlockFactor::of(&sorted, vec![0, 2, 3, 5]).unwrap();
        let x = [1.0, -2.0, 3.0, 0.5, 4.0];
        let mut y = [0.0; 5];
        sorted.mul(&x, &mut y);
        factor.solve(&mut y);
        assert!(x.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-14), "{y:?}");
        assert_eq!([0, 1, 2, 3, 4].map(|dof| factor.block(dof)), [0..2, 0..2, 2..3, 3..5, 3..5]);
        let mut y = [1.0 * 2.0 - 2.0, 1.0 - 6.0];
        factor.solve_block(0..2, &mut y);
        assert!((y[0] - 1.0).abs() < 1e-14 && (y[1] + 2.0).abs() < 1e-14);
        let singular = Rows::dense(2, &[1.0, 1.0, 1.0, 1.0]);
        assert!(matches!(BlockFactor::of(&singular, vec![0, 2]), Err(StoredError::SingularMass { dof: 1 })));
    }
}
