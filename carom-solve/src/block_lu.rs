//! Sparse LU factorisation of block matrices: one block per pair of laws, or of bodies, that see each other.
//!
//! ```text
//!     P A Pᵀ = L U,   blocks of one width (1, 2, 3 or 6), no pivoting between blocks             (1)
//! ```
//!
//! `P` is a minimum-degree order of the laws and the pattern of `L + U` is symmetric; both are found once per pattern
//! and kept [amestoy1996]. Pivoting takes place inside the diagonal blocks; a pivot that vanishes is replaced by a
//! small one. What this costs in accuracy is paid back by steps of iterative refinement, and where they do not help and
//! the matrix is small, by a dense factorisation with partial pivoting. Values need not be symmetric.

mod kernel;
mod ordering;

use crate::{DenseLu, LinearSolve, SolveError};
pub(crate) use kernel::invert;
use kernel::{Exchanges, WIDEST, back, divide, product, subtract_mul, subtract_product, triangulate};

/// Largest number of scalar rows for which the dense fallback is tried.
const DENSE: usize = 900;

/// Rows up to which a matrix counts as full: there is no order to look for, and contacts that come and go from step to
/// step do not allocate.
const FULL: usize = 16;

/// Largest number of blocks of U: beyond it the memory of a workstation is at stake.
const LIMIT: usize = 10_000_000;

/// Widest blocks whose diagonal is inverted: wider ones are badly conditioned more often, and a triangular one loses
/// nothing.
const INVERTED: usize = 3;

/// Steps of refinement at most.
const REFINEMENTS: usize = 3;

/// Relative residual of a linear system that needs no further refinement.
const REFINED: f64 = 1e-14;

/// Relative residual of a linear system beyond which the answer is no answer.
const BROKEN: f64 = 1e-4;

/// The pattern of a square block matrix in compressed rows, all blocks of one width.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pattern {
    pub width: usize,
    pub start: Vec<usize>, // (rows + 1) first block of each row
    pub column: Vec<u32>,  // (blocks)
}

impl Pattern {
    /// Copies without allocating once there is room.
    fn copy_from(&mut self, other: &Pattern) {
        self.width = other.width;
        self.start.clone_from(&other.start);
        self.column.clone_from(&other.column);
    }

    pub fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// `out ← b − A x` for blocks `value` (row-major each).
    pub fn residual(&self, value: &[f64], x: &[f64], b: &[f64], out: &mut [f64]) {
        match self.width {
            1 => self.subtract::<1, 1>(value, x, b, out),
            2 => self.subtract::<2, 4>(value, x, b, out),
            3 => self.subtract::<3, 9>(value, x, b, out),
            _ => self.subtract::<6, 36>(value, x, b, out),
        }
    }

    /// `out ← out + A x`.
    pub fn add_mul(&self, value: &[f64], x: &[f64], out: &mut [f64]) {
        match self.width {
            1 => self.accumulate::<1, 1>(value, x, out),
            2 => self.accumulate::<2, 4>(value, x, out),
            3 => self.accumulate::<3, 9>(value, x, out),
            _ => self.accumulate::<6, 36>(value, x, out),
        }
    }

    fn accumulate<const B: usize, const N: usize>(&self, value: &[f64], x: &[f64], out: &mut [f64]) {
        let (value, x) = (value.as_chunks::<N>().0, x.as_chunks::<B>().0);
        for (out, range) in out.as_chunks_mut::<B>().0.iter_mut().zip(self.start.windows(2)) {
            for (a, &j) in value[range[0]..range[1]].iter().zip(&self.column[range[0]..range[1]]) {
                let x = &x[j as usize];
                for r in 0..B {
                    for c in 0..B {
                        out[r] += a[r * B + c] * x[c];
                    }
                }
            }
        }
    }

    fn subtract<const B: usize, const N: usize>(&self, value: &[f64], x: &[f64], b: &[f64], out: &mut [f64]) {
        let (value, x) = (value.as_chunks::<N>().0, x.as_chunks::<B>().0);
        let rows = out.as_chunks_mut::<B>().0.iter_mut().zip(b.as_chunks::<B>().0);
        for ((out, b), range) in rows.zip(self.start.windows(2)) {
            let mut sum = *b;
            for (a, &j) in value[range[0]..range[1]].iter().zip(&self.column[range[0]..range[1]]) {
                let x = &x[j as usize];
                for r in 0..B {
                    for c in 0..B {
                        sum[r] -= a[r * B + c] * x[c];
                    }
                }
            }
            *out = sum;
        }
    }
}

