//! Everything that is recorded of a run, as one observer.

use super::column::{ColumnInfo, Columns, catalogue, select};
use super::events::Events;
use super::impacts::Impacts;
use super::play::Plays;
use super::summary::{EnergySummary, Failure, Inputs, SmallestGaps, SolverPath, Status, Stop, Summary, Warning};
use super::{Estimate, History, KeptTable, Outputs, RecordOptions, ResultError, Trajectory};
use crate::folder::{Draft, FORMAT, Folder, Replace, Sharing, write_file};
use carom::scheme::Stepper;
use carom::simulation::{Audit, EnergyLedger, Observer, StepView};
use carom::{ModelError, Simulation, SimulationError};
use carom_solve::{Archive, ArchiveError, Persist};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Trajectory, impacts, events, energy ledger, smallest gaps, history and audit of a run.
///
/// When something cannot be recorded it breaks the run; [`RunRecorder::finish`] then closes what is there and tells
/// why.
pub struct RunRecorder {
    /// Nothing where rows are kept in memory.
    draft: Option<Draft>,
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
    /// Time of the clock [s]; it is in no result file.
    pub wall_seconds: f64,
    /// For the report: the recorded columns.
    pub history: History,
    /// Why recording stopped, or why a file could not be completed. The summary is complete in any case.
    pub error: Option<ResultError>,
    /// The files, until they are published; none where the disk failed: then what there is of them stays aside.
    pub draft: Option<Draft>,
    /// The tables, where they are kept in memory.
    pub tables: Vec<KeptTable>,
}

impl Recorded {
    /// Writes what was kept in memory into a folder that is claimed; [`Recorded::publish`] is to follow. The files are
    /// those of a run in that folder with the same options. Tables are given, for their numbers may be kept elsewhere.
    ///
    /// # Errors
    /// Fails where they cannot be written.
    pub fn write(&mut self, folder: Folder, tables: &[KeptTable], options: &RecordOptions) -> Result<(), ResultError> {
        folder.check(names(options))?;
        let mut draft = folder.draft()?;
        let mut files = Vec::new();
        for table in tables {
            let written = table.write(draft.place(), options, self.summary.partial.as_deref())?;
            written.error.map_or(Ok(()), Err)?;
            files.extend(written.files);
        }
        files.iter().for_each(|name| draft.add(name));
        files.push(SUMMARY.into());
        self.summary.files = files;
        self.summary.write(&mut draft)?;
        self.draft = Some(draft);
        Ok(())
    }

    /// Puts the files in their places, in place of those of an earlier run. Other files may be added to the draft
    /// before.
    ///
    /// # Errors
    /// Fails where they cannot be put there; the earlier result stays until the new one is whole.
    pub fn publish(&mut self) -> Result<(), ResultError> {
        let Some(draft) = self.draft.take() else { return Ok(()) };
        let times = draft.folder().path().join(".carom/run.times.json");
        draft.publish(self.summary.partial.as_deref())?;
        let text = format!("{{ \"wall_seconds\": {:?} }}\n", self.wall_seconds);
        Ok(write_file(&times, Replace::Always, &[], |out| out.write_all(text.as_bytes()))?)
    }
}

/// The file of the summary.
const SUMMARY: &str = "summary.json";

/// Names that a run may write.
fn names(options: &RecordOptions) -> Vec<String> {
    let mut names = vec![SUMMARY.to_owned()];
    for (ending, wanted) in [("parquet", options.parquet), ("csv", options.csv)] {
        names.extend(["trajectory", "impacts", "events"].iter().filter(|_| wanted).map(|n| format!("{n}.{ending}")));
    }
    names
}

impl RunRecorder {
    /// Claims a directory, which is made where needed, and opens files in it; those of an earlier run stay until
    /// these are whole.
    pub fn create(
        directory: impl AsRef<Path>,
        stepper: &mut dyn Stepper,
        options: RecordOptions,
        outputs: Option<Outputs>,
    ) -> Result<RunRecorder, ResultError> {
        let folder = Folder::claim(directory.as_ref(), "run", Sharing::Alone)?;
        RunRecorder::in_folder(folder, stepper, options, outputs)
    }

    /// Opens files for a folder that is claimed.
    pub fn in_folder(
        folder: Folder,
        stepper: &mut dyn Stepper,
        options: RecordOptions,
        outputs: Option<Outputs>,
    ) -> Result<RunRecorder, ResultError> {
        select(catalogue(stepper, outputs.as_ref(), &options.units), &options.columns)?;
        folder.check(names(&options))?;
        let draft = if options.resumes { folder.resumed_draft()? } else { folder.draft()? };
        RunRecorder::open(Some(draft), stepper, options, outputs)
    }

    /// Keeps all rows in memory: [`Recorded::tables`].
    ///
    /// # Errors
    /// Fails for columns that the run does not have.
    pub fn in_memory(
        stepper: &mut dyn Stepper,
        options: RecordOptions,
        outputs: Option<Outputs>,
    ) -> Result<RunRecorder, ResultError> {
        RunRecorder::open(None, stepper, RecordOptions { keep: true, ..options }, outputs)
    }

