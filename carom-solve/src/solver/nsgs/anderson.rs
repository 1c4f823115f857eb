//! Anderson acceleration of the sweeps [anderson1965, walker2011].
//!
//! With `g(λ)` the image of a sweep and `f(λ) = s (g(λ) − λ)` its scaled change, the next point is
//!
//! ```text
//!     λ⁺ = g − Σ γⱼ Δgⱼ,   γ = argmin ‖ f − Σ γⱼ Δfⱼ ‖                                       (1)
//! ```
//!
//! over the differences of the last sweeps. What depends on `λ` linearly (a companion) is extrapolated with the same
//! weights. Where `f` grows to twice its least size, or does not fall for 30 sweeps, the point of that size is taken up
//! again, the differences are forgotten, and some plain sweeps follow, twice as many as the time before.

/// Largest number of differences.
pub(super) const LARGEST: usize = 16;

/// Sweeps without a fall of the change that end an acceleration.
const PATIENCE: usize = 30;

/// Doublings of the plain sweeps after a restart.
const LONGEST: u32 = 7;

/// Relative weight of the unit matrix in the normal equations of (1).
const DAMPING: f64 = 1e-10;

/// The last differences of images and changes.
#[derive(Default)]
pub(super) struct Anderson {
    window: usize,
    root: Vec<f64>,                     // (m) s: root of the scale of each row
    before: Vec<f64>,                   // (m) λ
    image: Vec<f64>,                    // (m) g of the last sweep
    change: Vec<f64>,                   // (m) f of the last sweep
    images: Vec<f64>,                   // (window × m) Δg
    changes: Vec<f64>,                  // (window × m) Δf
    product: [[f64; LARGEST]; LARGEST], // Δfᵢ·Δfⱼ
    kept: usize,                        // differences in the window
    next: usize,                        // place of the next one
    started: bool,                      // whether there is a last sweep
    least: f64,                         // least ‖f‖ since the restart
    safe: Vec<f64>,                     // (m) g of it
    companion: Companion,
    fallen: f64,   // ‖f‖ at its last fall by ten per cent
    idle: usize,   // sweeps since then
    failures: u32, // restarts so far
    pause: usize,  // plain sweeps before the next difference
}

/// A vector that depends on λ linearly, at the same points.
#[derive(Default)]
struct Companion {
    image: Vec<f64>,  // (n) that of the last sweep
    images: Vec<f64>, // (window × n) differences
    safe: Vec<f64>,   // (n) that of the least change
}

impl Anderson {
    /// Makes room for a window of this size and a companion of this length.
    pub(super) fn prepare(&mut self, window: usize, roots: impl Iterator<Item = f64>, companion: usize) {
        self.window = window.min(LARGEST);
        self.root.clear();
        self.root.extend(roots);
        let m = self.root.len();
        for vector in [&mut self.before, &mut self.image, &mut self.change, &mut self.safe] {
            vector.resize(m, 0.0);
        }
        self.images.resize(self.window * m, 0.0);
        self.changes.resize(self.window * m, 0.0);
        self.companion.image.resize(companion, 0.0);
        self.companion.images.resize(self.window * companion, 0.0);
        self.companion.safe.resize(companion, 0.0);
        (self.failures, self.pause) = (0, 0);
        self.restart();
    }

    /// Forgets the differences.
    pub(super) fn restart(&mut self) {
        (self.kept, self.next, self.started) = (0, 0, false);
        (self.least, self.fallen, self.idle) = (f64::INFINITY, f64::INFINITY, 0);
    }

    /// Notes the point before a sweep.
    pub(super) fn before(&mut self, lambda: &[f64]) {
        self.before.copy_from_slice(lambda);
    }

    /// From the image of the noted point to the next point (1); the companion goes with it.
    pub(super) fn after(&mut self, lambda: &mut [f64], companion: &mut [f64]) {
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        let size = self.take_difference(lambda);
        self.companion.take_difference(self.next, companion);
        // written so that a NaN restarts as well
        if !(size <= 2.0 * self.least && self.idle <= PATIENCE) {
            lambda.copy_from_slice(&self.safe);
            companion.copy_from_slice(&self.companion.safe);
            self.pause = 2 << self.failures;
            self.failures = (self.failures + 1).min(LONGEST);
            return self.restart();
        }
        self.idle += 1;
        if size < 0.9 * self.fallen {
            (self.fallen, self.idle) = (size, 0);
        }
        if size < self.least {
            self.least = size;
            self.safe.copy_from_slice(lambda);
            self.companion.safe.copy_from_slice(companion);
        }
        if !self.started {
            self.started = true;
            return;
        }
        let (m, k) = (self.root.len(), self.next);
        self.kept = (self.kept + 1).min(self.window);
        self.next = (k + 1) % self.window;
        let mut gamma = [0.0; LARGEST];
        let newest = &self.changes[k * m..(k + 1) * m];
        for (j, old) in self.changes.chunks_exact(m).take(self.kept).enumerate() {
            let (product, right) = products(old, newest, &self.change);
            self.product[j][k] = product;
            self.product[k][j] = product;
            gamma[j] = right;
        }
        self.solve_normal_equations(&mut gamma);
        let n = companion.len();
        for (k, gamma) in gamma.into_iter().enumerate().take(self.kept) {
            subtract(gamma, &self.images[k * m..(k + 1) * m], lambda);
            subtract(gamma, &self.companion.images[k * n..(k + 1) * n], companion);
        }
    }

