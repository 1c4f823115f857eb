//! Lyapunov exponents by finite perturbations, with any scheme.
//!
//! ```text
//!     x_i(t₀) = x(t₀) ± ε q_i,   d_i = (x_i(t₀+τ) − x(t₀+τ)) / (±ε),   (d_1 … d_n) = Q R,   λ_i = mean of ln r_ii / τ      (1)
//!     Σ λ_i = −tr(M⁻¹C) + 2 Σ_contacts ln e · (impacts per unit time)      constant mass and damping, no friction         (2)
//! ```
//!
//! The columns of Q after an interval are the directions of the next one, the last one oriented such that det Q = +1:
//! in the plane the second direction is the first turned by +90°. A neighbour that would start behind a wall gets −ε.
//! All trajectories start anew at each interval, so that schemes that remember earlier steps treat them alike. (2) is
//! the trace identity: an independent check of the sum.
//!
//! A contact that comes to rest forgets gap and velocity: two perturbations vanish, their exponents are −∞
//! ("collapsed"), although numerically what is left of them may not be zero (steps of neighbours end at different
//! times). Such intervals are counted and never averaged away. Error bars are standard errors by means over at most
//! `batches` parts of the run, see `error_bar.rs`.

use super::error_bar::standard_error;
use super::range::Random;
use super::{Make, Motion, Stop, StudyError, exact};
use carom::elementary::ln;
use carom::sensitivity::ContactCounts;
use carom::{Key, State, Stepper};
use serde::{Deserialize, Serialize};

/// What to compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Size of perturbations.
    pub epsilon: f64,
    /// τ: time between renormalisations [s].
    pub interval: f64,
    /// Intervals before the measurement.
    pub transient: usize,
    /// Intervals of the measurement.
    pub intervals: usize,
    /// Most parts whose means tell the statistical error; fewer where they would be shorter than correlations last.
    pub batches: usize,
    /// Longest step [s]; intervals are divided into equal steps.
    pub step: f64,
    /// Exponents to compute, the largest first; all of them where there is nothing.
    pub count: Option<usize>,
}

impl Options {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), StudyError> {
        if !(self.epsilon > 0.0 && self.epsilon.is_finite()) {
            return Err(StudyError::option("the perturbation", self.epsilon, "it must be positive and finite"));
        }
        if !(self.interval > 0.0 && self.interval.is_finite()) {
            return Err(StudyError::option("the interval", self.interval, "it must be positive and finite"));
        }
        if !(self.step > 0.0 && self.step.is_finite()) {
            return Err(StudyError::option("the step", self.step, "it must be positive and finite"));
        }
        if self.intervals == 0 {
            return Err(StudyError::option("the number of intervals", 0, "nothing would be measured"));
        }
        if self.batches < 2 || self.batches > self.intervals {
            return Err(StudyError::option("the number of batches", self.batches, "from 2 to the number of intervals"));
        }
        if self.count == Some(0) {
            return Err(StudyError::option("the number of exponents", 0, "nothing would be measured"));
        }
        Ok(())
    }

    /// Refuses intervals that equal steps do not fit into.
    pub(super) fn check_steps(&self) -> Result<(), StudyError> {
        if self.interval < self.step * (1.0 - 1e-9) {
            return Err(StudyError::option("the interval", self.interval, "it is shorter than a step"));
        }
        Ok(())
    }
}

/// An exponent per unit time with its standard error; −∞ if it collapsed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exponent {
    /// Mean over the measurement [1/s].
    #[serde(with = "exact")]
    pub value: f64,
    /// Standard error of the mean [1/s].
    #[serde(with = "exact")]
    pub error: f64,
}

/// Computed exponents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spectrum {
    /// Per unit time, the largest first.
    pub exponents: Vec<Exponent>,
    /// Time of the measurement [s].
    pub time: f64,
    /// Impacts during the measurement.
    pub impacts: u64,
    /// How often a contact came to rest during the measurement.
    pub sticks: u64,
    /// Intervals in which a perturbation vanished.
    pub collapsed: u64,
    /// Slowest impact [m/s]; infinite without one.
    #[serde(with = "exact")]
    pub slowest: f64,
    /// Impacts of each contact.
    #[serde(skip)]
    pub by_contact: Vec<(Key, u64)>,
    /// Running means after so many intervals, at most some hundreds of them.
    #[serde(with = "exact")]
    pub curve: Vec<(f64, Vec<f64>)>,
    /// Right side of (2) where it is known.
    #[serde(with = "exact")]
    pub trace: Option<f64>,
}

