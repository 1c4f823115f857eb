//! The parts of a step: where it starts, the smooth motion with its rejections, and what is left to another scheme.

use super::options::{Control, Dense, EventDriven, Flow};
use super::search::Outcome;
use super::{Certificate, Crowd, MoreauJean, Resolution, Work};
use crate::flow::Mode;
use crate::scheme::{EventKind, Scheme, Step, StepError, System};
use crate::{Mechanical, State};

/// Most trials in a step.
const TRIALS: u32 = 100;

/// A gap of the size L of positions is closed up to this part of it.
const TOUCH: f64 = 16.0 * f64::EPSILON;

/// A step shorter than this is none [s].
const LEAST: f64 = 1e-290;

/// Steps of the half-explicit method are shorter than those of order 8 by about this factor.
const SHORTER: f64 = 0.1;

/// Lobatto's rules of orders 6 and 8: weight of both ends, inner points with their weights.
const LOBATTO: [(f64, &[(f64, f64)]); 2] = [
    (1.0 / 12.0, &[(0.27639320225002106, 5.0 / 12.0), (0.7236067977499789, 5.0 / 12.0)]),
    (1.0 / 20.0, &[(0.1726731646460114, 49.0 / 180.0), (0.5, 16.0 / 45.0), (0.8273268353539885, 49.0 / 180.0)]),
];

/// A slip that stops within this time has stopped [s].
const STOP: f64 = 1e-12;

impl EventDriven {
    /// The phase of the step and the point where it starts.
    pub(super) fn begin(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        from: &State,
        h: f64,
    ) -> Result<(), StepError> {
        w.span = h;
        if w.since.is_none_or(|since| since > from.t) {
            w.since = Some(from.t);
        }
        if w.is_known && is_same(from, &w.last) {
            w.transition.phase.copy_from(&w.ended);
            if w.is_continuous {
                std::mem::swap(&mut w.start, &mut w.end);
                w.start.state.t = from.t;
            } else {
                w.start.state.copy_from(from);
                w.aim(system)?;
            }
        } else if w.is_repeatable && is_same(from, &w.origin) {
            w.transition.phase.copy_from(&w.begun);
        } else {
            w.state.copy_from(from);
            w.set_touch(self.geps);
            w.transition.resolution.speed = self.veps;
            let entered = w.transition.enter(&mut w.acceleration, system, &mut w.state, false);
            w.pass(system, entered)?;
            w.start.state.copy_from(&w.state);
            w.aim(system)?;
        }
        w.begun.copy_from(&w.transition.phase);
        // a step that fails may be tried again from here, with `start` as it is now
        w.origin.copy_from(from);
        (w.is_known, w.is_repeatable) = (false, is_same(from, &w.start.state));
        w.set_touch(self.geps);
        Ok(())
    }

    /// Smooth motion over at most `h`, and the event that ends it; returns the time advanced.
    pub(super) fn motion(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
    ) -> Result<f64, StepError> {
        w.transition.resolution = Resolution { flight: STOP, speed: self.veps, gap: w.touch, rise: 0.25 };
        let Some(reach) = w.transition.reach(&mut w.acceleration, system, &w.start.state, h)? else {
            w.state.copy_from(&w.start.state);
            let stopped = w.transition.stop(&mut w.acceleration, system, &mut w.state);
            w.pass(system, stopped)?;
            w.is_continuous = false;
            w.clear_dense();
            w.crowd.count(w.state.t, h, self.max_events);
            return Ok(0.0);
        };
        w.take_over();
        let mut length = self.first(w, reach);
        let mut last = StepError::NotFinite;
        for _ in 0..TRIALS {
            let controlled = self.control != Control::Fixed;
            let shorter = match self.attempt(w, system, length) {
                Ok(Some(outcome)) => {
                    if let Some(advanced) = self.finish(w, system, (outcome, length), h)? {
                        return Ok(advanced);
                    }
                    let (contact, gap) = self.passed(w).unwrap_or((crate::Key(0), 0.0));
                    last = StepError::Tunnelled { gap, contact };
                    0.5
                }
                Ok(None) => {
                    last = StepError::TooSmall { h: length, error: w.judged.error };
                    if w.judged.accepted { 0.5 } else { w.judged.factor.min(0.9) }
                }
                Err(error @ (StepError::Solve { .. } | StepError::Projection { .. })) => return Err(error),
                Err(error) => {
                    last = error;
                    0.5
                }
            };
            w.rejected += 1;
            let must_fit = controlled || w.is_parting || matches!(last, StepError::Tunnelled { .. });
            if !must_fit || length <= self.h_min {
                return Err(last);
            }
            w.may_grow = false;
            length = (shorter * length).max(self.h_min);
        }
        Err(last)
    }

