//! The cubic through two gaps and their rates: where a gap may close inside a step, and when.

/// `c(s) = g₀ + m₀ s + a s² + b s³` on [0, 1], with slopes m₀ and m₁ at the ends.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    coefficients: [f64; 4],
}

impl Cubic {
    /// From values and rates at the ends of an interval of this width.
    pub fn new(values: (f64, f64), rates: (f64, f64), width: f64) -> Cubic {
        let ((g0, g1), (m0, m1)) = (values, (width * rates.0, width * rates.1));
        Cubic { coefficients: [g0, m0, 3.0 * (g1 - g0) - 2.0 * m0 - m1, 2.0 * (g0 - g1) + m0 + m1] }
    }

    pub fn at(&self, s: f64) -> f64 {
        let [c, m, a, b] = self.coefficients;
        c + s * (m + s * (a + s * b))
    }

    /// The place of the smallest value inside, if the cubic has a minimum there.
    pub fn dip(&self) -> Option<f64> {
        let [_, m, a, b] = self.coefficients;
        // 3b s² + 2a s + m = 0 with rising slope 6b s + 2a > 0, in the form that does not cancel
        let root = (a * a - 3.0 * b * m).sqrt();
        let s = if a > 0.0 { -m / (a + root) } else { (root - a) / (3.0 * b) };
        (s > 0.0 && s < 1.0).then_some(s)
    }

    /// The last change from positive to negative, for a cubic that ends below zero; 0 if it is nowhere positive.
    pub fn last_crossing(&self) -> f64 {
        const SAMPLES: u32 = 32;
        let sample = |k: u32| f64::from(k) / f64::from(SAMPLES);
        let Some(k) = (0..SAMPLES).rev().find(|&k| self.at(sample(k)) > 0.0) else { return 0.0 };
        let (mut low, mut high) = (sample(k), sample(k + 1));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.at(middle) > 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

#[cfg(test)]
mod tests {
    use super::Cubic;

    #[test]
    fn dips_and_crossings_of_known_cubics() {
        // (s − 1/4)(s − 3/4) = s² − s + 3/16: least at 1/2
        let parabola = Cubic::new((0.1875, 0.1875), (-1.0, 1.0), 1.0);
        assert!((parabola.dip().unwrap() - 0.5).abs() < 1e-15);
        // the same over an interval of width 2: rates halve
        assert!((Cubic::new((0.1875, 0.1875), (-0.5, 0.5), 2.0).dip().unwrap() - 0.5).abs() < 1e-15);
        // s (1/2 − s): up from zero and down through 1/2
        let hop = Cubic::new((0.0, -0.5), (0.5, -1.5), 1.0);
        assert!(hop.dip().is_none());
        assert!((hop.last_crossing() - 0.5).abs() < 1e-15);
        // (s − 0.2)³ − 0.001 has no minimum; it ends above
        let c = |s: f64| (s - 0.2).powi(3) - 0.001;
        let cubic = Cubic::new((c(0.0), c(1.0)), (3.0 * 0.04, 3.0 * 0.64), 1.0);
        assert!((cubic.at(0.7) - c(0.7)).abs() < 1e-15 && cubic.dip().is_none_or(|s| (s - 0.2).abs() < 1e-6));
    }
}
