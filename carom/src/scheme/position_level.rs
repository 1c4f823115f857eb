//! Position-level θ-scheme: inelastic contact written on the gap at the end of the step, without an impact law
//! [acary2012].
//!
//! ```text
//!     M(q_θ)(v⁺ − v) = h F(t_θ, q_θ, v_θ) + G(q⁺) P                                   (1)
//!     q⁺ = retract(q, h v_θ),    x_θ = (1−θ) x + θ x⁺                                 (2)
//!     0 ≤ g(q⁺) ⊥ P ≥ 0;   bilateral: g(q⁺) = 0                                       (3)
//!     friction: rows (g(q⁺)/hθ, U_T⁺) in Coulomb's law;  relays: U⁺
//! ```
//!
//! Newton's loop repeats the linearised step with A = M + hθC + h²θ²K; gaps and G are taken anew at each q⁺ until |g|
//! is small on both sides of zero (`gap-tolerance`). Gaps are never violated.
//!
//! The price is paid by the velocity. Where a wall is hit at speed v₀ after the fraction σ of a step, the position
//! stops at the wall and (2) leaves
//!
//! ```text
//!     v⁺ = v₀ (1 − (1−σ)/θ),   then   v ← −((1−θ)/θ) v   in each step of closed contact                  (4)
//! ```
//!
//! With θ = 1/2 (the trapezoidal rule) the velocity alternates between ±v₀(1 − 2σ) as long as the contact is closed: a
//! spurious oscillation, of the full size v₀ for σ = 0 or 1 and absent for σ = 1/2, whatever the step. On a
//! finite-element mesh only the small mass of the contact node oscillates, and the force with it; a rigid body flies
//! off again, with |1 − 2σ| as an accidental coefficient of restitution, so that nothing converges. θ > 1/2 damps the
//! oscillation, θ < 1/2 makes it grow; θ = 1 (default) is at rest one step after the impact.
//!
//! Contacts with e > 0 are refused: (3) has no room for restitution. Order 1 in positions and velocities (l1) with θ =
//! 1, also in free motion, where θ = 1/2 has order 2. Persistent constraints that are curved are of order 1 for every
//! θ, for reactions act along G(q⁺).
//!
//! | `v_free` (n) free velocity [m/s] | `P` (m) impulse [N s] | `theta` [-] |

use super::{
    Claim, Differentiable, Done, Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step, StepError, System,
};
use crate::balance::{Balance, BalanceTangent, Frame, GapLaw, GapLaws, Limits, Newton, TangentError};
use crate::{Mechanical, State};
use carom_solve::options::{positive, within};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// Options of the position-level scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PositionLevel {
    /// Weight of the end of the step in forces and positions [-], in (0, 1]; 1/2 is the trapezoidal rule, which
    /// oscillates in contact.
    pub theta: f64,
    /// A gap that is closed by a reaction vanishes up to this value, on both sides; by default 1e-12 of the length of
    /// the model [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_tolerance: Option<f64>,
    /// Relative tolerance of Newton's loop on the impulse balance (1) [-].
    pub newton_tolerance: f64,
    /// Most Newton iterations in a step.
    pub newton_iterations: u32,
}

impl Default for PositionLevel {
    fn default() -> Self {
        PositionLevel { theta: 1.0, gap_tolerance: None, newton_tolerance: 1e-10, newton_iterations: 50 }
    }
}

impl Options for PositionLevel {
    fn validate(&self) -> Result<(), OptionError> {
        within("theta", self.theta, (Bound::Excluded(0.0), Bound::Included(1.0)))?;
        positive("gap-tolerance", self.gap_tolerance.unwrap_or(1.0))?;
        self.limits().validate()
    }
}

impl Registered for PositionLevel {}

/// Buffers of a step, in the order in which the step sets them.
#[derive(Default)]
pub struct Work {
    laws: GapLaws,             // gaps at q⁺
    reactions: Box<Reactions>, // coupling and U at the start, phase 1; impulses and U⁺, phase 4
    newton: Newton,            // (1) and (2)
}

carom_solve::persist!(Work { laws, reactions, newton } skip {});

impl Scheme for PositionLevel {
    type Model = dyn Mechanical;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "position-level",
        title: "Position-level θ-scheme",
        order: Order { position: 1.0, velocity: 1.0, smooth: 1.0 },
        level: "position",
        projects: false,
        claims: &[Claim::Inelastic, Claim::NoPenetration, Claim::Friction, Claim::Bilateral],
        citations: &["acary2012"],
        source: include_str!("position_level.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let scheme = Self::INFO.name;
        let kind = (GapLaw::Friction(self.theta), self.gap_tolerance);
        let laws = GapLaws::new(scheme, kind, model, |reason, contact| SchemeError::Incapable {
            scheme,
            reason,
            contact: Some(contact),
        })?;
        let newton = Newton::new(model, Balance::theta(self.theta), self.limits());
        Ok(Work { laws, newton, ..Work::default() })
    }

    fn step(
        &self,
        w: &mut Work,
        mut system: System<'_, Self::Model>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError> {
        let mut step = Step { advanced: h, ..Step::default() };

        // 1 start: laws and velocities at q; none acts yet
        w.laws.start(system.model, (from.t, &from.q), &mut w.reactions.coupling)?;
        w.reactions.start(&from.v);
        w.laws.begin();

        // 2 free motion, from v⁺ = v
        w.newton.begin(system.model, (from, to), h, &mut step)?;

        // 3 Newton's loop: (3) linearised at the last q⁺, until (1) and (3) hold
        w.newton.solve(&mut w.laws, &mut system, (from, to), &mut step)?;

        // 4 report
        w.laws.impulses().for_each(|impulse| w.reactions.add_impulse(impulse, 1.0));
        w.laws.report(system.model, to, &mut w.reactions)?;
        Ok(step)
    }

    fn clear_guess(&self, w: &mut Work) {
        w.laws.forget();
    }

    fn drop_factors(&self, w: &mut Work) {
        w.newton.invalidate();
    }

    fn order(&self) -> Order {
        let smooth = if self.theta == 0.5 { 2.0 } else { 1.0 };
        let impact = if self.theta == 1.0 { 1.0 } else { 0.0 };
        Order { position: impact, velocity: impact, smooth }
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.reactions
    }
}

impl PositionLevel {
    fn limits(&self) -> Limits {
        Limits { tolerance: self.newton_tolerance, iterations: self.newton_iterations }
    }
}

/// Gaps that push stay zero: g(q⁺) = 0 to first order. What the velocity keeps of a perturbation is −((1−θ)/θ) of it in
/// each step of closed contact, nothing with θ = 1.
impl Differentiable for PositionLevel {
    fn advance_columns(
        &self,
        w: &Work,
        Done { from, to, .. }: Done<'_>,
        tangent: &mut BalanceTangent,
        frame: &mut Frame,
    ) -> Result<(), TangentError> {
        let acting = w.laws.impulses().map(|(index, p)| w.laws.acting(index, p));
        tangent.set((from.t, &from.q, &from.v), &to.v, (w.newton.h, w.newton.balance), acting)?;
        frame.carry_over(tangent)
    }
}
