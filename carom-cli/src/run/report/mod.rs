//! The report of a run: what matters first, then motion and charts side by side, lists, parameters.

mod charts;
mod headline;
mod tabs;

use super::Run;
use super::frames::Frames;
use super::space;
use carom::scheme::Family;
use carom_analysis::report::{Animation, Callout, Lane, Parameter, Report, RunPage, Tone};
use carom_analysis::results::Status;
use carom_scene::scene::LawInfo;
use charts::Signals;

/// Lanes of the time bar, and contacts with a colour of their own in the chart of impulses.
const LANES: usize = 64;

/// The report, of at most `limit` bytes where thinning can do it.
pub fn build(run: &Run, limit: usize) -> Report {
    let (scene, summary) = (&run.scene, &run.recorded.summary);
    let signals = Signals::new(run);
    let (lanes, places) = (lanes(run, &signals), lane_numbers(run));
    let mut marks: Vec<f64> = run.lists.impacts.iter().map(|impact| impact.t).collect();
    marks.extend(run.lists.events.iter().map(|event| event.t));
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    let (state, tone) = match summary.status {
        Status::Finished => ("finished", Tone::Good),
        Status::Failed => ("failed", Tone::Bad),
        Status::Interrupted => ("interrupted", Tone::Warning),
    };
    let mut report = Report::new(scene.name.clone());
    report.limit = limit;
    report.run = Some(RunPage {
        state: state.into(),
        tone,
        lines: headline::lines(run),
        notices: notices(run),
        headline: headline::figures(run),
        charts: charts::charts(run, &signals, &lanes),
        portraits: signals.portraits(run),
        signals: signals.list,
        lanes,
        marks,
        motion: run.frames.as_ref().map(|frames| motion(run, frames)),
        space: run.space.as_ref().map(|film| space::build(run, film, &places)),
        tabs: tabs::tabs(run),
        parameters: scene.parameters.iter().map(|(name, value)| parameter(run, name, *value)).collect(),
        footer: footer(run),
    });
    report
}

fn parameter(run: &Run, name: &str, value: f64) -> Parameter {
    let unit = run.scene.units.get(&format!("parameter.{name}")).filter(|unit| *unit != "1").cloned();
    Parameter { unit: unit.unwrap_or_default(), ..Parameter::new(name, value) }
}

fn mechanical(run: &Run) -> bool {
    run.scene.family == Family::Mechanical
}

/// Whether a law has a lane: contacts do, and rows of first-order models.
fn has_lane(run: &Run, law: &LawInfo) -> bool {
    !mechanical(run) || law.law.is_contact()
}

/// The motion; places of contacts go by the number of the lane.
fn motion(run: &Run, frames: &Frames) -> Animation {
    let (mut animation, numbers) = (frames.animation(&run.scene.name), lane_numbers(run));
    animation.places.retain_mut(|place| {
        let lane = numbers[place.contact];
        place.contact = lane.unwrap_or_default();
        lane.is_some_and(|lane| lane < LANES)
    });
    animation
}

/// The numbers of the lanes of laws, as if there were room for all.
fn lane_numbers(run: &Run) -> Vec<Option<usize>> {
    let mut lanes = 0..;
    run.scene.laws.iter().map(|law| if has_lane(run, law) { lanes.next() } else { None }).collect()
}

/// Contacts, or rows of a first-order model, with their impacts.
fn lanes(run: &Run, signals: &Signals) -> Vec<Lane> {
    let laws = run.scene.laws.iter().filter(|law| has_lane(run, law));
    let lane = |name: &str| {
        let own = run.lists.impacts.iter().filter(|impact| impact.contact == name);
        let (times, impulses): (Vec<f64>, Vec<f64>) =
            own.map(|impact| (impact.t, impact.impulse.first().copied().unwrap_or(f64::NAN))).unzip();
        let acts = if mechanical(run) { format!("force.{name}") } else { format!("lambda.{name}") };
        Lane {
            name: name.into(),
            times: times.into(),
            impulses: impulses.into(),
            acts: signals.find(&acts),
            gap: signals.find(&format!("gap.{name}")),
        }
    };
    laws.take(LANES).map(|law| lane(&law.name)).collect()
}

/// What must not be overlooked.
fn notices(run: &Run) -> Vec<(Callout, String)> {
    let summary = &run.recorded.summary;
    let mut notices = Vec::new();
    if let Some(failure) = &summary.failure {
        let contact = failure.contact.as_ref().map(|c| format!(" at contact {c}")).unwrap_or_default();
        let text = format!("The run failed at t = {} s{contact}: {}", failure.time, failure.message);
        notices.push((Callout::Failure, text));
    }
    if summary.status == Status::Interrupted {
        let text = "The run was interrupted; this is what was computed until then.";
        notices.push((Callout::Warning, text.into()));
    }
    notices.extend(summary.warnings.iter().map(|warning| (Callout::Warning, warning.to_string())));
    notices
}

fn footer(run: &Run) -> String {
    let summary = &run.recorded.summary;
    let fingerprint = summary.inputs.fingerprint.as_ref().map(|text| format!(" Fingerprint of the model: {text}."));
    let left_out = match summary.columns_left_out {
        0 => String::new(),
        n => format!(" {n} columns of this large model were not recorded; `--columns all` keeps them."),
    };
    format!("Data: {}.{left_out}{}", summary.files.join(", "), fingerprint.unwrap_or_default())
}
