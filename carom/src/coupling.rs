//! The waist between models and schemes: at a configuration, which laws there are, how far they are from acting, and along
//! which rows they act.
//!
//! ```text
//!     y = gap(t, q),   u = C v + ∂y/∂t,   reactions enter as B λ        (B = Cᵀ in mechanics)          (1)
//! ```

use crate::{ModelError, Space};
use carom_solve::{Law, Rows};

/// Identity of a contact that survives from step to step; never an index.
///
/// Wide enough for two bodies, a feature of each and an ordinal, so that a model needs no table of the pairs it has met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Key(pub u128);

impl Key {
    /// The key of contact `ordinal` between `features` (below 2^24) of two `bodies`. Keys ascend by bodies first.
    pub const fn between(bodies: [u32; 2], features: [u32; 2], ordinal: u16) -> Key {
        let features = (features[0] as u128 & 0xff_ffff) << 40 | (features[1] as u128 & 0xff_ffff) << 16;
        Key((bodies[0] as u128) << 96 | (bodies[1] as u128) << 64 | features | ordinal as u128)
    }
}

impl From<usize> for Key {
    /// The key of a contact that the model numbers itself.
    fn from(number: usize) -> Key {
        Key(number as u128)
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

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
    /// Laws, by position, that take over what is remembered of another key: contacts that changed their features.
    pub heirs: Vec<(usize, Key)>,
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
        self.heirs.clear();
    }

    /// Lists the laws with gaps and rows at `(t, q)`, as the first coupling of a step. `rows_are_constant` is what the model says of them.
    /// Returns whether the list is the one that stood here before: the same keys in the same places.
    #[inline]
    pub fn list<M: ?Sized + Space>(
        &mut self,
        model: &mut M,
        (t, q): (f64, &[f64]),
        rows_are_constant: bool,
        last: &mut Vec<Key>,
    ) -> Result<bool, ModelError> {
        self.ask(model, (t, q), rows_are_constant)?;
        let same = self.has_keys(last);
        if !same {
            last.clear();
            last.extend(self.pairs.iter().map(|pair| pair.key));
        }
        Ok(same)
    }

    /// Gaps and rows at another `(t, q)` of the same step: the laws must be those of `list`, in the same places. Inside a step an index is
    /// the contact.
    #[inline]
    pub fn fill<M: ?Sized + Space>(
        &mut self,
        model: &mut M,
        (t, q): (f64, &[f64]),
        rows_are_constant: bool,
        list: &[Key],
    ) -> Result<(), ModelError> {
        self.ask(model, (t, q), rows_are_constant)?;
        if self.has_keys(list) { Ok(()) } else { Err(self.changed(t, list)) }
    }

    #[inline]
    fn ask<M: ?Sized + Space>(
        &mut self,
        model: &mut M,
        (t, q): (f64, &[f64]),
        rows_are_constant: bool,
    ) -> Result<(), ModelError> {
        if rows_are_constant && self.is_filled() { model.refresh(t, q, self) } else { model.couple(t, q, self) }
    }

    /// Whether these are the keys of the laws, in this order.
    #[inline]
    pub fn has_keys(&self, keys: &[Key]) -> bool {
        self.pairs.len() == keys.len() && self.pairs.iter().zip(keys).all(|(pair, key)| pair.key == *key)
    }

    #[cold]
    fn changed(&self, t: f64, list: &[Key]) -> ModelError {
        let here = |key: &Key| self.pairs.iter().any(|pair| pair.key == *key);
        let known = |key: &Key| list.contains(key);
        if let Some(key) = list.iter().find(|key| !here(key)) {
            return ModelError::Contacts { t, key: *key, change: "is gone" };
        }
        let new = self.pairs.iter().map(|pair| pair.key).find(|key| !known(key));
        let moved = || self.pairs.iter().zip(list).find(|(pair, key)| pair.key != **key).map(|(pair, _)| pair.key);
        match new {
            Some(key) => ModelError::Contacts { t, key, change: "is new" },
            None => ModelError::Contacts { t, key: moved().unwrap_or_default(), change: "is listed in another place" },
        }
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
        self.heirs.clone_from(&other.heirs);
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

/// Finds the laws of an older list by their keys. Lists change little from step to step: each search begins behind the last hit, and only
/// what is not there is looked up in an index, which is made once per list.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    index: Vec<(Key, usize)>, // of the older list by rising keys; empty until it is needed
    next: usize,
}

impl Matching {
    /// Begins with a list.
    pub fn begin(&mut self) {
        self.index.clear();
        self.next = 0;
    }

    /// Position of `key` in the older list `keys`, which is the same in all calls since `begin`.
    #[inline]
    pub fn find(&mut self, key: Key, keys: &[Key]) -> Option<usize> {
        let found = if keys.get(self.next) == Some(&key) { Some(self.next) } else { self.search(key, keys) };
        self.next = found.map_or(self.next, |at| at + 1);
        found
    }

    fn search(&mut self, key: Key, keys: &[Key]) -> Option<usize> {
        if self.index.len() != keys.len() {
            self.index.clear();
            self.index.extend(keys.iter().enumerate().map(|(i, key)| (*key, i)));
            // quick where the list ascends already
            self.index.sort_unstable();
        }
        let at = self.index.binary_search_by_key(&key, |entry| entry.0).ok()?;
        Some(self.index[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_two_bodies_differ_and_ascend_by_bodies() {
        let most = (1 << 24) - 1;
        let keys = [
            Key::between([0, 1], [0, 0], 0),
            Key::between([0, 1], [0, 0], 1),
            Key::between([0, 1], [0, most], u16::MAX),
            Key::between([0, 1], [1, 0], 0),
            Key::between([0, 1], [most, most], u16::MAX),
            Key::between([0, 2], [0, 0], 0),
            Key::between([100_000, 100_001], [3, 4], 5),
        ];
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_shuffled_list_is_matched_by_key() {
        let old: Vec<Key> = [5, 3, 9, 1, 7].map(Key).to_vec();
        let mut matching = Matching::default();
        for new in [vec![5, 3, 9, 1, 7], vec![7, 1, 9, 3, 5], vec![2, 3, 1, 8], vec![]] {
            matching.begin();
            for key in new {
                assert_eq!(matching.find(Key(key), &old), old.iter().position(|k| k.0 == key), "{key}");
            }
        }
    }
}
