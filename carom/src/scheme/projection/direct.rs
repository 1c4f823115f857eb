//! Direct projection: Moreau-Jean with gaps kept in the same step, all of them, whether the velocity law acts or not
//! [acary2012].
//!
//! ```text
//!     M(q_θ)(v⁺ − v) = h F(t_θ, q_θ, v_θ) + B P                                               (1)
//!     q⁺ = retract(q, h v_θ + N G(q⁺) τ),   q_θ = retract(q, θ (h v_θ + N G τ))               (2)
//!     U⁺ = C(q⁺) v⁺,   0 ≤ U⁺ + e U ⊥ P ≥ 0   for gaps forecast closed, P = 0 else            (3)
//!     0 ≤ g(q⁺) ⊥ τ ≥ 0   for all gaps;   bilateral: g(q⁺) = 0, τ free                        (4)
//! ```
//!
//! N is M⁻¹, or the unit matrix as published; G holds the normal rows. Friction stands in the velocity law, the
//! projection is normal. Boxes have no position law. The displacement θ N G τ is seen by the forces in (1).
//!
//! Both laws are solved in each iteration of one Newton loop, at once (`coupling = "coupled"`) or one after the other
//! (`"decoupled"`: smaller symmetric problems, but slow or divergent where forces answer stiffly to a displacement
//! within a step). The loop ends when the residual of (1) is below `newton-tolerance · (h|F| + |B P|)`, gaps with τ ≠ 0
//! are zero and the others not negative, within `gap-tolerance`.
//!
//! A projected gap is zero up to rounding, so `activation` must be well above `gap-tolerance`: with a literal zero,
//! contacts are lost and energy is gained.
//!
//! Order 1 in positions and in l1 of velocities, 2 in smooth motion with θ = 1/2; gaps are never violated and τ = O(h).
//! With an explicit forecast a body at rest chatters with |v| = O(h): the projection hides from the forecast that the
//! contact is closed, or pushes it open. The free forecast rests on one contact, possibly at g = O(h²); in a column of
//! 50 bodies it does not: positions are at rest while velocities of no order in h go on (energy from 314 J to 725 J). A
//! run warns of it (`energy-gain`). Where this matters use `combined-projection`.
//!
//! | `P` (m) impulse [N s] | `tau` (laws) multiplier of the projection [m, or kg m with N = M⁻¹] | `U` (m) relative velocity [m/s] |

use super::{BELOW, Metric, Projector, Rule, Splitting, projected};
use crate::scheme::{Claim, Forecast, MoreauJean, Order, ReactionDirection, Registered, Scheme, SchemeInfo};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of the direct projection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DirectProjection {
    /// Weight of the end of the step in forces and positions [-], in [0, 1].
    pub theta: f64,
    /// Which gaps the velocity law treats as closed: "free" or { explicit = { gamma = ... } }.
    pub forecast: Forecast,
    /// A gap forecast at or below this value is closed, larger than gap-tolerance; by default 100 times that where it
    /// is given, else 1e-11 of the length of the model [m].
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
    /// Most Newton iterations in a step.
    pub newton_iterations: u32,
}

impl Default for DirectProjection {
    fn default() -> Self {
        let MoreauJean { theta, forecast, activation, reaction, newton_tolerance, newton_iterations } =
            MoreauJean::default();
        DirectProjection {
            theta,
            forecast,
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

impl DirectProjection {
    fn projector(&self) -> Projector {
        Projector {
            base: MoreauJean {
                theta: self.theta,
                forecast: self.forecast,
                activation: self.activation.or(self.gap_tolerance.map(|gap| gap / BELOW)),
                reaction: self.reaction,
                newton_tolerance: self.newton_tolerance,
                newton_iterations: self.newton_iterations,
            },
            rule: Rule::Direct,
            metric: self.metric,
            splitting: self.coupling,
            gap_tolerance: self.gap_tolerance,
        }
    }
}

impl Options for DirectProjection {
    fn validate(&self) -> Result<(), OptionError> {
        self.projector().validate()
    }
}

impl Registered for DirectProjection {}

impl Scheme for DirectProjection {
    const INFO: SchemeInfo = SchemeInfo {
        name: "direct-projection",
        title: "Moreau-Jean with direct projection",
        order: Order { position: 1.0, velocity: 1.0, smooth: 2.0 },
        level: "velocity and position",
        projects: true,
        claims: &[
            Claim::NoPenetration,
            Claim::Friction,
            Claim::VaryingFriction,
            Claim::Bearings,
            Claim::ImpactLaws,
            Claim::Rebounds,
            Claim::Bilateral,
            Claim::Sleep,
        ],
        citations: &["acary2012"],
        source: include_str!("direct.rs"),
    };

    projected!();
}
