//! Checks of the initial state: positive mass, open gaps, satisfied constraints, consistent velocities.
//!
//! Velocities that violate bilateral constraints are corrected by the projection orthogonal in the kinetic metric,
//!
//! ```text
//!     v ← v − M⁻¹Cᵀ (C M⁻¹ Cᵀ)⁻¹ (C v + ∂y/∂t)                                          (1)
//! ```

use carom::model::Combination;
use carom::{Coupling, FirstOrder, Mechanical, State};

use super::LawInfo;
use super::context::Context;
use super::surface::{WAY, correct, surface, tell_moved};
use crate::diagnostic::Place;
use crate::file::ModelFile;

/// Largest violation of a bilateral constraint at the start [unit of the constraint].
const CONSTRAINT_TOLERANCE: f64 = 1e-8;
/// Largest negative gap at the start, relative to the largest of 1 and the coordinates.
const GAP_TOLERANCE: f64 = 1e-9;
/// Violations below this are round-off, relative to the largest of 1 and the coordinates or velocities.
const ROUND_OFF: f64 = 1e-13;

/// The first coordinate whose pivot in a Cholesky factorisation is not positive, with the pivot relative to its
/// diagonal.
pub(crate) fn bad_pivot(n: usize, mass: &[f64]) -> Option<(usize, f64)> {
    let mut l = mass.to_vec();
    for k in 0..n {
        let pivot = l[k * n + k] - (0..k).map(|j| l[k * n + j] * l[k * n + j]).sum::<f64>();
        let diagonal = mass[k * n + k].abs();
        // written so that a NaN is bad as well
        if !(pivot > n as f64 * f64::EPSILON * diagonal && pivot.is_finite()) {
            return Some((k, pivot));
        }
        let root = pivot.sqrt();
        l[k * n + k] = root;
        for i in k + 1..n {
            let dot: f64 = (0..k).map(|j| l[i * n + j] * l[k * n + j]).sum();
            l[i * n + k] = (l[i * n + k] - dot) / root;
        }
    }
    None
}

/// The mass matrix of a small model at a position, row-major.
pub(crate) fn dense_mass(model: &mut dyn Mechanical, q: &[f64]) -> Vec<f64> {
    let n = q.len();
    let (mut mass, mut unit, mut column) = (vec![0.0; n * n], vec![0.0; n], vec![0.0; n]);
    for j in 0..n {
        unit[j] = 1.0;
        // a mass that is refused fills the column all the same
        let _ = model.mass_mul(q, &unit, &mut column);
        unit[j] = 0.0;
        for i in 0..n {
            mass[i * n + j] = column[i];
        }
    }
    mass
}

