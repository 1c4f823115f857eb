//! The names and expressions of a file: formulas become numbers or nodes of one graph.

use std::collections::{HashMap, HashSet};

use carom::scheme::Family;

use crate::diagnostic::{Diagnostics, Place};
use crate::expression::{
    Ast, ExpressionError, Function, Graph, NameError, NameProblem, NodeId, Scope, is_identifier, parse,
};
use crate::file::{Content, Formula, Text};

/// The names of a model.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub family: Family,
    /// Coordinates, or states.
    pub coordinates: Vec<String>,
    /// Names of the velocities, where they are not those of the coordinates. One with the name of a coordinate is its
    /// rate.
    pub velocities: Option<Vec<String>>,
    /// Names of the multipliers in expressions; first-order models alone have them.
    pub multipliers: Vec<String>,
    pub index: HashMap<String, usize>,
    /// Name that stands for all coordinates in tables by coordinate.
    pub base: Option<String>,
    /// Units of columns by their full names, from the kind of model.
    pub units: Vec<(String, &'static str)>,
    /// Names that look like states, and why they are none.
    pub fixed: Vec<(String, String)>,
}

impl Names {
    /// The names of all velocities.
    pub fn velocities(&self) -> &[String] {
        match (&self.velocities, self.family) {
            (Some(names), _) => names,
            (None, Family::Mechanical) => &self.coordinates,
            (None, Family::FirstOrder) => &[],
        }
    }
}

/// A parameter of the file with its value.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: Text,
    pub value: f64,
    /// It stays an input of the tapes whatever its value: derivatives are taken by it.
    pub kept: bool,
    /// Some tape reads it, or its form depends on it.
    pub read: bool,
    /// Its value is part of the equations, so that another one compiles them again.
    pub folded: bool,
}

impl Parameter {
    pub fn new(name: Text, value: f64) -> Parameter {
        Parameter { name, value, kept: false, read: false, folded: false }
    }

    /// Whether it is zero or one: terms or factors with it vanish from the equations.
    pub fn is_plain(&self) -> bool {
        (self.value == 0.0 || self.value == 1.0) && !self.kept
    }
}

/// What building a scene keeps at hand.
pub(crate) struct Context {
    pub out: Diagnostics,
    pub graph: Graph,
    /// Parameters alone, as constants.
    pub parameters: Scope,
    /// Time, coordinates, velocities (slots in this order) and parameters; in first-order models time, states and
    /// multipliers.
    pub all: Scope,
    /// All parameters, in the order of the file.
    pub values: Vec<Parameter>,
    pub names: Names,
    /// Names that some expression uses.
    pub used: HashSet<String>,
    /// Expressions of parameters alone, which must be finite.
    pub fixed: Vec<(NodeId, Place)>,
    /// Meshes of files that are at hand: many bodies may have the same one.
    pub meshes: crate::mesh::Shelf,
}

impl Context {
    pub fn new(out: Diagnostics) -> Context {
        Context {
            out,
            graph: Graph::new(),
            parameters: Scope::new(),
            all: Scope::new(),
            values: Vec::new(),
            names: Names {
                fixed: Vec::new(),
                units: Vec::new(),
                family: Family::Mechanical,
                coordinates: Vec::new(),
                velocities: None,
                multipliers: Vec::new(),
                index: HashMap::new(),
                base: None,
            },
            used: HashSet::new(),
            fixed: Vec::new(),
            meshes: Default::default(),
        }
    }

    /// The values of all parameters, as tapes take them.
    pub fn vector(&self) -> Vec<f64> {
        self.values.iter().map(|parameter| parameter.value).collect()
    }

    /// Makes inputs of all parameters, after the slots that are declared. One that is plain or folded already is a
    /// number.
    pub fn declare_parameters(&mut self) {
        let first = self.all.slots();
        self.graph.declare_parameters(first);
        for (i, parameter) in self.values.iter_mut().enumerate() {
            parameter.folded |= parameter.is_plain();
            let node = match parameter.folded {
                true => self.graph.constant(parameter.value),
                false => self.graph.input(first + i),
            };
            // names have been checked one by one; one that a state has taken keeps that meaning
            let _ = self.all.define(&parameter.name.value, node);
        }
    }

