//! The expression graph: every distinct subexpression of a model exists once.
//!
//! Nodes are interned, so equal expressions have equal [`NodeId`]s, and children have smaller ids than their parents:
//! ascending id is a topological order, and all passes are loops. The constructors simplify (see `simplify`).

use std::collections::{HashMap, HashSet};

use super::error::{ExpressionError, NameError};
use super::function::{Function, Unary};
use super::parse::{Ast, AstKind, Operator, parse};
use super::scope::{Scope, Symbol};

/// A node of a [`Graph`]. It is meaningful only together with the graph that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) u32);

/// A binary operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// aᵇ with a non-integer or variable exponent.
    Power,
    Atan2,
    Minimum,
    Maximum,
    /// 1 if a ≤ b, else 0; only as the condition of a selection.
    LessEqual,
}

/// An interned operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// The bits of the value, never those of −0.
    Constant(u64),
    Input(u32),
    Negate(NodeId),
    Unary(Unary, NodeId),
    /// xⁿ with 2 ≤ n, by multiplication.
    IntegerPower(NodeId, u32),
    Binary(Binary, NodeId, NodeId),
    /// The second node if the first is not zero, else the third.
    Select(NodeId, NodeId, NodeId),
}

impl Node {
    /// The operands, in order.
    pub(super) fn children(self) -> impl Iterator<Item = NodeId> {
        let (children, count) = match self {
            Node::Constant(_) | Node::Input(_) => ([NodeId(0); 3], 0),
            Node::Negate(a) | Node::Unary(_, a) | Node::IntegerPower(a, _) => ([a; 3], 1),
            Node::Binary(_, a, b) => ([a, b, b], 2),
            Node::Select(a, b, c) => ([a, b, c], 3),
        };
        children.into_iter().take(count)
    }
}

/// All expressions of a model, with shared subexpressions.
#[derive(Debug, Clone)]
pub struct Graph {
    nodes: Vec<Node>,
    // bit k: may depend on slot k; two bits stand for all further slots, and for all parameters
    dependence: Vec<u64>,
    index: HashMap<Node, NodeId>,
    pub(super) derivatives: HashMap<(NodeId, u32), NodeId>,
    // inputs from this slot on are parameters
    pub(super) parameters: u32,
}

/// The constant zero, which every graph has first.
pub(super) const ZERO: NodeId = NodeId(0);

impl Default for Graph {
    fn default() -> Self {
        let mut graph = Self {
            nodes: Vec::new(),
            dependence: Vec::new(),
            index: HashMap::new(),
            derivatives: HashMap::new(),
            parameters: u32::MAX,
        };
        graph.constant(0.0);
        graph
    }
}

impl Graph {
    /// A graph that contains only the constant zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes parameters of all inputs from the slot `first` on: they keep their values over many evaluations, so that a
    /// tape computes what depends on them alone once. Call it before such inputs are made.
    pub fn declare_parameters(&mut self, first: usize) {
        self.parameters = u32::try_from(first).unwrap_or(u32::MAX);
    }

    /// Number of nodes made so far, those of no further use included.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }

