//! Joints with play: how long the pin touches its hole, how deep and how often. Every step counts.

use carom::simulation::StepView;
use serde::{Deserialize, Serialize};

/// A joint with play, by its contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlayOf {
    /// Name of the joint.
    pub joint: String,
    /// The play [m].
    pub size: f64,
    /// Keys of its contacts.
    pub laws: Vec<usize>,
}

/// What a joint with play did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlaySummary {
    /// Name of the joint.
    pub joint: String,
    /// The play [m].
    pub play: f64,
    /// Share of the time in which a contact of the joint acts [-]: steps count as a whole.
    pub contact_share: f64,
    /// Largest penetration beside the play [-].
    pub penetration: f64,
    /// How often a contact of the joint closed.
    pub impacts: u64,
}

/// Watches the contacts of joints with play.
pub(super) struct Plays {
    list: Vec<PlayOf>,
    /// The play that a contact belongs to, by its key.
    of_law: Vec<Option<usize>>,
    /// Time in contact [s], impacts, number of the last step with contact.
    seen: Vec<(f64, u64, u64)>,
    time: f64,
}

carom_solve::persist!(Plays { seen, time } skip { list, of_law });

impl Plays {
    pub fn new(list: Vec<PlayOf>) -> Plays {
        let most = list.iter().flat_map(|play| &play.laws).max().map_or(0, |law| law + 1);
        let mut of_law = vec![None; most];
        for (i, play) in list.iter().enumerate() {
            play.laws.iter().for_each(|&law| of_law[law] = Some(i));
        }
        Plays { seen: vec![(0.0, 0, 0); list.len()], list, of_law, time: 0.0 }
    }

    pub fn take(&mut self, view: &StepView<'_>) {
        if self.list.is_empty() {
            return;
        }
        let h = view.to().t - view.from().t;
        self.time += h;
        for acting in view.acting() {
            let key = usize::try_from(acting.key.0).unwrap_or(usize::MAX);
            let Some(&Some(play)) = self.of_law.get(key) else { continue };
            let (time, impacts, last) = &mut self.seen[play];
            *impacts += u64::from(acting.is_impact());
            // both ends of a pin may act in a step
            if *last != view.index {
                (*time, *last) = (*time + h, view.index);
            }
        }
    }

    /// The figures; smallest gaps are by the keys of contacts.
    pub fn finish(self, smallest: &[Option<f64>]) -> Vec<PlaySummary> {
        let total = self.time;
        let figures = |(play, (time, impacts, _)): (PlayOf, (f64, u64, u64))| {
            let gaps = play.laws.iter().filter_map(|law| smallest.get(*law).copied().flatten());
            let deepest = gaps.fold(0.0f64, |deepest, gap| deepest.max(-gap));
            PlaySummary {
                joint: play.joint,
                play: play.size,
                contact_share: if total > 0.0 { (time / total).min(1.0) } else { 0.0 },
                penetration: deepest / play.size,
                impacts,
            }
        };
        self.list.into_iter().zip(self.seen).map(figures).collect()
    }
}
