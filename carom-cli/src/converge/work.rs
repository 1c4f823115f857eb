//! Work against precision: what an error costs, method by method.

use super::Studies;
use crate::console::say;
use crate::failure::Failure;
use crate::list::plain_table;
use carom_analysis::convergence::{Study, WORKS, Work};
use carom_analysis::report::{Cell, Chart, Section, Series, SeriesStyle, Table};

/// The decades of error that at least one method reaches, from coarse to fine.
fn targets(studies: &[Study]) -> Vec<f64> {
    let errors = || studies.iter().flat_map(|s| &s.levels).map(|l| l.q.l1).filter(|e| *e > 0.0 && e.is_finite());
    let (Some(least), Some(most)) = (errors().reduce(f64::min), errors().reduce(f64::max)) else { return Vec::new() };
    let (first, last) = (most.log10().floor() as i32, least.max(1e-15).log10().ceil() as i32);
    (last..=first).rev().map(|k| format!("1e{k}").parse().unwrap_or(10f64.powi(k))).collect()
}

fn exponent(study: &Study, work: Work) -> String {
    study.work_exponent(work).map_or("-".into(), |s| format!("{s:.2}"))
}

pub fn print(studies: &Studies<'_>) -> Result<(), Failure> {
    let targets = targets(&studies.studies);
    for work in [Work::Evaluations, Work::Iterations] {
        say(format_args!("\n{} to reach an l1 error of positions; s in work ~ error^-s", work.label()))?;
        let mut table = plain_table();
        let first = ["method".to_owned(), "s".to_owned()];
        table.set_header(first.into_iter().chain(targets.iter().map(|x| format!("{x:.0e}"))));
        for study in &studies.studies {
            let cells = targets.iter().map(|&x| study.work_for(x, work).map_or("-".into(), |w| format!("{w:.0}")));
            table.add_row([study.scheme.clone(), exponent(study, work)].into_iter().chain(cells));
        }
        say(table)?;
    }
    Ok(())
}

/// One chart per unit of work, and a table of what each decade of accuracy costs.
pub fn report(studies: &Studies<'_>, section: &mut Section) {
    section.paragraph(
        "Methods side by side: each point is one step size (mean of the grids) or one tolerance; further down and to the left is better. \
         Rejected steps count. Exponents s belong to work ~ error^-s, fitted as log(error) over log(work).",
    );
    let targets = targets(&studies.studies);
    for work in [Work::Evaluations, Work::Iterations] {
        let header =
            ["method".to_owned(), "s".to_owned()].into_iter().chain(targets.iter().map(|x| format!("{x:.0e}")));
        let mut table = Table::new(format!("{} to reach an l1 error of positions", work.label()), header);
        for study in &studies.studies {
            let cell = |x: &f64| match study.work_for(*x, work) {
                Some(value) => Cell::Formatted { value, text: format!("{value:.0}") },
                None => Cell::from("-"),
            };
            let first = [Cell::from(study.scheme.as_str()), Cell::from(exponent(study, work))];
            table.row(first.into_iter().chain(targets.iter().map(cell)));
        }
        section.push(table);
    }
    for work in WORKS {
        let label = format!("{} per run", work.label());
        let mut chart =
            Chart::new(format!("l1 error of positions over {}", work.label()), label, "l1 error [m s]").log_log();
        for study in &studies.studies {
            let x = study.levels.iter().map(|l| work.of(l)).collect();
            let errors = study.levels.iter().map(|l| l.q.l1).collect();
            chart = chart.with(Series::new(study.scheme.clone(), SeriesStyle::LinesAndMarkers, x, errors));
        }
        section.push(chart);
    }
    section.gallery();
}
