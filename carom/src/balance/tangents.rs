//! The tangents of contacts at two places of a step.
//!
//! No choice of a tangent is continuous over all normals of a sphere. Between two places that are near each other the
//! tangents of a contact may so be turned about its normal by any angle, while impulses of one place act along those of
//! the other. Discs of friction do not mind in which axes they are written; the rows of a disc are turned by
//!
//! ```text
//!     t₁ ← c t₁ + s t₂,   t₂ ← c t₂ − s t₁,     (c, s) ∥ (e₁·t₁ + e₂·t₂,  e₁·t₂ − e₂·t₁)                        (1)
//! ```
//!
//! to the nearest ones of the rows e of the other place, where they are far from these.

use crate::Coupling;
use carom_solve::Rows;
use carom_solve::elementary::hypot;

/// Cosine of the angle beyond which tangents are turned: the motion within a step is mostly smaller, and jumps may be
/// by any angle.
const NEAR: f64 = 0.999;

/// Turns the tangents of a coupling to those of another one with the same laws.
pub(super) fn align(coupling: &mut Coupling, other: &Coupling) {
    for (i, pair) in other.pairs.iter().enumerate().filter(|(_, pair)| pair.law.size() > 2) {
        for (disc, _) in pair.law.discs().filter(|(disc, _)| disc.len() == 2) {
            align_rows(&mut coupling.rows, &other.rows, other.offset[i] + disc.start);
        }
    }
}

/// (1) for the rows `first` and the next one.
fn align_rows(rows: &mut Rows, other: &Rows, first: usize) {
    let product = |a: usize, b: usize| {
        let pairs = other.row(a).iter().zip(rows.row(b)).filter(|(x, y)| x.0 == y.0);
        pairs.map(|(x, y)| x.1 * y.1).sum::<f64>()
    };
    let second = first + 1;
    let along = product(first, first) + product(second, second);
    let across = product(first, second) - product(second, first);
    let size = hypot(along, across);
    if along < NEAR * size {
        let (c, s) = (along / size, across / size);
        for k in 0..rows.row(first).len().min(rows.row(second).len()) {
            let (x, y) = (rows.row(first)[k].1, rows.row(second)[k].1);
            rows.row_mut(first)[k].1 = c * x + s * y;
            rows.row_mut(second)[k].1 = c * y - s * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::align_rows;
    use carom_solve::Rows;

    /// Tangents that are turned by an angle, and their moments with them.
    #[test]
    fn turned_tangents_are_turned_back() {
        let base = [[0.0, 1.0, 0.0, -0.2, 0.0, 0.1], [0.0, 0.0, 1.0, 0.3, -0.1, 0.0]];
        let rows = |angle: f64| {
            let (s, c) = angle.sin_cos();
            let turned = |k: usize| [c * base[0][k] - s * base[1][k], s * base[0][k] + c * base[1][k]];
            let both: Vec<[f64; 2]> = (0..6).map(turned).collect();
            Rows::dense(6, &(0..12).map(|k| both[k % 6][k / 6]).collect::<Vec<_>>())
        };
        for angle in [0.9, 2.4, 3.1, -1.2, -2.9, 0.6, -0.1] {
            let mut found = rows(angle);
            align_rows(&mut found, &rows(0.0), 0);
            for (found, expected) in found.iter().flatten().zip(base.iter().flatten()) {
                assert!((found.1 - expected).abs() < 1e-14, "{angle}: {found:?} {expected}");
            }
        }
        // what a step turns stays as it is, to the last bit
        let mut found = rows(0.03);
        align_rows(&mut found, &rows(0.0), 0);
        assert_eq!(found, rows(0.03));
    }
}