    /// f, Δf and Δg of the sweep; returns ‖f‖.
    fn take_difference(&mut self, lambda: &[f64]) -> f64 {
        let m = self.root.len();
        let place = self.next * m..(self.next + 1) * m;
        let (changes, images) = (&mut self.changes[place.clone()], &mut self.images[place]);
        let (last, old) =
            (self.change.iter_mut().zip(&mut self.image), lambda.iter().zip(&self.before).zip(&self.root));
        let mut size = 0.0;
        for (((change, image), ((&g, before), root)), (df, dg)) in last.zip(old).zip(changes.iter_mut().zip(images)) {
            let f = root * (g - before);
            size += f * f;
            *df = f - *change;
            *dg = g - *image;
            *change = f;
            *image = g;
        }
        size.sqrt()
    }

    /// Cholesky's method on the damped products; `gamma` holds the right-hand side on entry.
    fn solve_normal_equations(&self, gamma: &mut [f64; LARGEST]) {
        let n = self.kept;
        let damping = DAMPING * (0..n).map(|j| self.product[j][j]).sum::<f64>();
        let mut factor = [[0.0; LARGEST]; LARGEST];
        for i in 0..n {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|t| factor[i][t] * factor[j][t]).sum();
                let rest = self.product[i][j] - dot;
                factor[i][j] =
                    if i == j { (rest + damping).max(f64::MIN_POSITIVE).sqrt() } else { rest / factor[j][j] };
            }
        }
        for i in 0..n {
            let dot: f64 = (0..i).map(|t| factor[i][t] * gamma[t]).sum();
            gamma[i] = (gamma[i] - dot) / factor[i][i];
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|t| factor[t][i] * gamma[t]).sum();
            gamma[i] = (gamma[i] - dot) / factor[i][i];
        }
    }
}

impl Companion {
    fn take_difference(&mut self, place: usize, companion: &[f64]) {
        let n = companion.len();
        let differences = &mut self.images[place * n..(place + 1) * n];
        for ((difference, image), &x) in differences.iter_mut().zip(&mut self.image).zip(companion) {
            *difference = x - *image;
            *image = x;
        }
    }
}

/// `x ← x − γ d`.
fn subtract(gamma: f64, d: &[f64], x: &mut [f64]) {
    for (x, d) in x.iter_mut().zip(d) {
        *x -= gamma * d;
    }
}

/// a·b and a·c, in four sums each so that they are not one chain.
fn products(a: &[f64], b: &[f64], c: &[f64]) -> (f64, f64) {
    let (mut with_b, mut with_c) = ([0.0; 4], [0.0; 4]);
    let ((a, a_rest), (b, b_rest), (c, c_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>(), c.as_chunks::<4>());
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        for k in 0..4 {
            with_b[k] += a[k] * b[k];
            with_c[k] += a[k] * c[k];
        }
    }
    let (mut b_sum, mut c_sum) = (with_b.iter().sum::<f64>(), with_c.iter().sum::<f64>());
    for ((a, b), c) in a_rest.iter().zip(b_rest).zip(c_rest) {
        b_sum += a * b;
        c_sum += a * c;
    }
    (b_sum, c_sum)
}

#[cfg(test)]
mod tests {
    use super::Anderson;

    #[test]
    fn linear_maps_of_few_modes_end_in_as_many_steps() {
        // g(x) = R x + c with R = diag(0.99, 0.9, −0.5): the fixed point is c/(1 − R), after three differences
        let (rate, c) = ([0.99, 0.9, -0.5], [1.0, 2.0, 3.0]);
        let mut anderson = Anderson::default();
        anderson.prepare(5, [1.0, 2.0, 0.5].into_iter(), 1);
        let mut x = [0.0; 3];
        for _ in 0..6 {
            anderson.before(&x);
            for i in 0..3 {
                x[i] = rate[i] * x[i] + c[i];
            }
            let sum = |x: &[f64; 3]| x[0] - 2.0 * x[1] + 4.0 * x[2];
            let mut companion = [sum(&x)];
            anderson.after(&mut x, &mut companion);
            assert!((companion[0] - sum(&x)).abs() < 1e-9 * sum(&x).abs());
        }
        for i in 0..3 {
            let expected = c[i] / (1.0 - rate[i]);
            assert!((x[i] / expected - 1.0).abs() < 1e-6, "{i}: {} {expected}", x[i]);
        }
    }

    #[test]
    fn a_growing_change_is_taken_back() {
        let mut anderson = Anderson::default();
        anderson.prepare(3, [1.0].into_iter(), 1);
        let (mut x, mut companion) = ([1.0], [3.0]);
        anderson.before(&[0.0]);
        anderson.after(&mut x, &mut companion);
        assert_eq!((x, companion), ([1.0], [3.0]));
        anderson.before(&x);
        (x, companion) = ([1e3], [3e3]);
        anderson.after(&mut x, &mut companion);
        assert_eq!((x, companion), ([1.0], [3.0]));
    }
}
