//! Which contacts are closed, and how they move: the discrete state of a smooth phase.
//!
//! | mode | rows held at acceleration level | reaction |
//! |---|---|---|
//! | open | none | λ = 0 |
//! | held | normal | λ_N free, λ_T = 0 |
//! | stick | all | λ free |
//! | slip | normal | λ_T = −μ λ_N d, d the direction of slip |

use crate::coupling::Matching;
use crate::{Coupling, Key};
use carom_solve::Law;

/// What one law does during a smooth phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Open,
    /// The normal row is held: a bilateral constraint, or a closed contact without friction.
    Held,
    /// No slip.
    Stick,
    /// Slip along this unit vector; the second entry belongs to spatial friction.
    Slip([f64; 2]),
}

carom_solve::persist_enum!(Mode { 0 = Open, 1 = Held, 2 = Stick, 3 = Slip(direction) });

impl Mode {
    pub fn is_closed(self) -> bool {
        self != Mode::Open
    }
}

/// The contacts of a step, by key, and the mode of each. Inside a step an index is the contact; the keys tell who is
/// who in the next one.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    keys: Vec<Key>,
    modes: Vec<Mode>,
    version: u64,
    changes: u64,
    /// A spatial slip up to this speed has the direction that its mode tells: its velocity is rounding [m/s].
    pub still: f64,
}

carom_solve::persist!(Phase { keys, modes, version, changes, still });

impl Phase {
    /// Starts over from the laws of a coupling: bilateral constraints are held, all contacts open.
    pub fn open(&mut self, coupling: &Coupling) {
        self.modes.clear();
        self.modes.extend(coupling.pairs.iter().map(|pair| rest(pair.law)));
        self.list(coupling);
        self.renew();
    }

    /// Keeps the modes where another step lists other contacts, or the same in other places: each law has that of its
    /// key, or of the key from which it inherits, and is at rest where neither was listed.
    pub fn relist(&mut self, coupling: &Coupling, matching: &mut Matching) {
        if coupling.has_keys(&self.keys) {
            return;
        }
        matching.begin();
        let known = self.modes.len();
        for pair in &coupling.pairs {
            let last = matching.find(pair.key, &self.keys);
            let mode = last.map_or(rest(pair.law), |i| self.modes[i]);
            self.modes.push(mode);
        }
        for &(i, key) in &coupling.heirs {
            if let Some(last) = matching.find(key, &self.keys) {
                self.modes[known + i] = self.modes[last];
            }
        }
        self.modes.drain(..known);
        self.list(coupling);
        self.renew();
    }

    fn list(&mut self, coupling: &Coupling) {
        self.keys.clear();
        self.keys.extend(coupling.pairs.iter().map(|pair| pair.key));
    }

    /// The keys of the laws, which every coupling of the step has in this order.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The mode of law `i`.
    #[inline]
    pub fn mode(&self, i: usize) -> Mode {
        self.modes[i]
    }

    /// Sets the mode of law `i`.
    pub fn set(&mut self, i: usize, mode: Mode) {
        self.modes[i] = mode;
        self.renew();
    }

    fn renew(&mut self) {
        self.changes += 1;
        self.version = self.changes;
    }

    /// Whether no law acts.
    pub fn is_free(&self) -> bool {
        self.modes.iter().all(|mode| *mode == Mode::Open)
    }

    /// Copies without allocating once the sizes agree.
    pub fn copy_from(&mut self, other: &Phase) {
        self.keys.clone_from(&other.keys);
        self.modes.clone_from(&other.modes);
        self.version = other.version;
        self.still = other.still;
    }

    /// Takes back the version of an earlier phase of the step if the modes are the same.
    pub fn recognise(&mut self, earlier: &Phase) {
        if self.modes == earlier.modes {
            self.version = earlier.version;
        }
    }

    /// A number that changes whenever a mode does.
    pub fn version(&self) -> u64 {
        self.version
    }
}

fn rest(law: Law) -> Mode {
    if law.is_equality() { Mode::Held } else { Mode::Open }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pair;

    fn coupling(laws: &[(u128, Law)]) -> Coupling {
        let mut coupling = Coupling::default();
        coupling.clear(0);
        for &(key, law) in laws {
            coupling.push(Pair { key: Key(key), law, gap: 0.0, restitution: 0.0 });
        }
        coupling
    }

    #[test]
    fn modes_follow_their_keys_and_heirs() {
        let (contact, joint) = (Law::UNILATERAL, Law::EQUALITY);
        let mut phase = Phase::default();
        phase.open(&coupling(&[(7, contact), (3, joint), (5, contact)]));
        phase.set(0, Mode::Stick);
        let version = phase.version();
        let mut matching = Matching::default();
        phase.relist(&coupling(&[(7, contact), (3, joint), (5, contact)]), &mut matching);
        assert_eq!(phase.version(), version);
        let mut other = coupling(&[(5, contact), (9, contact), (4, contact), (8, joint), (7, contact)]);
        other.heirs.push((2, Key(7)));
        phase.relist(&other, &mut matching);
        let modes: Vec<Mode> = (0..5).map(|i| phase.mode(i)).collect();
        assert_eq!(modes, [Mode::Open, Mode::Open, Mode::Stick, Mode::Held, Mode::Stick]);
        assert!(phase.version() != version && other.has_keys(phase.keys()));
    }
}
