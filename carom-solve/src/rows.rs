//! Sparse rows (compressed row storage) whose buffers keep their capacity from step to step.

/// Columns of a body in space: where they follow each other, sums over them need no index.
pub(crate) const RUN: usize = 6;

/// Whether the columns follow each other; they rise.
#[inline]
pub(crate) fn is_run(part: &[(usize, f64); RUN]) -> bool {
    part[RUN - 1].0 - part[0].0 == RUN - 1
}

/// A sparse matrix given row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    columns: usize,
    end: Vec<usize>, // (rows) end of each row in `entry`
    entry: Vec<(usize, f64)>,
}

crate::persist!(Rows { columns, end, entry });

impl Rows {
    /// No rows yet, over `columns` columns.
    pub fn new(columns: usize) -> Self {
        Rows { columns, ..Rows::default() }
    }

    /// Rows of a full matrix, row-major.
    pub fn dense(columns: usize, values: &[f64]) -> Self {
        let mut rows = Rows::new(columns);
        for row in values.chunks(columns.max(1)) {
            rows.push_dense(row);
        }
        rows
    }

    /// Forgets the rows, keeps the memory.
    #[inline]
    pub fn clear(&mut self, columns: usize) {
        self.columns = columns;
        self.end.clear();
        self.entry.clear();
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.end.is_empty()
    }

    /// Number of stored entries.
    #[inline]
    pub fn entries(&self) -> usize {
        self.entry.len()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Appends a row given by all its entries; zeros are kept, so that the pattern does not depend on the values.
    #[inline]
    pub fn push_dense(&mut self, row: &[f64]) {
        debug_assert_eq!(row.len(), self.columns);
        self.entry.extend(row.iter().copied().enumerate());
        self.end.push(self.entry.len());
    }

    /// Appends a row given by its entries `(column, value)`, in rising order of columns.
    #[inline]
    pub fn push_sparse(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        self.entry.extend(entries);
        self.end.push(self.entry.len());
    }

    /// Adds the first `count` of some entries to the row that comes next, in rising order of columns; `end_row`
    /// appends it. All of them are copied as one piece.
    #[inline]
    pub fn extend_row<const N: usize>(&mut self, entries: &[(usize, f64); N], count: usize) {
        self.entry.extend_from_slice(entries);
        self.entry.truncate(self.entry.len() - N + count.min(N));
    }

    /// Appends the row whose entries have been added.
    #[inline]
    pub fn end_row(&mut self) {
        self.end.push(self.entry.len());
    }

    /// Appends row `i` of another matrix with the same columns.
    #[inline]
    pub fn push_row_of(&mut self, other: &Rows, i: usize) {
        self.entry.extend_from_slice(other.row(i));
        self.end.push(self.entry.len());
    }

    /// Entries `(column, value)` of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[(usize, f64)] {
        let start = if i == 0 { 0 } else { self.end[i - 1] };
        &self.entry[start..self.end[i]]
    }

    /// Entries of row `i`, whose values may be changed; columns stay as they are.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [(usize, f64)] {
        let start = if i == 0 { 0 } else { self.end[i - 1] };
        &mut self.entry[start..self.end[i]]
    }

    /// All rows in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &[(usize, f64)]> {
        let (mut rest, mut done) = (self.entry.as_slice(), 0);
        self.end.iter().map(move |&end| {
            let (row, tail) = rest.split_at(end - done);
            (rest, done) = (tail, end);
            row
        })
    }

    /// Row `i` times `x`.
    #[inline]
    pub fn dot(&self, i: usize, x: &[f64]) -> f64 {
        Rows::product(self.row(i), x)
    }

    /// `y ← y + a · (row i)ᵀ`.
    #[inline]
    pub fn add_row(&self, i: usize, a: f64, y: &mut [f64]) {
        Rows::add(self.row(i), a, y);
    }

    /// `y ← y + a · rowᵀ`.
    #[inline]
    fn add(row: &[(usize, f64)], a: f64, y: &mut [f64]) {
        if row.len() < RUN {
            row.iter().for_each(|&(j, value)| y[j] += a * value);
        } else {
            add_runs(row, a, y);
        }
    }

    /// `out ← (these rows) x`.
    pub fn mul(&self, x: &[f64], out: &mut [f64]) {
        for (o, row) in out.iter_mut().zip(self.iter()) {
            *o = Rows::product(row, x);
        }
    }

    /// `out ← 0 − (these rows) x`, what [`subtract_mul`](Self::subtract_mul) makes of zeros.
    pub fn zero_minus_mul(&self, x: &[f64], out: &mut [f64]) {
        for (o, row) in out.iter_mut().zip(self.iter()) {
            *o = 0.0 - Rows::product(row, x);
        }
    }

    /// `out ← out − (these rows) x`.
    pub fn subtract_mul(&self, x: &[f64], out: &mut [f64]) {
        for (o, row) in out.iter_mut().zip(self.iter()) {
            *o -= Rows::product(row, x);
        }
    }

    /// `y ← y + (these rows)ᵀ x`.
    pub fn add_transpose_mul(&self, x: &[f64], y: &mut [f64]) {
        for (row, &a) in self.iter().zip(x).filter(|(_, a)| **a != 0.0) {
            Rows::add(row, a, y);
        }
    }

    /// Whether every stored value is a finite number.
    pub fn is_finite(&self) -> bool {
        // without an early end: most rows are finite, and this is done in one pass
        self.entry.iter().fold(true, |finite, x| finite & x.1.is_finite())
    }

    /// Entries of one row times `x`.
    #[inline]
    pub fn product(row: &[(usize, f64)], x: &[f64]) -> f64 {
        if row.len() < RUN {
            let mut sum = 0.0;
            row.iter().for_each(|&(j, a)| sum += a * x[j]);
            sum
        } else {
            product_by_runs(row, x)
        }
    }
}

/// `y ← y + a · rowᵀ` for rows of bodies in space. Out of line: what calls it for short rows stays small.
#[inline(never)]
fn add_runs(row: &[(usize, f64)], a: f64, y: &mut [f64]) {
    let (parts, rest) = row.as_chunks::<RUN>();
    for part in parts {
        match y.get_mut(part[0].0..).and_then(|y| y.first_chunk_mut::<RUN>()) {
            Some(y) if is_run(part) => (0..RUN).for_each(|k| y[k] += a * part[k].1),
            _ => part.iter().for_each(|&(j, value)| y[j] += a * value),
        }
    }
    rest.iter().for_each(|&(j, value)| y[j] += a * value);
}

/// Entries of one row of bodies in space times `x`, the same sum as entry by entry.
#[inline(never)]
fn product_by_runs(row: &[(usize, f64)], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    let (parts, rest) = row.as_chunks::<RUN>();
    for part in parts {
        match x.get(part[0].0..).and_then(|x| x.first_chunk::<RUN>()) {
            Some(x) if is_run(part) => (0..RUN).for_each(|k| sum += part[k].1 * x[k]),
            _ => part.iter().for_each(|&(j, a)| sum += a * x[j]),
        }
    }
    rest.iter().for_each(|&(j, a)| sum += a * x[j]);
    sum
}