    /// The step to try first.
    fn first(&self, w: &Work, h: f64) -> f64 {
        if self.control == Control::Fixed {
            return h;
        }
        let wanted = w.next.or(self.first_step).unwrap_or(h).min(self.h_max.unwrap_or(f64::MAX));
        if wanted >= h * (1.0 - 1e-9) { h } else { wanted }
    }

    /// One trial over `length`: nothing if it is rejected.
    fn attempt(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        length: f64,
    ) -> Result<Option<Outcome>, StepError> {
        let moved = self.advance(w, system, length);
        let flow = w.flow();
        w.is_parting = w.contradicts();
        if w.is_parting {
            // redundant contacts part on the way: the step is no step of one phase, and its error says nothing
            return self.part(w, system, length);
        }
        moved?;
        let ends = (&w.start.state, &w.end.state);
        let tolerances = (self.atol, self.rtol);
        let error = match (&w.fehlberg, &w.high, self.control) {
            (_, _, Control::Fixed) => 0.0,
            (Some(stages), _, _) => stages.error(ends, length, tolerances),
            (_, Some(high), _) if flow == Flow::Dop853 => high.error(ends, tolerances),
            _ => w.hem5.error(ends, length, tolerances),
        };
        w.judged = self.judge(flow, error, length);
        if !w.judged.accepted {
            return Ok(None);
        }
        self.observe(w, system)?;
        let may_reject = self.control != Control::Fixed && length > self.h_min;
        let outcome = w.search(system, length, may_reject)?;
        Ok((outcome != Outcome::Unresolved).then_some(outcome))
    }

    /// Ends an accepted step at its end or at the event found in it. Nothing if a gap was passed unseen.
    fn finish(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (outcome, length): (Outcome, f64),
        h: f64,
    ) -> Result<Option<f64>, StepError> {
        let mut advanced = length;
        let mut happens = false;
        if outcome != Outcome::Smooth {
            match self.locate(w, system, outcome, length)? {
                Some(u) => (advanced, happens) = (u, true),
                None if self.passed(w).is_some() => return Ok(None),
                // the dense output saw what the flow does not confirm
                None => {
                    self.advance(w, system, length)?;
                    self.observe(w, system)?;
                }
            }
            // the last trial of a bracket may be another one
            if w.flow() == Flow::Dop853 && w.high.as_ref().is_some_and(|high| high.length() != Some(advanced)) {
                self.advance(w, system, advanced)?;
            }
            w.fill_dense(system.model, advanced);
        }
        if self.passed(w).is_some() {
            return Ok(None);
        }
        if self.dense == Dense::Order4 && advanced >= LEAST {
            self.extend(w, system, advanced)?;
        }
        self.book(w, system, advanced)?;
        let factor = if w.may_grow { w.judged.factor } else { w.judged.factor.min(1.0) };
        w.next = Some((length * factor).max(self.h_min));
        w.may_grow = true;
        if happens {
            w.crowd.count(w.end.state.t, h, self.max_events);
            let changed = self.change(w, system);
            w.pass(system, changed)?;
            w.is_continuous = w.transition.is_surveyed;
            if w.is_continuous {
                w.end.state.copy_from(&w.state);
                w.end.take(&w.acceleration, &w.transition.phase);
            }
            let restart = |next: f64| next.min(self.restart_step.unwrap_or(f64::MAX));
            (w.next, w.other) = (w.next.map(restart), w.other.map(restart));
        } else {
            w.state.copy_from(&w.end.state);
            w.is_continuous = true;
            self.correct(w, system)?;
        }
        Ok(Some(advanced))
    }

    /// The dense output with exact velocity constraints, for the step that the flow did last.
    fn extend(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>, h: f64) -> Result<(), StepError> {
        // the last trial of a bracket may be another one
        self.advance(w, system, h)?;
        let flow = (&w.hem5, &w.transition.phase);
        let ends = (&w.start.state, &w.end.state);
        Ok(w.fourth.fill(system.model, &mut w.acceleration, flow, ends, h)?)
    }

    /// `end` ← the flow over `h` from `start`.
    pub(super) fn advance(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
    ) -> Result<(), StepError> {
        let (phase, from, to) = (&w.transition.phase, &w.start.state, &mut w.end.state);
        // an event at the start: constraints at the velocity level cannot be divided by no time
        if h < LEAST {
            to.copy_from(from);
            return Ok(());
        }
        let first = phase.is_free().then_some(w.start.a.as_slice());
        match (&mut w.fehlberg, &mut w.high) {
            (Some(stages), _) => stages.advance(system.model, phase, from, h, to),
            (None, Some(high)) if phase.is_free() => {
                high.advance(system.model, &mut w.acceleration, first, (from, h), to)
            }
            (None, _) => w.hem5.advance(system.model, &mut w.acceleration, (phase, first), (from, h), to),
        }
    }

