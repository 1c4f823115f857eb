//! Sweeps through the velocities that laws share, instead of through their blocks of `W`.
//!
//! ```text
//!     v = A⁻¹ B λ,    frozenᵢ = bᵢ + Cᵢ v − Wᵢᵢ λᵢ,    v ← v + (A⁻¹ B)ᵢ Δλᵢ                  (1)
//! ```
//!
//! A contact between two bodies of six degrees of freedom has 2·36 numbers here, whatever the number of its neighbours;
//! its row of `W` has 9 numbers per neighbour. So each visit reads less, which is what counts once the problem is
//! larger than the caches. The rounding of many updates of `v` is removed now and then by computing it anew.
//!
//! The degrees of freedom of a law are a few runs of consecutive numbers; for each run its part of `Cᵢ` and that of
//! `(A⁻¹ B)ᵢᵀ` are stored one after the other, row by row, in the order of the sweep.

use super::shared::Shared;
use crate::law::by_rows;
use crate::{Delassus, OneStepProblem};
use std::ops::Range;

/// Degrees of freedom that are stored as zeros rather than to begin a new run.
const GAP: usize = 2;

/// Sweeps after which the velocities are computed anew.
const REFRESHED: usize = 16;

/// Consecutive degrees of freedom that a law touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    first: u32,
    length: u32,
}

impl Run {
    pub(super) fn range(self) -> Range<usize> {
        let first = self.first as usize;
        first..first + self.length as usize
    }
}

/// The rows of (1).
#[derive(Default)]
pub(super) struct Velocity {
    start: Vec<u32>, // (laws + 1) first run of each law
    run: Vec<Run>,
    at: Vec<usize>,             // (laws) first value of each law
    value: Vec<f64>,            // C and (A⁻¹ B)ᵀ of each run
    pub(super) v: Vec<f64>,     // (n)
    age: usize,                 // sweeps since v was computed
    touched: Vec<Range<usize>>, // degrees of freedom of one law, while the runs are found
}

impl Velocity {
    /// Finds the runs of each law. Tells whether (1) applies and reads fewer numbers than sweeps through `W`.
    pub(super) fn find_runs(&mut self, problem: &OneStepProblem<'_>, w: &Delassus) -> bool {
        self.find_runs_within(w.entries() / 5 * 4, problem, w)
    }

    /// Finds the runs of each law, if they are together at most `limit` numbers.
    pub(super) fn find_runs_within(&mut self, limit: usize, problem: &OneStepProblem<'_>, w: &Delassus) -> bool {
        let parts = problem.parts();
        let feeds = |d: &crate::Rows| d.iter().flatten().any(|entry| entry.1 != 0.0);
        let Some(inverse) = w.inverse().filter(|_| !parts.feedthrough.is_some_and(feeds)) else {
            return false;
        };
        let mut numbers = 0;
        self.run.clear();
        self.start.clear();
        self.start.push(0);
        for i in 0..problem.laws().len() {
            let rows = problem.rows(i);
            self.touched.clear();
            // whole blocks of A first: a degree of freedom in one of them needs no second look
            for &(dof, _) in rows.clone().flat_map(|row| parts.input.row(row)) {
                touch(&mut self.touched, dof, || inverse.range(inverse.block_of(dof)));
            }
            for &(dof, _) in rows.clone().flat_map(|row| parts.output.row(row)) {
                touch(&mut self.touched, dof, || dof..dof + 1);
            }
            join(&mut self.touched);
            for range in &self.touched {
                numbers += 2 * rows.len() * range.len();
                self.run.push(Run { first: range.start as u32, length: range.len() as u32 });
            }
            if numbers > limit {
                return false;
            }
            self.start.push(self.run.len() as u32);
        }
        true
    }

    /// The runs of a law.
    #[inline]
    pub(super) fn runs(&self, law: usize) -> &[Run] {
        &self.run[self.start[law] as usize..self.start[law + 1] as usize]
    }

    /// Computes the rows of (1), stored in this order of laws.
    pub(super) fn load(&mut self, problem: &OneStepProblem<'_>, w: &Delassus, order: impl Iterator<Item = usize>) {
        let parts = problem.parts();
        let Some(inverse) = w.inverse() else { return };
        self.value.clear();
        self.at.clear();
        self.at.resize(problem.laws().len(), 0);
        for i in order {
            let rows = problem.rows(i);
            self.at[i] = self.value.len();
            let numbers: usize = self.runs(i).iter().map(|run| 2 * rows.len() * run.length as usize).sum();
            self.value.resize(self.at[i] + numbers, 0.0);
            for (k, row) in rows.clone().enumerate() {
                for &(dof, value) in parts.output.row(row) {
                    let (first, length) = self.place(i, dof, rows.len());
                    self.value[first + k * length] += value;
                }
                for &(dof, value) in parts.input.row(row) {
                    let start = inverse.range(inverse.block_of(dof)).start;
                    let (first, length) = self.place(i, start, rows.len());
                    let first = first + (rows.len() + k) * length;
                    for (x, column) in self.value[first..].iter_mut().zip(inverse.column(dof)) {
                        *x += value * column;
                    }
                }
            }
        }
        self.v.resize(parts.lhs.dim(), 0.0);
        self.age = REFRESHED;
    }

