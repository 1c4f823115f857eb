//! One law alone: given its diagonal block `A` and what the other laws leave as `b`, find `λ ∈ Law(Aλ + b)`.
//!
//! Closed forms for one row; planar and spatial friction have their own files, and one solver treats whatever else has
//! discs. A row that sees no inertia (`A = 0`) keeps its reaction where the law does not fix it.

mod coulomb2;
mod coulomb3;
mod general;

use crate::{Law, Shape};
pub(super) use coulomb2::Contact2;
pub(super) use coulomb3::Contact3;
pub(super) use general::General;

/// A law that has a closed form or nearly one, with what can be computed from its diagonal block once.
#[derive(Clone, Debug)]
pub(super) enum Local {
    Equality { w: f64 },
    Interval { w: f64, lower: f64, upper: f64 },
    Coulomb2(Contact2),
    Coulomb3(Contact3),
}

/// Any law with what can be computed from its diagonal block once; larger than [`Local`].
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a box would be allocated in every solve")]
pub(super) enum Any {
    Closed(Local),
    General(General),
}

impl Any {
    /// `block` is row-major.
    pub(super) fn new(law: &Law, block: &[f64]) -> Any {
        match Local::new(law, block) {
            Some(local) => Any::Closed(local),
            None => Any::General(General::new(law, block)),
        }
    }

    /// Solves the law; `lambda` is the guess on entry.
    #[inline]
    pub(super) fn solve(&self, b: &[f64], lambda: &mut [f64]) {
        match self {
            Any::Closed(local) => local.solve(b, lambda),
            Any::General(general) => general.solve(b, lambda),
        }
    }

    /// `A λ`, what the law does to itself.
    #[inline]
    pub(super) fn own(&self, lambda: &[f64], out: &mut [f64]) {
        match self {
            Any::Closed(local) => local.own(lambda, out),
            Any::General(general) => general.own(lambda, out),
        }
    }
}

impl Local {
    /// `block` is row-major. None for laws without a closed form.
    #[inline]
    pub(super) fn new(law: &Law, block: &[f64]) -> Option<Local> {
        Some(match law.shape() {
            Shape::Interval { .. } if law.is_equality() => Local::Equality { w: block[0] },
            Shape::Interval { lower, upper } => Local::Interval { w: block[0], lower, upper },
            Shape::Cone1 { mu } => Local::Coulomb2(Contact2::new(mu, block)),
            Shape::Cone2 { mu } => Local::Coulomb3(Contact3::new(mu, block)),
            Shape::General => return None,
        })
    }

    /// Solves the law; `lambda` is the guess on entry.
    #[inline]
    pub(super) fn solve(&self, b: &[f64], lambda: &mut [f64]) {
        match (self, b, &mut *lambda) {
            (_, [b], [lambda]) => *lambda = self.row(*b, *lambda),
            (Local::Coulomb2(contact), &[n, t], [..]) => {
                lambda.copy_from_slice(&contact.solve([n, t]));
            }
            (Local::Coulomb3(contact), &[n, s, t], &mut [ref mut x, ref mut y, ref mut z]) => {
                [*x, *y, *z] = contact.solve([n, s, t], [*x, *y, *z]);
            }
            _ => debug_assert!(false, "rows of a law and of its block differ"),
        }
    }

    /// `A λ`, what the law does to itself.
    #[inline]
    pub(super) fn own(&self, lambda: &[f64], out: &mut [f64]) {
        match (self, lambda, &mut *out) {
            (Local::Equality { w } | Local::Interval { w, .. }, [lambda], [out]) => *out = w * lambda,
            (Local::Coulomb2(contact), &[n, t], [..]) => out.copy_from_slice(&contact.own([n, t])),
            (Local::Coulomb3(contact), &[n, s, t], [..]) => out.copy_from_slice(&contact.own([n, s, t])),
            _ => debug_assert!(false, "rows of a law and of its block differ"),
        }
    }

    /// Solves a law of one row; `old` is the guess.
    #[inline]
    pub(super) fn row(&self, b: f64, old: f64) -> f64 {
        match *self {
            Local::Equality { w } => {
                if w != 0.0 {
                    -b / w
                } else {
                    old
                }
            }
            Local::Interval { w, lower, upper } => bounded(w, b, lower, upper, old),
            Local::Coulomb2(_) | Local::Coulomb3(_) => {
                debug_assert!(false, "friction has more than one row");
                old
            }
        }
    }
}

/// `−(w λ + b) ∈ N_[lower, upper](λ)`.
#[inline]
fn bounded(w: f64, b: f64, lower: f64, upper: f64, old: f64) -> f64 {
    if w > 0.0 {
        return (-b / w).max(lower).min(upper);
    }
    // no inertia: u = b whatever λ, which asks for a bound
    let bound = if b > 0.0 { lower } else { upper };
    if b != 0.0 && bound.is_finite() { bound } else { old.max(lower).min(upper) }
}
