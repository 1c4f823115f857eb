//! The parts of a step: where it starts, the smooth motion with its rejections, and what is left to another scheme.

use super::memory::Resume;
use super::monitors::SHORTEST;
use super::options::{Control, Drift, EventDriven, Flow};
use super::search::FirstEvent;
use super::smooth::LEAST;
use super::{MoreauJean, Resolution, Trial, Work};
use crate::phase::{Acceleration, Mode, Reach};
use crate::{EventKind, Mechanical, ModelError, Scheme, State, Step, StepError, System};
use carom_solve::elementary::powf;

/// Most trials in a step.
const TRIALS: u32 = 100;

/// Lobatto's rules of orders 6 and 8: weight of both ends, inner points with their weights.
const LOBATTO: [(f64, &[(f64, f64)]); 2] = [
    (1.0 / 12.0, &[(0.27639320225002106, 5.0 / 12.0), (0.7236067977499789, 5.0 / 12.0)]),
    (1.0 / 20.0, &[(0.1726731646460114, 49.0 / 180.0), (0.5, 16.0 / 45.0), (0.8273268353539885, 49.0 / 180.0)]),
];

/// A slip that stops within this part of the longest step that the driver has asked for has stopped.
const STOP: f64 = 1e-12;

/// A slip in space with this many times the relative tolerance of the velocities behind it is at rest, at most with
/// this part of them: what is slower has no direction that a step could follow.
const SLOW: f64 = 10.0;
const SLOWEST: f64 = 1e-7;

/// Steps of stiff phases that fail are halved down to this part of that of the driver.
const LEAST_STIFF: f64 = 1e-4;

/// Time constants of friction across a slip in an explicit step.
const STIFF: f64 = 30.0;

/// By how much the step of the method of stiff phases grows in a step without it.
const GROWS: f64 = 1.5;

/// The least part of a hand-over that is tried where its balance is not met.
const SHORTENED: f64 = 1.0 / 16.0;

/// A step that was done.
pub(super) struct Done {
    /// Time advanced [s].
    pub advanced: f64,
    /// Whether all is known at its end, for the start of the next one.
    pub is_continuous: bool,
}

impl EventDriven {
    /// The phase of the step and the point where it starts.
    pub(super) fn begin(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        from: &State,
        h: f64,
    ) -> Result<(), StepError> {
        w.trial.span = h;
        let sizes = &mut w.transition.acceleration.sizes;
        sizes.time = sizes.time.max(h);
        let span = sizes.time;
        if w.memory.since.is_none_or(|since| since > from.t) {
            w.memory.since = Some(from.t);
        }
        let resume = w.memory.resume(from, &w.trial.start.state, span);
        let mut is_evaluated = false;
        match resume {
            Resume::Known { is_continuous } => {
                w.transition.phase.copy_from(&w.memory.ended);
                let same_contacts = w.transition.resume(from)?;
                if is_continuous && same_contacts {
                    std::mem::swap(&mut w.trial.start, &mut w.trial.end);
                    w.trial.start.state.t = from.t;
                } else {
                    w.trial.start.state.copy_from(from);
                    w.evaluate_start(system)?;
                    is_evaluated = true;
                }
            }
            Resume::Repeat => {
                w.transition.phase.copy_from(&w.memory.begun);
                if !w.transition.resume(from)? {
                    w.evaluate_start(system)?;
                }
            }
            Resume::Fresh => {
                w.state.copy_from(from);
                w.resolve(self);
                w.transition.sorting = self.sorting(w.memory.count.is_stalled(), span);
                let entered = w.transition.enter(system, &mut w.state, false);
                w.stop_slip_on_paradox(system, entered)?;
                w.trial.start.state.copy_from(&w.state);
                w.evaluate_start(system)?;
                is_evaluated = true;
            }
        }
        w.memory.begin(&w.transition.phase);
        w.resolve(self);
        // a step that is done again has met its start
        if resume != Resume::Repeat {
            w.meet(system.model, is_evaluated);
        }
        Ok(())
    }

