//! Circuits with ideal diodes and switches as linear complementarity systems.
//!
//! ```text
//!     x' = A x + B λ + S σ,   y = C x + D λ + T σ,   every other quantity  w = P x + Q λ + R σ            (1)
//! ```
//!
//! States `x` are voltages of capacitors and currents of inductors, `σ` are the values of the sources and, behind them,
//! their time derivatives (which only loops of capacitors and cut sets of inductors need).
//!
//! The unknowns are ordered by a normal tree [chua1975]: voltage sources and capacitors are in the tree before anything
//! else, inductors and current sources after everything else. A diode is the complementary pair of its current and
//! minus its voltage, whose roles may be swapped: in the tree its voltage is free (`λ = −v`, `y = i`), as a link its
//! current is (`λ = i`, `y = −v`). With this choice the resistors can always be solved for. Capacitors that close a
//! loop of capacitors and sources, and inductors whose current other inductors and sources fix, are no states.

mod reduce;
mod tree;
mod wiring;

pub use reduce::{Quantity, Reduced, Row};
use tree::Tree;
pub use wiring::Short;

/// Most branches of a circuit, whose matrices are dense.
pub const LIMIT: usize = 400;

/// What a branch is. Currents flow from the first node through the branch to the second one; the voltage is that of the
/// first against the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ElementKind {
    /// [Ω]
    Resistor(f64),
    /// [F]
    Capacitor(f64),
    /// [H]
    Inductor(f64),
    /// Number of the source whose value is the voltage.
    Voltage(usize),
    /// Number of the source whose value is the current.
    Current(usize),
    /// Conducts from the first node to the second.
    Diode,
    /// Voltage zero or current zero, by its gate.
    Switch,
}

impl ElementKind {
    /// The order in which branches are taken into the tree.
    fn rank(&self) -> u8 {
        match self {
            ElementKind::Voltage(_) => 0,
            ElementKind::Capacitor(_) => 1,
            ElementKind::Diode | ElementKind::Switch => 2,
            ElementKind::Resistor(_) => 3,
            ElementKind::Inductor(_) => 4,
            ElementKind::Current(_) => 5,
        }
    }
}

/// A branch between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Name of the element, for messages.
    pub name: String,
    /// What it is, with its value.
    pub kind: ElementKind,
    /// Numbers of the two nodes.
    pub nodes: [usize; 2],
}

/// Nodes by number and the branches between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Netlist {
    /// Number of nodes, the ground included.
    pub nodes: usize,
    /// Branches; their positions are the numbers by which results refer to them.
    pub branches: Vec<Branch>,
    /// Number of sources that branches refer to.
    pub sources: usize,
    /// The node whose potential is zero.
    pub ground: usize,
    /// Branches whose initial values are given: where there is a choice they are the states.
    pub set: Vec<usize>,
}

/// A circuit without equations of the form (1).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CircuitError {
    /// Voltage sources, by name, that form a loop of their own.
    #[error("the voltage sources {} form a loop", list(.0))]
    VoltageLoop(Vec<String>),
    /// Current sources, by name, that alone join two parts of the circuit.
    #[error("the current sources {} have no other way for their current", list(.0))]
    CurrentCut(Vec<String>),
    /// More branches than [`LIMIT`]; their number.
    #[error("the circuit has {0} branches; the limit is {LIMIT}")]
    Size(usize),
    /// A branch, by name, at a node or with a source that does not exist.
    #[error("the branch `{0}` refers to a node or a source that does not exist")]
    Reference(String),
    /// Equations (3) or (4) of the reduction without a solution in floating point; the branch where it fails.
    #[error(
        "the equations of the circuit are singular at `{0}`: values of its elements differ by too many powers of ten"
    )]
    Singular(String),
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Netlist {
    /// Equations (1).
    ///
    /// # Errors
    /// Fails where sources contradict each other, naming them.
    pub fn reduce(&self) -> Result<Reduced, CircuitError> {
        if self.branches.len() > LIMIT {
            return Err(CircuitError::Size(self.branches.len()));
        }
        for branch in &self.branches {
            let source = match branch.kind {
                ElementKind::Voltage(source) | ElementKind::Current(source) => source < self.sources,
                _ => true,
            };
            if !source || self.ground >= self.nodes || branch.nodes.iter().any(|node| *node >= self.nodes) {
                return Err(CircuitError::Reference(branch.name.clone()));
            }
        }
        reduce::reduce(self, &Tree::of(self)?)
    }

    fn name(&self, branch: usize) -> String {
        self.branches[branch].name.clone()
    }
}

#[cfg(test)]
mod tests;
