//! Names to slots: which names an expression may use, and where their values stand among the inputs.

use std::collections::HashMap;
use std::ops::Range;

use super::error::{NameError, NameProblem, ScopeError};
use super::function::Function;
use super::graph::NodeId;
use crate::nearest::nearest;

/// What a declared name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Time.
    Time,
    /// A constant of the model, whose value may be bound into the graph.
    Parameter,
    /// A coordinate; its velocity is written with a prime.
    Coordinate,
    /// A variable without a velocity of its own, such as a state of a first-order model.
    State,
}

/// What a name means in an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Symbol {
    /// An input of the tape.
    Slot(usize),
    /// A defined expression.
    Node(NodeId),
    /// π or Euler's number.
    Constant(f64),
}

/// Slots of a block of coordinates and of their velocities, each contiguous and in the order of declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoordinateSlots {
    /// Slots of the coordinates.
    pub positions: Range<usize>,
    /// Slots of their velocities, in the same order.
    pub velocities: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    symbol: Symbol,
    role: Option<Role>,
    velocity: Option<usize>,
}

/// The names that expressions may use. Slots are numbered in the order of declaration.
///
/// `pi` and `e` mean the constants unless they are declared.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    entries: HashMap<String, Entry>,
    // names in the order of declaration, so that suggestions do not depend on the hash
    names: Vec<String>,
    // rates of defined expressions, where they have one
    rates: HashMap<String, NodeId>,
    slots: usize,
}

impl Scope {
    /// A scope that knows only `pi` and `e`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of slots given away so far: the length of the inputs of a tape.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Declares the time `t`.
    ///
    /// # Errors
    /// Fails if `t` is taken.
    pub fn declare_time(&mut self) -> Result<usize, ScopeError> {
        self.declare("t", Role::Time)
    }

    /// Declares a parameter.
    ///
    /// # Errors
    /// Fails if the name is taken, is a function or is not an identifier.
    pub fn declare_parameter(&mut self, name: &str) -> Result<usize, ScopeError> {
        self.declare(name, Role::Parameter)
    }

    /// Declares variables without velocities in contiguous slots.
    ///
    /// # Errors
    /// Fails at the first name that is taken, is a function or is not an identifier.
    pub fn declare_states<S: AsRef<str>>(&mut self, names: &[S]) -> Result<Range<usize>, ScopeError> {
        let start = self.slots;
        for name in names {
            self.declare(name.as_ref(), Role::State)?;
        }
        Ok(start..self.slots)
    }

    /// Declares coordinates in contiguous slots and, after them, their velocities in contiguous slots.
    ///
    /// # Errors
    /// Fails at the first name that is taken, is a function or is not an identifier.
    pub fn declare_coordinates<S: AsRef<str>>(&mut self, names: &[S]) -> Result<CoordinateSlots, ScopeError> {
        let start = self.slots;
        for name in names {
            self.declare(name.as_ref(), Role::Coordinate)?;
        }
        let middle = self.slots;
        for name in names {
            if let Some(entry) = self.entries.get_mut(name.as_ref()) {
                entry.velocity = Some(self.slots);
                self.slots += 1;
            }
        }
        Ok(CoordinateSlots { positions: start..middle, velocities: middle..self.slots })
    }

    /// Declares positions in contiguous slots and, after them, velocities in contiguous slots. A velocity with the name
    /// of a position is written with a prime, any other one with its own name.
    ///
    /// # Errors
    /// Fails at the first name that is taken, is a function or is not an identifier.
    pub fn declare_motion<S: AsRef<str>>(
        &mut self,
        positions: &[S],
        velocities: &[S],
    ) -> Result<CoordinateSlots, ScopeError> {
        let start = self.slots;
        for name in positions {
            self.declare(name.as_ref(), Role::Coordinate)?;
        }
        let middle = self.slots;
        for name in velocities {
            match self.entries.get_mut(name.as_ref()) {
                Some(entry) if entry.role == Some(Role::Coordinate) && entry.velocity.is_none() => {
                    entry.velocity = Some(self.slots);
                    self.slots += 1;
                }
                _ => {
                    self.declare(name.as_ref(), Role::State)?;
                }
            }
        }
        Ok(CoordinateSlots { positions: start..middle, velocities: middle..self.slots })
    }

    /// Gives a name that is known a rate, which is written with a prime. It takes no slot.
    pub fn define_rate(&mut self, name: &str, rate: NodeId) {
        self.rates.insert(name.into(), rate);
    }

    /// The rate of a defined expression.
    pub fn find_rate(&self, name: &str) -> Option<NodeId> {
        self.rates.get(name).copied()
    }

    /// Takes back the definition that was made last.
    pub fn forget(&mut self, name: &str) {
        self.entries.remove(name);
        if self.names.last().is_some_and(|last| last == name) {
            self.names.pop();
        }
    }

    /// Gives a name to an expression, so that later expressions may use it. It takes no slot.
    ///
    /// # Errors
    /// Fails if the name is taken, is a function or is not an identifier.
    pub fn define(&mut self, name: &str, node: NodeId) -> Result<(), ScopeError> {
        self.insert(name, Entry { symbol: Symbol::Node(node), role: None, velocity: None })
    }

