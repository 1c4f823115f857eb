//! Lemke's path in revised form: the kernel of the basis instead of the whole dictionary.
//!
//! With `R` the rows whose `w` is zero, `C` the unknowns in the basis (the artificial `z₀` among them) and `K` the
//! entries of `(M, d)` in `R × C`, the basis reads
//!
//! ```text
//!     K z_C + q_R + M_Rp z_p = w_R,      w_N = q_N + M_NC z_C + M_Np z_p                   (1)
//! ```
//!
//! so the direction of an entering variable costs one product with `K⁻¹` and one with the columns `C` of `M`: `k² + n
//! k` operations for `k` unknowns in the basis, against `n²` for an exchange in the full dictionary. The lexicographic
//! rule asks for rows of `M_NC K⁻¹` among ties alone [cottle1992].

use super::super::product::{add_four, add_multiple, dot};
use super::kernel::Kernel;

/// Relative size of what rounding leaves of a zero after some pivots.
const ROUNDING: f64 = 1e-14;

/// Relative size below which a number of a proof of infeasibility is zero.
const FARKAS: f64 = 1e-12;

/// Columns that are made contiguous together: those of a cache line.
const GROUP: usize = 8;

/// Marks a row that is not in the kernel, and a group that is not there yet.
const OUTSIDE: usize = usize::MAX;

/// `0 ≤ w = M z + q ⊥ z ≥ 0`, with the covering vector `d` of the artificial unknown.
#[derive(Clone, Copy)]
pub(super) struct Lcp<'a> {
    pub matrix: &'a [f64], // (n × n) row-major
    pub q: &'a [f64],
    pub cover: &'a [f64],
}

impl Lcp<'_> {
    fn entry(&self, i: usize, j: usize) -> f64 {
        let n = self.q.len();
        if j == n { self.cover[i] } else { self.matrix[i * n + j] }
    }
}

/// How the pivots ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ending {
    Solved,
    Ray,
    TooMany,
}

/// When to stop, and what counts as zero.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Relative size below which an entry is no pivot, and two ratios are one.
    pub negligible: f64,
    pub max_pivots: usize,
}

/// The variable that grows: `z` or `w` of a pair.
#[derive(Clone, Copy, Debug)]
enum Entering {
    Z(usize),
    W(usize),
}

/// A basic variable: `w` of a row outside of the kernel, or the unknown at a place of it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Basic {
    W(usize),
    Z(usize),
}

/// Path and workspace.
#[derive(Debug, Default)]
pub(super) struct Path {
    negligible: f64,
    largest_q: f64,
    kernel: Kernel,
    rows: Vec<usize>,        // (k) R
    unknowns: Vec<usize>,    // (k) C; n is the artificial one
    place: Vec<usize>,       // (n) of each row in R
    z: Vec<f64>,             // (k) values of the unknowns
    w: Vec<f64>,             // (n) values of w, zero in R
    dz: Vec<f64>,            // (k) change per unit of the entering variable
    dw: Vec<f64>,            // (n)
    columns: Vec<f64>,       // columns of M, those of a group one after the other, as far as they were needed
    group: Vec<usize>,       // first entry of each group there
    border: Vec<f64>,        // (k) entries of a row or a column in the kernel
    row: Vec<f64>,           // (k) their product with the inverse
    ties: Vec<(Basic, f64)>, // basic variables that block first, with their pivots
    ray: Vec<f64>,           // (n) z along the ray at the end, without the artificial unknown
}

impl Path {
    /// Unknowns that are in the basis at the end, and the rows that they make zero.
    pub(super) fn basis(&self) -> (&[usize], &[usize]) {
        (&self.rows, &self.unknowns)
    }

    /// The inverse of the entries of [`basis`](Self::basis).
    pub(super) fn inverse(&self) -> &Kernel {
        &self.kernel
    }

    /// Follows the path from `z = 0`; tells how it ended and after how many pivots.
    pub(super) fn follow(&mut self, lcp: Lcp<'_>, limits: Limits) -> (Ending, usize) {
        let Some(first) = self.start(lcp, limits.negligible) else { return (Ending::Solved, 0) };
        let n = lcp.q.len();
        let mut entering = Entering::Z(first);
        for pivots in 1..=limits.max_pivots {
            self.direct(lcp, entering);
            let Some(leaving) = self.blocking(lcp) else {
                self.note_ray(n, entering);
                return (Ending::Ray, pivots);
            };
            let left = match leaving {
                Basic::W(i) => Entering::Z(i),
                Basic::Z(c) => Entering::W(self.unknowns[c]),
            };
            self.exchange(lcp, entering, leaving);
            match left {
                Entering::W(j) if j == n => return (Ending::Solved, pivots),
                _ => entering = left,
            }
        }
        (Ending::TooMany, limits.max_pivots)
    }

    fn note_ray(&mut self, n: usize, entering: Entering) {
        self.ray.clear();
        self.ray.resize(n + 1, 0.0);
        for (&j, &change) in self.unknowns.iter().zip(&self.dz) {
            self.ray[j] = change;
        }
        if let Entering::Z(p) = entering {
            self.ray[p] = 1.0;
        }
        self.ray.truncate(n);
    }

