//! To the event: steps of the flow that end at it, then impact, change of mode, and the next phase.
//!
//! The place on the dense output is a guess. It is improved on the map of the flow itself, by Newton's method for gaps (their rates are
//! known) and inside a bracket for monitors and regions, of which the right end is taken: there the change is a fact.

use super::search::Outcome;
use super::{EventDriven, Work};
use crate::flow::Watch;
use crate::scheme::{EventKind, StepError, System};
use crate::{Key, Mechanical};

/// Most steps of Newton's method on a gap.
const NEWTON: u32 = 8;

/// Most steps in the reduction of a bracket.
const TRIALS: u32 = 80;

/// A gap may be passed by this multiple of its resolution, and by this much [m]; beyond, an event was overlooked.
const PASSED: (f64, f64) = (1e3, 1e-12);

/// Time over which contacts at an edge are sorted out [s]: the set does not depend on it.
const SORTING: f64 = 1e-3;

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
        let width = 1e-14 * h + 4.0 * f64::EPSILON * w.start.state.t.abs();
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
        w.flagged.extend(w.end.monitors.iter().filter(|m| m.violated).map(|m| (m.key, m.watch)));
        Ok(if self.passed(w).is_none() { Some(b) } else { None })
    }

    /// A gap at `end` that was passed unseen.
    pub(super) fn passed(&self, w: &Work) -> Option<(Key, f64)> {
        let limit = (PASSED.0 * self.geps.unwrap_or(0.0)).max(PASSED.1);
        w.end.traces.iter().enumerate().filter(|(_, t)| t.is_open).find_map(|(i, trace)| {
            let start = w.start.find(trace.key, i).map_or(0.0, |start| start.y[0].min(0.0));
            let allowed = limit.max(PASSED.0 * trace.noise);
            (trace.y[0] < start - allowed).then_some((trace.key, trace.y[0]))
        })
    }

    /// Impact or change of mode at `end`, and the phase after it.
    pub(super) fn change(&self, w: &mut Work, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        w.state.copy_from(&w.end.state);
        for trace in w.end.crossed(&w.start) {
            w.transition.events.push(EventKind::Edge, Some(trace.key), &w.state, &w.state);
        }
        w.transition.flagged.clear();
        w.transition.flagged.extend_from_slice(&w.flagged);
        w.set_touch(self.geps);
        w.transition.gather(&w.acceleration, &w.state.q);
        w.transition.is_plastic = w.crowd.is_stalled();
        let crosses = w.end.crossed(&w.start).next().is_some();
        w.transition.sorting = self.sorting().filter(|_| crosses).map(|sorting| (sorting, SORTING));
        let settled = w.settle(system);
        w.transition.is_plastic = false;
        w.transition.sorting = None;
        settled
    }
}
