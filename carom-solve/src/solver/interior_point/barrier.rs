//! One law inside its barrier: reaction, dual variable and their step.

use crate::{Law, Shape};

/// What a law adds to the linear system: a three by three block, row-major, and its right-hand side.
pub(super) struct Side {
    pub block: [f64; 9],
    pub inverse: [f64; 9],
    pub right: [f64; 3],
}

/// Weight of rows whose reaction is fixed.
const FIXED: f64 = 1e20;

/// Proximal weight of equality rows in the matrix alone: redundant equalities leave `W` singular.
const FREE: f64 = 1e-10;

/// How much of the shift `‖û_T‖` the equations have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bend {
    /// All of it.
    Full,
    /// The shift, but not its derivative.
    Frozen,
    /// Nothing: the equations of bodies at rest, which are those of a convex problem.
    None,
}

impl Bend {
    fn slope(self) -> f64 {
        if self == Bend::Full { 1.0 } else { 0.0 }
    }
}

/// Reaction and dual variable of one law.
#[derive(Clone, Debug)]
pub(super) enum Barrier {
    /// A free multiplier.
    Equality { r: f64, dr: f64 },
    /// One row in an interval; `duals` are those of the lower and of the upper bound.
    Interval { lower: f64, upper: f64, r: f64, duals: [f64; 2], dr: f64, dduals: [f64; 2] },
    /// A contact without friction: `Interval` of its first row, the others fixed at zero.
    Frictionless { r: f64, dual: f64, dr: f64, ddual: f64 },
    /// A reaction that has no choice.
    Fixed { r: f64 },
    /// Hat variables of a contact with friction.
    Cone { mu: f64, r: [f64; 3], dual: [f64; 3], dr: [f64; 3], ddual: [f64; 3], missed: [f64; 3] },
}

impl Barrier {
    /// The first point: `size` away from the boundary where there is room.
    pub fn new(law: Law, size: f64) -> Barrier {
        match law.shape() {
            Shape::Interval { lower, upper } => Barrier::interval(lower, upper, size),
            Shape::Cone1 { mu } | Shape::Cone2 { mu } if mu > 0.0 => {
                let (point, zero) = ([size, 0.0, 0.0], [0.0; 3]);
                Barrier::Cone { mu, r: point, dual: point, dr: zero, ddual: zero, missed: zero }
            }
            // `General` is refused on admission
            Shape::Cone1 { .. } | Shape::Cone2 { .. } | Shape::General => {
                Barrier::Frictionless { r: size, dual: size, dr: 0.0, ddual: 0.0 }
            }
        }
    }

    /// Makes the normal reaction of a contact at least so large.
    pub fn enlarge(&mut self, size: f64) {
        if let Barrier::Cone { mu, r, .. } = self {
            r[0] = r[0].max(*mu * size);
        }
    }

    fn interval(lower: f64, upper: f64, size: f64) -> Barrier {
        let r = match (lower.is_finite(), upper.is_finite()) {
            (false, false) => return Barrier::Equality { r: 0.0, dr: 0.0 },
            (true, false) => lower + size,
            (false, true) => upper - size,
            (true, true) => {
                let inside = size.min(0.5 * (upper - lower));
                0f64.max(lower + inside).min(upper - inside)
            }
        };
        if !(r > lower && r < upper) {
            return Barrier::Fixed { r: lower.max(f64::MIN).min(upper) };
        }
        let dual = |bound: f64| if bound.is_finite() { size } else { 0.0 };
        Barrier::Interval { lower, upper, r, duals: [dual(lower), dual(upper)], dr: 0.0, dduals: [0.0; 2] }
    }

    /// The reaction in the scaled variables of the problem.
    pub fn reaction(&self, out: &mut [f64]) {
        match *self {
            Barrier::Equality { r, .. }
            | Barrier::Interval { r, .. }
            | Barrier::Frictionless { r, .. }
            | Barrier::Fixed { r } => {
                out[0] = r;
            }
            Barrier::Cone { mu, r, .. } => {
                out.copy_from_slice(&r[..out.len()]);
                out[0] /= mu;
            }
        }
    }

