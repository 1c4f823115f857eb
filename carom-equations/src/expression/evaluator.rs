//! A tape with its working memory.

use super::tape::{Interval, Registers, Tape};

/// Expressions of time, positions and velocities with their working memory; make one per thread.
#[derive(Clone, Debug)]
pub struct Evaluator {
    is_constant: bool, // whether the tape reads no input
    tape: Tape,
    registers: Registers,
    values: Vec<f64>,
    // where the derivatives were asked for last: t, q, v
    at: Vec<f64>,
    work: Vec<f64>,
    slopes: Vec<f64>,
    // inputs, registers and values of bounds
    within: Vec<Interval>,
    bounded: Vec<Interval>,
    bounds: Vec<Interval>,
}

impl Evaluator {
    /// What does not vary is evaluated here, once.
    pub fn new(tape: &Tape) -> Evaluator {
        let (mut registers, mut values) = (tape.registers(), vec![0.0; tape.outputs()]);
        if tape.is_constant() {
            tape.eval(&[], &mut registers, &mut values);
        }
        Evaluator {
            is_constant: tape.is_constant(),
            tape: tape.clone(),
            registers,
            values,
            at: Vec::new(),
            work: Vec::new(),
            slopes: Vec::new(),
            within: Vec::new(),
            bounded: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// Whether the values are the same at every state.
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }

    /// The values of the last evaluation.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values at a state; in first-order models the multipliers take the place of velocities.
    #[inline(always)]
    pub fn eval(&mut self, t: f64, q: &[f64], v: &[f64]) -> &[f64] {
        if !self.is_constant {
            self.evaluate(t, q, v);
        }
        &self.values
    }

    #[inline(never)]
    fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.tape.eval_state((t, q, v), &mut self.registers, &mut self.values);
    }

    /// Derivatives of all values at a state, along directions of t, q and v and of the parameters.
    pub fn along(&mut self, (t, q, v): (f64, &[f64], &[f64]), along: [&[f64]; 3], parameters: &[f64]) -> &[f64] {
        let n = q.len();
        let known =
            self.at.len() == 1 + n + v.len() && self.at[0] == t && self.at[1..=n] == *q && self.at[1 + n..] == *v;
        if !known {
            self.at.clear();
            self.at.push(t);
            self.at.extend_from_slice(q);
            self.at.extend_from_slice(v);
            self.eval(t, q, v);
        }
        self.slopes.resize(self.values.len(), 0.0);
        self.tape.differential(&self.registers, &along, parameters, &mut self.work, &mut self.slopes);
        &self.slopes
    }
    /// Bounds of all values while time and positions are within theirs, at rest.
    pub fn bounds(&mut self, t: Interval, q: &[Interval]) -> &[Interval] {
        self.within.clear();
        self.within.push(t);
        self.within.extend_from_slice(q);
        self.within.resize(self.within.len().max(self.tape.inputs()), [0.0; 2]);
        self.tape.bounds(&self.within, &mut self.bounded, &mut self.bounds);
        &self.bounds
    }
}
