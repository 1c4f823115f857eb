//! Directions of the semismooth Newton methods: the step of either function, and the gradient of `½‖F‖²`.

use super::super::product::{add_multiple, dot};
use super::NewtonMin;
use crate::LinearSolve;

/// Factor over the norms of b, λ and u beyond which a step is refused.
const GROWTH: f64 = 1e10;

impl NewtonMin {
    /// Step of (1): rows beyond their bounds go there, the others to `u = 0`.
    pub(super) fn direct_min(&mut self, shift: f64) {
        let m = self.b.len();
        self.step.clear();
        self.inside.clear();
        for i in 0..m {
            let target = self.point.lambda[i] - self.point.u[i];
            let projected = self.bounds[i].project(target);
            self.step.push(projected - self.point.lambda[i]);
            if projected == target {
                self.step[i] = 0.0;
                self.inside.push(i);
            }
        }
        self.factor_inside(shift);
        self.right.clear();
        for &i in &self.inside {
            self.right.push(-self.point.u[i] - dot(&self.w[i * m..(i + 1) * m], &self.step));
        }
        if self.regular {
            self.lu.solve(&mut self.right);
        } else {
            self.ranked.solve(&mut self.right);
        }
        self.refuse_growth();
        for (&i, &x) in self.inside.iter().zip(&self.right) {
            self.step[i] = x;
        }
    }

    /// A solution far beyond all sizes of the problem means a matrix that is singular up to rounding, and equations
    /// that contradict each other: reactions without bound would have small relative residuals.
    fn refuse_growth(&mut self) {
        let largest = self.right.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        if largest > GROWTH * self.size() {
            self.right.fill(f64::NAN);
        }
    }

    /// Factors the rows inside; not again where it is the same set.
    fn factor_inside(&mut self, shift: f64) {
        if shift == 0.0 && self.inside == self.factored && !self.inside.is_empty() {
            return;
        }
        let (m, k) = (self.b.len(), self.inside.len());
        let (w, inside) = (&self.w, &self.inside);
        let gather = |target: &mut [f64]| {
            for (x, (row, &i)) in target.chunks_mut(k.max(1)).zip(inside).enumerate() {
                for (entry, &j) in row.iter_mut().zip(inside) {
                    *entry = w[i * m + j];
                }
                row[x] += shift;
            }
        };
        gather(self.lu.matrix_mut(k));
        self.regular = self.lu.factor().is_ok();
        if !self.regular {
            gather(self.ranked.matrix_mut(k));
            self.ranked.factor(1e-13);
        }
        self.factored.clear();
        if shift == 0.0 {
            self.factored.extend_from_slice(&self.inside);
        }
    }

    /// Step of (2): `(diag(∂F/∂λ) + diag(∂F/∂u) W) δ = −F`.
    pub(super) fn direct_all(&mut self, shift: f64) {
        let m = self.b.len();
        self.find_slopes();
        self.factored.clear();
        let (w, slopes) = (&self.w, &self.slopes);
        let fill = |target: &mut [f64]| {
            for (i, row) in target.chunks_mut(m.max(1)).enumerate() {
                let (by_lambda, by_u) = slopes[i];
                for (entry, w) in row.iter_mut().zip(&w[i * m..(i + 1) * m]) {
                    *entry = by_u * w;
                }
                row[i] += by_lambda + shift;
            }
        };
        fill(self.lu.matrix_mut(m));
        self.step.clear();
        self.step.extend(self.point.f.iter().map(|f| -f));
        if self.lu.factor().is_ok() {
            self.lu.solve(&mut self.step);
        } else {
            fill(self.ranked.matrix_mut(m));
            self.ranked.factor(1e-13);
            self.ranked.solve(&mut self.step);
        }
    }

    fn find_slopes(&mut self) {
        let function = self.function;
        self.slopes.clear();
        for (i, bounds) in self.bounds.iter().enumerate() {
            self.slopes.push(bounds.slopes(function, self.point.lambda[i], self.point.u[i]));
        }
    }

    /// A step along the gradient of `½‖F‖²`, as long as a Newton step of the linearised function along it.
    pub(super) fn descend(&mut self) {
        let m = self.b.len();
        self.find_slopes();
        self.gradient.clear();
        self.gradient.resize(m, 0.0);
        for i in 0..m {
            let (by_lambda, by_u) = self.slopes[i];
            self.gradient[i] += by_lambda * self.point.f[i];
            let factor = by_u * self.point.f[i];
            add_multiple(factor, &self.w[i * m..(i + 1) * m], &mut self.gradient);
        }
        let mut curvature = 0.0;
        for i in 0..m {
            let (by_lambda, by_u) = self.slopes[i];
            let change = by_lambda * self.gradient[i] + by_u * dot(&self.w[i * m..(i + 1) * m], &self.gradient);
            curvature += change * change;
        }
        let length = if curvature > 0.0 { dot(&self.gradient, &self.gradient) / curvature } else { 0.0 };
        self.step.clear();
        self.step.extend(self.gradient.iter().map(|g| -length * g));
    }
}
