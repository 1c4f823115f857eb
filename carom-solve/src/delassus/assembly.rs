//! How `W = D + C A⁻¹ B` is put together, at the cost of its entries.
//!
//! A law sees another one only through the blocks of `A` that both touch, or through `D`. So for each law: solve within
//! the blocks that its rows of `B` touch, then multiply by the rows of `C` of the laws known to touch the same blocks.
//! A law is a block column of its own: where there are many, threads share them, and the numbers are the same.

use super::{BlockInverse, Delassus, LawRow};
use crate::inertia::mean_diagonal;
use crate::law::by_rows;
use crate::{Law, LinearSolve, Parts, Rows};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Up to this many laws the plain double loop is faster than any index.
const FEW: usize = 4;

/// Laws from which on threads share the columns.
pub(super) const MANY: usize = 4000;

/// Threads at most: each of them has buffers as long as the list of laws.
const MOST: usize = 8;

/// Buffers of the assembly; they keep their capacity.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    local: Vec<f64>, // responses of few laws
    pub(super) index: Index,
    pub(super) part: Vec<Columns>,          // one, or one for each thread
    pub(super) position: Vec<(u32, usize)>, // (blocks) part and first value in its `raw`, in the order of rows
    pub(super) seen: Seen,
}

/// Who touches what.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    law_start: Vec<usize>,       // (blocks of A + 1) first entry in `law_in`
    law_in: Vec<u32>,            // laws that read each block of A
    pub(super) law_of: Vec<u32>, // (m) law of each row
    feed_start: Vec<usize>,      // (m + 1) first entry of each column of D in `feed`
    feed: Vec<(u32, f64)>,       // columns of D: row, value
}

/// The laws that see the present one.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) last: Vec<u32>,    // (laws) last law that saw it, plus one
    pub(super) place: Vec<usize>, // (laws) first value of its block, if seen
    pub(super) found: Vec<u32>,
}

/// Some columns of blocks, one law after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    pub(super) by_column: Vec<(u32, u32, usize)>, // (blocks) law of rows, law of columns, position in `raw`
    pub(super) raw: Vec<f64>,                     // values in the order of assembly
    response: Vec<f64>, // (n × size of a law) A⁻¹ B of one law, the entries of a dof side by side; zero between laws
    local: Vec<f64>,    // response within one block of A
    block_seen: Vec<u32>, // (blocks of A) last law that touched it, plus one
    touched: Vec<u32>,  // blocks of A that the law touches
    seen: Seen,
}

/// What all columns read.
#[derive(Clone, Copy)]
struct Given<'a> {
    output: &'a Rows,
    input: &'a Rows,
    has_feedthrough: bool,
    offset: &'a [usize],
    inverse: &'a BlockInverse,
    index: &'a Index,
}

/// Counts assemblies; an assembly is told from others by its number, which nothing is computed from.
static STAMP: AtomicU64 = AtomicU64::new(1);

/// The number of another assembly.
pub(super) fn next_stamp() -> u64 {
    STAMP.fetch_add(1, Ordering::Relaxed)
}

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
        self.stamp = next_stamp();
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
        let Workspace { index, part, seen, .. } = &mut self.work;
        index.index_laws(offset, laws);
        index.index_blocks(p, offset, &mut self.inverse, &mut seen.last);
        index.index_feedthrough(p.feedthrough, offset[laws]);
        let (output, input, has_feedthrough) = (p.output, p.input, p.feedthrough.is_some());
        let given = Given { output, input, has_feedthrough, offset, inverse: &self.inverse, index };
        if laws >= MANY && self.inverse.is_computed() {
            part.resize_with(rayon::current_num_threads().min(MOST), Columns::default);
            let each = laws.div_ceil(part.len());
            let range = |k: usize| (k * each).min(laws)..((k + 1) * each).min(laws);
            part.par_iter_mut().enumerate().for_each(|(k, part)| part.fill(given, range(k), None));
        } else {
            part.resize_with(1, Columns::default);
            part[0].fill(given, 0..laws, Some(p.lhs));
        }
        self.sort_into_rows(offset);
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

impl Seen {
    /// No law has seen another.
    pub(super) fn reset(&mut self, laws: usize) {
        self.last.clear();
        self.last.resize(laws, 0);
        self.place.clear();
        self.place.resize(laws, 0);
    }
}

impl Index {
    pub(super) fn index_laws(&mut self, offset: &[usize], laws: usize) {
        self.law_of.clear();
        for i in 0..laws {
            self.law_of.resize(offset[i + 1], i as u32);
        }
    }

