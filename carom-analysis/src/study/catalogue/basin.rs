//! Attractors and their basins on a grid of initial states, as an image.
//!
//! A run from each cell; after the transient states once per period are compared. Each unit is a row of cells. Cells
//! are sorted by attractor in their order, so that numbers do not depend on threads.

use super::{column, document, label, period, varied};
use crate::report::{Cell, Image, number};
use crate::study::basin::{Attractor, Basins, Fate, Gain, Options as Cells, Rest, row};
use crate::study::document::{Column, Document, Printed, Section, Table};
use crate::study::range::Varied;
use crate::study::runner::{Outcome, Plan, Study, StudyInfo, Watch};
use crate::study::{Cyclic, StudyError};
use carom::scheme::Family;
use carom::subject::StateColumn;
use carom::{State, Subject};
use carom_solve::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::mem::discriminant;
use std::sync::Arc;

/// Colours of attractors; the palette starts again after the last one.
const COLOURS: [[u8; 3]; 10] = [
    [26, 104, 189],
    [255, 187, 120],
    [10, 150, 96],
    [240, 74, 18],
    [123, 44, 132],
    [148, 153, 42],
    [140, 86, 75],
    [227, 119, 194],
    [34, 38, 44],
    [23, 190, 207],
];

/// Most cells of an image.
const CELLS: usize = 100_000_000;

/// Options of basins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Basin {
    /// The coordinate or velocity across, with its range: u=-1:2:100.
    #[schemars(extend("x-value" = "NAME=FIRST:LAST:NUMBER", "x-required" = true))]
    pub x: String,
    /// The coordinate or velocity upwards, with its range: "u'=-2:2:100".
    #[schemars(extend("x-value" = "NAME=FIRST:LAST:NUMBER", "x-required" = true))]
    pub y: String,
    /// Time between states that are compared [s], a number or an expression of parameters such as "2*pi/om" [default:
    /// the parameter `period`].
    #[schemars(extend("x-value" = "EXPRESSION"))]
    pub period: Option<String>,
    /// Periods before the comparison.
    #[schemars(range(min = 0, max = 100_000_000), extend("x-value" = "N"))]
    pub transient: u64,
    /// Longest period of an attractor that is recognised.
    #[schemars(range(min = 1, max = 100_000), extend("x-value" = "N"))]
    pub longest: u64,
    /// States closer than this are the same.
    #[schemars(extend("x-value" = "DISTANCE"))]
    pub tolerance: f64,
    /// Runs farther away than this from the origin have escaped.
    #[schemars(extend("x-value" = "DISTANCE"))]
    pub escape: f64,
}

impl Default for Basin {
    fn default() -> Self {
        let (x, y) = (String::new(), String::new());
        Basin { x, y, period: None, transient: 100, longest: 16, tolerance: 1e-4, escape: 1e6 }
    }
}

impl Options for Basin {}

impl Study for Basin {
    const INFO: StudyInfo = StudyInfo {
        files: &["basin.csv", "basin.png", "basin.html"],
        counts: "cells",
        ..StudyInfo::new(
            "basin",
            "Find attractors and their basins on a grid of initial states",
            include_str!("basin.rs"),
        )
    };
    type Plan = BasinPlan;

    fn plan(&self, subject: Arc<dyn Subject>) -> Result<BasinPlan, StudyError> {
        let subject = subject.with_equal_steps()?;
        let axes = [Axis::new(&*subject, "--x", &self.x)?, Axis::new(&*subject, "--y", &self.y)?];
        if axes[0].column == axes[1].column {
            return Err(StudyError::usage("--x and --y are the same", "take two different ones, such as u and u'"));
        }
        let (width, height) = (axes[0].varied.len(), axes[1].varied.len());
        if !width.checked_mul(height).is_some_and(|n| (1..=CELLS).contains(&n)) {
            return Err(StudyError::usage(format!("{width} times {height} cells are too many"), "take a coarser grid"));
        }
        let cells = Cells {
            period: period(&*subject, self.period.as_deref())?,
            step: subject.span().2,
            transient: self.transient as usize,
            longest: self.longest as usize,
            tolerance: self.tolerance,
            escape: self.escape,
            cyclic: Cyclic::of(&*subject),
            threads: 1,
        };
        cells.check()?;
        Ok(BasinPlan { subject, axes, width, height, cells })
    }
}

/// An axis of the image: a coordinate or a velocity.
struct Axis {
    varied: Varied,
    column: StateColumn,
}

impl Axis {
    fn new(subject: &dyn Subject, option: &str, text: &str) -> Result<Axis, StudyError> {
        let varied = varied(option, text)?;
        let column = column(subject, option, &varied.name)?;
        match column {
            StateColumn::Position(_) | StateColumn::Velocity(_) => Ok(Axis { varied, column }),
            _ => Err(StudyError::usage(
                format!("{option}: `{}` is no coordinate and no velocity", varied.name),
                "take a coordinate `u` or a velocity `u'`",
            )),
        }
    }