impl Spectrum {
    /// Sum of all exponents.
    pub fn sum(&self) -> f64 {
        self.exponents.iter().map(|e| e.value).sum()
    }
}

/// Points of the convergence curve.
const POINTS: usize = 400;

/// Exponents by (1).
pub fn perturbation(make: &Make<'_>, options: &Options, stop: &Stop<'_>) -> Result<Spectrum, StudyError> {
    options.check()?;
    options.check_steps()?;
    let stepper = make()?;
    let mut reference = stepper.from().clone();
    let dimension = stepper.dimension();
    let steps = (options.interval / options.step - 1e-9).ceil().max(1.0);
    let mut motion = Motion::new(stepper, options.interval / steps)?;
    let start = reference.t;
    for k in 0..options.transient {
        motion.restart(&reference);
        motion.watched(start + (k + 1) as f64 * options.interval, stop, &mut |_| {})?;
        reference.copy_from(motion.state());
    }
    motion.forget_counts();
    let size = options.count.unwrap_or(dimension).min(dimension);
    let mut frame = Frame::new(dimension, size);
    let mut sums = Sums::new(size, options);
    let mut neighbour = reference.clone();
    let mut counter = Counter::default();
    for k in 0..options.intervals {
        let end = start + (options.transient + k + 1) as f64 * options.interval;
        let from = reference.clone();
        motion.restart(&from);
        motion.watched(end, stop, &mut |_| {})?;
        reference.copy_from(motion.state());
        counter.add(&mut motion);
        let collapsed = 2 * motion.stuck.len();
        for i in 0..size {
            let epsilon = place(&mut motion, &from, &frame.columns[i], options.epsilon, &mut neighbour)?;
            motion.restart(&neighbour);
            motion.watched(end, stop, &mut |_| {})?;
            frame.set(i, &mut motion, &reference, epsilon);
        }
        motion.forget_counts();
        frame.orthonormalise();
        frame.collapse(collapsed);
        sums.add(&frame.logs, k);
    }
    Ok(Spectrum {
        exponents: sums.exponents(options),
        time: options.intervals as f64 * options.interval,
        impacts: counter.impacts,
        sticks: counter.sticks,
        collapsed: sums.collapsed,
        slowest: counter.slowest,
        by_contact: counter.by_contact,
        curve: sums.curve,
        trace: None,
    })
}

/// Counts of the reference trajectory.
struct Counter {
    impacts: u64,
    sticks: u64,
    slowest: f64,
    by_contact: Vec<(Key, u64)>,
}

impl Default for Counter {
    fn default() -> Self {
        Counter { impacts: 0, sticks: 0, slowest: f64::INFINITY, by_contact: Vec::new() }
    }
}

impl Counter {
    fn add(&mut self, motion: &mut Motion) {
        self.impacts += motion.impacts;
        self.sticks += motion.sticks;
        self.slowest = self.slowest.min(motion.slowest);
        for (key, count) in &motion.by_contact {
            match self.by_contact.iter_mut().find(|(known, _)| known == key) {
                Some((_, sum)) => *sum += count,
                None => self.by_contact.push((*key, *count)),
            }
        }
    }
}

/// Puts a neighbour at ε along a direction, or at −ε if it would be behind a wall. Returns the signed ε.
fn place(
    motion: &mut Motion,
    from: &State,
    direction: &[f64],
    epsilon: f64,
    out: &mut State,
) -> Result<f64, StudyError> {
    let behind = |motion: &mut Motion, state: &State| -> Result<f64, StudyError> {
        motion.restart(state);
        let coupling = motion.coupling()?;
        let contacts = coupling.pairs.iter().filter(|pair| pair.law.is_contact());
        Ok(contacts.fold(0.0, |depth: f64, pair| depth.max(-pair.gap)))
    };
    let depth = behind(motion, from)?;
    for sign in [1.0, -1.0] {
        shift(motion, from, direction, sign * epsilon, out);
        if behind(motion, out)? <= depth {
            return Ok(sign * epsilon);
        }
    }
    shift(motion, from, direction, epsilon, out);
    Ok(epsilon)
}

/// `out = x ⊕ a d`.
pub(super) fn shift(motion: &mut Motion, x: &State, d: &[f64], a: f64, out: &mut State) {
    let step: Vec<f64> = d.iter().map(|d| a * d).collect();
    motion.stepper().retract(x, &step, out);
}

/// Directions, and what became of them.
pub(super) struct Frame {
    pub(super) columns: Vec<Vec<f64>>,
    logs: Vec<f64>,
    dimension: usize,
}

