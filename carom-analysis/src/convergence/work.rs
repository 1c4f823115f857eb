//! Work against precision: what an error costs, in the units of several counters.
//!
//! ```text
//!     work ~ error^{−s},   s = −1/slope of log(error) over log(work)                                    (1)
//! ```
//!
//! A scheme of order p with equal steps has s = 1/p.

use super::{Level, Study};
use crate::error::{MeasureError, log_log_slope};
use carom::elementary::{ln, powf};

/// What counts as work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Evaluations of the right-hand side.
    Evaluations,
    /// Linearised steps solved: the unit of papers in which a step is one solve.
    Iterations,
    /// One-step problems with contacts solved.
    Solves,
    /// Wall time.
    Seconds,
}

/// All units, in the order of tables.
pub const WORKS: [Work; 4] = [Work::Evaluations, Work::Iterations, Work::Solves, Work::Seconds];

impl Work {
    /// A label with the unit.
    pub fn label(&self) -> &'static str {
        match self {
            Work::Evaluations => "evaluations of the right-hand side",
            Work::Iterations => "linearised steps solved",
            Work::Solves => "one-step problems solved",
            Work::Seconds => "wall time [s]",
        }
    }

    /// Mean work per run of a level, in this unit.
    pub fn of(&self, level: &Level) -> f64 {
        match self {
            Work::Evaluations => level.evaluations,
            Work::Iterations => level.iterations,
            Work::Solves => level.solves,
            Work::Seconds => level.seconds,
        }
    }
}

impl Study {
    /// Whether the levels are tolerances.
    pub fn is_adaptive(&self) -> bool {
        self.levels.iter().any(|level| level.tolerance.is_some())
    }

    /// The exponent s of (1) for the l1 error of positions.
    ///
    /// # Errors
    /// Fails where fewer than two levels have an error and work.
    pub fn work_exponent(&self, work: Work) -> Result<f64, MeasureError> {
        let x: Vec<f64> = self.levels.iter().map(|level| work.of(level)).collect();
        let y: Vec<f64> = self.levels.iter().map(|level| level.q.l1).collect();
        Ok(-1.0 / log_log_slope(&x, &y)?.slope)
    }

    /// The least work that reaches an l1 error of positions, interpolated in logarithms between the levels; `None`
    /// where no level is as accurate.
    pub fn work_for(&self, error: f64, work: Work) -> Option<f64> {
        let mut points: Vec<(f64, f64)> = self
            .levels
            .iter()
            .map(|level| (work.of(level), level.q.l1))
            .filter(|(w, e)| *w > 0.0 && *e >= 0.0)
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let first = points.iter().position(|(_, e)| *e <= error)?;
        let (w1, e1) = points[first];
        let Some((w0, e0)) = first.checked_sub(1).map(|before| points[before]) else { return Some(w1) };
        if e1 == 0.0 || e1 >= e0 {
            return Some(w1);
        }
        let part = ln(e0 / error) / ln(e0 / e1);
        Some(w0 * powf(w1 / w0, part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convergence::Errors;

    /// error = 2 / work².
    fn second_order() -> Study {
        let level = |evaluations: f64| Level {
            step: 1.0 / evaluations,
            tolerance: None,
            grids: vec![1],
            q: Errors { l1: 2.0 / (evaluations * evaluations), ..Errors::default() },
            v: Errors::NONE,
            solves: 0.0,
            iterations: 3.0 * evaluations,
            evaluations,
            seconds: 1.0,
            failed: None,
        };
        Study { scheme: "test".into(), levels: [10.0, 100.0, 1000.0].map(level).to_vec() }
    }

    #[test]
    fn exponents_and_work_of_a_power_law() {
        let study = second_order();
        assert!((study.work_exponent(Work::Evaluations).unwrap() - 0.5).abs() < 1e-14);
        assert!((study.work_for(2e-5, Work::Evaluations).unwrap() - 316.227_766_016_837_95).abs() < 1e-9);
        assert!((study.work_for(2e-6, Work::Iterations).unwrap() - 3000.0).abs() < 1e-9);
        assert_eq!(study.work_for(1.0, Work::Evaluations), Some(10.0));
        assert_eq!(study.work_for(1e-7, Work::Evaluations), None);
        // no problem was solved at all: nothing to tell
        assert_eq!(study.work_for(2e-5, Work::Solves), None);
        assert!(study.work_exponent(Work::Solves).is_err());
    }
}
