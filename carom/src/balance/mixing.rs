//! Iterates that jump about their limit, mixed with those before.
//!
//! The map x → G(x) of Newton's loop has no part of how directions of reactions turn. Where a short arm turns fast, as
//! that of a pin in its hole, a few directions of its change f = G(x) − x answer to x with a large factor, and plain
//! iterates run away in them. With the pairs (p, q) of ways and the changes of f over them, q orthonormal,
//!
//! ```text
//!     x ← x + β r − Σ p (q · f),     r = f − Σ q (q · f)                                                           (1)
//! ```
//!
//! takes f to zero along what is known, as a secant does, and goes the part β of the way of the rest [anderson1965].
//! With no pair yet this lies between x and G(x), and for β = 1/2 converges alone where the factor is between −3 and 1.
//! Large factors ask for a small β: where a loop fails it is done again with the next one.

/// Most pairs that are kept.
const KEPT: usize = 8;

/// Part of a change of f that must be new for a pair to count.
const NEW: f64 = 1e-6;

/// Parts β of the way along what is not known, one after the other.
pub(crate) const PARTS: [f64; 3] = [0.5, 0.1, 0.02];

/// The iterates of a loop and their changes; buffers keep their capacity.
#[derive(Default)]
pub(crate) struct Mixing {
    part: f64,                        // β
    weight: Vec<f64>,                 // of the squares of coordinates in a product
    has_last: bool,                   // whether there is an iterate before
    x: Vec<f64>,                      // that iterate
    f: Vec<f64>,                      // its change
    pairs: Vec<(Vec<f64>, Vec<f64>)>, // p and q
    count: usize,                     // pairs that hold
    next: usize,                      // pair that is written next
    new: (Vec<f64>, Vec<f64>),        // x and f of now
}

fn product(weight: &[f64], a: &[f64], b: &[f64]) -> f64 {
    weight.iter().zip(a.iter().zip(b)).map(|(w, (a, b))| w * a * b).sum()
}

fn add(factor: f64, x: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out += factor * x);
}

impl Mixing {
    /// A new loop with β, and what the squares of its coordinates count.
    pub fn begin(&mut self, part: f64, weight: impl Iterator<Item = f64>) {
        self.part = part;
        self.weight.clear();
        self.weight.extend(weight);
        (self.has_last, self.count, self.next) = (false, 0, 0);
    }

    /// From an iterate x and G(x) the next one, in the place of G(x).
    pub fn mix(&mut self, parts: &mut [(&mut [f64], &[f64])]) {
        let Mixing { part, weight, has_last, x, f, pairs, count, next, new } = self;
        let (x_new, f_new) = (&mut new.0, &mut new.1);
        x_new.clear();
        f_new.clear();
        for (image, before) in parts.iter() {
            x_new.extend_from_slice(before);
            f_new.extend(image.iter().zip(*before).map(|(a, b)| a - b));
        }
        if std::mem::replace(has_last, true) {
            // the pair of this way, orthogonal to the others
            if pairs.len() <= *next {
                pairs.push(Default::default());
            }
            let (mut p, mut q) = std::mem::take(&mut pairs[*next]);
            p.clear();
            q.clear();
            p.extend(x_new.iter().zip(&*x).map(|(a, b)| a - b));
            q.extend(f_new.iter().zip(&*f).map(|(a, b)| a - b));
            let whole = product(weight, &q, &q).sqrt();
            for (k, (other_p, other_q)) in pairs.iter().enumerate().take(*count) {
                if k != *next {
                    let along = product(weight, other_q, &q);
                    add(-along, other_q, &mut q);
                    add(-along, other_p, &mut p);
                }
            }
            let size = product(weight, &q, &q).sqrt();
            if size > NEW * whole {
                q.iter_mut().for_each(|q| *q /= size);
                p.iter_mut().for_each(|p| *p /= size);
                pairs[*next] = (p, q);
                *count = (*count).max(*next + 1);
                *next = (*next + 1) % KEPT;
            } else {
                // the pair that stood here is gone
                q.fill(0.0);
                p.fill(0.0);
                pairs[*next] = (p, q);
            }
        }
        x.clone_from(x_new);
        f.clone_from(f_new);
        for (p, q) in pairs.iter().take(*count) {
            let along = product(weight, q, f);
            add(-along, q, f_new);
            add(-along, p, x_new);
        }
        add(*part, f_new, x_new);
        let mut start = 0;
        for (image, _) in parts.iter_mut() {
            image.copy_from_slice(&x_new[start..start + image.len()]);
            start += image.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mixing;

    /// A linear map with factors from −40 to .9, in directions that are no axes: as many iterates as it has factors,
    /// and a few.
    #[test]
    fn factors_far_from_one_are_no_obstacle() {
        let factors = [-40.0, -7.0, -2.5, -0.9, 0.4, 0.9];
        let n = factors.len();
        let turned = |k: usize, j: usize| {
            // columns of a reflection
            let v = |i: usize| 1.0 + i as f64;
            let square: f64 = (0..n).map(|i| v(i) * v(i)).sum();
            f64::from(u8::from(k == j)) - 2.0 * v(k) * v(j) / square
        };
        let image = |x: &[f64]| -> Vec<f64> {
            let parts: Vec<f64> = (0..n).map(|k| (0..n).map(|j| turned(k, j) * (x[j] - 3.0)).sum()).collect();
            (0..n).map(|j| 3.0 + (0..n).map(|k| turned(k, j) * factors[k] * parts[k]).sum::<f64>()).collect()
        };
        let mut x = vec![0.0; n];
        let mut mixing = Mixing::default();
        mixing.begin(0.5, (0..n).map(|j| 1.0 + j as f64));
        for _ in 0..n + 3 {
            let mut next = image(&x);
            let (first, second) = next.split_at_mut(2);
            mixing.mix(&mut [(first, &x[..2]), (second, &x[2..])]);
            x = next;
        }
        assert!(x.iter().all(|x| (x - 3.0).abs() < 1e-9), "{x:?}");
    }

    /// Without a past it is the middle.
    #[test]
    fn it_begins_half_way() {
        let mut mixing = Mixing::default();
        mixing.begin(0.5, [1.0, 1.0].into_iter());
        let mut image = [4.0, -2.0];
        mixing.mix(&mut [(&mut image, &[0.0, 0.0])]);
        assert_eq!(image, [2.0, -1.0]);
    }
}
