//! The loop under every driver: tries steps until the controller accepts one, and meets given times exactly.

use super::facts::Facts;
use super::passed::{Looks, passed_at};
use super::{Controller, FixedStep, SimulationError, Statistics, Verdict};
use crate::scheme::{Step, StepError, Stepper};
use crate::{Key, WarningKind, Warnings};
use carom_solve::{Archive, ArchiveError, Persist};

/// Steps are not cut below this part of the usual one because of a contact that they pass.
const LEAST_PART: f64 = 1e-9;

/// Parts of a step that fails have at least this part of its length.
const LEAST_HALF: f64 = 1.0 / 4096.0;

/// A step of a fixed size could not be done, and parts of it could.
pub const PARTED_STEP: WarningKind = WarningKind {
    name: "parted-step",
    message: "a step could not be done as a whole and was taken in parts; the figure is how many times shorter they are",
    unit: "1",
    hint: "where it happens often a smaller step is as quick and more accurate",
};

/// A step that failed, which is taken in parts.
#[derive(Clone, Copy, Debug)]
struct Parted {
    /// Where it was to end [s].
    until: f64,
    /// The grid after it.
    grid: Grid,
    /// Length of the last part that was done [s].
    part: f64,
}

carom_solve::persist!(Parted { until, grid, part });

/// Times `base + count·h`: steps of one size do not accumulate rounding.
#[derive(Clone, Copy, Debug, Default)]
struct Grid {
    base: f64,
    count: u64,
    h: f64,
}

carom_solve::persist!(Grid { base, count, h });

impl Grid {
    /// The time after a step of size `advanced` from `t`, of which `h` was asked.
    fn after(&mut self, t: f64, advanced: f64) -> f64 {
        if advanced != self.h {
            *self = Grid { base: t, count: 0, h: advanced };
        }
        self.count += 1;
        self.base + self.count as f64 * self.h
    }
}

/// A step that was accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accepted {
    pub step: Step,
    /// The step that was asked for [s].
    pub h: f64,
    /// Whether it was to end at the goal.
    pub is_last: bool,
}

carom_solve::persist!(Accepted { step, h, is_last });

/// Leads a stepper to given times, step by step.
pub(crate) struct Drive<C> {
    pub controller: C,
    /// Size of the next step [s].
    h: f64,
    /// The time that is to be met [s].
    goal: f64,
    grid: Grid,
    parted: Option<Parted>,
    /// Whether a step of a fixed size that fails is taken in parts.
    pub parts: bool,
    /// What was warned of.
    pub warnings: Warnings,
    /// Whether steps that pass a contact are taken again.
    pub shortens: bool,
    looks: Looks,
    /// Most steps up to the goal, and those since it was set.
    most: u64,
    taken: u64,
    /// The last one, until the next is tried.
    pub accepted: Accepted,
    pub statistics: Statistics,
    pub facts: Facts,
}

impl<C: Controller> Persist for Drive<C> {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Drive {
            controller,
            h,
            goal,
            grid,
            parted,
            warnings,
            looks,
            taken,
            accepted,
            statistics,
            facts,
            parts: _,
            shortens: _,
            most: _,
        } = self;
        controller.persist(archive)?;
        (h, goal, grid, parted).persist(archive)?;
        (warnings, looks, taken).persist(archive)?;
        (accepted, statistics, facts).persist(archive)
    }
}

impl Parted {
    /// Length of the next part: up to twice the one before.
    fn next(&self, t: f64) -> Option<f64> {
        let left = self.until - t;
        // none of a tiny length follows
        Some(if left <= 2.0 * self.part * (1.0 + 1e-9) { left } else { 2.0 * self.part })
    }
}

impl Drive<FixedStep> {
    /// Sets the size of all steps from here on.
    pub fn set_step(&mut self, h: f64) {
        (self.controller.h, self.h) = (h, h);
    }
}

impl<C: Controller> Drive<C> {
    /// Begins at the time `t`, which is the first goal.
    pub fn new(controller: C, t: f64) -> Drive<C> {
        let h = controller.first();
        let (statistics, facts) = (Statistics::default(), Facts::default());
        Drive {
            controller,
            h,
            goal: t,
            grid: Grid { base: t, count: 0, h },
            parted: None,
            parts: false,
            warnings: Warnings::default(),
            shortens: false,
            looks: Looks::default(),
            most: u64::MAX,
            taken: 0,
            accepted: Accepted::default(),
            statistics,
            facts,
        }
    }

