//! The constructors of graph nodes, with constant folding and safe simplification.
//!
//! The rules keep the value up to rounding wherever the original has a finite value; `0*x` is 0 even where x is not
//! finite. Normal form: numeric factors come first and are collected, signs are pulled outwards, sums do not contain
//! negative factors, commutative operands are ordered by id with constants first, like terms of neighbouring sums and
//! powers of neighbouring products are merged. Parameters are collected like numbers: a product has one coefficient
//! that does not vary, which a tape computes once. Quotients `x/x` and negative powers are never cancelled: their pole
//! is kept.

use super::function::{Unary, integer_power, maximum, minimum};
use super::graph::{Binary, Graph, Node, NodeId, ZERO};
use carom::elementary::{atan2, powf};

/// Largest exponent that is evaluated by multiplication; above it `powf` is more exact.
const LARGEST_POWER: u32 = 32;

impl Binary {
    /// Evaluates the operation as the tape does.
    pub(super) fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Power => powf(a, b),
            Binary::Atan2 => atan2(a, b),
            Binary::Minimum => minimum(a, b),
            Binary::Maximum => maximum(a, b),
            Binary::LessEqual => f64::from(u8::from(a <= b)),
        }
    }
}

/// Whether a product of numeric factors may replace the factors: it must not have over- or underflowed.
fn is_safe(factor: f64) -> bool {
    factor.is_normal()
}

impl Graph {
    pub(super) fn fold_or_intern(&mut self, binary: Binary, a: NodeId, b: NodeId) -> NodeId {
        match (self.is_constant(a), self.is_constant(b)) {
            (Some(x), Some(y)) => self.constant(binary.apply(x, y)),
            _ => self.intern(Node::Binary(binary, a, b)),
        }
    }

    /// Interns a sum or product, constants first, then what does not vary, and then by id.
    fn intern_commutative(&mut self, binary: Binary, a: NodeId, b: NodeId) -> NodeId {
        let key = |id: NodeId| (self.is_constant(id).is_none(), !self.is_fixed(id), id);
        let (first, second) = if key(a) <= key(b) { (a, b) } else { (b, a) };
        self.intern(Node::Binary(binary, first, second))
    }

    fn is_value(&self, node: NodeId, value: f64) -> bool {
        self.is_constant(node) == Some(value)
    }

    /// Splits a node into its numeric factor and the rest. A constant has the factor 1.
    fn factor(&self, node: NodeId) -> (f64, NodeId) {
        match self.node(node) {
            Node::Negate(a) => (-1.0, a),
            Node::Binary(Binary::Multiply, c, a) => self.is_constant(c).map_or((1.0, node), |c| (c, a)),
            _ => (1.0, node),
        }
    }

    /// Splits a product that varies into its coefficient of parameters, if it has one, and the rest.
    fn coefficient(&self, node: NodeId) -> (Option<NodeId>, NodeId) {
        match self.node(node) {
            Node::Binary(Binary::Multiply, k, x)
                if self.is_constant(k).is_none() && self.is_fixed(k) && !self.is_fixed(x) =>
            {
                (Some(k), x)
            }
            _ => (None, node),
        }
    }

    /// k·x for a coefficient k of parameters, which takes up all that does not vary in x.
    fn multiply_coefficient(&mut self, k: NodeId, x: NodeId) -> NodeId {
        if self.is_fixed(x) || self.is_constant(k).is_some() {
            return self.multiply(k, x);
        }
        let (c, rest) = self.factor(k);
        if c < 0.0 {
            let k = self.scale(-c, rest);
            let product = self.multiply_coefficient(k, x);
            return self.negate(product);
        }
        match self.node(x) {
            Node::Negate(y) => {
                let product = self.multiply_coefficient(k, y);
                self.negate(product)
            }
            Node::Binary(Binary::Multiply, j, y) if self.is_fixed(j) => {
                let k = self.multiply(k, j);
                self.multiply_coefficient(k, y)
            }
            Node::Binary(Binary::Divide, j, y) if self.is_fixed(j) => {
                let numerator = self.multiply(k, j);
                self.intern(Node::Binary(Binary::Divide, numerator, y))
            }
            Node::Binary(Binary::Divide, y, j) if self.is_fixed(j) => {
                let k = self.divide(k, j);
                self.multiply_coefficient(k, y)
            }
            _ => self.intern(Node::Binary(Binary::Multiply, k, x)),
        }
    }

