//! Runs in memory: what `carom run` computes, without a file. The files may be written later, with the same bytes.

use super::{REPORT, Run, claim, record_options, recording, report, simulate};
use crate::arguments::RunArguments;
use crate::failure::Failure;
use carom::simulation::Observer;
use carom_analysis::report::LIMIT;
use carom_analysis::results::{KeptTable, RecordOptions, Summary};
use carom_scene::Scene;
use carom_scene::scene::Outcome;
use std::path::Path;
use std::sync::Arc;

/// How a run in memory is recorded.
#[derive(Clone, Debug, Default)]
pub struct MemoryOptions {
    /// Every n-th step is a row; as the file says where there is nothing.
    pub every: Option<u64>,
    /// Columns as for `--columns`; those that are worth it where there are none.
    pub columns: Vec<String>,
}

/// A run, with all that its files tell.
pub struct MemoryRun {
    run: Run,
    arguments: RunArguments,
    failure: Option<Failure>,
}

impl MemoryRun {
    /// Runs a scene; `watch` sees each step, and may break.
    ///
    /// # Errors
    /// Fails where nothing can be computed at all. A run that fails on its way is one, see [`MemoryRun::failure`].
    pub fn new(scene: Arc<Scene>, options: &MemoryOptions, watch: &mut dyn Observer) -> Result<MemoryRun, Failure> {
        let arguments = RunArguments {
            file: scene.source().name.clone().into(),
            every: options.every,
            columns: options.columns.clone(),
            report_size: LIMIT,
            quiet: true,
            ..RunArguments::default()
        };
        let (run, failure) = simulate(&arguments, scene, None, watch)?;
        Ok(MemoryRun { run, arguments, failure })
    }

    /// What was run.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.run.scene
    }

    /// What the run found. Until files are written it names none.
    pub fn summary(&self) -> &Summary {
        &self.run.recorded.summary
    }

    /// Why the run failed.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Expected numbers of the file, where it was run to its end as it is written.
    pub fn expectations(&self) -> &[Outcome] {
        &self.run.expectations
    }

    /// The tables: trajectory, impacts, and events where there are any.
    pub fn take_tables(&mut self) -> Vec<KeptTable> {
        std::mem::take(&mut self.run.recorded.tables)
    }

    fn options(&self, csv: bool) -> RecordOptions {
        RecordOptions { csv, ..record_options(&self.arguments, &self.run.scene) }
    }

    /// Writes the files that `carom run` would have written, with the tables that were taken.
    ///
    /// # Errors
    /// Fails where the folder is not one of carom's, or cannot be written.
    pub fn write(&mut self, folder: &Path, tables: &[KeptTable], csv: bool) -> Result<(), Failure> {
        let (options, claim) = (self.options(csv), claim(&self.arguments, folder)?);
        let failed = |error| recording(error, Some(folder));
        self.run.recorded.write(claim, tables, &options).map_err(failed)?;
        let report = report::build(&self.run, self.arguments.report_size);
        if let Some(draft) = self.run.recorded.draft.as_mut() {
            draft.write(REPORT, |out| report.write(out))?;
        }
        self.run.recorded.publish().map_err(failed)
    }

    /// The page of the report.
    ///
    /// # Errors
    /// Fails where it cannot be written down.
    pub fn report(&mut self) -> Result<String, Failure> {
        let mut page = Vec::new();
        let written = report::build(&self.run, self.arguments.report_size).write(&mut page);
        written.map_err(|error| Failure::Environment(error.to_string()))?;
        String::from_utf8(page).map_err(|error| Failure::Environment(error.to_string()))
    }
}
