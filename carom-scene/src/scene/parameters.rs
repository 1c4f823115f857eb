//! The values of parameters. A parameter of the file may use those above it; one set from outside may use any that do
//! not depend on it.

use std::collections::HashMap;

use super::Overrides;
use super::context::{Context, Parameter, name_problem};
use crate::diagnostic::{Place, SourceText, suggest};
use crate::expression::Ast;
use crate::file::{Content, Entries, Formula, Text};

struct Draft {
    name: Text,
    formula: Formula,
    ast: Option<Ast>,
    // set from outside: the order of the file does not bind it
    free: bool,
}

/// Evaluates all parameters into the context; `None` if one of them could not be.
pub(super) fn evaluate(entries: Option<&Entries>, overrides: &Overrides, context: &mut Context) -> Option<()> {
    let before = context.out.errors();
    let mut drafts = Vec::new();
    for (name, formula) in entries.iter().flat_map(|entries| &entries.items) {
        if let Some(problem) = name_problem(&name.value) {
            context.out.error(&name.place, problem);
            continue;
        }
        drafts.push(Draft { name: name.clone(), formula: formula.clone(), ast: None, free: false });
    }
    replace(&mut drafts, overrides, context);
    for i in 0..drafts.len() {
        drafts[i].ast = context.parse(&drafts[i].formula.clone());
    }
    let index: HashMap<String, usize> = drafts.iter().enumerate().map(|(i, d)| (d.name.value.clone(), i)).collect();
    check_order(&drafts, &index, context);
    if context.out.errors() > before {
        return None;
    }
    let values = resolve(&drafts, &index, context)?;
    let all = drafts.into_iter().zip(values);
    context.values = all.map(|(draft, value)| Parameter::new(draft.name, value)).collect();
    Some(())
}

/// Puts the values from outside in their places.
fn replace(drafts: &mut [Draft], overrides: &Overrides, context: &mut Context) {
    let names: HashMap<String, usize> = drafts.iter().enumerate().map(|(i, d)| (d.name.value.clone(), i)).collect();
    for (name, value) in &overrides.set {
        let (trimmed, text) = (name.trim(), format!("{name}={value}"));
        let source = SourceText::new("--set", text.clone());
        let field = format!("--set {trimmed}").into();
        let place = Place { source, span: name.len() + 1..text.len(), field };
        let Some(&i) = names.get(trimmed) else {
            let known = || drafts.iter().map(|draft| draft.name.value.as_str());
            let hint = suggest(trimmed, known(), false, || match drafts.is_empty() {
                true => "the file has no parameters".into(),
                false => format!("parameters of the file: {}", known().take(20).collect::<Vec<_>>().join(", ")),
            });
            context.out.error(&place.at(0..name.len()), format!("unknown parameter `{trimmed}`")).hint(hint);
            continue;
        };
        let content = match value.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Content::Number(number),
            _ => Content::Expression(value.clone()),
        };
        drafts[i].formula = Formula::new(content, place, Some(name.len() + 1));
        drafts[i].free = true;
    }
}

/// Reports parameters that use themselves or later ones.
fn check_order(drafts: &[Draft], index: &HashMap<String, usize>, context: &mut Context) {
    for (i, draft) in drafts.iter().enumerate() {
        let Some(ast) = &draft.ast else { continue };
        if context.out.is_full() {
            return;
        }
        for (name, span) in ast.names() {
            let place = draft.formula.part(span);
            match index.get(name) {
                Some(&j) if j == i => {
                    context.out.error(&place, format!("`{name}` is defined by itself"));
                    break;
                }
                Some(&j) if j > i && !draft.free => {
                    let hint = format!("move the line of `{name}` above that of `{}`", draft.name.value);
                    context.out.error(&place, format!("`{name}` is defined below")).hint(hint);
                    break;
                }
                _ => {}
            }
        }
    }
}

/// Evaluates in the order of the file, again and again while something waits for a value set from outside.
fn resolve(drafts: &[Draft], index: &HashMap<String, usize>, context: &mut Context) -> Option<Vec<f64>> {
    let mut values: Vec<Option<f64>> = vec![None; drafts.len()];
    let mut failed = false;
    loop {
        let mut progress = false;
        for (i, draft) in drafts.iter().enumerate() {
            let ready = |ast: &Ast| ast.names().all(|(name, _)| index.get(name).is_none_or(|&j| values[j].is_some()));
            if values[i].is_some() || !draft.ast.as_ref().is_none_or(ready) {
                continue;
            }
            let value = match (&draft.formula.content, &draft.ast) {
                (Content::Number(value), _) => Some(*value),
                (_, Some(ast)) => context.evaluate(&draft.formula, ast),
                _ => None,
            };
            failed |= value.is_none();
            let value = value.unwrap_or(1.0);
            values[i] = Some(value);
            let node = context.graph.constant(value);
            // names were checked, and TOML has no double keys
            let _ = context.parameters.define(&draft.name.value, node);
            progress = true;
        }
        if !progress {
            break;
        }
    }
    for (draft, value) in drafts.iter().zip(&values) {
        if value.is_none() && draft.free {
            context.out.error(&draft.formula.place, format!("`{}` depends on itself", draft.name.value));
            failed = true;
        }
    }
    if failed { None } else { values.into_iter().collect() }
}
