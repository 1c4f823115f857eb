//! Masses of shapes and of what is put together.

use carom::rotation::{Quaternion, matrix};
use std::f64::consts::PI;

use super::robot::{Form, Mass, Pose, minus, plus, rotate_inertia, times};

/// Volume and, for mass 1, principal moments of a form; `None` for planes and meshes.
pub(super) fn solid(form: &Form) -> Option<(f64, [f64; 3])> {
    let ball = |r: f64| 4.0 / 3.0 * PI * r * r * r;
    Some(match form {
        Form::Sphere(r) => (ball(*r), [0.4 * r * r; 3]),
        Form::Box([a, b, c]) => {
            (8.0 * a * b * c, [(b * b + c * c) / 3.0, (a * a + c * c) / 3.0, (a * a + b * b) / 3.0])
        }
        Form::Ellipsoid([a, b, c]) => {
            let volume = 4.0 / 3.0 * PI * a * b * c;
            (volume, [(b * b + c * c) / 5.0, (a * a + c * c) / 5.0, (a * a + b * b) / 5.0])
        }
        Form::Cylinder { radius: r, half } => {
            let across = r * r / 4.0 + half * half / 3.0;
            (2.0 * PI * r * r * half, [across, across, r * r / 2.0])
        }
        Form::Capsule { radius: r, half } => {
            let (tube, ends) = (2.0 * PI * r * r * half, ball(*r));
            let volume = tube + ends;
            let part = if volume > 0.0 { ends / volume } else { 0.0 };
            // half balls: their centres are 3/8 r outside of the ends of the tube
            let across =
                (1.0 - part) * (r * r / 4.0 + half * half / 3.0) + part * (0.4 * r * r + half * half + 0.75 * half * r);
            (volume, [across, across, (1.0 - part) * r * r / 2.0 + part * 0.4 * r * r])
        }
        Form::Plane | Form::Mesh(_) | Form::Hull(_) => return None,
    })
}

/// Principal moments as a matrix.
pub(super) fn diagonal([a, b, c]: [f64; 3]) -> [[f64; 3]; 3] {
    [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]
}

impl Mass {
    /// The same mass, seen from what its axes stand in.
    pub fn moved(&self, pose: &Pose) -> Mass {
        Mass { mass: self.mass, centre: pose.point(self.centre), inertia: rotate_inertia(pose.turn, self.inertia) }
    }

    /// Several masses as one; they are in the same axes.
    pub fn sum(all: &[Mass]) -> Option<Mass> {
        let mass: f64 = all.iter().map(|part| part.mass).sum();
        if let [one] = all {
            return Some(*one);
        }
        if mass <= 0.0 {
            return None;
        }
        let centre = all.iter().fold([0.0; 3], |sum, part| plus(sum, times(part.centre, part.mass / mass)));
        let mut inertia = [[0.0; 3]; 3];
        for part in all {
            let d = minus(part.centre, centre);
            let square: f64 = d.iter().map(|x| x * x).sum();
            for (i, row) in inertia.iter_mut().enumerate() {
                for (j, x) in row.iter_mut().enumerate() {
                    let unit = if i == j { square } else { 0.0 };
                    *x += part.inertia[i][j] + part.mass * (unit - d[i] * d[j]);
                }
            }
        }
        Some(Mass { mass, centre, inertia })
    }
}

/// What is wrong with a matrix of inertia, if anything is.
pub(super) fn wrong_inertia(inertia: &[[f64; 3]; 3]) -> Option<String> {
    let [a, b, c] = principal(inertia);
    // a thin plate has equality
    if a.is_nan() || a <= 0.0 {
        return Some(format!("the inertia is not positive: its principal moments are {a:.6e}, {b:.6e}, {c:.6e}"));
    }
    if a + b < c * (1.0 - 1e-9) {
        return Some(format!(
            "no body has this inertia: its principal moments {a:.6e} and {b:.6e} add up to less than {c:.6e}"
        ));
    }
    None
}

/// Eigenvalues of a symmetric matrix in rising order, by Jacobi's rotations.
pub(super) fn principal(matrix: &[[f64; 3]; 3]) -> [f64; 3] {
    decompose(matrix).0
}

/// Eigenvalues in rising order, and the rotation of which the columns are their directions.
pub(super) fn decompose(matrix: &[[f64; 3]; 3]) -> ([f64; 3], [[f64; 3]; 3]) {
    let mut a = *matrix;
    let mut v = diagonal([1.0; 3]);
    for _ in 0..60 {
        let off = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        if off <= 1e-300 || off <= 1e-17 * (a[0][0].abs() + a[1][1].abs() + a[2][2].abs()) {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let t = if theta == 0.0 { 1.0 } else { t };
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            let turn = |m: &mut [[f64; 3]; 3], i: usize| {
                let (x, y) = (m[i][p], m[i][q]);
                (m[i][p], m[i][q]) = (c * x - s * y, s * x + c * y);
            };
            (0..3).for_each(|i| turn(&mut a, i));
            for i in 0..3 {
                let (x, y) = (a[p][i], a[q][i]);
                (a[p][i], a[q][i]) = (c * x - s * y, s * x + c * y);
            }
            (0..3).for_each(|i| turn(&mut v, i));
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| a[i][i].total_cmp(&a[j][j]));
    let columns = std::array::from_fn(|i| std::array::from_fn(|j| v[i][order[j]]));
    (order.map(|i| a[i][i]), columns)
}

/// The matrix of a rotation, by rows.
pub(super) fn rows(turn: Quaternion) -> [[f64; 3]; 3] {
    matrix(turn)
}
