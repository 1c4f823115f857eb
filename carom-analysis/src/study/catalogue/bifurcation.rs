//! The bifurcation diagram of a parameter: what is left of the motion after the transient, with impacts per period and
//! the largest exponent beside it.
//!
//! Points are those of a section: the state once per period, or the normal velocity before each impact. The motion
//! starts where the value before has left it, forwards and backwards, so that attractors are followed and coexisting
//! ones are seen. Each unit is a chain of values; `segments` cuts them for more threads.

use super::{column, document, label, period, varied_parameter};
use crate::report::{Cell, Chart, Series};
use crate::study::bifurcation::{Case, Chain, Direction, Options as Diagram, Row, Section as Points, chain, chains};
use crate::study::document::{Column, Document, Format, Printed, Section, Table};
use crate::study::range::Varied;
use crate::study::runner::{Outcome, Plan, Study, StudyInfo, Watch};
use crate::study::{Cyclic, StudyError, exact};
use carom::Subject;
use carom::subject::StateColumn;
use carom_solve::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Points of one value that the report draws; all of them are in the table.
const DRAWN: usize = 100;

/// Rows of the table on a terminal.
const PRINTED: usize = 30;

/// Where points are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum SectionKind {
    /// Once per period.
    Strobe,
    /// At each impact: the normal velocity before it.
    Impact,
}

/// In which order values are run through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Order {
    /// From the first to the last.
    Forward,
    /// From the last to the first.
    Backward,
    /// One after the other.
    Both,
}

/// How the largest exponent is computed: by saltation matrices, or with a perturbation of a size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Exponent {
    /// By saltation matrices, or not at all.
    Saltation(bool),
    /// With a perturbation of this size.
    Perturbation(f64),
}

/// Options of a bifurcation diagram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Bifurcation {
    /// The parameter with its values: om=2.5:2.9:400 (first, last, number).
    #[schemars(extend("x-value" = "NAME=VALUES", "x-required" = true))]
    pub parameter: String,
    /// Period of the section [s], a number or an expression of parameters such as "2*pi/om" [default: the parameter
    /// `period`].
    #[schemars(extend("x-value" = "EXPRESSION"))]
    pub period: Option<String>,
    /// Where points are taken.
    pub section: SectionKind,
    /// Column of the diagram: q.NAME, v.NAME, output.NAME, or a coordinate [default: the first coordinate].
    #[schemars(extend("x-value" = "NAME"))]
    pub column: Option<String>,
    /// Periods before points are taken.
    #[schemars(range(min = 0, max = 100_000_000), extend("x-value" = "N"))]
    pub transient: u64,
    /// Periods in which points are taken.
    #[schemars(range(min = 1, max = 100_000_000), extend("x-value" = "N"))]
    pub periods: u64,
    /// Order of the values; the motion starts where the value before has left it [default: both].
    pub direction: Option<Order>,
    /// Start each value from the initial state instead.
    pub independent: bool,
    /// Cut the values into so many parts, each of which starts from the initial state, for more than two threads.
    #[schemars(range(min = 1, max = 100_000), extend("x-value" = "N"))]
    pub segments: u64,
    /// Compute the largest Lyapunov exponent as well: by saltation matrices, or with a perturbation of this size.
    #[schemars(extend("x-value" = "EPS", "x-missing" = true))]
    pub exponent: Option<Exponent>,
    /// Points closer than this are the same when periods are counted.
    #[schemars(extend("x-value" = "DISTANCE"))]
    pub tolerance: f64,
}

impl Default for Bifurcation {
    fn default() -> Self {
        Bifurcation {
            parameter: String::new(),
            period: None,
            section: SectionKind::Strobe,
            column: None,
            transient: 200,
            periods: 200,
            direction: None,
            independent: false,
            segments: 1,
            exponent: None,
            tolerance: 1e-6,
        }
    }
}

impl Options for Bifurcation {}

impl Study for Bifurcation {
    const INFO: StudyInfo = StudyInfo {
        files: &["bifurcation.csv", "points.csv", "bifurcation.html"],
        counts: "values",
        ..StudyInfo::new(
            "bifurcation",
            "Draw the bifurcation diagram of a parameter: sections of the motion that is left after the transient",
            include_str!("bifurcation.rs"),
        )
    };
    type Plan = BifurcationPlan;

