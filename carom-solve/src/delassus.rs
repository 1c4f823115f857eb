//! The Delassus matrix `W = D + C A⁻¹ B`, one dense block per pair of laws that see each other.
//!
//! Storage: compressed rows of blocks, each block row-major and contiguous. Buffers keep their capacity.

use crate::Parts;

/// Block-sparse `W`. Laws are the block rows and columns.
#[derive(Clone, Debug, Default)]
pub struct Delassus {
    offset: Vec<usize>,   // (laws + 1) first row of each law
    start: Vec<usize>,    // (laws + 1) first block of each block row
    column: Vec<usize>,   // (blocks) law of the block's columns
    at: Vec<usize>,       // (blocks) first value of the block
    diagonal: Vec<usize>, // (laws) index of the diagonal block
    value: Vec<f64>,
    by_column: Vec<(usize, usize, usize)>, // (blocks) row, column, position in `raw`: the order of assembly
    raw: Vec<f64>,                         // values in the order of assembly
    response: Vec<f64>,                    // (n × size of a law) A⁻¹ B of one law
}

impl Delassus {
    pub(crate) fn assemble(&mut self, p: &Parts<'_>, offset: &[usize]) {
        self.offset.clear();
        self.offset.extend_from_slice(offset);
        if p.laws.len() == 1 {
            return self.assemble_alone(p);
        }
        self.by_column.clear();
        self.raw.clear();
        for j in 0..p.laws.len() {
            self.assemble_column(p, j);
        }
        self.sort_into_rows(p.laws.len());
    }

    /// One law alone has one block: nothing to sort. Steps with one contact are the most frequent ones of all.
    fn assemble_alone(&mut self, p: &Parts<'_>) {
        let size = self.offset[1];
        // the pattern of one block is always the same: keep it
        if self.diagonal.len() != 1 {
            for list in [&mut self.start, &mut self.column, &mut self.at, &mut self.diagonal] {
                list.clear();
                list.push(0);
            }
            self.start.push(1);
        }
        self.value.clear();
        self.value.resize(size * size, 0.0);
        for k in 0..size {
            self.response.clear();
            self.response.resize(p.lhs.dim(), 0.0);
            p.input.add_row(k, 1.0, &mut self.response);
            p.lhs.solve(&mut self.response);
            for r in 0..size {
                self.value[r * size + k] = entry(p, r, k, &self.response);
            }
        }
    }

    /// Blocks (i, j) of one law j: solve with its columns of `B`, then multiply by the rows of `C` that see the response.
    fn assemble_column(&mut self, p: &Parts<'_>, j: usize) {
        let n = p.lhs.dim();
        let columns = self.offset[j]..self.offset[j + 1];
        let width = columns.len();
        self.response.clear();
        self.response.resize(n * width, 0.0);
        for (x, c) in self.response.chunks_mut(n.max(1)).zip(columns.clone()) {
            p.input.add_row(c, 1.0, x);
            p.lhs.solve(x);
        }
        for i in 0..p.laws.len() {
            let position = self.raw.len();
            let mut any = i == j;
            for r in self.offset[i]..self.offset[i + 1] {
                for k in 0..width {
                    let x = &self.response[k * n..(k + 1) * n];
                    let w = entry(p, r, columns.start + k, x);
                    any |= w != 0.0;
                    self.raw.push(w);
                }
            }
            if any {
                self.by_column.push((i, j, position));
            } else {
                self.raw.truncate(position);
            }
        }
    }

    /// From column order to row order (a stable counting sort).
    fn sort_into_rows(&mut self, laws: usize) {
        self.start.clear();
        self.start.resize(laws + 1, 0);
        for &(i, ..) in &self.by_column {
            self.start[i + 1] += 1;
        }
        for i in 0..laws {
            self.start[i + 1] += self.start[i];
        }
        let blocks = self.by_column.len();
        self.column.resize(blocks, 0);
        self.at.resize(blocks, 0);
        self.diagonal.resize(laws, 0);
        // fill each row from its start; `diagonal` serves as the cursor until the end
        self.diagonal.copy_from_slice(&self.start[..laws]);
        for &(i, j, position) in &self.by_column {
            self.column[self.diagonal[i]] = j;
            self.at[self.diagonal[i]] = position;
            self.diagonal[i] += 1;
        }
        self.value.clear();
        for i in 0..laws {
            let height = self.offset[i + 1] - self.offset[i];
            for k in self.start[i]..self.start[i + 1] {
                let j = self.column[k];
                let length = height * (self.offset[j + 1] - self.offset[j]);
                let from = self.at[k];
                self.at[k] = self.value.len();
                self.value.extend_from_slice(&self.raw[from..from + length]);
                if j == i {
                    self.diagonal[i] = k;
                }
            }
        }
    }

    /// Number of laws.
    pub fn laws(&self) -> usize {
        self.diagonal.len()
    }

    /// Number of scalar rows.
    pub fn size(&self) -> usize {
        self.offset.last().copied().unwrap_or(0)
    }

    /// Rows of law `i`.
    #[inline]
    pub fn rows(&self, i: usize) -> std::ops::Range<usize> {
        self.offset[i]..self.offset[i + 1]
    }

