//! Options of adaptive steps: the table `adaptive` of model files.

use super::StandardControl;
use crate::scheme::{Accuracy, Estimator};
use carom_solve::options::{fraction, positive, within};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// Step sizes by the local error that step doubling estimates, with any scheme.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Adaptive {
    /// Largest local error of a step, one number in units of positions and gaps [m, rad]; by default the part
    /// `relative`, or 1e-6, of the largest value that each coordinate has had so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Largest local error relative to the size of each coordinate, added to `tolerance` [-].
    pub relative: f64,
    /// How the error is estimated: "impact" (sees overlooked impacts), "position" or "variable-order" (as published).
    pub estimator: Estimator,
    /// Smallest step [s]; by default 1e-14 of the span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest step [s]; by default a tenth of the span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Factor on the proposed size [-], in (0, 1].
    pub safety: f64,
    /// Smallest change of the size from one try to the next [-], in (0, 1).
    pub shrink: f64,
    /// Largest change of the size from one step to the next [-], above 1.
    pub grow: f64,
}

impl Default for Adaptive {
    fn default() -> Self {
        Adaptive {
            tolerance: None,
            relative: 0.0,
            estimator: Estimator::Impact,
            min: None,
            max: None,
            safety: 0.9,
            shrink: 0.2,
            grow: 5.0,
        }
    }
}

impl Options for Adaptive {
    fn validate(&self) -> Result<(), OptionError> {
        self.accuracy().check()?;
        positive("max", self.max.unwrap_or(1.0))?;
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min > max
        {
            return Err(OptionError::new("min", format!("the smallest step {min} is above the largest {max}")));
        }
        within("safety", self.safety, (Bound::Excluded(0.0), Bound::Included(1.0)))?;
        fraction("shrink", self.shrink)?;
        within("grow", self.grow, (Bound::Excluded(1.0), Bound::Excluded(f64::INFINITY)))
    }
}

impl Adaptive {
    /// What each step is asked for.
    pub fn accuracy(&self) -> Accuracy {
        let Adaptive { tolerance, relative, estimator, min, .. } = *self;
        Accuracy { tolerance, relative, estimator, smallest: min }
    }

    /// The tolerances multiplied by a factor.
    pub fn refined(self, factor: f64) -> Adaptive {
        let (tolerance, relative) = self.accuracy().tolerances();
        Adaptive { tolerance: tolerance.map(|tolerance| factor * tolerance), relative: factor * relative, ..self }
    }

    /// The tolerances in words.
    pub fn words(&self) -> String {
        let (absolute, relative) = self.accuracy().tolerances();
        match absolute {
            Some(absolute) => format!("{absolute:.1e} absolute, {relative:.1e} relative"),
            None => format!("{relative:.1e} of the sizes met"),
        }
    }

    /// The control over a span (start, end) that begins with steps of `first`.
    pub fn control(&self, first: f64, (start, end): (f64, f64)) -> StandardControl {
        let span = end - start;
        let max = self.max.unwrap_or(0.1 * span).min(span);
        // a step must change the time
        let least = 16.0 * f64::EPSILON * start.abs().max(end.abs());
        let min = self.min.unwrap_or((1e-14 * span).max(least)).min(max);
        StandardControl { first, safety: self.safety, shrink: self.shrink, grow: self.grow, min, max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn senseless_values_are_refused_by_field() {
        for (table, field) in [
            (json!({ "tolerance": 0.0 }), "tolerance"),
            (json!({ "tolerance": 1e-6, "relative": -1.0 }), "relative"),
            (json!({ "min": 0.0 }), "min"),
            (json!({ "max": -1.0 }), "max"),
            (json!({ "min": 1.0, "max": 0.5 }), "min"),
            (json!({ "safety": 1.5 }), "safety"),
            (json!({ "shrink": 1.0 }), "shrink"),
            (json!({ "grow": 1.0 }), "grow"),
        ] {
            assert_eq!(Adaptive::read(&table).unwrap_err().field, Some(field), "{table}");
        }
        assert!(Adaptive::read(&json!({ "estimator": "guess" })).is_err());
        assert!(Adaptive::read(&json!({ "tolerence": 1e-6 })).is_err());
        let read = Adaptive::read(&json!({ "tolerance": 1e-9, "estimator": "variable-order" })).unwrap();
        assert_eq!(
            read,
            Adaptive { tolerance: Some(1e-9), estimator: Estimator::VariableOrder, ..Adaptive::default() }
        );
    }

    #[test]
    fn steps_have_limits_by_default() {
        let control = Adaptive::default().control(1e-2, (0.0, 5.0));
        assert_eq!((control.max, control.min), (0.5, 5e-14));
        // late in time a step must still be a step
        let control = Adaptive::default().control(1e-2, (1e6, 1e6 + 1.0));
        assert!(1e6 + control.min > 1e6);
    }
}
