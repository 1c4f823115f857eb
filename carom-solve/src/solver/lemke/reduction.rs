//! From a mixed LCP to the LCP that is left when the free unknowns are eliminated.
//!
//! Gaussian elimination with complete pivoting among the free rows and unknowns. A row that is left over and depends on
//! nothing is redundant, or contradicts the others; one that still depends on something is kept as two inequalities,
//! with its unknown as the difference of two nonnegative ones.

use super::super::lcp_form::LcpForm;
use super::super::product::add_multiple;
use super::super::ranked::RankedLu;

/// Relative size below which a pivot among the free unknowns counts as zero.
pub(super) const REDUNDANT: f64 = 1e-13;

/// Relative size of a pivot below which rows that are left over depend on each other.
const DEPENDENT: f64 = 1e-10;

/// The reduced LCP and the way back.
#[derive(Debug, Default)]
pub(super) struct Reduction {
    work: Vec<f64>,                  // (N × (N + 1)) M, q under elimination
    rows: Vec<usize>,                // free rows that were eliminated
    columns: Vec<usize>,             // free unknowns that were eliminated
    done_row: Vec<bool>,             // (N)
    done_column: Vec<bool>,          // (N)
    pairs: Vec<(usize, usize, f64)>, // row, unknown and sign of each pair that is left
    matrix: Vec<f64>,                // (n × n) of what is left
    q: Vec<f64>,                     // (n)
    contradiction: f64,              // largest q of a row that depends on nothing
    left_rows: Vec<usize>,           // (f) free rows that are left over
    left_columns: Vec<usize>,        // (f) free unknowns that are left over
    gram: RankedLu,                  // (f × f)
    turn: Vec<f64>,                  // (f × f) T
    turned: Vec<f64>,                // (f × (N + 1)) T times the rows
}

impl Reduction {
    /// Eliminates the free unknowns of `form`.
    pub(super) fn reduce(&mut self, form: &LcpForm) {
        self.rows.clear();
        self.columns.clear();
        self.pairs.clear();
        self.contradiction = 0.0;
        let n = form.size();
        self.pairs.extend((0..n).filter(|&k| !form.is_free(k)).map(|k| (k, k, 1.0)));
        if self.pairs.len() < n {
            self.eliminate_all(form);
            self.keep_dependent(form);
            self.gather(form);
        }
    }

