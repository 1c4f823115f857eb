//! Contacts that a step has passed: open at both its ends, closed in between.
//!
//! ```text
//!     g(s) ≥ max(g_a + low·(s − a) h, g_b − high·(b − s) h)     between two places, low ≤ ġ ≤ high over the step          (1)
//! ```
//!
//! Where the model bounds the rates of its gaps, (1) tells which contacts may have been passed, and the next place to
//! look at is where (1) is least: a gap that stays positive is proved to, and what is narrow is found. Elsewhere the
//! tangents at both ends tell, and places are equally far apart.

use super::audit::ROUNDING;
use crate::scheme::{Reactions, Stepper};
use crate::{Coupling, Key, ModelError, State};

/// Places inside a step at which a gap without bounds is looked at, and bisections around the least one.
const PLACES: u32 = 16;
const REFINED: u32 = 20;

/// Most places at which a gap with bounds is looked at.
pub(super) const MOST: usize = 64;

/// Bounds of a rate; none where the model does not know them.
pub(super) type Rate = Option<[f64; 2]>;

/// The part of the last step after which a contact that it passes has closed, for the first one that does.
pub(super) fn passed_at(stepper: &mut dyn Stepper, h: f64) -> Result<Option<f64>, ModelError> {
    let rounding = ROUNDING * stepper.to().q.iter().fold(0.0f64, |most, q| most.max(q.abs()));
    let mut first: Option<f64> = None;
    // the outputs of first-order systems are no gaps
    let laws = if stepper.to().v.is_empty() { 0 } else { stepper.reactions().len() };
    let rates = stepper.rate_bounds().to_vec();
    for i in 0..laws {
        let (reactions, to, end) = stepper.end()?;
        let key = reactions.key(i);
        if !reactions.law(i).is_contact() || reactions.normal(i) > 0.0 {
            continue;
        }
        let Some(place) = end.find(key, i) else { continue };
        let gaps = [reactions.coupling.gap(i), end.gap(place)];
        let rate = rates.get(i).copied();
        if may_be_passed((reactions, i), (to, end, place), gaps, (rate, h))
            && let (Some((depth, s)), _) = passed(stepper, (key, place), gaps, (rate, h), MOST)?
            && depth > rounding
        {
            first = Some(first.map_or(s, |first| first.min(s)));
        }
    }
    Ok(first)
}

/// Whether contact `i` of a step, number `j` at its end, is open at both ends with these gaps and may have closed in
/// between, by (1) or by tangents: most contacts are out of reach.
#[inline(always)]
pub(super) fn may_be_passed(
    (reactions, i): (&Reactions, usize),
    (to, end, j): (&State, &Coupling, usize),
    [start, gap]: [f64; 2],
    (rate, h): (Rate, f64),
) -> bool {
    let is_open = |gap: f64| gap > 0.0 && gap < f64::INFINITY;
    if !is_open(start) || !is_open(gap) {
        return false;
    }
    if let Some(rate) = rate {
        return lowest([(0.0, start), (1.0, gap)], rate, h).1 < 0.0;
    }
    let fall = reactions.before[reactions.coupling.offset[i]] * h;
    // a rate that changes evenly is at the end twice the mean less that at the start: far from it rows are not read
    if start.min(gap) > 4.0 * ((gap - start).abs() + fall.abs()) {
        return false;
    }
    let last = end.offset[j];
    start + fall < 0.0 || gap < (end.rows.dot(last, &to.v) + end.drift[last]) * h
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

/// How deep the gap of a contact is inside the last step, and after which part of it it has closed; `near` is its place
/// at the end. And how many places were looked at, of at most so many where rates have bounds.
pub(super) fn passed(
    stepper: &mut dyn Stepper,
    (key, near): (Key, usize),
    ends: [f64; 2],
    (rate, h): (Rate, f64),
    most: usize,
) -> Result<(Option<(f64, f64)>, usize), ModelError> {
    let mut looks = 0;
    let mut gap = |s: f64| -> Result<f64, ModelError> {
        looks += 1;
        let between = stepper.coupling_at(s)?;
        Ok(between.find(key, near).map_or(f64::INFINITY, |j| between.gap(j)))
    };
    let (at, width) = match rate {
        Some(rate) => match dive(&mut gap, ends, (rate, h), most)? {
            Some(found) => found,
            None => return Ok((None, looks)),
        },
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

/// A place where the gap is negative, and how far the next places are from it: the next one is where (1) is least.
fn dive(
    gap: &mut impl FnMut(f64) -> Result<f64, ModelError>,
    [start, end]: [f64; 2],
    (rate, h): ([f64; 2], f64),
    most: usize,
) -> Result<Option<(f64, f64)>, ModelError> {
    let mut places = [(0.0, 0.0); MOST + 2];
    (places[0], places[1]) = ((0.0, start), (1.0, end));
    let mut count = 2;
    while count < most.min(MOST) + 2 {
        let (mut piece, mut next) = (0, (0.0, f64::INFINITY));
        for k in 0..count - 1 {
            let low = lowest([places[k], places[k + 1]], rate, h);
            // of equal ones the widest
            let is_wider = || places[k + 1].0 - places[k].0 > places[piece + 1].0 - places[piece].0;
            if low.1 < next.1 || low.1 == next.1 && is_wider() {
                (piece, next) = (k, low);
            }
        }
        let (a, b) = (places[piece].0, places[piece + 1].0);
        if next.1 >= 0.0 || !(a < next.0 && next.0 < b) {
            return Ok(None);
        }
        let value = gap(next.0)?;
        if value < 0.0 {
            return Ok(Some((next.0, (next.0 - a).max(b - next.0))));
        }
        places.copy_within(piece + 1..count, piece + 2);
        places[piece + 1] = (next.0, value);
        count += 1;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bump of this width passed at speed 1 in a step of length 1, at many places.
    #[test]
    fn what_is_narrow_is_found_where_rates_have_bounds() {
        for k in 0..1000 {
            let (at, width) = (0.1 + 0.8 * f64::from(k) / 1000.0, 0.02);
            let bump = |s: f64| 0.5 - (-((s - at) / width).powi(2)).exp();
            // the steepest slope of exp(−x²) is √(2/e)
            let steep = (2.0f64 / 1f64.exp()).sqrt() / width;
            let found = dive(&mut |s| Ok(bump(s)), [0.5, 0.5], ([-steep, steep], 1.0), MOST).unwrap();
            assert!(found.is_some_and(|(s, _)| bump(s) < 0.0), "{at}: {found:?}");
            // one that is too low is proved not to close
            let mut looks = 0;
            let low = |s: f64| 0.5 - 0.3 * (-((s - at) / width).powi(2)).exp();
            let none = dive(
                &mut |s| {
                    looks += 1;
                    Ok(low(s))
                },
                [0.5, 0.5],
                ([-0.3 * steep, 0.3 * steep], 1.0),
                MOST,
            );
            assert!(none.unwrap().is_none() && looks < 40, "{at}: {looks}");
        }
    }
}
