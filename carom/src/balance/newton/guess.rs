//! The velocity from which Newton's loop starts: rates of the last steps go on as they did.
//!
//! ```text
//!     v⁺ ≈ v + h Σ_{k≤K} ∇ᵏ r,     r = (v⁺ − v)/h of the last step,   ∇ backward differences of steps of one h (1)
//! ```
//!
//! ∇ᵏ⁺¹ r is the error that the guess of the order k has made of the last step. K is raised as long as that halves it:
//! in smooth motion one iteration is then enough, and rates that jump from step to step are followed by none. The
//! impulses that the first A counts with go on in the same way.

use super::Newton;
use crate::State;

/// A guess of a higher order is taken where its error would have been less than this part of that of a lower one.
const BETTER: f64 = 0.5;

/// The largest order of a guess.
const ORDERS: usize = 4;

/// Numbers that change from step to step.
#[derive(Default)]
struct Course {
    difference: [Vec<f64>; ORDERS + 1], // ∇ᵏ
    known: usize,                       // how many of them there are
    last: Vec<f64>,                     // the difference behind those
}

impl Course {
    /// Takes the numbers of a step; `error` is told of each order and number what ∇ᵏ⁺¹ is.
    fn take(&mut self, new: &[f64], mut error: impl FnMut(usize, usize, f64)) {
        if self.last.len() != new.len() {
            self.known = 0;
        }
        self.last.clear();
        self.last.extend_from_slice(new);
        for (k, known) in self.difference[..self.known].iter_mut().enumerate() {
            for (j, (new, old)) in self.last.iter_mut().zip(known).enumerate() {
                let next = *new - std::mem::replace(old, *new);
                error(k, j, next);
                *new = next;
            }
        }
        if let Some(next) = self.difference.get_mut(self.known) {
            next.clone_from(&self.last);
            self.known += 1;
        }
    }

    /// Adds what the numbers change in the next step to those of the last one.
    fn follow(&self, order: usize, out: &mut [f64]) {
        for difference in self.difference[..self.known].iter().take(order + 1).skip(1) {
            out.iter_mut().zip(difference).for_each(|(out, d)| *out += d);
        }
    }
}

/// What is kept of the last steps.
#[derive(Default)]
pub(super) struct Guess {
    rate: Course,    // (n)
    impulse: Course, // (rows)
    step: f64,       // the length of these steps
}

impl Newton {
    /// Keeps the rate at which the velocity changed, as the guess for the next step; impulses belong to it only if they
    /// last.
    pub fn extrapolate(&mut self, (from, to): (&State, &State), passing: Option<&[f64]>) {
        let Newton { guess, rate, roots, braced, .. } = self;
        // a step without a guess begins another motion
        if rate.is_empty() || self.h != guess.step || passing.is_some() {
            (guess.rate.known, guess.impulse.known) = (0, 0);
        }
        guess.step = self.h;
        rate.clear();
        rate.extend(to.v.iter().zip(&from.v).map(|(b, a)| (b - a) / self.h));
        for (rate, dv) in rate.iter_mut().zip(passing.unwrap_or(&[])) {
            *rate -= dv / self.h;
        }
        let (known, mut errors) = (guess.rate.known, [0.0f64; ORDERS + 1]);
        guess.rate.take(rate, |k, j, change| errors[k] = errors[k].max(change.abs() * roots[j][0]));
        let mut order = 0;
        for k in 1..known {
            if errors[k] < BETTER * errors[order] {
                order = k;
            }
        }
        guess.rate.follow(order, rate);
        if !braced.is_empty() {
            guess.impulse.take(braced, |_, _, _| {});
            guess.impulse.follow(order, braced);
        }
    }
}
