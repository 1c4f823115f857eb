//! Products and factors of small blocks, row-major, with loops of constant length.

/// Widest blocks.
pub(super) const WIDEST: usize = 6;

/// Row that each row of a block was exchanged with.
pub(super) type Exchanges = [u8; WIDEST];

#[inline(always)]
pub(super) fn product<const B: usize, const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
    let mut out = [0.0; N];
    for r in 0..B {
        for k in 0..B {
            for c in 0..B {
                out[r * B + c] += a[r * B + k] * b[k * B + c];
            }
        }
    }
    out
}

#[inline(always)]
pub(super) fn subtract_product<const B: usize, const N: usize>(out: &mut [f64; N], a: &[f64; N], b: &[f64; N]) {
    let mut sum = *out;
    for r in 0..B {
        for k in 0..B {
            for c in 0..B {
                sum[r * B + c] -= a[r * B + k] * b[k * B + c];
            }
        }
    }
    *out = sum;
}

#[inline(always)]
pub(super) fn subtract_mul<const B: usize, const N: usize>(out: &mut [f64; B], a: &[f64; N], x: &[f64; B]) {
    for r in 0..B {
        for c in 0..B {
            out[r] -= a[r * B + c] * x[c];
        }
    }
}

/// Gauss-Jordan inverse with partial pivoting; a pivot that vanishes against the block before elimination is replaced.
#[inline]
pub(crate) fn invert<const B: usize, const N: usize>(block: &[f64; N], original: &[f64; N]) -> [f64; N] {
    let mut a = *block;
    let mut inverse = [0.0; N];
    for k in 0..B {
        inverse[k * B + k] = 1.0;
    }
    for k in 0..B {
        // against its column, because rows of fixed unknowns are many orders larger than the others
        let size = (0..B).fold(0.0, |m: f64, i| m.max(original[i * B + k].abs()));
        let least = (1e-14 * size).max(1e-30);
        let mut p = k;
        for i in k + 1..B {
            if a[i * B + k].abs() > a[p * B + k].abs() {
                p = i;
            }
        }
        if p != k {
            for j in 0..B {
                a.swap(k * B + j, p * B + j);
                inverse.swap(k * B + j, p * B + j);
            }
        }
        let mut pivot = a[k * B + k];
        if pivot.abs() < least {
            pivot = if pivot < 0.0 { -least } else { least };
        }
        let reciprocal = 1.0 / pivot;
        for j in 0..B {
            a[k * B + j] *= reciprocal;
            inverse[k * B + j] *= reciprocal;
        }
        for i in (0..B).filter(|&i| i != k) {
            let factor = a[i * B + k];
            for j in 0..B {
                a[i * B + j] -= factor * a[k * B + j];
                inverse[i * B + j] -= factor * inverse[k * B + j];
            }
        }
    }
    inverse
}

/// Triangular factors of a block in its place, reciprocals on the diagonal; a pivot that vanishes is replaced.
pub(super) fn triangulate<const B: usize, const N: usize>(a: &mut [f64; N], original: &[f64; N]) -> Exchanges {
    let mut exchanges = [0; WIDEST];
    for k in 0..B {
        let size = (0..B).fold(0.0, |m: f64, i| m.max(original[i * B + k].abs()));
        let least = (1e-15 * size).max(1e-30);
        let mut p = k;
        for i in k + 1..B {
            if a[i * B + k].abs() > a[p * B + k].abs() {
                p = i;
            }
        }
        exchanges[k] = p as u8;
        if p != k {
            for j in 0..B {
                a.swap(k * B + j, p * B + j);
            }
        }
        let pivot = a[k * B + k];
        let pivot = if pivot.abs() >= least { pivot } else { least.copysign(pivot) };
        a[k * B + k] = 1.0 / pivot;
        for i in k + 1..B {
            let factor = a[i * B + k] / pivot;
            a[i * B + k] = factor;
            for j in k + 1..B {
                a[i * B + j] -= factor * a[k * B + j];
            }
        }
    }
    exchanges
}

/// Rows times the inverse of a triangular block.
#[inline]
pub(super) fn divide<const B: usize, const N: usize>(rows: &[f64; N], a: &[f64; N], exchanges: &Exchanges) -> [f64; N] {
    let mut x = *rows;
    for row in x.chunks_exact_mut(B) {
        for k in 0..B {
            row[k] *= a[k * B + k];
            for j in k + 1..B {
                row[j] -= row[k] * a[k * B + j];
            }
        }
        for k in (0..B).rev() {
            for j in 0..k {
                row[j] -= row[k] * a[k * B + j];
            }
        }
        for k in (0..B).rev() {
            row.swap(k, exchanges[k] as usize);
        }
    }
    x
}

/// The inverse of a triangular block times a vector.
#[inline]
pub(super) fn back<const B: usize, const N: usize>(a: &[f64; N], exchanges: &Exchanges, right: &[f64; B]) -> [f64; B] {
    let mut x = *right;
    for k in 0..B {
        x.swap(k, exchanges[k] as usize);
    }
    for k in 0..B {
        for j in 0..k {
            x[k] -= a[k * B + j] * x[j];
        }
    }
    for k in (0..B).rev() {
        for j in k + 1..B {
            x[k] -= a[k * B + j] * x[j];
        }
        x[k] *= a[k * B + k];
    }
    x
}
