//! Where a smooth phase ends: trial steps of any length, and brackets of the first monitor that changes sign.
//!
//! An event is suspected if a monitor is negative at the end of the trial, if one was negative at a stage, or if the cubic through a gap
//! dips below zero. Then the interval is scanned where its ends alone do not show the sign change, and the bracket is reduced by trial steps
//! on both sides of the predicted root (cubic for gaps, secant for multipliers, bisection where neither halves it) until it is at most δ
//! wide.

use super::cubic::Cubic;
use super::{Takeoff, Work};
use crate::flow::projection::gap_rounding;
use crate::flow::{Monitor, Phase, Watch};
use crate::scheme::{StepError, System};
use crate::{Coupling, Mechanical, State};

/// Equal parts into which an interval is scanned.
const PARTS: u32 = 8;

/// Most trial steps in the reduction of a bracket.
const TRIALS: u32 = 200;

/// The end of a trial step of length `u` from the start of the phase.
#[derive(Clone, Debug)]
pub struct Probe {
    pub u: f64,
    pub state: State,
    pub monitors: Vec<Monitor>,
    /// (rows) impulses and work of the reactions so far.
    pub impulse: Vec<f64>,
    pub work: Vec<f64>,
}

impl Probe {
    /// Buffers for the laws of a coupling.
    pub fn new(state: &State, coupling: &Coupling) -> Probe {
        let rows = coupling.drift.len();
        Probe {
            u: 0.0,
            state: state.clone(),
            monitors: Vec::with_capacity(2 * coupling.len()),
            impulse: Vec::with_capacity(rows),
            work: Vec::with_capacity(rows),
        }
    }

    /// Whether a monitor that counts has changed sign.
    fn is_violated(&self) -> bool {
        self.monitors.iter().any(|m| m.violated)
    }

    fn find(&self, other: &Monitor, near: usize) -> Option<&Monitor> {
        let same = |m: &&Monitor| m.key == other.key && m.watch == other.watch;
        self.monitors.get(near).filter(same).or_else(|| self.monitors.iter().find(same))
    }
}