    /// The blocks of `A`, and the laws whose rows of `C` read each of them; `seen` has the last law for each.
    fn index_blocks(&mut self, p: &Parts<'_>, offset: &[usize], inverse: &mut BlockInverse, seen: &mut Vec<u32>) {
        inverse.index(p.lhs);
        self.law_start.clear();
        self.law_start.resize(inverse.blocks() + 1, 0);
        self.law_in.clear();
        // count, then fill from the back
        for filling in [false, true] {
            seen.clear();
            seen.resize(inverse.blocks(), 0);
            for i in (0..p.laws.len()).rev() {
                for &(dof, _) in (offset[i]..offset[i + 1]).flat_map(|r| p.output.row(r)) {
                    let block = inverse.block_of(dof);
                    if seen[block] == i as u32 + 1 {
                        continue;
                    }
                    seen[block] = i as u32 + 1;
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
}

impl Columns {
    /// The columns of some laws; `a` is needed where its inverse is not known.
    fn fill(&mut self, given: Given<'_>, laws: Range<usize>, a: Option<&dyn LinearSolve>) {
        let Given { offset, inverse, .. } = given;
        self.seen.reset(offset.len() - 1);
        self.block_seen.clear();
        self.block_seen.resize(inverse.blocks(), 0);
        self.by_column.clear();
        self.raw.clear();
        self.response.clear();
        let widest = laws.clone().map(|j| offset[j + 1] - offset[j]).max().unwrap_or(0);
        self.response.resize(widest * inverse.dim(), 0.0);
        for j in laws {
            by_rows!(offset[j + 1] - offset[j], N => self.column_of::<N>(given, j, a));
        }
    }

    /// Blocks (i, j) of one law j of N rows.
    fn column_of<const N: usize>(&mut self, given: Given<'_>, j: usize, a: Option<&dyn LinearSolve>) {
        let Given { offset, inverse, index, .. } = given;
        let mark = j as u32 + 1;
        self.respond::<N>(given, offset[j], mark, a);
        self.seen.found.clear();
        self.seen.last[j] = mark;
        self.multiply::<N>(given, j);
        for t in 0..self.touched.len() {
            let block = self.touched[t] as usize;
            for k in index.law_start[block]..index.law_start[block + 1] {
                let i = index.law_in[k] as usize;
                if self.seen.last[i] != mark {
                    self.seen.last[i] = mark;
                    self.multiply::<N>(given, i);
                }
            }
        }
        if given.has_feedthrough {
            self.add_feedthrough::<N>(given, j);
        }
        // leave the response zero for the next law
        for &block in &self.touched {
            let dofs = inverse.range(block as usize);
            self.response[dofs.start * N..dofs.end * N].fill(0.0);
        }
        for &i in &self.seen.found {
            let (at, height) = (self.seen.place[i as usize], offset[i as usize + 1] - offset[i as usize]);
            if i as usize == j || self.raw[at..at + height * N].iter().any(|x| *x != 0.0) {
                self.by_column.push((i, j as u32, at));
            }
        }
    }

    /// The response to the N columns of `B` from `first`, within the blocks of `A` that they touch.
    fn respond<const N: usize>(&mut self, given: Given<'_>, first: usize, mark: u32, a: Option<&dyn LinearSolve>) {
        let inverse = given.inverse;
        self.touched.clear();
        for k in 0..N {
            for &(dof, value) in given.input.row(first + k) {
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
        let Some(a) = a.filter(|_| !inverse.is_computed()) else { return };
        for &block in &self.touched {
            let dofs = inverse.range(block as usize);
            let response = &mut self.response[dofs.start * N..dofs.end * N];
            for k in 0..N {
                self.local.clear();
                self.local.extend(response.iter().skip(k).step_by(N));
                a.solve_block(dofs.clone(), &mut self.local);
                for (x, &local) in response.iter_mut().skip(k).step_by(N).zip(&self.local) {
                    *x = local;
                }
            }
        }
    }

    /// The rows of `C` of law i times the response.
    #[inline]
    fn multiply<const N: usize>(&mut self, given: Given<'_>, i: usize) {
        self.seen.place[i] = self.raw.len();
        self.seen.found.push(i as u32);
        let (response, _) = self.response.as_chunks::<N>();
        for r in given.offset[i]..given.offset[i + 1] {
            let mut sum = [0.0; N];
            for &(dof, a) in given.output.row(r) {
                for (sum, x) in sum.iter_mut().zip(&response[dof]) {
                    *sum += a * x;
                }
            }
            self.raw.extend_from_slice(&sum);
        }
    }

    fn add_feedthrough<const N: usize>(&mut self, given: Given<'_>, j: usize) {
        let Given { offset, index, .. } = given;
        for k in 0..N {
            let column = offset[j] + k;
            for &(row, value) in &index.feed[index.feed_start[column]..index.feed_start[column + 1]] {
                let i = index.law_of[row as usize] as usize;
                if self.seen.last[i] != j as u32 + 1 {
                    self.seen.last[i] = j as u32 + 1;
                    self.seen.place[i] = self.raw.len();
                    self.seen.found.push(i as u32);
                    self.raw.resize(self.raw.len() + (offset[i + 1] - offset[i]) * N, 0.0);
                }
                self.raw[self.seen.place[i] + (row as usize - offset[i]) * N + k] += value;
            }
        }
    }
}

/// Entry (r, c) of W, with `x` the response to a unit reaction c.
#[inline]
fn entry(p: &Parts<'_>, r: usize, c: usize, x: &[f64]) -> f64 {
    let w = p.output.dot(r, x);
    let Some(d) = p.feedthrough else { return w };
    w + d.row(r).iter().filter(|entry| entry.0 == c).map(|entry| entry.1).sum::<f64>()
}
