//! To the event: steps of the flow that end at it, then impact, change of mode, and the next phase.
//!
//! The place on the dense output is a guess. It is improved on the map of the flow itself: by Newton's method for gaps
//! (their rates are known), inside a bracket where that fails, until the gap vanishes to rounding; inside a bracket for
//! monitors and regions, of which the right end is taken: there the change is a fact. What the flow does not confirm is
//! no event: the step ends where the dense output has it behind, and the next one looks on from there. Redundant
//! contacts that part make the flow contradict itself: a step ends where it does not yet, and the next one starts with
//! the change.

use super::control::Judgement;
use super::search::FirstEvent;
use super::smooth::LEAST;
use super::{EventDriven, Work};
use crate::phase::{ModeChange, PASSED};
use crate::{EventKind, Key, Mechanical, StepError, System};

/// Dependent constraints that miss each other by more than this part of their terms at a stage contradict each other.
const CONTRADICTION: f64 = 1e-10;

/// Most steps in the reduction of a bracket: every third one halves it.
const TRIALS: u32 = 160;

/// Steps of it after which the zero is next to the start, if that is still one end.
const PATIENCE: u32 = 60;

/// Where a search on the flow has ended.
pub(super) struct Located {
    /// Length of the step [s].
    pub u: f64,
    /// Whether the event is there.
    pub happens: bool,
}

/// What the gaps are at a place of the flow.
struct Meeting {
    vanishes: bool, // whether the gap sought is zero, and no other one was passed
    passed: bool,   // whether a gap was passed
    newton: f64,    // the place of its zero, by its rate
}

impl EventDriven {
    /// Moves `end` to the event, or to the place where the flow has not confirmed it; nothing if a gap was passed.
    pub(super) fn locate(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        found: FirstEvent,
        h: f64,
    ) -> Result<Option<Located>, StepError> {
        w.transition.clear_marks();
        let located = match found {
            FirstEvent::Gap { law, s, until, is_top } => self.to_gap(w, system, (law, is_top), (s * h, until * h))?,
            FirstEvent::Change { s, until } => self.to_change(w, system, (s * h, until * h), h)?,
            FirstEvent::Parting { u } => self.to_parting(w, system, u, h)?,
            FirstEvent::None | FirstEvent::Unresolved => Located { u: h, happens: false },
        };
        let is_parting = matches!(found, FirstEvent::Parting { .. });
        Ok((is_parting || self.passed(w).is_none()).then_some(located))
    }

    /// The zero of the gap that closes first, up to the place `until`.
    fn to_gap(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (law, is_top): (usize, bool),
        (guess, until): (f64, f64),
    ) -> Result<Located, StepError> {
        let (mut u, mut target) = (guess.min(until), law);
        let (mut open, mut closed) = (0.0, None::<f64>);
        let mut happens = false;
        for trial in 0..TRIALS {
            let met = self.meet(w, system, u, (&mut target, is_top.then_some(law)))?;
            happens = met.vanishes;
            if met.passed {
                closed = Some(u);
            } else {
                open = u;
            }
            let next = match closed {
                _ if happens => break,
                Some(closed) if met.newton > open && met.newton < closed && trial % 3 != 2 => met.newton,
                // a zero next to the start is sought among exponents
                Some(closed) if trial > PATIENCE && open < 0.5 * closed => {
                    closed.sqrt() * open.max(LEAST * w.span()).sqrt()
                }
                Some(closed) => 0.5 * (open + closed),
                None if u >= until => break,
                None if met.newton > u && met.newton < until => met.newton,
                None => until,
            };
            // a gap that jumps has no zero
            if next == u || closed.is_some_and(|closed| next <= open || next >= closed) {
                break;
            }
            u = next;
        }
        if let Some(closed) = closed.filter(|_| !happens) {
            // no digit is left between both sides: the gap is as small as it gets, or it was passed
            self.meet(w, system, closed, (&mut target, None))?;
            (u, happens) = (closed, true);
        }
        self.complete(w, system)?;
        w.transition.flag(target, ModeChange::Closing);
        Ok(Located { u, happens })
    }

