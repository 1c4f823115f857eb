//! The inverse `G = K⁻¹` of the kernel of a basis, under exchanges of its rows and unknowns.
//!
//! `K` holds the entries of the rows whose `w` is zero and of the unknowns in the basis, the artificial one among them.
//! Its inverse is the part of the dictionary that has to be stored: everything else follows from it and the data. Row c
//! of `G` belongs to unknown c of the basis, column r to row r of `K`. Each exchange is one update of rank one.

use super::super::product::{add_four, add_multiple, dot};

/// `G`, row-major with a stride that grows by doubling.
#[derive(Debug, Default)]
pub(super) struct Kernel {
    size: usize,
    stride: usize,
    value: Vec<f64>,
    pivot: Vec<f64>, // (size) the row of an exchange
}

impl Kernel {
    /// The kernel of one entry.
    pub(super) fn start(&mut self, entry: f64) {
        self.size = 1;
        self.stride = self.stride.max(15);
        self.value.resize((self.stride * self.stride).max(self.value.len()), 0.0);
        self.value[0] = 1.0 / entry;
    }

    pub(super) fn entry(&self, unknown: usize, row: usize) -> f64 {
        self.value[unknown * self.stride + row]
    }

    fn row(&self, unknown: usize) -> &[f64] {
        &self.value[unknown * self.stride..unknown * self.stride + self.size]
    }

    /// `out ← factor · G x`.
    pub(super) fn mul(&self, factor: f64, x: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend((0..self.size).map(|c| factor * dot(self.row(c), x)));
    }

    /// `out ← column r of G`.
    pub(super) fn column(&self, r: usize, out: &mut Vec<f64>) {
        out.clear();
        out.extend((0..self.size).map(|c| self.entry(c, r)));
    }

