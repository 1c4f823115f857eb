//! How far coordinates have moved since the start of a run: the measure of drift.

use super::SAMPLED;
use crate::scheme::Stepper;
use crate::{Coupling, State};

/// The farthest that each coordinate was seen from its start.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    start: Option<State>,
    now: Vec<f64>,      // (n) and differences of velocities
    farthest: Vec<f64>, // (n)
}

carom_solve::persist!(Ways { start, now, farthest });

impl Ways {
    pub fn begin(&mut self, stepper: &dyn Stepper) {
        let start = stepper.from();
        self.now = vec![0.0; stepper.dimension()];
        self.farthest = vec![0.0; start.v.len()];
        self.start = Some(start.clone());
    }

    /// Looks where a step ends: each of the first ones, then every sixteenth.
    #[inline]
    pub fn see(&mut self, stepper: &dyn Stepper, steps: u64) {
        if steps > SAMPLED && !steps.is_multiple_of(SAMPLED) {
            return;
        }
        if let Some(start) = &self.start {
            stepper.difference(start, stepper.to(), &mut self.now);
            self.farthest.iter_mut().zip(&self.now).for_each(|(farthest, way)| *farthest = farthest.max(way.abs()));
        }
    }

    /// What of it goes along the normal of law `i`, without signs, with the ways that contacts have held back [m].
    pub fn along(&self, (coupling, i): (&Coupling, usize), held: &[f64]) -> f64 {
        let way = |ways: &[f64], j: usize| ways.get(j).copied().unwrap_or(0.0);
        let row = coupling.rows.row(coupling.offset[i]);
        row.iter().map(|&(j, c)| c.abs() * (way(&self.farthest, j) + way(held, j))).sum()
    }
}