    /// Sum of the products of reactions and dual variables.
    pub fn gap(&self) -> f64 {
        match *self {
            Barrier::Equality { .. } | Barrier::Fixed { .. } => 0.0,
            Barrier::Interval { lower, upper, r, duals, .. } => {
                let side = |bound: f64, dual: f64| if bound.is_finite() { (r - bound).abs() * dual } else { 0.0 };
                side(lower, duals[0]) + side(upper, duals[1])
            }
            Barrier::Frictionless { r, dual, .. } => r * dual,
            Barrier::Cone { r, dual, .. } => dot(r, dual),
        }
    }

    /// Number of barriers.
    pub fn count(&self) -> f64 {
        match *self {
            Barrier::Equality { .. } | Barrier::Fixed { .. } => 0.0,
            Barrier::Interval { lower, upper, .. } => {
                f64::from(u8::from(lower.is_finite()) + u8::from(upper.is_finite()))
            }
            Barrier::Frictionless { .. } | Barrier::Cone { .. } => 1.0,
        }
    }

    /// Eliminates the dual variables at the velocity `u`, aiming at products of size `aim`.
    pub fn eliminate(&mut self, u: &[f64], aim: f64, bend: Bend) -> Side {
        // rows that the law does not have are fixed at zero by a unit block
        let unit = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let mut side = Side { block: unit, inverse: [0.0; 9], right: [0.0; 3] };
        match self {
            Barrier::Equality { .. } => {
                side.block[0] = FREE;
                side.right[0] = -u[0];
            }
            Barrier::Fixed { .. } => side.block[0] = FIXED,
            Barrier::Interval { lower, upper, r, duals, .. } => {
                side.right[0] = -u[0];
                if lower.is_finite() {
                    side.block[0] += duals[0] / (*r - *lower);
                    side.right[0] += aim / (*r - *lower);
                }
                if upper.is_finite() {
                    side.block[0] += duals[1] / (*upper - *r);
                    side.right[0] -= aim / (*upper - *r);
                }
            }
            Barrier::Frictionless { r, dual, .. } => {
                side.block = [*dual / *r, 0.0, 0.0, 0.0, FIXED, 0.0, 0.0, 0.0, FIXED];
                side.right[0] = -u[0] + aim / *r;
            }
            Barrier::Cone { mu, r, dual, missed, .. } => {
                // F₁ = û − P u − ‖û_T‖ e
                let shift = if bend == Bend::None { 0.0 } else { norm(dual[1], dual[2]) };
                *missed = [dual[0] - u[0] / *mu - shift, dual[1] - u[1], 0.0];
                if let Some(&u) = u.get(2) {
                    missed[2] = dual[2] - u;
                }
                side = cone((*mu, bend.slope()), *r, *dual, *missed, aim);
                if u.len() < 3 {
                    side.right[2] = 0.0;
                }
                return side;
            }
        }
        for k in [0, 4, 8] {
            side.inverse[k] = 1.0 / side.block[k];
        }
        side
    }

    /// Takes the step of the reaction, and finds that of the dual variables; `response` is W times the step of all
    /// reactions.
    pub fn set_step(&mut self, step: &[f64], response: &[f64], aim: f64, bend: Bend) {
        match self {
            Barrier::Equality { dr, .. } => *dr = step[0],
            Barrier::Fixed { .. } => {}
            Barrier::Interval { lower, upper, r, duals, dr, dduals } => {
                *dr = step[0];
                *dduals = [0.0; 2];
                if lower.is_finite() {
                    dduals[0] = (aim - duals[0] * *dr) / (*r - *lower) - duals[0];
                }
                if upper.is_finite() {
                    dduals[1] = (aim + duals[1] * *dr) / (*upper - *r) - duals[1];
                }
            }
            Barrier::Frictionless { r, dual, dr, ddual } => {
                *dr = step[0];
                *ddual = (aim - *dual * *dr) / *r - *dual;
            }
            Barrier::Cone { mu, dual, dr, ddual, missed, .. } => {
                *dr = [0.0; 3];
                dr[..step.len()].copy_from_slice(step);
                dr[0] *= *mu;
                // E⁻¹ (P W Δr − F₁)
                let mut x = [response[0] / *mu, response[1], response.get(2).copied().unwrap_or(0.0)];
                for (x, f) in x.iter_mut().zip(&*missed) {
                    *x -= f;
                }
                let [a, b] = direction(*dual).map(|t| bend.slope() * t);
                x[0] += a * x[1] + b * x[2];
                *ddual = x;
            }
        }
    }

