//! The one-step problem in the scaled variables of the certificate, as methods that factor matrices want it.
//!
//! ```text
//!     sᵢ = wᵢ^(−1/2),   r'ᵢ = λᵢ/(sᵢ β),   u'ᵢ = sᵢ uᵢ/β,   W'ᵢⱼ = sᵢ Wᵢⱼ sⱼ,   q'ᵢ = sᵢ bᵢ/β,   β = ‖s b‖    (1)
//! ```
//!
//! so that the diagonal blocks have unit mean and ‖q'‖ = 1, whatever the units [acary2018]. All blocks have the width
//! of the widest law: rows that a law does not have are zero in `W'`, `q'` and `r'`. `W` is not assumed symmetric.

use crate::block_lu::Pattern;
use crate::{Delassus, History, Law, OneStepProblem};

/// A problem in the variables (1).
#[derive(Debug, Default)]
pub(super) struct Scaled {
    pub laws: Vec<Law>,
    pub pattern: Pattern,
    pub diagonal: Vec<usize>, // (laws) place of the diagonal block
    pub value: Vec<f64>,      // (blocks × width²) W'
    pub q: Vec<f64>,          // (laws × width)
    factor: Vec<f64>,         // (laws) sᵢ
    size: f64,                // β
    driving: f64,             // ‖q'‖ + ‖bounds'‖
    history: Option<History>,
}

impl Scaled {
    /// Takes over a problem. Buffers keep their capacity.
    pub fn load(&mut self, problem: &OneStepProblem<'_>, w: &Delassus) {
        let width = problem.laws().iter().map(Law::size).max().unwrap_or(1);
        let n = problem.laws().len();
        self.factor.clear();
        self.factor.extend((0..n).map(|i| 1.0 / w.scale(i).sqrt()));
        let squares =
            (0..n).map(|i| problem.b()[problem.rows(i)].iter().map(|b| (b * self.factor[i]).powi(2)).sum::<f64>());
        let size = squares.sum::<f64>().sqrt();
        self.size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        self.laws.clear();
        self.laws.extend(problem.laws().iter().enumerate().map(|(i, law)| {
            let unit = 1.0 / (self.factor[i] * self.size);
            law.scaled(|_| unit)
        }));
        self.driving = 1.0 + self.laws.iter().map(Law::driving).sum::<f64>().sqrt();
        self.q.clear();
        self.q.resize(n * width, 0.0);
        for i in 0..n {
            let scale = self.factor[i] / self.size;
            for (q, b) in self.q[i * width..].iter_mut().zip(&problem.b()[problem.rows(i)]) {
                *q = b * scale;
            }
        }
        self.copy_blocks(w, width);
        self.history = problem.history().cloned();
    }

    /// Notes a residual that a method has reached.
    #[inline]
    pub fn note(&self, method: &'static str, iteration: usize, residual: f64) {
        if let Some(history) = &self.history {
            history.note(method, iteration, residual);
        }
    }

    fn copy_blocks(&mut self, w: &Delassus, width: usize) {
        let p = &mut self.pattern;
        p.width = width;
        p.start.clear();
        p.start.push(0);
        p.column.clear();
        self.value.clear();
        self.diagonal.clear();
        for i in 0..self.laws.len() {
            for (j, block) in w.row(i) {
                if i == j {
                    self.diagonal.push(p.column.len());
                }
                p.column.push(j as u32);
                let at = self.value.len();
                self.value.resize(at + width * width, 0.0);
                let (scale, columns) = (self.factor[i] * self.factor[j], self.laws[j].size());
                for (r, row) in block.chunks(columns).enumerate() {
                    for (c, x) in row.iter().enumerate() {
                        self.value[at + r * width + c] = x * scale;
                    }
                }
            }
            p.start.push(p.column.len());
        }
    }

    /// The factor sᵢ of a law.
    pub fn factor(&self, law: usize) -> f64 {
        self.factor[law]
    }

    /// Number of entries of the padded vectors.
    pub fn len(&self) -> usize {
        self.q.len()
    }

    /// Scaled variables of given reactions; what is not finite counts as zero.
    pub fn import(&self, problem: &OneStepProblem<'_>, lambda: &[f64], r: &mut [f64]) {
        let width = self.pattern.width;
        r.fill(0.0);
        for i in 0..self.laws.len() {
            let unit = 1.0 / (self.factor[i] * self.size);
            for (r, row) in r[i * width..].iter_mut().zip(problem.rows(i)) {
                let x = lambda.get(row).copied().unwrap_or(0.0) * unit;
                *r = if x.is_finite() { x } else { 0.0 };
            }
        }
    }

    /// Reactions of given scaled variables.
    pub fn export(&self, problem: &OneStepProblem<'_>, r: &[f64], lambda: &mut Vec<f64>) {
        let width = self.pattern.width;
        lambda.clear();
        for i in 0..self.laws.len() {
            let unit = self.factor[i] * self.size;
            lambda.extend(r[i * width..].iter().take(problem.rows(i).len()).map(|r| r * unit));
        }
    }

    /// `u ← W' r + q'`.
    pub fn velocity(&self, r: &[f64], u: &mut [f64]) {
        u.copy_from_slice(&self.q);
        self.pattern.add_mul(&self.value, r, u);
    }

    /// The residual of the certificate, and ‖F'‖ relative to what drives the problem: see `growth`.
    pub fn error(&self, r: &[f64], u: &[f64]) -> (f64, f64) {
        let width = self.pattern.width;
        let (mut missed, mut squares) = (0.0, (0.0, 0.0, 0.0));
        for (i, law) in self.laws.iter().enumerate() {
            let rows = i * width..i * width + law.size();
            let (r, u) = (&r[rows.clone()], &u[rows.clone()]);
            let mut f = [0.0; 3];
            law.natural_map(r, u, 1.0, &mut f[..law.size()]);
            missed += square(&f[..law.size()]);
            squares.0 += square(r);
            squares.1 += square(u);
            squares.2 += square(&self.q[rows]);
        }
        let size = f64::max(squares.0, squares.1).max(squares.2).sqrt();
        let missed = missed.sqrt();
        let relative = if size > 0.0 { missed / size } else { missed };
        if relative.is_finite() && size.is_finite() {
            (relative, missed / self.driving)
        } else {
            (f64::INFINITY, f64::INFINITY)
        }
    }
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}
