//! How far a computed trajectory is from the true one, when velocities jump.
//!
//! - [`norm`]: grid norms l1, l2, sup of a series of errors.
//! - [`hausdorff`](mod@hausdorff): Hausdorff distance of filled-in graphs, the natural distance of functions whose
//!   jumps may be shifted by a step [moreau1978].
//! - [`graph`]: the graphs themselves, from computed series and from closed forms.
//! - [`fit`]: observed orders, as slopes in logarithmic scale.
//!
//! Measured by these, the event-capturing schemes are of order 1 in v in l1 and Hausdorff, 1/2 in l2 and do not
//! converge in sup [acary2009].

pub mod fit;
pub mod graph;
pub mod hausdorff;
mod nearest;
pub mod norm;

#[cfg(test)]
mod acceptance;

pub use fit::{GeometricMean, Slope, geometric_mean, log_log_slope, pairwise_orders};
pub use graph::Graph;
pub use hausdorff::{Hausdorff, HausdorffOptions, hausdorff};
pub use norm::{GridNorms, Weights, norms, norms_of_difference};

/// Why an error could not be measured.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MeasureError {
    /// There is nothing to measure.
    #[error("the series is empty")]
    Empty,
    /// A series does not have one value per component and time.
    #[error("{found} values given, {expected} expected")]
    Length {
        /// Number of values that the times and the dimension call for.
        expected: usize,
        /// Number of values given.
        found: usize,
    },
    /// Times go backwards or are not numbers.
    #[error("time number {index} ({time}) is smaller than its predecessor or not finite")]
    Time {
        /// Index of the time.
        index: usize,
        /// Its value [s].
        time: f64,
    },
    /// A value is infinite or not a number.
    #[error("value number {index} ({value}) is not finite")]
    Value {
        /// Index of the value.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A setting that must be positive and finite is not.
    #[error("{name} = {value} must be positive and finite")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Two graphs have different numbers of components.
    #[error("graphs of dimensions {first} and {second} cannot be compared")]
    Dimension {
        /// Dimension of the first graph.
        first: usize,
        /// Dimension of the second graph.
        second: usize,
    },
    /// A curve needs too many vertices for the asked accuracy.
    #[error("sampling to {error} needs more than {limit} vertices")]
    TooFine {
        /// Asked accuracy.
        error: f64,
        /// Largest number of vertices.
        limit: usize,
    },
    /// Too few usable points for a fit.
    #[error("{used} usable points ({skipped} skipped), at least 2 with distinct abscissae needed")]
    TooFewPoints {
        /// Number of usable points.
        used: usize,
        /// Number of points with a value that has no finite logarithm.
        skipped: usize,
    },
}

/// Checks that a setting is positive and finite.
fn positive(name: &'static str, value: f64) -> Result<f64, MeasureError> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(MeasureError::Setting { name, value }) }
}

/// Checks that there are `times * dimension` values.
fn matching(times: usize, dimension: usize, values: usize) -> Result<(), MeasureError> {
    let expected = times.saturating_mul(dimension);
    if expected == 0 {
        Err(MeasureError::Empty)
    } else if values != expected {
        Err(MeasureError::Length { expected, found: values })
    } else {
        Ok(())
    }
}

/// Checks that times are finite and do not decrease.
fn ordered(times: &[f64]) -> Result<(), MeasureError> {
    let mut last = f64::NEG_INFINITY;
    for (index, &time) in times.iter().enumerate() {
        if !time.is_finite() || time < last {
            return Err(MeasureError::Time { index, time });
        }
        last = time;
    }
    Ok(())
}
