//! Where a smooth phase ends: trial steps of any length, and brackets of the first monitor that changes sign.
//!
//! An event is suspected if a monitor is negative at the end of the trial, if one was negative at a stage, or if the
//! cubic through a gap dips below zero. Then the interval is scanned where its ends alone do not show the sign change,
//! and the bracket is reduced by trial steps on both sides of the predicted root (cubic for gaps, secant for
//! multipliers, bisection where neither halves it) until it is at most δ wide.

use super::cubic::Cubic;
use super::{Takeoff, Work};
use crate::phase::{FreeMotion, ModeChange, Monitor, StagedMotion, Transition};
use crate::{Coupling, Mechanical, State, StepError, System};

/// Equal parts into which an interval is scanned.
const PARTS: u32 = 8;

/// Most trial steps in the reduction of a bracket.
const TRIALS: u32 = 200;

/// The end of a trial step of length `u` from the start of the phase.
#[derive(Clone, Debug)]
pub struct Probe {
    pub u: f64,
    pub state: State,
    /// Of contacts that are closed, by rising laws.
    pub monitors: Vec<Monitor>,
    /// Gaps of contacts that are open, by rising laws.
    pub gaps: Vec<Monitor>,
    /// (rows) impulses and work of the reactions so far, and the part of it that is the obstacles' own motion.
    pub impulse: Vec<f64>,
    pub work: Vec<f64>,
    pub driven: Vec<f64>,
}

carom_solve::persist!(Probe { u, state, monitors, gaps, impulse, work, driven });

impl Probe {
    /// Buffers for the laws of a coupling.
    pub fn new(state: &State, coupling: &Coupling) -> Probe {
        let rows = coupling.drift.len();
        Probe {
            u: 0.0,
            state: state.clone(),
            monitors: Vec::with_capacity(2 * coupling.len()),
            gaps: Vec::with_capacity(coupling.len()),
            impulse: Vec::with_capacity(rows),
            work: Vec::with_capacity(rows),
            driven: Vec::with_capacity(rows),
        }
    }

    /// Whether a monitor that counts has changed sign.
    fn is_violated(&self) -> bool {
        self.monitors.iter().chain(&self.gaps).any(|m| m.violated)
    }

    /// The monitor of another probe of the phase here; a gap may be missing, where its region has ended.
    pub(super) fn find(&self, other: &Monitor) -> Option<&Monitor> {
        let list = if other.change == ModeChange::Closing { &self.gaps } else { &self.monitors };
        let first = list.partition_point(|m| m.law < other.law);
        list[first..].iter().take_while(|m| m.law == other.law).find(|m| m.change == other.change)
    }
}

/// How a smooth phase went on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PhaseEnd {
    /// To the end of the interval: `right` holds it.
    Smooth,
    /// `left` and `right` are at most δ apart, and monitors change sign between them.
    Event,
}

impl Work {
    /// Follows the phase over `length` or up to the first event.
    pub(super) fn follow(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        length: f64,
    ) -> Result<PhaseEnd, StepError> {
        self.probe(system, length)?;
        if let Some(limit) = self.reach {
            self.check_reach(system, length, limit)?;
        }
        std::mem::swap(&mut self.right, &mut self.trial);
        if self.transition.account.reactions.is_empty() {
            return Ok(PhaseEnd::Smooth);
        }
        let takes_off = self.log.takes_off && self.takeoff == Takeoff::Located;
        let at_stage = takes_off || self.log.slips;
        self.look_at_start(system)?;
        let dips = self.dips();
        if !(self.right.is_violated() || at_stage || dips) {
            return Ok(PhaseEnd::Smooth);
        }
        if !self.transition.phase.is_free() {
            self.monitor_start(system)?;
        }
        if (at_stage || dips || !self.ends_show_it()) && !self.scan(system, length)? {
            return Ok(PhaseEnd::Smooth);
        }
        self.reduce(system)?;
        Ok(PhaseEnd::Event)
    }

