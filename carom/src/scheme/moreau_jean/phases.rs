//! The phases of a Moreau-Jean step; equation numbers are those of the scheme. Projected schemes are made of the same
//! phases.

use super::{MoreauJean, ReactionDirection, Work};
use crate::model::Combination;
use crate::scheme::StepError;
use crate::scheme::gap_problem::{cancelled, unresolved};
use crate::{Mechanical, State};
use carom_solve::{OneStepProblem, Parts, Solver};

/// The iteration matrix is made anew where an iteration reduces the residual by less than this factor.
const SLOW: f64 = 0.05;

/// How far an iterate is from the solution.
pub(in crate::scheme) struct Residual {
    /// Of the impulse balance (1), and what is allowed [N s].
    pub(in crate::scheme) residual: f64,
    pub(in crate::scheme) tolerance: f64,
    /// Whether the rows at the new iterate leave the velocity law as it was solved.
    pub(in crate::scheme) turned: bool,
}

impl Work {
    /// Whether `end` is the coupling at this state, but for the rounding of time.
    #[inline]
    pub(in crate::scheme) fn ends_at(&self, state: &State) -> bool {
        let slack = 4.0 * f64::EPSILON * state.t.abs().max(self.h);
        self.kept && (state.t - self.at.0).abs() <= slack && self.at.1 == state.q
    }

    /// Keeps the rate at which the velocity changed; impulses belong to it only if they lasted.
    fn extrapolate(&mut self, from: &State, to: &State) {
        let lasting = self.active.is_empty() || self.had_acted == self.active;
        self.rate.clear();
        let change = to.v.iter().zip(&from.v).map(|(b, a)| (b - a) / self.h);
        self.rate.extend(change);
        if !lasting {
            for (rate, dv) in self.rate.iter_mut().zip(&self.z.response) {
                *rate -= dv / self.h;
            }
        }
        self.had_acted.clone_from(&self.active);
    }

    /// Coupling and relative velocities at the start. Returns whether the laws have the numbers of the step before.
    #[inline(always)]
    pub(in crate::scheme) fn start(&mut self, model: &mut dyn Mechanical, from: &State) -> Result<bool, StepError> {
        std::mem::swap(&mut self.last, &mut self.reactions);
        let coupling = &mut self.reactions.coupling;
        let is_same = coupling.list(model, (from.t, &from.q), self.constancy.rows, &mut self.list)?;
        if !is_same {
            self.renumber();
        }
        self.reactions.start(&from.v);
        Ok(is_same)
    }

    /// The list has changed: what was kept of the last step belongs to other numbers.
    #[cold]
    fn renumber(&mut self) {
        self.was_active.clear();
        // a law that is gone gets a number that no law has: what acts now is another set then
        self.had_acted.iter_mut().for_each(|j| *j = self.list.after(*j).unwrap_or(usize::MAX));
        self.had_acted.sort_unstable();
    }

    /// Starts a step whose coupling at the start is the one at the end of the last step; `end` has to be filled anew.
    pub(in crate::scheme) fn start_from_end(&mut self, from: &State) {
        std::mem::swap(&mut self.last, &mut self.reactions);
        std::mem::swap(&mut self.end, &mut self.reactions.coupling);
        self.list.stay();
        self.reactions.start(&from.v);
    }
}

impl MoreauJean {
    /// v_free = v^n + A⁻¹ (h F − M (v^n − v)), with v^n in `to`.
    #[inline(always)]
    pub(in crate::scheme) fn free(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        to: &State,
    ) -> Result<(), StepError> {
        if w.due {
            self.factor(w, model)?;
        }
        w.v_free.copy_from_slice(&w.balance);
        model.solve(&mut w.v_free);
        for (free, v) in w.v_free.iter_mut().zip(&to.v) {
            *free += v;
        }
        Ok(())
    }

    /// v⁺ = v_free + A⁻¹ B P.
    #[inline(always)]
    pub(in crate::scheme) fn update(w: &Work, to: &mut State) {
        to.v.copy_from_slice(&w.v_free);
        if !w.active.is_empty() {
            for (v, dv) in to.v.iter_mut().zip(&w.z.response) {
                *v += dv;
            }
        }
    }

