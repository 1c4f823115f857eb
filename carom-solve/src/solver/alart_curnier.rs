//! Semismooth Newton method on the function of Alart and Curnier [alart1991], for any mixture of laws, in scaled variables.
//!
//! With `y_N = r_N − ρ_N u_N`, `y_T = r_T − ρ_T u_T` and the disc `B(μ max(y_N, 0))` of the tangential forces,
//!
//! ```text
//!     F_N = r_N − max(y_N, 0),   F_T = r_T − P_B(y_T),   ρ_N = 1/W_NN,   ρ_T = 2/(W_11 + W_22)        (1)
//!     u = (W + a I) r + q − a r_k                                                                  (2)
//!     J = I − G + G ρ (W + a I),   G ∈ ∂P(y)                                                       (3)
//! ```
//!
//! where `a = 0` is the problem itself and `a > 0` a proximal step about `r_k`. The other laws have `F = r − P(r − ρ u)` with
//! their projection on a line, a half-line or an interval. Steps solve `J Δr = −F` and are halved until `‖F‖` falls below the
//! largest of its last five values.

use super::linear_system::LinearSystem;
use super::scaled::Scaled;
use crate::{Law, OneStepProblem, SolveError};

/// Values of ‖F‖ that the line search looks back to.
const MEMORY: usize = 5;

/// Added to the diagonal of the Jacobian.
const SHIFT: f64 = 1e-11;

/// Halvings of a step at most.
const HALVINGS: usize = 12;

/// What to solve: the problem, or a proximal step about `centre`.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub weight: f64, // a
    pub centre: &'a [f64],
    pub tolerance: f64, // ‖F‖ to be reached
    pub max_iterations: usize,
}

/// Buffers of the method.
#[derive(Default)]
pub(super) struct AlartCurnier {
    pub system: LinearSystem,
    rho: Vec<[f64; 2]>, // (laws) ρ_N, ρ_T
    pub u: Vec<f64>,    // u (2) of the current point
    f: Vec<f64>,        // F (1) of the current point
    negative: Vec<f64>, // −F
    step: Vec<f64>,     // Δr
    response: Vec<f64>, // (W + a I) Δr
    from: Vec<f64>,     // r before the step
    u_from: Vec<f64>,   // u before the step
}

impl AlartCurnier {
    /// Sizes the buffers and analyses the pattern.
    pub fn prepare(&mut self, problem: &OneStepProblem<'_>, scaled: &Scaled) -> Result<(), SolveError> {
        self.system.analyse(problem, scaled)?;
        let width = scaled.pattern.width;
        self.rho.clear();
        self.rho.extend(scaled.laws.iter().zip(&scaled.diagonal).map(|(law, &k)| {
            let block = &scaled.value[k * width * width..(k + 1) * width * width];
            let tangents = law.size() - 1;
            let trace: f64 = (1..=tangents).map(|t| block[t * width + t]).sum();
            [inverse(block[0]), inverse(trace / tangents.max(1) as f64)]
        }));
        let n = scaled.len();
        for buffer in [&mut self.u, &mut self.f, &mut self.negative, &mut self.step] {
            buffer.resize(n, 0.0);
        }
        for buffer in [&mut self.response, &mut self.from, &mut self.u_from] {
            buffer.resize(n, 0.0);
        }
        Ok(())
    }

    /// Newton's method from `r`. The number of iterations, and whether the tolerance was reached; `r` is where it ended.
    pub fn solve(&mut self, scaled: &Scaled, target: Target<'_>, r: &mut [f64]) -> (usize, bool) {
        scaled.velocity(r, &mut self.u);
        if target.weight > 0.0 {
            for ((u, r), centre) in self.u.iter_mut().zip(&*r).zip(target.centre) {
                *u += target.weight * (r - centre);
            }
        }
        let mut merit = self.evaluate(scaled, r);
        let mut memory = [merit; MEMORY];
        for iteration in 0..target.max_iterations {
            if merit <= target.tolerance {
                return (iteration, true);
            }
            if !merit.is_finite() {
                return (iteration, false);
            }
            self.linearise(scaled, target.weight, r);
            if !self.system.factor(scaled) {
                return (iteration, false);
            }
            for (b, f) in self.negative.iter_mut().zip(&self.f) {
                *b = -f;
            }
            if !self.system.solve(scaled, &self.negative, &mut self.step) {
                return (iteration, false);
            }
            let largest = memory.iter().copied().fold(0.0, f64::max);
            let Some(next) = self.search(scaled, target.weight, largest, r) else { return (iteration + 1, false) };
            merit = next;
            memory[iteration % MEMORY] = merit;
        }
        (target.max_iterations, merit <= target.tolerance)
    }

