//! Small dense matrices, row-major. Sizes are plain arguments; callers pass constants, so that loops unroll.

/// How many times larger than the diagonal another entry of its column must be to become the pivot.
const PREFERENCE: f64 = 8.0;

/// `P A = L U` in place, with the inverses of the pivots on the diagonal. Returns the smallest pivot; zero where one
/// is not finite.
#[inline(always)]
pub(super) fn triangulate(n: usize, a: &mut [f64], swap: &mut [u32]) -> f64 {
    let (a, swap) = (&mut a[..n * n], &mut swap[..n]);
    let mut smallest = f64::INFINITY;
    for k in 0..n {
        let (mut p, mut best) = (k, PREFERENCE * a[k * n + k].abs());
        for i in k + 1..n {
            let size = a[i * n + k].abs();
            if size > best {
                (p, best) = (i, size);
            }
        }
        swap[k] = p as u32;
        if p != k {
            for j in 0..n {
                a.swap(k * n + j, p * n + j);
            }
        }
        let pivot = a[k * n + k];
        // written so that a NaN is refused as well
        smallest = if pivot.abs() > 0.0 && pivot.is_finite() { smallest.min(pivot.abs()) } else { 0.0 };
        let inverse = 1.0 / pivot;
        a[k * n + k] = inverse;
        for i in k + 1..n {
            let factor = a[i * n + k] * inverse;
            a[i * n + k] = factor;
            for j in k + 1..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    smallest
}

/// `X ← A⁻¹ X` for n×r matrices X and the factors of [`triangulate`].
#[inline(always)]
pub(super) fn substitute(n: usize, lu: &[f64], swap: &[u32], r: usize, x: &mut [f64]) {
    let (lu, swap, x) = (&lu[..n * n], &swap[..n], &mut x[..n * r]);
    for k in 0..n {
        let p = swap[k] as usize;
        if p != k {
            for j in 0..r {
                x.swap(k * r + j, p * r + j);
            }
        }
    }
    for i in 1..n {
        for k in 0..i {
            let factor = lu[i * n + k];
            for j in 0..r {
                x[i * r + j] -= factor * x[k * r + j];
            }
        }
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            let factor = lu[i * n + k];
            for j in 0..r {
                x[i * r + j] -= factor * x[k * r + j];
            }
        }
        for j in 0..r {
            x[i * r + j] *= lu[i * n + i];
        }
    }
}

/// `out ← out + sign · A B` for A (p×q) and B (q×r).
#[inline(always)]
pub(super) fn add_product(p: usize, q: usize, r: usize, sign: f64, a: &[f64], b: &[f64], out: &mut [f64]) {
    let (a, b, out) = (&a[..p * q], &b[..q * r], &mut out[..p * r]);
    for i in 0..p {
        for k in 0..q {
            let factor = sign * a[i * q + k];
            for j in 0..r {
                out[i * r + j] += factor * b[k * r + j];
            }
        }
    }
}

/// Marks the rows of a matrix that depend on others: what elimination by diagonal pivots leaves of their diagonal is
/// less than `tolerance` of what it was. The matrix is overwritten. Returns their number.
pub(super) fn mark_dependent(n: usize, a: &mut [f64], tolerance: f64, dependent: &mut Vec<bool>) -> usize {
    let first: Vec<f64> = (0..n).map(|i| a[i * n + i].abs()).collect();
    dependent.clear();
    dependent.resize(n, true);
    for step in 0..n {
        let left = |i: usize, a: &[f64]| if first[i] > 0.0 { a[i * n + i].abs() / first[i] } else { 0.0 };
        let mut best = (0, tolerance);
        for i in (0..n).filter(|&i| dependent[i]) {
            // the order of the rows decides where it hardly matters
            if left(i, a) > best.1 * if best.1 > tolerance { 2.0 } else { 1.0 } {
                best = (i, left(i, a));
            }
        }
        let (k, size) = best;
        if size <= tolerance {
            return n - step;
        }
        dependent[k] = false;
        for i in (0..n).filter(|&i| dependent[i]) {
            let factor = a[i * n + k] / a[k * n + k];
            for j in (0..n).filter(|&j| dependent[j]) {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_solve_and_multiply() {
        // needs an exchange of rows
        let a = [0.0, 2.0, 1.0, 1.0, -1.0, 0.5, 3.0, 0.25, -2.0];
        let x = [1.0, -2.0, 0.5, 4.0, 3.0, -1.0];
        let mut b = [0.0; 6];
        add_product(3, 3, 2, 1.0, &a, &x, &mut b);
        let (mut lu, mut swap) = (a, [0; 3]);
        assert!(triangulate(3, &mut lu, &mut swap) > 0.1);
        substitute(3, &lu, &swap, 2, &mut b);
        assert!(b.iter().zip(x).all(|(b, x)| (b - x).abs() < 1e-14), "{b:?}");
        assert_eq!(triangulate(1, &mut [f64::NAN], &mut [0]), 0.0);
        assert_eq!(triangulate(2, &mut [1.0, 1.0, 1.0, 1.0], &mut [0; 2]), 0.0);
    }

    #[test]
    fn dependent_rows_are_marked() {
        // the third row is the sum of the others, in other units
        let rows = [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [1e-3, 1e-3, 3e-3]];
        let mut gram = [0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                gram[i * 3 + j] = (0..3).map(|k| rows[i][k] * rows[j][k]).sum();
            }
        }
        let mut dependent = Vec::new();
        assert_eq!(mark_dependent(3, &mut gram, 1e-6, &mut dependent), 1);
        assert_eq!(dependent, [false, false, true]);
        assert_eq!(mark_dependent(2, &mut [1.0, 0.0, 0.0, 0.0], 1e-6, &mut dependent), 1);
    }
}