    /// The first iterate, the matrix A there and its impulse balance. Where Newton's loop is needed, v⁺ goes on changing as it did last
    /// time: in smooth motion one iteration is then enough.
    #[inline(always)]
    pub(in crate::scheme) fn restart(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        from: &State,
        to: &mut State,
    ) -> Result<(), StepError> {
        to.v.clone_from(&from.v);
        to.t = from.t + w.h;
        let extrapolates = !w.rate.is_empty();
        if extrapolates {
            for (v, rate) in to.v.iter_mut().zip(&w.rate) {
                *v += w.h * rate;
            }
        }
        self.place_theta(w, model, from, to);
        // the matrix first: a model may share work between tangents and forces; but a force that is no number is the better error
        let factored = self.factor(w, model);
        model.force(w.at_theta.t, &w.at_theta.q, &w.at_theta.v, &mut w.force)?;
        factored?;
        if extrapolates {
            for (d, (a, b)) in w.increment.iter_mut().zip(to.v.iter().zip(&from.v)) {
                *d = a - b;
            }
            model.mass_mul(&w.at_theta.q, &w.increment, &mut w.balance)?;
            for (r, f) in w.balance.iter_mut().zip(&w.force) {
                *r = w.h * f - *r;
            }
        } else {
            for (r, f) in w.balance.iter_mut().zip(&w.force) {
                *r = w.h * f;
            }
        }
        w.residual = f64::INFINITY;
        Ok(())
    }

    /// (2): `(q_θ, v_θ)` that belong to the velocity in `to`, and to the displacement of a projection.
    #[inline]
    pub(in crate::scheme) fn place_theta(&self, w: &mut Work, model: &dyn Mechanical, from: &State, to: &State) {
        for ((m, a), b) in w.at_theta.v.iter_mut().zip(&from.v).zip(&to.v) {
            *m = (1.0 - self.theta) * a + self.theta * b;
        }
        let weight = w.h * self.theta;
        for (d, v) in w.increment.iter_mut().zip(&w.at_theta.v) {
            *d = weight * v;
        }
        for (d, x) in w.increment.iter_mut().zip(&w.displacement) {
            *d += self.theta * x;
        }
        model.retract(&from.q, &w.increment, &mut w.at_theta.q);
        w.at_theta.t = from.t + weight;
    }

    /// `q⁺ = retract(q, h v_θ)`, moved on by the displacement of a projection; leaves the argument in `increment`.
    #[inline]
    pub(in crate::scheme) fn place_end(&self, w: &mut Work, model: &dyn Mechanical, from: &State, to: &mut State) {
        let (start, end) = (w.h * (1.0 - self.theta), w.h * self.theta);
        for ((d, a), b) in w.increment.iter_mut().zip(&from.v).zip(&to.v) {
            *d = start * a + end * b;
        }
        for (d, x) in w.increment.iter_mut().zip(&w.displacement) {
            *d += x;
        }
        model.retract(&from.q, &w.increment, &mut to.q);
    }

    /// A = M + hθC + h²θ²K at θ; once per step size where it is constant.
    #[inline(always)]
    pub(in crate::scheme) fn factor(&self, w: &mut Work, model: &mut dyn Mechanical) -> Result<(), StepError> {
        if w.constancy.matrix() && w.factored == Some(w.h) {
            return Ok(());
        }
        let x = w.h * self.theta;
        w.factored = None;
        w.was_active.clear();
        model.factor(&w.at_theta, Combination { mass: 1.0, damping: x, stiffness: x * x })?;
        w.factored = Some(w.h);
        w.due = false;
        Ok(())
    }

    /// The laws that act: bilateral ones and boxes always, contacts by the forecast of their gap.
    #[inline(always)]
    pub(in crate::scheme) fn activate(&self, w: &mut Work) {
        w.active.clear();
        for (i, pair) in w.reactions.coupling.pairs.iter().enumerate() {
            let closed = !pair.law.is_contact() || {
                let row = w.reactions.coupling.offset[i];
                let u = w.reactions.before[row];
                let forecast = self.forecast.gap(w.reactions.coupling.gap(i), w.h, u, || {
                    let free = w.reactions.coupling.rows.dot(row, &w.v_free) + w.reactions.coupling.drift[row];
                    self.theta * free + (1.0 - self.theta) * u
                });
                forecast <= self.activation
            };
            if closed {
                w.active.push(i);
            }
        }
    }

    /// The coupling whose rows are C: at q⁺, or at q for `reaction = "start"`.
    pub(super) fn couple_end(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        (from, to): (&State, &State),
    ) -> Result<(), StepError> {
        let at = if self.reaction == ReactionDirection::Start { from } else { to };
        Ok(w.end.fill(model, (at.t, &at.q), w.constancy.rows, &w.list)?)
    }

