//! Everything that is recorded of a run, as one observer.

use super::column::{ColumnInfo, Columns, catalogue, select};
use super::events::Events;
use super::impacts::Impacts;
use super::play::Plays;
use super::summary::{EnergySummary, Failure, Inputs, SmallestGaps, SolverPath, Status, Stop, Summary, Warning};
use super::table::{remove, write_whole};
use super::{Estimate, History, Outputs, RecordOptions, ResultError, Trajectory};
use carom::scheme::Stepper;
use carom::simulation::{Audit, EnergyLedger, Observer, StepView};
use carom::{ModelError, Simulation, SimulationError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Trajectory, impacts, events, energy ledger, smallest gaps, history and audit of a run.
///
/// When something cannot be recorded it breaks the run; [`RunRecorder::finish`] then closes what is there and tells
/// why.
pub struct RunRecorder {
    directory: PathBuf,
    trajectory: Trajectory,
    impacts: Impacts,
    events: Events,
    plays: Plays,
    /// The event of the user that ended the run, and its time.
    stopped: Option<Stop>,
    audit: Audit,
    /// Columns of the trajectory.
    columns: Vec<ColumnInfo>,
    /// Columns of a large model that nobody asked to leave out.
    left_out: usize,
    /// Names of the contacts; those that have a smallest gap are marked.
    contacts: Vec<(String, bool)>,
    clock: Instant,
    /// Time and number of the last step.
    last: (f64, u64),
    saves: u64,
    started: bool,
    error: Option<ResultError>,
    /// Warnings that come from elsewhere than the run.
    warnings: Vec<Warning>,
    estimate: Option<Estimate>,
}

/// What is left of a run.
#[derive(Debug)]
#[must_use]
pub struct Recorded {
    /// What `summary.json` says.
    pub summary: Summary,
    /// For the report: the recorded columns.
    pub history: History,
    /// Why recording stopped, or why a file could not be completed. The summary is complete in any case.
    pub error: Option<ResultError>,
}

impl RunRecorder {
    /// Opens the files in `directory`, which is made where needed; files of an earlier run in it are removed.
    pub fn create(
        directory: impl AsRef<Path>,
        stepper: &mut dyn Stepper,
        options: RecordOptions,
        outputs: Option<Outputs>,
    ) -> Result<RunRecorder, ResultError> {
        let clock = Instant::now();
        let directory = directory.as_ref().to_path_buf();
        let candidates = catalogue(stepper, outputs.as_ref(), &options.units);
        let total = candidates.len();
        let columns = select(candidates, &options.columns)?;
        let left_out = if options.columns == Columns::Auto { total - columns.len() } else { 0 };
        let trajectory = Trajectory::create(&directory, stepper, &options, outputs)?;
        let impacts = Impacts::create(&directory, stepper.labels(), &options)?;
        let events = Events::create(&directory, &columns, &options)?;
        remove(&directory.join("summary.json"))?;
        let contacts = stepper.labels().contacts.iter().map(|(name, law)| (name.clone(), law.is_contact())).collect();
        Ok(RunRecorder {
            directory,
            columns: trajectory.columns(),
            left_out,
            trajectory,
            impacts,
            events,
            plays: Plays::new(options.plays),
            stopped: None,
            audit: Audit::default(),
            contacts,
            clock,
            last: (stepper.from().t, 0),
            saves: 0,
            started: false,
            error: None,
            warnings: Vec::new(),
            estimate: None,
        })
    }

    /// The trajectory, for progress and tests.
    pub fn trajectory(&self) -> &Trajectory {
        &self.trajectory
    }

    /// Impacts so far.
    pub fn impacts(&self) -> u64 {
        self.impacts.count()
    }

    /// Why recording stopped.
    pub fn error(&self) -> Option<&ResultError> {
        self.error.as_ref()
    }

    /// Adds a warning to the summary that the run itself does not know: about the model file, or about files that were
    /// written.
    pub fn warn(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// Adds to the summary how far off the run is.
    pub fn set_estimate(&mut self, estimate: Estimate) {
        self.estimate = Some(estimate);
    }

    fn begin(&mut self, stepper: &mut dyn Stepper) -> Result<(), ResultError> {
        self.audit.start(stepper)?;
        self.energies_are_finite(stepper.from().t)?;
        let energy = self.audit.ledger().map(|ledger| ledger.initial);
        self.trajectory.begin(stepper, energy)
    }

    /// The summary has energies whatever columns are recorded.
    fn energies_are_finite(&self, t: f64) -> Result<(), ResultError> {
        match self.audit.ledger().and_then(EnergyLedger::not_finite) {
            Some((column, value)) => Err(ResultError::NotFinite { column: column.into(), value, t }),
            None => Ok(()),
        }
    }

    fn take(&mut self, view: &mut StepView<'_>) -> Result<(), ResultError> {
        self.last = (view.to().t, view.index);
        _ = self.audit.observe(view)?;
        self.energies_are_finite(view.to().t)?;
        self.impacts.take(view)?;
        self.events.take(view)?;
        self.plays.take(view);
        self.stopped = view.stopped.map(|event| Stop { event: event.into(), time: view.to().t });
        let energy = self.audit.ledger().map(|ledger| ledger.last);
        self.trajectory.take(view, energy)?;
        // impacts may be rare: they are saved when the trajectory is
        if self.saves != self.trajectory.saves() {
            self.saves = self.trajectory.saves();
            self.impacts.save()?;
            self.events.save()?;
        }
        Ok(())
    }

    /// Closes all files and writes `summary.json`, after a run of any outcome.
    pub fn finish(mut self, inputs: Inputs, outcome: &Result<bool, SimulationError>, run: &Simulation) -> Recorded {
        let statistics = run.statistics();
        let mut warnings = run.warnings();
        warnings.extend(&self.audit.warnings());
        self.warnings.extend(warnings.sorted().iter().map(|warning| Warning::of(warning, run.labels())));
        let gaps = &self.trajectory.values.gaps;
        let smallest = self.contacts.into_iter().zip(&gaps.smallest).filter(|((_, unilateral), _)| *unilateral);
        let smallest_gap = SmallestGaps {
            overall: gaps.overall.filter(|gap| gap.is_finite()),
            contacts: smallest.map(|((name, _), gap)| (name, gap.filter(|gap| gap.is_finite()))).collect(),
            overlap: self.audit.deepest(),
        };
        let plays = self.plays.finish(&gaps.smallest);
        let energy = self.audit.ledger().map(EnergySummary::from);
        let impacts = self.impacts.count();
        let (trajectory, history) = self.trajectory.finish();
        let list = self.impacts.finish();
        let (counts, accumulations) = (self.events.counts.clone(), self.events.accumulations.list.clone());
        let events = self.events.finish();
        let mut error = self.error.or(trajectory.error).or(list.error).or(events.error);
        let (time, step) = self.last;
        let (status, failure) = match (outcome, &error) {
            (Err(cause), _) => (Status::Failed, Some(Failure::of(cause, time, step))),
            (Ok(_), Some(cause)) => {
                let time = cause.time().unwrap_or(time);
                let contact = cause.contact().map(String::from);
                (Status::Failed, Some(Failure { time, step, contact, message: cause.to_string(), residual: None }))
            }
            (Ok(true), None) => (Status::Finished, None),
            (Ok(false), None) => (Status::Interrupted, None),
        };
        let mut files = trajectory.files;
        files.extend(list.files);
        files.extend(events.files);
        files.push("summary.json".into());
        let summary = Summary {
            name: inputs.name.clone(),
            carom: env!("CARGO_PKG_VERSION").into(),
            status,
            failure,
            inputs,
            statistics: statistics.into(),
            impacts,
            events: counts,
            accumulations,
            stopped: self.stopped,
            smallest_gap,
            plays,
            certificate: statistics.worst.into(),
            energy,
            rows: trajectory.rows,
            columns: self.columns,
            columns_left_out: self.left_out,
            files,
            wall_seconds: self.clock.elapsed().as_secs_f64(),
            solver: SolverPath::all(run.solver_paths()),
            warnings: self.warnings,
            estimate: self.estimate,
        };
        if let Err(cause) = summary.write(&self.directory.join("summary.json")) {
            error.get_or_insert(cause);
        }
        Recorded { summary, history, error }
    }
}

impl Summary {
    /// Writes the summary as a file that appears only when it is complete.
    pub fn write(&self, path: &Path) -> Result<(), ResultError> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|source| ResultError::Json { path: path.to_path_buf(), source })?;
        write_whole(path, &(text + "\n"))
    }
}

impl Observer for RunRecorder {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        // a run that is continued keeps its ledger
        if !self.started {
            self.started = true;
            self.error = self.begin(stepper).err();
        }
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        if self.error.is_none() {
            self.error = self.take(view).err();
        }
        Ok(if self.error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