    /// Accelerations at `end`, where gaps are known and no law acts.
    pub(super) fn complete(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        if !w.transition.phase.is_free() {
            return self.observe(w, system);
        }
        let State { t, q, v } = &w.end.state;
        w.acceleration.evaluate(system.model, &w.transition.phase, (*t, q, v))?;
        w.end.a.copy_from_slice(&w.acceleration.value);
        Ok(())
    }

    /// All that is to be known at `end`.
    pub(super) fn observe(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        w.look(system)
    }

    /// Back onto the constraints, where they have drifted.
    fn correct(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        if w.transition.phase.is_free() || self.drift_limit == 0.0 {
            return Ok(());
        }
        let coupling = &w.acceleration.coupling;
        let mut drift = 0.0f64;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let rows = match w.transition.phase.mode(pair.key, i, pair.law) {
                Mode::Open => continue,
                Mode::Held | Mode::Slip(_) => 1,
                Mode::Stick => coupling.range(i).len(),
            };
            drift = drift.max(pair.gap.abs());
            for row in coupling.range(i).take(rows) {
                drift = drift.max((coupling.rows.dot(row, &w.state.v) + coupling.drift[row]).abs());
            }
        }
        if drift > self.drift_limit {
            w.transition.project(&mut w.acceleration, system, &mut w.state)?;
            w.is_continuous = false;
        }
        Ok(())
    }

    /// Impulses and work of the reactions over the smooth part, by Lobatto's rule on the multipliers of (2): of order 6, and of order 8 where
    /// obstacles do work.
    fn book(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>, h: f64) -> Result<(), StepError> {
        if w.transition.phase.is_free() {
            w.transition.booking.multipliers(&w.acceleration.coupling, &[]);
            return Ok(());
        }
        w.transition.booking.multipliers(&w.acceleration.coupling, &w.end.lambda);
        let (outer, inner) = w.rule();
        let ends = |a: &[f64], b: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(a.iter().zip(b).map(|(a, b)| h * outer * (a + b)));
        };
        ends(&w.start.lambda, &w.end.lambda, &mut w.impulse);
        ends(&w.start.power, &w.end.power, &mut w.work);
        ends(&w.start.driven, &w.end.driven, &mut w.driven);
        let add = |x: &[f64], weight: f64, out: &mut [f64]| {
            out.iter_mut().zip(x).for_each(|(out, x)| *out += h * weight * x);
        };
        let is_sampled = w.sampled == Some(h);
        for &(s, weight) in inner {
            if !is_sampled {
                w.sample(system, s)?;
            }
            let known = if s < 0.5 { 0 } else { 1 + usize::from(s == 0.5) };
            let point = if is_sampled { &w.inner[known] } else { &w.middle };
            add(&point.lambda, weight, &mut w.impulse);
            add(&point.power, weight, &mut w.work);
            add(&point.driven, weight, &mut w.driven);
        }
        w.transition.booking.smooth_driven(&w.acceleration.coupling, &w.impulse, &w.work, &w.driven);
        // the coupling belongs to the end again
        Ok(w.acceleration.couple(system.model, w.end.state.t, &w.end.state.q)?)
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
        let hopeless = w.transition.booking.reactions.is_empty() || w.transition.phase.is_free();
        match error {
            Some(error @ (StepError::Model(_) | StepError::Tunnelled { .. } | StepError::Inside { .. })) => {
                return Err(error);
            }
            Some(error @ (StepError::TooSmall { .. } | StepError::NotFinite)) if hopeless => return Err(error),
            _ => {}
        }
        let scheme = MoreauJean::default();
        let length = h.min(self.hand_over_step);
        scheme.invalidate(&mut w.rest);
        w.invalidate();
        w.transition.events.clear();
        w.transition.booking.start(system.model, false, from)?;
        let again = System { model: &mut *system.model, solver: &mut *system.solver };
        let part = scheme.step(&mut w.rest, again, from, length, &mut w.state)?;
        w.invalidate();
        (step.worst, step.solves, step.evaluations) = (part.worst, part.solves, part.evaluations);
        w.transition.booking.part(scheme.reactions(&w.rest));
        w.transition.events.push(EventKind::HandOver, None, from, &w.state);
        w.crowd = Crowd::default();
        (w.next, w.other) = (None, None);
        w.clear_dense();
        (w.is_continuous, w.is_repeatable, w.is_lost) = (false, false, true);
        w.acceleration.couple(system.model, w.state.t, &w.state.q)?;
        Ok(length)
    }
}