    /// The time to be met.
    pub fn goal(&self) -> f64 {
        self.goal
    }

    /// Sets the time to be met, from the time `t` on. Another goal begins another grid, so that its multiples meet it.
    pub fn set_goal(&mut self, t: f64, goal: f64) {
        if goal != self.goal {
            (self.goal, self.taken, self.parted) = (goal, 0, None);
            self.grid = Grid { base: t, count: 0, h: self.h };
        }
    }

    /// At most so many steps lead to a goal.
    pub fn limit(&mut self, most: u64) {
        self.most = most;
    }

    /// Goes on from the time `t` of another state: nothing is remembered but the goal and the counts.
    pub fn restart(&mut self, t: f64) {
        (self.h, self.taken, self.parted) = (self.controller.first(), 0, None);
        self.grid = Grid { base: t, count: 0, h: self.h };
        self.facts.clear();
    }

    /// One accepted step, which `to` and `accepted` then hold; `false` at the goal. Whoever calls it looks at the step
    /// and accepts it.
    #[inline(always)]
    pub fn step(&mut self, stepper: &mut dyn Stepper) -> Result<bool, SimulationError> {
        let t = stepper.from().t;
        let rounding = self.rounding(t);
        let Some(mut h) = self.parted.map_or_else(|| self.clip(t, rounding), |parted| parted.next(t)) else {
            return Ok(false);
        };
        if self.taken >= self.most {
            return Err(SimulationError::Stalled { t, steps: self.most });
        }
        loop {
            match stepper.attempt(h) {
                Ok(step) => {
                    self.count(&step);
                    self.accepted.step = step;
                }
                Err(source) => {
                    h = self.recover(stepper, (rounding, h), source)?;
                    continue;
                }
            }
            match self.controller.judge(&self.accepted.step, h) {
                Verdict::Accept { .. } if self.shortens && self.passes(stepper, (t, &mut h))? => {}
                Verdict::Accept { next } => {
                    if self.accepted.step.solves > 0 {
                        self.statistics.worst = self.statistics.worst.worse(self.accepted.step.worst);
                    }
                    let advanced = self.accepted.step.advanced;
                    let after = match self.parted.take() {
                        None => self.time_after((t, rounding), h, advanced),
                        Some(parted) => self.after_part(parted, (t, rounding), advanced),
                    };
                    stepper.set_time(after);
                    self.h = next;
                    self.taken += 1;
                    self.statistics.steps += 1;
                    (self.accepted.h, self.accepted.is_last) = (h, self.goal - t <= h * (1.0 + 1e-9));
                    return Ok(true);
                }
                Verdict::Retry { with } if with > 0.0 && with < h && t + with > t => {
                    self.statistics.rejected += 1;
                    h = with;
                }
                Verdict::Retry { .. } => {
                    let error = self.accepted.step.error.map_or(f64::NAN, |error| error.value);
                    return Err(SimulationError::StepTooSmall { t, h, error });
                }
                Verdict::GiveUp { error } => {
                    self.statistics.rejected += 1;
                    return Err(SimulationError::StepTooSmall { t, h, error });
                }
            }
        }
    }

    /// Whether the step passes a contact and may be taken again with the `h` that is left here. It is not cut below a
    /// small part of the usual one: an obstacle may be thinner than what times resolve.
    #[cold]
    fn passes(&mut self, stepper: &mut dyn Stepper, (t, h): (f64, &mut f64)) -> Result<bool, SimulationError> {
        // a step may have ended at an impact
        let advanced = self.accepted.step.advanced;
        let least = LEAST_PART * self.h;
        let passed = passed_at(stepper, advanced, &mut self.looks)?.map(|part| part * advanced);
        // what meets at the very start is passed by far less than it is thick
        let met = stepper.passing([advanced, self.h]).map(|part| (part * advanced).max(2.0 * least));
        let Some(with) = passed.filter(|with| *with > least).into_iter().chain(met).reduce(f64::min) else {
            return Ok(false);
        };
        if !(with < *h && t + with > t) {
            return Ok(false);
        }
        self.statistics.rejected += 1;
        *h = with;
        Ok(true)
    }

