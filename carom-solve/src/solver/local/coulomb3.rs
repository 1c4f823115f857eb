//! One spatial contact: take-off, stick or slip, for any block and coefficient of friction.
//!
//! ```text
//!     take-off   r = 0                        if b_N ≥ 0
//!     stick      r = −A⁻¹ b                   if ‖r_T‖ ≤ μ r_N
//!     slip       r = r_N (1, μ d), ‖d‖ = 1,   u_N = 0,   u_T = −‖u_T‖ d                    (1)
//! ```
//!
//! In slip `r_N = −b_N/(a_NN + μ a_NT·d)` leaves one unknown, the direction `d` on the circle, and one equation
//! `d⊥·u_T = 0`, see [`slip`]. Halley's method from the old direction comes first, then the sign changes on finer and
//! finer grids of the circle. What is not satisfied to rounding goes on to proximal steps `(A + aI, b − a r)`, and the
//! point with the smallest natural map is returned. Shifts go down to 1e-12 where the block is nearly singular: its
//! reaction is as large as its smallest pivot is small. The block need not be symmetric.

mod singular;
mod slip;

use crate::Law;
use slip::Slip;

pub(super) type Vector = [f64; 3];

/// Relative natural map that counts as solved.
const SOLVED: f64 = 1e-12;

/// Largest natural map of a solution on a singular block, relative to `b`.
const GROWING: f64 = 1e-3;

/// Pivot, relative to the mean diagonal, below which a block counts as singular.
const RANK: f64 = 1e-15;

/// Smallest pivot, relative to the mean diagonal, down to which cofactors are good enough for an inverse.
const COFACTORS: f64 = 1e-3;

/// A contact: coefficient of friction and block, divided by its mean diagonal.
#[derive(Clone, Debug)]
pub(in crate::solver) struct Contact3 {
    mu: f64,
    a: [f64; 9],
    mean: f64,         // of the diagonal
    mass: f64,         // one over it
    inverse: [f64; 9], // of `a`; zero where a pivot is
    well: bool,        // whether the inverse has digits to be trusted
    exact: bool,       // whether it needs no refinement
}

impl Contact3 {
    #[inline]
    pub(in crate::solver) fn new(mu: f64, block: &[f64]) -> Contact3 {
        let mut a = [0.0; 9];
        a.copy_from_slice(block);
        let mean = (a[0] + a[4] + a[8]) / 3.0;
        let mean = if mean > 0.0 { mean } else { 1.0 };
        let mass = 1.0 / mean;
        let a = a.map(|x| x * mass);
        let mut contact = Contact3 { mu, a, mean, mass, inverse: [0.0; 9], well: true, exact: true };
        let smallest = match adjugate(&contact.a, &mut contact.inverse) {
            Some(smallest) => smallest,
            None => {
                let (inverse, smallest) = invert(&a, RANK);
                contact.inverse = inverse;
                smallest
            }
        };
        (contact.well, contact.exact) = (smallest > 1e-7, smallest > 1e-2);
        contact
    }

    /// The reaction for `b`, near `guess` where there are several.
    #[inline]
    pub(in crate::solver) fn solve(&self, b: Vector, guess: Vector) -> Vector {
        if b[0] >= 0.0 {
            return [0.0; 3];
        }
        let r = match self.direct(b, guess) {
            Some(r) => r,
            None => self.search(b, guess),
        };
        r.map(|x| x * self.mass)
    }

    /// `A r` in the units of the problem.
    #[inline]
    pub(in crate::solver) fn own(&self, r: Vector) -> Vector {
        mul(&self.a, r.map(|x| x * self.mean))
    }

    /// Stick, or slip near the old direction, where they are beyond doubt.
    #[inline]
    fn direct(&self, b: Vector, guess: Vector) -> Option<Vector> {
        if self.mu == 0.0 {
            return (self.a[0] > 0.0).then(|| [-b[0] / self.a[0], 0.0, 0.0]);
        }
        let stick = self.stick(b);
        if self.is_inside(stick) {
            return (self.well || self.missed(stick, b) <= SOLVED).then_some(stick);
        }
        let slip = Slip { mu: self.mu, a: &self.a, b };
        let start = slip::direction(guess).or_else(|| slip::direction(stick))?;
        let r = slip.halley(start)?;
        (r[0] * self.a[0] <= 1e2 * -b[0] || self.missed(r, b) <= SOLVED).then_some(r)
    }

