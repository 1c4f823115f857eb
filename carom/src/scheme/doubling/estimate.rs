//! What the full step and the two half steps tell about the local error.
//!
//! | estimator | compared | order p |
//! |---|---|---|
//! | `position` | q, equation (67) of [acary2009] | 0 |
//! | `variable-order` | q where a contact goes from open to closed, else q and h v, (68)-(70) there | 0, else 1 |
//! | `impact` | as below | 0 with an impact, else that of smooth motion |
//!
//! The first two see nothing of an impact that full and half steps overlook alike, and a forecast that does not reach
//! the end of the step overlooks impacts. `impact` asks the contacts, in each half step:
//!
//! ```text
//!     jump:  δ = h/4 Σ_halves max (U⁺ − U)    over contacts that act and approach, U < 0: what half of a half step, the
//!                                             mean uncertainty of the time of an impact, makes of the gap            (1)
//!     depth: max(0, min(0, g) − min g(s))     over contacts that do not act, g(s) the cubic with the gaps and
//!                                             velocities of both ends: new penetration that no law answered          (2)
//! ```
//!
//! If one of them exceeds a hundredth of the tolerance there is an impact: the error is the largest of (1), (2) and |q₂
//! − q₁|. Smaller ones do not matter, and the step counts as smooth. (1) is left out for schemes that locate impacts.
//! Reversals of slip count like impacts (`slips.rs`), but for schemes that locate them.
//! In first-order systems it asks the multipliers instead (`multipliers.rs`): a relay that switches, sliding that ends.

use super::super::{LocalError, Order, Reactions};
use super::extents::Extents;
use super::slips::reversals;
use crate::model::Places;
use crate::{Coupling, State};
use carom_solve::OptionError;
use carom_solve::elementary::exp2;
use carom_solve::options::{at_least, positive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Part of the sizes met that is the tolerance by default.
const PART: f64 = 1e-6;

/// Impacts below this part of the tolerance do not matter.
const NEGLIGIBLE: f64 = 1e-2;

/// The accuracy asked of each step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// Absolute tolerance, one number in units of positions and gaps [m, rad]; by default the part `relative`, or
    /// 1e-6, of the sizes met.
    pub tolerance: Option<f64>,
    /// Tolerance relative to the size of each coordinate [-].
    pub relative: f64,
    /// What full and half steps are compared by.
    pub estimator: Estimator,
    /// Smallest step [s] of schemes that control the error themselves; by default their own.
    pub smallest: Option<f64>,
}

/// How the local error is estimated from a full and two half steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Positions alone, always with order 0.
    Position,
    /// Order 0 and positions alone in steps in which a contact closes, order 1 with positions and velocities in others.
    VariableOrder,
    /// Positions, velocities, uncertainty of the time of impacts, and gaps inside the step; sees impacts that were
    /// overlooked.
    #[default]
    Impact,
}

impl Estimator {
    /// The name in model files.
    pub fn name(&self) -> &'static str {
        match self {
            Estimator::Position => "position",
            Estimator::VariableOrder => "variable-order",
            Estimator::Impact => "impact",
        }
    }

    /// Whether an impact that full and half steps overlook alike is seen nevertheless.
    pub(super) fn looks_at_gaps(&self) -> bool {
        *self == Estimator::Impact
    }

    /// Whether gaps at the end of the step are needed.
    pub(super) fn compares_gaps(&self) -> bool {
        *self != Estimator::Position
    }
}

/// All that an attempt has left behind.
pub(super) struct Evidence<'a> {
    /// Size of the full step [s].
    pub h: f64,
    /// x, x₁ and x₂.
    pub states: (&'a State, &'a State, &'a State),
    /// q₂ ⊖ q₁.
    pub difference: &'a [f64],
    /// What the laws did in each half.
    pub halves: (&'a Reactions, &'a Reactions),
    /// What they do in another half after a slip has ended.
    pub next: Option<&'a Reactions>,
    /// Gaps and relative velocities at x₂; of no law where the estimator does not need them.
    pub end: (&'a Coupling, &'a [f64]),
    /// Of a first-order system: states that are uncertain by changes of multipliers, and the differences that their
    /// impulses make between full and half steps.
    pub multipliers: (&'a [f64], &'a [f64]),
    /// Orders of the scheme.
    pub order: Order,
    /// Which coordinates velocities move.
    pub places: &'a Places,
    /// Sizes of the coordinates, where no tolerance is given.
    pub extents: &'a Extents,
}

/// What the contacts did in half steps, in units of the tolerance (a jump per second).
#[derive(Clone, Copy, Default)]
struct Contacts {
    closes: bool,
    jump: f64,
    depth: f64,
}