    /// Whether the ray `y ≥ 0` that ended the path has `Mᵀ y ≤ 0` and `qᵀ y < 0`: then `w = M z + q ≥ 0` has no
    /// solution with `z ≥ 0`, whatever the class of `M`, since `0 ≤ yᵀ w = (Mᵀ y)ᵀ z + qᵀ y < 0` cannot be.
    pub(super) fn ray_proves_infeasibility(&mut self, lcp: Lcp<'_>) -> bool {
        let n = lcp.q.len();
        let largest = self.ray.iter().fold(0.0, |a: f64, y| a.max(y.abs()));
        let zero = FARKAS * largest * lcp.matrix.iter().fold(1.0, |a: f64, m| a.max(m.abs()));
        self.dw.clear();
        self.dw.resize(n, 0.0);
        for (&y, row) in self.ray.iter().zip(lcp.matrix.chunks_exact(n)) {
            if y != 0.0 {
                add_multiple(y, row, &mut self.dw);
            }
        }
        self.ray.iter().all(|&y| y >= -FARKAS * largest)
            && self.dw.iter().all(|&x| x <= zero)
            && dot(lcp.q, &self.ray) < -FARKAS.sqrt() * largest * self.largest_q
    }

    /// The artificial unknown enters and the lexicographically first row leaves, whose `z` is the next to enter.
    fn start(&mut self, lcp: Lcp<'_>, negligible: f64) -> Option<usize> {
        let n = lcp.q.len();
        self.negligible = negligible;
        self.largest_q = lcp.q.iter().fold(0.0, |a: f64, q| a.max(q.abs()));
        self.rows.clear();
        self.unknowns.clear();
        self.z.clear();
        self.place.clear();
        self.place.resize(n, OUTSIDE);
        self.columns.clear();
        self.group.clear();
        self.group.resize(n.div_ceil(GROUP), OUTSIDE);
        self.w.clear();
        self.w.extend_from_slice(lcp.q);
        let (mut first, mut artificial) = (None, 0.0);
        for (i, (q, d)) in lcp.q.iter().zip(lcp.cover).enumerate() {
            let needed = -q / d;
            if needed > artificial || (needed == artificial && first.is_some()) {
                (first, artificial) = (Some(i), needed);
            }
        }
        let first = first?;
        add_multiple(artificial, lcp.cover, &mut self.w);
        self.kernel.start(lcp.cover[first]);
        self.unknowns.push(n);
        self.z.push(artificial);
        self.join(first);
        Some(first)
    }

    fn join(&mut self, row: usize) {
        self.place[row] = self.rows.len();
        self.rows.push(row);
        self.w[row] = 0.0;
    }

    /// Makes the group of column j contiguous: the entries of a row that lie side by side are fetched once.
    fn ensure_column(&mut self, lcp: Lcp<'_>, j: usize) {
        let n = lcp.q.len();
        if self.group[j / GROUP] == OUTSIDE {
            self.group[j / GROUP] = self.columns.len();
            let first = j / GROUP * GROUP;
            for c in first..(first + GROUP).min(n) {
                self.columns.extend(lcp.matrix.chunks_exact(n).map(|row| row[c]));
            }
        }
    }

    /// Changes of all basic variables per unit of the entering one.
    fn direct(&mut self, lcp: Lcp<'_>, entering: Entering) {
        let n = lcp.q.len();
        self.dw.clear();
        match entering {
            Entering::Z(p) => {
                self.ensure_column(lcp, p);
                let column = column_of(&self.columns, &self.group, n, p);
                self.border.clear();
                self.border.extend(self.rows.iter().map(|&i| column[i]));
                self.kernel.mul(-1.0, &self.border, &mut self.dz);
                self.dw.extend_from_slice(column);
            }
            Entering::W(p) => {
                self.kernel.column(self.place[p], &mut self.dz);
                self.dw.resize(n, 0.0);
            }
        }
        let (columns, group, unknowns) = (&self.columns, &self.group, &self.unknowns);
        let column = |c: usize| match unknowns[c] {
            j if j == n => lcp.cover,
            j => column_of(columns, group, n, j),
        };
        let fours = self.dz.len() / 4 * 4;
        for c in (0..fours).step_by(4) {
            let factors = [self.dz[c], self.dz[c + 1], self.dz[c + 2], self.dz[c + 3]];
            add_four(factors, [column(c), column(c + 1), column(c + 2), column(c + 3)], &mut self.dw);
        }
        for c in fours..self.dz.len() {
            add_multiple(self.dz[c], column(c), &mut self.dw);
        }
        for &row in &self.rows {
            self.dw[row] = 0.0;
        }
    }

