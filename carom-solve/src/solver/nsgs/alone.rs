//! One law with the others frozen: its local solver, relaxation, and what its change adds to the norms of a sweep.

use super::super::local::{Any, Contact2, Contact3, Local};
use crate::Law;

/// The local solver of a law of N rows.
pub(super) trait Alone<const N: usize> {
    fn solve(&self, frozen: [f64; N], old: [f64; N]) -> [f64; N];

    /// What the law does to itself.
    fn own(&self, lambda: [f64; N]) -> [f64; N];
}

impl<const N: usize> Alone<N> for Local {
    #[inline]
    fn solve(&self, frozen: [f64; N], old: [f64; N]) -> [f64; N] {
        let mut next = old;
        Local::solve(self, &frozen, &mut next);
        next
    }

    #[inline]
    fn own(&self, lambda: [f64; N]) -> [f64; N] {
        let mut out = [0.0; N];
        Local::own(self, &lambda, &mut out);
        out
    }
}

impl<const N: usize> Alone<N> for Any {
    #[inline]
    fn solve(&self, frozen: [f64; N], old: [f64; N]) -> [f64; N] {
        let mut next = old;
        Any::solve(self, &frozen, &mut next);
        next
    }

    #[inline]
    fn own(&self, lambda: [f64; N]) -> [f64; N] {
        let mut out = [0.0; N];
        Any::own(self, &lambda, &mut out);
        out
    }
}

impl Alone<2> for Contact2 {
    #[inline]
    fn solve(&self, frozen: [f64; 2], _old: [f64; 2]) -> [f64; 2] {
        Contact2::solve(self, frozen)
    }

    #[inline]
    fn own(&self, lambda: [f64; 2]) -> [f64; 2] {
        Contact2::own(self, lambda)
    }
}

impl Alone<3> for Contact3 {
    #[inline]
    fn solve(&self, frozen: [f64; 3], old: [f64; 3]) -> [f64; 3] {
        Contact3::solve(self, frozen, old)
    }

    #[inline]
    fn own(&self, lambda: [f64; 3]) -> [f64; 3] {
        Contact3::own(self, lambda)
    }
}

/// `next ← old + ω (next − old)`, back into the set of the law.
#[inline]
pub(super) fn relax(relaxation: f64, law: &Law, old: &[f64], next: &mut [f64]) {
    if relaxation == 1.0 {
        return;
    }
    for (next, old) in next.iter_mut().zip(old) {
        *next = old + relaxation * (*next - old);
    }
    law.project(next);
}

/// Squared norms in the scaled variables of the certificate.
#[derive(Clone, Copy, Default)]
pub(super) struct Norms {
    change: f64,
    size: f64,
}

impl Norms {
    #[inline]
    pub(super) fn add(&mut self, scale: f64, old: &[f64], next: &[f64]) {
        let (mut change, mut size) = (0.0, 0.0);
        for (old, next) in old.iter().zip(next) {
            change += (next - old) * (next - old);
            size += next * next;
        }
        self.change += scale * change;
        self.size += scale * size;
    }

    pub(super) fn join(&mut self, other: Norms) {
        self.change += other.change;
        self.size += other.size;
    }

    /// The relative change of a sweep.
    pub(super) fn ratio(self) -> f64 {
        if self.change == 0.0 { 0.0 } else { (self.change / self.size).sqrt() }
    }
}
