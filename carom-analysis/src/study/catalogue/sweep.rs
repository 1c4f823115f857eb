//! Any quantities of any model over a grid or a random sample of parameters: one row per run.
//!
//! Each unit is a run. A row is finished, failed (the computation, with the reason) or refused (the model is not good
//! with these values); the rows stand in the order of the runs, whatever the threads and the interruptions. Samples
//! depend on seed and number of the run alone: random ones [steele2014], or those of Sobol's sequence [sobol1967,
//! joe2008], which are spread more evenly, best over a power of two of runs. A sample has percentiles of each quantity,
//! by straight lines between its values in order. Margins of friction are those of rest (`carom show equilibrium`), to
//! which the model goes before the run.

use super::{document, label, varied_parameter};
use crate::report::{Cell, Chart, Series, SeriesStyle};
use crate::study::document::{Column, Document, Format, Printed, Section, Table};
use crate::study::range::Grid;
use crate::study::runner::{How, Outcome, Plan, Study, StudyInfo, Watch};
use crate::study::sobol::{MOST_DIMENSIONS, Sobol};
use crate::study::{StopOnRequest, StudyError, exact};
use carom::Subject;
use carom::equilibrium::{Status, Where, equilibrium};
use carom_solve::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows that are printed.
const PRINTED: usize = 20;

/// Curves of one chart.
const CURVES: usize = 12;

/// Percentiles of a sample.
const PERCENTILES: [u32; 5] = [5, 25, 50, 75, 95];

/// Options of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sweep {
    /// A parameter with its values: e=0.1:0.9:9 (first, last, number) or mu=0.1,0.2; several make a grid.
    #[schemars(extend("x-value" = "NAME=VALUES", "x-required" = true))]
    pub vary: Vec<String>,
    /// Draw so many random combinations instead of the whole grid: uniform in a range, or any of a list.
    #[schemars(range(min = 1, max = 10_000_000), extend("x-value" = "N"))]
    pub random: Option<u64>,
    /// Take so many points of Sobol's sequence instead: more even than random ones, best a power of two.
    #[schemars(range(min = 1, max = 10_000_000), extend("x-value" = "N"))]
    pub sobol: Option<u64>,
    /// Seed of the random numbers, or of the shift of Sobol's sequence (0 for none).
    pub seed: u64,
    /// What to note of each run: "final NAME", "min NAME", "max NAME", "sum NAME", "mean NAME" of a column, "impacts",
    /// "events NAME", "first NAME", "last NAME" of an event, "margin CONTACT" to slip at rest [default: final
    /// positions, impacts, and what the file expects].
    #[schemars(extend("x-value" = "QUANTITY"))]
    pub measure: Vec<String>,
}

impl Default for Sweep {
    fn default() -> Self {
        Sweep { vary: Vec::new(), random: None, sobol: None, seed: 1, measure: Vec::new() }
    }
}

impl Options for Sweep {}

impl Study for Sweep {
    const INFO: StudyInfo = StudyInfo {
        citations: &["steele2014", "sobol1967", "joe2008"],
        files: &["sweep.csv", "percentiles.csv", "sweep.html"],
        counts: "runs",
        keeps_parts: true,
        ..StudyInfo::new(
            "sweep",
            "Run a model over a grid or a random sample of its parameters; a rerun computes what is missing",
            include_str!("sweep.rs"),
        )
    };
    type Plan = SweepPlan;

