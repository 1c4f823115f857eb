//! Moreau-Jean θ-scheme: event capturing at the velocity level [moreau1988, jean1999, acary2008].
//!
//! ```text
//!     M(q_θ)(v⁺ − v) = h F(t_θ, q_θ, v_θ) + B P                                       (1)
//!     q⁺ = retract(q, h v_θ),    x_θ = (1−θ) x + θ x⁺                                 (2)
//!     U⁺ = C(q⁺) v⁺,   0 ≤ U⁺ + e U ⊥ P ≥ 0   for gaps forecast closed, P = 0 else    (3)
//!     friction: rows (U_N⁺ + e U_N, U_T⁺) in Coulomb's law;  bilateral: U⁺ = 0
//! ```
//!
//! Newton's loop repeats the linearised step with A = M + hθC + h²θ²K (C = −∂F/∂v, K = −∂F/∂q at θ):
//!
//! ```text
//!     A (v^{n+1} − v^n) = −M (v^n − v) + h F + B P                                    (4)
//! ```
//!
//! until the residual of (1) falls below `newton-tolerance · (h|F| + |B P|) + round-off`, where round-off is that of M
//! v and, once the residual does not fall any more, that of the forces whose sum F is: at rest in a well they cancel.
//! It starts from the velocity extrapolated from the last step and keeps A while the residual falls quickly: smooth
//! motion takes one iteration. A model whose mass, tangents and rows are constant needs one solve and one factorisation
//! per step size.
//!
//! Forecast of a gap g with velocity U: `free` takes g + h(θ U_free + (1−θ) U), the end of a step without reactions;
//! `explicit` takes g + γ h U. A gap forecast at or below `activation` is closed: by default a part of the length of
//! the model, which it says itself or which is |g| + Σ_j |C_j| max (|q_j| + h |v_j|), with the largest sizes so far.
//!
//! Direction of reactions: `mid` takes B = C(q_θ)ᵀ, `end` takes B = C(q⁺)ᵀ as in [acary2012]. They agree for constant
//! rows and for θ = 1. With θ = 1/2 and persistent curved constraints `mid` makes the energy error second order where
//! `end` loses energy at first order (pendulum over 5 s, h = 1e-3: 3.3e-5 J against 0.40 J), so it is the default;
//! reference numbers of the literature are obtained with `end`. `start` freezes both C and B at q, as in explicit
//! implementations, to show what this costs: a persistent curved contact then drifts into the wall linearly in time
//! (ring of radius 1 m, h = 5e-4: 1.5 mm per second).
//!
//! (3) is Newton's impact law. Another law (`impacts` of a simulation) tells the velocities after the impact of the
//! laws that act or touch, from those before it alone: U* = C v* with v* = v + A⁻¹ Cᵀ P*. Then
//!
//! ```text
//!     0 ≤ U⁺ − U* ⊥ P ≥ 0   where P* > 0,    0 ≤ U⁺ ⊥ P ≥ 0   elsewhere               (5)
//! ```
//!
//! has P = P* as its solution where no forces act, and forces add what they add to any contact. Energy is that of the
//! law: with e = 1 it is conserved.
//!
//! A restitution e_T along tangents adds e_T U_T to (3) in the step in which a contact closes.
//!
//! Coefficients of friction that depend on the state are taken at the start of the step, (t, q, v); there a contact
//! sticks whose sliding velocity is rounding.
//!
//! Order 1 in positions (every norm) and in velocities (l1, Hausdorff), 1/2 in l2, none in sup; order 2 in smooth
//! motion with θ = 1/2. Penetration is of order h. With θ = 1/2, e = 1 and constant forces energy is conserved.
//!
//! | `v_free` (n) free velocity [m/s] | `P` (m) impulse [N s] | `U` (m) relative velocity [m/s] | `theta`, `e` [-] |

mod impact;

