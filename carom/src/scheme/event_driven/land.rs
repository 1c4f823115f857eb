//! To the event: steps of the flow that end at it, then impact, change of mode, and the next phase.
//!
//! The place on the dense output is a guess. It is improved on the map of the flow itself, by Newton's method for gaps (their rates are
//! known) and inside a bracket for monitors and regions, of which the right end is taken: there the change is a fact. Redundant contacts that
//! part make the flow contradict itself: a step ends where it does not yet, and the next one starts with the change.

use super::control::Judgement;
use super::point::Trace;
use super::search::Outcome;
use super::{EventDriven, Transition, Work};
use crate::flow::Watch;
use crate::scheme::{EventKind, StepError, System};
use crate::{Key, Mechanical};

/// Most steps of Newton's method on a gap.
const NEWTON: u32 = 8;

/// Dependent constraints that miss each other by more than this part of their terms at a stage contradict each other.
const CONTRADICTION: f64 = 1e-10;

/// Most steps in the reduction of a bracket.
const TRIALS: u32 = 80;

/// A gap may be passed by this multiple of its resolution, and by this much [m]; beyond, an event was overlooked.
const PASSED: (f64, f64) = (1e3, 1e-12);

impl EventDriven {
    /// Moves `end` to the event; returns how long the step is then, or nothing if the event is not there.
    pub(super) fn locate(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        found: Outcome,
        h: f64,
    ) -> Result<Option<f64>, StepError> {
        w.flagged.clear();
        match found {
            Outcome::Gap { key, s, is_top } => self.to_gap(w, system, (key, is_top), s * h, h),
            Outcome::Change { s } => self.to_change(w, system, s * h, h),
            Outcome::Parting { u } => self.to_parting(w, system, u, h),
            Outcome::Smooth | Outcome::Unresolved => Ok(None),
        }
    }

    /// Newton's method on the gap that closes first.
    fn to_gap(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        (key, is_top): (Key, bool),
        guess: f64,
        h: f64,
    ) -> Result<Option<f64>, StepError> {
        let (mut u, mut target) = (guess, key);
        let smallest = f64::MIN_POSITIVE;
        for _ in 0..NEWTON {
            self.advance(w, system, u)?;
            w.acceleration.couple(system.model, w.end.state.t, &w.end.state.q)?;
            w.end.trace(&w.acceleration.coupling, &w.transition.phase);
            // the correction that goes back furthest, of the gap in question and of others that were passed
            let (mut correction, mut done) = (f64::INFINITY, false);
            for (i, trace) in w.end.traces.iter().enumerate().filter(|(_, t)| t.is_open) {
                let Some(start) = w.start.find(trace.key, i) else { continue };
                let miss = trace.y[0] - start.y[0].min(0.0);
                let rounding = 2.0 * trace.noise + 4.0 * f64::EPSILON * (u * trace.y[1]).abs();
                if trace.key == target && (is_top || miss.abs() <= rounding) {
                    done = true;
                } else if trace.y[1] < 0.0 && (trace.key == target || miss < -rounding) {
                    let step = -miss / trace.y[1];
                    if step < correction {
                        (correction, target) = (step, trace.key);
                        done = false;
                    }
                }
            }
            let resolved = 2.0 * f64::EPSILON * w.end.state.t.abs().max(u);
            let wanders = correction == f64::INFINITY;
            if done || wanders || correction.abs() <= resolved || u + correction > h {
                break;
            }
            u = if u + correction > 0.0 { u + correction } else { (0.5 * u).max(smallest) };
        }
        self.complete(w, system)?;
        w.flagged.push((target, Watch::Closing));
        Ok(if self.passed(w).is_none() { Some(u) } else { None })
    }

    /// The right end of a bracket of the first monitor or region that changes.
    fn to_change(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        guess: f64,
        h: f64,
    ) -> Result<Option<f64>, StepError> {
        let width = w.width(h);
        let (mut a, mut b) = (0.0, None::<f64>);
        let (mut u, mut margin, mut since) = (guess, (1e-11 * h).max(width), 0u32);
        w.left.copy_from(&w.start);
        for trial in 0..TRIALS {
            self.advance(w, system, u)?;
            self.observe(w, system)?;
            if w.end.is_changed(&w.start) {
                b = Some(u);
                std::mem::swap(&mut w.right, &mut w.end);
            } else {
                a = u;
                std::mem::swap(&mut w.left, &mut w.end);
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
                None if a >= h => break,
                None => (a + margin).min(h),
            };
            margin *= 8.0;
        }
        let Some(b) = b else {
            std::mem::swap(&mut w.left, &mut w.end);
            return Ok(None);
        };
        std::mem::swap(&mut w.right, &mut w.end);
        w.cross((a, b), width);
        w.flagged.extend(w.end.monitors.iter().filter(|m| m.violated).map(|m| (m.key, m.watch)));
        Ok(if self.passed(w).is_none() { Some(b) } else { None })
    }

