//! The short result table at the end of a run.

use super::Run;
use crate::console::print_line;
use crate::failure::Failure;
use crate::table::Table;
use carom::ImpactLaw;
use carom::scheme::Family;
use carom::simulation::Accumulation;
use carom_analysis::results::Status;
use std::collections::BTreeMap;
use std::path::Path;

/// Contacts whose accumulation is printed; all of them are in the summary.
const MOST_ACCUMULATIONS: usize = 8;

/// The last accumulation of each contact: where accumulations are nested, the one after which it rests.
fn last_accumulations(all: &[Accumulation]) -> BTreeMap<&str, f64> {
    all.iter().map(|accumulation| (accumulation.contact.as_str(), accumulation.limit)).collect()
}

pub fn print(run: &Run, folder: &Path, report: bool) -> Result<(), Failure> {
    let summary = &run.recorded.summary;
    let mut table = Table::default();
    let mut row = |name: &str, value: String| {
        table.row([name.to_owned(), value]);
    };
    let status = match summary.status {
        Status::Finished => "finished",
        Status::Failed => "FAILED",
        Status::Interrupted => "interrupted",
    };
    row("run", format!("{} ({status})", summary.name));
    row("scheme, solver", format!("{}, {}", summary.inputs.scheme.name, summary.inputs.solver.name));
    if let Some(law) = summary.inputs.impacts.as_ref().filter(|_| run.scene.impacts != ImpactLaw::Newton) {
        row("impact law", law.clone());
    }
    if let Some(rule) = &summary.inputs.materials {
        row("materials combine by", rule.clone());
    }
    row("steps", summary.statistics.steps.to_string());
    if summary.inputs.adaptive.is_some() {
        row("rejected tries", summary.statistics.rejected.to_string());
    }
    row("solves", summary.statistics.solves.to_string());
    for path in &summary.solver {
        row(&format!("  by {}", path.methods), path.problems.to_string());
    }
    // schemes that locate impacts work out those of one contact themselves, and ask no solver
    let asked: u64 = summary.solver.iter().map(|path| path.problems).sum();
    if let Some(own @ 1..) = summary.statistics.solves.checked_sub(asked) {
        row("  by the scheme itself", own.to_string());
    }
    let mechanical = run.scene.family == Family::Mechanical;
    // a row of a first-order model that begins to act
    row(if mechanical { "impacts" } else { "activations" }, summary.impacts.to_string());
    for (kind, count) in &summary.events {
        row(&format!("events: {kind}"), count.to_string());
    }
    for (contact, t) in last_accumulations(&summary.accumulations).iter().take(MOST_ACCUMULATIONS) {
        row(&format!("accumulation at {contact}"), format!("t = {t:.12} s"));
    }
    if let Some(stop) = &summary.stopped {
        row("stopped by", format!("{} at t = {:.9} s", stop.event, stop.time));
    }
    if let Some(gap) = summary.smallest_gap.overall.filter(|_| mechanical) {
        row("smallest gap", format!("{gap:.6e} m"));
    }
    if let Some(energy) = &summary.energy {
        row("energy lost at impacts", format!("{:.6e} J", energy.impact_loss));
        row("energy lost by friction", format!("{:.6e} J", energy.friction_loss));
        if energy.sleep_loss > 0.0 {
            row("energy of what fell asleep", format!("{:.6e} J", energy.sleep_loss));
        }
        row("numerical residue", format!("{:.3e} J", energy.residue));
    }
    for difference in summary.estimate.iter().flat_map(|estimate| &estimate.differences) {
        let order = difference.order.map_or(String::new(), |order| format!(", observed order {order:.2}"));
        let told = difference.difference.map_or("not comparable".into(), |d| format!("{d:.3e}{order}"));
        row(&format!("off by: {}", difference.what), told);
    }
    row("worst certificate", format!("{:.2e}", summary.certificate.residual));
    if let Some(dumped) = &run.dumped {
        row("problems written", format!("{} in {}", dumped.written, dumped.folder.display()));
    }
    if summary.columns_left_out > 0 {
        row("columns left out", format!("{}, of many; --columns all keeps them", summary.columns_left_out));
    }
    row("wall time", format!("{:.3} s", run.recorded.wall_seconds));
    for outcome in &run.expectations {
        let expected = &outcome.expectation;
        let verdict = if outcome.holds { "ok" } else { "MISSED" };
        row(
            &expected.text,
            format!("{:.9e}, expected {:.9e} ± {:.1e}: {verdict}", outcome.actual, expected.value, expected.tolerance),
        );
    }
    table.print()?;
    print_line(format_args!("results in {}", folder.display()))?;
    if report {
        print_line(format_args!("report     {}", folder.join("report.html").display()))?;
    }
    Ok(())
}
