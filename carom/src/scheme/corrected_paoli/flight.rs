//! The flight of the corrected Paoli-Schatzman scheme, equations (1) and (2) there: Crank-Nicolson with the contacts that rest held.

use super::{CorrectedPaoli, Path, Work};
use crate::Mechanical;
use crate::model::Combination;
use crate::scheme::gap_problem::unresolved;
use crate::scheme::{Step, StepError, System};
use carom_solve::{OneStepProblem, Parts, Solver};

impl Work {
    /// The end of the flight becomes the state.
    pub(super) fn advance_to_end(&mut self) {
        std::mem::swap(&mut self.state, &mut self.ahead);
        self.book_flight(1.0);
    }

    /// Adds the part of a flight's impulses that belongs to the part of it that was flown.
    pub(super) fn book_flight(&mut self, part: f64) {
        let mut k = 0;
        for &i in &self.members {
            for row in self.here.range(i) {
                let p = part * self.z.lambda[k];
                // velocities go linearly from the start to the end of the flight
                let end = self.u[row] + part * (self.z.u[k] - self.u[row]);
                self.reactions.impulse[row] += p;
                self.reactions.work[row] += p * 0.5 * (self.u[row] + end);
                self.reactions.after[row] = end;
                k += 1;
            }
        }
    }

    /// Fills `end` with the coupling at the end of the flight.
    fn couple_end(&mut self, model: &mut dyn Mechanical) -> Result<(), StepError> {
        Ok(self.end.fill(model, (self.ahead.t, &self.ahead.q), self.constancy.rows, &self.list)?)
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
        let Work { here, members, paths, u, state, force, .. } = &mut *w;
        members.clear();
        paths.clear();
        for (i, pair) in here.pairs.iter().enumerate() {
            // outside its region a contact has no path
            let (counts, velocity) = (pair.law.is_contact() && here.is_present(i), u[here.offset[i]]);
            paths.push(Path { counts, gap: pair.gap, velocity, ..Path::default() });
            if !pair.law.is_contact() {
                members.push(i);
            }
        }
        system.model.force(state.t, &state.q, &state.v, force)?;
        step.evaluations += 1;
        // each pass holds at least one contact more
        loop {
            self.crank_nicolson(w, system, h, step)?;
            w.couple_end(system.model)?;
            if !self.hold(w, h) {
                return Ok(());
            }
        }
    }

    /// Looks where the flight leads the contacts; holds those that rest. Returns whether there are new ones.
    fn hold(&self, w: &mut Work, h: f64) -> bool {
        let mut more = false;
        for (i, path) in w.paths.iter_mut().enumerate() {
            path.ahead = w.end.pairs[i].gap;
            if !path.is_free() {
                continue;
            }
            path.bend = 2.0 * (path.ahead - path.gap - h * path.velocity) / (h * h);
            let pull = (-path.bend).max(0.0);
            // what a rebound that does not count may reach
            let speed = (self.activation / h).max(0.5 * self.stick * h * pull);
            let height = self.activation.max(0.5 * self.stick * h * h * pull);
            if path.gap <= height && path.velocity.abs() <= speed && path.ahead < path.gap.max(self.activation) {
                path.held = true;
                more = true;
                w.members.push(i);
            }
        }
        w.members.sort_unstable();
        more
    }

