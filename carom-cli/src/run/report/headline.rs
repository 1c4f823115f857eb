//! What matters of a run, in one line.

use super::mechanical;
use crate::run::Run;
use carom::ImpactLaw;
use carom_analysis::report::{Figure, Tone, grouped, number, si};
use carom_analysis::results::EnergySummary;

/// What the model is, and how it was run.
pub fn lines(run: &Run) -> Vec<String> {
    let (scene, summary) = (&run.scene, &run.recorded.summary);
    let inputs = &summary.inputs;
    let (span, unit) = si(inputs.end - inputs.start, "s", 6);
    let mut how = format!("{}; solver {}; {span} {unit} of motion", scene.scheme.describe(), scene.solver.describe());
    if let Some(law) = inputs.impacts.as_ref().filter(|_| scene.impacts != ImpactLaw::Newton) {
        how += &format!("; impact law {law}");
    }
    if let Some(rule) = &inputs.materials {
        how += &format!("; materials combine by {rule}");
    }
    if let Some(stop) = &summary.stopped {
        let (t, unit) = si(stop.time, "s", 6);
        how += &format!("; the event {} ended the run at t = {t} {unit}", stop.event);
    }
    vec![scene.description.clone().unwrap_or_default(), how]
}

/// Steps, impacts, energy, gaps, certificate, expected numbers, warnings.
pub fn figures(run: &Run) -> Vec<Figure> {
    let summary = &run.recorded.summary;
    let mut figures = vec![steps(run), impacts(run)];
    if let Some(energy) = &summary.energy {
        let moved = turnover(energy);
        let note = match 100.0 * (energy.residue / moved).abs() {
            // a share of rounding is no news
            _ if moved <= ROUNDING * held(energy) => "nothing moved, but for rounding".into(),
            part if part.is_finite() => format!("{} % of {} J moved", number(part, 2), number(moved, 4)),
            _ => "not accounted for".into(),
        };
        figures.push(quantity("energy residue", energy.residue, "J", note));
    }
    if let Some(gap) = summary.smallest_gap.overall.filter(|_| mechanical(run)) {
        let at = summary.smallest_gap.contacts.iter().find(|(_, own)| **own == Some(gap));
        // what rounding leaves of a closed contact is no overlap
        let side = match gap {
            _ if gap > 0.0 => "open",
            _ if gap < 0.0 && summary.smallest_gap.overlap == -gap => "overlap",
            _ => "closed",
        };
        let note = at.map_or_else(|| side.into(), |(name, _)| format!("{side}, contact {name}"));
        figures.push(quantity("smallest gap", gap, "m", note));
    }
    figures.push(certificate(run));
    figures.extend(expected(run));
    figures.push(warnings(run));
    figures
}

/// Energies that move by no more than this part of those that there are, are rounding.
const ROUNDING: f64 = 1e-12;

/// The largest of the energies at start and end [J].
fn held(energy: &EnergySummary) -> f64 {
    let all = [energy.kinetic_start, energy.kinetic_end, energy.potential_start, energy.potential_end];
    all.iter().fold(0.0, |most: f64, part| most.max(part.abs()))
}

/// The largest of the energies that went from one place to another [J]. Potential energies themselves say nothing:
/// their zero is free.
fn turnover(energy: &EnergySummary) -> f64 {
    let moved = [
        energy.kinetic_start,
        energy.kinetic_end,
        energy.potential_end - energy.potential_start,
        energy.applied,
        energy.obstacles,
        energy.impact_loss + energy.friction_loss,
    ];
    moved.iter().fold(0.0, |most: f64, part| most.max(part.abs()))
}

fn figure(name: &str, value: impl Into<String>, note: impl Into<String>) -> Figure {
    Figure { name: name.into(), value: value.into(), note: note.into(), ..Figure::default() }
}

fn quantity(name: &str, x: f64, unit: &str, note: String) -> Figure {
    let (value, scaled) = si(x, unit, 3);
    Figure { unit: scaled, full: format!("{x} {unit}"), ..figure(name, value, note) }
}

fn steps(run: &Run) -> Figure {
    let summary = &run.recorded.summary;
    let totals = &summary.statistics;
    let note = if run.scene.adaptive.is_some() {
        format!("adaptive, {} tries rejected", grouped(totals.rejected))
    } else {
        let inputs = &summary.inputs;
        let (step, unit) = si(inputs.step, "s", 4);
        // schemes that locate events cut their steps
        let equal = (totals.steps as f64 - 1.0) * inputs.step <= inputs.end - inputs.start;
        if equal { format!("of {step} {unit}") } else { format!("of at most {step} {unit}") }
    };
    let full = format!("{} Newton iterations, {} evaluations", totals.iterations, totals.evaluations);
    Figure { full, ..figure("steps", grouped(totals.steps), note) }
}

fn impacts(run: &Run) -> Figure {
    let summary = &run.recorded.summary;
    let name = if mechanical(run) { "impacts" } else { "activations" };
    let events: u64 = summary.events.values().sum();
    let note = match (events, summary.accumulations.len()) {
        (0, _) => "no events".into(),
        (1, 0) => "1 event".into(),
        (events, 0) => format!("{} events", grouped(events)),
        (events, limits) => format!("{} events, {limits} accumulations", grouped(events)),
    };
    figure(name, grouped(summary.impacts), note)
}

fn certificate(run: &Run) -> Figure {
    let summary = &run.recorded.summary;
    let failed: u64 = summary.solver.iter().map(|path| path.failed).sum();
    let solves = summary.statistics.solves;
    let problems = grouped(solves);
    let note = if failed > 0 { format!("{failed} of {problems} not solved") } else { format!("{problems} problems") };
    let tone = if failed > 0 { Tone::Warning } else { Tone::Plain };
    let residual = summary.certificate.residual;
    let full = format!("worst relative residual of a one-step problem: {residual:e}");
    Figure { tone, full, ..figure("worst certificate", number(residual, 2), note) }
}

fn expected(run: &Run) -> Option<Figure> {
    let (all, met) = (run.expectations.len(), run.expectations.iter().filter(|outcome| outcome.holds).count());
    let (tone, note) =
        if met == all { (Tone::Good, "all met".into()) } else { (Tone::Bad, format!("{} missed", all - met)) };
    (all > 0).then(|| Figure { tone, ..figure("expected numbers", format!("{met} of {all}"), note) })
}

fn warnings(run: &Run) -> Figure {
    let list = &run.recorded.summary.warnings;
    let tone = if list.is_empty() { Tone::Plain } else { Tone::Warning };
    let note = list.first().map_or("none", |warning| warning.kind.as_str());
    Figure { tone, ..figure("warnings", list.len().to_string(), note) }
}
