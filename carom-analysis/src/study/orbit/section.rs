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

use super::super::{Stop, StudyError};
use super::Options;
use carom::sensitivity::{Passage, Sensitivity};
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
}

/// s with its derivatives by x, by time and by the parameter.
pub(super) struct Guard {
    value: f64,
    dx: DVector<f64>,
    dt: f64,
    dp: f64,
}

/// What a round makes of y.
pub(super) struct Image {
    /// State at its start and at its end.
    pub from: DVector<f64>,
    pub to: DVector<f64>,
    /// Φ of (4).
    pub flow: DMatrix<f64>,
    /// f at the end.
    rate: DVector<f64>,
    /// Derivative of the end by the parameter, the one of L included.
    dp: DVector<f64>,
    guard: Option<Guard>,
    forced: bool,
    /// When it starts, and how long it lasts [s].
    pub start: f64,
    pub length: f64,
}

/// A round that has not come back after so many times its expected length has lost the section.
const LOST: f64 = 4.0;

/// Steps of Newton's method from a state to the gap zero next to it.
const SETTLE: usize = 8;

/// Differences for the slope of a function.
const DIFFERENCE: f64 = 6e-6;

impl Case {
    /// Once per period T with derivative dT/dp.
    pub fn strobe(motion: Sensitivity, period: (f64, f64)) -> Case {
        Case { motion, period: Period::Forced(period.0, period.1), section: Section::Strobe }
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
        let state = at.q.iter().chain(&at.v).copied();
        match (&self.section, self.period) {
            (Section::Strobe, _) => DVector::from_iterator(2 * at.q.len(), state),
            (_, Period::Forced(..)) => DVector::from_iterator(2 * at.q.len() + 1, state.chain([at.t])),
            (_, Period::Free(guess)) => DVector::from_iterator(2 * at.q.len() + 1, state.chain([guess])),
        }
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
        for _ in 0..SETTLE {
            let at = State::new(start, &y.as_slice()[..n], &y.as_slice()[n..2 * n]);
            let Some(gap) = self.motion.gap(&at, contact)? else { break };
            let square: f64 = gap.slope[..n].iter().map(|x| x * x).sum();
            if gap.value.abs() <= 1e-15 * (1.0 + y.norm()) || square <= 0.0 {
                break;
            }
            (0..n).for_each(|i| y[i] -= gap.value / square * gap.slope[i]);
        }
        Ok(())
    }

    /// The round from y, with its derivatives.
    pub(super) fn image(&mut self, y: &DVector<f64>, time: f64, options: &Options) -> Result<Image, StudyError> {
        let (n, parameters) = self.motion.dimensions();
        let (start, length) = self.span(y, time, options);
        if !(length > 0.0 && length.is_finite() && start.is_finite()) {
            return Err(StudyError::NoOrbit { residual: f64::NAN });
        }
        let from = y.rows(0, 2 * n).into_owned();
        let at = State::new(start, &from.as_slice()[..n], &from.as_slice()[n..]);
        let guard = self.guard(&at)?;
        self.motion.restart(&at);
        self.motion.reset();
        self.motion.passage.clear();
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
        let mut to = DVector::from_iterator(2 * n, state.q.iter().chain(&state.v).copied());
        to.axpy(left, &rate, 1.0);
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
        Ok(Image { from, to, flow, rate, dp, guard, forced, start, length })
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
        let struck = |passage: &Passage| passage.by_contact.iter().find(|(key, _)| *key == contact).map_or(0, |c| c.1);
        let reached = self.motion.advance_while(limit, &mut |_, passage| struck(passage) < times as u64)?;
        if reached {
            return Err(StudyError::Build(format!(
                "the motion does not come back to the section: the contact is struck {} times up to t = {limit}, not {times} times",
                struck(&self.motion.passage)
            )));
        }
        Ok(())
    }

