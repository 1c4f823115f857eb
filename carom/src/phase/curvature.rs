//! The part of `u̇ = C v̇ + γ` that does not come from accelerations: `γ = G_qq(v, v) + 2 G_t v + g_tt`.
//!
//! Exact where the model differentiates its outputs twice. Otherwise γ is the derivative of `C v + ∂y/∂t` along the
//! motion with v kept, by central differences of fourth order: nothing for fixed obstacles with constant rows, about
//! 1e-12 of |C||v| where the rows are exact, 1e-8 where they are differences themselves.

use super::magnitudes::Magnitudes;
use crate::model::{Constancy, ModelError};
use crate::{Coupling, Key, Mechanical};
use carom_solve::elementary::powf;

/// Offsets and weights of the difference, for a unit of time.
const STENCIL: [(f64, f64); 4] = [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)];

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
}

carom_solve::persist!(Curvature { value, is_exact, coupling, moved, increment });

impl Curvature {
    /// Fills `value` for the laws of the `list`, which have this many `rows`.
    pub fn evaluate(
        &mut self,
        model: &mut dyn Mechanical,
        (constancy, sizes): (Constancy, &Magnitudes),
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
        let unit = powf(f64::EPSILON, 0.2) * sizes.pace(q, v);
        self.moved.clear();
        self.moved.extend_from_slice(q);
        for (offset, weight) in STENCIL {
            let dt = offset * unit;
            if !constancy.rows {
                self.increment.clear();
                self.increment.extend(v.iter().map(|v| dt * v));
                model.retract(q, &self.increment, &mut self.moved);
            }
            self.coupling.fill(model, (t + dt, &self.moved), false, list)?;
            let velocity = self.coupling.rows.iter().zip(&self.coupling.drift);
            for (value, (row, drift)) in self.value.iter_mut().zip(velocity) {
                // constant rows contribute nothing but rounding
                let u = if constancy.rows { 0.0 } else { carom_solve::Rows::product(row, v) };
                *value += weight * (u + drift) / (12.0 * unit);
            }
        }
        Ok(())
    }
}
