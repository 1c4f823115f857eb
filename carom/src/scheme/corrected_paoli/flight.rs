//! The flight of the corrected Paoli-Schatzman scheme, equations (1) and (2) there: Crank-Nicolson with the contacts
//! that rest held.

use super::{CorrectedPaoli, Path, Work};
use crate::Mechanical;
use crate::scheme::{Step, StepError, System};

impl Work {
    /// The end of the flight becomes the state.
    pub(super) fn advance_to_end(&mut self) {
        std::mem::swap(&mut self.state, &mut self.ahead);
        self.book_flight(1.0);
    }

    /// Adds the part of a flight's impulses that belongs to the part of it that was flown.
    pub(super) fn book_flight(&mut self, part: f64) {
        let mut k = 0;
        for &i in &self.laws.active {
            for row in self.here.range(i) {
                let p = part * self.laws.problem.z.lambda[k];
                // velocities go linearly from the start to the end of the flight
                let end = self.u[row] + part * (self.laws.problem.z.u[k] - self.u[row]);
                let (drift, ahead) = (self.here.drift[row], self.laws.end.drift[row]);
                self.reactions.impulse[row] += p;
                self.reactions.work[row] += p * 0.5 * (self.u[row] + end);
                self.reactions.after[row] = end;
                self.driven[row] += p * (drift + 0.5 * part * (ahead - drift));
                k += 1;
            }
        }
    }

    /// What the laws that act begin with: the last impulses, and no impact law.
    fn guess(&mut self) {
        let rows = self.laws.active.iter().map(|&i| self.here.range(i).len()).sum();
        // a flight begins without contacts: the impulses of those that it will hold stay
        if rows > 0 {
            self.laws.problem.z.lambda.resize(rows, 0.0);
        }
        self.laws.shift.clear();
        self.laws.shift.resize(rows, 0.0);
    }
}

impl CorrectedPaoli {
    /// Flies over `h` with all contacts held that would not leave the wall for more than a part of the step.
    pub(super) fn fly(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let Work { here, laws, paths, u, .. } = &mut *w;
        laws.active.clear();
        paths.clear();
        for (i, pair) in here.pairs.iter().enumerate() {
            // outside its region a contact has no path
            let (counts, velocity) = (pair.law.is_contact() && here.is_present(i), u[here.offset[i]]);
            paths.push(Path { counts, gap: pair.gap, velocity, ..Path::default() });
            if !pair.law.is_contact() {
                laws.active.push(i);
            }
        }
        w.newton.begin(system.model, (&w.state, &mut w.ahead), h, step)?;
        w.lengths.meet(system.model, &w.state.q, &w.newton.v_free, h);
        for (i, path) in w.paths.iter_mut().enumerate().filter(|(_, path)| path.counts) {
            path.activation = w.lengths.activation(self.activation, &w.here, i);
        }
        // each pass holds at least one contact more
        loop {
            w.guess();
            w.newton.solve(&mut w.laws, system, (&w.state, &mut w.ahead), step)?;
            w.laws.couple_end(&w.newton, system.model, (&w.state, &w.ahead))?;
            if !self.hold_resting(w, h) {
                return Ok(());
            }
            w.newton.restart(system.model, (&w.state, &mut w.ahead), step)?;
        }
    }

    /// Looks where the flight leads the contacts; holds those that rest. Returns whether there are new ones.
    fn hold_resting(&self, w: &mut Work, h: f64) -> bool {
        let mut more = false;
        for (i, path) in w.paths.iter_mut().enumerate() {
            path.ahead = w.laws.end.pairs[i].gap;
            if !path.is_free() {
                continue;
            }
            path.bend = 2.0 * (path.ahead - path.gap - h * path.velocity) / (h * h);
            let pull = (-path.bend).max(0.0);
            // what a rebound that does not count may reach
            let speed = (path.activation / h).max(0.5 * self.stick * h * pull);
            let height = path.activation.max(0.5 * self.stick * h * h * pull);
            if path.gap <= height && path.velocity.abs() <= speed && path.ahead < path.gap.max(path.activation) {
                path.held = true;
                if path.gap <= path.activation {
                    w.lengths.doubt(path.gap, w.state.t, (&w.here, i), &mut w.warnings);
                }
                more = true;
                w.laws.active.push(i);
            }
        }
        w.laws.active.sort_unstable();
        more
    }
}
