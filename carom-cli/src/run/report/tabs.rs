//! Lists and details of a run, in panes with tabs.

use super::mechanical;
use crate::run::{LISTED, Run};
use carom::scheme::Family;
use carom_analysis::report::{Cell, Section, Tab, Table, number};
use carom_analysis::results::{Estimate, ORDER, PRESSED};

/// Rows of a list in the page; all of them are in the result files.
const SHOWN: usize = 400;

/// Title, number beside it, whether there is anything to show, and what fills it.
type Pane<'a> = (&'a str, Option<u64>, bool, &'a dyn Fn(&Run, &mut Section));

/// Panes in the order of their tabs; those without content are left out.
pub fn tabs(run: &Run) -> Vec<Tab> {
    let summary = &run.recorded.summary;
    let listed = |n: usize| (n > 0).then_some(n as u64);
    let certified = if mechanical(run) { "Certificate, energy" } else { "Certificate" };
    let model = |run: &Run, section: &mut Section| {
        let name = run.recorded.summary.inputs.model.clone().unwrap_or_default();
        section.preformatted(name, run.scene.text());
    };
    let events: u64 = summary.events.values().sum();
    let panes: [Pane<'_>; 9] = [
        (if mechanical(run) { "Impacts" } else { "Activations" }, Some(summary.impacts), true, &impacts),
        ("Events", Some(events), events > 0, &self::events),
        ("Play", listed(summary.plays.len()), !summary.plays.is_empty(), &play),
        ("Expected", listed(run.expectations.len()), !run.expectations.is_empty(), &expected),
        ("How far off", None, summary.estimate.is_some(), &how_far),
        ("Steps", None, run.sizes.is_some(), &steps),
        (certified, None, true, &certificate),
        ("Solver", None, true, &solver),
        ("Model file", None, true, &model),
    ];
    let fill = |(title, count, _, fill): Pane<'_>| {
        let mut section = Section::default();
        fill(run, &mut section);
        Tab { title: title.into(), count, blocks: section.blocks }
    };
    panes.into_iter().filter(|pane| pane.2).map(fill).collect()
}

/// What joints with play did.
fn play(run: &Run, section: &mut Section) {
    let header = ["joint", "play [m]", "share of time in contact", "largest penetration / play", "impacts"];
    let mut table = Table::new("", header);
    table.shown = SHOWN;
    for play in &run.recorded.summary.plays {
        let percent = Cell::Formatted { value: play.contact_share, text: share(play.contact_share) };
        let penetration = Cell::Formatted { value: play.penetration, text: format!("{:.2e}", play.penetration) };
        let counts = Cell::from(play.impacts as usize);
        table.row([Cell::from(play.joint.as_str()), Cell::from(play.play), percent, penetration, counts]);
    }
    table.note = "From every step. A step in which a contact of the joint acts counts as a whole. Portraits show the \
                  orbits in axes of the hole, in parts of the play."
        .into();
    section.push(table);
}

/// A part of the whole in percent; what is not all of it is not rounded to all.
fn share(part: f64) -> String {
    match (100.0 * part * 100.0).round() / 100.0 {
        100.0 if part < 1.0 => "> 99.99 %".into(),
        0.0 if part > 0.0 => "< 0.01 %".into(),
        percent => format!("{percent} %"),
    }
}

fn expected(run: &Run, section: &mut Section) {
    let mut table = Table::new("", ["quantity", "measured", "expected", "tolerance", "verdict", "source"]);
    for outcome in &run.expectations {
        let e = &outcome.expectation;
        let verdict = if outcome.holds { "met" } else { "missed" };
        let tolerance = Cell::Formatted { value: e.tolerance, text: format!("{:.1e}", e.tolerance) };
        let source = e.source.clone().unwrap_or_default();
        let numbers = [Cell::from(outcome.actual), Cell::from(e.value), tolerance];
        table.row([e.text.clone().into()].into_iter().chain(numbers).chain([verdict.into(), source.into()]));
    }
    section.push(table);
}

