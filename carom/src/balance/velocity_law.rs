//! Laws on velocities, as one-step problems inside Newton's loop.
//!
//! ```text
//!     u = C(output) v⁺ + ∂y/∂t + s,     v⁺ = v_free + A⁻¹ B P,     B = C(input)ᵀ         for the laws that act     (1)
//! ```
//!
//! Rows are taken at the places that the balance says, anew at each iterate; s is what an impact law adds on normal
//! rows, e U. Rows of equalities follow the iterate where the model knows how they turn: C v⁺ + h β Ċ (v⁺ − v^n), with
//! h β = ∂q/∂v⁺ there; long chains need that. The iteration is done when the rows at the new iterate leave u as it was
//! solved.
//!
//! Where equalities alone act, rows of an earlier iterate may go on: u = C v^n + C̃ (v⁺ − v^n) with C̃ of then, and B
//! of then besides B P of now. The elimination of C̃ and B is kept with them.

use super::axes::{self, Axis};
use super::newton::{Laws, Newton};
use super::problem::Problem;
use super::tangents;
use super::words::{Acting, Level, Place, impulse};
use crate::model::Bearing;
use crate::{ContactList, Coupling, Mechanical, ModelError, State, Step, StepError, System};
use carom_solve::Law;
use carom_solve::elementary::hypot;

/// Changes of bounds by reactions up to this part of the largest bound are none.
const STEADY: f64 = 1e-12;

/// Most times that a problem is solved for the sake of such bounds.
const MOST_BOUNDS: u32 = 100;

/// The laws that act, their rows and the problem they make; buffers keep their capacity.
#[derive(Default)]
pub(crate) struct VelocityLaws {
    pub list: ContactList,  // the laws of the step
    pub active: Vec<usize>, // those that act
    pub shift: Vec<f64>,    // (rows of those) s
    pub end: Coupling,      // where velocities are taken, q⁺ or q
    pub problem: Problem,
    axes: Vec<Axis>, // (rows of the problem) of the impulses in `problem.z`; empty where the model has none
    varying: Vec<Law>, // (laws) as they are in this step, if friction varies
    first: Vec<usize>, // (laws) first rows in the problem, where bounds follow reactions
    middle: Coupling, // where impulses act, if elsewhere
    turned: Vec<f64>, // (rows of the problem) what C̃ v is more than C v at the iterate
    size: Vec<f64>,  // (rows of the problem) what a velocity along a row is of those in √J
    change: Vec<f64>, // (rows of the problem) what C v at the new iterate is less than it was told to be
    now: Vec<f64>,   // (rows of the problem) C v at the new iterate
    now_is_current: bool,
    starts_as_ended: bool, // whether the step starts where the last one ended, with the velocities of its laws
    goes_on: bool,         // whether rows of the problem may serve for the next iterate
    end_is_current: bool,  // whether they are those of the iterate
    middle_is_current: bool,
    end_point: State,   // time and q of `end` after the last step
    end_is_kept: bool,  // whether `end` is still the coupling there
    kept: Vec<usize>,   // laws of the problem whose rows and W are kept, if the model is linear
    factorisation: u64, // for which they are
}

carom_solve::persist!(VelocityLaws {
    list,
    active,
    shift,
    end,
    problem,
    axes,
    varying,
    first,
    middle,
    turned,
    size,
    change,
    now,
    now_is_current,
    starts_as_ended,
    goes_on,
    end_is_current,
    middle_is_current,
    end_point,
    end_is_kept,
    kept,
    factorisation,
});

impl VelocityLaws {
    /// With room for a problem of all laws of a coupling.
    pub fn with_room(all: &Coupling) -> VelocityLaws {
        let room = || Vec::with_capacity(all.len());
        let mut laws = VelocityLaws { active: room(), kept: room(), ..VelocityLaws::default() };
        laws.shift.reserve(all.drift.len());
        laws.problem.make_room(all);
        laws
    }

