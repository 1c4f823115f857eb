//! Guards against events that pile up: without time between them, or too many within a step of the driver.

/// An event within this part of the time, or of a step of the driver, of the one before is of the same instant: both
/// ends of the shortest step are, however many there are.
const INSTANT: f64 = 1e-13;

/// Events of one instant after which impacts are plastic, and after which the scheme gives up on it.
const STALL: u32 = 10;
const STUCK: u32 = 40;

/// Counts of events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EventCount {
    instant: (f64, u32), // time of the last event, and how many there were at its instant
    window: (f64, u32),  // end of a step of the driver, and events up to there
    limit: u32,
}

carom_solve::persist!(EventCount { instant, window, limit });

impl EventCount {
    /// Counts an event at `t` in a step that the driver wants to end at `end`, with at most `limit` of them; steps are
    /// up to `span` long.
    pub fn add(&mut self, t: f64, (end, limit): (f64, u32), span: f64) {
        let is_same = self.instant.1 > 0 && (t - self.instant.0).abs() <= INSTANT * t.abs().max(span);
        self.instant = (t, if is_same { self.instant.1 + 1 } else { 1 });
        if self.window.1 == 0 || t > self.window.0 {
            self.window = (end, 0);
        }
        self.window.1 += 1;
        self.limit = limit;
    }

    /// Whether time does not go on.
    pub fn is_stalled(&self) -> bool {
        self.instant.1 > STALL
    }

    /// Whether another scheme has to do a part.
    pub fn is_stuck(&self) -> bool {
        self.instant.1 > STUCK
    }

    /// Whether there were more events than allowed.
    pub fn is_full(&self) -> bool {
        self.limit > 0 && self.window.1 > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::EventCount;

    #[test]
    fn stalls_and_counts_are_told_apart() {
        let mut count = EventCount::default();
        (0..11).for_each(|_| count.add(1.0, (2.0, 100), 1.0));
        assert!(count.is_stalled() && !count.is_stuck() && !count.is_full());
        count.add(1.1, (2.0, 100), 1.0);
        assert!(!count.is_stalled());
        (0..100).for_each(|k| count.add(1.1 + 1e-3 * f64::from(k), (2.0, 100), 1.0));
        assert!(count.is_full());
        count.add(3.0, (4.0, 100), 1.0);
        assert!(!count.is_full());
        (0..40).for_each(|_| count.add(3.0, (4.0, 100), 1.0));
        assert!(count.is_stuck() && !count.is_full());
        // steps as short as events are located go nowhere
        (0..41).for_each(|k| count.add(0.5 + 1.4e-15 * f64::from(k), (0.6, 100), 0.1));
        assert!(count.is_stuck());
    }
}
