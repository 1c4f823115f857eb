//! What studies run: a model with parameters, names and a method, whoever made it.
//!
//! A scene of a model file is one; an engine of another kind can be one. Studies see models through this trait alone,
//! so that they know no model files, and those who read model files know no studies.

use crate::model::{Mechanical, Tangent};
use crate::scheme::{Family, Stepper};
use crate::sensitivity::{Sensitivity, StepSensitivity};
use crate::simulation::{Observer, Simulation};
use crate::testbed::{ExactSolution, ExactState};
use crate::{Key, Law, State};
use serde_json::Value;
use std::sync::Arc;

/// Name of the parameter that studies take for the period of a forcing where none is given to them.
pub const PERIOD: &str = "period";

/// A model that can be run as often as wanted, with other values of its parameters.
pub trait Subject: Send + Sync {
    /// Name for titles.
    fn name(&self) -> &str;
    /// One line about it; may be empty.
    fn description(&self) -> &str;
    /// The text that it was made from, for reports.
    fn text(&self) -> &str;
    /// Everything that results depend on, as text: equal identities give equal results.
    fn identity(&self) -> String;
    /// Mechanical, or of first order.
    fn family(&self) -> Family;
    /// Names and values.
    fn parameters(&self) -> &[(String, f64)];
    /// Coordinates, or states of a first-order model.
    fn coordinates(&self) -> &[String];
    /// Velocities of a mechanical model. One with the name of a coordinate is its rate.
    fn velocities(&self) -> &[String] {
        self.coordinates()
    }
    /// Coordinates in which the model repeats itself, by number, with the length after which it does: 2π for an angle,
    /// zero where nothing depends on the coordinate.
    fn cyclic(&self) -> &[(usize, f64)] {
        &[]
    }
    /// The unit of a quantity by its name, where it is known: a result column, a coordinate `x`, a velocity `x'` or a
    /// parameter.
    fn unit(&self, _name: &str) -> Option<String> {
        None
    }
    /// Contacts and constraints.
    fn laws(&self) -> Vec<SubjectLaw<'_>>;
    /// Names of its events.
    fn events(&self) -> Vec<&str>;
    /// The state at the start.
    fn initial(&self) -> &State;
    /// Start, end and first or only step [s].
    fn span(&self) -> (f64, f64, f64);
    /// Scheme and steps.
    fn method(&self) -> SubjectMethod;
    /// The closed form of its motion, where there is one.
    fn exact(&self) -> Option<Exact<'_>> {
        None
    }

    /// The same with other values of parameters.
    ///
    /// # Errors
    /// Fails where the model is not good with them.
    fn with(&self, values: &[(&str, f64)]) -> Result<Arc<dyn Subject>, SubjectError>;

    /// The same with equal steps, for studies that compare trajectories at the same times.
    ///
    /// # Errors
    /// Fails where no step is known.
    fn with_equal_steps(&self) -> Result<Arc<dyn Subject>, SubjectError>;

    /// The same with the event-driven scheme, for studies that differentiate motions: with its own options where it has
    /// that scheme, with this tolerance otherwise.
    ///
    /// # Errors
    /// Fails for first-order models, and where another scheme was asked for.
    fn with_events(&self, tolerance: f64) -> Result<Arc<dyn Subject>, SubjectError>;

    /// The same with another scheme and another control of steps (`"off"` for equal ones), each a name or a table; as
    /// it is where there is nothing.
    ///
    /// # Errors
    /// Fails where they do not exist or do not take the model.
    fn with_method(&self, scheme: Option<&str>, adaptive: Option<&str>) -> Result<Arc<dyn Subject>, SubjectError>;

    /// A new stepper at the initial state.
    ///
    /// # Errors
    /// Fails where scheme and model do not fit.
    fn stepper(&self) -> Result<Box<dyn Stepper>, SubjectError>;

    /// A new simulation over the whole span, with another step or tolerance where one is given.
    ///
    /// # Errors
    /// Fails where scheme and model do not fit.
    fn simulation(&self, size: Option<f64>) -> Result<Simulation, SubjectError>;

    /// A new mechanical model.
    ///
    /// # Errors
    /// Fails for first-order models.
    fn mechanical(&self) -> Result<Box<dyn Mechanical>, SubjectError>;

    /// Derivatives of the mechanical model, by the state.
    ///
    /// # Errors
    /// Fails for first-order models.
    fn tangent(&self) -> Result<Box<dyn Tangent>, SubjectError>;

    /// The motion with its derivatives by the state and by these parameters.
    ///
    /// # Errors
    /// Fails for models without derivatives.
    fn sensitivity(&self, parameters: &[&str]) -> Result<Sensitivity, SubjectError>;

    /// The steps of the scheme with their derivatives, likewise.
    ///
    /// # Errors
    /// Fails for schemes without derivatives.
    fn step_sensitivity(&self, parameters: &[&str]) -> Result<StepSensitivity, SubjectError>;

    /// The value of an expression of parameters.
    ///
    /// # Errors
    /// Fails where it is none.
    fn value(&self, expression: &str) -> Result<f64, SubjectError>;

    /// The same with its derivative by a parameter.
    ///
    /// # Errors
    /// Fails where it is none.
    fn slope(&self, expression: &str, parameter: &str) -> Result<(f64, f64), SubjectError>;

    /// A quantity of a state by its name: a result column, a coordinate `x` or a velocity `x'`.
    ///
    /// # Errors
    /// Fails for unknown names.
    fn column(&self, name: &str) -> Result<StateColumn, SubjectError>;

    /// Reads a column from states; nothing where it is not a function of the state.
    fn reader(&self, column: StateColumn) -> Option<StateReader>;

    /// The function whose zeros from below are the event of this number.
    fn event(&self, index: usize) -> Option<ZeroFunction>;

    /// The known name that a wrong one may stand for.
    fn suggest<'a>(&self, wrong: &str, known: &[&'a str]) -> Option<&'a str>;

    /// Quantities of a run that are worth a note where nothing else is asked for.
    fn quantities(&self) -> Vec<String>;

    /// Measures quantities of a run: `final`, `min`, `max`, `sum` or `mean NAME` of a column, `impacts`, `events`,
    /// `first` or `last NAME` of an event.
    ///
    /// # Errors
    /// Fails for unknown quantities.
    fn meter(&self, quantities: &[String]) -> Result<Box<dyn Meter>, SubjectError>;
}

