//! Observers: recorders, monitors, writers and progress bars are all the same trait.

use super::Occurrence;
use super::facts::{Acting, Facts, Impact, RunEvent};
use crate::scheme::{Reactions, Step, Stepper};
use crate::{Collision, Key, Law, ModelError, State, WarningKind, Warnings};
use carom_solve::{Archive, ArchiveError};
use std::ops::ControlFlow;

/// An accepted step, before it becomes the past.
pub struct StepView<'a> {
    /// What the step tells about itself.
    pub step: &'a Step,
    /// Number of the step, from 1.
    pub index: u64,
    /// Tries that were rejected before this one.
    pub rejected: u64,
    /// End of the span [s].
    pub end: f64,
    /// Events of the user in this step, in the order of time.
    pub occurrences: &'a [Occurrence],
    /// The event of the user that ends the run with this step.
    pub stopped: Option<&'a str>,
    /// The bound scheme, with the step tried and not yet accepted.
    pub stepper: &'a mut dyn Stepper,
    pub(super) facts: &'a mut Facts,
    pub(super) warnings: &'a mut Warnings,
}

impl StepView<'_> {
    /// The state at the start of the step.
    pub fn from(&self) -> &State {
        self.stepper.from()
    }
    /// The state at the end of the step.
    pub fn to(&self) -> &State {
        self.stepper.to()
    }
    /// What the laws did in the step.
    pub fn reactions(&self) -> &Reactions {
        self.stepper.reactions()
    }

    /// Warns of something at the end of the step; the larger the value, the worse.
    pub fn warn(&mut self, kind: &'static WarningKind, contact: Option<Key>, value: f64) {
        self.warnings.raise(kind, self.stepper.to().t, contact, value);
    }

    /// Contacts that acted in the step.
    pub fn acting(&self) -> &[Acting] {
        self.facts.acting()
    }

    /// Contacts that closed in the step.
    pub fn impacts(&self) -> impl Iterator<Item = &Acting> {
        self.acting().iter().filter(|acting| acting.is_impact())
    }

    /// An impact of this step with its name and figures.
    pub fn impact(&self, acting: &Acting) -> Impact {
        let (reactions, rows) = (self.reactions(), self.reactions().range(acting.law));
        let (normal, friction) = reactions.losses(acting.law);
        let is_mechanical = !self.from().v.is_empty();
        Impact {
            t: self.to().t,
            contact: self.stepper.labels().contact(acting.key),
            before: reactions.before[rows.clone()].to_vec(),
            after: reactions.after[rows.clone()].to_vec(),
            impulse: reactions.impulse[rows].to_vec(),
            loss: is_mechanical.then_some(normal + friction),
            pressed: is_mechanical && acting.is_pressed(),
            order_decides: false,
        }
    }

    /// The impacts of this step for lists, each with its law: as the impact law has resolved them, in their order,
    /// where it is another one than Newton's; else each contact that closed.
    pub fn listed_impacts(&self) -> impl Iterator<Item = (Impact, Law)> {
        let (acting, reactions) = (self.impacts(), self.reactions());
        let acting = acting.filter(|_| reactions.collisions.is_empty());
        let acting = acting.map(|acting| (self.impact(acting), reactions.law(acting.law)));
        let collisions = reactions.collisions.iter();
        acting.chain(collisions.map(|collision| (self.collision(collision), reactions.law(collision.law))))
    }

    /// Number of [`listed_impacts`](StepView::listed_impacts).
    pub fn count_impacts(&self) -> u64 {
        match self.reactions().collisions.len() {
            0 => self.impacts().count() as u64,
            collisions => collisions as u64,
        }
    }

    fn collision(&self, collision: &Collision) -> Impact {
        Impact {
            t: self.to().t,
            contact: self.stepper.labels().contact(self.reactions().key(collision.law)),
            before: collision.before().to_vec(),
            after: collision.after().to_vec(),
            impulse: collision.impulse().to_vec(),
            loss: Some(collision.loss()),
            pressed: false,
            order_decides: collision.order_decides,
        }
    }

    /// Events in the step, located by the scheme or watched for by the user, in the order of time.
    pub fn events(&mut self) -> &[RunEvent] {
        self.facts.events(self.stepper, self.occurrences)
    }
}

/// Watches a run. It may end it by breaking; it cannot change it.
pub trait Observer {
    /// Sees the initial state.
    fn start(&mut self, _stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        Ok(())
    }
    /// Whether it asks a step for its contacts: [`StepView::acting`], [`StepView::impacts`]. The driver looks for them
    /// in every step of a run, or not at all where no observer does.
    fn asks_for_contacts(&self) -> bool {
        true
    }
    /// Sees an accepted step; a break ends the run after it.
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError>;
    /// Writes down what it has seen so far, or takes over what was written, see [`Simulation::save`]. Nothing by
    /// default: an observer that keeps numbers has to hand them over.
    ///
    /// [`Simulation::save`]: super::Simulation::save
    fn persist(&mut self, _archive: &mut Archive) -> Result<(), ArchiveError> {
        Ok(())
    }
}

/// The smallest gap of each contact, at the times of the grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GapMonitor {
    /// (laws) smallest gap [m]; infinite for bilateral laws.
    pub smallest: Vec<f64>,
}

impl GapMonitor {
    fn see(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        let coupling = stepper.coupling()?;
        self.smallest.resize(coupling.len(), f64::INFINITY);
        for (i, (smallest, pair)) in self.smallest.iter_mut().zip(&coupling.pairs).enumerate() {
            if pair.law.is_contact() {
                // infinite outside the region of a contact
                *smallest = smallest.min(coupling.gap(i));
            }
        }
        Ok(())
    }

    /// The smallest of all [m].
    pub fn overall(&self) -> Option<f64> {
        self.smallest.iter().copied().filter(|g| g.is_finite()).reduce(f64::min)
    }
}

impl Observer for GapMonitor {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.see(stepper)
    }
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.see(view.stepper)?;
        Ok(ControlFlow::Continue(()))
    }
}
