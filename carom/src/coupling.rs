//! The waist between models and schemes: at a configuration, which laws there are, how far they are from acting, and
//! along which rows they act.
//!
//! ```text
//!     y = gap(t, q),   u = C v + ∂y/∂t,   reactions enter as B λ        (B = Cᵀ in mechanics)          (1)
//! ```

use crate::{ModelError, Space};
use carom_solve::{Archive, ArchiveError, Blank, Law, Persist, Rows};

/// Identity of a contact that survives from step to step; never an index.
///
/// Wide enough for two bodies, a feature of each and an ordinal, so that a model needs no table of the pairs it has
/// met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Key(pub u128);

impl Persist for Key {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        self.0.persist(archive)
    }
}

impl Blank for Key {
    fn blank() -> Self {
        Key(0)
    }
}

impl Key {
    /// The key of contact `ordinal` between `features` (below 2^16) of two `bodies`. Keys ascend by bodies first.
    pub const fn between(bodies: [u32; 2], features: [u32; 2], ordinal: u32) -> Key {
        let features = (features[0] as u128 & 0xffff) << 48 | (features[1] as u128 & 0xffff) << 32;
        Key((bodies[0] as u128) << 96 | (bodies[1] as u128) << 64 | features | ordinal as u128)
    }

    /// The numbers of the bodies and the ordinal that [`between`](Key::between) was given.
    pub const fn parts(self) -> ([u32; 2], u32) {
        ([(self.0 >> 96) as u32, (self.0 >> 64) as u32], self.0 as u32)
    }
}

impl From<usize> for Key {
    /// The key of a contact that the model numbers itself.
    fn from(number: usize) -> Key {
        Key(number as u128)
    }
}

/// What has an identity that survives from step to step.
pub trait Keyed {
    /// The identity.
    fn key(&self) -> Key;
}

impl Keyed for Key {
    fn key(&self) -> Key {
        *self
    }
}

impl Keyed for Pair {
    fn key(&self) -> Key {
        self.key
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
    /// Identity of the contact or constraint.
    pub key: Key,
    /// What relates the reaction to the gap or its rate, with its parameters.
    pub law: Law,
    /// Gap [m], or the value of a bilateral constraint.
    pub gap: f64,
    /// Newton's coefficient of restitution [-].
    pub restitution: f64,
}

carom_solve::persist!(Pair { key, law, gap, restitution });

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
    /// Laws, by position, that take over what is remembered of another key: contacts that changed their features. With
    /// their own key they were closed while nobody listed them: contacts of bodies that slept.
    pub heirs: Vec<(usize, Key)>,
    /// Laws, by position in rising order, that have a coefficient of restitution along their tangents [-].
    pub rebounds: Vec<(usize, f64)>,
    /// The model that filled it last, where laws and columns of that model are the same everywhere; zero elsewhere.
    pub(crate) of: u64,
}

/// Numbers of models differ from process to process: one that is read belongs to none.
impl Persist for Coupling {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Coupling { pairs, offset, region, rows, drift, input, feedthrough, heirs, rebounds, of } = self;
        (pairs, offset, region, rows).persist(archive)?;
        (drift, input, feedthrough).persist(archive)?;
        (heirs, rebounds).persist(archive)?;
        if archive.is_reading() {
            *of = 0;
        }
        Ok(())
    }
}

