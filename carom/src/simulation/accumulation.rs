//! Times at which impacts accumulate, from the impacts before.
//!
//! A scheme closes a contact after finitely many impacts. Their times are nearly geometric, so that Aitken's rule gives
//! the limit [aitken1926]:
//!
//! ```text
//!     t∞ = t₃ + (t₃ − t₂) r / (1 − r),   r = (t₃ − t₂)/(t₂ − t₁)                                          (1)
//! ```

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

/// Collects accumulations from the event list.
#[derive(Clone, Debug, Default)]
pub struct Accumulations {
    recent: Vec<(String, [f64; 3])>, // contact, times of its last three impacts
    /// Accumulations found so far, in the order of time.
    pub list: Vec<Accumulation>,
}

impl Accumulations {
    /// Sees an event.
    pub fn take(&mut self, event: &RunEvent) {
        let Some(contact) = &event.contact else { return };
        if event.kind == EventKind::Impact.name() {
            match self.recent.iter_mut().find(|(known, _)| known == contact) {
                Some((_, times)) => *times = [times[1], times[2], event.t],
                None => self.recent.push((contact.clone(), [f64::NAN, f64::NAN, event.t])),
            }
        } else if event.kind == EventKind::Accumulation.name() {
            let times = self.recent.iter().find(|(known, _)| known == contact).map(|(_, times)| *times);
            let limit = times.and_then(limit).unwrap_or(event.t);
            self.list.push(Accumulation { contact: contact.clone(), closed: event.t, limit });
        }
    }
}

/// (1), where the times are those of impacts that become faster.
fn limit([first, second, third]: [f64; 3]) -> Option<f64> {
    let ratio = (third - second) / (second - first);
    (ratio > 0.0 && ratio < 1.0).then(|| third + (third - second) * ratio / (1.0 - ratio))
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
}
