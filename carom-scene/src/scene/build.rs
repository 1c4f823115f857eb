//! The second pass, from values to a scene: every check before a run, in one go that continues after mistakes.

use std::sync::Arc;

use carom::scheme::{AnyModel, Homsp, Scheme};
use carom::simulation::Adaptive;
use carom::subject::PERIOD;
use carom::{ImpactLaw, State};

use super::compile::{Compiled, Plans};
use super::context::{Context, Parameter};
use super::coordinates::Initial;
use super::{Choice, Chosen, Column, Expectation, LawInfo, Overrides, Scene, TimeSpan};
use super::{
    chart, check, choice, coordinates, cyclic, draw, event, expect, fit, output, parameters, reference, span, units,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Place, SourceText};
use crate::file::{Method, ModelFile, OutputTable, Settings};
use crate::kind::Bound;

/// Builds and checks everything.
pub(super) fn scene(
    source: &Arc<SourceText>,
    file: &Arc<ModelFile>,
    overrides: &Overrides,
    plans: &Plans,
    out: Diagnostics,
) -> Result<Scene, Vec<Diagnostic>> {
    let mut context = Context::new(out);
    let scene = assemble(source, file, overrides, plans, &mut context);
    let failed = context.out.errors() > 0;
    let findings = context.out.finish(source);
    match scene {
        Some(mut scene) if !failed => {
            scene.warnings = findings;
            Ok(scene)
        }
        _ => Err(findings),
    }
}

/// A tolerance of adaptive steps that coordinates of the size at the start cannot resolve is a mistake.
fn above_rounding(steps: &Adaptive, place: &Place, (state, step): (&State, f64), context: &mut Context) {
    let Some(tolerance) = steps.tolerance else { return };
    let way = state.v.iter().map(|v| (v * step).abs());
    let size = state.q.iter().map(|q| q.abs()).chain(way).fold(0.0, f64::max);
    let least = 4.0 * f64::EPSILON * size;
    if tolerance + steps.relative * size < least {
        let message = format!(
            "the tolerance {tolerance:e} is below the rounding of coordinates, of the size {size:.1e} at the start"
        );
        context.out.error(place, message).hint(format!("take at least {least:.1e}; a part 1e-9 of the size is fine"));
    }
}