    /// The problem at the latest q⁺; what does not depend on it is kept.
    pub(super) fn problem(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        ends: (&State, &State),
    ) -> Result<(), StepError> {
        // rows, laws and W of the last problem may still hold; obstacles may have another speed by now
        let kept = w.constancy.rows && w.was_active == w.active;
        if !(kept && w.constancy.drift) {
            self.couple_end(w, model, ends)?;
        }
        self.lay_out(w, model)
    }

    /// b = C(q⁺) v_free + ∂y/∂t + e U on normal rows, and the directions B, from the coupling in `end`.
    pub(in crate::scheme) fn lay_out(&self, w: &mut Work, model: &mut dyn Mechanical) -> Result<(), StepError> {
        if !(w.constancy.rows && w.was_active == w.active) {
            let mid = self.reaction == ReactionDirection::Mid && !w.constancy.rows;
            if mid {
                w.middle.fill(model, (w.at_theta.t, &w.at_theta.q), false, &w.list)?;
            }
            w.laws.clear();
            w.output.clear(model.dim());
            w.input.clear(model.dim());
            for &i in &w.active {
                w.laws.push(w.reactions.coupling.pairs[i].law);
                for row in w.reactions.coupling.range(i) {
                    w.output.push_row_of(&w.end.rows, row);
                    w.input.push_row_of(if mid { &w.middle.rows } else { &w.end.rows }, row);
                }
            }
            w.was_active.clear();
        }
        w.b.clear();
        for &i in &w.active {
            let normal = w.reactions.coupling.offset[i];
            for row in w.reactions.coupling.range(i) {
                let restitution = if row == normal {
                    w.reactions.coupling.pairs[i].restitution * w.reactions.before[row]
                } else {
                    0.0
                };
                w.b.push(w.end.rows.dot(row, &w.v_free) + w.end.drift[row] + restitution);
            }
        }
        Ok(())
    }

    /// Solves for P from the last one as the guess, keeping W where nothing but b has changed.
    pub(in crate::scheme) fn solve(
        w: &mut Work,
        model: &dyn Mechanical,
        solver: &mut dyn Solver,
    ) -> Result<carom_solve::Certificate, StepError> {
        let parts = Parts { lhs: model, output: &w.output, input: &w.input, feedthrough: None, b: &w.b, laws: &w.laws };
        let again = w.constancy.linear() && w.was_active == w.active;
        let problem = if again {
            OneStepProblem::again(parts, &mut w.problem)
        } else {
            OneStepProblem::new(parts, &mut w.problem)
        };
        let solved = solver.solve(&problem, &mut w.z);
        if w.constancy.linear() {
            w.was_active.clone_from(&w.active);
        }
        solved.map_err(|error| {
            let law = error.certificate().map(|c| c.law);
            let contact = law.and_then(|law| w.active.get(law)).map(|&i| w.reactions.coupling.pairs[i].key);
            StepError::Solve { error: Box::new(error), contact }
        })
    }

    /// Whether P > 0, for each acting law: w P_N > u_N rather than P_N > 0, so that the rounded zeros of a solver do
    /// not count.
    pub(in crate::scheme) fn pressed(w: &mut Work, model: &dyn Mechanical, out: &mut Vec<bool>) {
        out.clear();
        if w.active.is_empty() {
            return;
        }
        let parts = Parts { lhs: model, output: &w.output, input: &w.input, feedthrough: None, b: &w.b, laws: &w.laws };
        let problem = OneStepProblem::again(parts, &mut w.problem);
        let delassus = problem.delassus();
        out.extend((0..w.laws.len()).map(|k| {
            let row = problem.rows(k).start;
            w.z.lambda[row] > 0.0 && delassus.scale(k) * w.z.lambda[row] > w.z.u[row]
        }));
    }

    /// Whether the new iterate is the solution.
    pub(super) fn converged(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        ends: (&State, &State),
        iterations: u32,
    ) -> Result<bool, StepError> {
        let turning = !w.active.is_empty() && !w.constancy.rows;
        if turning && self.reaction != ReactionDirection::Start {
            self.couple_end(w, model, ends)?;
        }
        let Residual { residual, tolerance, turned } = self.residual(w, model, ends)?;
        if residual <= tolerance && turned {
            return Ok(true);
        }
        if iterations >= self.newton_iterations {
            return Err(StepError::Newton { residual, tolerance, iterations });
        }
        Ok(false)
    }

