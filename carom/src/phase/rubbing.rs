//! Coefficients of friction that depend on the state.

use super::mode::{Mode, Phase};
use crate::model::tangent::At;
use crate::{Coupling, Mechanical, ModelError};

/// Asks a model for them, where it has such.
#[derive(Default)]
pub(crate) struct Rubbing {
    /// Whether there are any.
    pub varies: bool,
    sticks: Vec<bool>, // (laws)
}

carom_solve::persist!(Rubbing { varies, sticks });

impl Rubbing {
    pub fn new(model: &dyn Mechanical) -> Rubbing {
        Rubbing { varies: model.friction_varies(), ..Rubbing::default() }
    }

    /// Sets those of a coupling at a point: a law that sticks in the phase has that of rest.
    pub fn in_phase(
        &mut self,
        model: &mut dyn Mechanical,
        phase: &Phase,
        at: At<'_>,
        coupling: &mut Coupling,
    ) -> Result<(), ModelError> {
        self.rub(model, at, |i| phase.mode(i) == Mode::Stick, coupling)
    }

    /// Sets those of a coupling at a point: a law that sticks has that of rest.
    pub fn rub(
        &mut self,
        model: &mut dyn Mechanical,
        at: At<'_>,
        sticks: impl Fn(usize) -> bool,
        coupling: &mut Coupling,
    ) -> Result<(), ModelError> {
        if !self.varies {
            return Ok(());
        }
        self.sticks.clear();
        self.sticks.extend((0..coupling.len()).map(sticks));
        model.rub(at, &self.sticks, coupling)
    }
}
