//! A root between two points where a function has different signs, to rounding.
//!
//! The rule of [oliveira2021]: a secant step, moved a little towards the middle so that the bracket closes from both
//! sides, and kept so near the middle that never more evaluations are made than one above those of bisection. A jump
//! through zero is found as well: the bracket closes around it.

use carom_solve::elementary::log2;
/// Most evaluations of one search, which only a resolution below rounding would reach.
const MOST: i32 = 120;

/// An end of a bracket: place and value.
pub(super) type End = (f64, f64);

/// Closes the bracket `low < high`, with values of different signs (`high` may be a root itself), to a length of
/// `resolution`. Returns both ends; the root, or the jump, is at the upper one.
pub(super) fn close<E>(
    (mut low, mut high): (End, End),
    resolution: f64,
    mut f: impl FnMut(f64) -> Result<f64, E>,
) -> Result<(End, End), E> {
    let whole = high.0 - low.0;
    let resolution = resolution.max(f64::EPSILON * high.0.abs()).max(f64::MIN_POSITIVE);
    let halvings = log2(whole / resolution).ceil().clamp(0.0, f64::from(MOST)) as i32;
    for step in 0..MOST {
        let length = high.0 - low.0;
        let middle = low.0 + 0.5 * length;
        if length <= resolution || middle <= low.0 || middle >= high.0 {
            break;
        }
        // how far from the middle the remaining halvings allow to go
        let radius = (resolution * 2f64.powi(halvings - step) - 0.5 * length).max(0.0);
        let secant = low.0 + length * (low.1 / (low.1 - high.1));
        let shift = 0.2 / whole * length * length;
        let towards = if (middle - secant).abs() <= shift { middle } else { secant + shift.copysign(middle - secant) };
        let x = if towards.is_finite() { towards.clamp(middle - radius, middle + radius) } else { middle };
        let x = if x > low.0 && x < high.0 { x } else { middle };
        let value = f(x)?;
        if value != 0.0 && (value < 0.0) == (low.1 < 0.0) {
            low = (x, value);
        } else {
            high = (x, value);
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
        assert!((x - 0.7).abs() < 4e-16 && count < 60, "{x} {count}");
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