    fn set(&self, state: &mut State, index: usize) {
        let place = match self.column {
            StateColumn::Position(i) => state.q.get_mut(i),
            StateColumn::Velocity(i) => state.v.get_mut(i),
            _ => None,
        };
        if let Some(x) = place {
            *x = self.varied.value(index);
        }
    }

    /// Label of the axis, and what its ends stand for: half a cell beyond the first and the last value. Values that are
    /// not equally far from one another are numbered.
    fn edges(&self) -> (String, [f64; 2]) {
        let n = self.varied.len();
        let (first, last) = (self.varied.value(0), self.varied.value(n.saturating_sub(1)));
        let cell = (last - first) / (n.max(2) - 1) as f64;
        let even = |k: usize| (self.varied.value(k) - first - k as f64 * cell).abs() <= 1e-9 * (last - first).abs();
        if n > 1 && (0..n).all(even) {
            (self.varied.name.clone(), [first - cell / 2.0, last + cell / 2.0])
        } else {
            (format!("number of the value of {}", self.varied.name), [0.5, n as f64 + 0.5])
        }
    }

    fn words(&self) -> String {
        let (first, last) = (self.varied.value(0), self.varied.value(self.varied.len().saturating_sub(1)));
        format!("{} from {first} to {last}", self.varied.name)
    }
}

/// Checked work.
pub struct BasinPlan {
    subject: Arc<dyn Subject>,
    /// Across and upwards.
    axes: [Axis; 2],
    width: usize,
    height: usize,
    cells: Cells,
}

impl Plan for BasinPlan {
    type Part = Vec<Rest>;

    fn units(&self) -> usize {
        self.height
    }

    fn ticks(&self, _unit: usize) -> usize {
        self.width
    }

    fn label(&self, unit: usize) -> String {
        format!("{} = {}", self.axes[1].varied.name, self.axes[1].varied.value(unit))
    }

    fn compute(&self, unit: usize, watch: &Watch<'_>) -> Result<Vec<Rest>, StudyError> {
        let initial = |cell: usize| {
            let mut state = self.subject.initial().clone();
            self.axes[0].set(&mut state, cell % self.width);
            self.axes[1].set(&mut state, cell / self.width);
            state
        };
        let make = || Ok(self.subject.stepper()?);
        let cells = unit * self.width..(unit + 1) * self.width;
        row(cells, &initial, &make, &self.cells, (watch.stop, &|| watch.tick()))
    }

    fn gather(&self, parts: &[Option<Outcome<Vec<Rest>>>]) -> Result<Document, StudyError> {
        let mut runs = Vec::new();
        for part in parts {
            match part {
                None => return Err(StudyError::Interrupted),
                Some(Ok(row)) => runs.extend(row.iter().cloned()),
                Some(Err(failed)) => {
                    runs.extend((0..self.width).map(|_| Rest::Fate(Fate::Failed(failed.message.clone()))));
                }
            }
        }
        let found = Basins::of(runs, &|| Ok(self.subject.stepper()?), &self.cells)?;
        let (name, cells) = (self.subject.name(), found.fates.len());
        let mut document = document("Basins of attraction", &*self.subject);
        document.headline = format!("{name}: {cells} cells, {} attractors", found.attractors.len());
        let others = others(&found);
        let failed = others[2].1;
        if failed > 0 {
            document.warnings.push(format!("{failed} run(s) failed; reasons are in basin.csv."));
        }
        document.warnings.extend(found.gains.iter().map(|gain| self.turning(gain)));
        let reason = found.fates.iter().find_map(|fate| match fate {
            Fate::Failed(reason) => Some(format!("all {cells} runs failed: {reason}")),
            _ => None,
        });
        document.failure = reason.filter(|_| failed == cells);
        document.data = Some(json!({ "model": name, "attractors": found.attractors, "others": others }));
        let counts = others.iter().filter(|(_, count)| *count > 0);
        let method = [
            ("scheme", self.subject.method().words),
            ("period", format!("{} s", number(self.cells.period, 10))),
            ("transient periods", self.cells.transient.to_string()),
            ("tolerance", format!("{:e}", self.cells.tolerance)),
        ];
        document.sections = vec![
            Section {
                title: "Basins".into(),
                images: vec![("basin.png".into(), self.image(&found))],
                tables: vec![self.attractors(&found), self.table(&found)],
                facts: counts.map(|(what, count)| ((*what).to_owned(), count.to_string())).collect(),
                printed_facts: true,
                ..Section::default()
            },
            Section {
                title: "Method".into(),
                facts: method.map(|(name, value)| (name.to_owned(), value)).to_vec(),
                ..Section::default()
            },
        ];
        Ok(document)
    }
}