/// Refuses a part of sizes that is below what numbers resolve; zero stands for none.
pub(crate) fn resolved(field: &'static str, part: f64) -> Result<(), OptionError> {
    let least = 4.0 * f64::EPSILON;
    if part == 0.0 || part >= least {
        return Ok(());
    }
    Err(OptionError::new(field, format!("{part:e} is below the rounding of numbers: at least {least:.1e}, or 0")))
}

impl Accuracy {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), OptionError> {
        positive("tolerance", self.tolerance.unwrap_or(1.0))?;
        at_least("relative", self.relative, 0.0)?;
        resolved("relative", self.relative)?;
        positive("min", self.smallest.unwrap_or(1.0))
    }

    /// The absolute tolerance, and the relative one, which is positive where there is no other.
    pub fn tolerances(&self) -> (Option<f64>, f64) {
        let is_alone = self.tolerance.is_none() && self.relative == 0.0;
        (self.tolerance, if is_alone { PART } else { self.relative })
    }

    /// The absolute tolerance of something of this size.
    fn absolute(&self, size: impl FnOnce() -> f64) -> f64 {
        self.tolerance.unwrap_or_else(|| self.tolerances().1 * size())
    }

    pub(super) fn estimate(&self, evidence: &Evidence<'_>) -> LocalError {
        match self.estimator {
            Estimator::Position => LocalError { value: self.positions(evidence), order: 0 },
            Estimator::VariableOrder => {
                if self.contacts(evidence).closes {
                    LocalError { value: self.positions(evidence), order: 0 }
                } else {
                    self.smooth(evidence, 1)
                }
            }
            Estimator::Impact => {
                let contacts = self.contacts(evidence);
                // half of a half step
                let shift = if evidence.locates() { 0.0 } else { 0.25 * evidence.h * contacts.jump };
                let impact = larger(larger(shift, contacts.depth), self.reversals(evidence));
                let impact = larger(impact, self.largest(evidence, evidence.multipliers.0));
                // a NaN counts as an impact: it must not be accepted
                if impact <= NEGLIGIBLE {
                    self.smooth(evidence, evidence.smooth_order())
                } else {
                    let value = larger(self.positions(evidence), impact);
                    LocalError { value, order: evidence.impact_order() }
                }
            }
        }
    }

    /// The largest |q₂ ⊖ q₁| in units of the tolerance, and what multipliers differ by.
    fn positions(&self, evidence: &Evidence<'_>) -> f64 {
        larger(self.largest(evidence, evidence.difference), self.largest(evidence, evidence.multipliers.1))
    }

    /// The largest of some differences of positions in units of the tolerance.
    fn largest(&self, evidence: &Evidence<'_>, differences: &[f64]) -> f64 {
        let (from, _, to) = evidence.states;
        let mut value = 0.0;
        for (i, d) in differences.iter().enumerate() {
            let size = evidence.places.size(&from.q, i).max(evidence.places.size(&to.q, i));
            let tolerance = self.absolute(|| evidence.extents.size(i));
            value = larger(value, d.abs() / (tolerance + self.relative * size));
        }
        value
    }

    /// Positions and h times velocities, for motion of this order.
    fn smooth(&self, evidence: &Evidence<'_>, order: u32) -> LocalError {
        let (from, coarse, to) = evidence.states;
        let h = evidence.h;
        let mut value = self.positions(evidence);
        for (i, ((v, v1), v2)) in from.v.iter().zip(&coarse.v).zip(&to.v).enumerate() {
            let absolute = self.absolute(|| evidence.extents.size(i));
            let tolerance = absolute + self.relative * h * v.abs().max(v2.abs());
            value = larger(value, h * (v2 - v1).abs() / tolerance);
        }
        let order = order.max(1);
        LocalError { value: value / (exp2(f64::from(order.min(60))) - 1.0), order }
    }

    /// What reversals of slip have lost.
    fn reversals(&self, evidence: &Evidence<'_>) -> f64 {
        if evidence.states.0.v.is_empty() || evidence.locates() {
            return 0.0;
        }
        let (first, second) = evidence.halves;
        let tolerance = |size: f64| self.absolute(|| size) + self.relative * size;
        reversals([Some(first), Some(second), evidence.next], evidence.extents, tolerance)
    }

    /// What the contacts did.
    fn contacts(&self, evidence: &Evidence<'_>) -> Contacts {
        let (first, second) = evidence.halves;
        if evidence.states.0.v.is_empty() {
            return Contacts::default();
        }
        let half = 0.5 * evidence.h;
        let tolerance = |half: &Reactions, i: usize| self.absolute(|| evidence.extents.behind(&half.coupling, i));
        let a = Contacts::of(first, (&second.coupling, &second.before), half, tolerance);
        let b = Contacts::of(second, evidence.end, half, tolerance);
        Contacts { closes: a.closes || b.closes, jump: a.jump + b.jump, depth: larger(a.depth, b.depth) }
    }
}

