//! The report of a run.

use super::sizes::StepSizes;
use super::{LISTED, Run};
use carom::scheme::Family;
use carom_analysis::files::write_whole;
use carom_analysis::report::{Callout, Cell, Chart, Report, Section, Series, Table};
use carom_analysis::results::{Curve, Estimate, Status};
use std::io;
use std::path::Path;

/// Prefix of the columns, title and label of a chart, and whether values hold until the next one.
const CHARTS: [(&str, &str, &str, bool); 8] = [
    ("q.", "Positions", "position [m, rad]", false),
    ("v.", "Velocities", "velocity [m/s, rad/s]", true),
    ("gap.", "Gaps", "gap [m]", false),
    ("impulse.", "Impulses", "impulse per record [N s]", true),
    ("force.", "Contact forces", "force [N]", false),
    ("tau.", "Multipliers of the projection", "τ per record", true),
    ("energy.", "Energies", "energy [J]", false),
    ("output.", "Outputs", "value", false),
];

/// The same for first-order models.
const FIRST_ORDER_CHARTS: [(&str, &str, &str, bool); 7] = [
    ("x.", "States", "state", false),
    ("v.", "Potentials and voltages", "voltage [V]", false),
    ("i.", "Currents", "current [A]", false),
    ("y.", "Outputs of the rows", "y", false),
    ("lambda.", "Multipliers", "λ", true),
    ("impulse.", "Integrals of multipliers", "∫λ dt per record", true),
    ("output.", "Outputs", "value", false),
];

pub fn write(run: &Run, path: &Path) -> io::Result<()> {
    let report = build(run);
    write_whole(path, |out| report.write(out))
}

fn build(run: &Run) -> Report {
    let scene = &run.scene;
    let mut report = Report::new(scene.name.clone());
    report.subtitle = scene.description.clone().unwrap_or_default();
    overview(run, report.section("Overview"));
    if let Some(frames) = &run.frames {
        report.section("Animation").push(frames.animation(&scene.name));
    }
    let charts = report.section("Histories");
    let charted = if mechanical(run) { &CHARTS[..] } else { &FIRST_ORDER_CHARTS[..] };
    for &(prefix, title, label, held) in charted {
        // there are no forces before the first step
        let told = |curve: &&Curve| curve.name.starts_with(prefix) && curve.x.iter().any(|x| !x.is_nan());
        let curves: Vec<&Curve> = run.recorded.curves.iter().filter(told).collect();
        if !curves.is_empty() {
            let drawn = chart(&curves, prefix, (title, label), held);
            charts.push(if prefix == "q." { marked(drawn, &curves, run) } else { drawn });
        }
    }
    if let Some(sizes) = &run.sizes {
        steps(run, sizes, report.section("Steps"));
    }
    impacts(run, report.section(if mechanical(run) { "Impacts" } else { "Activations" }));
    if !run.lists.events.is_empty() {
        events(run, report.section("Events"));
    }
    solver(run, report.section("Solver"));
    certificate(run, report.section(if mechanical(run) { "Certificate and energy" } else { "Certificate" }));
    report
        .section("Model file")
        .preformatted(run.recorded.summary.inputs.model.clone().unwrap_or_default(), scene.text());
    report
}

fn mechanical(run: &Run) -> bool {
    run.scene.family == Family::Mechanical
}

