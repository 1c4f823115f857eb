//! Where the states of an orbit are taken, and what the motion makes of them in one round.
//!
//! ```text
//!     y = x            once per period of the forcing, T known                                                       (1)
//!     y = (x, τ)       forced, with a section s(τ, x) = 0: τ is the phase at which the orbit meets it                (2)
//!     y = (x, T)       without forcing: T is the period, s(x) = 0 the phase condition                                (3)
//!     G = (φ_L(x) − x, s),   G_x = (Φ − 1, s_x),   G_τ = (f − Φ f, s_t),   G_T = (f, 0)                                (4)
//! ```
//!
//! A section is just after an impact of a contact (s its gap), or where a function of time and state vanishes. Rounds
//! that end with an impact end at the impact itself: what is left up to the time L is added along f, which is nothing
//! where G = 0, and Φ stays the derivative at a fixed time. Multipliers are the eigenvalues of Φ in (1) and (2); in (3)
//! of the return map on the section,
//!
//! ```text
//!     Bᵀ (1 − f s_xᵀ/(s_x·f)) Φ B,    B a basis of the plane across s_x                                               (5)
//! ```
//!
//! so that the multiplier 1 along the orbit does not appear.

use super::super::{Cyclic, Stop, StudyError};
use super::Options;
use super::image::{Guard, Image};
use carom::sensitivity::{ContactCounts, Sensitivity};
use carom::{Key, State};
use nalgebra::{DMatrix, DVector};

/// A function of time, positions and velocities.
pub type ZeroFunction = Box<dyn FnMut(f64, &[f64], &[f64]) -> f64 + Send>;

/// Where the states of an orbit are taken.
pub enum Section {
    /// Once per period of the forcing.
    Strobe,
    /// Just after an impact of this contact.
    Impact(Key),
    /// Where a function vanishes, from below. Impacts that carry it through zero do not count.
    Zero(ZeroFunction),
    /// Where a coordinate of this number passes a multiple of this length, rising: an angle that turns.
    Turn(usize, f64),
}

/// How long a round lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Period {
    /// That of the forcing [s], and its derivative by the parameter.
    Forced(f64, f64),
    /// Unknown, there is no forcing: a guess [s].
    Free(f64),
}

/// A motion with the length and the section of its orbits, for one value of a parameter.
pub struct Case {
    /// Differentiates by the parameter where there is one.
    pub motion: Sensitivity,
    /// Length of a round.
    pub period: Period,
    /// Where rounds start and end.
    pub section: Section,
    /// Coordinates that come back up to whole turns, or not at all.
    pub cyclic: Cyclic,
}

/// A round that has not come back after so many times its expected length has lost the section.
const LOST: f64 = 4.0;

/// Steps of Newton's method from a state to the gap zero next to it.
const SETTLE: usize = 8;

/// Part of a turn next to its end that counts to the next one.
const SAME_TURN: f64 = 1e-9;

/// Differences for the slope of a function.
const DIFFERENCE: f64 = 6e-6;

impl Case {
    /// Once per period T with derivative dT/dp.
    pub fn strobe(motion: Sensitivity, period: (f64, f64)) -> Case {
        let period = Period::Forced(period.0, period.1);
        Case { motion, period, section: Section::Strobe, cyclic: Cyclic::default() }
    }

    /// Whether there is no forcing.
    pub(super) fn is_free(&self) -> bool {
        matches!(self.period, Period::Free(_))
    }

    /// Refuses an orbit without forcing that has no section.
    pub(super) fn check(&self) -> Result<(), StudyError> {
        match (&self.period, &self.section) {
            (Period::Free(_), Section::Strobe) => Err(StudyError::option(
                "the section",
                "strobe",
                "without the period of a forcing it must be an impact or the zero of a function",
            )),
            (Period::Forced(length, _) | Period::Free(length), _) if !(*length > 0.0 && length.is_finite()) => {
                Err(StudyError::option("the period", length, "it must be positive and finite"))
            }
            _ => Ok(()),
        }
    }

    /// y of a state at the section.
    pub(super) fn unknowns(&self, at: &State) -> DVector<f64> {
        let extra = match (&self.section, self.period) {
            (Section::Strobe, _) => None,
            (_, Period::Forced(..)) => Some(at.t),
            (_, Period::Free(guess)) => Some(guess),
        };
        DVector::from_vec(at.q.iter().chain(&at.v).copied().chain(extra).collect())
    }

