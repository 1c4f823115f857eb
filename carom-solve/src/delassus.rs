//! The Delassus matrix `W = D + C A⁻¹ B`, one dense block per pair of laws that see each other.
//!
//! Storage: compressed rows of blocks, columns rising, each block row-major and all of them contiguous in this order:
//! where all laws have the same size, the values are an array of blocks. Buffers keep their capacity.

mod assembly;
mod direct;
mod inverse;
mod sorting;

pub(crate) use inverse::BlockInverse;

use crate::{Archive, ArchiveError, Blank, Persist};

/// Block-sparse `W`. Laws are the block rows and columns.
#[derive(Clone, Debug, Default)]
pub struct Delassus {
    law: Vec<LawRow>, // (laws + 1) the last one ends the rows and blocks
    column: Vec<u32>, // (blocks) law of the block's columns
    at: Vec<usize>,   // (blocks) first value of the block; empty where all laws have the same size
    value: Vec<f64>,
    uniform: usize, // rows of every law; zero if they differ
    finite: bool,   // whether all values are
    stamp: u64,     // another one for each assembly of several laws
    inverse: BlockInverse,
    work: assembly::Workspace,
}

/// An assembly that is read has a number of its own.
impl Persist for Delassus {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Delassus { law, column, at, value, uniform, finite, stamp, inverse, work: _ } = self;
        (law, column, at, value).persist(archive)?;
        (uniform, finite, inverse).persist(archive)?;
        if archive.is_reading() {
            *stamp = assembly::next_stamp();
        }
        Ok(())
    }
}

impl Blank for Delassus {
    fn blank() -> Self {
        Delassus::default()
    }
}

/// The block row of a law.
#[derive(Clone, Copy, Debug, Default)]
struct LawRow {
    row: usize,      // first row
    block: usize,    // first block
    diagonal: usize, // the diagonal block
    scale: f64,      // mean of its diagonal
}

crate::persist!(LawRow { row, block, diagonal, scale });

/// `W` of laws that all have N rows: an array of blocks of NN = N² values.
#[derive(Clone, Copy)]
pub(crate) struct Uniform<'a, const NN: usize> {
    law: &'a [LawRow],
    column: &'a [u32],
    value: &'a [[f64; NN]],
}

/// The blocks of a row on one side of the diagonal: laws of the columns, values.
type Side<'a, const NN: usize> = (&'a [u32], &'a [[f64; NN]]);

impl<'a, const NN: usize> Uniform<'a, NN> {
    /// The scale of each row, and its blocks on either side of the diagonal, row by row.
    #[inline]
    pub(crate) fn rows(self) -> impl Iterator<Item = (f64, [Side<'a, NN>; 2])> {
        self.law.windows(2).map(move |ends| {
            let LawRow { block, diagonal, scale, .. } = ends[0];
            let sides = [block..diagonal, diagonal + 1..ends[1].block];
            (scale, sides.map(|range| (&self.column[range.clone()], &self.value[range])))
        })
    }
}

impl Uniform<'_, 9> {
    /// `out ← W x` for laws of three rows.
    fn mul(self, x: &[[f64; 3]], out: &mut [[f64; 3]]) {
        for (ends, out) in self.law.windows(2).zip(out) {
            let range = ends[0].block..ends[1].block;
            let mut sum = [0.0; 9];
            for (&j, block) in self.column[range.clone()].iter().zip(&self.value[range]) {
                let x = &x[j as usize];
                for k in 0..9 {
                    sum[k] += block[k] * x[k % 3];
                }
            }
            *out = [sum[0] + sum[1] + sum[2], sum[3] + sum[4] + sum[5], sum[6] + sum[7] + sum[8]];
        }
    }
}

