//! Observed orders: least-squares slopes of log(error) against log(step).
//! ```text
//!     log y = slope · log x + intercept,   standard error √(Σ r²/((n - 2) Σ (log x - mean)²))
//! ```
//! Values without a finite logarithm (zeros, negatives, infinities, NaN) are skipped and counted, never hidden.

use carom::elementary::{exp, ln};
use serde::Serialize;

use super::MeasureError;

/// A fitted power law y = exp(intercept) x^slope.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Slope {
    /// Exponent, the observed order [-].
    pub slope: f64,
    /// Natural logarithm of the constant.
    pub intercept: f64,
    /// Standard error of the slope, unknown from two points [-].
    pub standard_error: Option<f64>,
    /// Number of points used.
    pub used: usize,
    /// Number of points skipped because a value has no finite logarithm.
    pub skipped: usize,
}

/// Fits a power law to the points (x_i, y_i).
pub fn log_log_slope(x: &[f64], y: &[f64]) -> Result<Slope, MeasureError> {
    if x.len() != y.len() {
        return Err(MeasureError::Length { expected: x.len(), found: y.len() });
    }
    let points: Vec<(f64, f64)> = x.iter().zip(y).filter_map(|(&x, &y)| Some((logarithm(x)?, logarithm(y)?))).collect();
    let (used, skipped) = (points.len(), x.len() - points.len());
    let count = used as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    // equal abscissae differ from their mean by rounding only
    let rounding = count * (1e-14 * (1.0 + mean_x.abs())).powi(2);
    if used < 2 || spread <= rounding {
        return Err(MeasureError::TooFewPoints { used, skipped });
    }
    let slope = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum::<f64>() / spread;
    let intercept = mean_y - slope * mean_x;
    let residual: f64 = points.iter().map(|p| (p.1 - mean_y - slope * (p.0 - mean_x)).powi(2)).sum();
    let standard_error = (used > 2).then(|| (residual / ((count - 2.0) * spread)).sqrt());
    Ok(Slope { slope, intercept, standard_error, used, skipped })
}

/// A geometric mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GeometricMean {
    /// The mean of the values used, NaN if there are none.
    pub value: f64,
    /// Number of values used.
    pub used: usize,
    /// Number of values skipped because they have no finite logarithm.
    pub skipped: usize,
}

/// Geometric mean, the fair average of errors that scatter by factors.
pub fn geometric_mean(values: &[f64]) -> GeometricMean {
    let logarithms: Vec<f64> = values.iter().filter_map(|&value| logarithm(value)).collect();
    let used = logarithms.len();
    let value = exp(logarithms.iter().sum::<f64>() / used as f64);
    GeometricMean { value, used, skipped: values.len() - used }
}

/// Orders between neighbours, log(y_{i+1}/y_i)/log(x_{i+1}/x_i); NaN where a value has no finite logarithm.
pub fn pairwise_orders(x: &[f64], y: &[f64]) -> Result<Vec<f64>, MeasureError> {
    if x.len() != y.len() {
        return Err(MeasureError::Length { expected: x.len(), found: y.len() });
    }
    let order = |(x, y): (&[f64], &[f64])| {
        let rise = logarithm(y[1])? - logarithm(y[0])?;
        let run = logarithm(x[1])? - logarithm(x[0])?;
        (run != 0.0).then_some(rise / run)
    };
    Ok(x.windows(2).zip(y.windows(2)).map(|pair| order(pair).unwrap_or(f64::NAN)).collect())
}

fn logarithm(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then(|| ln(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_law_is_recovered() {
        let x = [1.0, 0.5, 0.1, 1e-3, 1e-5];
        let y = x.map(|x: f64| 7.0 * x.powf(1.5));
        let fit = log_log_slope(&x, &y).unwrap();
        assert!((fit.slope - 1.5).abs() < 1e-13 && (fit.intercept - 7.0_f64.ln()).abs() < 1e-12);
        assert!(fit.standard_error.unwrap() < 1e-13);
        assert!(pairwise_orders(&x, &y).unwrap().iter().all(|order| (order - 1.5).abs() < 1e-12));
    }

    #[test]
    fn standard_error_matches_a_hand_computation() {
        // log points (0, 0), (1, 1), (2, 3): slope 3/2, residuals 1/6, -1/3, 1/6, error √((1/6)/(1·2))
        let e = std::f64::consts::E;
        let fit = log_log_slope(&[1.0, e, e * e], &[1.0, e, e.powi(3)]).unwrap();
        assert!((fit.slope - 1.5).abs() < 1e-14);
        assert!((fit.standard_error.unwrap() - (1.0_f64 / 12.0).sqrt()).abs() < 1e-14);
    }

    #[test]
    fn useless_values_are_skipped_and_counted() {
        let x = [1.0, 2.0, 4.0, 8.0, 0.0, -1.0];
        let y = [1.0, 0.0, f64::NAN, 8.0, 1.0, 1.0];
        let fit = log_log_slope(&x, &y).unwrap();
        assert!((fit.slope - 1.0).abs() < 1e-15);
        assert_eq!((fit.used, fit.skipped, fit.standard_error), (2, 4, None));
        let orders = pairwise_orders(&x, &y).unwrap();
        assert!(orders.len() == 5 && orders.iter().all(|order| order.is_nan()));
        let mean = geometric_mean(&[1.0, 100.0, 0.0, f64::INFINITY]);
        assert!((mean.value - 10.0).abs() < 1e-13 && mean.used == 2 && mean.skipped == 2);
        assert!(geometric_mean(&[]).value.is_nan());
    }

    #[test]
    fn degenerate_fits_are_refused() {
        assert_eq!(log_log_slope(&[1.0], &[1.0]), Err(MeasureError::TooFewPoints { used: 1, skipped: 0 }));
        assert_eq!(log_log_slope(&[0.1; 3], &[1.0, 2.0, 3.0]), Err(MeasureError::TooFewPoints { used: 3, skipped: 0 }));
        assert_eq!(log_log_slope(&[], &[]), Err(MeasureError::TooFewPoints { used: 0, skipped: 0 }));
        assert!(log_log_slope(&[1.0, 2.0], &[1.0]).is_err());
    }
}
