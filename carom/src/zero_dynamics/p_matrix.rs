//! P-matrices: all principal minors are positive, and then every linear complementarity problem with the matrix has one
//! solution [cottle1992].
//!
//! ```text
//!     M is P   ⇔   m₁₁ > 0,  M without its first row and column is P,  and the Schur complement M/m₁₁ is P         (1)
//! ```
//!
//! (1) costs about 2ᵐ eliminations and is used up to 12 rows. Beyond, a positive definite symmetric part or a dominant
//! diagonal is enough, and sampled principal minors may prove the contrary.

use super::scaling::equilibrate;
use carom_solve::Law;
use nalgebra::DMatrix;

/// Largest matrix that is tested exactly.
const EXACT: usize = 12;

/// Principal minors that are sampled in larger ones.
const SAMPLES: u64 = 2000;

/// Pivots below this part of the largest entry are not positive.
const ZERO: f64 = 1e-12;

/// Whether a matrix is a P-matrix.
#[derive(Clone, Debug, PartialEq)]
pub enum PMatrix {
    /// All principal minors are positive.
    Yes,
    /// This principal minor is not positive (of the matrix with rows and columns scaled to entries near 1).
    No {
        /// Its rows, from 0.
        rows: Vec<usize>,
        /// Its value.
        minor: f64,
    },
    /// Too large to tell: no principal minor that was looked at is a counter-example.
    Unknown,
}

/// Judges a square matrix. Positive scaling of rows and columns does not change what is asked.
pub(super) fn judge(matrix: &DMatrix<f64>) -> PMatrix {
    let mut scaled = matrix.clone();
    equilibrate(&mut scaled);
    let m = scaled.nrows();
    let all: Vec<usize> = (0..m).collect();
    if m <= EXACT {
        return match counter_example(scaled, &all) {
            None => PMatrix::Yes,
            Some((rows, minor)) => PMatrix::No { rows, minor },
        };
    }
    if let Some(i) = (0..m).find(|&i| scaled[(i, i)] <= ZERO) {
        return PMatrix::No { rows: vec![i], minor: scaled[(i, i)] };
    }
    let symmetric = 0.5 * (&scaled + scaled.transpose());
    let dominant = (0..m).all(|i| 2.0 * scaled[(i, i)] > scaled.row(i).lp_norm(1));
    if dominant || symmetric.cholesky().is_some() {
        return PMatrix::Yes;
    }
    sample(&scaled)
}

/// The same for what unilateral rows see when the rows of equalities are eliminated.
pub(super) fn judge_with_equalities(matrix: &DMatrix<f64>, laws: &[Law]) -> PMatrix {
    let split = |equal: bool| -> Vec<usize> { (0..laws.len()).filter(|&i| laws[i].is_equality() == equal).collect() };
    let (equal, other) = (split(true), split(false));
    if equal.is_empty() {
        return judge(matrix);
    }
    let mut scaled = matrix.clone();
    equilibrate(&mut scaled);
    let block = |rows: &[usize], columns: &[usize]| scaled.select_rows(rows).select_columns(columns);
    let Some(inverse) = block(&equal, &equal).try_inverse() else {
        return PMatrix::No { rows: equal, minor: 0.0 };
    };
    let left = block(&other, &other) - block(&other, &equal) * inverse * block(&equal, &other);
    match judge(&left) {
        PMatrix::No { rows, minor } => PMatrix::No { rows: rows.iter().map(|&k| other[k]).collect(), minor },
        verdict => verdict,
    }
}

/// (1): the rows of a principal minor that is not positive, and its value.
fn counter_example(matrix: DMatrix<f64>, rows: &[usize]) -> Option<(Vec<usize>, f64)> {
    let (&first, rest) = rows.split_first()?;
    let pivot = matrix[(0, 0)];
    if pivot.is_nan() || pivot <= ZERO {
        return Some((vec![first], pivot));
    }
    let m = rows.len();
    let below = matrix.view((1, 1), (m - 1, m - 1)).into_owned();
    let schur = &below - matrix.view((1, 0), (m - 1, 1)) * matrix.view((0, 1), (1, m - 1)) / pivot;
    if let Some(found) = counter_example(below, rest) {
        return Some(found);
    }
    counter_example(schur, rest).map(|(mut rows, minor)| {
        rows.insert(0, first);
        (rows, minor * pivot)
    })
}

/// Looks at principal minors of sets that a simple generator draws, the same ones always.
fn sample(matrix: &DMatrix<f64>) -> PMatrix {
    let m = matrix.nrows();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for _ in 0..SAMPLES {
        let keep = 2 + draw() % (m - 1);
        let mut rows: Vec<usize> = (0..m).filter(|_| draw() % m < keep).collect();
        rows.truncate(40);
        let minor = matrix.select_rows(&rows).select_columns(&rows).determinant();
        if !rows.is_empty() && (minor.is_nan() || minor <= 0.0) {
            return PMatrix::No { rows, minor };
        }
    }
    PMatrix::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(m: usize, values: &[f64]) -> PMatrix {
        judge(&DMatrix::from_row_slice(m, m, values))
    }

    #[test]
    fn counter_examples_are_named() {
        assert_eq!(of(2, &[1.0, 2.0, -3.0, 1.0]), PMatrix::Yes);
        assert_eq!(of(1, &[-1.0]), PMatrix::No { rows: vec![0], minor: -1.0 });
        let PMatrix::No { rows, minor } = of(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 2.0, 1.0]) else { panic!() };
        assert!(rows == [1, 2] && minor < 0.0);
        // entries of any size: 1e9 and 1e-9
        assert_eq!(of(2, &[1e-9, 1e3, -1e-3, 1e9]), PMatrix::Yes);
        assert!(matches!(of(2, &[1e-9, 1e9, 1e9, 1e-9]), PMatrix::No { .. }));
        // singular
        assert!(matches!(of(2, &[1.0, 1.0, 1.0, 1.0]), PMatrix::No { .. }));
    }

    /// Cyclic matrix 1 on the diagonal, a behind it: its determinant is 1 − (−a)ᵐ, all other principal minors are 1.
    #[test]
    fn the_whole_determinant_counts() {
        let cycle = |m: usize, a: f64| {
            let mut matrix = DMatrix::identity(m, m);
            (0..m).for_each(|i| matrix[(i, (i + 1) % m)] = a);
            judge(&matrix)
        };
        assert_eq!(cycle(5, 1.5), PMatrix::Yes);
        let PMatrix::No { rows, .. } = cycle(6, 1.5) else { panic!() };
        assert_eq!(rows, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn large_matrices_are_judged_as_far_as_it_goes() {
        let m = 20;
        let mut matrix = DMatrix::identity(m, m);
        assert_eq!(judge(&matrix), PMatrix::Yes);
        matrix[(3, 3)] = -1.0;
        assert_eq!(judge(&matrix), PMatrix::No { rows: vec![3], minor: -1.0 });
        // skew parts do not matter
        let skew = DMatrix::from_fn(m, m, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Less => 1.0,
            std::cmp::Ordering::Greater => -1.0,
        });
        assert_eq!(judge(&skew), PMatrix::Yes);
    }
}
