//! Sizes of steps over time and rejected tries, thinned out while the run goes on.

use carom::ModelError;
use carom::simulation::{Observer, StepView};
use std::ops::ControlFlow;

/// Most points that are kept.
const MOST: usize = 20_000;

/// Accepted steps of an adaptive run.
pub struct StepSizes {
    /// Start of the step [s] and its size [s]: the smallest of those that a point stands for.
    pub sizes: Vec<(f64, f64)>,
    /// The same of steps that were not accepted at the first try.
    pub retried: Vec<(f64, f64)>,
    stride: u64,
    seen: u64,
}

impl StepSizes {
    pub fn new() -> StepSizes {
        StepSizes { sizes: Vec::new(), retried: Vec::new(), stride: 1, seen: 0 }
    }

    fn push(&mut self, t: f64, h: f64) {
        match self.sizes.last_mut() {
            Some(last) if !self.seen.is_multiple_of(self.stride) => {
                if h < last.1 {
                    *last = (t, h);
                }
            }
            _ => self.sizes.push((t, h)),
        }
        self.seen += 1;
        if self.sizes.len() > MOST {
            self.sizes = self.sizes.chunks(2).map(|pair| smaller(pair[0], pair[pair.len() - 1])).collect();
            self.stride *= 2;
            self.seen = self.seen.next_multiple_of(self.stride);
        }
    }
}

fn smaller(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    if b.1 < a.1 { b } else { a }
}

impl Observer for StepSizes {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let (t, h) = (view.from().t, view.step.advanced);
        self.push(t, h);
        if view.rejected > 0 && self.retried.len() < MOST {
            self.retried.push((t, h));
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_smallest_steps() {
        let mut sizes = StepSizes::new();
        let h = |k: u32| if k == 77_777 { 1e-9 } else { 1.0 + f64::from(k % 7) };
        (0..100_000).for_each(|k| sizes.push(f64::from(k), h(k)));
        assert!(sizes.sizes.len() <= MOST && sizes.sizes.len() > MOST / 4, "{}", sizes.sizes.len());
        assert!(sizes.sizes.contains(&(77_777.0, 1e-9)));
        assert!(sizes.sizes.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
