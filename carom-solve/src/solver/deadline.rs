//! An end by the clock, for those who ask for one: nothing reads a clock otherwise.

use std::time::{Duration, Instant};

/// A moment after which a solve is given up; by default there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    /// So many seconds from now.
    pub(super) fn after(seconds: Option<f64>) -> Deadline {
        let wait = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Deadline(wait.and_then(|wait| Instant::now().checked_add(wait)))
    }

    /// Whether it has passed.
    #[inline]
    pub(super) fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}
