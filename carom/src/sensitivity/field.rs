//! The variational equation of a smooth phase.
//!
//! ```text
//!     M v̇ = F + B λ,  C v̇ + γ = 0         the phase, B of `phase/held.rs`                                       (1)
//!     M dv̇ = dF − dM v̇ + dB λ + B dλ,   C dv̇ = −(dC v̇ + dγ)                                              (2)
//!     d/dt (dq, dv, dp) = A (dq, dv, dp),   A = (0 1 0; a_q a_v a_p; 0 0 0)                                  (3)
//! ```
//!
//! The direction of a spatial slip turns with the velocity, which is part of dB. Perturbations that respect the
//! linearised constraints of the phase keep doing so. Where increments have a chart the first row of A is (−[v, ·] 1
//! 0): dq are perturbations that turn with the position (`model/chart.rs`).

use crate::model::tangent::{At, is_autonomous};
use crate::model::{Along, CouplingTangent, Tangent, Turning};
use crate::phase::{Acceleration, HeldRows, Mode, Phase, RankedLu, slip_direction};
use crate::{ContactList, Coupling, Mechanical, ModelError, State};
use carom_solve::elementary::hypot;

/// Evaluates (3) with a model of its own.
pub(super) struct Field {
    pub model: Box<dyn Mechanical>,
    pub tangent: Box<dyn Tangent>,
    pub acceleration: Acceleration,
    /// Number of degrees of freedom, and of parameters.
    pub n: usize,
    pub parameters: usize,
    list: ContactList, // the contacts of the step
    held: HeldRows,
    system: RankedLu,
    coupling: CouplingTangent,
    curvature: Vec<f64>,
    unit: Vec<f64>, // (m) direction
    rate: Vec<f64>, // (n) dv̇
    part: Vec<f64>, // (n)
    x: Vec<f64>,    // (held) dλ
    turning: Turning,
    constant: Option<Vec<f64>>,
}

impl Field {
    pub fn new(mut model: Box<dyn Mechanical>, tangent: Box<dyn Tangent>) -> Field {
        let (n, parameters) = (model.dim(), tangent.parameters().len());
        Field {
            acceleration: Acceleration::new(&mut *model),
            model,
            tangent,
            n,
            parameters,
            list: ContactList::default(),
            held: HeldRows::default(),
            system: RankedLu::default(),
            coupling: CouplingTangent::default(),
            curvature: Vec::new(),
            unit: vec![0.0; 2 * n + parameters],
            rate: vec![0.0; n],
            part: vec![0.0; n],
            x: Vec::new(),
            turning: Turning::default(),
            constant: None,
        }
    }

    /// Chooses the contacts of a step that begins at `from` and is at most `h` long.
    pub fn detect(&mut self, from: &State, h: f64) -> Result<(), ModelError> {
        self.model.detect(from, h)?;
        let rows = self.acceleration.constancy().rows;
        self.acceleration.coupling.list(&mut *self.model, (from.t, &from.q), rows, &mut self.list)?;
        self.tangent.detect(from, h, &self.list)
    }

    /// The coupling at `(t, q)`.
    pub fn couple(&mut self, t: f64, q: &[f64]) -> Result<&Coupling, ModelError> {
        let rows = self.acceleration.constancy().rows;
        self.acceleration.coupling.fill(&mut *self.model, (t, q), rows, &self.list)?;
        Ok(&self.acceleration.coupling)
    }

    /// Size of A.
    pub fn size(&self) -> usize {
        2 * self.n + self.parameters
    }

    /// Whether A is the same all over the phase.
    pub fn is_constant(&self, phase: &Phase) -> bool {
        self.parameters == 0 && phase.is_free() && self.model.chart().is_none() && is_autonomous(&*self.model)
    }

    /// v̇ of (1).
    pub fn rate(&mut self, phase: &Phase, at: At<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        self.acceleration.evaluate(&mut *self.model, phase, at)?;
        out.copy_from_slice(&self.acceleration.value);
        Ok(())
    }