    /// Smooth motion over at most `h`, and the event that ends it.
    pub(super) fn motion(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
    ) -> Result<Done, StepError> {
        let start = &w.trial.start.state;
        let Some(reach) = w.transition.reach(system, start, h)? else {
            w.state.copy_from(start);
            let stopped = w.transition.stop(system, &mut w.state);
            w.stop_slip_on_paradox(system, stopped)?;
            w.smooth.clear_dense();
            w.memory.slow = None;
            w.memory.count.add(w.state.t, (w.state.t + h, self.max_events), w.span());
            return Ok(Done { advanced: 0.0, is_continuous: false });
        };
        let mut length = self.choose_method(w, system, reach);
        let smallest = self.smallest(&w.transition.acceleration.sizes);
        let mut last = StepError::NotFinite;
        for _ in 0..TRIALS {
            let moved = self.advance(w, system, length);
            let is_parting = w.contradicts();
            let tried = if is_parting {
                // redundant contacts part on the way: the step is no step of one phase, and its error says nothing
                self.part(w, system, length)
            } else {
                moved.and_then(|()| self.search(w, system, length))
            };
            let shorter = match tried {
                Ok(Some(found)) => {
                    if let Some(done) = self.finish(w, system, (found, length), h)? {
                        return Ok(done);
                    }
                    let (contact, gap) = self.passed(w).unwrap_or((crate::Key(0), 0.0));
                    last = StepError::Tunnelled { gap, contact };
                    0.5
                }
                Ok(None) => {
                    last = StepError::TooSmall { h: length, error: w.trial.judged.error };
                    if w.trial.judged.accepted { 0.5 } else { w.trial.judged.factor.min(0.9) }
                }
                Err(error @ (StepError::Solve { .. } | StepError::Projection { .. })) => return Err(error),
                Err(StepError::Model(error)) if matches!(*error, ModelError::Contacts { .. }) => {
                    return Err((*error).into());
                }
                // a slip too slow to tell its stiffness
                Err(error) if w.smooth.is_stiff() && length < LEAST_STIFF * w.trial.span => {
                    last = error;
                    w.smooth.set_stiff(system.model, false);
                    self.first(w, reach.turn) / length
                }
                Err(error) => {
                    last = error;
                    0.5
                }
            };
            w.trial.rejected += 1;
            let controlled = self.control != Control::Fixed;
            let must_fit = controlled || is_parting || matches!(last, StepError::Tunnelled { .. });
            if !must_fit || length <= smallest {
                return Err(last);
            }
            w.memory.sizes.reject();
            length = (shorter * length).max(smallest);
        }
        Err(last)
    }

    /// Chooses the method of the step, and its length.
    fn choose_method(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>, reach: Reach) -> f64 {
        let length = w.memory.slow.unwrap_or(reach.length).min(reach.length).min(self.h_max.unwrap_or(f64::MAX));
        let stiff = self.control != Control::Fixed && reach.stiffness * length > STIFF;
        if w.smooth.set_stiff(system.model, stiff) { length } else { self.first(w, reach.turn) }
    }

    /// The step to try first.
    fn first(&self, w: &mut Work, h: f64) -> f64 {
        let next = w.memory.sizes.next(w.method() == Flow::Dop853);
        if self.control == Control::Fixed {
            return h;
        }
        let wanted = next.or(self.first_step).unwrap_or(h).min(self.h_max.unwrap_or(f64::MAX));
        if wanted >= h * (1.0 - 1e-9) { h } else { wanted }
    }

    /// Judges the trial over `length` and looks for its first event: nothing if it is rejected.
    fn search(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        length: f64,
    ) -> Result<Option<FirstEvent>, StepError> {
        let method = w.method();
        let ends = (&w.trial.start.state, &w.trial.end.state);
        let error = match self.control {
            Control::Fixed => 0.0,
            Control::Eps | Control::Epus => {
                let tolerances = self.tolerances(&w.transition.acceleration.sizes);
                w.smooth.error(method, ends, length, tolerances)
            }
        };
        w.trial.judged = self.judge(method, error, length, &w.transition.acceleration.sizes);
        if !w.trial.judged.accepted {
            return Ok(None);
        }
        w.evaluate_end(system)?;
        let may_reject = self.control != Control::Fixed && length > self.smallest(&w.transition.acceleration.sizes);
        if self.drift == Drift::Reject && may_reject && self.has_drifted(w, &w.trial.end.state.v) {
            return Ok(None);
        }
        let found = w.search(system, length, may_reject)?;
        if self.control_impulses && may_reject && length > SHORTEST * w.trial.span {
            let judged = self.judge(method, w.impulse_error(length, self), length, &w.transition.acceleration.sizes);
            if !judged.accepted {
                w.trial.judged = judged;
                return Ok(None);
            }
            w.trial.judged.factor = w.trial.judged.factor.min(judged.factor);
        }
        Ok((found != FirstEvent::Unresolved).then_some(found))
    }