    /// The longest step that stays inside.
    pub fn longest(&self) -> f64 {
        match *self {
            Barrier::Equality { .. } | Barrier::Fixed { .. } => f64::INFINITY,
            Barrier::Interval { lower, upper, r, duals, dr, dduals } => {
                let room = ratio(r - lower, dr).min(ratio(upper - r, -dr));
                room.min(ratio(duals[0], dduals[0])).min(ratio(duals[1], dduals[1]))
            }
            Barrier::Frictionless { r, dual, dr, ddual } => ratio(r, dr).min(ratio(dual, ddual)),
            Barrier::Cone { r, dual, dr, ddual, .. } => to_boundary(r, dr).min(to_boundary(dual, ddual)),
        }
    }

    pub fn advance(&mut self, length: f64) {
        match self {
            Barrier::Equality { r, dr } => *r += length * *dr,
            Barrier::Fixed { .. } => {}
            Barrier::Interval { r, duals, dr, dduals, .. } => {
                *r += length * *dr;
                duals[0] += length * dduals[0];
                duals[1] += length * dduals[1];
            }
            Barrier::Frictionless { r, dual, dr, ddual } => {
                *r += length * *dr;
                *dual += length * *ddual;
            }
            Barrier::Cone { r, dual, dr, ddual, .. } => {
                for k in 0..3 {
                    r[k] += length * dr[k];
                    dual[k] += length * ddual[k];
                }
            }
        }
    }
}

/// P⁻¹ E A(r)⁻¹ A(û) P⁻¹ and P⁻¹ (F₁ − E A(r)⁻¹ F₂) of a contact with friction.
fn cone((mu, slope): (f64, f64), r: [f64; 3], dual: [f64; 3], missed: [f64; 3], aim: f64) -> Side {
    let t = direction(dual).map(|t| slope * t);
    let shear = |x: [f64; 3]| [x[0] - t[0] * x[1] - t[1] * x[2], x[1], x[2]];
    let product = [dot(r, dual) - aim, r[0] * dual[1] + dual[0] * r[1], r[0] * dual[2] + dual[0] * r[2]];
    let right = shear(arrow_inverse(r, product));
    let mut side = Side { block: [0.0; 9], inverse: [0.0; 9], right: [0.0; 3] };
    let columns = [[dual[0], dual[1], dual[2]], [dual[1], dual[0], 0.0], [dual[2], 0.0, dual[0]]];
    let weight = [mu, 1.0, 1.0];
    for (c, column) in columns.into_iter().enumerate() {
        let x = shear(arrow_inverse(r, column));
        for row in 0..3 {
            side.block[row * 3 + c] = weight[row] * x[row] * weight[c];
        }
    }
    // P A(û)⁻¹ A(r) E⁻¹ P
    for c in 0..3 {
        let mut x = [0.0; 3];
        x[c] = 1.0;
        x[0] += t[0] * x[1] + t[1] * x[2];
        let x = arrow_inverse(dual, [dot(r, x), r[0] * x[1] + x[0] * r[1], r[0] * x[2] + x[0] * r[2]]);
        for row in 0..3 {
            side.inverse[row * 3 + c] = x[row] / (weight[row] * weight[c]);
        }
    }
    for row in 0..3 {
        side.right[row] = weight[row] * (missed[row] - right[row]);
    }
    side
}

/// Solves the arrow system A(r) x = z.
#[inline]
fn arrow_inverse(r: [f64; 3], z: [f64; 3]) -> [f64; 3] {
    let t = norm(r[1], r[2]);
    let determinant = (r[0] - t) * (r[0] + t);
    let x = (r[0] * z[0] - r[1] * z[1] - r[2] * z[2]) / determinant;
    [x, (z[1] - r[1] * x) / r[0], (z[2] - r[2] * x) / r[0]]
}

/// û_T/‖û_T‖, or zero.
#[inline]
fn direction(x: [f64; 3]) -> [f64; 2] {
    let size = norm(x[1], x[2]);
    if size > 0.0 { [x[1] / size, x[2] / size] } else { [0.0; 2] }
}

/// Largest α with x + α dx ≥ 0.
#[inline]
fn ratio(x: f64, dx: f64) -> f64 {
    if dx < 0.0 && x.is_finite() { -x / dx } else { f64::INFINITY }
}

