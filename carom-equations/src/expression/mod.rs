//! Expressions of model files: text → graph → exact derivatives → one flat tape.
//!
//! | file | idea |
//! |---|---|
//! | `token`, `parse` | text to syntax tree, with spans for every error |
//! | `scope` | which names exist and which input slot each has |
//! | `graph`, `simplify` | one node per distinct subexpression, in simplest form |
//! | `derivative` | exact partial derivatives as further nodes of the same graph |
//! | `tape`, `evaluator` | the operations a set of outputs needs, evaluated without allocation |
//!
//! A Lagrangian model declares its names, reads its energies and differentiates them:
//!
//! ```
//! use carom_equations::expression::{Graph, Scope, Tape};
//!
//! let (mut scope, mut graph) = (Scope::new(), Graph::new());
//! let slots = scope.declare_coordinates(&["theta"])?;
//! let (q, v) = (slots.positions.start, slots.velocities.start);
//! let m = scope.declare_parameter("m")?;
//!
//! let kinetic = graph.expression("m/2*(2*theta')^2", &scope)?;
//! let potential = graph.expression("-m*9.81*2*cos(theta)", &scope)?;
//! let [kinetic, potential] = graph.bind_all(&[kinetic, potential], &[(m, 3.0)])[..] else { unreachable!() };
//!
//! let momentum = graph.derivative(kinetic, v);
//! let mass = graph.derivative(momentum, v);
//! assert_eq!(graph.is_constant(mass), Some(12.0));
//! let slope = graph.derivative(potential, q);
//! let force = graph.negate(slope);
//!
//! let tape = Tape::compile(&graph, &[mass, force]);
//! let (mut registers, mut out) = (tape.registers(), [0.0; 2]);
//! tape.eval(&[std::f64::consts::FRAC_PI_2, 0.0], &mut registers, &mut out);
//! assert_eq!(out, [12.0, -58.86]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod derivative;
mod error;
mod evaluator;
mod function;
mod graph;
mod parse;
mod scope;
mod simplify;
mod tape;
mod token;

#[cfg(test)]
mod tests;

pub use error::{ExpressionError, NameError, NameProblem, ScopeError, SyntaxError, SyntaxProblem};
pub use evaluator::Evaluator;
pub use function::{Arity, FUNCTIONS, Function, Unary};
pub(crate) use graph::ZERO;
pub use graph::{Graph, NodeId};
pub use parse::{Ast, AstId, AstKind, AstNode, DEPTH_LIMIT, LENGTH_LIMIT, Operator, parse};
pub use scope::{CoordinateSlots, Role, Scope, Symbol, is_identifier};
pub use tape::{Registers, Tape, compiled};
