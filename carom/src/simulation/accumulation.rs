//! Times at which impacts accumulate, from the impacts before.
//!
//! A scheme closes a contact after finitely many impacts. Their times are nearly geometric, so that Aitken's rule gives
//! the limit [aitken1926]:
//!
//! ```text
//!     t∞ = t₃ + (t₃ − t₂) R / (1 − R),   R = (t₃ − t₂)/(t₂ − t₁)                                          (1)
//! ```
//!
//! t₁, t₂, t₃ are 2ʲ impacts apart, with the least j for which R is at most 1/2: with a restitution near 1 the ratio of
//! neighbouring flights says nothing, for times are rounded. The estimates (1) approach the limit while flights become
//! shorter, until hops are as small as the rounding of their gaps: the one is taken after which they moved least.

use super::RunEvent;
use crate::scheme::EventKind;

/// A contact that stays closed after impacts that become ever faster.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Accumulation {
    /// Name of the contact.
    pub contact: String,
    /// The scheme closed the contact here [s].
    pub closed: f64,
    /// Limit of the times of impacts by (1) [s]; `closed` where the last impacts are not geometric.
    pub limit: f64,
}

carom_solve::persist!(Accumulation { contact, closed, limit });

/// Most doublings of the distance between the impacts of (1).
const LEVELS: usize = 32;

/// The impacts of one contact since it was closed last.
#[derive(Clone, Debug)]
struct Series {
    contact: String,
    count: u32,
    times: [[f64; 3]; LEVELS], // of the last three impacts whose number is a multiple of 2ʲ
    last: Estimate,
    best: Estimate,
}

carom_solve::persist!(Series { contact, count, times, last, best });

/// The limit by (1) after an impact.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    limit: f64,
    flight: f64,       // before the impact
    changes: [f64; 2], // the last changes of the limit
}

carom_solve::persist!(Estimate { limit, flight, changes });

impl Estimate {
    const NONE: Estimate = Estimate { limit: f64::NAN, flight: 0.0, changes: [f64::INFINITY; 2] };

    fn spread(&self) -> f64 {
        self.changes[0].max(self.changes[1])
    }
}

impl Series {
    fn new(contact: &str) -> Series {
        let (last, best) = (Estimate::NONE, Estimate::NONE);
        Series { contact: contact.to_owned(), count: 0, times: [[f64::NAN; 3]; LEVELS], last, best }
    }

    /// Sees an impact.
    fn take(&mut self, t: f64) {
        self.count = self.count.wrapping_add(1);
        for times in self.times.iter_mut().take(1 + self.count.trailing_zeros() as usize) {
            *times = [times[1], times[2], t];
        }
        let flight = t - self.times[0][1];
        if flight >= self.best.flight {
            // another series has begun
            (self.last, self.best) = (Estimate::NONE, Estimate::NONE);
        }
        let Some(limit) = self.limit().filter(|limit| *limit != self.last.limit) else { return };
        let change = (limit - self.last.limit).abs();
        let changes = [if change.is_nan() { f64::INFINITY } else { change }, self.last.changes[0]];
        self.last = Estimate { limit, flight, changes };
        if self.last.spread() <= self.best.spread() {
            self.best = self.last;
        }
    }

    /// (1), where the times are those of impacts that become faster.
    fn limit(&self) -> Option<f64> {
        self.times.iter().find_map(|&[first, second, third]| {
            let ratio = (third - second) / (second - first);
            (ratio > 0.0 && ratio <= 0.5).then(|| third + (third - second) * ratio / (1.0 - ratio))
        })
    }
}

/// Collects accumulations from the event list.
#[derive(Clone, Debug, Default)]
pub struct Accumulations {
    open: Vec<Series>,
    /// Accumulations found so far, in the order of time.
    pub list: Vec<Accumulation>,
}

carom_solve::persist!(Accumulations { open, list });

impl Accumulations {
    /// Sees an event.
    pub fn take(&mut self, event: &RunEvent) {
        let Some(contact) = &event.contact else { return };
        let known = self.open.iter().position(|series| series.contact == *contact);
        if event.kind == EventKind::Impact.name() {
            let k = known.unwrap_or_else(|| {
                self.open.push(Series::new(contact));
                self.open.len() - 1
            });
            self.open[k].take(event.t);
        } else if event.kind == EventKind::Accumulation.name() {
            let limit = known.map(|k| self.open.swap_remove(k).best.limit);
            // the series goes on from its last impact, where the contact was closed
            let limit = limit.filter(|limit| *limit >= event.t).unwrap_or(event.t);
            self.list.push(Accumulation { contact: contact.clone(), closed: event.t, limit });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    fn event(kind: EventKind, t: f64) -> RunEvent {
        let (name, contact) = (kind.name().to_owned(), Some("floor".to_owned()));
        RunEvent { t, name, kind: kind.name(), contact, before: State::default(), after: State::default() }
    }

    #[test]
    fn the_limit_of_a_geometric_series_is_exact() {
        // the bouncing ball with e = 1/2: tₙ = 3 − 2^(2−n)
        let mut all = Accumulations::default();
        (1..=21).for_each(|n| all.take(&event(EventKind::Impact, 3.0 - 2f64.powi(2 - n))));
        all.take(&event(EventKind::Accumulation, 3.0 - 2f64.powi(-19)));
        assert_eq!(all.list.len(), 1);
        assert_eq!((all.list[0].limit, all.list[0].closed), (3.0, 3.0 - 2f64.powi(-19)));
    }

    #[test]
    fn without_a_series_the_time_of_closing_stands() {
        let mut all = Accumulations::default();
        [1.0, 2.0].iter().for_each(|t| all.take(&event(EventKind::Impact, *t)));
        all.take(&event(EventKind::Accumulation, 2.0));
        [3.0, 4.0, 6.0].iter().for_each(|t| all.take(&event(EventKind::Impact, *t)));
        all.take(&event(EventKind::Accumulation, 6.0));
        assert_eq!(all.list.iter().map(|a| a.limit).collect::<Vec<_>>(), [2.0, 6.0]);
    }

    #[test]
    fn the_limit_of_a_slow_series_is_not_lost_in_the_rounding_of_its_times() {
        // flights 2 eⁿ down to 1e-8, from late times on: rest 2/(1 − e) after the first impact
        for e in [0.9, 0.99, 0.995, 0.999, 0.9999] {
            let (mut all, mut flight, mut n) = (Accumulations::default(), 2.0, 0);
            let start = 1e4;
            let rest = start + 2.0 / (1.0 - e);
            let mut t = start;
            while flight > 1e-8 {
                // by closed form: what a sum of flights would round is not at issue
                t = rest - flight / (1.0 - e);
                all.take(&event(EventKind::Impact, t));
                n += 1;
                flight = 2.0 * f64::powi(e, n);
            }
            all.take(&event(EventKind::Accumulation, t));
            assert!((all.list[0].limit - rest).abs() < 1e-14 * rest, "{e}: {:e}", all.list[0].limit - rest);
        }
    }
}