impl Blank for Coupling {
    fn blank() -> Self {
        Coupling::default()
    }
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
        self.rebounds.clear();
        self.of = 0;
    }

    /// The law that is pushed next has this restitution along its tangents.
    #[inline]
    pub fn rebound(&mut self, e: f64) {
        if e > 0.0 {
            self.rebounds.push((self.len(), e));
        }
    }

    /// Lists the laws with gaps and rows at `(t, q)`, as the first coupling of a step. `rows_are_constant` is what the
    /// model says of them. Returns whether the list is that of the step before: the same keys in the same places.
    #[inline]
    pub fn list<M: ?Sized + Space>(
        &mut self,
        model: &mut M,
        (t, q): (f64, &[f64]),
        rows_are_constant: bool,
        list: &mut ContactList,
    ) -> Result<bool, ModelError> {
        self.ask(model, (t, q), rows_are_constant)?;
        Ok(list.take(self))
    }

    /// Gaps and rows at another `(t, q)` of the same step: the laws must be those of `list`, in the same places.
    /// Inside a step an index is the contact.
    #[inline]
    pub fn fill<M: ?Sized + Space>(
        &mut self,
        model: &mut M,
        (t, q): (f64, &[f64]),
        rows_are_constant: bool,
        list: &[impl Keyed],
    ) -> Result<(), ModelError> {
        self.ask(model, (t, q), rows_are_constant)?;
        self.check(t, list)
    }

    /// An error unless the laws are those of `list`, in the same places.
    #[inline]
    pub fn check(&self, t: f64, list: &[impl Keyed]) -> Result<(), ModelError> {
        if self.has_keys(list) { Ok(()) } else { Err(self.changed(t, list)) }
    }

    /// Laws, gaps and rows at `(t, q)`, whatever they are.
    #[inline]
    pub(crate) fn ask<M: ?Sized + Space>(
        &mut self,
        model: &mut M,
        (t, q): (f64, &[f64]),
        rows_are_constant: bool,
    ) -> Result<(), ModelError> {
        if rows_are_constant && self.is_filled() { model.refresh(t, q, self) } else { model.couple(t, q, self) }
    }

    /// Whether these are the keys of the laws, in this order.
    #[inline]
    pub fn has_keys(&self, keys: &[impl Keyed]) -> bool {
        self.pairs.len() == keys.len() && self.pairs.iter().zip(keys).all(|(pair, key)| pair.key == key.key())
    }

    #[cold]
    fn changed(&self, t: f64, list: &[impl Keyed]) -> ModelError {
        let (mut here, mut listed): (Vec<Key>, Vec<Key>) =
            (self.pairs.iter().map(Keyed::key).collect(), list.iter().map(Keyed::key).collect());
        let moved = here.iter().zip(&listed).find(|(a, b)| a != b).map(|(key, _)| *key);
        here.sort_unstable();
        listed.sort_unstable();
        let missing = |keys: &[Key], among: &[Key]| keys.iter().find(|key| among.binary_search(key).is_err()).copied();
        let (key, change) = match (missing(&listed, &here), missing(&here, &listed)) {
            (Some(key), _) => (key, "is gone"),
            (None, Some(key)) => (key, "is new"),
            (None, None) => (moved.unwrap_or_default(), "is listed in another place"),
        };
        ModelError::Contacts { t, key, change }
    }

    /// Announces a law; its rows must follow in `rows` and `drift`.
    #[inline]
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

    /// Number of laws, those outside their regions included.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether a model has filled it since it was made, be it with no law at all.
    pub fn is_filled(&self) -> bool {
        !self.offset.is_empty()
    }

    /// Whether there are no laws.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Coefficient of restitution of law `i` along its tangents.
    pub fn rebound_of(&self, i: usize) -> f64 {
        self.rebounds.binary_search_by_key(&i, |rebound| rebound.0).map_or(0.0, |place| self.rebounds[place].1)
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
        self.of = 0;
        self.pairs.clone_from(&other.pairs);
        self.offset.clone_from(&other.offset);
        self.region.clone_from(&other.region);
        self.drift.clone_from(&other.drift);
        self.heirs.clone_from(&other.heirs);
        self.rebounds.clone_from(&other.rebounds);
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

/// The laws of a step by their keys, and where they were in the step before.
///
/// A scheme that keeps something from step to step keeps it by place, and asks here where the place is now.
#[derive(Clone, Debug, Default)]
pub struct ContactList {
    keys: Vec<Key>,
    is_same: bool,      // whether the list of the step before is the same
    before: Vec<usize>, // place of each law in the list of the step before; `NONE` of new laws
    after: Vec<usize>,  // place of each law of the step before in this list; `NONE` of laws that are gone
    matching: Matching,
}

carom_solve::persist!(ContactList { keys, is_same, before, after, matching });

/// No place.
const NONE: usize = usize::MAX;

impl std::ops::Deref for ContactList {
    type Target = [Key];

    fn deref(&self) -> &[Key] {
        &self.keys
    }
}

impl ContactList {
    /// The place that law `i` had in the step before, be it under the key that it inherits from.
    #[inline]
    pub fn before(&self, i: usize) -> Option<usize> {
        if self.is_same { Some(i) } else { self.before.get(i).copied().filter(|&place| place != NONE) }
    }

    /// The place here of law `j` of the step before.
    #[inline]
    pub fn after(&self, j: usize) -> Option<usize> {
        if self.is_same { Some(j) } else { self.after.get(j).copied().filter(|&place| place != NONE) }
    }

    /// A new step has the same list.
    pub fn stay(&mut self) {
        self.is_same = true;
    }

    /// Takes the list of a coupling; whether it is the one that was here.
    #[inline]
    fn take(&mut self, coupling: &Coupling) -> bool {
        self.is_same = coupling.has_keys(&self.keys);
        if !self.is_same {
            self.follow(coupling);
        }
        self.is_same
    }

    #[cold]
    fn follow(&mut self, new: &Coupling) {
        let ContactList { keys, before, after, matching, .. } = self;
        matching.begin();
        before.clear();
        before.extend(new.pairs.iter().map(|pair| matching.find(pair.key, keys).unwrap_or(NONE)));
        for &(i, key) in &new.heirs {
            if before.get(i) == Some(&NONE) {
                before[i] = matching.find(key, keys).unwrap_or(NONE);
            }
        }
        after.clear();
        after.resize(keys.len(), NONE);
        for (i, pair) in new.pairs.iter().enumerate() {
            // of two laws that come from one, that with its key goes on
            let heir = |j: &&mut usize| **j == NONE || keys[before[i]] == pair.key;
            if let Some(place) = after.get_mut(before[i]).filter(heir) {
                *place = i;
            }
        }
        keys.clear();
        keys.extend(new.pairs.iter().map(|pair| pair.key));
    }
}

/// Finds the laws of an older list by their keys. Lists change little from step to step: each search begins behind the
/// last hit, and only what is not there is looked up in an index, which is made once per list.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    index: Vec<(Key, usize)>, // of the older list by rising keys; empty until it is needed
    next: usize,
}

