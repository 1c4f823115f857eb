//! The rows that a phase holds and the directions in which their reactions act.
//!
//! B is Cᵀ; for a slipping contact the column of the normal is C_Nᵀ − μ Σ d C_Tᵀ, so that λ_T = −μ λ_N d.

use super::acceleration::slip_direction;
use super::mode::{Mode, Phase};
use crate::{Coupling, Mechanical};

/// A row that is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldRow {
    pub row: usize,
    pub law: usize,
}

carom_solve::persist!(HeldRow { row, law });

/// Rows, directions of slip, and M⁻¹B.
#[derive(Clone, Debug, Default)]
pub struct HeldRows {
    pub rows: Vec<HeldRow>,
    /// (laws) direction of slip.
    pub direction: Vec<[f64; 2]>,
    /// (held × n) M⁻¹B, by columns of B.
    pub response: Vec<f64>,
    /// Whether a direction of slip turns with the velocity.
    pub is_turning: bool,
}

carom_solve::persist!(HeldRows { rows, direction, response, is_turning });

impl HeldRows {
    /// Lists the rows and computes M⁻¹B with the mass that the model has factored, at the velocity `v`.
    pub fn fill(&mut self, model: &dyn Mechanical, coupling: &Coupling, phase: &Phase, v: &[f64]) {
        self.rows.clear();
        self.direction.clear();
        self.response.clear();
        self.is_turning = false;
        let n = v.len();
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let (range, mode) = (coupling.range(i), phase.mode(i));
            let mut direction = [0.0; 2];
            let mut rows = range.clone().take(if mode == Mode::Stick { range.len() } else { 1 });
            if let Mode::Slip(d) = mode {
                self.is_turning |= range.len() == 3;
                direction = slip_direction(coupling, i, v, (d, phase.still));
            }
            self.direction.push(direction);
            while let Some(row) = rows.next().filter(|_| mode.is_closed()) {
                let first = self.response.len();
                self.response.resize(first + n, 0.0);
                let response = &mut self.response[first..];
                coupling.rows.add_row(row, 1.0, response);
                for (tangent, d) in range.clone().skip(1).zip(direction) {
                    coupling.rows.add_row(tangent, -pair.law.mu() * d, response);
                }
                model.solve(response);
                self.rows.push(HeldRow { row, law: i });
            }
        }
    }

    /// The rows held that are normals of contacts, which push.
    pub fn normals(&self, coupling: &Coupling) -> impl Iterator<Item = usize> + Clone {
        let is_normal =
            |held: &HeldRow| !coupling.pairs[held.law].law.is_equality() && held.row == coupling.offset[held.law];
        self.rows.iter().enumerate().filter(move |(_, held)| is_normal(held)).map(|(k, _)| k)
    }

    /// Whether a contact slips.
    pub fn slips(&self) -> bool {
        self.direction.iter().any(|d| *d != [0.0; 2])
    }

    /// `w ← C M⁻¹B` (row-major) with the rows C of a coupling.
    pub fn delassus(&self, coupling: &Coupling, w: &mut [f64]) {
        let m = self.rows.len();
        for (k, held) in self.rows.iter().enumerate() {
            for (l, response) in self.columns().enumerate() {
                w[k * m + l] = coupling.rows.dot(held.row, response);
            }
        }
    }

    /// `a ← a + M⁻¹B λ`.
    pub fn add(&self, lambda: &[f64], a: &mut [f64]) {
        for (lambda, response) in lambda.iter().zip(self.columns()) {
            for (a, r) in a.iter_mut().zip(response) {
                *a += lambda * r;
            }
        }
    }

    /// M⁻¹B, column by column of B.
    fn columns(&self) -> impl Iterator<Item = &[f64]> {
        let n = self.response.len().checked_div(self.rows.len()).unwrap_or(0);
        self.response.chunks_exact(n.max(1))
    }
}
