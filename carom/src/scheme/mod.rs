//! Schemes: one step of time, and the registry of all of them.
//!
//! A scheme is its options. It never loops over time and never rejects: it advances at most `h` from an explicit state to
//! another, and tells what happened.

use crate::{Coupling, FirstOrder, Key, Mechanical, ModelError, Space, State};
use carom_solve::{Certificate, Law, OptionDoc, OptionError, Options, Rows, SolveError, Solver, Unsupported};
use serde_json::Value;

mod bound;
pub mod catching_up;
pub mod corrected_paoli;
pub mod doubling;
pub mod euler_moreau;
mod event;
pub mod event_driven;
mod forecast;
mod gap_problem;
pub mod higher_order;
pub mod homsp;
pub mod moreau_jean;
pub mod position_level;
pub mod projection;
pub mod schatzman_paoli;

pub use bound::{Bound, Stepper};
pub use catching_up::CatchingUp;
pub use corrected_paoli::{CorrectedPaoli, ImpactTime};
pub use doubling::{Accuracy, Doubled, Estimator};
pub use euler_moreau::{Collocation, EulerMoreau};
pub use event::{Event, EventKind, Events};
pub use event_driven::EventDriven;
pub use forecast::Forecast;
pub use higher_order::HigherOrder;
pub use homsp::Homsp;
pub use moreau_jean::{MoreauJean, ReactionDirection};
pub use position_level::PositionLevel;
pub use projection::combined::CombinedProjection;
pub use projection::direct::DirectProjection;
pub use projection::{Metric, Splitting};
pub use schatzman_paoli::{Difference, SchatzmanPaoli};

/// A time-stepping scheme.
pub trait Scheme: Sized + Send {
    /// `dyn Mechanical` or `dyn FirstOrder`: which models fit is a fact of the types.
    type Model: ?Sized + Space;
    /// Every buffer of the step.
    type Work: Send;
    const INFO: SchemeInfo;

    /// Allocates, and checks once that the model can do what the scheme needs.
    fn workspace(&self, model: &mut Self::Model) -> Result<Self::Work, SchemeError>;

    /// Advances at most `h` from `from`; `to` is overwritten.
    fn step(
        &self,
        work: &mut Self::Work,
        system: System<'_, Self::Model>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError>;

    /// Forgets what earlier steps left behind as a guess, before a restart from another state. Buffers stay.
    fn forget(&self, _work: &mut Self::Work) {}

    /// Tells that the model was factored for another work since the last step of this one.
    fn invalidate(&self, _work: &mut Self::Work) {}

    /// Orders with the options at hand, where they differ from those of `INFO`.
    fn order(&self) -> Order {
        Self::INFO.order
    }

    /// Why a contact may close inside a step without the step seeing it, so that full and half steps overlook it alike; `None`
    /// where the step looks as far as its end.
    fn overlooks(&self) -> Option<&'static str> {
        None
    }

    /// Why all steps must be of one size; `None` where they may differ, as adaptive steps do.
    fn needs_equal_steps(&self) -> Option<&'static str> {
        None
    }

    /// The scheme with its own control of the error set to this accuracy; `None` for schemes that need step doubling for it.
    fn controlled(&self, _accuracy: &Accuracy) -> Option<Self> {
        None
    }

    /// What the laws did in the last step.
    fn reactions<'w>(&self, work: &'w Self::Work) -> &'w Reactions;

    /// Events inside the last step, from schemes that locate them.
    fn events<'w>(&self, _work: &'w Self::Work) -> &'w Events {
        &event::NONE
    }

    /// The state at the part `s` in [0, 1] of the last step, between its ends. Positions go along a cubic where no law has acted and
    /// along a line elsewhere, velocities linearly: a jump that a scheme has captured is spread over the step.
    /// Schemes that locate impacts give the state before an impact that ends the step at `s` = 1.
    fn interpolate(
        &self,
        work: &mut Self::Work,
        model: &mut Self::Model,
        ends: (&State, &State),
        s: f64,
        out: &mut State,
    ) {
        let smooth = self.reactions(work).impulse.iter().all(|p| *p == 0.0);
        interpolate(model, ends, s, smooth, out);
    }
}

