//! The flat program of a set of expressions.
//!
//! Registers are laid out as [ inputs | constants | temporaries ], operands are plain indices, and the k-th operation
//! writes the k-th temporary. A product that is used once, in a sum, is one operation with the sum (both roundings are
//! kept); the sine and cosine of one angle are one operation with two results.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::function::{Unary, integer_power, maximum, minimum};
use super::graph::{Binary, Graph, Node, NodeId};

/// One operation; the operands are registers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Operation {
    Negate(u32),
    Add(u32, u32),
    Subtract(u32, u32),
    Multiply(u32, u32),
    Divide(u32, u32),
    /// a·b + c
    MultiplyAdd(u32, u32, u32),
    /// a·b − c
    MultiplySubtract(u32, u32, u32),
    /// c − a·b
    SubtractProduct(u32, u32, u32),
    Square(u32),
    Cube(u32),
    IntegerPower(u32, u32),
    /// Two results: the sine and, after it, the cosine.
    SinCos(u32),
    Unary(Unary, u32),
    Power(u32, u32),
    Atan2(u32, u32),
    Minimum(u32, u32),
    Maximum(u32, u32),
    LessEqual(u32, u32),
    Select(u32, u32, u32),
}

/// A compiled set of expressions. It is immutable; every thread evaluates it with its own [`Registers`].
#[derive(Debug, Clone)]
pub struct Tape {
    identity: u64,
    inputs: usize,
    constants: Vec<f64>,
    operations: Vec<Operation>,
    registers: usize,
    outputs: Vec<u32>,
}

/// The working memory of an evaluation.
///
/// It may be shared between tapes, but it is filled anew whenever the tape changes; keep one per tape for speed.
#[derive(Debug, Clone, Default)]
pub struct Registers {
    // the tape whose constants are in place; 0 is no tape
    identity: u64,
    values: Vec<f64>,
}

static NEXT_IDENTITY: AtomicU64 = AtomicU64::new(1);

impl Tape {
    /// Compiles the operations that the outputs need. Outputs may be constants, inputs, or repeated.
    pub fn compile(graph: &Graph, outputs: &[NodeId]) -> Tape {
        let order = graph.topological(outputs);
        let mut compiler = Compiler::new(graph, &order, outputs);
        for &id in &order {
            compiler.emit(id);
        }
        let Compiler { inputs, constants, operations, register, next, .. } = compiler;
        Tape {
            identity: NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed),
            inputs,
            constants,
            operations,
            registers: next as usize,
            outputs: outputs.iter().map(|id| register[id]).collect(),
        }
    }

    /// Number of operations of an evaluation.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether an evaluation only copies inputs and constants.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Whether no output depends on an input.
    pub fn is_constant(&self) -> bool {
        self.inputs == 0
    }

    /// How many inputs are read: one more than the highest slot that appears.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// New registers with the constants in place.
    pub fn registers(&self) -> Registers {
        let mut registers = Registers::default();
        self.adopt(&mut registers);
        registers
    }

    /// Evaluates all outputs. It does not allocate if the registers were made by this tape.
    ///
    /// # Panics
    /// Panics if there are fewer inputs than [`Tape::inputs`], or if `out` does not have one place per output.
    #[inline]
    pub fn eval(&self, inputs: &[f64], registers: &mut Registers, out: &mut [f64]) {
        if registers.identity != self.identity {
            self.adopt(registers);
        }
        registers.values[..self.inputs].copy_from_slice(&inputs[..self.inputs]);
        self.run(&mut registers.values, out);
    }

    /// [`Tape::eval`] with the inputs in consecutive parts, for example time, positions and velocities.
    ///
    /// # Panics
    /// Panics if the parts together are fewer than [`Tape::inputs`], or if `out` does not have one place per output.
    #[inline]
    pub fn eval_parts(&self, parts: &[&[f64]], registers: &mut Registers, out: &mut [f64]) {
        if registers.identity != self.identity {
            self.adopt(registers);
        }
        let mut rest = &mut registers.values[..self.inputs];
        for part in parts {
            let (head, tail) = rest.split_at_mut(part.len().min(rest.len()));
            head.copy_from_slice(&part[..head.len()]);
            rest = tail;
        }
        assert!(rest.is_empty(), "{} inputs are missing", rest.len());
        self.run(&mut registers.values, out);
    }

    #[cold]
    fn adopt(&self, registers: &mut Registers) {
        registers.identity = self.identity;
        registers.values.clear();
        registers.values.resize(self.registers, 0.0);
        registers.values[self.inputs..][..self.constants.len()].copy_from_slice(&self.constants);
    }

    fn run(&self, r: &mut [f64], out: &mut [f64]) {
        assert_eq!(out.len(), self.outputs.len(), "one place per output");
        let mut next = self.inputs + self.constants.len();
        for operation in &self.operations {
            let at = |register: u32| r[register as usize];
            let value = match *operation {
                Operation::Negate(a) => -at(a),
                Operation::Add(a, b) => at(a) + at(b),
                Operation::Subtract(a, b) => at(a) - at(b),
                Operation::Multiply(a, b) => at(a) * at(b),
                Operation::Divide(a, b) => at(a) / at(b),
                Operation::MultiplyAdd(a, b, c) => at(a) * at(b) + at(c),
                Operation::MultiplySubtract(a, b, c) => at(a) * at(b) - at(c),
                Operation::SubtractProduct(a, b, c) => at(c) - at(a) * at(b),
                Operation::Square(a) => at(a) * at(a),
                Operation::Cube(a) => integer_power(at(a), 3),
                Operation::IntegerPower(a, n) => integer_power(at(a), n),
                Operation::SinCos(a) => {
                    let (sin, cos) = at(a).sin_cos();
                    r[next] = sin;
                    next += 1;
                    cos
                }
                Operation::Unary(unary, a) => unary.apply(at(a)),
                Operation::Power(a, b) => at(a).powf(at(b)),
                Operation::Atan2(a, b) => at(a).atan2(at(b)),
                Operation::Minimum(a, b) => minimum(at(a), at(b)),
                Operation::Maximum(a, b) => maximum(at(a), at(b)),
                Operation::LessEqual(a, b) => f64::from(u8::from(at(a) <= at(b))),
                Operation::Select(a, b, c) => at(if at(a) != 0.0 { b } else { c }),
            };
            r[next] = value;
            next += 1;
        }
        for (value, &register) in out.iter_mut().zip(&self.outputs) {
            *value = r[register as usize];
        }
    }
}

