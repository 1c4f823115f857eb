//! The equations of a final basis, solved again from the original entries: `M_rc z_c = −q_r`.

use super::super::lcp_form::LcpForm;
use super::super::ranked::RankedLu;
use super::kernel::Kernel;
use super::reduction::REDUNDANT;
use crate::{DenseLu, LinearSolve};

/// Steps of iterative refinement, the first solve among them.
const STEPS: usize = 3;

/// Largest part of the first step that the second one may be, where an inverse is trusted.
const CONTRACTION: f64 = 1e-4;

/// `M_rc z_c = −q_r` for the rows and columns of a basis.
#[derive(Default)]
pub(super) struct BasisSystem {
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
    lu: DenseLu,
    ranked: RankedLu,
    z: Vec<f64>,      // (N)
    lambda: Vec<f64>, // (m) scaled reactions
    w: Vec<f64>,      // (N)
    right: Vec<f64>,  // (k)
    step: Vec<f64>,   // (k)
}

impl BasisSystem {
    /// The scaled reactions of the basic solution.
    pub(super) fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// Solves with the inverse that the path has left, as long as refinement says that it is one.
    pub(super) fn solve_with(&mut self, inverse: &Kernel, form: &LcpForm) -> bool {
        let mut first = 0.0;
        self.start(form);
        for k in 0..STEPS {
            self.missed(form);
            inverse.mul(1.0, &self.right, &mut self.step);
            let size = self.step.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
            if k == 0 {
                first = size;
            }
            if k > 0 && (size > CONTRACTION * first || !size.is_finite()) {
                return false;
            }
            self.advance(form);
        }
        true
    }

    /// Solves by a factorisation; unknowns beyond the rank are zero.
    pub(super) fn solve(&mut self, form: &LcpForm) {
        let (n, k) = (form.size(), self.rows.len());
        let gather = |target: &mut [f64]| {
            for (row, &r) in target.chunks_mut(k.max(1)).zip(&self.rows) {
                for (x, &c) in row.iter_mut().zip(&self.columns) {
                    *x = form.matrix()[r * n + c];
                }
            }
        };
        gather(self.lu.matrix_mut(k));
        let regular = self.lu.factor().is_ok();
        if !regular {
            gather(self.ranked.matrix_mut(k));
            self.ranked.factor(REDUNDANT);
        }
        self.start(form);
        for _ in 0..STEPS {
            self.missed(form);
            self.step.clear();
            self.step.extend_from_slice(&self.right);
            if regular {
                self.lu.solve(&mut self.step);
            } else {
                self.ranked.solve(&mut self.step);
            }
            self.advance(form);
        }
    }

    /// Takes the unknowns into the basis that the last solution asks for: those with `z > w`; the free ones stay as
    /// they are. False where these are the ones that are in it, or where rows and unknowns would not match.
    pub(super) fn choose_again(&mut self, form: &LcpForm) -> bool {
        form.evaluate(&self.lambda, &self.z, &mut self.w);
        let (z, w) = (&self.z, &self.w);
        let asked = |k: usize| !form.is_free(k) && z[k] > w[k];
        let known = self.columns.iter().filter(|&&k| !form.is_free(k));
        let same = known.clone().all(|&k| asked(k)) && known.count() == (0..form.size()).filter(|&k| asked(k)).count();
        self.rows.retain(|&k| form.is_free(k));
        self.columns.retain(|&k| form.is_free(k));
        if same || self.rows.len() != self.columns.len() {
            return false;
        }
        self.rows.extend((0..form.size()).filter(|&k| asked(k)));
        self.columns.extend((0..form.size()).filter(|&k| asked(k)));
        true
    }

    fn start(&mut self, form: &LcpForm) {
        self.z.clear();
        self.z.resize(form.size(), 0.0);
        self.lambda.clear();
        self.lambda.extend_from_slice(form.shift());
    }

    /// What the rows of the basis still lack.
    fn missed(&mut self, form: &LcpForm) {
        form.evaluate(&self.lambda, &self.z, &mut self.w);
        self.right.clear();
        self.right.extend(self.rows.iter().map(|&r| -self.w[r]));
    }

    fn advance(&mut self, form: &LcpForm) {
        for (&c, &step) in self.columns.iter().zip(&self.step) {
            self.z[c] += step;
            form.add_step(c, step, &mut self.lambda);
        }
    }
}
