//! Warnings of a run: raised by model, scheme, solver and observers, counted where they are equal, told once at the
//! end.
//!
//! Whoever warns keeps a [`Warnings`] and calls [`Warnings::raise`]; a model or a scheme hands it out by
//! [`Space::warnings`](crate::Space::warnings) or [`Scheme::warnings`](crate::Scheme::warnings), a solver tells each by
//! [`Solver::warning`](carom_solve::Solver::warning), an observer calls
//! [`StepView::warn`](crate::simulation::StepView::warn).

use crate::Key;
pub use carom_solve::WarningKind;

/// Kinds and contacts that are told apart in one list.
const MOST: usize = 256;

/// What happened once or more often at one contact, or without one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warning {
    /// What happened.
    pub kind: &'static WarningKind,
    /// When it happened first [s].
    pub t: f64,
    /// The contact that it belongs to.
    pub contact: Option<Key>,
    /// The largest figure, in the unit of the kind.
    pub worst: f64,
    /// How often it happened.
    pub count: u64,
}

carom_solve::persist!(Warning { kind, t, contact, worst, count });

/// A list of bounded length: equal kinds at equal contacts are counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Warnings {
    list: Vec<Warning>,
    /// Warnings that found no place.
    pub left_out: u64,
}

carom_solve::persist!(Warnings { list, left_out });

impl Warnings {
    /// Warns of something at the time `t`. The larger the value, the worse.
    pub fn raise(&mut self, kind: &'static WarningKind, t: f64, contact: Option<Key>, value: f64) {
        self.add(Warning { kind, t, contact, worst: value, count: 1 });
    }

    /// Warns of something that may happen at any contact: it is counted as one, at the contact where it was worst.
    pub fn raise_worst(&mut self, kind: &'static WarningKind, t: f64, contact: Option<Key>, value: f64) {
        match self.list.iter_mut().find(|known| known.kind == kind) {
            Some(known) => {
                known.contact = if value <= known.worst { known.contact } else { contact };
                known.worst = if value <= known.worst { known.worst } else { value };
                known.count += 1;
            }
            None => self.raise(kind, t, contact, value),
        }
    }

    fn add(&mut self, new: Warning) {
        let is_equal = |known: &&mut Warning| known.kind == new.kind && known.contact == new.contact;
        if let Some(known) = self.list.iter_mut().find(is_equal) {
            known.t = known.t.min(new.t);
            // a figure that is no number is the worst
            known.worst = if new.worst <= known.worst { known.worst } else { new.worst };
            known.count += new.count;
        } else if self.list.len() < MOST {
            self.list.push(new);
        } else {
            self.left_out += new.count;
        }
    }

    /// Adds all of another list.
    pub fn extend(&mut self, other: &Warnings) {
        other.list.iter().for_each(|warning| self.add(*warning));
        self.left_out += other.left_out;
    }

    /// All of them, by the time at which they began.
    pub fn sorted(mut self) -> Vec<Warning> {
        self.list.sort_by(|a, b| a.t.total_cmp(&b.t));
        self.list
    }

    /// Whether there is one of a kind.
    pub fn has(&self, kind: &WarningKind) -> bool {
        self.list.iter().any(|warning| warning.kind == kind)
    }

    /// Whether nothing was raised.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEEP: WarningKind = WarningKind { name: "deep", message: "a gap is negative", unit: "m", hint: "" };
    const GAIN: WarningKind = WarningKind { name: "gain", message: "energy is gained", unit: "J", hint: "" };

    #[test]
    fn equal_warnings_are_counted_with_first_time_and_worst_figure() {
        let mut all = Warnings::default();
        for (t, contact, value) in [(2.0, 1, 1e-3), (3.0, 1, 5e-3), (4.0, 2, 1e-6), (5.0, 1, 2e-3)] {
            all.raise(&DEEP, t, Some(Key(contact)), value);
        }
        let mut other = Warnings::default();
        other.raise(&GAIN, 1.0, None, 0.5);
        other.raise(&DEEP, 0.5, Some(Key(2)), f64::NAN);
        all.extend(&other);
        let told: Vec<_> = all.sorted().iter().map(|w| (w.kind.name, w.t, w.contact, w.count)).collect();
        let expected = [("deep", 0.5, Some(Key(2)), 2), ("gain", 1.0, None, 1), ("deep", 2.0, Some(Key(1)), 3)];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_happens_anywhere_is_told_where_it_is_worst() {
        let mut all = Warnings::default();
        for (t, contact, value) in [(2.0, 1, 1e-3), (3.0, 2, 5e-3), (4.0, 3, 2e-3)] {
            all.raise_worst(&DEEP, t, Some(Key(contact)), value);
        }
        let expected = Warning { kind: &DEEP, t: 2.0, contact: Some(Key(2)), worst: 5e-3, count: 3 };
        assert_eq!(all.sorted(), [expected]);
    }

    #[test]
    fn memory_is_bounded() {
        let mut all = Warnings::default();
        (0..10_000).for_each(|k| all.raise(&DEEP, 0.0, Some(Key(k)), 1.0));
        assert_eq!((all.list.len() as u64, all.left_out), (256, 10_000 - 256));
    }
}
