//! The report of a sweep: each quantity over each parameter, and the rows.

use super::Plan;
use super::table::{Row, Status};
use carom_analysis::report::{Callout, Cell, Chart, Report, Series, SeriesStyle, Table};
use std::collections::BTreeMap;

/// Curves of one chart.
const CURVES: usize = 12;

pub fn build(plan: &Plan, rows: &[&Row]) -> Report {
    let mut report = Report::new(format!("Sweep: {}", plan.scene.name));
    report.subtitle = plan.scene.description.clone().unwrap_or_default();
    let good: Vec<&&Row> = rows.iter().filter(|row| row.status == Status::Finished).collect();
    let section = report.section("Quantities");
    if good.len() < plan.count {
        let text = format!("{} of {} runs finished; reasons of the others are in the table.", good.len(), plan.count);
        section.callout(Callout::Warning, text);
    }
    for (k, measure) in plan.measures.iter().enumerate() {
        for (axis, varied) in plan.grid.0.iter().enumerate().filter(|(_, varied)| varied.len() > 1) {
            section.push(chart(plan, &good, (k, &measure.text), (axis, &varied.name)));
        }
    }
    section.gallery();
    let mut header: Vec<String> = plan.names().map(str::to_owned).collect();
    header.extend(["status".to_owned(), "reason".to_owned()]);
    header.extend(plan.measures.iter().map(|m| m.text.clone()));
    let mut table = Table::new("Runs", header);
    table.file = Some("sweep.csv".into());
    for row in rows {
        let mut cells: Vec<Cell> = row.values.iter().map(|x| Cell::from(*x)).collect();
        cells.extend([Cell::from(row.status.word()), Cell::from(row.reason.as_str())]);
        cells.extend(row.measured.iter().map(|x| Cell::from(*x)));
        table.row(cells);
    }
    report.section("Runs").push(table);
    report.section("Model file").preformatted(plan.scene.name.clone(), plan.scene.text());
    report
}

/// One quantity over one parameter, a curve for each combination of the others as long as they are few.
fn chart(plan: &Plan, rows: &[&&Row], (k, measure): (usize, &str), (axis, name): (usize, &str)) -> Chart {
    let mut curves: BTreeMap<String, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for row in rows {
        let others: Vec<String> = (plan.names().zip(&row.values).enumerate())
            .filter(|(i, _)| *i != axis && plan.seed.is_none())
            .map(|(_, (name, value))| format!("{name} = {value}"))
            .collect();
        let curve = curves.entry(others.join(", ")).or_default();
        curve.0.push(row.values.get(axis).copied().unwrap_or(f64::NAN));
        curve.1.push(row.measured.get(k).copied().unwrap_or(f64::NAN));
    }
    let mut chart = Chart::new(format!("{measure} over {name}"), name, measure);
    if plan.seed.is_some() || curves.len() > CURVES {
        let (x, y) = curves.into_values().fold((Vec::new(), Vec::new()), |(mut x, mut y), curve| {
            x.extend(curve.0);
            y.extend(curve.1);
            (x, y)
        });
        return chart.with(Series::markers("runs", x, y));
    }
    for (label, (x, y)) in curves {
        let label = if label.is_empty() { measure.to_owned() } else { label };
        chart = chart.with(Series::new(label, SeriesStyle::LinesAndMarkers, x, y));
    }
    chart
}