use super::{
    Claim, Differentiable, Done, Forecast, Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step,
    StepError, System,
};
use crate::balance::{
    Balance, BalanceTangent, Frame, Laws, Lengths, Level, Limits, Newton, Place, TangentError, VelocityLaws,
};
use crate::impact::Impacts;
use crate::{Coupling, ImpactLaw, Mechanical, ModelError, State, Warnings};
use carom_solve::options::{at_least, within};
use carom_solve::{OptionError, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sliding velocities up to this part of what cancels in them are none.
const STILL: f64 = 1e-8;

/// Options of the Moreau-Jean scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MoreauJean {
    /// Weight of the end of the step in forces and positions [-], in [0, 1]; 1/2 conserves energy, 1 damps.
    pub theta: f64,
    /// Which gaps are treated as closed: "free" or { explicit = { gamma = ... } }.
    pub forecast: Forecast,
    /// A gap forecast at or below this value is closed; by default 1e-11 of the length of the model [m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation: Option<f64>,
    /// Where the direction B of the reactions is taken: "mid" (q_θ), "end" (q⁺, as published) or "start" (q, with C
    /// there too).
    pub reaction: ReactionDirection,
    /// Relative tolerance of Newton's loop on the impulse balance (1) [-]. Below rounding (1e-16) free motion takes one
    /// correction more than is needed: energy and momentum of a free body then keep all digits for long.
    pub newton_tolerance: f64,
    /// Most Newton iterations in a step.
    pub newton_iterations: u32,
}

/// Where the direction of reactions is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReactionDirection {
    /// The end of the step, as published.
    End,
    /// Where the forces are taken.
    Mid,
    /// The start of the step, rows of the velocity law included: persistent curved contacts drift.
    Start,
}

impl Default for MoreauJean {
    fn default() -> Self {
        MoreauJean {
            theta: 0.5,
            forecast: Forecast::Free,
            activation: None,
            reaction: ReactionDirection::Mid,
            newton_tolerance: 1e-10,
            newton_iterations: 50,
        }
    }
}

impl Options for MoreauJean {
    fn validate(&self) -> Result<(), OptionError> {
        within("theta", self.theta, 0.0..=1.0)?;
        self.forecast.validate()?;
        at_least("activation", self.activation.unwrap_or(0.0), 0.0)?;
        self.limits().validate()
    }
}

impl Registered for MoreauJean {}

/// Buffers of a step, in the order in which the step sets them.
#[derive(Default)]
pub struct Work {
    last: Box<Reactions>, // what the laws did in the step before: the guess for the impulses
    pub(super) reactions: Box<Reactions>, // coupling and U at the start, phase 1; impulses and U⁺, phase 5
    pub(super) newton: Newton, // (1) and (2)
    pub(super) laws: VelocityLaws, // (3)
    pub(super) warnings: Warnings, // of tolerances that are too large
    pub(super) lengths: Lengths, // what gaps are judged by
    had_acted: Vec<usize>, // laws that acted in the last step
    friction_varies: bool,
    sticks: Vec<bool>,  // (laws) where it does: whether it did not slide at the start
    impacts: Impacts,   // by other laws than Newton's
    struck: Vec<usize>, // laws that take part in them
    fastest: f64,       // the largest velocity that their steps have begun with [√J]
}

carom_solve::persist!(Work {
    last,
    reactions,
    newton,
    laws,
    warnings,
    lengths,
    had_acted,
    friction_varies,
    sticks,
    impacts,
    struck,
    fastest,
} skip {});

impl Scheme for MoreauJean {
    type Model = dyn Mechanical;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "moreau-jean",
        title: "Moreau-Jean θ-scheme",
        order: Order { position: 1.0, velocity: 1.0, smooth: 2.0 },
        level: "velocity",
        projects: false,
        claims: &[
            Claim::ConservesEnergyElastic,
            Claim::PenetrationFirstOrder,
            Claim::Friction,
            Claim::VaryingFriction,
            Claim::Bearings,
            Claim::ImpactLaws,
            Claim::Rebounds,
            Claim::Bilateral,
            Claim::Sleep,
        ],
        citations: &["moreau1988", "jean1999", "acary2008"],
        source: include_str!("moreau_jean.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let (newton, lengths) = (Newton::new(model, self.balance(), self.limits()), Lengths::of(model));
        Ok(Work { newton, lengths, friction_varies: model.friction_varies(), ..Work::default() })
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

        // 1 start: laws, gaps and relative velocities at q
        w.start(system.model, from, h)?;

        // 2 free motion: v_free = v + A⁻¹ h F at the first iterate
        w.newton.begin(system.model, (from, to), h, &mut step)?;

        // 3 forecast: which gaps are closed; the last impulses as the guess; impacts by another law than Newton's
        w.measure(system.model, from)?;
        self.activate(w, from.t);
        w.recall(&*system.model);
        w.strike(self.activation, &mut system, from, &mut step)?;

        // 4 Newton's loop: P with (3) at the latest q⁺, v⁺ = v_free + A⁻¹ B P, q⁺ = retract(q, h v_θ), until (1) holds
        w.newton.solve_or_shift(&mut w.laws, &mut system, (from, to), &mut step)?;

        // 5 report
        w.report((from, to));
        Ok(step)
    }

