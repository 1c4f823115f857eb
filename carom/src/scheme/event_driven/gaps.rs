//! The first gap that closes inside a step, on the dense output.
//!
//! ```text
//!     |g(s) − c(s)| ≤ 4 δ 16 s² (1 − s)²,    δ = |g − c| + 0.15 |g' − c'| in the middle of the piece                      (1)
//! ```
//!
//! c is the cubic through values and rates of a gap at both ends of a piece; at the start of the step, where g'' is
//! known and hops may be small, it is the quartic that has this as well. A piece is halved until (1) leaves no
//! doubt for any gap: it stays open, or closes on a cubic that is as good as the gap. So a piece is as long as the
//! gap's own variation allows, however long the step is, and pieces far from the obstacle are long. One more place of
//! a piece is looked at, by the golden section, lest a period of the gap be half of it. Models of files know bounds of
//! rates: nothing narrow hides from them.

use super::search::FirstEvent;
use super::{Trial, Work};
use crate::integrator::Quintic;
use crate::{Mechanical, StepError, System, WarningKind};

/// Fewest pieces of a step.
const PIECES: u32 = 4;

/// The shortest piece: 2⁻ⁿ of the step.
const NARROWEST: f64 = 1.0 / 16384.0;

/// The shortest piece that is halved for what bounds of the rates do not exclude.
const HIDDEN: f64 = 1.0 / 1024.0;

/// Safety in (1), and the part that a miss of the rate has in it.
const SAFETY: f64 = 4.0;
const RATE: f64 = 0.15;

/// Part of the variation of a gap in a piece by which the cubic may miss it where it closes.
const TRUST: f64 = 1e-4;

/// The place of a piece at which (1) itself is tried.
const TRIED: f64 = 0.309_016_994_374_947_4;

/// A gap that varies faster than a step of fixed length can be looked at.
pub const UNCLEAR: WarningKind = WarningKind {
    name: "unclear-gap",
    message: "a gap varies within a short part of a step that is not taken again: an impact may have been passed over",
    unit: "of the step",
    hint: "take a smaller step, or `control = \"eps\"`",
};

/// What a piece shows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece {
    Open,
    Closes { s: f64, until: f64, is_top: bool },
    Unclear,
}

impl Work {
    /// The first gap that closes, on cubics between samples.
    pub(super) fn follow(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
        may_reject: bool,
    ) -> Result<FirstEvent, StepError> {
        let widest = 1.0 / f64::from(self.trial.places.max(PIECES));
        let suspect = self.trial.doubtful;
        self.trial.left.copy_from(&self.trial.start);
        let (mut a, mut width) = (0.0, widest);
        while a < 1.0 {
            let mut b = if a + 1.25 * width > 1.0 { 1.0 } else { a + width };
            if a < suspect && suspect < b {
                b = suspect;
            }
            self.glance(system, b)?;
            std::mem::swap(&mut self.trial.right, &mut self.trial.middle);
            loop {
                let middle = 0.5 * (a + b);
                self.glance(system, middle)?;
                let Trial { left, middle: between, right, rates, .. } = &mut self.trial;
                rates.fill([&left.state, &between.state, &right.state], |t, q, v, out| {
                    system.model.bound_rates(t, q, v, out)
                });
                let is_narrow = b - a <= NARROWEST;
                match self.first_in_piece((a, b), h, is_narrow) {
                    FirstEvent::Unresolved if is_narrow && may_reject => return Ok(FirstEvent::Unresolved),
                    FirstEvent::Unresolved if !is_narrow => {
                        std::mem::swap(&mut self.trial.right, &mut self.trial.middle);
                        b = middle;
                    }
                    _ if !is_narrow && !self.is_tried(system, (a, b), h)? => {
                        self.glance(system, middle)?;
                        std::mem::swap(&mut self.trial.right, &mut self.trial.middle);
                        b = middle;
                    }
                    FirstEvent::None => break,
                    FirstEvent::Unresolved => {
                        self.warn_of_gaps((a, b), h);
                        break;
                    }
                    found => return Ok(found),
                }
            }
            std::mem::swap(&mut self.trial.left, &mut self.trial.right);
            width = (2.0 * (b - a)).min(widest);
            a = b;
        }
        Ok(FirstEvent::None)
    }

    /// Tells which gaps stay unclear in a piece that is not halved any more, of a step that cannot be taken again.
    #[cold]
    fn warn_of_gaps(&mut self, (a, b): (f64, f64), h: f64) {
        let t = self.trial.start.state.t + a * h;
        for law in 0..self.trial.start.traces.len() {
            if self.piece(law, (a, b), h, true) == Piece::Unclear {
                let contact = self.transition.phase.keys()[law];
                self.transition.warnings.raise(&UNCLEAR, t, Some(contact), b - a);
            }
        }
    }