    /// The value of a formula that decides on the form of the equations: its parameters are folded.
    pub fn structural(&mut self, formula: &Formula) -> Option<f64> {
        let value = self.number(formula)?;
        if let Content::Expression(text) = &formula.content
            && let Ok(ast) = parse(text)
        {
            let used = |name: &str| ast.names().any(|(known, _)| known == name);
            for parameter in self.values.iter_mut().filter(|parameter| used(&parameter.name.value)) {
                (parameter.read, parameter.folded) = (true, true);
            }
        }
        Some(value)
    }

    /// Folds the parameters among the names, and tells which they are.
    fn fold(&mut self, names: &[String]) -> Vec<(String, f64)> {
        let mut folded = Vec::new();
        for parameter in &mut self.values {
            if names.contains(&parameter.name.value) && !parameter.kept {
                parameter.folded = true;
                folded.push((parameter.name.value.clone(), parameter.value));
            }
        }
        folded
    }

    /// Builds a parsed formula. Parameters in exponents are folded: a power of a whole number is a product.
    fn build(&mut self, ast: &Ast) -> Result<NodeId, NameError> {
        for (name, _) in ast.names() {
            let known = self.values.iter_mut().find(|parameter| parameter.name.value == name);
            known.into_iter().for_each(|parameter| parameter.read = true);
        }
        let folded = self.fold(&ast.exponents());
        if folded.is_empty() {
            return self.graph.build(ast, &self.all);
        }
        let mut scope = self.all.clone();
        for (name, value) in folded {
            let node = self.graph.constant(value);
            scope.redefine(&name, node);
        }
        self.graph.build(ast, &scope)
    }

    /// Slot of a velocity, or of a multiplier.
    pub fn velocity(&self, i: usize) -> usize {
        1 + self.names.coordinates.len() + i
    }

    /// The name of a slot, as it is written.
    pub fn slot_name(&self, slot: usize) -> String {
        let n = self.names.coordinates.len();
        match slot {
            0 => "t".into(),
            slot if slot <= n => self.names.coordinates[slot - 1].clone(),
            slot if self.names.family == Family::FirstOrder => {
                self.names.multipliers.get(slot - 1 - n).cloned().unwrap_or_default()
            }
            slot => match self.names.velocities().get(slot - 1 - n) {
                Some(name) if self.names.index.contains_key(name) => format!("{name}'"),
                Some(name) => name.clone(),
                None => String::new(),
            },
        }
    }

    /// Parses an expression and notes the names in it.
    pub fn parse(&mut self, formula: &Formula) -> Option<Ast> {
        let Content::Expression(text) = &formula.content else { return None };
        match parse(text) {
            Ok(ast) => {
                for (name, _) in ast.names() {
                    if !self.used.contains(name) {
                        self.used.insert(name.into());
                    }
                }
                Some(ast)
            }
            Err(error) => {
                self.report(formula, &error.into());
                None
            }
        }
    }

    pub fn report(&mut self, formula: &Formula, error: &ExpressionError) {
        let place = formula.part(error.span());
        let mut hint = error.hint();
        if let ExpressionError::Name(NameError { name, problem: NameProblem::Unknown, nearest: None, .. }) = error {
            hint = Some(match name.strip_suffix('\'') {
                Some(coordinate) => format!("`{coordinate}` is not a coordinate of the model"),
                None => "declare it under [parameters]".into(),
            });
        }
        let diagnostic = self.out.error(&place, error.to_string());
        diagnostic.hint = hint;
    }

    /// The value of a formula of parameters.
    pub fn number(&mut self, formula: &Formula) -> Option<f64> {
        if let Content::Number(value) = formula.content {
            return Some(value);
        }
        let ast = self.parse(formula)?;
        let variable = ast.names().find(|(name, _)| *name == "t" || self.names.index.contains_key(*name));
        if let Some((name, span)) = variable
            && self.parameters.find(name).is_none()
        {
            let what = match (name, self.names.family) {
                ("t", _) => "the time",
                (_, Family::Mechanical) => "a coordinate",
                (_, Family::FirstOrder) => "a state",
            };
            let place = formula.part(span);
            self.out.error(&place, format!("`{name}` is {what}; only parameters may appear here"));
            return None;
        }
        self.evaluate(formula, &ast)
    }

