//! The impact list: one entry each time a contact closes, that is, acts in a step after one in which it did not, or has an impact that
//! the scheme has located.

use super::{Observer, StepView};
use crate::scheme::EventKind;
use crate::{Key, ModelError};
use std::ops::ControlFlow;

/// A contact that closes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Impact {
    /// End of the step in which the contact acts [s].
    pub t: f64,
    pub contact: String,
    /// Relative velocity (normal, tangents) before and after [m/s].
    pub before: Vec<f64>,
    pub after: Vec<f64>,
    /// Impulse (normal, tangents) of this step [N s].
    pub impulse: Vec<f64>,
}

/// Finds impacts and hands each to a sink.
pub struct ImpactDetector<F: FnMut(Impact)> {
    sink: F,
    closed: Vec<Key>,
    previous: Vec<Key>,
    /// Impacts seen.
    pub count: u64,
}

impl<F: FnMut(Impact)> ImpactDetector<F> {
    pub fn new(sink: F) -> Self {
        ImpactDetector { sink, closed: Vec::new(), previous: Vec::new(), count: 0 }
    }
}

impl<F: FnMut(Impact)> Observer for ImpactDetector<F> {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        std::mem::swap(&mut self.closed, &mut self.previous);
        self.closed.clear();
        let reactions = view.reactions();
        for i in 0..reactions.len() {
            let contact = reactions.law(i).is_contact();
            if !contact || reactions.normal(i) <= 0.0 {
                continue;
            }
            let key = reactions.key(i);
            self.closed.push(key);
            let located =
                || view.stepper.events().iter().any(|e| e.kind == EventKind::Impact && e.contact == Some(key));
            if !self.previous.contains(&key) || located() {
                let range = reactions.range(i);
                self.count += 1;
                (self.sink)(Impact {
                    t: view.to().t,
                    contact: view.stepper.labels().contact(key),
                    before: reactions.before[range.clone()].to_vec(),
                    after: reactions.after[range.clone()].to_vec(),
                    impulse: reactions.impulse[range].to_vec(),
                });
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
