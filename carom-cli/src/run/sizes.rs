//! Sizes of steps over time, and those that followed rejected tries.

use carom::ModelError;
use carom::simulation::{Observer, StepView};
use carom_analysis::report::{Thinned, Thinner};
use carom_solve::{Archive, ArchiveError, Persist};
use std::ops::ControlFlow;

/// Numbers of each list that are kept before it is thinned.
const MOST: usize = 400_000;

/// Accepted steps of an adaptive run: start [s] and size [s].
pub struct StepSizes {
    all: Thinner,
    retried: Thinner,
}

impl StepSizes {
    pub fn new() -> StepSizes {
        StepSizes { all: Thinner::new(2, MOST), retried: Thinner::new(2, MOST) }
    }

    /// All steps.
    pub fn all(&self) -> Thinned {
        self.all.clone().finish()
    }

    /// Those that were not accepted at the first try.
    pub fn retried(&self) -> Thinned {
        self.retried.clone().finish()
    }
}

impl Observer for StepSizes {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        (&mut self.all, &mut self.retried).persist(archive)
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let step = [view.from().t, view.step.advanced];
        self.all.push(step.into_iter());
        if view.rejected > 0 {
            self.retried.push(step.into_iter());
        }
        Ok(ControlFlow::Continue(()))
    }
}
