//! How `W = D + C A⁻¹ B` is put together, at the cost of its entries.
//!
//! A law sees another one only through the blocks of `A` that both touch, or through `D`. So for each law: solve within
//! the blocks that its rows of `B` touch, then multiply by the rows of `C` of the laws known to touch the same blocks.

use super::{BlockInverse, Delassus, LawRow};
use crate::law::by_rows;
use crate::{Law, Parts, Rows};
use std::sync::atomic::{AtomicU64, Ordering};

/// Up to this many laws the plain double loop is faster than any index.
const FEW: usize = 4;

/// Buffers of the assembly; they keep their capacity.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    by_column: Vec<(u32, u32, usize)>, // (blocks) law of rows, law of columns, position in `raw`
    raw: Vec<f64>,                     // values in the order of assembly
    position: Vec<usize>,              // (blocks) first value in `raw`, in the order of rows
    response: Vec<f64>, // (n × size of a law) A⁻¹ B of one law, the entries of a dof side by side; zero between laws
    local: Vec<f64>,    // response within one block of A
    block_seen: Vec<u32>, // (blocks of A) last law that touched it, plus one
    touched: Vec<u32>,  // blocks of A that the law touches
    law_start: Vec<usize>, // (blocks of A + 1) first entry in `law_in`
    law_in: Vec<u32>,   // laws that read each block of A
    pub(super) law_of: Vec<u32>, // (m) law of each row
    pub(super) law_seen: Vec<u32>, // (laws) last law that saw it, plus one
    pub(super) place: Vec<usize>, // (laws) position of its block in `raw`, if seen
    pub(super) found: Vec<u32>, // laws that see the present one
    feed_start: Vec<usize>, // (m + 1) first entry of each column of D in `feed`
    feed: Vec<(u32, f64)>, // columns of D: row, value
}

/// Counts assemblies; an assembly is told from others by its number, which nothing is computed from.
static STAMP: AtomicU64 = AtomicU64::new(1);

impl Delassus {
    pub(crate) fn assemble(&mut self, p: &Parts<'_>, offset: &[usize]) {
        self.inverse.clear();
        self.at.clear();
        self.law.clear();
        if p.laws.len() == 1 {
            return match offset[1] {
                ..=3 => self.assemble_alone::<9>(p, offset[1]),
                size => self.assemble_alone::<{ Law::MOST_ROWS * Law::MOST_ROWS }>(p, size),
            };
        }
        let size = |i: usize| offset[i + 1] - offset[i];
        let laws = p.laws.len();
        self.uniform = if laws > 0 && (1..laws).all(|i| size(i) == size(0)) { size(0) } else { 0 };
        self.law.extend(offset.iter().map(|&row| LawRow { row, ..LawRow::default() }));
        match (laws, p.lhs.dim()) {
            (_, 0) => self.assemble_direct(p, offset),
            (..=FEW, _) => self.assemble_few(p, offset),
            _ => self.assemble_many(p, offset),
        }
        self.stamp = STAMP.fetch_add(1, Ordering::Relaxed);
        self.summarise();
    }

    /// One law alone has one block: nothing to sort. Steps with one contact are the most frequent ones of all.
    fn assemble_alone<const VALUES: usize>(&mut self, p: &Parts<'_>, size: usize) {
        let mut block = [0.0; VALUES];
        let n = p.lhs.dim();
        if let (0, Some(d)) = (n, p.feedthrough) {
            // in reduced form the entries of D are those of W
            for (values, row) in block.chunks_exact_mut(size).zip(d.iter()) {
                row.iter().for_each(|&(c, value)| values[c] += value);
            }
        } else {
            let x = &mut self.work.local;
            for k in 0..size {
                x.clear();
                x.resize(n, 0.0);
                p.input.add_row(k, 1.0, x);
                p.lhs.solve(x);
                for r in 0..size {
                    block[r * size + k] = entry(p, r, k, x);
                }
            }
        }
        let block = &block[..size * size];
        self.uniform = size;
        self.finite = block.iter().all(|x| x.is_finite());
        let first = LawRow { row: 0, block: 0, diagonal: 0, scale: mean_diagonal(block, size) };
        self.law.extend_from_slice(&[first, LawRow { row: size, block: 1, ..LawRow::default() }]);
        self.column.clear();
        self.column.push(0);
        self.value.clear();
        self.value.extend_from_slice(block);
    }

    /// Every pair of laws, one after the other.
    fn assemble_few(&mut self, p: &Parts<'_>, offset: &[usize]) {
        let (n, laws) = (p.lhs.dim(), p.laws.len());
        let m = offset[laws];
        let response = &mut self.work.local;
        response.clear();
        response.resize(n * m, 0.0);
        for (c, x) in response.chunks_exact_mut(n).enumerate() {
            p.input.add_row(c, 1.0, x);
            p.lhs.solve(x);
        }
        self.column.clear();
        self.value.clear();
        self.value.reserve(m * m);
        for i in 0..laws {
            self.law[i].block = self.column.len();
            for j in 0..laws {
                let at = self.value.len();
                for r in offset[i]..offset[i + 1] {
                    let columns = response[offset[j] * n..offset[j + 1] * n].chunks_exact(n);
                    self.value.extend(columns.zip(offset[j]..).map(|(x, c)| entry(p, r, c, x)));
                }
                if i == j {
                    self.law[i].diagonal = self.column.len();
                } else if self.value[at..].iter().all(|w| *w == 0.0) {
                    self.value.truncate(at);
                    continue;
                }
                self.column.push(j as u32);
                if self.uniform == 0 {
                    self.at.push(at);
                }
            }
        }
        self.law[laws].block = self.column.len();
    }

