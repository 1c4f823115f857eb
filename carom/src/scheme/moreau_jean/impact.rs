//! Impacts in a step: by other laws than Newton's, (5) of the scheme, and restitution along tangents.

use super::{STILL, Work};
use crate::impact::{Impacts, Tools, Touching, rebound};
use crate::{Mechanical, Reactions, State, Step, StepError, System};

/// Approaches up to this part of the fastest velocities met are what impacts of others have left of them.
const PASSED: f64 = 1e-13;

impl Work {
    /// (5): the velocities after the impact of the laws that act, where the impact law is another one than Newton's.
    #[inline(always)]
    pub(in crate::scheme) fn strike(
        &mut self,
        activation: Option<f64>,
        system: &mut System<'_, dyn Mechanical>,
        from: &State,
        step: &mut Step,
    ) -> Result<(), StepError> {
        if self.impacts.is_asked() {
            self.fastest = self.fastest.max(self.newton.speed(&from.v));
            return self.resolve(activation, system, from, step);
        }
        if !self.reactions.coupling.rebounds.is_empty() {
            self.turn_back(from);
        }
        Ok(())
    }

    /// e_T U_T on the tangents of contacts that close: one that slides on goes on as it is.
    #[cold]
    fn turn_back(&mut self, from: &State) {
        let mut k = 0;
        for &i in &self.laws.active {
            let (coupling, rows) = (&self.reactions.coupling, self.reactions.range(i));
            if self.closes(i, from) {
                for row in rows.clone().skip(1) {
                    let place = row - rows.start;
                    self.laws.shift[k + place] = rebound(coupling, i, place) * self.reactions.before[row];
                }
            }
            k += rows.len();
        }
    }

    /// Whether law `i` is a contact that approaches by more than rounding: of the velocities that it is made of now,
    /// and of the fastest ones that have passed through it.
    fn closes(&self, i: usize, from: &State) -> bool {
        let Reactions { coupling, before, .. } = &*self.reactions;
        let row = coupling.rows.row(coupling.offset[i]);
        let now = |sum: f64, &(j, c): &(usize, f64)| sum + c.abs() * (from.v[j].abs() + self.newton.v_free[j].abs());
        let least = (STILL * row.iter().fold(0.0, now)).max(PASSED * self.fastest * self.newton.size_of_row(row));
        coupling.pairs[i].law.is_contact() && before[coupling.offset[i]] < -least
    }

    #[cold]
    fn resolve(
        &mut self,
        activation: Option<f64>,
        system: &mut System<'_, dyn Mechanical>,
        from: &State,
        step: &mut Step,
    ) -> Result<(), StepError> {
        self.reactions.collisions.clear();
        self.laws.shift.fill(0.0);
        if !self.laws.active.iter().any(|&i| self.closes(i, from)) {
            return Ok(());
        }
        let Work { reactions, laws, lengths, impacts, struck, warnings, .. } = self;
        let coupling = &reactions.coupling;
        let law = |i: usize| &coupling.pairs[i].law;
        // contacts that touch take part as well: the impact of others may close what opens
        let acts = |i: usize| laws.active.binary_search(&i).is_ok();
        let touches = |i: usize| coupling.gap(i) <= lengths.activation(activation, coupling, i);
        struck.clear();
        struck.extend((0..coupling.len()).filter(|&i| match law(i).is_contact() {
            true => acts(i) || touches(i),
            false => law(i).is_equality(),
        }));
        let at = Touching { coupling, active: struck, v: &from.v };
        impacts.resolve(at, Tools { lhs: &*system.model, solver: &mut *system.solver, step })?;
        impacts.done.warn(coupling, from.t, warnings);
        struck.retain(|&i| law(i).is_contact() && impacts.done.impulse[coupling.offset[i]] > 0.0);
        if !struck.iter().all(|&i| acts(i)) {
            laws.active.extend_from_slice(struck);
            laws.active.sort_unstable();
            laws.active.dedup();
            self.recall(&*system.model);
        }
        self.take_impact();
        Ok(())
    }

    /// Shifts the rows of the laws that were struck by their velocities after the impact.
    fn take_impact(&mut self) {
        let Work { reactions, laws, impacts: Impacts { done, .. }, struck, .. } = self;
        laws.shift.fill(0.0);
        let mut k = 0;
        for &i in &laws.active {
            let rows = reactions.coupling.range(i);
            if struck.binary_search(&i).is_ok() {
                let shift = &mut laws.shift[k..k + rows.len()];
                shift.iter_mut().zip(&done.after[rows.clone()]).for_each(|(shift, u)| *shift = -u);
            }
            k += rows.len();
        }
        reactions.collisions.extend_from_slice(&done.collisions);
    }

    /// Work of contacts that were struck: that of their impacts, and a share of what forces have added by their normal
    /// impulses. The sum is that of impulses and mean velocities over the step.
    #[cold]
    pub(super) fn share_work(&mut self) {
        let Work { reactions, impacts: Impacts { done, .. }, struck, .. } = self;
        let mut work = std::mem::take(&mut reactions.work);
        work.extend((0..reactions.impulse.len()).map(|row| reactions.work(row)));
        let (mut left, mut pressed) = (0.0, 0.0);
        for &i in struck.iter() {
            pressed += reactions.normal(i);
            for row in reactions.range(i) {
                left += work[row] - done.work[row];
                work[row] = done.work[row];
            }
        }
        for &i in struck.iter().filter(|_| pressed > 0.0) {
            work[reactions.coupling.offset[i]] += left * reactions.normal(i) / pressed;
        }
        reactions.work = work;
    }
}