    fn plan(&self, subject: Arc<dyn Subject>) -> Result<SweepPlan, StudyError> {
        let mut grid = Grid(Vec::new());
        for text in &self.vary {
            let varied = varied_parameter(&*subject, "--vary", text)?;
            if grid.0.iter().any(|other| other.name == varied.name) {
                let message = format!("--vary: the parameter `{}` is varied twice", varied.name);
                return Err(StudyError::usage(message, "give all its values in one list"));
            }
            grid.0.push(varied);
        }
        if grid.0.is_empty() {
            return Err(StudyError::usage("nothing is varied", "give --vary, for example --vary e=0.1:0.9:9"));
        }
        let (draw, count) = self.draw(&grid)?;
        let measures = if self.measure.is_empty() { subject.quantities() } else { self.measure.clone() };
        let measures: Vec<String> = measures.iter().map(|text| text.trim().to_owned()).collect();
        let (margins, metered) = split(&measures);
        subject.meter(&metered).map_err(|e| StudyError::usage(format!("--measure: {e}"), e.hint))?;
        for contact in margins {
            if !subject.laws().iter().any(|law| law.name == contact && law.law.has_friction()) {
                let message = format!("--measure: there is no contact `{contact}` with friction");
                let laws = subject.laws();
                let known: Vec<&str> = laws.iter().filter(|law| law.law.has_friction()).map(|law| law.name).collect();
                let hint = subject.hint(contact, &known, || format!("contacts with friction: {}", known.join(", ")));
                return Err(StudyError::usage(message, hint));
            }
        }
        Ok(SweepPlan { subject, grid, draw, count, measures })
    }
}

impl Sweep {
    /// Which values are taken, and how many runs there are.
    fn draw(&self, grid: &Grid) -> Result<(Draw, usize), StudyError> {
        match (self.random, self.sobol) {
            (Some(_), Some(_)) => Err(StudyError::usage("--sobol: there is --random as well", "take one of both")),
            (Some(count), None) => Ok((Draw::Random(self.seed), count as usize)),
            (None, Some(count)) if grid.0.len() <= MOST_DIMENSIONS => {
                Ok((Draw::Sobol(Sobol::new(grid.0.len(), self.seed)), count as usize))
            }
            (None, Some(_)) => {
                let message =
                    format!("--sobol: {} parameters are varied, {MOST_DIMENSIONS} are the most", grid.0.len());
                Err(StudyError::usage(message, "take --random N"))
            }
            (None, None) => {
                let hint = "take fewer values, or a sample with --random N or --sobol N";
                let count = grid.count();
                let count = count.ok_or_else(|| StudyError::usage("--vary: the grid has too many runs", hint))?;
                Ok((Draw::Grid, count))
            }
        }
    }
}

/// Which combinations of values are taken.
enum Draw {
    /// All.
    Grid,
    /// Random ones of this seed.
    Random(u64),
    /// Those of a sequence.
    Sobol(Sobol),
}

/// What is run and measured.
pub struct SweepPlan {
    subject: Arc<dyn Subject>,
    grid: Grid,
    draw: Draw,
    count: usize,
    measures: Vec<String>,
}

/// The contact of a measure "margin CONTACT".
fn margin_of(measure: &str) -> Option<&str> {
    let (word, contact) = measure.split_once(char::is_whitespace)?;
    (word == "margin").then_some(contact.trim())
}

/// Contacts whose margins are measured, and the measures of the run itself.
fn split(measures: &[String]) -> (Vec<&str>, Vec<String>) {
    let margins = measures.iter().filter_map(|text| margin_of(text)).collect();
    (margins, measures.iter().filter(|text| margin_of(text).is_none()).cloned().collect())
}

/// Margins of contacts at rest, where the model is drawn or where it goes to from there.
fn margins(subject: &dyn Subject, contacts: &[&str]) -> Result<Vec<f64>, StudyError> {
    let (mut model, mut tangent) = (subject.mechanical()?, subject.tangent()?);
    let rest = equilibrium(&mut *model, &mut *tangent, subject.initial(), Where::FromHere)
        .map_err(|error| StudyError::Computation(error.to_string()))?;
    let margin = |contact: &&str| {
        let law = rest.laws.iter().find(|law| law.name == **contact && law.status != Status::Open);
        let used = law.and_then(|law| law.usage.first().copied().flatten()).and_then(|usage| usage.least);
        used.map(|used| 1.0 - used).ok_or_else(|| StudyError::Computation(format!("`{contact}` is open at rest")))
    };
    contacts.iter().map(margin).collect()
}

