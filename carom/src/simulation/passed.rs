//! Contacts that a step has passed: open at both its ends, closed in between.

use super::audit::ROUNDING;
use crate::scheme::{Reactions, Stepper};
use crate::{Coupling, Key, ModelError, State};

/// Places inside a step at which a gap that may have been passed is looked at, and bisections around the least one.
const PLACES: u32 = 16;
const REFINED: u32 = 20;

/// The part of the last step after which a contact that it passes has closed, for the first one that does.
pub(super) fn passed_at(stepper: &mut dyn Stepper, h: f64) -> Result<Option<f64>, ModelError> {
    let rounding = ROUNDING * stepper.to().q.iter().fold(0.0f64, |most, q| most.max(q.abs()));
    let mut first: Option<f64> = None;
    // the outputs of first-order systems are no gaps
    let laws = if stepper.to().v.is_empty() { 0 } else { stepper.reactions().len() };
    for i in 0..laws {
        let (reactions, to, end) = stepper.end()?;
        let key = reactions.key(i);
        if reactions.law(i).is_contact()
            && reactions.normal(i) <= 0.0
            && let Some(place) = end.find(key, i)
            && may_be_passed((reactions, i), (to, end, place), h)
            && let Some((depth, s)) = passed(stepper, (key, place))?
            && depth > rounding
        {
            first = Some(first.map_or(s, |first| first.min(s)));
        }
    }
    Ok(first)
}

/// Whether contact `i` of a step, number `j` at its end, is open at both ends and has a tangent of its gap that comes
/// below zero: most contacts are out of reach.
#[inline(always)]
pub(super) fn may_be_passed(
    (reactions, i): (&Reactions, usize),
    (to, end, j): (&State, &Coupling, usize),
    h: f64,
) -> bool {
    let is_open = |gap: f64| gap > 0.0 && gap < f64::INFINITY;
    let (start, gap) = (reactions.coupling.gap(i), end.gap(j));
    if !is_open(start) || !is_open(gap) {
        return false;
    }
    let (first, last) = (reactions.coupling.offset[i], end.offset[j]);
    start + reactions.before[first] * h < 0.0 || gap < (end.rows.dot(last, &to.v) + end.drift[last]) * h
}

/// How deep the gap of a contact is inside the last step, and after which part of it it has closed; `near` is its place
/// at the end.
pub(super) fn passed(stepper: &mut dyn Stepper, (key, near): (Key, usize)) -> Result<Option<(f64, f64)>, ModelError> {
    let mut gap = |s: f64| -> Result<f64, ModelError> {
        let between = stepper.coupling_at(s)?;
        Ok(between.find(key, near).map_or(f64::INFINITY, |j| between.gap(j)))
    };
    let (mut least, mut at) = (f64::INFINITY, 0.5);
    for place in 1..PLACES {
        let s = f64::from(place) / f64::from(PLACES);
        let value = gap(s)?;
        if value < least {
            (least, at) = (value, s);
        }
    }
    // obstacles may be thinner than the distance of two places
    let (mut low, mut high) = (at - 1.0 / f64::from(PLACES), at + 1.0 / f64::from(PLACES));
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
        return Ok(None);
    }
    // where it closes, and a little deeper: behind the deepest place obstacles push to the other side
    let (mut open, mut closed) = (0.0, at);
    for _ in 0..REFINED {
        let middle = 0.5 * (open + closed);
        if gap(middle)? > 0.0 { open = middle } else { closed = middle }
    }
    Ok(Some((-least, closed + (at - closed) / f64::from(PLACES))))
}