    /// Gives a name that is known the meaning of an expression.
    pub fn redefine(&mut self, name: &str, node: NodeId) {
        if let Some(entry) = self.entries.get_mut(name) {
            *entry = Entry { symbol: Symbol::Node(node), role: None, velocity: None };
        }
    }

    fn declare(&mut self, name: &str, role: Role) -> Result<usize, ScopeError> {
        let slot = self.slots;
        self.insert(name, Entry { symbol: Symbol::Slot(slot), role: Some(role), velocity: None })?;
        self.slots += 1;
        Ok(slot)
    }

    fn insert(&mut self, name: &str, entry: Entry) -> Result<(), ScopeError> {
        if !name.split('.').all(is_identifier) {
            return Err(ScopeError::Invalid { name: name.into() });
        }
        if Function::find(name).is_some_and(|function| !function.is_also_a_name()) {
            return Err(ScopeError::Reserved { name: name.into() });
        }
        if self.entries.contains_key(name) {
            return Err(ScopeError::Duplicate { name: name.into() });
        }
        self.entries.insert(name.into(), entry);
        self.names.push(name.into());
        Ok(())
    }

    /// The role of a declared name; definitions and unknown names have none.
    pub fn role(&self, name: &str) -> Option<Role> {
        self.entries.get(name).and_then(|entry| entry.role)
    }

    /// What `name` means. Declared names come before the constants `pi` and `e`.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        match (self.entries.get(name), name) {
            (Some(entry), _) => Some(entry.symbol),
            (None, "pi") => Some(Symbol::Constant(std::f64::consts::PI)),
            (None, "e") => Some(Symbol::Constant(std::f64::consts::E)),
            _ => None,
        }
    }

    /// The slot of the velocity of the coordinate `name`.
    pub fn find_velocity(&self, name: &str) -> Option<usize> {
        self.entries.get(name).and_then(|entry| entry.velocity)
    }

    /// The error for a name that was not found.
    pub(super) fn unknown(&self, name: &str, primed: bool, span: Range<usize>) -> NameError {
        let problem = if primed && self.find(name).is_some() { NameProblem::NoVelocity } else { NameProblem::Unknown };
        let prime = if primed { "'" } else { "" };
        let written = format!("{name}{prime}");
        // a velocity can only be meant as another velocity
        let moves = |known: &str| self.find_velocity(known).is_some() || self.rates.contains_key(known);
        let meant = self.names.iter().map(String::as_str).filter(|known| !primed || moves(known));
        let known = meant.chain((!primed).then_some("pi"));
        let nearest = nearest(name, known).map(|near| format!("{near}{prime}"));
        NameError { name: written, problem, span, nearest }
    }
}

/// Whether the text is a name of the expression language.
pub fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_follow_the_declarations() {
        let mut scope = Scope::new();
        assert_eq!(scope.declare_time(), Ok(0));
        let slots = scope.declare_coordinates(&["x", "theta"]).unwrap();
        assert_eq!(slots, CoordinateSlots { positions: 1..3, velocities: 3..5 });
        assert_eq!(scope.declare_parameter("m"), Ok(5));
        assert_eq!(scope.declare_states(&["i", "u"]), Ok(6..8));
        assert_eq!(scope.slots(), 8);
        assert_eq!(scope.find("theta"), Some(Symbol::Slot(2)));
        assert_eq!(scope.find_velocity("theta"), Some(4));
        assert_eq!(scope.find_velocity("m"), None);
        assert_eq!(scope.role("i"), Some(Role::State));
    }

    #[test]
    fn positions_and_velocities_may_differ_in_number() {
        let mut scope = Scope::new();
        scope.declare_time().unwrap();
        let slots = scope.declare_motion(&["a.x", "a.e0", "a.e1"], &["a.x", "a.spin"]).unwrap();
        assert_eq!(slots, CoordinateSlots { positions: 1..4, velocities: 4..6 });
        assert_eq!(scope.find_velocity("a.x"), Some(4));
        assert_eq!(scope.find_velocity("a.e0"), None);
        assert_eq!(scope.find("a.spin"), Some(Symbol::Slot(5)));
        assert!(scope.declare_parameter("a.").is_err() && scope.declare_parameter(".x").is_err());
    }

    #[test]
    fn declared_names_hide_the_constants() {
        let mut scope = Scope::new();
        assert_eq!(scope.find("e"), Some(Symbol::Constant(std::f64::consts::E)));
        scope.declare_parameter("e").unwrap();
        assert_eq!(scope.find("e"), Some(Symbol::Slot(0)));
        assert_eq!(scope.find("pi"), Some(Symbol::Constant(std::f64::consts::PI)));
    }

    #[test]
    fn refuses_bad_declarations() {
        let mut scope = Scope::new();
        scope.declare_time().unwrap();
        let name = |name: &str| name.to_string();
        assert_eq!(scope.declare_parameter("t"), Err(ScopeError::Duplicate { name: name("t") }));
        assert_eq!(scope.declare_parameter("max"), Err(ScopeError::Reserved { name: name("max") }));
        for bad in ["", "2x", "x'", "a b", "θ"] {
            assert_eq!(scope.declare_parameter(bad), Err(ScopeError::Invalid { name: name(bad) }));
        }
        assert_eq!(scope.slots(), 1);
    }
}
