//! The names of coordinates and the scope of expressions: time, coordinates, velocities, parameters.

use std::collections::HashSet;

use carom::scheme::Family;

use super::context::{Context, name_problem};
use crate::diagnostic::{Place, suggest};
use crate::expression::FUNCTIONS;
use crate::file::{Entries, Text};

/// Largest number of coordinates of a model from energies, whose matrices are dense.
pub(crate) const DENSE_LIMIT: usize = 256;

/// The names of a list, checked.
pub(crate) fn listed(names: &[Text], place: &Place, context: &mut Context) -> Option<Vec<String>> {
    let before = context.out.errors();
    if names.is_empty() {
        context.out.error(place, "the model has no coordinates");
    }
    let mut seen = HashSet::new();
    for name in names {
        let problem = name_problem(&name.value).or_else(|| {
            if name.value == "e" {
                Some("`e` is a constant".to_string())
            } else if context.parameters.find(&name.value).is_some() {
                Some(format!("`{}` is a parameter as well", name.value))
            } else if !seen.insert(name.value.as_str()) {
                Some(format!("the coordinate `{}` is listed twice", name.value))
            } else {
                None
            }
        });
        if let Some(problem) = problem {
            context.out.error(&name.place, problem);
        }
    }
    (context.out.errors() == before).then(|| names.iter().map(|name| name.value.clone()).collect())
}

/// Names base0, base1, ...; `place` is where the base is chosen.
pub(crate) fn numbered(base: &str, count: usize, place: &Place, context: &mut Context) -> Option<Vec<String>> {
    // a base such as `atan` would make the name of a function
    let number = |name: &str| name.strip_prefix(base).and_then(|rest| rest.parse::<usize>().ok());
    if let Some((name, _)) = FUNCTIONS.iter().find(|(name, _)| number(name).is_some_and(|i| i < count)) {
        context.out.error(place, format!("the coordinate `{name}` of the model is the name of a function"));
        return None;
    }
    let names: Vec<String> = (0..count).map(|i| format!("{base}{i}")).collect();
    let taken = names.iter().find(|name| context.parameters.find(name).is_some());
    if let Some(name) = taken {
        context.out.error(place, format!("the coordinate `{name}` of the model is a parameter as well"));
        return None;
    }
    Some(names)
}

/// Declares everything that expressions may use.
pub(crate) fn declare(names: Vec<String>, context: &mut Context) {
    // the names have been checked one by one, so that no declaration can fail
    let _ = context.all.declare_time();
    let _ = context.all.declare_coordinates(&names);
    context.declare_parameters();
    context.names.index = names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
    context.names.coordinates = names;
}

/// Declares time, states, multipliers and parameters of a first-order model. A name that is taken already keeps its
/// meaning: the slot then has a name that cannot be written.
pub(crate) fn declare_states(names: Vec<String>, multipliers: Vec<String>, context: &mut Context) {
    let _ = context.all.declare_time();
    for (k, name) in names.iter().chain(&multipliers).enumerate() {
        if context.parameters.find(name).is_some() || context.all.declare_states(&[name]).is_err() {
            let _ = context.all.declare_states(&[format!("_slot_{k}")]);
        }
    }
    context.declare_parameters();
    context.names.index = names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
    context.names.coordinates = names;
    context.names.multipliers = multipliers;
}

/// What a key of a table by coordinates means.
pub(crate) enum Target {
    Position(usize),
    Velocity(usize),
    AllPositions,
    AllVelocities,
}

impl Context {
    /// Finds the coordinate of a key that names one.
    pub fn target(&mut self, key: &Text, velocities: bool) -> Option<Target> {
        self.target_of(key, None, velocities)
    }

    /// Finds the coordinate or velocity of a key; `base` names all coordinates at once.
    fn target_of(&mut self, key: &Text, base: Option<&str>, velocities: bool) -> Option<Target> {
        let (name, primed) = match key.value.strip_suffix('\'') {
            Some(name) => (name, true),
            None => (key.value.as_str(), false),
        };
        match (self.names.index.get(name), primed) {
            (Some(&i), false) => return Some(Target::Position(i)),
            (Some(&i), true) if velocities => return Some(Target::Velocity(i)),
            (None, false) if base == Some(name) => return Some(Target::AllPositions),
            (None, true) if base == Some(name) && velocities => return Some(Target::AllVelocities),
            _ => {}
        }
        if let Some((_, reason)) = self.names.fixed.iter().find(|(fixed, _)| *fixed == key.value) {
            self.out.error(&key.place, format!("`{name}` is no state: {reason}"));
            return None;
        }
        let mut known: Vec<String> = self.names.coordinates.clone();
        if velocities {
            known.extend(self.names.coordinates.iter().map(|name| format!("{name}'")));
        }
        let same_kind = known.iter().map(String::as_str).filter(|known| !primed || known.ends_with('\''));
        let hint = match name {
            "t" | "time" => "the initial time is simulation.start".to_string(),
            _ if self.parameters.find(name).is_some() => format!("`{name}` is a parameter; set it under [parameters]"),
            _ => suggest(&key.value, same_kind, false, || {
                let few: Vec<&str> = self.names.coordinates.iter().take(12).map(String::as_str).collect();
                let what = if self.names.family == Family::Mechanical { "coordinates" } else { "states" };
                format!(
                    "{what}: {}{}",
                    few.join(", "),
                    if few.len() < self.names.coordinates.len() { ", ..." } else { "" }
                )
            }),
        };
        let what = match (primed, self.names.family) {
            (true, _) => "velocity",
            (false, Family::Mechanical) => "coordinate",
            (false, Family::FirstOrder) => "state",
        };
        self.out.error(&key.place, format!("there is no {what} `{}`", key.value)).hint(hint);
        None
    }
}

/// The key of the largest way out of obstacles, unless a coordinate has that name.
const PROJECT: &str = "project";

/// The initial values.
pub(super) struct Initial {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    /// How far inside obstacles the start may be, to be moved to their surface.
    pub project: f64,
}

/// Reads the initial values.
pub(super) fn initial(entries: Option<&Entries>, context: &mut Context) -> Option<Initial> {
    let base = context.names.base.clone();
    let n = context.names.coordinates.len();
    let before = context.out.errors();
    let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
    let velocities = context.names.family == Family::Mechanical;
    let (mut single, mut project) = (Vec::new(), 0.0);
    for (key, formula) in entries.iter().flat_map(|entries| &entries.items) {
        if context.out.is_full() {
            return None;
        }
        if key.value == PROJECT && !context.names.index.contains_key(PROJECT) {
            project = context.number(formula).unwrap_or(0.0);
            if project < 0.0 {
                context.out.error(&formula.place, format!("the distance {project} is negative"));
            }
            continue;
        }
        let (Some(target), Some(value)) =
            (context.target_of(key, base.as_deref(), velocities), context.number(formula))
        else {
            continue;
        };
        match target {
            Target::AllPositions => q.fill(value),
            Target::AllVelocities => v.fill(value),
            single_target => single.push((single_target, value)),
        }
    }
    // single coordinates override the values for all
    for (target, value) in single {
        match target {
            Target::Position(i) => q[i] = value,
            Target::Velocity(i) => v[i] = value,
            Target::AllPositions | Target::AllVelocities => {}
        }
    }
    if context.names.family == Family::FirstOrder {
        v.clear();
    }
    (context.out.errors() == before).then_some(Initial { q, v, project })
}