fn overview(run: &Run, section: &mut Section) {
    let summary = &run.recorded.summary;
    if let Some(failure) = &summary.failure {
        let contact = failure.contact.as_ref().map(|c| format!(" at contact {c}")).unwrap_or_default();
        section.callout(
            Callout::Failure,
            format!("The run failed at t = {} s{contact}: {}", failure.time, failure.message),
        );
    }
    if summary.status == Status::Interrupted {
        section.callout(Callout::Warning, "The run was interrupted; this is what was computed until then.");
    }
    for warning in &summary.warnings {
        section.callout(Callout::Warning, warning.to_string());
    }
    if let Some(stop) = &summary.stopped {
        section.paragraph(format!("The event {} ended the run at t = {:?} s.", stop.event, stop.time));
    }
    let inputs = &summary.inputs;
    let first = if inputs.adaptive.is_some() { "first " } else { "" };
    let mut facts = vec![
        ("scheme", run.scene.scheme.describe()),
        ("solver", run.scene.solver.describe()),
        ("span", format!("{} s to {} s, {}step {} s", inputs.start, inputs.end, first, inputs.step)),
        ("steps", summary.statistics.steps.to_string()),
        ("problems solved", summary.statistics.solves.to_string()),
        ("Newton iterations", summary.statistics.iterations.to_string()),
        ("evaluations of the right-hand side", summary.statistics.evaluations.to_string()),
        (if mechanical(run) { "impacts" } else { "activations" }, summary.impacts.to_string()),
        ("carom", summary.carom.clone()),
    ];
    if mechanical(run) {
        let gap = summary.smallest_gap.overall.map_or("none".into(), |gap| format!("{gap:.6e} m"));
        facts.insert(facts.len() - 1, ("smallest gap", gap));
    }
    section.facts(facts);
    if !run.scene.parameters.is_empty() {
        let mut table = Table::new("Parameters", ["name", "value"]);
        for (name, value) in &run.scene.parameters {
            table.row([Cell::from(name.as_str()), Cell::from(*value)]);
        }
        section.push(table);
    }
    if let Some(estimate) = &summary.estimate {
        section.push(how_far_off(estimate));
    }
    if !run.expectations.is_empty() {
        let mut table =
            Table::new("Expected numbers", ["quantity", "measured", "expected", "tolerance", "verdict", "source"]);
        for outcome in &run.expectations {
            let e = &outcome.expectation;
            let verdict = if outcome.holds { "met" } else { "missed" };
            let number = |x: f64| Cell::Formatted { value: x, text: format!("{x:.9e}") };
            let source = e.source.clone().unwrap_or_default();
            let tolerance = Cell::Formatted { value: e.tolerance, text: format!("{:.1e}", e.tolerance) };
            table.row([
                e.text.clone().into(),
                number(outcome.actual),
                number(e.value),
                tolerance,
                verdict.into(),
                source.into(),
            ]);
        }
        section.push(table);
    }
}

fn how_far_off(estimate: &Estimate) -> Table {
    let columns = ["figure", "difference to the finer run", "of the next two", "observed order"];
    let mut table = Table::new(format!("How far off ({})", estimate.refined), columns);
    let number = |x: Option<f64>, text: fn(f64) -> String| {
        x.map_or_else(|| Cell::from("-"), |value| Cell::Formatted { value, text: text(value) })
    };
    for row in &estimate.differences {
        let size = |x| format!("{x:.3e}");
        table.row([
            Cell::from(row.what.as_str()),
            number(row.difference, size),
            number(row.finer, size),
            number(row.order, |x| format!("{x:.2}")),
        ]);
    }
    table
}

fn chart(curves: &[&Curve], prefix: &str, (title, label): (&str, &str), held: bool) -> Chart {
    let mut chart = Chart::over_time(title, label);
    for curve in curves {
        let name = curve.name.strip_prefix(prefix).unwrap_or(&curve.name);
        let series = if held { Series::steps } else { Series::lines };
        chart = chart.with(series(name, curve.t.clone(), curve.x.clone()));
    }
    chart
}

/// Marks of the events on the curves of positions, where these are few.
fn marked(chart: Chart, curves: &[&Curve], run: &Run) -> Chart {
    let coordinate = |curve: &&Curve| {
        let name = curve.name.strip_prefix("q.")?;
        run.scene.coordinates.iter().position(|known| known == name)
    };
    let shown: Vec<usize> = curves.iter().filter_map(coordinate).collect();
    if run.lists.events.is_empty() || shown.len() > SHOWN_COORDINATES {
        return chart;
    }
    let points =
        run.lists.events.iter().flat_map(|event| shown.iter().filter_map(|i| Some((event.t, *event.after.q.get(*i)?))));
    let (t, q) = points.unzip();
    chart.with(Series::markers("events", t, q))
}