    /// Laws, gaps and rows at the start of a step. Returns whether the laws have the numbers of the step before.
    #[inline(always)]
    pub fn start(
        &mut self,
        newton: &Newton,
        model: &mut dyn Mechanical,
        from: &State,
        coupling: &mut Coupling,
    ) -> Result<bool, ModelError> {
        let slack = 4.0 * f64::EPSILON * from.t.abs().max(newton.h);
        let point = &self.end_point;
        // the end of the last step, but for the rounding of time
        let begins_there = self.end_is_kept && (from.t - point.t).abs() <= slack && point.q == from.q;
        self.starts_as_ended = begins_there && self.active.len() == self.end.len() && point.v == from.v;
        self.end_is_kept = false;
        self.moved();
        if begins_there {
            std::mem::swap(&mut self.end, coupling);
            // a problem that is kept reads its rows from `end`, which now is a coupling of some earlier step
            if !(self.kept.is_empty() || self.end.has_keys(&self.list)) {
                self.kept.clear();
            }
            self.list.stay();
            return Ok(true);
        }
        let is_same = coupling.list(model, (from.t, &from.q), newton.constancy.rows, &mut self.list)?;
        if !is_same {
            self.kept.clear();
            self.goes_on = false;
        }
        Ok(is_same)
    }

    /// The step ends at `to`: a next one that starts there finds its coupling, if the last test of Newton's loop has
    /// left it.
    #[inline]
    pub fn keep_end(&mut self, newton: &Newton, to: &State) {
        self.end_is_kept = self.end_is_current && newton.balance.output != Place::START;
        if self.end_is_kept {
            self.end_point.t = to.t;
            self.end_point.q.clone_from(&to.q);
            self.end_point.v.clone_from(&to.v);
        }
    }

    /// Whether the step starts with the velocities along rows that the last one has ended with.
    pub fn starts_as_ended(&self) -> bool {
        self.starts_as_ended
    }

    /// Velocity along row `row` of the laws that act, the `k`-th of the problem, at the end of the step.
    #[inline]
    pub fn velocity(&self, (k, row): (usize, usize), v: &[f64]) -> f64 {
        if self.now_is_current { self.now[k] } else { self.end.rows.dot(row, v) }
    }

    /// Takes care that `end` is the coupling at the end of the step, which a next one that starts there takes over.
    /// Returns whether it is: not where the model lists other laws there.
    pub fn couple_to(&mut self, newton: &Newton, model: &mut dyn Mechanical, to: &State) -> Result<bool, ModelError> {
        let point = &mut self.end_point;
        let is_there = self.end_is_kept && point.t == to.t && point.q == to.q;
        if !is_there && newton.balance.output != Place::START {
            point.t = to.t;
            point.q.clone_from(&to.q);
            // velocities along its rows are asked for anew
            point.v.clear();
            let asked = self.end.ask(model, (to.t, &to.q), newton.constancy.rows);
            self.end_is_kept = asked.is_ok() && self.end.has_keys(&self.list);
            if !self.end_is_kept {
                // a problem that is kept has the rows of this coupling
                self.kept.clear();
            }
            asked?;
        }
        Ok(self.end_is_kept)
    }

    /// The coupling at the end of the step, where it is kept.
    pub fn kept_end(&self) -> Option<&Coupling> {
        self.end_is_kept.then_some(&self.end)
    }

    /// The coupling of the end does not count any more.
    pub fn drop_end(&mut self) {
        self.end_is_kept = false;
    }

    /// The iterate has moved.
    #[inline]
    pub fn moved(&mut self) {
        (self.end_is_current, self.middle_is_current, self.now_is_current) = (false, false, false);
    }