    /// Residual of (1) at the new iterate and its coupling in `end`, left in `balance` without the reactions for the
    /// next pass.
    pub(in crate::scheme) fn residual(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        (from, to): (&State, &State),
    ) -> Result<Residual, StepError> {
        let h = w.h;
        let (mut scale, mut inertia, mut jump) = (0.0f64, 0.0f64, 0.0f64);
        model.force(w.at_theta.t, &w.at_theta.q, &w.at_theta.v, &mut w.force)?;
        for (d, (a, b)) in w.increment.iter_mut().zip(to.v.iter().zip(&from.v)) {
            *d = a - b;
            jump = jump.max(d.abs());
        }
        model.mass_mul(&w.at_theta.q, &w.increment, &mut w.balance)?;
        for (r, f) in w.balance.iter_mut().zip(&w.force) {
            inertia = inertia.max(r.abs());
            scale = scale.max((h * f).abs());
            *r = h * f - *r;
        }
        // B P with B at the new configuration, and the change that this makes to the velocity law
        w.increment.copy_from_slice(&w.balance);
        let mut turned = 0.0f64;
        if !w.active.is_empty() {
            turned = self.turn(w, model, to)?;
            scale = scale.max(inertia);
        }
        let residual = w.increment.iter().fold(0.0f64, |m, r| m.max(r.abs()));
        let speed = to.v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // M (v⁺ − v) carries the rounding of M v, which is |v|/|v⁺ − v| times larger
        let rounding = if jump > 0.0 {
            16.0 * f64::EPSILON * inertia * (speed / jump).max(1.0)
        } else if residual > self.newton_tolerance * scale {
            unresolved(model, (&w.at_theta.q, &to.v), &mut w.increment)?
        } else {
            0.0
        };
        let mut tolerance = self.newton_tolerance * scale + rounding;
        if !(residual.is_finite() && turned.is_finite()) {
            return Err(StepError::NotFinite);
        }
        // A is kept as long as the iterates converge quickly with it
        w.due = residual > SLOW * w.residual;
        w.residual = residual;
        if w.due && residual > tolerance {
            tolerance += h * cancelled(model, &w.at_theta, &w.force, (&mut w.at.1, &mut w.increment))?;
        }
        Ok(Residual { residual, tolerance, turned: turned <= self.newton_tolerance * speed })
    }

    /// Adds B(q⁺) P to `increment`; returns by how much C(q⁺) v⁺ differs from what the law was solved with.
    pub(super) fn turn(&self, w: &mut Work, model: &mut dyn Mechanical, to: &State) -> Result<f64, StepError> {
        let mid = self.reaction == ReactionDirection::Mid && !w.constancy.rows;
        if mid {
            w.middle.fill(model, (w.at_theta.t, &w.at_theta.q), false, &w.list)?;
        }
        let directions = if mid { &w.middle.rows } else { &w.end.rows };
        let (mut k, mut turned) = (0, 0.0f64);
        for &i in &w.active {
            for row in w.reactions.coupling.range(i) {
                directions.add_row(row, w.z.lambda[k], &mut w.increment);
                turned = turned.max((w.end.rows.dot(row, &to.v) - w.output.dot(k, &to.v)).abs());
                k += 1;
            }
        }
        Ok(turned)
    }

    /// The impulses of the last step as the guess for this one, contact by contact.
    #[inline(always)]
    pub(in crate::scheme) fn guess(w: &mut Work) {
        w.z.lambda.clear();
        for &i in &w.active {
            let size = w.reactions.coupling.range(i).len();
            match w.list.before(i).and_then(|j| w.last.impulse_of(j)).filter(|impulse| impulse.len() == size) {
                Some(impulse) => w.z.lambda.extend_from_slice(impulse),
                None => w.z.lambda.resize(w.z.lambda.len() + size, 0.0),
            }
        }
    }

    /// Impulses and velocities after the step, law by law; how the velocity changed, as the guess for the next step.
    #[inline(always)]
    pub(in crate::scheme) fn report(w: &mut Work, (from, to): (&State, &State)) {
        if !w.constancy.linear() {
            w.extrapolate(from, to);
        }
        let mut k = 0;
        for &i in &w.active {
            for row in w.reactions.coupling.range(i) {
                w.reactions.impulse[row] = w.z.lambda[k];
                w.reactions.after[row] = w.end.rows.dot(row, &to.v) + w.end.drift[row];
                w.reactions.obstacle[row] = 0.5 * (w.reactions.coupling.drift[row] + w.end.drift[row]);
                k += 1;
            }
        }
    }
}
