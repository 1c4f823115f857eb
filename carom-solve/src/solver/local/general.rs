//! One law with any discs: rolling friction, adhesion, Tresca friction.
//!
//! In units in which the diagonal of each disc has unit mean, the function of Alart and Curnier with `ρ = 1`
//! [alart1991],
//!
//! ```text
//!     F₀ = λ₀ − c,   c = P_[lower, upper](λ₀ − u₀),     F_d = λ_d − P_B(λ_d − u_d),   B = disc of radius_d + μ_d c     (1)
//! ```
//!
//! vanishes where the law holds. Newton's method on it, damped by halved steps, starts at the guess. Where it stalls,
//! the first reaction is bracketed: for a given `λ₀` the discs are a convex problem of their own, solved disc by disc,
//! and
//!
//! ```text
//!     −u₀(λ₀) ∈ N_[lower, upper](λ₀)                                                                (2)
//! ```
//!
//! is one equation for one unknown. It has a solution for every positive definite block: with `λ₀` without bound `u₀ ≤
//! 0` would contradict `λ·Aλ > 0`, because the discs have `λ_d·u_d ≤ 0`. Newton's method is tried again from inside the
//! bracket. The block need not be symmetric.

use super::super::alart_curnier::{residual, slope};
use crate::Law;
use crate::block_lu::invert;
use crate::elementary::hypot;

/// Most rows.
const N: usize = Law::MOST_ROWS;

/// ‖F‖ relative to b, λ and u that counts as solved, and the one that rounding leaves.
const SOLVED: f64 = 1e-13;
const ROUNDING: f64 = 1e-16;

/// Largest ‖F‖ of a solution, relative to what drives the law.
const GROWING: f64 = 1e-3;

/// Newton steps from one start, and halvings of each of them.
const STEPS: usize = 40;
const HALVINGS: usize = 10;

/// Halvings of the bracket, and how many of them come between attempts of Newton's method.
const BISECTIONS: usize = 60;
const BETWEEN: usize = 6;

/// Passes over the discs for one λ₀.
const PASSES: usize = 200;

type Vector = [f64; N];

/// A law and its block, in units of its own.
#[derive(Clone, Debug)]
pub(in crate::solver) struct General {
    law: Law,
    rows: usize,
    a: [f64; N * N], // row-major, N numbers per row; the unit matrix beyond the rows of the law
    unit: Vector,    // √ of the mean diagonal of each row's disc: λ' = unit λ, u' = u / unit
}

/// A point with its velocity and F.
#[derive(Clone, Copy)]
struct Point {
    lambda: Vector,
    u: Vector,
    f: Vector,
    missed: f64, // ‖F‖
    size: f64,   // what it is relative to
}

impl Point {
    fn is_solved(&self, tolerance: f64) -> bool {
        self.missed <= tolerance * self.size
    }
}

impl General {
    /// `block` is row-major.
    pub(in crate::solver) fn new(law: &Law, block: &[f64]) -> General {
        let (rows, unit) = (law.size(), law.units(block));
        let mut a = [0.0; N * N];
        for k in 0..N {
            a[k * N + k] = 1.0;
        }
        for i in 0..rows {
            for j in 0..rows {
                a[i * N + j] = block[i * rows + j] / (unit[i] * unit[j]);
            }
        }
        General { law: law.scaled(|row| unit[row]), rows, a, unit }
    }

