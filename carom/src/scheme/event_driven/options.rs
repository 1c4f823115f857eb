//! Options of the event-driven scheme.

use crate::integrator::{Absolute, Tolerances};
use crate::phase::{Magnitudes, Sorting};
use crate::scheme::doubling::resolved;
use carom_solve::options::{at_least, at_least_one, positive};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parts of the step that the driver asks for: over which contacts at an edge are sorted out (the set does not depend
/// on it), of the smallest step, and of a part that another scheme does.
const SORTING: f64 = 1e-2;
const SMALLEST: f64 = 1e-12;
const HAND_OVER: f64 = 1e-2;

/// Part of the sizes met that errors may have, where `rtol` does not tell it, and that constraints may drift by.
const ACCURATE: f64 = 1e-9;
const DRIFT: f64 = 1e-8;

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
    /// Absolute tolerance of a step, one number in the units of positions and velocities; by default the part `rtol`,
    /// or 1e-9, of the largest value that each of them has had so far.
    pub atol: Option<f64>,
    /// Relative tolerance of a step [-]; with 0 the error is measured by `atol` alone.
    pub rtol: f64,
    /// Whether the error of impulses of closed contacts counts as well, as the velocity that it amounts to.
    pub control_impulses: bool,
    /// What happens inside steps is read from "quintic" (Hermite) or "order-4" (exact velocity constraints, "hem5"
    /// alone); events are located on the first in any case. Free flights of "dop853" have a dense output of their own,
    /// of order 7.
    pub dense: Dense,
    /// A contact with at most this normal velocity after an impact stays closed [m/s]; by default 5e-10 of
    /// the velocities behind it.
    pub veps: Option<f64>,
    /// A gap up to this value is closed when an event happens [m]; by default the rounding of positions.
    pub geps: Option<f64>,
    /// First step [s]; by default the one that the driver asks for.
    pub first_step: Option<f64>,
    /// Largest step after an event [s]; by default steps go on as before.
    pub restart_step: Option<f64>,
    /// Smallest step [s]; by default 1e-12 of the longest one that the driver has asked for.
    pub h_min: Option<f64>,
    /// Largest step [s]; by default the one that the driver asks for.
    pub h_max: Option<f64>,
    /// Gaps and velocities of held constraints beyond this value are projected [m, m/s]; 0 never projects. By default
    /// 1e-8 of the lengths and velocities behind them.
    pub drift_limit: Option<f64>,
    /// What happens beyond `drift-limit`: "project", or "reject": the step is taken again in halves down to `h-min`,
    /// which drift that has accumulated does not allow to grow again.
    pub drift: Drift,
    /// Most events within one step of the driver; more are an error.
    pub max_events: u32,
    /// Length of a part that the Moreau-Jean scheme does where phases cannot go on [s]; by default a hundredth of the
    /// step that the driver asks for.
    pub hand_over_step: Option<f64>,
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

/// What is done about constraints that have drifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drift {
    /// The state is projected onto them.
    Project,
    /// The step is rejected, as in the literature on event-driven schemes; the smallest one is accepted as it is.
    Reject,
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
    /// it does so, where the driver asks for steps of h. A stall at an edge needs one that looks ahead.
    pub(super) fn sorting(&self, is_stalled: bool, h: f64) -> Option<(Sorting, f64)> {
        match self.edge {
            EdgeMethod::Contact => is_stalled.then_some((Sorting::Stage, SORTING * h)),
            EdgeMethod::Lcp => Some((Sorting::Stage, SORTING * h)),
            EdgeMethod::Sort => Some((Sorting::Velocity, SORTING * h)),
        }
    }

    /// The part of sizes that errors may have, where there is no `atol`.
    fn relative(&self) -> f64 {
        if self.rtol > 0.0 { self.rtol } else { ACCURATE }
    }

    /// Tolerances of a step.
    pub(super) fn tolerances<'a>(&self, sizes: &'a Magnitudes) -> Tolerances<'a> {
        let part = || Absolute::Part { part: self.relative(), q: &sizes.q, v: &sizes.v, time: sizes.time };
        Tolerances {
            absolute: self.atol.map_or_else(part, Absolute::Given),
            places: &sizes.places,
            relative: self.rtol,
        }
    }

    /// The absolute tolerance of something of this size.
    pub(crate) fn absolute(&self, size: f64) -> f64 {
        self.atol.unwrap_or_else(|| self.relative() * size)
    }

    /// The smallest step.
    pub(super) fn smallest(&self, sizes: &Magnitudes) -> f64 {
        self.h_min.unwrap_or(SMALLEST * sizes.time)
    }

    /// Length of a part that another scheme does, where the driver asks for steps of h.
    pub(super) fn hand_over_part(&self, sizes: &Magnitudes) -> f64 {
        self.hand_over_step.unwrap_or(HAND_OVER * sizes.time)
    }

    /// Up to where a gap or a velocity of this size may drift.
    pub(super) fn most_drift(&self, size: f64) -> f64 {
        self.drift_limit.unwrap_or(DRIFT * size)
    }
}

impl Default for EventDriven {
    fn default() -> Self {
        EventDriven {
            flow: Flow::Hem5,
            propagate: Propagate::Y5,
            control: Control::Eps,
            atol: None,
            rtol: 1e-9,
            control_impulses: true,
            dense: Dense::Quintic,
            veps: None,
            geps: None,
            first_step: None,
            restart_step: None,
            h_min: None,
            h_max: None,
            drift_limit: None,
            drift: Drift::Project,
            max_events: 1_000_000,
            hand_over_step: None,
            edge: EdgeMethod::Contact,
        }
    }
}

impl Options for EventDriven {
    fn validate(&self) -> Result<(), OptionError> {
        positive("atol", self.atol.unwrap_or(1.0))?;
        at_least("rtol", self.rtol, 0.0)?;
        resolved("rtol", self.rtol)?;
        at_least("veps", self.veps.unwrap_or(0.0), 0.0)?;
        at_least("geps", self.geps.unwrap_or(0.0), 0.0)?;
        positive("first-step", self.first_step.unwrap_or(1.0))?;
        positive("restart-step", self.restart_step.unwrap_or(1.0))?;
        positive("h-min", self.h_min.unwrap_or(1.0))?;
        positive("h-max", self.h_max.unwrap_or(1.0))?;
        if let (Some(smallest), Some(largest)) = (self.h_min, self.h_max)
            && largest < smallest
        {
            return Err(OptionError::new("h-max", format!("{largest} is less than h-min = {smallest}")));
        }
        at_least("drift-limit", self.drift_limit.unwrap_or(0.0), 0.0)?;
        positive("hand-over-step", self.hand_over_step.unwrap_or(1.0))?;
        at_least_one("max-events", self.max_events)?;
        if self.dense == Dense::Order4 && self.flow != Flow::Hem5 {
            return Err(OptionError::new("dense", "order-4 belongs to the flow hem5"));
        }
        Ok(())
    }
}
