//! What the multipliers of a first-order system tell about a step: states alone do not show when sliding ends, for they
//! are the same whatever λ is inside its bounds.
//!
//! λ₀ is known from the step before, λ₁ and λ₂ are the means over both halves, where e is an impulse of λ:
//!
//! ```text
//!     to a bound, from inside or from the other bound:   e = h/4 |λ_k − λ_{k−1}|                                  (1)
//!     inside all the while, but λ⁺ = λ₂ + (λ₂ − λ₁)/2 is out of bounds by δ after a time s:   e = δ (h − s)/2      (2)
//!     from a bound to the inside in the first half, so that (2) has no slope:   e = h/4 × distance to the bounds   (3)
//!     y does not change its sign, but the parabola through y, y_{1/2} and y⁺ does:   e = (upper − lower) × time beyond,
//!                                                       or depth/(C B) where there is one bound                   (4)
//! ```
//!
//! The sum of |B| e is an error of order 0: the instant of the change lies somewhere in the half. B (P − P₁ − P₂), what
//! full and half steps make of the impulses of λ, is compared like the states, so that λ is as accurate as they are.

use super::super::Reactions;
use crate::Coupling;
use carom_solve::{Law, Rows};

/// λ nearer to a bound than this part of its size is at the bound.
const NEAR: f64 = 1e-9;

/// λ at the ends of steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Multipliers {
    start: Option<f64>, // time of `before`
    end: Option<f64>,   // time of `after`
    before: Vec<f64>,   // (rows) λ₀
    after: Vec<f64>,    // (rows) λ⁺ of the last try
    /// (n) the sum of |B| e.
    pub shift: Vec<f64>,
    /// (n) B (P − P₁ − P₂).
    pub difference: Vec<f64>,
}

carom_solve::persist!(Multipliers { start, end, before, after, shift, difference });

/// What a step did: both halves, what they have less than the full one, and the outputs at the end.
pub(super) struct Done<'a> {
    pub t: f64,
    pub h: f64,
    pub halves: (&'a Reactions, &'a Reactions),
    /// (n) what the multipliers added in the full step beyond both halves.
    pub difference: &'a [f64],
    pub end: &'a Coupling,
    /// (n) from B λ to rates of the states; 1 where there are none.
    pub factors: &'a [f64],
}

impl Multipliers {
    /// Nothing is known of steps before.
    pub fn forget(&mut self) {
        (self.start, self.end) = (None, None);
    }

    /// Looks at a step of a system with `n` states that has just been tried.
    pub fn look(&mut self, done: &Done<'_>, n: usize) {
        let Done { t, h, halves: (first, second), .. } = *done;
        // the step before was accepted, or this one is another try
        let is_at = |time: Option<f64>| time.is_some_and(|time| (time - t).abs() <= 1e-6 * h);
        if is_at(self.end) {
            std::mem::swap(&mut self.before, &mut self.after);
            self.start = Some(t);
        } else if !is_at(self.start) {
            self.start = None;
        }
        let rows = second.impulse.len();
        let known = self.start.is_some() && self.before.len() == rows;
        self.shift.clear();
        self.shift.resize(n, 0.0);
        self.difference.clear();
        self.difference.resize(n, 0.0);
        self.after.clear();
        for row in 0..rows {
            let means = [first, second].map(|half| half.impulse.get(row).map_or(0.0, |p| p / (0.5 * h)));
            let law = second.law(row);
            let (missed, end) = change(&law, known.then(|| self.before[row]), means, h);
            self.after.push(end);
            let missed = missed + done.beyond(row, &law);
            for &(j, b) in entering(second).row(row) {
                self.shift[j] += (b * missed).abs();
            }
        }
        self.difference.copy_from_slice(done.difference);
        for values in [&mut self.shift, &mut self.difference] {
            values.iter_mut().zip(done.factors).for_each(|(x, factor)| *x *= factor);
        }
        self.end = Some(t + h);
    }
}

fn entering(reactions: &Reactions) -> &Rows {
    let c = &reactions.coupling;
    if c.input.is_empty() { &c.rows } else { &c.input }
}

