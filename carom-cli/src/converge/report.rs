//! The report of a convergence study: log-log charts, orders, work.

use super::Studies;
use super::table::order;
use carom_analysis::convergence::{Level, NORMS, Study};
use carom_analysis::report::{Callout, Cell, Chart, Dash, Report, Series, SeriesStyle, Table};
use std::io::{self, BufWriter, Write};
use std::path::Path;

pub fn write(studies: &Studies<'_>, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    build(studies).write(&mut file)?;
    file.flush()
}

fn build(studies: &Studies<'_>) -> Report {
    let mut report = Report::new(format!("Convergence: {}", studies.scene.name));
    report.subtitle = format!("Errors against {}", studies.reference);
    let section = report.section("Orders");
    if let Some(plan) = &studies.plans.steps {
        section.paragraph(format!(
            "Fitted slopes of log(error) over log(h), with standard errors. Each level is the geometric mean of {} neighbouring grids: with \
             impacts a single grid scatters by a factor of three. In the sup norm velocities with jumps do not converge.",
            plan.grids
        ));
    }
    if !studies.plans.tolerances.is_empty() {
        section.paragraph("Of adaptive methods the slope is that over the tolerance. Norms have trapezoidal weights.");
    }
    let mut table = Table::new(
        "Fitted orders",
        std::iter::once("scheme".to_owned())
            .chain(studies.sides().iter().flat_map(|(_, name, _)| NORMS.map(|n| format!("{name} {n}")))),
    );
    for study in &studies.studies {
        let orders = studies.sides().iter().flat_map(|(of, ..)| NORMS.map(|norm| Cell::from(order(study, *of, norm))));
        table.row(std::iter::once(Cell::from(study.scheme.as_str())).chain(orders));
    }
    section.push(table);
    for study in &studies.studies {
        for level in study.levels.iter().filter(|level| level.failed.is_some()) {
            let (count, reason) = level.failed.clone().unwrap_or_default();
            section
                .callout(Callout::Warning, format!("{}: {count} run(s) {} failed: {reason}", study.scheme, at(level)));
        }
    }
    for (adaptive, title) in [(false, "Errors over the step"), (true, "Errors over the tolerance")] {
        if !studies.studies.iter().any(|study| study.is_adaptive() == adaptive) {
            continue;
        }
        let section = report.section(title);
        for &(of, _, name) in studies.sides() {
            for norm in NORMS {
                section.push(error_chart(studies, adaptive, &format!("{norm} error of {name}"), (of, norm)));
            }
        }
        section.gallery();
    }
    super::work::report(studies, report.section("Work"));
    report.section("Model file").preformatted(studies.scene.name.clone(), studies.scene.text());
    report
}

/// Which level is meant, in words.
pub fn at(level: &Level) -> String {
    match level.tolerance {
        Some(tolerance) => format!("with the tolerance {tolerance:.3e}"),
        None => format!("with h ≈ {:.3e}", level.step),
    }
}

/// All schemes in one norm, with a line of slope 1 through the middle of the first.
fn error_chart(studies: &Studies<'_>, adaptive: bool, title: &str, (of, norm): (char, &str)) -> Chart {
    let label = if adaptive { "tolerance [m]" } else { "h [s]" };
    let size = |level: &Level| level.tolerance.unwrap_or(level.step);
    let error = |level: &Level| if of == 'q' { level.q } else { level.v }.get(norm);
    let mut chart = Chart::new(title, label, "error").log_log();
    let chosen: Vec<&Study> = studies.studies.iter().filter(|study| study.is_adaptive() == adaptive).collect();
    for study in &chosen {
        let (x, y) = study.levels.iter().map(|l| (size(l), error(l))).unzip();
        chart = chart.with(Series::new(study.scheme.clone(), SeriesStyle::LinesAndMarkers, x, y));
    }
    if let Some(study) = chosen.first()
        && let Some(level) = study.levels.get(study.levels.len() / 2)
    {
        let (h, e) = (size(level), error(level));
        let ends: Vec<f64> = [study.levels.first(), study.levels.last()].into_iter().flatten().map(size).collect();
        let line = ends.iter().map(|x| e * x / h).collect();
        chart = chart.with(Series::lines("slope 1", ends, line).dashed(Dash::Dot));
    }
    chart
}
