//! Where a step meets its first event: gaps by their quintics; `gaps.rs` follows those that a quintic does not settle,
//! `monitors.rs` has multipliers, slips and regions.
//!
//! ```text
//!     g(s) − p(s) ≈ κ (s (1 − s))³,    κ from g − p at places inside the step                                             (1)
//! ```
//!
//! A gap along the motion is the quintic p through its values, rates and second derivatives at both ends. It is exact
//! where rows are constant, obstacles move steadily and the motion is a quintic itself. Elsewhere (1) tells how far it
//! may be from the gap: at stages of a flight of order 8, which are there anyway, or at places of the dense output.
//! They cost the model gaps and rows but no forces. Where that settles the matter, because the gap stays open or
//! because the quintic is as good as exact, nothing else is needed. Models of files know bounds of rates: where they
//! leave a gap no time to close, nothing is looked at, and where they exceed what is seen, something narrow may hide.

use super::{Flow, Trial, Work};
use crate::integrator::{Dop853, Quintic};
use crate::phase::FreeMotion;
use crate::{Mechanical, StepError, System};

/// Samples of a step in which monitors and regions are looked at where something is suspected.
pub(super) const SAMPLES: u32 = 8;

/// Samples where steps are not chosen by the scheme and monitors are not resolved.
pub(super) const FINE: u32 = 32;

/// Part of the size of a gap or a monitor by which its polynomial may miss it.
pub(super) const TRUST: f64 = 0.02;

/// Safety on the error of a quintic by (1).
const SAFETY: f64 = 2.0;

/// A quintic that misses its gap by no more than this part of it is a guess from which two steps of Newton's method
/// reach the end.
const EXACT: f64 = 1e-9;

/// Places of the dense output for (1): no period is in step with all of them.
const PLACES: [f64; 3] = [0.281, 0.527, 0.764];

/// A miss near the ends of a step is not taken for the trace of one that is larger than this inverse.
const LEAST: f64 = 0.1;

/// What a step meets first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstEvent {
    /// Nothing.
    None,
    /// A gap closes at about the part `s` and is closed at the part `until`, or it does not open visibly.
    Gap { law: usize, s: f64, until: f64, is_top: bool },
    /// A monitor or a region changes its sign at about the part `s`, and has changed at the part `until`.
    Change { s: f64, until: f64 },
    /// Redundant contacts part before the time `u` has passed, which is as good as none.
    Parting { u: f64 },
    /// The step is too long to tell.
    Unresolved,
}

