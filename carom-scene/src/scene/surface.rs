//! Starts slightly inside obstacles are moved to their surface, where `project` under `[initial]` allows it:
//!
//! ```text
//!     q ← q − M⁻¹Cᵀ (C M⁻¹ Cᵀ)⁻¹ g,   repeated                                            (1)
//! ```
//!
//! with C the rows of the gaps g that are or were negative; in first-order systems with M = 1.

use carom::{Coupling, Key, Labels, ModelError, Space, State};

use super::context::Context;
use crate::diagnostic::Place;

/// Iterations of (1).
const WAYS: usize = 50;

/// What to do about a start that is slightly inside.
pub(super) const WAY: &str = "`project = 1e-6` under [initial] moves a start that far inside to the surface";

/// Moves positions out of obstacles by (1): `inside` tells which laws are violated, `weigh` multiplies by M⁻¹. Laws
/// that were violated stay in contact. Returns the law that was violated most with its gap; nothing is moved where none
/// was, or one by more than `most`.
pub(super) fn surface<M: Space + ?Sized>(
    model: &mut M,
    state: &mut State,
    most: f64,
    inside: impl Fn(&Coupling, usize) -> bool,
    weigh: impl Fn(&mut M, &State, &mut [f64]) -> Result<(), ModelError>,
) -> Result<Option<(Key, f64)>, ModelError> {
    let mut coupling = Coupling::default();
    let (mut touched, mut worst): (Vec<Key>, Option<(Key, f64)>) = (Vec::new(), None);
    let mut moved = state.clone();
    for _ in 0..WAYS {
        model.couple(moved.t, &moved.q, &mut coupling)?;
        let laws: Vec<usize> =
            (0..coupling.len()).filter(|&i| inside(&coupling, i) || touched.contains(&coupling.pairs[i].key)).collect();
        let gap = |i: &usize| coupling.pairs[*i].gap;
        let deepest = laws.iter().max_by(|a, b| gap(a).abs().total_cmp(&gap(b).abs()));
        let Some(deepest) = deepest else { break };
        let first = *worst.get_or_insert((coupling.pairs[*deepest].key, gap(deepest)));
        if first.1.abs() > most {
            return Ok(None);
        }
        touched = laws.iter().map(|i| coupling.pairs[*i].key).collect();
        let rows: Vec<usize> = laws.iter().map(|i| coupling.range(*i).start).collect();
        let dense = |row: &usize| {
            let mut dense = vec![0.0; model.dim()];
            coupling.rows.add_row(*row, 1.0, &mut dense);
            dense
        };
        let mut inverse: Vec<Vec<f64>> = rows.iter().map(dense).collect();
        for column in &mut inverse {
            weigh(model, &moved, column)?;
        }
        let gaps: Vec<f64> = laws.iter().map(gap).collect();
        let mut way = vec![0.0; model.dim()];
        correct(&coupling, &rows, &inverse, &gaps, &mut way);
        let from = moved.q.clone();
        model.retract(&from, &way, &mut moved.q);
        if moved.q == from {
            break;
        }
    }
    *state = moved;
    Ok(worst)
}

/// Tells of a start that was moved.
pub(super) fn tell_moved(
    moved: Result<Option<(Key, f64)>, ModelError>,
    (from, to): (&State, &State),
    labels: &Labels,
    place: &Place,
    context: &mut Context,
) -> Option<()> {
    match moved {
        Err(error) => {
            context.out.error(place, format!("the initial state cannot be moved out of obstacles: {error}"));
            None
        }
        Ok(None) => Some(()),
        Ok(Some((key, gap))) => {
            let changes = to.q.iter().zip(&from.q).map(|(a, b)| (a - b).abs()).enumerate();
            if let Some((i, change)) = changes.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, change)| *change > 0.0) {
                let (name, contact) = (labels.coordinates.get(i).cloned().unwrap_or_default(), labels.contact(key));
                let message = format!(
                    "the start was moved to the surface of `{contact}`, where it was {gap:.6e}: {name} by {change:.6e}"
                );
                context.out.warning(place, message).hint("as `project` allows; change [initial] to avoid it");
            }
            Some(())
        }
    }
}

/// `x ← x − M⁻¹Cᵀ (C M⁻¹ Cᵀ)⁻¹ r` with the rows C and the columns M⁻¹Cᵀ.
pub(super) fn correct(coupling: &Coupling, rows: &[usize], inverse: &[Vec<f64>], residual: &[f64], x: &mut [f64]) {
    let m = rows.len();
    let mut w = vec![0.0; m * m];
    for i in 0..m {
        for j in 0..m {
            w[i * m + j] = coupling.rows.dot(rows[i], &inverse[j]);
        }
    }
    let lambda = solve_semidefinite(m, &mut w, residual.to_vec());
    for (column, lambda) in inverse.iter().zip(&lambda) {
        for (x, c) in x.iter_mut().zip(column) {
            *x -= lambda * c;
        }
    }
}

/// Solves W x = r with a symmetric positive semidefinite W; rows that depend on others get x = 0.
fn solve_semidefinite(m: usize, w: &mut [f64], mut x: Vec<f64>) -> Vec<f64> {
    let scale: Vec<f64> = (0..m).map(|k| w[k * m + k].abs()).collect();
    let mut kept = vec![true; m];
    // L D Lᵀ, in place below the diagonal
    for k in 0..m {
        let pivot = w[k * m + k];
        kept[k] = pivot > 1e-12 * scale[k];
        for i in k + 1..m {
            let factor = if kept[k] { w[i * m + k] / pivot } else { 0.0 };
            for j in k + 1..=i {
                w[i * m + j] -= factor * w[j * m + k];
            }
        }
    }
    for i in 0..m {
        for k in (0..i).filter(|&k| kept[k]) {
            x[i] -= w[i * m + k] / w[k * m + k] * x[k];
        }
    }
    for k in 0..m {
        x[k] = if kept[k] { x[k] / w[k * m + k] } else { 0.0 };
    }
    for k in (0..m).rev().filter(|&k| kept[k]) {
        for i in k + 1..m {
            x[k] -= w[i * m + k] / w[k * m + k] * if kept[i] { x[i] } else { 0.0 };
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semidefinite_systems_are_solved_on_their_range() {
        // W = C Cᵀ with C = [[1, 0], [1, 1], [2, 1]]: the third row is the sum of the first two
        let c = [[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]];
        let mut w: Vec<f64> = (0..9).map(|k| c[k / 3][0] * c[k % 3][0] + c[k / 3][1] * c[k % 3][1]).collect();
        let r = vec![1.0, -2.0, -1.0];
        let original = w.clone();
        let x = solve_semidefinite(3, &mut w, r.clone());
        for i in 0..3 {
            let product: f64 = (0..3).map(|j| original[i * 3 + j] * x[j]).sum();
            assert!((product - r[i]).abs() < 1e-12, "{product} {}", r[i]);
        }
    }
}