/// The default of [`Scheme::interpolate`].
fn interpolate<M: ?Sized + Space>(model: &M, (from, to): (&State, &State), s: f64, smooth: bool, out: &mut State) {
    if s >= 1.0 {
        return out.copy_from(to);
    }
    out.copy_from(from);
    if s <= 0.0 {
        return;
    }
    let h = to.t - from.t;
    out.t = from.t + s * h;
    let cubic = smooth && !from.v.is_empty();
    let n = model.dim();
    // velocities serve as the buffer of the increment
    out.v.resize(n, 0.0);
    model.difference(&from.q, &to.q, &mut out.v);
    let weight = if cubic { s * s * (3.0 - 2.0 * s) } else { s };
    for (k, d) in out.v.iter_mut().enumerate() {
        *d *= weight;
        if cubic {
            *d += h * s * (1.0 - s) * ((1.0 - s) * from.v[k] - s * to.v[k]);
        }
    }
    model.retract(&from.q, &out.v, &mut out.q);
    out.v.clear();
    out.v.extend(from.v.iter().zip(&to.v).map(|(a, b)| a + s * (b - a)));
}

/// The model and the solver that a step works with.
pub struct System<'a, M: ?Sized> {
    pub model: &'a mut M,
    pub solver: &'a mut dyn Solver,
}

/// What a step tells about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Time advanced [s], at most the step asked for.
    pub advanced: f64,
    /// Estimate of the local error, where the scheme has one.
    pub error: Option<LocalError>,
    /// The worst certificate of all problems solved.
    pub worst: Certificate,
    /// One-step problems solved.
    pub solves: u32,
    /// Newton iterations, counting the first solve: the linearised steps that were solved.
    pub iterations: u32,
    /// Evaluations of the right-hand side: calls of the model's forces, or of its rate.
    pub evaluations: u32,
}

/// An estimate of the local error of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalError {
    /// The error divided by the tolerances [-]: a step with at most 1 is accepted.
    pub value: f64,
    /// Order p of the step in this place: the estimate falls like h^{p+1}.
    pub order: u32,
}

/// What each law of the model did in a step. Rows are those of the coupling.
///
/// In first-order systems `before` and `after` are the outputs y without λ at the start and with λ where the law was imposed, `impulse` is the
/// integral of λ over the step, and the coupling is that of the time at which the law was imposed.
#[derive(Clone, Debug, Default)]
pub struct Reactions {
    /// Laws, gaps and rows at the start of the step.
    pub coupling: Coupling,
    /// (rows) relative velocity before and after [m/s]; the same where the law did not act.
    pub before: Vec<f64>,
    pub after: Vec<f64>,
    /// (rows) mean velocity over the step of the obstacle's own motion, contained in both [m/s].
    pub obstacle: Vec<f64>,
    /// (rows) impulse over the step [N s].
    pub impulse: Vec<f64>,
    /// (laws) multiplier τ of the projection of positions; empty in schemes that do not project.
    pub projection: Vec<f64>,
    /// (rows) work of the impulse [J], from schemes whose step has parts; empty where it is impulse times mean velocity.
    pub work: Vec<f64>,
    /// (rows) λ itself, in schemes of first-order systems whose λ is a function of time; empty elsewhere.
    pub multiplier: Vec<f64>,
    /// Measures μ of the higher-order sweeping process, all levels of one law after the other; empty elsewhere.
    pub levels: Vec<f64>,
    /// (laws + 1) first level of each law in `levels`; empty elsewhere.
    pub chains: Vec<usize>,
}