    fn plan(&self, subject: Arc<dyn Subject>) -> Result<BifurcationPlan, StudyError> {
        let subject = subject.with_equal_steps()?;
        let varied = varied_parameter(&*subject, "--parameter", &self.parameter)?;
        period(&*subject, self.period.as_deref())?;
        let seen = match &self.column {
            Some(name) => column(&*subject, "--column", name)?,
            None => StateColumn::Position(0),
        };
        if subject.reader(seen).is_none() {
            let message = "--column: this column is not a function of the state";
            return Err(StudyError::usage(message, "take q.NAME, v.NAME or output.NAME"));
        }
        let directions = match (self.independent, self.direction) {
            (true, Some(_)) => {
                let message = "--independent: values that start from the initial state have no --direction";
                return Err(StudyError::usage(message, "leave out one of both"));
            }
            (true, None) => vec![Direction::Independent],
            (false, Some(Order::Forward)) => vec![Direction::Forward],
            (false, Some(Order::Backward)) => vec![Direction::Backward],
            (false, Some(Order::Both) | None) => vec![Direction::Forward, Direction::Backward],
        };
        let diagram = Diagram {
            section: match self.section {
                SectionKind::Strobe => Points::Stroboscopic,
                SectionKind::Impact => Points::Impact,
            },
            directions,
            transient: self.transient as usize,
            recorded: self.periods as usize,
            epsilon: match self.exponent {
                Some(Exponent::Perturbation(epsilon)) => Some(epsilon),
                _ => None,
            },
            tolerance: self.tolerance,
            segments: self.segments as usize,
            threads: 1,
        };
        diagram.check()?;
        let (values, options) = (varied.all(), self.clone());
        let chains = chains(values.len(), &diagram);
        Ok(BifurcationPlan { subject, options, varied, values, seen, diagram, chains })
    }
}

/// Checked work.
pub struct BifurcationPlan {
    subject: Arc<dyn Subject>,
    options: Bifurcation,
    varied: Varied,
    values: Vec<f64>,
    seen: StateColumn,
    diagram: Diagram,
    chains: Vec<Chain>,
}

fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
        Direction::Independent => "independent",
    }
}

impl Plan for BifurcationPlan {
    type Part = Vec<Row>;

    fn units(&self) -> usize {
        self.chains.len()
    }

    fn ticks(&self, unit: usize) -> usize {
        self.chains[unit].1.len()
    }

    fn label(&self, unit: usize) -> String {
        let (direction, chain) = &self.chains[unit];
        let value = |index: Option<&usize>| index.map_or(f64::NAN, |i| self.values[*i]);
        let (first, last) = (value(chain.first()), value(chain.last()));
        format!("{} = {first} to {last}, {}", self.varied.name, name(*direction))
    }

    fn compute(&self, unit: usize, watch: &Watch<'_>) -> Result<Vec<Row>, StudyError> {
        let make = |k: usize| self.case(k);
        let rows = chain(&self.chains[unit], &self.values, &make, &self.diagram, (watch.stop, &|| watch.tick()));
        if rows.is_empty() { Err(StudyError::Interrupted) } else { Ok(rows) }
    }

    fn is_whole(&self, unit: usize, part: &Vec<Row>) -> bool {
        part.len() == self.chains[unit].1.len()
    }

    fn gather(&self, parts: &[Option<Outcome<Vec<Row>>>]) -> Result<Document, StudyError> {
        let rows: Vec<Row> = parts.iter().enumerate().flat_map(|(unit, part)| self.rows(unit, part.as_ref())).collect();
        if rows.is_empty() {
            return Err(StudyError::Interrupted);
        }
        let failures: Vec<(f64, &str)> =
            rows.iter().filter_map(|row| Some((row.parameter, row.failure.as_deref()?))).collect();
        let (x, count) = (&self.varied.name, rows.len());
        let mut document = document("Bifurcations", &*self.subject);
        document.headline = format!("{}: {count} values of {x}, {} failed", self.subject.name(), failures.len());
        document.warnings =
            failures.iter().take(10).map(|(value, reason)| format!("{x} = {value}: {reason}")).collect();
        document.failure = failures
            .first()
            .filter(|_| failures.len() == count)
            .map(|(_, reason)| format!("all {count} values failed: {reason}"));
        document.data = Some(exact::plain(&rows));
        let facts = [
            ("scheme", self.subject.method().words),
            ("transient periods", self.diagram.transient.to_string()),
            ("recorded periods", self.diagram.recorded.to_string()),
            ("values with a contact at rest", rows.iter().filter(|row| row.sticks > 0).count().to_string()),
        ];
        document.sections = vec![
            Section {
                title: "Diagram".into(),
                charts: self.charts(&rows),
                facts: facts.map(|(name, value)| (name.to_owned(), value)).to_vec(),
                ..Section::default()
            },
            Section { title: "Table".into(), tables: self.tables(&rows), ..Section::default() },
        ];
        Ok(document)
    }
}

