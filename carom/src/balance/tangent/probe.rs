//! Gap and normal velocity of one contact, with their derivatives along a direction.

use super::{BalanceTangent, Direction, Scratch};
use crate::ModelError;
use crate::model::Along;
use crate::model::tangent::At;

/// What a contact shows at a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    pub gap: f64,
    pub velocity: f64,
    pub gap_along: f64,
    pub velocity_along: f64,
}

impl BalanceTangent {
    /// A contact, by its place in the list, at a state; `along.h` does not count.
    pub fn probe(&mut self, law: usize, at: At<'_>, along: Direction<'_>) -> Result<Probe, ModelError> {
        let (t, q, v) = at;
        let (coupling, tangent) = &mut self.probed;
        coupling.fill(&mut *self.model, (t, q), false, &self.list)?;
        self.tangent.coupling(at, Along { t: along.t, q: along.q, v: along.v, p: along.p }, tangent)?;
        let row = coupling.offset[law];
        let own = coupling.rows.dot(row, along.v);
        Ok(Probe {
            gap: coupling.pairs[law].gap,
            velocity: coupling.rows.dot(row, v) + coupling.drift[row],
            gap_along: tangent.gap[law],
            velocity_along: own + tangent.row_dot(row, v) + tangent.drift[row],
        })
    }

    /// dv⁺ of the last [`apply`](BalanceTangent::apply).
    pub fn last(&self) -> &[f64] {
        &self.dafter
    }

    /// Buffers of the dimension, to be given back by [`keep`](BalanceTangent::keep).
    pub fn scratch(&mut self) -> Scratch {
        let mut buffers = std::mem::take(&mut self.scratch);
        buffers.iter_mut().for_each(|buffer| buffer.resize(self.n, 0.0));
        buffers
    }

    pub fn keep(&mut self, buffers: Scratch) {
        self.scratch = buffers;
    }
}