    /// Whether (1) holds for all open gaps at one more place between `left` and `right`.
    fn is_tried(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        (a, b): (f64, f64),
        h: f64,
    ) -> Result<bool, StepError> {
        let Trial { start, left, middle, right, doubt, .. } = &mut self.trial;
        // c at the place, and the bound there
        doubt.clear();
        for i in 0..start.traces.len() {
            let (l, m, r) = (left.traces[i], middle.traces[i], right.traces[i]);
            let (c, error) = follow((l.y, m.y, r.y), h * (b - a), a == 0.0);
            let rounding = 16.0 * (l.noise + r.noise);
            doubt.extend([c.at(TRIED), rounding + SAFETY * error * bump(TRIED)]);
        }
        self.glance(system, a + TRIED * (b - a))?;
        let Trial { start, middle, doubt, .. } = &self.trial;
        let mut laws = start.traces.iter().zip(&middle.traces).zip(doubt.chunks_exact(2));
        Ok(laws.all(|((start, trace), bound)| !start.is_open || (trace.y[0] - bound[0]).abs() <= bound[1]))
    }

    /// What happens first between `left` and `right`, with `middle` between.
    fn first_in_piece(&self, (a, b): (f64, f64), h: f64, is_narrow: bool) -> FirstEvent {
        let mut first = FirstEvent::None;
        for law in 0..self.trial.start.traces.len() {
            match self.piece(law, (a, b), h, is_narrow) {
                Piece::Open => {}
                Piece::Unclear => return FirstEvent::Unresolved,
                Piece::Closes { s, until, is_top } => {
                    if s < first.place() {
                        first = FirstEvent::Gap { law, s, until, is_top };
                    }
                }
            }
        }
        first
    }

    /// What a gap does between `left` and `right`, with `middle` between.
    fn piece(&self, i: usize, (a, b): (f64, f64), h: f64, is_narrow: bool) -> Piece {
        let start = self.trial.start.traces[i];
        if !start.is_open {
            return Piece::Open;
        }
        let level = start.y[0].min(0.0);
        let (noise, released) = self.noise(i, level);
        let floor = level - noise;
        let [left, middle, right] =
            [&self.trial.left, &self.trial.middle, &self.trial.right].map(|point| point.traces[i]);
        let [l, m, r] = [left.y, middle.y, right.y];
        let width = h * (b - a);
        let least = l[0].min(m[0]).min(r[0]);
        if self.trial.rates.spread(i).is_some_and(|spread| least - floor > 0.125 * width * spread) {
            return Piece::Open;
        }
        if !(b - a <= HIDDEN || self.trial.rates.agree(i, &[l[1], m[1], r[1]])) {
            return Piece::Unclear;
        }
        let (c, doubt) = follow((l, m, r), width, a == 0.0);
        let error = |s: f64| SAFETY * doubt * bump(s);
        if m[0] >= floor && r[0] >= floor && !c.may_fall_below(floor, error) {
            return Piece::Open;
        }
        let part = 0.5 * (b - a);
        let halves = [(l, m, a), (m, r, a + part)];
        let found = halves.into_iter().find_map(|(low, high, at)| {
            let half = polynomial(low, high, h * part, at == 0.0);
            half.descent(level, noise, released && at == 0.0).map(|found| Piece::Closes {
                s: at + part * found.s,
                until: at + part * found.below,
                is_top: found.is_top,
            })
        });
        let rounding = 16.0 * (left.noise + right.noise);
        let variation = (l[0] - m[0]).abs().max((m[0] - r[0]).abs()).max(width * l[1].abs().max(r[1].abs()));
        match found {
            Some(found) if is_narrow || doubt <= rounding.max(TRUST * variation) => found,
            None if SAFETY * doubt <= rounding => Piece::Open,
            _ => Piece::Unclear,
        }
    }
}

/// c of (1) for a piece of this length [s], and δ.
fn follow((l, m, r): ([f64; 3], [f64; 3], [f64; 3]), length: f64, is_first: bool) -> (Quintic, f64) {
    let c = polynomial(l, r, length, is_first);
    let doubt = (c.at(0.5) - m[0]).abs() + RATE * (c.slope(0.5) - length * m[1]).abs();
    (c, doubt)
}

/// The polynomial through both ends of a piece, of which the first one has a second derivative.
fn polynomial(l: [f64; 3], r: [f64; 3], length: f64, is_first: bool) -> Quintic {
    let end = [r[0], r[1]];
    if is_first { Quintic::quartic(l, end, length) } else { Quintic::cubic([l[0], l[1]], end, length) }
}

/// 16 s² (1 − s)².
fn bump(s: f64) -> f64 {
    16.0 * (s * (1.0 - s)).powi(2)
}
