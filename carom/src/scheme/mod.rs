//! Schemes: one step of time. `registry.rs` lists all of them, `info.rs` says what they claim, `reactions.rs` what the
//! laws did.
//!
//! A scheme is its options. It never loops over time and never rejects: it advances at most `h` from an explicit state
//! to another, and tells what happened.

use crate::event::NONE;
use crate::{Coupling, ImpactLaw, ModelError, Space, State};
use carom_solve::{OptionError, Persist, Unsupported};

mod bound;
pub mod catching_up;
pub mod corrected_paoli;
mod differentiable;
pub mod doubling;
pub mod euler_moreau;
pub mod event_driven;
mod fitting;
mod forecast;
pub mod higher_order;
pub mod homsp;
mod info;
pub mod moreau_jean;
mod paths;
pub mod position_level;
pub mod projection;
pub(crate) mod rates;
mod registry;
pub mod schatzman_paoli;

pub use bound::{Bound, Stepper};
pub use catching_up::CatchingUp;
pub use corrected_paoli::{CorrectedPaoli, ImpactTime};
pub(crate) use differentiable::{Differentiable, Done};
pub use doubling::{Accuracy, Doubled, Estimator};
pub use euler_moreau::{Collocation, EulerMoreau};
pub use event_driven::EventDriven;
pub use fitting::fitting;
pub use forecast::Forecast;
pub use higher_order::HigherOrder;
pub use homsp::Homsp;
pub use info::{Claim, Order, SchemeInfo};
pub use moreau_jean::{MoreauJean, ReactionDirection};
pub use paths::SolverPath;
pub use position_level::PositionLevel;
pub use projection::combined::CombinedProjection;
pub use projection::direct::DirectProjection;
pub use projection::{Metric, Splitting};
pub use registry::{
    AnyModel, Bind, BindAdaptive, BindError, Family, ModelOf, Registered, SCHEMES, SchemeRow, Variant, find,
};
pub use schatzman_paoli::{Difference, SchatzmanPaoli};

pub use crate::event::{Event, EventKind, Events};
pub use crate::reactions::Reactions;
pub use crate::step::{LocalError, Step, StepError, System};

/// A time-stepping scheme.
pub trait Scheme: Sized + Send {
    /// `dyn Mechanical` or `dyn FirstOrder`: which models fit is a fact of the types.
    type Model: ?Sized + ModelOf;
    /// Every buffer of the step. What it remembers from step to step is persistent, so that a run can be taken up again
    /// with the same bits.
    type Work: Send + Persist;
    /// Name, orders and claims.
    const INFO: SchemeInfo;

    /// Refuses options that make no sense, by name. Binding asks for it, whoever binds.
    fn check_options(&self) -> Result<(), OptionError> {
        Ok(())
    }

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
    fn clear_guess(&self, _work: &mut Self::Work) {}

    /// Tells that the model was factored for another work since the last step of this one.
    fn drop_factors(&self, _work: &mut Self::Work) {}

    /// Orders with the options at hand, where they differ from those of `INFO`.
    fn order(&self) -> Order {
        Self::INFO.order
    }

    /// Why a contact may close inside a step without the step seeing it, so that full and half steps overlook it alike;
    /// `None` where the step looks as far as its end.
    fn may_miss_contact(&self) -> Option<&'static str> {
        None
    }

    /// Resolves impacts by this law from now on. Returns whether the scheme has it: all have Newton's, or none at all.
    fn set_impact_law(&self, _work: &mut Self::Work, law: ImpactLaw) -> bool {
        law == ImpactLaw::Newton
    }

    /// Tells that the model lists other contacts from now on: a coupling that was kept is none of the next step.
    fn contacts_changed(&self, _work: &mut Self::Work) {}

    /// Tells that the model has stopped bodies at the start of the coming step: they do not go on as they did.
    fn stopped(&self, _work: &mut Self::Work) {}

    /// How far ahead a step looks, as a multiple of its length: contacts that close up to there must be listed.
    fn reach(&self) -> f64 {
        1.0
    }

    /// Why all steps must be of one size; `None` where they may differ, as adaptive steps do.
    fn needs_equal_steps(&self) -> Option<&'static str> {
        None
    }

    /// Why full and half steps cannot be compared, so that there is no step doubling.
    fn cannot_be_doubled(&self) -> Option<&'static str> {
        self.needs_equal_steps()
    }

    /// The scheme with its own control of the error set to this accuracy; `None` for schemes that need step doubling
    /// for it.
    fn controlled(&self, _accuracy: &Accuracy) -> Option<Self> {
        None
    }

    /// (n) In first-order systems the factors from `B λ` to rates of the states, zero in equations without a
    /// derivative; none where all are 1.
    fn state_factors<'w>(&self, _work: &'w Self::Work) -> &'w [f64] {
        &[]
    }

    /// Adds `sign` times what multipliers have added to the equations of a first-order system in the last step.
    fn add_load(&self, work: &Self::Work, sign: f64, out: &mut [f64]) {
        let Reactions { coupling, impulse, .. } = self.reactions(work);
        let entering = if coupling.input.is_empty() { &coupling.rows } else { &coupling.input };
        impulse.iter().enumerate().for_each(|(row, p)| entering.add_row(row, sign * p, out));
    }

    /// What the laws did in the last step.
    fn reactions<'w>(&self, work: &'w Self::Work) -> &'w Reactions;

    /// What the user should know of the steps so far, where the scheme warns.
    fn warnings<'w>(&self, _work: &'w Self::Work) -> Option<&'w crate::Warnings> {
        None
    }

    /// Events inside the last step, from schemes that locate them.
    fn events<'w>(&self, _work: &'w Self::Work) -> &'w Events {
        &NONE
    }

    /// The state at the part `s` in [0, 1] of the last step, between its ends. Positions go along a cubic where no law
    /// has acted and along a line elsewhere, velocities linearly: a jump that a scheme has captured is spread over the
    /// step. Schemes that locate impacts give the state before an impact that ends the step at `s` = 1.
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

    /// What is known of the motion between the ends of steps.
    fn motion(&self) -> Motion {
        Motion::Steps
    }

    /// Finds laws, gaps and rows at the end `to` of the last step, in schemes whose next step begins with them: who
    /// looks at them then costs little. Returns whether [`Scheme::end_coupling`] has them.
    fn couple_end(&self, _work: &mut Self::Work, _model: &mut Self::Model, _to: &State) -> Result<bool, ModelError> {
        Ok(false)
    }

    /// What [`Scheme::couple_end`] has found.
    fn end_coupling<'w>(&self, _work: &'w Self::Work) -> Option<&'w Coupling> {
        None
    }

    /// Whether the last step has a dense output as accurate as its ends: then works of forces are integrated along it.
    fn is_dense(&self, _work: &Self::Work) -> bool {
        false
    }
}