impl BifurcationPlan {
    /// The model with the value of this number.
    fn case(&self, k: usize) -> Result<Case, StudyError> {
        let subject = self.subject.with(&[(self.varied.name.as_str(), self.values[k])])?;
        let period = period(&*subject, self.options.period.as_deref())?;
        let observe = subject.reader(self.seen).unwrap_or_else(|| Box::new(|_| f64::NAN));
        let motion = match self.options.exponent {
            Some(Exponent::Saltation(true)) => Some(Box::new(subject.sensitivity(&[])?)),
            _ => None,
        };
        let turn = match self.seen {
            StateColumn::Position(i) => Cyclic::of(&*subject).length(i),
            _ => None,
        };
        Ok(Case { stepper: subject.stepper()?, period, step: subject.span().2, observe, turn, motion })
    }

    /// The rows of a chain; one that failed as a whole has a failed row for each value.
    fn rows(&self, unit: usize, part: Option<&Outcome<Vec<Row>>>) -> Vec<Row> {
        match part {
            None => Vec::new(),
            Some(Ok(rows)) => rows.clone(),
            Some(Err(failed)) => {
                let (direction, chain) = &self.chains[unit];
                let mut chain = chain.clone();
                chain.sort_unstable();
                chain.iter().map(|k| Row::failed(self.values[*k], *direction, failed.message.clone())).collect()
            }
        }
    }

    fn charts(&self, rows: &[Row]) -> Vec<Chart> {
        let x = &label(&*self.subject, &self.varied.name, &self.varied.name);
        let quantity = match &self.options.column {
            Some(name) => name,
            None => self.subject.coordinates().first().map_or("", String::as_str),
        };
        let label = match self.options.section {
            SectionKind::Impact => "normal velocity before impact [m/s]".into(),
            SectionKind::Strobe => label(&*self.subject, quantity, quantity),
        };
        let mut points = Chart::new("Points of the section", x, label).linked("parameter");
        let mut impacts = Chart::new("Impacts per period", x, "impacts per period").linked("parameter");
        let mut exponents = Chart::new("Largest Lyapunov exponent", x, "exponent [1/s]").linked("parameter");
        for direction in [Direction::Forward, Direction::Backward, Direction::Independent] {
            let rows: Vec<&Row> = rows.iter().filter(|row| row.direction == direction).collect();
            if rows.is_empty() {
                continue;
            }
            let last = |row: &Row| row.points.len().saturating_sub(DRAWN);
            let all = rows.iter().flat_map(|row| row.points[last(row)..].iter().map(|point| (row.parameter, *point)));
            let (a, b) = all.unzip();
            points = points.with(Series::markers(name(direction), a, b));
            let (a, b) = rows.iter().map(|row| (row.parameter, row.impacts_per_period)).unzip();
            impacts = impacts.with(Series::lines(name(direction), a, b));
            let (a, b) = rows.iter().filter_map(|row| Some((row.parameter, row.exponent?))).unzip();
            exponents = exponents.with(Series::lines(name(direction), a, b));
        }
        let mut charts = vec![points, impacts];
        if rows.iter().any(|row| row.exponent.is_some()) {
            charts.push(exponents);
        }
        charts
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let x = &self.varied.name;
        let columns = [
            Column::new(x),
            Column::new("direction"),
            Column::key("status"),
            Column::key("reason"),
            Column::new("period"),
            Column::key("points"),
            Column::new("impacts_per_period").titled("impacts per period").shown(Format::Fixed(4)),
            Column::new("rests"),
            Column::new("exponent").shown(Format::Fixed(4)),
        ];
        let mut table = Table::new("Attractors", columns).to_file("bifurcation.csv").printed(Printed::Spread(PRINTED));
        let columns = [Column::new(x), Column::new("direction"), Column::new("point")];
        let mut points = Table::new("Points", columns).to_file("points.csv").printed(Printed::No).hidden();
        for row in rows {
            let exponent = |x: f64| if x.is_finite() { Cell::from(x) } else { Cell::from("-inf") };
            table.row([
                Cell::from(row.parameter),
                Cell::from(name(row.direction)),
                Cell::from(if row.failure.is_some() { "failed" } else { "finished" }),
                Cell::from(row.failure.as_deref().unwrap_or_default()),
                Cell::from(row.period),
                Cell::from(row.points.len()),
                Cell::from(row.impacts_per_period),
                Cell::Count(row.sticks),
                row.exponent.map_or(Cell::Empty, exponent),
            ]);
            for point in &row.points {
                points.row([Cell::from(row.parameter), Cell::from(name(row.direction)), Cell::from(*point)]);
            }
        }
        vec![table, points]
    }
}
