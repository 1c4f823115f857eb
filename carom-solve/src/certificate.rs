//! The certificate of a solution: by how much each law is missed, in units that do not depend on the user's units.
//!
//! Contact-scaled variables: `wᵢ = tr(Wᵢᵢ)/dim`, `λ'ᵢ = √wᵢ λᵢ`, `u'ᵢ = uᵢ/√wᵢ`, `b'ᵢ = bᵢ/√wᵢ` (all in √J for impulses and
//! velocities). With `Fᵢ` the natural map of law i,
//!
//! ```text
//!     residual = ‖ F'(λ', u') ‖₂ / max(‖b'‖₂, ‖λ'‖₂, ‖u'‖₂)                               (1)
//! ```
//!
//! which is zero exactly at solutions; it is the relative error of [acary2018] made independent of units.

use crate::{Delassus, OneStepProblem, Reaction};
use serde::Serialize;

/// How well a reaction satisfies a problem. Smaller is better; zero is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
}

impl Certificate {
    #[inline]
    pub(crate) fn of(p: &OneStepProblem<'_>, w: &Delassus, z: &Reaction) -> Certificate {
        let mut c = Certificate::default();
        let (mut sum, mut worst) = (0.0, -1.0);
        let (mut b2, mut l2, mut u2) = (0.0, 0.0, 0.0);
        let mut f = [0.0; 3];
        for (i, law) in p.laws().iter().enumerate() {
            let rows = p.rows(i);
            let (lambda, u, b) = (&z.lambda[rows.clone()], &z.u[rows.clone()], &p.b()[rows.clone()]);
            let scale = w.scale(i);
            let f = &mut f[..rows.len()];
            law.natural_map(lambda, u, 1.0 / scale, f);
            // F' = √w F, because ρ = 1/w was used in the unscaled map
            let missed = scale * norm2(f);
            sum += missed;
            if missed > worst {
                worst = missed;
                c.law = i;
            }
            b2 += norm2(b) / scale;
            l2 += norm2(lambda) * scale;
            u2 += norm2(u) / scale;
            c.cone = c.cone.max(law.cone_violation(lambda));
            c.velocity = c.velocity.max(law.velocity_violation(u));
            c.complementarity = c.complementarity.max(law.complementarity(lambda, u));
        }
        let size = f64::max(b2, l2).max(u2).sqrt();
        c.residual = if size > 0.0 { sum.sqrt() / size } else { sum.sqrt() };
        // a sum that is not finite means a λ or u that is not
        if !(c.residual.is_finite() && (b2 + l2 + u2).is_finite()) {
            c.residual = f64::INFINITY;
        }
        c
    }

    /// The worse of two certificates, entry by entry.
    pub fn worse(self, other: Certificate) -> Certificate {
        Certificate {
            residual: self.residual.max(other.residual),
            cone: self.cone.max(other.cone),
            velocity: self.velocity.max(other.velocity),
            complementarity: self.complementarity.max(other.complementarity),
            law: if other.residual > self.residual { other.law } else { self.law },
        }
    }
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
            laws: &[Law::Unilateral],
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

    #[test]
    fn is_infinite_where_numbers_are_not_finite() {
        assert_eq!(residual(2.0, -4.0, f64::NAN), f64::INFINITY);
        assert_eq!(residual(2.0, -4.0, f64::INFINITY), f64::INFINITY);
    }
}
