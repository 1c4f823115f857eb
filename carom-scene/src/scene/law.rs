//! Contacts and bilateral constraints: laws with their outputs.

use std::collections::HashMap;

use carom_solve::Law;

use super::context::{Context, label};
use super::{LawInfo, region};
use crate::diagnostic::Place;
use crate::equations::{Slip, SourceLaw};
use crate::expression::NodeId;
use crate::file::{ConstraintTable, ContactTable, ModelFile, Text};
use crate::law;

/// Most laws of a file.
const LIMIT: usize = 10_000;

/// A law whose expressions have been read.
pub(crate) struct LawNodes {
    pub name: String,
    /// Its form; coefficients come with the numbers.
    pub law: Law,
    /// Gap or constraint value, then slips, with their places.
    pub outputs: Vec<(NodeId, Place)>,
    pub slip: Slip,
    /// Coefficients of friction while sliding and at rest, where they depend on the state, and where they are written.
    pub friction: Option<([NodeId; 2], Place)>,
    /// Not negative where the gap counts, and where that is written; everywhere by default.
    pub region: Option<(NodeId, Place)>,
}

impl LawNodes {
    /// The law as the equations take it.
    pub fn source(&self) -> SourceLaw {
        SourceLaw {
            name: self.name.clone(),
            law: self.law,
            restitution: 0.0,
            tangential: 0.0,
            outputs: self.outputs.iter().map(|(node, _)| *node).collect(),
            slip: self.slip,
            friction: self.friction.as_ref().map(|(nodes, _)| *nodes),
            region: self.region.as_ref().map(|(node, _)| *node),
        }
    }
}

/// Contacts and constraints.
fn tables(file: &ModelFile) -> (&[ContactTable], &[ConstraintTable]) {
    (file.contact.as_deref().unwrap_or_default(), file.constraint.as_deref().unwrap_or_default())
}

/// Reads the expressions of all contacts and constraints; `None` if one of them has a mistake.
pub(crate) fn nodes(file: &ModelFile, context: &mut Context) -> Option<Vec<LawNodes>> {
    let before = context.out.errors();
    let (contacts, constraints) = tables(file);
    if contacts.len() + constraints.len() > LIMIT {
        let place = contacts.first().map(|c| &c.place).or(constraints.first().map(|c| &c.place))?;
        context.out.error(place, format!("there are more than {LIMIT} contacts and constraints"));
        return None;
    }
    let mut names: HashMap<String, &Text> = HashMap::new();
    for name in contacts.iter().map(|c| &c.name).chain(constraints.iter().map(|c| &c.name)) {
        let Some(label) = label(name, &mut context.out) else { continue };
        if let Some(first) = names.insert(label, name) {
            let line = first.place.source.position(first.place.span.start).0;
            let message = format!("the name {:?} is taken by another contact or constraint", name.value);
            context.out.error(&name.place, message).hint(format!("the other one is in line {line}"));
        }
    }
    let mut laws = Vec::new();
    for table in contacts {
        laws.extend(contact(table, context));
    }
    for table in constraints {
        laws.extend(constraint(table, context));
    }
    (context.out.errors() == before).then_some(laws)
}

/// Reads the coefficients of all contacts and constraints; `None` if one of them has a mistake.
pub(crate) fn numbers(file: &ModelFile, context: &mut Context) -> Option<Vec<LawInfo>> {
    let (contacts, constraints) = tables(file);
    if contacts.len() + constraints.len() > LIMIT {
        return None;
    }
    let before = context.out.errors();
    let mut laws = Vec::new();
    for table in contacts {
        let restitution = match &table.restitution {
            Some(formula) => law::coefficient(formula, "the coefficient of restitution", 1.0, context),
            None => Some(0.0),
        };
        let tangential = match &table.tangential {
            Some(formula) => law::coefficient(formula, "the tangential coefficient of restitution", 1.0, context),
            None => Some(0.0),
        };
        if let Some(formula) = table.tangential.as_ref().filter(|_| table.friction.is_none()) {
            context.out.error(&formula.place, law::NO_GRIP);
        }
        let law = law::numbers(table, context);
        let name = table.name.value.clone();
        let all = law.zip(restitution).zip(tangential);
        laws.extend(all.map(|((law, restitution), tangential)| LawInfo { name, law, restitution, tangential }));
    }
    for table in constraints {
        laws.push(LawInfo { name: table.name.value.clone(), law: Law::EQUALITY, restitution: 0.0, tangential: 0.0 });
    }
    (context.out.errors() == before).then_some(laws)
}

fn contact(table: &ContactTable, context: &mut Context) -> Option<LawNodes> {
    between_bodies(table, context);
    let gap = match &table.gap {
        Some(gap) => context.node_of_positions(gap, "the gap").map(|node| (node, gap.place.clone())),
        None => {
            let place = Place { field: format!("{}.gap", table.place.field).into(), ..table.place.clone() };
            context.out.error(&place, "the field `gap` is missing");
            None
        }
    };
    let region = match &table.region {
        Some(formula) => region::read(formula, context).map(|node| Some((node, formula.place.clone()))),
        None => Some(None),
    };
    let kind = match (&table.slip, &table.sliding) {
        (Some(_), Some(sliding)) => {
            context.out.error(&sliding.place, "give either `slip` or `sliding`, not both");
            return None;
        }
        (None, Some(_)) => Slip::Velocity,
        _ => Slip::Displacement,
    };
    let (law, formulas) = law::rows(table, context)?;
    let slips = formulas.into_iter().map(|formula| {
        let node = match kind {
            Slip::Displacement => context.node_of_positions(formula, "the slip"),
            Slip::Velocity => context.node(formula),
        };
        Some((node?, formula.place.clone()))
    });
    let slips = slips.collect::<Option<Vec<_>>>()?;
    let tangents: Vec<NodeId> = slips.iter().map(|(node, _)| *node).collect();
    let friction = law::varying::nodes(table, (&tangents, kind), context)?;
    let friction = friction.zip(table.friction.as_ref().map(|friction| friction.place().clone()));
    let outputs = std::iter::once(gap?).chain(slips).collect();
    Some(LawNodes { name: table.name.value.clone(), law, outputs, slip: kind, friction, region: region? })
}

/// Keys of contacts between bodies.
fn between_bodies(table: &ContactTable, context: &mut Context) {
    let texts = [&table.a, &table.b].into_iter().flatten().map(|text| &text.place);
    if let Some(place) = texts.chain(table.repeat.iter().map(|words| &words.place)).next() {
        let error = context.out.error(place, "contacts between shapes belong to kind \"multibody\"");
        error.hint("give the `gap` as an expression of the coordinates");
    }
}

fn constraint(table: &ConstraintTable, context: &mut Context) -> Option<LawNodes> {
    let node = context.node_of_positions(&table.value, "the constraint")?;
    let outputs = vec![(node, table.value.place.clone())];
    let name = table.name.value.clone();
    Some(LawNodes { name, law: Law::EQUALITY, outputs, slip: Slip::Displacement, friction: None, region: None })
}
