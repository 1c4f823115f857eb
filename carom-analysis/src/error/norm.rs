//! Grid norms of a series of errors e_i = e(t_i), i = 0..N [acary2009].
//! ```text
//!     l1 = Σ h_i |e_i|,   l2 = √(Σ h_i |e_i|²),   sup = max |e_i|
//! ```
//! For N equal steps h the weights are h_i = h at *all* N + 1 points, the two ends included. This is the definition
//! of the reference tables; it exceeds the trapezoidal rule by h (|e_0| + |e_N|)/2. On other grids the weights are
//! trapezoidal, h_i = (t_{i+1} - t_{i-1})/2 with half steps at the ends. |e_i| is the Euclidean norm of a sample.
//! | l1 [unit of e · s] | l2 [unit of e · √s] | sup [unit of e] |

use serde::Serialize;

use super::{MeasureError, matching, ordered, positive};

/// Weights h_i of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weights<'a> {
    /// Equal steps [s], with the full weight at both ends.
    Uniform {
        /// Length of a step [s].
        step: f64,
    },
    /// Trapezoidal weights of arbitrary nondecreasing times [s].
    Trapezoidal {
        /// Times of the samples [s].
        times: &'a [f64],
    },
}

/// The three norms of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GridNorms {
    /// Integral of the error.
    pub l1: f64,
    /// Root of the integral of the squared error.
    pub l2: f64,
    /// Largest error.
    pub sup: f64,
}

/// Norms of the series `errors`, which holds `dimension` components per sample, one sample after the other.
///
/// A value that is not a number makes all three norms NaN.
pub fn norms(errors: &[f64], dimension: usize, weights: Weights<'_>) -> Result<GridNorms, MeasureError> {
    accumulate(errors.len(), dimension, weights, |i| errors[i])
}

/// Norms of `computed - exact`, two series of the same layout.
pub fn norms_of_difference(
    computed: &[f64],
    exact: &[f64],
    dimension: usize,
    weights: Weights<'_>,
) -> Result<GridNorms, MeasureError> {
    if computed.len() != exact.len() {
        return Err(MeasureError::Length { expected: computed.len(), found: exact.len() });
    }
    accumulate(computed.len(), dimension, weights, |i| computed[i] - exact[i])
}

fn accumulate(
    length: usize,
    dimension: usize,
    weights: Weights<'_>,
    error: impl Fn(usize) -> f64,
) -> Result<GridNorms, MeasureError> {
    let samples = length / dimension.max(1);
    match weights {
        Weights::Uniform { step } => {
            positive("step", step)?;
            matching(samples, dimension, length)?;
        }
        Weights::Trapezoidal { times } => {
            matching(times.len(), dimension, length)?;
            ordered(times)?;
        }
    }
    let (mut l1, mut square, mut sup) = (0.0, 0.0, 0.0);
    for i in 0..samples {
        let size = match dimension {
            1 => error(i).abs(),
            _ => (0..dimension).map(|k| error(i * dimension + k).powi(2)).sum::<f64>().sqrt(),
        };
        let weight = match weights {
            Weights::Uniform { step } => step,
            Weights::Trapezoidal { times } => 0.5 * (times[(i + 1).min(samples - 1)] - times[i.saturating_sub(1)]),
        };
        l1 += weight * size;
        square += weight * size * size;
        // f64::max would hide NaN
        if size > sup || size.is_nan() {
            sup = size;
        }
    }
    if l1.is_nan() {
        sup = f64::NAN;
    }
    Ok(GridNorms { l1, l2: square.sqrt(), sup })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_weights_count_both_ends_fully() {
        // N = 4 steps of 1/2, |e| = 1: five points
        let norms = norms(&[1.0, -1.0, 1.0, -1.0, 1.0], 1, Weights::Uniform { step: 0.5 }).unwrap();
        assert_eq!(norms, GridNorms { l1: 2.5, l2: 2.5_f64.sqrt(), sup: 1.0 });
    }

    #[test]
    fn trapezoidal_weights_integrate_linear_errors_exactly() {
        let times = [0.0, 0.1, 0.5, 0.6, 2.0];
        let errors: Vec<f64> = times.iter().map(|t| 3.0 * t).collect();
        let norms = norms(&errors, 1, Weights::Trapezoidal { times: &times }).unwrap();
        assert!((norms.l1 - 6.0).abs() < 1e-14);
        assert_eq!(norms.sup, 6.0);
    }

    #[test]
    fn uniform_exceeds_trapezoidal_by_half_a_step_at_each_end() {
        let (h, n) = (0.25, 8);
        let times: Vec<f64> = (0..=n).map(|i| h * f64::from(i)).collect();
        let errors: Vec<f64> = times.iter().map(|t| (1.0 + t).sin()).collect();
        let full = norms(&errors, 1, Weights::Uniform { step: h }).unwrap();
        let trapezoidal = norms(&errors, 1, Weights::Trapezoidal { times: &times }).unwrap();
        let ends = 0.5 * h * (errors[0].abs() + errors[8].abs());
        assert!((full.l1 - trapezoidal.l1 - ends).abs() < 1e-14);
    }

    #[test]
    fn vectors_use_the_euclidean_norm() {
        let norms = norms_of_difference(
            &[3.0, 4.0, 1.0, 1.0],
            &[0.0, 0.0, 1.0, 1.0],
            2,
            Weights::Trapezoidal { times: &[0.0, 2.0] },
        );
        assert_eq!(norms.unwrap(), GridNorms { l1: 5.0, l2: 5.0, sup: 5.0 });
    }

    #[test]
    fn not_a_number_is_not_hidden() {
        let norms = norms(&[1.0, f64::NAN, 2.0], 1, Weights::Uniform { step: 1.0 }).unwrap();
        assert!(norms.l1.is_nan() && norms.l2.is_nan() && norms.sup.is_nan());
    }

    #[test]
    fn bad_input_is_refused() {
        let step = Weights::Uniform { step: 0.1 };
        assert_eq!(norms(&[], 1, step), Err(MeasureError::Empty));
        assert_eq!(norms(&[1.0], 0, step), Err(MeasureError::Empty));
        assert_eq!(norms(&[1.0; 5], 2, step), Err(MeasureError::Length { expected: 4, found: 5 }));
        assert!(matches!(norms(&[1.0], 1, Weights::Uniform { step: 0.0 }), Err(MeasureError::Setting { .. })));
        let times = [0.0, 1.0, 0.5];
        let backwards = norms(&[1.0; 3], 1, Weights::Trapezoidal { times: &times });
        assert_eq!(backwards, Err(MeasureError::Time { index: 2, time: 0.5 }));
        assert!(norms_of_difference(&[1.0], &[1.0, 2.0], 1, step).is_err());
    }
}