    /// The coupling at the end of the iterate, unless it is there.
    #[inline]
    pub fn couple_end(
        &mut self,
        newton: &Newton,
        model: &mut dyn Mechanical,
        (from, to): (&State, &State),
    ) -> Result<(), ModelError> {
        if self.end_is_current {
            return Ok(());
        }
        let at = if newton.balance.output == Place::START { from } else { to };
        self.end.fill(model, (at.t, &at.q), newton.constancy.rows, &self.list)?;
        self.end_is_current = true;
        Ok(())
    }

    /// All couplings of the iterate, unless they are there.
    #[inline]
    pub fn couple(
        &mut self,
        newton: &Newton,
        model: &mut dyn Mechanical,
        ends: (&State, &State),
    ) -> Result<(), ModelError> {
        self.couple_end(newton, model, ends)?;
        if newton.acts_in_middle && !self.middle_is_current {
            self.middle.fill(model, newton.middle(), false, &self.list)?;
            tangents::align(&mut self.middle, &self.end);
            self.middle_is_current = true;
        }
        Ok(())
    }

    /// The impulses that the laws which act begin with are written along the rows of this coupling.
    #[inline]
    pub fn note_axes(&mut self, newton: &Newton, model: &dyn Mechanical, coupling: &Coupling) {
        // equalities have no tangents
        if newton.constancy.rows || self.goes_on {
            self.axes.clear();
        } else {
            axes::note(model, coupling, &self.active, &mut self.axes);
        }
    }

    /// Whether rows, laws and W of the last problem still hold.
    #[inline]
    pub fn is_kept(&self, newton: &Newton) -> bool {
        self.factorisation == newton.factorisations && self.kept == self.active && self.varying.is_empty()
    }

    /// Sets the laws of this step, where they are not those of the couplings.
    pub fn set_laws(&mut self, laws: impl Iterator<Item = Law>) {
        self.varying.clear();
        self.varying.extend(laws);
    }

    /// Law `i` of the step.
    #[inline]
    fn law(&self, i: usize) -> Law {
        self.varying.get(i).copied().unwrap_or(self.end.pairs[i].law)
    }

    /// The problem (1) at the couplings that are there, with rows that do not turn.
    pub fn lay_out(&mut self, newton: &Newton, again: bool) {
        if !again {
            self.set_laws_and_rows(newton, false);
        }
        self.set_free(newton);
    }

    /// Laws and rows of (1). With `takes` the rows of the couplings are not needed any more.
    fn set_laws_and_rows(&mut self, newton: &Newton, takes: bool) {
        let takes_all = takes && newton.acts_in_middle && self.active.len() == self.end.len();
        // equalities stay what they are as long as the list does
        let is_known = takes_all && self.goes_on && self.problem.laws.len() == self.active.len();
        if !(is_known && self.varying.is_empty()) {
            self.problem.laws.clear();
            for &i in &self.active {
                self.problem.laws.push(self.varying.get(i).copied().unwrap_or(self.end.pairs[i].law));
            }
            self.goes_on = !newton.constancy.rows && self.problem.laws.iter().all(Law::is_equality);
        }
        let Problem { output, input, .. } = &mut self.problem;
        if takes_all {
            // all of them: nothing is copied, and models write the next ones over those of the last problem
            std::mem::swap(output, &mut self.end.rows);
            std::mem::swap(input, &mut self.middle.rows);
            (self.end_is_current, self.middle_is_current) = (false, false);
        } else {
            output.clear(newton.v_free.len());
            input.clear(newton.v_free.len());
            let directions = if newton.acts_in_middle { &self.middle } else { &self.end };
            for row in self.active.iter().flat_map(|&i| self.end.range(i)) {
                output.push_row_of(&self.end.rows, row);
                input.push_row_of(&directions.rows, row);
            }
        }
        self.turned.clear();
        self.turned.resize(self.problem.output.len(), 0.0);
        self.size.clear();
        self.size.extend(self.problem.output.iter().map(|row| newton.size_of_row(row)));
    }

