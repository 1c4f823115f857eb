//! Step size control: accept a step and propose the next size, or ask for another try.
//!
//! The standard rule of step doubling and embedded methods [hairer1993], with an error of order p in units of the
//! tolerance:
//!
//! ```text
//!     h_new = h · min(grow, max(shrink, safety · error^{−1/(p+1)})),   accepted if error ≤ 1             (1)
//! ```
//!
//! between the smallest and the largest step. A step of the smallest size that is not accepted ends the run.

use crate::scheme::Step;
use carom_solve::elementary::powf;
use carom_solve::{Archive, ArchiveError};

/// What a controller says of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The step is good.
    Accept {
        /// Size of the next step [s].
        next: f64,
    },
    /// The step is to be tried again, shorter.
    Retry {
        /// Size of the next try [s].
        with: f64,
    },
    /// The error is too large even with the smallest step.
    GiveUp {
        /// The error divided by the tolerance [-].
        error: f64,
    },
}

/// Chooses step sizes.
pub trait Controller: Send {
    /// The first step size [s].
    fn first(&self) -> f64;
    /// Judges a step that was asked to advance by `h`.
    fn judge(&mut self, step: &Step, h: f64) -> Verdict;
    /// A smaller size for a step of `h` that could not be done at all; `None` ends the run.
    fn recover(&mut self, _h: f64) -> Option<f64> {
        None
    }
    /// The size that all steps are to have [s], where there is one: a step that fails is then taken in parts.
    fn usual(&self) -> Option<f64> {
        None
    }
    /// Writes down what it remembers from step to step, or takes over what was written: nothing, by default.
    fn persist(&mut self, _archive: &mut Archive) -> Result<(), ArchiveError> {
        Ok(())
    }
}

impl Controller for Box<dyn Controller> {
    fn first(&self) -> f64 {
        (**self).first()
    }
    fn judge(&mut self, step: &Step, h: f64) -> Verdict {
        (**self).judge(step, h)
    }
    fn recover(&mut self, h: f64) -> Option<f64> {
        (**self).recover(h)
    }
    fn usual(&self) -> Option<f64> {
        (**self).usual()
    }
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        (**self).persist(archive)
    }
}

/// The same step size always.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedStep {
    /// [s]
    pub h: f64,
}

impl Controller for FixedStep {
    fn first(&self) -> f64 {
        self.h
    }
    fn judge(&mut self, _step: &Step, _h: f64) -> Verdict {
        Verdict::Accept { next: self.h }
    }
    fn usual(&self) -> Option<f64> {
        Some(self.h)
    }
}

/// The standard control (1) of the local error. A scheme that estimates none keeps its step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardControl {
    /// First step [s].
    pub first: f64,
    /// Factor on the proposed size [-], in (0, 1].
    pub safety: f64,
    /// Smallest and largest change of the size [-].
    pub shrink: f64,
    /// Largest change of the size [-].
    pub grow: f64,
    /// Smallest and largest step [s].
    pub min: f64,
    /// Largest step [s].
    pub max: f64,
}

impl StandardControl {
    /// (1) without limits of the size.
    fn factor(&self, error: f64, order: u32) -> f64 {
        if error.is_finite() {
            // an error of zero gives infinity, and that the largest factor
            (self.safety * powf(error, -1.0 / (f64::from(order) + 1.0))).max(self.shrink).min(self.grow)
        } else {
            self.shrink
        }
    }
}

impl Controller for StandardControl {
    fn first(&self) -> f64 {
        self.first.max(self.min).min(self.max)
    }

    fn judge(&mut self, step: &Step, h: f64) -> Verdict {
        let Some(error) = step.error else { return Verdict::Accept { next: h } };
        let proposed = h * self.factor(error.value, error.order);
        if error.value <= 1.0 {
            return Verdict::Accept { next: proposed.max(self.min).min(self.max) };
        }
        if h <= self.min {
            return Verdict::GiveUp { error: error.value };
        }
        // an error above 1 by round-off must not end in the same step again
        let with = if proposed < h { proposed } else { 0.9 * h };
        Verdict::Retry { with: with.max(self.min) }
    }

    fn recover(&mut self, h: f64) -> Option<f64> {
        (h > self.min).then(|| (self.shrink * h).max(self.min))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::LocalError;

    const CONTROL: StandardControl =
        StandardControl { first: 1e-2, safety: 1.0, shrink: 0.5, grow: 5.0, min: 1e-6, max: 1.0 };

    fn judge(value: f64, order: u32, h: f64) -> Verdict {
        let step = Step { advanced: h, error: Some(LocalError { value, order }), ..Step::default() };
        CONTROL.clone().judge(&step, h)
    }

    #[test]
    fn the_rule_has_the_stated_exponent_and_limits() {
        assert_eq!(judge(0.25, 0, 0.1), Verdict::Accept { next: 0.4 });
        assert_eq!(judge(0.25, 1, 0.1), Verdict::Accept { next: 0.2 });
        assert_eq!(judge(0.0, 1, 0.1), Verdict::Accept { next: 0.5 });
        assert_eq!(judge(1e-9, 1, 0.5), Verdict::Accept { next: 1.0 });
        assert_eq!(judge(4.0, 0, 0.1), Verdict::Retry { with: 0.05 });
        let Verdict::Retry { with } = judge(1.44, 1, 0.1) else { panic!() };
        assert!((with - 0.1 / 1.2).abs() < 1e-16);
    }

    #[test]
    fn retries_become_smaller_until_the_smallest_step() {
        let Verdict::Retry { with } = judge(1.0 + f64::EPSILON, 60, 0.1) else { panic!() };
        assert!(with < 0.1);
        assert_eq!(judge(f64::NAN, 0, 0.1), Verdict::Retry { with: 0.05 });
        assert_eq!(judge(f64::INFINITY, 3, 0.1), Verdict::Retry { with: 0.05 });
        assert_eq!(judge(4.0, 0, 1.5e-6), Verdict::Retry { with: 1e-6 });
        assert_eq!(judge(4.0, 0, 1e-6), Verdict::GiveUp { error: 4.0 });
        assert_eq!(CONTROL.clone().recover(1e-6), None);
        assert_eq!(CONTROL.clone().recover(1e-3), Some(5e-4));
    }

    #[test]
    fn without_an_estimate_the_step_stays() {
        let step = Step { advanced: 0.1, ..Step::default() };
        assert_eq!(CONTROL.clone().judge(&step, 0.1), Verdict::Accept { next: 0.1 });
    }
}
