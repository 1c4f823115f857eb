//! The certificate of a solution: by how much each law is missed, in units that do not depend on the user's units.
//!
//! Contact-scaled variables: `wᵢ = tr(Wᵢᵢ)/dim`, `λ'ᵢ = √wᵢ λᵢ`, `u'ᵢ = uᵢ/√wᵢ`, `b'ᵢ = bᵢ/√wᵢ` (all in √J for impulses
//! and velocities). With `Fᵢ` the natural map of law i,
//!
//! ```text
//!     residual = ‖ F'(λ', u') ‖₂ / max(‖b'‖₂, ‖λ'‖₂, ‖u'‖₂)                               (1)
//! ```
//!
//! Where a law has moments beside forces (rolling friction), `w` is the mean over the rows of each disc, so that each
//! row is measured in √J.
//!
//! (1) is zero exactly at solutions; it is the relative error of [acary2018] made independent of units. That error
//! itself, [`OneStepProblem::full_error`], is
//!
//! ```text
//!     e = ‖ F(λ, u) ‖₂ / max(‖b‖₂, ‖λ‖₂, ‖u‖₂),    Fᵢ = λᵢ − P_Kᵢ(λᵢ − uᵢ − sᵢ(uᵢ))          (2)
//! ```
//!
//! with `ρ = 1` whatever the units. Without `b` in the denominator it is that of problems given in global form.
//! Published figures are of this kind.
//!
//! A [`Measure`] says which of both a tolerance means. Where `wᵢ ≈ w` is not about one they differ, because (2) adds
//! impulses to velocities: a closed contact that is missed by the velocity `u` counts as `(u/√w) / (√w λ)` in (1) and
//! as `u/λ` in (2), which is `w` times as much.
//!
//! - Light bodies (`w ≫ 1`): (2) is larger, in problems of the global form, which have no `b` in the denominator.
//!   Blocks of an arch become lighter with their number: 10⁵ contacts with the residual 3·10⁻⁹ have the full error
//!   5·10⁻⁵.
//! - Heavy bodies (`w ≪ 1`): (2) is smaller; it hardly sees a velocity that is wrong.
//!
//! So compare with the literature by (2), and ask for (1) where the answer should not depend on units.

use crate::inertia::OwnBlocks;
use crate::law::by_rows;
use crate::{Law, OneStepProblem, Reaction, Reference};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which error a tolerance means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
// as wide as the numbers beside it: certificates without padding are copied without stalls
#[repr(u64)]
pub enum Measure {
    /// The residual (1), which does not depend on units.
    #[default]
    Residual,
    /// The error (2) of the literature.
    FullError,
}

crate::persist_enum!(Measure { 0 = Residual, 1 = FullError });

/// How well a reaction satisfies a problem. Smaller is better; zero is exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Certificate {
    /// Scaled, relative natural-map residual (1) [-]; infinite where a number was not finite.
    pub residual: f64,
    /// Largest distance of a reaction from its cone or box [unit of λ: N s].
    pub cone: f64,
    /// Largest violation of the velocity side, a negative `u_N` or a bilateral residual [unit of u: m/s].
    pub velocity: f64,
    /// Largest `|λ·(u + s(u))|` of a law [unit of λ·u: J].
    pub complementarity: f64,
    /// The law with the largest scaled residual.
    pub law: usize,
    /// Square of what the residual is relative to [J], see [`size`](Self::size).
    pub square: f64,
    #[serde(skip)]
    full: f64, // the error (2) [-], negative where it was not asked for
    #[serde(skip)]
    measure: Measure,
}

crate::persist!(Certificate { residual, cone, velocity, complementarity, law, square, full, measure });

impl Default for Certificate {
    fn default() -> Self {
        let [residual, cone, velocity, complementarity, square] = [0.0; 5];
        let measure = Measure::Residual;
        Certificate { residual, cone, velocity, complementarity, law: 0, square, full: -1.0, measure }
    }
}