    /// Ends an accepted step at its end or at the event found in it. Nothing if a gap was passed unseen.
    fn finish(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (found, length): (FirstEvent, f64),
        h: f64,
    ) -> Result<Option<Done>, StepError> {
        let mut advanced = length;
        let mut happens = false;
        if found != FirstEvent::None {
            let Some(located) = self.locate(w, system, found, length)? else { return Ok(None) };
            (advanced, happens) = (located.u, located.happens);
            // the last trial of a bracket may be another one
            if w.method() == Flow::Dop853 && w.smooth.is_other_flight(advanced) {
                self.advance(w, system, advanced)?;
            }
            w.fill_dense(system.model, advanced);
        }
        if self.passed(w).is_some() {
            return Ok(None);
        }
        if w.smooth.has_fourth() && advanced >= LEAST * w.span() {
            // the last trial of a bracket may be another one
            self.advance(w, system, advanced)?;
            let ends = (&w.trial.start.state, &w.trial.end.state);
            w.smooth.fill_fourth(system.model, w.transition.evaluator(), ends, advanced)?;
        }
        self.book(w, system, advanced)?;
        let smallest = self.smallest(&w.transition.acceleration.sizes);
        if w.smooth.is_stiff() {
            w.memory.slow = Some(length * w.trial.judged.factor);
        } else {
            // the method of stiff phases is tried again once its steps may have grown
            w.memory.slow = w.memory.slow.map(|slow| GROWS * slow);
            w.memory.sizes.propose(length, w.trial.judged.factor, smallest);
        }
        let is_continuous = if happens {
            w.memory.slow = None;
            let end = w.trial.start.state.t + h;
            w.memory.count.add(w.trial.end.state.t, (end, self.max_events), w.span());
            let changed = self.change(w, system);
            w.stop_slip_on_paradox(system, changed)?;
            if w.transition.is_evaluated {
                w.trial.end.state.copy_from(&w.state);
                w.trial.end.take(&w.transition);
            }
            w.memory.sizes.limit(self.restart_step.unwrap_or(f64::MAX));
            w.transition.is_evaluated
        } else {
            w.state.copy_from(&w.trial.end.state);
            !self.correct(w, system)?
        };
        Ok(Some(Done { advanced, is_continuous }))
    }

    /// `end` ← the flow over `h` from `start`.
    pub(super) fn advance(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
    ) -> Result<(), StepError> {
        let (start, end) = (&w.trial.start, &mut w.trial.end.state);
        w.smooth.advance(system.model, w.transition.evaluator(), (start, h), end)
    }

    /// Accelerations at `end`, where gaps are known and no law acts.
    pub(super) fn complete(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        if !w.transition.phase.is_free() {
            return w.evaluate_end(system);
        }
        let State { t, q, v } = &w.trial.end.state;
        let (phase, acceleration) = w.transition.evaluator();
        acceleration.evaluate(system.model, phase, (*t, q, v))?;
        w.trial.end.a.copy_from_slice(&acceleration.value);
        Ok(())
    }

    /// Back onto the constraints, where they have drifted; returns whether they have.
    fn correct(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>) -> Result<bool, StepError> {
        let drifts = self.drift == Drift::Project && self.has_drifted(w, &w.state.v);
        if drifts {
            w.transition.project(system, &mut w.state)?;
        }
        Ok(drifts)
    }

    /// Whether constraints of the phase have drifted at the point of the coupling at hand, with the velocity `v`.
    fn has_drifted(&self, w: &Work, v: &[f64]) -> bool {
        if w.transition.phase.is_free() || self.drift_limit == Some(0.0) {
            return false;
        }
        let (coupling, sizes) = (&w.transition.acceleration.coupling, &w.transition.acceleration.sizes);
        coupling.pairs.iter().enumerate().any(|(i, pair)| {
            let rows = match w.transition.phase.mode(i) {
                Mode::Open => return false,
                Mode::Held | Mode::Slip(_) => 1,
                Mode::Stick => coupling.range(i).len(),
            };
            let is_off = |row: usize| {
                let u = coupling.rows.dot(row, v) + coupling.drift[row];
                u.abs() > self.most_drift(sizes.speed(coupling.rows.row(row), v))
            };
            pair.gap.abs() > self.most_drift(sizes.length(coupling, i)) || coupling.range(i).take(rows).any(is_off)
        })
    }