    fn clear_guess(&self, w: &mut Work) {
        w.reactions.impulse.fill(0.0);
        w.laws.problem.z.lambda.fill(0.0);
        w.newton.rate.clear();
        w.lengths.forget();
        w.fastest = 0.0;
    }

    fn drop_factors(&self, w: &mut Work) {
        w.newton.invalidate();
    }

    fn contacts_changed(&self, w: &mut Work) {
        w.laws.drop_end();
    }

    fn stopped(&self, w: &mut Work) {
        w.newton.rate.clear();
    }

    fn set_impact_law(&self, w: &mut Work, law: ImpactLaw) -> bool {
        w.impacts.law = law;
        true
    }

    fn couple_end(&self, w: &mut Work, model: &mut Self::Model, to: &State) -> Result<bool, ModelError> {
        w.laws.couple_to(&w.newton, model, to)
    }

    fn end_coupling<'w>(&self, w: &'w Work) -> Option<&'w Coupling> {
        w.laws.kept_end()
    }

    fn order(&self) -> Order {
        Order { smooth: if self.theta == 0.5 { 2.0 } else { 1.0 }, ..Self::INFO.order }
    }

    fn may_miss_contact(&self) -> Option<&'static str> {
        match self.forecast {
            Forecast::Explicit { gamma } if gamma < 1.0 => {
                Some("a forecast with gamma < 1 overlooks impacts late in the step, in full and half steps alike")
            }
            _ => None,
        }
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.reactions
    }

    fn warnings<'w>(&self, work: &'w Work) -> Option<&'w Warnings> {
        Some(&work.warnings)
    }
}

impl MoreauJean {
    fn limits(&self) -> Limits {
        Limits { tolerance: self.newton_tolerance, iterations: self.newton_iterations }
    }

    /// (1) and (2), and where the rows of (3) are taken.
    fn balance(&self) -> Balance {
        let balance = Balance::theta(self.theta);
        match self.reaction {
            ReactionDirection::End => balance,
            ReactionDirection::Mid => Balance { input: balance.mass, ..balance },
            ReactionDirection::Start => Balance { input: Place::START, output: Place::START, ..balance },
        }
    }

    /// The laws that act: bilateral ones and boxes always, contacts by the forecast of their gap.
    #[inline(always)]
    pub(super) fn activate(&self, w: &mut Work, t: f64) {
        let Work { reactions, newton, laws, lengths, warnings, .. } = w;
        laws.active.clear();
        for (i, pair) in reactions.coupling.pairs.iter().enumerate() {
            let closed = !pair.law.is_contact() || {
                let row = reactions.coupling.offset[i];
                let u = reactions.before[row];
                let free = reactions.coupling.rows.dot(row, &newton.v_free) + reactions.coupling.drift[row];
                let mean = self.theta * free + (1.0 - self.theta) * u;
                let forecast = self.forecast.gap(reactions.coupling.gap(i), newton.h, u, mean);
                forecast <= 0.0 || {
                    let closed = forecast <= lengths.activation(self.activation, &reactions.coupling, i);
                    if closed {
                        lengths.doubt(forecast, t, (&reactions.coupling, i), warnings);
                    }
                    closed
                }
            };
            if closed {
                laws.active.push(i);
            }
        }
    }
}

impl Work {
    /// Coupling and relative velocities at the start. Returns whether the laws have the numbers of the step before.
    #[inline(always)]
    pub(super) fn start(&mut self, model: &mut dyn Mechanical, from: &State, h: f64) -> Result<bool, StepError> {
        self.newton.set_step(h);
        std::mem::swap(&mut self.last, &mut self.reactions);
        let is_same = self.laws.start(&self.newton, model, from, &mut self.reactions.coupling)?;
        if !is_same {
            self.renumber();
        }
        if self.laws.starts_as_ended() {
            self.reactions.start_from(&self.last.after);
        } else {
            self.reactions.start(&from.v);
        }
        Ok(is_same)
    }

    /// The lengths at the start and on the way of a step without reactions, and the friction where it varies.
    #[inline(always)]
    pub(super) fn measure(&mut self, model: &mut dyn Mechanical, from: &State) -> Result<(), ModelError> {
        self.lengths.meet(model, &from.q, &self.newton.v_free, self.newton.h);
        if self.newton.constancy.rows {
            self.lengths.settle(&self.reactions.coupling);
        }
        if self.friction_varies { self.rub(model, from) } else { Ok(()) }
    }