/// Largest α with x + α dx in the cone; x is inside.
#[inline]
fn to_boundary(x: [f64; 3], dx: [f64; 3]) -> f64 {
    let t = norm(x[1], x[2]);
    let c = (x[0] - t) * (x[0] + t);
    let s = norm(dx[1], dx[2]);
    let a = (dx[0] - s) * (dx[0] + s);
    let b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2];
    let discriminant = b * b - a * c;
    // c + 2 b α + a α² = 0, the smallest positive root in the form without cancellation
    let root = if b < 0.0 && discriminant >= 0.0 {
        c / (-b + discriminant.sqrt())
    } else if a < 0.0 {
        (b + discriminant.max(0.0).sqrt()) / -a
    } else {
        f64::INFINITY
    };
    root.min(ratio(x[0], dx[0])).max(0.0)
}

#[inline]
fn norm(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}

#[inline]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_on_the_boundary_of_the_cone() {
        let inside = |x: [f64; 3]| x[0] - norm(x[1], x[2]);
        let moved = |x: [f64; 3], d: [f64; 3], a: f64| [x[0] + a * d[0], x[1] + a * d[1], x[2] + a * d[2]];
        let mut k = 0.0;
        for _ in 0..500 {
            k += 1.0;
            let wave = |f: f64| (f * k).sin();
            let x = [1.3 + wave(0.3), 0.9 * (0.1 + 0.1 * wave(0.7)), 0.5 * (0.1 + 0.1 * wave(1.3))];
            let d = [wave(1.7), wave(2.3), wave(3.1)];
            let a = to_boundary(x, d);
            if a.is_finite() {
                assert!(inside(moved(x, d, a)).abs() < 1e-12 * (1.0 + a), "{a}");
                assert!(inside(moved(x, d, 0.999 * a)) > 0.0);
            } else {
                assert!(inside(d) >= -1e-12);
            }
        }
    }

    #[test]
    fn arrow_inverse_solves_the_arrow_system() {
        let (r, z) = ([2.0, 0.3, -1.1], [0.7, -0.2, 0.9]);
        let x = arrow_inverse(r, z);
        let back = [dot(r, x), r[0] * x[1] + x[0] * r[1], r[0] * x[2] + x[0] * r[2]];
        assert!(back.iter().zip(z).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    /// The eliminated step satisfies both linearised equations, for W = w I and a single contact.
    #[test]
    fn eliminated_steps_solve_the_newton_equations() {
        let (mu, w, aim) = (0.4, 1.7, 0.05);
        let (r, dual, u) = ([0.5, 0.1, -0.2], [0.8, 0.3, 0.2], [0.3, -0.6, 0.1]);
        let zero = [0.0; 3];
        let mut barrier = Barrier::Cone { mu, r, dual, dr: zero, ddual: zero, missed: zero };
        let side = barrier.eliminate(&u, aim, Bend::Full);
        let mut lu = crate::DenseLu::default();
        let matrix = lu.matrix_mut(3);
        matrix.copy_from_slice(&side.block);
        for k in 0..3 {
            matrix[4 * k] += w;
        }
        lu.factor().unwrap();
        let mut step = side.right;
        crate::LinearSolve::solve(&lu, &mut step);
        barrier.set_step(&step, &step.map(|x| w * x), aim, Bend::Full);
        let Barrier::Cone { dr, ddual, .. } = barrier else { panic!() };
        // r̂ ∘ û + Δr̂ ∘ û + r̂ ∘ Δû = aim e
        let arrow = |a: [f64; 3], b: [f64; 3]| [dot(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]];
        let (p, q, s) = (arrow(r, dual), arrow(dr, dual), arrow(r, ddual));
        for (k, aim) in [aim, 0.0, 0.0].into_iter().enumerate() {
            assert!((p[k] + q[k] + s[k] - aim).abs() < 1e-14);
        }
        // û + Δû = P (u + W Δr) + ‖û_T‖ e + (û_T·Δû_T/‖û_T‖) e
        let size = norm(dual[1], dual[2]);
        let shift = size + (dual[1] * ddual[1] + dual[2] * ddual[2]) / size;
        let velocity = [(u[0] + w * step[0]) / mu + shift, u[1] + w * step[1], u[2] + w * step[2]];
        for k in 0..3 {
            assert!((dual[k] + ddual[k] - velocity[k]).abs() < 1e-14, "{k}");
        }
    }
}