fn assemble(
    source: &Arc<SourceText>,
    file: &Arc<ModelFile>,
    overrides: &Overrides,
    plans: &Plans,
    context: &mut Context,
) -> Option<Scene> {
    let methods = methods(file, overrides, context);
    let solver = methods.1.as_ref().and_then(|method| choice::solver(method.as_ref(), context));
    let settings = settings(file, overrides, context);
    let adaptive = match &settings {
        Some(Some(settings)) => choice::adaptive(settings, context).map(Some),
        Some(None) => Some(None),
        None => None,
    };
    // without parameters and coordinates nothing else can be understood
    parameters::evaluate(file.parameters.as_ref(), overrides, context)?;
    let compiled = plans.find(file, context)?;
    let span = span::read(&file.simulation, !matches!(settings, Some(None)), overrides, context);
    let initial = coordinates::initial(file.initial.as_ref(), context);
    let bound = compiled.bind(file, context);
    let values = context.vector();
    let outputs = compiled.outputs.as_ref().map(|outputs| outputs.bind(&values));
    let events = compiled.events.as_ref().map(|events| events.iter().map(|event| event.bind(&values)).collect());
    let every = every(file.output.as_ref(), context);
    let output = span::output(&file.simulation, span.as_ref(), overrides, context);
    let drawing = draw::bind(compiled.drawing.as_ref(), file.draw.as_ref(), context);
    let mut reference = file.reference.as_ref().and_then(|table| reference::read(table, context));
    let cyclic = cyclic::read(file.cyclic.as_ref(), context);
    let state = start(file, initial, span.as_ref(), bound.as_deref(), context);
    if let (Some(state), Some(cyclic), Some(entries), Some(bound)) = (&state, &cyclic, &file.cyclic, &bound)
        && let Ok(mut model) = bound.model(state)
    {
        cyclic::check(cyclic, entries, (&mut model, state), context);
    }
    if let (Some(Some(steps)), Some(Some(settings)), Some(state), Some(span)) = (&adaptive, &settings, &state, &span) {
        above_rounding(steps, &settings.place, (state, span.step), context);
    }
    if let (Some(state), Some(table)) = (&state, &file.reference) {
        reference = reference.filter(|solution| reference::check(solution, table, state, context));
    }
    let model = || bound.as_ref().zip(state.as_ref()).and_then(|(bound, state)| bound.model(state).ok());
    let scheme = methods.0.as_ref().and_then(|method| choice::scheme(method.as_ref(), model, context));
    let known = ImpactLaw::ALL.map(|law| (law.name(), law));
    let impacts = event::word("impact law", file.simulation.impacts.as_ref(), &known, context);
    let laws = bound.as_ref().map(|bound| bound.laws());
    let levels = scheme.as_ref().map_or_else(Vec::new, |scheme| levels(scheme, model));
    let projects = scheme.as_ref().is_some_and(Choice::projects);
    let columns = laws.as_ref().zip(outputs.as_ref()).map(|(laws, outputs)| {
        let laws: Vec<_> = laws.iter().map(|law| (law.name.as_str(), law.law)).collect();
        let names = &context.names;
        let motion = (&names.coordinates[..], names.velocities());
        output::columns(names.family, motion, &laws, (projects, &levels), outputs)
    });
    let expectations = expectations(file, laws.as_deref(), columns.as_deref(), context);
    let charts = columns.as_ref().and_then(|columns| chart::read(file, columns, context));
    let units = columns.as_ref().and_then(|columns| units::read(file, columns, cyclic.as_deref()?, context));
    let names = &context.names;
    let scene = Scene {
        name: file.name.value.clone(),
        description: file.description.as_ref().map(|text| text.value.clone()),
        parameters: context.values.iter().map(|parameter| (parameter.name.value.clone(), parameter.value)).collect(),
        family: names.family,
        coordinates: names.coordinates.clone(),
        velocities: names.velocities().to_vec(),
        cyclic: cyclic?,
        laws: laws?,
        plays: bound.as_ref()?.plays(),
        initial: state?,
        span: span?,
        scheme: scheme?,
        solver: solver?,
        impacts: impacts?,
        adaptive: adaptive?,
        events: events?,
        every: every?,
        output: output?,
        units: units?,
        charts: charts?,
        outputs: outputs?,
        drawing,
        reference,
        expectations: expectations?,
        warnings: Vec::new(),
        source: source.clone(),
        file: file.clone(),
        overrides: overrides.clone(),
        plans: plans.clone(),
        levels,
        bound: bound?.into(),
    };
    if context.out.errors() == 0 {
        unused(&compiled, context);
        let place = |method: Option<Option<Method>>| method.flatten().map(|method| method.name.place);
        let places = fit::Places {
            scheme: place(methods.0),
            solver: place(methods.1),
            adaptive: settings.flatten().map(|settings| settings.place),
            simulation: file.simulation.place.clone(),
        };
        fit::check(&scene, &places, context);
    }
    Some(scene)
}

/// Scheme and solver, from outside or from the file. The outer options fail if the text from outside cannot be read.
type Methods = (Option<Option<Method>>, Option<Option<Method>>);

fn methods(file: &ModelFile, overrides: &Overrides, context: &mut Context) -> Methods {
    let mut pick = |option: &str, chosen: &Option<Chosen>, table: &Option<Method>| match chosen {
        Some(Chosen::Text(text)) => Method::from_option(option, text, &mut context.out).map(Some),
        Some(Chosen::Value(choice)) => Method::from_value(option, choice, &mut context.out).map(Some),
        None => Some(table.clone()),
    };
    let simulation = &file.simulation;
    let scheme = pick("--scheme", &overrides.scheme, &simulation.scheme);
    let solver = pick("--solver", &overrides.solver, &simulation.solver);
    (scheme, solver)
}

