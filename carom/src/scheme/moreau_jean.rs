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
//! until the residual of (1) falls below `newton-tolerance · (h|F| + |B P|) + round-off`. A model whose mass, tangents and rows
//! are constant needs one solve and one factorisation per step size.
//!
//! Forecast of a gap g with velocity U: `free` takes g + h(θ U_free + (1−θ) U), the end of a step without reactions; `explicit`
//! takes g + γ h U. A gap forecast at or below `activation` is closed.
//!
//! Direction of reactions: `mid` takes B = C(q_θ)ᵀ, `end` takes B = C(q⁺)ᵀ as in [acary2012]. They agree for constant rows and for
//! θ = 1. With θ = 1/2 and persistent curved constraints `mid` makes the energy error second order where `end` loses energy at
//! first order (pendulum over 5 s, h = 1e-3: 3.3e-5 J against 0.40 J), so it is the default; reference numbers of the literature
//! are obtained with `end`.
//!
//! Order 1 in positions (every norm) and in velocities (l1, Hausdorff), 1/2 in l2, none in sup; order 2 in smooth motion with
//! θ = 1/2. Penetration is of order h. With θ = 1/2, e = 1 and constant forces energy is conserved.
//!
//! | `v_free` (n) free velocity [m/s] | `P` (m) impulse [N s] | `U` (m) relative velocity [m/s] | `theta`, `e` [-] |

use super::{AnyModel, Claim, Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step, StepError, System};
use crate::model::{Combination, Constancy};
use crate::{Coupling, Mechanical, State};
use carom_solve::{Law, OneStepProblem, OptionError, Options, Parts, ProblemWork, Reaction, Rows, Solver};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Where the direction B of the reactions is taken: "mid" (q_θ) or "end" (q⁺, as published).
    pub reaction: ReactionDirection,
    /// Relative tolerance of Newton's loop on the impulse balance (1) [-].
    pub newton_tolerance: f64,
    /// Most Newton iterations in a step.
    pub newton_iterations: u32,
}

/// How the scheme decides which gaps are closed at the end of the step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forecast {
    /// The gap at the end of a step without reactions.
    Free,
    /// `g + gamma h U`, with gamma in [0, 2].
    #[serde(rename_all = "kebab-case")]
    Explicit { gamma: f64 },
}

/// Where the direction of reactions is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReactionDirection {
    End,
    Mid,
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
        if let Forecast::Explicit { gamma } = self.forecast
            && !(0.0..=2.0).contains(&gamma)
        {
            return Err(OptionError::new("forecast", format!("gamma = {gamma} is not in [0, 2]")));
        }
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

impl Registered for MoreauJean {
    fn take(model: AnyModel) -> Result<Box<dyn Mechanical>, SchemeError> {
        super::mechanical(model, Self::INFO.name)
    }
}

/// Buffers of a step, in the order in which the step sets them.
#[derive(Default)]
pub struct Work {
    constancy: Constancy,
    h: f64,                    // step size
    last: Box<Reactions>,      // what the laws did in the step before: the guess for the impulses
    reactions: Box<Reactions>, // coupling and U at the start, phase 1; impulses and U⁺, phase 6
    at_theta: State,           // (q_θ, v_θ) where forces are taken, phase 2
    factored: Option<f64>,     // step size of the constant factorisation, phase 2
    force: Vec<f64>,           // (n) F at θ, phase 2
    balance: Vec<f64>,         // (n) residual of (1), phase 2
    v_free: Vec<f64>,          // (n) velocity without reactions, phase 2
    active: Vec<usize>,        // laws that act, phase 3
    was_active: Vec<usize>,    // laws of the problem whose Delassus matrix is kept
    end: Coupling,             // coupling at q⁺, phase 4
    middle: Coupling,          // coupling at q_θ, phase 4, for `reaction = "mid"`
    laws: Vec<Law>,            // laws of the problem, phase 4
    output: Rows,              // C of the problem, phase 4
    input: Rows,               // Bᵀ of the problem, phase 4
    b: Vec<f64>,               // (m) phase 4
    problem: ProblemWork,
    z: Reaction, // phase 5
    increment: Vec<f64>,
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
        let mut step = Step { advanced: h, ..Step::default() };