/// Sums over the laws, in scaled variables.
#[derive(Default)]
struct Tally {
    cone: f64,
    velocity: f64,
    complementarity: f64,
    law: usize,
    missed: f64, // ‖F'‖²
    worst: f64,  // its largest part, that of `law`
    b: f64,      // ‖b'‖²
    lambda: f64, // ‖λ'‖²
    u: f64,      // ‖u'‖²
}

/// The larger one; NaN, which the sums tell of, is passed over.
#[inline(always)]
fn raise(largest: &mut f64, x: f64) {
    if x > *largest {
        *largest = x;
    }
}

impl Tally {
    /// Adds law `i` of N rows; N is a constant so that the loops over rows unroll.
    #[inline(always)]
    fn add<const N: usize>(&mut self, i: usize, p: &OneStepProblem<'_>, scale: f64, z: &Reaction) {
        let law = &p.laws()[i];
        let first = p.offsets()[i];
        let (lambda, u, b) = (&z.lambda[first..first + N], &z.u[first..first + N], &p.b()[first..first + N]);
        let mut f = [0.0; N];
        let inverse = 1.0 / scale;
        law.natural_map(lambda, u, inverse, &mut f);
        // F' = √w F, because ρ = 1/w was used in the unscaled map
        let missed = scale * norm2(&f);
        self.missed += missed;
        if missed > self.worst {
            self.worst = missed;
            self.law = i;
        }
        self.b += norm2(b) * inverse;
        self.lambda += norm2(lambda) * scale;
        self.u += norm2(u) * inverse;
        raise(&mut self.cone, law.cone_violation(lambda));
        raise(&mut self.velocity, law.velocity_violation(u));
        raise(&mut self.complementarity, law.complementarity(lambda, u));
    }
}

impl Tally {
    /// Of laws of N rows each: a loop of its own keeps the sums in registers.
    #[inline(always)]
    fn of<const N: usize>(p: &OneStepProblem<'_>, w: &impl OwnBlocks, z: &Reaction) -> Tally {
        let mut tally = Tally::default();
        for (i, scale) in w.scales().enumerate() {
            tally.add::<N>(i, p, scale, z);
        }
        tally
    }

    /// Of laws of different sizes, or with moments.
    fn of_mixture(p: &OneStepProblem<'_>, w: &impl OwnBlocks, z: &Reaction) -> Tally {
        let mut tally = Tally::default();
        for (i, (law, scale)) in p.laws().iter().zip(w.scales()).enumerate() {
            match law.size() {
                1 => tally.add::<1>(i, p, scale, z),
                _ if law.has_moments() => tally.add_wide(i, p, w.diagonal(i), z),
                2 => tally.add::<2>(i, p, scale, z),
                _ => tally.add::<3>(i, p, scale, z),
            }
        }
        tally
    }

    /// Adds a law with several discs, each in its own scale; out of line.
    #[inline(never)]
    fn add_wide(&mut self, i: usize, p: &OneStepProblem<'_>, block: &[f64], z: &Reaction) {
        const MOST: usize = Law::MOST_ROWS;
        let (law, first) = (&p.laws()[i], p.offsets()[i]);
        let (unit, rows) = (law.units(block), law.size());
        let scaled = law.scaled(|row| unit[row]);
        let (mut lambda, mut u, mut b, mut f) = ([0.0; MOST], [0.0; MOST], [0.0; MOST], [0.0; MOST]);
        for k in 0..rows {
            lambda[k] = unit[k] * z.lambda[first + k];
            (u[k], b[k]) = (z.u[first + k] / unit[k], p.b()[first + k] / unit[k]);
        }
        let (lambda, u) = (&lambda[..rows], &u[..rows]);
        scaled.natural_map(lambda, u, 1.0, &mut f[..rows]);
        let missed = norm2(&f);
        self.missed += missed;
        if missed > self.worst {
            self.worst = missed;
            self.law = i;
        }
        self.b += norm2(&b);
        self.lambda += norm2(lambda);
        self.u += norm2(u);
        raise(&mut self.cone, scaled.cone_violation(lambda) / unit[0]);
        raise(&mut self.velocity, scaled.velocity_violation(u) * unit[0]);
        raise(&mut self.complementarity, scaled.complementarity(lambda, u));
    }
}

