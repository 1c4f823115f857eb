//! Forecasts of gaps: which contacts a velocity-level scheme treats as closed at the end of its step [acary2012].
//!
//! ```text
//!     free:      ḡ = g + h (θ U_free + (1−θ) U)        the end of a step without reactions            (1)
//!     explicit:  ḡ = g + γ h U,   γ in [0, 2]                                                         (2)
//! ```

use carom_solve::OptionError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the scheme decides which gaps are closed at the end of the step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forecast {
    /// The gap at the end of a step without reactions.
    Free,
    /// `g + gamma h U`, with gamma in [0, 2].
    #[serde(rename_all = "kebab-case")]
    Explicit {
        /// How far the gap is extrapolated, in steps: γ in [0, 2] [-].
        gamma: f64,
    },
}

impl Forecast {
    pub(super) fn validate(&self) -> Result<(), OptionError> {
        match self {
            Forecast::Explicit { gamma } if !(0.0..=2.0).contains(gamma) => {
                Err(OptionError::new("forecast", format!("gamma = {gamma} is not in [0, 2]")))
            }
            _ => Ok(()),
        }
    }

    /// The forecast of a gap that opens with velocity `u`; `mean` is the velocity (1) of a step without reactions.
    #[inline(always)]
    pub(super) fn gap(&self, gap: f64, h: f64, u: f64, mean: f64) -> f64 {
        match self {
            Forecast::Free => gap + h * mean,
            Forecast::Explicit { gamma } => gap + gamma * h * u,
        }
    }
}
