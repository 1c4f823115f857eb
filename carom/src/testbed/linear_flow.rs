//! The flow of a linear system by the exponential of its matrix, for references by events.
//!
//! ```text
//!     x(t + s) = e^{A s} x(t),     e^{A s} = (Σ_{k ≤ 20} (A s/2^q)^k/k!)^{2^q}                          (1)
//! ```

use carom_solve::elementary::log2;
/// `ẋ = A x` with a small dense matrix; affine terms by a state that is constant.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearFlow {
    pub(super) n: usize,
    pub(super) a: Vec<f64>,
}

impl LinearFlow {
    /// From A, row-major; `None` where it is not square.
    pub fn new(n: usize, a: &[f64]) -> Option<LinearFlow> {
        (a.len() == n * n).then(|| LinearFlow { n, a: a.to_vec() })
    }

    /// e^{A s}, row-major.
    pub fn propagator(&self, s: f64) -> Vec<f64> {
        let n = self.n;
        let norm =
            self.a.chunks(n.max(1)).map(|row| row.iter().map(|x| (x * s).abs()).sum::<f64>()).fold(0.0, f64::max);
        let halvings = if norm > 0.5 { log2(norm / 0.5).ceil().min(60.0) as i32 } else { 0 };
        let scaled: Vec<f64> = self.a.iter().map(|x| x * s * f64::powi(0.5, halvings)).collect();
        let identity: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect();
        // Horner's rule
        let mut sum = identity.clone();
        for k in (1..=20).rev() {
            let product = multiply(n, &scaled, &sum);
            sum = identity.iter().zip(product).map(|(i, p)| i + p / f64::from(k)).collect();
        }
        for _ in 0..halvings {
            sum = multiply(n, &sum, &sum);
        }
        sum
    }

    /// e^{A s} x.
    pub fn advance(&self, s: f64, x: &[f64]) -> Vec<f64> {
        let p = self.propagator(s);
        p.chunks(self.n.max(1)).map(|row| row.iter().zip(x).map(|(p, x)| p * x).sum()).collect()
    }

    /// The first s in (0, longest] where `event` falls from positive to zero or below, seen at steps of `stride` after
    /// which it was positive, and bisected to the last bit.
    pub fn first(&self, x: &[f64], longest: f64, stride: f64, event: impl Fn(&[f64]) -> f64) -> Option<f64> {
        let steps = (longest / stride).ceil() as usize;
        let mut positive: Option<f64> = None;
        for k in 1..=steps {
            let s = (k as f64 * stride).min(longest);
            if event(&self.advance(s, x)) > 0.0 {
                positive = Some(s);
                continue;
            }
            let Some(mut low) = positive else { continue };
            let mut high = s;
            for _ in 0..80 {
                let middle = 0.5 * (low + high);
                if event(&self.advance(middle, x)) > 0.0 { low = middle } else { high = middle }
            }
            return Some(0.5 * (low + high));
        }
        None
    }
}

fn multiply(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..n * n).map(|k| (0..n).map(|l| a[(k / n) * n + l] * b[l * n + k % n]).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_is_exact_and_crosses_zero_at_its_quarter() {
        let flow = LinearFlow::new(2, &[0.0, 1.0, -1.0, 0.0]).unwrap();
        let x = flow.advance(10.0, &[1.0, 0.0]);
        assert!((x[0] - 10f64.cos()).abs() < 1e-14 && (x[1] + 10f64.sin()).abs() < 1e-14);
        let quarter = flow.first(&[1.0, 0.0], 3.0, 0.1, |x| x[0]).unwrap();
        assert!((quarter - std::f64::consts::FRAC_PI_2).abs() < 1e-14);
    }
}