    /// A smaller step after one that failed, where the controller has one, or a half of one that may be parted.
    #[cold]
    fn recover(
        &mut self,
        stepper: &dyn Stepper,
        (rounding, h): (f64, f64),
        source: StepError,
    ) -> Result<f64, SimulationError> {
        let t = stepper.from().t;
        let smaller = self.controller.recover(h).or_else(|| self.half(stepper, (rounding, h), &source));
        match smaller.filter(|with| *with > 0.0 && *with < h && t + with > t) {
            Some(with) => {
                self.statistics.rejected += 1;
                Ok(with)
            }
            None => Err(self.failure(stepper, h, source)),
        }
    }

    /// Half of a step of a fixed size that did not converge, where it may be parted; where it ends is where the parts
    /// are to end.
    fn half(&mut self, stepper: &dyn Stepper, (rounding, h): (f64, f64), source: &StepError) -> Option<f64> {
        let usual = self.parts.then(|| self.may_part(stepper, source))??;
        let half = 0.5 * h;
        if half < LEAST_HALF * usual {
            return None;
        }
        let t = stepper.from().t;
        if self.parted.is_none() {
            let before = self.grid;
            let until = self.time_after((t, rounding), h, h);
            self.parted = Some(Parted { until, grid: std::mem::replace(&mut self.grid, before), part: h });
        }
        self.warnings.raise_worst(&PARTED_STEP, t, source.key(), usual / half);
        Some(half)
    }

    /// The usual length of a step of a fixed size that did not converge, where there are laws whose rows may have
    /// turned too far in it and steps may have other lengths.
    fn may_part(&self, stepper: &dyn Stepper, source: &StepError) -> Option<f64> {
        let usual = self.controller.usual().filter(|usual| usual.is_finite() && source.may_be_of_length())?;
        // contacts that come and go have no label
        let is_free = stepper.labels().contacts.is_empty() && stepper.reactions().is_empty();
        (!is_free && stepper.needs_equal_steps().is_none()).then_some(usual)
    }

    /// The time after a part of a step; with the last one the grid goes on.
    fn after_part(&mut self, parted: Parted, (t, rounding): (f64, f64), advanced: f64) -> f64 {
        let after = t + advanced;
        if parted.until - after <= rounding {
            self.grid = parted.grid;
            return parted.until;
        }
        self.parted = Some(Parted { part: advanced, ..parted });
        after
    }

    /// The time after an accepted step from `t`: on the grid, and at the goal exactly the goal.
    #[inline]
    fn time_after(&mut self, (t, rounding): (f64, f64), h: f64, advanced: f64) -> f64 {
        let after = self.grid.after(t, advanced);
        let is_goal = advanced == h && h == self.goal - t || (self.goal - after).abs() <= rounding;
        if is_goal { self.goal } else { after }
    }

    /// The step size such that the last step ends at the goal: cut there, or stretched by less than 1e-9 of a step so
    /// that none of that length follows. A step that misses the goal by rounding keeps its size, which schemes that
    /// remember steps want.
    #[inline]
    fn clip(&self, t: f64, rounding: f64) -> Option<f64> {
        let (h, left) = (self.h, self.goal - t);
        if left <= 0.0 || (left <= rounding && left <= 1e-9 * h) {
            None
        } else if h < left * (1.0 - 1e-9) || (left - h).abs() <= 0.75 * rounding {
            Some(h)
        } else {
            Some(left)
        }
    }

    /// What two times near t and the goal cannot tell apart [s].
    fn rounding(&self, t: f64) -> f64 {
        4.0 * f64::EPSILON * t.abs().max(self.goal.abs())
    }

    /// Work is work, be the step accepted or not.
    #[inline(always)]
    fn count(&mut self, step: &Step) {
        self.statistics.solves += u64::from(step.solves);
        self.statistics.iterations += u64::from(step.iterations);
        self.statistics.evaluations += u64::from(step.evaluations);
        self.statistics.rejected += u64::from(step.rejected);
    }

    fn failure(&self, stepper: &dyn Stepper, h: f64, source: StepError) -> SimulationError {
        let name = |key: Key| stepper.labels().contact(key);
        let contact = match &source {
            StepError::Model(error) => error.contact().map(String::from),
            other => other.key().map(name),
        };
        let may_part = !self.parts && self.may_part(stepper, &source).is_some();
        SimulationError::Step { index: self.statistics.steps, t: stepper.from().t, h, contact, may_part, source }
    }
}
