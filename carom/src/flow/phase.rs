//! Which contacts are closed, and how they move: the discrete state of a smooth phase.
//!
//! | mode | rows held at acceleration level | reaction |
//! |---|---|---|
//! | open | none | λ = 0 |
//! | held | normal | λ_N free, λ_T = 0 |
//! | stick | all | λ free |
//! | slip | normal | λ_T = −μ λ_N d, d the direction of slip |

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

impl Mode {
    pub fn is_closed(self) -> bool {
        self != Mode::Open
    }
}

/// The modes of all laws. Laws that are not listed are open, bilateral ones always held.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    entries: Vec<(Key, Mode)>,
    version: u64,
    changes: u64,
    /// A spatial slip up to this speed has the direction that its mode tells: its velocity is rounding [m/s].
    pub still: f64,
}

impl Phase {
    /// Starts over from the laws of a coupling: bilateral constraints are held, all contacts open.
    pub fn open(&mut self, coupling: &Coupling) {
        self.entries.clear();
        self.entries.extend(coupling.pairs.iter().map(|pair| (pair.key, rest(pair.law))));
        self.renew();
    }

    /// The mode of a law; `near` is its place in the coupling, tried first.
    #[inline]
    pub fn mode(&self, key: Key, near: usize, law: Law) -> Mode {
        match self.entries.get(near) {
            Some(entry) if entry.0 == key => entry.1,
            _ => self.entries.iter().find(|entry| entry.0 == key).map_or(rest(law), |entry| entry.1),
        }
    }

    /// Sets the mode of a law.
    pub fn set(&mut self, key: Key, mode: Mode) {
        match self.entries.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = mode,
            None => self.entries.push((key, mode)),
        }
        self.renew();
    }

    fn renew(&mut self) {
        self.changes += 1;
        self.version = self.changes;
    }

    /// Whether no law acts.
    pub fn is_free(&self) -> bool {
        self.entries.iter().all(|entry| entry.1 == Mode::Open)
    }

    /// Copies without allocating once the sizes agree.
    pub fn copy_from(&mut self, other: &Phase) {
        self.entries.clone_from(&other.entries);
        self.version = other.version;
        self.still = other.still;
    }

    /// Takes back the version of an earlier phase if the modes are the same.
    pub fn recognise(&mut self, earlier: &Phase) {
        if self.entries == earlier.entries {
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
