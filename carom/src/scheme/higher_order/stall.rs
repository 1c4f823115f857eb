//! A guard against changes of mode that pile up: slips that begin and stop again without getting anywhere.
//!
//! Impacts may follow each other ever faster, and an accumulation has as many of them as it has. Other changes come one
//! after the other only where directions of slip are not resolved; then the Moreau-Jean scheme does a part of the step.

/// Changes without an impact after which phases go nowhere: where no time is between them, and in a step, with so many
/// more for each contact.
const AT_ONCE: u32 = 40;
const IN_STEP: u32 = 200;
const OF_CONTACT: u32 = 8;

/// Part of the step within which two changes have no time between them.
const INSTANT: f64 = 1e-10;

/// Changes of mode in a step, without impacts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stall {
    t: f64, // of the last one
    at_once: u32,
    in_step: u32,
}

impl Stall {
    /// Sees a change at `t` in a step of length h, with an impact or without.
    pub fn see(&mut self, t: f64, h: f64, is_impact: bool) {
        if is_impact {
            *self = Stall::default();
            return;
        }
        let goes_on = self.in_step == 0 || t - self.t > INSTANT * h;
        self.at_once = if goes_on { 1 } else { self.at_once + 1 };
        (self.t, self.in_step) = (t, self.in_step + 1);
    }

    /// Whether another scheme has to do a part, where there are so many contacts.
    pub fn is_stuck(&self, contacts: usize) -> bool {
        let most = IN_STEP + OF_CONTACT * u32::try_from(contacts).unwrap_or(u32::MAX / OF_CONTACT - IN_STEP);
        self.at_once > AT_ONCE || self.in_step > most
    }
}

#[cfg(test)]
mod tests {
    use super::Stall;

    #[test]
    fn changes_without_time_or_without_end_are_stuck() {
        let mut stall = Stall::default();
        (0..50).for_each(|k| stall.see(1.0 + 1e-12 * f64::from(k), 1.0, true));
        assert!(!stall.is_stuck(1));
        (0..41).for_each(|k| stall.see(1.0 + 1e-12 * f64::from(k), 1.0, false));
        assert!(stall.is_stuck(1));
        stall = Stall::default();
        (0..208).for_each(|k| stall.see(1e-3 * f64::from(k), 1.0, false));
        assert!(!stall.is_stuck(1));
        stall.see(0.5, 1.0, false);
        assert!(stall.is_stuck(1) && !stall.is_stuck(2));
    }
}
