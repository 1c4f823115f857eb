//! Newton's loop where the plain one fails.
//!
//! Far from the solution A may be indefinite: a stiff spring that the first iterate compresses buckles. Where the loop
//! fails with such an A, it is done again from v⁺ = v with A + σ M, which is positive definite for a σ that is large
//! enough. σ grows where the residual does not fall and goes to zero with it. Fixed point and test are the same.

use super::{Laws, Newton};
use crate::{Mechanical, State, Step, StepError, System};

/// The first σ, what it is multiplied by where an iterate is refused and divided by where one is taken, and where it
/// ends.
const SHIFT: f64 = 1.0;
const SHIFT_FACTOR: f64 = 10.0;
const SHIFTS: std::ops::RangeInclusive<f64> = 1e-2..=1e6;

impl Newton {
    /// Solves the balance as `solve` does, and with A + σ M where that fails with an indefinite A. Other failures are
    /// not tried again: laws that contradict each other should stay unsolved.
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
                self.shift = SHIFT;
                let solved = self.solve_shifted(laws, system, (from, to), step);
                self.shift = 0.0;
                self.invalidate();
                // the first failure tells more
                if matches!(solved, Ok(true)) && to.is_finite() { Ok(()) } else { Err(error) }
            }
            solved => solved,
        }
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
            match self.try_shifted(laws, system, (from, to), iterations, step) {
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

    /// An iterate with A + σ M. Returns whether it is the solution.
    fn try_shifted<L: Laws>(
        &mut self,
        laws: &mut L,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        iterations: u32,
        step: &mut Step,
    ) -> Result<bool, StepError> {
        self.free(system.model, to)?;
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
