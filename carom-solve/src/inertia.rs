//! The law's own blocks of `W = D + C A⁻¹ B`: all that a certificate needs of it.

use crate::{Archive, ArchiveError, Blank, Delassus, Persist};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a certificate asks of `W`.
pub(crate) trait OwnBlocks {
    /// Rows of every law; zero if they differ.
    fn rows_of_each_law(&self) -> usize;
    /// Mean of the diagonal of each law; one where the law sees no inertia at all.
    fn scales(&self) -> impl Iterator<Item = f64> + '_;
    /// The diagonal block of law `i`, row-major.
    fn diagonal(&self, i: usize) -> &[f64];
}

impl OwnBlocks for Delassus {
    #[inline]
    fn rows_of_each_law(&self) -> usize {
        Delassus::rows_of_each_law(self)
    }
    #[inline]
    fn scales(&self) -> impl Iterator<Item = f64> + '_ {
        Delassus::scales(self)
    }
    #[inline]
    fn diagonal(&self, i: usize) -> &[f64] {
        Delassus::diagonal(self, i)
    }
}

/// Counts measurements; one is told from others by its number, which nothing is computed from.
static STAMP: AtomicU64 = AtomicU64::new(1);

/// The diagonal blocks of a `W` that is not assembled.
#[derive(Debug, Default)]
pub(crate) struct Inertia {
    scale: Vec<f64>,   // (laws)
    start: Vec<usize>, // (laws) first value
    value: Vec<f64>,
    uniform: usize,
    stamp: u64,
}

/// A measurement that is read has a number of its own.
impl Persist for Inertia {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Inertia { scale, start, value, uniform, stamp } = self;
        (scale, start, value, uniform).persist(archive)?;
        if archive.is_reading() {
            *stamp = STAMP.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Blank for Inertia {
    fn blank() -> Self {
        Inertia::default()
    }
}

impl Inertia {
    /// No laws yet.
    pub(crate) fn clear(&mut self) {
        self.scale.clear();
        self.start.clear();
        self.value.clear();
        self.uniform = 0;
        self.stamp = STAMP.fetch_add(1, Ordering::Relaxed);
    }

    /// The block of the next law, of `n` rows, row-major.
    #[inline]
    pub(crate) fn push(&mut self, n: usize, block: &[f64]) {
        self.uniform = if self.scale.is_empty() || self.uniform == n { n } else { 0 };
        self.start.push(self.value.len());
        match *block {
            [w] => self.value.push(w),
            _ => self.value.extend_from_slice(block),
        }
        self.scale.push(mean_diagonal(block, n));
    }

    /// Tells one measurement from others.
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Whether every value is a finite number.
    pub(crate) fn is_finite(&self) -> bool {
        self.value.iter().all(|x| x.is_finite())
    }

    /// Mean of the diagonal of law `i`.
    pub(crate) fn scale(&self, i: usize) -> f64 {
        self.scale[i]
    }
}

impl OwnBlocks for Inertia {
    fn rows_of_each_law(&self) -> usize {
        self.uniform
    }
    fn scales(&self) -> impl Iterator<Item = f64> + '_ {
        self.scale.iter().copied()
    }
    fn diagonal(&self, i: usize) -> &[f64] {
        let end = self.start.get(i + 1).copied().unwrap_or(self.value.len());
        &self.value[self.start[i]..end]
    }
}

/// Mean of the diagonal of a block of n rows; one where the law sees no inertia at all.
#[inline]
pub(crate) fn mean_diagonal(block: &[f64], n: usize) -> f64 {
    let mean = match *block {
        [w] => w,
        [a, _, _, b] => 0.5 * (a + b),
        _ => (0..n).map(|k| block[k * n + k]).sum::<f64>() / n as f64,
    };
    if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}
