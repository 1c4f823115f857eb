//! Contacts that a step has passed: open at both its ends, closed in between.
//!
//! ```text
//!     g(s) ≥ max(g_a + low·(s − a) h, g_b − high·(b − s) h)     between two places, low ≤ ġ ≤ high there                  (1)
//! ```
//!
//! Where the model bounds the rates of its gaps, (1) tells which contacts may have been passed, and the next place to
//! look at is where (1) is least: a gap that stays positive is proved to, and what is narrow is found, for bounds of
//! pieces far from it are tight. Elsewhere the tangents at both ends tell, and places are equally far apart. Tangents
//! are those of the motion that is looked at: a step in which laws act goes along a line, whatever its velocities.

use super::audit::rounding;
use crate::scheme::{Motion, Reactions, Stepper};
use crate::{Coupling, Key, ModelError, State};

/// Places inside a step at which a gap without bounds is looked at, and bisections around the least one.
const PLACES: u32 = 16;
const REFINED: u32 = 20;

/// Most places at which a gap with bounds is looked at.
pub(super) const MOST: usize = 64;

/// Part of a piece that a place in it is away from its ends.
const INSIDE: f64 = 0.1;

/// Cosine of the angle that a contact may turn by in a step, and share of its slopes by which it may miss a parabola,
/// where that tells the least gap.
const STRAIGHT: f64 = 0.9;
const UNEVEN: f64 = 0.1;

/// Bounds of a rate of which nothing is known.
const UNKNOWN: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// Bounds of a rate; none where the model does not know them.
pub(super) type Rate = Option<[f64; 2]>;

/// The way of the last step, where it is a line: `Scheme::interpolate` has it so in steps in which laws act. Empty
/// elsewhere, where velocities are its slopes.
pub(super) fn find_line(stepper: &dyn Stepper, out: &mut Vec<f64>) {
    out.clear();
    if stepper.motion() == Motion::Steps && stepper.reactions().impulse.iter().any(|p| *p != 0.0) {
        out.resize(stepper.dimension(), 0.0);
        stepper.difference(stepper.from(), stepper.to(), out);
        out.truncate(stepper.dimension() - stepper.from().v.len());
    }
}

/// Buffers of a look into a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    rates: Vec<[f64; 2]>,
    line: Vec<f64>,
}

carom_solve::persist!(Looks { rates, line });

/// The part of the last step after which a contact that it passes has closed, for the first one that does.
pub(super) fn passed_at(stepper: &mut dyn Stepper, h: f64, looks: &mut Looks) -> Result<Option<f64>, ModelError> {
    let Looks { rates, line } = looks;
    let mut first: Option<f64> = None;
    // the outputs of first-order systems are no gaps
    let laws = if stepper.to().v.is_empty() { 0 } else { stepper.reactions().len() };
    rates.clear();
    rates.extend_from_slice(stepper.rate_bounds([0.0, 1.0]));
    find_line(stepper, line);
    for i in 0..laws {
        let (reactions, to, end, lengths) = stepper.end()?;
        let key = reactions.key(i);
        if !reactions.law(i).is_contact() || reactions.normal(i) > 0.0 {
            continue;
        }
        let Some(place) = end.find(key, i) else { continue };
        let gaps = [reactions.coupling.gap(i), end.gap(place)];
        let (rate, rounding) = (rates.get(i).copied(), rounding((end, place), (lengths, &[])));
        if between((reactions, i), (to, end, place), gaps, (rate, h), line) == Between::Unknown
            && let (Some((depth, s)), _) = passed(stepper, (key, i, place), gaps, (rate, h), MOST)?
            && depth > rounding
        {
            first = Some(first.map_or(s, |first| first.min(s)));
        }
    }
    Ok(first)
}

/// What the ends of a step tell of a contact that is open at both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Between {
    /// It is open all the way, or closed at an end.
    Open,
    /// Its gap bends evenly, and is negative in between by so much: bodies that go by each other on a line overlap a
    /// little, as they do at ends of steps.
    Grazed(f64),
    /// It may be closed in between: one has to look.
    Unknown,
}

