//! `carom bifurcation`: the diagram of a parameter, with impacts per period and the largest exponent beside it.

use super::arguments::{BifurcationArguments, Order, SectionKind};
use super::{
    Setting, bar, column, csv_number, csv_text, failed, load_equal_steps, observer, period, prepare, threads,
    varied_parameter, write_report, write_text,
};
use crate::console::say;
use crate::failure::Failure;
use crate::list::plain_table;
use crate::progress::interrupted;
use carom_analysis::report::{Callout, Cell, Chart, Report, Series, Table};
use carom_analysis::study::StudyError;
use carom_analysis::study::bifurcation::{Case, Direction, Options, Row, Section, diagram};
use carom_scene::Scene;
use carom_scene::scene::Column;
use std::fmt::Write;

/// Points of one value that the report draws; all of them are in the table.
const DRAWN: usize = 100;

/// Rows of the table on a terminal.
const PRINTED: usize = 30;

struct Computed<'a> {
    scene: &'a Scene,
    parameter: String,
    /// What the points are.
    label: String,
    rows: Vec<Row>,
    transient: u64,
    periods: u64,
}

pub fn bifurcation(arguments: &BifurcationArguments) -> Result<(), Failure> {
    let Setting { scene, folder } = load_equal_steps(&arguments.study, "bifurcation")?;
    let varied = varied_parameter(&scene, "--parameter", &arguments.parameter)?;
    period(&scene, arguments.period.as_deref())?;
    let seen = match &arguments.column {
        Some(name) => column(&scene, "--column", name)?,
        None => Column::Position(0),
    };
    if observer(&scene, seen).is_none() {
        return Err(Failure::usage(
            "--column: this column is not a function of the state",
            "take q.NAME, v.NAME or output.NAME",
        ));
    }
    let values = varied.all();
    let options = options(arguments, values.len());
    options.check().map_err(failed)?;
    prepare(&folder, &["bifurcation.csv", "points.csv", "bifurcation.html"])?;
    let make = |k: usize| -> Result<Case, StudyError> {
        let build = |text: String| StudyError::Build(text);
        let scene = scene
            .with(&[(varied.name.as_str(), values[k])])
            .map_err(|findings| build(findings.first().map_or("the model is refused".into(), ToString::to_string)))?;
        let period = period(&scene, arguments.period.as_deref()).map_err(|failure| match failure {
            Failure::Usage { message, .. } => build(message),
            _ => build("the period cannot be evaluated".into()),
        })?;
        let stepper = scene.stepper().map_err(|e| build(e.to_string()))?;
        let observe = observer(&scene, seen).unwrap_or_else(|| Box::new(|_| f64::NAN));
        let motion = match arguments.exponent {
            Some(None) => Some(Box::new(scene.sensitivity(&[]).map_err(|e| build(e.to_string()))?)),
            _ => None,
        };
        Ok(Case { stepper, period, step: scene.span.step, observe, motion })
    };
    let total = values.len() * options.directions.len();
    let bar = bar(total as u64, "values", arguments.study.quiet || arguments.study.json);
    let rows = diagram(&values, &make, &options, &interrupted, &|| bar.inc(1));
    bar.finish_and_clear();
    let label = match arguments.section {
        SectionKind::Impact => "normal velocity before impact [m/s]".to_owned(),
        SectionKind::Strobe => {
            arguments.column.clone().unwrap_or_else(|| scene.coordinates.first().cloned().unwrap_or_default())
        }
    };
    let (transient, periods) = (arguments.transient, arguments.periods);
    let computed =
        Computed { scene: &scene, parameter: varied.name, label, rows: rows.map_err(failed)?, transient, periods };
    write_text(&folder.join("bifurcation.csv"), &computed.csv())?;
    write_text(&folder.join("points.csv"), &computed.points())?;
    write_report(&folder.join("bifurcation.html"), &computed.report())?;
    if arguments.study.json {
        say(serde_json::to_string_pretty(&computed.rows).unwrap_or_default())?;
    } else if !arguments.study.quiet {
        computed.print()?;
        say(format_args!(
            "table  {0}/bifurcation.csv\npoints {0}/points.csv\nreport {0}/bifurcation.html",
            folder.display()
        ))?;
    }
    computed.verdict()
}

fn options(arguments: &BifurcationArguments, values: usize) -> Options {
    let directions = match (arguments.independent, arguments.direction) {
        (true, _) => vec![Direction::Independent],
        (false, Order::Forward) => vec![Direction::Forward],
        (false, Order::Backward) => vec![Direction::Backward],
        (false, Order::Both) => vec![Direction::Forward, Direction::Backward],
    };
    let segments = arguments.segments as usize;
    let tasks = if arguments.independent { values } else { directions.len() * segments };
    Options {
        section: match arguments.section {
            SectionKind::Strobe => Section::Stroboscopic,
            SectionKind::Impact => Section::Impact,
        },
        directions,
        transient: arguments.transient as usize,
        recorded: arguments.periods as usize,
        epsilon: arguments.exponent.flatten(),
        tolerance: arguments.tolerance,
        segments,
        threads: threads(arguments.threads, tasks),
    }
}

fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
        Direction::Independent => "independent",
    }
}