impl Reactions {
    /// Starts a step at velocity `v`, once the coupling is there: no law has acted yet.
    #[inline]
    pub fn start(&mut self, v: &[f64]) {
        let drift = &self.coupling.drift;
        for buffer in [&mut self.before, &mut self.after, &mut self.obstacle, &mut self.impulse] {
            buffer.resize(drift.len(), 0.0);
        }
        let buffers = self.before.iter_mut().zip(&mut self.after).zip(&mut self.obstacle).zip(&mut self.impulse);
        for (((((before, after), obstacle), impulse), row), drift) in buffers.zip(self.coupling.rows.iter()).zip(drift)
        {
            let u = Rows::product(row, v) + drift;
            (*before, *after, *obstacle, *impulse) = (u, u, *drift, 0.0);
        }
    }

    pub fn len(&self) -> usize {
        self.coupling.len()
    }

    pub fn is_empty(&self) -> bool {
        self.coupling.is_empty()
    }

    /// Key of law `i`.
    pub fn key(&self, i: usize) -> Key {
        self.coupling.pairs[i].key
    }

    pub fn law(&self, i: usize) -> Law {
        self.coupling.pairs[i].law
    }

    /// The law with this key; `near` is tried first, because contacts seldom change places.
    pub fn find(&self, key: Key, near: usize) -> Option<usize> {
        self.coupling.find(key, near)
    }

    /// Rows of law `i`.
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.coupling.range(i)
    }

    /// Work of the impulse along a row [J].
    pub fn work(&self, row: usize) -> f64 {
        let mean = 0.5 * (self.before[row] + self.after[row]);
        self.work.get(row).copied().unwrap_or(self.impulse[row] * mean)
    }

    /// Measures μ₁, ..., μᵣ of law `i` in the higher-order sweeping process; none in other schemes.
    pub fn levels(&self, i: usize) -> &[f64] {
        match (self.chains.get(i), self.chains.get(i + 1)) {
            (Some(&start), Some(&end)) => self.levels.get(start..end).unwrap_or(&[]),
            _ => &[],
        }
    }

    /// Impulse along the normal (first) row of law `i`.
    pub fn normal(&self, i: usize) -> f64 {
        self.impulse[self.coupling.offset[i]]
    }
}

/// A step that could not be done. The driver adds time and names.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    #[error(transparent)]
    Model(Box<ModelError>),
    #[error("the one-step problem was not solved: {error}")]
    Solve { error: Box<SolveError>, contact: Option<Key> },
    #[error(
        "Newton's loop stopped at residual {residual:.3e} (tolerance {tolerance:.3e}) after {iterations} iterations; try a smaller step"
    )]
    Newton { residual: f64, tolerance: f64, iterations: u32 },
    #[error(
        "the projection stopped at gap {gap:.3e} (tolerance {tolerance:.1e}) after {iterations} iterations; try a smaller step"
    )]
    Projection { gap: f64, tolerance: f64, iterations: u32, contact: Key },
    #[error("the new state is not finite; the step may be too large for the forces")]
    NotFinite,
    #[error(
        "the smallest step {h:.3e} has an error of {error:.3e} times the tolerance; allow smaller steps (`h-min`), or a larger tolerance"
    )]
    TooSmall { h: f64, error: f64 },
    #[error("a gap of {gap:.3e} was passed unseen and could not be located; try smaller steps")]
    Tunnelled { gap: f64, contact: Key },
}

impl StepError {
    /// The contact that the error speaks of, by its key.
    pub fn key(&self) -> Option<Key> {
        match self {
            StepError::Solve { contact, .. } => *contact,
            StepError::Projection { contact, .. } | StepError::Tunnelled { contact, .. } => Some(*contact),
            StepError::Model(_) | StepError::Newton { .. } | StepError::NotFinite | StepError::TooSmall { .. } => None,
        }
    }
}