impl Delassus {
    /// The array of blocks, if all laws have N rows and NN = N².
    pub(crate) fn uniform<const NN: usize>(&self) -> Option<Uniform<'_, NN>> {
        let (value, _) = self.value.as_chunks();
        let Delassus { law, column, .. } = self;
        (self.uniform * self.uniform == NN).then_some(Uniform { law, column, value })
    }

    /// First value of a block.
    #[inline]
    fn at(&self, block: usize) -> usize {
        if self.uniform > 0 { block * self.uniform * self.uniform } else { self.at[block] }
    }

    /// Rows of one law.
    #[inline]
    fn height(&self, law: usize) -> usize {
        self.law[law + 1].row - self.law[law].row
    }

    /// Tells assemblies of several laws apart: what was computed from this matrix is valid as long as the stamp is the
    /// same.
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Number of stored blocks.
    pub fn blocks(&self) -> usize {
        self.column.len()
    }

    /// The inverse of A, where it was computed on the way.
    pub(crate) fn inverse(&self) -> Option<&BlockInverse> {
        self.inverse.is_computed().then_some(&self.inverse)
    }

    /// Number of stored values.
    pub(crate) fn entries(&self) -> usize {
        self.value.len()
    }

    /// Number of laws.
    pub fn laws(&self) -> usize {
        self.law.len().saturating_sub(1)
    }

    /// Number of scalar rows.
    pub fn size(&self) -> usize {
        self.law.last().map_or(0, |end| end.row)
    }

    /// Rows of law `i`.
    #[inline]
    pub fn rows(&self, i: usize) -> std::ops::Range<usize> {
        self.law[i].row..self.law[i + 1].row
    }

    /// The blocks of block row `i`: (law of the columns, row-major values).
    #[inline]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let height = self.height(i);
        (self.law[i].block..self.law[i + 1].block).map(move |k| {
            let (j, at) = (self.column[k] as usize, self.at(k));
            (j, &self.value[at..at + height * self.height(j)])
        })
    }

    /// Row `i` without gaps, where all laws have one row.
    #[inline]
    pub(crate) fn full_scalar_row(&self, i: usize) -> Option<&[f64]> {
        let blocks = self.law[i].block..self.law[i + 1].block;
        (self.uniform == 1 && blocks.len() == self.laws()).then(|| &self.value[blocks])
    }

    /// The diagonal block of law `i`, row-major.
    #[inline]
    pub fn diagonal(&self, i: usize) -> &[f64] {
        let (size, at) = (self.height(i), self.at(self.law[i].diagonal));
        &self.value[at..at + size * size]
    }

    /// Mean of the diagonal of law `i`: its inverse mass as the law feels it. One where the law sees no inertia at all.
    #[inline]
    pub fn scale(&self, i: usize) -> f64 {
        self.law[i].scale
    }

    /// [`scale`](Self::scale) of all laws.
    pub fn scales(&self) -> impl Iterator<Item = f64> + '_ {
        self.law[..self.laws()].iter().map(|law| law.scale)
    }

    /// Number of rows of every law; zero if they differ.
    #[inline]
    pub(crate) fn rows_of_each_law(&self) -> usize {
        self.uniform
    }

    /// Whether every value is a finite number.
    pub fn is_finite(&self) -> bool {
        self.finite
    }

    /// All of `W`, row-major.
    pub fn to_dense(&self, out: &mut Vec<f64>) {
        let m = self.size();
        out.clear();
        out.resize(m * m, 0.0);
        for i in 0..self.laws() {
            for (j, block) in self.row(i) {
                let width = self.height(j);
                for (k, values) in block.chunks(width).enumerate() {
                    let at = (self.law[i].row + k) * m + self.law[j].row;
                    out[at..at + width].copy_from_slice(values);
                }
            }
        }
    }

    /// `out ← W x`.
    pub fn mul(&self, x: &[f64], out: &mut [f64]) {
        if let Some(blocks) = self.uniform::<9>() {
            return blocks.mul(x.as_chunks().0, out.as_chunks_mut().0);
        }
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

#[cfg(test)]
mod tests {
    use crate::{Identity, Law, OneStepProblem, Parts, ProblemWork, Rows, StoredProblem, family};

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
        let laws = [Law::coulomb(0.3, 1), Law::UNILATERAL, Law::coulomb(0.1, 2), Law::EQUALITY];
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

    /// Threads share the columns of many laws: the same bits with any number of them, and W x = C A⁻¹ Cᵀ x.
    #[test]
    fn threads_do_not_change_a_bit() {
        // laws of three rows; laws of one and three rows, some of them joints
        for (name, size) in [("fcc", 5000), ("chain", 4500)] {
            let problem = family::find(name).unwrap().build(size, 1).unwrap();
            let assembled = [1, 2, 3].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    problem.with(&mut ProblemWork::default(), |p| {
                        let (w, parts) = (p.delassus(), p.parts());
                        let x: Vec<f64> = (0..p.size()).map(|i| ((i * 37 % 101) as f64 - 40.0) * 1e-2).collect();
                        let (mut y, mut v) = (vec![0.0; p.size()], vec![0.0; parts.lhs.dim()]);
                        w.mul(&x, &mut y);
                        (0..p.size()).for_each(|i| parts.input.add_row(i, x[i], &mut v));
                        parts.lhs.solve(&mut v);
                        let largest = y.iter().fold(0.0f64, |a, y| a.max(y.abs()));
                        for i in 0..p.size() {
                            assert!((y[i] - parts.output.dot(i, &v)).abs() <= 1e-13 * largest, "{name}: row {i}");
                        }
                        (w.value.clone(), w.column.clone(), w.at.clone(), w.inverse.is_computed())
                    })
                })
            });
            assert!(assembled[0].3 || name == "chain", "{name}: threads need the inverse");
            assert!(assembled.iter().all(|other| *other == assembled[0]), "{name}");
        }
    }

    /// A matrix given in reduced form, without gaps, with gaps, in no order and in parts: the same blocks.
    #[test]
    fn rows_in_any_form_make_the_same_blocks() {
        for size in [1, 2, 3] {
            let (laws, m) = (5, 5 * size);
            let law = if size == 1 { Law::UNILATERAL } else { Law::coulomb(0.3, size - 1) };
            // chains of laws, whose blocks have zeros in them; the diagonal block of the last law is zero
            let entry = |r: usize, c: usize| match ((r / size).abs_diff(c / size), (3 * r + c) % 4) {
                (2.., _) | (_, 0) => 0.0,
                _ if r / size == 4 && c / size == 4 => 0.0,
                _ => 1.0 + (r * m + c) as f64,
            };
            let blocks = |entries: &dyn Fn(usize) -> Vec<(usize, f64)>| {
                let mut rows = Rows::new(m);
                (0..m).for_each(|r| rows.push_sparse(entries(r)));
                let problem = StoredProblem::reduced("", rows, vec![-1.0; m], vec![law; laws]).unwrap();
                problem.with(&mut ProblemWork::default(), |p| {
                    let w = p.delassus();
                    let mut dense = Vec::new();
                    w.to_dense(&mut dense);
                    let pattern: Vec<usize> = (0..laws).flat_map(|i| w.row(i).map(|block| block.0)).collect();
                    (dense, pattern, (0..laws).map(|i| w.diagonal(i).to_vec()).collect::<Vec<_>>())
                })
            };
            let full = |r: usize| (0..m).map(|c| (c, entry(r, c))).collect::<Vec<_>>();
            let gaps = |r: usize| full(r).into_iter().filter(|entry| entry.1 != 0.0).collect::<Vec<_>>();
            let without_one = |r: usize| full(r).into_iter().filter(|x| x.0 != 2).chain([(2, entry(r, 2))]).collect();
            let halves = |r: usize| gaps(r).into_iter().flat_map(|(c, x)| [(c, 0.5 * x); 2]).collect::<Vec<_>>();
            let backwards = |r: usize| gaps(r).into_iter().rev().collect::<Vec<_>>();
            let expected = blocks(&full);
            assert!((0..m * m).all(|k| expected.0[k] == entry(k / m, k % m)), "{size}");
            for form in [&gaps as &dyn Fn(usize) -> _, &without_one, &halves, &backwards] {
                assert_eq!(blocks(form), expected, "{size}");
            }
        }
    }

    #[test]
    fn one_law_alone_has_one_block() {
        let c = Rows::dense(2, &[1.0, 2.0, 0.5, -1.0, 0.0, 3.0]);
        let d = Rows::dense(3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        let laws = [Law::coulomb(0.1, 2)];
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