/// (1), (2) and (3), and λ⁺.
fn change(law: &Law, start: Option<f64>, [first, second]: [f64; 2], h: f64) -> (f64, f64) {
    let (lower, upper) = law.bounds();
    let values = [start.unwrap_or(0.0), first, second, lower, upper];
    let size = values.iter().filter(|x| x.is_finite()).fold(0.0f64, |size, x| size.max(x.abs()));
    let side = |x: f64| i8::from(x >= upper - NEAR * size) - i8::from(x <= lower + NEAR * size);
    let is_inside = |x: f64| side(x) == 0;
    let mut missed = 0.0;
    let mut last = start;
    for lambda in [first, second] {
        if let Some(before) = last.filter(|before| side(lambda) != 0 && side(*before) != side(lambda)) {
            missed += 0.25 * h * (lambda - before).abs();
        }
        last = Some(lambda);
    }
    let Some(start) = start.filter(|_| is_inside(first) && is_inside(second)) else { return (missed, second) };
    if !is_inside(start) {
        let distance = (second - lower).min(upper - second);
        return (if distance.is_finite() { missed + 0.25 * h * distance } else { missed }, second);
    }
    let end = second + 0.5 * (second - first);
    let beyond = (lower - end).max(end - upper);
    if beyond > 0.0 {
        missed += 0.5 * beyond * (0.5 * h * beyond / (second - first).abs());
    }
    (missed, end.max(lower).min(upper))
}

impl Done<'_> {
    /// (4): the impulse that a passage through zero and back would have needed.
    fn beyond(&self, row: usize, law: &Law) -> f64 {
        let (first, second) = self.halves;
        let c = &second.coupling;
        let is_direct = !c.feedthrough.is_empty() && !c.feedthrough.row(row).is_empty();
        let outputs = [first.before.get(row), second.before.get(row), self.end.pairs.get(row).map(|pair| &pair.gap)];
        let ([Some(&y0), Some(&y1), Some(&y2)], false) = (outputs, is_direct || law.is_equality()) else { return 0.0 };
        let (lower, upper) = law.bounds();
        let sign = y0.signum();
        let (y0, y1, y2) = (sign * y0, sign * y1, sign * y2);
        // at y > 0 λ is at its lower bound, at y < 0 at its upper one
        let has_other_side = if sign > 0.0 { lower.is_finite() } else { upper.is_finite() };
        if !(y0 > 0.0 && y1 > 0.0 && y2 > 0.0 && has_other_side) {
            return 0.0;
        }
        // y0 + b s + a s²
        let (a, b) = (2.0 * (y0 - 2.0 * y1 + y2), 4.0 * y1 - 3.0 * y0 - y2);
        let depth = b * b / (4.0 * a) - y0;
        if !(a > 0.0 && b < 0.0 && -b < 2.0 * a && depth > 0.0) {
            return 0.0;
        }
        if (upper - lower).is_finite() {
            return (upper - lower) * 2.0 * (depth / a).sqrt() * self.h;
        }
        let entering = entering(second);
        let gain: f64 = c.rows.row(row).iter().map(|&(j, c)| c * value(entering.row(row), j)).sum();
        if gain > 0.0 { depth / gain } else { 0.0 }
    }
}

fn value(row: &[(usize, f64)], column: usize) -> f64 {
    row.iter().filter(|(j, _)| *j == column).map(|(_, x)| x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_a_relay() {
        let relay = Law::interval(-1.0, 1.0);
        let missed = |start: Option<f64>, means: [f64; 2]| change(&relay, start, means, 0.1).0;
        // sliding goes on; it ends in the last quarter, at 0.9 + 0.1 of 0.15: a third is left of the quarter
        assert_eq!(missed(Some(0.1), [0.2, 0.3]), 0.0);
        assert!((missed(Some(0.3), [0.6, 0.9]) - 0.5 * 0.05 * 0.1 * 0.5 * 0.05 / 0.3).abs() < 1e-18);
        // from one bound to the other, and from inside to a bound
        assert_eq!(missed(Some(-1.0), [1.0, 1.0]), 0.05);
        assert!((missed(Some(0.2), [0.6, 1.0]) - 0.01).abs() < 1e-16);
        // a relay that stays, and a start of which nothing is known
        assert_eq!(missed(Some(-1.0), [-1.0, -1.0]), 0.0);
        assert_eq!(missed(None, [0.7, 0.7]), 0.0);
        // sliding begins in the second half, or in the first
        assert_eq!(missed(Some(1.0), [1.0, 0.3]), 0.0);
        assert!((missed(Some(1.0), [0.5, 0.6]) - 0.01).abs() < 1e-16);
    }

    #[test]
    fn the_end_is_remembered_inside_the_bounds() {
        let end = |means| change(&Law::UNILATERAL, Some(1.0), means, 0.1).1;
        assert!((end([0.4, 0.3]) - 0.25).abs() < 1e-16);
        assert_eq!(end([0.4, 0.1]), 0.0);
        assert_eq!(end([0.1, 0.0]), 0.0);
    }
}