/// Sizes over time and the tries that were rejected.
fn steps(run: &Run, sizes: &StepSizes, section: &mut Section) {
    let totals = &run.recorded.summary.statistics;
    let Some(adaptive) = &run.scene.adaptive else { return };
    section.paragraph(
        "Steps by the local error: each step is taken as a whole and in two halves. Where the estimates differ too much the try is rejected.",
    );
    let smallest = sizes.sizes.iter().map(|(_, h)| *h).reduce(f64::min);
    let largest = sizes.sizes.iter().map(|(_, h)| *h).reduce(f64::max);
    let size = |h: Option<f64>| h.map_or("none".into(), |h| format!("{h:.3e} s"));
    section.facts([
        ("tolerance", adaptive.words()),
        ("estimator", adaptive.estimator.name().into()),
        ("accepted steps", totals.steps.to_string()),
        ("rejected tries", totals.rejected.to_string()),
        ("smallest step", size(smallest)),
        ("largest step", size(largest)),
    ]);
    let mut chart = Chart::over_time("Size of steps", "h [s]");
    chart.log_y = true;
    let (t, h) = sizes.sizes.iter().copied().unzip();
    chart = chart.with(Series::steps("accepted", t, h));
    if !sizes.retried.is_empty() {
        let (t, h) = sizes.retried.iter().copied().unzip();
        chart = chart.with(Series::markers("accepted after rejected tries", t, h));
    }
    section.push(chart);
}

fn impacts(run: &Run, section: &mut Section) {
    let summary = &run.recorded.summary;
    if run.lists.impacts.is_empty() {
        section.paragraph(if mechanical(run) { "No contact closed." } else { "No multiplier became positive." });
        return;
    }
    section.paragraph(if mechanical(run) {
        "One row each time a contact closes; click a row to move the animation and the cursors there."
    } else {
        "One row each time a multiplier becomes positive; click a row to move the cursors there."
    });
    let friction = run.lists.impacts.iter().any(|impact| impact.impulse.len() > 1);
    let mut header = match run.scene.family {
        Family::Mechanical => vec!["t [s]", "contact", "u_N before [m/s]", "u_N after [m/s]", "P_N [N s]"],
        Family::FirstOrder => vec!["t [s]", "row", "y before", "y after", "integral of the multiplier"],
    };
    if friction {
        header.extend(["u_T before [m/s]", "u_T after [m/s]", "P_T [N s]"]);
    }
    let mut table = Table::new(if mechanical(run) { "Impact list" } else { "Activations" }, header);
    table.time_column = Some(0);
    table.total = usize::try_from(summary.impacts).ok().filter(|total| *total > LISTED);
    table.file = Some("impacts.parquet".into());
    let tangential = |x: &[f64]| {
        Cell::from(
            x.get(1..).filter(|t| !t.is_empty()).map(|t| t.iter().map(|x| x * x).sum::<f64>().sqrt().copysign(t[0])),
        )
    };
    for impact in &run.lists.impacts {
        let mut cells = vec![
            Cell::from(impact.t),
            Cell::from(impact.contact.as_str()),
            Cell::from(impact.before.first().copied()),
            Cell::from(impact.after.first().copied()),
            Cell::from(impact.impulse.first().copied()),
        ];
        if friction {
            cells.extend([tangential(&impact.before), tangential(&impact.after), tangential(&impact.impulse)]);
        }
        table.row(cells);
    }
    section.push(table);
}

/// Most coordinates whose values before and after an event stand in its row.
const SHOWN_COORDINATES: usize = 4;

