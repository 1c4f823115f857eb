//! Newton's loop takes B from the last iterate, and may go to and fro between two values of it: where B varies faster
//! than the state, as √|s| does near zero. Then the value that reproduces itself lies between them, and is sought along
//! the line that joins them:
//!
//! ```text
//!     r(β) = B(X(β)) − β,   β = β₀ + ω r(β₀),   ψ(ω) = r(β)·r(β₀):     ψ(0) > 0,   ψ(1) < 0,   ψ(ω) = 0              (1)
//! ```
//!
//! by false position with halved weights (Illinois). Where r has become orthogonal to the line, it begins again.

use carom_solve::Rows;

/// Iterations that are left alone.
const PATIENCE: u32 = 3;

/// Cosine between r and the line below which they are orthogonal.
const ORTHOGONAL: f64 = 0.1;

/// What is known of the inputs so far; all entries of B one after the other.
#[derive(Default)]
pub(super) struct Search {
    used: Vec<f64>,      // β
    left: Vec<f64>,      // r(β)
    start: Vec<f64>,     // β₀
    direction: Vec<f64>, // r(β₀)
    low: (f64, f64),     // ω and ψ ≥ 0
    high: (f64, f64),    // ω and ψ < 0
    at: Option<f64>,     // the last ω of a search that is on
    rose: Option<bool>,  // whether the lower end moved last
}

carom_solve::persist!(Search { used, left, start, direction, low, high, at, rose });

impl Search {
    /// Begins a step.
    pub fn begin(&mut self) {
        self.start.clear();
        (self.at, self.rose) = (None, None);
    }

    /// Before iteration number `iteration` with the input β.
    pub fn take(&mut self, iteration: u32, input: &Rows) {
        if iteration >= PATIENCE {
            self.used.clear();
            self.used.extend(input.iter().flatten().map(|(_, b)| *b));
        }
    }

    /// After that iteration, with B(X) as the input: it is replaced where it lies beyond the one that is sought.
    pub fn turn(&mut self, iteration: u32, input: &mut Rows, spare: &mut Rows) {
        if iteration < PATIENCE {
            return;
        }
        self.left.clear();
        self.left.extend(input.iter().flatten().zip(&self.used).map(|((_, b), used)| b - used));
        let Some(at) = self.next() else { return };
        let mut values = self.start.iter().zip(&self.direction).map(|(start, direction)| start + at * direction);
        spare.clear(input.columns());
        for row in input.iter() {
            spare.push_sparse(row.iter().map(|&(j, b)| (j, values.next().unwrap_or(b))));
        }
        std::mem::swap(input, spare);
    }

    /// The next ω, where a search is on.
    fn next(&mut self) -> Option<f64> {
        let known = self.start.len() == self.used.len();
        let psi = if known { dot(&self.left, &self.direction) } else { 0.0 };
        let whole = dot(&self.direction, &self.direction);
        let is_orthogonal = psi.abs() <= ORTHOGONAL * (dot(&self.left, &self.left) * whole).sqrt();
        match self.at {
            Some(at) if !is_orthogonal => {
                let rises = psi >= 0.0;
                let (moves, stays) =
                    if rises { (&mut self.low, &mut self.high) } else { (&mut self.high, &mut self.low) };
                *moves = (at, psi);
                // the end that stays twice loses half of its weight
                if self.rose.replace(rises) == Some(rises) {
                    stays.1 *= 0.5;
                }
            }
            None if known && psi < -0.25 * whole => (self.low, self.high) = ((0.0, whole), (1.0, psi)),
            _ => {
                self.start.clone_from(&self.used);
                self.direction.clone_from(&self.left);
                (self.at, self.rose) = (None, None);
                return None;
            }
        }
        let (low, high) = (self.low, self.high);
        let middle = 0.5 * (low.0 + high.0);
        let secant = low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1));
        self.at = Some(if secant > low.0 && secant < high.0 { secant } else { middle });
        self.at
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
