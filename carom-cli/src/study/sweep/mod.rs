//! `carom sweep`: any quantities of any model over a grid or a random sample of parameters, one row per run.
//!
//! Rows are appended to the table as they come; a rerun keeps those that are there and computes what is missing. At the end they stand in
//! the order of the runs, so that the file does not depend on threads or interruptions.

mod measure;
mod report;
mod table;

use super::arguments::SweepArguments;
use super::{Setting, bar, load, threads, varied_parameter, write_report, write_text};
use crate::console::say;
use crate::failure::Failure;
use crate::list::plain_table;
use crate::progress::interrupted;
use carom::ModelError;
use carom::simulation::{Observer, StepView};
use carom_analysis::results::fingerprint;
use carom_analysis::study::parallel;
use carom_analysis::study::range::Grid;
use carom_scene::Scene;
use measure::Measure;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::Path;
use table::{Row, Status, Table};

/// Rows that are printed.
const PRINTED: usize = 20;

/// What is run and measured.
struct Plan {
    scene: Scene,
    grid: Grid,
    /// Seed of a random sample; the whole grid where there is nothing.
    seed: Option<u64>,
    count: usize,
    measures: Vec<Measure>,
}

pub fn sweep(arguments: &SweepArguments) -> Result<(), Failure> {
    let Setting { scene, folder } = load(&arguments.study, "sweep")?;
    let plan = Plan::new(scene, arguments)?;
    std::fs::create_dir_all(&folder)
        .map_err(|e| Failure::Environment(format!("cannot make the folder `{}`: {e}", folder.display())))?;
    let mut table = plan.open(&folder, arguments)?;
    let kept = table.rows.iter().flatten().count();
    let _ = std::fs::remove_file(folder.join("sweep.html"));
    let quiet = arguments.study.quiet || arguments.study.json;
    if kept > 0 && !quiet {
        say(format_args!("{kept} of {} runs are there already", plan.count))?;
    }
    plan.compute(&mut table, threads(arguments.threads, plan.count), quiet)?;
    table.finish()?;
    let rows: Vec<&Row> = table.rows.iter().flatten().collect();
    write_report(&folder.join("sweep.html"), &report::build(&plan, &rows))?;
    if arguments.study.json {
        say(serde_json::to_string_pretty(&plan.json(&rows)).unwrap_or_default())?;
    } else if !arguments.study.quiet {
        plan.print(&rows)?;
        say(format_args!("table  {0}/sweep.csv\nreport {0}/sweep.html", folder.display()))?;
    }
    let good = rows.iter().filter(|row| row.status == Status::Finished).count();
    match rows.first() {
        _ if interrupted() => Err(Failure::Interrupted),
        Some(row) if good == 0 => {
            Err(Failure::Computation(format!("all {} runs failed, the first one: {}", rows.len(), row.reason)))
        }
        _ => Ok(()),
    }
}

impl Plan {
    fn new(scene: Scene, arguments: &SweepArguments) -> Result<Plan, Failure> {
        let mut all = Vec::new();
        for text in &arguments.vary {
            let varied = varied_parameter(&scene, "--vary", text)?;
            if all.iter().any(|other: &carom_analysis::study::range::Varied| other.name == varied.name) {
                let message = format!("--vary: the parameter `{}` is varied twice", varied.name);
                return Err(Failure::usage(message, "give all its values in one list"));
            }
            all.push(varied);
        }
        let grid = Grid(all);
        let count = match arguments.random {
            Some(count) => count as usize,
            None => grid.count().ok_or_else(|| {
                Failure::usage("--vary: the grid has too many runs", "take fewer values, or a sample with --random N")
            })?,
        };
        let measures = measure::all(&scene, &arguments.measure)?;
        Ok(Plan { scene, grid, seed: arguments.random.map(|_| arguments.seed), count, measures })
    }

