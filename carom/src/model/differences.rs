//! Difference quotients that find their own step.
//!
//! A step is right where the quotients of it and of its double agree (far longer than what a function is made of, they
//! have nothing to do with each other), and where the change of the function stands above its rounding. The first one
//! is a part of the coordinate's own size, here or at the start of the model. Where rounding hides the change it is
//! lengthened, up to a part of the largest number of the state (or of 1, where all are smaller); where the quotients
//! disagree it is shortened. So a model in nanometres is differentiated as one in metres, and so is an angle beside
//! lengths of 1e12 m.
//!
//! A coordinate that is zero here and at the start has no size: it begins with the smallest number among the state, the
//! length that the model says, and 1, for it may be an angle. A periodic function whose period is
//! far shorter than the first step may agree by chance: tell the derivatives of such ones.

use carom_solve::elementary::cbrt;
/// What is asked of a quotient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    /// Quotients that differ by no more than this part of them agree [-].
    pub agree: f64,
    /// Rounding may be this part of the change of the function [-].
    pub lost: f64,
    /// Quotients are good to this power of their agreement.
    pub power: i32,
}

/// Where quotients steer an iteration, and where they are of order four and enter the results.
pub(crate) const STEERS: Demand = Demand { agree: 1e-3, lost: 1e-8, power: 1 };
pub(crate) const ENTERS: Demand = Demand { agree: 1e-5, lost: 2e-10, power: 2 };

/// What a quotient tells of its step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Told {
    /// By how much that of the double step disagrees, as a part of it; what is rounding does not count.
    pub missed: f64,
    /// Rounding beside the change; infinite where nothing changes.
    pub lost: f64,
}

/// Where they agree as well as this, shorter steps that agree less have met rounding [-].
const NEARLY: f64 = 0.05;

/// By how much a step is shortened, or lengthened, and how often.
const SHORTER: f64 = 1.0 / 64.0;
const LONGER: f64 = 16.0;
const TIMES: u32 = 14;

/// A coordinate of at least this part of the largest number of a state is large.
const LARGE: f64 = 1e-2;

/// The smallest part of the largest number of a state that a first step is a part of.
const LEAST: f64 = 1.0 / (1u64 << 60) as f64;

/// How large the numbers of a state are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    least: f64, // that is not zero, at most 1
    most: f64,
}

impl Sizes {
    /// Of all these numbers: the state, the initial one, a length that the model says.
    pub fn of(numbers: impl Iterator<Item = f64>) -> Sizes {
        let (mut least, mut most) = (1.0f64, 1.0f64);
        for x in numbers.map(f64::abs).filter(|x| *x > 0.0 && *x < f64::INFINITY) {
            (least, most) = (least.min(x), most.max(x));
        }
        Sizes { least: least.max(LEAST * most), most }
    }

    /// Whether a coordinate is like the largest number: a part of it is a step that needs no check.
    pub fn is_large(&self, x: f64) -> bool {
        x.abs() >= LARGE * self.most
    }

    /// The first and the longest step that are this part of the size of a coordinate, which is `x` here and `initial`
    /// at the start.
    pub fn steps(&self, part: f64, x: f64, initial: f64) -> [f64; 2] {
        let own = x.abs().max(initial.abs());
        let own = if own > 0.0 { own.max(LEAST * self.most) } else { self.least };
        // like the others: what is below 1 beside numbers of about 1 may pass through zero at any time
        let own = if own >= LARGE * self.most { own.max(1.0) } else { own };
        [part * own, part * self.most.max(own)]
    }
}

/// Takes quotients with steps from the first on until one has what is asked for; none is longer than the second.
/// `quotient` takes them with a step and tells of it. The last step that it is asked for is the one to go by: the best
/// one, or the first one where none agrees, for then they are rounding.
pub(crate) fn settle<E>(
    [first, most]: [f64; 2],
    demand: Demand,
    mut quotient: impl FnMut(f64) -> Result<Told, E>,
) -> Result<(), E> {
    let told = quotient(first);
    match told {
        Ok(told) if told.lost > demand.lost && may_grow([first, most]) => {
            lengthen([first, most], demand, told, quotient)
        }
        Ok(told) if told.missed <= demand.agree => Ok(()),
        _ => shorten(first, demand, told, quotient),
    }
}

