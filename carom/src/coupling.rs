//! The waist between models and schemes: at a configuration, which laws there are, how far they are from acting, and along
//! which rows they act.
//!
//! ```text
//!     y = gap(t, q),   u = C v + ∂y/∂t,   reactions enter as B λ        (B = Cᵀ in mechanics)          (1)
//! ```

use carom_solve::{Law, Rows};

/// Identity of a contact that survives from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

/// What a law needs besides its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    pub key: Key,
    pub law: Law,
    /// Gap [m], or the value of a bilateral constraint.
    pub gap: f64,
    /// Newton's coefficient of restitution [-].
    pub restitution: f64,
}

/// Laws and rows at one configuration; refilled by the model, buffers keep their capacity.
#[derive(Clone, Debug, Default)]
pub struct Coupling {
    /// One entry per law.
    pub pairs: Vec<Pair>,
    /// First row of each law, and the number of rows at the end.
    pub offset: Vec<usize>,
    /// (laws) function that is ≥ 0 where the gap counts; infinite for contacts that are everywhere.
    pub region: Vec<f64>,
    /// `C`: the rows of each law, normal first.
    pub rows: Rows,
    /// (rows) explicit time derivative of the outputs [m/s].
    pub drift: Vec<f64>,
    /// `Bᵀ` where it is not `C` (first-order systems); no rows otherwise.
    pub input: Rows,
    /// `D`, in first-order systems; no rows otherwise.
    pub feedthrough: Rows,
}

impl Coupling {
    /// Starts over, for rows of length `columns`.
    pub fn clear(&mut self, columns: usize) {
        self.pairs.clear();
        self.offset.clear();
        self.offset.push(0);
        self.region.clear();
        self.rows.clear(columns);
        self.drift.clear();
        self.input.clear(columns);
        self.feedthrough.clear(0);
    }

    /// Announces a law; its rows must follow in `rows` and `drift`.
    pub fn push(&mut self, pair: Pair) {
        let end = self.offset.last().copied().unwrap_or(0);
        self.pairs.push(pair);
        self.region.push(f64::INFINITY);
        self.offset.push(end + pair.law.size());
    }

    /// Announces a law whose gap counts where `region` ≥ 0.
    pub fn push_within(&mut self, pair: Pair, region: f64) {
        self.push(pair);
        if let Some(last) = self.region.last_mut() {
            *last = region;
        }
    }

    /// Whether law `i` counts here: outside its region a contact is absent.
    #[inline]
    pub fn is_present(&self, i: usize) -> bool {
        self.region[i] >= 0.0
    }

    /// Gap of law `i`, infinite where the law is absent. Schemes choose the laws that act by this one.
    #[inline]
    pub fn gap(&self, i: usize) -> f64 {
        if self.is_present(i) { self.pairs[i].gap } else { f64::INFINITY }
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether a model has filled it since it was made, be it with no law at all.
    pub fn is_filled(&self) -> bool {
        !self.offset.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Rows of law `i`.
    #[inline]
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.offset[i]..self.offset[i + 1]
    }

    /// The law with this key; `near` is tried first, because contacts seldom change places.
    pub fn find(&self, key: Key, near: usize) -> Option<usize> {
        let pairs = &self.pairs;
        if pairs.get(near).is_some_and(|p| p.key == key) { Some(near) } else { pairs.iter().position(|p| p.key == key) }
    }

    /// Copies without allocating once the sizes agree.
    pub fn copy_from(&mut self, other: &Coupling) {
        self.pairs.clone_from(&other.pairs);
        self.offset.clone_from(&other.offset);
        self.region.clone_from(&other.region);
        self.drift.clone_from(&other.drift);
        for (rows, other) in [
            (&mut self.rows, &other.rows),
            (&mut self.input, &other.input),
            (&mut self.feedthrough, &other.feedthrough),
        ] {
            rows.clear(other.columns());
            (0..other.len()).for_each(|i| rows.push_row_of(other, i));
        }
    }

    /// `out ← C v + drift`.
    #[inline]
    pub fn velocity(&self, v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.drift.iter().enumerate().map(|(i, d)| self.rows.dot(i, v) + d));
    }
}