impl Certificate {
    #[inline]
    pub(crate) fn of(p: &OneStepProblem<'_>, w: &impl OwnBlocks, z: &Reaction) -> Certificate {
        let tally = match w.rows_of_each_law() {
            1 => Tally::of::<1>(p, w, z),
            _ if p.laws().iter().any(Law::has_moments) => Tally::of_mixture(p, w, z),
            2 => Tally::of::<2>(p, w, z),
            3 => Tally::of::<3>(p, w, z),
            _ => Tally::of_mixture(p, w, z),
        };
        let square = f64::max(tally.b, tally.lambda).max(tally.u);
        let mut residual = if square > 0.0 { tally.missed / square } else { tally.missed }.sqrt();
        // a sum that is not finite means a λ or u that is not
        if !(residual.is_finite() && (tally.b + tally.lambda + tally.u).is_finite()) {
            residual = f64::INFINITY;
        }
        let Tally { cone, velocity, complementarity, law, .. } = tally;
        Certificate { residual, cone, velocity, complementarity, law, square, ..Certificate::default() }
    }

    /// What the residual is relative to: the largest of `‖b'‖`, `‖λ'‖` and `‖u'‖` [√J].
    pub fn size(&self) -> f64 {
        self.square.sqrt()
    }

    /// The error that the tolerance means [-].
    pub fn error(&self) -> f64 {
        match self.measure {
            Measure::Residual => self.residual,
            Measure::FullError => self.full,
        }
    }

    /// The error (2) of the literature [-], where it was asked for.
    pub fn full_error(&self) -> Option<f64> {
        (self.full >= 0.0).then_some(self.full)
    }

    /// Which of both errors the tolerance means.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The same with the error (2) of the literature, and which of both the tolerance means.
    pub(crate) fn with_full_error(self, full: f64, measure: Measure) -> Certificate {
        Certificate { full, measure, ..self }
    }

    /// The worse of two certificates, entry by entry.
    pub fn worse(self, other: Certificate) -> Certificate {
        Certificate {
            residual: self.residual.max(other.residual),
            cone: self.cone.max(other.cone),
            velocity: self.velocity.max(other.velocity),
            complementarity: self.complementarity.max(other.complementarity),
            law: if other.residual > self.residual { other.law } else { self.law },
            square: self.square.max(other.square),
            full: self.full.max(other.full),
            measure: other.measure,
        }
    }
}

impl OneStepProblem<'_> {
    /// [`certify`](Self::certify), with both errors where the tolerance means that of the literature.
    pub fn certify_by(&self, measure: Measure, z: &mut Reaction) -> Certificate {
        let certificate = self.certify(z);
        match measure {
            Measure::Residual => certificate,
            Measure::FullError => certificate.with_full_error(self.full_error(z), measure),
        }
    }

    /// The relative error (2) of the literature, for any mixture of laws; `z.u` must be that of `z.lambda`, as after
    /// [`certify`](Self::certify). A denominator of zero counts as one. Infinite where a number is not finite.
    pub fn full_error(&self, z: &Reaction) -> f64 {
        let offset = match self.reference() {
            Reference::FreeVelocity => norm2(self.b()),
            Reference::None => 0.0,
        };
        if z.lambda.len() != self.size() || z.u.len() != self.size() {
            return f64::INFINITY;
        }
        let mut missed = 0.0;
        for (law, &first) in self.laws().iter().zip(self.offsets()) {
            missed += by_rows!(law.size(), N => missed_by::<N>(law, first, z));
        }
        let (lambda, u) = (norm2(&z.lambda), norm2(&z.u));
        let size = offset.max(lambda).max(u).sqrt();
        let error = if size > 0.0 { missed.sqrt() / size } else { missed.sqrt() };
        // `max` drops NaN: ask each of them
        if (error + lambda + u + offset).is_finite() { error } else { f64::INFINITY }
    }
}

