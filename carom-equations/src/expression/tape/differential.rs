//! Forward derivatives of a tape: along one direction of its inputs, from the values that the last evaluation has left.
//!
//! ```text
//!     r = f(a, b, c),    ṙ = f_a ȧ + f_b ḃ + f_c ċ                                                     (1)
//! ```
//!
//! Every operation is differentiated exactly. At a kink (|x| and sign at 0, equal arguments of min and max, the border
//! of a condition) the derivative is that of the branch which the value takes; sign(0) counts as constant.

use super::{Code, Part, Registers, Tape};
use crate::expression::function::{Unary, integer_power};
use carom::elementary::{cos, cosh, ln, powf, sin, sinh};

impl Tape {
    /// Derivatives of all outputs along the direction `parts` of the inputs (consecutive parts, missing ones at the end
    /// are zero) and `parameters` of the parameters (likewise), at the inputs that `registers` were evaluated with
    /// last. `work` is reused.
    ///
    /// # Panics
    /// Panics if the registers are not of this tape, or if `out` does not have one place per output.
    pub fn differential(
        &self,
        registers: &Registers,
        parts: &[&[f64]],
        parameters: &[f64],
        work: &mut Vec<f64>,
        out: &mut [f64],
    ) {
        assert_eq!(registers.identity, self.identity, "the registers belong to another tape");
        assert_eq!(out.len(), self.outputs(), "one place per output");
        let program = &*self.program;
        work.clear();
        for part in parts {
            let left = program.inputs - work.len();
            work.extend_from_slice(&part[..part.len().min(left)]);
        }
        work.resize(program.registers, 0.0);
        let first = program.inputs + program.constants;
        for (to, &which) in work[first..].iter_mut().zip(&program.parameters) {
            *to = parameters.get(which).copied().unwrap_or(0.0);
        }
        let r = &registers.values[..];
        // what does not move has no derivative
        if work[first..][..program.parameters.len()].iter().any(|d| *d != 0.0) {
            program.prologue.differential(r, work, first + program.parameters.len());
        }
        program.body.differential(r, work, program.inputs + self.fixed.len());
        for (value, &register) in out.iter_mut().zip(&program.outputs) {
            *value = work[register as usize];
        }
    }
}

impl Part {
    /// (1) of all operations; the first one writes the register `next`.
    fn differential(&self, r: &[f64], d: &mut [f64], mut next: usize) {
        let mut rest = &self.operands[..];
        for run in &self.runs {
            let (operands, tail) = rest.split_at(run.count as usize);
            rest = tail;
            for &[a, b, c] in operands {
                if run.code == Code::SinCos {
                    let angle = d[a as usize];
                    (d[next], d[next + 1]) = (r[next + 1] * angle, -r[next] * angle);
                    next += 2;
                } else {
                    d[next] = rate(run.code, [a, b, c], r, d, r[next]);
                    next += 1;
                }
            }
        }
    }
}

/// (1) of one operation with the value `y`.
#[inline]
fn rate(code: Code, [a, b, c]: [u32; 3], r: &[f64], d: &[f64], y: f64) -> f64 {
    let (a, b, c, exponent) = (a as usize, b as usize, c as usize, b);
    match code {
        Code::Negate => -d[a],
        Code::Add => d[a] + d[b],
        Code::Subtract => d[a] - d[b],
        Code::Multiply => d[a] * r[b] + r[a] * d[b],
        Code::Divide => (d[a] - y * d[b]) / r[b],
        Code::MultiplyAdd => d[a] * r[b] + r[a] * d[b] + d[c],
        Code::MultiplySubtract => d[a] * r[b] + r[a] * d[b] - d[c],
        Code::SubtractProduct => d[c] - (d[a] * r[b] + r[a] * d[b]),
        Code::Square => 2.0 * r[a] * d[a],
        Code::Cube => 3.0 * r[a] * r[a] * d[a],
        Code::IntegerPower => f64::from(exponent) * power_below(r[a], exponent) * d[a],
        Code::SinCos => 0.0,
        Code::Unary(unary) => slope(unary, r[a], y, d[a]),
        Code::Power => power(r[a], r[b], y, [d[a], d[b]]),
        Code::Atan2 => (d[a] * r[b] - r[a] * d[b]) / (r[a] * r[a] + r[b] * r[b]),
        Code::Minimum => d[if r[a].is_nan() || r[a] <= r[b] { a } else { b }],
        Code::Maximum => d[if r[a].is_nan() || r[a] >= r[b] { a } else { b }],
        Code::LessEqual => 0.0,
        Code::Select => d[if r[a] != 0.0 { b } else { c }],
    }
}

