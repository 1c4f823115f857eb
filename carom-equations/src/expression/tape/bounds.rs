//! Bounds of the outputs of a tape over a box of its inputs: interval arithmetic, operation by operation.
//!
//! Bounds hold up to the rounding of each operation. Where an operation is not defined in all of the box, they are
//! infinite.

use super::{Code, Part, Tape};
use crate::expression::function::{Unary, integer_power};
use carom::elementary::{atan2, cos, powf};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Least and largest value.
pub type Interval = [f64; 2];

const WHOLE: Interval = [f64::NEG_INFINITY, f64::INFINITY];

impl Tape {
    /// Bounds of all outputs where each input is within its own; inputs at the end that no output needs have no place.
    /// `work` is reused.
    ///
    /// # Panics
    /// Panics if there are fewer inputs than [`Tape::inputs`].
    pub fn bounds(&self, inputs: &[Interval], work: &mut Vec<Interval>, out: &mut Vec<Interval>) {
        let program = &*self.program;
        work.clear();
        work.extend_from_slice(&inputs[..program.inputs]);
        work.extend(self.fixed.iter().map(|x| [*x; 2]));
        program.body.bounds(work);
        out.clear();
        out.extend(program.outputs.iter().map(|&register| work[register as usize]));
    }
}

impl Part {
    /// Adds the results of all operations, one register after the other.
    fn bounds(&self, r: &mut Vec<Interval>) {
        let mut rest = &self.operands[..];
        for run in &self.runs {
            let (operands, tail) = rest.split_at(run.count as usize);
            rest = tail;
            for &[a, b, c] in operands {
                let at = |register: u32| r[register as usize];
                let value = match run.code {
                    Code::Negate => negate(at(a)),
                    Code::Add => add(at(a), at(b)),
                    Code::Subtract => add(at(a), negate(at(b))),
                    Code::Multiply => multiply(at(a), at(b)),
                    Code::Divide => divide(at(a), at(b)),
                    Code::MultiplyAdd => add(multiply(at(a), at(b)), at(c)),
                    Code::MultiplySubtract => add(multiply(at(a), at(b)), negate(at(c))),
                    Code::SubtractProduct => add(at(c), negate(multiply(at(a), at(b)))),
                    Code::Square => power(at(a), 2),
                    Code::Cube => power(at(a), 3),
                    Code::IntegerPower => power(at(a), b),
                    Code::SinCos => {
                        let angle = at(a);
                        r.push(unary(Unary::Sin, angle));
                        unary(Unary::Cos, angle)
                    }
                    Code::Unary(function) => unary(function, at(a)),
                    Code::Power if at(a)[0] > 0.0 => corners(at(a), at(b), powf),
                    Code::Power => WHOLE,
                    Code::Atan2 if at(b)[0] > 0.0 || !contains(at(a), 0.0) => corners(at(a), at(b), atan2),
                    Code::Atan2 => [-PI, PI],
                    Code::Minimum => [at(a)[0].min(at(b)[0]), at(a)[1].min(at(b)[1])],
                    Code::Maximum => [at(a)[0].max(at(b)[0]), at(a)[1].max(at(b)[1])],
                    Code::LessEqual => {
                        [at(a)[1] <= at(b)[0], at(a)[0] <= at(b)[1]].map(|holds| f64::from(u8::from(holds)))
                    }
                    Code::Select if !contains(at(a), 0.0) => at(b),
                    Code::Select if at(a) == [0.0; 2] => at(c),
                    Code::Select => [at(b)[0].min(at(c)[0]), at(b)[1].max(at(c)[1])],
                };
                r.push(if value[0] <= value[1] { value } else { WHOLE });
            }
        }
    }
}

fn contains(a: Interval, x: f64) -> bool {
    a[0] <= x && x <= a[1]
}

fn negate(a: Interval) -> Interval {
    [-a[1], -a[0]]
}

fn add(a: Interval, b: Interval) -> Interval {
    [a[0] + b[0], a[1] + b[1]]
}

/// Extrema of a function that has them at the corners of a box.
fn corners(a: Interval, b: Interval, f: impl Fn(f64, f64) -> f64) -> Interval {
    let values = [f(a[0], b[0]), f(a[0], b[1]), f(a[1], b[0]), f(a[1], b[1])];
    if values.iter().any(|x| x.is_nan()) {
        return WHOLE;
    }
    [values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
}

fn multiply(a: Interval, b: Interval) -> Interval {
    corners(a, b, |x, y| x * y)
}

fn divide(a: Interval, b: Interval) -> Interval {
    if contains(b, 0.0) { WHOLE } else { corners(a, b, |x, y| x / y) }
}

/// aⁿ for n ≥ 1.
fn power(a: Interval, n: u32) -> Interval {
    let [low, high] = a.map(|x| integer_power(x, n));
    if n % 2 == 1 { [low, high] } else { [if contains(a, 0.0) { 0.0 } else { low.min(high) }, low.max(high)] }
}

fn unary(function: Unary, a: Interval) -> Interval {
    let [low, high] = a.map(|x| function.apply(x));
    match function {
        Unary::Sin => wave(a, FRAC_PI_2),
        Unary::Cos => wave(a, 0.0),
        // one branch has no pole in it
        Unary::Tan if ((a[0] - FRAC_PI_2) / PI).floor() == ((a[1] - FRAC_PI_2) / PI).floor() => [low, high],
        Unary::Tan => WHOLE,
        Unary::Acos => [high, low],
        Unary::Cosh | Unary::Abs => [if contains(a, 0.0) { function.apply(0.0) } else { low.min(high) }, low.max(high)],
        Unary::Asin | Unary::Atan | Unary::Sinh | Unary::Tanh | Unary::Exp | Unary::Log | Unary::Sqrt => [low, high],
        Unary::Sign | Unary::Floor => [low, high],
    }
}

/// The cosine of x − `peak`.
fn wave(a: Interval, peak: f64) -> Interval {
    let has = |place: f64| place + TAU * ((a[0] - place) / TAU).ceil() <= a[1];
    let [x, y] = a.map(|x| cos(x - peak));
    if !(a[1] - a[0]).is_finite() {
        return [-1.0, 1.0];
    }
    [if has(peak + PI) { -1.0 } else { x.min(y) }, if has(peak) { 1.0 } else { x.max(y) }]
}
