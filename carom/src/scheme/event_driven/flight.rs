//! Where a free flight of order 8 meets its first event: steps are too long there for the quintic of a gap.
//!
//! ```text
//!     g(s) − p(s) ≈ κ (s (1 − s))³,    κ from g(Qⱼ) − p(cⱼ) at the stages j inside the step                               (1)
//! ```
//!
//! By (1) the stages, which are there anyway, tell how far the quintic p through both ends may be from a gap g. Where
//! that settles the matter, because the gap stays open or because the quintic is as good as exact, nothing else is
//! needed. Otherwise gaps and regions are followed on the dense output of order 7, by samples and to the place of the
//! event. Both cost the model gaps and rows but no forces.

use super::Work;
use super::search::{FINE, FirstEvent, SAMPLES, TRUST};
use crate::integrator::{Dop853, Quintic};
use crate::phase::FreeMotion;
use crate::{Mechanical, StepError, System};

/// Safety on the error of a quintic by (1).
const SAFETY: f64 = 2.0;

/// A quintic that misses its gap by no more than this part of it is a guess from which two steps of Newton's method
/// reach the end.
const EXACT: f64 = 1e-9;

/// Most places that are tried on the dense output for one zero.
const TRIALS: u32 = 60;

/// What is sought on the dense output.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sought {
    /// The gap falls through this level.
    Level(f64),
    /// The rate of the gap changes its sign.
    Turn,
}

impl Work {
    /// The first event of a free flight between `start` and `end`, a step of length h.
    pub(super) fn search_flight(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
        may_reject: bool,
    ) -> Result<FirstEvent, StepError> {
        let watched = self.trial.start.traces.iter().any(|trace| trace.region.is_finite());
        let settled = if watched { None } else { self.on_quintics(system, h)? };
        if let Some(outcome) = settled {
            return Ok(outcome);
        }
        let constancy = self.transition.acceleration.constancy();
        let exact = constancy.rows && constancy.drift;
        let mut found = self.follow(system, (h, SAMPLES), !exact)?;
        if found == FirstEvent::Unresolved && !may_reject {
            found = self.follow(system, (h, FINE), false)?;
        }
        // the coupling belongs to the end again
        self.couple_end(system)?;
        Ok(found)
    }

    /// What the quintics of gaps tell, if it is beyond doubt.
    fn on_quintics(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
    ) -> Result<Option<FirstEvent>, StepError> {
        self.compare(system, h)?;
        let found = self.first_gap(h);
        for (i, start) in self.trial.start.traces.iter().enumerate() {
            let Some((quintic, level)) = self.quintic(i, h) else { continue };
            let (doubt, size) = (SAFETY * self.trial.doubt[i], start.y[0].abs().max(quintic.at(1.0).abs()));
            if doubt <= (EXACT * size).max(64.0 * start.noise) {
                continue;
            }
            // the error vanishes at the ends like s³ (1 − s)³
            let hides = |k: u32| {
                let s = f64::from(k) / f64::from(2 * SAMPLES);
                quintic.at(s) - level < doubt * shape(s)
            };
            if found != FirstEvent::None || doubt > TRUST * size || (1..2 * SAMPLES).any(hides) {
                return Ok(None);
            }
        }
        self.couple_end(system)?;
        Ok(Some(found))
    }

    /// (1): the largest error of the quintic of each law.
    fn compare(&mut self, system: &mut System<'_, dyn Mechanical>, h: f64) -> Result<(), StepError> {
        self.trial.doubt.clear();
        self.trial.doubt.resize(self.trial.start.traces.len(), 0.0);
        for (k, s) in Dop853::places().into_iter().enumerate() {
            let motion = FreeMotion { model: &mut *system.model, acceleration: &mut self.transition.acceleration };
            self.smooth.flight_inside(&motion, k, &mut self.trial.right.state);
            self.glance_right(system)?;
            for i in 0..self.trial.doubt.len() {
                let Some((quintic, _)) = self.quintic(i, h) else { continue };
                let gap = self.trial.right.traces[i].y[0];
                self.trial.doubt[i] = self.trial.doubt[i].max((gap - quintic.at(s)).abs() / shape(s));
            }
        }
        Ok(())
    }

    /// Gaps and regions sample by sample on the dense output. With `strict`, a gap that three samples do not resolve
    /// ends the search.
    fn follow(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        (h, pieces): (f64, u32),
        strict: bool,
    ) -> Result<FirstEvent, StepError> {
        let part = 1.0 / f64::from(pieces);
        self.trial.left.copy_from(&self.trial.start);
        for k in 1..=pieces {
            let ends = (f64::from(k - 1) * part, f64::from(k) * part);
            self.glance(system, if k == pieces { 1.0 } else { ends.1 })?;
            std::mem::swap(&mut self.trial.right, &mut self.trial.middle);
            if strict && k % 2 == 0 && !self.is_resolved(2.0 * h * part) {
                return Ok(FirstEvent::Unresolved);
            }
            let mut first = FirstEvent::None;
            for i in 0..self.trial.start.traces.len() {
                let found = if self.trial.start.traces[i].is_open { self.dip(system, i, h, ends)? } else { None };
                if let Some(found) = found.filter(|found| found.place() < first.place()) {
                    first = found;
                }
            }
            if self.trial.middle.crossed(&self.trial.start).next().is_some() {
                let s = self.border(system, ends)?;
                if s < first.place() {
                    first = FirstEvent::Change { s };
                }
            }
            if first != FirstEvent::None {
                return Ok(first);
            }
            if k % 2 == 0 {
                self.keep();
            } else if k == 1 {
                self.trial.earlier.clear();
                self.trial.earlier.extend(self.trial.start.traces.iter().map(|trace| [trace.y[0], trace.y[1]]));
            }
            std::mem::swap(&mut self.trial.left, &mut self.trial.middle);
        }
        Ok(FirstEvent::None)
    }

