//! One-step problems without spatial friction as mixed linear complementarity problems [cottle1992, acary2008]:
//!
//! ```text
//!     w = M z + q,   0 ≤ w ⊥ z ≥ 0,   or  w = 0, z free                                   (1)
//!     λ = shift + Σ moves·z,   u read with a sign                                          (2)
//! ```
//!
//! | law | unknowns z | rows w |
//! |---|---|---|
//! | equality | λ, free | u |
//! | unilateral | λ | u |
//! | box, both bounds finite | λ − lower, u⁻ | u + u⁻, upper − λ |
//! | planar friction, compact | λ_N, λ_T + μλ_N, u_T⁻ | u_N, u_T + u_T⁻, μλ_N − λ_T |
//! | planar friction, polyhedral | λ_N, λ_T⁺, λ_T⁻, γ | u_N, γ + u_T, γ − u_T, μλ_N − λ_T⁺ − λ_T⁻ |
//!
//! A box with one infinite bound is unilateral up to a shift and a sign, with two it is an equality. The polyhedral
//! form is larger, but its matrix is copositive wherever `W` is positive semidefinite, for any μ [stewart1996]. Rows
//! are scaled by powers of two near `√(tr Wᵢᵢ/dim)`, which costs no digit and makes the entries of `M` comparable.

use super::product::dot;
use crate::{Delassus, Law, OneStepProblem, Shape};

/// How planar friction is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Friction {
    Compact,
    Polyhedral,
}

/// One unknown `z`, and the row `w` that is complementary to it.
#[derive(Clone, Copy, Debug, Default)]
struct Unknown {
    free: bool,
    reads: Option<(usize, f64)>, // the row of u in w, with its sign
    moves: [(usize, f64); 2],    // the rows of λ that z moves, with their factors
}

/// The mixed LCP (1) of a problem, and the way back (2).
#[derive(Debug, Default)]
pub(super) struct LcpForm {
    unknowns: Vec<Unknown>,              // (N)
    couplings: Vec<(usize, usize, f64)>, // entries of M beyond W
    plain: bool,                         // z is the scaled λ itself: M is W
    matrix: Vec<f64>,                    // (N × N) M, row-major, unless plain
    q: Vec<f64>,                         // (N)
    constant: Vec<f64>,                  // (N) part of q that is not in W shift + b
    b: Vec<f64>,                         // (m) scaled b
    shift: Vec<f64>,                     // (m) scaled λ at z = 0
    scale: Vec<f64>,                     // (m) s: λ' = s λ, u' = u / s
    inverse: Vec<f64>,                   // (m) 1/s
    w: Vec<f64>,                         // (m × m) scaled W
}

impl LcpForm {
    /// Writes the problem in the form (1). The laws must be valid and without spatial friction.
    pub(super) fn build(&mut self, problem: &OneStepProblem<'_>, w: &Delassus, friction: Friction) {
        self.scale_rows(problem, w);
        self.unknowns.clear();
        self.couplings.clear();
        self.shift.clear();
        self.shift.resize(problem.size(), 0.0);
        self.constant.clear();
        for (i, &law) in problem.laws().iter().enumerate() {
            self.append(law, problem.offsets()[i], friction);
        }
        self.b.clear();
        self.b.extend(problem.b().iter().zip(&self.scale).map(|(b, s)| b / s));
        let plain = |law: &Law| law.is_equality() || law.is_unilateral();
        self.plain = problem.laws().iter().all(plain);
        if self.plain {
            self.q.clear();
            self.q.extend_from_slice(&self.b);
        } else {
            self.fill();
        }
    }

    /// Number of unknowns.
    pub(super) fn size(&self) -> usize {
        self.unknowns.len()
    }

    pub(super) fn matrix(&self) -> &[f64] {
        if self.plain { &self.w } else { &self.matrix }
    }

    pub(super) fn q(&self) -> &[f64] {
        &self.q
    }

    pub(super) fn has_free(&self) -> bool {
        self.unknowns.iter().any(|unknown| unknown.free)
    }

    pub(super) fn is_free(&self, k: usize) -> bool {
        self.unknowns[k].free
    }

    /// The scaled reactions (2) at `z = 0`.
    pub(super) fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// Adds the step of unknown `k` to the scaled reactions.
    pub(super) fn add_step(&self, k: usize, step: f64, lambda: &mut [f64]) {
        for (row, factor) in self.unknowns[k].moves {
            lambda[row] += factor * step;
        }
    }

    /// `w` from the scaled reactions themselves: no digit is lost where a reaction is small against its shift.
    pub(super) fn evaluate(&self, lambda: &[f64], z: &[f64], w: &mut Vec<f64>) {
        let m = self.b.len();
        w.clear();
        for (unknown, constant) in self.unknowns.iter().zip(&self.constant) {
            let read = unknown.reads.map_or(0.0, |(row, sign)| {
                let entries = &self.w[row * m..(row + 1) * m];
                sign * (self.b[row] + dot(entries, lambda))
            });
            w.push(constant + read);
        }
        for &(k, j, value) in &self.couplings {
            w[k] += value * z[j];
        }
    }

    /// From scaled reactions to those of the problem.
    pub(super) fn unscale(&self, scaled: &[f64], lambda: &mut [f64]) {
        for ((lambda, scaled), s) in lambda.iter_mut().zip(scaled).zip(&self.scale) {
            *lambda = scaled / s;
        }
    }

