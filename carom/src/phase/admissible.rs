//! Reactions of redundant contacts: one of many that is inside all cones, if there is one.
//!
//! ```text
//!     λ = λ₀ + Z z,   B Z = 0,          m = μ λ_N − |λ_T| of a contact that sticks, λ_N of others                  (1)
//!     least s with m + s ≥ 0 at all contacts, over z:   min  τ s − Σ log(m + s)(μ λ_N + |λ_T| + s),   τ → ∞        (2)
//! ```
//!
//! Where all contacts stick, accelerations do not depend on z: contacts can be held as long as the least s is not
//! positive, whatever λ a solver finds. λ₀ is the λ of least norm. Where it is outside a cone, the z found last is
//! tried, and then Newton's method on the barrier of (2) [boyd2004], which ends as soon as its sign is known.
//!
//! Where redundant contacts slip in different directions, friction depends on z, and rigid bodies do not tell the
//! motion. What is taken is the λ of least norm among those that push, as of contacts that give way a little and alike:
//!
//! ```text
//!     min |z|²  with  λ_N = λ₀ + Z z ≥ 0,    z = Zᵀ y,   0 ≤ y ⊥ λ₀ + Z Zᵀ y ≥ 0                                  (3)
//! ```
//!
//! It is a continuous function of the state, so that a flow can follow it. (3) is solved row by row, as is good for the
//! few contacts that do not push.

use super::ranked::RankedLu;
use carom_solve::elementary::ln;

/// A null vector that changes accelerations by more than this part of the largest term is none.
const NULL: f64 = 1e-9;

/// Most steps of Newton's method for one τ, and halvings of one.
const STEPS: u32 = 24;
const HALVINGS: u32 = 40;

/// Factor on τ, and the part of the size of λ to which the least s is found.
const GROWTH: f64 = 8.0;
const EXACT: f64 = 1e-12;

/// Contacts that are inside by this part of the size of λ are far enough inside.
const ENOUGH: f64 = 0.05;

/// Most sweeps over the rows of (3), and the part of the size of λ to which they are solved.
const SWEEPS: u32 = 200;
const PUSHES: f64 = 1e-14;

/// Rows of one contact among those held: the normal and those along which it sticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    /// First row.
    pub first: usize,
    /// Number of rows; with one of them λ_N is not negative.
    pub size: usize,
    /// Coefficient of friction.
    pub mu: f64,
}

carom_solve::persist!(Cone { first, size, mu });

impl Cone {
    /// Weight of the normal.
    fn weight(&self) -> f64 {
        if self.size == 1 { 1.0 } else { self.mu }
    }

    /// μ λ_N or λ_N, and |λ_T|.
    fn sides(&self, x: &[f64]) -> (f64, f64) {
        let tangent = x[self.first + 1..self.first + self.size].iter().map(|x| x * x).sum::<f64>().sqrt();
        (self.weight() * x[self.first], tangent)
    }
}

/// Buffers of the search.
#[derive(Clone, Debug, Default)]
pub struct Admissible {
    /// The contacts among the rows held.
    pub cones: Vec<Cone>,
    null: Vec<f64>,                // (nullity × m) Z, orthonormal rows
    is_neutral: bool,              // whether accelerations do not depend on z
    dual: Vec<f64>,                // (m) y of (3)
    last: (Option<u64>, Vec<f64>), // λ found last, and the phase
    base: Vec<f64>,                // (m) λ₀
    x: Vec<f64>,                   // (m)
    z: Vec<f64>,                   // (nullity + 1) z and s
    step: Vec<f64>,
    trial: Vec<f64>,
    gradient: Vec<f64>,
    hessian: RankedLu,
    product: Vec<f64>, // (nullity + 1) of a row of the Hessian
}

carom_solve::persist!(Admissible {
    cones,
    null,
    is_neutral,
    dual,
    last,
    base,
    x,
    z,
    step,
    trial,
    gradient,
    hessian,
    product,
});

impl Admissible {
    /// Z from the matrix factored in `system`, whose columns act by `response` (m × n), and λ ← the λ of least norm,
    /// among those that push at the rows `normals` where accelerations depend on it.
    pub fn least_norm(
        &mut self,
        system: &RankedLu,
        response: &[f64],
        normals: impl Iterator<Item = usize> + Clone,
        lambda: &mut [f64],
    ) {
        let m = lambda.len();
        system.null_space(&mut self.null);
        self.orthonormalise(m);
        self.is_neutral = self.is_null(m, response);
        for z in self.null.chunks_exact(m.max(1)) {
            let along = dot(z, lambda);
            lambda.iter_mut().zip(z).for_each(|(x, z)| *x -= along * z);
        }
        if !self.is_neutral {
            self.push(normals, lambda);
        }
    }