/// xⁿ⁻¹.
fn power_below(x: f64, n: u32) -> f64 {
    if n <= 1 { 1.0 } else { integer_power(x, n - 1) }
}

/// f'(x) ẋ; zero where nothing moves, even if the slope is infinite.
fn slope(unary: Unary, x: f64, y: f64, dx: f64) -> f64 {
    if dx == 0.0 {
        return 0.0;
    }
    dx * match unary {
        Unary::Sin => cos(x),
        Unary::Cos => -sin(x),
        Unary::Tan => 1.0 + y * y,
        Unary::Asin => 1.0 / (1.0 - x * x).sqrt(),
        Unary::Acos => -1.0 / (1.0 - x * x).sqrt(),
        Unary::Atan => 1.0 / (1.0 + x * x),
        Unary::Sinh => cosh(x),
        Unary::Cosh => sinh(x),
        Unary::Tanh => 1.0 - y * y,
        Unary::Exp => y,
        Unary::Log => 1.0 / x,
        Unary::Sqrt => 0.5 / y,
        Unary::Abs => Unary::Sign.apply(x),
        Unary::Sign | Unary::Floor => 0.0,
    }
}

/// Of aᵇ with the value y.
fn power(a: f64, b: f64, y: f64, [da, db]: [f64; 2]) -> f64 {
    let base = if da == 0.0 { 0.0 } else { b * powf(a, b - 1.0) * da };
    let exponent = if db == 0.0 { 0.0 } else { y * ln(a) * db };
    base + exponent
}

#[cfg(test)]
mod tests {
    use crate::expression::{Graph, Scope, Tape};

    #[test]
    fn forward_derivatives_are_those_of_the_graph() {
        let formulas = [
            "sin(x)*cos(x) + y^3 - x*y^2",
            "sqrt(x^2 + y^2)/(1 + exp(-x)) - atan2(y, x)",
            "tan(x) + asin(x/3) + acos(y/4) + atan(x*y) + x^y",
            "sinh(x)*cosh(y) - tanh(x - y) + log(x + 2*y) + x^7",
            "abs(x - y) + min(x, y, 0.4)*max(x*y, 0.1) + sign(x)*y",
            "-(x - y)*(x + y) - x/y + (2*x - y*x)",
        ];
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        scope.declare_states(&["x", "y"]).unwrap();
        let nodes: Vec<_> = formulas.iter().map(|text| graph.expression(text, &scope).unwrap()).collect();
        let tape = Tape::compile(&graph, &nodes);
        let (mut registers, mut values, mut work) = (tape.registers(), vec![0.0; nodes.len()], Vec::new());
        let mut out = vec![0.0; nodes.len()];
        for (point, direction) in [([0.7, 1.1], [1.0, 0.0]), ([0.7, 1.1], [-0.3, 2.0]), ([1.9, 0.2], [0.5, -0.25])] {
            tape.eval(&point, &mut registers, &mut values);
            tape.differential(&registers, &[&direction], &[], &mut work, &mut out);
            for (node, found) in nodes.iter().zip(&out) {
                let partials = [graph.derivative(*node, 0), graph.derivative(*node, 1)];
                let exact = Tape::compile(&graph, &partials);
                let mut slopes = [0.0; 2];
                exact.eval(&point, &mut exact.registers(), &mut slopes);
                let expected = slopes[0] * direction[0] + slopes[1] * direction[1];
                assert!((found - expected).abs() <= 1e-13 * (1.0 + expected.abs()), "{found} {expected}");
            }
        }
    }
}