    /// Moves `end` to the time `u` of the flow. The gap sought becomes the one that was passed first; that of the `top`
    /// of a hop too small to be seen vanishes there.
    fn meet(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        u: f64,
        (target, top): (&mut usize, Option<usize>),
    ) -> Result<Meeting, StepError> {
        self.advance(w, system, u)?;
        w.couple_end(system)?;
        w.trial.end.trace(&w.transition.acceleration, &w.transition.phase);
        let (mut met, mut back) = (Meeting { vanishes: false, passed: false, newton: f64::NAN }, f64::INFINITY);
        let sought = *target;
        for (i, trace) in w.trial.end.traces.iter().enumerate().filter(|(_, t)| t.is_open) {
            let (start, level) = (w.trial.start.traces[i], w.trial.start.traces[i].y[0].min(0.0));
            let miss = trace.y[0] - level;
            let rounding = 2.0 * trace.noise.max(start.noise) + 4.0 * f64::EPSILON * (u * trace.y[1]).abs();
            let unseen = if top == Some(i) { 4.0 * w.noise(i, level).0 } else { 0.0 };
            let passed = miss < -rounding.max(unseen);
            met.passed |= passed;
            if i == sought && miss.abs() <= rounding.max(unseen) && (trace.y[1] < 0.0 || top == Some(i)) {
                met.vanishes = true;
            }
            let step = if trace.y[1] < 0.0 { -miss / trace.y[1] } else { f64::INFINITY };
            if (i == sought || passed) && step < back {
                (back, *target) = (step, i);
                met.newton = u + step;
            }
        }
        met.vanishes &= !met.passed;
        Ok(met)
    }

    /// The right end of a bracket of the first monitor or region that changes.
    fn to_change(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (guess, until): (f64, f64),
        h: f64,
    ) -> Result<Located, StepError> {
        let width = w.width(h);
        let (mut a, mut b) = (0.0, None::<f64>);
        let (mut u, mut margin, mut since) = (guess, (1e-11 * h).max(width), 0u32);
        w.trial.left.copy_from(&w.trial.start);
        for trial in 0..TRIALS {
            self.advance(w, system, u)?;
            w.evaluate_end(system)?;
            if w.trial.end.is_changed(&w.trial.start) {
                b = Some(u);
                std::mem::swap(&mut w.trial.right, &mut w.trial.end);
            } else {
                a = u;
                std::mem::swap(&mut w.trial.left, &mut w.trial.end);
            }
            u = match b {
                Some(b) if b - a <= width => break,
                // walk away from the guess until both sides are known
                Some(b) if a == 0.0 && trial < 12 => (b - margin).max(0.5 * b),
                Some(b) => {
                    since += 1;
                    let s = if since % 3 == 0 { 0.5 } else { w.predict() };
                    (a + (b - a) * s).clamp(a + 0.25 * width, b - 0.25 * width)
                }
                None if a >= until => break,
                None => (a + margin).min(until),
            };
            margin *= 8.0;
        }
        let Some(b) = b else {
            std::mem::swap(&mut w.trial.left, &mut w.trial.end);
            return Ok(Located { u: a, happens: false });
        };
        std::mem::swap(&mut w.trial.right, &mut w.trial.end);
        w.cross((a, b), width);
        w.flag_violated();
        Ok(Located { u: b, happens: true })
    }

    /// A step over `h` contradicts itself: nothing if it can be shorter, and the parting if it cannot.
    pub(super) fn part(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
    ) -> Result<Option<FirstEvent>, StepError> {
        let (mut a, mut b) = (0.0, h);
        for _ in 0..TRIALS {
            if b - a <= w.width(h) {
                break;
            }
            let u = 0.5 * (a + b);
            let moved = self.advance(w, system, u);
            if w.contradicts() {
                b = u;
            } else {
                moved?;
                a = u;
            }
        }
        let here = a <= w.width(h).max(2.0 * self.smallest(&w.transition.acceleration.sizes));
        w.trial.judged = Judgement { accepted: here, factor: if here { 1.0 } else { a / h }, error: 0.0 };
        Ok(here.then_some(FirstEvent::Parting { u: b }))
    }

    /// A little beyond the place where contacts part, along the velocity of the start: the flow cannot go there.
    fn to_parting(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        u: f64,
        h: f64,
    ) -> Result<Located, StepError> {
        let reach = u + 2.0 * w.width(h);
        let (start, end) = (&w.trial.start.state, &mut w.trial.end.state);
        end.copy_from(start);
        end.v.iter_mut().for_each(|v| *v *= reach);
        system.model.retract(&start.q, &end.v, &mut end.q);
        end.v.copy_from_slice(&start.v);
        end.t = start.t + u;
        w.evaluate_end(system)?;
        w.flag_violated();
        Ok(Located { u, happens: true })
    }