/// What is told by (1) or by tangents of contact `i` of a step, number `j` at its end, with these gaps; the tangents
/// are those of the `line` of the step where it is one. Most contacts are out of reach.
#[inline(always)]
pub(super) fn between(
    (reactions, i): (&Reactions, usize),
    (to, end, j): (&State, &Coupling, usize),
    [start, gap]: [f64; 2],
    (rate, h): (Rate, f64),
    line: &[f64],
) -> Between {
    let is_open = |gap: f64| gap > 0.0 && gap < f64::INFINITY;
    if !is_open(start) || !is_open(gap) {
        return Between::Open;
    }
    if let Some(rate) = rate {
        return if lowest([(0.0, start), (1.0, gap)], rate, h).1 < 0.0 { Between::Unknown } else { Between::Open };
    }
    let (first, last) = (reactions.coupling.offset[i], end.offset[j]);
    let slopes = if line.is_empty() {
        let fall = reactions.before[first] * h;
        if is_far([start, gap], fall.abs()) {
            return Between::Open;
        }
        [fall, (end.rows.dot(last, &to.v) + end.drift[last]) * h]
    } else {
        [(&reactions.coupling, first), (end, last)].map(|(at, row)| at.rows.dot(row, line) + at.drift[row] * h)
    };
    if start + slopes[0] >= 0.0 && gap >= slopes[1] {
        return Between::Open;
    }
    // a flight may be bent itself, above what is not: there one has to look
    if line.is_empty() {
        return Between::Unknown;
    }
    let rows = [reactions.coupling.rows.row(first), end.rows.row(last)];
    bent([start, gap], slopes, rows).map_or(Between::Unknown, |least| match least < 0.0 {
        true => Between::Grazed(-least),
        false => Between::Open,
    })
}

/// The least value of a gap between the ends of a step, from values and slopes there, where it is a parabola: the
/// change is the mean of the slopes, and the direction of the contact has hardly turned. What is thin has another
/// direction on its other side.
fn bent([start, gap]: [f64; 2], [a, b]: [f64; 2], rows: [&[(usize, f64)]; 2]) -> Option<f64> {
    let product = |x: &[(usize, f64)], y: &[(usize, f64)]| x.iter().zip(y).map(|(x, y)| x.1 * y.1).sum::<f64>();
    let [p, q] = rows;
    let turned = product(p, q) < STRAIGHT * (product(p, p) * product(q, q)).sqrt();
    let uneven = (0.5 * (a + b) - (gap - start)).abs() > UNEVEN * (a.abs() + b.abs());
    let is_bent = p.len() == q.len() && !turned && !uneven;
    is_bent.then(|| if a < 0.0 && b > 0.0 { start - a * a / (2.0 * (b - a)) } else { start.min(gap) })
}

/// Whether a contact with these gaps is out of reach, where it has closed by at most `fall` at the rate of the start: a
/// rate that changes evenly is at the end twice the mean less that at the start.
#[inline(always)]
pub(super) fn is_far([start, gap]: [f64; 2], fall: f64) -> bool {
    start.min(gap) > 4.0 * ((gap - start).abs() + fall)
}

/// Where (1) is least between two places of a step of length h, and its value.
fn lowest([(a, start), (b, end)]: [(f64, f64); 2], [low, high]: [f64; 2], h: f64) -> (f64, f64) {
    let way = (b - a) * h;
    if low >= 0.0 || high <= 0.0 {
        return if start < end { (a, start) } else { (b, end) };
    }
    if !(low.is_finite() && high.is_finite()) {
        return (0.5 * (a + b), f64::NEG_INFINITY);
    }
    let x = ((start - end + high * way) / (high - low)).clamp(0.0, way);
    (a + x / h, (start + low * x).max(end - high * (way - x)))
}