    /// `A λ` in the units of the problem.
    pub(in crate::solver) fn own(&self, lambda: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            let row = &self.a[i * N..i * N + self.rows];
            let sum: f64 = row.iter().zip(&self.unit).zip(lambda).map(|((a, unit), lambda)| a * unit * lambda).sum();
            *out = sum * self.unit[i];
        }
    }

    /// Solves the law; `lambda` is the guess on entry.
    pub(in crate::solver) fn solve(&self, b: &[f64], lambda: &mut [f64]) {
        let (mut q, mut guess) = ([0.0; N], [0.0; N]);
        for k in 0..self.rows {
            q[k] = b[k] / self.unit[k];
            guess[k] = if lambda[k].is_finite() { lambda[k] * self.unit[k] } else { 0.0 };
        }
        // nothing approaches, and no disc acts without pressure
        let idle = q[0] >= 0.0 && self.is_idle();
        let mut best = if idle { self.at(&q, [0.0; N]) } else { self.search(&q, guess) };
        // reactions that grow without end while u stays where it is are no solution
        if best.missed > GROWING * (norm(&q) + self.law.driving().sqrt()) {
            best = self.at(&q, [0.0; N]);
        }
        for (k, lambda) in lambda.iter_mut().enumerate() {
            *lambda = best.lambda[k] / self.unit[k];
        }
    }

    /// Whether no reaction is one of the law for every velocity that does not approach.
    fn is_idle(&self) -> bool {
        self.law.bounds().0 == 0.0 && self.law.discs().all(|(_, disc)| disc.radius == 0.0)
    }

    fn at(&self, q: &Vector, lambda: Vector) -> Point {
        let n = self.rows;
        let (mut u, mut f) = (*q, [0.0; N]);
        for (u, row) in u[..n].iter_mut().zip(self.a.chunks_exact(N)) {
            *u += row[..n].iter().zip(&lambda).map(|(a, x)| a * x).sum::<f64>();
        }
        residual(&self.law, &[1.0; N], &lambda[..n], &u[..n], &mut f[..n]);
        let size = norm(q).max(norm(&lambda)).max(norm(&u));
        Point { lambda, u, f, missed: norm(&f), size }
    }

    /// Newton's method from the guess, from no reaction, then from inside a bracket; the best point.
    fn search(&self, q: &Vector, guess: Vector) -> Point {
        let mut best = self.newton(q, guess);
        for start in [[0.0; N], self.stick(q)] {
            if best.is_solved(SOLVED) {
                return best;
            }
            best = better(best, self.newton(q, start));
        }
        if best.is_solved(SOLVED) { best } else { self.bracket(q, best) }
    }

    /// −A⁻¹ q.
    fn stick(&self, q: &Vector) -> Vector {
        let inverse = invert::<N, { N * N }>(&self.a, &self.a);
        mul(&inverse, q).map(|x| -x)
    }

    /// Newton's method on (1) with halved steps, until nothing is gained.
    fn newton(&self, q: &Vector, start: Vector) -> Point {
        let mut point = self.at(q, start);
        for _ in 0..STEPS {
            if point.is_solved(ROUNDING) || !point.missed.is_finite() {
                break;
            }
            let step = self.step(&point);
            let mut length = 1.0;
            let shorter = (0..HALVINGS).find_map(|_| {
                let next = self.at(q, std::array::from_fn(|k| point.lambda[k] - length * step[k]));
                let gained = next.missed < (1.0 - 1e-4 * length) * point.missed;
                length *= 0.5;
                gained.then_some(next)
            });
            match shorter {
                Some(next) => point = next,
                None => break,
            }
        }
        point
    }

    /// J⁻¹ F with J = I − G + G A.
    fn step(&self, point: &Point) -> Vector {
        let n = self.rows;
        let mut g = [0.0; N * N];
        slope(&self.law, &[1.0; N], &point.lambda[..n], &point.u[..n], &mut g, N);
        let mut j = [0.0; N * N];
        for row in 0..N {
            for column in 0..N {
                let unit = |k: usize| if k == column { 1.0 } else { 0.0 };
                let along = (0..n).map(|k| g[row * N + k] * (unit(k) - self.a[k * N + column])).sum::<f64>();
                j[row * N + column] = unit(row) - along;
            }
        }
        mul(&invert::<N, { N * N }>(&j, &j), &point.f)
    }

    /// Solves (2) by bisection, with Newton's method from inside now and then. The best point.
    #[cold]
    fn bracket(&self, q: &Vector, mut best: Point) -> Point {
        let (lower, upper) = self.law.bounds();
        let mut x = best.lambda;
        let (mut low, mut high) = (lower, upper);
        for end in [lower, upper].into_iter().filter(|end| end.is_finite()) {
            best = better(best, self.discs(q, end, &mut x));
        }
        // a finite bracket, as far as one is needed
        let mut reach = norm(q).max(1e-300);
        for _ in 0..BISECTIONS {
            if low > f64::NEG_INFINITY && high < f64::INFINITY {
                break;
            }
            let from = if low > f64::NEG_INFINITY { low } else { high.min(0.0) };
            let end = if high == f64::INFINITY { from.max(0.0) + reach } else { from - reach };
            let point = self.discs(q, end, &mut x);
            best = better(best, point);
            match point.u[0] < 0.0 {
                true => low = end,
                false => high = end,
            }
            reach *= 4.0;
        }
        for k in 1..=BISECTIONS {
            let point = self.discs(q, 0.5 * (low + high), &mut x);
            best = better(best, point);
            if k % BETWEEN == 0 {
                best = better(best, self.newton(q, point.lambda));
            }
            if best.is_solved(SOLVED) {
                break;
            }
            match point.u[0] < 0.0 {
                true => low = point.lambda[0],
                false => high = point.lambda[0],
            }
        }
        best
    }

    /// The reactions of all discs for a given first one, disc by disc.
    fn discs(&self, q: &Vector, first: f64, x: &mut Vector) -> Point {
        x[0] = first;
        for _ in 0..PASSES {
            let (mut change, mut size) = (0.0f64, 0.0f64);
            for (rows, disc) in self.law.discs() {
                let radius = (disc.radius + disc.mu * first).max(0.0);
                let old = *x;
                x[rows.clone()].fill(0.0);
                let c = |k: usize| q[k] + (0..self.rows).map(|j| self.a[k * N + j] * x[j]).sum::<f64>();
                let at = rows.start;
                let a = |i: usize, j: usize| self.a[(at + i) * N + at + j];
                match rows.len() {
                    1 => {
                        let c = c(at);
                        x[at] = if a(0, 0) > 0.0 { -c / a(0, 0) } else { -c.signum() * radius };
                        x[at] = x[at].max(-radius).min(radius);
                    }
                    _ => {
                        let c = [c(at), c(at + 1)];
                        [x[at], x[at + 1]] = in_disc([a(0, 0), a(0, 1), a(1, 0), a(1, 1)], c, radius);
                    }
                }
                for k in rows {
                    change = change.max((x[k] - old[k]).abs());
                    size = size.max(x[k].abs());
                }
            }
            if change <= 1e-12 * size {
                break;
            }
        }
        self.at(q, *x)
    }
}

