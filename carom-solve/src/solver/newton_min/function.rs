//! The functions of the semismooth Newton methods, row by row: value and slopes.

use super::Function;
use crate::Law;
use crate::elementary::hypot;

/// The interval of one reaction, scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    lower: f64,
    upper: f64,
}

impl Bounds {
    /// The interval of a law of one row, times `scale`.
    pub(super) fn of(law: Law, scale: f64) -> Bounds {
        let (lower, upper) = law.bounds();
        Bounds { lower: lower * scale, upper: upper * scale }
    }

    #[inline]
    pub(super) fn project(&self, x: f64) -> f64 {
        x.max(self.lower).min(self.upper)
    }

    /// `F(λ, u)`.
    #[inline]
    pub(super) fn value(&self, function: Function, lambda: f64, u: f64) -> f64 {
        match function {
            Function::Min => {
                let target = lambda - u;
                let projected = self.project(target);
                // no digit is lost where the row is inside
                if projected == target { u } else { lambda - projected }
            }
            Function::FischerBurmeister => {
                let inner = if self.upper.is_finite() { -phi(self.upper - lambda, -u) } else { u };
                if self.lower.is_finite() { phi(lambda - self.lower, inner) } else { inner }
            }
        }
    }

    /// `∂F/∂λ` and `∂F/∂u`; an element of the generalised derivative at kinks.
    pub(super) fn slopes(&self, function: Function, lambda: f64, u: f64) -> (f64, f64) {
        match function {
            Function::Min => {
                let target = lambda - u;
                if self.project(target) == target { (0.0, 1.0) } else { (1.0, 0.0) }
            }
            Function::FischerBurmeister => {
                let (mut inner, mut by_lambda, mut by_u) = (u, 0.0, 1.0);
                if self.upper.is_finite() {
                    let (x, y) = phi_slopes(self.upper - lambda, -u);
                    (inner, by_lambda, by_u) = (-phi(self.upper - lambda, -u), x, y);
                }
                if !self.lower.is_finite() {
                    return (by_lambda, by_u);
                }
                let (x, y) = phi_slopes(lambda - self.lower, inner);
                (x + y * by_lambda, y * by_u)
            }
        }
    }
}

/// `x + y − √(x² + y²)`, without cancellation where both are positive.
#[inline]
fn phi(x: f64, y: f64) -> f64 {
    let root = hypot(x, y);
    if x + y > 0.0 { 2.0 * x * y / (x + y + root) } else { x + y - root }
}

#[inline]
fn phi_slopes(x: f64, y: f64) -> (f64, f64) {
    let root = hypot(x, y);
    if root > 0.0 {
        (1.0 - x / root, 1.0 - y / root)
    } else {
        (1.0 - std::f64::consts::FRAC_1_SQRT_2, 1.0 - std::f64::consts::FRAC_1_SQRT_2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTIONS: [Function; 2] = [Function::Min, Function::FischerBurmeister];

    fn laws() -> [Law; 5] {
        [
            Law::EQUALITY,
            Law::UNILATERAL,
            Law::interval(-1.0, 2.0),
            Law::interval(f64::NEG_INFINITY, 0.5),
            Law::interval(0.25, f64::INFINITY),
        ]
    }

    #[test]
    fn zero_exactly_where_the_law_holds() {
        for law in laws() {
            for function in FUNCTIONS {
                for lambda in [-2.0, -1.0, -0.5, 0.0, 0.25, 0.3, 0.5, 2.0, 3.0] {
                    for u in [-1.5, -1e-3, 0.0, 1e-3, 2.5] {
                        let mut natural = [0.0];
                        law.natural_map(&[lambda], &[u], 1.0, &mut natural);
                        let value = Bounds::of(law, 1.0).value(function, lambda, u);
                        assert_eq!(value.abs() < 1e-15, natural[0].abs() < 1e-15, "{law:?} {function:?} {lambda} {u}");
                    }
                }
            }
        }
    }

    #[test]
    fn slopes_are_those_of_differences() {
        let h = 1e-6;
        for law in laws() {
            let bounds = Bounds::of(law, 1.5);
            for function in FUNCTIONS {
                for (lambda, u) in [(0.7, 0.3), (-0.4, 1.3), (1.3, -0.8), (5.0, 0.2), (-3.0, -0.6)] {
                    let (by_lambda, by_u) = bounds.slopes(function, lambda, u);
                    let value = |lambda, u| bounds.value(function, lambda, u);
                    let first = (value(lambda + h, u) - value(lambda - h, u)) / (2.0 * h);
                    let second = (value(lambda, u + h) - value(lambda, u - h)) / (2.0 * h);
                    assert!((by_lambda - first).abs() < 1e-8, "{law:?} {function:?} {by_lambda} {first}");
                    assert!((by_u - second).abs() < 1e-8, "{law:?} {function:?} {by_u} {second}");
                }
            }
        }
    }
}
