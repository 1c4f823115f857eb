//! Checkpoints: a run that is cut short goes on with the same bits.
//!
//! What a run remembers between two steps is plain data: state, buffers and guesses of the scheme, what the model lists
//! and has factored, counts, the size of the next step, warnings, and what observers have seen. [`Simulation::save`]
//! writes it down; [`Simulation::resume`] gives it to the same run, built anew from the same model and options.

use super::{Observer, Simulation, SimulationError, show};
use carom_solve::{Archive, ArchiveError, Persist};
use std::ops::ControlFlow;

/// Takes the memory of a run from time to time.
pub trait Keeper {
    /// Whether it is time, after step number `index`.
    fn is_due(&mut self, index: u64) -> bool;
    /// Takes the memory; a break ends the run.
    fn keep(&mut self, memory: Vec<u8>) -> ControlFlow<()>;
}

impl Simulation {
    /// [`Simulation::run`], with its memory handed out from time to time.
    pub fn run_kept(
        &mut self,
        observers: &mut [&mut dyn Observer],
        keeper: &mut dyn Keeper,
    ) -> Result<bool, SimulationError> {
        let asks = self.start(observers)?;
        loop {
            let (mut ends, mut is_due) = (false, false);
            let is_done = self.go(asks, |view| {
                ends = show(observers, view)?.is_break();
                is_due = keeper.is_due(view.index);
                Ok(if ends || is_due { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            if is_done || ends {
                return Ok(is_done);
            }
            // an observer that could not hand over its numbers breaks at its next step, and tells why
            if let Ok(memory) = self.save(observers)
                && keeper.keep(memory).is_break()
            {
                return Ok(false);
            }
        }
    }

    /// Writes down all that the run and its observers remember, between two steps.
    ///
    /// # Errors
    /// Fails where an observer cannot hand over its numbers.
    ///
    /// ```
    /// use carom::scheme::{Bound, MoreauJean};
    /// use carom::simulation::{FixedStep, Simulation};
    /// use carom::testbed::BouncingBall;
    ///
    /// let begin = || {
    ///     let model: Box<dyn carom::Mechanical> = Box::new(BouncingBall::default().model());
    ///     let stepper = Bound::new(MoreauJean::default(), model, carom_solve::solver::default())?;
    ///     Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-3 }), 2.0)
    /// };
    /// let (mut whole, mut first, mut second) = (begin()?, begin()?, begin()?);
    /// while whole.advance()?.is_some() {}
    /// (0..700).try_for_each(|_| first.advance().map(|_| ()))?;
    /// second.resume(&mut [], first.save(&mut [])?)?;
    /// while second.advance()?.is_some() {}
    /// assert_eq!(second.state(), whole.state());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&mut self, observers: &mut [&mut dyn Observer]) -> Result<Vec<u8>, ArchiveError> {
        let mut archive = Archive::writing();
        self.persist(observers, &mut archive)?;
        Ok(archive.into_bytes())
    }

    /// Takes over what another run of the same model, options and observers has written down. The run goes on where
    /// that one was.
    ///
    /// # Errors
    /// Fails where the memory is that of another run; this one is of no use then.
    pub fn resume(&mut self, observers: &mut [&mut dyn Observer], memory: Vec<u8>) -> Result<(), ArchiveError> {
        let mut archive = Archive::reading(memory);
        self.persist(observers, &mut archive)?;
        archive.finish()?;
        self.is_resumed = true;
        Ok(())
    }

    fn persist(&mut self, observers: &mut [&mut dyn Observer], archive: &mut Archive) -> Result<(), ArchiveError> {
        self.stepper.persist(archive)?;
        (&mut self.drive, &mut self.watch, &mut self.warnings).persist(archive)?;
        archive.same(observers.len(), "the run has another number of observers")?;
        observers.iter_mut().try_for_each(|observer| observer.persist(archive))
    }
}
