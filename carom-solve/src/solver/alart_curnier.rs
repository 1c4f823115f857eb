//! Semismooth Newton method on the function of Alart and Curnier [alart1991], for any mixture of laws, in scaled
//! variables.
//!
//! With `y_N = r_N − ρ_N u_N`, `y_T = r_T − ρ_T u_T` and the disc `B(μ max(y_N, 0))` of the tangential forces,
//!
//! ```text
//!     F_N = r_N − max(y_N, 0),   F_T = r_T − P_B(y_T),   ρ_N = 1/W_NN,   ρ_T = 2/(W_11 + W_22)        (1)
//!     u = (W + a I) r + q − a r_k                                                                  (2)
//!     J = I − G + G ρ (W + a I),   G ∈ ∂P(y)                                                       (3)
//! ```
//!
//! where `a = 0` is the problem itself and `a > 0` a proximal step about `r_k`. Other laws have the projection on their
//! own interval in place of `max(y_N, 0)`, and one `F_T` for each of their discs. Steps solve `J Δr = −F` and are
//! halved until `‖F‖` falls below the largest of its last five values.

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
    rho: Vec<[f64; 3]>, // (laws) ρ of each row
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
            let mut rho = [inverse(block[0]), 1.0, 1.0];
            for (rows, disc) in law.discs() {
                let trace: f64 = rows.clone().map(|t| block[t * width + t]).sum();
                rho[rows].fill(inverse(trace / f64::from(disc.rows)));
            }
            rho
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

    /// Newton's method from `r`. The number of iterations, and whether the tolerance was reached; `r` is where it
    /// ended.
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
            residual(law, &self.rho[i], &r[rows.clone()], &self.u[rows], f);
            sum += f.iter().map(|f| f * f).sum::<f64>();
        }
        sum.sqrt()
    }

    /// The Jacobian (3).
    fn linearise(&mut self, scaled: &Scaled, weight: f64, r: &[f64]) {
        let width = scaled.pattern.width;
        for (i, law) in scaled.laws.iter().enumerate() {
            let rows = i * width..i * width + law.size();
            let mut g = [0.0; 9];
            slope(law, &self.rho[i], &r[rows.clone()], &self.u[rows], &mut g, 3);
            let block = &mut self.system.diagonal[i];
            for k in 0..9 {
                // J = X + Y W with Y = G ρ
                block.y[k] = g[k] * self.rho[i][k % 3];
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

/// F (1) of one law, with a ρ for each row that is the same within a disc.
#[inline]
pub(super) fn residual(law: &Law, rho: &[f64], r: &[f64], u: &[f64], f: &mut [f64]) {
    let (lower, upper) = law.bounds();
    let normal = (r[0] - rho[0] * u[0]).max(lower).min(upper);
    f[0] = r[0] - normal;
    for (rows, disc) in law.discs() {
        let radius = (disc.radius + disc.mu * normal).max(0.0);
        let mut square = 0.0;
        for k in rows.clone() {
            f[k] = r[k] - rho[k] * u[k];
            square += f[k] * f[k];
        }
        let size = square.sqrt();
        let factor = if size > radius { radius / size } else { 1.0 };
        for k in rows {
            f[k] = r[k] - factor * f[k];
        }
    }
}

/// An element of the generalised Jacobian of the projections in (1) with respect to y: row-major, `width` numbers per
/// row.
#[inline]
pub(super) fn slope(law: &Law, rho: &[f64], r: &[f64], u: &[f64], g: &mut [f64], width: usize) {
    let (lower, upper) = law.bounds();
    let y = r[0] - rho[0] * u[0];
    let inside = if y > lower && y < upper { 1.0 } else { 0.0 };
    g.fill(0.0);
    g[0] = inside;
    for (rows, disc) in law.discs() {
        let radius = disc.radius + disc.mu * y.max(lower).min(upper);
        let at = |k: usize| r[k] - rho[k] * u[k];
        let size = rows.clone().map(|k| at(k) * at(k)).sum::<f64>().sqrt();
        for k in rows.clone() {
            if size < radius {
                g[k * width + k] = 1.0;
            } else if radius > 0.0 {
                let (along, ratio) = (at(k) / size, radius / size);
                g[k * width] = disc.mu * along * inside;
                for c in rows.clone() {
                    g[k * width + c] = -ratio * along * (at(c) / size);
                }
                g[k * width + k] += ratio;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Disc;

    const N: usize = Law::MOST_ROWS;

    /// u = A r + q, for a well conditioned A without symmetry.
    fn velocity(q: &[f64; N], r: &[f64; N]) -> [f64; N] {
        let entry = |i: usize, j: usize| if i == j { 1.0 } else { 0.2 * (3.0 * i as f64 + j as f64).sin() };
        std::array::from_fn(|i| q[i] + (0..N).map(|j| entry(i, j) * r[j]).sum::<f64>())
    }

    /// The slopes G along a direction agree with differences wherever F is smooth: ΔF = Δr − G (Δr − ρ Δu).
    #[test]
    fn slopes_are_derivatives() {
        let rho = [1.1, 0.9, 0.9, 0.7, 0.7, 1.3];
        let (slide, roll, spin) = (Disc::cone(2, 0.6), Disc { rows: 2, mu: 0.3, radius: 0.2 }, Disc::cone(1, 0.4));
        let laws = [
            Law::EQUALITY,
            Law::UNILATERAL,
            Law::interval(-0.4, 0.3),
            Law::coulomb(0.6, 1),
            Law::coulomb(0.6, 2),
            Law::coulomb(0.0, 2),
            Law::tresca(0.5, 2),
            Law::adhesion(0.5, 0.6, 1),
            Law::rolling(0.6, 0.3, 0.4),
            Law::new(-0.3, 0.4, [slide, roll, spin]),
        ];
        let h = 1e-6;
        for law in laws {
            for k in 1..40 {
                let wave = |f: f64| (f * f64::from(k)).sin();
                let n = law.size();
                let q = [0.3, 0.9, 1.7, 0.5, 1.1, 2.3].map(wave);
                let mut r = [2.1, 2.9, 3.7, 4.3, 1.3, 0.7].map(wave);
                r[n..].fill(0.0);
                let mut g = [0.0; N * N];
                let u = velocity(&q, &r);
                slope(&law, &rho[..n], &r[..n], &u[..n], &mut g, N);
                for j in 0..n {
                    let at = |h: f64| {
                        let (mut r, mut f) = (r, [0.0; N]);
                        r[j] += h;
                        residual(&law, &rho[..n], &r[..n], &velocity(&q, &r)[..n], &mut f[..n]);
                        f
                    };
                    let (up, down) = (at(h), at(-h));
                    let unit: [f64; N] = std::array::from_fn(|k| f64::from(u8::from(k == j)));
                    let response = velocity(&[0.0; N], &unit);
                    for i in 0..n {
                        let exact =
                            unit[i] - (0..n).map(|k| g[N * i + k] * (unit[k] - rho[k] * response[k])).sum::<f64>();
                        let measured = (up[i] - down[i]) / (2.0 * h);
                        assert!((exact - measured).abs() < 1e-7, "{law:?} {k} {i} {j}: {exact} {measured}");
                    }
                }
            }
        }
    }
}
