//! `carom basin`: attractors and their basins on a grid of initial states, as an image.

use super::arguments::BasinArguments;
use super::{
    Setting, bar, column, csv_number, failed, load_equal_steps, period, prepare, threads, varied, write, write_report,
    write_text,
};
use crate::console::say;
use crate::failure::Failure;
use crate::list::plain_table;
use crate::progress::interrupted;
use carom::State;
use carom_analysis::report::{Callout, Cell, Image, Report, Table};
use carom_analysis::study::StudyError;
use carom_analysis::study::basin::{Basins, Fate, Options, basins};
use carom_analysis::study::range::Varied;
use carom_scene::Scene;
use carom_scene::scene::Column;
use serde_json::json;
use std::fmt::Write as _;

/// Colours of attractors; the palette starts again after the last one.
const COLOURS: [[u8; 3]; 10] = [
    [31, 119, 180],
    [255, 187, 120],
    [44, 160, 44],
    [214, 39, 40],
    [148, 103, 189],
    [140, 86, 75],
    [227, 119, 194],
    [188, 189, 34],
    [23, 190, 207],
    [255, 127, 14],
];

/// Most cells of an image.
const CELLS: usize = 100_000_000;

/// An axis of the image: a coordinate or a velocity.
struct Axis {
    varied: Varied,
    column: Column,
}

impl Axis {
    fn new(scene: &Scene, option: &str, text: &str) -> Result<Axis, Failure> {
        let varied = varied(option, text)?;
        let column = column(scene, option, &varied.name)?;
        match column {
            Column::Position(_) | Column::Velocity(_) => Ok(Axis { varied, column }),
            _ => Err(Failure::usage(
                format!("{option}: `{}` is no coordinate and no velocity", varied.name),
                "take a coordinate `u` or a velocity `u'`",
            )),
        }
    }

    fn set(&self, state: &mut State, index: usize) {
        let (list, i) = match self.column {
            Column::Velocity(i) => (&mut state.v, i),
            Column::Position(i) => (&mut state.q, i),
            _ => return,
        };
        if let Some(x) = list.get_mut(i) {
            *x = self.varied.value(index);
        }
    }

    fn describe(&self) -> String {
        let (first, last) = (self.varied.value(0), self.varied.value(self.varied.len().saturating_sub(1)));
        format!("{} from {first} to {last}", self.varied.name)
    }
}

pub fn basin(arguments: &BasinArguments) -> Result<(), Failure> {
    let Setting { scene, folder } = load_equal_steps(&arguments.study, "basin")?;
    let axes = (Axis::new(&scene, "--x", &arguments.x)?, Axis::new(&scene, "--y", &arguments.y)?);
    if axes.0.column == axes.1.column {
        return Err(Failure::usage("--x and --y are the same", "take two different ones, such as u and u'"));
    }
    let (width, height) = (axes.0.varied.len(), axes.1.varied.len());
    let cells = width.checked_mul(height).filter(|n| (1..=CELLS).contains(n));
    let Some(cells) = cells else {
        return Err(Failure::usage(format!("{width} times {height} cells are too many"), "take a coarser grid"));
    };
    let options = Options {
        period: period(&scene, arguments.period.as_deref())?,
        step: scene.span.step,
        transient: arguments.transient as usize,
        longest: arguments.longest as usize,
        tolerance: arguments.tolerance,
        escape: arguments.escape,
        threads: threads(arguments.threads, height),
    };
    options.check().map_err(failed)?;
    prepare(&folder, &["basin.csv", "basin.png", "basin.html"])?;
    let initial = |cell: usize| {
        let mut state = scene.initial.clone();
        axes.0.set(&mut state, cell % width);
        axes.1.set(&mut state, cell / width);
        state
    };
    let make = || scene.stepper().map_err(|e| StudyError::Build(e.to_string()));
    let bar = bar(cells as u64, "cells", arguments.study.quiet || arguments.study.json);
    let found = basins((cells, width), &initial, &make, &options, (&interrupted, &|| bar.inc(1)));
    bar.finish_and_clear();
    let found = found.map_err(failed)?;
    let image = image(&scene, &axes, &found);
    write(&folder.join("basin.png"), |file| file.write_all(&image.png()))?;
    write_text(&folder.join("basin.csv"), &csv(&axes, &found))?;
    write_report(&folder.join("basin.html"), &report(&scene, &options, &found, image))?;
    if arguments.study.json {
        let counts = json!({ "model": scene.name, "attractors": found.attractors, "others": others(&found) });
        say(serde_json::to_string_pretty(&counts).unwrap_or_default())?;
    } else if !arguments.study.quiet {
        print(&scene, &found)?;
        say(format_args!("table  {0}/basin.csv\nimage  {0}/basin.png\nreport {0}/basin.html", folder.display()))?;
    }
    let failure = |fate: &Fate| match fate {
        Fate::Failed(reason) => Some(reason.clone()),
        _ => None,
    };
    match found.fates.iter().find_map(failure) {
        Some(reason) if found.fates.iter().all(|fate| matches!(fate, Fate::Failed(_))) => {
            Err(Failure::Computation(format!("all {cells} runs failed: {reason}")))
        }
        _ => Ok(()),
    }
}

