//! Magnus' series of order 6 for the flow of a linear equation Ẏ = A(t) Y [blanes2009].
//!
//! ```text
//!     A₁, A₂, A₃ at the Gauss points 1/2 ∓ √15/10, 1/2                                                         (1)
//!     α₁ = h A₂,   α₂ = √15 h/3 (A₃ − A₁),   α₃ = 10 h/3 (A₃ − 2 A₂ + A₁)
//!     C₁ = [α₁, α₂],   C₂ = −1/60 [α₁, 2α₃ + C₁]
//!     Ω = α₁ + α₃/12 + 1/240 [−20 α₁ − α₃ + C₁, α₂ + C₂],   Y⁺ = exp(Ω) Y                                      (2)
//!     Ω₄ = α₁ + α₃/12 − 1/12 [α₁, α₂]                                          order 4, for the local error     (3)
//! ```
//!
//! Commutators have no trace: det Y grows by exp(∫ tr A), with the integral by Gauss' rule of order 6. A constant A is
//! integrated exactly.

use crate::ModelError;
use carom_solve::elementary::{log2, powf};

/// Most Taylor terms of the exponential of a matrix of norm at most 1/4.
const TERMS: u32 = 13;

/// Difference of (2) and (3) up to which a step needs no parts; the error of (2) is of its order to the power 7/5.
const TOLERANCE: f64 = 1e-7;

/// Most parts of a step.
const PARTS: u32 = 64;

/// Writes A at a part of the step.
pub(super) type Matrix<'a> = dyn FnMut(f64, &mut [f64]) -> Result<(), ModelError> + 'a;

/// Buffers for matrices of one size, row-major.
#[derive(Clone, Debug, Default)]
pub(super) struct Magnus {
    size: usize,
    at: [Vec<f64>; 3],
    alpha: [Vec<f64>; 3],
    c1: Vec<f64>,
    c2: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
    omega: Vec<f64>,
    term: Vec<f64>,
    /// exp(Ω) of the last part.
    pub flow: Vec<f64>,
}

impl Magnus {
    pub fn new(size: usize) -> Magnus {
        let matrix = || vec![0.0; size * size];
        Magnus {
            size,
            at: [matrix(), matrix(), matrix()],
            alpha: [matrix(), matrix(), matrix()],
            c1: matrix(),
            c2: matrix(),
            left: matrix(),
            right: matrix(),
            omega: matrix(),
            term: matrix(),
            flow: matrix(),
        }
    }

    /// The flow over a step of length h with constant A; returns tr Ω.
    pub fn constant(&mut self, a: &[f64], h: f64) -> f64 {
        self.omega.iter_mut().zip(a).for_each(|(o, a)| *o = h * a);
        self.exponential()
    }

    /// The flow over the step of length h, in parts where the error asks for it; `field` writes A at a part of the
    /// step, and `apply` gets the flow of each part. Returns the sum of tr Ω.
    pub fn step(&mut self, h: f64, field: &mut Matrix<'_>, apply: &mut dyn FnMut(&[f64])) -> Result<f64, ModelError> {
        let error = self.series((0.0, 1.0), h, field)?;
        let parts = powf(error / TOLERANCE, 0.2).ceil().clamp(1.0, f64::from(PARTS)) as u32;
        if parts == 1 {
            let trace = self.exponential();
            apply(&self.flow);
            return Ok(trace);
        }
        let (width, mut trace) = (1.0 / f64::from(parts), 0.0);
        for k in 0..parts {
            self.series((f64::from(k) * width, width), h, field)?;
            trace += self.exponential();
            apply(&self.flow);
        }
        Ok(trace)
    }

    /// (2) over the part (start, width) of a step of length h; returns the norm of its difference from (3).
    fn series(&mut self, (start, width): (f64, f64), h: f64, field: &mut Matrix<'_>) -> Result<f64, ModelError> {
        let root = 15f64.sqrt();
        let (h, n) = (h * width, self.size);
        for (node, at) in [0.5 - 0.1 * root, 0.5, 0.5 + 0.1 * root].into_iter().zip(&mut self.at) {
            field(start + width * node, at)?;
        }
        let [a1, a2, a3] = &self.at;
        for k in 0..n * n {
            self.alpha[0][k] = h * a2[k];
            self.alpha[1][k] = root * h / 3.0 * (a3[k] - a1[k]);
            self.alpha[2][k] = 10.0 * h / 3.0 * (a3[k] - 2.0 * a2[k] + a1[k]);
        }
        let [alpha1, alpha2, alpha3] = &self.alpha;
        commutator(n, alpha1, alpha2, &mut self.c1);
        for k in 0..n * n {
            self.right[k] = 2.0 * alpha3[k] + self.c1[k];
        }
        commutator(n, alpha1, &self.right, &mut self.c2);
        for k in 0..n * n {
            self.left[k] = -20.0 * alpha1[k] - alpha3[k] + self.c1[k];
            self.right[k] = alpha2[k] - self.c2[k] / 60.0;
        }
        commutator(n, &self.left, &self.right, &mut self.omega);
        let mut error = 0.0f64;
        for k in 0..n * n {
            let low = alpha1[k] + alpha3[k] / 12.0 - self.c1[k] / 12.0;
            self.omega[k] = alpha1[k] + alpha3[k] / 12.0 + self.omega[k] / 240.0;
            error = error.max((self.omega[k] - low).abs());
        }
        // commutators vanish for a quadrature alone: its own error is seen in α₃
        let bend = alpha3.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        Ok(error.max(1e-2 * bend * bend))
    }