    /// b of (1).
    fn set_free(&mut self, newton: &Newton) {
        self.problem.b.clear();
        for &i in &self.active {
            for row in self.end.range(i) {
                let k = self.problem.b.len();
                let free = self.problem.output.dot(k, &newton.v_free) - self.turned[k];
                self.problem.b.push(free + self.end.drift[row] + self.shift[k]);
            }
        }
    }

    /// Lets the rows of equalities follow the iterate in `to`.
    fn turn(&mut self, newton: &Newton, model: &mut dyn Mechanical, to: &State) {
        let reach = newton.h * newton.balance.output.beta;
        if newton.constancy.rows || reach == 0.0 {
            return;
        }
        // rows of the problem that are those of the coupling, from the first one on
        let same = self.active.iter().enumerate().take_while(|(k, i)| k == *i && self.problem.laws[*k].is_equality());
        let rows = self.end.offset[same.count()];
        model.turn_rows((&to.q, &to.v), reach, &mut self.problem.output, &mut self.turned[..rows]);
    }

    /// Laws that act, with their impulses, as the derivative of a balance wants them; `level` tells what is zero on a
    /// normal row.
    pub fn acting<'a>(
        &'a self,
        newton: &'a Newton,
        level: impl Fn(usize) -> Level + 'a,
    ) -> impl Iterator<Item = Acting> + 'a {
        let output = newton.balance.output;
        let input = if newton.acts_in_middle { newton.balance.input } else { output };
        let mut first = 0;
        self.active.iter().map(move |&index| {
            let law = self.law(index);
            let impulse = impulse(&self.problem.z.lambda[first..first + law.size()]);
            first += law.size();
            Acting { index, law, impulse, level: level(index), input, output, slope: None }
        })
    }
}

impl Laws for VelocityLaws {
    #[inline]
    fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    #[inline]
    fn react(
        &mut self,
        newton: &mut Newton,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        first: bool,
        step: &mut Step,
    ) -> Result<(), StepError> {
        if newton.keeps {
            self.turned.iter_mut().zip(&self.change).for_each(|(turned, change)| *turned += change);
            self.set_free(newton);
            return self.solve(newton, system, true, step);
        }
        // rows, laws and W of the last problem may still hold; obstacles may have another speed by now
        let again = self.is_kept(newton);
        if !(again && newton.constancy.drift) {
            if first && !(newton.constancy.rows && newton.constancy.drift) {
                newton.place_end(system.model, (from, to));
            }
            self.couple(newton, system.model, (from, to))?;
        }
        if !again {
            self.set_laws_and_rows(newton, !newton.constancy.rows);
            self.turn(newton, system.model, to);
            let Problem { output, laws, z, .. } = &mut self.problem;
            axes::turn(|row| system.model.axis(row), (output, laws), &mut self.axes, &mut z.lambda);
        }
        self.set_free(newton);
        self.solve(newton, system, again, step)
    }

    #[inline]
    fn response(&self) -> &[f64] {
        &self.problem.z.response
    }

    #[inline]
    fn follow(
        &mut self,
        newton: &Newton,
        model: &mut dyn Mechanical,
        ends: (&State, &State),
        _: bool,
    ) -> Result<bool, StepError> {
        self.moved();
        if !newton.constancy.rows && !self.active.is_empty() {
            self.couple(newton, model, ends)?;
        }
        Ok(false)
    }

    fn add_reactions(&self, newton: &Newton, out: &mut [f64]) {
        let directions = if newton.acts_in_middle { &self.middle } else { &self.end };
        let mut impulses = self.problem.z.lambda.iter();
        for &i in &self.active {
            self.end.range(i).zip(&mut impulses).for_each(|(row, p)| directions.rows.add_row(row, *p, out));
        }
    }

    fn add_sizes(&self, acts_in_middle: bool, out: &mut [f64]) {
        let directions = if acts_in_middle { &self.middle } else { &self.end };
        let mut impulses = self.problem.z.lambda.iter();
        for &i in &self.active {
            for (row, p) in self.end.range(i).zip(&mut impulses) {
                directions.rows.row(row).iter().for_each(|&(j, x)| out[j] += (x * p).abs());
            }
        }
    }

