//! Where a step meets its first event: gaps on their quintics, monitors and regions on samples of the dense output.
//!
//! A gap along the motion is the quintic through its values, rates and second derivatives at both ends. It is exact where rows are constant
//! and obstacles move steadily; elsewhere the gap at the middle of the step tells whether it can be trusted. If it cannot, the step is too
//! long for the gap. Multipliers, slips and regions are looked at in the middle and at the end, and on a finer grid where they come near zero.

use super::Work;
use super::point::Point;
use crate::flow::Quintic;
use crate::scheme::{StepError, System};
use crate::{Key, Mechanical};

/// Samples of a step in which monitors and regions are looked at where something is suspected.
pub(super) const SAMPLES: u32 = 8;

/// Samples where steps are not chosen by the scheme and gaps are not resolved.
pub(super) const FINE: u32 = 32;

/// Part of the size of a gap by which its quintic may miss it in the middle.
pub(super) const TRUST: f64 = 0.02;

/// Part of the size of a monitor by which it may miss a line in the middle.
const UNEVEN: f64 = 0.25;

/// What a step meets first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Smooth,
    /// A gap closes at the part `s`, or does not open visibly.
    Gap {
        key: Key,
        s: f64,
        is_top: bool,
    },
    /// A monitor or a region changes its sign at about the part `s`.
    Change {
        s: f64,
    },
    /// Redundant contacts part before the time `u` has passed, which is as good as none.
    Parting {
        u: f64,
    },
    /// The step is too long to tell.
    Unresolved,
}

impl Outcome {
    pub(super) fn place(&self) -> f64 {
        match self {
            Outcome::Gap { s, .. } | Outcome::Change { s } => *s,
            Outcome::Smooth | Outcome::Parting { .. } | Outcome::Unresolved => f64::INFINITY,
        }
    }
}

impl Work {
    /// The first event between `start` and `end`, a step of length h.
    pub(super) fn search(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
        may_reject: bool,
    ) -> Result<Outcome, StepError> {
        self.fill_dense(system.model, h);
        if self.start.traces.is_empty() {
            return Ok(Outcome::Smooth);
        }
        if self.is_high() {
            return self.search_flight(system, h, may_reject);
        }
        let constancy = self.acceleration.constancy();
        let exact = constancy.rows && constancy.drift;
        let watched = !self.end.monitors.is_empty() || self.start.traces.iter().any(|t| t.region.is_finite());
        let mut first = self.first_gap(h);
        if exact && !watched {
            return Ok(first);
        }
        self.sample(system, 0.5)?;
        if !exact && self.is_unresolved(h, first) {
            if may_reject {
                return Ok(Outcome::Unresolved);
            }
            first = self.scan_gaps(system, h)?;
            self.sample(system, 0.5)?;
        }
        if may_reject && self.is_uneven() {
            return Ok(Outcome::Unresolved);
        }
        let suspicious = self.end.is_changed(&self.start) || self.middle.is_changed(&self.start) || self.comes_near();
        if watched
            && suspicious
            && let Some(s) = self.scan_monitors(system)?.filter(|s| *s < first.place())
        {
            first = Outcome::Change { s };
        }
        Ok(first)
    }

    /// The dense output of the step from `start` to `end`.
    pub(super) fn fill_dense(&mut self, model: &dyn Mechanical, h: f64) {
        let (start, end) = (&self.start, &self.end);
        self.dense.fill(model, (&start.state, &start.a), (&end.state, &end.a), h);
        let is_high = self.is_high();
        if let Some(high) = &mut self.high {
            if is_high && high.length() == Some(h) { high.conclude(&self.end.a) } else { high.clear() }
        }
    }

    /// The quintic of law `i` over the step, and the level below which it is closed.
    pub(super) fn quintic(&self, i: usize, h: f64) -> Option<(Quintic, f64)> {
        let start = self.start.traces[i];
        let end = self.end.find(start.key, i)?;
        // one that starts below zero, by rounding or by the user's will, does not close before it comes back there
        start.is_open.then(|| (Quintic::new(start.y, end.y, h), start.y[0].min(0.0)))
    }