    /// s at a state; its derivatives are exact for gaps, and by differences otherwise (they steer Newton's method, and
    /// (5) does not depend on the section).
    fn guard(&mut self, at: &State) -> Result<Option<Guard>, StudyError> {
        let (n, parameters) = self.motion.dimensions();
        match &mut self.section {
            Section::Strobe => Ok(None),
            Section::Impact(contact) => {
                let lost = || StudyError::Build("the contact of the section is not there".into());
                let gap = self.motion.gap(at, *contact)?.ok_or_else(lost)?;
                let dx = DVector::from_column_slice(&gap.slope[..2 * n]);
                let dp = if parameters > 0 { gap.slope[2 * n] } else { 0.0 };
                Ok(Some(Guard { value: gap.value, dx, dt: gap.rate, dp }))
            }
            Section::Zero(function) => {
                let mut x: Vec<f64> = [at.t].iter().chain(&at.q).chain(&at.v).copied().collect();
                let mut slope = vec![0.0; 2 * n + 1];
                for j in 0..=2 * n {
                    let (kept, d) = (x[j], DIFFERENCE * x[j].abs().max(1.0));
                    let mut value = |shift: f64| {
                        x[j] = kept + shift;
                        function(x[0], &x[1..=n], &x[n + 1..])
                    };
                    slope[j] = (value(d) - value(-d)) / (2.0 * d);
                    x[j] = kept;
                }
                let value = function(at.t, &at.q, &at.v);
                Ok(Some(Guard { value, dx: DVector::from_column_slice(&slope[1..]), dt: slope[0], dp: 0.0 }))
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
        self.motion.passage.clear();
        self.motion.advance(t + 1.5 * round)?;
        let strikes = self.motion.passage.strikes.iter().filter(|s| s.contact == contact);
        let nearest =
            strikes.enumerate().min_by(|a, b| (a.1.t - t - round).abs().total_cmp(&(b.1.t - t - round).abs()));
        Ok(nearest.map_or(1, |(k, _)| k + 1))
    }

    /// The next meeting with the section.
    fn meet(&mut self, limit: f64) -> Result<State, StudyError> {
        let end = self.motion.state().t + limit;
        self.motion.passage.clear();
        let mut found = self.motion.state().clone();
        let reached = match &mut self.section {
            Section::Strobe => true,
            Section::Impact(contact) => {
                let struck = |passage: &Passage| passage.by_contact.iter().any(|(key, _)| key == contact);
                let reached = self.motion.advance_while(end, &mut |_, passage| !struck(passage))?;
                found.copy_from(self.motion.state());
                reached
            }
            Section::Zero(function) => {
                let mut last = found.clone();
                let (mut value, mut impacts) = (function(last.t, &last.q, &last.v), 0);
                self.motion.advance_while(end, &mut |now, passage| {
                    let next = function(now.t, &now.q, &now.v);
                    let crossed = value < 0.0 && next >= 0.0 && passage.impacts == impacts;
                    if crossed {
                        between(&last, now, -value / (next - value), &mut found);
                    }
                    last.copy_from(now);
                    (value, impacts) = (next, passage.impacts);
                    !crossed
                })?
            }
        };
        if reached {
            return Err(StudyError::NoReturn { time: limit });
        }
        Ok(found)
    }
}

/// `out = a + s (b − a)`.
fn between(a: &State, b: &State, s: f64, out: &mut State) {
    let mix = |x: f64, y: f64| x + s * (y - x);
    out.t = mix(a.t, b.t);
    out.q.iter_mut().zip(a.q.iter().zip(&b.q)).for_each(|(o, (x, y))| *o = mix(*x, *y));
    out.v.iter_mut().zip(a.v.iter().zip(&b.v)).for_each(|(o, (x, y))| *o = mix(*x, *y));
}

impl Image {
    /// G of (4).
    pub fn residual(&self) -> DVector<f64> {
        let size = self.to.len() + usize::from(self.guard.is_some());
        let mut g = DVector::zeros(size);
        g.rows_mut(0, self.to.len()).copy_from(&(&self.to - &self.from));
        if let Some(guard) = &self.guard {
            g[size - 1] = guard.value;
        }
        g
    }

    /// G by y. At the end of an orbit f is what it is at the start.
    pub fn matrix(&self) -> DMatrix<f64> {
        let m = self.to.len();
        let square = &self.flow - DMatrix::identity(m, m);
        let Some(guard) = &self.guard else { return square };
        let mut matrix = DMatrix::zeros(m + 1, m + 1);
        matrix.view_mut((0, 0), (m, m)).copy_from(&square);
        let column = if self.forced { &self.rate - &self.flow * &self.rate } else { self.rate.clone() };
        matrix.view_mut((0, m), (m, 1)).copy_from(&column);
        matrix.view_mut((m, 0), (1, m)).copy_from(&guard.dx.transpose());
        matrix[(m, m)] = if self.forced { guard.dt } else { 0.0 };
        matrix
    }

    /// G by the parameter.
    pub fn by_parameter(&self) -> DVector<f64> {
        let mut column = DVector::zeros(self.to.len() + usize::from(self.guard.is_some()));
        column.rows_mut(0, self.to.len()).copy_from(&self.dp);
        if let Some(guard) = &self.guard {
            column[self.to.len()] = guard.dp;
        }
        column
    }

    /// A basis of the plane in which returns are looked at: all directions, or those along the section in (3).
    fn basis(&self) -> DMatrix<f64> {
        let m = self.to.len();
        match self.guard.as_ref().filter(|_| !self.forced) {
            None => DMatrix::identity(m, m),
            Some(guard) => {
                // columns of a reflection that takes s_x to an axis, without the one along it
                let norm = guard.dx.norm();
                let axis = guard.dx.iamax();
                let mut w = guard.dx.clone();
                w[axis] += norm.copysign(w[axis]);
                let square = w.norm_squared();
                let reflection = DMatrix::identity(m, m) - (&w * w.transpose()) * (2.0 / square);
                reflection.remove_column(axis)
            }
        }
    }

    /// Derivative of the return map: Φ, or (5) without forcing.
    pub fn returns(&self) -> Result<DMatrix<f64>, StudyError> {
        let Some(guard) = self.guard.as_ref().filter(|_| !self.forced) else { return Ok(self.flow.clone()) };
        let speed = guard.dx.dot(&self.rate);
        if speed.is_nan() || speed.abs() <= 1e-12 * guard.dx.norm() * self.rate.norm() {
            let reason = "the orbit does not cross it, take another one";
            return Err(StudyError::option("the speed across the section", speed, reason));
        }
        let basis = self.basis();
        let mut image = &self.flow * &basis;
        let along = guard.dx.transpose() * &image / speed;
        image -= &self.rate * along;
        Ok(basis.transpose() * image)
    }

    /// The direction of y in which a perturbation comes back with the factor −1.
    pub fn flipped(&self) -> Result<DVector<f64>, StudyError> {
        let returns = self.returns()?;
        let m = returns.nrows();
        let svd = (returns + DMatrix::identity(m, m)).svd(false, true);
        let lost = || StudyError::NoOrbit { residual: f64::NAN };
        let vector = svd.v_t.ok_or_else(lost)?.row(svd.singular_values.imin()).transpose();
        let mut x = self.basis() * vector;
        let mut y = DVector::zeros(x.len() + usize::from(self.guard.is_some()));
        if let Some(guard) = self.guard.as_ref().filter(|_| self.forced) {
            // along the motion to the section, at another phase
            let delay = -guard.dx.dot(&x) / (guard.dx.dot(&self.rate) + guard.dt);
            x.axpy(delay, &self.rate, 1.0);
            y[x.len()] = delay;
        }
        y.rows_mut(0, x.len()).copy_from(&x);
        let norm = y.norm();
        Ok(y / norm)
    }
}
