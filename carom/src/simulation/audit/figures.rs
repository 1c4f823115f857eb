//! Figures of the audit: the largest ones of a run and of a step, and what of a gap is rounding.

use super::ROUNDING;
use crate::balance::Lengths;
use crate::{Coupling, Key, WarningKind, Warnings};

/// The largest figure, and when it first passed the share of what was known then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figure {
    pub largest: f64,
    first: Option<f64>,
    contact: Option<Key>,
}

carom_solve::persist!(Figure { largest, first, contact });

impl Figure {
    pub fn see(&mut self, t: f64, value: f64, contact: Option<Key>, bound: f64) {
        if value > bound {
            self.first.get_or_insert(t);
        }
        if value > self.largest {
            (self.largest, self.contact) = (value, contact);
        }
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

/// The largest gap met, and the largest figures of a step above what is rounding, with their contacts.
pub(super) struct Most {
    pub gap: f64,
    pub depth: (f64, Option<Key>),
    pub apart: (f64, Option<Key>),
}

impl Most {
    #[inline]
    pub fn see(&mut self, gap: f64, contact: Key, law: (&Coupling, usize), sizes: Sizes<'_>) {
        if gap > self.gap && gap < f64::INFINITY {
            self.gap = gap;
        }
        if -gap > self.depth.0 && is_beyond(-gap, law, sizes) {
            self.depth = (-gap, Some(contact));
        }
    }

    /// A law acts although its gap is as large as this at both ends of the step.
    #[inline]
    pub fn see_acting(&mut self, gap: f64, contact: Key, law: (&Coupling, usize), sizes: Sizes<'_>) {
        if gap > self.apart.0 && gap < f64::INFINITY && is_beyond(gap, law, sizes) {
            self.apart = (gap, Some(contact));
        }
    }
}