/// A factorisation (1) and its workspace.
#[derive(Debug, Default)]
pub(crate) struct BlockLu {
    pattern: Pattern,      // of the matrix
    order: Vec<u32>,       // (rows) law eliminated at each place
    start: Vec<usize>,     // (rows + 1) first block of each row of L + U
    diagonal: Vec<usize>,  // (rows) place of the diagonal block
    column: Vec<u32>,      // (blocks of L + U)
    slot: Vec<usize>,      // (blocks of A) place in L + U
    multiplications: f64,  // of one factorisation with full blocks
    value: Vec<f64>,       // L and U, the diagonal blocks inverted or triangular
    pivot: Vec<Exchanges>, // (rows) exchanges of rows within triangular diagonal blocks
    position: Vec<u32>,    // (rows) place of each column in the current row
    permuted: Vec<f64>,    // (rows × width) right-hand side in the order of elimination
    rest: Vec<f64>,        // (rows × width) residual of the linear system
    kept: Vec<f64>,        // (rows × width) answer before the last refinement
    dense: DenseLu,
    is_dense: bool,
}

impl BlockLu {
    /// Finds the order and the pattern of the factor; nothing to do if the pattern is that of the last call.
    pub fn analyse(&mut self, pattern: &Pattern) -> Result<(), SolveError> {
        if self.pattern == *pattern {
            return Ok(());
        }
        let n = pattern.rows();
        if n <= FULL {
            self.analyse_full(pattern);
            return Ok(());
        }
        self.pattern = Pattern::default();
        let neighbours = symmetric(pattern);
        self.order = ordering::minimum_degree(neighbours.clone());
        let mut place = vec![0u32; n];
        for (k, &i) in self.order.iter().enumerate() {
            place[i as usize] = k as u32;
        }
        let upper = fill(&self.order, &place, &neighbours)?;
        self.pattern.copy_from(pattern);
        self.multiplications = 0.0;
        self.lay_out(&upper);
        self.slot.clear();
        for i in 0..n {
            let row = place[i] as usize;
            let columns = &self.column[self.start[row]..self.start[row + 1]];
            for k in pattern.start[i]..pattern.start[i + 1] {
                let target = place[pattern.column[k] as usize];
                // every block of A has its place in L + U
                let at = columns.binary_search(&target).unwrap_or(0);
                self.slot.push(self.start[row] + at);
            }
        }
        self.size_buffers();
        Ok(())
    }

    /// The factor of a small matrix: all blocks, in the order of the rows.
    fn analyse_full(&mut self, pattern: &Pattern) {
        let n = pattern.rows();
        self.pattern.copy_from(pattern);
        self.order.clear();
        self.order.extend(0..n as u32);
        self.start.clear();
        self.start.extend((0..=n).map(|i| i * n));
        self.diagonal.clear();
        self.diagonal.extend((0..n).map(|i| i * n + i));
        self.column.clear();
        self.column.extend((0..n * n).map(|k| (k % n) as u32));
        self.slot.clear();
        for i in 0..n {
            let columns = &pattern.column[pattern.start[i]..pattern.start[i + 1]];
            self.slot.extend(columns.iter().map(|&j| i * n + j as usize));
        }
        let products = |size: f64| size * (size + 1.0) + 1.0;
        self.multiplications = (0..n).map(|size| products(size as f64)).sum::<f64>() * (pattern.width as f64).powi(3);
        self.value.resize(n * n * pattern.width.pow(2), 0.0);
        self.size_buffers();
    }

    fn size_buffers(&mut self) {
        let n = self.pattern.rows();
        self.position.resize(n, 0);
        self.pivot.resize(n, [0; WIDEST]);
        for buffer in [&mut self.permuted, &mut self.rest, &mut self.kept] {
            buffer.resize(n * self.pattern.width, 0.0);
        }
    }