    /// Remembers gaps and rates at `middle`.
    fn keep(&mut self) {
        self.trial.earlier.clear();
        self.trial.earlier.extend(self.trial.middle.traces.iter().map(|trace| [trace.y[0], trace.y[1]]));
    }

    /// Whether the gaps at `left` are on the cubics between the sample before and `middle`, which are `width` apart.
    fn is_resolved(&self, width: f64) -> bool {
        self.trial.start.traces.iter().enumerate().filter(|(_, start)| start.is_open).all(|(i, _)| {
            let (earlier, left, middle) =
                (self.trial.earlier[i], self.trial.left.traces[i], self.trial.middle.traces[i]);
            let cubic = Quintic::cubic(earlier, [middle.y[0], middle.y[1]], width);
            let miss = (cubic.at(0.5) - left.y[0]).abs();
            let size = earlier[0].abs().max(left.y[0].abs()).max(middle.y[0].abs());
            miss <= (TRUST * size).max(64.0 * (left.noise + middle.noise))
        })
    }

    /// Where law `i` closes between `left` and `middle`.
    fn dip(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        i: usize,
        h: f64,
        (low, high): (f64, f64),
    ) -> Result<Option<FirstEvent>, StepError> {
        let level = self.trial.start.traces[i].y[0].min(0.0);
        let (noise, released) = self.noise(i, level);
        let floor = level - noise;
        let [left, right] =
            [&self.trial.left, &self.trial.middle].map(|point| [point.traces[i].y[0], point.traces[i].y[1]]);
        let mut below = (right[0] < floor).then_some(high);
        if below.is_none() && left[1] < 0.0 && right[1] > 0.0 {
            let cubic = Quintic::cubic(left, right, h * (high - low));
            // nothing but a bottom near zero deserves a closer look
            let near = 0.1 * left[0].max(right[0]) + noise;
            if (1..8).any(|k| cubic.at(0.125 * f64::from(k)) < near) {
                let bottom = self.zero(system, i, (h, low, high), Sought::Turn)?;
                below = (self.trial.right.traces[i].y[0] < floor).then_some(bottom);
            }
        }
        let Some(below) = below else { return Ok(None) };
        let mut from = low;
        if low == 0.0 && released {
            if left[1] > 0.0 {
                from = self.zero(system, i, (h, 0.0, below), Sought::Turn)?;
            } else {
                self.trial.right.copy_from(&self.trial.start);
            }
            if self.trial.right.traces[i].y[0] <= level + noise {
                return Ok(Some(FirstEvent::Gap { law: i, s: from, is_top: true }));
            }
        }
        let s = self.zero(system, i, (h, from, below), Sought::Level(level))?;
        Ok(Some(FirstEvent::Gap { law: i, s, is_top: false }))
    }

    /// A zero of law `i` on the dense output in a bracket, with `right` left there: Newton's method, or halves where it
    /// fails.
    fn zero(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        i: usize,
        (h, mut low, mut high): (f64, f64, f64),
        sought: Sought,
    ) -> Result<f64, StepError> {
        let rising = sought == Sought::Turn && {
            self.glance(system, high)?;
            self.trial.right.traces[i].y[1] > 0.0
        };
        let mut s = 0.5 * (low + high);
        let mut last = None::<(f64, f64)>;
        for trial in 0..TRIALS {
            self.glance(system, s)?;
            let trace = self.trial.right.traces[i];
            let (value, slope) = match sought {
                Sought::Level(level) => (trace.y[0] - level, h * trace.y[1]),
                // no second derivative without forces: secants
                Sought::Turn => {
                    let value = trace.y[1];
                    let slope = last.map_or(f64::NAN, |(at, of)| (value - of) / (s - at));
                    last = Some((s, value));
                    (value, slope)
                }
            };
            if (value > 0.0) == rising {
                high = s
            } else {
                low = s
            }
            let newton = s - value / slope;
            let inside = newton > low && newton < high;
            let next = if inside && trial % 8 != 7 { newton } else { 0.5 * (low + high) };
            if value == 0.0 || (next - s).abs() <= 1e-13 * next || next <= low || next >= high {
                break;
            }
            s = next;
        }
        Ok(s)
    }

    /// Where a region begins or ends between two samples.
    fn border(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        (mut low, mut high): (f64, f64),
    ) -> Result<f64, StepError> {
        for _ in 0..TRIALS {
            let middle = 0.5 * (low + high);
            if high - low <= 1e-12 || middle <= low || middle >= high {
                break;
            }
            self.glance(system, middle)?;
            if self.trial.right.crossed(&self.trial.start).next().is_some() { high = middle } else { low = middle }
        }
        Ok(high)
    }

    /// Gaps, rates and regions at the part `s` of the dense output, into `right`.
    fn glance(&mut self, system: &mut System<'_, dyn Mechanical>, s: f64) -> Result<(), StepError> {
        if s >= 1.0 {
            self.trial.right.copy_from(&self.trial.end);
            return Ok(());
        }
        let motion = FreeMotion { model: &mut *system.model, acceleration: &mut self.transition.acceleration };
        self.smooth.flight_at(motion, s, &mut self.trial.right.state)?;
        self.glance_right(system)
    }

    /// Gaps, rates and regions at the state of `right`.
    fn glance_right(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.trial.right.glance(&mut self.transition, system.model)
    }
}

/// (s (1 − s))³, with a largest value of 1.
fn shape(s: f64) -> f64 {
    64.0 * (s * (1.0 - s)).powi(3)
}
