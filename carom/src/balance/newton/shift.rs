//! Newton's loop where the plain one fails.
//!
//! Far from the solution A may be indefinite: a stiff spring that the first iterate compresses buckles. Where the loop
//! fails with such an A, it is done again from v⁺ = v with A + σ M, which is positive definite for a σ that is large
//! enough. σ grows where the residual does not fall and goes to zero with it.
//!
//! A has no part of the change of the directions B. Where a short arm turns fast, as that of a pin in its hole,
//! iterates jump from one side of the solution to the other. A loop that fails with rows that change is done again with
//! iterates that are mixed (`mixing.rs`). Fixed points and tests are the same in all loops.
//!
//! Contacts that hold more than there is to hold agree on velocities in the range of their rows C. With B of another
//! place the range of C A⁻¹ B is another one, and a problem in which such contacts stick may have no solution. A loop
//! that fails is therefore done with B = Cᵀ of the same place at last. That helps in some such steps, not in all:
//! jammed contacts with friction need not have a solution there either.

use super::super::mixing::PARTS;
use super::{Laws, Newton};
use crate::{Mechanical, State, Step, StepError, System};

/// The first σ, what it is multiplied by where an iterate is refused and divided by where one is taken, and where it
/// ends.
const SHIFT: f64 = 1.0;
const SHIFT_FACTOR: f64 = 10.0;
const SHIFTS: std::ops::RangeInclusive<f64> = 1e-2..=1e6;

