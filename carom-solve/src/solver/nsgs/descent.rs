//! Descent of the residual itself, for sweeps that wander.
//!
//! Where bodies slide freely with much friction, sweeps do not settle: they wander round points with a residual some
//! times smaller than theirs. In the scaled variables of the certificate the residual is the size of
//!
//! ```text
//!     F(λ) = λ − P(λ − u − μ‖u_T‖ n),   u = W λ + b                                          (1)
//! ```
//!
//! and its square is lowered by Gauss-Newton steps with Levenberg's damping [levenberg1944], each one by conjugate
//! gradients for least squares [hestenes1952] on products with `W` and its transpose; nothing is factored. In the plane
//! of normal and slip direction the projection is `P(z) = max(α, 0) e + min(β, 0) f` with the ray `e` of the cone and
//! the normal `f` to it. Steps across its kinks fail; so the kinks are rounded,
//!
//! ```text
//!     max(x, 0) → (x + √(x² + 4ε²))/2,     ‖x‖ → √(‖x‖² + ε²)                                (2)
//! ```
//!
//! with ε first as large as three times the mean of what is missed. Where steps no longer help they are solved with
//! more products, then ε is halved.

use super::pairs::{Coupled, Pairs};
use super::shared;

/// First ε, in roots of the mean square of F, and the part of it at which a descent ends.
const ROUND: f64 = 3.0;
const SHARP: f64 = 0.05;

/// Products with the matrix within a step, at first and at most, and the part of the first gradient's square at which
/// they end.
const PRODUCTS: usize = 200;
const MANY: usize = 1600;
const ENOUGH: f64 = 1e-4;

/// Tries of a step, each shorter by this factor.
const TRIES: usize = 4;
const SHORTER: f64 = 0.4;

/// A step that leaves more than this part of the square helps little.
const LITTLE: f64 = 0.98;

/// First damping, and its bounds.
const DAMPING: f64 = 1e-3;
const LEAST: f64 = 1e-9;
const MOST: f64 = 1.0;

type Matrix<const N: usize> = [[f64; N]; N];

/// Where a descent is, and its workspace, in the order of the sweep.
#[derive(Default)]
pub(super) struct Descent<const N: usize> {
    rounding: f64, // ε
    sharp: f64,    // the ε that ends it
    damping: f64,
    idle: u32, // steps in a row that helped little
    products: usize,
    most: usize,               // products of a step
    missed: Vec<[f64; N]>,     // F
    by_lambda: Vec<Matrix<N>>, // ∂F/∂λ with u held
    by_u: Vec<Matrix<N>>,      // ∂F/∂u
    change: Vec<[f64; N]>,     // of λ
    left: Vec<[f64; N]>,       // −F − J change
    gradient: Vec<[f64; N]>,
    direction: Vec<[f64; N]>,
    image: Vec<[f64; N]>, // J direction
    product: Vec<[f64; N]>,
    y: Vec<f64>,
}

impl<const N: usize> Descent<N> {
    /// Products with the matrix so far.
    pub(super) fn products(&self) -> usize {
        self.products
    }

    pub(super) fn is_over(&self) -> bool {
        self.rounding <= self.sharp
    }

    fn prepare(&mut self, laws: usize, dofs: usize) {
        let Descent { missed, change, left, gradient, direction, image, product, .. } = self;
        for vector in [missed, change, left, gradient, direction, image, product] {
            vector.clear();
            vector.resize(laws, [0.0; N]);
        }
        for matrices in [&mut self.by_lambda, &mut self.by_u] {
            matrices.clear();
            matrices.resize(laws, [[0.0; N]; N]);
        }
        self.y.clear();
        self.y.resize(dofs, 0.0);
    }
}