    /// Solves (1) with (2) for the laws in `members`, from F at the start in `force`.
    fn crank_nicolson(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let System { model, solver } = system;
        w.ahead.v.copy_from_slice(&w.state.v);
        w.ahead.t = w.state.t + h;
        for iterations in 1u32.. {
            if iterations == 1 {
                self.place_end(w, *model, h);
                self.residual(w, *model, (h, true), step)?;
            }
            self.factor(w, *model, h)?;
            w.v_free.copy_from_slice(&w.balance);
            model.solve(&mut w.v_free);
            for (free, v) in w.v_free.iter_mut().zip(&w.ahead.v) {
                *free += v;
            }
            w.v_last.copy_from_slice(&w.ahead.v);
            w.ahead.v.copy_from_slice(&w.v_free);
            if !w.members.is_empty() {
                self.react(w, *model, *solver, step)?;
                for (v, dv) in w.ahead.v.iter_mut().zip(&w.z.response) {
                    *v += dv;
                }
            }
            step.iterations += 1;
            self.place_end(w, *model, h);
            if w.constancy.linear() || self.converged(w, *model, (h, iterations), step)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// q̂ = retract(q, (h/2)(v + v̂)) and q_m = retract(q, (h/4)(v + v̂)).
    fn place_end(&self, w: &mut Work, model: &dyn Mechanical, h: f64) {
        let Work { state, ahead, increment, middle, constancy, .. } = w;
        for ((d, a), b) in increment.iter_mut().zip(&state.v).zip(&ahead.v) {
            *d = 0.5 * h * (a + b);
        }
        model.retract(&state.q, increment, &mut ahead.q);
        if !constancy.linear() {
            increment.iter_mut().for_each(|d| *d *= 0.5);
            model.retract(&state.q, increment, &mut middle.q);
            middle.t = state.t + 0.5 * h;
            for ((m, a), b) in middle.v.iter_mut().zip(&state.v).zip(&ahead.v) {
                *m = 0.5 * (a + b);
            }
        }
    }

    /// (h/2)(F + F̂) − M(q_m)(v̂ − v), left in `balance`; at first v̂ is v. Returns the sizes of its parts.
    fn residual(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        (h, first): (f64, bool),
        step: &mut Step,
    ) -> Result<(f64, f64), StepError> {
        model.force(w.ahead.t, &w.ahead.q, &w.ahead.v, &mut w.force_ahead)?;
        step.evaluations += 1;
        let (mut push, mut inertia) = (0.0f64, 0.0f64);
        if first {
            w.balance.fill(0.0);
        } else {
            for ((d, a), b) in w.increment.iter_mut().zip(&w.ahead.v).zip(&w.state.v) {
                *d = a - b;
            }
            model.mass_mul(&w.middle.q, &w.increment, &mut w.balance)?;
        }
        for ((r, a), b) in w.balance.iter_mut().zip(&w.force).zip(&w.force_ahead) {
            let impulse = 0.5 * h * (a + b);
            inertia = inertia.max(r.abs());
            push = push.max(impulse.abs());
            *r = impulse - *r;
        }
        Ok((push, inertia))
    }

    /// A = M + (h/2) C + (h²/4) K; once per length where it is constant.
    fn factor(&self, w: &mut Work, model: &mut dyn Mechanical, h: f64) -> Result<(), StepError> {
        if w.constancy.matrix() && w.factored == Some(h) {
            return Ok(());
        }
        w.factored = None;
        model.factor(&w.ahead, Combination { mass: 1.0, damping: 0.5 * h, stiffness: 0.25 * h * h })?;
        w.factored = Some(h);
        Ok(())
    }

    /// The problem (2) at the latest q̂.
    fn react(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        solver: &mut dyn Solver,
        step: &mut Step,
    ) -> Result<(), StepError> {
        w.couple_end(model)?;
        if !w.constancy.rows {
            w.between.fill(model, (w.middle.t, &w.middle.q), false, &w.list)?;
        }
        let Work { end, between, constancy, members, laws, output, input, b, v_free, z, .. } = &mut *w;
        let directions = if constancy.rows { &*end } else { &*between };
        laws.clear();
        output.clear(v_free.len());
        input.clear(v_free.len());
        b.clear();
        for &i in members.iter() {
            laws.push(end.pairs[i].law);
            for row in end.range(i) {
                output.push_row_of(&end.rows, row);
                input.push_row_of(&directions.rows, row);
                b.push(end.rows.dot(row, v_free) + end.drift[row]);
            }
        }
        z.lambda.resize(b.len(), 0.0);
        solve(w, model, solver, step)
    }

    /// Whether the new iterate satisfies (1), with the reactions in `z`.
    fn converged(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        (h, iterations): (f64, u32),
        step: &mut Step,
    ) -> Result<bool, StepError> {
        let (push, inertia) = self.residual(w, model, (h, false), step)?;
        w.increment.copy_from_slice(&w.balance);
        let mut turned = 0.0f64;
        if !w.members.is_empty() {
            for k in 0..w.input.len() {
                w.input.add_row(k, w.z.lambda[k], &mut w.increment);
            }
            if !w.constancy.rows {
                // the velocity law at the new configuration
                w.couple_end(model)?;
                let mut k = 0;
                for &i in &w.members {
                    for row in w.end.range(i) {
                        turned = turned.max((w.end.rows.dot(row, &w.ahead.v) - w.output.dot(k, &w.ahead.v)).abs());
                        k += 1;
                    }
                }
            }
        }
        let residual = w.increment.iter().fold(0.0f64, |m, r| m.max(r.abs()));
        let speed = w.ahead.v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let scale = push.max(inertia);
        let rounding = if residual > self.newton_tolerance * scale {
            unresolved(model, (&w.ahead.q, &w.ahead.v), &mut w.increment)?
        } else {
            0.0
        };
        let tolerance = self.newton_tolerance * scale + rounding;
        if !(residual.is_finite() && turned.is_finite()) {
            return Err(StepError::NotFinite);
        }
        if residual <= tolerance && turned <= self.newton_tolerance * speed {
            return Ok(true);
        }
        // near an equilibrium forces cancel: positions cannot tell this iterate from the last one
        let change = w.ahead.v.iter().zip(&w.v_last).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        let reach = w.ahead.q.iter().fold(0.0f64, |m, q| m.max(q.abs()));
        if iterations > 2 && h * change <= 4.0 * f64::EPSILON * reach && turned <= self.newton_tolerance * speed {
            return Ok(true);
        }
        if iterations >= self.newton_iterations {
            return Err(StepError::Newton { residual, tolerance, iterations });
        }
        Ok(false)
    }
}

/// Solves the problem that is laid out in `w`.
pub(super) fn solve(
    w: &mut Work,
    model: &dyn Mechanical,
    solver: &mut dyn Solver,
    step: &mut Step,
) -> Result<(), StepError> {
    let parts = Parts { lhs: model, output: &w.output, input: &w.input, feedthrough: None, b: &w.b, laws: &w.laws };
    let problem = OneStepProblem::new(parts, &mut w.problem);
    let solved = solver.solve(&problem, &mut w.z);
    match solved {
        Ok(certificate) => {
            step.worst = step.worst.worse(certificate);
            step.solves += 1;
            Ok(())
        }
        Err(error) => {
            let law = error.certificate().and_then(|certificate| w.members.get(certificate.law));
            let contact = law.map(|&i| w.list[i]);
            Err(StepError::Solve { error: Box::new(error), contact })
        }
    }
}
