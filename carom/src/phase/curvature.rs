//! The part of `u̇ = C v̇ + γ` that does not come from accelerations: `γ = G_qq(v, v) + 2 G_t v + g_tt`.
//!
//! Exact where the model differentiates its outputs twice. Otherwise γ is the derivative of `C v + ∂y/∂t` along the
//! motion with v kept, by central differences of fourth order: nothing for fixed obstacles with constant rows, about
//! 1e-12 of |C||v| where the rows are exact, 1e-8 where they are differences themselves.

use crate::model::differences::{AGREE, disagreement, settle};
use crate::model::{Constancy, ModelError};
use crate::{Coupling, Key, Mechanical};
use carom_solve::Rows;

/// Offsets and weights of the difference, for a unit of time.
const STENCIL: [(f64, f64); 4] = [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)];

/// Rows that are differences themselves are no better than this.
const UNSURE: f64 = 1e-11;

/// Evaluates γ row by row.
#[derive(Clone, Debug, Default)]
pub struct Curvature {
    /// (rows) γ [m/s²].
    pub value: Vec<f64>,
    /// Whether it was not found by differences.
    pub is_exact: bool,
    coupling: Coupling,
    moved: Vec<f64>,
    increment: Vec<f64>,
    far: Vec<f64>, // (rows) what the longer steps add
}

impl Curvature {
    /// Fills `value` for the laws of the `list`, which have this many `rows`.
    pub fn evaluate(
        &mut self,
        model: &mut dyn Mechanical,
        constancy: Constancy,
        at: (f64, &[f64], &[f64]),
        (list, rows): (&[Key], usize),
    ) -> Result<(), ModelError> {
        let (t, q, v) = at;
        self.is_exact = constancy.rows && constancy.drift;
        if let Some(level) = model.acceleration_level() {
            self.is_exact = true;
            return level.curvature(t, q, v, &mut self.value);
        }
        self.value.clear();
        self.value.resize(rows, 0.0);
        if constancy.rows && constancy.drift {
            return Ok(());
        }
        let speed = v.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        self.moved.clear();
        self.moved.extend_from_slice(q);
        settle(f64::EPSILON.powf(0.2) / speed, AGREE, |unit| {
            self.value.fill(0.0);
            self.far.clear();
            self.far.resize(rows, 0.0);
            for (offset, weight) in STENCIL {
                let dt = offset * unit;
                if !constancy.rows {
                    self.increment.clear();
                    self.increment.extend(v.iter().map(|v| dt * v));
                    model.retract(q, &self.increment, &mut self.moved);
                }
                self.coupling.fill(model, (t + dt, &self.moved), false, list)?;
                let velocity = self.coupling.rows.iter().zip(&self.coupling.drift);
                let out = if offset.abs() > 1.0 { &mut self.far } else { &mut self.value };
                for (value, (row, drift)) in out.iter_mut().zip(velocity) {
                    // constant rows contribute nothing but rounding
                    let u = if constancy.rows { 0.0 } else { Rows::product(row, v) };
                    *value += weight * (u + drift) / (12.0 * unit);
                }
            }
            // near: 2/3 (u₊ − u₋)/dt, far: −1/12 (u₊₊ − u₋₋)/dt
            let quotients = self.value.iter().zip(&self.far).map(|(near, far)| (0.75 * near, -3.0 * far));
            let terms = self.coupling.rows.iter().map(|row| Rows::product(row, v).abs());
            let largest = terms.zip(&self.coupling.drift).fold(0.0f64, |m, (u, drift)| m.max(u + drift.abs()));
            let missed = disagreement(quotients, UNSURE * largest / unit);
            self.value.iter_mut().zip(&self.far).for_each(|(value, far)| *value += far);
            Ok::<f64, ModelError>(missed)
        })?;
        Ok(())
    }
}
