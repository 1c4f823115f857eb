//! How many different points a section has: the period of an attractor.

/// The smallest p up to `most` with x_{k+p} = x_k within `tolerance` for all k; `None` where there is none, or too few
/// points.
pub fn period(points: &[f64], most: usize, tolerance: f64) -> Option<usize> {
    (1..=most).find(|&p| points.len() > p && points.len() >= 2 * p && repeats(points, p, tolerance))
}

fn repeats(points: &[f64], p: usize, tolerance: f64) -> bool {
    points.iter().zip(&points[p..]).all(|(a, b)| (a - b).abs() <= tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods() {
        let repeat = |cycle: &[f64], n: usize| -> Vec<f64> { cycle.iter().copied().cycle().take(n).collect() };
        assert_eq!(period(&repeat(&[1.0], 10), 4, 1e-9), Some(1));
        assert_eq!(period(&repeat(&[1.0, 2.0, 1.0, 3.0], 40), 8, 1e-9), Some(4));
        assert_eq!(period(&repeat(&[1.0, 2.0, 3.0], 5), 8, 1e-9), None);
        assert_eq!(period(&(0..50).map(f64::from).collect::<Vec<_>>(), 16, 1e-6), None);
        assert_eq!(period(&[], 4, 1e-9), None);
    }
}