carom_solve::persist!(Matching { index, next });

impl Matching {
    /// Begins with a list.
    pub fn begin(&mut self) {
        self.index.clear();
        self.next = 0;
    }

    /// Position of `key` in the older list `keys`, which is the same in all calls since `begin`.
    #[inline]
    pub fn find(&mut self, key: Key, keys: &[impl Keyed]) -> Option<usize> {
        let hit = keys.get(self.next).is_some_and(|next| next.key() == key);
        let found = if hit { Some(self.next) } else { self.search(key, keys) };
        self.next = found.map_or(self.next, |at| at + 1);
        found
    }

    fn search(&mut self, key: Key, keys: &[impl Keyed]) -> Option<usize> {
        if self.index.len() != keys.len() {
            self.index.clear();
            self.index.extend(keys.iter().enumerate().map(|(i, key)| (key.key(), i)));
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
        let most = (1 << 16) - 1;
        let keys = [
            Key::between([0, 1], [0, 0], 0),
            Key::between([0, 1], [0, 0], 1),
            Key::between([0, 1], [0, most], u32::MAX),
            Key::between([0, 1], [1, 0], 0),
            Key::between([0, 1], [most, most], u32::MAX),
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

    fn coupling(keys: &[u128], heirs: &[(usize, u128)]) -> Coupling {
        let mut coupling = Coupling::default();
        coupling.clear(0);
        let law = |key| Pair { key: Key(key), law: Law::UNILATERAL, gap: 0.0, restitution: 0.0 };
        keys.iter().for_each(|&key| coupling.push(law(key)));
        coupling.heirs.extend(heirs.iter().map(|&(i, key)| (i, Key(key))));
        coupling
    }

    #[test]
    fn a_list_knows_where_its_laws_were_and_are() {
        let mut list = ContactList::default();
        assert!(!list.take(&coupling(&[4, 2, 8, 6], &[])));
        assert_eq!((0..4).map(|i| list.before(i)).collect::<Vec<_>>(), [None; 4]);
        assert!(list.take(&coupling(&[4, 2, 8, 6], &[])));
        assert_eq!((0..4).map(|i| list.before(i)).collect::<Vec<_>>(), [0, 1, 2, 3].map(Some));
        // 8 is gone, 7 goes on for it, 9 came out of 4 that is there, 3 is new
        assert!(!list.take(&coupling(&[9, 6, 7, 4, 3, 2], &[(2, 8), (0, 4)])));
        let before: Vec<_> = (0..6).map(|i| list.before(i)).collect();
        assert_eq!(before, [Some(0), Some(3), Some(2), Some(0), None, Some(1)]);
        assert_eq!((0..4).map(|j| list.after(j)).collect::<Vec<_>>(), [3, 5, 2, 1].map(Some));
        assert!(!list.take(&coupling(&[7], &[])));
        assert_eq!((0..6).map(|j| list.after(j)).collect::<Vec<_>>(), [None, None, Some(0), None, None, None]);
    }

    #[test]
    fn a_change_inside_a_step_is_named() {
        let error = |now: &[u128]| coupling(now, &[]).check(0.5, &[Key(1), Key(2), Key(3)]).unwrap_err();
        let expected = |key, change| ModelError::Contacts { t: 0.5, key: Key(key), change };
        assert_eq!(error(&[1, 3]), expected(2, "is gone"));
        assert_eq!(error(&[1, 2, 4, 3]), expected(4, "is new"));
        assert_eq!(error(&[1, 3, 2]), expected(3, "is listed in another place"));
        assert!(coupling(&[1, 2, 3], &[]).check(0.5, &[Key(1), Key(2), Key(3)]).is_ok());
    }

    /// 1e5 contacts of which a hundredth changes, and the whole list turned round: 2 ms optimised. The bound is that of
    /// a test build on a busy machine; a search through the list for each contact takes seconds.
    #[test]
    fn a_hundred_thousand_contacts_are_matched_quickly() {
        let all: Vec<u128> = (0..100_000).map(|i| Key::between([i / 3, i + 7], [i % 5, 1], 0).0).collect();
        let shifted: Vec<u128> = all.iter().copied().filter(|key| key % 101 != 0).chain([1 << 100]).collect();
        let turned: Vec<u128> = all.iter().copied().rev().collect();
        let lists = [all, shifted, turned].map(|keys| coupling(&keys, &[]));
        let (mut list, mut best) = (ContactList::default(), [f64::INFINITY; 3]);
        for _ in 0..20 {
            for (new, best) in lists.iter().zip(&mut best) {
                let start = std::time::Instant::now();
                assert!(!list.take(new));
                *best = best.min(start.elapsed().as_secs_f64());
            }
        }
        assert!(best.iter().all(|seconds| *seconds < 60e-3), "{best:?} s");
    }
}
