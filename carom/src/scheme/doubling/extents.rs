//! How large coordinates are in a run: what errors are measured by where no tolerance is given.
//!
//! ```text
//!     Q_j = max(|q_j|, |q₂_j|, H |v_j|, H |v₂_j|, R_j)   with the largest |q_j| at starts of steps so far, H the first step (1)
//!     R_j = max H min(1, H/h) Σ |C_ij P_i| / M_jj        the way that laws have held back in the time H                    (2)
//!     Q_j ← max(Q_j, 1e-6 √(E/M_jj)),    E = max M_jj Q_j²                                                                 (3)
//!     V_j = max(|v_j|, |v₂_j|, R_j/H), with the largest |v_j| at starts of steps so far, and (3) of it                    (4)
//! ```
//!
//! in the units of the coordinates, whatever they are; the lengths behind a gap are |g_i| + Σ_j |C_ij| Q_j. (2) is for
//! what rests at the origin and leaves it, (3) for coordinates that do not move but for rounding. First-order systems
//! have rates (x₂ − x)/h in place of velocities, min(1, H/h) Σ |B_ji P_i| in (2) and no M: there (3) holds between
//! states of one unit.

use super::super::{ModelOf, Reactions};
use crate::{Coupling, Space, State};
use std::ops::Range;

/// The share of (3).
const SHARE: f64 = 1e-6;

/// Sizes of the coordinates.
#[derive(Clone, Debug, Default)]
pub(super) struct Extents {
    sizes: Vec<f64>,    // (n) Q of the step at hand
    met: Vec<f64>,      // (n) at starts of steps
    speeds: Vec<f64>,   // (n) V
    fastest: Vec<f64>,  // (n) at starts of steps
    held: Vec<f64>,     // (n) R
    load: Vec<f64>,     // (n) Σ |C_ij P_i| of the step at hand
    roots: Vec<f64>,    // (n) √M_jj
    first: Option<f64>, // H [s]
    origin: Vec<f64>,   // q that sizes are counted from, where there are more coordinates than velocities
    way: Vec<f64>,      // (n) from there
}

carom_solve::persist!(Extents { sizes, met, speeds, fastest, held, load, roots, first, origin, way });

impl Extents {
    pub fn of<M: ?Sized + ModelOf>(model: &mut M) -> Extents {
        let (n, mut at) = (model.dim(), model.initial());
        let mut column = vec![0.0; n];
        let mut mass = |j: usize| {
            at.v.fill(0.0);
            *at.v.get_mut(j)? = 1.0;
            // a mass that cannot be evaluated is an error of the first step
            let known = model.momentum(&at, &mut column).unwrap_or(false);
            (known && column[j] > 0.0).then_some(column[j])
        };
        let mut roots: Vec<f64> = (0..n).map(|j| mass(j).unwrap_or(f64::INFINITY)).collect();
        let least = roots.iter().fold(f64::INFINITY, |least, m| least.min(*m));
        let least = if least.is_finite() { least } else { 1.0 };
        roots.iter_mut().for_each(|m| *m = if m.is_finite() { *m } else { least }.sqrt());
        let q = model.initial().q;
        let origin = if q.len() == n { Vec::new() } else { q };
        let zero = || vec![0.0; n];
        Extents {
            sizes: zero(),
            met: zero(),
            speeds: zero(),
            fastest: zero(),
            held: zero(),
            load: zero(),
            way: zero(),
            roots,
            first: None,
            origin,
        }
    }

    /// Forgets what was met.
    pub fn forget(&mut self) {
        self.met.fill(0.0);
        self.fastest.fill(0.0);
        self.held.fill(0.0);
        self.first = None;
    }

    /// (2) of a step of length h that was tried, from what laws did in its halves.
    pub fn hold(&mut self, halves: [&Reactions; 2], is_mechanical: bool, h: f64) {
        let first = *self.first.get_or_insert(h);
        self.load.fill(0.0);
        for Reactions { coupling, impulse, .. } in halves {
            let columns = if coupling.input.is_empty() { &coupling.rows } else { &coupling.input };
            for (row, p) in impulse.iter().enumerate().filter(|(_, p)| **p != 0.0) {
                columns.row(row).iter().for_each(|&(j, c)| self.load[j] += (c * p).abs());
            }
        }
        let part = (first / h).min(1.0);
        for ((held, load), root) in self.held.iter_mut().zip(&self.load).zip(&self.roots) {
            let way = if is_mechanical { first * part * load / (root * root) } else { part * load };
            if way > *held && way < f64::INFINITY {
                *held = way;
            }
        }
    }