impl Frame {
    /// The axes in the plane; directions without any symmetry in higher dimensions, where axes may lie in subspaces
    /// that never mix.
    pub(super) fn new(dimension: usize, size: usize) -> Frame {
        let mut random = Random::new(1, dimension as u64);
        let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        let mut entry = |i, j| if dimension > 2 { random.uniform() - 0.5 } else { unit(i, j) };
        let columns = (0..size).map(|i| (0..dimension).map(|j| entry(i, j)).collect()).collect();
        let mut frame = Frame { columns, logs: vec![0.0; size], dimension };
        frame.orthonormalise();
        frame
    }

    /// The first directions alone.
    pub(super) fn truncated(mut self, size: usize) -> Frame {
        self.columns.truncate(size);
        self.logs.truncate(size);
        self
    }

    /// Column `i` becomes the difference of the present state of a neighbour from the reference, over `epsilon`.
    pub(super) fn set(&mut self, i: usize, neighbour: &mut Motion, reference: &State, epsilon: f64) {
        let column = &mut self.columns[i];
        let stepper: &dyn Stepper = neighbour.stepper();
        stepper.difference(reference, stepper.from(), column);
        column.iter_mut().for_each(|d| *d /= epsilon);
    }

    /// Gram-Schmidt in order, twice for accuracy. Returns ln r_ii; −∞ where nothing is left, and then any direction
    /// that is orthogonal.
    pub(super) fn orthonormalise(&mut self) -> &[f64] {
        for i in 0..self.columns.len() {
            let (done, rest) = self.columns.split_at_mut(i);
            let column = &mut rest[0];
            let before = norm(column);
            for _ in 0..2 {
                done.iter().for_each(|q| project_out(column, q));
            }
            let r = norm(column);
            // what is left of a column that lies in the span of the others is rounding
            if r > 1e-14 * before && r.is_finite() {
                column.iter_mut().for_each(|x| *x /= r);
                self.logs[i] = ln(r);
            } else {
                self.logs[i] = f64::NEG_INFINITY;
                any_orthogonal(column, done);
            }
        }
        self.orient();
        &self.logs
    }

    /// The last directions have lost their perturbations.
    fn collapse(&mut self, count: usize) {
        let first = self.dimension.saturating_sub(count).min(self.logs.len());
        self.logs[first..].fill(f64::NEG_INFINITY);
    }

    /// det Q = +1, by the sign of the last column of a full frame.
    fn orient(&mut self) {
        let turned = self.columns.len() == self.dimension && determinant(&self.columns) < 0.0;
        if let Some(last) = self.columns.last_mut().filter(|_| turned) {
            last.iter_mut().for_each(|x| *x = -*x);
        }
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn project_out(x: &mut [f64], q: &[f64]) {
    let along: f64 = x.iter().zip(q).map(|(x, q)| x * q).sum();
    x.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
}

/// A unit vector orthogonal to orthonormal ones, from the coordinate axis that is farthest from them.
fn any_orthogonal(x: &mut [f64], others: &[Vec<f64>]) {
    let inside = |i: usize| others.iter().map(|q| q[i] * q[i]).sum::<f64>();
    let axis = (0..x.len()).min_by(|a, b| inside(*a).total_cmp(&inside(*b))).unwrap_or(0);
    x.fill(0.0);
    x[axis] = 1.0;
    for _ in 0..2 {
        others.iter().for_each(|q| project_out(x, q));
    }
    let r = norm(x);
    x.iter_mut().for_each(|x| *x /= r);
}

/// By elimination with row exchanges; matrices are small.
fn determinant(columns: &[Vec<f64>]) -> f64 {
    let mut a: Vec<Vec<f64>> = columns.to_vec();
    let (n, mut product) = (a.len(), 1.0);
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())).unwrap_or(k);
        if a[pivot][k] == 0.0 {
            return 0.0;
        }
        if pivot != k {
            a.swap(pivot, k);
            product = -product;
        }
        product *= a[k][k];
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                let x = a[k][j];
                a[i][j] -= factor * x;
            }
        }
    }
    product
}

/// Most parts of a run whose means are kept for the error bars.
const PARTS: usize = 4096;

/// Sums of logarithms over intervals.
pub(super) struct Sums {
    total: Vec<f64>,
    parts: Vec<Vec<f64>>,
    lengths: Vec<f64>,
    pub(super) collapsed: u64,
    pub(super) curve: Vec<(f64, Vec<f64>)>,
    every: usize,
    interval: f64,
    intervals: usize,
}