impl Computed<'_> {
    fn csv(&self) -> String {
        let head = csv_text(&self.parameter);
        let mut text = format!("{head},direction,status,reason,period,points,impacts_per_period,rests,exponent\n");
        for row in &self.rows {
            let status = if row.failure.is_some() { "failed" } else { "finished" };
            let _ = writeln!(
                text,
                "{},{},{status},{},{},{},{},{},{}",
                csv_number(row.parameter),
                name(row.direction),
                csv_text(row.failure.as_deref().unwrap_or_default()),
                row.period.map_or(String::new(), |p| p.to_string()),
                row.points.len(),
                csv_number(row.impacts_per_period),
                row.sticks,
                row.exponent.map_or(String::new(), |x| if x.is_finite() { format!("{x:?}") } else { "-inf".into() }),
            );
        }
        text
    }

    fn points(&self) -> String {
        let mut text = format!("{},direction,point\n", csv_text(&self.parameter));
        for row in &self.rows {
            for point in &row.points {
                let _ = writeln!(text, "{},{},{}", csv_number(row.parameter), name(row.direction), csv_number(*point));
            }
        }
        text
    }

    fn print(&self) -> Result<(), Failure> {
        let failed = self.rows.iter().filter(|row| row.failure.is_some()).count();
        say(format_args!("{}: {} values of {}, {failed} failed", self.scene.name, self.rows.len(), self.parameter))?;
        let mut table = plain_table();
        table.set_header([self.parameter.as_str(), "direction", "period", "impacts per period", "rests", "exponent"]);
        let every = self.rows.len().div_ceil(PRINTED).max(1);
        for row in self.rows.iter().step_by(every) {
            let period = match (&row.failure, row.period) {
                (Some(reason), _) => reason.clone(),
                (None, Some(period)) => period.to_string(),
                (None, None) => "-".into(),
            };
            table.add_row([
                format!("{}", row.parameter),
                name(row.direction).into(),
                period,
                format!("{:.4}", row.impacts_per_period),
                row.sticks.to_string(),
                row.exponent.map_or(String::new(), |x| format!("{x:.4}")),
            ]);
        }
        say(table)?;
        if every > 1 {
            say(format_args!("every {every}th value is shown"))?;
        }
        Ok(())
    }

    fn report(&self) -> Report {
        let mut report = Report::new(format!("Bifurcations: {}", self.scene.name));
        report.subtitle = self.scene.description.clone().unwrap_or_default();
        let section = report.section("Diagram");
        for row in self.rows.iter().filter(|row| row.failure.is_some()).take(10) {
            let reason = row.failure.as_deref().unwrap_or_default();
            section.callout(Callout::Warning, format!("{} = {}: {reason}", self.parameter, row.parameter));
        }
        let x = &self.parameter;
        let mut points = Chart::new("Points of the section", x, &self.label).linked("parameter");
        let mut impacts = Chart::new("Impacts per period", x, "impacts per period").linked("parameter");
        let mut exponents = Chart::new("Largest Lyapunov exponent", x, "exponent [1/s]").linked("parameter");
        for direction in [Direction::Forward, Direction::Backward, Direction::Independent] {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.direction == direction).collect();
            if rows.is_empty() {
                continue;
            }
            let all = rows.iter().flat_map(|row| {
                let skip = row.points.len().saturating_sub(DRAWN);
                row.points.iter().skip(skip).map(|point| (row.parameter, *point))
            });
            let (a, b) = all.unzip();
            points = points.with(Series::markers(name(direction), a, b));
            let (a, b) = rows.iter().map(|row| (row.parameter, row.impacts_per_period)).unzip();
            impacts = impacts.with(Series::lines(name(direction), a, b));
            let (a, b) = rows.iter().filter_map(|row| Some((row.parameter, row.exponent?))).unzip();
            exponents = exponents.with(Series::lines(name(direction), a, b));
        }
        section.push(points).push(impacts);
        if self.rows.iter().any(|row| row.exponent.is_some()) {
            section.push(exponents);
        }
        section.facts([
            ("scheme", self.scene.scheme.describe()),
            ("transient periods", self.transient.to_string()),
            ("recorded periods", self.periods.to_string()),
            ("values with a contact at rest", self.rows.iter().filter(|row| row.sticks > 0).count().to_string()),
        ]);
        let header = [x.as_str(), "direction", "period", "impacts per period", "rests", "exponent"];
        let mut table = Table::new("Attractors", header);
        table.file = Some("bifurcation.csv".into());
        for row in &self.rows {
            table.row([
                Cell::from(row.parameter),
                Cell::from(name(row.direction)),
                Cell::from(row.period),
                Cell::from(row.impacts_per_period),
                Cell::from(row.sticks as usize),
                Cell::from(row.exponent),
            ]);
        }
        report.section("Table").push(table);
        report.section("Model file").preformatted(self.scene.name.clone(), self.scene.text());
        report
    }

    /// A study without a single good value has failed.
    fn verdict(&self) -> Result<(), Failure> {
        match self.rows.iter().filter_map(|row| row.failure.as_ref()).next() {
            Some(reason) if self.rows.iter().all(|row| row.failure.is_some()) => {
                Err(Failure::Computation(format!("all {} values failed: {reason}", self.rows.len())))
            }
            _ if interrupted() => Err(Failure::Interrupted),
            _ => Ok(()),
        }
    }
}
