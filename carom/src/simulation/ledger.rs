//! The energy ledger: where the energy of a mechanical run came from and where it went.
//!
//! ```text
//!     E(t) − E(0) = applied + obstacles − impact − friction − sleep + bilateral + residue             (1)
//! ```
//!
//! Contact work of a step is `P·(U + U⁺)/2`, which is exact for constant mass and rows; applied work is the power of
//! the forces without potential along the dense output of a scheme that has one, at the middle of the step elsewhere.
//! What is left is the numerical residue.

use super::{Observer, StepView};
use crate::ModelError;
use crate::model::Energy;
use crate::scheme::{Reactions, Stepper};
use carom_solve::{Archive, ArchiveError, Persist};
use std::ops::ControlFlow;

/// Energies and works since the start [J].
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct EnergyLedger {
    /// Energy at the start.
    pub initial: Energy,
    /// Energy at the end of the last step.
    pub last: Energy,
    /// Work of the forces that have no potential.
    pub applied: f64,
    /// Work of obstacles that move by themselves.
    pub obstacles: f64,
    /// Lost along normals.
    pub impact_loss: f64,
    /// Lost along tangents and by dry friction of joints.
    pub friction_loss: f64,
    /// Work of bilateral constraints, and of relays that are no dry friction.
    pub bilateral: f64,
    /// Kinetic energy of bodies that fell asleep.
    pub sleep_loss: f64,
    /// The largest total energy above the initial one.
    pub largest_gain: f64,
}

carom_solve::persist!(EnergyLedger {
    initial,
    last,
    applied,
    obstacles,
    impact_loss,
    friction_loss,
    bilateral,
    sleep_loss,
    largest_gain,
});

impl EnergyLedger {
    /// What (1) does not explain.
    pub fn residue(&self) -> f64 {
        let change = self.last.total() - self.initial.total();
        change - self.applied - self.obstacles + self.impact_loss + self.friction_loss - self.bilateral
            + self.sleep_loss
    }

    /// The first of its figures that is infinite or not a number, with its name.
    pub fn not_finite(&self) -> Option<(&'static str, f64)> {
        let Energy { kinetic, potential } = self.last;
        let works =
            [self.applied, self.obstacles, self.impact_loss, self.friction_loss, self.bilateral, self.sleep_loss];
        let works = works.iter().sum::<f64>();
        let figures = [
            ("energy.kinetic", kinetic),
            ("energy.potential", potential),
            ("energy.total", self.last.total()),
            ("the work of forces and contacts", works),
            ("the residue of the energies", self.residue()),
        ];
        figures.into_iter().find(|(_, value)| !value.is_finite())
    }

    fn contact_work(&mut self, reactions: &Reactions) {
        for i in 0..reactions.len() {
            let (normal, rows) = (reactions.range(i).start, reactions.range(i));
            if reactions.impulse[rows.clone()].iter().all(|p| *p == 0.0) {
                continue;
            }
            rows.for_each(|row| self.obstacles -= reactions.impulse[row] * reactions.obstacle[row]);
            let (impact, friction) = reactions.losses(i);
            self.impact_loss += impact;
            self.friction_loss += friction;
            let law = reactions.law(i);
            if !(law.is_contact() || law.is_dry_friction()) && reactions.impulse[normal] != 0.0 {
                self.bilateral += reactions.work(normal);
            }
        }
    }
}

/// Keeps the ledger while a run goes on; nothing where the model does not know its energy.
#[derive(Clone, Debug, Default)]
pub struct LedgerObserver {
    ledger: Option<EnergyLedger>,
}

carom_solve::persist!(LedgerObserver { ledger });

impl LedgerObserver {
    /// The ledger up to the last step; `None` where the model does not know its energy.
    pub fn ledger(&self) -> Option<&EnergyLedger> {
        self.ledger.as_ref()
    }
}

impl Observer for LedgerObserver {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        Persist::persist(self, archive)
    }

    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.ledger =
            stepper.energies().map(|(initial, _)| EnergyLedger { initial, last: initial, ..EnergyLedger::default() });
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        if let Some(ledger) = &mut self.ledger
            && let Some((_, last)) = view.stepper.energies()
        {
            ledger.last = last;
            ledger.applied += view.step.advanced * view.stepper.applied_power();
            ledger.contact_work(view.stepper.reactions());
            ledger.sleep_loss += view.stepper.lost_asleep();
            ledger.largest_gain = ledger.largest_gain.max(last.total() - ledger.initial.total());
        }
        Ok(ControlFlow::Continue(()))
    }
}
