//! A root between two points where a function has different signs, to rounding.
//!
//! Regula falsi with the Illinois weight [dahlquist1974]; where two of its steps together do not halve the bracket, the next one does.
//! A jump through zero is found as well: the bracket closes around it.

/// Most evaluations of one search: a bracket of unit length is at rounding after about 53 halvings, each at most the third step.
const MOST: usize = 200;

/// An end of a bracket: place and value.
pub(super) type End = (f64, f64);

/// Closes the bracket `low < high`, with values of different signs (`high` may be a root itself), to a length of `resolution`.
/// Returns both ends; the root, or the jump, is at the upper one.
pub(super) fn close<E>(
    (mut low, mut high): (End, End),
    resolution: f64,
    mut f: impl FnMut(f64) -> Result<f64, E>,
) -> Result<(End, End), E> {
    let (mut weighted_low, mut weighted_high) = (low.1, high.1);
    let mut lengths = [f64::INFINITY; 2];
    for _ in 0..MOST {
        let length = high.0 - low.0;
        if length <= resolution.max(f64::EPSILON * high.0.abs()) {
            break;
        }
        let middle = low.0 + 0.5 * length;
        let secant = low.0 + length * weighted_low / (weighted_low - weighted_high);
        let slow = length > 0.5 * lengths[0];
        let inside = secant.is_finite() && secant > low.0 && secant < high.0;
        // never so close to an end that the other one cannot follow
        let margin = 0.5 * resolution.max(f64::EPSILON * high.0.abs());
        let x = if slow || !inside { middle } else { secant.max(low.0 + margin).min(high.0 - margin) };
        lengths = [lengths[1], length];
        let value = f(x)?;
        if (value < 0.0) == (low.1 < 0.0) && value != 0.0 {
            (low, weighted_low) = ((x, value), value);
            weighted_high *= 0.5;
        } else {
            (high, weighted_high) = ((x, value), value);
            weighted_low *= 0.5;
        }
    }
    Ok((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn root(f: impl Fn(f64) -> f64, a: f64, b: f64) -> (f64, usize) {
        let mut count = 0;
        let ends = ((a, f(a)), (b, f(b)));
        let found = close::<Infallible>(ends, 1e-16, |x| {
            count += 1;
            Ok(f(x))
        });
        let Ok((low, high)) = found;
        assert!(low.0 <= high.0 && low.1 * high.1 <= 0.0);
        (high.0, count)
    }

    #[test]
    fn smooth_roots_take_few_evaluations() {
        let (x, count) = root(|x| x * x - 0.5, 0.0, 1.0);
        assert!((x - 0.5f64.sqrt()).abs() < 4e-16 && count < 30, "{x} {count}");
        let (x, _) = root(|x| (x - 0.3).powi(5), 0.0, 1.0);
        // a root of order five is known to the fifth root of nothing: the sign itself is exact here
        assert!((x - 0.3).abs() < 1e-15, "{x}");
        let (x, _) = root(|x| 0.125 - x, 0.0, 1.0);
        assert_eq!(x, 0.125);
    }

    #[test]
    fn jumps_are_bracketed() {
        let (x, count) = root(|x| if x < 0.7 { -1.0 } else { 1e9 }, 0.0, 1.0);
        assert!((x - 0.7).abs() < 4e-16 && count < MOST, "{x} {count}");
        let (x, _) = root(|x| if x <= 0.0 { -1.0 } else { 3.0 }, 0.0, 1.0);
        assert!(x < 1e-15, "{x}");
    }

    #[test]
    fn a_root_at_the_upper_end_of_a_plateau_is_its_start() {
        // zero is reached and kept: the first point of the plateau is the event
        let (x, _) = root(|x| (0.4 - x).max(0.0), 0.0, 1.0);
        assert!((x - 0.4).abs() < 1e-15, "{x}");
    }
}
