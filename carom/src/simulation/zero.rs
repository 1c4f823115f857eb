//! What a zero is to rounding: whether a function of the state is at zero, gets there, or leaves.

use super::ZeroFunction;
use crate::State;

/// Rounding that a value carries, in units of the last place of the largest value so far.
const PLACES: f64 = 256.0;

/// Values below this part of the largest one so far are looked at more closely.
const SUSPECT: f64 = 1e-6;

/// A zero between two samples: from one sign to another, 0 being zero to rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Zero {
    pub from: f64,
    pub to: f64,
    floor: f64,
}

impl Zero {
    /// A value of which the sign changes at the zero.
    pub fn seen(&self, value: f64) -> f64 {
        match value.abs() > self.floor {
            true => value,
            // where it leaves, zero counts as the other side
            false if self.from == 0.0 => -self.to * self.floor.max(f64::MIN_POSITIVE),
            false => 0.0,
        }
    }
}

/// What laws do in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held<'a> {
    /// Whether they act.
    pub is_held: bool,
    /// (positions and velocities, or states) Sizes of what they add.
    pub moved: &'a [f64],
}

/// Where a function was at the last sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rest {
    side: Option<f64>, // sign at the last sample, 0 at zero
    largest: f64,      // |value| so far
    since: f64,        // time at which it came to zero
    stays: bool,       // whether it has been at zero for some time
    is_reached: bool,  // whether it came there in this run, or a law holds it there
}

carom_solve::persist!(Rest { side, largest, since, stays, is_reached });

impl Rest {
    /// Looks at the next sample.
    pub fn sample(&mut self, value: f64, at: &mut State, held: Held<'_>, f: &mut ZeroFunction) -> Option<Zero> {
        self.largest = self.largest.max(value.abs());
        let floor = self.floor(value, at, held, f);
        let side = if value.abs() > floor { value.signum() } else { 0.0 };
        let Some(last) = self.side.replace(side) else {
            (self.since, self.stays, self.is_reached) = (at.t, false, false);
            return None;
        };
        if side == 0.0 {
            if last == 0.0 {
                self.stays |= at.t > self.since;
                self.is_reached |= held.is_held;
                return None;
            }
            (self.since, self.stays, self.is_reached) = (at.t, false, true);
            return Some(Zero { from: last, to: 0.0, floor });
        }
        let leaves = last == 0.0 && self.stays && self.is_reached;
        (last == -side || leaves).then_some(Zero {
            from: last,
            to: side,
            floor: if leaves { self.rounding() } else { 0.0 },
        })
    }

    /// Goes on from a value before the last samples.
    pub fn resume(&mut self, value: f64) {
        self.side = Some(if value == 0.0 { 0.0 } else { value.signum() });
    }

    fn rounding(&self) -> f64 {
        PLACES * f64::EPSILON * self.largest
    }

    /// Values up to this are zero.
    fn floor(&self, value: f64, at: &mut State, held: Held<'_>, f: &mut ZeroFunction) -> f64 {
        let is_start = self.side.is_none_or(|side| side == 0.0);
        let is_suspect =
            is_start || value.abs() <= SUSPECT * self.largest || self.side.is_some_and(|side| side * value <= 0.0);
        if value == 0.0 || !is_suspect {
            return 0.0;
        }
        let rounding = if held.is_held || self.side == Some(0.0) { self.rounding() } else { 0.0 };
        if value.abs() <= rounding { rounding } else { rounding.max(noise(value, at, held.moved, f)) }
    }
}

/// What the value changes by when the arguments change by rounding, theirs and that of what laws add to them.
fn noise(value: f64, at: &mut State, moved: &[f64], f: &mut ZeroFunction) -> f64 {
    let mut sum = 0.0;
    for k in 0..at.q.len() + at.v.len() {
        let nudge = |at: &mut State, to: Option<f64>| {
            let n = at.q.len();
            let x = if k < n { &mut at.q[k] } else { &mut at.v[k - n] };
            let old = *x;
            let added = PLACES * f64::EPSILON * moved.get(k).copied().unwrap_or(0.0);
            *x = to.unwrap_or(old + (2.0 * f64::EPSILON * old.abs()).max(added));
            old
        };
        let old = nudge(at, None);
        let change = (f(at.t, &at.q, &at.v) - value).abs();
        nudge(at, Some(old));
        // a jump or an end of its domain is no rounding
        sum += if change.is_finite() { change } else { 0.0 };
    }
    sum
}
