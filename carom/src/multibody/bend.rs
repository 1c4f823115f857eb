//! How rows and reactions of joints turn with their bodies: what Newton's loop needs besides mass and forces.
//!
//! ```text
//!     ∂(C v)/∂q δq = Ċ δq,     Ċ the derivative of the lines along v, in the axes that bodies have now            (1)
//!     ∂(r × f)/∂θ  = −(s·f) (1 − ŝ ŝᵀ),     in axes of the body; f keeps its direction in space                    (2)
//! ```
//!
//! (1) is exact. (2) is that part of ∂(B P)/∂q which belongs to single bodies: s is the place of a pin. Its force has
//! three components (two in the plane), so that other changes of its direction are changes of P.

use super::couple::columns;
use super::motion::Motion;
use super::plan::{Inertial, Item, Plan};
use super::primitive::Primitive;
use super::{Line, Vector};
use carom_solve::Rows;

/// Part of a pivot of the inertia that compressed bodies keep.
const KEPT: f64 = 0.3;

/// A matrix of rotations.
pub(super) type Brace = [[f64; 3]; 3];

/// Adds `reach` times (1) to the rows of the first laws, those of joints, and tells what that adds to their velocities;
/// rows that are not points or directions stay.
pub(super) fn turn_rows(plan: &Plan, motion: &Motion<f64>, reach: f64, rows: &mut Rows, along: &mut [f64]) {
    let size = plan.sizes().1;
    for (k, ((_, item), along)) in plan.items.iter().zip(along).enumerate() {
        let Item::Row(i) = item else { break };
        let row = &plan.rows[*i];
        let [a, b] = row.bodies;
        let Some([on_a, on_b]) = derivatives(&row.primitive, motion, [a, b]) else { continue };
        let pair = if a < b { [(a, on_a), (b, on_b)] } else { [(b, on_b), (a, on_a)] };
        let mut parts = rows.row_mut(k).chunks_exact_mut(size);
        for (body, line) in pair.into_iter().filter(|(body, _)| *body > 0) {
            let Some(part) = parts.next() else { break };
            let values = columns(plan.is_planar, &motion.frames[body], &line);
            part.iter_mut().zip(values).for_each(|((_, c), rate)| *c += reach * rate);
            *along += reach * motion.rate(body, &line);
        }
    }
}

/// The lines of a row along the motion.
#[inline]
fn derivatives(primitive: &Primitive, motion: &Motion<f64>, [a, b]: [usize; 2]) -> Option<[Line; 2]> {
    let (fa, fb) = motion.pair([a, b]);
    let ([speed_a, spin_a], [speed_b, spin_b]) = (motion.velocities[a], motion.velocities[b]);
    match primitive {
        Primitive::Point { direction, b: on_b, .. } => {
            let (d, arm_b) = (fa.direction(*direction), fb.direction(*on_b));
            let (turn, arm_a) = (spin_a.cross(d), fb.centre + arm_b - fa.centre);
            let rate_b = spin_b.cross(arm_b);
            let rate_a = speed_b + rate_b - speed_a;
            let line_a = Line { force: turn, moment: rate_a.cross(d) + arm_a.cross(turn) };
            Some([line_a.reversed(), Line { force: turn, moment: rate_b.cross(d) + arm_b.cross(turn) }])
        }
        Primitive::Direction { a, b } => {
            let (a, b) = (fa.direction(*a), fb.direction(*b));
            let turn = spin_a.cross(a).cross(b) + a.cross(spin_b.cross(b));
            Some([Line::about(turn), Line::about(-turn)])
        }
        Primitive::Length { .. } | Primitive::Relation { .. } | Primitive::Chain { .. } => None,
    }
}

/// Rows that hold a point of a body at a point of another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pin {
    first: usize, // row of the model
    rows: usize,
    bodies: [usize; 2],
    at: [[f64; 3]; 2], // the points, in axes of the bodies
}

/// The pins of a plan: as many rows of points, one after the other, as there are directions.
pub(super) fn pins(plan: &Plan) -> Vec<Pin> {
    let rows = if plan.is_planar { 2 } else { 3 };
    let mut pins: Vec<Pin> = Vec::new();
    for (first, (_, item)) in plan.items.iter().enumerate() {
        let Item::Row(i) = item else { break };
        let row = &plan.rows[*i];
        let Primitive::Point { a, b, .. } = &row.primitive else { continue };
        let at = [*a, *b];
        match pins.last_mut() {
            Some(pin)
                if pin.first + pin.rows == first && pin.rows < rows && (pin.bodies, pin.at) == (row.bodies, at) =>
            {
                pin.rows += 1;
            }
            _ => pins.push(Pin { first, rows: 1, bodies: row.bodies, at }),
        }
    }
    pins.retain(|pin| pin.rows == rows);
    pins
}

/// (2) times `reach`, for all bodies, with impulses by rows of the model; what would make a body nearly lose its
/// inertia is left out.
pub(super) fn braces(
    plan: &Plan,
    (pins, motion): (&[Pin], &Motion<f64>),
    (reach, impulse): (f64, &[f64]),
    out: &mut Vec<Brace>,
) {
    out.clear();
    out.resize(plan.bodies.len(), [[0.0; 3]; 3]);
    for pin in pins {
        let mut force = Vector::zero();
        for k in 0..pin.rows {
            if let Item::Row(i) = plan.items[pin.first + k].1
                && let Primitive::Point { direction, .. } = &plan.rows[i].primitive
            {
                force = force + motion.frames[pin.bodies[0]].direction(*direction) * impulse[pin.first + k];
            }
        }
        for (side, force) in [(0, -force), (1, force)] {
            let body = pin.bodies[side];
            let s = pin.at[side];
            let square: f64 = s.iter().map(|x| x * x).sum();
            if body == 0 || square == 0.0 {
                continue;
            }
            let along = reach * force.dot(motion.frames[body].direction(s));
            for (i, row) in out[body - 1].iter_mut().enumerate() {
                for (j, x) in row.iter_mut().enumerate() {
                    *x += along * (f64::from(u8::from(i == j)) - s[i] * s[j] / square);
                }
            }
        }
    }
    for (brace, body) in out.iter_mut().zip(&plan.bodies) {
        if !is_mild(plan.is_planar, body, brace) {
            *brace = [[0.0; 3]; 3];
        }
    }
}

/// Whether a body keeps its inertia about.
fn is_mild(is_planar: bool, body: &Inertial, brace: &Brace) -> bool {
    let j = &body.inertia;
    if is_planar {
        return j[2][2] + brace[2][2] > KEPT * j[2][2];
    }
    let sum: Brace = std::array::from_fn(|i| std::array::from_fn(|k| j[i][k] + brace[i][k]));
    let (before, after) = (pivots(j), pivots(&sum));
    before.iter().zip(after).all(|(before, after)| after > KEPT * before)
}

/// Pivots of a symmetric matrix.
fn pivots(a: &Brace) -> [f64; 3] {
    let first = a[0][0];
    let (f, g) = (a[0][1] / first, a[0][2] / first);
    let second = a[1][1] - f * a[0][1];
    let rest = a[1][2] - f * a[0][2];
    [first, second, a[2][2] - g * a[0][2] - rest * rest / second]
}