impl<const N: usize, const K: usize, A: Coupled<N>> Pairs<N, K, A> {
    /// Begins a descent from the present point.
    pub(super) fn begin_descent(&mut self, descent: &mut Descent<N>) {
        descent.prepare(self.place.len(), self.y.len());
        let square = self.square_missed(0.0);
        descent.rounding = ROUND * (square / (N * self.place.len()) as f64).sqrt();
        descent.sharp = SHARP / ROUND * descent.rounding;
        (descent.damping, descent.idle, descent.products, descent.most) = (DAMPING, 0, 0, PRODUCTS);
    }

    /// One step of the descent, or none where it would not help.
    pub(super) fn descend(&mut self, descent: &mut Descent<N>) {
        let before = self.linearise(descent);
        let products = descent.products;
        let predicted = self.least_squares(descent);
        let (mut length, mut done, mut after) = (1.0, 0.0, before);
        for _ in 0..TRIES {
            self.shift(&descent.change, length - done);
            (done, after) = (length, self.square_missed(descent.rounding));
            if after < before {
                break;
            }
            length *= SHORTER;
        }
        let is_lower = after < before;
        if !is_lower {
            self.shift(&descent.change, -done);
            descent.damping *= 10.0;
            after = before;
        } else if done < 1.0 {
            descent.damping *= 3.0;
        } else if before - after > 0.5 * (before - predicted) {
            descent.damping = (0.3 * descent.damping).max(LEAST);
        }
        descent.idle = if after > LITTLE * before { descent.idle + 1 } else { 0 };
        // what is left may lie along directions that a few products do not see
        if descent.idle >= 2 && descent.products - products == descent.most && descent.most < MANY {
            descent.most *= 2;
            descent.idle = 0;
        }
        if descent.idle >= 2 || descent.damping > MOST {
            descent.rounding *= 0.5;
            descent.idle = 0;
            descent.damping = descent.damping.min(DAMPING);
        }
    }

    /// ‖F‖² with rounded kinks.
    fn square_missed(&mut self, rounding: f64) -> f64 {
        let y = shared::cells(&mut self.y);
        let mut sum = 0.0;
        for ((place, lambda), scale) in self.place.iter().zip(&self.lambda).zip(&self.scale) {
            let (u, root) = (place.pull(place.at, y), scale.sqrt());
            let f = natural::<N>(place.mu, lambda.map(|x| x * root), u.map(|x| x / root), rounding).0;
            sum += f.iter().map(|x| x * x).sum::<f64>();
        }
        sum
    }

    /// F and its derivatives at the present point; ‖F‖².
    fn linearise(&mut self, descent: &mut Descent<N>) -> f64 {
        let y = shared::cells(&mut self.y);
        let mut sum = 0.0;
        for (i, ((place, lambda), scale)) in self.place.iter().zip(&self.lambda).zip(&self.scale).enumerate() {
            let (u, root) = (place.pull(place.at, y), scale.sqrt());
            let (lambda, u) = (lambda.map(|x| x * root), u.map(|x| x / root));
            let (f, by_lambda, by_u) = natural(place.mu, lambda, u, descent.rounding);
            sum += f.iter().map(|x| x * x).sum::<f64>();
            (descent.missed[i], descent.by_lambda[i], descent.by_u[i]) = (f, by_lambda, by_u);
        }
        sum
    }

    /// λ ← λ + t change, and y with it.
    fn shift(&mut self, change: &[[f64; N]], t: f64) {
        let y = shared::cells(&mut self.y);
        for (i, (place, lambda)) in self.place.iter().zip(&mut self.lambda).enumerate() {
            let step = change[i].map(|x| t * x / self.scale[i].sqrt());
            lambda.iter_mut().zip(step).for_each(|(x, step)| *x += step);
            place.push(place.arms(&self.back, i), step, place.at, y);
        }
    }