    fn missed(&mut self, _: &Newton, v: &[f64], allowed: f64) -> f64 {
        self.change.clear();
        self.now.clear();
        let mut most = 0.0f64;
        for row in self.active.iter().flat_map(|&i| self.end.range(i)) {
            let k = self.change.len();
            let now = self.end.rows.dot(row, v);
            let change = self.problem.output.dot(k, v) - self.turned[k] - now;
            // where v is zero there is nothing to miss
            if change != 0.0 {
                most = most.max(change.abs() / (allowed * self.size[k]));
            }
            self.change.push(change);
            self.now.push(now);
        }
        self.now_is_current = true;
        most
    }

    fn goes_on(&self) -> bool {
        self.goes_on
    }

    fn impulses(&self, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.end.drift.len(), 0.0);
        let mut impulses = self.problem.z.lambda.iter();
        for &i in &self.active {
            self.end.range(i).zip(&mut impulses).for_each(|(row, p)| out[row] = *p);
        }
    }

    fn tolerance(&self, allowed: f64) -> f64 {
        allowed
    }

    fn certified(&self) -> f64 {
        if self.active.is_empty() { 0.0 } else { self.problem.residual }
    }
}

impl VelocityLaws {
    /// Solves the problem that is laid out from the guess in its `z`.
    #[inline]
    pub fn solve(
        &mut self,
        newton: &Newton,
        system: &mut System<'_, dyn Mechanical>,
        again: bool,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let VelocityLaws { problem, active, list, .. } = self;
        let solved =
            problem.solve((&*system.model, &mut *system.solver), again, step, |law| Some(list[*active.get(law)?]));
        if newton.is_linear && !again {
            self.kept.clone_from(&self.active);
            self.factorisation = newton.factorisations;
        }
        solved?;
        if system.model.bearings().is_empty() { Ok(()) } else { self.bear(system, step) }
    }

    /// Bounds by reactions: the problem is solved with those of its last solution, until they stay.
    fn bear(&mut self, system: &mut System<'_, dyn Mechanical>, step: &mut Step) -> Result<(), StepError> {
        self.first.clear();
        let mut row = 0;
        for &i in &self.active {
            self.first.resize(i, usize::MAX);
            self.first.push(row);
            row += self.end.range(i).len();
        }
        for iterations in 1.. {
            let (change, size) = self.bound(system.model.bearings());
            if change <= STEADY * size {
                return Ok(());
            }
            if iterations > MOST_BOUNDS {
                return Err(StepError::Newton { residual: change / size, tolerance: STEADY, iterations });
            }
            let VelocityLaws { problem, active, list, .. } = self;
            let key = |law: usize| Some(list[*active.get(law)?]);
            problem.solve((&*system.model, &mut *system.solver), true, step, key)?;
        }
        Ok(())
    }

    /// Sets the bounds that follow reactions; returns their largest change and the largest of them.
    fn bound(&mut self, bearings: &[Bearing]) -> (f64, f64) {
        let (mut change, mut size) = (0.0f64, 0.0f64);
        for bearing in bearings {
            let Ok(place) = self.active.binary_search(&bearing.law) else { continue };
            let reaction = |law: &usize| match self.first.get(*law) {
                Some(&row) if row != usize::MAX => self.problem.z.lambda[row],
                _ => 0.0,
            };
            let load = bearing.load.iter().map(reaction).fold(0.0f64, hypot);
            let (_, upper) = self.law(bearing.law).bounds();
            let bound = upper + bearing.coefficient * load;
            let (_, last) = self.problem.laws[place].bounds();
            (change, size) = (change.max((bound - last).abs()), size.max(bound));
            self.problem.laws[place] = Law::interval(-bound, bound);
        }
        (change, size)
    }
}
