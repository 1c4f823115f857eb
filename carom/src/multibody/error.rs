//! What makes no sense in a description.

use super::pair::{PairError, ShapeError};
use crate::ModelError;

/// A description of which no model can be made. `name` is that of the item that is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MultibodyError {
    /// A name is given twice.
    #[error("two {what} are called `{name}`")]
    Duplicate {
        /// Kind of the items, in the plural.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// An item refers to another one that is not there.
    #[error("{what} `{name}` refers to the {referred} `{missing}`, which does not exist")]
    Unknown {
        /// Kind of the item.
        what: &'static str,
        /// Its name.
        name: String,
        /// Kind of what is missing.
        referred: &'static str,
        /// Its name.
        missing: String,
    },
    /// A number is out of range.
    #[error("{quantity} of the {what} `{name}` is {value}: {range}")]
    Number {
        /// Kind of the item.
        what: &'static str,
        /// Its name.
        name: String,
        /// Which number.
        quantity: &'static str,
        /// As it was given.
        value: f64,
        /// What is allowed, in words.
        range: &'static str,
    },
    /// The matrix of inertia is not symmetric, or not positive definite.
    #[error("the inertia of the body `{name}` is {reason}")]
    Inertia {
        /// Name of the body.
        name: String,
        /// What is wrong with it, in words.
        reason: &'static str,
    },
    /// Parts of an item are missing, do not fit together, or do not exist in this dimension.
    #[error("the {what} `{name}` makes no sense: {reason}")]
    Misfit {
        /// Kind of the item.
        what: &'static str,
        /// Its name.
        name: String,
        /// What is wrong with it, in words.
        reason: &'static str,
    },
    /// A joint is open where the bodies are drawn.
    #[error(
        "the joint `{name}` is open by {residual:.3e} where the bodies are drawn; assemble them, or draw it closed"
    )]
    Open {
        /// Name of the joint.
        name: String,
        /// Largest of its rows, in m or as a cosine.
        residual: f64,
    },
    /// The joints cannot be closed together.
    #[error("the joints cannot be closed: `{name}` stays open by {residual:.3e} after {iterations} iterations")]
    Assembly {
        /// Name of the joint that stays open most.
        name: String,
        /// Largest of its rows, in m or as a cosine.
        residual: f64,
        /// Iterations of Gauss and Newton that were made.
        iterations: u32,
    },
    /// The rows of a joint hold, but its axes point the other way.
    #[error("the joint `{name}` is closed with an axis the wrong way round; draw its bodies near the attitude meant")]
    Branch {
        /// Name of the joint.
        name: String,
    },
    /// A shape makes no sense.
    #[error("the shape `{name}` makes no sense: {source}")]
    Shape {
        /// Name of the shape.
        name: String,
        /// What is wrong with it.
        source: ShapeError,
    },
    /// There are no formulas for two shapes that may touch.
    #[error("`{}` and `{}` may touch: {source}", shapes[0], shapes[1])]
    Pair {
        /// Names of the shapes.
        shapes: [String; 2],
        /// Why they make no pair.
        source: PairError,
    },
    /// Nothing tells the coefficients between two materials.
    #[error(
        "`{}` and `{}` may touch: nothing tells the coefficients between {:?} and {:?}",
        shapes[0], shapes[1], names[0], names[1]
    )]
    Materials {
        /// Names of the materials.
        names: [String; 2],
        /// Names of two shapes that have them.
        shapes: [String; 2],
    },
    /// A formula failed at the start.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl From<MultibodyError> for ModelError {
    fn from(error: MultibodyError) -> ModelError {
        match error {
            MultibodyError::Model(error) => error,
            error => ModelError::Callback(error.to_string()),
        }
    }
}
