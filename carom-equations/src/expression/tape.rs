//! The flat program of a set of expressions.
//!
//! Registers are laid out as [ inputs | constants | parameters | prologue | temporaries ], operands are plain indices,
//! and the operations write one register after the other. They are sorted by level and kind, so that runs of equal,
//! independent operations are plain loops. The prologue is what depends on parameters alone: it runs when
//! [`Tape::bind`] sets them. A product that is used once, in a sum, is one operation with the sum (both roundings are
//! kept); the sine and cosine of one angle are one operation with two results.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::function::Unary;
use super::graph::{Binary, Graph, Node, NodeId};

mod bounds;
mod differential;
mod run;

pub use bounds::Interval;

/// What an operation does with its operands a, b, c.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Code {
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    /// a·b + c
    MultiplyAdd,
    /// a·b − c
    MultiplySubtract,
    /// c − a·b
    SubtractProduct,
    Square,
    Cube,
    /// aⁿ; n stands in place of the register b.
    IntegerPower,
    /// Two results: the sine and, after it, the cosine.
    SinCos,
    Unary(Unary),
    Power,
    Atan2,
    Minimum,
    Maximum,
    LessEqual,
    /// b where a is not zero, else c
    Select,
}

/// Consecutive operations of the same kind.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    code: Code,
    count: u32,
}

/// The registers of the operands a, b, c; unused ones are zero.
type Operands = [u32; 3];

/// How many registers operands of one byte reach.
const NARROW: usize = 256;

/// Operations in the order in which they are done.
#[derive(Debug, Clone, Default)]
struct Part {
    runs: Vec<Run>,
    operands: Vec<Operands>,
    // the same in bytes, empty where a register or a power is beyond them: what they reach needs no check
    narrow: Vec<[u8; 3]>,
}

/// What all tapes of the same expressions share.
#[derive(Debug)]
struct Program {
    inputs: usize,
    constants: usize,
    // the parameters that are read, by their numbers
    parameters: Vec<usize>,
    prologue: Part,
    body: Part,
    registers: usize,
    outputs: Vec<u32>,
}

/// A compiled set of expressions with the values of its parameters. It is immutable, and cheap to clone; every thread
/// evaluates it with its own [`Registers`].
#[derive(Debug, Clone)]
pub struct Tape {
    identity: u64,
    program: Arc<Program>,
    // constants, parameters and the results of the prologue
    fixed: Vec<f64>,
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

thread_local! {
    static COMPILED: Cell<u64> = const { Cell::new(0) };
}

/// Number of tapes that this thread has compiled: a program that compiles more often than it must is found by it.
pub fn compiled() -> u64 {
    COMPILED.with(Cell::get)
}

impl Tape {
    /// Compiles the operations that the outputs need. Outputs may be constants, inputs, or repeated. Parameters are not
    /// numbers before [`Tape::bind`] sets them.
    pub fn compile(graph: &Graph, outputs: &[NodeId]) -> Tape {
        COMPILED.with(|count| count.set(count.get() + 1));
        let mut order = graph.topological(outputs);
        let mut compiler = Compiler::new(graph, &order, outputs);
        // operations of one level are independent; equal ones among them form a run
        order.sort_by_cached_key(|&id| (compiler.level[&id], compiler.code(id), id));
        let (once, each): (Vec<NodeId>, Vec<NodeId>) = order.iter().partition(|&&id| graph.is_fixed(id));
        once.into_iter().for_each(|id| compiler.emit(id));
        let prologue = std::mem::take(&mut compiler.part).packed(compiler.next);
        let end = compiler.next as usize;
        each.into_iter().for_each(|id| compiler.emit(id));
        let Compiler { inputs, constants, parameters, part, register, next, .. } = compiler;
        let mut fixed = constants;
        let count = fixed.len();
        fixed.resize(end - inputs, f64::NAN);
        let program = Program {
            inputs,
            constants: count,
            parameters,
            prologue,
            body: part.packed(next),
            registers: next as usize,
            outputs: outputs.iter().map(|id| register[id]).collect(),
        };
        Tape { identity: NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed), program: Arc::new(program), fixed }
    }

