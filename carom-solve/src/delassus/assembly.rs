//! How `W = D + C A⁻¹ B` is put together, at the cost of its entries.
//!
//! A law sees another one only through the blocks of `A` that both touch, or through `D`. So for each law: solve within the
//! blocks that its rows of `B` touch, then multiply by the rows of `C` of the laws known to touch the same blocks.

use super::{BlockInverse, Delassus};
use crate::{Parts, Rows};
use std::sync::atomic::{AtomicU64, Ordering};

/// Up to this many laws the plain double loop is faster than any index.
const FEW: usize = 4;

/// Buffers of the assembly; they keep their capacity.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    by_column: Vec<(u32, u32, usize)>, // (blocks) law of rows, law of columns, position in `raw`
    raw: Vec<f64>,                     // values in the order of assembly
    response: Vec<f64>, // (n × size of a law) A⁻¹ B of one law, the entries of a dof side by side; zero between laws
    local: Vec<f64>,    // response within one block of A
    block_seen: Vec<u32>, // (blocks of A) last law that touched it, plus one
    touched: Vec<u32>,  // blocks of A that the law touches
    law_start: Vec<usize>, // (blocks of A + 1) first entry in `law_in`
    law_in: Vec<u32>,   // laws that read each block of A
    law_of: Vec<u32>,   // (m) law of each row
    law_seen: Vec<u32>, // (laws) last law that saw it, plus one
    place: Vec<usize>,  // (laws) position of its block in `raw`, if seen
    found: Vec<u32>,    // laws that see the present one
    feed_start: Vec<usize>, // (m + 1) first entry of each column of D in `feed`
    feed: Vec<(u32, f64)>, // columns of D: row, value
}

/// Counts assemblies; an assembly is told from others by its number, which nothing is computed from.
static STAMP: AtomicU64 = AtomicU64::new(1);

impl Delassus {
    pub(crate) fn assemble(&mut self, p: &Parts<'_>, offset: &[usize]) {
        self.offset.clear();
        self.offset.extend_from_slice(offset);
        self.inverse.clear();
        match (p.laws.len(), p.lhs.dim()) {
            (1, _) => return self.assemble_alone(p),
            (_, 0) => self.assemble_direct(p),
            (..=FEW, _) => self.assemble_few(p),
            _ => self.assemble_many(p),
        }
        self.stamp = STAMP.fetch_add(1, Ordering::Relaxed);
        self.summarise();
    }

    /// One law alone has one block: nothing to sort. Steps with one contact are the most frequent ones of all.
    fn assemble_alone(&mut self, p: &Parts<'_>) {
        let size = self.offset[1];
        // the pattern of one block is always the same: keep it
        if self.diagonal.len() != 1 {
            for list in [&mut self.start, &mut self.at, &mut self.diagonal] {
                list.clear();
                list.push(0);
            }
            self.column.clear();
            self.column.push(0);
            self.start.push(1);
            self.scale.clear();
            self.scale.push(1.0);
        }
        self.uniform = size;
        self.value.clear();
        self.value.resize(size * size, 0.0);
        let x = &mut self.work.local;
        for k in 0..size {
            x.clear();
            x.resize(p.lhs.dim(), 0.0);
            p.input.add_row(k, 1.0, x);
            p.lhs.solve(x);
            for r in 0..size {
                self.value[r * size + k] = entry(p, r, k, x);
            }
        }
        self.finite = self.value.iter().all(|x| x.is_finite());
        self.scale[0] = mean_diagonal(&self.value, size);
    }

    /// `W = D`: the problem is given in reduced form.
    fn assemble_direct(&mut self, p: &Parts<'_>) {
        let laws = p.laws.len();
        self.work.index_laws(&self.offset, laws);
        self.start.clear();
        self.column.clear();
        self.at.clear();
        self.diagonal.clear();
        self.value.clear();
        for i in 0..laws {
            let rows = self.offset[i]..self.offset[i + 1];
            let height = rows.len();
            self.start.push(self.column.len());
            let work = &mut self.work;
            work.found.clear();
            work.law_seen[i] = i as u32 + 1;
            work.found.push(i as u32);
            let entries = |r: usize| p.feedthrough.map_or(&[][..], |d| d.row(r)).iter().filter(|x| x.1 != 0.0);
            for &(c, _) in rows.clone().flat_map(entries) {
                let j = work.law_of[c];
                if work.law_seen[j as usize] != i as u32 + 1 {
                    work.law_seen[j as usize] = i as u32 + 1;
                    work.found.push(j);
                }
            }
            work.found.sort_unstable();
            for &j in &work.found {
                if j as usize == i {
                    self.diagonal.push(self.column.len());
                }
                let at = self.value.len();
                work.place[j as usize] = at;
                self.column.push(j);
                self.at.push(at);
                self.value.resize(at + height * (self.offset[j as usize + 1] - self.offset[j as usize]), 0.0);
            }
            for (k, r) in rows.enumerate() {
                for &(c, value) in entries(r) {
                    let j = work.law_of[c] as usize;
                    let width = self.offset[j + 1] - self.offset[j];
                    self.value[work.place[j] + k * width + c - self.offset[j]] += value;
                }
            }
        }
        self.start.push(self.column.len());
    }