    /// Returns the id of a node that is in its simplest form.
    pub(super) fn intern(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.index.get(&node) {
            return id;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).expect("memory ends before 2^32 nodes"));
        let dependence = match node {
            Node::Input(slot) => self.slot_bit(slot),
            _ => node.children().fold(0, |bits, child| bits | self.dependence[child.0 as usize]),
        };
        self.nodes.push(node);
        self.dependence.push(dependence);
        self.index.insert(node, id);
        id
    }

    /// A number.
    pub fn constant(&mut self, value: f64) -> NodeId {
        // adding zero makes −0 into +0
        self.intern(Node::Constant((value + 0.0).to_bits()))
    }

    /// The value of an input.
    ///
    /// # Panics
    /// Panics if the slot is 2³² or larger.
    pub fn input(&mut self, slot: usize) -> NodeId {
        self.intern(Node::Input(u32::try_from(slot).expect("slot below 2^32")))
    }

    /// The value of a node that does not depend on any input.
    ///
    /// It may be infinite or NaN: `1/0` and `sqrt(-1)` are folded to what they evaluate to.
    pub fn is_constant(&self, node: NodeId) -> Option<f64> {
        match self.node(node) {
            Node::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Whether the simplified expression contains the input `slot`.
    pub fn depends_on(&self, node: NodeId, slot: usize) -> bool {
        let Ok(slot) = u32::try_from(slot) else { return false };
        if !self.may_depend(node, slot) {
            return false;
        }
        slot < SHARED_BIT.min(self.parameters)
            || self.topological(&[node]).iter().any(|&id| self.node(id) == Node::Input(slot))
    }

    /// A quick test: false means that `node` certainly does not contain the input.
    pub(super) fn may_depend(&self, node: NodeId, slot: u32) -> bool {
        self.dependence[node.0 as usize] & self.slot_bit(slot) != 0
    }

    /// Whether a node is a number or an expression of parameters alone.
    pub fn is_fixed(&self, node: NodeId) -> bool {
        self.dependence[node.0 as usize] & !(1 << PARAMETER_BIT) == 0
    }

    /// Whether a node is the number zero.
    pub fn is_zero(&self, node: NodeId) -> bool {
        matches!(self.node(node), Node::Constant(bits) if f64::from_bits(bits) == 0.0)
    }

    fn slot_bit(&self, slot: u32) -> u64 {
        1 << if slot < self.parameters { slot.min(SHARED_BIT) } else { PARAMETER_BIT }
    }

    /// The slots that appear in `node`, ascending; those of parameters are not among them.
    pub fn slots(&self, node: NodeId) -> Vec<usize> {
        let inputs = self.topological(&[node]).into_iter().filter_map(|id| match self.node(id) {
            Node::Input(slot) if slot < self.parameters => Some(slot as usize),
            _ => None,
        });
        let mut slots: Vec<usize> = inputs.collect();
        slots.sort_unstable();
        slots
    }

    /// Whether a sign, a whole part or a choice inside one of the nodes depends on one of the slots: its derivatives do
    /// not tell the whole function then.
    pub fn switches_with(&self, roots: &[NodeId], slots: std::ops::RangeInclusive<usize>) -> bool {
        self.topological(roots).into_iter().any(|id| match self.node(id) {
            Node::Unary(Unary::Sign | Unary::Floor, argument) => {
                slots.clone().any(|slot| self.depends_on(argument, slot))
            }
            Node::Select(condition, ..) => slots.clone().any(|slot| self.depends_on(condition, slot)),
            _ => false,
        })
    }

    /// The nodes reachable from `roots`, children before parents.
    pub(super) fn topological(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let mut seen: HashSet<NodeId> = HashSet::new();
        let mut stack = roots.to_vec();
        let mut order = Vec::new();
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                order.push(id);
                stack.extend(self.node(id).children());
            }
        }
        order.sort_unstable();
        order
    }

    /// Parses a text and builds its graph.
    ///
    /// # Errors
    /// Fails at the first syntax error or unknown name.
    pub fn expression(&mut self, text: &str, scope: &Scope) -> Result<NodeId, ExpressionError> {
        Ok(self.build(&parse(text)?, scope)?)
    }

    /// Builds the graph of a syntax tree.
    ///
    /// # Errors
    /// Fails at the first name that the scope does not know.
    pub fn build(&mut self, ast: &Ast, scope: &Scope) -> Result<NodeId, NameError> {
        let mut built: Vec<NodeId> = Vec::with_capacity(ast.nodes().len());
        let mut root = ZERO;
        for node in ast.nodes() {
            root = match &node.kind {
                AstKind::Number(value) => self.constant(*value),
                AstKind::Name(name) => match scope.find(name) {
                    Some(Symbol::Slot(slot)) => self.input(slot),
                    Some(Symbol::Node(id)) => id,
                    Some(Symbol::Constant(value)) => self.constant(value),
                    None => return Err(scope.unknown(name, false, node.span.clone())),
                },
                AstKind::Velocity(name) => match (scope.find_velocity(name), scope.find_rate(name)) {
                    (Some(slot), _) => self.input(slot),
                    (None, Some(id)) => id,
                    (None, None) => return Err(scope.unknown(name, true, node.span.clone())),
                },
                AstKind::Negate(a) => self.negate(built[*a]),
                AstKind::Binary(operator, a, b) => self.operator(*operator, built[*a], built[*b]),
                AstKind::Call(function, arguments) => {
                    let arguments: Vec<NodeId> = arguments.iter().map(|&argument| built[argument]).collect();
                    self.call(*function, &arguments)
                }
            };
            built.push(root);
        }
        Ok(root)
    }

    fn operator(&mut self, operator: Operator, a: NodeId, b: NodeId) -> NodeId {
        match operator {
            Operator::Add => self.add(a, b),
            Operator::Subtract => self.subtract(a, b),
            Operator::Multiply => self.multiply(a, b),
            Operator::Divide => self.divide(a, b),
            Operator::Power => self.power(a, b),
        }
    }

    /// A function of the expression language.
    ///
    /// # Panics
    /// Panics if the number of arguments is not one that the function admits; the parser has checked it.
    pub fn call(&mut self, function: Function, arguments: &[NodeId]) -> NodeId {
        assert!(function.arity().admits(arguments.len()), "{} takes {}", function.name(), function.arity());
        let (first, rest) = (arguments[0], &arguments[1..]);
        match function {
            Function::Unary(unary) => self.unary(unary, first),
            Function::Atan2 => self.binary(Binary::Atan2, first, rest[0]),
            Function::Step => {
                let (reached, one) = (self.binary(Binary::LessEqual, ZERO, first), self.constant(1.0));
                self.select(reached, one, ZERO)
            }
            Function::Modulo => {
                let quotient = self.divide(first, rest[0]);
                let turns = self.unary(Unary::Floor, quotient);
                let whole = self.multiply(rest[0], turns);
                self.subtract(first, whole)
            }
            Function::Minimum => rest.iter().fold(first, |a, &b| self.binary(Binary::Minimum, a, b)),
            Function::Maximum => rest.iter().fold(first, |a, &b| self.binary(Binary::Maximum, a, b)),
        }
    }

    /// The sum of the nodes; zero if there are none.
    pub fn sum(&mut self, terms: impl IntoIterator<Item = NodeId>) -> NodeId {
        terms.into_iter().fold(ZERO, |sum, term| self.add(sum, term))
    }

    /// Replaces inputs by values, for example parameters by their numbers, and folds what becomes constant.
    pub fn bind(&mut self, node: NodeId, values: &[(usize, f64)]) -> NodeId {
        self.bind_all(&[node], values)[0]
    }

    /// [`Graph::bind`] for several nodes, with the work on shared subexpressions done once.
    pub fn bind_all(&mut self, nodes: &[NodeId], values: &[(usize, f64)]) -> Vec<NodeId> {
        let replacements: Vec<_> = values.iter().map(|&(slot, value)| (slot, self.constant(value))).collect();
        self.substitute(nodes, &replacements)
    }

    /// Replaces inputs by expressions in several nodes, all at once; of repeated slots the last one counts.
    pub fn substitute(&mut self, nodes: &[NodeId], replacements: &[(usize, NodeId)]) -> Vec<NodeId> {
        let by_slot: HashMap<usize, NodeId> = replacements.iter().copied().collect();
        let mut image: HashMap<NodeId, NodeId> = HashMap::new();
        for id in self.topological(nodes) {
            let to = |child: NodeId| image[&child];
            let new = match self.node(id) {
                Node::Constant(_) => id,
                Node::Input(slot) => by_slot.get(&(slot as usize)).copied().unwrap_or(id),
                Node::Negate(a) => self.negate(to(a)),
                Node::Unary(unary, a) => self.unary(unary, to(a)),
                Node::IntegerPower(a, n) => self.integer_power(to(a), n),
                Node::Binary(binary, a, b) => self.binary(binary, to(a), to(b)),
                Node::Select(a, b, c) => self.select(to(a), to(b), to(c)),
            };
            image.insert(id, new);
        }
        nodes.iter().map(|node| image[node]).collect()
    }

    /// Any binary operation, simplified.
    pub(super) fn binary(&mut self, binary: Binary, a: NodeId, b: NodeId) -> NodeId {
        match binary {
            Binary::Add => self.add(a, b),
            Binary::Subtract => self.subtract(a, b),
            Binary::Multiply => self.multiply(a, b),
            Binary::Divide => self.divide(a, b),
            Binary::Power => self.power(a, b),
            Binary::Atan2 | Binary::LessEqual => self.fold_or_intern(binary, a, b),
            Binary::Minimum | Binary::Maximum if a == b => a,
            Binary::Minimum | Binary::Maximum => self.fold_or_intern(binary, a, b),
        }
    }
}

/// Number of the dependence bit that is shared by all slots from it on, parameters apart.
const SHARED_BIT: u32 = 62;

/// Number of the dependence bit that all parameters share.
const PARAMETER_BIT: u32 = 63;