    /// The same expressions with these parameters: what depends on them alone is computed here, once.
    ///
    /// # Panics
    /// Panics if there are fewer values than parameters that are read.
    #[must_use]
    pub fn bind(&self, parameters: &[f64]) -> Tape {
        let program = &*self.program;
        if program.parameters.is_empty() {
            return self.clone();
        }
        let mut registers = vec![0.0; program.inputs + self.fixed.len()];
        let fixed = &mut registers[program.inputs..];
        fixed[..program.constants].copy_from_slice(&self.fixed[..program.constants]);
        for (to, &which) in fixed[program.constants..].iter_mut().zip(&program.parameters) {
            *to = parameters[which];
        }
        program.prologue.run(&mut registers, program.inputs + program.constants + program.parameters.len());
        registers.drain(..program.inputs);
        Tape {
            identity: NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed),
            program: self.program.clone(),
            fixed: registers,
        }
    }

    /// Number of operations of an evaluation, those of the prologue apart.
    pub fn len(&self) -> usize {
        self.program.body.operands.len()
    }

    /// Whether an evaluation only copies inputs and what does not vary.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether no output depends on an input; parameters do not count.
    pub fn is_constant(&self) -> bool {
        self.program.inputs == 0
    }

    /// How many inputs are read: one more than the highest slot that appears, parameters apart.
    pub fn inputs(&self) -> usize {
        self.program.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.program.outputs.len()
    }

    /// The outputs of a tape that reads no inputs.
    ///
    /// # Panics
    /// Panics if it reads some.
    pub fn constants(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.outputs()];
        self.eval(&[], &mut self.registers(), &mut out);
        out
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
        assert_eq!(out.len(), self.outputs(), "one place per output");
        let count = self.program.inputs;
        if count > 0 {
            registers.values[..count].copy_from_slice(&inputs[..count]);
        }
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
        let mut rest = &mut registers.values[..self.program.inputs];
        for part in parts {
            let (head, tail) = rest.split_at_mut(part.len().min(rest.len()));
            head.copy_from_slice(&part[..head.len()]);
            rest = tail;
        }
        assert_eq!(out.len(), self.outputs(), "one place per output");
        assert!(rest.is_empty(), "{} inputs are missing", rest.len());
        self.run(&mut registers.values, out);
    }

    /// [`Tape::eval`] for inputs that are time, positions and velocities, in this order: the hot path of models.
    ///
    /// # Panics
    /// As [`Tape::eval_parts`].
    #[inline]
    pub fn eval_state(&self, (t, q, v): (f64, &[f64], &[f64]), registers: &mut Registers, out: &mut [f64]) {
        if registers.identity != self.identity {
            self.adopt(registers);
        }
        // inputs at the end that no output needs have no place
        if let Some((first, rest)) = registers.values[..self.program.inputs].split_first_mut() {
            *first = t;
            let n = q.len();
            assert!(n + v.len() >= rest.len(), "{} inputs are missing", rest.len() - n - v.len());
            // one loop: calls to copy one or two numbers cost more than they do
            for (j, to) in rest.iter_mut().enumerate() {
                *to = if j < n { q[j] } else { v[j - n] };
            }
        }
        self.run(&mut registers.values, out);
    }

    #[cold]
    fn adopt(&self, registers: &mut Registers) {
        registers.identity = self.identity;
        registers.values.clear();
        registers.values.resize(self.program.registers.max(NARROW), 0.0);
        registers.values[self.program.inputs..][..self.fixed.len()].copy_from_slice(&self.fixed);
    }

    #[inline]
    fn run(&self, r: &mut [f64], out: &mut [f64]) {
        if !self.is_empty() {
            self.program.body.run(r, self.program.inputs + self.fixed.len());
        }
        for (value, &register) in out.iter_mut().zip(&self.program.outputs) {
            *value = r[register as usize];
        }
    }
}

/// The tape under construction.
struct Compiler<'a> {
    graph: &'a Graph,
    inputs: usize,
    constants: Vec<f64>,
    parameters: Vec<usize>,
    part: Part,
    register: HashMap<NodeId, u32>,
    // products that are part of a sum's operation
    absorbed: HashSet<NodeId>,
    // sine and cosine of the same node, by node
    angles: HashMap<NodeId, [Option<NodeId>; 2]>,
    // length of the longest chain of operations below a node
    level: HashMap<NodeId, u32>,
    next: u32,
}