/// `−(A x + c) ∈ N(x)` on the disc of this radius: inside, or `x = −(A + ηI)⁻¹ c` with the η that brings it to the
/// boundary.
fn in_disc(a: [f64; 4], c: [f64; 2], radius: f64) -> [f64; 2] {
    let at = |eta: f64| {
        let (p, s) = (a[0] + eta, a[3] + eta);
        let determinant = p * s - a[1] * a[2];
        [(a[1] * c[1] - s * c[0]) / determinant, (a[2] * c[0] - p * c[1]) / determinant]
    };
    let length = |x: [f64; 2]| hypot(x[0], x[1]);
    let inside = at(0.0);
    if length(inside) <= radius {
        return inside;
    }
    if radius == 0.0 {
        return [0.0; 2];
    }
    // 1/‖x‖ is nearly a line in η: its secant is nearly the root, halves are the safeguard
    let (mut low, mut high) = (0.0, length(c) / radius);
    let mut x = at(high);
    for k in 0..100 {
        let miss = |eta: f64| 1.0 / length(at(eta)) - 1.0 / radius;
        let (below, above) = (miss(low), miss(high));
        let secant = (low * above - high * below) / (above - below);
        let eta = if k % 3 < 2 && secant > low && secant < high { secant } else { 0.5 * (low + high) };
        x = at(eta);
        let size = length(x);
        if (size - radius).abs() <= 1e-15 * radius || eta == low || eta == high {
            break;
        }
        match size > radius {
            true => low = eta,
            false => high = eta,
        }
    }
    let size = length(x);
    x.map(|x| x * radius / size)
}

fn better(a: Point, b: Point) -> Point {
    // written so that what is not a number loses
    if b.missed * a.size < a.missed * b.size || !a.missed.is_finite() { b } else { a }
}

fn mul(a: &[f64; N * N], x: &Vector) -> Vector {
    std::array::from_fn(|i| (0..N).map(|j| a[i * N + j] * x[j]).sum())
}

fn norm(x: &Vector) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests;
