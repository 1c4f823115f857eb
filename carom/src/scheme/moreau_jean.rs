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
//! until the residual of (1) falls below `newton-tolerance · (h|F| + |B P|) + round-off`, where round-off is that of M v and, once the
//! residual does not fall any more, that of the forces whose sum F is: at rest in a well they cancel. It starts from the velocity
//! extrapolated from the last step and keeps A while the residual falls quickly: smooth motion takes one iteration. A model whose mass, tangents and rows are
//! constant needs one solve and one factorisation per step size.
//!
//! Forecast of a gap g with velocity U: `free` takes g + h(θ U_free + (1−θ) U), the end of a step without reactions;
//! `explicit` takes g + γ h U. A gap forecast at or below `activation` is closed.
//!
//! Direction of reactions: `mid` takes B = C(q_θ)ᵀ, `end` takes B = C(q⁺)ᵀ as in [acary2012]. They agree for constant
//! rows and for θ = 1. With θ = 1/2 and persistent curved constraints `mid` makes the energy error second order where
//! `end` loses energy at first order (pendulum over 5 s, h = 1e-3: 3.3e-5 J against 0.40 J), so it is the default;
//! reference numbers of the literature are obtained with `end`. `start` freezes both C and B at q, as in explicit
//! implementations, to show what this costs: a persistent curved contact then drifts into the wall linearly in time
//! (ring of radius 1 m, h = 5e-4: 1.5 mm per second).
//!
//! Order 1 in positions (every norm) and in velocities (l1, Hausdorff), 1/2 in l2, none in sup; order 2 in smooth
//! motion with θ = 1/2. Penetration is of order h. With θ = 1/2, e = 1 and constant forces energy is conserved.
//!
//! | `v_free` (n) free velocity [m/s] | `P` (m) impulse [N s] | `U` (m) relative velocity [m/s] | `theta`, `e` [-] |

use super::{Claim, Forecast, Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step, StepError, System};
use crate::model::Constancy;
use crate::{ContactList, Coupling, Mechanical, State};
use carom_solve::{Law, OptionError, Options, ProblemWork, Reaction, Rows};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod phases;
mod tangent;

pub(in crate::scheme) use phases::Residual;

/// Options of the Moreau-Jean scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MoreauJean {
    /// Weight of the end of the step in forces and positions [-], in [0, 1]; 1/2 conserves energy, 1 damps.
    pub theta: f64,
    /// Which gaps are treated as closed: "free" or { explicit = { gamma = ... } }.
    pub forecast: Forecast,
    /// A gap forecast at or below this value is closed [m].
    pub activation: f64,
    /// Where the direction B of the reactions is taken: "mid" (q_θ), "end" (q⁺, as published) or "start" (q, with C
    /// there too).
    pub reaction: ReactionDirection,
    /// Relative tolerance of Newton's loop on the impulse balance (1) [-].
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
            activation: 1e-10,
            reaction: ReactionDirection::Mid,
            newton_tolerance: 1e-10,
            newton_iterations: 50,
        }
    }
}

impl Options for MoreauJean {
    fn validate(&self) -> Result<(), OptionError> {
        if !(0.0..=1.0).contains(&self.theta) {
            return Err(OptionError::new("theta", format!("{} is not in [0, 1]", self.theta)));
        }
        self.forecast.validate()?;
        if !(self.activation >= 0.0 && self.activation.is_finite()) {
            return Err(OptionError::new("activation", format!("{} is not a finite length ≥ 0", self.activation)));
        }
        if !(self.newton_tolerance > 0.0 && self.newton_tolerance < 1.0) {
            return Err(OptionError::new("newton-tolerance", format!("{} is not in (0, 1)", self.newton_tolerance)));
        }
        if self.newton_iterations == 0 {
            return Err(OptionError::new("newton-iterations", "at least one iteration is needed"));
        }
        Ok(())
    }
}

impl Registered for MoreauJean {}

