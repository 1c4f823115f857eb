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
//!
//! Long vectors are in parts of a fixed length, which threads share; sums go over the parts in order, so that the
//! result does not depend on the number of threads.

use rayon::prelude::*;

/// Largest number of differences.
pub(super) const LARGEST: usize = 16;

/// Sweeps without a fall of the change that end an acceleration.
const PATIENCE: usize = 30;

/// Doublings of the plain sweeps after a restart.
const LONGEST: u32 = 7;

/// Relative weight of the unit matrix in the normal equations of (1).
const DAMPING: f64 = 1e-10;

/// Rows of a part, whatever the number of threads.
const PART: usize = 4096;

/// Parts that one thread takes sooner than several.
const MANY: usize = 3;

/// The last differences of images and changes.
#[derive(Default)]
pub(super) struct Anderson {
    window: usize,
    part: Vec<Part>,                    // of the rows
    companion: Vec<Part>,               // of a vector that depends on λ linearly, at the same points
    product: [[f64; LARGEST]; LARGEST], // Δfᵢ·Δfⱼ
    kept: usize,                        // differences in the window
    next: usize,                        // place of the next one
    started: bool,                      // whether there is a last sweep
    least: f64,                         // least ‖f‖ since the restart
    fallen: f64,                        // ‖f‖ at its last fall by ten per cent
    idle: usize,                        // sweeps since then
    failures: u32,                      // restarts so far
    pause: usize,                       // plain sweeps before the next difference
}

/// Rows that follow each other. Those of the companion have no changes.
#[derive(Default)]
struct Part {
    root: Vec<f64>,    // s: root of the scale of each row
    before: Vec<f64>,  // λ
    image: Vec<f64>,   // g of the last sweep
    change: Vec<f64>,  // f of the last sweep
    images: Vec<f64>,  // (window × rows) Δg
    changes: Vec<f64>, // (window × rows) Δf
    safe: Vec<f64>,    // g of the least change
    sums: Sums,
}

/// What a part adds to products.
#[derive(Clone, Copy, Default)]
struct Sums {
    size: f64,              // f·f
    newest: [f64; LARGEST], // Δfⱼ·Δf of the newest
    change: [f64; LARGEST], // Δfⱼ·f
}

impl Anderson {
    /// Makes room for a window of this size and a companion of this length.
    pub(super) fn prepare(&mut self, window: usize, roots: impl Iterator<Item = f64>, companion: usize) {
        self.window = window.min(LARGEST);
        let mut roots = roots.peekable();
        let mut parts = 0;
        while roots.peek().is_some() {
            if parts == self.part.len() {
                self.part.push(Part::default());
            }
            let part = &mut self.part[parts];
            part.root.clear();
            part.root.extend(roots.by_ref().take(PART));
            let rows = part.root.len();
            part.size(rows, self.window);
            part.before.resize(rows, 0.0);
            part.change.resize(rows, 0.0);
            part.changes.resize(self.window * rows, 0.0);
            parts += 1;
        }
        // parts of larger problems are kept, and add nothing
        self.part[parts..].iter_mut().for_each(|part| part.sums = Sums::default());
        let parts = companion.div_ceil(PART).max(self.companion.len());
        self.companion.resize_with(parts, Part::default);
        for (k, part) in self.companion.iter_mut().enumerate() {
            part.size(PART.min(companion.saturating_sub(k * PART)), self.window);
        }
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
        self.part.iter_mut().zip(lambda.chunks(PART)).for_each(|(part, lambda)| part.before.copy_from_slice(lambda));
    }

