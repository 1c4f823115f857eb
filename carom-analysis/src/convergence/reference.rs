//! What a run is compared with: a closed form, or a run with a much smaller step.

use crate::error::{Graph, MeasureError};
use carom::testbed::{ExactSolution, ExactState};
use carom::{Solution, State, Stepper};
use std::borrow::Cow;

/// A trajectory taken as true.
pub enum Reference<'a> {
    /// A closed form of positions and velocities.
    Exact(&'a dyn ExactSolution),
    /// Of a first-order system.
    State(&'a dyn ExactState),
    /// A run with a much smaller step.
    Computed(&'a Computed),
}

/// A fine run, interpolated: positions along the polyline, velocities as the right-continuous step function.
pub struct Computed {
    solution: Solution,
    q: Graph,
    /// First-order systems have none.
    v: Option<Graph>,
}

impl Computed {
    /// Takes a run as true; fails where its samples make no graph.
    pub fn new(solution: Solution) -> Result<Computed, MeasureError> {
        let (nq, nv) = solution.dofs();
        let q = Graph::polyline(&solution.t, solution.positions(), nq)?;
        let v = (nv > 0).then(|| Graph::staircase(&solution.t, solution.velocities(), nv)).transpose()?;
        Ok(Computed { solution, q, v })
    }

    /// Between two samples positions go straight on as the model understands it: part of its difference, retracted.
    fn at(&self, t: f64, stepper: &dyn Stepper, out: &mut State) {
        let times = &self.solution.t;
        // the last sample at or before t, with a hair of tolerance for grids whose times differ by rounding
        let slack = 1e-9 * (t.abs() + times.get(1).map_or(0.0, |a| a - times[0]));
        let k = times.partition_point(|s| *s <= t + slack).saturating_sub(1);
        let sample = |k: usize| State::new(t, self.solution.q(k), self.solution.v(k));
        let from = sample(k);
        let width = times.get(k + 1).map_or(0.0, |next| next - times[k]);
        let s = if width > 0.0 { ((t - times[k]) / width).clamp(0.0, 1.0) } else { 0.0 };
        if s == 0.0 {
            return out.copy_from(&from);
        }
        let mut way = vec![0.0; stepper.dimension()];
        stepper.difference(&from, &sample(k + 1), &mut way);
        let directions = way.len() - from.v.len();
        way[..directions].iter_mut().for_each(|d| *d *= s);
        way[directions..].fill(0.0);
        stepper.retract(&from, &way, out);
    }
}

impl Reference<'_> {
    /// Positions and right-continuous velocities at `t`; the model of `stepper` tells what is between two samples.
    pub fn at(&self, t: f64, stepper: &dyn Stepper, out: &mut State) {
        match self {
            Reference::Exact(exact) => exact.at(t, &mut out.q, &mut out.v),
            Reference::State(exact) => exact.at(t, &mut out.q),
            Reference::Computed(computed) => computed.at(t, stepper, out),
        }
    }

    /// Filled-in graph of positions, sampled well below `tolerance`.
    pub(super) fn positions(&self, from: f64, to: f64, tolerance: f64) -> Result<Cow<'_, Graph>, MeasureError> {
        match self {
            Reference::Exact(exact) => Ok(Cow::Owned(Graph::position(*exact, from, to, tolerance / 10.0)?)),
            // states have kinks, which cost samples
            Reference::State(exact) => Ok(Cow::Owned(Graph::state(*exact, from, to, tolerance / 4.0)?)),
            Reference::Computed(computed) => Ok(Cow::Borrowed(&computed.q)),
        }
    }

    /// Filled-in graph of velocities, likewise.
    pub(super) fn velocities(&self, from: f64, to: f64, tolerance: f64) -> Result<Cow<'_, Graph>, MeasureError> {
        match self {
            Reference::Exact(exact) => Ok(Cow::Owned(Graph::velocity(*exact, from, to, tolerance / 10.0)?)),
            Reference::State(_) => Err(MeasureError::Empty),
            Reference::Computed(computed) => computed.v.as_ref().map(Cow::Borrowed).ok_or(MeasureError::Empty),
        }
    }
}