    /// A trial step of length `u`, into `trial`.
    fn probe(&mut self, system: &mut System<'_, dyn Mechanical>, u: f64) -> Result<(), StepError> {
        let free = FreeMotion { model: &mut *system.model, acceleration: &mut self.transition.acceleration };
        let mut motion = StagedMotion { free, phase: &self.transition.phase, log: &mut self.log, steered: None };
        self.stages.advance(&mut motion, &self.state, u, &mut self.trial.state)?;
        self.trial.u = u;
        self.trial.impulse.clone_from(&self.log.impulse);
        self.trial.work.clone_from(&self.log.work);
        self.trial.driven.clone_from(&self.log.driven);
        self.trial.monitors.clear();
        self.trial.gaps.clear();
        if self.transition.account.reactions.is_empty() {
            return Ok(());
        }
        let State { t, q, v } = &self.trial.state;
        if self.watches {
            let (phase, acceleration) = self.transition.evaluator();
            acceleration.evaluate(system.model, phase, (*t, q, v))?;
            if acceleration.is_deficient {
                self.transition.resolve_redundancy(system, v)?;
            }
            self.trial.monitors.extend(self.transition.acceleration.monitors.iter().copied());
        } else {
            self.transition.couple(system.model, &self.trial.state)?;
        }
        if self.takeoff == Takeoff::EndOfStep {
            self.trial.monitors.iter_mut().filter(|m| m.change == ModeChange::TakeOff).for_each(|m| m.violated = false);
        }
        gaps(&self.transition, &self.trial.state, &mut self.trial.gaps);
        Ok(())
    }

    /// Refuses an explicit step that is not stable.
    fn check_reach(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        length: f64,
        limit: f64,
    ) -> Result<(), StepError> {
        let free = FreeMotion { model: &mut *system.model, acceleration: &mut self.transition.acceleration };
        let mut motion = StagedMotion { free, phase: &self.transition.phase, log: &mut self.log, steered: None };
        let reach = self.stages.reach(&mut motion, &self.state, length, limit)?;
        if reach > limit { Err(StepError::Unstable { reach, limit }) } else { Ok(()) }
    }

    /// Gaps at the start of the phase, into `left`.
    fn look_at_start(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.left.u = 0.0;
        self.left.state.copy_from(&self.state);
        self.left.impulse.clear();
        self.left.work.clear();
        self.left.driven.clear();
        self.left.monitors.clear();
        self.left.gaps.clear();
        self.transition.couple(system.model, &self.state)?;
        gaps(&self.transition, &self.left.state, &mut self.left.gaps);
        Ok(())
    }

    /// The monitors of closed contacts at the start, besides.
    fn monitor_start(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        let State { t, q, v } = &self.state;
        let (phase, acceleration) = self.transition.evaluator();
        acceleration.evaluate(system.model, phase, (*t, q, v))?;
        self.left.monitors.extend(acceleration.monitors.iter().copied());
        Ok(())
    }

    /// Whether a gap may close and open again between the ends.
    fn dips(&self) -> bool {
        self.left.gaps.iter().any(|left| {
            let Some(right) = self.right.find(left).filter(|right| !right.violated) else { return false };
            let cubic = self.cubic(left, right);
            cubic.dip().is_some_and(|s| cubic.at(s) < 0.0)
        })
    }

    /// Whether every monitor that is negative at the right end comes from above zero, as far as the ends tell.
    fn ends_show_it(&self) -> bool {
        self.right.monitors.iter().chain(&self.right.gaps).filter(|m| m.violated).all(|right| {
            self.left.find(right).is_some_and(|left| match right.change {
                ModeChange::Closing => self.cubic(left, right).last_crossing() > 0.0,
                ModeChange::TakeOff | ModeChange::StickLimit | ModeChange::SlipEnd => left.value > 0.0,
            })
        })
    }

    fn cubic(&self, left: &Monitor, right: &Monitor) -> Cubic {
        Cubic::new((left.value, right.value), (left.rate, right.rate), self.right.u - self.left.u)
    }

