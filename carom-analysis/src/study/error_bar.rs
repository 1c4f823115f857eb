//! Standard errors of means of correlated series, by batch means [alexopoulos1996].
//!
//! ```text
//!     b batches of equal length with the means x̄ᵢ:    σ² = Σ (x̄ᵢ − x̄)² / (b (b − 1))                              (1)
//!     τ = 1 + 2 Σ |ρ_k|        sum of the correlations that stand out of the noise                                 (2)
//! ```
//!
//! (1) is right where batches are independent: they have at least five times the correlation time (2), so that there
//! are fewer of them than asked for where the series is short. With few batches σ itself is uncertain: it is multiplied
//! by the quantile of Student's distribution that has the probability of one standard deviation, so that the mean is as
//! often within one bar as it should be (68 %).

/// Batches have at least so many correlation times.
const LONG: f64 = 5.0;

/// Fewest batches.
const FEWEST: usize = 3;

/// Correlations below this many times 1/√n are noise.
const NOISE: f64 = 3.0;

/// So many of them in a row end the sum (2).
const SILENT: usize = 10;

/// Quantiles of Student's distribution with probability 0.6827 between −x and x, for 1, 2, ... degrees of freedom.
const STUDENT: [f64; 10] = [1.837, 1.321, 1.197, 1.142, 1.111, 1.091, 1.077, 1.067, 1.059, 1.053];

/// The standard error of the mean of a series, from at most so many batches; no number if the series has infinite
/// entries.
pub fn standard_error(series: &[f64], most: usize) -> f64 {
    let n = series.len();
    if n < 2 || most < 2 || series.iter().any(|x| !x.is_finite()) {
        return f64::NAN;
    }
    let fitting = (n as f64 / (LONG * correlation_time(series))) as usize;
    let batches = fitting.max(FEWEST).min(most).min(n);
    let mean_of = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let means: Vec<f64> = (0..batches).map(|i| mean_of(&series[i * n / batches..(i + 1) * n / batches])).collect();
    let (b, mean) = (batches as f64, mean_of(&means));
    let square = means.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (b * (b - 1.0));
    student(batches - 1) * square.sqrt()
}

/// Exact up to ten degrees of freedom, and by the first term of its series beyond.
fn student(freedom: usize) -> f64 {
    STUDENT.get(freedom.saturating_sub(1)).copied().unwrap_or(1.0 + 0.5 / freedom as f64)
}

/// (2) in entries of the series, at least 1.
pub fn correlation_time(series: &[f64]) -> f64 {
    let n = series.len();
    let mean = series.iter().sum::<f64>() / n.max(1) as f64;
    let centred: Vec<f64> = series.iter().map(|x| x - mean).collect();
    let variance: f64 = centred.iter().map(|x| x * x).sum();
    if variance.is_nan() || variance <= 0.0 {
        return 1.0;
    }
    let (threshold, mut silent, mut sum) = (NOISE / (n as f64).sqrt(), 0, 0.0);
    for k in 1..n / 4 {
        let correlation: f64 = centred.iter().zip(&centred[k..]).map(|(a, b)| a * b).sum::<f64>() / variance;
        if correlation.abs() > threshold {
            (sum, silent) = (sum + correlation.abs(), 0);
        } else {
            silent += 1;
        }
        if silent == SILENT {
            break;
        }
    }
    1.0 + 2.0 * sum
}

#[cfg(test)]
mod tests {
    use super::super::range::Random;
    use super::*;

    /// x' = φ x + ξ with uniform ξ of variance 1, from its stationary state: the mean of n has the error 1/((1 − φ)
    /// √n).
    fn series(phi: f64, n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(11, seed);
        let mut noise = || 12f64.sqrt() * (random.uniform() - 0.5);
        let mut x = noise() / (1.0 - phi * phi).sqrt();
        (0..n)
            .map(|_| {
                x = phi * x + noise();
                x
            })
            .collect()
    }

    /// Part of the series whose mean is within one bar, and the mean bar by the exact one.
    fn judged(phi: f64, n: usize, bar: impl Fn(&[f64]) -> f64) -> (f64, f64) {
        let (mut inside, mut ratio) = (0.0, 0.0);
        let exact = 1.0 / ((1.0 - phi) * (n as f64).sqrt());
        for seed in 0..1000 {
            let x = series(phi, n, seed);
            let (mean, bar) = (x.iter().sum::<f64>() / n as f64, bar(&x));
            inside += f64::from(u8::from(mean.abs() < bar)) / 1000.0;
            ratio += bar / exact / 1000.0;
        }
        (inside, ratio)
    }

    #[test]
    fn bars_of_correlated_series_are_honest() {
        // two standard deviations of a count of 1000 with probability 0.683 are 0.03
        for (phi, n) in [(0.0, 1000), (0.9, 2000), (0.98, 2000), (-0.5, 1000), (-0.9, 1000)] {
            let (inside, ratio) = judged(phi, n, |x| standard_error(x, 20));
            assert!((inside - 0.683).abs() < 0.045 && (ratio - 1.0).abs() < 0.2, "{phi} {n}: {inside} {ratio}");
        }
        // batches of one correlation time tell too little
        let short = |x: &[f64]| {
            let means: Vec<f64> = x.chunks(100).map(|part| part.iter().sum::<f64>() / 100.0).collect();
            (means.iter().map(|m| m * m).sum::<f64>() / 400.0).sqrt()
        };
        assert!(judged(0.98, 2000, short).0 < 0.6);
    }

    #[test]
    fn correlation_times() {
        let exact = |phi: f64| 1.0 + 2.0 * phi.abs() / (1.0 - phi.abs());
        for phi in [0.0, 0.5, 0.9, -0.9] {
            let time = correlation_time(&series(phi, 20_000, 3));
            assert!((time / exact(phi) - 1.0).abs() < 0.25, "{phi} {time} {}", exact(phi));
        }
        assert_eq!(correlation_time(&[2.0; 50]), 1.0);
    }

    #[test]
    fn errors_of_means() {
        assert_eq!(standard_error(&[1.0; 30], 10), 0.0);
        assert!((standard_error(&[1.0, 3.0], 2) - 1.837).abs() < 1e-12);
        assert!(standard_error(&[1.0, f64::NEG_INFINITY], 2).is_nan() && standard_error(&[], 2).is_nan());
    }
}