    /// Start and length of the round from y; `time` is where rounds start whose phase is not an unknown.
    fn span(&self, y: &DVector<f64>, time: f64, options: &Options) -> (f64, f64) {
        let last = y[y.len() - 1];
        match (&self.section, self.period) {
            (Section::Strobe, Period::Forced(length, _)) => (time, options.multiple as f64 * length),
            (_, Period::Forced(length, _)) => (last, options.multiple as f64 * length),
            (_, Period::Free(_)) => (time, last),
        }
    }

    /// Moves positions to the gap zero, along its gradient: states behind a wall have no motion.
    pub(super) fn settle(&mut self, y: &mut DVector<f64>, time: f64, options: &Options) -> Result<(), StudyError> {
        let Section::Impact(contact) = self.section else { return Ok(()) };
        let (start, _) = self.span(y, time, options);
        let n = self.motion.dimensions().0;
        let mut way = DVector::zeros(2 * n + y.len() - self.motion.state().q.len() - n);
        for _ in 0..SETTLE {
            let at = self.state_of(y.as_slice(), start);
            let Some(gap) = self.motion.gap(&at, contact)? else { break };
            let square: f64 = gap.slope[..n].iter().map(|x| x * x).sum();
            if gap.value.abs() <= 1e-15 * (1.0 + y.norm()) || square <= 0.0 {
                break;
            }
            (0..n).for_each(|i| way[i] = -gap.value / square * gap.slope[i]);
            *y = self.moved(y, &way);
        }
        Ok(())
    }

    /// y of a round that ends with closed contacts, with its start on them as well: from a distance of rounding above a
    /// surface the motion would begin with impacts. `None` where all contacts are open.
    pub(super) fn laid_down(&mut self, at: &Image) -> Result<Option<DVector<f64>>, StudyError> {
        let closed: Vec<Key> = self.motion.closed().collect();
        if closed.is_empty() {
            return Ok(None);
        }
        let n = self.motion.dimensions().0;
        let mut y = at.from.clone();
        let mut way = DVector::zeros(2 * n);
        for _ in 0..SETTLE {
            for &contact in &closed {
                let state = self.state_of(y.as_slice(), at.start);
                let Some(gap) = self.motion.gap(&state, contact)? else { continue };
                let slope = &gap.slope[..n];
                let square: f64 = slope.iter().map(|c| c * c).sum();
                if square > 0.0 {
                    let speed = gap.rate + slope.iter().zip(&state.v).map(|(c, v)| c * v).sum::<f64>();
                    for (i, c) in slope.iter().enumerate() {
                        way[i] = -gap.value / square * c;
                        way[n + i] = -speed / square * c;
                    }
                    y = self.moved(&y, &way);
                }
            }
        }
        let mut y = self.unknowns(&self.state_of(y.as_slice(), at.start));
        if let (Period::Free(_), Some(length)) = (self.period, y.as_mut_slice().last_mut()) {
            *length = at.length;
        }
        Ok(Some(y))
    }

    /// The round from y, with its derivatives.
    pub(super) fn image(&mut self, y: &DVector<f64>, time: f64, options: &Options) -> Result<Image, StudyError> {
        let (n, parameters) = self.motion.dimensions();
        let (start, length) = self.span(y, time, options);
        if !(length > 0.0 && length.is_finite() && start.is_finite()) {
            return Err(StudyError::NoOrbit { residual: f64::NAN });
        }
        let at = self.state_of(y.as_slice(), start);
        let from = y.rows(0, at.q.len() + n).into_owned();
        let cyclic = self.cyclic_directions()?;
        let guard = self.guard(&at)?;
        self.motion.restart(&at);
        self.is_outside(length)?;
        self.motion.reset();
        self.motion.counts.clear();
        let end = start + length;
        match self.section {
            Section::Impact(contact) => self.reach_impact(contact, options.returns, start + LOST * length)?,
            _ => self.motion.advance(end)?,
        }
        let mut rate = vec![0.0; n];
        self.motion.rate(&mut rate)?;
        let state = self.motion.state();
        let left = end - state.t;
        let rate = DVector::from_iterator(2 * n, state.v.iter().chain(&rate).copied());
        let to = DVector::from_iterator(from.len(), state.q.iter().chain(&state.v).copied());
        let to = self.moved(&to, &(&rate * left));
        let way = self.apart(&from, &to);
        let whole = self.derivative()?;
        let flow = whole.view((0, 0), (2 * n, 2 * n)).into_owned();
        let mut dp = DVector::zeros(2 * n);
        if parameters > 0 {
            dp.copy_from(&whole.view((0, 2 * n), (2 * n, 1)));
            if let Period::Forced(_, slope) = self.period {
                dp.axpy(options.multiple as f64 * slope, &rate, 1.0);
            }
        }
        if !(to.iter().chain(flow.iter()).chain(dp.iter()).all(|x| x.is_finite())) {
            return Err(StudyError::Build("the derivative of the motion is not finite: an impact grazes".into()));
        }
        let forced = matches!(self.period, Period::Forced(..));
        Ok(Image { from, to, way, flow, rate, dp, guard, forced, cyclic, start, length })
    }

