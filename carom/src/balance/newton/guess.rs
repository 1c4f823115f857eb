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
    difference: Vec<[f64; ORDERS + 1]>, // ∇ᵏ of each number
    known: usize,                       // how many orders of them are of the same motion
}

carom_solve::persist!(Course { difference, known });

impl Course {
    /// Takes number `j` of a step; returns ∇ᵏ⁺¹.
    #[inline(always)]
    fn take(&mut self, j: usize, mut new: f64) -> [f64; ORDERS + 1] {
        self.difference[j].each_mut().map(|old| {
            let next = new - std::mem::replace(old, new);
            new = next;
            next
        })
    }

    /// Ready for so many numbers, which begin another motion if they are others.
    #[inline(always)]
    fn begin(&mut self, len: usize) {
        if self.difference.len() != len {
            self.difference.resize(len, [0.0; ORDERS + 1]);
            self.known = 0;
        }
    }

    /// Number `j` of the next step, from the last one.
    #[inline(always)]
    fn follow(&self, j: usize, order: usize, last: f64) -> f64 {
        self.difference[j][1..=order].iter().fold(last, |number, change| number + change)
    }
}

/// What is kept of the last steps.
#[derive(Default)]
pub(super) struct Guess {
    rate: Course,    // (n)
    impulse: Course, // (rows)
    step: f64,       // the length of these steps
}

carom_solve::persist!(Guess { rate, impulse, step });

impl Newton {
    /// Keeps the rate at which the velocity changed, as the guess for the next step; impulses belong to it only if they
    /// last.
    pub fn extrapolate(&mut self, (from, to): (&State, &State), passing: Option<&[f64]>) {
        let Newton { guess, rate, roots, braced, .. } = self;
        let Guess { rate: course, impulse, .. } = guess;
        // a step without a guess begins another motion
        if rate.is_empty() || self.h != guess.step || passing.is_some() {
            (course.known, impulse.known) = (0, 0);
        }
        guess.step = self.h;
        course.begin(to.v.len());
        rate.resize(to.v.len(), 0.0);
        let mut errors = [0.0f64; ORDERS + 1];
        for (j, (rate, root)) in rate.iter_mut().zip(&*roots).enumerate() {
            *rate = (to.v[j] - from.v[j]) / self.h;
            if let Some(dv) = passing {
                *rate -= dv[j] / self.h;
            }
            let changes = course.take(j, *rate);
            errors.iter_mut().zip(changes).for_each(|(most, change)| *most = most.max(change.abs() * root[0]));
        }
        let mut order = 0;
        for k in 1..course.known {
            if errors[k] < BETTER * errors[order] {
                order = k;
            }
        }
        course.known = (course.known + 1).min(ORDERS + 1);
        if order > 0 {
            rate.iter_mut().enumerate().for_each(|(j, rate)| *rate = course.follow(j, order, *rate));
        }
        if !braced.is_empty() {
            impulse.begin(braced.len());
            impulse.known = (impulse.known + 1).min(ORDERS + 1);
            let order = order.min(impulse.known - 1);
            for (j, impulse_of) in braced.iter_mut().enumerate() {
                impulse.take(j, *impulse_of);
                *impulse_of = impulse.follow(j, order, *impulse_of);
            }
        }
    }
}