    /// By the blocks of `A` that laws share.
    fn assemble_many(&mut self, p: &Parts<'_>, offset: &[usize]) {
        let laws = p.laws.len();
        let work = &mut self.work;
        work.index_laws(offset, laws);
        work.index_blocks(p, offset, &mut self.inverse);
        work.index_feedthrough(p.feedthrough, offset[laws]);
        work.by_column.clear();
        work.raw.clear();
        work.response.clear();
        let widest = p.laws.iter().map(Law::size).max().unwrap_or(0);
        work.response.resize(widest * p.lhs.dim(), 0.0);
        for j in 0..laws {
            by_rows!(offset[j + 1] - offset[j], N => work.column_of::<N>(p, offset, j, &self.inverse));
        }
        self.sort_into_rows(offset);
    }

    /// From column order to row order (a stable counting sort).
    fn sort_into_rows(&mut self, offset: &[usize]) {
        let Workspace { by_column, raw, position, .. } = &mut self.work;
        for &(i, ..) in by_column.iter() {
            self.law[i as usize + 1].block += 1;
        }
        for i in 1..offset.len() {
            self.law[i].block += self.law[i - 1].block;
        }
        let blocks = by_column.len();
        self.column.resize(blocks, 0);
        position.resize(blocks, 0);
        // fill each row from its start; `diagonal` serves as the cursor until the end
        for law in &mut self.law {
            law.diagonal = law.block;
        }
        for &(i, j, from) in by_column.iter() {
            let cursor = &mut self.law[i as usize].diagonal;
            self.column[*cursor] = j;
            position[*cursor] = from;
            *cursor += 1;
        }
        self.value.clear();
        for i in 0..offset.len() - 1 {
            let height = offset[i + 1] - offset[i];
            for k in self.law[i].block..self.law[i + 1].block {
                let j = self.column[k] as usize;
                if self.uniform == 0 {
                    self.at.push(self.value.len());
                }
                let from = position[k];
                self.value.extend_from_slice(&raw[from..from + height * (offset[j + 1] - offset[j])]);
                if j == i {
                    self.law[i].diagonal = k;
                }
            }
        }
    }

    /// What solvers and certificates ask again and again.
    #[inline]
    fn summarise(&mut self) {
        self.finite = self.value.iter().all(|x| x.is_finite());
        for i in 0..self.laws() {
            self.law[i].scale = mean_diagonal(self.diagonal(i), self.height(i));
        }
    }
}

impl Workspace {
    pub(super) fn index_laws(&mut self, offset: &[usize], laws: usize) {
        self.law_of.clear();
        for i in 0..laws {
            self.law_of.resize(offset[i + 1], i as u32);
        }
        self.law_seen.clear();
        self.law_seen.resize(laws, 0);
        self.place.clear();
        self.place.resize(laws, 0);
    }

    /// The blocks of `A`, and the laws whose rows of `C` read each of them.
    fn index_blocks(&mut self, p: &Parts<'_>, offset: &[usize], inverse: &mut BlockInverse) {
        let laws = p.laws.len();
        inverse.index(p.lhs);
        let blocks = inverse.blocks();
        self.block_seen.clear();
        self.block_seen.resize(blocks, 0);
        self.law_start.clear();
        self.law_start.resize(blocks + 1, 0);
        self.law_in.clear();
        // count, then fill from the back
        for filling in [false, true] {
            self.block_seen.fill(0);
            for i in (0..laws).rev() {
                for &(dof, _) in (offset[i]..offset[i + 1]).flat_map(|r| p.output.row(r)) {
                    let block = inverse.block_of(dof);
                    if self.block_seen[block] == i as u32 + 1 {
                        continue;
                    }
                    self.block_seen[block] = i as u32 + 1;
                    if filling {
                        self.law_start[block] -= 1;
                        self.law_in[self.law_start[block]] = i as u32;
                    } else {
                        self.law_start[block] += 1;
                    }
                }
            }
            if !filling {
                let mut sum = 0;
                for start in &mut self.law_start {
                    sum += *start;
                    *start = sum;
                }
                self.law_in.resize(sum, 0);
            }
        }
        self.block_seen.fill(0);
        inverse.invert(p.lhs, self.law_in.len());
    }