    /// Where the number of a degree of freedom in the first row of C is, and how far the next row is.
    fn place(&self, law: usize, dof: usize, rows: usize) -> (usize, usize) {
        let mut at = self.at[law];
        for run in self.runs(law) {
            let range = run.range();
            if range.contains(&dof) {
                return (at + dof - range.start, range.len());
            }
            at += 2 * rows * range.len();
        }
        debug_assert!(false, "a degree of freedom outside of the runs of its law");
        (self.at[law], 0)
    }

    /// The reactions are others: v is old.
    pub(super) fn forget(&mut self) {
        self.age = REFRESHED;
    }

    /// Before a sweep: computes v anew where it is old.
    pub(super) fn refresh(&mut self, problem: &OneStepProblem<'_>, lambda: &[f64]) {
        self.age += 1;
        if self.age <= REFRESHED {
            return;
        }
        self.age = 0;
        let mut v = std::mem::take(&mut self.v);
        v.fill(0.0);
        let shared = super::shared::cells(&mut v);
        for (i, law) in problem.laws().iter().enumerate() {
            let first = problem.offsets()[i];
            by_rows!(law.size(), N => self.push::<N, _>(i, std::array::from_fn(|k| lambda[first + k]), shared));
        }
        self.v = v;
    }

    /// Cᵢ v.
    #[inline]
    pub(super) fn pull<const N: usize, S: Shared + ?Sized>(&self, law: usize, v: &S) -> [f64; N] {
        let mut sum = [[0.0; 2]; N];
        let mut at = self.at[law];
        for run in self.runs(law) {
            let (first, length) = (run.first as usize, run.length as usize);
            let rows = &self.value[at..at + N * length];
            match length {
                6 => add_products::<N, 6, S>(rows, first, v, &mut sum),
                3 => add_products::<N, 3, S>(rows, first, v, &mut sum),
                _ => {
                    for d in 0..length {
                        let [x] = v.read(first + d);
                        for k in 0..N {
                            sum[k][0] += rows[k * length + d] * x;
                        }
                    }
                }
            }
            at += 2 * N * length;
        }
        sum.map(|lanes| lanes[0] + lanes[1])
    }

    /// v ← v + (A⁻¹ B)ᵢ Δλ.
    #[inline]
    pub(super) fn push<const N: usize, S: Shared + ?Sized>(&self, law: usize, change: [f64; N], v: &S) {
        let mut at = self.at[law];
        for run in self.runs(law) {
            let (first, length) = (run.first as usize, run.length as usize);
            let rows = &self.value[at + N * length..at + 2 * N * length];
            match length {
                6 => add_multiples::<N, 6, S>(rows, first, change, v),
                3 => add_multiples::<N, 3, S>(rows, first, change, v),
                _ => {
                    for d in 0..length {
                        let [x] = v.read(first + d);
                        let step: f64 = (0..N).map(|k| rows[k * length + d] * change[k]).sum();
                        v.write(first + d, [x + step]);
                    }
                }
            }
            at += 2 * N * length;
        }
    }
}

/// Rows of K numbers times v, in two lanes.
#[inline]
fn add_products<const N: usize, const K: usize, S: Shared + ?Sized>(
    rows: &[f64],
    first: usize,
    v: &S,
    sum: &mut [[f64; 2]; N],
) {
    let x: [f64; K] = v.read(first);
    for (row, sum) in rows.as_chunks::<K>().0.iter().zip(sum) {
        for d in 0..K {
            sum[d % 2] += row[d] * x[d];
        }
    }
}

/// v ← v + the transposed rows of K numbers times the change.
#[inline]
fn add_multiples<const N: usize, const K: usize, S: Shared + ?Sized>(
    rows: &[f64],
    first: usize,
    change: [f64; N],
    v: &S,
) {
    let mut step = [0.0; K];
    for (row, change) in rows.as_chunks::<K>().0.iter().zip(change) {
        for d in 0..K {
            step[d] += row[d] * change;
        }
    }
    let mut x: [f64; K] = v.read(first);
    for d in 0..K {
        x[d] += step[d];
    }
    v.write(first, x);
}

/// Adds the range of a degree of freedom to a short list of ranges, unless it is there.
#[inline]
fn touch(list: &mut Vec<Range<usize>>, dof: usize, range: impl FnOnce() -> Range<usize>) {
    if list.iter().any(|known| known.contains(&dof)) {
        return;
    }
    let range = range();
    match list.iter_mut().find(|known| range.start <= known.end && known.start <= range.end) {
        Some(known) => *known = known.start.min(range.start)..known.end.max(range.end),
        None => list.push(range),
    }
}

/// Sorts ranges and joins those that are near.
fn join(list: &mut Vec<Range<usize>>) {
    list.sort_unstable_by_key(|range| range.start);
    list.dedup_by(|next, kept| {
        let near = next.start <= kept.end + GAP;
        if near {
            kept.end = kept.end.max(next.end);
        }
        near
    });
}
