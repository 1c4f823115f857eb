//! The report of a convergence study: log-log charts, orders, work.

use super::Studies;
use super::table::order;
use carom_analysis::convergence::NORMS;
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
    section.paragraph(format!(
        "Fitted slopes of log(error) over log(h), with standard errors. Each level is the geometric mean of {} neighbouring grids: with \
         impacts a single grid scatters by a factor of three. In the sup norm velocities with jumps do not converge.",
        studies.plan.grids
    ));
    let mut table = Table::new(
        "Fitted orders",
        std::iter::once("scheme".to_owned())
            .chain(["q", "v"].into_iter().flat_map(|of| NORMS.map(|n| format!("{of} {n}")))),
    );
    for study in &studies.studies {
        let orders = ['q', 'v'].into_iter().flat_map(|of| NORMS.map(|norm| Cell::from(order(study, of, norm))));
        table.row(std::iter::once(Cell::from(study.scheme.as_str())).chain(orders));
    }
    section.push(table);
    for study in &studies.studies {
        for level in study.levels.iter().filter(|level| level.failed.is_some()) {
            let (count, reason) = level.failed.clone().unwrap_or_default();
            section.callout(
                Callout::Warning,
                format!("{}: {count} run(s) with h ≈ {:.3e} failed: {reason}", study.scheme, level.step),
            );
        }
    }
    let section = report.section("Errors over the step");
    for (of, name) in [('q', "positions"), ('v', "velocities")] {
        for norm in NORMS {
            section.push(error_chart(studies, of, &format!("{norm} error of {name}"), norm));
        }
    }
    section.gallery();
    let section = report.section("Work");
    for (x, label) in [("solves", "one-step problems per run"), ("seconds", "wall time per run [s]")] {
        let mut chart = Chart::new(format!("l1 error of positions over {label}"), label, "l1 error [m s]").log_log();
        for study in &studies.studies {
            let work = study.levels.iter().map(|l| if x == "solves" { l.solves } else { l.seconds }).collect();
            let errors = study.levels.iter().map(|l| l.q.l1).collect();
            chart = chart.with(Series::new(study.scheme.clone(), SeriesStyle::LinesAndMarkers, work, errors));
        }
        section.push(chart);
    }
    section.gallery();
    report.section("Model file").preformatted(studies.scene.name.clone(), studies.scene.text());
    report
}

/// All schemes in one norm, with a line of slope 1 through the middle of the first.
fn error_chart(studies: &Studies<'_>, of: char, title: &str, norm: &str) -> Chart {
    let mut chart = Chart::new(title, "h [s]", "error").log_log();
    for study in &studies.studies {
        let steps = study.levels.iter().map(|l| l.step).collect();
        let errors = study.levels.iter().map(|l| if of == 'q' { l.q } else { l.v }.get(norm)).collect();
        chart = chart.with(Series::new(study.scheme.clone(), SeriesStyle::LinesAndMarkers, steps, errors));
    }
    if let Some(study) = studies.studies.first()
        && let Some(level) = study.levels.get(study.levels.len() / 2)
    {
        let (h, e) = (level.step, if of == 'q' { level.q } else { level.v }.get(norm));
        let ends: Vec<f64> =
            [study.levels.first(), study.levels.last()].into_iter().flatten().map(|l| l.step).collect();
        let line = ends.iter().map(|x| e * x / h).collect();
        chart = chart.with(Series::lines("slope 1", ends, line).dashed(Dash::Dot));
    }
    chart
}
