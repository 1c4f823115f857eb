//! Exact partial derivatives in the graph.
//!
//! Every derivative is built from the nodes of the function where possible (tan' = 1 + tan², (u/w)' = (u' − (u/w)
//! w')/w), is memoised per node and slot, and is simplified, so that gradients and Hessians share their subexpressions.
//! At the points where a function has no derivative one value is chosen:
//!
//! | function | where | derivative |
//! |---|---|---|
//! | `abs(u)` | u = 0 | 0 (sign 0) |
//! | `sign(u)`, `floor(u)` | everywhere | 0 |
//! | `min(a, b)`, `max(a, b)` | a = b | that of the first argument |
//! | `u^w`, with respect to w | u = 0 | 0 |
//! | `sqrt(u)`, `asin(u)`, ... | end of the domain | infinite or NaN, as evaluated |

use super::function::Unary;
use super::graph::{Binary, Graph, Node, NodeId, ZERO};

mod sweep;

impl Graph {
    /// The partial derivative of `node` with respect to the input `slot`.
    pub fn derivative(&mut self, node: NodeId, slot: usize) -> NodeId {
        let Ok(slot) = u32::try_from(slot) else { return ZERO };
        let mut stack = vec![node];
        while let Some(&id) = stack.last() {
            if self.known_derivative(id, slot).is_some() {
                stack.pop();
                continue;
            }
            let waiting = stack.len();
            for child in self.node(id).children() {
                if self.known_derivative(child, slot).is_none() {
                    stack.push(child);
                }
            }
            if stack.len() == waiting {
                let derivative = match self.node(id) {
                    Node::Input(input) => self.constant(f64::from(u8::from(input == slot))),
                    _ => {
                        let of = |child| self.known_derivative(child, slot).unwrap_or(ZERO);
                        let parts = self.operands(id).map(of);
                        self.differentiate(id, parts)
                    }
                };
                self.derivatives.insert((id, slot), derivative);
                stack.pop();
            }
        }
        self.known_derivative(node, slot).unwrap_or(ZERO)
    }

    /// The partial derivatives with respect to each of the slots.
    pub fn gradient(&mut self, node: NodeId, slots: impl IntoIterator<Item = usize>) -> Vec<NodeId> {
        slots.into_iter().map(|slot| self.derivative(node, slot)).collect()
    }

    /// The derivative along a direction, Σ ∂node/∂slot · direction.
    ///
    /// With the pairs (slot of q, velocity of q) it is the rate of a gap g(q); applied twice it is G_qq(v, v).
    pub fn directional(&mut self, node: NodeId, direction: &[(usize, NodeId)]) -> NodeId {
        let mut sum = ZERO;
        for &(slot, component) in direction {
            let partial = self.derivative(node, slot);
            let term = self.multiply(partial, component);
            sum = self.add(sum, term);
        }
        sum
    }

    fn known_derivative(&self, node: NodeId, slot: u32) -> Option<NodeId> {
        if self.may_depend(node, slot) { self.derivatives.get(&(node, slot)).copied() } else { Some(ZERO) }
    }

    /// The operands of a node, in order; places without one have zero.
    pub(super) fn operands(&self, id: NodeId) -> [NodeId; 3] {
        let mut operands = [ZERO; 3];
        operands.iter_mut().zip(self.node(id).children()).for_each(|(to, child)| *to = child);
        operands
    }

    /// Derivative of one operation, given those of its operands; it is linear in them. Inputs and numbers have none.
    pub(super) fn differentiate(&mut self, id: NodeId, [da, db, dc]: [NodeId; 3]) -> NodeId {
        match self.node(id) {
            Node::Constant(_) | Node::Input(_) => ZERO,
            Node::Negate(_) => self.negate(da),
            Node::Unary(unary, a) => self.chain(unary, id, a, da),
            Node::IntegerPower(a, n) => {
                let power = self.integer_power(a, n - 1);
                let factor = self.constant(f64::from(n));
                let product = self.multiply(power, da);
                self.multiply(factor, product)
            }
            Node::Binary(binary, a, b) => self.binary_rule(binary, id, (a, da), (b, db)),
            Node::Select(condition, ..) => self.select(condition, db, dc),
        }
    }