/// The tape under construction.
struct Compiler<'a> {
    graph: &'a Graph,
    inputs: usize,
    constants: Vec<f64>,
    operations: Vec<Operation>,
    register: HashMap<NodeId, u32>,
    // products that are part of a sum's operation
    absorbed: HashSet<NodeId>,
    // sine and cosine of the same node, by node
    paired: HashMap<NodeId, [Option<NodeId>; 2]>,
    next: u32,
}

impl<'a> Compiler<'a> {
    fn new(graph: &'a Graph, order: &[NodeId], outputs: &[NodeId]) -> Self {
        let mut compiler = Self {
            graph,
            inputs: 0,
            constants: Vec::new(),
            operations: Vec::new(),
            register: HashMap::new(),
            absorbed: HashSet::new(),
            paired: HashMap::new(),
            next: 0,
        };
        let mut uses: HashMap<NodeId, usize> = HashMap::new();
        for &id in order {
            match graph.node(id) {
                Node::Input(slot) => compiler.inputs = compiler.inputs.max(slot as usize + 1),
                Node::Constant(bits) => compiler.constants.push(f64::from_bits(bits)),
                Node::Unary(Unary::Sin, a) => compiler.paired.entry(a).or_default()[0] = Some(id),
                Node::Unary(Unary::Cos, a) => compiler.paired.entry(a).or_default()[1] = Some(id),
                _ => {}
            }
            for child in graph.node(id).children() {
                *uses.entry(child).or_default() += 1;
            }
        }
        // an output is one more use
        for &output in outputs {
            *uses.entry(output).or_default() += 1;
        }
        compiler.place_leaves(order);
        for &id in order {
            if let Node::Binary(Binary::Add | Binary::Subtract, a, b) = graph.node(id) {
                let product = [b, a].into_iter().find(|&c| compiler.factors(c).is_some() && uses.get(&c) == Some(&1));
                compiler.absorbed.extend(product);
            }
        }
        compiler
    }

    /// Gives the inputs and constants their registers.
    fn place_leaves(&mut self, order: &[NodeId]) {
        let mut constant = self.inputs;
        for &id in order {
            match self.graph.node(id) {
                Node::Input(slot) => {
                    self.register.insert(id, slot);
                }
                Node::Constant(_) => {
                    self.register.insert(id, index(constant));
                    constant += 1;
                }
                _ => {}
            }
        }
        self.next = index(constant);
    }