    /// (3) at the rows `normals`, from the λ of least norm.
    fn push(&mut self, normals: impl Iterator<Item = usize> + Clone, lambda: &mut [f64]) {
        let m = lambda.len();
        let least = PUSHES * lambda.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        self.dual.clear();
        self.dual.resize(m, 0.0);
        for _ in 0..SWEEPS {
            let mut worst = 0.0f64;
            for i in normals.clone() {
                let square: f64 = self.null.chunks_exact(m).map(|z| z[i] * z[i]).sum();
                let wanted = self.dual[i] - lambda[i] / square.max(f64::MIN_POSITIVE);
                let change = wanted.max(0.0) - self.dual[i];
                // a row that no z moves stays as it is
                if square <= NULL || change == 0.0 {
                    continue;
                }
                self.dual[i] += change;
                worst = worst.max((change * square).abs());
                for z in self.null.chunks_exact(m) {
                    let along = change * z[i];
                    lambda.iter_mut().zip(z).for_each(|(x, z)| *x += along * z);
                }
            }
            if worst <= least {
                break;
            }
        }
    }

    fn orthonormalise(&mut self, m: usize) {
        let count = self.null.len() / m.max(1);
        for k in 0..count {
            let (before, this) = self.null.split_at_mut(k * m);
            let this = &mut this[..m];
            // twice is enough
            for _ in 0..2 {
                for other in before.chunks_exact(m) {
                    let along = dot(other, this);
                    this.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
                }
                let norm = dot(this, this).sqrt();
                this.iter_mut().for_each(|x| *x /= norm);
            }
        }
    }

    /// Whether Z leaves accelerations alone: it may not where contacts slip, for then W is not symmetric.
    fn is_null(&self, m: usize, response: &[f64]) -> bool {
        let n = response.len().checked_div(m).unwrap_or(0);
        self.null.chunks_exact(m.max(1)).all(|z| {
            let terms = |j: usize| z.iter().zip(response.chunks_exact(n)).map(move |(z, r)| z * r[j]);
            let size = (0..n).map(|j| terms(j).map(f64::abs).sum::<f64>()).fold(0.0, f64::max);
            (0..n).all(|j| terms(j).sum::<f64>().abs() <= NULL * size)
        })
    }

    /// λ, which has the least norm, ← one inside all cones, or one that is outside by as little as possible. `version`
    /// is that of the phase.
    pub fn search(&mut self, version: u64, lambda: &mut [f64]) {
        let m = lambda.len();
        let largest = lambda.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        if !self.is_neutral
            || self.null.is_empty()
            || self.cones.is_empty()
            || largest < f64::MIN_POSITIVE
            || !largest.is_finite()
        {
            return;
        }
        // logarithms have no units: in those of a power of two near the largest λ nothing is rounded
        let unit = f64::from_bits(largest.to_bits() & f64::INFINITY.to_bits());
        let scale = largest / unit;
        let nullity = self.null.len() / m;
        self.base.clear();
        self.base.extend(lambda.iter().map(|x| x / unit));
        self.z.clear();
        self.z.resize(nullity + 1, 0.0);
        if self.last.0 == Some(version) && self.last.1.len() == m {
            for (z, row) in self.z.iter_mut().zip(self.null.chunks_exact(m)) {
                *z = row.iter().zip(&self.last.1).zip(&self.base).map(|((n, last), x)| n * (last / unit - x)).sum();
            }
        }
        move_to(&self.base, &self.null, &self.z, &mut self.x);
        if self.outside() >= 0.0 {
            self.descend(scale);
        }
        lambda.iter_mut().zip(&self.x).for_each(|(lambda, x)| *lambda = x * unit);
        self.last.0 = Some(version);
        self.last.1.clear();
        self.last.1.extend_from_slice(lambda);
    }

    /// By how much the worst contact is outside at `x`.
    fn outside(&self) -> f64 {
        let outside = |cone: &Cone| {
            let (a, t) = cone.sides(&self.x);
            t - a
        };
        self.cones.iter().map(outside).fold(f64::NEG_INFINITY, f64::max)
    }