    /// Rows of L + U from the rows of U: L has the transposed pattern.
    fn lay_out(&mut self, upper: &[Vec<u32>]) {
        let n = upper.len();
        let mut length: Vec<usize> = upper.iter().map(|u| u.len() + 1).collect();
        for u in upper {
            let size = u.len() as f64;
            self.multiplications += size * (size + 1.0) + 1.0;
            for &j in u {
                length[j as usize] += 1;
            }
        }
        self.multiplications *= (self.pattern.width as f64).powi(3);
        self.start.clear();
        self.start.push(0);
        for l in &length {
            self.start.push(self.start[self.start.len() - 1] + l);
        }
        self.column.resize(self.start[n], 0);
        let mut cursor = self.start[..n].to_vec();
        self.diagonal.resize(n, 0);
        for (i, u) in upper.iter().enumerate() {
            // the rows above have filled L of this row in rising order
            self.diagonal[i] = cursor[i];
            self.column[cursor[i]] = i as u32;
            self.column[cursor[i] + 1..self.start[i + 1]].copy_from_slice(u);
            for &j in u {
                self.column[cursor[j as usize]] = i as u32;
                cursor[j as usize] += 1;
            }
        }
        self.value.resize(self.start[n] * self.pattern.width.pow(2), 0.0);
    }

    /// Multiplications of one factorisation if no block vanishes.
    pub fn multiplications(&self) -> f64 {
        self.multiplications
    }

    /// Factors the matrix with these blocks, in the pattern last analysed.
    pub fn factor(&mut self, value: &[f64]) {
        self.is_dense = false;
        match self.pattern.width {
            1 => self.eliminate::<1, 1>(value),
            2 => self.eliminate::<2, 4>(value),
            3 => self.eliminate::<3, 9>(value),
            _ => self.eliminate::<6, 36>(value),
        }
    }

    fn eliminate<const B: usize, const N: usize>(&mut self, matrix: &[f64]) {
        let BlockLu { start, diagonal, column, slot, value, position, pivot, .. } = self;
        value.fill(0.0);
        let value = value.as_chunks_mut::<N>().0;
        for (&slot, a) in slot.iter().zip(matrix.as_chunks::<N>().0) {
            value[slot] = *a;
        }
        for i in 0..diagonal.len() {
            let (done, row) = value.split_at_mut(start[i]);
            let original = row[diagonal[i] - start[i]];
            for (k, &j) in column[start[i]..start[i + 1]].iter().enumerate() {
                position[j as usize] = k as u32;
            }
            for at in 0..diagonal[i] - start[i] {
                if row[at].iter().all(|&x| x == 0.0) {
                    continue;
                }
                let k = column[start[i] + at] as usize;
                let factor = match B {
                    ..=INVERTED => product::<B, N>(&row[at], &done[diagonal[k]]),
                    _ => divide::<B, N>(&row[at], &done[diagonal[k]], &pivot[k]),
                };
                row[at] = factor;
                let range = diagonal[k] + 1..start[k + 1];
                for (u, &j) in done[range.clone()].iter().zip(&column[range]) {
                    subtract_product::<B, N>(&mut row[position[j as usize] as usize], &factor, u);
                }
            }
            let own = &mut row[diagonal[i] - start[i]];
            match B {
                ..=INVERTED => *own = invert::<B, N>(own, &original),
                _ => pivot[i] = triangulate::<B, N>(own, &original),
            }
        }
    }

    /// `x ← A⁻¹ b`, refined. `value` are the blocks that were factored. False if the answer is of no use.
    pub fn solve(&mut self, value: &[f64], b: &[f64], x: &mut [f64]) -> bool {
        if self.is_dense {
            x.copy_from_slice(b);
            self.dense.solve(x);
            return true;
        }
        let size = norm(b);
        x.fill(0.0);
        self.rest.copy_from_slice(b);
        let mut missed = f64::INFINITY;
        for _ in 0..=REFINEMENTS {
            self.kept.copy_from_slice(x);
            self.correct(x);
            self.pattern.residual(value, x, b, &mut self.rest);
            let now = norm(&self.rest);
            if now <= REFINED * size {
                return true;
            }
            if now.is_nan() || now >= missed {
                x.copy_from_slice(&self.kept);
                break;
            }
            let slow = now > 0.5 * missed;
            missed = now;
            if slow {
                break;
            }
        }
        if missed <= BROKEN * size {
            return true;
        }
        self.factor_densely(value) && {
            x.copy_from_slice(b);
            self.dense.solve(x);
            x.iter().all(|x| x.is_finite())
        }
    }

    /// `x ← (L U)⁻¹ b`, without refinement.
    pub fn substitute_once(&mut self, b: &[f64], x: &mut [f64]) {
        self.rest.copy_from_slice(b);
        x.fill(0.0);
        self.correct(x);
    }