/// A percentile of values in rising order.
fn percentile(sorted: &[f64], percent: u32) -> f64 {
    let place = f64::from(percent) / 100.0 * (sorted.len() - 1) as f64;
    let (low, part) = (place.floor() as usize, place.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + part * (sorted[high] - sorted[low])
}

/// What was measured in a run.
#[derive(Serialize, Deserialize)]
pub struct Measured(#[serde(with = "exact")] Vec<f64>);

/// A row of the table.
struct Row<'a> {
    run: usize,
    values: Vec<f64>,
    status: &'static str,
    reason: &'a str,
    /// Empty where the run did not finish.
    measured: &'a [f64],
}

impl Plan for SweepPlan {
    type Part = Measured;

    fn units(&self) -> usize {
        self.count
    }

    fn label(&self, unit: usize) -> String {
        let pairs = self.names().zip(self.values(unit)).map(|(name, value)| format!("{name} = {value}"));
        pairs.collect::<Vec<_>>().join(", ")
    }

    fn compute(&self, unit: usize, watch: &Watch<'_>) -> Result<Measured, StudyError> {
        let values = self.values(unit);
        let pairs: Vec<(&str, f64)> = self.names().zip(values.iter().copied()).collect();
        let subject = self.subject.with(&pairs).map_err(|e| StudyError::Refused(e.message))?;
        let (contacts, metered) = split(&self.measures);
        let margins = if contacts.is_empty() { Vec::new() } else { margins(&*subject, &contacts)? };
        let mut meter = subject.meter(&metered)?;
        let mut simulation = subject.simulation(None)?;
        let finished = simulation.run(&mut [&mut *meter, &mut StopOnRequest(watch.stop)]);
        match finished.map_err(|e| StudyError::Computation(e.to_string()))? {
            false if (watch.stop)() => Err(StudyError::Interrupted),
            _ => {
                let (mut run, mut rest) = (meter.values().into_iter(), margins.into_iter());
                let next = |text: &String| if margin_of(text).is_some() { rest.next() } else { run.next() };
                Ok(Measured(self.measures.iter().filter_map(next).collect()))
            }
        }
    }

    fn gather(&self, parts: &[Option<Outcome<Measured>>]) -> Result<Document, StudyError> {
        let rows: Vec<Row<'_>> = parts
            .iter()
            .enumerate()
            .filter_map(|(run, part)| {
                let (status, reason, measured) = match part.as_ref()? {
                    Ok(measured) => ("finished", "", &measured.0[..]),
                    Err(failed) if failed.how == How::Refused => ("refused", failed.message.as_str(), &[][..]),
                    Err(failed) => ("failed", failed.message.as_str(), &[][..]),
                };
                Some(Row { run, values: self.values(run), status, reason, measured })
            })
            .collect();
        let count = |status: &str| rows.iter().filter(|row| row.status == status).count();
        let (finished, failed, refused) = (count("finished"), count("failed"), count("refused"));
        let mut document = document("Sweep", &*self.subject);
        document.headline =
            format!("{}: {finished} runs finished, {failed} failed, {refused} refused", self.subject.name());
        if finished < self.count {
            let text = format!("{finished} of {} runs finished; reasons of the others are in the table.", self.count);
            document.warnings.push(text);
        }
        document.failure = rows
            .first()
            .filter(|_| finished == 0)
            .map(|row| format!("all {} runs failed, the first one: {}", rows.len(), row.reason));
        let percentiles = self.percentiles(&rows);
        document.data = Some(match self.is_sample() {
            true => json!({ "runs": self.json(&rows), "percentiles": percentiles.json()["rows"] }),
            false => self.json(&rows),
        });
        let mut quantities = Section { title: "Quantities".into(), gallery: true, ..Section::default() };
        for (k, measure) in self.measures.iter().enumerate() {
            for (axis, varied) in self.grid.0.iter().enumerate().filter(|(_, varied)| varied.len() > 1) {
                quantities.charts.push(self.chart(&rows, (k, measure), (axis, &varied.name)));
            }
        }
        let runs = Section { title: "Runs".into(), tables: vec![self.table(&rows)], ..Section::default() };
        if self.is_sample() {
            quantities.tables.push(percentiles);
        }
        document.sections = vec![quantities, runs];
        Ok(document)
    }
}

impl SweepPlan {
    fn values(&self, run: usize) -> Vec<f64> {
        match &self.draw {
            Draw::Grid => self.grid.at(run),
            Draw::Random(seed) => self.grid.draw(*seed, run),
            Draw::Sobol(sobol) => self.grid.inside(&sobol.point(run as u64)),
        }
    }

    /// Whether values are drawn, not all of a grid.
    fn is_sample(&self) -> bool {
        !matches!(self.draw, Draw::Grid)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.grid.0.iter().map(|varied| varied.name.as_str())
    }

    fn table(&self, rows: &[Row<'_>]) -> Table {
        let columns = std::iter::once(Column::key("run"))
            .chain(self.names().map(Column::new))
            .chain([Column::new("status"), Column::new("reason")])
            .chain(self.measures.iter().map(|text| Column::new(text).shown(Format::Digits(8))));
        let mut table = Table::new("Runs", columns).to_file("sweep.csv").printed(Printed::First(PRINTED));
        for row in rows {
            let mut cells = vec![Cell::from(row.run + 1)];
            cells.extend(row.values.iter().map(|x| Cell::from(*x)));
            cells.extend([Cell::from(row.status), Cell::from(row.reason)]);
            cells.extend(row.measured.iter().map(|x| Cell::from(*x)));
            table.row(cells);
        }
        table
    }

    /// How each quantity is spread over the runs that have it.
    fn percentiles(&self, rows: &[Row<'_>]) -> Table {
        let named = PERCENTILES.map(|percent| Column::new(format!("p{percent}")).titled(format!("{percent} %")));
        let columns = ["quantity", "runs", "mean"].map(Column::new).into_iter().chain(named);
        let columns = columns.map(|column| column.shown(Format::Digits(8)));
        let mut table = Table::new("Percentiles", columns).to_file("percentiles.csv");
        for (k, measure) in self.measures.iter().enumerate() {
            let mut values: Vec<f64> = rows.iter().filter_map(|row| row.measured.get(k).copied()).collect();
            // the time of an event that did not happen
            values.retain(|x| x.is_finite());
            values.sort_by(f64::total_cmp);
            let mut cells = vec![Cell::from(measure.as_str()), Cell::from(values.len())];
            if !values.is_empty() {
                cells.push(Cell::from(values.iter().sum::<f64>() / values.len() as f64));
                cells.extend(PERCENTILES.map(|percent| Cell::from(percentile(&values, percent))));
            }
            table.row(cells);
        }
        table
    }

    fn json(&self, rows: &[Row<'_>]) -> Value {
        let row = |row: &Row<'_>| {
            let values: Map<String, Value> =
                self.names().map(str::to_owned).zip(row.values.iter().map(|x| json!(x))).collect();
            let measured: Map<String, Value> =
                self.measures.iter().cloned().zip(row.measured.iter().map(|x| json!(x))).collect();
            json!({ "values": values, "status": row.status, "reason": row.reason, "measured": measured })
        };
        rows.iter().map(row).collect()
    }

    /// One quantity over one parameter, a curve for each combination of the others as long as they are few.
    fn chart(&self, rows: &[Row<'_>], (k, measure): (usize, &str), (axis, name): (usize, &str)) -> Chart {
        let mut curves: BTreeMap<String, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.status == "finished") {
            let others: Vec<String> = (self.names().zip(&row.values).enumerate())
                .filter(|(i, _)| *i != axis && !self.is_sample())
                .map(|(_, (name, value))| format!("{name} = {value}"))
                .collect();
            let curve = curves.entry(others.join(", ")).or_default();
            curve.0.push(row.values.get(axis).copied().unwrap_or(f64::NAN));
            curve.1.push(row.measured.get(k).copied().unwrap_or(f64::NAN));
        }
        let quantity = measure.split_once(' ').map_or("", |(_, quantity)| quantity);
        let axis = label(&*self.subject, measure, quantity);
        let mut chart = Chart::new(format!("{measure} over {name}"), label(&*self.subject, name, name), axis);
        if self.is_sample() || curves.len() > CURVES {
            let (x, y) = curves.into_values().flat_map(|(x, y)| x.into_iter().zip(y)).unzip();
            return chart.with(Series::markers("runs", x, y));
        }
        for (label, (x, y)) in curves {
            let label = if label.is_empty() { measure.to_owned() } else { label };
            chart = chart.with(Series::new(label, SeriesStyle::LinesAndMarkers, x, y));
        }
        chart
    }
}
