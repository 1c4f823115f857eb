//! The exact solution of a testbed problem, with parameters from the file.

use std::fmt;
use std::sync::Arc;

use carom::State;
use carom::testbed::{BouncingBall, ExactSolution, ImpactOscillator, LinearOscillator, PreloadedOscillator, Takeoff};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::context::Context;
use crate::expression::Symbol;
use crate::file::ReferenceTable;
use crate::nearest::nearest;

/// An exact solution to compare with.
#[derive(Clone)]
pub struct Reference {
    pub testbed: String,
    /// Values of its parameters.
    pub parameters: Vec<(String, f64)>,
    pub solution: Arc<dyn ExactSolution + Send + Sync>,
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").field("testbed", &self.testbed).field("parameters", &self.parameters).finish()
    }
}

type Solution = Arc<dyn ExactSolution + Send + Sync>;

/// A problem of the testbed.
struct Row {
    name: &'static str,
    defaults: fn() -> Value,
    make: fn(Value) -> Result<Solution, serde_json::Error>,
}

impl Row {
    const fn of<T>(name: &'static str) -> Row
    where
        T: ExactSolution + Default + Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        Row {
            name,
            defaults: || serde_json::to_value(T::default()).unwrap_or(Value::Null),
            make: |table| Ok(Arc::new(serde_json::from_value::<T>(table)?)),
        }
    }
}

const TESTBED: [Row; 5] = [
    Row::of::<BouncingBall>("bouncing-ball"),
    Row::of::<ImpactOscillator>("impact-oscillator"),
    Row::of::<LinearOscillator>("linear-oscillator"),
    Row::of::<PreloadedOscillator>("preloaded-oscillator"),
    Row::of::<Takeoff>("takeoff"),
];

/// Finds the problem and evaluates its parameters.
pub(super) fn read(table: &ReferenceTable, context: &mut Context) -> Option<Reference> {
    let name = table.testbed.value.as_str();
    let Some(row) = TESTBED.iter().find(|row| row.name == name) else {
        let names = || TESTBED.iter().map(|row| row.name);
        let hint = match nearest(name, names()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("testbed problems: {}", names().collect::<Vec<_>>().join(", ")),
        };
        context.out.error(&table.testbed.place, format!("unknown testbed problem {name:?}")).hint(hint);
        return None;
    };
    let before = context.out.errors();
    let defaults = (row.defaults)();
    let fields: Vec<&str> = defaults.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let mut values = Map::new();
    for (key, formula) in table.parameters.iter().flat_map(|entries| &entries.items) {
        if !fields.contains(&key.value.as_str()) {
            let hint = match nearest(&key.value, fields.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its parameters: {}", fields.join(", ")),
            };
            context.out.error(&key.place, format!("{name:?} has no parameter `{}`", key.value)).hint(hint);
        } else if let Some(value) = context.number(formula) {
            values.insert(key.value.clone(), value.into());
        }
    }
    for field in fields {
        if values.contains_key(field) || table.parameters.iter().any(|e| e.items.iter().any(|(k, _)| k.value == field))
        {
            continue;
        }
        // a parameter of the same name needs no entry
        if let Some(Symbol::Node(node)) = context.parameters.find(field) {
            context.used.insert(field.into());
            values.insert(field.into(), context.graph.is_constant(node).unwrap_or(f64::NAN).into());
        } else {
            let place = table.parameters.as_ref().map_or(&table.place, |entries| &entries.place);
            context
                .out
                .error(place, format!("the parameter `{field}` of {name:?} has no value"))
                .hint(format!("add {field} = ... under [reference.parameters]"));
        }
    }
    if context.out.errors() > before {
        return None;
    }
    let parameters = values.iter().filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect();
    let solution = (row.make)(Value::Object(values)).ok()?;
    Some(Reference { testbed: name.to_string(), parameters, solution })
}

/// The reference must have the size and the initial state of the model.
pub(super) fn check(reference: &Reference, table: &ReferenceTable, initial: &State, context: &mut Context) {
    let (n, found) = (initial.q.len(), reference.solution.dimension());
    if n != found {
        let message = format!("the testbed problem has {found} coordinates, the model has {n}");
        context.out.error(&table.testbed.place, message);
        return;
    }
    let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
    reference.solution.at(initial.t, &mut q, &mut v);
    let scale = initial.q.iter().chain(&initial.v).fold(1.0f64, |a, x| a.max(x.abs()));
    let differs = |a: &[f64], b: &[f64]| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-9 * scale);
    // an impact at the very start changes the velocity at once
    if differs(&q, &initial.q) || (q.iter().all(|q| *q > 0.0) && differs(&v, &initial.v)) {
        let message = format!(
            "the reference starts at q = {q:?}, v = {v:?}, but the model at q = {:?}, v = {:?}",
            initial.q, initial.v
        );
        context.out.warning(&table.place, message).hint("check [reference.parameters] and [initial]");
    } else if q.iter().chain(&v).any(|x| !x.is_finite()) {
        context.out.warning(&table.place, "the reference is not defined at the start for these parameters");
    }
}