    /// −A⁻¹ b, refined once where that changes digits.
    #[inline]
    fn stick(&self, b: Vector) -> Vector {
        let r = mul(&self.inverse, b).map(|x| -x);
        if self.exact {
            return r;
        }
        let step = mul(&self.inverse, self.velocity(r, b));
        [r[0] - step[0], r[1] - step[1], r[2] - step[2]]
    }

    #[inline]
    fn is_inside(&self, r: Vector) -> bool {
        r[0] >= 0.0 && r[1] * r[1] + r[2] * r[2] <= (self.mu * r[0]).powi(2)
    }

    #[inline]
    fn velocity(&self, r: Vector, b: Vector) -> Vector {
        let u = mul(&self.a, r);
        [u[0] + b[0], u[1] + b[1], u[2] + b[2]]
    }

    /// The natural map, relative to the largest of b, r and u.
    fn missed(&self, r: Vector, b: Vector) -> f64 {
        let u = self.velocity(r, b);
        let mut f = [0.0; 3];
        Law::coulomb(self.mu, 2).natural_map(&r, &u, 1.0, &mut f);
        let missed = norm(f) / norm(b).max(norm(r)).max(norm(u));
        if missed.is_finite() { missed } else { f64::INFINITY }
    }

    /// Every candidate; the first that is solved, or the best. On a singular block reactions may grow without end while
    /// u stays where it is: that is no solution, and there is no reaction then.
    #[cold]
    fn search(&self, b: Vector, guess: Vector) -> Vector {
        let singular = singular::is_singular(&self.a);
        let best = self.best(b, guess, singular);
        let grown = best.missed * norm(best.r).max(norm(b)) > GROWING * norm(b);
        if singular && grown { [0.0; 3] } else { best.r }
    }

    fn best(&self, b: Vector, guess: Vector, singular: bool) -> Best {
        let mut best = Best { r: [0.0; 3], missed: self.missed([0.0; 3], b) };
        best.offer(self, b, guess.map(|x| x / self.mass));
        if self.candidates(b, guess, &mut best)
            || [1e-2, 1e-4, 1e-6].into_iter().any(|shift| self.proximal(shift, 20, b, &mut best))
            || singular
        {
            return best;
        }
        // nearly singular: the reaction is as large as the smallest pivot is small
        let (inverse, _) = invert(&self.a, 0.0);
        best.offer(self, b, Contact3 { inverse, ..self.clone() }.stick(b));
        _ = best.missed <= SOLVED
            || [1e-8, 1e-10, 1e-12].into_iter().any(|shift| self.proximal(shift, 5, b, &mut best));
        best
    }

    /// Proximal steps from the best point: the shifted block is better conditioned than A. Whether one is solved.
    fn proximal(&self, shift: f64, steps: usize, b: Vector, best: &mut Best) -> bool {
        let mut a = self.a;
        for k in [0, 4, 8] {
            a[k] += shift;
        }
        let (inverse, smallest) = invert(&a, RANK);
        let prox = Contact3 { a, mean: 1.0, mass: 1.0, inverse, well: smallest > 1e-7, exact: false, ..*self };
        let mut r = best.r;
        for _ in 0..steps {
            let moved = [b[0] - shift * r[0], b[1] - shift * r[1], b[2] - shift * r[2]];
            let mut inner = Best { r: [0.0; 3], missed: prox.missed([0.0; 3], moved) };
            match prox.direct(moved, r).filter(|_| moved[0] < 0.0) {
                Some(next) => inner.r = next,
                None => _ = prox.candidates(moved, r, &mut inner),
            }
            r = inner.r;
            best.offer(self, b, r);
            if best.missed <= SOLVED {
                return true;
            }
        }
        false
    }

    /// Stick and the roots of the slip equation on finer and finer grids, until one is solved.
    fn candidates(&self, b: Vector, guess: Vector, best: &mut Best) -> bool {
        best.offer(self, b, self.stick(b));
        best.offer(self, b, [-b[0].min(0.0) / self.a[0].max(f64::MIN_POSITIVE), 0.0, 0.0]);
        if best.missed <= SOLVED {
            return true;
        }
        let slip = Slip { mu: self.mu, a: &self.a, b };
        let old = slip::direction(guess).or_else(|| slip::direction(b.map(|x| -x))).unwrap_or([1.0, 0.0]);
        for angles in [24, 240, 2400] {
            // the solved root nearest to the old direction
            let mut nearest: Option<(f64, Vector, f64)> = None;
            slip.sign_changes(angles, |r| {
                for r in [r, slip.polish(r)] {
                    let missed = self.missed(r, b);
                    best.offer(self, b, r);
                    let closeness = slip::direction(r).map_or(-1.0, |d| d[0] * old[0] + d[1] * old[1]);
                    if missed <= SOLVED && nearest.is_none_or(|n| closeness > n.0) {
                        nearest = Some((closeness, r, missed));
                    }
                }
            });
            if let Some((_, r, missed)) = nearest {
                *best = Best { r, missed };
                return true;
            }
        }
        false
    }
}