    /// Impulses and work of the reactions over the smooth part, by Lobatto's rule on the multipliers of (2): of order
    /// 6, and of order 8 where obstacles do work.
    fn book(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>, h: f64) -> Result<(), StepError> {
        if w.transition.phase.is_free() {
            w.transition.account.multipliers(&[]);
            return Ok(());
        }
        w.transition.account.multipliers(&w.trial.end.lambda);
        let (outer, inner) = w.rule();
        let ends = |a: &[f64], b: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(a.iter().zip(b).map(|(a, b)| h * outer * (a + b)));
        };
        ends(&w.trial.start.lambda, &w.trial.end.lambda, &mut w.sums.impulse);
        ends(&w.trial.start.power, &w.trial.end.power, &mut w.sums.work);
        ends(&w.trial.start.driven, &w.trial.end.driven, &mut w.sums.driven);
        let add = |x: &[f64], weight: f64, out: &mut [f64]| {
            out.iter_mut().zip(x).for_each(|(out, x)| *out += h * weight * x);
        };
        let is_sampled = w.trial.inner_length == Some(h);
        for &(s, weight) in inner {
            if !is_sampled {
                w.sample(system, s)?;
            }
            let known = if s < 0.5 { 0 } else { 1 + usize::from(s == 0.5) };
            let point = if is_sampled { &w.trial.inner[known] } else { &w.trial.middle };
            add(&point.lambda, weight, &mut w.sums.impulse);
            add(&point.power, weight, &mut w.sums.work);
            add(&point.driven, weight, &mut w.sums.driven);
        }
        w.transition.account.smooth(&w.sums.impulse, &w.sums.work, &w.sums.driven);
        // the coupling belongs to the end again
        w.couple_end(system)
    }

    /// A part of the step by the Moreau-Jean scheme; returns its length.
    pub(super) fn hand_over(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (from, h): (&State, f64),
        error: Option<StepError>,
        step: &mut Step,
    ) -> Result<f64, StepError> {
        let hopeless = w.transition.account.reactions.is_empty() || w.transition.phase.is_free();
        match error {
            Some(error @ (StepError::Model(_) | StepError::Tunnelled { .. } | StepError::Inside { .. })) => {
                return Err(error);
            }
            Some(error @ (StepError::TooSmall { .. } | StepError::NotFinite)) if hopeless => return Err(error),
            _ => {}
        }
        let scheme = MoreauJean::default();
        let mut length = h.min(self.hand_over_part(&w.transition.acceleration.sizes));
        let least = SHORTENED * length;
        w.invalidate();
        w.transition.events.clear();
        w.transition.account.start(system.model, false, from)?;
        let part = loop {
            scheme.drop_factors(&mut w.rest);
            let again = System { model: &mut *system.model, solver: &mut *system.solver };
            match scheme.step(&mut w.rest, again, from, length, &mut w.state) {
                // rows that vanish with their gap are known the better the shorter the way is
                Err(StepError::Newton { .. }) if length > least => length *= 0.25,
                part => break part?,
            }
        };
        w.invalidate();
        (step.worst, step.solves, step.evaluations) = (part.worst, part.solves, part.evaluations);
        w.transition.account.part(scheme.reactions(&w.rest), from.t)?;
        // nothing is known of the modes
        w.transition.phase.open(&w.transition.account.reactions.coupling);
        w.transition.couple(system.model, &w.state)?;
        w.transition.events.push(EventKind::HandOver, None, from, &w.state);
        w.smooth.clear_dense();
        w.memory.lose(&w.transition.phase);
        Ok(length)
    }
}

impl Work {
    /// Starts the books of a step.
    pub(super) fn reset(&mut self, system: &mut System<'_, dyn Mechanical>, from: &State) -> Result<(), StepError> {
        let constant = self.transition.acceleration.constancy().rows;
        self.transition.start(system.model, constant, from)?;
        self.trial.rejected = 0;
        Ok(())
    }

    /// The model was factored by someone else.
    pub(super) fn invalidate(&mut self) {
        self.transition.acceleration.invalidate();
        self.smooth.invalidate();
    }

    /// The rule for impulses of the step from `start` to `end`.
    pub(super) fn rule(&self) -> (f64, &'static [(f64, f64)]) {
        let works = self.trial.start.driven.iter().chain(&self.trial.end.driven).any(|x| *x != 0.0);
        LOBATTO[usize::from(works)]
    }