impl FirstEvent {
    pub(super) fn place(&self) -> f64 {
        match self {
            FirstEvent::Gap { s, .. } | FirstEvent::Change { s, .. } => *s,
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
        let watched =
            !self.trial.end.monitors.is_empty() || self.trial.start.traces.iter().any(|t| t.region.is_finite());
        let exact = self.has_exact_gaps();
        if exact && !watched && self.method() != Flow::Dop853 {
            return Ok(self.first_gap(h));
        }
        let mut first = match self.on_quintics(system, h)? {
            Some(found) => found,
            None => self.follow(system, h, may_reject)?,
        };
        if watched && first != FirstEvent::Unresolved {
            self.view(system, 0.5)?;
            match self.watch(system, h, may_reject)? {
                FirstEvent::Unresolved => first = FirstEvent::Unresolved,
                change if change.place() < first.place() => first = change,
                _ => {}
            }
        }
        // the coupling belongs to the end again
        self.couple_end(system)?;
        Ok(first)
    }

    /// Whether gaps are linear in positions and time.
    pub(super) fn has_exact_gaps(&self) -> bool {
        let constancy = self.transition.acceleration.constancy();
        constancy.rows && constancy.drift
    }

    /// The quintic of law `i` over the step, and the level below which it is closed; nothing where it is no open
    /// contact.
    pub(super) fn quintic(&self, i: usize, h: f64) -> Option<(Quintic, f64)> {
        let (start, end) = (self.trial.start.traces[i], self.trial.end.traces[i]);
        // one that starts below zero, by rounding or by the user's will, does not close before it comes back there
        start.is_open.then(|| (Quintic::new(start.y, end.y, h), start.y[0].min(0.0)))
    }

    /// The first gap that closes.
    fn first_gap(&self, h: f64) -> FirstEvent {
        let mut first = FirstEvent::None;
        for i in 0..self.trial.start.traces.len() {
            let Some((quintic, level)) = self.quintic(i, h) else { continue };
            let (noise, released) = self.noise(i, level);
            if let Some(found) = quintic.descent(level, noise, released).filter(|found| found.s < first.place()) {
                first = FirstEvent::Gap { law: i, s: found.s, until: found.below, is_top: found.is_top };
            }
        }
        first
    }

    /// Rounding of law `i` over the step, and whether it starts at its level.
    pub(super) fn noise(&self, i: usize, level: f64) -> (f64, bool) {
        let start = self.trial.start.traces[i];
        // half the bound: a hop as small as the rounding of its gap allows is still one
        let noise = 0.5 * start.noise.min(self.trial.end.traces[i].noise);
        let touch = self.transition.touch(&self.transition.acceleration.coupling, i);
        let released = start.y[0] <= level + touch.max(noise);
        // one that stays at its wall without being held, as redundant ones do, trembles by the rounding of positions
        let trembles = released && start.y[1].abs() <= self.transition.slow(i, &self.trial.start.state.v);
        (if trembles { noise.max(touch) } else { noise }, released)
    }

    /// What the quintics of gaps tell, if it is beyond doubt.
    fn on_quintics(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
    ) -> Result<Option<FirstEvent>, StepError> {
        if self.stay_open(system, h) {
            return Ok(Some(FirstEvent::None));
        }
        self.compare(system, h)?;
        let found = self.first_gap(h);
        for (i, start) in self.trial.start.traces.iter().enumerate() {
            let Some((quintic, level)) = self.quintic(i, h) else { continue };
            if !self.trial.rates.agree(i, &[start.y[1], quintic.slope(0.5) / h, self.trial.end.traces[i].y[1]]) {
                return Ok(None);
            }
            let (doubt, size) = (SAFETY * self.trial.doubt[i], start.y[0].abs().max(quintic.at(1.0).abs()));
            if doubt <= (EXACT * size).max(64.0 * start.noise) {
                continue;
            }
            // the error vanishes at the ends like s³ (1 − s)³
            let hides = || quintic.may_fall_below(level, |s| doubt * shape(s));
            if found != FirstEvent::None || doubt > TRUST * size || hides() {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// Whether bounds of the rates leave no gap time to close.
    fn stay_open(&mut self, system: &mut System<'_, dyn Mechanical>, h: f64) -> bool {
        self.trial.rates.values.clear();
        if self.has_exact_gaps() {
            return false;
        }
        if self.method() == Flow::Dop853 {
            let motion = FreeMotion { model: &mut *system.model, acceleration: &mut self.transition.acceleration };
            self.smooth.flight_inside(&motion, 0, &mut self.trial.middle.state);
        } else {
            self.smooth.quintic_at(system.model, 0.5, &mut self.trial.middle.state);
        }
        let Trial { start, middle, end, rates, .. } = &mut self.trial;
        rates.fill([&start.state, &middle.state, &end.state], |t, q, v, out| system.model.bound_rates(t, q, v, out));
        start.traces.iter().zip(&end.traces).enumerate().filter(|(_, (start, _))| start.is_open).all(
            |(i, (start, end))| {
                let least = start.y[0].min(end.y[0]) - start.y[0].min(0.0);
                rates.spread(i).is_some_and(|spread| least > 0.25 * h * spread)
            },
        )
    }

    /// (1): the largest error of the quintic of each law, and where it is largest.
    fn compare(&mut self, system: &mut System<'_, dyn Mechanical>, h: f64) -> Result<(), StepError> {
        self.trial.doubt.clear();
        self.trial.doubt.resize(self.trial.start.traces.len(), 0.0);
        (self.trial.places, self.trial.doubtful) = (0, 0.0);
        if self.method() == Flow::Dop853 {
            for (k, s) in Dop853::places().into_iter().enumerate() {
                let motion = FreeMotion { model: &mut *system.model, acceleration: &mut self.transition.acceleration };
                self.smooth.flight_inside(&motion, k, &mut self.trial.middle.state);
                self.trial.middle.glance(&mut self.transition, system.model)?;
                self.doubt_at(s, h);
            }
        }
        if self.has_exact_gaps() {
            return Ok(());
        }
        let places = self.places(h);
        self.trial.places = places;
        if places == 0 && self.method() != Flow::Dop853 {
            for s in PLACES {
                self.glance(system, s)?;
                self.doubt_at(s, h);
            }
        }
        for k in 1..=places {
            // narrow gaps are seen on any motion
            let s = (f64::from(k) - super::monitors::OFFSET) / f64::from(places);
            self.smooth.quintic_at(system.model, s, &mut self.trial.middle.state);
            self.trial.middle.glance(&mut self.transition, system.model)?;
            self.doubt_at(s, h);
        }
        Ok(())
    }

    /// Compares the gaps at `middle`, which is at `s`, with their quintics.
    fn doubt_at(&mut self, s: f64, h: f64) {
        for i in 0..self.trial.doubt.len() {
            let Some((quintic, _)) = self.quintic(i, h) else { continue };
            let gap = self.trial.middle.traces[i].y[0];
            let rounding = 16.0 * (self.trial.start.traces[i].noise + self.trial.end.traces[i].noise);
            let miss = ((gap - quintic.at(s)).abs() - rounding).max(0.0) / shape(s).max(LEAST);
            if miss > self.trial.doubt[i] {
                self.trial.doubt[i] = miss;
                self.trial.doubtful = s;
            }
        }
    }

    /// Gaps, monitors and regions at the part `s` of the dense output, into `middle`.
    pub(super) fn sample(&mut self, system: &mut System<'_, dyn Mechanical>, s: f64) -> Result<(), StepError> {
        self.smooth.quintic_at(system.model, s, &mut self.trial.middle.state);
        self.trial.middle.evaluate(&mut self.transition, system)
    }

    /// Gaps, rates and regions at the part `s` of the dense output, into `middle`.
    pub(super) fn glance(&mut self, system: &mut System<'_, dyn Mechanical>, s: f64) -> Result<(), StepError> {
        if s >= 1.0 {
            self.trial.middle.copy_from(&self.trial.end);
            return Ok(());
        }
        let motion = FreeMotion { model: &mut *system.model, acceleration: &mut self.transition.acceleration };
        self.smooth.dense_at(motion, s, &mut self.trial.middle.state)?;
        self.trial.middle.glance(&mut self.transition, system.model)
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

/// (s (1 − s))³, with a largest value of 1.
fn shape(s: f64) -> f64 {
    64.0 * (s * (1.0 - s)).powi(3)
}