/// The best point so far.
struct Best {
    r: Vector,
    missed: f64,
}

impl Best {
    fn offer(&mut self, contact: &Contact3, b: Vector, r: Vector) {
        let missed = contact.missed(r, b);
        if missed < self.missed {
            *self = Best { r, missed };
        }
    }
}

#[inline]
fn mul(a: &[f64; 9], x: Vector) -> Vector {
    [
        a[0] * x[0] + a[1] * x[1] + a[2] * x[2],
        a[3] * x[0] + a[4] * x[1] + a[5] * x[2],
        a[6] * x[0] + a[7] * x[1] + a[8] * x[2],
    ]
}

#[inline]
fn norm(x: Vector) -> f64 {
    (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt()
}

/// The inverse by cofactors where it has digits enough, and a bound from below of the smallest pivot. With entries up
/// to m the first two of complete pivoting are at most m and 2 m, and their product with the third one is the
/// determinant.
#[inline(always)]
fn adjugate(a: &[f64; 9], inverse: &mut [f64; 9]) -> Option<f64> {
    let minor = |p: usize, q: usize, r: usize, s: usize| a[p] * a[s] - a[q] * a[r];
    let first = [minor(4, 5, 7, 8), minor(5, 3, 8, 6), minor(3, 4, 6, 7)];
    let determinant = a[0] * first[0] + a[1] * first[1] + a[2] * first[2];
    let largest = a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    // written so that a NaN is refused
    if !(determinant > COFACTORS * (2.0 * largest * largest) && largest < 1e100) {
        return None;
    }
    let d = 1.0 / determinant;
    inverse[0] = first[0] * d;
    inverse[1] = minor(2, 1, 8, 7) * d;
    inverse[2] = minor(1, 2, 4, 5) * d;
    inverse[3] = first[1] * d;
    inverse[4] = minor(0, 2, 6, 8) * d;
    inverse[5] = minor(2, 0, 5, 3) * d;
    inverse[6] = first[2] * d;
    inverse[7] = minor(1, 0, 7, 6) * d;
    inverse[8] = minor(0, 1, 3, 4) * d;
    Some(determinant / (2.0 * largest * largest))
}

/// Gauss-Jordan inverse with complete pivoting, and its smallest pivot. Rows and columns whose pivots do not exceed
/// `least` are zero.
fn invert(a: &[f64; 9], least: f64) -> ([f64; 9], f64) {
    let mut t = *a; // exchanged in place: a pivot swaps the roles of a row and a column
    let (mut row_done, mut column_done) = ([false; 3], [false; 3]);
    let mut pivots = [(0, 0); 3];
    let mut rank = 0;
    let mut smallest = f64::INFINITY;
    while rank < 3 {
        let (mut p, mut c, mut largest) = (0, 0, 0.0);
        for i in (0..3).filter(|&i| !row_done[i]) {
            for j in (0..3).filter(|&j| !column_done[j]) {
                if t[3 * i + j].abs() > largest {
                    (p, c, largest) = (i, j, t[3 * i + j].abs());
                }
            }
        }
        // an entry that is not a number never becomes the largest
        if largest <= least {
            smallest = 0.0;
            break;
        }
        smallest = f64::min(smallest, largest);
        let inverse = 1.0 / t[3 * p + c];
        for j in 0..3 {
            if j != c {
                t[3 * p + j] *= -inverse;
            }
        }
        for i in (0..3).filter(|&i| i != p) {
            let factor = t[3 * i + c];
            for j in (0..3).filter(|&j| j != c) {
                t[3 * i + j] += factor * t[3 * p + j];
            }
            t[3 * i + c] = factor * inverse;
        }
        t[3 * p + c] = inverse;
        (row_done[p], column_done[c]) = (true, true);
        pivots[rank] = (p, c);
        rank += 1;
    }
    // row p now expresses unknown c, column c stands for equation p
    let mut inverse = [0.0; 9];
    for &(p, c) in &pivots[..rank] {
        for &(q, d) in &pivots[..rank] {
            inverse[3 * c + q] = t[3 * p + d];
        }
    }
    (inverse, smallest)
}

#[cfg(test)]
mod tests;