impl BasinPlan {
    /// What to do about runs that are aperiodic because a coordinate gains the same in each period.
    fn turning(&self, Gain { coordinate, periods, gain, cells }: &Gain) -> String {
        let name = self.subject.coordinates().get(*coordinate).map_or("?", String::as_str);
        let gain = number(gain.abs(), 6);
        let time = if *periods == 1 { String::from("a period") } else { format!("{periods} periods") };
        format!(
            "{cells} aperiodic run(s) repeat but for `{name}`, which goes on by {gain} in {time}: if the model is the \
             same after some length of `{name}`, give it under [cyclic] in the file (`{name} = \"2*pi\"` for an angle, \
             `{name} = 0` where nothing depends on it)."
        )
    }
}

/// Cells that lead to no attractor, by kind.
fn others(found: &Basins) -> [(&'static str, usize); 3] {
    let count = |wanted: fn(&Fate) -> bool| found.fates.iter().filter(|fate| wanted(fate)).count();
    [
        ("escaped", count(|fate| *fate == Fate::Escaped)),
        ("behind a wall", count(|fate| *fate == Fate::Outside)),
        ("failed", count(|fate| matches!(fate, Fate::Failed(_)))),
    ]
}

/// The first states of an attractor.
fn states(points: &[Vec<f64>]) -> String {
    let state = |point: &Vec<f64>| point.iter().map(|x| format!("{x:.5}")).collect::<Vec<_>>().join(", ");
    let shown: Vec<String> = points.iter().take(4).map(|point| format!("({})", state(point))).collect();
    shown.join(" ") + if points.len() > 4 { " ..." } else { "" }
}

/// The colour of an attractor and what it is.
fn swatch((k, attractor): (usize, &Attractor)) -> ([u8; 3], String) {
    let period = attractor.period.map_or("aperiodic".into(), |period| format!("period {period}"));
    (COLOURS[k % COLOURS.len()], format!("attractor {}, {period}, {} cells", k + 1, attractor.cells))
}

impl BasinPlan {
    fn image(&self, found: &Basins) -> Image {
        let colour = |fate: &Fate| match fate {
            Fate::Attractor(k) => COLOURS[k % COLOURS.len()],
            Fate::Escaped => [255, 255, 255],
            Fate::Outside => [221, 221, 221],
            Fate::Failed(_) => [0, 0, 0],
        };
        let mut swatches: Vec<([u8; 3], String)> = found.attractors.iter().enumerate().map(swatch).collect();
        let others = [Fate::Escaped, Fate::Outside, Fate::Failed(String::new())];
        let present = |fate: &Fate| found.fates.iter().any(|own| discriminant(own) == discriminant(fate));
        let names = ["escapes", "starts behind a wall", "failed"];
        let rest = others.iter().zip(names).filter(|(fate, _)| present(fate));
        swatches.extend(rest.map(|(fate, name)| (colour(fate), name.to_owned())));
        let [(x, across), (y, upwards)] = [0, 1].map(|k| self.axes[k].edges());
        Image {
            title: format!("Basins of attraction: {}", self.subject.name()),
            note: format!("Across: {}. Upwards: {}.", self.axes[0].words(), self.axes[1].words()),
            labels: [x, y].map(|name| label(&*self.subject, &name, &name)),
            ranges: [across, upwards],
            swatches,
            width: self.width,
            cells: found.fates.iter().map(colour).collect(),
        }
    }

    fn attractors(&self, found: &Basins) -> Table {
        let positions = self.subject.coordinates().iter().cloned();
        let mut names: Vec<String> = positions.clone().collect();
        names.extend(positions.filter(|_| self.subject.family() == Family::Mechanical).map(|name| name + "'"));
        let fit = found.attractors.iter().all(|attractor| attractor.points.iter().all(|x| x.len() == names.len()));
        let states_of = if fit { format!("states ({})", names.join(", ")) } else { "states".into() };
        let names = ["attractor", "period", "cells", &states_of];
        let mut table = Table::new("Attractors", names.map(Column::new));
        for (k, attractor) in found.attractors.iter().enumerate() {
            table.row([
                Cell::from(k + 1),
                attractor.period.map_or(Cell::from("aperiodic"), Cell::from),
                Cell::from(attractor.cells),
                Cell::from(states(&attractor.points)),
            ]);
        }
        table
    }

    /// Cell by cell.
    fn table(&self, found: &Basins) -> Table {
        let [x, y] = &self.axes;
        let names = [&x.varied.name, &y.varied.name, "attractor", "status"];
        let mut table = Table::new("Cells", names.map(Column::new)).to_file("basin.csv");
        table = table.printed(Printed::No).hidden();
        for (cell, fate) in found.fates.iter().enumerate() {
            let (number, status) = match fate {
                Fate::Attractor(k) => (Cell::from(k + 1), "attracted".to_owned()),
                Fate::Escaped => (Cell::Empty, "escaped".into()),
                Fate::Outside => (Cell::Empty, "behind a wall".into()),
                Fate::Failed(reason) => (Cell::Empty, format!("failed: {reason}")),
            };
            let (x, y) = (x.varied.value(cell % self.width), y.varied.value(cell / self.width));
            table.row([Cell::from(x), Cell::from(y), number, Cell::from(status)]);
        }
        table
    }
}