// boxed, so that the result of a step that succeeds is small
impl From<ModelError> for StepError {
    fn from(error: ModelError) -> Self {
        StepError::Model(Box::new(error))
    }
}

/// A scheme that cannot work with a model or a solver.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SchemeError {
    #[error("scheme `{scheme}` {reason}{}", contact.as_ref().map(|c| format!(" (contact `{c}`)")).unwrap_or_default())]
    Incapable { scheme: &'static str, reason: &'static str, contact: Option<String> },
    #[error(
        "the estimator `{estimator}` cannot control the steps of scheme `{scheme}`: {reason}; take the estimator `impact`"
    )]
    Blind { scheme: &'static str, estimator: &'static str, reason: &'static str },
    #[error("scheme `{scheme}` cannot have adaptive steps: {reason}")]
    EqualSteps { scheme: &'static str, reason: &'static str },
    #[error("scheme `{scheme}` cannot treat this system: {source}")]
    ZeroDynamics { scheme: &'static str, source: Box<crate::zero_dynamics::ZeroDynamicsError> },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

/// What a scheme claims; the conformance suite measures it.
#[derive(Debug)]
pub struct SchemeInfo {
    pub name: &'static str,
    pub title: &'static str,
    /// Orders of convergence through impacts.
    pub order: Order,
    /// The level at which the contact law is written: position, velocity, acceleration.
    pub level: &'static str,
    /// Further claims in words, each one a test of the suite.
    pub claims: &'static [Claim],
    pub citations: &'static [&'static str],
    /// Source of the file, whose head is the page.
    pub source: &'static str,
}

/// Claimed orders: l1 norm of positions and of velocities over a span with impacts, and of positions in smooth motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    pub position: f64,
    pub velocity: f64,
    pub smooth: f64,
}

/// Properties that the conformance suite knows how to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// With restitution 1 and constant forces the energy of the ball stays at its value to round-off.
    ConservesEnergyElastic,
    /// Penetration of the ball is bounded by a multiple of `h |u|`.
    PenetrationFirstOrder,
    /// Gaps are never violated by more than the tolerance of the projection, whatever the step.
    NoPenetration,
    /// There is no impact law: contacts with restitution are refused, and all other claims hold without it.
    Inelastic,
    /// Coulomb friction, planar and spatial.
    Friction,
    /// Bilateral constraints.
    Bilateral,
}

impl Claim {
    /// The claim in words.
    pub fn sentence(&self) -> &'static str {
        match self {
            Claim::ConservesEnergyElastic => "conserves energy with restitution 1 and constant forces",
            Claim::PenetrationFirstOrder => "penetration is at most of the order of the step",
            Claim::NoPenetration => "gaps are never violated",
            Claim::Inelastic => "impacts are inelastic: restitution is refused",
            Claim::Friction => "treats Coulomb friction, planar and spatial",
            Claim::Bilateral => "treats bilateral constraints",
        }
    }
}

/// A model of either family.
pub enum AnyModel {
    Mechanical(Box<dyn Mechanical>),
    FirstOrder(Box<dyn FirstOrder>),
}

impl AnyModel {
    pub fn family(&self) -> Family {
        match self {
            AnyModel::Mechanical(_) => Family::Mechanical,
            AnyModel::FirstOrder(_) => Family::FirstOrder,
        }
    }
}

/// The two families of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Mechanical,
    FirstOrder,
}

/// Options with which a scheme has other orders than by default.
#[derive(Debug)]
pub struct Variant {
    /// The options as a table in JSON.
    pub options: &'static str,
    pub order: Order,
}

/// A scheme type that the registry can build from a table of options and bind to a model.
pub trait Registered: Scheme + Options + 'static {
    /// Options with which the orders of `INFO` are measured: those without a control of the error.
    const MEASURED: &'static str = "{}";

    /// Choices of options whose orders the conformance suite measures besides the default.
    const VARIANTS: &'static [Variant] = &[];

    /// The models that the scheme works on.
    const FAMILY: Family = Family::Mechanical;

    /// Picks the family that the scheme works on.
    fn take(model: AnyModel) -> Result<Box<Self::Model>, SchemeError>;
}