        // 1 start: laws, gaps and relative velocities at q; iterate from v⁺ = v
        w.h = h;
        self.start(w, model, from, to)?;
        loop {
            // 2 free motion: v_free = v^n + A⁻¹ (h F − M (v^n − v))
            self.factor(w, model, h)?;
            w.v_free.copy_from_slice(&w.balance);
            model.solve(&mut w.v_free);
            for (free, v) in w.v_free.iter_mut().zip(&to.v) {
                *free += v;
            }

            // 3 forecast: which gaps are closed, once per step
            if step.iterations == 0 {
                self.activate(w, h);
                Self::guess(w);
            }

            // 4 + 5 problem and solve: P with (3) at the latest q⁺
            if !w.active.is_empty() {
                if step.iterations == 0 && !(w.constancy.rows && w.constancy.drift) {
                    self.place_end(w, model, from, to);
                }
                self.problem(w, model, to)?;
                let certificate = Self::solve(w, model, solver)?;
                step.worst = step.worst.worse(certificate);
                step.solves += 1;
            }

            // 6 update: v⁺ = v_free + A⁻¹ B P, q⁺ = retract(q, h v_θ)
            to.v.copy_from_slice(&w.v_free);
            if !w.active.is_empty() {
                for (v, dv) in to.v.iter_mut().zip(&w.z.response) {
                    *v += dv;
                }
            }
            step.iterations += 1;
            if w.constancy.linear() {
                self.place_end(w, model, from, to);
                break;
            }
            self.place_theta(w, model, from, to);
            self.place_end(w, model, from, to);
            if self.converged(w, model, (from, to), step.iterations)? {
                break;
            }
        }
        if !to.is_finite() {
            return Err(StepError::NotFinite);
        }
        Self::report(w, to);
        Ok(step)
    }

    fn forget(&self, w: &mut Work) {
        w.reactions.impulse.fill(0.0);
        w.z.lambda.fill(0.0);
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.reactions
    }
}

impl MoreauJean {
    /// Coupling and relative velocities at the start, and the impulse balance of the first iterate v⁺ = v.
    fn start(&self, w: &mut Work, model: &mut dyn Mechanical, from: &State, to: &mut State) -> Result<(), StepError> {
        std::mem::swap(&mut w.last, &mut w.reactions);
        if w.constancy.rows && w.reactions.coupling.is_filled() {
            model.refresh(from.t, &from.q, &mut w.reactions.coupling)?;
        } else {
            model.couple(from.t, &from.q, &mut w.reactions.coupling)?;
        }
        w.reactions.start(&from.v);
        to.v.clone_from(&from.v);
        to.t = from.t + w.h;
        self.place_theta(w, model, from, to);
        model.force(w.at_theta.t, &w.at_theta.q, &w.at_theta.v, &mut w.force)?;
        for (r, f) in w.balance.iter_mut().zip(&w.force) {
            *r = w.h * f;
        }
        Ok(())
    }

    /// (2): `(q_θ, v_θ)` that belong to the velocity in `to`.
    #[inline]
    fn place_theta(&self, w: &mut Work, model: &dyn Mechanical, from: &State, to: &State) {
        for ((m, a), b) in w.at_theta.v.iter_mut().zip(&from.v).zip(&to.v) {
            *m = (1.0 - self.theta) * a + self.theta * b;
        }
        let weight = w.h * self.theta;
        for (d, v) in w.increment.iter_mut().zip(&w.at_theta.v) {
            *d = weight * v;
        }
        model.retract(&from.q, &w.increment, &mut w.at_theta.q);
        w.at_theta.t = from.t + weight;
    }

    /// `q⁺ = retract(q, h v_θ)`.
    #[inline]
    fn place_end(&self, w: &mut Work, model: &dyn Mechanical, from: &State, to: &mut State) {
        let (start, end) = (w.h * (1.0 - self.theta), w.h * self.theta);
        for ((d, a), b) in w.increment.iter_mut().zip(&from.v).zip(&to.v) {
            *d = start * a + end * b;
        }
        model.retract(&from.q, &w.increment, &mut to.q);
    }