    /// f(u)' = f'(u) u'; `value` is the node f(u).
    fn chain(&mut self, unary: Unary, value: NodeId, u: NodeId, du: NodeId) -> NodeId {
        if du == ZERO {
            return ZERO;
        }
        let one = self.constant(1.0);
        match unary {
            Unary::Sin => {
                let cos = self.unary(Unary::Cos, u);
                self.multiply(cos, du)
            }
            Unary::Cos => {
                let sin = self.unary(Unary::Sin, u);
                let product = self.multiply(sin, du);
                self.negate(product)
            }
            Unary::Tan | Unary::Tanh => {
                let square = self.multiply(value, value);
                let slope = if unary == Unary::Tan { self.add(one, square) } else { self.subtract(one, square) };
                self.multiply(slope, du)
            }
            Unary::Asin | Unary::Acos => {
                // (1 − u)(1 + u) does not cancel near ±1 as 1 − u² does
                let (minus, plus) = (self.subtract(one, u), self.add(one, u));
                let product = self.multiply(minus, plus);
                let root = self.unary(Unary::Sqrt, product);
                let quotient = self.divide(du, root);
                if unary == Unary::Asin { quotient } else { self.negate(quotient) }
            }
            Unary::Atan => {
                let square = self.multiply(u, u);
                let denominator = self.add(one, square);
                self.divide(du, denominator)
            }
            Unary::Sinh | Unary::Cosh => {
                let slope = self.unary(if unary == Unary::Sinh { Unary::Cosh } else { Unary::Sinh }, u);
                self.multiply(slope, du)
            }
            Unary::Exp => self.multiply(value, du),
            Unary::Log => self.divide(du, u),
            Unary::Sqrt => {
                let double = self.add(value, value);
                self.divide(du, double)
            }
            Unary::Abs => {
                let sign = self.unary(Unary::Sign, u);
                self.multiply(sign, du)
            }
            Unary::Sign | Unary::Floor => ZERO,
        }
    }

    /// Derivative of a binary operation; `value` is its node.
    fn binary_rule(
        &mut self,
        binary: Binary,
        value: NodeId,
        (a, da): (NodeId, NodeId),
        (b, db): (NodeId, NodeId),
    ) -> NodeId {
        match binary {
            Binary::Add => self.add(da, db),
            Binary::Subtract => self.subtract(da, db),
            Binary::Multiply => {
                let (left, right) = (self.multiply(da, b), self.multiply(a, db));
                self.add(left, right)
            }
            Binary::Divide => {
                let change = self.multiply(value, db);
                let numerator = self.subtract(da, change);
                self.divide(numerator, b)
            }
            Binary::Power => self.power_rule(value, (a, da), (b, db)),
            Binary::Atan2 => {
                let (left, right) = (self.multiply(b, da), self.multiply(a, db));
                let numerator = self.subtract(left, right);
                let (aa, bb) = (self.multiply(a, a), self.multiply(b, b));
                let denominator = self.add(aa, bb);
                self.divide(numerator, denominator)
            }
            Binary::Minimum => {
                let first = self.binary(Binary::LessEqual, a, b);
                self.select(first, da, db)
            }
            Binary::Maximum => {
                let first = self.binary(Binary::LessEqual, b, a);
                self.select(first, da, db)
            }
            Binary::LessEqual => ZERO,
        }
    }

    /// (uʷ)' = w uʷ⁻¹ u' + uʷ log(u) w'; the logarithm appears only if the exponent depends on the slot.
    fn power_rule(&mut self, value: NodeId, (u, du): (NodeId, NodeId), (w, dw): (NodeId, NodeId)) -> NodeId {
        let one = self.constant(1.0);
        let mut sum = ZERO;
        if du != ZERO {
            let exponent = self.subtract(w, one);
            let power = self.power(u, exponent);
            let slope = self.multiply(w, power);
            sum = self.multiply(slope, du);
        }
        if dw != ZERO {
            let log = self.unary(Unary::Log, u);
            let product = self.multiply(value, log);
            // uʷ log(u) → 0 as u → 0 for w > 0; |u| ≤ 0 holds at zero only
            let magnitude = self.unary(Unary::Abs, u);
            let at_zero = self.binary(Binary::LessEqual, magnitude, ZERO);
            let slope = self.select(at_zero, ZERO, product);
            let term = self.multiply(slope, dw);
            sum = self.add(sum, term);
        }
        sum
    }
}