    /// The error of the impulses of a step of length h, by the velocity that they amount to, in units of the
    /// tolerances. Simpson's rule differs from that of `rule` by O(h⁵), of which the error is the power that its order
    /// tells.
    fn impulse_error(&self, h: f64, scheme: &EventDriven) -> f64 {
        let Trial { start, inner, end, inner_length, .. } = &self.trial;
        // multipliers of redundant contacts are not unique
        if *inner_length != Some(h) || start.monitors.iter().any(|monitor| monitor.parts[0].is_nan()) {
            return 0.0;
        }
        let (outer, places) = self.rule();
        let (weight, middle, power) = match places {
            [(_, weight), (_, middle), _] => (*weight, *middle, 2.0),
            _ => (places[0].1, 0.0, 1.5),
        };
        let mut worst = 0.0f64;
        let (coupling, sizes) = (&self.transition.acceleration.coupling, &self.transition.acceleration.sizes);
        for (row, w) in self.transition.acceleration.held_masses() {
            let [a, b, c, d, e] = [start, &inner[0], &inner[2], &inner[1], end]
                .map(|point| point.lambda.get(row).copied().unwrap_or(0.0));
            let size = [a, b, c, d, e].iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
            let miss = outer * (a + e) + weight * (b + d) + middle * c - (a + 4.0 * c + e) / 6.0;
            let change = w.abs() * h * size;
            let atol = scheme.absolute(sizes.speed(coupling.rows.row(row), &end.state.v).max(change));
            worst = worst.max(change * powf(miss.abs() / size, power) / (atol + scheme.rtol * change));
        }
        worst
    }

    /// The method of the phase.
    pub(super) fn method(&self) -> Flow {
        self.smooth.method(&self.transition.phase)
    }

    /// The dense output of the step from `start` to `end`.
    pub(super) fn fill_dense(&mut self, model: &dyn Mechanical, h: f64) {
        self.smooth.fill_dense(model, &self.transition.phase, (&self.trial.start, &self.trial.end), h);
    }

    /// What is too small to be followed from `state` on.
    pub(super) fn resolve(&mut self, scheme: &EventDriven) {
        self.transition.extend(&self.state, self.trial.span);
        let (flight, slip) = (STOP * self.span(), (SLOW * scheme.rtol).clamp(0.0, SLOWEST));
        self.transition.resolution = Resolution { flight, speed: scheme.veps, gap: scheme.geps, rise: 0.25, slip };
    }

    /// The longest step that the driver has asked for [s].
    pub(super) fn span(&self) -> f64 {
        self.transition.acceleration.sizes.time
    }

    /// Meets the start of a step; forces that reactions cancel count where it was evaluated just now. Others count over
    /// the step that is proposed: those that grow without bound do not loosen the tolerance by which it shrinks.
    fn meet(&mut self, model: &dyn Mechanical, is_evaluated: bool) {
        let next = self.memory.sizes.next(self.method() == Flow::Dop853);
        let Acceleration { sizes, free, .. } = &mut self.transition.acceleration;
        let (start, span) = (&self.trial.start, self.trial.span);
        let forces = if is_evaluated { (&free[..], span) } else { (&start.a[..], next.map_or(span, |h| h.min(span))) };
        sizes.meet(model, &start.state, forces, span);
        self.smooth.follow(sizes);
    }

    /// Fills `start` at its state.
    fn evaluate_start(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.trial.start.evaluate(&mut self.transition, system)
    }

    /// Fills `end` at its state.
    pub(super) fn evaluate_end(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.trial.end.evaluate(&mut self.transition, system)
    }

    /// The next phase at `state`.
    pub(super) fn choose_phase(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.transition.choose_phase(system, &mut self.state, true)
    }

    /// Passes a change on; where the contact problem of a slip has no solution, stops the slip by an impulse first.
    fn stop_slip_on_paradox(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        changed: Result<(), StepError>,
    ) -> Result<(), StepError> {
        match changed {
            Err(error @ StepError::Solve { .. }) => {
                if self.transition.impulse_without_collision(system, &mut self.state)? {
                    self.transition.contact.recycle(error);
                    self.choose_phase(system)
                } else {
                    Err(error)
                }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LOBATTO;

    #[test]
    fn rules_have_their_orders() {
        for ((outer, inner), order) in LOBATTO.into_iter().zip([6, 8]) {
            for k in 0..order {
                let ends = outer * if k == 0 { 2.0 } else { 1.0 };
                let sum: f64 = inner.iter().map(|(s, weight)| weight * s.powi(k)).sum();
                assert!((ends + sum - 1.0 / f64::from(k + 1)).abs() < 1e-15, "{order} {k}");
            }
        }
    }
}