    /// (1) and (3) of a step of length h that was tried.
    pub fn look<M: ?Sized + Space>(&mut self, model: &M, (from, to): (&State, &State), h: f64) {
        let first = *self.first.get_or_insert(h);
        let positions = |at: &State, way: &mut Vec<f64>, origin: &[f64]| {
            if origin.is_empty() { way.clone_from(&at.q) } else { model.difference(origin, &at.q, way) }
        };
        let larger = |size: &mut f64, x: f64| {
            if x > *size && x < f64::INFINITY {
                *size = x;
            }
        };
        positions(from, &mut self.way, &self.origin);
        for (j, (met, q)) in self.met.iter_mut().zip(&self.way).enumerate() {
            larger(met, q.abs());
            // the mean rate, where there are no velocities
            let rate = from.v.get(j).map_or(0.0, |v| v.abs().max(to.v[j].abs()));
            let rate = if from.v.is_empty() { (to.q[j] - from.q[j]).abs() / h } else { rate };
            self.sizes[j] = met.max(self.held[j]);
            larger(&mut self.sizes[j], first * rate);
        }
        positions(to, &mut self.way, &self.origin);
        let mut largest = 0.0f64;
        for ((size, q), root) in self.sizes.iter_mut().zip(&self.way).zip(&self.roots) {
            larger(size, q.abs());
            largest = largest.max(*size * root);
        }
        for (size, root) in self.sizes.iter_mut().zip(&self.roots) {
            *size = size.max(SHARE * largest / root).max(f64::MIN_POSITIVE);
        }
        if !from.v.is_empty() {
            self.look_at_speeds((&from.v, &to.v), first);
        }
    }

    /// (4).
    fn look_at_speeds(&mut self, (from, to): (&[f64], &[f64]), first: f64) {
        let mut largest = 0.0f64;
        for (j, (speed, root)) in self.speeds.iter_mut().zip(&self.roots).enumerate() {
            self.fastest[j] = self.fastest[j].max(from[j].abs());
            *speed = self.fastest[j].max(self.held[j] / first);
            if to[j].abs() > *speed && to[j].is_finite() {
                *speed = to[j].abs();
            }
            largest = largest.max(*speed * root);
        }
        for (speed, root) in self.speeds.iter_mut().zip(&self.roots) {
            *speed = speed.max(SHARE * largest / root).max(f64::MIN_POSITIVE);
        }
    }

    /// What a row makes of values of the coordinates, over the rows of a slip.
    fn sum(half: &Reactions, rows: Range<usize>, of: impl Fn(usize, f64) -> f64) -> f64 {
        let row = |row: usize| half.coupling.rows.row(row).iter().map(|&(j, c)| of(j, c)).sum::<f64>();
        rows.clone().map(row).sum::<f64>() / rows.len() as f64
    }

    /// The lengths behind a slip [m].
    pub fn length(&self, half: &Reactions, rows: Range<usize>) -> f64 {
        Extents::sum(half, rows, |j, c| c.abs() * self.sizes[j])
    }

    /// The speeds behind a slip [m/s].
    pub fn speed(&self, half: &Reactions, rows: Range<usize>) -> f64 {
        Extents::sum(half, rows, |j, c| c.abs() * self.speeds[j])
    }

    /// What an impulse makes of a slip, by the diagonal of the mass [1/kg].
    pub fn mobility(&self, half: &Reactions, rows: Range<usize>) -> f64 {
        Extents::sum(half, rows, |j, c| (c / self.roots[j]).powi(2))
    }

    /// Q of coordinate `j` of the step looked at.
    pub fn size(&self, j: usize) -> f64 {
        self.sizes[j]
    }

    /// The lengths behind the gap of law `i` [m].
    pub fn behind(&self, coupling: &Coupling, i: usize) -> f64 {
        let row = coupling.rows.row(coupling.offset[i]);
        let sum = row.iter().fold(coupling.pairs[i].gap.abs(), |sum, &(j, c)| sum + c.abs() * self.sizes[j]);
        sum.max(f64::MIN_POSITIVE)
    }
}
