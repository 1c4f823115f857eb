//! Where a step meets its first event: gaps on their quintics; `monitors.rs` has multipliers, slips and regions.
//!
//! A gap along the motion is the quintic through its values, rates and second derivatives at both ends. It is exact
//! where rows are constant and obstacles move steadily; elsewhere the gap at the middle of the step tells whether it
//! can be trusted. If it cannot, the step is too long for the gap.

use super::{Flow, Work};
use crate::integrator::Quintic;
use crate::{Mechanical, StepError, System};

/// Samples of a step in which monitors and regions are looked at where something is suspected.
pub(super) const SAMPLES: u32 = 8;

/// Samples where steps are not chosen by the scheme and gaps are not resolved.
pub(super) const FINE: u32 = 32;

/// Part of the size of a gap or a monitor by which its polynomial may miss it.
pub(super) const TRUST: f64 = 0.02;

/// What a step meets first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstEvent {
    /// Nothing.
    None,
    /// A gap closes at the part `s`, or does not open visibly.
    Gap { law: usize, s: f64, is_top: bool },
    /// A monitor or a region changes its sign at about the part `s`.
    Change { s: f64 },
    /// Redundant contacts part before the time `u` has passed, which is as good as none.
    Parting { u: f64 },
    /// The step is too long to tell.
    Unresolved,
}

impl FirstEvent {
    pub(super) fn place(&self) -> f64 {
        match self {
            FirstEvent::Gap { s, .. } | FirstEvent::Change { s } => *s,
            FirstEvent::None | FirstEvent::Parting { .. } | FirstEvent::Unresolved => f64::INFINITY,
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
    ) -> Result<FirstEvent, StepError> {
        self.fill_dense(system.model, h);
        self.trial.inner_length = None;
        if self.trial.start.traces.is_empty() {
            return Ok(FirstEvent::None);
        }
        if self.method() == Flow::Dop853 {
            return self.search_flight(system, h, may_reject);
        }
        let constancy = self.transition.acceleration.constancy();
        let exact = constancy.rows && constancy.drift;
        let watched =
            !self.trial.end.monitors.is_empty() || self.trial.start.traces.iter().any(|t| t.region.is_finite());
        let mut first = self.first_gap(h);
        if exact && !watched {
            return Ok(first);
        }
        self.sample(system, 0.5)?;
        if !exact && self.is_unresolved(h, first) {
            if may_reject {
                return Ok(FirstEvent::Unresolved);
            }
            first = self.scan_gaps(system, h)?;
            self.sample(system, 0.5)?;
        }
        if watched {
            match self.watch(system, h, may_reject)? {
                FirstEvent::Unresolved => return Ok(FirstEvent::Unresolved),
                change if change.place() < first.place() => first = change,
                _ => {}
            }
        }
        Ok(first)
    }

    /// The quintic of law `i` over the step, and the level below which it is closed; nothing where it is no open
    /// contact.
    pub(super) fn quintic(&self, i: usize, h: f64) -> Option<(Quintic, f64)> {
        let (start, end) = (self.trial.start.traces[i], self.trial.end.traces[i]);
        // one that starts below zero, by rounding or by the user's will, does not close before it comes back there
        start.is_open.then(|| (Quintic::new(start.y, end.y, h), start.y[0].min(0.0)))
    }

    /// The first gap that closes.
    pub(super) fn first_gap(&self, h: f64) -> FirstEvent {
        let mut first = FirstEvent::None;
        for i in 0..self.trial.start.traces.len() {
            let Some((quintic, level)) = self.quintic(i, h) else { continue };
            let (noise, released) = self.noise(i, level);
            if let Some(found) = quintic.descent(level, noise, released).filter(|found| found.s < first.place()) {
                first = FirstEvent::Gap { law: i, s: found.s, is_top: found.is_top };
            }
        }
        first
    }

    /// Rounding of law `i` over the step, and whether it starts at its level.
    pub(super) fn noise(&self, i: usize, level: f64) -> (f64, bool) {
        let start = self.trial.start.traces[i];
        // half the bound: a hop as small as the rounding of its gap allows is still one
        let noise = 0.5 * start.noise.min(self.trial.end.traces[i].noise);
        let released = start.y[0] <= level + self.trial.touch.max(noise);
        // one that stays at its wall without being held, as redundant ones do, trembles by the rounding of positions
        let trembles = released && start.y[1].abs() <= self.transition.resolution.speed;
        (if trembles { noise.max(self.trial.touch) } else { noise }, released)
    }

    /// Whether a gap differs from its quintic in the middle by so much that `found` cannot be trusted.
    fn is_unresolved(&self, h: f64, found: FirstEvent) -> bool {
        self.trial.start.traces.iter().enumerate().any(|(i, start)| {
            let Some((quintic, _)) = self.quintic(i, h) else { return false };
            let (middle, end) = (self.trial.middle.traces[i], self.trial.end.traces[i]);
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
            miss > TRUST * size || (found == FirstEvent::None && (1..SAMPLES).any(hides))
        })
    }

    /// The first gap that closes, on cubics between samples.
    fn scan_gaps(&mut self, system: &mut System<'_, dyn Mechanical>, h: f64) -> Result<FirstEvent, StepError> {
        let part = 1.0 / f64::from(FINE);
        self.trial.left.copy_from(&self.trial.start);
        for k in 1..=FINE {
            self.sample(system, f64::from(k) * part)?;
            let mut first = FirstEvent::None;
            for (i, start) in self.trial.start.traces.iter().enumerate().filter(|(_, t)| t.is_open) {
                let (left, right) = (self.trial.left.traces[i], self.trial.middle.traces[i]);
                let (level, noise) = (start.y[0].min(0.0), 2.0 * left.noise.min(right.noise));
                let cubic = Quintic::cubic([left.y[0], left.y[1]], [right.y[0], right.y[1]], h * part);
                let released = k == 1 && start.y[0] <= level + self.trial.touch.max(noise);
                if let Some(found) = cubic.descent(level, noise, released) {
                    let s = (f64::from(k - 1) + found.s) * part;
                    if s < first.place() {
                        first = FirstEvent::Gap { law: i, s, is_top: found.is_top };
                    }
                }
            }
            if first != FirstEvent::None {
                return Ok(first);
            }
            std::mem::swap(&mut self.trial.left, &mut self.trial.middle);
        }
        Ok(FirstEvent::None)
    }

    /// Gaps, monitors and regions at the part `s` of the dense output, into `middle`.
    pub(super) fn sample(&mut self, system: &mut System<'_, dyn Mechanical>, s: f64) -> Result<(), StepError> {
        self.smooth.quintic_at(system.model, s, &mut self.trial.middle.state);
        self.trial.middle.evaluate(&mut self.transition, system)
    }

    /// The part of the way from `left` to `right` at which the first monitor or region passes zero, on a line.
    pub(super) fn predict(&self) -> f64 {
        let mut first = 1.0f64;
        let part = |left: f64, right: f64| if left > 0.0 && right < 0.0 { left / (left - right) } else { 0.5 };
        for (k, right) in self.trial.right.monitors.iter().enumerate().filter(|(_, m)| m.violated) {
            first = first.min(self.trial.left.monitors.get(k).map_or(0.5, |left| part(left.value, right.value)));
        }
        for (i, right) in self.trial.right.crossed(&self.trial.start) {
            first = first.min(part(self.trial.left.traces[i].region.abs(), -right.region.abs()));
        }
        first
    }
}