/// The family of a scheme, by name, for messages.
pub(crate) fn mechanical(model: AnyModel, scheme: &'static str) -> Result<Box<dyn Mechanical>, SchemeError> {
    match model {
        AnyModel::Mechanical(model) => Ok(model),
        AnyModel::FirstOrder(_) => Err(SchemeError::Incapable {
            scheme,
            reason: "works on mechanical models, this one is a first-order system",
            contact: None,
        }),
    }
}

/// The other family.
pub(crate) fn first_order(model: AnyModel, scheme: &'static str) -> Result<Box<dyn FirstOrder>, SchemeError> {
    match model {
        AnyModel::FirstOrder(model) => Ok(model),
        AnyModel::Mechanical(_) => Err(SchemeError::Incapable {
            scheme,
            reason: "works on first-order systems, this model is a mechanical one",
            contact: None,
        }),
    }
}

/// Why a row could not bind.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BindError {
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error(transparent)]
    Scheme(#[from] SchemeError),
}

/// Builds a scheme from its table of options and binds it to a model and a solver.
pub type Bind = fn(&Value, AnyModel, Box<dyn Solver>) -> Result<Box<dyn Stepper>, BindError>;

/// Binds the scheme such that it estimates its local error, by step doubling where it has no estimate of its own.
pub type BindAdaptive = fn(&Value, Accuracy, AnyModel, Box<dyn Solver>) -> Result<Box<dyn Stepper>, BindError>;

/// One row of the registry: all that the command line, Python, the documentation and the conformance suite need.
pub struct SchemeRow {
    pub info: &'static SchemeInfo,
    pub measured: &'static str,
    pub family: Family,
    pub variants: &'static [Variant],
    pub bind: Bind,
    pub bind_adaptive: BindAdaptive,
    pub check: fn(&Value) -> Result<(), OptionError>,
    pub options: fn() -> Vec<OptionDoc>,
    pub schema: fn() -> Value,
}

impl SchemeRow {
    const fn of<S: Registered>() -> SchemeRow {
        SchemeRow {
            info: &S::INFO,
            measured: S::MEASURED,
            family: S::FAMILY,
            variants: S::VARIANTS,
            bind: |table, model, solver| Ok(Box::new(Bound::new(S::read(table)?, S::take(model)?, solver)?)),
            bind_adaptive: |table, accuracy, model, solver| {
                let base = S::read(table)?;
                if let Some(scheme) = base.controlled(&accuracy) {
                    return Ok(Box::new(Bound::new(scheme, S::take(model)?, solver)?));
                }
                Ok(Box::new(Bound::new(Doubled { base, accuracy }, S::take(model)?, solver)?))
            },
            check: |table| S::read(table).map(|_| ()),
            options: S::describe,
            schema: S::schema,
        }
    }
}

/// Every scheme. The first one is the default.
pub const SCHEMES: &[SchemeRow] = &[
    SchemeRow::of::<MoreauJean>(),
    SchemeRow::of::<DirectProjection>(),
    SchemeRow::of::<CombinedProjection>(),
    SchemeRow::of::<HigherOrder>(),
    SchemeRow::of::<EventDriven>(),
    SchemeRow::of::<SchatzmanPaoli>(),
    SchemeRow::of::<CorrectedPaoli>(),
    SchemeRow::of::<PositionLevel>(),
    SchemeRow::of::<EulerMoreau>(),
    SchemeRow::of::<CatchingUp>(),
    SchemeRow::of::<Homsp>(),
];

/// The row of a scheme by name.
pub fn find(name: &str) -> Option<&'static SchemeRow> {
    SCHEMES.iter().find(|row| row.info.name == name)
}