/// Whether a step may be lengthened.
pub(crate) fn may_grow([step, most]: [f64; 2]) -> bool {
    LONGER * step <= most * (1.0 + f64::EPSILON)
}

/// Rounding hides the change: longer steps.
fn lengthen<E>(
    [first, most]: [f64; 2],
    demand: Demand,
    told: Told,
    mut quotient: impl FnMut(f64) -> Result<Told, E>,
) -> Result<(), E> {
    // what does not change at all does not depend on the coordinate
    if told.lost == f64::INFINITY && quotient(most).is_ok_and(|told| told.lost == f64::INFINITY) {
        return quotient(first).map(|_| ());
    }
    let worst = |told: Told| told.missed.powi(demand.power).max(told.lost);
    let (mut best, mut step) = ((worst(told), first), first);
    while may_grow([step, most]) {
        step *= LONGER;
        // next to where a function ends a shorter step may be inside
        let Ok(told) = quotient(step) else { break };
        if told.missed <= demand.agree && told.lost <= demand.lost {
            return Ok(());
        }
        if worst(told) < best.0 {
            best = (worst(told), step);
        }
        if told.lost <= demand.lost {
            break;
        }
    }
    quotient(best.1).map(|_| ())
}

/// Quotients disagree, or the function ends here: shorter steps.
fn shorten<E>(
    first: f64,
    demand: Demand,
    told: Result<Told, E>,
    mut quotient: impl FnMut(f64) -> Result<Told, E>,
) -> Result<(), E> {
    let mut missed = told.map_or(f64::INFINITY, |told| told.missed);
    let mut step = first;
    let mut best = (f64::INFINITY, first);
    let mut defined = None;
    for _ in 1..TIMES {
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
        missed = quotient(step).map_or(f64::INFINITY, |told| told.missed);
        if missed <= demand.agree {
            return Ok(());
        }
    }
    quotient(if best.0 <= NEARLY { best.1 } else { defined.unwrap_or(first) }).map(|_| ())
}

/// `matrix ← ∂f/∂x`, row-major, by central differences of a function of as many values as it has arguments. `buffers`
/// have as many entries; the point is left as it is.
pub(crate) fn jacobian<E>(
    (point, initial): (&mut [f64], &[f64]),
    [plus, minus, far]: [&mut [f64]; 3],
    matrix: &mut [f64],
    mut function: impl FnMut(&[f64], &mut [f64]) -> Result<(), E>,
) -> Result<(), E> {
    let n = point.len();
    let sizes = Sizes::of(point.iter().chain(initial).copied());
    for j in 0..n {
        let x = point[j];
        far.fill(0.0);
        let mut quotient = |d: f64| -> Result<Told, E> {
            point[j] = x + d;
            let above = function(point, plus);
            point[j] = x - d;
            let below = function(point, minus);
            point[j] = x;
            above.and(below)?;
            (0..n).for_each(|i| matrix[i * n + j] = (plus[i] - minus[i]) / (2.0 * d));
            let largest = plus.iter().chain(minus.iter()).fold(0.0f64, |m, f| m.max(f.abs()));
            // what the quotient of the double step misses of this one, where that was taken before
            let told = tell((0..n).map(|i| (matrix[i * n + j], far[i])), ROUNDING * largest / d);
            (0..n).for_each(|i| far[i] = matrix[i * n + j]);
            Ok(told)
        };
        let steps = sizes.steps(cbrt(f64::EPSILON), x, initial[j]);
        if sizes.is_large(x) {
            let told = quotient(steps[0])?;
            if told.lost <= STEERS.lost || told.lost == f64::INFINITY {
                continue;
            }
        }
        settle(steps, STEERS, |d| quotient(2.0 * d).and_then(|_| quotient(d)))?;
    }
    Ok(())
}