fn events(run: &Run, section: &mut Section) {
    let summary = &run.recorded.summary;
    section.paragraph(
        "Events that the scheme has located, and those of the model file; click a row to move the cursors there.",
    );
    let counts: Vec<(&str, String)> = summary.events.iter().map(|(kind, n)| (kind.as_str(), n.to_string())).collect();
    section.facts(counts);
    if !summary.accumulations.is_empty() {
        let mut table = Table::new("Accumulations", ["contact", "impacts accumulate at t [s]", "closed at t [s]"]);
        for found in summary.accumulations.iter().take(LISTED) {
            let time = |t: f64| Cell::Formatted { value: t, text: format!("{t:.12}") };
            table.row([Cell::from(found.contact.as_str()), time(found.limit), time(found.closed)]);
        }
        section.push(table);
    }
    let names = run.scene.coordinates.iter().take(SHOWN_COORDINATES);
    let mut header: Vec<String> = ["t [s]", "name", "kind", "contact"].map(String::from).to_vec();
    for name in names.clone() {
        header.extend([name.clone(), format!("{name}' before"), format!("{name}' after")]);
    }
    let mut table = Table::new("Event list", header);
    table.time_column = Some(0);
    table.total = usize::try_from(summary.events.values().sum::<u64>()).ok().filter(|total| *total > LISTED);
    table.file = Some("events.parquet".into());
    for event in &run.lists.events {
        let contact = event.contact.as_deref().unwrap_or_default();
        let mut cells =
            vec![Cell::from(event.t), Cell::from(event.name.as_str()), Cell::from(event.kind), Cell::from(contact)];
        for i in 0..names.len() {
            let (before, after) = (&event.before, &event.after);
            cells.extend([after.q.get(i), before.v.get(i), after.v.get(i)].map(|x| Cell::from(x.copied())));
        }
        table.row(cells);
    }
    section.push(table);
}

fn solver(run: &Run, section: &mut Section) {
    if run.recorded.summary.solver.is_empty() {
        section.paragraph("No law acted: there was nothing to solve.");
        return;
    }
    section.paragraph(
        "Methods in the order in which they were tried on a problem; the next one was tried where the one before missed the tolerance.",
    );
    let mut table = Table::new(run.scene.solver.describe(), ["methods", "problems", "not solved", "worst residual"]);
    for path in &run.recorded.summary.solver {
        let residual = Cell::Formatted { value: path.worst_residual, text: format!("{:.1e}", path.worst_residual) };
        table.row([
            Cell::from(path.methods.as_str()),
            Cell::from(path.problems as usize),
            Cell::from(path.failed as usize),
            residual,
        ]);
    }
    section.push(table);
}

fn certificate(run: &Run, section: &mut Section) {
    let summary = &run.recorded.summary;
    let worst = &summary.certificate;
    section.paragraph(
        "Every one-step problem is certified from its ingredients after it was solved. These are the worst values of the run.",
    );
    if let Some(error) = worst.full_error {
        section.facts([("error of the literature, relative", format!("{error:.3e}"))]);
    }
    if !mechanical(run) {
        section.facts([
            ("residual, relative and free of units", format!("{:.3e}", worst.residual)),
            ("distance of a multiplier from its set", format!("{:.3e}", worst.cone)),
            ("violation of an output condition", format!("{:.3e}", worst.velocity)),
            ("complementarity", format!("{:.3e}", worst.complementarity)),
        ]);
        return;
    }
    section.facts([
        ("residual, relative and free of units", format!("{:.3e}", worst.residual)),
        ("distance of a reaction from its cone", format!("{:.3e} N s", worst.cone)),
        ("violation of a velocity condition", format!("{:.3e} m/s", worst.velocity)),
        ("complementarity", format!("{:.3e} J", worst.complementarity)),
    ]);
    let Some(e) = &summary.energy else {
        section.paragraph("The model does not tell its energy.");
        return;
    };
    let mut table = Table::new("Energy ledger", ["entry", "energy [J]"]);
    for (name, value) in [
        ("kinetic, start", e.kinetic_start),
        ("potential, start", e.potential_start),
        ("work of forces without potential", e.applied),
        ("work of moving obstacles", e.obstacles),
        ("lost at impacts (normal)", -e.impact_loss),
        ("lost by friction (tangential)", -e.friction_loss),
        ("work of bilateral constraints", e.bilateral),
        ("numerical residue", e.residue),
        ("kinetic, end", e.kinetic_end),
        ("potential, end", e.potential_end),
        ("largest total above the initial one", e.largest_gain),
    ] {
        table.row([Cell::from(name), Cell::from(value)]);
    }
    section.push(table);
}