/// How a smooth phase went on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
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
    ) -> Result<Outcome, StepError> {
        self.probe(system, length)?;
        std::mem::swap(&mut self.right, &mut self.trial);
        if self.transition.booking.reactions.is_empty() {
            return Ok(Outcome::Smooth);
        }
        let takes_off = self.stages.takes_off && self.takeoff == Takeoff::Located;
        let at_stage = takes_off || self.stages.slips;
        self.look_at_start(system)?;
        let dips = self.dips();
        if !(self.right.is_violated() || at_stage || dips) {
            return Ok(Outcome::Smooth);
        }
        if !self.transition.phase.is_free() {
            self.monitor_start(system)?;
        }
        if (at_stage || dips || !self.ends_show_it()) && !self.scan(system, length)? {
            return Ok(Outcome::Smooth);
        }
        self.reduce(system)?;
        Ok(Outcome::Event)
    }

    /// A trial step of length `u`, into `trial`.
    fn probe(&mut self, system: &mut System<'_, dyn Mechanical>, u: f64) -> Result<(), StepError> {
        self.stages.advance(system.model, &self.transition.phase, &self.state, u, &mut self.trial.state)?;
        self.trial.u = u;
        self.trial.impulse.clone_from(&self.stages.impulse);
        self.trial.work.clone_from(&self.stages.work);
        self.trial.monitors.clear();
        if self.transition.booking.reactions.is_empty() {
            return Ok(());
        }
        let State { t, q, v } = &self.trial.state;
        if self.watches {
            self.stages.acceleration.evaluate(system.model, &self.transition.phase, (*t, q, v))?;
            if self.stages.acceleration.is_deficient {
                self.transition.arbitrate(&mut self.stages.acceleration, system)?;
            }
            self.trial.monitors.extend(self.stages.acceleration.monitors.iter().copied());
        } else {
            self.stages.acceleration.couple(system.model, *t, q)?;
        }
        if self.takeoff == Takeoff::EndOfStep {
            self.trial.monitors.iter_mut().filter(|m| m.watch == Watch::TakeOff).for_each(|m| m.violated = false);
        }
        gaps(&self.stages.acceleration.coupling, &self.transition.phase, &self.trial.state, &mut self.trial.monitors);
        Ok(())
    }

    /// Gaps at the start of the phase, into `left`.
    fn look_at_start(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        self.left.u = 0.0;
        self.left.state.copy_from(&self.state);
        self.left.impulse.clear();
        self.left.work.clear();
        self.left.monitors.clear();
        self.stages.acceleration.couple(system.model, self.state.t, &self.state.q)?;
        gaps(&self.stages.acceleration.coupling, &self.transition.phase, &self.left.state, &mut self.left.monitors);
        Ok(())
    }

    /// The monitors of closed contacts at the start, besides.
    fn monitor_start(&mut self, system: &mut System<'_, dyn Mechanical>) -> Result<(), StepError> {
        let State { t, q, v } = &self.state;
        self.stages.acceleration.evaluate(system.model, &self.transition.phase, (*t, q, v))?;
        self.left.monitors.extend(self.stages.acceleration.monitors.iter().copied());
        Ok(())
    }

    /// Whether a gap may close and open again between the ends.
    fn dips(&self) -> bool {
        self.left.monitors.iter().enumerate().filter(|(_, m)| m.watch == Watch::Closing).any(|(k, left)| {
            let Some(right) = self.right.find(left, k).filter(|right| !right.violated) else { return false };
            let cubic = self.cubic(left, right);
            cubic.dip().is_some_and(|s| cubic.at(s) < 0.0)
        })
    }

    /// Whether every monitor that is negative at the right end comes from above zero, as far as the ends tell.
    fn ends_show_it(&self) -> bool {
        self.right.monitors.iter().enumerate().filter(|(_, m)| m.violated).all(|(k, right)| {
            self.left.find(right, k).is_some_and(|left| match right.watch {
                Watch::Closing => self.cubic(left, right).last_crossing() > 0.0,
                Watch::TakeOff | Watch::StickLimit | Watch::SlipEnd => left.value > 0.0,
            })
        })
    }

    fn cubic(&self, left: &Monitor, right: &Monitor) -> Cubic {
        Cubic::new((left.value, right.value), (left.rate, right.rate), self.right.u - self.left.u)
    }

    /// Finds the first of the sampled lengths at which a monitor has changed sign, with a neighbour before at which none has.
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
        self.stages.acceleration.survey(system.model, &self.transition.phase, (*t, q, v))?;
        let (coupling, acceleration) = (&self.stages.acceleration.coupling, &self.stages.acceleration);
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let row = coupling.offset[i];
            let a = coupling.rows.dot(row, &acceleration.value) + acceleration.curvature.value[row];
            let u = coupling.rows.dot(row, v) + coupling.drift[row];
            if !self.transition.phase.mode(pair.key, i, pair.law).is_closed() && u > 0.0 && a < 0.0 {
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
        for (k, right) in self.right.monitors.iter().enumerate().filter(|(_, m)| m.violated) {
            let left = self.left.find(right, k);
            let root = match left {
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

/// Gaps of open contacts and their rates, appended to monitors.
fn gaps(coupling: &Coupling, phase: &Phase, state: &State, monitors: &mut Vec<Monitor>) {
    for (i, pair) in coupling.pairs.iter().enumerate() {
        if phase.mode(pair.key, i, pair.law).is_closed() || !coupling.is_present(i) {
            continue;
        }
        let row = coupling.offset[i];
        let rate = coupling.rows.dot(row, &state.v) + coupling.drift[row];
        let rounding = gap_rounding(coupling, i, &state.q);
        monitors.push(Monitor { rate, ..Monitor::new(pair.key, Watch::Closing, pair.gap, rounding) });
    }
}