    /// `flow ← exp(omega)` by scaling, Taylor's series and squaring; returns the trace of the exponent.
    fn exponential(&mut self) -> f64 {
        let n = self.size;
        let row = |i: usize| self.omega[i * n..(i + 1) * n].iter().map(|x| x.abs()).sum::<f64>();
        let norm = (0..n).map(row).fold(0.0f64, f64::max);
        let squarings = if norm > 0.25 { log2(4.0 * norm).ceil().clamp(0.0, 60.0) as i32 } else { 0 };
        let scale = 0.5f64.powi(squarings);
        let trace = (0..n).map(|i| self.omega[i * n + i]).sum();
        // as many terms as it takes for the rest to be rounding
        let (size, mut terms, mut rest) = (scale * norm, 1, scale * norm);
        while rest > 1e-18 && terms < TERMS {
            terms += 1;
            rest *= size / f64::from(terms);
        }
        // Horner: 1 + X (1 + X/2 (1 + X/3 (...)))
        identity(n, &mut self.flow);
        for k in (1..=terms).rev() {
            multiply(n, &self.omega, &self.flow, &mut self.term);
            let factor = scale / f64::from(k);
            self.flow.iter_mut().zip(&self.term).for_each(|(f, x)| *f = factor * x);
            (0..n).for_each(|i| self.flow[i * n + i] += 1.0);
        }
        for _ in 0..squarings {
            multiply(n, &self.flow, &self.flow, &mut self.term);
            std::mem::swap(&mut self.flow, &mut self.term);
        }
        trace
    }
}

fn identity(n: usize, out: &mut [f64]) {
    out.fill(0.0);
    (0..n).for_each(|i| out[i * n + i] = 1.0);
}

/// `out ← a b`.
fn multiply(n: usize, a: &[f64], b: &[f64], out: &mut [f64]) {
    for i in 0..n {
        for j in 0..n {
            out[i * n + j] = (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum();
        }
    }
}

/// `out ← a b − b a`.
fn commutator(n: usize, a: &[f64], b: &[f64], out: &mut [f64]) {
    for i in 0..n {
        for j in 0..n {
            out[i * n + j] = (0..n).map(|k| a[i * n + k] * b[k * n + j] - b[i * n + k] * a[k * n + j]).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ẍ = −(1 + t) x, whose flow has determinant 1; A = (0 1; −(1+t) 0).
    fn airy(parts: u32, length: f64) -> Vec<f64> {
        let mut magnus = Magnus::new(2);
        let h = length / f64::from(parts);
        let mut y = vec![1.0, 0.0, 0.0, 1.0];
        for k in 0..parts {
            let start = f64::from(k) * h;
            let mut field = |s: f64, a: &mut [f64]| {
                a.copy_from_slice(&[0.0, 1.0, -(1.0 + start + s * h), 0.0]);
                Ok(())
            };
            magnus.series((0.0, 1.0), h, &mut field).unwrap();
            magnus.exponential();
            let mut next = vec![0.0; 4];
            multiply(2, &magnus.flow, &y, &mut next);
            y = next;
        }
        y
    }

    #[test]
    fn order_six_and_determinant_one() {
        // from Taylor's series of the equation around t = 0: c_{k+2} (k+2)(k+1) = −c_k − c_{k−1}
        let series = |mut a: f64, mut b: f64, t: f64| {
            let mut c = vec![a, b];
            for k in 0..60usize {
                let below = if k > 0 { c[k - 1] } else { 0.0 };
                c.push((-c[k] - below) / ((k + 1) * (k + 2)) as f64);
            }
            (a, b) = (0.0, 0.0);
            for (k, c) in c.iter().enumerate().rev() {
                a = a * t + c;
                if k > 0 {
                    b = b * t + k as f64 * c;
                }
            }
            (a, b)
        };
        let error = |parts: u32| {
            let y = airy(parts, 2.0);
            let ((x1, v1), (x2, v2)) = (series(1.0, 0.0, 2.0), series(0.0, 1.0, 2.0));
            assert!((y[0] * y[3] - y[1] * y[2] - 1.0).abs() < 1e-14);
            [y[0] - x1, y[1] - x2, y[2] - v1, y[3] - v2].iter().fold(0.0f64, |m, x| m.max(x.abs()))
        };
        let (coarse, fine, finest) = (error(4), error(8), error(32));
        let order = (coarse / fine).log2();
        assert!(order > 5.7 && order < 7.0 && finest < 1e-9, "{coarse:e} {fine:e} {finest:e}");
    }

    #[test]
    fn exponential_of_a_rotation_with_decay() {
        let mut magnus = Magnus::new(2);
        let trace = magnus.constant(&[-0.1, 1.0, -1.0, -0.1], 20.0);
        let (decay, c, s) = ((-2.0f64).exp(), 20f64.cos(), 20f64.sin());
        for (x, exact) in magnus.flow.iter().zip([decay * c, decay * s, -decay * s, decay * c]) {
            assert!((x - exact).abs() < 1e-14);
        }
        assert!((trace + 4.0).abs() < 1e-15);
    }
}