impl Evidence<'_> {
    /// The scheme finds the time of impacts: its positions are of second order at least through them.
    fn locates(&self) -> bool {
        self.order.position >= 2.0
    }

    fn smooth_order(&self) -> u32 {
        self.order.smooth.floor().clamp(1.0, 60.0) as u32
    }

    /// A single impact leaves an error of the order that the whole run has.
    fn impact_order(&self) -> u32 {
        (self.order.position - 1.0).floor().clamp(0.0, 60.0) as u32
    }
}

impl Contacts {
    /// Contacts in a half step that ends with gaps and velocities `next`; of no law where they are not needed.
    fn of(
        half: &Reactions,
        next: (&Coupling, &[f64]),
        h: f64,
        tolerance: impl Fn(&Reactions, usize) -> f64,
    ) -> Contacts {
        let mut found = Contacts::default();
        for (i, pair) in half.coupling.pairs.iter().enumerate() {
            let contact = pair.law.is_contact();
            if !(contact && half.coupling.is_present(i)) {
                continue;
            }
            let row = half.coupling.offset[i];
            let (g, u) = (pair.gap, half.before[row]);
            let there = next.0.pairs.get(i).filter(|_| next.0.is_present(i));
            let after = there.map(|there| (there.gap, next.1[next.0.offset[i]]));
            found.closes |= g > 0.0 && after.is_some_and(|(gap, _)| gap <= 0.0);
            if half.impulse[row] > 0.0 {
                if u < 0.0 {
                    found.jump = larger(found.jump, (half.after[row] - u) / tolerance(half, i));
                }
            } else if let Some(after) = after {
                let depth = g.min(0.0) - lowest((g, u), after, h);
                found.depth = larger(found.depth, depth / tolerance(half, i));
            }
        }
        found
    }
}

/// The lowest value on [0, h] of the cubic with these values and slopes at its ends.
fn lowest((g0, u0): (f64, f64), (g1, u1): (f64, f64), h: f64) -> f64 {
    let end = g0.min(g1);
    // a dip below both ends needs a fall at the start and a rise at the end
    if !(u0 < 0.0 && u1 > 0.0) {
        return end;
    }
    let mean = (g1 - g0) / h;
    // g(s) = g0 + s (u0 + s (a + s b)), lowest where u0 + 2 a s + 3 b s² = 0 with rising slope
    let (a, b) = ((3.0 * mean - 2.0 * u0 - u1) / h, (u0 + u1 - 2.0 * mean) / (h * h));
    let root = (a * a - 3.0 * b * u0).max(0.0).sqrt();
    // the root of either sign of `a` without cancellation
    let s = if a > 0.0 { -u0 / (a + root) } else { (root - a) / (3.0 * b) };
    if s > 0.0 && s < h { end.min(g0 + s * (u0 + s * (a + s * b))) } else { end }
}

/// The larger of two, a NaN being larger than all.
fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dips_between_the_ends_are_found() {
        // g(s) = (s − 1)² − 0.1 on [0, 2]: exactly a parabola
        assert!((lowest((0.9, -2.0), (0.9, 2.0), 2.0) + 0.1).abs() < 1e-15);
        // g(s) = s³ − 3 s + 2 on [0, 1.5]: lowest value 0 at s = 1
        let g = |s: f64| (s * s * s - 3.0 * s + 2.0, 3.0 * s * s - 3.0);
        assert!(lowest(g(0.0), g(1.5), 1.5).abs() < 1e-15);
        // g(s) = −s³ + 6 s² − 9 s + 4 on [0.2, 2.9]: lowest value 0 at s = 1, a concave end
        let g = |s: f64| (-s * s * s + 6.0 * s * s - 9.0 * s + 4.0, -3.0 * s * s + 12.0 * s - 9.0);
        assert!(lowest(g(0.2), g(2.9), 2.7).abs() < 1e-14);
        // monotone
        assert_eq!(lowest((1.0, -1.0), (0.5, -1.0), 0.5), 0.5);
        assert_eq!(lowest((1.0, 1.0), (2.0, 1.0), 1.0), 1.0);
    }

    #[test]
    fn a_nan_is_never_accepted() {
        assert!(larger(f64::NAN, 1.0).is_nan() && larger(1.0, f64::NAN).is_nan());
        assert_eq!((larger(1.0, 2.0), larger(2.0, 1.0)), (2.0, 2.0));
    }
}