    /// Matrix and q of the LCP that is left: those of the form itself where nothing is free.
    pub(super) fn lcp<'a>(&'a self, form: &'a LcpForm) -> (&'a [f64], &'a [f64]) {
        if form.has_free() { (&self.matrix, &self.q) } else { (form.matrix(), form.q()) }
    }

    /// Rows and unknowns that were eliminated.
    pub(super) fn eliminated(&self) -> (&[usize], &[usize]) {
        (&self.rows, &self.columns)
    }

    /// Row and unknown of the form for each pair that is left.
    pub(super) fn pairs(&self) -> &[(usize, usize, f64)] {
        &self.pairs
    }

    /// Scaled amount by which equations contradict each other.
    pub(super) fn contradiction(&self) -> f64 {
        self.contradiction
    }

    fn eliminate_all(&mut self, form: &LcpForm) {
        let n = form.size();
        for list in [&mut self.done_row, &mut self.done_column] {
            list.clear();
            list.resize(n, false);
        }
        let width = n + 1;
        self.work.resize(n * width, 0.0);
        for (row, (entries, q)) in self.work.chunks_mut(width).zip(form.matrix().chunks(n).zip(form.q())) {
            row[..n].copy_from_slice(entries);
            row[n] = *q;
        }
        let mut threshold = 0.0;
        while let Some((row, column, size)) = self.largest_free(form) {
            if self.rows.is_empty() {
                threshold = REDUNDANT * size.max(1.0);
            }
            if size <= threshold {
                break;
            }
            self.done_row[row] = true;
            self.done_column[column] = true;
            self.rows.push(row);
            self.columns.push(column);
            self.eliminate(row, column, width);
        }
    }

    fn eliminate(&mut self, row: usize, column: usize, width: usize) {
        let (above, rest) = self.work.split_at_mut(row * width);
        let (own, below) = rest.split_at_mut(width);
        let inverse = 1.0 / own[column];
        let others = above.chunks_mut(width).chain(below.chunks_mut(width));
        let wanted = self.done_row.iter().enumerate().filter(|(i, _)| *i != row).map(|(_, done)| !done);
        for (other, _) in others.zip(wanted).filter(|(_, wanted)| *wanted) {
            let factor = other[column] * inverse;
            if factor != 0.0 {
                add_multiple(-factor, own, other);
                other[column] = 0.0;
            }
        }
    }

    fn largest_free(&self, form: &LcpForm) -> Option<(usize, usize, f64)> {
        let n = form.size();
        let mut best: Option<(usize, usize, f64)> = None;
        for i in (0..n).filter(|&i| form.is_free(i) && !self.done_row[i]) {
            for j in (0..n).filter(|&j| form.is_free(j) && !self.done_column[j]) {
                let size = self.work[i * (n + 1) + j].abs();
                if best.is_none_or(|b| size > b.2) {
                    best = Some((i, j, size));
                }
            }
        }
        best
    }

    /// Pairs for the free rows that could not be eliminated but depend on something.
    fn keep_dependent(&mut self, form: &LcpForm) {
        let n = form.size();
        let width = n + 1;
        self.left_rows.clear();
        self.left_columns.clear();
        let rows = (0..n).filter(|&i| form.is_free(i) && !self.done_row[i]);
        let columns = (0..n).filter(|&j| form.is_free(j) && !self.done_column[j]);
        for (row, column) in rows.zip(columns) {
            let mut complementary = (0..n).filter(|&k| !form.is_free(k));
            let depends = complementary.any(|k| {
                let (right, below) = (self.work[row * width + k], self.work[k * width + column]);
                right.abs().max(below.abs()) > REDUNDANT * 10.0
            });
            if depends {
                self.left_rows.push(row);
                self.left_columns.push(column);
            } else {
                self.contradiction = self.contradiction.max(self.work[row * width + n].abs());
            }
        }
        if !self.left_rows.is_empty() {
            self.make_skew(form);
        }
        for (&row, &column) in self.left_rows.iter().zip(&self.left_columns) {
            self.pairs.push((row, column, 1.0));
            self.pairs.push((row, column, -1.0));
        }
    }

    /// Equations may be combined at will. With `A` the rows and `C` the columns that are left over, `T A = −Cᵀ` in the
    /// sense of least squares, `T = −Cᵀ Aᵀ (A Aᵀ)⁻¹`, makes them as skew as they can be: a monotone problem stays
    /// monotone.
    fn make_skew(&mut self, form: &LcpForm) {
        let (n, f) = (form.size(), self.left_rows.len());
        let width = n + 1;
        let complementary = || (0..n).filter(|&k| !form.is_free(k));
        let (work, rows, columns) = (&self.work, &self.left_rows, &self.left_columns);
        let gram = self.gram.matrix_mut(f);
        for (x, &a) in rows.iter().enumerate() {
            for (y, &b) in rows.iter().enumerate() {
                gram[x * f + y] = complementary().map(|k| work[a * width + k] * work[b * width + k]).sum();
            }
        }
        if self.gram.factor(DEPENDENT) < f {
            return;
        }
        // row x of T, since A Aᵀ is symmetric
        self.turn.clear();
        for &column in columns {
            let start = self.turn.len();
            self.turn.extend(
                rows.iter()
                    .map(|&a| -complementary().map(|k| work[k * width + column] * work[a * width + k]).sum::<f64>()),
            );
            self.gram.solve(&mut self.turn[start..]);
        }
        self.gram.matrix_mut(f).copy_from_slice(&self.turn);
        if self.gram.factor(DEPENDENT) < f {
            return;
        }
        self.turned.clear();
        self.turned.resize(f * width, 0.0);
        for (out, t) in self.turned.chunks_mut(width).zip(self.turn.chunks(f)) {
            for (&row, &t) in rows.iter().zip(t) {
                add_multiple(t, &work[row * width..(row + 1) * width], out);
            }
        }
        for (&row, new) in self.left_rows.iter().zip(self.turned.chunks(width)) {
            self.work[row * width..(row + 1) * width].copy_from_slice(new);
        }
    }

    /// The LCP that is left; what rounding has left of zeros would be taken for loads and pivots.
    fn gather(&mut self, form: &LcpForm) {
        let n = form.size();
        let largest = |x: &[f64]| x.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        let zero = 10.0 * REDUNDANT * largest(form.matrix());
        let zero_q = 10.0 * REDUNDANT * largest(form.q());
        let clean = |x: f64, zero: f64| if x.abs() <= zero { 0.0 } else { x };
        self.matrix.clear();
        self.q.clear();
        for &(row, _, sign) in &self.pairs {
            let source = &self.work[row * (n + 1)..(row + 1) * (n + 1)];
            self.q.push(clean(sign * source[n], zero_q));
            self.matrix.extend(self.pairs.iter().map(|&(_, column, s)| clean(sign * s * source[column], zero)));
        }
    }
}