    /// ‖F‖ at `r` and `u`.
    fn evaluate(&mut self, scaled: &Scaled, r: &[f64]) -> f64 {
        let width = scaled.pattern.width;
        let mut sum = 0.0;
        for (i, law) in scaled.laws.iter().enumerate() {
            let rows = i * width..i * width + law.size();
            let f = &mut self.f[rows.clone()];
            residual(*law, self.rho[i], &r[rows.clone()], &self.u[rows], f);
            sum += f.iter().map(|f| f * f).sum::<f64>();
        }
        sum.sqrt()
    }

    /// The Jacobian (3).
    fn linearise(&mut self, scaled: &Scaled, weight: f64, r: &[f64]) {
        let width = scaled.pattern.width;
        for (i, law) in scaled.laws.iter().enumerate() {
            let rows = i * width..i * width + law.size();
            let [normal, tangent] = self.rho[i];
            let g = slope(*law, self.rho[i], &r[rows.clone()], &self.u[rows]);
            let block = &mut self.system.diagonal[i];
            for k in 0..9 {
                // J = X + Y W with Y = G ρ
                block.y[k] = g[k] * if k % 3 == 0 { normal } else { tangent };
                block.x[k] = block.y[k] * weight - g[k];
            }
            for k in [0, 4, 8] {
                block.x[k] += 1.0 + SHIFT;
            }
        }
    }

    /// Halves the step until ‖F‖ is below the largest value remembered; `None` if it never is.
    fn search(&mut self, scaled: &Scaled, weight: f64, largest: f64, r: &mut [f64]) -> Option<f64> {
        self.from.copy_from_slice(r);
        self.u_from.copy_from_slice(&self.u);
        for (w, step) in self.response.iter_mut().zip(&self.step) {
            *w = weight * step;
        }
        scaled.pattern.add_mul(&scaled.value, &self.step, &mut self.response);
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            for ((r, from), step) in r.iter_mut().zip(&self.from).zip(&self.step) {
                *r = from + length * step;
            }
            for ((u, from), response) in self.u.iter_mut().zip(&self.u_from).zip(&self.response) {
                *u = from + length * response;
            }
            let merit = self.evaluate(scaled, r);
            if merit <= (1.0 - 1e-4 * length) * largest {
                return Some(merit);
            }
            length *= 0.5;
        }
        r.copy_from_slice(&self.from);
        None
    }
}

fn inverse(w: f64) -> f64 {
    if w > 1e-12 && w.is_finite() { 1.0 / w } else { 1.0 }
}

/// F (1) of one law.
#[inline]
fn residual(law: Law, [normal, tangent]: [f64; 2], r: &[f64], u: &[f64], f: &mut [f64]) {
    let y = r[0] - normal * u[0];
    match (law, r, u) {
        (Law::Equality, ..) => f[0] = r[0] - y,
        (Law::Unilateral, ..) => f[0] = r[0] - y.max(0.0),
        (Law::Box { lower, upper }, ..) => f[0] = r[0] - y.max(lower).min(upper),
        (Law::Coulomb2 { mu }, &[n, t], &[_, v]) => {
            let radius = mu * y.max(0.0);
            f[0] = n - y.max(0.0);
            f[1] = t - (t - tangent * v).max(-radius).min(radius);
        }
        (Law::Coulomb3 { mu }, &[n, s, t], &[_, v, w]) => {
            let radius = mu * y.max(0.0);
            let (a, b) = (s - tangent * v, t - tangent * w);
            let size = (a * a + b * b).sqrt();
            let factor = if size > radius { radius / size } else { 1.0 };
            f[0] = n - y.max(0.0);
            f[1] = s - factor * a;
            f[2] = t - factor * b;
        }
        _ => debug_assert!(false, "rows of a law"),
    }
}