    fn values(&self, run: usize) -> Vec<f64> {
        match self.seed {
            Some(seed) => self.grid.draw(seed, run),
            None => self.grid.at(run),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.grid.0.iter().map(|varied| varied.name.as_str())
    }

    /// Everything that a row depends on.
    fn describe(&self) -> Value {
        let ranges: Vec<String> = self.grid.0.iter().map(|varied| format!("{varied:?}")).collect();
        json!({
            "carom": env!("CARGO_PKG_VERSION"),
            "model": fingerprint(self.scene.text()),
            "overrides": format!("{:?}", self.scene.overrides()),
            "vary": ranges,
            "seed": self.seed,
            "runs": self.count,
            "measures": self.measures.iter().map(|m| m.text.as_str()).collect::<Vec<_>>(),
        })
    }

    /// The table of the folder, with the rows of an earlier run of the same plan.
    fn open(&self, folder: &Path, arguments: &SweepArguments) -> Result<Table, Failure> {
        let (path, description) = (folder.join("sweep.csv"), folder.join("sweep.json"));
        let wanted = serde_json::to_string_pretty(&self.describe()).unwrap_or_default() + "\n";
        let there = std::fs::read_to_string(&description).ok().filter(|_| path.exists() && !arguments.fresh);
        match there {
            Some(text) if text != wanted => Err(Failure::usage(
                format!("`{}` holds another sweep", folder.display()),
                "choose another folder with --out, or forget it with --fresh",
            )),
            Some(_) => Table::resume(&path, self.header(), self.count, self.grid.0.len()),
            None => {
                let table = Table::create(&path, self.header(), self.count)?;
                write_text(&description, &wanted)?;
                Ok(table)
            }
        }
    }

    fn header(&self) -> Vec<String> {
        let first = std::iter::once("run".to_owned()).chain(self.names().map(str::to_owned));
        let status = ["status".to_owned(), "reason".to_owned()];
        first.chain(status).chain(self.measures.iter().map(|m| m.text.clone())).collect()
    }

    /// Computes the rows that are missing.
    fn compute(&self, table: &mut Table, threads: usize, quiet: bool) -> Result<(), Failure> {
        let missing: Vec<usize> = (0..self.count).filter(|run| table.rows[*run].is_none()).collect();
        let bar = bar(missing.len() as u64, "runs", quiet);
        let mut failure = None;
        let wanted = |_: usize| !interrupted();
        let task = |k: usize| self.run(missing[k]);
        parallel::each(missing.len(), threads, &wanted, &task, &mut |k, row: Option<Row>| {
            bar.inc(1);
            // a run that was interrupted leaves no row
            if let (Some(row), None) = (row, &failure)
                && let Err(error) = table.append(missing[k], row)
            {
                failure = Some(error);
            }
        });
        bar.finish_and_clear();
        failure.map_or(Ok(()), Err)
    }

    /// One run; nothing if it was interrupted.
    fn run(&self, run: usize) -> Option<Row> {
        let values = self.values(run);
        let pairs: Vec<(&str, f64)> = self.names().zip(values.iter().copied()).collect();
        let mut row =
            Row { values: values.clone(), status: Status::Finished, reason: String::new(), measured: Vec::new() };
        let scene = match self.scene.with(&pairs) {
            Ok(scene) => scene,
            Err(findings) => {
                row.status = Status::Refused;
                row.reason = findings.first().map_or("the model is refused".into(), |finding| finding.message.clone());
                return Some(row);
            }
        };
        let mut watch = measure::watch(&scene, &self.measures);
        let outcome = scene.simulation().map_err(|e| e.to_string()).and_then(|mut simulation| {
            let finished = simulation.run(&mut [&mut watch, &mut Patience]).map_err(|e| e.to_string())?;
            Ok(finished || !interrupted())
        });
        match outcome {
            Ok(false) => return None,
            Ok(true) => row.measured = watch.outcomes().iter().map(|outcome| outcome.actual).collect(),
            Err(reason) => {
                row.status = Status::Failed;
                row.reason = reason;
            }
        }
        Some(row)
    }

    fn json(&self, rows: &[&Row]) -> Value {
        let row = |row: &&Row| {
            let values: serde_json::Map<String, Value> =
                self.names().map(str::to_owned).zip(row.values.iter().map(|x| json!(x))).collect();
            let texts = self.measures.iter().map(|m| m.text.clone());
            let measured: serde_json::Map<String, Value> = texts.zip(row.measured.iter().map(|x| json!(x))).collect();
            json!({ "values": values, "status": row.status.word(), "reason": row.reason, "measured": measured })
        };
        Value::Array(rows.iter().map(row).collect())
    }

    fn print(&self, rows: &[&Row]) -> Result<(), Failure> {
        let count = |status: Status| rows.iter().filter(|row| row.status == status).count();
        let (finished, failed, refused) = (count(Status::Finished), count(Status::Failed), count(Status::Refused));
        say(format_args!("{}: {finished} runs finished, {failed} failed, {refused} refused", self.scene.name))?;
        let mut table = plain_table();
        table.set_header(self.header().into_iter().filter(|name| name != "run"));
        for row in rows.iter().take(PRINTED) {
            let mut cells: Vec<String> = row.values.iter().map(|x| format!("{x}")).collect();
            cells.extend([row.status.word().to_owned(), row.reason.clone()]);
            cells.extend(row.measured.iter().map(|x| carom_analysis::report::number(*x, 8)));
            table.add_row(cells);
        }
        say(table)?;
        if rows.len() > PRINTED {
            say(format_args!("the first {PRINTED} of {} rows are shown", rows.len()))?;
        }
        Ok(())
    }
}

/// Ends a run when the user asks to stop.
struct Patience;

impl Observer for Patience {
    fn observe(&mut self, _view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        Ok(if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
