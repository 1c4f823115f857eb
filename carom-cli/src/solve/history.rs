//! How residuals fell, as a table and drawn over sweeps and time.

use super::attempt::Attempt;
use carom_analysis::folder::{Draft, FolderError};
use carom_analysis::report::{Cell, Chart, Series, SeriesStyle};
use carom_analysis::study::document::{Column, Document, Printed, Section, Table};
use carom_solve::Point;

/// Writes `history.csv` and `history.html`, and what the clock measured as `times.csv` and `times.html`; their names.
pub fn write(attempts: &[Attempt], draft: &mut Draft) -> Result<Vec<(&'static str, String)>, FolderError> {
    let mut document = document(attempts);
    document.write(draft, "history")?;
    Ok(document.files)
}

fn document(attempts: &[Attempt]) -> Document {
    let names = ["problem", "solver", "rung", "name", "method", "iteration", "total", "residual"];
    let mut table = Table::new("Histories", names.map(Column::new)).to_file("history.csv").hidden();
    let names = ["problem", "rung", "total", "seconds"];
    let mut times = Table::new("Times", names.map(Column::new)).to_file("times.csv").hidden();
    (table.printed, times.printed) = (Printed::No, Printed::No);
    for a in attempts {
        for (p, total) in a.history.iter().zip(totals(&a.history)) {
            let words = [a.name.as_str(), a.solver].map(Cell::from).into_iter().chain([Cell::from(p.rung)]);
            let words = words.chain([p.name, p.method].map(Cell::from));
            let counts = [p.iteration, total].map(Cell::from);
            table.row(words.chain(counts).chain([Cell::from(p.residual)]));
            times.row([a.name.as_str().into(), Cell::from(p.rung), Cell::from(total), Cell::from(p.seconds)]);
        }
    }
    let mut sections: Vec<Section> = attempts.iter().map(section).collect();
    sections.push(Section { tables: vec![table], ..Section::default() });
    let mut timed: Vec<Section> = attempts.iter().map(over_time).collect();
    timed.push(Section { tables: vec![times], ..Section::default() });
    let count = attempts.len();
    let times = Document { title: "Residuals over time".into(), sections: timed, ..Document::default() };
    Document {
        title: "Histories of residuals".into(),
        subtitle: format!("{count} problem{}", if count == 1 { "" } else { "s" }),
        sections,
        times: Some(Box::new(times)),
        ..Document::default()
    }
}

/// The residual of an attempt over the time of the clock.
fn over_time(attempt: &Attempt) -> Section {
    let seconds: Vec<f64> = attempt.history.iter().map(|p| p.seconds).collect();
    let charts = vec![chart("Residual over time", "time [s]", &seconds, &attempt.history)];
    Section { title: attempt.name.clone(), charts, ..Section::default() }
}

fn section(attempt: &Attempt) -> Section {
    let total: Vec<f64> = totals(&attempt.history).into_iter().map(|total| total as f64).collect();
    let status = attempt.failure.as_deref().or(attempt.warning.as_deref()).unwrap_or("solved");
    Section {
        title: attempt.name.clone(),
        text: vec![
            "Residual of the present point, one curve per rung of the ladder; the best point is kept besides. Sweeps and \
             steps of methods that factor matrices count one each."
                .into(),
        ],
        facts: vec![("path".into(), attempt.log.clone()), ("status".into(), status.into())],
        charts: vec![chart("Residual over sweeps and steps", "sweeps and steps", &total, &attempt.history)],
        gallery: true,
        ..Section::default()
    }
}

/// Residuals over `x`, one curve per rung and method.
fn chart(title: &str, label: &str, x: &[f64], points: &[Point]) -> Chart {
    let mut chart = Chart::new(title, label, "residual");
    chart.log_y = true;
    let all: Vec<(f64, &Point)> = x.iter().copied().zip(points).collect();
    for part in all.chunk_by(|(_, a), (_, b)| (a.rung, a.method) == (b.rung, b.method)) {
        let Some((_, first)) = part.first() else { continue };
        let name = if first.name == first.method { String::new() } else { format!(" by {}", first.method) };
        let name = format!("{} {}{name}", first.rung, first.name);
        let (x, y) = part.iter().map(|(x, p)| (*x, p.residual)).unzip();
        chart = chart.with(Series::new(name, SeriesStyle::LinesAndMarkers, x, y));
    }
    chart
}

/// Sweeps and steps of all methods so far, for each point.
fn totals(points: &[Point]) -> Vec<usize> {
    let (mut before, mut last) = (0, None::<&Point>);
    let mut total = Vec::with_capacity(points.len());
    for p in points {
        // a method that starts again counts from zero
        if let Some(last) = last.filter(|l| (l.rung, l.method) != (p.rung, p.method) || l.iteration > p.iteration) {
            before += last.iteration;
        }
        total.push(before + p.iteration);
        last = Some(p);
    }
    total
}
