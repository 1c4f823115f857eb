//! Step sizes: error per step, error per unit step, or none [brasey1994].
//!
//! ```text
//!     eps    accepted if err ≤ tol,    h ← h min(5, max(1/5, 9/10 (tol/err)^{1/5}))                  (1)
//!     epus   accepted if err ≤ tol h,  h ← h min(5, max(1/5, 9/10 (tol h/err)^{1/p})),  p = 5 or 4   (2)
//! ```
//!
//! The exponents belong to HEM5 and to Fehlberg's pair; with Dormand and Prince's pair, whose err is O(h⁸), they are
//! 1/8 and 1/7. After a rejection the next step does not grow. With an absolute tolerance alone an error below 1e-13 of
//! the largest coordinate or velocity tells nothing: then h ← 1.2 h. The h of (2) is in the unit of time of the model;
//! without `atol` it is a part of the longest step that the driver has asked for.

use super::options::{Control, EventDriven, Flow};
use crate::phase::Magnitudes;
use carom_solve::elementary::powf;

/// Smallest and largest change of a step, and the factor on the one proposed.
const LIMITS: (f64, f64) = (0.2, 5.0);
const SAFETY: f64 = 0.9;

/// Errors below this part of the largest size are rounding, where the tolerance is absolute.
const ROUNDING: f64 = 1e-13;

/// What becomes of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    pub accepted: bool,
    /// Factor on the step.
    pub factor: f64,
    /// The error in units of what is allowed.
    pub error: f64,
}

carom_solve::persist!(Judgement { accepted, factor, error });

/// Steps of the half-explicit method are shorter than those of order 8 by about this factor.
const SHORTER: f64 = 0.1;

/// Steps proposed; free flights with a method of their own have their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    next: [Option<f64>; 2], // for that of free flights second
    is_high: bool,          // whether the last step was one of them
    may_grow: bool,         // not after a rejection
}

carom_solve::persist!(Sizes { next, is_high, may_grow });

impl Default for Sizes {
    fn default() -> Self {
        Sizes { next: [None; 2], is_high: false, may_grow: true }
    }
}

impl Sizes {
    /// The step to try. Where the method changes, its last step is taken up again; the first one comes from the other
    /// method, whose steps differ.
    pub fn next(&mut self, is_high: bool) -> Option<f64> {
        let (own, other) = (usize::from(is_high), usize::from(!is_high));
        if is_high != self.is_high {
            (self.is_high, self.may_grow) = (is_high, true);
            let first = |h: f64| if is_high { h } else { SHORTER * h };
            self.next[own] = self.next[own].or(self.next[other].map(first));
        }
        self.next[own]
    }

    /// A step was rejected: the next one does not grow.
    pub fn reject(&mut self) {
        self.may_grow = false;
    }

    /// A step of length h was done; the next one may be longer or shorter by a factor, and is at least `smallest`.
    pub fn propose(&mut self, h: f64, factor: f64, smallest: f64) {
        let factor = if self.may_grow { factor } else { factor.min(1.0) };
        self.next[usize::from(self.is_high)] = Some((h * factor).max(smallest));
        self.may_grow = true;
    }

    /// No step is longer than this one.
    pub fn limit(&mut self, largest: f64) {
        self.next = self.next.map(|next| next.map(|h| h.min(largest)));
    }

    /// Forgets the steps proposed.
    pub fn clear(&mut self) {
        self.next = [None; 2];
    }
}

impl EventDriven {
    /// Judges a step of length h by `flow` whose error is `error` times the tolerance.
    pub(super) fn judge(&self, flow: Flow, error: f64, h: f64, sizes: &Magnitudes) -> Judgement {
        // a unit of time, where tolerances have units
        let unit = if self.atol.is_some() { 1.0 } else { sizes.time };
        let (allowed, order) = match (self.control, flow) {
            (Control::Fixed, _) => return Judgement { accepted: true, factor: 1.0, error: 0.0 },
            (Control::Eps, Flow::Dop853) => (1.0, 8.0),
            (Control::Eps, _) => (1.0, 5.0),
            (Control::Epus, Flow::Hem5) => (h / unit, 5.0),
            (Control::Epus, Flow::Rkf45) => (h / unit, 4.0),
            (Control::Epus, Flow::Dop853) => (h / unit, 7.0),
        };
        let ratio = error / allowed;
        if !ratio.is_finite() {
            return Judgement { accepted: false, factor: LIMITS.0, error: ratio };
        }
        let blind = self.rtol == 0.0 && self.control == Control::Eps && {
            let size = sizes.largest();
            error * self.absolute(size) < ROUNDING * size
        };
        let factor = if blind { 1.2 } else { (SAFETY * powf(ratio, -1.0 / order)).clamp(LIMITS.0, LIMITS.1) };
        Judgement { accepted: ratio <= 1.0, factor, error: ratio }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_goes_on_with_its_own_steps() {
        let mut sizes = Sizes::default();
        assert_eq!(sizes.next(false), None);
        sizes.propose(0.1, 2.0, 0.0);
        assert_eq!((sizes.next(false), sizes.next(true)), (Some(0.2), Some(0.2)));
        sizes.reject();
        sizes.propose(1.0, 2.0, 0.0);
        assert_eq!((sizes.next(true), sizes.next(false)), (Some(1.0), Some(0.2)));
        sizes.limit(0.5);
        assert_eq!((sizes.next(true), sizes.next(false)), (Some(0.5), Some(0.2)));
        let mut other = Sizes::default();
        other.next(true);
        other.propose(1.0, 2.0, 0.0);
        assert_eq!(other.next(false), Some(0.2));
    }

    #[test]
    fn both_rules_have_their_exponents_and_limits() {
        let mut sizes = Magnitudes::default();
        sizes.q.push(1.0);
        let judge = |scheme: &EventDriven, flow, error: f64| scheme.judge(flow, error, 0.1, &sizes);
        let mut scheme = EventDriven { rtol: 0.0, atol: Some(1e-6), ..EventDriven::default() };
        let judged = judge(&scheme, Flow::Hem5, 0.5f64.powi(5));
        assert!(judged.accepted && (judged.factor - 1.8).abs() < 1e-14);
        let judged = judge(&scheme, Flow::Dop853, 0.5f64.powi(8));
        assert!(judged.accepted && (judged.factor - 1.8).abs() < 1e-14);
        assert!(!judge(&scheme, Flow::Hem5, 1.1).accepted);
        assert_eq!(judge(&scheme, Flow::Hem5, 1e-8).factor, 1.2);
        assert_eq!(judge(&scheme, Flow::Hem5, 1e-6).factor, 5.0);
        assert!(!judge(&scheme, Flow::Hem5, f64::NAN).accepted);
        scheme.control = Control::Epus;
        let judged = judge(&scheme, Flow::Rkf45, 0.1 * 16.0);
        assert!(!judged.accepted && (judged.factor - 0.45).abs() < 1e-14);
        let judged = judge(&scheme, Flow::Dop853, 0.1 * 128.0);
        assert!(!judged.accepted && (judged.factor - 0.45).abs() < 1e-14);
    }
}