/// The control of steps, from outside or from the file, likewise; "off" means equal steps.
fn settings(file: &ModelFile, overrides: &Overrides, context: &mut Context) -> Option<Option<Settings>> {
    match &overrides.adaptive {
        Some(text) if text.trim() == "off" => Some(None),
        Some(text) => Settings::from_option("--adaptive", text, &mut context.out).map(Some),
        None => Some(file.simulation.adaptive.clone()),
    }
}

/// The initial state, after all checks that need the model.
fn start(
    file: &ModelFile,
    initial: Option<Initial>,
    span: Option<&TimeSpan>,
    bound: Option<&dyn Bound>,
    context: &mut Context,
) -> Option<State> {
    let Initial { q, v, project } = initial?;
    let mut state = State::new(span.map_or(0.0, |span| span.start), &q, &v);
    let bound = bound?;
    if let Some(own) = bound.initial() {
        (state.q, state.v) = (own.q, own.v);
        bound.start(&state, file, context)?;
        return Some(state);
    }
    match bound.start(&state, file, context)? {
        AnyModel::Mechanical(mut model) => {
            check::initial(&mut *model, &mut state, (&bound.laws(), project), file, context)?;
        }
        AnyModel::FirstOrder(mut model) => check::first_order(&mut *model, &mut state, project, file, context)?,
    }
    Some(state)
}

fn every(table: Option<&OutputTable>, context: &mut Context) -> Option<u64> {
    let Some(every) = table.and_then(|table| table.every.as_ref()) else { return Some(1) };
    match u64::try_from(every.value) {
        Ok(value) if value > 0 => Some(value),
        _ => {
            context.out.error(&every.place, format!("every {} steps: at least 1 is needed", every.value));
            None
        }
    }
}

/// Numbers of measures of each row in the higher-order sweeping process.
fn levels(scheme: &Choice, model: impl FnOnce() -> Option<AnyModel>) -> Vec<usize> {
    if scheme.name != Homsp::INFO.name {
        return Vec::new();
    }
    let Some(AnyModel::FirstOrder(mut model)) = model() else { return Vec::new() };
    model.linear().and_then(|lcs| carom::zero_dynamics::degrees(lcs).ok()).unwrap_or_default()
}

/// The expectations; `None` if the columns are not known because of other mistakes.
fn expectations(
    file: &ModelFile,
    laws: Option<&[LawInfo]>,
    columns: Option<&[(String, Column)]>,
    context: &mut Context,
) -> Option<Vec<Expectation>> {
    let tables = file.expect.as_deref().unwrap_or_default();
    if tables.is_empty() {
        return Some(Vec::new());
    }
    let (columns, laws): (_, Vec<&str>) = (columns?, laws?.iter().map(|law| law.name.as_str()).collect());
    let events: Vec<&str> = file.event.iter().flatten().map(|event| event.name.value.as_str()).collect();
    let (family, own) = (context.names.family, context.names.clone());
    let (coordinates, velocities) = (&own.coordinates[..], own.velocities());
    let names = expect::Names { family, coordinates, velocities, columns, events: &events, laws: &laws };
    Some(tables.iter().filter_map(|table| expect::read(table, &names, context)).collect())
}

/// Warns about parameters that no expression and no study uses.
fn unused(compiled: &Compiled, context: &mut Context) {
    for Parameter { name, .. } in context.values.iter().filter(|parameter| parameter.name.value != PERIOD) {
        if !context.used.contains(&name.value) && !compiled.used.contains(&name.value) {
            context.out.warning(&name.place, format!("the parameter `{}` is not used", name.value));
        }
    }
}
