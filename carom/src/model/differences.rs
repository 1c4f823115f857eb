//! Difference quotients that find their own step.
//!
//! A step is right where the quotients of it and of its double agree: far longer than what a function is made of, they
//! have nothing to do with each other. The first step is a part of max(|x|, 1); where the quotients disagree it is
//! shortened, so that a model in nanometres is differentiated as one in metres. A periodic function whose period is far
//! shorter than the first step may agree by chance: tell the derivatives of such ones.

/// Quotients that differ by no more than this part of them agree [-]: where they steer an iteration, and where they are
/// of order four and enter the results, good to the square of it.
pub(crate) const STEERS: f64 = 1e-3;
pub(crate) const AGREE: f64 = 1e-5;

/// Where they agree as well as this, shorter steps that agree less have met rounding [-].
const NEARLY: f64 = 0.05;

/// By how much a step is shortened, and how often.
const SHORTER: f64 = 1.0 / 64.0;
const TIMES: u32 = 14;

/// A coordinate below this size is small beside the first step, which has to be checked.
pub(crate) const SMALL: f64 = 1e-2;

/// Takes quotients with steps from `first` down until they agree to the part `agree`. `quotient` takes them with a step
/// and returns their disagreement. The last step that it is asked for is the one to go by: that of the best agreement,
/// or the first one where none agrees, for then they are rounding.
pub(crate) fn settle<E>(first: f64, agree: f64, mut quotient: impl FnMut(f64) -> Result<f64, E>) -> Result<(), E> {
    let mut step = first;
    let mut best = (f64::INFINITY, first);
    let mut defined = None;
    for _ in 0..TIMES {
        // next to where a function ends a shorter step may be inside
        let missed = quotient(step).unwrap_or(f64::INFINITY);
        if missed <= agree {
            return Ok(());
        }
        if missed < f64::INFINITY {
            defined.get_or_insert(step);
        }
        if missed > best.0 && best.0 <= NEARLY {
            break;
        }
        if missed < best.0 {
            best = (missed, step);
        }
        step *= SHORTER;
    }
    quotient(if best.0 <= NEARLY { best.1 } else { defined.unwrap_or(first) }).map(|_| ())
}

/// `matrix ← ∂f/∂x`, row-major, by central differences of a function of as many values as it has arguments. `buffers`
/// have as many entries; the point is left as it is.
pub(crate) fn jacobian<E>(
    point: &mut [f64],
    [plus, minus, far]: [&mut [f64]; 3],
    matrix: &mut [f64],
    mut function: impl FnMut(&[f64], &mut [f64]) -> Result<(), E>,
) -> Result<(), E> {
    let n = point.len();
    for j in 0..n {
        let x = point[j];
        let mut quotient = |d: f64| -> Result<f64, E> {
            point[j] = x + d;
            let above = function(point, plus);
            point[j] = x - d;
            let below = function(point, minus);
            point[j] = x;
            above.and(below)?;
            (0..n).for_each(|i| matrix[i * n + j] = (plus[i] - minus[i]) / (2.0 * d));
            let largest = plus.iter().chain(minus.iter()).fold(0.0f64, |m, f| m.max(f.abs()));
            // what the quotient of the double step misses of this one
            let missed = disagreement((0..n).map(|i| (matrix[i * n + j], far[i])), ROUNDING * largest / d);
            (0..n).for_each(|i| far[i] = matrix[i * n + j]);
            Ok(missed)
        };
        let d = f64::EPSILON.cbrt() * x.abs().max(1.0);
        if x.abs() >= SMALL {
            quotient(d)?;
        } else {
            settle(d, STEERS, |d| quotient(2.0 * d).and_then(|_| quotient(d)))?;
        }
    }
    Ok(())
}

/// What a difference of values of this size may be by rounding alone.
pub(crate) const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// By how much two vectors disagree, as a part of them; what is below `rounding` does not count.
pub(crate) fn disagreement(pairs: impl Iterator<Item = (f64, f64)>, rounding: f64) -> f64 {
    let (mut apart, mut size, mut sum) = (0.0f64, 0.0f64, 0.0);
    for (near, far) in pairs {
        apart = apart.max((near - far).abs());
        size = size.max(near.abs()).max(far.abs());
        sum += near + far;
    }
    match () {
        () if !f64::is_finite(sum) => f64::INFINITY,
        () if apart <= rounding || apart == 0.0 => 0.0,
        () => apart / size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L atan(x/L) at any scale L, from the first step of a model in metres.
    #[test]
    fn the_step_follows_the_function() {
        for exponent in -15..=3 {
            let length = 10f64.powi(exponent);
            for x in [0.0, 0.3 * length, 1.5 * length] {
                let f = |x: f64| length * (x / length).atan();
                let mut found = f64::NAN;
                let central = |d: f64| (f(x + d) - f(x - d)) / (2.0 * d);
                settle(f64::EPSILON.cbrt() * x.abs().max(1.0), STEERS, |d| {
                    found = central(d);
                    Ok::<f64, ()>(disagreement([(found, central(2.0 * d))].into_iter(), 0.0))
                })
                .unwrap();
                let exact = 1.0 / (1.0 + (x / length).powi(2));
                assert!((found - exact).abs() < 1e-3, "{length:e} {x:e}: {found} {exact}");
            }
        }
    }

    /// Rounding makes shorter steps worse: the longest one that agrees nearly is taken.
    #[test]
    fn rounding_does_not_shorten_steps() {
        let mut taken = 0.0;
        settle(1e-3, STEERS, |d| {
            taken = d;
            Ok::<f64, ()>(0.01 * (1e-3 / d))
        })
        .unwrap();
        assert_eq!(taken, 1e-3);
    }

    #[test]
    fn a_function_that_ends_is_asked_inside() {
        let mut found = f64::NAN;
        let quotient = |d: f64| if d > 1e-8 { Err("outside") } else { Ok(1.0) };
        settle(1e-3, STEERS, |d| {
            found = quotient(d)?;
            Ok(0.0)
        })
        .unwrap_or_else(|error: &str| panic!("{error}"));
        assert_eq!(found, 1.0);
        assert_eq!(settle(1e-3, STEERS, |_| Err::<f64, _>("nowhere")), Err("nowhere"));
    }
}