    /// The blocks of block row `i`: (law of the columns, row-major values).
    #[inline]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let height = self.offset[i + 1] - self.offset[i];
        (self.start[i]..self.start[i + 1]).map(move |k| {
            let j = self.column[k];
            let length = height * (self.offset[j + 1] - self.offset[j]);
            (j, &self.value[self.at[k]..self.at[k] + length])
        })
    }

    /// The diagonal block of law `i`, row-major.
    #[inline]
    pub fn diagonal(&self, i: usize) -> &[f64] {
        let size = self.offset[i + 1] - self.offset[i];
        let at = self.at[self.diagonal[i]];
        &self.value[at..at + size * size]
    }

    /// Mean of the diagonal of law `i`: its inverse mass as the law feels it. One where the law sees no inertia at all.
    #[inline]
    pub fn scale(&self, i: usize) -> f64 {
        let block = self.diagonal(i);
        let size = self.offset[i + 1] - self.offset[i];
        if let [w] = *block {
            return if w > 0.0 && w.is_finite() { w } else { 1.0 };
        }
        let trace: f64 = (0..size).map(|k| block[k * size + k]).sum();
        let mean = trace / size as f64;
        if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
    }

    /// Whether every value is a finite number.
    pub fn is_finite(&self) -> bool {
        self.value.iter().all(|x| x.is_finite())
    }

    /// All of `W`, row-major.
    pub fn to_dense(&self, out: &mut Vec<f64>) {
        let m = self.size();
        out.clear();
        out.resize(m * m, 0.0);
        for i in 0..self.laws() {
            for (j, block) in self.row(i) {
                let width = self.offset[j + 1] - self.offset[j];
                for (k, values) in block.chunks(width).enumerate() {
                    let at = (self.offset[i] + k) * m + self.offset[j];
                    out[at..at + width].copy_from_slice(values);
                }
            }
        }
    }

    /// `out ← W x`.
    pub fn mul(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for i in 0..self.laws() {
            for (j, block) in self.row(i) {
                let x = &x[self.rows(j)];
                for (o, row) in out[self.rows(i)].iter_mut().zip(block.chunks(x.len())) {
                    *o += row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
                }
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

#[cfg(test)]
mod tests {
    use crate::{Identity, Law, OneStepProblem, Parts, ProblemWork, Rows};

    #[test]
    fn blocks_agree_with_the_dense_product() {
        // four laws over six dofs; laws 0 and 2 share dofs, law 3 stands alone
        let mut c = Rows::new(6);
        for row in [[1.0, 2.0, 0.0, 0.0, 0.0, 0.0], [0.5, -1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0, 0.0, 0.0]] {
            c.push_sparse(row.iter().copied().enumerate().filter(|x| x.1 != 0.0));
        }
        for (j, x) in [(0, 1.0), (1, 1.0), (3, 2.0), (5, 7.0)] {
            c.push_sparse([(j, x)]);
        }
        let laws = [Law::Coulomb2 { mu: 0.3 }, Law::Unilateral, Law::Coulomb3 { mu: 0.1 }, Law::Equality];
        let mut work = ProblemWork::default();
        let parts = Parts {
            lhs: &Identity(6),
            output: &c,
            input: &c,
            feedthrough: Some(&Rows::dense(7, &[0.25; 49])),
            b: &[0.0; 7],
            laws: &laws,
        };
        for with_d in [true, false] {
            let parts = Parts { feedthrough: parts.feedthrough.filter(|_| with_d), ..parts };
            let p = OneStepProblem::new(parts, &mut work);
            let w = p.delassus();
            let mut dense = Vec::new();
            w.to_dense(&mut dense);
            let mut x = [0.0; 6];
            for i in 0..7 {
                for j in 0..7 {
                    x.fill(0.0);
                    c.add_row(j, 1.0, &mut x);
                    let expected = c.dot(i, &x) + if with_d { 0.25 } else { 0.0 };
                    assert_eq!(dense[i * 7 + j], expected, "{i} {j}");
                }
            }
            assert_eq!(w.row(3).count(), if with_d { 4 } else { 1 });
            let v = [1.0, -2.0, 3.0, 0.5, 0.25, 4.0, -1.0];
            let mut y = [0.0; 7];
            w.mul(&v, &mut y);
            for i in 0..7 {
                let expected: f64 = (0..7).map(|j| dense[i * 7 + j] * v[j]).sum();
                assert!((y[i] - expected).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn one_law_alone_has_one_block() {
        let c = Rows::dense(2, &[1.0, 2.0, 0.5, -1.0, 0.0, 3.0]);
        let d = Rows::dense(3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        let laws = [Law::Coulomb3 { mu: 0.1 }];
        let parts =
            Parts { lhs: &Identity(2), output: &c, input: &c, feedthrough: Some(&d), b: &[0.0; 3], laws: &laws };
        let mut work = ProblemWork::default();
        let p = OneStepProblem::new(parts, &mut work);
        let w = p.delassus();
        // C Cᵀ + D by hand
        assert_eq!(w.diagonal(0), [6.0, 0.5, 9.0, 2.5, 6.25, 3.0, 13.0, 5.0, 18.0]);
        assert_eq!((w.laws(), w.size(), w.row(0).count()), (1, 3, 1));
    }
}
