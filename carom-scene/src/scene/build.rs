//! From tables to a scene: every check before a run, in one pass that goes on after mistakes.

use std::sync::Arc;

use carom::scheme::{AnyModel, Family};
use carom::{FirstOrder, Mechanical, State};

use super::blueprint::{Blueprint, Matrices};
use super::context::{Context, label};
use super::law::LawDraft;
use super::{BuildError, Expectation, LawInfo, Outputs, Overrides, Scene, TimeSpan};
use super::{
    check, choice, coordinates, draw, event, expect, first_order, fit, lagrangian, law, linear, output, parameters,
    reference, span,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Place, SourceText};
use crate::equations::Slip;
use crate::expression::{NodeId, Tape};
use crate::file::{Method, ModelFile, ModelTable, OutputTable, Settings, Text};

/// The parts of a model before it is put together.
struct Draft {
    laws: Vec<LawDraft>,
    blueprint: Blueprint,
    /// Columns that the model itself has, with their full names.
    derived: Vec<(String, NodeId)>,
}

/// What is known of a model once its names are declared.
enum Named {
    Lagrangian,
    /// The name that stands for all coordinates, and the matrices.
    Linear(Option<String>, Matrices),
    FirstOrder(first_order::Names),
}

/// Builds and checks everything.
pub(super) fn scene(
    source: &Arc<SourceText>,
    file: &Arc<ModelFile>,
    overrides: &Overrides,
    out: Diagnostics,
) -> Result<Scene, Vec<Diagnostic>> {
    let mut context = Context::new(out);
    let scene = assemble(source, file, overrides, &mut context);
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

fn assemble(
    source: &Arc<SourceText>,
    file: &Arc<ModelFile>,
    overrides: &Overrides,
    context: &mut Context,
) -> Option<Scene> {
    let methods = methods(file, overrides, context);
    let scheme = methods.0.as_ref().and_then(|method| choice::scheme(method.as_ref(), default_scheme(file), context));
    let solver = methods.1.as_ref().and_then(|method| choice::solver(method.as_ref(), context));
    let settings = settings(file, overrides, context);
    let adaptive = match &settings {
        Some(Some(settings)) => choice::adaptive(settings, context).map(Some),
        Some(None) => Some(None),
        None => None,
    };
    // without parameters and coordinates nothing else can be understood
    let values = parameters::evaluate(file.parameters.as_ref(), overrides, context)?;
    let named = names(file, &values, context)?;
    let span = span::read(&file.simulation, !matches!(settings, Some(None)), overrides, context);
    let base = if let Named::Linear(base, _) = &named { base.clone() } else { None };
    let initial = coordinates::initial(file.initial.as_ref(), base.as_deref(), context);
    let draft = model(file, named, context);
    let derived = draft.as_ref().map_or(&[][..], |draft| &draft.derived);
    let events = event::read(file.event.as_deref().unwrap_or_default(), context);
    let outputs = outputs(file.output.as_ref(), derived, context);
    let every = every(file.output.as_ref(), context);
    let drawing = file.draw.as_ref().map(|table| draw::build(table, context));
    let reference = file.reference.as_ref().map(|table| reference::read(table, context));
    let state = start(file, &initial, span.as_ref(), draft.as_ref(), context);
    if let (Some(state), Some(Some(solution)), Some(table)) = (&state, &reference, &file.reference) {
        reference::check(solution, table, state, context);
    }
    let event_names = file.event.iter().flatten().map(|event| event.name.value.clone()).collect::<Vec<_>>();
    let expectations = expectations(file, draft.as_ref(), (outputs.as_ref(), &event_names), context);
    let Draft { laws, blueprint, .. } = draft?;
    let laws = laws.into_iter().map(|law| LawInfo { name: law.name, law: law.law, restitution: law.restitution });
    let scene = Scene {
        name: file.name.value.clone(),
        description: file.description.as_ref().map(|text| text.value.clone()),
        parameters: values.iter().map(|(name, value)| (name.value.clone(), *value)).collect(),
        family: context.family,
        coordinates: context.coordinates.clone(),
        laws: laws.collect(),
        initial: state?,
        span: span?,
        scheme: scheme?,
        solver: solver?,
        adaptive: adaptive?,
        events: events?,
        every: every?,
        outputs: outputs?,
        drawing: drawing.unwrap_or(None),
        reference: reference.unwrap_or(None),
        expectations: expectations?,
        warnings: Vec::new(),
        source: source.clone(),
        file: file.clone(),
        overrides: overrides.clone(),
        blueprint: Arc::new(blueprint),
    };
    if context.out.errors() == 0 {
        unused(&values, context);
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
    let mut pick = |option: &str, text: &Option<String>, table: &Option<Method>| match text {
        Some(text) => Method::from_option(option, text, &mut context.out).map(Some),
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

/// The scheme of a model whose file names none.
fn default_scheme(file: &ModelFile) -> &'static str {
    match &file.model {
        ModelTable::Lagrangian(_) | ModelTable::Linear(_) => "moreau-jean",
        ModelTable::Sweeping(_) => "catching-up",
        ModelTable::Lcs(_) | ModelTable::FirstOrder(_) | ModelTable::Circuit(_) => "euler-moreau",
    }
}

/// Names the coordinates or states; linear models tell their number by their matrices.
fn names(file: &ModelFile, values: &[(Text, f64)], context: &mut Context) -> Option<Named> {
    if matches!(file.model, ModelTable::Lagrangian(_) | ModelTable::Linear(_)) {
        let rows = file.row.iter().flatten().map(|row| &row.place);
        if let Some(place) = rows.chain(file.set.iter().flatten().map(|set| &set.place)).next() {
            let hint = "a mechanical model has [[contact]]s and [[constraint]]s";
            context.out.error(place, "[[row]] and [[set]] belong to first-order models").hint(hint);
        }
    }
    match &file.model {
        ModelTable::Lagrangian(table) => {
            lagrangian::check_size(table, context)?;
            let names = coordinates::listed(&table.coordinates, &table.place, context)?;
            coordinates::declare(names, values, context);
            Some(Named::Lagrangian)
        }
        ModelTable::Linear(table) => {
            let draft = linear::read(table, context)?;
            coordinates::declare(draft.names, values, context);
            Some(Named::Linear(draft.base, draft.matrices))
        }
        _ => first_order::names(file, values, context).map(Named::FirstOrder),
    }
}

/// Reads energies or matrices, contacts and constraints, or a first-order model.
fn model(file: &ModelFile, named: Named, context: &mut Context) -> Option<Draft> {
    if let Named::FirstOrder(names) = named {
        let first_order::Draft { rows, blueprint, derived } = first_order::draft(file, names, context)?;
        let law = |(name, law)| LawDraft {
            name,
            law,
            restitution: 0.0,
            outputs: Vec::new(),
            slip: Slip::default(),
            region: None,
        };
        return Some(Draft { laws: rows.into_iter().map(law).collect(), blueprint, derived });
    }
    let laws = law::read(file, context);
    let blueprint = match (&file.model, named) {
        (ModelTable::Lagrangian(table), _) => {
            let energies = lagrangian::energies(table, context);
            lagrangian::blueprint(table, energies?, laws.as_deref()?, context)?
        }
        (ModelTable::Linear(table), Named::Linear(_, matrices)) => {
            // forces are checked even if a contact has a mistake
            let plan = linear::plan(table, matrices, laws.as_deref().unwrap_or_default(), context);
            Blueprint::Linear(Box::new(plan?))
        }
        _ => return None,
    };
    Some(Draft { laws: laws?, blueprint, derived: Vec::new() })
}

/// The initial state, after all checks that need the model.
fn start(
    file: &ModelFile,
    initial: &Option<(Vec<f64>, Vec<f64>)>,
    span: Option<&TimeSpan>,
    draft: Option<&Draft>,
    context: &mut Context,
) -> Option<State> {
    let (q, v) = initial.as_ref()?;
    let mut state = State::new(span.map_or(0.0, |span| span.start), q, v);
    let Draft { laws, blueprint, .. } = draft?;
    let place = file.initial.as_ref().map_or(file.model.place(), |initial| &initial.place);
    if context.family == Family::FirstOrder {
        let mut model = first_order_model(file, &state, blueprint, context)?;
        check::first_order(&mut *model, &state, place, context)?;
        return Some(state);
    }
    let mut model = positive_model(file, &state, laws, blueprint, context)?;
    check::initial(&mut *model, &mut state, laws, place, context)?;
    Some(state)
}

fn first_order_model(
    file: &ModelFile,
    state: &State,
    blueprint: &Blueprint,
    context: &mut Context,
) -> Option<Box<dyn FirstOrder>> {
    match blueprint.build(state) {
        Ok(AnyModel::FirstOrder(model)) => Some(model),
        Ok(AnyModel::Mechanical(_)) => None,
        Err(error) => {
            context.out.error(file.model.place(), error.to_string());
            None
        }
    }
}

/// The model, if its mass is positive definite.
fn positive_model(
    file: &ModelFile,
    state: &State,
    laws: &[LawDraft],
    blueprint: &Blueprint,
    context: &mut Context,
) -> Option<Box<dyn Mechanical>> {
    match (blueprint, &file.model) {
        (Blueprint::Linear(plan), ModelTable::Linear(table)) => {
            let model = plan.model(state).ok()?;
            if !model.mass_is_positive_definite() {
                let chain = table.chain.as_ref().map(|chain| &chain.mass.place);
                let place = table.mass.as_ref().map(|mass| &mass.place).or(chain).unwrap_or(&table.place);
                let n = state.q.len();
                // naming the coordinate costs n³: only where that is quick
                let mut mass = vec![0.0; if n <= 500 { n * n } else { 0 }];
                if n <= 500 {
                    plan.matrices.mass.triplets().for_each(|(i, j, x)| mass[i * n + j] = x);
                }
                let pivot = if n <= 500 { check::bad_pivot(n, &mass) } else { None };
                not_positive(place, pivot, context);
                return None;
            }
            Some(Box::new(model))
        }
        (_, ModelTable::Lagrangian(table)) => {
            let mut model = match blueprint.build(state) {
                Ok(AnyModel::Mechanical(model)) => model,
                Ok(AnyModel::FirstOrder(_)) => return None,
                Err(BuildError::Equations(error)) => {
                    lagrangian::report(&error, table, laws, context);
                    return None;
                }
                Err(error) => {
                    context.out.error(&table.place, error.to_string());
                    return None;
                }
            };
            let mass = check::dense_mass(&mut *model, &state.q);
            if let Some(pivot) = check::bad_pivot(state.q.len(), &mass) {
                not_positive(&table.kinetic.place, Some(pivot), context);
                return None;
            }
            Some(model)
        }
        _ => None,
    }
}

fn not_positive(place: &Place, pivot: Option<(usize, f64)>, context: &mut Context) {
    let message = "the mass matrix is not positive definite at the initial state";
    match pivot {
        Some((i, pivot)) => {
            let name = context.coordinates.get(i).cloned().unwrap_or_default();
            let hint = if pivot == 0.0 {
                format!("does the kinetic energy contain {name}'?")
            } else {
                format!("check the terms with {name}'")
            };
            context.out.error(place, format!("{message}: pivot {pivot:.6e} at the coordinate `{name}`")).hint(hint);
        }
        None => {
            context.out.error(place, message);
        }
    }
}

fn outputs(table: Option<&OutputTable>, derived: &[(String, NodeId)], context: &mut Context) -> Option<Outputs> {
    let before = context.out.errors();
    let (mut names, mut nodes) = (Vec::new(), Vec::new());
    for (name, formula) in table.and_then(|table| table.columns.as_ref()).iter().flat_map(|columns| &columns.items) {
        names.extend(label(name, &mut context.out));
        nodes.extend(context.node(formula));
    }
    nodes.extend(derived.iter().map(|(_, node)| *node));
    let derived = derived.iter().map(|(name, _)| name.clone()).collect();
    (context.out.errors() == before).then(|| Outputs { names, derived, tape: Tape::compile(&context.graph, &nodes) })
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

/// The expectations; `None` if the columns are not known because of other mistakes.
fn expectations(
    file: &ModelFile,
    draft: Option<&Draft>,
    (outputs, events): (Option<&Outputs>, &[String]),
    context: &mut Context,
) -> Option<Vec<Expectation>> {
    let tables = file.expect.as_deref().unwrap_or_default();
    if tables.is_empty() {
        return Some(Vec::new());
    }
    let laws: Vec<_> = draft?.laws.iter().map(|law| (law.name.as_str(), law.law)).collect();
    let columns = output::columns(context.family, &context.coordinates, &laws, outputs?);
    let laws: Vec<&str> = laws.iter().map(|(name, _)| *name).collect();
    let names = expect::Names { columns: &columns, events, laws: &laws };
    Some(tables.iter().filter_map(|table| expect::read(table, &names, context)).collect())
}

/// Warns about parameters that no expression uses.
fn unused(values: &[(Text, f64)], context: &mut Context) {
    for (name, _) in values {
        if !context.used.contains(&name.value) {
            context.out.warning(&name.place, format!("the parameter `{}` is not used", name.value));
        }
    }
}