    /// Every pair of laws, one after the other.
    fn assemble_few(&mut self, p: &Parts<'_>) {
        let (n, laws) = (p.lhs.dim(), p.laws.len());
        let work = &mut self.work;
        work.by_column.clear();
        work.raw.clear();
        for j in 0..laws {
            let columns = self.offset[j]..self.offset[j + 1];
            let width = columns.len();
            let x = &mut work.local;
            x.clear();
            x.resize(n * width, 0.0);
            for (x, c) in x.chunks_mut(n).zip(columns.clone()) {
                p.input.add_row(c, 1.0, x);
                p.lhs.solve(x);
            }
            for i in 0..laws {
                let position = work.raw.len();
                let mut any = i == j;
                for r in self.offset[i]..self.offset[i + 1] {
                    for k in 0..width {
                        let w = entry(p, r, columns.start + k, &x[k * n..(k + 1) * n]);
                        any |= w != 0.0;
                        work.raw.push(w);
                    }
                }
                if any {
                    work.by_column.push((i as u32, j as u32, position));
                } else {
                    work.raw.truncate(position);
                }
            }
        }
        self.sort_into_rows(laws);
    }

    /// By the blocks of `A` that laws share.
    fn assemble_many(&mut self, p: &Parts<'_>) {
        let laws = p.laws.len();
        let work = &mut self.work;
        work.index_laws(&self.offset, laws);
        work.index_blocks(p, &self.offset, &mut self.inverse);
        work.index_feedthrough(p.feedthrough, self.offset[laws]);
        work.by_column.clear();
        work.raw.clear();
        work.response.clear();
        work.response.resize(3 * p.lhs.dim(), 0.0);
        for j in 0..laws {
            match self.offset[j + 1] - self.offset[j] {
                1 => work.column_of::<1>(p, &self.offset, j, &self.inverse),
                2 => work.column_of::<2>(p, &self.offset, j, &self.inverse),
                _ => work.column_of::<3>(p, &self.offset, j, &self.inverse),
            }
        }
        self.sort_into_rows(laws);
    }

    /// From column order to row order (a stable counting sort).
    fn sort_into_rows(&mut self, laws: usize) {
        let Workspace { by_column, raw, .. } = &self.work;
        self.start.clear();
        self.start.resize(laws + 1, 0);
        for &(i, ..) in by_column {
            self.start[i as usize + 1] += 1;
        }
        for i in 0..laws {
            self.start[i + 1] += self.start[i];
        }
        let blocks = by_column.len();
        self.column.resize(blocks, 0);
        self.at.resize(blocks, 0);
        self.diagonal.resize(laws, 0);
        // fill each row from its start; `diagonal` serves as the cursor until the end
        self.diagonal.copy_from_slice(&self.start[..laws]);
        for &(i, j, position) in by_column {
            let cursor = &mut self.diagonal[i as usize];
            self.column[*cursor] = j;
            self.at[*cursor] = position;
            *cursor += 1;
        }
        self.value.clear();
        for i in 0..laws {
            let height = self.offset[i + 1] - self.offset[i];
            for k in self.start[i]..self.start[i + 1] {
                let j = self.column[k] as usize;
                let length = height * (self.offset[j + 1] - self.offset[j]);
                let from = self.at[k];
                self.at[k] = self.value.len();
                self.value.extend_from_slice(&raw[from..from + length]);
                if j == i {
                    self.diagonal[i] = k;
                }
            }
        }
    }

    /// What solvers and certificates ask again and again.
    #[inline]
    fn summarise(&mut self) {
        let laws = self.diagonal.len();
        let size = |i: usize| self.offset[i + 1] - self.offset[i];
        self.uniform = if laws > 0 && (1..laws).all(|i| size(i) == size(0)) { size(0) } else { 0 };
        self.finite = self.value.iter().all(|x| x.is_finite());
        self.scale.clear();
        for i in 0..laws {
            let n = size(i);
            let block = &self.value[self.at[self.diagonal[i]]..][..n * n];
            self.scale.push(mean_diagonal(block, n));
        }
    }
}

impl Workspace {
    fn index_laws(&mut self, offset: &[usize], laws: usize) {
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