impl<'a> Compiler<'a> {
    fn new(graph: &'a Graph, order: &[NodeId], outputs: &[NodeId]) -> Self {
        let mut compiler = Self {
            graph,
            inputs: 0,
            constants: Vec::new(),
            parameters: Vec::new(),
            part: Part::default(),
            register: HashMap::new(),
            absorbed: HashSet::new(),
            angles: HashMap::new(),
            level: HashMap::new(),
            next: 0,
        };
        compiler.place_leaves(order);
        compiler.absorb_products(order, outputs);
        for &id in order {
            // what the prologue has done is there when the first level starts
            let level = |child| if graph.is_fixed(child) && !graph.is_fixed(id) { 0 } else { compiler.level[&child] };
            let below = graph.node(id).children().map(level).max();
            let own = u32::from(!compiler.absorbed.contains(&id));
            compiler.level.insert(id, below.map_or(0, |below| below + own));
            match graph.node(id) {
                Node::Unary(Unary::Sin, a) => compiler.angles.entry(a).or_default()[0] = Some(id),
                Node::Unary(Unary::Cos, a) => compiler.angles.entry(a).or_default()[1] = Some(id),
                _ => {}
            }
        }
        compiler
    }

    /// Gives the inputs, constants and parameters their registers.
    fn place_leaves(&mut self, order: &[NodeId]) {
        let first = self.graph.parameters;
        for &id in order {
            if let Node::Input(slot) = self.graph.node(id)
                && slot < first
            {
                self.inputs = self.inputs.max(slot as usize + 1);
                self.register.insert(id, slot);
            }
        }
        self.next = u32::try_from(self.inputs).expect("slots are below 2^32");
        for &id in order {
            if let Node::Constant(bits) = self.graph.node(id) {
                self.constants.push(f64::from_bits(bits));
                self.register.insert(id, self.next);
                self.next += 1;
            }
        }
        for &id in order {
            if let Node::Input(slot) = self.graph.node(id)
                && slot >= first
            {
                self.parameters.push((slot - first) as usize);
                self.register.insert(id, self.next);
                self.next += 1;
            }
        }
    }

    /// Finds the products that are used by one sum only.
    fn absorb_products(&mut self, order: &[NodeId], outputs: &[NodeId]) {
        let mut uses: HashMap<NodeId, usize> = HashMap::new();
        let children = order.iter().flat_map(|&id| self.graph.node(id).children());
        // an output is one more use
        for used in children.chain(outputs.iter().copied()) {
            *uses.entry(used).or_default() += 1;
        }
        for &id in order {
            if let Node::Binary(Binary::Add | Binary::Subtract, a, b) = self.graph.node(id) {
                // a product of the prologue stays there
                let here = |child| self.graph.is_fixed(child) == self.graph.is_fixed(id);
                let alone = |child: &NodeId| self.factors(*child).is_some() && uses[child] == 1 && here(*child);
                let product = [b, a].into_iter().find(alone);
                self.absorbed.extend(product);
            }
        }
    }

    /// The factors of a product or square.
    fn factors(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        match self.graph.node(id) {
            Node::Binary(Binary::Multiply, a, b) => Some((a, b)),
            Node::IntegerPower(a, 2) => Some((a, a)),
            _ => None,
        }
    }

    /// The factors of a product that was absorbed by its sum.
    fn absorbed_factors(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        self.factors(id).filter(|_| self.absorbed.contains(&id))
    }