/// What a difference of values of this size may be by rounding alone.
pub(crate) const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// What two vectors of quotients tell, where `rounding` is that of one.
pub(crate) fn tell(pairs: impl Iterator<Item = (f64, f64)>, rounding: f64) -> Told {
    let (mut apart, mut size, mut sum) = (0.0f64, 0.0f64, 0.0);
    for (near, far) in pairs {
        apart = apart.max((near - far).abs());
        size = size.max(near.abs()).max(far.abs());
        sum += near + far;
    }
    if !f64::is_finite(sum) {
        return Told { missed: f64::INFINITY, lost: 0.0 };
    }
    let missed = if apart <= rounding || apart == 0.0 { 0.0 } else { apart / size };
    Told { missed, lost: if size > 0.0 { rounding / size } else { f64::INFINITY } }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The derivative of a function of one number, with the search that models of closures use.
    fn derivative(f: impl Fn(f64) -> f64, sizes: Sizes, (x, initial): (f64, f64)) -> f64 {
        let mut found = f64::NAN;
        let central = |d: f64| (f(x + d) - f(x - d)) / (2.0 * d);
        settle(sizes.steps(f64::EPSILON.cbrt(), x, initial), STEERS, |d| {
            found = central(d);
            let largest = f(x + d).abs().max(f(x - d).abs());
            Ok::<Told, ()>(tell([(found, central(2.0 * d))].into_iter(), ROUNDING * largest / d))
        })
        .unwrap();
        found
    }

    /// L atan(x/L), alone, beside a load of a thousand L, and beside a spring as long as a metre, at any scale L.
    #[test]
    fn the_step_follows_the_function() {
        for exponent in -15..=15 {
            let length = 10f64.powi(exponent);
            for x in [0.0, 1e-9 * length, 0.3 * length, 1.5 * length] {
                // beside an angle of 0.3, and beside another length
                for beside in [0.3, length] {
                    let sizes = Sizes::of([x, beside].into_iter());
                    let exact = 1.0 / (1.0 + (x / length).powi(2));
                    for load in [0.0, 1e3 * length] {
                        let found = derivative(|x| load + length * (x / length).atan(), sizes, (x, 0.0));
                        // a load of 1e3 L hides what steps of an angle do, where no number is like L
                        if load > 0.0 && x.max(beside) < 1e-3 * length {
                            continue;
                        }
                        assert!((found - exact).abs() < 1e-3, "{length:e} {x:e} {beside} {load:e}: {found} {exact}");
                    }
                }
            }
        }
    }

    /// Ripples of a length L on a slope are no rounding, and a step from the coordinate's own size sees them.
    #[test]
    fn ripples_are_not_stepped_over() {
        for exponent in [-12, 0, 12] {
            let length = 10f64.powi(exponent);
            let f = |x: f64| x + 0.5 * length * (x / length).sin();
            let x = 0.7 * length;
            let found = derivative(f, Sizes::of([x, 1.0].into_iter()), (x, x));
            assert!((found - (1.0 + 0.5 * 0.7f64.cos())).abs() < 1e-8, "{length:e}: {found}");
        }
    }

    /// Rounding makes shorter steps worse: the longest one that agrees nearly is taken.
    #[test]
    fn rounding_does_not_shorten_steps() {
        let mut taken = 0.0;
        settle([1e-3; 2], STEERS, |d| {
            taken = d;
            Ok::<Told, ()>(Told { missed: 0.01 * (1e-3 / d), lost: 0.0 })
        })
        .unwrap();
        assert_eq!(taken, 1e-3);
    }

    /// What does not depend on a coordinate costs two looks more, however far its size is from the largest one.
    #[test]
    fn no_dependence_is_seen_at_once() {
        let (mut looks, mut taken) = (0, 0.0);
        settle([1e-20, 1.0], STEERS, |d| {
            (looks, taken) = (looks + 1, d);
            Ok::<Told, ()>(tell([(0.0, 0.0)].into_iter(), 1e-16 / d))
        })
        .unwrap();
        assert_eq!((looks, taken), (3, 1e-20));
    }

    #[test]
    fn a_function_that_ends_is_asked_inside() {
        let mut found = f64::NAN;
        let quotient = |d: f64| if d > 1e-8 { Err("outside") } else { Ok(1.0) };
        settle([1e-3; 2], STEERS, |d| {
            found = quotient(d)?;
            Ok(Told { missed: 0.0, lost: 0.0 })
        })
        .unwrap_or_else(|error: &str| panic!("{error}"));
        assert_eq!(found, 1.0);
        assert_eq!(settle([1e-3; 2], STEERS, |_| Err::<Told, _>("nowhere")), Err("nowhere"));
    }
}
