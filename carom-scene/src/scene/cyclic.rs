//! Coordinates in which the model repeats itself: they are read, and the model is asked whether it does.

use carom::elementary::sin;
use carom::scheme::AnyModel;
use carom::{Coupling, Labels, LinearSolve, ModelError, Space, State};

use super::context::Context;
use super::coordinates::Target;
use crate::file::Entries;

/// Where a coordinate is shifted from, in its lengths.
const PLACES: [f64; 3] = [0.0, 0.37, 0.71];

/// Shifts of a coordinate that nothing depends on.
const SHIFTS: [f64; 2] = [1.0, -0.37];

/// Differences beyond this part of the values are none of rounding.
const ROUNDING: f64 = 1e-9;

/// Numbers and lengths of the coordinates.
pub(super) fn read(entries: Option<&Entries>, context: &mut Context) -> Option<Vec<(usize, f64)>> {
    let before = context.out.errors();
    let mut all: Vec<(usize, f64)> = Vec::new();
    for (key, formula) in entries.iter().flat_map(|entries| &entries.items) {
        let (Some(Target::Position(i)), Some(length)) = (context.target(key, false), context.number(formula)) else {
            continue;
        };
        if length < 0.0 {
            let message = format!("the length {length} after which the model repeats itself is negative");
            context.out.error(&formula.place, message).hint("\"2*pi\" for an angle, 0 where nothing depends on it");
        }
        all.push((i, length));
    }
    (context.out.errors() == before).then_some(all)
}

/// Whether the model is the same after these lengths: forces, masses, gaps and their gradients are compared.
pub(super) fn check(
    cyclic: &[(usize, f64)],
    entries: &Entries,
    (model, state): (&mut AnyModel, &State),
    context: &mut Context,
) {
    for ((i, length), (key, _)) in cyclic.iter().zip(&entries.items) {
        let pairs: Vec<(f64, f64)> = match *length {
            0.0 => SHIFTS.iter().map(|shift| (0.0, *shift)).collect(),
            length => PLACES.iter().map(|place| (place * length, (place + 1.0) * length)).collect(),
        };
        if let Some(what) = difference(model, state, *i, &pairs) {
            let after = if *length > 0.0 { format!("after the length {length} of") } else { "at all values of".into() };
            let message = format!("the model is not the same {after} `{}`: {what} differs", key.value);
            let hint = "give the length after which all forces and gaps repeat, or leave the coordinate out";
            context.out.error(&key.place, message).hint(hint);
        }
    }
}

/// A quantity that differs between the two shifts of a pair, where there is one.
fn difference(model: &mut AnyModel, state: &State, i: usize, pairs: &[(f64, f64)]) -> Option<String> {
    let mut at = |shift: f64| {
        let mut moved = state.clone();
        moved.q[i] += shift;
        quantities(model, &moved)
    };
    // where the model cannot be evaluated there is nothing to compare
    let values: Vec<_> = pairs.iter().filter_map(|(a, b)| Some((at(*a).ok()?, at(*b).ok()?))).collect();
    let names = values.first().map_or(0, |(a, _)| a.len());
    (0..names).find_map(|k| {
        let pair = |(a, b): &(Values, Values)| Some((a.get(k)?.1, b.get(k)?.1));
        let size = values.iter().filter_map(pair).fold(0.0, |size: f64, (a, b)| size.max(a.abs()).max(b.abs()));
        let differs = values.iter().filter_map(pair).any(|(a, b)| (a - b).abs() > ROUNDING * size);
        differs.then(|| values[0].0[k].0.clone())
    })
}

/// Names and values.
type Values = Vec<(String, f64)>;

/// What a model is made of at a state, as numbers: weighted sums of mass and gradients stand for all their entries.
fn quantities(model: &mut AnyModel, at: &State) -> Result<Values, ModelError> {
    match model {
        AnyModel::Mechanical(model) => {
            let n = at.v.len();
            let (mut force, mut mass) = (vec![0.0; n], vec![0.0; n]);
            model.force(at.t, &at.q, &at.v, &mut force)?;
            model.mass_mul(&at.q, &weights(n), &mut mass)?;
            let labels = model.labels();
            let mut all = vector("the force on", &force, &labels);
            all.extend(vector("the mass of", &mass, &labels));
            laws(&mut **model, at, n, &labels, &mut all)?;
            Ok(all)
        }
        AnyModel::FirstOrder(model) => {
            let mut rate = vec![0.0; at.q.len()];
            model.rate(at.t, &at.q, &mut rate)?;
            let labels = model.labels();
            let mut all = vector("the rate of", &rate, &labels);
            laws(&mut **model, at, at.q.len(), &labels, &mut all)?;
            Ok(all)
        }
    }
}

/// Numbers of different sizes.
fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|k| 1.0 + 0.5 * sin(k as f64)).collect()
}

fn vector(what: &str, values: &[f64], labels: &Labels) -> Values {
    let name = |k: usize| labels.coordinates.get(k).cloned().unwrap_or_else(|| k.to_string());
    values.iter().enumerate().map(|(k, value)| (format!("{what} `{}`", name(k)), *value)).collect()
}

/// Gaps and gradients of contacts, where they count.
fn laws<M: Space + LinearSolve + ?Sized>(
    model: &mut M,
    at: &State,
    n: usize,
    labels: &Labels,
    all: &mut Values,
) -> Result<(), ModelError> {
    let mut coupling = Coupling::default();
    model.couple(at.t, &at.q, &mut coupling)?;
    let weights = weights(n);
    for (i, pair) in coupling.pairs.iter().enumerate() {
        let (name, present) = (labels.contact(pair.key), coupling.is_present(i));
        all.push((format!("the region of `{name}`"), f64::from(u8::from(present))));
        let part = |x: f64| if present { x } else { 0.0 };
        all.push((format!("the gap of `{name}`"), part(pair.gap)));
        let gradients = coupling.range(i).map(|row| (format!("the gradient of `{name}`"), row));
        all.extend(gradients.map(|(name, row)| (name, part(coupling.rows.dot(row, &weights)))));
    }
    Ok(())
}
