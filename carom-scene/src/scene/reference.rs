//! The exact solution of a testbed problem, with parameters from the file.

use std::fmt;
use std::sync::Arc;

use carom::State;
use carom::scheme::Family;
use carom::testbed::{
    BouncingBall, Corner, DiodeBridge, Disc, ExactSolution, ExactState, Hoop, ImpactOscillator, LinearOscillator,
    Pendulum, Play, PreloadedOscillator, Rectifier, Sign, SlidingMode, Takeoff, ThirdDegree,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::context::Context;
use crate::diagnostic::suggest;
use crate::expression::Symbol;
use crate::file::ReferenceTable;

/// An exact solution to compare with.
#[derive(Clone)]
pub struct Reference {
    /// Name of the testbed problem.
    pub testbed: String,
    /// Values of its parameters.
    pub parameters: Vec<(String, f64)>,
    /// The closed form with these parameters.
    pub solution: Exact,
}

/// A closed form of either family.
#[derive(Clone)]
pub enum Exact {
    /// Positions and velocities of a mechanical model.
    Motion(Arc<dyn ExactSolution + Send + Sync>),
    /// States of a first-order model.
    State(Arc<dyn ExactState + Send + Sync>),
}

impl Exact {
    /// Number of coordinates, or of states.
    pub fn dimension(&self) -> usize {
        match self {
            Exact::Motion(exact) => exact.dimension(),
            Exact::State(exact) => exact.dimension(),
        }
    }

    /// Writes positions and velocities, or the state alone.
    pub fn at(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        match self {
            Exact::Motion(exact) => exact.at(t, q, v),
            Exact::State(exact) => exact.at(t, q),
        }
    }

    /// Why there is no exact solution with these parameters, where there is none.
    fn refusal(&self) -> Option<String> {
        match self {
            Exact::Motion(exact) => exact.refusal(),
            Exact::State(_) => None,
        }
    }

    fn family(&self) -> Family {
        match self {
            Exact::Motion(_) => Family::Mechanical,
            Exact::State(_) => Family::FirstOrder,
        }
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").field("testbed", &self.testbed).field("parameters", &self.parameters).finish()
    }
}

/// A problem of the testbed.
struct Row {
    name: &'static str,
    defaults: fn() -> Value,
    make: fn(Value) -> Option<Exact>,
}

impl Row {
    const fn of<T>(name: &'static str) -> Row
    where
        T: ExactSolution + Default + Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        Row {
            name,
            defaults: || serde_json::to_value(T::default()).unwrap_or(Value::Null),
            make: |table| Some(Exact::Motion(Arc::new(serde_json::from_value::<T>(table).ok()?))),
        }
    }
}

fn state(solution: impl ExactState + Send + Sync + 'static) -> Option<Exact> {
    Some(Exact::State(Arc::new(solution)))
}

/// A number of a table.
fn get(table: &Value, name: &str) -> Option<f64> {
    table.get(name).and_then(Value::as_f64)
}

const TESTBED: [Row; 14] = [
    Row::of::<BouncingBall>("bouncing-ball"),
    Row::of::<Hoop>("hoop"),
    Row::of::<ImpactOscillator>("impact-oscillator"),
    Row::of::<LinearOscillator>("linear-oscillator"),
    Row::of::<Pendulum>("pendulum"),
    Row::of::<PreloadedOscillator>("preloaded-oscillator"),
    Row::of::<Takeoff>("takeoff"),
    Row { name: "play", defaults: || json!({}), make: |_| state(Play) },
    Row { name: "corner", defaults: || json!({}), make: |_| state(Corner) },
    Row {
        name: "disc",
        defaults: || json!({ "angle": Disc::default().angle }),
        make: |t| state(Disc { angle: get(&t, "angle")? }),
    },
    Row {
        name: "diode-bridge",
        defaults: || json!({ "inductance": 1, "capacitance": 1, "resistance": 1, "voltage": 1 }),
        make: |t| {
            state(DiodeBridge {
                inductance: get(&t, "inductance")?,
                capacitance: get(&t, "capacitance")?,
                resistance: get(&t, "resistance")?,
                voltage: get(&t, "voltage")?,
            })
        },
    },
    Row {
        name: "rectifier",
        defaults: || json!({ "voltage": 1, "frequency": 1, "resistance": 1, "inductance": 1 }),
        make: |t| {
            state(Rectifier {
                voltage: get(&t, "voltage")?,
                frequency: get(&t, "frequency")?,
                resistance: get(&t, "resistance")?,
                inductance: get(&t, "inductance")?,
            })
        },
    },
    Row {
        name: "sliding-mode",
        defaults: || json!({ "gain": 1, "x0": 1, "w0": 0 }),
        make: |t| state(SlidingMode { gain: get(&t, "gain")?, initial: (get(&t, "x0")?, get(&t, "w0")?) }),
    },
    Row {
        name: "third-degree",
        defaults: || json!({ "reading": 1, "duration": 10 }),
        make: |t| {
            let sign = if get(&t, "reading")? < 0.0 { Sign::Minus } else { Sign::Plus };
            // far enough for every span of a study
            state(ThirdDegree::new(sign, get(&t, "duration")?.clamp(0.0, 1e3)))
        },
    },
];

/// Finds the problem and evaluates its parameters.
pub(super) fn read(table: &ReferenceTable, context: &mut Context) -> Option<Reference> {
    let name = table.testbed.value.as_str();
    let Some(row) = TESTBED.iter().find(|row| row.name == name) else {
        let names = || TESTBED.iter().map(|row| row.name);
        let all = || format!("testbed problems: {}", names().collect::<Vec<_>>().join(", "));
        let hint = suggest(name, names(), true, all);
        context.out.error(&table.testbed.place, format!("unknown testbed problem {name:?}")).hint(hint);
        return None;
    };
    let before = context.out.errors();
    let defaults = (row.defaults)();
    let fields: Vec<&str> = defaults.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let mut values = Map::new();
    for (key, formula) in table.parameters.iter().flat_map(|entries| &entries.items) {
        if !fields.contains(&key.value.as_str()) {
            let all = || format!("its parameters: {}", fields.join(", "));
            let hint = suggest(&key.value, fields.iter().copied(), false, all);
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
    let solution = (row.make)(Value::Object(values))?;
    Some(Reference { testbed: name.to_string(), parameters, solution })
}

/// The reference must have the family, the size and the initial state of the model. Returns whether there is one with
/// these parameters.
pub(super) fn check(reference: &Reference, table: &ReferenceTable, initial: &State, context: &mut Context) -> bool {
    let (found, family) = (reference.solution.dimension(), reference.solution.family());
    let n = initial.q.len();
    if family != context.names.family {
        let message = match family {
            Family::Mechanical => "the testbed problem is a mechanical one, the model is a first-order system",
            Family::FirstOrder => "the testbed problem is a first-order system, the model is a mechanical one",
        };
        context.out.error(&table.testbed.place, message);
        return false;
    }
    if n != found {
        let what = if family == Family::Mechanical { "coordinates" } else { "states" };
        let message = format!("the testbed problem has {found} {what}, the model has {n}");
        context.out.error(&table.testbed.place, message);
        return false;
    }
    let (mut q, mut v) = (vec![0.0; n], vec![0.0; initial.v.len()]);
    reference.solution.at(initial.t, &mut q, &mut v);
    let unknown = q.iter().chain(&v).any(|x| !x.is_finite()).then(|| "it is not defined at the start".to_owned());
    if let Some(reason) = reference.solution.refusal().or(unknown) {
        let message = format!("{:?} has no exact solution for these parameters: {reason}", reference.testbed);
        context.out.warning(&table.place, message).hint("studies compare with a finer run instead");
        return false;
    }
    let scale = initial.q.iter().chain(&initial.v).fold(1.0f64, |a, x| a.max(x.abs()));
    let differs = |a: &[f64], b: &[f64]| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-9 * scale);
    // an impact at the very start changes the velocity at once
    if differs(&q, &initial.q) || (q.iter().all(|q| *q > 0.0) && differs(&v, &initial.v)) {
        let message = match family {
            Family::Mechanical => format!(
                "the reference starts at q = {q:?}, v = {v:?}, but the model at q = {:?}, v = {:?}",
                initial.q, initial.v
            ),
            Family::FirstOrder => {
                format!("the reference starts at x = {q:?}, but the model at x = {:?}", initial.q)
            }
        };
        context.out.warning(&table.place, message).hint("check [reference.parameters] and [initial]");
    }
    true
}