impl dyn Subject + '_ {
    /// The value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<f64> {
        self.parameters().iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// A hint at the known name that a wrong one may stand for, or something else.
    pub fn hint(&self, wrong: &str, known: &[&str], otherwise: impl FnOnce() -> String) -> String {
        self.suggest(wrong, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
    }

    /// The restitution of a contact; not a number where it is unknown.
    pub fn restitution(&self, key: Key) -> f64 {
        self.laws().iter().find(|law| law.key == key).map_or(f64::NAN, |law| law.restitution)
    }
}

/// A contact or constraint.
#[derive(Clone, Copy, Debug)]
pub struct SubjectLaw<'a> {
    /// Its identity in couplings.
    pub key: Key,
    /// Its name.
    pub name: &'a str,
    /// Its law at the start.
    pub law: &'a Law,
    /// [-]
    pub restitution: f64,
}

/// Scheme and steps.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectMethod {
    /// Name of the scheme.
    pub scheme: String,
    /// Scheme and options in words.
    pub words: String,
    /// Scheme and options as a table.
    pub table: Value,
    /// Whether steps are adaptive.
    pub adaptive: bool,
}

/// A closed form.
pub enum Exact<'a> {
    /// Of a mechanical model, with the name of the test it belongs to.
    Motion(&'a (dyn ExactSolution + Send + Sync), &'a str),
    /// Of a first-order model.
    State(&'a (dyn ExactState + Send + Sync), &'a str),
}

/// A quantity of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateColumn {
    /// A coordinate by its number.
    Position(usize),
    /// A velocity.
    Velocity(usize),
    /// A function of the state that the model defines.
    Output(usize),
    /// Not a function of the state alone.
    Other,
}

/// Reads a number from a state.
pub type StateReader = Box<dyn FnMut(&State) -> f64 + Send>;

/// A function of time, positions and velocities.
pub type ZeroFunction = Box<dyn FnMut(f64, &[f64], &[f64]) -> f64 + Send>;

/// An observer of a run that measures quantities.
pub trait Meter: Observer {
    /// What was measured so far.
    fn values(&self) -> Vec<f64>;
}

/// What a model refuses.
#[derive(Clone, Debug, Default, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SubjectError {
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

impl SubjectError {
    /// A message with a hint.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> SubjectError {
        SubjectError { message: message.into(), hint: hint.into() }
    }
}