    /// c·x for a node without numeric factor.
    fn scale(&mut self, c: f64, x: NodeId) -> NodeId {
        if let Some(value) = self.is_constant(x) {
            return self.constant(c * value);
        }
        if c == 1.0 {
            return x;
        }
        if c == 0.0 {
            return ZERO;
        }
        if let (Some(k), y) = self.coefficient(x)
            && c != -1.0
        {
            let k = self.multiply_constant(c.abs(), k);
            let product = self.intern(Node::Binary(Binary::Multiply, k, y));
            return if c < 0.0 { self.intern(Node::Negate(product)) } else { product };
        }
        if let Node::Binary(Binary::Divide, a, b) = self.node(x) {
            // c·(k/b) and c·(a/k) keep a single number
            if let Some(k) = self.is_constant(a).filter(|k| is_safe(c * k)) {
                let numerator = self.constant(c * k);
                return self.intern(Node::Binary(Binary::Divide, numerator, b));
            }
            if let Some(k) = self.is_constant(b).filter(|k| c != -1.0 && is_safe(c / k)) {
                return self.scale(c / k, a);
            }
            // so do parameters
            let numbers = self.is_constant(a).or(self.is_constant(b)).is_some();
            if c != -1.0 && !numbers && self.is_fixed(a) != self.is_fixed(b) {
                let top = self.constant(c.abs());
                let scaled = if self.is_fixed(a) {
                    let numerator = self.multiply(top, a);
                    self.intern(Node::Binary(Binary::Divide, numerator, b))
                } else {
                    let k = self.divide(top, b);
                    self.multiply_coefficient(k, a)
                };
                return if c < 0.0 { self.negate(scaled) } else { scaled };
            }
        }
        if c == -1.0 {
            return self.intern(Node::Negate(x));
        }
        let factor = self.constant(c);
        self.intern(Node::Binary(Binary::Multiply, factor, x))
    }

    /// −a.
    pub fn negate(&mut self, a: NodeId) -> NodeId {
        match self.node(a) {
            Node::Binary(Binary::Subtract, x, y) => self.subtract(y, x),
            Node::Binary(Binary::Add, x, y) if self.is_constant(x).is_some() => {
                let x = self.negate(x);
                self.subtract(x, y)
            }
            _ => {
                let (c, x) = self.factor(a);
                self.scale(-c, x)
            }
        }
    }

