//! Elementary functions with the same bits on every machine.
//!
//! The methods of `f64` come from the C library of the platform, whose last bits differ from one to the next; these
//! come from one source. Square roots, sums, products and whole powers (`powi`) are the same everywhere as they are.

/// Sine of an angle [rad].
#[inline]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine of an angle [rad].
#[inline]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Sine and cosine of an angle [rad].
#[inline]
pub fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// Tangent of an angle [rad].
#[inline]
pub fn tan(x: f64) -> f64 {
    libm::tan(x)
}

/// Inverse sine [rad], from −π/2 to π/2.
#[inline]
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}

/// Inverse cosine [rad], from 0 to π.
#[inline]
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

/// Inverse tangent [rad], from −π/2 to π/2.
#[inline]
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

/// The angle of the point (x, y) [rad], from −π to π.
#[inline]
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// Hyperbolic sine.
#[inline]
pub fn sinh(x: f64) -> f64 {
    libm::sinh(x)
}

/// Hyperbolic cosine.
#[inline]
pub fn cosh(x: f64) -> f64 {
    libm::cosh(x)
}

/// Hyperbolic tangent.
#[inline]
pub fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}

/// Inverse hyperbolic tangent.
#[inline]
pub fn atanh(x: f64) -> f64 {
    libm::atanh(x)
}

/// Exponential function.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// 2ˣ, exact for whole numbers.
#[inline]
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// eˣ − 1, without cancellation near zero.
#[inline]
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Natural logarithm.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Logarithm of base 2, exact for its whole powers.
#[inline]
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// Logarithm of base 10.
#[inline]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// xʸ.
#[inline]
pub fn powf(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Cube root.
#[inline]
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// √(x² + y²) without overflow.
#[inline]
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_right_to_the_last_bit_or_so() {
        // worked out with 60 digits
        let expected = [
            (sin(1e22), -0.8522008497671888),
            (sin(0.7), 0.644217687237691),
            (cos(2.5), -0.8011436155469337),
            (sin_cos(31.4).0, -0.0159258626001018),
            (sin_cos(31.4).1, 0.9998731754079828),
            (tan(1.3), 3.6021024479679786),
            (asin(0.3), 0.3046926540153975),
            (acos(-0.9), 2.6905658417935308),
            (atan(7.0), 1.4288992721907328),
            (atan2(-0.3, -2.0), -2.992702705980296),
            (sinh(1.9), 3.268162911528317),
            (cosh(3.1), 11.121500241917596),
            (tanh(0.4), 0.3799489622552249),
            (atanh(0.5), 0.5493061443340549),
            (exp(-17.3), 3.066941294563555e-8),
            (exp_m1(1e-9), 1.0000000005000001e-9),
            (ln(1234.5), 7.118421308785234),
            (log10(0.02), -1.6989700043360187),
            (powf(1.7, -3.3), 0.17358754434318882),
            (cbrt(2.0), 1.2599210498948732),
            (hypot(0.3, -0.7), 0.7615773105863908),
        ];
        for (value, expected) in expected {
            let apart = (value.to_bits() as i64 - f64::to_bits(expected) as i64).abs();
            assert!(apart <= 2, "{value:e} is {apart} bits from {expected:e}");
        }
    }

    #[test]
    fn whole_powers_are_exact() {
        for n in -1022..=1023 {
            assert_eq!(log2(exp2(f64::from(n))), f64::from(n));
            assert_eq!(exp2(f64::from(n)).to_bits(), ((n + 1023) as u64) << 52);
        }
        for n in 0..=22 {
            assert_eq!(log10(powf(10.0, f64::from(n))), f64::from(n));
        }
    }

    #[test]
    fn edges_are_those_of_numbers() {
        assert!(sin(f64::NAN).is_nan() && sin(f64::INFINITY).is_nan());
        assert_eq!((exp(-1e4), exp(1e4), ln(0.0)), (0.0, f64::INFINITY, f64::NEG_INFINITY));
        assert_eq!(hypot(3e300, 4e300), 5e300);
        assert!(powf(-8.0, 1.0 / 3.0).is_nan() && ln(-1.0).is_nan());
    }
}