/// What a scheme knows of the motion between the ends of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Steps are as short as the user asked: their ends are the motion.
    Steps,
    /// Steps are as long as their accuracy allows: between their ends there is [`Scheme::interpolate`].
    Sampled,
    /// The same, and forces are functions of time.
    Dense,
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
    // the slope at the end is that of the increment; there are coordinates enough to hold it
    let chart = model.chart().filter(|_| cubic);
    if let Some(chart) = chart {
        chart.rate(&out.v, &to.v, &mut out.q[..n]);
    }
    let slope = if chart.is_some() { &out.q[..n] } else { &to.v[..] };
    for (k, d) in out.v.iter_mut().enumerate() {
        *d *= weight;
        if cubic {
            *d += h * s * (1.0 - s) * ((1.0 - s) * from.v[k] - s * slope[k]);
        }
    }
    model.retract(&from.q, &out.v, &mut out.q);
    out.v.clear();
    out.v.extend(from.v.iter().zip(&to.v).map(|(a, b)| a + s * (b - a)));
}

/// A scheme that cannot work with a model or a solver.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SchemeError {
    /// The scheme cannot treat something that the model has.
    #[error("scheme `{scheme}` {reason}{}", contact.as_ref().map(|c| format!(" (contact `{c}`)")).unwrap_or_default())]
    Incapable {
        /// Name of the scheme.
        scheme: &'static str,
        /// What it cannot do, as the rest of a sentence.
        reason: &'static str,
        /// Name of the contact to blame, where there is one.
        contact: Option<String>,
    },
    /// An option of the scheme makes no sense.
    #[error("scheme `{scheme}`: {source}")]
    Option {
        /// Name of the scheme.
        scheme: &'static str,
        /// The option and what is wrong with it.
        source: OptionError,
    },
    /// The estimator of the error would miss contacts that the scheme overlooks.
    #[error(
        "the estimator `{estimator}` cannot control the steps of scheme `{scheme}`: {reason}; take the estimator `impact`"
    )]
    Blind {
        /// Name of the scheme.
        scheme: &'static str,
        /// Name of the estimator.
        estimator: &'static str,
        /// Why the scheme may overlook a contact.
        reason: &'static str,
    },
    /// Adaptive or shortened steps were asked of a scheme that cannot have them.
    #[error(
        "scheme `{scheme}` cannot have adaptive steps{}: {reason}",
        if *shortens { "" } else { ", nor shortened ones" }
    )]
    EqualSteps {
        /// Name of the scheme.
        scheme: &'static str,
        /// Why it cannot.
        reason: &'static str,
        /// Whether it may have shortened steps (`shorten = true`) all the same.
        shortens: bool,
    },
    /// The scheme is not consistent where multipliers act through two or more integrations.
    #[error(
        "scheme `{scheme}` is not consistent here: λ acts on the output `{row}` through relative degree {}, and the motion after a contact would depend on the step; {}",
        degree.map_or("2 or more".to_owned(), |degree| degree.to_string()),
        if degree.is_some() {
            "take `homsp`"
        } else {
            "of nonlinear systems only mechanical ones, as such (kind = \"lagrangian\"), have schemes for it"
        }
    )]
    Degree {
        /// Name of the scheme.
        scheme: &'static str,
        /// Name of the row.
        row: String,
        /// Its relative degree, where it is known.
        degree: Option<usize>,
    },
    /// The system has no form with chains of integrators that the scheme could treat.
    #[error("scheme `{scheme}` cannot treat this system: {source}")]
    ZeroDynamics {
        /// Name of the scheme.
        scheme: &'static str,
        /// What the system lacks.
        source: Box<crate::zero_dynamics::ZeroDynamicsError>,
    },
    /// The model makes no sense, or an evaluation of it failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The solver does not know a law of the model.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}
