//! The set-valued laws `λ ∈ Law(u)`.
//!
//! Each law is the inclusion `−(u + s(u)) ∈ N_K(λ)` with a closed convex set `K` and, for friction, the shift
//! `s(u) = μ‖u_T‖ n` of De Saxcé [desaxce1998]. So one projection per law is all that certificates need.
//! The set of laws is closed: a new variant makes the compiler list every solver that must think about it.

mod coulomb;
mod equality;
mod relay;
mod unilateral;

use serde::{Deserialize, Serialize};

/// One law over one, two or three rows of the problem. The normal row comes first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// `u = 0`, `λ` free. One row.
    Equality,
    /// `0 ≤ u ⊥ λ ≥ 0`. One row.
    Unilateral,
    /// `−u ∈ N_[lower, upper](λ)`: a relay, or a bounded multiplier. One row; the bounds may be infinite.
    Box { lower: f64, upper: f64 },
    /// Signorini and Coulomb in the plane: rows (normal, tangent).
    Coulomb2 { mu: f64 },
    /// Signorini and Coulomb in space: rows (normal, two tangents).
    Coulomb3 { mu: f64 },
}

impl Law {
    /// Most rows of a law.
    pub const MOST_ROWS: usize = 3;
    /// `u = 0`, `λ` free. One row.
    pub const EQUALITY: Law = Law::Equality;
    /// `0 ≤ u ⊥ λ ≥ 0`. One row.
    pub const UNILATERAL: Law = Law::Unilateral;

    /// `−u ∈ N_[lower, upper](λ)`: a relay, or a bounded multiplier. One row; the bounds may be infinite.
    pub fn interval(lower: f64, upper: f64) -> Law {
        match (lower, upper) {
            (f64::NEG_INFINITY, f64::INFINITY) => Law::Equality,
            (0.0, f64::INFINITY) => Law::Unilateral,
            _ => Law::Box { lower, upper },
        }
    }

    /// Signorini and Coulomb with one tangent in the plane, two in space. The normal row comes first.
    pub fn coulomb(mu: f64, tangents: usize) -> Law {
        if tangents == 1 { Law::Coulomb2 { mu } } else { Law::Coulomb3 { mu } }
    }

    /// Bounds of the first row's reaction; they may be infinite.
    #[inline]
    pub fn bounds(&self) -> (f64, f64) {
        match *self {
            Law::Equality => (f64::NEG_INFINITY, f64::INFINITY),
            Law::Unilateral | Law::Coulomb2 { .. } | Law::Coulomb3 { .. } => (0.0, f64::INFINITY),
            Law::Box { lower, upper } => (lower, upper),
        }
    }

    /// Coefficient of friction; zero without tangents.
    #[inline]
    pub fn mu(&self) -> f64 {
        match *self {
            Law::Coulomb2 { mu } | Law::Coulomb3 { mu } => mu,
            Law::Equality | Law::Unilateral | Law::Box { .. } => 0.0,
        }
    }

    /// Whether this is `u = 0` with a free reaction.
    #[inline]
    pub fn is_equality(&self) -> bool {
        matches!(self, Law::Equality)
    }

    /// Whether this is `0 ≤ u ⊥ λ ≥ 0`, without tangents.
    #[inline]
    pub fn is_unilateral(&self) -> bool {
        matches!(self, Law::Unilateral)
    }

    /// Whether there is a gap that opens and closes: the reaction of the first row is bounded from below alone.
    #[inline]
    pub fn is_contact(&self) -> bool {
        match *self {
            Law::Unilateral | Law::Coulomb2 { .. } | Law::Coulomb3 { .. } => true,
            Law::Box { lower, upper } => lower > f64::NEG_INFINITY && upper == f64::INFINITY,
            Law::Equality => false,
        }
    }

    /// Whether the law acts on velocities alone and always: neither an equality nor a contact.
    #[inline]
    pub fn is_relay(&self) -> bool {
        !self.is_equality() && !self.is_contact()
    }

    /// Whether this is Signorini's condition with Coulomb's law, planar or spatial.
    #[inline]
    pub fn is_coulomb(&self) -> bool {
        matches!(self, Law::Coulomb2 { .. } | Law::Coulomb3 { .. })
    }

    /// Whether reactions along tangents may differ from zero.
    pub fn has_friction(&self) -> bool {
        self.mu() != 0.0
    }

    /// The law of the first row alone.
    #[inline]
    pub fn normal(&self) -> Law {
        if self.is_coulomb() { Law::Unilateral } else { *self }
    }