    /// From the image of the noted point to the next point (1); the companion goes with it.
    pub(super) fn after(&mut self, lambda: &mut [f64], companion: &mut [f64]) {
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        let (place, kept) = (self.next, if self.started { (self.kept + 1).min(self.window) } else { 0 });
        each(&mut self.part, lambda, |part, lambda| part.take_difference(place, kept, lambda));
        each(&mut self.companion, companion, |part, x| part.take_image(place, x));
        let size = self.part.iter().map(|part| part.sums.size).sum::<f64>().sqrt();
        // written so that a NaN restarts as well
        if !(size <= 2.0 * self.least && self.idle <= PATIENCE) {
            each(&mut self.part, lambda, |part, lambda| lambda.copy_from_slice(&part.safe));
            each(&mut self.companion, companion, |part, x| x.copy_from_slice(&part.safe));
            self.pause = 2 << self.failures;
            self.failures = (self.failures + 1).min(LONGEST);
            return self.restart();
        }
        self.idle += 1;
        if size < 0.9 * self.fallen {
            (self.fallen, self.idle) = (size, 0);
        }
        let is_least = size < self.least;
        if is_least {
            self.least = size;
        }
        let mut gamma = [0.0; LARGEST];
        if self.started {
            self.kept = kept;
            self.next = (place + 1) % self.window;
            for j in 0..kept {
                let product = self.part.iter().map(|part| part.sums.newest[j]).sum();
                self.product[j][place] = product;
                self.product[place][j] = product;
                gamma[j] = self.part.iter().map(|part| part.sums.change[j]).sum();
            }
            self.solve_normal_equations(&mut gamma);
        }
        self.started = true;
        let gamma = &gamma[..kept];
        each(&mut self.part, lambda, |part, lambda| part.leave(is_least, gamma, lambda));
        each(&mut self.companion, companion, |part, x| part.leave(is_least, gamma, x));
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

impl Part {
    fn size(&mut self, rows: usize, window: usize) {
        self.image.resize(rows, 0.0);
        self.safe.resize(rows, 0.0);
        self.images.resize(window * rows, 0.0);
    }

    /// f, Δf and Δg of the sweep, and the products with the `kept` differences.
    fn take_difference(&mut self, place: usize, kept: usize, lambda: &[f64]) {
        let rows = lambda.len();
        let own = place * rows..(place + 1) * rows;
        let (changes, images) = (&mut self.changes[own.clone()], &mut self.images[own.clone()]);
        let (last, old) =
            (self.change.iter_mut().zip(&mut self.image), lambda.iter().zip(&self.before).zip(&self.root));
        self.sums = Sums::default();
        for (((change, image), ((&g, before), root)), (df, dg)) in last.zip(old).zip(changes.iter_mut().zip(images)) {
            let f = root * (g - before);
            self.sums.size += f * f;
            *df = f - *change;
            *dg = g - *image;
            *change = f;
            *image = g;
        }
        let newest = &self.changes[own];
        for (j, old) in self.changes.chunks_exact(rows).take(kept).enumerate() {
            (self.sums.newest[j], self.sums.change[j]) = products(old, newest, &self.change);
        }
    }

    /// The difference of a companion.
    fn take_image(&mut self, place: usize, x: &[f64]) {
        let differences = &mut self.images[place * x.len()..(place + 1) * x.len()];
        for ((difference, image), &x) in differences.iter_mut().zip(&mut self.image).zip(x) {
            *difference = x - *image;
            *image = x;
        }
    }

    /// `x ← x − Σ γⱼ Δgⱼ`; the old one is kept where its change was the least.
    fn leave(&mut self, is_least: bool, gamma: &[f64], x: &mut [f64]) {
        if is_least {
            self.safe.copy_from_slice(x);
        }
        for (gamma, d) in gamma.iter().zip(self.images.chunks_exact(x.len())) {
            x.iter_mut().zip(d).for_each(|(x, d)| *x -= gamma * d);
        }
    }
}

/// Each part with its rows of a vector; threads share many parts where the caller is one of them.
fn each(parts: &mut [Part], x: &mut [f64], task: impl Fn(&mut Part, &mut [f64]) + Sync) {
    if x.len() > MANY * PART && rayon::current_thread_index().is_some() {
        parts.par_iter_mut().zip(x.par_chunks_mut(PART)).for_each(|(part, x)| task(part, x));
    } else {
        parts.iter_mut().zip(x.chunks_mut(PART)).for_each(|(part, x)| task(part, x));
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
        // g(x) = R x + c with R = diag(0.99, 0.9, −0.5): the fixed point is c/(1 − R), after three differences; copies
        // of it make vectors of several parts
        let (rate, c) = ([0.99, 0.9, -0.5], [1.0, 2.0, 3.0]);
        for copies in [1, 3000] {
            let mut anderson = Anderson::default();
            anderson.prepare(5, [1.0, 2.0, 0.5].into_iter().cycle().take(3 * copies), copies);
            let mut x = vec![0.0; 3 * copies];
            for _ in 0..6 {
                anderson.before(&x);
                x.iter_mut().enumerate().for_each(|(i, x)| *x = rate[i % 3] * *x + c[i % 3]);
                let sum = |x: &[f64]| x[0] - 2.0 * x[1] + 4.0 * x[2];
                let mut companion: Vec<f64> = x.chunks(3).map(sum).collect();
                anderson.after(&mut x, &mut companion);
                for (kept, x) in companion.iter().zip(x.chunks(3)) {
                    assert!((kept - sum(x)).abs() < 1e-9 * sum(x).abs());
                }
            }
            for (i, x) in x.iter().enumerate() {
                let expected = c[i % 3] / (1.0 - rate[i % 3]);
                assert!((x / expected - 1.0).abs() < 1e-6, "{i}: {x} {expected}");
            }
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
