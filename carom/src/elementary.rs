//! Elementary functions with the same bits on every machine; see [`carom_solve::elementary`].

pub use carom_solve::elementary::*;

/// The same for dual numbers, whose methods come from the platform.
pub mod dual {
    use crate::model::dual::Scalar;

    /// Sine and cosine of an angle [rad]. What a dual number has besides its value vanishes with its fourth power or
    /// before, so that sums of few terms are exact.
    #[inline]
    pub fn sin_cos<D: Scalar>(x: D) -> (D, D) {
        let (sine, cosine) = super::sin_cos(x.re());
        let d = x - x.re();
        let square = d * d;
        let (s, c) = (d - square * d * (1.0 / 6.0), D::one() - square * 0.5 + square * square * (1.0 / 24.0));
        (c * sine + s * cosine, c * cosine - s * sine)
    }

    /// Sine of an angle [rad].
    #[inline]
    pub fn sin<D: Scalar>(x: D) -> D {
        sin_cos(x).0
    }

    /// Cosine of an angle [rad].
    #[inline]
    pub fn cos<D: Scalar>(x: D) -> D {
        sin_cos(x).1
    }

    /// The angle of the point (x, y) [rad], from −π to π.
    #[inline]
    pub fn atan2<D: Scalar>(y: D, x: D) -> D {
        let angle = super::atan2(y.re(), x.re());
        // the tangent of what is left, whose value is zero
        let (along, across) = (x * x.re() + y * y.re(), y * x.re() - x * y.re());
        let d = across / along;
        d - d * d * d * (1.0 / 3.0) + angle
    }
}

#[cfg(test)]
mod tests {
    use num_dual::{Dual, Dual2, Dual64, HyperDual};

    type Third = HyperDual<Dual64>;

    fn parts(x: Third) -> [f64; 8] {
        [x.re, x.eps1, x.eps2, x.eps1eps2].map(|d| [d.re, d.eps]).concat().try_into().unwrap()
    }

    /// All derivatives up to the third, by derivatives of sine and arc tangent written out.
    #[test]
    fn derivatives_are_exact() {
        let dual = |re: f64, eps: f64| Dual::new(re, eps);
        let x = Third::new(dual(0.7, 1.0), dual(1.0, 0.0), dual(1.0, 0.0), dual(0.0, 0.0));
        let (s, c) = super::dual::sin_cos(x);
        let (sine, cosine) = 0.7f64.sin_cos();
        let near = |a: [f64; 8], b: [f64; 8]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 4e-16);
        assert!(near(parts(s), [sine, cosine, cosine, -sine, cosine, -sine, -sine, -cosine]), "{s:?}");
        assert!(near(parts(c), [cosine, -sine, -sine, -cosine, -sine, -cosine, -cosine, sine]), "{c:?}");
        // the angle of (1, y): y, 1/(1 + y²), −2y/(1 + y²)², (6y² − 2)/(1 + y²)³
        for (y, sign) in [(0.3f64, 1.0), (-2.5, 1.0), (40.0, 1.0), (0.3, -1.0)] {
            let r = 1.0 + y * y;
            let [d1, d2, d3] = [1.0 / r, -2.0 * y / (r * r), (6.0 * y * y - 2.0) / (r * r * r)];
            let y3 = Third::new(dual(y * sign, sign), dual(sign, 0.0), dual(sign, 0.0), dual(0.0, 0.0));
            let angle = super::dual::atan2(y3, Third::from_re(dual(sign, 0.0)));
            let value = (y * sign).atan2(sign);
            assert!(near(parts(angle), [value, d1, d1, d2, d1, d2, d2, d3]), "{y}: {angle:?}");
        }
    }

    /// Values are those of numbers, whatever the kind of dual number.
    #[test]
    fn values_do_not_depend_on_derivatives() {
        for k in -40..40 {
            let (y, x) = (0.37 * f64::from(k), 1.9 - 0.11 * f64::from(k));
            let (sine, cosine) = super::sin_cos(y);
            assert_eq!(super::dual::sin_cos(y), (sine, cosine));
            let (s, c) = super::dual::sin_cos(Dual2::new(y, 1.0, 0.0));
            assert_eq!((s.re, c.re), (sine, cosine));
            let angle = super::dual::atan2(Dual2::new(y, 1.0, 0.0), Dual2::new(x, -1.0, 2.0));
            assert_eq!(angle.re, super::atan2(y, x));
        }
    }
}