    /// A = M + hθC + h²θ²K at θ; once per step size where it is constant.
    #[inline]
    fn factor(&self, w: &mut Work, model: &mut dyn Mechanical, h: f64) -> Result<(), StepError> {
        if w.constancy.matrix() && w.factored == Some(h) {
            return Ok(());
        }
        let x = h * self.theta;
        w.factored = None;
        w.was_active.clear();
        model.factor(&w.at_theta, Combination { mass: 1.0, damping: x, stiffness: x * x })?;
        w.factored = Some(h);
        Ok(())
    }

    /// The laws that act: bilateral ones and boxes always, contacts by the forecast of their gap.
    #[inline]
    fn activate(&self, w: &mut Work, h: f64) {
        w.active.clear();
        for (i, pair) in w.reactions.coupling.pairs.iter().enumerate() {
            let closed = match pair.law {
                Law::Equality | Law::Box { .. } => true,
                Law::Unilateral | Law::Coulomb2 { .. } | Law::Coulomb3 { .. } => {
                    let row = w.reactions.coupling.offset[i];
                    let u = w.reactions.before[row];
                    let forecast = match self.forecast {
                        Forecast::Explicit { gamma } => pair.gap + gamma * h * u,
                        Forecast::Free => {
                            let free = w.reactions.coupling.rows.dot(row, &w.v_free) + w.reactions.coupling.drift[row];
                            pair.gap + h * (self.theta * free + (1.0 - self.theta) * u)
                        }
                    };
                    forecast <= self.activation
                }
            };
            if closed {
                w.active.push(i);
            }
        }
    }

    /// b = C(q⁺) v_free + ∂y/∂t + e U on normal rows, and the directions B.
    fn problem(&self, w: &mut Work, model: &mut dyn Mechanical, to: &State) -> Result<(), StepError> {
        if w.constancy.rows && w.was_active == w.active {
            // rows, laws and W of the last problem still hold; obstacles may have another speed by now
            if !w.constancy.drift {
                model.couple(to.t, &to.q, &mut w.end)?;
            }
        } else {
            model.couple(to.t, &to.q, &mut w.end)?;
            let mid = self.reaction == ReactionDirection::Mid && !w.constancy.rows;
            if mid {
                model.couple(w.at_theta.t, &w.at_theta.q, &mut w.middle)?;
            }
            w.laws.clear();
            w.output.clear(model.dim());
            w.input.clear(model.dim());
            for &i in &w.active {
                w.laws.push(w.reactions.coupling.pairs[i].law);
                for row in w.reactions.coupling.range(i) {
                    w.output.push_row_of(&w.end.rows, row);
                    w.input.push_row_of(if mid { &w.middle.rows } else { &w.end.rows }, row);
                }
            }
            w.was_active.clear();
        }
        w.b.clear();
        for &i in &w.active {
            let normal = w.reactions.coupling.offset[i];
            for row in w.reactions.coupling.range(i) {
                let restitution = if row == normal {
                    w.reactions.coupling.pairs[i].restitution * w.reactions.before[row]
                } else {
                    0.0
                };
                w.b.push(w.end.rows.dot(row, &w.v_free) + w.end.drift[row] + restitution);
            }
        }
        Ok(())
    }

    /// Solves for P from the last one as the guess, keeping W where nothing but b has changed.
    fn solve(
        w: &mut Work,
        model: &dyn Mechanical,
        solver: &mut dyn Solver,
    ) -> Result<carom_solve::Certificate, StepError> {
        let parts = Parts { lhs: model, output: &w.output, input: &w.input, feedthrough: None, b: &w.b, laws: &w.laws };
        let again = w.constancy.linear() && w.was_active == w.active;
        let problem = if again {
            OneStepProblem::again(parts, &mut w.problem)
        } else {
            OneStepProblem::new(parts, &mut w.problem)
        };
        let solved = solver.solve(&problem, &mut w.z);
        if w.constancy.linear() {
            w.was_active.clone_from(&w.active);
        }
        solved.map_err(|error| {
            let law = error.certificate().map(|c| c.law);
            let contact = law.and_then(|law| w.active.get(law)).map(|&i| w.reactions.coupling.pairs[i].key);
            StepError::Solve { error: Box::new(error), contact }
        })
    }