    /// `out ← v G`.
    pub(super) fn transpose_mul(&self, v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.size, 0.0);
        let mut c = 0;
        while c + 4 <= self.size {
            let rows = [self.row(c), self.row(c + 1), self.row(c + 2), self.row(c + 3)];
            add_four([v[c], v[c + 1], v[c + 2], v[c + 3]], rows, out);
            c += 4;
        }
        for c in c..self.size {
            add_multiple(v[c], self.row(c), out);
        }
    }

    /// Entry r of `v G`.
    pub(super) fn transpose_entry(&self, v: &[f64], r: usize) -> f64 {
        v.iter().enumerate().map(|(c, v)| v * self.entry(c, r)).sum()
    }

    /// A row and an unknown join. `d = −G u` with the column u of the unknown, `y = v G` with the entries v of the row,
    /// and `pivot` is what the row gains per unit of the unknown.
    pub(super) fn grow(&mut self, d: &[f64], y: &[f64], pivot: f64) {
        let k = self.size;
        self.widen(k + 1);
        let (inverse, stride) = (1.0 / pivot, self.stride);
        let mut rows = self.value.chunks_mut(stride);
        for (d, row) in d.iter().zip(rows.by_ref()) {
            let factor = d * inverse;
            add_multiple(-factor, y, &mut row[..k]);
            row[k] = factor;
        }
        if let Some(row) = rows.next() {
            for (x, y) in row.iter_mut().zip(y) {
                *x = -y * inverse;
            }
            row[k] = inverse;
        }
        self.size = k + 1;
    }

    /// Another unknown takes the place `c`; `d = −G u` with its column u.
    pub(super) fn replace_unknown(&mut self, c: usize, d: &[f64]) {
        self.divide_row(c, -1.0 / d[c]);
        for (r, (row, d)) in self.value.chunks_mut(self.stride).zip(d).enumerate() {
            if r != c {
                add_multiple(*d, &self.pivot, row);
            }
        }
        let at = c * self.stride;
        self.value[at..at + self.size].copy_from_slice(&self.pivot);
    }

    /// Another row takes the place `r`; `y = v G` with its entries v.
    pub(super) fn replace_row(&mut self, r: usize, y: &[f64]) {
        let inverse = 1.0 / y[r];
        for row in self.value.chunks_mut(self.stride).take(self.size) {
            let factor = row[r] * inverse;
            add_multiple(-factor, y, row);
            row[r] = factor;
        }
    }

    /// Unknown c and row r leave; the last ones take their places.
    pub(super) fn shrink(&mut self, c: usize, r: usize) {
        self.divide_row(c, -1.0 / self.entry(c, r));
        let last = self.size - 1;
        for (i, row) in self.value.chunks_mut(self.stride).enumerate().take(self.size) {
            if i != c {
                add_multiple(row[r], &self.pivot, row);
                row[r] = row[last];
            }
        }
        let stride = self.stride;
        self.value.copy_within(last * stride..last * stride + last, c * stride);
        self.size = last;
    }

    /// `pivot ← factor · row c`.
    fn divide_row(&mut self, c: usize, factor: f64) {
        self.pivot.clear();
        let row = &self.value[c * self.stride..c * self.stride + self.size];
        self.pivot.extend(row.iter().map(|x| x * factor));
    }

    /// Room for `size` rows and columns.
    fn widen(&mut self, size: usize) {
        if size <= self.stride {
            return;
        }
        let (old, new) = (self.stride, 2 * self.stride + 1);
        self.value.resize(new * new, 0.0);
        for c in (1..self.size).rev() {
            self.value.copy_within(c * old..c * old + self.size, c * new);
        }
        self.stride = new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `K` beside its inverse, both under the same exchanges.
    struct Pair {
        rows: Vec<usize>,
        columns: Vec<usize>,
        kernel: Kernel,
    }

    const N: usize = 40;

    /// A matrix whose square parts on a near-diagonal are well conditioned.
    fn m(i: usize, j: usize) -> f64 {
        let noise = ((i * 37 + j * 101 + i * j * 7) % 97) as f64 / 97.0 - 0.5;
        if i == j { 8.0 } else { noise }
    }

    impl Pair {
        fn column(&self, j: usize) -> Vec<f64> {
            self.rows.iter().map(|&i| m(i, j)).collect()
        }

        fn entries(&self, i: usize) -> Vec<f64> {
            self.columns.iter().map(|&j| m(i, j)).collect()
        }

        fn grow(&mut self, i: usize, j: usize) {
            let (mut d, mut y) = (Vec::new(), Vec::new());
            self.kernel.mul(-1.0, &self.column(j), &mut d);
            let v = self.entries(i);
            self.kernel.transpose_mul(&v, &mut y);
            self.kernel.grow(&d, &y, m(i, j) + dot(&v, &d));
            self.rows.push(i);
            self.columns.push(j);
        }

        /// Largest entry of `G K − 1`.
        fn error(&self) -> f64 {
            let mut worst: f64 = 0.0;
            for c in 0..self.columns.len() {
                for (e, &j) in self.columns.iter().enumerate() {
                    let product = dot(self.kernel.row(c), &self.column(j));
                    worst = worst.max((product - if c == e { 1.0 } else { 0.0 }).abs());
                }
            }
            worst
        }
    }

    #[test]
    fn stays_the_inverse_under_every_exchange() {
        let mut pair = Pair { rows: vec![0], columns: vec![0], kernel: Kernel::default() };
        pair.kernel.start(m(0, 0));
        for k in 1..N - 2 {
            pair.grow(k, k);
            assert!(pair.error() < 1e-12, "{k}");
        }
        // unknown 7 is replaced by 38, then row 7 by 38
        let (mut d, mut y) = (Vec::new(), Vec::new());
        pair.kernel.mul(-1.0, &pair.column(38), &mut d);
        pair.kernel.replace_unknown(7, &d);
        pair.columns[7] = 38;
        assert!(pair.error() < 1e-9);
        let v = pair.entries(38);
        pair.kernel.transpose_mul(&v, &mut y);
        assert!((pair.kernel.transpose_entry(&v, 5) - y[5]).abs() < 1e-13);
        pair.kernel.replace_row(7, &y);
        pair.rows[7] = 38;
        assert!(pair.error() < 1e-9);
        // shrink from the middle and from the end, to nothing but one entry
        while pair.rows.len() > 1 {
            let place = pair.rows.len() / 2;
            pair.kernel.shrink(place, place);
            pair.rows.swap_remove(place);
            pair.columns.swap_remove(place);
            assert!(pair.error() < 1e-9);
            let mut column = Vec::new();
            pair.kernel.column(0, &mut column);
            assert_eq!(column.len(), pair.rows.len());
        }
    }
}