/// Reports a mass that is not positive definite, with the bad pivot where it is known.
pub(crate) fn not_positive(place: &Place, pivot: Option<(usize, f64)>, context: &mut Context) {
    let message = "the mass matrix is not positive definite at the initial state";
    match pivot {
        Some((i, pivot)) => {
            let name = context.names.coordinates.get(i).cloned().unwrap_or_default();
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

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(1.0, |largest: f64, x| largest.max(x.abs()))
}

/// Gaps, constraints and velocities at the start. Velocities are corrected in place.
pub(super) fn initial(
    model: &mut dyn Mechanical,
    state: &mut State,
    (laws, project): (&[LawInfo], f64),
    file: &ModelFile,
    context: &mut Context,
) -> Option<()> {
    let initial = start_place(file);
    let mut coupling = Coupling::default();
    if project > 0.0 {
        let inside = |coupling: &Coupling, i: usize| {
            let (pair, present) = (&coupling.pairs[i], coupling.is_present(i));
            present && if pair.law.is_equality() { pair.gap != 0.0 } else { pair.gap < 0.0 }
        };
        let from = state.clone();
        let moved = surface(model, state, project, inside, |model, at, column| {
            model.factor(at, Combination::MASS).map(|()| model.solve(column))
        });
        tell_moved(moved, (&from, state), &model.labels(), initial, context)?;
    }
    let mut force = vec![0.0; state.v.len()];
    let outcome = model
        .couple(state.t, &state.q, &mut coupling)
        .and_then(|()| model.force(state.t, &state.q, &state.v, &mut force));
    if let Err(error) = outcome {
        context.out.error(initial, format!("the model cannot be evaluated at the initial state: {error}"));
        return None;
    }
    let before = context.out.errors();
    let places = output_places(file);
    positions(&coupling, state, laws, &places, context);
    if context.out.errors() > before {
        return None;
    }
    velocities(model, &coupling, state, (laws, &places), context)
}

/// Rates and outputs at the start of a first-order model. A state outside its set is no error: the first step brings it
/// back by a jump.
pub(super) fn first_order(
    model: &mut dyn FirstOrder,
    state: &mut State,
    project: f64,
    file: &ModelFile,
    context: &mut Context,
) -> Option<()> {
    let initial = start_place(file);
    let mut coupling = Coupling::default();
    // with feedthrough the multiplier may lift the output
    let lifted =
        |coupling: &Coupling, i: usize| coupling.feedthrough.len() > i && !coupling.feedthrough.row(i).is_empty();
    if project > 0.0 {
        let inside = |coupling: &Coupling, i: usize| {
            let pair = &coupling.pairs[i];
            pair.law.is_unilateral() && !lifted(coupling, i) && pair.gap < 0.0
        };
        let from = state.clone();
        let moved = surface(model, state, project, inside, |_, _, _| Ok(()));
        tell_moved(moved, (&from, state), &model.labels(), initial, context)?;
    }
    let mut rate = vec![0.0; state.q.len()];
    let outcome =
        model.couple(state.t, &state.q, &mut coupling).and_then(|()| model.rate(state.t, &state.q, &mut rate));
    if let Err(error) = outcome {
        context.out.error(initial, format!("the model cannot be evaluated at the initial state: {error}"));
        return None;
    }
    let labels = model.labels();
    for (i, pair) in coupling.pairs.iter().enumerate() {
        if pair.law.is_unilateral() && !lifted(&coupling, i) && pair.gap < -GAP_TOLERANCE * largest(&state.q) {
            let message = format!("the output `{}` is {:.6e} at the start", labels.contact(pair.key), pair.gap);
            context
                .out
                .warning(initial, message)
                .hint(format!("it may not be negative: the first step will jump; {WAY}"));
        }
    }
    Some(())
}

/// Where the initial state stands, or would.
fn start_place(file: &ModelFile) -> &Place {
    file.initial.as_ref().map_or(file.model.table.place(), |initial| &initial.place)
}

/// Where gaps and constraints stand, in the order of the laws.
fn output_places(file: &ModelFile) -> Vec<&Place> {
    let contacts =
        file.contact.iter().flatten().map(|contact| contact.gap.as_ref().map_or(&contact.place, |gap| &gap.place));
    contacts.chain(file.constraint.iter().flatten().map(|constraint| &constraint.value.place)).collect()
}

fn positions(coupling: &Coupling, state: &State, laws: &[LawInfo], places: &[&Place], context: &mut Context) {
    let scale = largest(&state.q);
    for (i, ((pair, law), place)) in coupling.pairs.iter().zip(laws).zip(places).enumerate() {
        if !coupling.is_present(i) {
            continue;
        }
        let (name, gap) = (&law.name, pair.gap);
        if law.law.is_equality() {
            if gap.abs() > CONSTRAINT_TOLERANCE {
                let message = format!("the constraint `{name}` is violated by {gap:.6e} at the initial position");
                context.out.error(place, message).hint("change [initial] so that its value is zero");
            } else if gap.abs() > ROUND_OFF * scale {
                let message = format!("the constraint `{name}` is violated by {gap:.6e} at the initial position");
                context.out.warning(place, message);
            }
        } else if gap < -GAP_TOLERANCE * scale {
            let message =
                format!("the gap of contact `{name}` is {gap:.6e} at the initial position, but may not be negative");
            context.out.error(place, message).hint(format!("change [initial] or the gap; {WAY}"));
        }
    }
}

/// The bilateral rows at the initial position.
struct Bilateral<'a> {
    coupling: &'a Coupling,
    rows: Vec<usize>,
    gradients: Vec<Vec<f64>>,
}

impl<'a> Bilateral<'a> {
    fn of(coupling: &'a Coupling, n: usize) -> Bilateral<'a> {
        let laws = (0..coupling.len()).filter(|&i| coupling.pairs[i].law.is_equality());
        let rows: Vec<usize> = laws.map(|i| coupling.range(i).start).collect();
        let gradient = |&row: &usize| {
            let mut gradient = vec![0.0; n];
            coupling.rows.add_row(row, 1.0, &mut gradient);
            gradient
        };
        Bilateral { coupling, gradients: rows.iter().map(gradient).collect(), rows }
    }

    /// `C v + ∂y/∂t`.
    fn residual(&self, v: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|&row| self.coupling.rows.dot(row, v) + self.coupling.drift[row]).collect()
    }

    /// Equation (1) with the mass that the model has factored.
    fn project(&self, model: &dyn Mechanical, v: &[f64], residual: &[f64]) -> Vec<f64> {
        let mut inverse = self.gradients.clone();
        inverse.iter_mut().for_each(|column| model.solve(column));
        let mut v = v.to_vec();
        correct(self.coupling, &self.rows, &inverse, residual, &mut v);
        v
    }
}

/// Corrects the velocities where they violate bilateral constraints.
fn velocities(
    model: &mut dyn Mechanical,
    coupling: &Coupling,
    state: &mut State,
    (laws, places): (&[LawInfo], &[&Place]),
    context: &mut Context,
) -> Option<()> {
    let bilateral = Bilateral::of(coupling, state.v.len());
    let r = bilateral.residual(&state.v);
    let gradient = bilateral.gradients.iter().map(|row| largest(row)).fold(1.0, f64::max);
    let tolerance = ROUND_OFF * largest(&state.v) * gradient;
    let worst = (0..r.len()).max_by(|&a, &b| r[a].abs().total_cmp(&r[b].abs()));
    let Some(worst) = worst.filter(|&worst| r[worst].abs() > tolerance) else { return Some(()) };
    let mut constraints = laws.iter().zip(places).filter(|(law, _)| law.law.is_equality());
    let place = constraints.nth(worst).map(|(_, place)| (*place).clone())?;
    if let Err(error) = model.factor(state, Combination::MASS) {
        context.out.error(&place, format!("the mass matrix cannot be factored: {error}"));
        return None;
    }
    let v = bilateral.project(model, &state.v, &r);
    let left =
        bilateral.residual(&v).iter().fold(0.0f64, |a, x| if x.is_nan() { f64::INFINITY } else { a.max(x.abs()) });
    if left > 1e-9 * largest(&r) {
        let message =
            format!("no velocities satisfy the bilateral constraints: {left:.3e} m/s remain after a projection");
        context.out.error(&place, message).hint("are constraints in conflict, or is one without a gradient here?");
        return None;
    }
    let changes = v.iter().zip(&state.v).map(|(new, old)| (new - old).abs());
    let (i, change) = changes.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let message = format!(
        "the initial velocities violate the bilateral constraints by {:.6e}; they were projected, {}' most: {} instead of {}",
        r[worst].abs(),
        context.names.coordinates[i],
        v[i],
        state.v[i]
    );
    context.out.warning(&place, message).hint(format!("the largest change is {change:.6e}"));
    state.v = v;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pivots_name_the_coordinate() {
        assert_eq!(bad_pivot(2, &[2.0, 1.0, 1.0, 2.0]), None);
        assert_eq!(bad_pivot(2, &[1.0, 1.0, 1.0, 1.0]), Some((1, 0.0)));
        assert_eq!(bad_pivot(1, &[0.0]), Some((0, 0.0)));
        assert!(bad_pivot(1, &[f64::NAN]).is_some());
    }
}