    /// What the tape does for a node; leaves have no code.
    fn code(&self, id: NodeId) -> Option<Code> {
        let code = match self.graph.node(id) {
            Node::Constant(_) | Node::Input(_) => return None,
            Node::Negate(_) => Code::Negate,
            Node::IntegerPower(_, 2) => Code::Square,
            Node::IntegerPower(_, 3) => Code::Cube,
            Node::IntegerPower(..) => Code::IntegerPower,
            Node::Unary(unary @ (Unary::Sin | Unary::Cos), a) => match self.angles[&a] {
                [Some(_), Some(_)] => Code::SinCos,
                _ => Code::Unary(unary),
            },
            Node::Unary(unary, _) => Code::Unary(unary),
            Node::Binary(binary, a, b) => {
                let (left, right) = (self.absorbed_factors(a).is_some(), self.absorbed_factors(b).is_some());
                match binary {
                    Binary::Add if left || right => Code::MultiplyAdd,
                    Binary::Add => Code::Add,
                    Binary::Subtract if right => Code::SubtractProduct,
                    Binary::Subtract if left => Code::MultiplySubtract,
                    Binary::Subtract => Code::Subtract,
                    Binary::Multiply => Code::Multiply,
                    Binary::Divide => Code::Divide,
                    Binary::Power => Code::Power,
                    Binary::Atan2 => Code::Atan2,
                    Binary::Minimum => Code::Minimum,
                    Binary::Maximum => Code::Maximum,
                    Binary::LessEqual => Code::LessEqual,
                }
            }
            Node::Select(..) => Code::Select,
        };
        Some(code)
    }

    fn operands(&self, id: NodeId) -> Operands {
        let at = |child: NodeId| self.register[&child];
        match self.graph.node(id) {
            Node::Constant(_) | Node::Input(_) => [0; 3],
            Node::Negate(a) | Node::Unary(_, a) => [at(a), 0, 0],
            Node::IntegerPower(a, n) => [at(a), n, 0],
            Node::Binary(Binary::Add | Binary::Subtract, a, b) => {
                match (self.absorbed_factors(a), self.absorbed_factors(b)) {
                    (_, Some((x, y))) => [at(x), at(y), at(a)],
                    (Some((x, y)), None) => [at(x), at(y), at(b)],
                    _ => [at(a), at(b), 0],
                }
            }
            Node::Binary(_, a, b) => [at(a), at(b), 0],
            Node::Select(a, b, c) => [at(a), at(b), at(c)],
        }
    }

    /// Appends the operation of a node whose operands are in their registers.
    fn emit(&mut self, id: NodeId) {
        let Some(code) = self.code(id) else { return };
        if self.register.contains_key(&id) || self.absorbed.contains(&id) {
            return;
        }
        let operands = self.operands(id);
        self.part.operands.push(operands);
        match self.part.runs.last_mut() {
            Some(run) if run.code == code => run.count += 1,
            _ => self.part.runs.push(Run { code, count: 1 }),
        }
        let angle = match self.graph.node(id) {
            Node::Unary(_, a) if code == Code::SinCos => self.angles[&a],
            _ => [Some(id), None],
        };
        for result in angle.into_iter().flatten() {
            self.register.insert(result, self.next);
            self.next += 1;
        }
    }
}

impl fmt::Display for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = &*self.program;
        for (k, value) in self.fixed.iter().take(program.constants).enumerate() {
            writeln!(f, "r{} = {value:?}", program.inputs + k)?;
        }
        let mut next = program.inputs + program.constants;
        for which in &program.parameters {
            writeln!(f, "r{next} = p{which}")?;
            next += 1;
        }
        let codes = [&program.prologue, &program.body].into_iter().flat_map(|part| {
            let codes = part.runs.iter().flat_map(|run| std::iter::repeat_n(run.code, run.count as usize));
            codes.zip(&part.operands)
        });
        for (code, [a, b, c]) in codes {
            let operands = match code {
                Code::Negate | Code::Square | Code::Cube | Code::SinCos | Code::Unary(_) => format!("r{a}"),
                Code::IntegerPower => format!("r{a}, {b}"),
                Code::MultiplyAdd | Code::MultiplySubtract | Code::SubtractProduct | Code::Select => {
                    format!("r{a}, r{b}, r{c}")
                }
                _ => format!("r{a}, r{b}"),
            };
            if code == Code::SinCos {
                write!(f, "r{next}, ")?;
                next += 1;
            }
            writeln!(f, "r{next} = {code:?}({operands})")?;
            next += 1;
        }
        let outputs: Vec<String> = program.outputs.iter().map(|register| format!("r{register}")).collect();
        writeln!(f, "out = [{}]", outputs.join(", "))
    }
}
