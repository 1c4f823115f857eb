//! Options of the event-driven scheme.

use crate::phase::Sorting;
use carom_solve::options::{at_least, at_least_one, positive};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time over which contacts at an edge are sorted out [s]: the set does not depend on it.
const SORTING: f64 = 1e-3;

/// Options of the event-driven scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EventDriven {
    /// Method of the smooth phases: "hem5" (constraints at the velocity level), "rkf45" (at the acceleration level), or
    /// "dop853" (order 8 where no law acts, "hem5" elsewhere).
    pub flow: Flow,
    /// With which of its two results "rkf45" goes on: "y5" or "y4".
    pub propagate: Propagate,
    /// Step control: "eps" (error per step), "epus" (error per unit step), or "fixed": the step that the driver asks
    /// for.
    pub control: Control,
    /// Absolute tolerance of a step, in the units of positions and velocities.
    pub atol: f64,
    /// Relative tolerance of a step [-]; with 0 the error is measured by `atol` alone.
    pub rtol: f64,
    /// Whether the error of impulses of closed contacts counts as well, as the velocity that it amounts to.
    pub control_impulses: bool,
    /// What happens inside steps is read from "quintic" (Hermite) or "order-4" (exact velocity constraints, "hem5"
    /// alone); events are located on the first in any case. Free flights of "dop853" have a dense output of their own,
    /// of order 7.
    pub dense: Dense,
    /// A contact with at most this normal velocity after an impact stays closed [m/s].
    pub veps: f64,
    /// A gap up to this value is closed when an event happens [m]; by default the rounding of positions.
    pub geps: Option<f64>,
    /// First step [s]; by default the one that the driver asks for.
    pub first_step: Option<f64>,
    /// Largest step after an event [s]; by default steps go on as before.
    pub restart_step: Option<f64>,
    /// Smallest step [s].
    pub h_min: f64,
    /// Largest step [s]; by default the one that the driver asks for.
    pub h_max: Option<f64>,
    /// Gaps and velocities of held constraints beyond this value are projected [m, m/s]; 0 never projects.
    pub drift_limit: f64,
    /// Most events within one step of the driver; more are an error.
    pub max_events: u32,
    /// Length of a part that the Moreau-Jean scheme does where phases cannot go on [s].
    pub hand_over_step: f64,
    /// How the contacts that stay closed behind an edge, or where their rows become dependent, are found: "contact"
    /// (accelerations), "lcp" (a stage of HEM5) or "sort" (a velocity step).
    pub edge: EdgeMethod,
}

/// A method of smooth phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Flow {
    /// Half-explicit, order 5, velocity constraints exact.
    Hem5,
    /// Fehlberg's pair of orders 4 and 5 on the accelerations.
    Rkf45,
    /// Dormand and Prince's pair of order 8 where no law acts; half-explicit elsewhere.
    Dop853,
}

/// A result of Fehlberg's pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Propagate {
    /// Order 4, as in the literature on event-driven schemes.
    Y4,
    /// Order 5: local extrapolation.
    Y5,
}

/// How steps are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// Error per step at most the tolerance.
    Eps,
    /// Error per unit step at most the tolerance.
    Epus,
    /// No control.
    Fixed,
}

/// A dense output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dense {
    /// Quintic Hermite.
    Quintic,
    /// Order 4 with exact velocity constraints.
    #[serde(rename = "order-4")]
    Order4,
}

/// A choice among contacts that meet at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeMethod {
    /// The contact problem of accelerations.
    Contact,
    /// The complementarity problem of a stage of the flow.
    Lcp,
    /// One velocity step over all of them.
    Sort,
}

impl EventDriven {
    /// The problem that sorts out contacts at an edge, where it is not that of accelerations, and the time over which
    /// it does so. A stall at an edge needs one that looks ahead.
    pub(super) fn sorting(&self, is_stalled: bool) -> Option<(Sorting, f64)> {
        match self.edge {
            EdgeMethod::Contact => is_stalled.then_some((Sorting::Stage, SORTING)),
            EdgeMethod::Lcp => Some((Sorting::Stage, SORTING)),
            EdgeMethod::Sort => Some((Sorting::Velocity, SORTING)),
        }
    }
}

impl Default for EventDriven {
    fn default() -> Self {
        EventDriven {
            flow: Flow::Hem5,
            propagate: Propagate::Y5,
            control: Control::Eps,
            atol: 1e-9,
            rtol: 1e-9,
            control_impulses: true,
            dense: Dense::Quintic,
            veps: 1e-9,
            geps: None,
            first_step: None,
            restart_step: None,
            h_min: 1e-13,
            h_max: None,
            drift_limit: 1e-8,
            max_events: 1_000_000,
            hand_over_step: 1e-3,
            edge: EdgeMethod::Contact,
        }
    }
}

impl Options for EventDriven {
    fn validate(&self) -> Result<(), OptionError> {
        positive("atol", self.atol)?;
        at_least("rtol", self.rtol, 0.0)?;
        at_least("veps", self.veps, 0.0)?;
        at_least("geps", self.geps.unwrap_or(0.0), 0.0)?;
        positive("first-step", self.first_step.unwrap_or(1.0))?;
        positive("restart-step", self.restart_step.unwrap_or(1.0))?;
        positive("h-min", self.h_min)?;
        let largest = self.h_max.unwrap_or(f64::MAX);
        positive("h-max", largest)?;
        if largest < self.h_min {
            return Err(OptionError::new("h-max", format!("{largest} is less than h-min = {}", self.h_min)));
        }
        at_least("drift-limit", self.drift_limit, 0.0)?;
        positive("hand-over-step", self.hand_over_step)?;
        at_least_one("max-events", self.max_events)?;
        if self.dense == Dense::Order4 && self.flow != Flow::Hem5 {
            return Err(OptionError::new("dense", "order-4 belongs to the flow hem5"));
        }
        Ok(())
    }
}