    /// Refuses the present state of the motion if it lies inside an obstacle: there is no motion from there.
    pub(super) fn is_outside(&mut self, span: f64) -> Result<(), StudyError> {
        match self.motion.inside(span)? {
            None => Ok(()),
            Some((key, gap)) => {
                let contact = self.motion.labels().contact(key);
                Err(StudyError::Inside { t: self.motion.state().t, contact, gap })
            }
        }
    }

    /// The derivative of the round by (x, p). Where contacts are closed at the section, perturbations that they do not
    /// allow vanish at both ends.
    fn derivative(&mut self) -> Result<DMatrix<f64>, StudyError> {
        let size = self.motion.size();
        let frame = |motion: &Sensitivity| DMatrix::from_iterator(size, size, motion.columns().flatten().copied());
        let flow = frame(&self.motion);
        self.motion.reset();
        self.motion.project_columns()?;
        let allowed = frame(&self.motion);
        Ok(if allowed == DMatrix::identity(size, size) { flow } else { &allowed * flow * &allowed })
    }

    /// Goes on until the contact has been struck so many times.
    fn reach_impact(&mut self, contact: Key, times: usize, limit: f64) -> Result<(), StudyError> {
        let struck =
            |counts: &ContactCounts| counts.by_contact.iter().find(|(key, _)| *key == contact).map_or(0, |c| c.1);
        let reached = self.motion.advance_while(limit, &mut |_, counts| struck(counts) < times as u64)?;
        if reached {
            return Err(StudyError::Build(format!(
                "the motion does not come back to the section: the contact is struck {} times up to t = {limit}, not {times} times",
                struck(&self.motion.counts)
            )));
        }
        Ok(())
    }

    /// s at a state; its derivatives are exact for gaps, and by differences otherwise (they steer Newton's method, and
    /// (5) does not depend on the section).
    fn guard(&mut self, at: &State) -> Result<Option<Guard>, StudyError> {
        let (n, parameters) = self.motion.dimensions();
        let guard = self.plain_guard(at, n, parameters)?;
        let cyclic = self.cyclic_directions()?;
        let fixed = |guard: &Guard| cyclic.drifting().all(|i| guard.dx[i] == 0.0);
        if guard.as_ref().is_some_and(|guard| !fixed(guard)) {
            let message = "the section depends on a coordinate that drifts, and is met only once";
            return Err(StudyError::usage(message, "take another --section"));
        }
        Ok(guard)
    }

    fn plain_guard(&mut self, at: &State, n: usize, parameters: usize) -> Result<Option<Guard>, StudyError> {
        let turning = match self.section {
            Section::Turn(coordinate, _) => self.direction_of(coordinate)?,
            _ => 0,
        };
        match &mut self.section {
            Section::Strobe => Ok(None),
            Section::Turn(coordinate, length) => {
                let mut dx = DVector::zeros(2 * n);
                dx[turning] = 1.0;
                let value = at.q[*coordinate] - *length * (at.q[*coordinate] / *length).round();
                Ok(Some(Guard { value, dx, dt: 0.0, dp: 0.0 }))
            }
            Section::Impact(contact) => {
                let lost = || StudyError::Build("the contact of the section is not there".into());
                let gap = self.motion.gap(at, *contact)?.ok_or_else(lost)?;
                let dx = DVector::from_column_slice(&gap.slope[..2 * n]);
                let dp = if parameters > 0 { gap.slope[2 * n] } else { 0.0 };
                Ok(Some(Guard { value: gap.value, dx, dt: gap.rate, dp }))
            }
            Section::Zero(function) => {
                let (mut way, mut moved) = (vec![0.0; 2 * n], at.clone());
                let mut dx = DVector::zeros(2 * n);
                for j in 0..2 * n {
                    // an increment of an attitude is an angle
                    let size =
                        if j < n && at.q.len() != n { 1.0 } else { [&at.q[..], &at.v].concat()[j].abs().max(1.0) };
                    let d = DIFFERENCE * size;
                    let mut value = |shift: f64| {
                        way[j] = shift;
                        self.motion.space().retract(at, &way, &mut moved);
                        function(at.t, &moved.q, &moved.v)
                    };
                    dx[j] = (value(d) - value(-d)) / (2.0 * d);
                    way[j] = 0.0;
                }
                let d = DIFFERENCE * at.t.abs().max(1.0);
                let dt = (function(at.t + d, &at.q, &at.v) - function(at.t - d, &at.q, &at.v)) / (2.0 * d);
                let value = function(at.t, &at.q, &at.v);
                Ok(Some(Guard { value, dx, dt, dp: 0.0 }))
            }
        }
    }