    /// A step over `h` contradicts itself: nothing if it can be shorter, and the parting if it cannot.
    pub(super) fn part(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
    ) -> Result<Option<Outcome>, StepError> {
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
        let here = a <= w.width(h).max(2.0 * self.h_min);
        w.judged = Judgement { accepted: here, factor: if here { 1.0 } else { a / h }, error: 0.0 };
        Ok(here.then_some(Outcome::Parting { u: b }))
    }

    /// A little beyond the place where contacts part, along the velocity of the start: the flow cannot go there.
    fn to_parting(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        u: f64,
        h: f64,
    ) -> Result<Option<f64>, StepError> {
        let reach = u + 2.0 * w.width(h);
        let (start, end) = (&w.start.state, &mut w.end.state);
        end.copy_from(start);
        end.v.iter_mut().for_each(|v| *v *= reach);
        system.model.retract(&start.q, &end.v, &mut end.q);
        end.v.copy_from_slice(&start.v);
        end.t = start.t + u;
        self.observe(w, system)?;
        w.flagged.extend(w.end.monitors.iter().filter(|m| m.violated).map(|m| (m.key, m.watch)));
        Ok(Some(u))
    }

    /// A gap at `end` that was passed unseen.
    pub(super) fn passed(&self, w: &Work) -> Option<(Key, f64)> {
        w.end.traces.iter().enumerate().filter(|(_, t)| t.is_open).find_map(|(i, trace)| {
            let start = w.start.find(trace.key, i).map_or(0.0, |start| start.y[0].min(0.0));
            (trace.y[0] < start - self.allowed(trace)).then_some((trace.key, trace.y[0]))
        })
    }

    /// How far a gap may be passed [m].
    fn allowed(&self, trace: &Trace) -> f64 {
        (PASSED.0 * self.geps.unwrap_or(0.0)).max(PASSED.1).max(PASSED.0 * trace.noise)
    }

    /// Impact or change of mode at `end`, and the phase after it.
    pub(super) fn change(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        w.state.copy_from(&w.end.state);
        w.transition.is_crossing = false;
        for trace in w.end.crossed(&w.start) {
            if trace.region >= 0.0 && trace.y[0] < -self.allowed(trace) {
                return Err(StepError::Inside { gap: trace.y[0], contact: trace.key });
            }
            w.transition.events.push(EventKind::Edge, Some(trace.key), &w.state, &w.state);
            w.transition.is_crossing = true;
        }
        if w.transition.is_crossing {
            w.acceleration.pin(w.state.t, w.end.traces.iter().map(|trace| (trace.key, trace.region)));
        }
        w.transition.flagged.clear();
        w.transition.flagged.extend_from_slice(&w.flagged);
        if w.drifts(self.veps, self.drift_limit) {
            w.transition.restore(&mut w.acceleration, system, &mut w.state)?;
        }
        w.set_touch(self.geps);
        w.transition.gather(&w.acceleration, &w.state.q);
        w.transition.is_plastic = w.crowd.is_stalled();
        w.transition.sorting = self.sorting(w.crowd.is_stalled());
        let settled = w.settle(system);
        w.transition.is_plastic = false;
        w.transition.is_crossing = false;
        settled
    }
}

impl Work {
    /// What a step of length h cannot tell apart in time [s].
    fn width(&self, h: f64) -> f64 {
        1e-14 * h + 4.0 * f64::EPSILON * self.start.state.t.abs()
    }

    /// Whether closed contacts have velocities above `veps` at an event that are no more than the flow may leave them, and no impact.
    fn drifts(&self, veps: f64, limit: f64) -> bool {
        let (transition, acceleration) = (&self.transition, &self.acceleration);
        let held = (0..acceleration.coupling.len()).filter(|i| transition.holds(acceleration, *i));
        let fastest = held.fold(0.0f64, |m, i| {
            m.max(Transition::velocity(acceleration, acceleration.coupling.offset[i], &self.state.v).0.abs())
        });
        fastest > veps && fastest <= limit
    }

    /// Whether closed contacts contradicted each other in the last step of the flow.
    pub(super) fn contradicts(&self) -> bool {
        let contradiction = self.fehlberg.as_ref().map_or(self.hem5.contradiction, |stages| stages.contradiction);
        contradiction > CONTRADICTION && !self.start.monitors.is_empty()
    }

    /// Regions that meet in one place change together: one that has not changed at `end`, the right end of the bracket [a, b] around another
    /// one, but does so before two widths have passed.
    fn cross(&mut self, (a, b): (f64, f64), width: f64) {
        if self.end.crossed(&self.start).next().is_none() {
            return;
        }
        for (i, trace) in self.end.traces.iter_mut().enumerate() {
            let (Some(start), Some(left)) = (self.start.find(trace.key, i), self.left.find(trace.key, i)) else {
                continue;
            };
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