/// An element of the generalised Jacobian of the projections in (1) with respect to y: three by three, row-major.
#[inline]
fn slope(law: Law, [normal, tangent]: [f64; 2], r: &[f64], u: &[f64]) -> [f64; 9] {
    let y = r[0] - normal * u[0];
    let mut g = [0.0; 9];
    match (law, r, u) {
        (Law::Equality, ..) => g[0] = 1.0,
        (Law::Unilateral, ..) => g[0] = if y > 0.0 { 1.0 } else { 0.0 },
        (Law::Box { lower, upper }, ..) => g[0] = if y > lower && y < upper { 1.0 } else { 0.0 },
        (Law::Coulomb2 { mu }, &[_, t], &[_, v]) if y > 0.0 => {
            let a = t - tangent * v;
            g[0] = 1.0;
            match a.abs() < mu * y {
                true => g[4] = 1.0,
                false => g[3] = mu * a.signum(),
            }
        }
        (Law::Coulomb3 { mu }, &[_, s, t], &[_, v, w]) if y > 0.0 => {
            let (a, b) = (s - tangent * v, t - tangent * w);
            let size = (a * a + b * b).sqrt();
            g[0] = 1.0;
            if size < mu * y {
                (g[4], g[8]) = (1.0, 1.0);
            } else if mu > 0.0 {
                let (a, b, ratio) = (a / size, b / size, mu * y / size);
                (g[3], g[6]) = (mu * a, mu * b);
                (g[4], g[5], g[7], g[8]) = (ratio * b * b, -ratio * a * b, -ratio * a * b, ratio * a * a);
            }
        }
        _ => {}
    }
    g
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F of one law at `r` with u = A r + q.
    fn at(law: Law, rho: [f64; 2], a: &[f64; 9], q: &[f64; 3], r: [f64; 3]) -> [f64; 3] {
        let mut u = *q;
        for i in 0..3 {
            for j in 0..3 {
                u[i] += a[3 * i + j] * r[j];
            }
        }
        let mut f = [0.0; 3];
        residual(law, rho, &r[..law.size()], &u[..law.size()], &mut f[..law.size()]);
        f
    }

    /// The Jacobian (3) agrees with differences wherever F is smooth.
    #[test]
    fn slopes_are_derivatives() {
        let a = [1.0, 0.2, -0.1, 0.3, 0.8, 0.05, -0.2, 0.1, 1.2];
        let (rho, h) = ([1.1, 0.9], 1e-6);
        let laws = [
            Law::Equality,
            Law::Unilateral,
            Law::Box { lower: -0.4, upper: 0.3 },
            Law::Coulomb2 { mu: 0.6 },
            Law::Coulomb3 { mu: 0.6 },
            Law::Coulomb3 { mu: 0.0 },
        ];
        for law in laws {
            for k in 1..40 {
                let wave = |f: f64| (f * k as f64).sin();
                let (q, r) = ([wave(0.3), wave(0.9), wave(1.7)], [wave(2.1), wave(2.9), wave(3.7)]);
                let n = law.size();
                let mut r = r;
                r[n..].fill(0.0);
                let mut u = q;
                for i in 0..3 {
                    u[i] += (0..3).map(|j| a[3 * i + j] * r[j]).sum::<f64>();
                }
                let g = slope(law, rho, &r[..n], &u[..n]);
                for j in 0..n {
                    let (mut up, mut down) = (r, r);
                    up[j] += h;
                    down[j] -= h;
                    let (up, down) = (at(law, rho, &a, &q, up), at(law, rho, &a, &q, down));
                    for i in 0..n {
                        let along = |k: usize| rho[k.min(1)] * a[3 * k + j] - f64::from(u8::from(k == j));
                        let exact = f64::from(u8::from(i == j)) + (0..n).map(|k| g[3 * i + k] * along(k)).sum::<f64>();
                        let measured = (up[i] - down[i]) / (2.0 * h);
                        assert!((exact - measured).abs() < 1e-7, "{law:?} {k} {i} {j}: {exact} {measured}");
                    }
                }
            }
        }
    }
}