    /// Follows the motion to a section: `transient` rounds or periods, then one meeting with the section and one more
    /// round. Returns the state there; a free period and the number of impacts in a round are noted. `limit` is the
    /// longest time between two meetings.
    pub fn approach(
        &mut self,
        transient: u64,
        limit: f64,
        options: &mut Options,
        stop: &Stop<'_>,
    ) -> Result<State, StudyError> {
        let begin = self.motion.state().t;
        self.motion.set_columns(0);
        for k in 0..transient {
            match self.period {
                Period::Forced(length, _) => self.motion.advance(begin + (k + 1) as f64 * length)?,
                Period::Free(_) => self.meet(limit).map(|_| ())?,
            }
            if stop() {
                return Err(StudyError::Interrupted);
            }
        }
        if matches!(self.section, Section::Strobe) {
            return Ok(State { t: begin, ..self.motion.state().clone() });
        }
        let mut at = self.meet(limit)?;
        match self.period {
            Period::Forced(length, _) => {
                let round = options.multiple as f64 * length;
                options.returns = self.count(at.t, round)?;
                // whole periods are left out of the phase
                at.t = begin + (at.t - begin).rem_euclid(length);
            }
            Period::Free(_) => {
                let first = at.t;
                for _ in 0..options.multiple {
                    at = self.meet(limit)?;
                }
                options.returns = options.multiple;
                self.period = Period::Free(at.t - first);
                at.t = begin;
            }
        }
        Ok(at)
    }

    /// Number of impacts of the section's contact in a round that starts with one at `t`.
    fn count(&mut self, t: f64, round: f64) -> Result<usize, StudyError> {
        let Section::Impact(contact) = self.section else { return Ok(1) };
        self.motion.counts.clear();
        self.motion.advance(t + 1.5 * round)?;
        let strikes = self.motion.counts.listed.iter().filter(|s| s.contact == contact);
        let nearest =
            strikes.enumerate().min_by(|a, b| (a.1.t - t - round).abs().total_cmp(&(b.1.t - t - round).abs()));
        Ok(nearest.map_or(1, |(k, _)| k + 1))
    }

    /// The next meeting with the section.
    fn meet(&mut self, limit: f64) -> Result<State, StudyError> {
        let end = self.motion.state().t + limit;
        self.motion.counts.clear();
        let mut found = self.motion.state().clone();
        // the states around a meeting, and the part of the way between them
        let mut around = None;
        let reached = match &mut self.section {
            Section::Strobe => true,
            Section::Impact(contact) => {
                let struck = |counts: &ContactCounts| counts.by_contact.iter().any(|(key, _)| key == contact);
                let reached = self.motion.advance_while(end, &mut |_, counts| !struck(counts))?;
                found.copy_from(self.motion.state());
                reached
            }
            Section::Turn(coordinate, length) => {
                let (i, length) = (*coordinate, *length);
                let mut last = found.clone();
                // where it starts is no meeting
                let turns = |x: f64| (x / length + SAME_TURN).floor();
                self.motion.advance_while(end, &mut |now, _| {
                    let (a, b) = (last.q[i], now.q[i]);
                    let crossed = turns(b) > turns(a);
                    if crossed {
                        around = Some((last.clone(), now.clone(), ((turns(a) + 1.0) * length - a) / (b - a)));
                    }
                    last.copy_from(now);
                    !crossed
                })?
            }
            Section::Zero(function) => {
                let mut last = found.clone();
                let (mut value, mut impacts) = (function(last.t, &last.q, &last.v), 0);
                self.motion.advance_while(end, &mut |now, counts| {
                    let next = function(now.t, &now.q, &now.v);
                    let crossed = value < 0.0 && next >= 0.0 && counts.impacts == impacts;
                    if crossed {
                        around = Some((last.clone(), now.clone(), -value / (next - value)));
                    }
                    last.copy_from(now);
                    (value, impacts) = (next, counts.impacts);
                    !crossed
                })?
            }
        };
        if reached {
            return Err(StudyError::NoReturn { time: limit });
        }
        Ok(around.map_or(found, |(a, b, s)| self.between(&a, &b, s)))
    }
}