    /// `x ← x + (L U)⁻¹ rest`.
    fn correct(&mut self, x: &mut [f64]) {
        match self.pattern.width {
            1 => self.substitute::<1, 1>(x),
            2 => self.substitute::<2, 4>(x),
            3 => self.substitute::<3, 9>(x),
            _ => self.substitute::<6, 36>(x),
        }
    }

    fn substitute<const B: usize, const N: usize>(&mut self, x: &mut [f64]) {
        let BlockLu { start, diagonal, column, value, permuted, rest, order, pivot, .. } = self;
        let (value, y) = (value.as_chunks::<N>().0, permuted.as_chunks_mut::<B>().0);
        let rest = rest.as_chunks::<B>().0;
        for i in 0..order.len() {
            let mut sum = rest[order[i] as usize];
            let range = start[i]..diagonal[i];
            for (a, &j) in value[range.clone()].iter().zip(&column[range]) {
                subtract_mul::<B, N>(&mut sum, a, &y[j as usize]);
            }
            y[i] = sum;
        }
        for i in (0..order.len()).rev() {
            let mut sum = y[i];
            let range = diagonal[i] + 1..start[i + 1];
            for (a, &j) in value[range.clone()].iter().zip(&column[range]) {
                subtract_mul::<B, N>(&mut sum, a, &y[j as usize]);
            }
            y[i] = match B {
                ..=INVERTED => {
                    let mut answer = [0.0; B];
                    subtract_mul::<B, N>(&mut answer, &value[diagonal[i]], &sum);
                    answer.map(|x| -x)
                }
                _ => back::<B, N>(&value[diagonal[i]], &pivot[i], &sum),
            };
        }
        let x = x.as_chunks_mut::<B>().0;
        for (y, &i) in y.iter().zip(&*order) {
            for (x, y) in x[i as usize].iter_mut().zip(y) {
                *x += y;
            }
        }
    }

    #[cold]
    fn factor_densely(&mut self, value: &[f64]) -> bool {
        let (width, p) = (self.pattern.width, &self.pattern);
        let n = p.rows() * width;
        if n > DENSE {
            return false;
        }
        let dense = self.dense.matrix_mut(n);
        dense.fill(0.0);
        for i in 0..p.rows() {
            for k in p.start[i]..p.start[i + 1] {
                let block = &value[k * width * width..(k + 1) * width * width];
                for (r, row) in block.chunks(width).enumerate() {
                    let at = (i * width + r) * n + p.column[k] as usize * width;
                    dense[at..at + width].copy_from_slice(row);
                }
            }
        }
        self.is_dense = self.dense.factor().is_ok();
        self.is_dense
    }
}

/// Neighbours of each row in the pattern of A + Aᵀ.
fn symmetric(pattern: &Pattern) -> Vec<Vec<u32>> {
    let mut neighbours = vec![Vec::new(); pattern.rows()];
    for i in 0..pattern.rows() {
        for &j in &pattern.column[pattern.start[i]..pattern.start[i + 1]] {
            if j as usize != i {
                neighbours[i].push(j);
                neighbours[j as usize].push(i as u32);
            }
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    neighbours
}

/// Columns of U beyond the diagonal, row by row in the order of elimination: the row's own and those of its children in
/// the elimination tree.
fn fill(order: &[u32], place: &[u32], neighbours: &[Vec<u32>]) -> Result<Vec<Vec<u32>>, SolveError> {
    let n = order.len();
    let mut upper: Vec<Vec<u32>> = Vec::with_capacity(n);
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut mark = vec![u32::MAX; n];
    let mut size = 0;
    for k in 0..n {
        let mut row = Vec::new();
        let own = neighbours[order[k] as usize].iter().map(|&j| place[j as usize]);
        let inherited = children[k].iter().flat_map(|&c| upper[c as usize].iter().copied());
        for j in own.chain(inherited) {
            if j as usize > k && mark[j as usize] != k as u32 {
                mark[j as usize] = k as u32;
                row.push(j);
            }
        }
        row.sort_unstable();
        if let Some(&parent) = row.first() {
            children[parent as usize].push(k as u32);
        }
        size += row.len();
        if size > LIMIT {
            return Err(SolveError::TooLarge { what: "blocks of the factor", size, limit: LIMIT });
        }
        upper.push(row);
    }
    Ok(upper)
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests;