    fn scale_rows(&mut self, problem: &OneStepProblem<'_>, w: &Delassus) {
        let m = problem.size();
        self.scale.clear();
        for i in 0..w.laws() {
            let s = near_root(w.scale(i));
            self.scale.extend(w.rows(i).map(|_| s));
        }
        // the reciprocal of a power of two is exact
        self.inverse.clear();
        self.inverse.extend(self.scale.iter().map(|s| 1.0 / s));
        self.w.clear();
        self.w.resize(m * m, 0.0);
        for i in 0..w.laws() {
            let rows = w.rows(i);
            if let Some(values) = w.full_scalar_row(i) {
                let own = self.inverse[i];
                let scaled = values.iter().zip(&self.inverse).map(|(x, other)| x * (own * other));
                self.w[i * m..(i + 1) * m].iter_mut().zip(scaled).for_each(|(target, x)| *target = x);
                continue;
            }
            for (j, block) in w.row(i) {
                let columns = w.rows(j);
                let factor = self.inverse[rows.start] * self.inverse[columns.start];
                for (r, values) in rows.clone().zip(block.chunks_exact(columns.len())) {
                    let target = &mut self.w[r * m + columns.start..r * m + columns.end];
                    for (x, value) in target.iter_mut().zip(values) {
                        *x = value * factor;
                    }
                }
            }
        }
    }

    fn append(&mut self, law: Law, row: usize, friction: Friction) {
        let k = self.unknowns.len();
        let s = self.scale[row];
        match law.shape() {
            Shape::Interval { lower, upper } => self.append_box(s * lower, s * upper, row),
            // without friction the tangential reaction is zero
            Shape::Cone1 { mu: 0.0 } => self.push_one(row, 1.0),
            Shape::Cone1 { mu } if friction == Friction::Compact => {
                self.push(false, Some((row, 1.0)), [(row, 1.0), (row + 1, -mu)], 0.0);
                self.push_one(row + 1, 1.0);
                self.push(false, None, [(row, 0.0); 2], 0.0);
                self.couplings.extend([(k + 1, k + 2, 1.0), (k + 2, k, 2.0 * mu), (k + 2, k + 1, -1.0)]);
            }
            Shape::Cone1 { mu } => {
                self.push_one(row, 1.0);
                self.push_one(row + 1, 1.0);
                self.push_one(row + 1, -1.0);
                self.push(false, None, [(row, 0.0); 2], 0.0);
                self.couplings.extend([(k + 1, k + 3, 1.0), (k + 2, k + 3, 1.0)]);
                self.couplings.extend([(k + 3, k, mu), (k + 3, k + 1, -1.0), (k + 3, k + 2, -1.0)]);
            }
            // refused on admission; their reactions stay zero
            Shape::Cone2 { .. } | Shape::General => {}
        }
    }

    fn append_box(&mut self, lower: f64, upper: f64, row: usize) {
        let k = self.unknowns.len();
        if lower.is_finite() {
            self.shift[row] = lower;
            if lower == upper {
                return; // the reaction is known
            }
            self.push_one(row, 1.0);
            if upper.is_finite() {
                self.push(false, None, [(row, 0.0); 2], upper - lower);
                self.couplings.extend([(k, k + 1, 1.0), (k + 1, k, -1.0)]);
            }
        } else if upper.is_finite() {
            self.shift[row] = upper;
            self.push_one(row, -1.0);
        } else {
            self.push(true, Some((row, 1.0)), [(row, 1.0), (row, 0.0)], 0.0);
        }
    }

    fn push_one(&mut self, row: usize, sign: f64) {
        self.push(false, Some((row, sign)), [(row, sign), (row, 0.0)], 0.0);
    }

    fn push(&mut self, free: bool, reads: Option<(usize, f64)>, moves: [(usize, f64); 2], constant: f64) {
        self.unknowns.push(Unknown { free, reads, moves });
        self.constant.push(constant);
    }

    /// M = R W L + couplings, q = R (W shift + b) + constants.
    fn fill(&mut self) {
        let (m, n) = (self.b.len(), self.unknowns.len());
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        self.q.clear();
        self.q.extend_from_slice(&self.constant);
        for (k, entries) in self.matrix.chunks_mut(n.max(1)).enumerate() {
            let Some((row, sign)) = self.unknowns[k].reads else { continue };
            let w = &self.w[row * m..(row + 1) * m];
            for (entry, column) in entries.iter_mut().zip(&self.unknowns) {
                let [(r, x), (s, y)] = column.moves;
                *entry = sign * (w[r] * x + w[s] * y);
            }
            self.q[k] += sign * (dot(w, &self.shift) + self.b[row]);
        }
        for &(k, j, value) in &self.couplings {
            self.matrix[k * n + j] += value;
        }
    }
}

/// The power of two nearest below or at √x, for normal positive x.
pub(super) fn near_root(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    f64::powi(2.0, exponent.div_euclid(2))
}

#[cfg(test)]
mod tests {
    use super::near_root;

    #[test]
    fn scales_are_powers_of_two_near_the_root() {
        for x in [1e-300, 1e-7, 0.3, 1.0, 2.0, 3.9, 4.0, 1e10, 1e300] {
            let s = near_root(x);
            assert!(s * s <= x && x < 4.0 * s * s, "{x} {s}");
            assert_eq!(s.to_bits() << 12, 0);
        }
    }
}