/// How deep the gap of a contact is inside the last step, and after which part of it it has closed; `law` and `near`
/// are its places in the list of the step and at the end. And how many places were looked at, of at most so many where
/// rates have bounds.
pub(super) fn passed(
    stepper: &mut dyn Stepper,
    (key, law, near): (Key, usize, usize),
    ends: [f64; 2],
    (rate, h): (Rate, f64),
    most: usize,
) -> Result<(Option<(f64, f64)>, usize), ModelError> {
    let mut looks = 0;
    let mut gap_of = |stepper: &mut dyn Stepper, s: f64| -> Result<f64, ModelError> {
        looks += 1;
        let between = stepper.coupling_at(s)?;
        Ok(between.find(key, near).map_or(f64::INFINITY, |j| between.gap(j)))
    };
    let mut found = None;
    if let Some(rate) = rate {
        let mut split = |[a, s, b]: [f64; 3]| -> Result<_, ModelError> {
            let gap = gap_of(stepper, s)?;
            let mut bounds = |part| stepper.rate_bounds(part).get(law).copied().unwrap_or(UNKNOWN);
            Ok((gap, [bounds([a, s]), bounds([s, b])]))
        };
        found = dive(&mut split, ends, (rate, h), most)?;
        if found.is_none() {
            return Ok((None, looks));
        }
    }
    let mut gap = |s: f64| gap_of(stepper, s);
    let (at, width) = match found {
        Some(found) => found,
        None => {
            let (mut least, mut at) = (f64::INFINITY, 0.5);
            for place in 1..PLACES {
                let s = f64::from(place) / f64::from(PLACES);
                let value = gap(s)?;
                if value < least {
                    (least, at) = (value, s);
                }
            }
            (at, 1.0 / f64::from(PLACES))
        }
    };
    // obstacles may be thinner than the distance of two places
    let mut least = gap(at)?;
    let (mut at, mut low, mut high) = (at, (at - width).max(0.0), (at + width).min(1.0));
    for _ in 0..REFINED {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        let (left, right) = (gap(a)?, gap(b)?);
        for (value, s) in [(left, a), (right, b)] {
            if value < least {
                (least, at) = (value, s);
            }
        }
        if left < right { high = b } else { low = a }
    }
    if least >= 0.0 {
        return Ok((None, looks));
    }
    // where it closes, and a little deeper: behind the deepest place obstacles push to the other side
    let (mut open, mut closed) = (0.0, at);
    for _ in 0..REFINED {
        let middle = 0.5 * (open + closed);
        if gap(middle)? > 0.0 { open = middle } else { closed = middle }
    }
    Ok((Some((-least, closed + (at - closed) / f64::from(PLACES))), looks))
}

/// The gap at the middle one of three places, and bounds of its rate on both sides of it.
type Split<'a> = dyn FnMut([f64; 3]) -> Result<(f64, [[f64; 2]; 2]), ModelError> + 'a;