fn how_far(run: &Run, section: &mut Section) {
    run.recorded.summary.estimate.iter().for_each(|estimate| _ = section.push(how_far_off(estimate)));
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

/// Sizes over time and the tries that were rejected.
fn steps(run: &Run, section: &mut Section) {
    let totals = &run.recorded.summary.statistics;
    let (Some(adaptive), Some(sizes)) = (&run.scene.adaptive, &run.sizes) else { return };
    section.paragraph(
        "Steps by the local error: each step is taken as a whole and in two halves. Where the estimates differ too \
         much the try is rejected.",
    );
    let all = sizes.all();
    let smallest = all.columns[1].iter().copied().reduce(f64::min);
    let largest = all.columns[1].iter().copied().reduce(f64::max);
    let size = |h: Option<f64>| h.map_or("none".into(), |h| format!("{h:.3e} s"));
    section.facts([
        ("tolerance", adaptive.words()),
        ("estimator", adaptive.estimator.name().into()),
        ("accepted steps", totals.steps.to_string()),
        ("rejected tries", totals.rejected.to_string()),
        ("smallest step", size(smallest)),
        ("largest step", size(largest)),
    ]);
}

fn impacts(run: &Run, section: &mut Section) {
    let summary = &run.recorded.summary;
    if run.lists.impacts.is_empty() {
        section.paragraph(if mechanical(run) { "No contact closed." } else { "No multiplier became positive." });
        return;
    }
    let friction = run.lists.impacts.iter().any(|impact| impact.impulse.len() > 1);
    let losses = run.lists.impacts.iter().any(|impact| impact.loss.is_some());
    let with = |name: &str, unit: &Option<String>| unit.as_ref().map_or(name.into(), |unit| format!("{name} [{unit}]"));
    let mut header = vec!["t [s]".to_owned()];
    let impulse = common_unit(run, "impulse.");
    if run.scene.family == Family::Mechanical {
        let speed = common_unit(run, "gap.").map(|unit| format!("{unit}/s"));
        header.extend(["contact".into(), with("u before", &speed), with("u after", &speed), with("impulse", &impulse)]);
    } else {
        let y = common_unit(run, "y.");
        let integral = with("integral of the multiplier", &impulse);
        header.extend(["row".into(), with("y before", &y), with("y after", &y), integral]);
    }
    header.extend(friction.then(|| "friction [N s]".into()));
    header.extend(losses.then(|| "loss [J]".into()));
    let slips = friction.then(|| ["slip before [m/s]", "slip after [m/s]"].map(String::from));
    header.extend(slips.into_iter().flatten());
    let mut table = list(run, "", header);
    table.optional = if friction { (table.header.len() - 2..table.header.len()).collect() } else { Vec::new() };
    table.total = usize::try_from(summary.impacts).ok().filter(|total| *total > LISTED);
    table.file = Some("impacts.parquet".into());
    let tangential = |x: &[f64]| {
        Cell::from(
            x.get(1..).filter(|t| !t.is_empty()).map(|t| t.iter().map(|x| x * x).sum::<f64>().sqrt().copysign(t[0])),
        )
    };
    for impact in &run.lists.impacts {
        let before = Cell::from(impact.before.first().copied());
        let mut cells = vec![
            Cell::from(impact.t),
            Cell::from(impact.contact.as_str()),
            match (impact.pressed, impact.order_decides) {
                (true, _) => marked(before, MARK),
                (_, true) => marked(before, ORDER_MARK),
                _ => before,
            },
            beside(impact.after.first().copied(), impact.before.first().copied()),
            Cell::from(impact.impulse.first().copied()),
        ];
        cells.extend(friction.then(|| tangential(&impact.impulse)));
        cells.extend(losses.then(|| Cell::from(impact.loss)));
        if friction {
            cells.extend([tangential(&impact.before), tangential(&impact.after)]);
        }
        table.row(cells);
    }
    if run.lists.impacts.iter().any(|impact| impact.pressed) {
        table.note = format!(
            "{MARK} {PRESSED}: it opens at the start of the step, and forces or other impacts press it shut inside. \
             The law of the scheme makes its velocity −e times the one before. "
        );
    }
    if run.lists.impacts.iter().any(|impact| impact.order_decides) {
        table.note += &format!(
            "{ORDER_MARK} {ORDER}: another contact approached as fast, and with that one first the motion is another."
        );
    }
    section.push(table);
}

/// Stands at the velocity of a contact that is pressed shut while it opens.
const MARK: char = '†';

/// Stands at that of a contact whose place in a sequence of impacts is no fact of the model.
const ORDER_MARK: char = '‡';

fn marked(cell: Cell, mark: char) -> Cell {
    match cell {
        Cell::Number(value) => Cell::Formatted { value, text: format!("{mark} {}", number(value, 4)) },
        other => other,
    }
}

/// A velocity after an impact, where it may be the rounding of the one before.
fn beside(after: Option<f64>, before: Option<f64>) -> Cell {
    match (after, before) {
        (Some(value), Some(before)) if value != 0.0 && value.abs() < NOISE * before.abs() => {
            Cell::Formatted { value, text: "0".into() }
        }
        _ => Cell::from(after),
    }
}

/// Velocities below this part of those before are what a solver leaves of zero.
const NOISE: f64 = 1e-9;

/// A list with times beside the charts.
fn list(run: &Run, caption: &str, header: Vec<String>) -> Table {
    let inputs = &run.recorded.summary.inputs;
    let mut table = Table::new(caption, header);
    (table.time_column, table.shown) = (Some(0), SHOWN);
    table.beside = Some(inputs.end.abs().max(inputs.start.abs()));
    table
}

/// The unit of the columns of those laws that have impacts, where it is the same for all.
fn common_unit(run: &Run, prefix: &str) -> Option<String> {
    let unit = |contact: &String| {
        let name = format!("{prefix}{contact}");
        run.recorded.summary.columns.iter().find(|info| info.name == name).and_then(|info| info.unit.clone())
    };
    let mut contacts: Vec<&String> = run.lists.impacts.iter().map(|impact| &impact.contact).collect();
    contacts.sort_unstable();
    contacts.dedup();
    let mut units = contacts.into_iter().map(unit);
    let first = units.next().flatten()?;
    units.all(|unit| unit.as_ref() == Some(&first)).then_some(first)
}

/// Most coordinates whose values before and after an event stand in its row.
const SHOWN_COORDINATES: usize = 4;

fn events(run: &Run, section: &mut Section) {
    let summary = &run.recorded.summary;
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
    let mut table = list(run, "Event list", header);
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
        "Methods in the order in which they were tried on a problem; the next one was tried where the one before \
         missed the tolerance.",
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

/// A number for people, in a sentence.
fn short(value: f64) -> String {
    number(value, 4).replace('-', "−")
}

fn certificate(run: &Run, section: &mut Section) {
    let summary = &run.recorded.summary;
    let worst = &summary.certificate;
    section.paragraph(
        "Every one-step problem is certified from its ingredients after it was solved. These are the worst values of \
         the run.",
    );
    if let Some(error) = worst.full_error {
        section.facts([("error of the literature, relative", short(error))]);
    }
    if !mechanical(run) {
        section.facts([
            ("residual, relative and free of units", short(worst.residual)),
            ("distance of a multiplier from its set", short(worst.cone)),
            ("violation of an output condition", short(worst.velocity)),
            ("complementarity", short(worst.complementarity)),
        ]);
        return;
    }
    section.facts([
        ("residual, relative and free of units", short(worst.residual)),
        ("distance of a reaction from its cone", short(worst.cone) + " N s"),
        ("violation of a velocity condition", short(worst.velocity) + " m/s"),
        ("complementarity", short(worst.complementarity) + " J"),
    ]);
    let Some(e) = &summary.energy else {
        section.paragraph("The model does not tell its energy.");
        return;
    };
    const ASLEEP: &str = "kinetic, of what fell asleep";
    let mut table = Table::new("Energy ledger", ["entry", "energy [J]"]);
    for (name, value) in [
        ("kinetic, start", e.kinetic_start),
        ("potential, start", e.potential_start),
        ("work of forces without potential", e.applied),
        ("work of moving obstacles", e.obstacles),
        ("lost at impacts (normal)", -e.impact_loss),
        ("lost by friction (tangential)", -e.friction_loss),
        ("work of bilateral constraints", e.bilateral),
        (ASLEEP, -e.sleep_loss),
        ("numerical residue", e.residue),
        ("kinetic, end", e.kinetic_end),
        ("potential, end", e.potential_end),
        ("largest total above the initial one", e.largest_gain),
    ] {
        // bodies stay awake unless they are asked to sleep
        if name == ASLEEP && value == 0.0 {
            continue;
        }
        table.row([Cell::from(name), Cell::from(value)]);
    }
    section.push(table);
}