impl Newton {
    /// Solves the balance as `solve` does, with A + σ M where that fails with an indefinite A, and with mixed iterates
    /// where it does not converge otherwise.
    #[inline(always)]
    pub fn solve_or_shift<L: Laws>(
        &mut self,
        laws: &mut L,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<(), StepError> {
        match self.solve(laws, system, (from, to), step) {
            Err(error @ (StepError::Newton { .. } | StepError::NotFinite | StepError::Solve { .. }))
                if !self.constancy.matrix() && self.is_indefinite(system.model) =>
            {
                (self.shift, self.keeps) = (SHIFT, false);
                let solved = self.solve_shifted(laws, system, (from, to), step);
                self.shift = 0.0;
                self.invalidate();
                // the first failure tells more
                if matches!(solved, Ok(true)) && to.is_finite() { Ok(()) } else { Err(error) }
            }
            // the first failure tells more
            Err(error @ (StepError::Newton { .. } | StepError::Solve { .. }))
                if !self.constancy.rows && !laws.is_empty() =>
            {
                let is_solved = matches!(error, StepError::Newton { .. })
                    && self.solve_mixed(laws, system, (from, to), step).is_ok()
                    || self.acts_in_middle
                        && !laws.goes_on()
                        && self.solve_at_end(laws, system, (from, to), step).is_ok();
                if is_solved { Ok(()) } else { Err(error) }
            }
            solved => solved,
        }
    }

    /// The loop with directions of impulses that are taken where velocities are.
    #[cold]
    fn solve_at_end<L: Laws>(
        &mut self,
        laws: &mut L,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<(), StepError> {
        let input = std::mem::replace(&mut self.balance.input, self.balance.output);
        self.acts_in_middle = false;
        let begun = self.restart(system.model, (from, to), step);
        let solved = match begun.and_then(|()| self.solve(laws, system, (from, to), step)) {
            Err(StepError::Newton { .. }) => self.solve_mixed(laws, system, (from, to), step),
            solved => solved,
        };
        (self.balance.input, self.acts_in_middle) = (input, true);
        solved
    }

    /// The loop with mixed iterates, from the first one; the test is made at what they lead to.
    #[cold]
    fn solve_mixed<L: Laws>(
        &mut self,
        laws: &mut L,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<(), StepError> {
        let mut solved = Ok(());
        for part in PARTS {
            self.restart(system.model, (from, to), step)?;
            self.begin_mixing(part, 0);
            self.place_end(system.model, (from, to));
            laws.follow(self, system.model, (from, to), false)?;
            solved = self.iterate(laws, system, (from, to), true, step);
            if !matches!(solved, Err(StepError::Newton { .. })) {
                break;
            }
        }
        solved
    }

    /// Starts a loop with iterates that are mixed with β, in which so many numbers follow the velocities.
    pub fn begin_mixing(&mut self, part: f64, following: usize) {
        let Newton { mixing, roots, displacement, h, .. } = self;
        let squares = |unit: f64| roots.iter().map(move |root| (root[0] * unit).powi(2));
        let displaced = squares(1.0 / *h).take(displacement.len());
        mixing.begin(part, squares(1.0).chain(displaced).chain(std::iter::repeat_n(0.0, following)));
    }

    /// Mixes the new iterate with those before, and finds the residual.
    #[cold]
    pub(super) fn mix<L: Laws>(
        &mut self,
        laws: &mut L,
        model: &mut dyn Mechanical,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<(), StepError> {
        self.mixing.mix(&mut [(&mut to.v[..], &self.taken.0[..])]);
        self.place_end(model, (from, to));
        self.place(model, (from, to));
        laws.follow(self, model, (from, to), false)?;
        self.residual(laws, model, (from, to))?;
        step.evaluations += 1;
        self.keeps = false;
        Ok(())
    }

    /// Whether a diagonal entry of A⁻¹ is negative, which no positive definite A has; leaves `v_free` undefined.
    #[cold]
    fn is_indefinite(&mut self, model: &mut dyn Mechanical) -> bool {
        (0..self.v_free.len()).any(|j| {
            self.v_free.fill(0.0);
            self.v_free[j] = 1.0;
            model.solve(&mut self.v_free);
            self.v_free[j] < 0.0
        })
    }

    /// The loop with A + σ M. Returns whether the balance is solved.
    #[cold]
    fn solve_shifted<L: Laws>(
        &mut self,
        laws: &mut L,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<bool, StepError> {
        let mut least = f64::INFINITY;
        self.taken.0.copy_from_slice(&from.v);
        for iterations in 1..=self.limits.iterations {
            // the last iterate that was taken, with its laws
            to.v.copy_from_slice(&self.taken.0);
            self.place_end(system.model, (from, to));
            self.place(system.model, (from, to));
            laws.follow(self, system.model, (from, to), false)?;
            if iterations == 1 {
                self.force(system.model)?;
                step.evaluations += 1;
                self.taken.1.copy_from_slice(&self.impulse);
            }
            self.balanced.copy_from_slice(&self.taken.1);
            self.last = least;
            self.refactor = true;
            let free = self.free(system.model, to);
            match free.and_then(|()| self.try_once(laws, system, (from, to), iterations, step)) {
                Ok(true) => return Ok(true),
                Ok(false) if self.last < least => {
                    least = self.last;
                    self.taken.0.copy_from_slice(&to.v);
                    self.taken.1.copy_from_slice(&self.balanced);
                    self.shift /= SHIFT_FACTOR;
                    if self.shift < *SHIFTS.start() {
                        self.shift = 0.0;
                    }
                }
                _ => self.shift = (self.shift * SHIFT_FACTOR).max(SHIFT),
            }
            if self.shift > *SHIFTS.end() {
                break;
            }
        }
        Ok(false)
    }

    /// The iterate after the one whose free motion is there. Returns whether it is the solution.
    fn try_once<L: Laws>(
        &mut self,
        laws: &mut L,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        iterations: u32,
        step: &mut Step,
    ) -> Result<bool, StepError> {
        if !laws.is_empty() {
            laws.react(self, system, (from, to), false, step)?;
        }
        self.update(laws, to);
        step.iterations += 1;
        self.place_end(system.model, (from, to));
        self.place(system.model, (from, to));
        laws.follow(self, system.model, (from, to), false)?;
        step.evaluations += 1;
        self.converged(laws, system.model, (from, to), iterations)
    }
}
