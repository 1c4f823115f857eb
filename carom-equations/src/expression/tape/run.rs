//! An evaluation: run after run of equal operations. Tapes of up to 256 registers name them by bytes, so that no access
//! needs a check.

use super::{Code, NARROW, Operands, Part, Run};
use crate::expression::function::{integer_power, maximum, minimum};
use carom::elementary::{atan2, powf, sin_cos};

impl Part {
    /// Operations whose last register is before `end`, with operands in bytes where these reach all of them.
    pub(super) fn packed(mut self, end: u32) -> Part {
        if end as usize > NARROW {
            return self;
        }
        let bytes = |operands: &Operands| {
            let [a, b, c] = operands.map(|operand| u8::try_from(operand).ok());
            Some([a?, b?, c?])
        };
        self.narrow = self.operands.iter().map(bytes).collect::<Option<_>>().unwrap_or_default();
        self
    }

    /// Does all operations; the first one writes the register `next`.
    pub(super) fn run(&self, r: &mut [f64], next: usize) {
        match r.first_chunk_mut() {
            Some(r) if !self.narrow.is_empty() => perform::<[f64; NARROW]>(&self.runs, &self.narrow, r, next),
            _ => perform(&self.runs, &self.operands, r, next),
        }
    }
}

/// Registers and the numbers that operands name them by.
trait Bank {
    type Operand: Copy + Into<u32>;
    fn get(&self, register: Self::Operand) -> f64;
    fn set(&mut self, register: usize, value: f64);
}

impl Bank for [f64] {
    type Operand = u32;
    #[inline(always)]
    fn get(&self, register: u32) -> f64 {
        self[register as usize]
    }
    #[inline(always)]
    fn set(&mut self, register: usize, value: f64) {
        self[register] = value;
    }
}

impl Bank for [f64; NARROW] {
    type Operand = u8;
    #[inline(always)]
    fn get(&self, register: u8) -> f64 {
        self[usize::from(register)]
    }
    #[inline(always)]
    fn set(&mut self, register: usize, value: f64) {
        self[register % NARROW] = value;
    }
}

/// Does operations; the first one writes the register `next`.
#[inline(always)]
fn perform<R: Bank + ?Sized>(runs: &[Run], operands: &[[R::Operand; 3]], r: &mut R, mut next: usize) {
    let mut rest = operands;
    for run in runs {
        let (operands, tail) = rest.split_at(run.count as usize);
        rest = tail;
        match run.code {
            Code::Negate => apply(r, &mut next, operands, |r, a, _, _| -r.get(a)),
            Code::Add => apply(r, &mut next, operands, |r, a, b, _| r.get(a) + r.get(b)),
            Code::Subtract => apply(r, &mut next, operands, |r, a, b, _| r.get(a) - r.get(b)),
            Code::Multiply => apply(r, &mut next, operands, |r, a, b, _| r.get(a) * r.get(b)),
            Code::Divide => apply(r, &mut next, operands, |r, a, b, _| r.get(a) / r.get(b)),
            Code::MultiplyAdd => apply(r, &mut next, operands, |r, a, b, c| r.get(a) * r.get(b) + r.get(c)),
            Code::MultiplySubtract => apply(r, &mut next, operands, |r, a, b, c| r.get(a) * r.get(b) - r.get(c)),
            Code::SubtractProduct => apply(r, &mut next, operands, |r, a, b, c| r.get(c) - r.get(a) * r.get(b)),
            Code::Square => apply(r, &mut next, operands, |r, a, _, _| r.get(a) * r.get(a)),
            Code::Cube => apply(r, &mut next, operands, |r, a, _, _| integer_power(r.get(a), 3)),
            Code::IntegerPower => apply(r, &mut next, operands, |r, a, n, _| integer_power(r.get(a), n.into())),
            Code::SinCos => {
                for &[a, _, _] in operands {
                    let (sine, cosine) = sin_cos(r.get(a));
                    r.set(next, sine);
                    r.set(next + 1, cosine);
                    next += 2;
                }
            }
            Code::Unary(unary) => apply(r, &mut next, operands, |r, a, _, _| unary.apply(r.get(a))),
            Code::Power => apply(r, &mut next, operands, |r, a, b, _| powf(r.get(a), r.get(b))),
            Code::Atan2 => apply(r, &mut next, operands, |r, a, b, _| atan2(r.get(a), r.get(b))),
            Code::Minimum => apply(r, &mut next, operands, |r, a, b, _| minimum(r.get(a), r.get(b))),
            Code::Maximum => apply(r, &mut next, operands, |r, a, b, _| maximum(r.get(a), r.get(b))),
            Code::LessEqual => apply(r, &mut next, operands, |r, a, b, _| f64::from(u8::from(r.get(a) <= r.get(b)))),
            Code::Select => apply(r, &mut next, operands, |r, a, b, c| r.get(if r.get(a) != 0.0 { b } else { c })),
        }
    }
}

/// Does one run: `value` computes each result from the registers.
#[inline(always)]
fn apply<R: Bank + ?Sized>(
    r: &mut R,
    next: &mut usize,
    operands: &[[R::Operand; 3]],
    value: impl Fn(&R, R::Operand, R::Operand, R::Operand) -> f64,
) {
    for &[a, b, c] in operands {
        let value = value(r, a, b, c);
        r.set(*next, value);
        *next += 1;
    }
}