    /// `D` by columns.
    fn index_feedthrough(&mut self, d: Option<&Rows>, m: usize) {
        self.feed.clear();
        let Some(d) = d else { return };
        self.feed_start.clear();
        self.feed_start.resize(m + 1, 0);
        for &(c, _) in d.iter().flatten() {
            self.feed_start[c] += 1;
        }
        let mut sum = 0;
        for start in &mut self.feed_start {
            sum += *start;
            *start = sum;
        }
        self.feed.resize(sum, (0, 0.0));
        for r in (0..d.len()).rev() {
            for &(c, value) in d.row(r) {
                self.feed_start[c] -= 1;
                self.feed[self.feed_start[c]] = (r as u32, value);
            }
        }
    }

    /// Blocks (i, j) of one law j of N rows.
    fn column_of<const N: usize>(&mut self, p: &Parts<'_>, offset: &[usize], j: usize, inverse: &BlockInverse) {
        let mark = j as u32 + 1;
        self.respond::<N>(p, offset[j], mark, inverse);
        self.found.clear();
        self.law_seen[j] = mark;
        self.multiply::<N>(p, offset, j);
        for t in 0..self.touched.len() {
            let block = self.touched[t] as usize;
            for k in self.law_start[block]..self.law_start[block + 1] {
                let i = self.law_in[k] as usize;
                if self.law_seen[i] != mark {
                    self.law_seen[i] = mark;
                    self.multiply::<N>(p, offset, i);
                }
            }
        }
        if p.feedthrough.is_some() {
            self.add_feedthrough::<N>(offset, j);
        }
        // leave the response zero for the next law
        for &block in &self.touched {
            let dofs = inverse.range(block as usize);
            self.response[dofs.start * N..dofs.end * N].fill(0.0);
        }
        for &i in &self.found {
            let (at, height) = (self.place[i as usize], offset[i as usize + 1] - offset[i as usize]);
            if i as usize == j || self.raw[at..at + height * N].iter().any(|x| *x != 0.0) {
                self.by_column.push((i, j as u32, at));
            }
        }
    }

    /// The response to the N columns of `B` from `first`, within the blocks of `A` that they touch.
    fn respond<const N: usize>(&mut self, p: &Parts<'_>, first: usize, mark: u32, inverse: &BlockInverse) {
        self.touched.clear();
        for k in 0..N {
            for &(dof, value) in p.input.row(first + k) {
                let block = inverse.block_of(dof);
                if self.block_seen[block] != mark {
                    self.block_seen[block] = mark;
                    self.touched.push(block as u32);
                }
                if inverse.is_computed() {
                    let start = inverse.range(block).start;
                    for (x, column) in self.response[start * N + k..].iter_mut().step_by(N).zip(inverse.column(dof)) {
                        *x += value * column;
                    }
                } else {
                    self.response[dof * N + k] += value;
                }
            }
        }
        if inverse.is_computed() {
            return;
        }
        for &block in &self.touched {
            let dofs = inverse.range(block as usize);
            let response = &mut self.response[dofs.start * N..dofs.end * N];
            for k in 0..N {
                self.local.clear();
                self.local.extend(response.iter().skip(k).step_by(N));
                p.lhs.solve_block(dofs.clone(), &mut self.local);
                for (x, &local) in response.iter_mut().skip(k).step_by(N).zip(&self.local) {
                    *x = local;
                }
            }
        }
    }

    /// The rows of `C` of law i times the response.
    #[inline]
    fn multiply<const N: usize>(&mut self, p: &Parts<'_>, offset: &[usize], i: usize) {
        self.place[i] = self.raw.len();
        self.found.push(i as u32);
        let (response, _) = self.response.as_chunks::<N>();
        for r in offset[i]..offset[i + 1] {
            let mut sum = [0.0; N];
            for &(dof, a) in p.output.row(r) {
                for (sum, x) in sum.iter_mut().zip(&response[dof]) {
                    *sum += a * x;
                }
            }
            self.raw.extend_from_slice(&sum);
        }
    }

    fn add_feedthrough<const N: usize>(&mut self, offset: &[usize], j: usize) {
        for k in 0..N {
            let column = offset[j] + k;
            for t in self.feed_start[column]..self.feed_start[column + 1] {
                let (row, value) = self.feed[t];
                let i = self.law_of[row as usize] as usize;
                if self.law_seen[i] != j as u32 + 1 {
                    self.law_seen[i] = j as u32 + 1;
                    self.place[i] = self.raw.len();
                    self.found.push(i as u32);
                    self.raw.resize(self.raw.len() + (offset[i + 1] - offset[i]) * N, 0.0);
                }
                self.raw[self.place[i] + (row as usize - offset[i]) * N + k] += value;
            }
        }
    }
}

/// Mean of the diagonal of a block of n rows; one where the law sees no inertia at all.
#[inline]
fn mean_diagonal(block: &[f64], n: usize) -> f64 {
    let mean = match *block {
        [w] => w,
        _ => (0..n).map(|k| block[k * n + k]).sum::<f64>() / n as f64,
    };
    if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}

/// Entry (r, c) of W, with `x` the response to a unit reaction c.
#[inline]
fn entry(p: &Parts<'_>, r: usize, c: usize, x: &[f64]) -> f64 {
    let w = p.output.dot(r, x);
    let Some(d) = p.feedthrough else { return w };
    w + d.row(r).iter().filter(|entry| entry.0 == c).map(|entry| entry.1).sum::<f64>()
}