/// Cells that lead to no attractor, by kind.
fn others(found: &Basins) -> Vec<(&'static str, usize)> {
    let count = |wanted: fn(&Fate) -> bool| found.fates.iter().filter(|fate| wanted(fate)).count();
    vec![
        ("escaped", count(|fate| *fate == Fate::Escaped)),
        ("behind a wall", count(|fate| *fate == Fate::Outside)),
        ("failed", count(|fate| matches!(fate, Fate::Failed(_)))),
    ]
}

fn image(scene: &Scene, axes: &(Axis, Axis), found: &Basins) -> Image {
    let colour = |fate: &Fate| match fate {
        Fate::Attractor(k) => COLOURS[k % COLOURS.len()],
        Fate::Escaped => [255, 255, 255],
        Fate::Outside => [221, 221, 221],
        Fate::Failed(_) => [0, 0, 0],
    };
    Image {
        title: format!("Basins of attraction: {}", scene.name),
        note: format!(
            "Across: {}. Upwards: {}. Grey cells start behind a wall, white ones escape, black ones failed.",
            axes.0.describe(),
            axes.1.describe()
        ),
        width: axes.0.varied.len(),
        cells: found.fates.iter().map(colour).collect(),
    }
}

fn csv(axes: &(Axis, Axis), found: &Basins) -> String {
    let width = axes.0.varied.len();
    let mut text = format!("{},{},attractor,status\n", axes.0.varied.name, axes.1.varied.name);
    for (cell, fate) in found.fates.iter().enumerate() {
        let (x, y) = (axes.0.varied.value(cell % width), axes.1.varied.value(cell / width));
        let (number, status) = match fate {
            Fate::Attractor(k) => ((k + 1).to_string(), "attracted".to_owned()),
            Fate::Escaped => (String::new(), "escaped".into()),
            Fate::Outside => (String::new(), "behind a wall".into()),
            Fate::Failed(reason) => (String::new(), super::csv_text(&format!("failed: {reason}"))),
        };
        let _ = writeln!(text, "{},{},{number},{status}", csv_number(x), csv_number(y));
    }
    text
}

fn points(found: &Basins, k: usize) -> String {
    let points: Vec<String> = found.attractors[k]
        .points
        .iter()
        .take(4)
        .map(|point| format!("({})", point.iter().map(|x| format!("{x:.5}")).collect::<Vec<_>>().join(", ")))
        .collect();
    let more = if found.attractors[k].points.len() > 4 { " ..." } else { "" };
    format!("{}{more}", points.join(" "))
}

fn word(period: Option<usize>) -> String {
    period.map_or("aperiodic".into(), |p| p.to_string())
}

fn print(scene: &Scene, found: &Basins) -> Result<(), Failure> {
    say(format_args!("{}: {} cells, {} attractors", scene.name, found.fates.len(), found.attractors.len()))?;
    let mut table = plain_table();
    table.set_header(["attractor", "period", "cells", "states"]);
    for (k, attractor) in found.attractors.iter().enumerate() {
        table.add_row([(k + 1).to_string(), word(attractor.period), attractor.cells.to_string(), points(found, k)]);
    }
    say(table)?;
    for (what, count) in others(found).into_iter().filter(|(_, count)| *count > 0) {
        say(format_args!("{what}: {count}"))?;
    }
    Ok(())
}

fn report(scene: &Scene, options: &Options, found: &Basins, image: Image) -> Report {
    let mut report = Report::new(format!("Basins of attraction: {}", scene.name));
    report.subtitle = scene.description.clone().unwrap_or_default();
    let section = report.section("Basins");
    if let Some((_, count)) = others(found).into_iter().find(|(what, count)| *what == "failed" && *count > 0) {
        section.callout(Callout::Warning, format!("{count} run(s) failed; reasons are in basin.csv."));
    }
    section.push(image);
    let mut table = Table::new("Attractors", ["attractor", "colour", "period", "cells", "states once per period"]);
    for (k, attractor) in found.attractors.iter().enumerate() {
        let [r, g, b] = COLOURS[k % COLOURS.len()];
        table.row([
            Cell::from(k + 1),
            Cell::from(format!("#{r:02x}{g:02x}{b:02x}")),
            Cell::from(word(attractor.period)),
            Cell::from(attractor.cells),
            Cell::from(points(found, k)),
        ]);
    }
    section.push(table);
    section.facts(others(found).into_iter().map(|(what, count)| (what, count.to_string())));
    section.facts([
        ("scheme", scene.scheme.describe()),
        ("period", format!("{} s", options.period)),
        ("transient periods", options.transient.to_string()),
        ("tolerance", format!("{:e}", options.tolerance)),
    ]);
    report.section("Model file").preformatted(scene.name.clone(), scene.text());
    report
}
