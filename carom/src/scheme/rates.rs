//! Bounds of the rates of gaps over a piece of a step, from a model that knows them: what is narrow is not overlooked.

use crate::State;

/// Bounds of a rate exceed what is seen of it by this factor, and by this part of the rate, without being suspect.
const EXCESS: f64 = 8.0;
const ROUNDING: f64 = 1e-9;

/// Bounds of the motion in a piece of a step, and of the rates of gaps there.
#[derive(Debug, Default)]
pub(crate) struct RateBounds {
    /// (laws) least and largest rate; none where the model does not know them.
    pub values: Vec<[f64; 2]>,
    q: Vec<[f64; 2]>,
    v: Vec<[f64; 2]>,
}

carom_solve::persist!(RateBounds { values, q, v });

impl RateBounds {
    /// Bounds between two states, with another one in the middle; the model tells those of rates from those of time,
    /// positions and velocities, and whether it knows them.
    pub fn fill(
        &mut self,
        [left, middle, right]: [&State; 3],
        tell: impl FnOnce([f64; 2], &[[f64; 2]], &[[f64; 2]], &mut Vec<[f64; 2]>) -> bool,
    ) {
        self.values.clear();
        self.q.clear();
        self.v.clear();
        // positions that are no integrals of velocities tell nothing
        if left.q.len() != left.v.len() {
            return;
        }
        let span = right.t - left.t;
        for k in 0..left.v.len() {
            let hull = |x: [f64; 3]| [x[0].min(x[1]).min(x[2]), x[0].max(x[1]).max(x[2])];
            let [a, b] = hull([left.v[k], middle.v[k], right.v[k]]);
            // between three places a smooth motion goes beyond them by less than they differ
            let [low, high] = [a - (b - a), b + (b - a)];
            let [from, to] = hull([left.q[k], middle.q[k], right.q[k]]);
            let bend = 0.25 * span * (high - low);
            self.v.push([low, high]);
            self.q.push([from - bend, to + bend]);
        }
        if !tell([left.t, right.t], &self.q, &self.v, &mut self.values) {
            self.values.clear();
        }
    }

    /// How much the rate of law `i` may vary, where that is known.
    pub fn spread(&self, i: usize) -> Option<f64> {
        self.values.get(i).map(|[low, high]| high - low)
    }

    /// Whether the rates that were seen tell those of the whole piece: nothing narrow is between them.
    pub fn agree(&self, i: usize, seen: &[f64]) -> bool {
        let hull = seen.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(*x), b.max(*x)]);
        let rounding = ROUNDING * hull[0].abs().max(hull[1].abs());
        self.spread(i).is_none_or(|spread| spread <= EXCESS * (hull[1] - hull[0]) + rounding)
    }
}