    /// The value of a parsed formula of parameters.
    pub fn evaluate(&mut self, formula: &Formula, ast: &Ast) -> Option<f64> {
        let node = match self.graph.build(ast, &self.parameters) {
            Ok(node) => node,
            Err(error) => {
                self.report(formula, &error.into());
                return None;
            }
        };
        match self.graph.is_constant(node) {
            Some(value) if value.is_finite() => Some(value),
            value => {
                let value = value.unwrap_or(f64::NAN);
                self.out.error(&formula.place, format!("the expression evaluates to {value}, not to a finite number"));
                None
            }
        }
    }

    /// The node of a formula of time, coordinates, velocities and parameters.
    pub fn node(&mut self, formula: &Formula) -> Option<NodeId> {
        if let Content::Number(value) = formula.content {
            return Some(self.graph.constant(value));
        }
        let ast = self.parse(formula)?;
        match self.build(&ast) {
            Ok(node) => {
                if self.graph.is_fixed(node) {
                    let value = self.value(node);
                    if !value.is_finite() {
                        self.not_finite(value, &formula.place);
                        return None;
                    }
                    self.fixed.push((node, formula.place.clone()));
                }
                Some(node)
            }
            Err(error) => {
                self.report(formula, &error.into());
                None
            }
        }
    }

    /// The node of a formula whose mistakes are told elsewhere.
    pub fn quiet_node(&mut self, formula: &Formula) -> Option<NodeId> {
        match &formula.content {
            Content::Number(value) => Some(self.graph.constant(*value)),
            Content::Expression(text) => self.build(&parse(text).ok()?).ok(),
        }
    }

    /// The value of a node of parameters alone.
    pub fn value(&mut self, node: NodeId) -> f64 {
        let first = self.all.slots();
        let values: Vec<(usize, f64)> = self.values.iter().enumerate().map(|(i, p)| (first + i, p.value)).collect();
        let bound = self.graph.bind(node, &values);
        self.graph.is_constant(bound).unwrap_or(f64::NAN)
    }

    /// Reports an expression of parameters that is not finite.
    pub fn not_finite(&mut self, value: f64, place: &Place) {
        self.out.error(place, format!("the expression is {value}, not a finite number"));
    }

    /// A node that may not depend on velocities; `what` names it in the message.
    pub fn node_of_positions(&mut self, formula: &Formula, what: &str) -> Option<NodeId> {
        let node = self.node(formula)?;
        let inner = self.velocity(0)..self.velocity(self.names.velocities().len().max(self.names.multipliers.len()));
        if let Some(&slot) = self.graph.slots(node).iter().find(|slot| inner.contains(slot)) {
            let name = self.slot_name(slot);
            let (kind, hint) = match self.names.family {
                Family::Mechanical => ("velocity", "it may depend on t, coordinates and parameters"),
                Family::FirstOrder => ("multiplier", "it may depend on t, states and parameters"),
            };
            self.out.error(&formula.place, format!("{what} depends on the {kind} {name}")).hint(hint);
            return None;
        }
        Some(node)
    }

    /// A node that may depend on time only.
    pub fn node_of_time(&mut self, formula: &Formula, what: &str) -> Option<NodeId> {
        let node = self.node(formula)?;
        if let Some(&slot) = self.graph.slots(node).iter().find(|&&slot| slot != 0) {
            let name = self.slot_name(slot);
            let message = format!("{what} depends on {name}");
            self.out.error(&formula.place, message).hint("it may depend on t and parameters");
            return None;
        }
        Some(node)
    }
}

/// Why a name may not be declared, apart from being taken.
pub(crate) fn name_problem(name: &str) -> Option<String> {
    if let Some(bare) = name.strip_suffix('\'') {
        let bare = bare.trim_end_matches('\'');
        return Some(format!("`{name}` has a prime, which only velocities of coordinates have; name it `{bare}`"));
    }
    if !is_identifier(name) {
        return Some(format!("`{name}` is not a name: letters, digits and `_`, not starting with a digit"));
    }
    if Function::find(name).is_some_and(|function| !function.is_also_a_name()) {
        return Some(format!("`{name}` is the name of a function"));
    }
    match name {
        "t" => Some("`t` is the time".into()),
        "pi" => Some("`pi` is a constant".into()),
        _ => None,
    }
}

/// Whether a text can be part of the name of a result column.
pub(crate) fn label(text: &Text, out: &mut Diagnostics) -> Option<String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if text.value.is_empty() || !text.value.chars().all(letter) {
        out.error(&text.place, format!("{:?} cannot name a result", text.value))
            .hint("use letters, digits, `_` and `-`");
        return None;
    }
    Some(text.value.clone())
}
