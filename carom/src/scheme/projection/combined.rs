//! Combined activation and projection: which contacts act is found within the step, from gaps at its end [acary2012].
//!
//! ```text
//!     M(q_θ)(v⁺ − v) = h F(t_θ, q_θ, v_θ) + B P                                               (1)
//!     q⁺ = retract(q, h v_θ + N G(q⁺) τ),   q_θ = retract(q, θ (h v_θ + N G τ))               (2)
//! ```
//!
//! and for the acting contacts only, none of them at first,
//!
//! ```text
//!     U⁺ = C(q⁺) v⁺,   0 ≤ U⁺ + e U ⊥ P ≥ 0                                                   (3)
//!     g(q⁺) = 0, τ free   where P > 0;      0 ≤ g(q⁺) ⊥ τ ≥ 0   where P = 0                   (4)
//! ```
//!
//! Then every other contact with g(q⁺) ≤ `activation` acts too and the step starts again, until there is none: at most
//! one round more than there are contacts. A round finds the contacts next to those of the round before: a loose column
//! of n masses that lands takes n + 1 rounds, each with a velocity and a position problem. 50 masses that collapse take
//! 17 solves per step on the average, where `moreau-jean` takes one; a run with more than 16, in more than 3 rounds, on
//! the average of 32 steps warns of it (`many-rounds`). No forecast is needed. Bilateral constraints always act, with
//! U⁺ = 0 and g(q⁺) = 0; so do boxes, without (4). Friction stands in the velocity law, the projection is normal.
//!
//! τ may be negative: in the step of an impact the position is pulled onto the wall.
//!
//! Order 1 in positions and in l1 of velocities, 2 in smooth motion with θ = 1/2; gaps are never violated, τ = O(h), a
//! body at rest stays at g = 0 with v = 0. Flights lock to the grid after the first projection, so impacts often fall
//! on grid points exactly; `activation` decides there, and must be well above `gap-tolerance`.
//!
//! Energy is not bounded: a projection moves bodies against their springs. On the ball and on a rocking block it never
//! grew, but two masses on a stiff spring between elastic walls (h ω about 0.1) go from 1.06 J to 437 J in 10 s. A run
//! warns of it (`energy-gain`).
//!
//! | `P` (m) impulse [N s] | `tau` (laws) multiplier of the projection [m, or kg m with N = M⁻¹] | `U` (m) relative velocity [m/s] |

use super::{BELOW, Metric, Projector, Rule, Splitting, projected};
use crate::scheme::{DirectProjection, MoreauJean, ReactionDirection, Registered, Scheme, SchemeInfo};
use crate::{WarningKind, Warnings};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps that are averaged over, and from which averages on rounds and the contact problems solved in them are many.
const WINDOW: u32 = 32;
const MANY: (u32, u32) = (3, 16);

/// A scheme that looks for the contacts that act for long.
pub const MANY_ROUNDS: WarningKind = WarningKind {
    name: "many-rounds",
    message: "which contacts act was found in many rounds, each of which solves the contact problems of the step anew",
    unit: "problems per step, on the average of 32 steps",
    hint: "columns take a round per contact: `moreau-jean` and `direct-projection` take one round for all",
};

/// Rounds of activation in the last steps, and problems solved in them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    steps: u32,
    rounds: u32,
    solves: u32,
}

carom_solve::persist!(Rounds { steps, rounds, solves });

impl Rounds {
    /// Counts those of a step that ends at `t`.
    pub fn add(&mut self, rounds: u32, solves: u32, t: f64, out: &mut Warnings) {
        self.steps += 1;
        self.rounds += rounds;
        self.solves += solves;
        if self.steps == WINDOW {
            if self.rounds > MANY.0 * WINDOW && self.solves > MANY.1 * WINDOW {
                out.raise_worst(&MANY_ROUNDS, t, None, f64::from(self.solves) / f64::from(WINDOW));
            }
            *self = Rounds::default();
        }
    }
}

/// Options of the combined scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CombinedProjection {
    /// Weight of the end of the step in forces and positions [-], in [0, 1].
    pub theta: f64,
    /// A gap at or below this value at the end of a round is closed, larger than gap-tolerance; by default 100 times
    /// that where it is given, else 1e-11 of the length of the model [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation: Option<f64>,
    /// Where the direction B of the reactions is taken: "mid" (q_θ) or "end" (q⁺, as published).
    pub reaction: ReactionDirection,
    /// The metric N of the projection: "inverse-mass", or "identity" (as published), which depends on the units.
    pub metric: Metric,
    /// Whether velocity and position law are solved at once: "coupled" or "decoupled".
    pub coupling: Splitting,
    /// Relative tolerance of Newton's loop on the impulse balance (1) [-].
    pub newton_tolerance: f64,
    /// Tolerance of Newton's loop on gaps; by default 1e-12 of the length of the model [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_tolerance: Option<f64>,
    /// Most Newton iterations in a round.
    pub newton_iterations: u32,
}

impl Default for CombinedProjection {
    fn default() -> Self {
        let MoreauJean { theta, activation, reaction, newton_tolerance, newton_iterations, .. } = MoreauJean::default();
        CombinedProjection {
            theta,
            activation,
            reaction,
            metric: Metric::InverseMass,
            coupling: Splitting::Coupled,
            newton_tolerance,
            gap_tolerance: None,
            newton_iterations,
        }
    }
}

impl CombinedProjection {
    fn projector(&self) -> Projector {
        Projector {
            base: MoreauJean {
                theta: self.theta,
                activation: self.activation.or(self.gap_tolerance.map(|gap| gap / BELOW)),
                reaction: self.reaction,
                newton_tolerance: self.newton_tolerance,
                newton_iterations: self.newton_iterations,
                ..MoreauJean::default()
            },
            rule: Rule::Combined,
            metric: self.metric,
            splitting: self.coupling,
            gap_tolerance: self.gap_tolerance,
        }
    }
}

impl Options for CombinedProjection {
    fn validate(&self) -> Result<(), OptionError> {
        self.projector().validate()
    }
}

impl Registered for CombinedProjection {}

impl Scheme for CombinedProjection {
    const INFO: SchemeInfo = SchemeInfo {
        name: "combined-projection",
        title: "Moreau-Jean with combined activation and projection",
        source: include_str!("combined.rs"),
        ..DirectProjection::INFO
    };

    projected!();
}