    /// Coefficients of friction at the start of the step. A contact slides there if its velocity is more than what a
    /// solver leaves of the velocities that cancel in a step that sticks.
    fn rub(&mut self, model: &mut dyn Mechanical, from: &State) -> Result<(), ModelError> {
        let Work { reactions, newton, laws, sticks, .. } = self;
        let Reactions { coupling, before, .. } = &mut **reactions;
        sticks.clear();
        sticks.extend((0..coupling.len()).map(|i| {
            let (mut speed, mut size) = (0.0f64, 0.0f64);
            for row in coupling.range(i).skip(1) {
                let cancels = |&(j, c): &(usize, f64)| (c * from.v[j]).abs() + (c * newton.v_free[j]).abs();
                size += coupling.drift[row].abs() + coupling.rows.row(row).iter().map(cancels).sum::<f64>();
                speed += before[row].abs();
            }
            speed <= STILL * size
        }));
        model.rub((from.t, &from.q, &from.v), sticks, coupling)?;
        laws.set_laws(coupling.pairs.iter().map(|pair| pair.law));
        Ok(())
    }

    /// The list has changed: what was kept of the last step belongs to other numbers.
    #[cold]
    fn renumber(&mut self) {
        self.lengths.renumber();
        // a law that is gone gets a number that no law has: what acts now is another set then
        self.had_acted.iter_mut().for_each(|j| *j = self.laws.list.after(*j).unwrap_or(usize::MAX));
        self.had_acted.sort_unstable();
    }

    /// For the laws that act: the impulses of the last step as the guess, contact by contact, and e U.
    #[inline(always)]
    pub(super) fn recall(&mut self, model: &dyn Mechanical) {
        self.laws.note_axes(&self.newton, model, &self.reactions.coupling);
        let VelocityLaws { problem, active, shift, list, .. } = &mut self.laws;
        let lambda = &mut problem.z.lambda;
        lambda.clear();
        shift.clear();
        for &i in active.iter() {
            let rows = self.reactions.range(i);
            match list.before(i).and_then(|j| self.last.impulse_of(j)).filter(|impulse| impulse.len() == rows.len()) {
                Some(impulse) => lambda.extend_from_slice(impulse),
                None => lambda.resize(lambda.len() + rows.len(), 0.0),
            }
            shift.push(self.reactions.coupling.pairs[i].restitution * self.reactions.before[rows.start]);
            shift.resize(lambda.len(), 0.0);
        }
    }

    /// Impulses and velocities after the step, law by law; how the velocity changed, as the guess for the next step.
    #[inline(always)]
    pub(super) fn report(&mut self, (from, to): (&State, &State)) {
        let Work { reactions, newton, laws, had_acted, .. } = self;
        if !newton.is_linear {
            let lasting = laws.is_empty() || *had_acted == laws.active;
            newton.extrapolate((from, to), (!lasting).then_some(laws.response()));
            had_acted.clone_from(&laws.active);
        }
        let mut k = 0;
        for &i in &laws.active {
            for row in reactions.coupling.range(i) {
                reactions.impulse[row] = laws.problem.z.lambda[k];
                reactions.after[row] = laws.velocity((k, row), &to.v) + laws.end.drift[row];
                reactions.obstacle[row] = 0.5 * (reactions.coupling.drift[row] + laws.end.drift[row]);
                k += 1;
            }
        }
        laws.keep_end(newton, to);
        reactions.work.clear();
        if !reactions.collisions.is_empty() {
            self.share_work();
        }
    }
}

/// A contact is closed with P > 0 or it does not act: which step an impact falls in is the same for neighbours, and its
/// time is no part of the map. For one contact without friction in one dimension a step with an impact has dv⁺ = −e dv,
/// dq⁺ = dq + h (1 − θ − θe) dv: its determinant is −e, that of the motion e².
impl Differentiable for MoreauJean {
    fn advance_columns(
        &self,
        w: &Work,
        Done { from, to, .. }: Done<'_>,
        tangent: &mut BalanceTangent,
        frame: &mut Frame,
    ) -> Result<(), TangentError> {
        let acting = w.laws.acting(&w.newton, |i| {
            let pair = &w.reactions.coupling.pairs[i];
            Level::Velocity(pair.law.is_contact().then_some(pair.restitution))
        });
        tangent.set((from.t, &from.q, &from.v), &to.v, (w.newton.h, w.newton.balance), acting)?;
        frame.carry_over(tangent)
    }
}
