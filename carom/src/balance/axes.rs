//! Impulses as vectors of the space: guesses that stay right while contacts turn.
//!
//! A guess is written along the rows of an earlier place. Normals have turned since, and no choice of tangents is
//! continuous over all normals; the force that holds a body is still the same vector. So along the rows of now it is
//!
//! ```text
//!     λ'ₐ = Σ_b (e'ₐ · e_b) λ_b            over the rows of a contact that push                                 (1)
//! ```

use crate::{Coupling, Mechanical};
use carom_solve::{Law, Rows};

/// The direction of a row in axes of the space.
pub(super) type Axis = [f64; 3];

/// Laws from which on guesses are turned: fewer are solved by methods that hardly ask where they begin.
const MANY: usize = 64;

/// Most rows of a law that push: those of the normal and of two tangents.
const PUSHING: usize = 3;

/// Notes the directions of the rows of the laws that act; none where these are few, or the model does not know them.
pub(super) fn note(model: &dyn Mechanical, coupling: &Coupling, active: &[usize], axes: &mut Vec<Axis>) {
    axes.clear();
    if active.len() < MANY {
        return;
    }
    // the first one tells whether the model knows
    for row in active.iter().flat_map(|&i| coupling.range(i)) {
        let Some(axis) = model.axis(coupling.rows.row(row)) else { return axes.clear() };
        axes.push(axis);
    }
}

/// Writes impulses along other rows by (1), and notes their directions.
pub(super) fn turn(
    axis: impl Fn(&[(usize, f64)]) -> Option<Axis>,
    (rows, laws): (&Rows, &[Law]),
    axes: &mut [Axis],
    lambda: &mut [f64],
) {
    if axes.len() != lambda.len() || rows.len() != lambda.len() {
        return;
    }
    let mut first = 0;
    for law in laws {
        let count = law.size().min(PUSHING);
        if count > 1 {
            let mut force = [0.0; 3];
            for (axis, p) in axes[first..first + count].iter().zip(&lambda[first..]) {
                (0..3).for_each(|k| force[k] += p * axis[k]);
            }
            for row in first..first + count {
                let Some(axis) = axis(rows.row(row)) else { return };
                axes[row] = axis;
                // what only turns stays as it is
                if axis != [0.0; 3] {
                    lambda[row] = (0..3).map(|k| axis[k] * force[k]).sum();
                }
            }
        }
        first += law.size();
    }
}

#[cfg(test)]
mod tests {
    use super::turn;
    use carom_solve::{Law, Rows};

    /// A force of 3, 4 and 12 along x, y and z, first in these axes with the normal along z, then with the normal along
    /// x and tangents between y and z; a second law of one row is left alone.
    #[test]
    fn a_force_is_the_same_along_other_rows() {
        let mut lambda = [12.0, 3.0, 4.0, 7.0];
        let mut axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]];
        let rows = Rows::dense(3, &[1.0, 0.0, 0.0, 0.0, 0.6, 0.8, 0.0, -0.8, 0.6, 0.0, 1.0, 0.0]);
        let laws = [Law::coulomb(0.5, 2), Law::UNILATERAL];
        let axis = |row: &[(usize, f64)]| Some([row[0].1, row[1].1, row[2].1]);
        turn(axis, (&rows, &laws), &mut axes, &mut lambda);
        // 0.6·4 + 0.8·12, −0.8·4 + 0.6·12
        for (found, expected) in lambda.iter().zip([3.0, 12.0, 4.0, 7.0]) {
            assert!((found - expected).abs() < 1e-14, "{lambda:?}");
        }
        assert_eq!(axes[1], [0.0, 0.6, 0.8]);
        // a row that only turns keeps its impulse
        let flat = Rows::dense(3, &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        turn(axis, (&flat, &laws), &mut axes, &mut lambda);
        for (found, expected) in lambda.iter().zip([12.0, 3.0, 4.0, 7.0]) {
            assert!((found - expected).abs() < 1e-14, "{lambda:?}");
        }
    }
}