    /// What a row means: `normal`, the tangents `t1` and `t2`.
    pub fn role(&self, row: usize) -> &'static str {
        ["normal", "t1", "t2"].get(row).copied().unwrap_or("none")
    }

    /// Number of rows.
    #[inline]
    pub fn size(&self) -> usize {
        match self {
            Law::Equality | Law::Unilateral | Law::Box { .. } => 1,
            Law::Coulomb2 { .. } => 2,
            Law::Coulomb3 { .. } => 3,
        }
    }

    /// The word of the field for this law.
    pub fn name(&self) -> &'static str {
        match self {
            Law::Equality => "equality",
            Law::Unilateral => "unilateral",
            Law::Box { .. } => "box",
            Law::Coulomb2 { .. } => "planar friction",
            Law::Coulomb3 { .. } => "spatial friction",
        }
    }

    /// Whether the law's data make sense: bounds ordered, coefficients finite and not negative.
    pub fn is_valid(&self) -> bool {
        match *self {
            Law::Equality | Law::Unilateral => true,
            Law::Box { lower, upper } => lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY,
            Law::Coulomb2 { mu } | Law::Coulomb3 { mu } => mu >= 0.0 && mu.is_finite(),
        }
    }

    /// Euclidean projection of `x` onto the admissible set `K` of reactions, in place.
    #[inline]
    pub fn project(&self, x: &mut [f64]) {
        match *self {
            Law::Equality => equality::project(x),
            Law::Unilateral => unilateral::project(x),
            Law::Box { lower, upper } => relay::project(lower, upper, x),
            Law::Coulomb2 { mu } | Law::Coulomb3 { mu } => coulomb::project(mu, x),
        }
    }

    /// The natural map `λ − P_K(λ − ρ (u + s(u)))`: zero exactly where the law holds.
    #[inline(always)]
    pub fn natural_map(&self, lambda: &[f64], u: &[f64], rho: f64, out: &mut [f64]) {
        for ((o, l), u) in out.iter_mut().zip(lambda).zip(u) {
            *o = l - rho * u;
        }
        if let Law::Coulomb2 { mu } | Law::Coulomb3 { mu } = *self {
            out[0] -= rho * mu * coulomb::norm(&u[1..]);
        }
        self.project(out);
        for (o, l) in out.iter_mut().zip(lambda) {
            *o = l - *o;
        }
    }

    /// Distance of `λ` to its admissible set, in the unit of `λ`.
    #[inline]
    pub fn cone_violation(&self, lambda: &[f64]) -> f64 {
        let mut p = [0.0; 3];
        let p = &mut p[..lambda.len()];
        p.copy_from_slice(lambda);
        self.project(p);
        p.iter().zip(lambda).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    /// How far `u` is from what the law allows for some `λ`, in the unit of `u` (a negative gap velocity, a residual of an equality).
    #[inline]
    pub fn velocity_violation(&self, u: &[f64]) -> f64 {
        match *self {
            Law::Equality => u[0].abs(),
            Law::Unilateral | Law::Coulomb2 { .. } | Law::Coulomb3 { .. } => (-u[0]).max(0.0),
            Law::Box { lower, upper } => relay::velocity_violation(lower, upper, u[0]),
        }
    }

    /// `|λ·(u + s(u))|`, with box multipliers counted from the bound that `u` pushes to: the energy by which the law is missed.
    #[inline]
    pub fn complementarity(&self, lambda: &[f64], u: &[f64]) -> f64 {
        match *self {
            Law::Equality => (lambda[0] * u[0]).abs(),
            Law::Unilateral => (lambda[0] * u[0]).abs(),
            Law::Box { lower, upper } => relay::complementarity(lower, upper, lambda[0], u[0]),
            Law::Coulomb2 { mu } | Law::Coulomb3 { mu } => coulomb::complementarity(mu, lambda, u),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Law;
    use proptest::prelude::*;

    fn laws() -> impl Strategy<Value = Law> {
        prop_oneof![
            Just(Law::Equality),
            Just(Law::Unilateral),
            (-3.0..1.0f64, 1.0..3.0f64).prop_map(|(lower, upper)| Law::Box { lower, upper }),
            (0.0..10.0f64).prop_map(|mu| Law::Coulomb2 { mu }),
            (0.0..10.0f64).prop_map(|mu| Law::Coulomb3 { mu }),
        ]
    }

    proptest! {
        /// A projection is idempotent and its displacement is normal to the set: (x − Px)·(y − Px) ≤ 0 for y in K.
        #[test]
        fn projection_is_a_projection(law in laws(), x in prop::array::uniform3(-5.0..5.0f64), y in prop::array::uniform3(-5.0..5.0f64)) {
            let n = law.size();
            let (mut px, mut py) = (x, y);
            law.project(&mut px[..n]);
            law.project(&mut py[..n]);
            let mut again = px;
            law.project(&mut again[..n]);
            for i in 0..n {
                prop_assert!((again[i] - px[i]).abs() < 1e-13);
            }
            let angle: f64 = (0..n).map(|i| (x[i] - px[i]) * (py[i] - px[i])).sum();
            prop_assert!(angle < 1e-12, "{angle}");
        }

        /// The natural map vanishes at points built to satisfy the law, and does not where the law is broken.
        #[test]
        fn natural_map_vanishes_exactly_at_solutions(mu in 0.01..3.0f64, n in 0.1..4.0f64, a in 0.0..std::f64::consts::TAU, slip in 0.1..3.0f64, rho in 0.1..10.0f64) {
            let law = Law::Coulomb3 { mu };
            let mut r = [0.0; 3];
            // slip: the force opposes the velocity on the boundary of the cone
            law.natural_map(&[n, mu * n * a.cos(), mu * n * a.sin()], &[0.0, -slip * a.cos(), -slip * a.sin()], rho, &mut r);
            prop_assert!(r.iter().all(|r| r.abs() < 1e-12 * (1.0 + rho)));
            // stick inside the cone, and take-off
            law.natural_map(&[n, 0.5 * mu * n * a.cos(), 0.5 * mu * n * a.sin()], &[0.0; 3], rho, &mut r);
            prop_assert!(r.iter().all(|r| r.abs() < 1e-12));
            law.natural_map(&[0.0; 3], &[n, slip, -slip], rho, &mut r);
            prop_assert!(r.iter().all(|r| r.abs() < 1e-12 * (1.0 + rho)));
            // slip along the force: broken
            law.natural_map(&[n, mu * n * a.cos(), mu * n * a.sin()], &[0.0, slip * a.cos(), slip * a.sin()], rho, &mut r);
            prop_assert!(r.iter().any(|r| r.abs() > 1e-3 * slip.min(1.0) * rho * mu.min(1.0) * n.min(1.0)));
        }
    }
}
