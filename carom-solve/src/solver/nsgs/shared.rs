//! Numbers that laws read and write in turn: cells where one thread sweeps, atomics where several do.
//!
//! Laws of one colour never touch the same number, so that relaxed loads and stores are all that is needed and the
//! result is that of one thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// A vector that is read.
pub(super) trait Readable {
    fn read<const K: usize>(&self, at: usize) -> [f64; K];
}

impl Readable for [f64] {
    #[inline]
    fn read<const K: usize>(&self, at: usize) -> [f64; K] {
        let part = &self[at..at + K];
        std::array::from_fn(|k| part[k])
    }
}

/// A vector behind a shared reference.
pub(super) trait Shared: Readable {
    fn write<const K: usize>(&self, at: usize, x: [f64; K]);
}

impl Readable for [Cell<f64>] {
    #[inline]
    fn read<const K: usize>(&self, at: usize) -> [f64; K] {
        let part = &self[at..at + K];
        std::array::from_fn(|k| part[k].get())
    }
}

impl Shared for [Cell<f64>] {
    #[inline]
    fn write<const K: usize>(&self, at: usize, x: [f64; K]) {
        for (cell, x) in self[at..at + K].iter().zip(x) {
            cell.set(x);
        }
    }
}

impl Readable for [AtomicU64] {
    #[inline]
    fn read<const K: usize>(&self, at: usize) -> [f64; K] {
        let part = &self[at..at + K];
        std::array::from_fn(|k| load(&part[k]))
    }
}

impl Shared for [AtomicU64] {
    #[inline]
    fn write<const K: usize>(&self, at: usize, x: [f64; K]) {
        for (atom, x) in self[at..at + K].iter().zip(x) {
            atom.store(x.to_bits(), Ordering::Relaxed);
        }
    }
}

#[inline]
pub(super) fn load(x: &AtomicU64) -> f64 {
    f64::from_bits(x.load(Ordering::Relaxed))
}

/// A vector as cells.
pub(super) fn cells(x: &mut [f64]) -> &[Cell<f64>] {
    Cell::from_mut(x).as_slice_of_cells()
}

/// Takes a vector over into atomics.
pub(super) fn share(x: &[f64], atoms: &mut Vec<AtomicU64>) {
    atoms.clear();
    atoms.extend(x.iter().map(|x| AtomicU64::new(x.to_bits())));
}

/// Takes it back.
pub(super) fn collect(atoms: &mut [AtomicU64], x: &mut [f64]) {
    for (x, atom) in x.iter_mut().zip(atoms) {
        *x = f64::from_bits(*atom.get_mut());
    }
}
