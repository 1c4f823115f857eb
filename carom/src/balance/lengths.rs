//! How long things are in a run: what tolerances of gaps are measured by.
//!
//! A gap is computed from lengths, and a tolerance of gaps has to stand above their rounding. With the sizes Q_j of the
//! coordinates that were met so far, the lengths behind the gap g_i are
//!
//! ```text
//!     L_i = |g_i| + Σ_j |C_ij| Q_j,     Q_j = max |q_j| + h |v_j|                                     (1)
//! ```
//!
//! in the unit of the gap, whatever the units of the coordinates are: in other units the same tolerances come out.
//! Other contacts have no part in it. A model that knows its length says it
//! ([`Space::length`](crate::Space::length)); the rounding of (1) counts besides. A model may know that coordinates are
//! large beside what they have moved so far ([`Space::least_sizes`](crate::Space::least_sizes)): Q begins there.

use crate::{Coupling, Space, WarningKind, Warnings};

/// A gap at or below this part of the length is closed.
const ACTIVATION: f64 = 1e-11;

/// A gap that a scheme closes vanishes up to this part of the length.
const GAP: f64 = 1e-12;

/// Rounding of a gap, as a part of the lengths that it is computed from.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A gap that is closed by a tolerance alone is no rounding beyond this part of the lengths behind it.
const DOUBT: f64 = 1e-6;

/// A tolerance that is large beside the model.
pub const COARSE: WarningKind = WarningKind {
    name: "coarse-activation",
    message: "a contact acts although its gap is open: the activation tolerance is large beside the lengths of the model",
    unit: "of the lengths behind the gap",
    hint: "leave out `activation`, or set it and `[model] length` to the lengths of the model",
};

/// The length of a model, as it says or as it was met so far.
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    given: Option<f64>, // [m]
    sizes: Vec<f64>,    // (n) Q
    least: Vec<f64>,    // (n) where it begins
    origin: Vec<f64>,   // q that sizes are counted from, where there are more coordinates than velocities
    way: Vec<f64>,      // (n) from there
    behind: Vec<f64>,   // (laws) the sum of (1) for rows that are constant; empty where it is to be found anew
}

carom_solve::persist!(Lengths { given, sizes, least, origin, way, behind });

impl Lengths {
    pub(crate) fn of<M: ?Sized + Space>(model: &M) -> Lengths {
        let (n, initial) = (model.dim(), model.initial());
        let (origin, way) = if initial.q.len() == n { Default::default() } else { (initial.q, vec![0.0; n]) };
        let mut least = vec![0.0; n];
        model.least_sizes(&mut least);
        Lengths { given: model.length(), sizes: least.clone(), least, origin, way, behind: Vec::new() }
    }

    /// Forgets what was met.
    pub(crate) fn forget(&mut self) {
        self.sizes.clone_from(&self.least);
        self.renumber();
    }

    /// The laws have other numbers.
    pub(crate) fn renumber(&mut self) {
        self.behind.clear();
    }

    /// Takes what another one has met.
    pub(crate) fn follow(&mut self, other: &Lengths) {
        self.sizes.clone_from(&other.sizes);
        self.renumber();
    }

    /// Meets `q`, from where the motion goes on with `v` for `h`.
    #[inline]
    pub(crate) fn meet<M: ?Sized + Space>(&mut self, model: &M, q: &[f64], v: &[f64], h: f64) {
        let q = if self.origin.is_empty() {
            q
        } else {
            model.difference(&self.origin, q, &mut self.way);
            &self.way
        };
        // most steps meet nothing new
        let met = |(q, v): (&f64, &f64)| q.abs() + h * v.abs();
        let grows = |any: bool, (size, at): (&f64, _)| any | (met(at) > *size);
        if self.sizes.iter().zip(q.iter().zip(v)).fold(false, grows) {
            for (size, at) in self.sizes.iter_mut().zip(q.iter().zip(v)) {
                let met = if met(at) < f64::INFINITY { met(at) } else { 0.0 };
                *size = if met > *size { met } else { *size };
            }
            self.behind.clear();
        }
    }

    /// Finds the lengths behind all gaps whose rows are constant, unless they are there: most steps meet nothing new.
    #[inline]
    pub(crate) fn settle(&mut self, coupling: &Coupling) {
        if self.given.is_none() && self.behind.len() != coupling.len() {
            self.find_behind(coupling);
        }
    }

    fn find_behind(&mut self, coupling: &Coupling) {
        let mut behind = std::mem::take(&mut self.behind);
        behind.clear();
        behind.extend((0..coupling.len()).map(|i| self.sum(coupling, i)));
        self.behind = behind;
    }

    /// The sum of (1).
    #[inline]
    fn sum(&self, coupling: &Coupling, i: usize) -> f64 {
        let row = coupling.rows.row(coupling.offset[i]);
        row.iter().fold(0.0, |sum, &(j, c)| sum + c.abs() * self.sizes[j])
    }

    /// The lengths (1) behind the gap of law `i` [m].
    #[inline]
    pub fn met(&self, coupling: &Coupling, i: usize) -> f64 {
        coupling.pairs[i].gap.abs() + self.behind.get(i).copied().unwrap_or_else(|| self.sum(coupling, i))
    }

    /// Up to where the gap of law `i` is closed [m]: as an option says, or a part of the length.
    #[inline]
    pub(crate) fn activation(&self, option: Option<f64>, coupling: &Coupling, i: usize) -> f64 {
        option.unwrap_or_else(|| ACTIVATION * self.given.unwrap_or_else(|| self.met(coupling, i)))
    }

    /// Up to where the gap of law `i` vanishes [m]: as an option says, or a part of the length.
    #[inline]
    pub(crate) fn gap_tolerance(&self, option: Option<f64>, coupling: &Coupling, i: usize) -> f64 {
        option.unwrap_or_else(|| GAP * self.given.unwrap_or_else(|| self.met(coupling, i)))
    }

    /// Warns where a gap that is closed is more than rounding: it is the tolerance that has closed it.
    #[inline]
    pub(crate) fn doubt(&self, gap: f64, t: f64, (coupling, i): (&Coupling, usize), out: &mut Warnings) {
        if gap > 0.0 {
            let part = gap / self.met(coupling, i);
            if part > DOUBT {
                out.raise(&COARSE, t, Some(coupling.pairs[i].key), part);
            }
        }
    }

    /// The rounding of the gap of law `i` [m].
    pub(crate) fn rounding(&self, coupling: &Coupling, i: usize) -> f64 {
        ROUNDING * self.met(coupling, i)
    }
}