    /// a + b.
    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if self.is_value(a, 0.0) {
            return b;
        }
        if self.is_value(b, 0.0) {
            return a;
        }
        if let Some(sum) = self.merge_terms((1.0, a), (1.0, b)) {
            return sum;
        }
        let ((ca, xa), (cb, xb)) = (self.factor(a), self.factor(b));
        if cb < 0.0 {
            let b = self.scale(-cb, xb);
            return self.subtract(a, b);
        }
        if ca < 0.0 {
            let a = self.scale(-ca, xa);
            return self.subtract(b, a);
        }
        self.intern_commutative(Binary::Add, a, b)
    }

    /// a − b.
    pub fn subtract(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if let Some(value) = self.is_constant(b) {
            let b = self.constant(-value);
            return self.add(a, b);
        }
        if self.is_value(a, 0.0) {
            return self.negate(b);
        }
        if let Some(sum) = self.merge_terms((1.0, a), (-1.0, b)) {
            return sum;
        }
        let ((ca, xa), (cb, xb)) = (self.factor(a), self.factor(b));
        if cb < 0.0 {
            let b = self.scale(-cb, xb);
            return self.add(a, b);
        }
        if ca < 0.0 {
            let a = self.scale(-ca, xa);
            let sum = self.add(a, b);
            return self.negate(sum);
        }
        self.intern(Node::Binary(Binary::Subtract, a, b))
    }

    /// The one or two signed terms of a node.
    fn terms(&self, node: NodeId) -> ((f64, NodeId), Option<(f64, NodeId)>) {
        match self.node(node) {
            Node::Binary(Binary::Add, p, q) => ((1.0, p), Some((1.0, q))),
            Node::Binary(Binary::Subtract, p, q) => ((1.0, p), Some((-1.0, q))),
            _ => ((1.0, node), None),
        }
    }

    /// The sum of two like terms: constants, or numeric multiples of the same node.
    fn add_like(&mut self, (s, a): (f64, NodeId), (r, b): (f64, NodeId)) -> Option<NodeId> {
        if let (Some(x), Some(y)) = (self.is_constant(a), self.is_constant(b)) {
            return Some(self.constant(s * x + r * y));
        }
        let ((ca, xa), (cb, xb)) = (self.factor(a), self.factor(b));
        if xa == xb && self.is_constant(xa).is_none() {
            return Some(self.scale(s * ca + r * cb, xa));
        }
        // multiples of the same node by parameters
        let ((ka, ya), (kb, yb)) = (self.coefficient(xa), self.coefficient(xb));
        if ya != yb || (ka.is_none() && kb.is_none()) {
            return None;
        }
        let one = self.constant(1.0);
        let left = self.multiply_constant(s * ca, ka.unwrap_or(one));
        let right = self.multiply_constant(r * cb, kb.unwrap_or(one));
        let sum = self.add(left, right);
        Some(self.multiply(sum, ya))
    }

    /// The sum of two terms that do not vary, beside one that does.
    fn add_fixed(&mut self, (s, a): (f64, NodeId), (r, b): (f64, NodeId), rest: NodeId) -> Option<NodeId> {
        if self.is_fixed(rest) || !self.is_fixed(a) || !self.is_fixed(b) {
            return None;
        }
        let (a, b) = (self.multiply_constant(s, a), self.multiply_constant(r, b));
        Some(self.add(a, b))
    }

    /// Merges like terms if either node is one term and the other one or two; each merge removes a term.
    fn merge_terms(&mut self, a: (f64, NodeId), b: (f64, NodeId)) -> Option<NodeId> {
        if let Some(sum) = self.add_like(a, b) {
            return Some(sum);
        }
        for ((sign, sum), single) in [(a, b), (b, a)] {
            let ((s, p), Some((r, q))) = self.terms(sum) else { continue };
            for (like, rest) in [((sign * s, p), (sign * r, q)), ((sign * r, q), (sign * s, p))] {
                let merged = self.add_like(like, single).or_else(|| self.add_fixed(like, single, rest.1));
                if let Some(merged) = merged {
                    let (r, rest) = rest;
                    return Some(if r < 0.0 { self.subtract(merged, rest) } else { self.add(merged, rest) });
                }
            }
        }
        None
    }

    /// a·b.
    pub fn multiply(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.is_constant(a), self.is_constant(b)) {
            (Some(x), Some(y)) => return self.constant(x * y),
            (Some(c), None) => return self.multiply_constant(c, b),
            (None, Some(c)) => return self.multiply_constant(c, a),
            (None, None) => {}
        }
        let ((ca, xa), (cb, xb)) = (self.factor(a), self.factor(b));
        if (xa, xb) != (a, b) && is_safe(ca * cb) {
            let product = self.multiply(xa, xb);
            return self.multiply_constant(ca * cb, product);
        }
        match (self.is_fixed(a), self.is_fixed(b)) {
            (true, false) => return self.multiply_coefficient(a, b),
            (false, true) => return self.multiply_coefficient(b, a),
            _ => {}
        }
        let ((ka, xa), (kb, xb)) = (self.coefficient(a), self.coefficient(b));
        if ka.is_some() || kb.is_some() {
            let one = self.constant(1.0);
            let k = self.multiply(ka.unwrap_or(one), kb.unwrap_or(one));
            let product = self.multiply(xa, xb);
            return self.multiply_coefficient(k, product);
        }
        match self.merge_factors(a, b) {
            Some(product) => product,
            None => self.intern_commutative(Binary::Multiply, a, b),
        }
    }

    /// The product of two integer powers of the same node.
    fn multiply_like(&mut self, a: NodeId, b: NodeId) -> Option<NodeId> {
        let ((base, m), (other, n)) = (self.integer_exponent(a), self.integer_exponent(b));
        (base == other && m + n <= LARGEST_POWER).then(|| self.integer_power(base, m + n))
    }

    /// Merges powers of the same node if either factor is one power and the other one or two.
    fn merge_factors(&mut self, a: NodeId, b: NodeId) -> Option<NodeId> {
        if let Some(product) = self.multiply_like(a, b) {
            return Some(product);
        }
        for (product, single) in [(a, b), (b, a)] {
            let Node::Binary(Binary::Multiply, p, q) = self.node(product) else { continue };
            for (like, rest) in [(p, q), (q, p)] {
                if let Some(merged) = self.multiply_like(like, single) {
                    return Some(self.multiply(merged, rest));
                }
            }
        }
        None
    }

    fn multiply_constant(&mut self, c: f64, a: NodeId) -> NodeId {
        if c == 0.0 {
            return ZERO;
        }
        let (ca, xa) = self.factor(a);
        if c == -1.0 {
            return self.negate(a);
        }
        if xa == a || is_safe(c * ca) {
            return self.scale(c * ca, xa);
        }
        let factor = self.constant(c);
        self.intern(Node::Binary(Binary::Multiply, factor, a))
    }

    fn integer_exponent(&self, node: NodeId) -> (NodeId, u32) {
        match self.node(node) {
            Node::IntegerPower(base, n) => (base, n),
            _ => (node, 1),
        }
    }

    /// a/b.
    pub fn divide(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if let (Some(x), Some(y)) = (self.is_constant(a), self.is_constant(b)) {
            return self.constant(x / y);
        }
        if self.is_value(a, 0.0) {
            return a;
        }
        let (ca, xa) = self.factor(a);
        if let Some(y) = self.is_constant(b) {
            // a reciprocal is used where it is exact or where a factor is there already
            let exact = is_safe(y) && y.to_bits() & ((1 << 52) - 1) == 0;
            if (exact || xa != a) && is_safe(ca / y) {
                return self.multiply_constant(ca / y, xa);
            }
            if let (Some(k), x) = self.coefficient(a) {
                let k = self.divide(k, b);
                return self.multiply_coefficient(k, x);
            }
            return self.intern(Node::Binary(Binary::Divide, a, b));
        }
        let (cb, xb) = self.factor(b);
        let numerator = self.is_constant(a).unwrap_or(ca);
        if (xa != a || xb != b) && is_safe(numerator / cb) {
            let top = if self.is_constant(a).is_some() { self.constant(1.0) } else { xa };
            let quotient = self.divide(top, xb);
            return self.multiply_constant(numerator / cb, quotient);
        }
        self.divide_coefficients(a, b)
    }

    /// a/b without numeric factors; the quotient of what does not vary becomes the coefficient.
    fn divide_coefficients(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let ((ka, xa), (kb, xb)) = (self.coefficient(a), self.coefficient(b));
        match (ka, kb) {
            (Some(k), None) => {
                let (k, x) = if self.is_fixed(b) { (self.divide(k, b), xa) } else { (k, self.divide(xa, b)) };
                self.multiply_coefficient(k, x)
            }
            (Some(ka), Some(kb)) => {
                let (k, x) = (self.divide(ka, kb), self.divide(xa, xb));
                self.multiply_coefficient(k, x)
            }
            (None, Some(k)) if self.is_fixed(a) => {
                let top = self.divide(a, k);
                self.intern(Node::Binary(Binary::Divide, top, xb))
            }
            _ => self.intern(Node::Binary(Binary::Divide, a, b)),
        }
    }

    /// aᵇ; an integer exponent up to 32 is a product, others are `powf`.
    pub fn power(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if let Some(y) = self.is_constant(b) {
            if y.fract() == 0.0 && y.abs() <= f64::from(LARGEST_POWER) {
                // the cast is exact: an integer of at most 32
                let power = self.integer_power(a, y.abs() as u32);
                let one = self.constant(1.0);
                return if y < 0.0 { self.divide(one, power) } else { power };
            }
            if y == 0.5 {
                return self.unary(Unary::Sqrt, a);
            }
        }
        match self.is_constant(a) {
            Some(1.0) => a,
            Some(std::f64::consts::E) => self.unary(Unary::Exp, b),
            _ => self.fold_or_intern(Binary::Power, a, b),
        }
    }

    /// aⁿ by multiplication; a⁰ is 1, also at 0.
    pub fn integer_power(&mut self, a: NodeId, n: u32) -> NodeId {
        if n == 0 {
            return self.constant(1.0);
        }
        if n == 1 {
            return a;
        }
        if let Some(x) = self.is_constant(a) {
            return self.constant(integer_power(x, n));
        }
        match self.node(a) {
            Node::IntegerPower(x, m) if m.saturating_mul(n) <= LARGEST_POWER => self.integer_power(x, m * n),
            Node::Negate(x) => {
                let power = self.integer_power(x, n);
                if n.is_multiple_of(2) { power } else { self.negate(power) }
            }
            Node::Unary(Unary::Abs, x) if n.is_multiple_of(2) => self.integer_power(x, n),
            _ => self.intern(Node::IntegerPower(a, n)),
        }
    }

    /// A function of one argument.
    pub fn unary(&mut self, unary: Unary, a: NodeId) -> NodeId {
        if let Some(x) = self.is_constant(a) {
            return self.constant(unary.apply(x));
        }
        if unary.is_odd() || unary.is_even() {
            let (c, x) = self.factor(a);
            if c < 0.0 {
                let positive = self.scale(-c, x);
                let value = self.unary(unary, positive);
                return if unary.is_odd() { self.negate(value) } else { value };
            }
        }
        self.intern(Node::Unary(unary, a))
    }

    /// `then` where `condition` is not zero, else `otherwise`.
    pub(super) fn select(&mut self, condition: NodeId, then: NodeId, otherwise: NodeId) -> NodeId {
        match self.is_constant(condition) {
            _ if then == otherwise => then,
            Some(0.0) => otherwise,
            Some(_) => then,
            None => self.intern(Node::Select(condition, then, otherwise)),
        }
    }
}
