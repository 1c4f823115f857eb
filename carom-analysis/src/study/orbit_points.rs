//! How many different points a section has: the period of an attractor.

/// The smallest p up to `most` after which all points are the same again; `None` where there is none, or too few
/// points.
pub fn period(points: &[f64], most: usize, same: impl Fn(f64, f64) -> bool) -> Option<usize> {
    let repeats = |p: usize| points.iter().zip(&points[p..]).all(|(a, b)| same(*a, *b));
    (1..=most).find(|&p| points.len() > p && points.len() >= 2 * p && repeats(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods() {
        let within = |tolerance: f64| move |a: f64, b: f64| (a - b).abs() <= tolerance;
        let repeat = |cycle: &[f64], n: usize| -> Vec<f64> { cycle.iter().copied().cycle().take(n).collect() };
        assert_eq!(period(&repeat(&[1.0], 10), 4, within(1e-9)), Some(1));
        assert_eq!(period(&repeat(&[1.0, 2.0, 1.0, 3.0], 40), 8, within(1e-9)), Some(4));
        assert_eq!(period(&repeat(&[1.0, 2.0, 3.0], 5), 8, within(1e-9)), None);
        assert_eq!(period(&(0..50).map(f64::from).collect::<Vec<_>>(), 16, within(1e-6)), None);
        assert_eq!(period(&[], 4, within(1e-9)), None);
    }
}