    /// The factors of a product or square.
    fn factors(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        match self.graph.node(id) {
            Node::Binary(Binary::Multiply, a, b) => Some((a, b)),
            Node::IntegerPower(a, 2) => Some((a, a)),
            _ => None,
        }
    }

    fn push(&mut self, id: NodeId, operation: Operation) {
        self.operations.push(operation);
        self.register.insert(id, self.next);
        self.next += 1;
    }

    /// Appends the operation of a node whose operands are in their registers.
    fn emit(&mut self, id: NodeId) {
        if self.register.contains_key(&id) || self.absorbed.contains(&id) {
            return;
        }
        let operation = match self.graph.node(id) {
            // leaves have their registers already
            Node::Constant(_) | Node::Input(_) => return,
            Node::Negate(a) => Operation::Negate(self.register[&a]),
            Node::IntegerPower(a, 2) => Operation::Square(self.register[&a]),
            Node::IntegerPower(a, 3) => Operation::Cube(self.register[&a]),
            Node::IntegerPower(a, n) => Operation::IntegerPower(self.register[&a], n),
            Node::Unary(unary, a) => match self.paired.get(&a) {
                Some(&[Some(sin), Some(cos)]) if matches!(unary, Unary::Sin | Unary::Cos) => {
                    self.register.insert(sin, self.next);
                    self.next += 1;
                    return self.push(cos, Operation::SinCos(self.register[&a]));
                }
                _ => Operation::Unary(unary, self.register[&a]),
            },
            Node::Binary(binary @ (Binary::Add | Binary::Subtract), a, b) => self.sum(binary, a, b),
            Node::Binary(binary, a, b) => self.binary(binary, self.register[&a], self.register[&b]),
            Node::Select(a, b, c) => Operation::Select(self.register[&a], self.register[&b], self.register[&c]),
        };
        self.push(id, operation);
    }

    fn sum(&self, binary: Binary, a: NodeId, b: NodeId) -> Operation {
        let absorbed = |id: NodeId| {
            let factors = self.factors(id).filter(|_| self.absorbed.contains(&id));
            factors.map(|(x, y)| (self.register[&x], self.register[&y]))
        };
        match (binary, absorbed(a), absorbed(b)) {
            (Binary::Add, _, Some((x, y))) => Operation::MultiplyAdd(x, y, self.register[&a]),
            (Binary::Add, Some((x, y)), None) => Operation::MultiplyAdd(x, y, self.register[&b]),
            (_, _, Some((x, y))) => Operation::SubtractProduct(x, y, self.register[&a]),
            (_, Some((x, y)), None) => Operation::MultiplySubtract(x, y, self.register[&b]),
            _ => self.binary(binary, self.register[&a], self.register[&b]),
        }
    }

    fn binary(&self, binary: Binary, a: u32, b: u32) -> Operation {
        match binary {
            Binary::Add => Operation::Add(a, b),
            Binary::Subtract => Operation::Subtract(a, b),
            Binary::Multiply => Operation::Multiply(a, b),
            Binary::Divide => Operation::Divide(a, b),
            Binary::Power => Operation::Power(a, b),
            Binary::Atan2 => Operation::Atan2(a, b),
            Binary::Minimum => Operation::Minimum(a, b),
            Binary::Maximum => Operation::Maximum(a, b),
            Binary::LessEqual => Operation::LessEqual(a, b),
        }
    }
}

fn index(register: usize) -> u32 {
    u32::try_from(register).expect("memory ends before 2^32 registers")
}

impl fmt::Display for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, value) in self.constants.iter().enumerate() {
            writeln!(f, "r{} = {value:?}", self.inputs + k)?;
        }
        let mut next = self.inputs + self.constants.len();
        for operation in &self.operations {
            if let Operation::SinCos(a) = operation {
                writeln!(f, "r{next}, r{} = SinCos(r{a})", next + 1)?;
                next += 2;
            } else {
                writeln!(f, "r{next} = {operation:?}")?;
                next += 1;
            }
        }
        let outputs: Vec<String> = self.outputs.iter().map(|register| format!("r{register}")).collect();
        writeln!(f, "out = [{}]", outputs.join(", "))
    }
}