    /// Finds the first of the sampled lengths at which a monitor has changed sign, with a neighbour before at which
    /// none has.
    fn scan(&mut self, system: &mut System<'_, dyn Mechanical>, length: f64) -> Result<bool, StepError> {
        self.lengths.clear();
        self.lengths.extend((1..=PARTS).map(|k| length * f64::from(k) / f64::from(PARTS)));
        self.add_hops(system, length)?;
        self.lengths.sort_unstable_by(f64::total_cmp);
        for k in 0..self.lengths.len() {
            self.probe(system, self.lengths[k])?;
            if self.trial.is_violated() {
                std::mem::swap(&mut self.right, &mut self.trial);
                return Ok(true);
            }
            std::mem::swap(&mut self.left, &mut self.trial);
        }
        // nothing on the way: the last sample is the end
        std::mem::swap(&mut self.right, &mut self.left);
        Ok(false)
    }

    /// The top of the flight of each contact that leaves the wall, and a point shortly before its landing.
    fn add_hops(&mut self, system: &mut System<'_, dyn Mechanical>, length: f64) -> Result<(), StepError> {
        let State { t, q, v } = &self.state;
        let (phase, acceleration) = self.transition.evaluator();
        acceleration.with_monitors(system.model, phase, (*t, q, v))?;
        let coupling = &acceleration.coupling;
        for i in 0..coupling.len() {
            let row = coupling.offset[i];
            let a = coupling.rows.dot(row, &acceleration.value) + acceleration.curvature.value[row];
            let u = coupling.rows.dot(row, v) + coupling.drift[row];
            if !phase.mode(i).is_closed() && u > 0.0 && a < 0.0 {
                let top = -u / a;
                self.lengths.extend([top, 1.9 * top].into_iter().filter(|x| *x > 0.0 && *x < length));
            }
        }
        Ok(())
    }

    /// Reduces the bracket to δ.
    fn reduce(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        let (mut milestone, mut since) = (self.right.u - self.left.u, 0);
        for _ in 0..TRIALS {
            let (a, b) = (self.left.u, self.right.u);
            if b - a <= self.delta {
                break;
            }
            let root = self.predict();
            // cut the longer side first, just beyond the root, so that two good predictions end it
            let margin = 0.4 * self.delta;
            let guess = if b - root > root - a { root + margin } else { root - margin };
            let quarter = 0.25 * self.delta;
            let u = if since >= 3 { 0.5 * (a + b) } else { guess.clamp(a + quarter, b - quarter) };
            self.probe(system, u)?;
            if self.trial.is_violated() {
                std::mem::swap(&mut self.right, &mut self.trial);
            } else {
                std::mem::swap(&mut self.left, &mut self.trial);
            }
            since += 1;
            if self.right.u - self.left.u <= 0.5 * milestone {
                (milestone, since) = (self.right.u - self.left.u, 0);
            }
        }
        Ok(())
    }

    /// The earliest root of the monitors that change sign.
    fn predict(&self) -> f64 {
        let (a, width) = (self.left.u, self.right.u - self.left.u);
        let mut first = width;
        for right in self.right.monitors.iter().chain(&self.right.gaps).filter(|m| m.violated) {
            let root = match self.left.find(right) {
                Some(left) if left.rate.is_finite() && right.rate.is_finite() => {
                    self.cubic(left, right).last_crossing()
                }
                Some(left) if left.value > 0.0 => left.value / (left.value - right.value),
                _ => 0.5,
            };
            first = first.min(root * width);
        }
        a + first
    }
}

/// Gaps of open contacts and their rates.
fn gaps(transition: &Transition, state: &State, monitors: &mut Vec<Monitor>) {
    let (phase, coupling) = (&transition.phase, &transition.acceleration.coupling);
    for (i, pair) in coupling.pairs.iter().enumerate() {
        if phase.mode(i).is_closed() || !coupling.is_present(i) {
            continue;
        }
        let row = coupling.offset[i];
        let rate = coupling.rows.dot(row, &state.v) + coupling.drift[row];
        let rounding = transition.acceleration.sizes.gap_rounding(coupling, i, &state.q);
        monitors.push(Monitor { rate, ..Monitor::new(i, ModeChange::Closing, pair.gap, rounding) });
    }
}
