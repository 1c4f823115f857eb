//! Lyapunov exponents by variational flow and saltation matrices: perturbations are infinitely small, impacts are seen
//! exactly.
//!
//! ```text
//!     Y = D(flow over an interval) Q,    Y = Q⁺ R,    λ_i = mean of ln r_ii / τ                                            (1)
//!     Σ λ_i = mean of tr A + 2 Σ_contacts ln e · (impacts per unit time)       impacts one at a time, without friction      (2)
//! ```
//!
//! (2) is the trace identity: the left side comes from the frame, the right side from the divergence of the flow and
//! from counts. A contact at rest has forgotten its past: two exponents are −∞, reported as collapsed and never
//! averaged away.

use super::lyapunov::{Frame, Options, Spectrum, Sums};
use super::{Stop, StudyError};
use carom::Key;
use carom::elementary::ln;
use carom::sensitivity::{Sensitivity, SensitivityError};

impl From<SensitivityError> for StudyError {
    fn from(error: SensitivityError) -> Self {
        match error {
            SensitivityError::Step { t, source } => StudyError::Step { t, source },
            SensitivityError::Model(error) => StudyError::Model(error),
            SensitivityError::Stalled { t, steps } => StudyError::Stalled { t, steps },
            SensitivityError::Unequal { positions, velocities } => StudyError::Unequal { positions, velocities },
            other => StudyError::Build(other.to_string()),
        }
    }
}

/// Exponents by (1), from the present state of a motion; `restitution` is that of a contact, for (2).
pub fn saltation(
    motion: &mut Sensitivity,
    options: &Options,
    restitution: impl Fn(Key) -> f64,
    stop: &Stop<'_>,
) -> Result<Spectrum, StudyError> {
    options.check()?;
    let start = motion.state().t;
    motion.set_columns(0);
    for k in 0..options.transient {
        motion.advance(start + (k + 1) as f64 * options.interval)?;
        interrupted(stop)?;
    }
    motion.counts.clear();
    let dimension = 2 * motion.dimensions().0;
    let size = options.count.unwrap_or(dimension).min(dimension);
    motion.set_columns(size);
    let mut frame = Frame::new(dimension, size);
    let mut sums = Sums::new(size, options);
    let (mut logs, mut known) = (vec![0.0; size], (0, 0));
    // what closed contacts take from the first directions is no growth
    load(motion, &frame, dimension);
    motion.project_columns()?;
    store(motion, &mut frame, dimension);
    // nor are directions that constraints never allow, which have no exponents
    let constraints = motion.labels().contacts.iter().filter(|(_, law)| law.is_equality()).count();
    let lost = frame.orthonormalise().iter().filter(|log| **log == f64::NEG_INFINITY).count();
    let free = dimension - lost.min(2 * constraints);
    let size = size.min(free);
    if size < frame.columns.len() {
        (frame, sums) = (frame.truncated(size), Sums::new(size, options));
        motion.set_columns(size);
        logs.truncate(size);
    }
    for k in 0..options.intervals {
        load(motion, &frame, dimension);
        motion.project_columns()?;
        motion.advance(start + (options.transient + k + 1) as f64 * options.interval)?;
        store(motion, &mut frame, dimension);
        logs.copy_from_slice(frame.orthonormalise());
        let lost =
            (2 * (motion.counts.rests - known.0).min(dimension as u64) + motion.counts.sticks - known.1) as usize;
        let first = free.saturating_sub(lost).min(size);
        logs[first..].fill(f64::NEG_INFINITY);
        known = (motion.counts.rests, motion.counts.sticks);
        sums.add(&logs, k);
        interrupted(stop)?;
    }
    let time = options.intervals as f64 * options.interval;
    let counts = &motion.counts;
    let loss: f64 = counts.by_contact.iter().map(|(key, count)| 2.0 * ln(restitution(*key)) * *count as f64).sum();
    let plain = size == dimension && counts.is_plain;
    Ok(sums.spectrum(options, counts, plain.then_some((counts.divergence + loss) / time)))
}

/// The directions become the perturbations of the motion.
fn load(motion: &mut Sensitivity, frame: &Frame, dimension: usize) {
    for (column, direction) in motion.columns_mut().zip(&frame.columns) {
        column.fill(0.0);
        column[..dimension].copy_from_slice(direction);
    }
}

/// And back.
fn store(motion: &Sensitivity, frame: &mut Frame, dimension: usize) {
    for (column, direction) in motion.columns().zip(&mut frame.columns) {
        direction.copy_from_slice(&column[..dimension]);
    }
}

/// Asks whether to stop.
pub(super) fn interrupted(stop: &Stop<'_>) -> Result<(), StudyError> {
    if stop() { Err(StudyError::Interrupted) } else { Ok(()) }
}

/// The largest exponent over so many intervals from the present state; −∞ if all perturbations vanished.
pub fn largest(motion: &mut Sensitivity, interval: f64, intervals: usize, stop: &Stop<'_>) -> Result<f64, StudyError> {
    let start = motion.state().t;
    let dimension = 2 * motion.dimensions().0;
    motion.set_columns(1);
    let mut frame = Frame::new(dimension, 1);
    // a direction that no coordinate plane contains
    let entry = |i: usize| 1.0 / (1.0 + i as f64).sqrt();
    frame.columns[0].iter_mut().enumerate().for_each(|(i, x)| *x = entry(i));
    frame.orthonormalise();
    let mut sum = 0.0;
    for k in 0..intervals {
        for column in motion.columns_mut() {
            column.fill(0.0);
            column[..dimension].copy_from_slice(&frame.columns[0]);
        }
        motion.project_columns()?;
        motion.advance(start + (k + 1) as f64 * interval)?;
        if let Some(column) = motion.columns().next() {
            frame.columns[0].copy_from_slice(&column[..dimension]);
        }
        let rested = motion.counts.rests > 0 && dimension == 2;
        sum += if rested { f64::NEG_INFINITY } else { frame.orthonormalise()[0] };
        if sum == f64::NEG_INFINITY {
            return Ok(sum);
        }
        interrupted(stop)?;
    }
    Ok(sum / (intervals as f64 * interval))
}