    /// A gap at `end` that was passed unseen.
    pub(super) fn passed(&self, w: &Work) -> Option<(Key, f64)> {
        w.trial.end.traces.iter().enumerate().filter(|(_, t)| t.is_open).find_map(|(i, trace)| {
            let level = w.trial.start.traces[i].y[0].min(0.0);
            (trace.y[0] < level - Self::allowed(w, i)).then_some((w.transition.phase.keys()[i], trace.y[0]))
        })
    }

    /// How far the gap of law `i` may be passed: by a multiple of its rounding and of that of positions [m].
    fn allowed(w: &Work, i: usize) -> f64 {
        let touch = w.transition.touch(&w.transition.acceleration.coupling, i);
        PASSED * w.trial.start.traces[i].noise.max(w.trial.end.traces[i].noise).max(touch)
    }

    /// Impact or change of mode at `end`, and the phase after it.
    pub(super) fn change(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        w.state.copy_from(&w.trial.end.state);
        w.transition.is_crossing = false;
        for (law, trace) in w.trial.end.crossed(&w.trial.start) {
            let contact = w.transition.phase.keys()[law];
            if trace.region >= 0.0 && trace.y[0] < -Self::allowed(w, law) {
                return Err(StepError::Inside { gap: trace.y[0], contact });
            }
            w.transition.events.push(EventKind::Edge, Some(contact), &w.state, &w.state);
            w.transition.is_crossing = true;
        }
        if w.transition.is_crossing {
            w.transition.acceleration.freeze_regions(
                w.state.t,
                &w.transition.phase,
                w.trial.end.traces.iter().map(|trace| trace.region),
            );
        }
        if w.drifts(self) {
            w.transition.restore(system, &mut w.state)?;
        }
        w.resolve(self);
        w.transition.list_touching(&w.state.q);
        w.transition.is_plastic = w.memory.count.is_stalled();
        w.transition.sorting = self.sorting(w.memory.count.is_stalled(), w.span());
        let settled = w.choose_phase(system);
        w.transition.is_plastic = false;
        w.transition.is_crossing = false;
        settled
    }
}

impl Work {
    /// Tells the transition which monitors have changed at `end`.
    fn flag_violated(&mut self) {
        for monitor in self.trial.end.monitors.iter().filter(|m| m.violated) {
            self.transition.flag(monitor.law, monitor.change);
        }
    }

    /// The coupling at `end`.
    pub(super) fn couple_end(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        Ok(self.transition.couple(system.model, &self.trial.end.state)?)
    }

    /// What a step of length h cannot tell apart in time [s].
    fn width(&self, h: f64) -> f64 {
        1e-14 * h + 4.0 * f64::EPSILON * self.trial.start.state.t.abs()
    }

    /// Whether closed contacts have velocities above `veps` at an event that are no more than the flow may leave them,
    /// and no impact.
    fn drifts(&self, scheme: &EventDriven) -> bool {
        let (transition, v) = (&self.transition, &self.state.v);
        let (coupling, sizes) = (&transition.acceleration.coupling, &transition.acceleration.sizes);
        let mut drifts = false;
        for i in (0..coupling.len()).filter(|i| transition.holds(*i)) {
            let row = coupling.offset[i];
            let u = transition.velocity(row, v).0.abs();
            if u > scheme.most_drift(sizes.speed(coupling.rows.row(row), v)) {
                return false;
            }
            drifts |= u > transition.slow(i, v);
        }
        drifts
    }

    /// Whether closed contacts contradicted each other in the last step of the flow.
    pub(super) fn contradicts(&self) -> bool {
        self.smooth.contradiction() > CONTRADICTION && !self.trial.start.monitors.is_empty()
    }

    /// Regions that meet in one place change together: one that has not changed at `end`, the right end of the bracket
    /// [a, b] around another one, but does so before two widths have passed.
    fn cross(&mut self, (a, b): (f64, f64), width: f64) {
        if self.trial.end.crossed(&self.trial.start).next().is_none() {
            return;
        }
        for (i, trace) in self.trial.end.traces.iter_mut().enumerate() {
            let (start, left) = (self.trial.start.traces[i], self.trial.left.traces[i]);
            let ahead = trace.region + (trace.region - left.region) / (b - a) * 2.0 * width;
            if trace.region.is_finite()
                && (start.region >= 0.0) == (trace.region >= 0.0)
                && (ahead >= 0.0) != (start.region >= 0.0)
            {
                trace.region = ahead;
            }
        }
    }
}