impl Sums {
    pub(super) fn new(size: usize, options: &Options) -> Sums {
        let parts = options.intervals.min(PARTS);
        Sums {
            total: vec![0.0; size],
            parts: vec![vec![0.0; parts]; size],
            lengths: vec![0.0; parts],
            collapsed: 0,
            curve: Vec::new(),
            every: options.intervals.div_ceil(POINTS),
            interval: options.interval,
            intervals: options.intervals,
        }
    }

    /// Adds the logarithms of interval `k`.
    pub(super) fn add(&mut self, logs: &[f64], k: usize) {
        let part = k * self.lengths.len() / self.intervals;
        self.collapsed += u64::from(logs.contains(&f64::NEG_INFINITY));
        self.lengths[part] += self.interval;
        for (i, log) in logs.iter().enumerate() {
            self.total[i] += log;
            self.parts[i][part] += log;
        }
        if (k + 1).is_multiple_of(self.every) || k + 1 == self.intervals {
            let time = (k + 1) as f64 * self.interval;
            self.curve.push((time, self.total.iter().map(|sum| sum / time).collect()));
        }
    }

    pub(super) fn exponents(&self, options: &Options) -> Vec<Exponent> {
        let time = options.intervals as f64 * options.interval;
        let exponent = |i: usize| {
            let means: Vec<f64> = self.parts[i].iter().zip(&self.lengths).map(|(sum, t)| sum / t).collect();
            Exponent { value: self.total[i] / time, error: standard_error(&means, options.batches) }
        };
        (0..self.total.len()).map(exponent).collect()
    }

    /// The spectrum of a motion with tangents.
    pub(super) fn spectrum(self, options: &Options, counts: &ContactCounts, trace: Option<f64>) -> Spectrum {
        Spectrum {
            exponents: self.exponents(options),
            time: options.intervals as f64 * options.interval,
            impacts: counts.impacts,
            sticks: counts.rests,
            collapsed: self.collapsed,
            slowest: counts.slowest,
            by_contact: counts.by_contact.clone(),
            curve: self.curve,
            trace,
        }
    }
}

/// −tr(M⁻¹C) of a model with constant mass and damping; `None` for others.
pub fn divergence(model: &mut dyn carom::Mechanical) -> Option<f64> {
    let constancy = model.constancy();
    if !(constancy.mass && constancy.tangents) {
        return None;
    }
    let mut at = model.initial();
    let n = at.v.len();
    let (mut base, mut other) = (vec![0.0; n], vec![0.0; n]);
    model.factor(&at, carom::model::Combination::MASS).ok()?;
    model.force(at.t, &at.q, &at.v, &mut base).ok()?;
    let mut sum = 0.0;
    for j in 0..n {
        // forces are linear in velocities: a difference over any distance is the derivative
        let v = at.v[j];
        at.v[j] = v + 1.0;
        model.force(at.t, &at.q, &at.v, &mut other).ok()?;
        at.v[j] = v;
        other.iter_mut().zip(&base).for_each(|(a, b)| *a -= b);
        model.solve(&mut other);
        sum += other[j];
    }
    Some(sum)
}

/// Right side of (2): `divergence` is −tr(M⁻¹C), and each contact has its restitution.
pub fn trace(spectrum: &Spectrum, divergence: f64, restitution: impl Fn(Key) -> f64) -> f64 {
    let impacts: f64 = spectrum.by_contact.iter().map(|(key, count)| 2.0 * ln(restitution(*key)) * *count as f64).sum();
    divergence + impacts / spectrum.time
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames() {
        let mut frame = Frame::new(2, 2);
        frame.columns = vec![vec![0.0, 2.0], vec![3.0, 1.0]];
        let logs = frame.orthonormalise().to_vec();
        assert!((logs[0] - 2f64.ln()).abs() < 1e-15 && (logs[1] - 3f64.ln()).abs() < 1e-15);
        // the second is the first turned by +90 degrees
        assert_eq!(frame.columns, [[0.0, 1.0], [-1.0, 0.0]]);
        frame.columns = vec![vec![1.0, 1.0], vec![2.0, 2.0]];
        assert_eq!(frame.orthonormalise()[1], f64::NEG_INFINITY);
        assert!((determinant(&frame.columns) - 1.0).abs() < 1e-15);
        assert!((determinant(&[vec![0.0, 1.0, 0.0], vec![1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0]]) + 1.0).abs() < 1e-15);
    }
}
