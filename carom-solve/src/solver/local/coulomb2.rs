//! One planar contact, exactly: take-off, stick, or one of two slips [jourdan1998].
//!
//! ```text
//!     take-off   λ = 0                       if b_N ≥ 0
//!     stick      λ = −A⁻¹ b                  if |λ_T| ≤ μ λ_N
//!     slip σ     λ_N = −b_N/(a_NN − σμ a_NT),  λ_T = −σμ λ_N   if σ u_T ≥ 0
//! ```

use crate::Law;
use crate::elementary::hypot;

/// A contact: coefficient of friction and block, divided by its mean diagonal.
#[derive(Clone, Debug)]
pub(in crate::solver) struct Contact2 {
    mu: f64,
    a: [f64; 4],
    mean: f64, // of the diagonal
    mass: f64, // one over it
    determinant: f64,
}

impl Contact2 {
    pub(in crate::solver) fn new(mu: f64, block: &[f64]) -> Contact2 {
        let mut a = [0.0; 4];
        a.copy_from_slice(block);
        let mean = 0.5 * (a[0] + a[3]);
        let mean = if mean > 0.0 { mean } else { 1.0 };
        let mass = 1.0 / mean;
        let a = a.map(|x| x * mass);
        let determinant = a[0] * a[3] - a[1] * a[2];
        // what rounding leaves of a singular block is no block
        let determinant = if determinant.abs() <= 4.0 * f64::EPSILON { 0.0 } else { determinant };
        Contact2 { mu, a, mean, mass, determinant }
    }

    #[inline]
    pub(in crate::solver) fn solve(&self, b: [f64; 2]) -> [f64; 2] {
        let (mu, a) = (self.mu, &self.a);
        if b[0] >= 0.0 {
            return [0.0; 2];
        }
        if self.determinant > 0.0 {
            let stick = self.stick(b);
            if stick[1].abs() <= mu * stick[0] {
                return self.unscaled(stick);
            }
        }
        for sign in [1.0, -1.0] {
            let normal = -b[0] / (a[0] - sign * mu * a[1]);
            let tangent = -sign * mu * normal;
            if normal > 0.0 && normal.is_finite() && sign * (a[2] * normal + a[3] * tangent + b[1]) >= 0.0 {
                return self.unscaled([normal, tangent]);
            }
        }
        self.least_missed(b)
    }

    /// `A λ` in the units of the problem.
    #[inline]
    pub(in crate::solver) fn own(&self, lambda: [f64; 2]) -> [f64; 2] {
        let (a, [n, t]) = (&self.a, lambda.map(|x| x * self.mean));
        [a[0] * n + a[1] * t, a[2] * n + a[3] * t]
    }

    /// −A⁻¹ b by the adjugate, refined once.
    #[inline]
    fn stick(&self, b: [f64; 2]) -> [f64; 2] {
        let (a, d) = (&self.a, self.determinant);
        let inverse = |x: f64, y: f64| [(a[3] * x - a[1] * y) / d, (a[0] * y - a[2] * x) / d];
        let [n, t] = inverse(-b[0], -b[1]);
        let [dn, dt] = inverse(-b[0] - a[0] * n - a[1] * t, -b[1] - a[2] * n - a[3] * t);
        [n + dn, t + dt]
    }

    #[inline]
    fn unscaled(&self, lambda: [f64; 2]) -> [f64; 2] {
        [lambda[0] * self.mass, lambda[1] * self.mass]
    }

    /// Rounding left no candidate: the one with the smallest natural map.
    #[cold]
    fn least_missed(&self, b: [f64; 2]) -> [f64; 2] {
        let (mu, a) = (self.mu, &self.a);
        let slip = |sign: f64| {
            let normal = -b[0] / (a[0] - sign * mu * a[1]);
            [normal, -sign * mu * normal]
        };
        let row = if a[0] > 0.0 { -b[0] / a[0] } else { 0.0 };
        let mut best = ([0.0; 2], f64::INFINITY);
        for candidate in [self.stick(b), slip(1.0), slip(-1.0), [row, 0.0], [0.0; 2]] {
            let u =
                [a[0] * candidate[0] + a[1] * candidate[1] + b[0], a[2] * candidate[0] + a[3] * candidate[1] + b[1]];
            let mut f = [0.0; 2];
            Law::coulomb(mu, 1).natural_map(&candidate, &u, 1.0, &mut f);
            let size = hypot(candidate[0], candidate[1]).max(hypot(b[0], b[1]));
            let missed = hypot(f[0], f[1]) / size;
            if missed < best.1 {
                best = (candidate, missed);
            }
        }
        self.unscaled(best.0)
    }
}