/// Buffers of a step, in the order in which the step sets them.
#[derive(Default)]
pub struct Work {
    pub(super) constancy: Constancy,
    pub(super) h: f64,                    // step size
    pub(super) list: ContactList,         // the laws of the step, phase 1
    last: Box<Reactions>,                 // what the laws did in the step before: the guess for the impulses
    pub(super) reactions: Box<Reactions>, // coupling and U at the start, phase 1; impulses and U⁺, phase 6
    pub(super) at_theta: State,           // (q_θ, v_θ) where forces are taken, phase 2
    pub(super) factored: Option<f64>,     // step size of the constant factorisation, phase 1
    due: bool,                            // whether A is to be made anew at the iterate, phase 6
    residual: f64,                        // of (1) at the iterate before, phase 6
    rate: Vec<f64>, // (n) change of v in the last step, per time: the guess for this one; empty where none is needed
    had_acted: Vec<usize>, // laws that acted in the last step
    pub(super) force: Vec<f64>, // (n) F at θ, phase 2
    balance: Vec<f64>, // (n) residual of (1), phase 2
    pub(super) v_free: Vec<f64>, // (n) velocity without reactions, phase 2
    pub(super) active: Vec<usize>, // laws that act, phase 3
    was_active: Vec<usize>, // laws of the problem whose Delassus matrix is kept
    pub(super) end: Coupling, // coupling at q⁺, phase 4
    at: (f64, Vec<f64>), // time and q of `end` after the step, phase 6
    kept: bool,     // whether `end` is the coupling there
    middle: Coupling, // coupling at q_θ, phase 4, for `reaction = "mid"`
    pub(super) laws: Vec<Law>, // laws of the problem, phase 4
    pub(super) output: Rows, // C of the problem, phase 4
    pub(super) input: Rows, // Bᵀ of the problem, phase 4
    pub(super) b: Vec<f64>, // (m) phase 4
    problem: ProblemWork,
    pub(super) z: Reaction, // phase 5
    pub(super) increment: Vec<f64>,
    pub(super) displacement: Vec<f64>, // (n) of q⁺ besides h v_θ, by schemes that project; empty otherwise
}

impl Scheme for MoreauJean {
    type Model = dyn Mechanical;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "moreau-jean",
        title: "Moreau-Jean θ-scheme",
        order: Order { position: 1.0, velocity: 1.0, smooth: 2.0 },
        level: "velocity",
        claims: &[Claim::ConservesEnergyElastic, Claim::PenetrationFirstOrder, Claim::Friction, Claim::Bilateral],
        citations: &["moreau1988", "jean1999", "acary2008"],
        source: include_str!("moreau_jean.rs"),
    };

    fn check_options(&self) -> Result<(), OptionError> {
        self.validate()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let n = model.dim();
        Ok(Work {
            constancy: model.constancy(),
            at_theta: model.initial(),
            force: vec![0.0; n],
            balance: vec![0.0; n],
            v_free: vec![0.0; n],
            increment: vec![0.0; n],
            ..Work::default()
        })
    }

    fn step(
        &self,
        w: &mut Work,
        system: System<'_, Self::Model>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError> {
        let System { model, solver } = system;
        let mut step = Step { advanced: h, evaluations: 1, ..Step::default() };

        // 1 start: laws, gaps and relative velocities at q; the first iterate
        w.h = h;
        if w.ends_at(from) {
            w.start_from_end(from);
        } else {
            w.start(model, from)?;
        }
        self.restart(w, model, from, to)?;
        w.kept = false;
        loop {
            // 2 free motion: v_free = v^n + A⁻¹ (h F − M (v^n − v))
            self.free(w, model, to)?;

            // 3 forecast: which gaps are closed, once per step
            if step.iterations == 0 {
                self.activate(w);
                Self::guess(w);
            }

            // 4 + 5 problem and solve: P with (3) at the latest q⁺
            if !w.active.is_empty() {
                if step.iterations == 0 && !(w.constancy.rows && w.constancy.drift) {
                    self.place_end(w, model, from, to);
                }
                self.problem(w, model, (from, to))?;
                let certificate = Self::solve(w, model, solver)?;
                step.worst = step.worst.worse(certificate);
                step.solves += 1;
            }

            // 6 update: v⁺ = v_free + A⁻¹ B P, q⁺ = retract(q, h v_θ)
            Self::update(w, to);
            step.iterations += 1;
            if w.constancy.linear() {
                self.place_end(w, model, from, to);
                break;
            }
            self.place_theta(w, model, from, to);
            self.place_end(w, model, from, to);
            step.evaluations += 1;
            if self.converged(w, model, (from, to), step.iterations)? {
                break;
            }
        }
        if !to.is_finite() {
            return Err(StepError::NotFinite);
        }
        Self::report(w, (from, to));
        // the last test of Newton's loop has left the coupling of q⁺
        w.kept = !w.constancy.rows && !w.active.is_empty() && self.reaction != ReactionDirection::Start;
        if w.kept {
            w.at.0 = to.t;
            w.at.1.clone_from(&to.q);
        }
        Ok(step)
    }

    fn forget(&self, w: &mut Work) {
        w.reactions.impulse.fill(0.0);
        w.z.lambda.fill(0.0);
        w.rate.clear();
    }

    fn invalidate(&self, w: &mut Work) {
        w.factored = None;
    }

    fn contacts_changed(&self, w: &mut Work) {
        w.kept = false;
    }

    fn order(&self) -> Order {
        Order { smooth: if self.theta == 0.5 { 2.0 } else { 1.0 }, ..Self::INFO.order }
    }

    fn overlooks(&self) -> Option<&'static str> {
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
}
