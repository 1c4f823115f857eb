//! Increments of stages on a chart [munthe1999].
//!
//! ```text
//!     Θᵢ = h Σ aᵢⱼ Kⱼ,   Kᵢ = D(Θᵢ) Vᵢ,   Qᵢ = q ⊕ Θᵢ,   q⁺ = q ⊕ h Σ bᵢ Kᵢ                                        (1)
//! ```
//!
//! Half-explicit methods go from stage to stage. Implicit ones have the velocities of all stages first; Θ then follows
//! by iterations of (1), which shrink their changes by a part of the angle of the step and cost no forces.

use super::{Stages, combine};
use crate::integrator::IndexOne;
use crate::integrator::tableau::Tableau;
use crate::model::Chart;
use crate::{State, StepError};

/// Most iterations of (1), and the change at which they stand still, as a part of the increments.
const ITERATIONS: u32 = 100;
const STILL: f64 = 4.0 * f64::EPSILON;

/// A change of this part that does not become smaller is rounding.
const ROUNDING: f64 = 1e-13;

/// Θ and K of the stages.
pub(super) struct Rates {
    n: usize,
    increments: Vec<f64>, // (s × n) Θ
    rates: Vec<f64>,      // (s × n) K
    next: Vec<f64>,       // (n) a Θᵢ
}

carom_solve::persist!(Rates { n, increments, rates, next });

impl Rates {
    fn new(n: usize, s: usize) -> Rates {
        Rates { n, increments: vec![0.0; s * n], rates: vec![0.0; s * n], next: vec![0.0; n] }
    }

    /// Θᵢ.
    pub fn increment(&self, i: usize) -> &[f64] {
        &self.increments[i * self.n..(i + 1) * self.n]
    }

    /// All K.
    pub fn all(&self) -> &[f64] {
        &self.rates
    }

    /// (1) of stage `i` with this velocity, from the rates known so far. Returns the largest change of Θᵢ and its
    /// largest entry among those that change: angles do, lengths of any unit beside them are sums.
    pub fn stage(&mut self, chart: &dyn Chart, (tableau, h): (&Tableau, f64), (i, v): (usize, &[f64])) -> (f64, f64) {
        let s = tableau.stages();
        let stage = i * self.n..(i + 1) * self.n;
        self.next.fill(0.0);
        combine(&mut self.next, h, &tableau.a[i * s..(i + 1) * s], &self.rates);
        let old = &mut self.increments[stage.clone()];
        let (mut change, mut size) = (0.0f64, 0.0f64);
        for (old, new) in old.iter().zip(&self.next).filter(|(old, new)| old != new) {
            change = change.max((new - old).abs());
            size = size.max(new.abs());
        }
        old.copy_from_slice(&self.next);
        chart.rate(old, v, &mut self.rates[stage]);
        (change, size)
    }

    /// (1) of all stages with these velocities.
    fn settle(&mut self, chart: &dyn Chart, (tableau, h): (&Tableau, f64), v: &[f64]) -> Result<(), StepError> {
        let n = self.n;
        self.rates.copy_from_slice(v);
        let mut before = f64::INFINITY;
        for round in 0..ITERATIONS {
            let (mut change, mut size) = (0.0f64, 0.0f64);
            for i in 0..tableau.stages() {
                let (by, most) = self.stage(chart, (tableau, h), (i, &v[i * n..(i + 1) * n]));
                (change, size) = (change.max(by), size.max(most));
            }
            // velocities have changed lengths as well in the first one
            if round > 0 && (change <= STILL * size || change >= before && change <= ROUNDING * size) {
                return Ok(());
            }
            before = change;
        }
        Err(StepError::Newton { residual: before, tolerance: STILL, iterations: ITERATIONS })
    }
}

impl Stages {
    /// Buffers for increments on a chart, where the motion has one.
    pub(super) fn take_chart(&mut self, motion: &impl IndexOne) {
        if self.rates.is_none() && motion.chart().is_some() {
            self.rates = Some(Box::new(Rates::new(self.increment.len(), self.tableau.stages())));
        }
    }

    /// (1) with the accelerations known so far; nothing where increments are sums.
    pub(super) fn settle(&mut self, motion: &impl IndexOne, from: &State, h: f64) -> Result<(), StepError> {
        let (Some(rates), Some(chart)) = (&mut self.rates, motion.chart()) else { return Ok(()) };
        let (n, s) = (self.increment.len(), self.tableau.stages());
        for (i, v) in self.v.chunks_exact_mut(n.max(1)).enumerate() {
            v.copy_from_slice(&from.v);
            combine(v, h, &self.tableau.a[i * s..(i + 1) * s], &self.a);
        }
        rates.settle(chart, (&self.tableau, h), &self.v)
    }
}