    /// The first gap that closes.
    pub(super) fn first_gap(&self, h: f64) -> Outcome {
        let mut first = Outcome::Smooth;
        for (i, start) in self.start.traces.iter().enumerate() {
            let Some((quintic, level)) = self.quintic(i, h) else { continue };
            let (noise, released) = self.noise(i, level);
            if let Some(found) = quintic.descent(level, noise, released).filter(|found| found.s < first.place()) {
                first = Outcome::Gap { key: start.key, s: found.s, is_top: found.is_top };
            }
        }
        first
    }

    /// Rounding of law `i` over the step, and whether it starts at its level.
    pub(super) fn noise(&self, i: usize, level: f64) -> (f64, bool) {
        let start = self.start.traces[i];
        let end = self.end.find(start.key, i).map_or(start.noise, |end| end.noise);
        // half the bound: a hop as small as the rounding of its gap allows is still one
        let noise = 0.5 * start.noise.min(end);
        let released = start.y[0] <= level + self.touch.max(noise);
        // one that stays at its wall without being held, as redundant ones do, trembles by the rounding of positions
        let trembles = released && start.y[1].abs() <= self.transition.resolution.speed;
        (if trembles { noise.max(self.touch) } else { noise }, released)
    }

    /// Whether a gap differs from its quintic in the middle by so much that `found` cannot be trusted.
    fn is_unresolved(&self, h: f64, found: Outcome) -> bool {
        self.start.traces.iter().enumerate().any(|(i, start)| {
            let Some((quintic, _)) = self.quintic(i, h) else { return false };
            let (Some(middle), Some(end)) = (self.middle.find(start.key, i), self.end.find(start.key, i)) else {
                return true;
            };
            let miss = (quintic.at(0.5) - middle.y[0]).abs();
            if miss <= 64.0 * (start.noise + end.noise) {
                return false;
            }
            let size = start.y[0].abs().max(middle.y[0].abs()).max(end.y[0].abs());
            // the error vanishes at the ends like s³ (1 − s)³
            let hides = |k: u32| {
                let s = f64::from(k) / f64::from(SAMPLES);
                quintic.at(s) < 4.0 * miss * 64.0 * (s * (1.0 - s)).powi(3)
            };
            miss > TRUST * size || (found == Outcome::Smooth && (1..SAMPLES).any(hides))
        })
    }

    /// The first gap that closes, on cubics between samples.
    fn scan_gaps(&mut self, system: &mut System<'_, dyn Mechanical>, h: f64) -> Result<Outcome, StepError> {
        let part = 1.0 / f64::from(FINE);
        self.left.copy_from(&self.start);
        for k in 1..=FINE {
            self.sample(system, f64::from(k) * part)?;
            let mut first = Outcome::Smooth;
            for (i, start) in self.start.traces.iter().enumerate().filter(|(_, t)| t.is_open) {
                let (Some(left), Some(right)) = (self.left.find(start.key, i), self.middle.find(start.key, i)) else {
                    continue;
                };
                let (level, noise) = (start.y[0].min(0.0), 2.0 * left.noise.min(right.noise));
                let cubic = Quintic::cubic([left.y[0], left.y[1]], [right.y[0], right.y[1]], h * part);
                let released = k == 1 && start.y[0] <= level + self.touch.max(noise);
                if let Some(found) = cubic.descent(level, noise, released) {
                    let s = (f64::from(k - 1) + found.s) * part;
                    if s < first.place() {
                        first = Outcome::Gap { key: start.key, s, is_top: found.is_top };
                    }
                }
            }
            if first != Outcome::Smooth {
                return Ok(first);
            }
            std::mem::swap(&mut self.left, &mut self.middle);
        }
        Ok(Outcome::Smooth)
    }

