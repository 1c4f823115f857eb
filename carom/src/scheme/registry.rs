//! The registry of schemes: one row makes a scheme known to the command line, to the documentation and to the
//! conformance suite.

use super::{
    Accuracy, Bound, CatchingUp, CombinedProjection, CorrectedPaoli, DirectProjection, Doubled, EulerMoreau,
    EventDriven, HigherOrder, Homsp, MoreauJean, Order, PositionLevel, SchatzmanPaoli, Scheme, SchemeError, SchemeInfo,
    Stepper,
};
use crate::{FirstOrder, Mechanical, ModelError, Space, State};
use carom_solve::{OptionDoc, OptionError, Options, Solver};
use serde_json::Value;

/// A model of either family.
pub enum AnyModel {
    /// `M(q) v̇ = F(t, q, v) + Hᵀλ`.
    Mechanical(Box<dyn Mechanical>),
    /// `E ẋ = f(t, x) + B λ`.
    FirstOrder(Box<dyn FirstOrder>),
}

impl AnyModel {
    /// Which of the two it is.
    pub fn family(&self) -> Family {
        match self {
            AnyModel::Mechanical(_) => Family::Mechanical,
            AnyModel::FirstOrder(_) => Family::FirstOrder,
        }
    }

    /// The model for a scheme that works on its family.
    pub fn accept<S: Scheme>(self) -> Result<Box<S::Model>, SchemeError> {
        let reason = match self {
            AnyModel::Mechanical(_) => "works on first-order systems, this model is a mechanical one",
            AnyModel::FirstOrder(_) => "works on mechanical models, this one is a first-order system",
        };
        S::Model::from_any(self).ok_or(SchemeError::Incapable { scheme: S::INFO.name, reason, contact: None })
    }
}

/// The two families of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Positions and velocities.
    Mechanical,
    /// States alone: `State::v` is empty.
    FirstOrder,
}

/// `dyn Mechanical` or `dyn FirstOrder`.
pub trait ModelOf: Space {
    /// Which family it is.
    const FAMILY: Family;

    /// The model, where it is of this family.
    fn from_any(model: AnyModel) -> Option<Box<Self>>;

    /// `out ← M v`. Returns whether there is such a thing: first-order systems have no momentum.
    fn momentum(&mut self, at: &State, out: &mut [f64]) -> Result<bool, ModelError>;

    /// Whether gaps may be other than affine functions of time and positions.
    fn gaps_bend(&self) -> bool {
        false
    }

    /// `out ←` bounds of the rate of each gap while time, positions and velocities are within theirs. Returns whether
    /// they are known.
    fn gap_rates(&mut self, _t: [f64; 2], _q: &[[f64; 2]], _v: &[[f64; 2]], _out: &mut Vec<[f64; 2]>) -> bool {
        false
    }
}

impl ModelOf for dyn Mechanical {
    const FAMILY: Family = Family::Mechanical;

    fn from_any(model: AnyModel) -> Option<Box<Self>> {
        if let AnyModel::Mechanical(model) = model { Some(model) } else { None }
    }

    fn momentum(&mut self, at: &State, out: &mut [f64]) -> Result<bool, ModelError> {
        self.mass_mul(&at.q, &at.v, out).map(|()| true)
    }

    fn gaps_bend(&self) -> bool {
        let constancy = self.constancy();
        !(constancy.rows && constancy.drift)
    }

    fn gap_rates(&mut self, t: [f64; 2], q: &[[f64; 2]], v: &[[f64; 2]], out: &mut Vec<[f64; 2]>) -> bool {
        self.bound_rates(t, q, v, out)
    }
}

impl ModelOf for dyn FirstOrder {
    const FAMILY: Family = Family::FirstOrder;

    fn from_any(model: AnyModel) -> Option<Box<Self>> {
        if let AnyModel::FirstOrder(model) = model { Some(model) } else { None }
    }

    fn momentum(&mut self, _at: &State, _out: &mut [f64]) -> Result<bool, ModelError> {
        Ok(false)
    }
}

/// Options with which a scheme has other orders than by default.
#[derive(Debug)]
pub struct Variant {
    /// The options as a table in JSON.
    pub options: &'static str,
    /// Orders with these options.
    pub order: Order,
}

/// A scheme type that the registry can build from a table of options and bind to a model.
pub trait Registered: Scheme + Options + 'static {
    /// Options with which the orders of `INFO` are measured: those without a control of the error.
    const MEASURED: &'static str = "{}";

    /// Choices of options whose orders the conformance suite measures besides the default.
    const VARIANTS: &'static [Variant] = &[];
}

/// Why a row could not bind.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BindError {
    /// The table of options cannot be read, or a value makes no sense.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The scheme cannot work with this model or solver.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
}

/// Builds a scheme from its table of options and binds it to a model and a solver.
pub type Bind = fn(&Value, AnyModel, Box<dyn Solver>) -> Result<Box<dyn Stepper>, BindError>;

/// Binds the scheme such that it estimates its local error, by step doubling where it has no estimate of its own.
pub type BindAdaptive = fn(&Value, Accuracy, AnyModel, Box<dyn Solver>) -> Result<Box<dyn Stepper>, BindError>;

/// One row of the registry: all that the command line, Python, the documentation and the conformance suite need.
pub struct SchemeRow {
    /// What the scheme claims.
    pub info: &'static SchemeInfo,
    /// [`Registered::MEASURED`]: options in JSON with which the orders of `info` are measured.
    pub measured: &'static str,
    /// Models that it works on.
    pub family: Family,
    /// Choices of options with other orders.
    pub variants: &'static [Variant],
    /// Binds the scheme as its options say.
    pub bind: Bind,
    /// Binds the scheme with an estimate of its error.
    pub bind_adaptive: BindAdaptive,
    /// Refuses a table of options that cannot be read or makes no sense.
    pub check: fn(&Value) -> Result<(), OptionError>,
    /// Name, default and meaning of each option.
    pub options: fn() -> Vec<OptionDoc>,
    /// JSON Schema of the table of options.
    pub schema: fn() -> Value,
}

impl SchemeRow {
    const fn of<S: Registered>() -> SchemeRow {
        SchemeRow {
            info: &S::INFO,
            measured: S::MEASURED,
            family: S::Model::FAMILY,
            variants: S::VARIANTS,
            bind: |table, model, solver| Ok(Box::new(Bound::new(S::read(table)?, model.accept::<S>()?, solver)?)),
            bind_adaptive: |table, accuracy, model, solver| {
                let base = S::read(table)?;
                accuracy.check()?;
                if let Some(scheme) = base.controlled(&accuracy) {
                    return Ok(Box::new(Bound::new(scheme, model.accept::<S>()?, solver)?));
                }
                Ok(Box::new(Bound::new(Doubled { base, accuracy }, model.accept::<S>()?, solver)?))
            },
            check: |table| S::read(table).map(|_| ()),
            options: S::describe,
            schema: S::schema,
        }
    }
}

/// Every scheme. The first one is the default.
///
/// A `static`: a `const` would compile every row again in each crate that names it.
pub static SCHEMES: &[SchemeRow] = &[
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