    /// Residual of (1) at the new iterate, left in `balance` without the reactions for the next pass.
    fn converged(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        (from, to): (&State, &State),
        iterations: u32,
    ) -> Result<bool, StepError> {
        let h = w.h;
        let (mut scale, mut inertia, mut jump) = (0.0f64, 0.0f64, 0.0f64);
        model.force(w.at_theta.t, &w.at_theta.q, &w.at_theta.v, &mut w.force)?;
        for (d, (a, b)) in w.increment.iter_mut().zip(to.v.iter().zip(&from.v)) {
            *d = a - b;
            jump = jump.max(d.abs());
        }
        model.mass_mul(&w.at_theta.q, &w.increment, &mut w.balance)?;
        for (r, f) in w.balance.iter_mut().zip(&w.force) {
            inertia = inertia.max(r.abs());
            scale = scale.max((h * f).abs());
            *r = h * f - *r;
        }
        // B P with B at the new configuration, and the change that this makes to the velocity law
        w.increment.copy_from_slice(&w.balance);
        let mut turned = 0.0f64;
        if !w.active.is_empty() {
            turned = self.turn(w, model, to)?;
            scale = scale.max(inertia);
        }
        let residual = w.increment.iter().fold(0.0f64, |m, r| m.max(r.abs()));
        let speed = to.v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // M (v⁺ − v) carries the rounding of M v, which is |v|/|v⁺ − v| times larger
        let rounding = 16.0 * f64::EPSILON * inertia * if jump > 0.0 { (speed / jump).max(1.0) } else { 1.0 };
        let tolerance = self.newton_tolerance * scale + rounding;
        if !(residual.is_finite() && turned.is_finite()) {
            return Err(StepError::NotFinite);
        }
        if residual <= tolerance && turned <= self.newton_tolerance * speed {
            return Ok(true);
        }
        if iterations >= self.newton_iterations {
            return Err(StepError::Newton { residual, tolerance, iterations });
        }
        Ok(false)
    }

    /// Adds B(q⁺) P to `increment`; returns by how much C(q⁺) v⁺ differs from what the law was solved with.
    fn turn(&self, w: &mut Work, model: &mut dyn Mechanical, to: &State) -> Result<f64, StepError> {
        if !w.constancy.rows {
            model.couple(to.t, &to.q, &mut w.end)?;
            if self.reaction == ReactionDirection::Mid {
                model.couple(w.at_theta.t, &w.at_theta.q, &mut w.middle)?;
            }
        }
        let mid = self.reaction == ReactionDirection::Mid && !w.constancy.rows;
        let directions = if mid { &w.middle.rows } else { &w.end.rows };
        let (mut k, mut turned) = (0, 0.0f64);
        for &i in &w.active {
            for row in w.reactions.coupling.range(i) {
                directions.add_row(row, w.z.lambda[k], &mut w.increment);
                turned = turned.max((w.end.rows.dot(row, &to.v) - w.output.dot(k, &to.v)).abs());
                k += 1;
            }
        }
        Ok(turned)
    }

    /// The impulses of the last step as the guess for this one, contact by contact.
    fn guess(w: &mut Work) {
        w.z.lambda.clear();
        for &i in &w.active {
            let (key, size) = (w.reactions.coupling.pairs[i].key, w.reactions.coupling.range(i).len());
            match w.last.find(key, i).map(|j| w.last.range(j)).filter(|range| range.len() == size) {
                Some(range) => w.z.lambda.extend_from_slice(&w.last.impulse[range]),
                None => w.z.lambda.resize(w.z.lambda.len() + size, 0.0),
            }
        }
    }

    /// Impulses and velocities after the step, law by law.
    fn report(w: &mut Work, to: &State) {
        let mut k = 0;
        for &i in &w.active {
            for row in w.reactions.coupling.range(i) {
                w.reactions.impulse[row] = w.z.lambda[k];
                w.reactions.after[row] = w.end.rows.dot(row, &to.v) + w.end.drift[row];
                w.reactions.obstacle[row] = 0.5 * (w.reactions.coupling.drift[row] + w.end.drift[row]);
                k += 1;
            }
        }
    }
}