    /// The basic variable that blocks the entering one, by the lexicographic ratio test; the artificial one goes first
    /// where it may, since that ends the method. `None` is a ray.
    fn blocking(&mut self, lcp: Lcp<'_>) -> Option<Basic> {
        let threshold = -self.negligible * largest(&self.dw).max(largest(&self.dz)).max(1.0);
        // a basic variable below zero is zero up to rounding
        let zero = ROUNDING * self.largest_q;
        let ratio = |x: f64, d: f64| match (d < threshold, x <= zero) {
            (false, _) => f64::INFINITY,
            (true, true) => 0.0,
            (true, false) => x / -d,
        };
        let least = |x: &[f64], d: &[f64]| x.iter().zip(d).fold(f64::INFINITY, |m, (&x, &d)| f64::min(m, ratio(x, d)));
        let smallest = least(&self.w, &self.dw).min(least(&self.z, &self.dz));
        self.ties.clear();
        if smallest == f64::INFINITY {
            return None;
        }
        let limit = smallest + self.negligible * smallest;
        for (i, (&x, &d)) in self.w.iter().zip(&self.dw).enumerate() {
            if ratio(x, d) <= limit {
                self.ties.push((Basic::W(i), -d));
            }
        }
        for (c, (&x, &d)) in self.z.iter().zip(&self.dz).enumerate() {
            if ratio(x, d) <= limit {
                self.ties.push((Basic::Z(c), -d));
            }
        }
        let n = lcp.q.len();
        let artificial = self.ties.iter().find(|tie| matches!(tie.0, Basic::Z(c) if self.unknowns[c] == n));
        if let Some(&(variable, _)) = artificial {
            return Some(variable);
        }
        for j in 0..n {
            if self.ties.len() < 2 {
                break;
            }
            self.keep_smallest(lcp, j);
        }
        self.ties.first().map(|tie| tie.0)
    }

    /// Keeps the ties whose ratio in the power `j` of the perturbation is the smallest.
    fn keep_smallest(&mut self, lcp: Lcp<'_>, j: usize) {
        let mut ties = std::mem::take(&mut self.ties);
        let mut smallest = f64::INFINITY;
        for (variable, pivot) in &ties {
            smallest = smallest.min(self.perturbation(lcp, *variable, j) / pivot);
        }
        let limit = smallest + self.negligible * smallest.abs();
        ties.retain(|(variable, pivot)| self.perturbation(lcp, *variable, j) / pivot <= limit);
        self.ties = ties;
    }

    /// What a basic variable gains per unit of `q_j`.
    fn perturbation(&mut self, lcp: Lcp<'_>, variable: Basic, j: usize) -> f64 {
        let x = match (variable, self.place[j]) {
            (Basic::W(i), OUTSIDE) if i == j => 1.0,
            (_, OUTSIDE) => 0.0,
            (Basic::Z(c), place) => -self.kernel.entry(c, place),
            (Basic::W(i), place) => {
                self.border.clear();
                self.border.extend(self.unknowns.iter().map(|&j| lcp.entry(i, j)));
                -self.kernel.transpose_entry(&self.border, place)
            }
        };
        if x.abs() <= ROUNDING { 0.0 } else { x }
    }

    /// Moves along the direction until the leaving variable is zero, and takes it out of the basis.
    fn exchange(&mut self, lcp: Lcp<'_>, entering: Entering, leaving: Basic) {
        let (value, change) = match leaving {
            Basic::W(i) => (self.w[i], self.dw[i]),
            Basic::Z(c) => (self.z[c], self.dz[c]),
        };
        let length = value.max(0.0) / -change;
        add_multiple(length, &self.dz, &mut self.z);
        add_multiple(length, &self.dw, &mut self.w);
        if let Basic::W(i) = leaving {
            self.border.clear();
            self.border.extend(self.unknowns.iter().map(|&j| lcp.entry(i, j)));
            self.kernel.transpose_mul(&self.border, &mut self.row);
        }
        match (entering, leaving) {
            (Entering::Z(p), Basic::W(i)) => {
                self.kernel.grow(&self.dz, &self.row, change);
                self.unknowns.push(p);
                self.z.push(length);
                self.join(i);
            }
            (Entering::Z(p), Basic::Z(c)) => {
                self.kernel.replace_unknown(c, &self.dz);
                self.unknowns[c] = p;
                self.z[c] = length;
            }
            (Entering::W(p), Basic::W(i)) => {
                let place = std::mem::replace(&mut self.place[p], OUTSIDE);
                self.kernel.replace_row(place, &self.row);
                self.rows[place] = i;
                self.place[i] = place;
                (self.w[p], self.w[i]) = (length, 0.0);
            }
            (Entering::W(p), Basic::Z(c)) => {
                let place = std::mem::replace(&mut self.place[p], OUTSIDE);
                self.kernel.shrink(c, place);
                self.unknowns.swap_remove(c);
                self.z.swap_remove(c);
                self.rows.swap_remove(place);
                if let Some(&moved) = self.rows.get(place) {
                    self.place[moved] = place;
                }
                self.w[p] = length;
            }
        }
    }
}

/// Column j among those that are there.
#[inline]
fn column_of<'a>(columns: &'a [f64], group: &[usize], n: usize, j: usize) -> &'a [f64] {
    let start = group[j / GROUP] + j % GROUP * n;
    &columns[start..start + n]
}

/// Largest size of an entry.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a: f64, x| a.max(x.abs()))
}
