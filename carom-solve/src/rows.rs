//! Sparse rows (compressed row storage) whose buffers keep their capacity from step to step.

/// A sparse matrix given row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    columns: usize,
    start: Vec<usize>,
    column: Vec<usize>,
    value: Vec<f64>,
}

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
        self.start.clear();
        self.column.clear();
        self.value.clear();
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.start.len()
    }

    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Appends a row given by all its entries; zeros are kept, so that the pattern does not depend on the values.
    #[inline]
    pub fn push_dense(&mut self, row: &[f64]) {
        debug_assert_eq!(row.len(), self.columns);
        self.start.push(self.column.len());
        self.column.extend(0..row.len());
        self.value.extend_from_slice(row);
    }

    /// Appends a row given by its entries `(column, value)`, in rising order of columns.
    #[inline]
    pub fn push_sparse(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        self.start.push(self.column.len());
        for (j, x) in entries {
            debug_assert!(j < self.columns);
            self.column.push(j);
            self.value.push(x);
        }
    }

    /// Appends row `i` of another matrix with the same columns.
    #[inline]
    pub fn push_row_of(&mut self, other: &Rows, i: usize) {
        let (column, value) = other.row(i);
        self.start.push(self.column.len());
        self.column.extend_from_slice(column);
        self.value.extend_from_slice(value);
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[usize], &[f64]) {
        let end = self.start.get(i + 1).copied().unwrap_or(self.column.len());
        (&self.column[self.start[i]..end], &self.value[self.start[i]..end])
    }

    /// Row `i` times `x`.
    #[inline]
    pub fn dot(&self, i: usize, x: &[f64]) -> f64 {
        let (column, value) = self.row(i);
        column.iter().zip(value).map(|(&j, v)| v * x[j]).sum()
    }

    /// `y ← y + a · (row i)ᵀ`.
    #[inline]
    pub fn add_row(&self, i: usize, a: f64, y: &mut [f64]) {
        let (column, value) = self.row(i);
        for (&j, v) in column.iter().zip(value) {
            y[j] += a * v;
        }
    }

    /// `out ← (these rows) x`.
    pub fn mul(&self, x: &[f64], out: &mut [f64]) {
        for (i, o) in out.iter_mut().enumerate().take(self.len()) {
            *o = self.dot(i, x);
        }
    }

    /// `y ← y + (these rows)ᵀ x`.
    pub fn add_transpose_mul(&self, x: &[f64], y: &mut [f64]) {
        for (i, &a) in x.iter().enumerate().take(self.len()) {
            if a != 0.0 {
                self.add_row(i, a, y);
            }
        }
    }

    /// Whether every stored value is a finite number.
    pub fn is_finite(&self) -> bool {
        self.value.iter().all(|x| x.is_finite())
    }
}