/// `‖F‖²` of (2) for a law of N rows from `first`.
#[inline(always)]
fn missed_by<const N: usize>(law: &Law, first: usize, z: &Reaction) -> f64 {
    let mut f = [0.0; N];
    law.natural_map(&z.lambda[first..first + N], &z.u[first..first + N], 1.0, &mut f);
    norm2(&f)
}

#[inline]
fn norm2(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use crate::{Identity, Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows};

    fn residual(w: f64, b: f64, lambda: f64) -> f64 {
        let parts = Parts {
            lhs: &Identity(1),
            output: &Rows::dense(1, &[w]),
            input: &Rows::dense(1, &[1.0]),
            feedthrough: None,
            b: &[b],
            laws: &[Law::UNILATERAL],
        };
        let mut work = ProblemWork::default();
        let mut z = Reaction { lambda: vec![lambda], ..Reaction::default() };
        OneStepProblem::new(parts, &mut work).certify(&mut z).residual
    }

    #[test]
    fn is_zero_at_the_solution_and_independent_of_units() {
        assert_eq!(residual(2.0, -4.0, 2.0), 0.0);
        // u = 2·1 − 4 = −2 is missed by ρ|u| = 1 of λ: F' = √2, largest of ‖b'‖ = 4/√2
        assert!((residual(2.0, -4.0, 1.0) - 0.5).abs() < 1e-15);
        // velocities in mm/s and impulses in g m/s: W scales by 1, b by 1e3, λ by 1e3; or mass alone by 1e6
        assert!((residual(2.0, -4e3, 1e3) - 0.5).abs() < 1e-15);
        assert!((residual(2e-6, -4.0, 1e6) - 0.5).abs() < 1e-12);
    }

    /// Rolling friction with lengths in other units: moments are `unit` times as large, rates of turning as much
    /// smaller than they would have to be for the same energy.
    fn rolling(unit: f64) -> f64 {
        let roll = |x: f64| x / (unit * unit);
        let diagonal = [2.0, 2.0, 2.0, roll(30.0), roll(30.0), roll(20.0)];
        let rows: Vec<f64> = (0..36).map(|k| if k % 7 == 0 { diagonal[k / 7] } else { 0.0 }).collect();
        let b = [-4.0, 1.0, 0.5, 3.0 / unit, -2.0 / unit, 1.0 / unit];
        let parts = Parts {
            lhs: &Identity(6),
            output: &Rows::dense(6, &rows),
            input: &Rows::dense(6, &(0..36).map(|k| f64::from(u8::from(k % 7 == 0))).collect::<Vec<_>>()),
            feedthrough: None,
            b: &b,
            laws: &[Law::rolling(0.3, 0.02 * unit, 0.01 * unit)],
        };
        let lambda = vec![1.5, -0.3, 0.2, -0.01 * unit, 0.03 * unit, -0.02 * unit];
        let mut z = Reaction { lambda, ..Reaction::default() };
        OneStepProblem::new(parts, &mut ProblemWork::default()).certify(&mut z).residual
    }

    #[test]
    fn forces_and_moments_have_their_own_scales() {
        let metres = rolling(1.0);
        for unit in [1e-3, 1e3, 1e6] {
            assert!((rolling(unit) / metres - 1.0).abs() < 1e-12, "{unit}: {} {metres}", rolling(unit));
        }
    }

    #[test]
    fn is_infinite_where_numbers_are_not_finite() {
        assert_eq!(residual(2.0, -4.0, f64::NAN), f64::INFINITY);
        assert_eq!(residual(2.0, -4.0, f64::INFINITY), f64::INFINITY);
    }
}