/// A place where the gap is negative, and how far the next places are from it: the next one is where (1) is least.
fn dive(
    split: &mut Split<'_>,
    [start, end]: [f64; 2],
    (rate, h): ([f64; 2], f64),
    most: usize,
) -> Result<Option<(f64, f64)>, ModelError> {
    let (mut places, mut rates) = ([(0.0, 0.0); MOST + 2], [UNKNOWN; MOST + 1]);
    (places[0], places[1], rates[0]) = ((0.0, start), (1.0, end), rate);
    let mut count = 2;
    while count < most.min(MOST) + 2 {
        let (mut piece, mut next) = (0, (0.0, f64::INFINITY));
        for k in 0..count - 1 {
            let low = lowest([places[k], places[k + 1]], rates[k], h);
            // of equal ones the widest
            let is_wider = || places[k + 1].0 - places[k].0 > places[piece + 1].0 - places[piece].0;
            if low.1 < next.1 || low.1 == next.1 && is_wider() {
                (piece, next) = (k, low);
            }
        }
        let (a, b) = (places[piece].0, places[piece + 1].0);
        let s = next.0.clamp(a + INSIDE * (b - a), b - INSIDE * (b - a));
        if next.1 >= 0.0 || !(a < s && s < b) {
            return Ok(None);
        }
        let (value, sides) = split([a, s, b])?;
        if value < 0.0 {
            return Ok(Some((s, (s - a).max(b - s))));
        }
        places.copy_within(piece + 1..count, piece + 2);
        rates.copy_within(piece..count - 1, piece + 1);
        places[piece + 1] = (s, value);
        [rates[piece], rates[piece + 1]] = sides;
        count += 1;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point goes by a circle on a line: its least distance from it is known. Grazes are told to a tenth of the
    /// overlap, and ways through the circle, or over a bump between two level parts, are not taken for grazes.
    #[test]
    fn ways_on_a_line_by_a_circle() {
        // from (-way/2, height) to (way/2, height) by the unit circle: gap, slope and row at the ends
        let told = |way: f64, height: f64| {
            let at = |x: f64| {
                let length = x.hypot(height);
                (length - 1.0, way * x / length, [(0, x / length), (1, height / length)])
            };
            let ((start, a, p), (end, b, q)) = (at(-0.5 * way), at(0.5 * way));
            assert!(start > 0.0 && start + a < 0.0, "{way} {height}");
            bent([start, end], [a, b], [&p, &q])
        };
        for (way, height) in [(0.1, 0.9995), (0.2, 0.996), (0.3, 0.99)] {
            let least = told(way, height).expect("a graze");
            assert!((least - (height - 1.0)).abs() < 0.1 * (1.0 - height), "{way} {height}: {least}");
        }
        assert_eq!(told(3.0, 0.1), None);
        // a bump of which the ends know nothing: the change is not the mean of the slopes
        let floor = [(0, 0.0), (1, 1.0)];
        assert_eq!(bent([0.1, 0.3], [-0.5, -0.5], [&floor, &floor]), None);
    }

    /// exp(−x²) and bounds of its derivative, as careless as those of an expression: −2x and exp(−x²) apart.
    fn bump([a, b]: [f64; 2]) -> [f64; 2] {
        let height = |x: f64| (-x * x).exp();
        let top = if a < 0.0 && b > 0.0 { 1.0 } else { height(a).max(height(b)) };
        let heights = [height(a).min(height(b)), top];
        let products = [-2.0 * a, -2.0 * b].map(|x| heights.map(|y| x * y));
        let all = || products.iter().flatten().copied();
        [all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)]
    }

    /// Bumps of several widths passed at speed 1 in a step of length 1, at many places: one that is higher than the way
    /// of the point is found, one that is lower is proved to be.
    #[test]
    fn what_is_narrow_is_found_where_rates_have_bounds() {
        for k in 0..1000 {
            let at = 0.1 + 0.8 * f64::from(k) / 1000.0;
            for (width, height, is_hit) in
                [(0.1, 0.52, true), (1e-2, 0.51, true), (1e-4, 0.6, true), (1e-2, 0.45, false)]
            {
                let place = |s: f64| (s - at) / width;
                let mut looks = 0;
                let rates = |a: f64, b: f64| {
                    let [low, high] = bump([place(a), place(b)]).map(|x| -height / width * x);
                    [high.min(low), high.max(low)]
                };
                let mut split = |[a, s, b]: [f64; 3]| -> Result<_, ModelError> {
                    looks += 1;
                    Ok((0.5 - height * (-place(s).powi(2)).exp(), [rates(a, s), rates(s, b)]))
                };
                let ends = [0.0, 1.0].map(|s| 0.5 - height * (-place(s).powi(2)).exp());
                let found = dive(&mut split, ends, (rates(0.0, 1.0), 1.0), MOST).unwrap();
                assert_eq!(found.is_some(), is_hit, "{at} {width} {height}: {looks}");
                assert!(looks < MOST, "{at} {width} {height}: {looks}");
            }
        }
    }
}