    /// The change that lowers ‖F + J change‖² + damping ‖change‖²; the first of these squares.
    fn least_squares(&self, d: &mut Descent<N>) -> f64 {
        d.change.fill([0.0; N]);
        d.left.iter_mut().zip(&d.missed).for_each(|(left, f)| *left = f.map(|x| -x));
        self.transposed(d);
        let mut square = dot(&d.gradient, &d.gradient);
        let enough = ENOUGH * square;
        d.direction.copy_from_slice(&d.gradient);
        for _ in 0..d.most {
            if square <= enough {
                break;
            }
            self.forward(d);
            d.products += 1;
            let size = dot(&d.image, &d.image) + d.damping * dot(&d.direction, &d.direction);
            let length = square / size;
            add(&mut d.change, length, &d.direction);
            add(&mut d.left, -length, &d.image);
            self.transposed(d);
            add(&mut d.gradient, -d.damping, &d.change);
            let next = dot(&d.gradient, &d.gradient);
            let ratio = next / square;
            square = next;
            for (direction, gradient) in d.direction.iter_mut().zip(&d.gradient) {
                *direction = std::array::from_fn(|k| gradient[k] + ratio * direction[k]);
            }
        }
        dot(&d.left, &d.left)
    }

    /// image ← J direction.
    fn forward(&self, d: &mut Descent<N>) {
        self.multiply(false, &d.direction, &mut d.y, &mut d.product);
        for (i, image) in d.image.iter_mut().enumerate() {
            let (x, u) = (d.direction[i], d.product[i]);
            *image = std::array::from_fn(|k| {
                (0..N).map(|l| d.by_lambda[i][k][l] * x[l] + d.by_u[i][k][l] * u[l]).sum::<f64>()
            });
        }
    }

    /// gradient ← Jᵀ left.
    fn transposed(&self, d: &mut Descent<N>) {
        for (i, image) in d.image.iter_mut().enumerate() {
            *image = std::array::from_fn(|l| (0..N).map(|k| d.by_u[i][k][l] * d.left[i][k]).sum::<f64>());
        }
        self.multiply(true, &d.image, &mut d.y, &mut d.gradient);
        for (i, gradient) in d.gradient.iter_mut().enumerate() {
            for (l, gradient) in gradient.iter_mut().enumerate() {
                *gradient += (0..N).map(|k| d.by_lambda[i][k][l] * d.left[i][k]).sum::<f64>();
            }
        }
    }

    /// out ← W x, or Wᵀ x, scaled.
    pub(super) fn multiply(&self, transposed: bool, x: &[[f64; N]], y: &mut [f64], out: &mut [[f64; N]]) {
        y.fill(0.0);
        let y = shared::cells(y);
        for (i, (place, x)) in self.place.iter().zip(x).enumerate() {
            let arms = if transposed { &place.row } else { place.arms(&self.back, i) };
            place.push(arms, x.map(|x| x / self.scale[i].sqrt()), place.at, y);
        }
        for (i, (place, out)) in self.place.iter().zip(out).enumerate() {
            let arms = if transposed { place.arms(&self.back, i) } else { &place.row };
            *out = place.times(arms, place.at, y).map(|u| u / self.scale[i].sqrt());
        }
    }
}