    /// Gaps, monitors and regions at the part `s` of the dense output, into `middle`.
    pub(super) fn sample(&mut self, system: &mut System<'_, dyn Mechanical>, s: f64) -> Result<(), StepError> {
        self.dense.at(system.model, s, &mut self.middle.state);
        std::mem::swap(&mut self.middle, &mut self.end);
        let seen = self.look(system);
        std::mem::swap(&mut self.middle, &mut self.end);
        seen
    }

    /// Whether a monitor is so far from a line that it may do anything between its samples: what rests has no error, and long steps.
    fn is_uneven(&self) -> bool {
        self.start.monitors.iter().any(|start| {
            let same = |point: &Point| {
                point.monitors.iter().find(|m| m.key == start.key && m.watch == start.watch).map(|m| m.value)
            };
            let (Some(middle), Some(end)) = (same(&self.middle), same(&self.end)) else { return false };
            let size = start.value.abs().max(middle.abs()).max(end.abs());
            // one that starts at zero, as a slip does, may grow like any power, however short the step
            start.value > 1e-3 * size && (middle - 0.5 * (start.value + end)).abs() > UNEVEN * size
        })
    }

    /// Whether a parabola through the start, the middle and the end of a monitor comes near zero.
    fn comes_near(&self) -> bool {
        self.start.monitors.iter().any(|start| {
            let same = |point: &Point| {
                point.monitors.iter().find(|m| m.key == start.key && m.watch == start.watch).map(|m| m.value)
            };
            let (Some(middle), Some(end)) = (same(&self.middle), same(&self.end)) else { return true };
            // value at s is start + b s + c s², least at −b/2c
            let c = 2.0 * (start.value - 2.0 * middle + end);
            let b = end - start.value - c;
            let place = -0.5 * b / c;
            let least =
                if c > 0.0 && place > 0.0 && place < 1.0 { start.value - 0.25 * b * b / c } else { f64::INFINITY };
            let size = start.value.abs().max(middle.abs()).max(end.abs());
            least < 0.1 * size && least < start.value.min(end)
        })
    }

    /// The first place where a monitor or a region changes on the dense output.
    fn scan_monitors(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<Option<f64>, StepError> {
        let part = 1.0 / f64::from(SAMPLES);
        self.left.copy_from(&self.start);
        let mut bracket = None;
        for k in 1..=SAMPLES {
            self.sample(system, f64::from(k) * part)?;
            if self.middle.is_changed(&self.start) {
                bracket = Some((f64::from(k - 1) * part, f64::from(k) * part));
                break;
            }
            std::mem::swap(&mut self.left, &mut self.middle);
        }
        let Some((mut a, mut b)) = bracket else { return Ok(None) };
        std::mem::swap(&mut self.right, &mut self.middle);
        for trial in 0..40 {
            if b - a <= 1e-9 {
                break;
            }
            let s = if trial % 3 == 2 { 0.5 * (a + b) } else { a + (b - a) * self.predict().clamp(0.02, 0.98) };
            self.sample(system, s)?;
            if self.middle.is_changed(&self.start) {
                b = s;
                std::mem::swap(&mut self.right, &mut self.middle);
            } else {
                a = s;
                std::mem::swap(&mut self.left, &mut self.middle);
            }
        }
        Ok(Some(a + (b - a) * self.predict()))
    }

    /// The part of the way from `left` to `right` at which the first monitor or region passes zero, on a line.
    pub(super) fn predict(&self) -> f64 {
        let mut first = 1.0f64;
        let part = |left: f64, right: f64| if left > 0.0 && right < 0.0 { left / (left - right) } else { 0.5 };
        for right in self.right.monitors.iter().filter(|m| m.violated) {
            let left = self.left.monitors.iter().find(|m| m.key == right.key && m.watch == right.watch);
            first = first.min(left.map_or(0.5, |left| part(left.value, right.value)));
        }
        for right in self.right.crossed(&self.start) {
            let left = self.left.find(right.key, usize::MAX).map_or(0.0, |left| left.region.abs());
            first = first.min(part(left, -right.region.abs()));
        }
        first
    }
}
