//! Points of the semismooth Newton methods.

use super::super::product::dot;
use super::Function;
use super::function::Bounds;

/// A point of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub lambda: Vec<f64>, // (m) scaled
    pub u: Vec<f64>,      // (m)
    pub f: Vec<f64>,      // (m)
    pub norm: f64,        // ‖F‖₂
}

impl Point {
    pub fn copy_from(&mut self, other: &Point) {
        self.lambda.clone_from(&other.lambda);
        self.u.clone_from(&other.u);
        self.f.clone_from(&other.f);
        self.norm = other.norm;
    }
}

/// `u`, `F` and its norm at `point.lambda`.
pub(super) fn evaluate(w: &[f64], b: &[f64], bounds: &[Bounds], function: Function, point: &mut Point) {
    let m = b.len();
    point.u.clear();
    point.f.clear();
    for (i, row) in w.chunks(m.max(1)).enumerate() {
        let u = b[i] + dot(row, &point.lambda);
        point.u.push(u);
        point.f.push(bounds[i].value(function, point.lambda[i], u));
    }
    let norm = dot(&point.f, &point.f).sqrt();
    point.norm = if norm.is_finite() { norm } else { f64::INFINITY };
}
