//! Figures of the audit: the largest ones of a run and of a step, and what of a gap is rounding.

use super::{ROUNDING, SHARE, Ways};
use crate::balance::Lengths;
use crate::{Coupling, Key, WarningKind, Warnings};

/// Gaps that opened by less than this part of the motion are drift, and the motion is the measure of it.
const OPENED: f64 = 1e-5;

/// What a figure of a gap is measured by: the largest gap that opened, or the motion along the contact where none did.
pub(super) fn measure(opened: f64, motion: f64) -> f64 {
    if opened >= OPENED * motion { opened } else { motion }
}

/// The largest figure, and when it first passed the share of what was known then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figure {
    pub largest: f64,
    first: Option<f64>,
    contact: Option<Key>,
    motion: f64, // along the contact up to then; of figures of gaps
}

carom_solve::persist!(Figure { largest, first, contact, motion });

impl Figure {
    pub fn see(&mut self, t: f64, value: f64, contact: Option<Key>, bound: f64) {
        if value > bound {
            self.first.get_or_insert(t);
        }
        if value > self.largest {
            (self.largest, self.contact) = (value, contact);
        }
    }

    /// The largest figure of the gaps of a step.
    pub fn see_gap(&mut self, t: f64, Gap { value, motion, contact }: Gap, opened: f64) {
        if value > self.largest {
            self.motion = motion;
        }
        self.see(t, value, contact, SHARE * measure(opened, motion));
    }

    /// Warns of a figure of gaps.
    pub fn judge_gap(&self, kind: &'static WarningKind, opened: f64, out: &mut Warnings) {
        self.judge(kind, measure(opened, self.motion), SHARE, 0.0, out);
    }

    pub fn judge(&self, kind: &'static WarningKind, size: f64, share: f64, least: f64, out: &mut Warnings) {
        if self.largest > (share * size).max(least) && size > 0.0 {
            out.raise(kind, self.first.unwrap_or(f64::NAN), self.contact, self.largest / size);
        }
    }
}

/// A contact that may have been passed: its places in the list of the step and at the end, its gaps there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub law: usize,
    pub place: usize,
    pub gaps: [f64; 2],
    pub rounding: f64, // of the gap at the end [m]
}

carom_solve::persist!(Near { law, place, gaps, rounding });

/// The lengths behind gaps, and the ways of coordinates that contacts have held back.
pub(super) type Sizes<'a> = (&'a Lengths, &'a [f64]);

/// What is rounding of the gap of law `i` [m].
pub(in crate::simulation) fn rounding((coupling, i): (&Coupling, usize), (lengths, held): Sizes<'_>) -> f64 {
    let mut sum = lengths.met(coupling, i);
    if !held.is_empty() {
        let row = coupling.rows.row(coupling.offset[i]);
        sum += row.iter().fold(0.0, |sum, &(j, c)| sum + c.abs() * held[j]);
    }
    ROUNDING * sum
}

/// Whether a figure of the gap of law `i` is more than its rounding.
#[inline]
pub(super) fn is_beyond(figure: f64, law: (&Coupling, usize), sizes: Sizes<'_>) -> bool {
    figure > 0.0 && figure > rounding(law, sizes)
}

/// A figure of a gap, with the motion along its contact so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Gap {
    pub value: f64,
    pub motion: f64,
    pub contact: Option<Key>,
}

/// The largest gap met, the largest one that opened, and the largest figures of a step above what is rounding.
pub(super) struct Most {
    pub gap: f64,
    pub opened: f64,
    pub depth: Gap,
    pub apart: Gap,
}

impl Most {
    #[inline]
    pub fn see(&mut self, gap: f64, contact: Key, law: (&Coupling, usize), (sizes, ways): (Sizes<'_>, &Ways)) {
        if gap > self.gap && gap < f64::INFINITY {
            self.gap = gap;
        }
        if -gap > self.depth.value && is_beyond(-gap, law, sizes) {
            self.depth = Gap { value: -gap, motion: ways.along(law, sizes.1), contact: Some(contact) };
        }
    }

    /// A law acts although its gap is as large as this at both ends of the step.
    #[inline]
    pub fn see_acting(&mut self, gap: f64, contact: Key, law: (&Coupling, usize), (sizes, ways): (Sizes<'_>, &Ways)) {
        if gap > self.apart.value && gap < f64::INFINITY && is_beyond(gap, law, sizes) {
            self.apart = Gap { value: gap, motion: ways.along(law, sizes.1), contact: Some(contact) };
        }
    }

    /// A contact is open.
    #[inline]
    pub fn see_opened(&mut self, gap: f64) {
        if gap > self.opened && gap < f64::INFINITY {
            self.opened = gap;
        }
    }
}