impl Work {
    /// Starts the books of a step.
    pub(super) fn reset(&mut self, system: &mut System<'_, dyn Mechanical>, from: &State) -> Result<(), StepError> {
        let constant = self.acceleration.constancy().rows;
        self.transition.booking.start(system.model, constant, from)?;
        self.transition.events.clear();
        (self.transition.worst, self.transition.solves) = (Certificate::default(), 0);
        self.rejected = 0;
        self.is_lost = false;
        Ok(())
    }

    /// The rule for impulses of the step from `start` to `end`.
    pub(super) fn rule(&self) -> (f64, &'static [(f64, f64)]) {
        let works = self.start.driven.iter().chain(&self.end.driven).any(|x| *x != 0.0);
        LOBATTO[usize::from(works)]
    }

    /// The method of the phase.
    pub(super) fn flow(&self) -> Flow {
        match (&self.fehlberg, &self.high) {
            (Some(_), _) => Flow::Rkf45,
            (None, Some(_)) if self.transition.phase.is_free() => Flow::Dop853,
            (None, _) => Flow::Hem5,
        }
    }

    /// Whether the phase is a free flight with a method of its own.
    pub(super) fn is_high(&self) -> bool {
        self.flow() == Flow::Dop853
    }

    /// Where the method changes, its last step is taken up again; the first one comes from the other method, whose steps differ.
    fn take_over(&mut self) {
        let is_high = self.is_high();
        if is_high != self.next_is_high {
            self.next_is_high = is_high;
            std::mem::swap(&mut self.next, &mut self.other);
            self.may_grow = true;
            if self.next.is_none() {
                self.next = self.other.map(|h| if is_high { h } else { SHORTER * h });
            }
        }
    }

    /// Forgets the motion inside the step.
    fn clear_dense(&mut self) {
        self.dense.clear();
        self.fourth.clear();
        if let Some(high) = &mut self.high {
            high.clear();
        }
    }

    /// Remembers where the step has gone, and in which phase.
    pub(super) fn remember(&mut self, from: &State, to: &State) {
        self.is_repeatable = !self.is_lost && is_same(from, &self.start.state);
        self.origin.copy_from(from);
        self.last.copy_from(to);
        self.ended.copy_from(&self.transition.phase);
        self.is_known = !self.is_lost;
    }

    /// The model was factored by someone else.
    pub(super) fn invalidate(&mut self) {
        self.acceleration.invalidate();
        self.hem5.invalidate();
        if let Some(stages) = &mut self.fehlberg {
            stages.acceleration.invalidate();
        }
    }

    /// Gaps that count as closed: the user's, or the rounding of positions over a step of the driver.
    pub(super) fn set_touch(&mut self, geps: Option<f64>) {
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        self.touch = geps.unwrap_or_else(|| TOUCH * (largest(&self.state.q) + self.span * largest(&self.state.v)));
        self.transition.resolution.gap = self.touch;
    }

    /// Fills `start` at its state.
    fn aim(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        std::mem::swap(&mut self.start, &mut self.end);
        let seen = self.look(system);
        std::mem::swap(&mut self.start, &mut self.end);
        seen
    }

    /// Fills `end` at its state.
    pub(super) fn look(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        let State { t, q, v } = &self.end.state;
        let phase = &self.transition.phase;
        if self.transition.booking.reactions.is_empty() {
            self.acceleration.evaluate(system.model, phase, (*t, q, v))?;
            self.end.a.copy_from_slice(&self.acceleration.value);
            return Ok(());
        }
        self.acceleration.survey(system.model, phase, (*t, q, v))?;
        if self.acceleration.is_deficient {
            self.transition.arbitrate(&mut self.acceleration, system)?;
        }
        self.end.take(&self.acceleration, &self.transition.phase);
        Ok(())
    }

    /// The next phase at `state`.
    pub(super) fn settle(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.transition.settle(&mut self.acceleration, system, &mut self.state, true)
    }

    /// Passes a change on; where the contact problem of a slip has no solution, stops the slip by an impulse first.
    fn pass(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        changed: Result<(), StepError>,
    ) -> Result<(), StepError> {
        match changed {
            Err(error @ StepError::Solve { .. }) => {
                if self.transition.jam(&mut self.acceleration, system, &mut self.state)? {
                    self.transition.contact.recycle(error);
                    self.settle(system)
                } else {
                    Err(error)
                }
            }
            other => other,
        }
    }
}

/// Whether two states are the same but for the rounding of time.
fn is_same(a: &State, b: &State) -> bool {
    a.q == b.q && a.v == b.v && (a.t - b.t).abs() <= 64.0 * f64::EPSILON * a.t.abs().max(1.0)
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
