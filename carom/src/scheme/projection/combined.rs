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
//! one round more than there are contacts. No forecast is needed. Bilateral constraints always act, with U⁺ = 0 and
//! g(q⁺) = 0; so do boxes, without (4). Friction stands in the velocity law, the projection is normal.
//!
//! τ may be negative: in the step of an impact the position is pulled onto the wall.
//!
//! Order 1 in positions and in l1 of velocities, 2 in smooth motion with θ = 1/2; gaps are never violated, τ = O(h), a
//! body at rest stays at g = 0 with v = 0. On the ball and on a rocking block energy never grew. Flights lock to the
//! grid after the first projection, so impacts often fall on grid points exactly; `activation` decides there, and must
//! be well above `gap-tolerance`.
//!
//! | `P` (m) impulse [N s] | `tau` (laws) multiplier of the projection [m, or kg m with N = M⁻¹] | `U` (m) relative velocity [m/s] |

use super::{Metric, Projector, Rule, Splitting, Work};
use crate::scheme::{
    Claim, MoreauJean, Order, ReactionDirection, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step,
    StepError, System,
};
use crate::{Mechanical, State};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of the combined scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CombinedProjection {
    /// Weight of the end of the step in forces and positions [-], in [0, 1].
    pub theta: f64,
    /// A gap at or below this value at the end of a round is closed [m]; larger than gap-tolerance.
    pub activation: f64,
    /// Where the direction B of the reactions is taken: "mid" (q_θ) or "end" (q⁺, as published).
    pub reaction: ReactionDirection,
    /// The metric N of the projection: "identity" or "inverse-mass".
    pub metric: Metric,
    /// Whether velocity and position law are solved at once: "coupled" or "decoupled".
    pub coupling: Splitting,
    /// Relative tolerance of Newton's loop on the impulse balance (1) [-].
    pub newton_tolerance: f64,
    /// Tolerance of Newton's loop on gaps [m].
    pub gap_tolerance: f64,
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
            metric: Metric::Identity,
            coupling: Splitting::Coupled,
            newton_tolerance,
            gap_tolerance: 1e-12,
            newton_iterations,
        }
    }
}

impl CombinedProjection {
    fn projector(&self) -> Projector {
        Projector {
            base: MoreauJean {
                theta: self.theta,
                activation: self.activation,
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
    type Model = dyn Mechanical;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "combined-projection",
        title: "Moreau-Jean with combined activation and projection",
        order: Order { position: 1.0, velocity: 1.0, smooth: 2.0 },
        level: "velocity and position",
        claims: &[Claim::NoPenetration, Claim::Friction, Claim::Bilateral],
        citations: &["acary2012"],
        source: include_str!("combined.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        self.projector().workspace(model)
    }

    fn step(
        &self,
        w: &mut Work,
        mut system: System<'_, Self::Model>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError> {
        let projector = self.projector();
        let mut step = Step { advanced: h, evaluations: 1, ..Step::default() };

        // 1 start: only bilateral constraints and boxes act
        projector.start(w, system.model, h, (from, to))?;
        let pairs = w.base.reactions.coupling.pairs.iter().enumerate();
        w.base.active.clear();
        w.base.active.extend(pairs.filter(|(_, p)| !p.law.is_contact()).map(|(i, _)| i));

        // 2 to 6: Newton's loop on (1) to (4)
        projector.newton(w, &mut system, (from, to), &mut step)?;

        // 7 contacts that are closed at the end act from the start: again, until there are no others
        while self.enlarge(w) {
            projector.clear(w);
            projector.base.restart(&mut w.base, system.model, from, to)?;
            step.evaluations += 1;
            projector.newton(w, &mut system, (from, to), &mut step)?;
            w.passes += 1;
        }

        Projector::report(w, (from, to))?;
        Ok(step)
    }

    fn forget(&self, w: &mut Work) {
        self.projector().base.forget(&mut w.base);
    }

    fn invalidate(&self, w: &mut Work) {
        self.projector().base.invalidate(&mut w.base);
    }

    fn contacts_changed(&self, w: &mut Work) {
        w.coupled = false;
    }

    fn order(&self) -> Order {
        self.projector().base.order()
    }

    fn overlooks(&self) -> Option<&'static str> {
        self.projector().base.overlooks()
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        work.reactions()
    }
}

impl CombinedProjection {
    /// Adds the contacts that are closed at the end; whether there were any.
    fn enlarge(&self, w: &mut Work) -> bool {
        let before = w.base.active.len();
        for i in 0..w.base.end.len() {
            if w.base.end.gap(i) <= self.activation && w.base.active[..before].binary_search(&i).is_err() {
                w.base.active.push(i);
            }
        }
        w.base.active.sort_unstable();
        w.base.active.len() > before
    }
}