    /// (2) until the sign of s is known, with `x` as the result.
    fn descend(&mut self, scale: f64) {
        let d = self.z.len();
        let parameter = self.cones.iter().map(|cone| if cone.size == 1 { 1.0 } else { 2.0 }).sum::<f64>();
        self.z[d - 1] = self.outside() + scale;
        let mut tau = parameter / scale;
        while parameter > EXACT * scale * tau {
            for _ in 0..STEPS {
                self.differentiate(tau);
                self.step.clear();
                self.step.extend(self.gradient.iter().map(|g| -g));
                self.hessian.solve(&mut self.step);
                let decrement = -dot(&self.step, &self.gradient);
                if !(decrement > 1e-6 && self.shorten(tau, decrement)) {
                    break;
                }
                if self.outside() <= -ENOUGH * scale {
                    return;
                }
            }
            let outside = self.outside();
            // inside, or outside for certain
            if outside < 0.0 || self.z[d - 1] - parameter / tau > 0.0 {
                return;
            }
            tau *= GROWTH;
        }
    }

    /// Goes along `step` as far as (2) falls; returns whether it does.
    fn shorten(&mut self, tau: f64, decrement: f64) -> bool {
        let now = self.value(tau, self.z[self.z.len() - 1]);
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            self.trial.clear();
            self.trial.extend(self.z.iter().zip(&self.step).map(|(z, d)| z + length * d));
            move_to(&self.base, &self.null, &self.trial, &mut self.x);
            if self.value(tau, self.trial[self.trial.len() - 1]) <= now - 0.1 * length * decrement {
                std::mem::swap(&mut self.z, &mut self.trial);
                return true;
            }
            length *= 0.5;
        }
        move_to(&self.base, &self.null, &self.z, &mut self.x);
        false
    }

    /// The barrier of (2) at `x` and s; infinite outside.
    fn value(&self, tau: f64, s: f64) -> f64 {
        let barrier = |cone: &Cone| {
            let (a, t) = cone.sides(&self.x);
            match (a + s - t, cone.size) {
                (m, _) if m <= 0.0 => f64::INFINITY,
                (m, 1) => -ln(m),
                (m, _) => -ln(m * (a + s + t)),
            }
        };
        self.cones.iter().map(barrier).sum::<f64>() + tau * s
    }

    /// Gradient and Hessian of (2) over z and s, at `x`.
    fn differentiate(&mut self, tau: f64) {
        let (d, m) = (self.z.len(), self.x.len());
        let s = self.z[d - 1];
        let Admissible { cones, null, x, gradient, hessian, product, .. } = self;
        gradient.clear();
        gradient.resize(d, 0.0);
        gradient[d - 1] = tau;
        let h = hessian.matrix_mut(d);
        // the derivative along z_k (or s) of a row of a cone
        let along = |cone: &Cone, row: usize, k: usize| match (row, k + 1 == d) {
            (0, true) => 1.0,
            (_, true) => 0.0,
            (0, false) => cone.weight() * null[k * m + cone.first],
            (_, false) => null[k * m + cone.first + row],
        };
        for cone in cones.iter() {
            let (a, t) = cone.sides(x);
            let a = a + s;
            // first and second derivatives in (a, λ_T)
            let det = if cone.size == 1 { a } else { (a - t) * (a + t) };
            let value = |row: usize| if row == 0 { a } else { x[cone.first + row] };
            for row in 0..cone.size {
                let first = match (row, cone.size) {
                    (_, 1) => -1.0 / det,
                    (0, _) => -2.0 * a / det,
                    _ => 2.0 * value(row) / det,
                };
                product.clear();
                product.resize(d, 0.0);
                for other in 0..cone.size {
                    let second = match (row, other, cone.size) {
                        (_, _, 1) => 1.0 / (det * det),
                        (0, 0, _) => 2.0 * (a * a + t * t) / (det * det),
                        (0, _, _) | (_, 0, _) => -4.0 * value(row) * value(other) / (det * det),
                        _ => {
                            let diagonal = if row == other { 2.0 / det } else { 0.0 };
                            diagonal + 4.0 * value(row) * value(other) / (det * det)
                        }
                    };
                    for (k, product) in product.iter_mut().enumerate() {
                        *product += second * along(cone, other, k);
                    }
                }
                for k in 0..d {
                    let factor = along(cone, row, k);
                    gradient[k] += factor * first;
                    h[k * d..(k + 1) * d].iter_mut().zip(product.iter()).for_each(|(h, p)| *h += factor * p);
                }
            }
        }
        hessian.factor();
    }
}

/// `x ← λ₀ + Z z`; entries of z beyond those of Z do not count.
fn move_to(base: &[f64], null: &[f64], z: &[f64], x: &mut Vec<f64>) {
    x.clear();
    x.extend_from_slice(base);
    for (z, row) in z.iter().zip(null.chunks_exact(base.len().max(1))) {
        x.iter_mut().zip(row).for_each(|(x, n)| *x += z * n);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
