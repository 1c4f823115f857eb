//! Newton's loop with B at the last iterate may go to and fro between two points: where B varies faster than the state,
//! as √|s| does near zero. Then the fixed point lies between them, and is sought along the line that joins them:
//!
//! ```text
//!     r(Z) = X(Z) − Z,   Z = Z₀ + ω r(Z₀),   ψ(ω) = r(Z)·r(Z₀):     ψ(0) > 0,   ψ(1) < 0,   ψ(ω) = 0                (1)
//! ```
//!
//! by false position with halved weights (Illinois).

/// Iterations that are left alone.
const PATIENCE: u32 = 3;

/// What is known of the iterates so far.
#[derive(Default)]
pub(super) struct Search {
    start: Vec<f64>,     // Z₀
    direction: Vec<f64>, // r(Z₀)
    along: Vec<f64>,     // ω r(Z₀)
    low: (f64, f64),     // ω and ψ ≥ 0
    high: (f64, f64),    // ω and ψ < 0
    at: Option<f64>,     // the last ω of a search that is on
    rose: Option<bool>,  // whether the lower end moved last
}

/// What to do after an iteration that has not converged.
pub(super) enum Next {
    /// Go on from X.
    Iterate,
    /// Go on from the point of [`Search::point`].
    Turn,
    /// There is nothing between the two points any more.
    Closed,
}

impl Search {
    /// Begins a step.
    pub fn begin(&mut self) {
        self.start.clear();
        (self.at, self.rose) = (None, None);
    }

    /// After iteration number `iteration` at `z` with the increment `r`.
    pub fn next(&mut self, iteration: u32, z: &[f64], r: &[f64]) -> Next {
        if iteration < PATIENCE {
            return Next::Iterate;
        }
        let known = self.start.len() == z.len();
        let psi = if known { dot(r, &self.direction) } else { 0.0 };
        match self.at {
            Some(at) => {
                // the end that stays twice loses half of its weight
                let rises = psi >= 0.0;
                let (moves, stays) = if rises { (&mut self.low, &mut self.high) } else { (&mut self.high, &mut self.low) };
                *moves = (at, psi);
                if self.rose.replace(rises) == Some(rises) {
                    stays.1 *= 0.5;
                }
            }
            None => {
                let whole = dot(&self.direction, &self.direction);
                if !(known && psi < -0.25 * whole) {
                    self.start.clear();
                    self.start.extend_from_slice(z);
                    self.direction.clear();
                    self.direction.extend_from_slice(r);
                    return Next::Iterate;
                }
                (self.low, self.high) = ((0.0, whole), (1.0, psi));
            }
        }
        let (low, high) = (self.low, self.high);
        let middle = 0.5 * (low.0 + high.0);
        if middle <= low.0 || middle >= high.0 || high.0 - low.0 <= 4.0 * f64::EPSILON * high.0 {
            return Next::Closed;
        }
        let secant = low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1));
        let at = if secant > low.0 && secant < high.0 { secant } else { middle };
        self.at = Some(at);
        self.along.clear();
        self.along.extend(self.direction.iter().map(|d| at * d));
        Next::Turn
    }

    /// Z₀ and the increment to the next point.
    pub fn point(&self) -> (&[f64], &[f64]) {
        (&self.start, &self.along)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
