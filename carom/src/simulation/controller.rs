//! Step size control: accept a step and propose the next size, or ask for another try.

use crate::scheme::{SchemeInfo, Step};

/// What a controller says of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    Accept { next: f64 },
    Retry { with: f64 },
}

/// Chooses step sizes.
pub trait Controller: Send {
    /// The first step size [s].
    fn first(&self) -> f64;
    /// Judges a step that was asked to advance by `h`.
    fn judge(&mut self, step: &Step, info: &SchemeInfo, h: f64) -> Verdict;
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
    fn judge(&mut self, _step: &Step, _info: &SchemeInfo, _h: f64) -> Verdict {
        Verdict::Accept { next: self.h }
    }
}