    /// A of (3), row-major; the one of free flight is kept where it is constant.
    pub fn matrix(&mut self, phase: &Phase, at: At<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        let constant = self.is_constant(phase);
        if let Some(kept) = self.constant.as_ref().filter(|_| constant) {
            out.copy_from_slice(kept);
            return Ok(());
        }
        let (n, m) = (self.n, self.size());
        self.acceleration.evaluate(&mut *self.model, phase, at)?;
        let free = phase.is_free();
        if !free {
            self.held.fill(&*self.model, &self.acceleration.coupling, phase, at.2);
            let w = self.system.matrix_mut(self.held.rows.len());
            self.held.delassus(&self.acceleration.coupling, w);
            self.system.factor();
        }
        out.fill(0.0);
        for j in 0..m {
            self.unit.fill(0.0);
            self.unit[j] = 1.0;
            self.column(phase, at, free)?;
            for i in 0..n {
                out[(n + i) * m + j] = self.rate[i];
            }
        }
        (0..n).for_each(|i| out[i * m + n + i] = 1.0);
        if let Some(chart) = self.model.chart() {
            for j in 0..n {
                self.unit.fill(0.0);
                self.unit[j] = 1.0;
                self.turning.bracket(chart, &self.unit[..n], at.2, &mut self.part);
                (0..n).for_each(|i| out[i * m + j] = self.part[i]);
            }
        }
        if constant {
            self.constant = Some(out.to_vec());
        }
        Ok(())
    }

    /// (2) along `unit`, into `rate`.
    fn column(&mut self, phase: &Phase, at: At<'_>, free: bool) -> Result<(), ModelError> {
        let n = self.n;
        let along = Along { t: 0.0, q: &self.unit[..n], v: &self.unit[n..2 * n], p: &self.unit[2 * n..] };
        self.tangent.force(at, along, &mut self.rate)?;
        self.tangent.mass(at, &self.acceleration.value, along, &mut self.part)?;
        self.rate.iter_mut().zip(&self.part).for_each(|(r, x)| *r -= x);
        if free {
            self.model.solve(&mut self.rate);
            return Ok(());
        }
        self.tangent.coupling(at, along, &mut self.coupling)?;
        self.tangent.curvature(at, along, &mut self.curvature)?;
        for (row, lambda) in self.acceleration.lambda.iter().enumerate() {
            self.coupling.add_row(row, *lambda, &mut self.rate);
        }
        self.add_friction_changes(phase, at.2);
        self.model.solve(&mut self.rate);
        self.x.clear();
        for held in &self.held.rows {
            let own = self.coupling.row_dot(held.row, &self.acceleration.value) + self.curvature[held.row];
            self.x.push(-(own + self.acceleration.coupling.rows.dot(held.row, &self.rate)));
        }
        self.system.solve(&mut self.x);
        self.held.add(&self.x, &mut self.rate);
        Ok(())
    }

    /// The change of friction with μ and with the direction of slip.
    fn add_friction_changes(&mut self, phase: &Phase, v: &[f64]) {
        let coupling = &self.acceleration.coupling;
        let dv = &self.unit[self.n..2 * self.n];
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Mode::Slip(remembered) = phase.mode(i) else { continue };
            let range = coupling.range(i);
            let normal = self.acceleration.lambda[range.start];
            let d = slip_direction(coupling, i, v, (remembered, phase.still));
            let (mut du, mut speed) = ([0.0; 2], 0.0f64);
            for (k, row) in range.clone().skip(1).enumerate().take(2) {
                let u = coupling.rows.dot(row, v) + coupling.drift[row];
                du[k] = coupling.rows.dot(row, dv) + self.coupling.row_dot(row, v) + self.coupling.drift[row];
                speed = hypot(speed, u);
            }
            let along = d[0] * du[0] + d[1] * du[1];
            for (k, row) in range.skip(1).enumerate().take(2) {
                let spatial = coupling.range(i).len() == 3 && speed > 0.0;
                let turned = if spatial { (du[k] - d[k] * along) / speed } else { 0.0 };
                let change = -(self.coupling.friction[row] * d[k] + pair.law.mu() * turned) * normal;
                coupling.rows.add_row(row, change, &mut self.rate);
            }
        }
    }
}