    fn open(
        draft: Option<Draft>,
        stepper: &mut dyn Stepper,
        options: RecordOptions,
        outputs: Option<Outputs>,
    ) -> Result<RunRecorder, ResultError> {
        let clock = Instant::now();
        let candidates = catalogue(stepper, outputs.as_ref(), &options.units);
        let total = candidates.len();
        let columns = select(candidates, &options.columns)?;
        let left_out = if options.columns == Columns::Auto { total - columns.len() } else { 0 };
        let place = draft.as_ref().map_or(Path::new(""), Draft::place);
        let trajectory = Trajectory::create(place, stepper, &options, outputs)?;
        let impacts = Impacts::create(place, stepper.labels(), &options)?;
        let events = Events::new(place, &columns, &options);
        let contacts = stepper.labels().contacts.iter().map(|(name, law)| (name.clone(), law.is_contact())).collect();
        Ok(RunRecorder {
            draft,
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

    /// Where files are until they are published: the place of a checkpoint. Empty where rows are kept in memory.
    pub fn place(&self) -> &Path {
        self.draft.as_ref().map_or(Path::new(""), Draft::place)
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

    /// Closes all files, writes `summary.json` and publishes them, after a run of any outcome.
    pub fn finish(self, inputs: Inputs, outcome: &Result<bool, SimulationError>, run: &Simulation) -> Recorded {
        let mut recorded = self.close(inputs, outcome, run);
        if let Err(cause) = recorded.publish() {
            recorded.error.get_or_insert(cause);
        }
        recorded
    }

    /// Closes all files and writes `summary.json`, after a run of any outcome; [`Recorded::publish`] is to follow.
    pub fn close(mut self, inputs: Inputs, outcome: &Result<bool, SimulationError>, run: &Simulation) -> Recorded {
        let (status, failure) = self.ending(outcome, self.error.as_ref());
        let partial = status.partial(failure.as_ref().map_or(self.last.0, |failure| failure.time));
        let partial = partial.as_deref();
        let statistics = run.statistics();
        let mut warnings = run.warnings();
        warnings.extend(&self.audit.warnings());
        self.warnings.extend(warnings.sorted().iter().map(|warning| Warning::of(warning, run.labels())));
        let gaps = &self.trajectory.values.gaps;
        let smallest = std::mem::take(&mut self.contacts)
            .into_iter()
            .zip(&gaps.smallest)
            .filter(|((_, unilateral), _)| *unilateral);
        let smallest_gap = SmallestGaps {
            overall: gaps.overall.filter(|gap| gap.is_finite()),
            contacts: smallest.map(|((name, _), gap)| (name, gap.filter(|gap| gap.is_finite()))).collect(),
            overlap: self.audit.deepest(),
        };
        let plays = self.plays.finish(&gaps.smallest);
        let energy = self.audit.ledger().map(EnergySummary::from);
        let impacts = self.impacts.count();
        let (trajectory, history) = self.trajectory.finish(partial);
        let list = self.impacts.finish(partial);
        let (counts, accumulations) = (self.events.counts.clone(), self.events.accumulations.list.clone());
        let events = self.events.finish(partial);
        let mut error = self.error.or(trajectory.error).or(list.error).or(events.error);
        let (status, failure) = match &error {
            // the disk took rows until the end, and not the last of them
            Some(cause) if status == Status::Finished => (Status::Failed, Some(Failure::recording(cause, self.last))),
            _ => (status, failure),
        };
        let mut files = trajectory.files;
        files.extend(list.files);
        files.extend(events.files);
        files.push(SUMMARY.into());
        let tables = [trajectory.kept, list.kept, events.kept].into_iter().flatten().collect();
        let summary = Summary {
            name: inputs.name.clone(),
            carom: env!("CARGO_PKG_VERSION").into(),
            format: FORMAT,
            status,
            partial: partial.map(str::to_owned),
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
            solver: SolverPath::all(run.solver_paths()),
            warnings: self.warnings,
            estimate: self.estimate,
        };
        let mut draft = self.draft;
        if let Some(draft) = &mut draft {
            summary.files.iter().filter(|name| *name != SUMMARY).for_each(|name| draft.add(name));
            if let Err(cause) = summary.write(draft) {
                error.get_or_insert(cause);
            }
        }
        // what could not be written stays aside, and the earlier result where it is
        let draft = draft.filter(|_| !error.as_ref().is_some_and(ResultError::is_environment));
        let wall_seconds = self.clock.elapsed().as_secs_f64();
        Recorded { summary, wall_seconds, history, error, draft, tables }
    }

    /// How a run has ended, and why it failed.
    fn ending(
        &self,
        outcome: &Result<bool, SimulationError>,
        error: Option<&ResultError>,
    ) -> (Status, Option<Failure>) {
        match (outcome, error) {
            (Err(cause), _) => (Status::Failed, Some(Failure::of(cause, self.last.0, self.last.1))),
            (Ok(_), Some(cause)) => (Status::Failed, Some(Failure::recording(cause, self.last))),
            (Ok(true), None) => (Status::Finished, None),
            (Ok(false), None) => (Status::Interrupted, None),
        }
    }
}

impl Summary {
    /// Writes the summary.
    fn write(&self, draft: &mut Draft) -> Result<(), ResultError> {
        let name = SUMMARY;
        let text = serde_json::to_string_pretty(self)
            .map_err(|source| ResultError::Json { path: draft.place().join(name), source })?;
        draft.write(name, |out| out.write_all((text + "\n").as_bytes()))?;
        Ok(())
    }
}

impl Persist for RunRecorder {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let RunRecorder { trajectory, impacts, events, plays, stopped, audit, last, started, .. } = self;
        (trajectory, impacts, events, plays).persist(archive)?;
        Persist::persist(audit, archive)?;
        (stopped, last, started).persist(archive)
    }
}

impl Observer for RunRecorder {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        if !archive.is_reading() && self.error.is_none() {
            let synced = self.trajectory.sync().and_then(|()| self.impacts.sync()).and_then(|()| self.events.sync());
            self.error = synced.err();
        }
        if self.error.is_some() {
            return Err(archive.mismatch("rows could not be written"));
        }
        Persist::persist(self, archive)
    }

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
