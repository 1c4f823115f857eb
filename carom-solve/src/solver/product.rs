//! Products of slices. The sums run in eight lanes of fixed order: the compiler makes vector instructions of them, and
//! the result does not depend on the machine.

const LANES: usize = 8;

/// `Σ aᵢ bᵢ`.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut lanes = [0.0; LANES];
    let (chunks_a, chunks_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f64 = chunks_a.remainder().iter().zip(chunks_b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in chunks_a.zip(chunks_b) {
        for k in 0..LANES {
            lanes[k] += x[k] * y[k];
        }
    }
    let [p, q, r, s, t, u, v, w] = lanes;
    ((p + t) + (q + u)) + ((r + v) + (s + w)) + tail
}

/// `y ← y + a x`.
#[inline]
pub(super) fn add_multiple(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `y ← y + Σ aₖ xₖ` for four columns at once: one pass over `y` instead of four.
#[inline]
pub(super) fn add_four(a: [f64; 4], x: [&[f64]; 4], y: &mut [f64]) {
    let n = y.len();
    let [p, q, r, s] = x.map(|x| &x[..n]);
    for i in 0..n {
        y[i] += (a[0] * p[i] + a[1] * q[i]) + (a[2] * r[i] + a[3] * s[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree_with_plain_sums_at_every_length() {
        for n in 0..40 {
            // integers: every order of summation gives the same bits
            let column = |k: usize| (0..n).map(|i| ((i * (k + 3)) % 7) as f64 - 3.0).collect::<Vec<f64>>();
            let (a, b, c, d) = (column(0), column(1), column(2), column(3));
            let plain: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert_eq!(dot(&a, &b), plain);
            let (mut one, mut four) = (a.clone(), a.clone());
            for (factor, x) in [(1.0, &a), (-2.0, &b), (3.0, &c), (4.0, &d)] {
                add_multiple(factor, x, &mut one);
            }
            add_four([1.0, -2.0, 3.0, 4.0], [&a, &b, &c, &d], &mut four);
            assert_eq!(one, four);
        }
    }
}