/// F of one contact with its kinks rounded, and its derivatives by λ and u.
fn natural<const N: usize>(mu: f64, lambda: [f64; N], u: [f64; N], rounding: f64) -> ([f64; N], Matrix<N>, Matrix<N>) {
    let size = |x: &[f64; N]| (x[1..].iter().map(|x| x * x).sum::<f64>() + rounding * rounding).sqrt();
    let part = |x: &[f64; N], size: f64| x.map(|x| if size > 0.0 { x / size } else { 0.0 });
    let slip = size(&u);
    let along = part(&u, slip);
    let mut z: [f64; N] = std::array::from_fn(|k| lambda[k] - u[k]);
    z[0] -= mu * slip;
    let t = size(&z);
    let d = part(&z, t);
    let square = 1.0 + mu * mu;
    let root = square.sqrt();
    let (on, on_slope) = ramp((z[0] + mu * t) / root, rounding);
    let (off, off_slope) = ramp((mu * z[0] - t) / root, rounding);
    let (normal, tangent) = ((on + mu * off) / root, (mu * on - off) / root);
    let mixed = mu * (on_slope - off_slope) / square;
    let turn = if t > 0.0 { tangent / t } else { 1.0 };
    let mut p = [[0.0; N]; N];
    p[0][0] = (on_slope + mu * mu * off_slope) / square;
    for k in 1..N {
        (p[0][k], p[k][0]) = (mixed * d[k], mixed * d[k]);
        for l in 1..N {
            let same = f64::from(u8::from(k == l));
            p[k][l] = (mu * mu * on_slope + off_slope) / square * d[k] * d[l] + turn * (same - d[k] * d[l]);
        }
    }
    let f = std::array::from_fn(|k| lambda[k] - if k == 0 { normal } else { tangent * d[k] });
    let by_lambda = std::array::from_fn(|k| std::array::from_fn(|l| f64::from(u8::from(k == l)) - p[k][l]));
    let by_u =
        std::array::from_fn(|k| std::array::from_fn(|l| p[k][l] + if l > 0 { p[k][0] * mu * along[l] } else { 0.0 }));
    (f, by_lambda, by_u)
}

/// max(x, 0) with a rounded kink, and its slope.
fn ramp(x: f64, rounding: f64) -> (f64, f64) {
    let root = (x * x + 4.0 * rounding * rounding).sqrt();
    (0.5 * (x + root), if root > 0.0 { 0.5 * (1.0 + x / root) } else { 0.5 })
}

fn dot<const N: usize>(a: &[[f64; N]], b: &[[f64; N]]) -> f64 {
    let mut sum = [0.0; N];
    for (a, b) in a.iter().zip(b) {
        (0..N).for_each(|k| sum[k] += a[k] * b[k]);
    }
    sum.iter().sum()
}

/// x ← x + t d.
fn add<const N: usize>(x: &mut [[f64; N]], t: f64, d: &[[f64; N]]) {
    for (x, d) in x.iter_mut().zip(d) {
        (0..N).for_each(|k| x[k] += t * d[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::natural;
    use crate::Law;

    /// Points of all statuses and between them.
    fn points() -> impl Iterator<Item = ([f64; 3], [f64; 3])> {
        let part = |k: u32, seed: u32| f64::from((k.wrapping_mul(2_654_435_761).wrapping_add(seed)) >> 8) / 8e6 - 1.0;
        (0..200u32).map(move |k| {
            let x = |i: u32| part(6 * k + i, 77);
            ([x(0) + 0.5, x(1), x(2)], [x(3), x(4), x(5)])
        })
    }

    #[test]
    fn without_rounding_it_is_the_natural_map() {
        let law = Law::coulomb(0.7, 2);
        for (lambda, u) in points() {
            let mut expected = [0.0; 3];
            law.natural_map(&lambda, &u, 1.0, &mut expected);
            let found = natural(0.7, lambda, u, 0.0).0;
            assert!((0..3).all(|k| (found[k] - expected[k]).abs() < 1e-14), "{found:?} {expected:?}");
        }
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        for (lambda, u) in points() {
            let (_, by_lambda, by_u) = natural(0.3, lambda, u, 0.1);
            for l in 0..3 {
                let moved = |x: [f64; 3], h: f64| std::array::from_fn(|k| if k == l { x[k] + h } else { x[k] });
                let slope = |f: &dyn Fn(f64) -> [f64; 3], k: usize| (f(1e-5)[k] - f(-1e-5)[k]) / 2e-5;
                for k in 0..3 {
                    let one = slope(&|h| natural(0.3, moved(lambda, h), u, 0.1).0, k);
                    let other = slope(&|h| natural(0.3, lambda, moved(u, h), 0.1).0, k);
                    assert!((one - by_lambda[k][l]).abs() < 1e-7 && (other - by_u[k][l]).abs() < 1e-7, "{k} {l}");
                }
            }
        }
    }
}
