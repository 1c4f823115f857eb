//! One Runge-Kutta step of a smooth phase on its index-1 form [hairer1996].
//!
//! ```text
//!     Vᵢ = v + h Σ aᵢⱼ Aⱼ,   Qᵢ = retract(q, h Σ aᵢⱼ Vⱼ),   Aᵢ = v̇(t + cᵢh, Qᵢ, Vᵢ)                   (1)
//!     v⁺ = v + h Σ bᵢ Aᵢ,    q⁺ = retract(q, h Σ bᵢ Vᵢ),    ∫λ dt = h Σ bᵢ Λᵢ                        (2)
//! ```
//!
//! Half-explicit methods go from stage to stage. Implicit ones solve for the accelerations of all stages by simplified Newton
//! iterations,
//!
//! ```text
//!     (I − h a ⊗ ∂v̇/∂v − h² a² ⊗ ∂v̇/∂q) ΔA = v̇(Q, V) − A                                           (3)
//! ```
//!
//! with derivatives by differences of v̇ at the start of a step; they are kept as long as the iterations converge fast, and for ever
//! within a phase of a linear model, where one iteration is the solution.

use super::acceleration::{Acceleration, Watch};
use super::phase::Phase;
use super::tableau::{Method, Tableau};
use crate::scheme::StepError;
use crate::{Mechanical, State};
use carom_solve::{DenseLu, LinearSolve};

/// Iterations after which the derivatives count as stale.
const FAST: u32 = 5;

/// Newton's loop of the implicit stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newton {
    /// Largest last change of a velocity, relative to the largest velocity [-].
    pub tolerance: f64,
    pub iterations: u32,
}

/// Buffers and memory of the stages.
pub struct Stages {
    tableau: Tableau,
    newton: Newton,
    rough: f64, // accuracy of constraint curvatures by differences, below which iterations stand still
    /// (1) at one point.
    pub acceleration: Acceleration,
    /// (rows) ∫λ dt over the last step [N s].
    pub impulse: Vec<f64>,
    /// (rows) work of the reactions over the last step [J].
    pub work: Vec<f64>,
    /// Whether a closed contact wanted to open at a stage.
    pub takes_off: bool,
    /// Whether a contact wanted to begin or to end its slip at a stage.
    pub slips: bool,
    /// By how much dependent constraints contradicted each other at a stage of the last step [-]; infinite where redundant ones have parted.
    pub contradiction: f64,
    starts_deficient: bool, // whether they were dependent at the first stage
    /// Newton iterations so far.
    pub iterations: u32,
    a: Vec<f64>,                  // (s × n) accelerations of the stages
    v: Vec<f64>,                  // (s × n) velocities of the stages
    point: State,                 // one stage
    increment: Vec<f64>,          // (n)
    residual: Vec<f64>,           // (s × n)
    derivative: [Vec<f64>; 2],    // (n × n) ∂v̇/∂q, ∂v̇/∂v
    differs: Option<u64>,         // phase to which they belong
    system: DenseLu,              // (3)
    factored: Option<(u64, u64)>, // bits of h, and count of derivatives, to which it belongs
    count: u64,
}

impl Stages {
    pub fn new(method: Method, newton: Newton, model: &mut dyn Mechanical) -> Stages {
        Stages::of(method.tableau(), newton, model)
    }

    /// The stages of any table.
    pub fn of(tableau: Tableau, newton: Newton, model: &mut dyn Mechanical) -> Stages {
        let exact = model.constancy().rows || model.acceleration_level().is_some();
        let n = model.dim();
        let s = tableau.stages();
        let derivative = if tableau.explicit { [Vec::new(), Vec::new()] } else { [vec![0.0; n * n], vec![0.0; n * n]] };
        Stages {
            newton,
            rough: if exact { 0.0 } else { 1e-7 },
            acceleration: Acceleration::new(model),
            impulse: Vec::new(),
            work: Vec::new(),
            takes_off: false,
            slips: false,
            contradiction: 0.0,
            starts_deficient: false,
            iterations: 0,
            a: vec![0.0; s * n],
            v: vec![0.0; s * n],
            point: model.initial(),
            increment: vec![0.0; n],
            residual: vec![0.0; s * n],
            derivative,
            differs: None,
            system: DenseLu::default(),
            factored: None,
            count: 0,
            tableau,
        }
    }

    /// Forgets derivatives of earlier steps.
    pub fn forget(&mut self) {
        self.differs = None;
    }

    /// Advances by `h` within a phase.
    pub fn advance(
        &mut self,
        model: &mut dyn Mechanical,
        phase: &Phase,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<(), StepError> {
        self.reset();
        if self.tableau.explicit {
            for i in 0..self.tableau.stages() {
                self.evaluate(model, phase, (from, h), i)?;
                let n = self.increment.len();
                self.a[i * n..(i + 1) * n].copy_from_slice(&self.acceleration.value);
            }
        } else {
            self.solve(model, phase, from, h)?;
        }
        self.finish(model, from, h, to);
        if to.is_finite() { Ok(()) } else { Err(StepError::NotFinite) }
    }

    /// Empties what the stages add up.
    fn reset(&mut self) {
        (self.takes_off, self.slips) = (false, false);
        (self.contradiction, self.starts_deficient) = (0.0, false);
        self.impulse.fill(0.0);
        self.work.fill(0.0);
    }

    /// v̇ at stage `i` of (1) with the accelerations known so far; adds its share to (2).
    fn evaluate(
        &mut self,
        model: &mut dyn Mechanical,
        phase: &Phase,
        (from, h): (&State, f64),
        i: usize,
    ) -> Result<(), StepError> {
        let (n, s) = (self.increment.len(), self.tableau.stages());
        let row = i * s..(i + 1) * s;
        self.point.t = from.t + self.tableau.c[i] * h;
        self.point.v.copy_from_slice(&from.v);
        combine(&mut self.point.v, h, &self.tableau.a[row.clone()], &self.a);
        for (d, v) in self.increment.iter_mut().zip(&from.v) {
            *d = h * self.tableau.c[i] * v;
        }
        combine(&mut self.increment, h * h, &self.tableau.square[row], &self.a);
        model.retract(&from.q, &self.increment, &mut self.point.q);
        self.v[i * n..(i + 1) * n].copy_from_slice(&self.point.v);
        let at = (self.point.t, self.point.q.as_slice(), self.point.v.as_slice());
        self.acceleration.evaluate(model, phase, at)?;
        let acceleration = &self.acceleration;
        self.contradiction = self.contradiction.max(acceleration.contradiction);
        self.starts_deficient |= i == 0 && acceleration.is_deficient;
        if self.starts_deficient && !acceleration.is_deficient {
            self.contradiction = f64::INFINITY;
        }
        if !acceleration.is_deficient {
            for monitor in acceleration.monitors.iter().filter(|m| m.violated) {
                *(if monitor.watch == Watch::TakeOff { &mut self.takes_off } else { &mut self.slips }) = true;
            }
        }
        if !phase.is_free() {
            let coupling = &acceleration.coupling;
            self.impulse.resize(coupling.drift.len(), 0.0);
            self.work.resize(coupling.drift.len(), 0.0);
            for (row, lambda) in acceleration.lambda.iter().enumerate().filter(|(_, lambda)| **lambda != 0.0) {
                let share = h * self.tableau.b[i] * lambda;
                self.impulse[row] += share;
                self.work[row] += share * (coupling.rows.dot(row, &self.point.v) + coupling.drift[row]);
            }
        }
        Ok(())
    }

    /// (3) until the velocities of the stages stand still.
    fn solve(&mut self, model: &mut dyn Mechanical, phase: &Phase, from: &State, h: f64) -> Result<(), StepError> {
        let mut fresh = self.differs != Some(phase.version());
        if fresh {
            self.differentiate(model, phase, from)?;
        }
        self.guess();
        let once = self.acceleration.constancy().linear() && phase.is_free();
        let (mut iterations, mut before) = (0, f64::INFINITY);
        loop {
            self.factor(h)?;
            let (change, size) = self.iterate(model, phase, from, h)?;
            iterations += 1;
            let rough = if phase.is_free() { 0.0 } else { self.rough };
            let tolerance = (self.newton.tolerance + rough) * size;
            if change <= tolerance || once {
                break;
            }
            if iterations >= self.newton.iterations {
                return Err(StepError::Newton { residual: change, tolerance, iterations });
            }
            let slow = change > 0.3 * before;
            if slow && !fresh {
                self.differentiate(model, phase, from)?;
                fresh = true;
            }
            before = change;
        }
        self.iterations += iterations;
        if iterations > FAST {
            self.differs = None;
        }
        Ok(())
    }

    /// One iteration of (3); returns the largest change of a velocity and the largest velocity.
    fn iterate(
        &mut self,
        model: &mut dyn Mechanical,
        phase: &Phase,
        from: &State,
        h: f64,
    ) -> Result<(f64, f64), StepError> {
        let n = self.increment.len();
        self.reset();
        for i in 0..self.tableau.stages() {
            self.evaluate(model, phase, (from, h), i)?;
            let stage = i * n..(i + 1) * n;
            let known = self.acceleration.value.iter().zip(&self.a[stage.clone()]);
            for (r, (value, a)) in self.residual[stage].iter_mut().zip(known) {
                *r = value - a;
            }
        }
        self.system.solve(&mut self.residual);
        let (mut change, mut size) = (0.0f64, 0.0f64);
        for (a, da) in self.a.iter_mut().zip(&self.residual) {
            *a += da;
            change = change.max((h * da).abs());
            size = size.max((h * *a).abs());
        }
        size = self.v.iter().chain(&from.v).fold(size, |m, v| m.max(v.abs()));
        // the largest of NaN and a number is the number: ask the sum
        let sum: f64 = self.residual.iter().sum();
        if sum.is_finite() { Ok((change, size)) } else { Err(StepError::NotFinite) }
    }

    /// All stages start from the last acceleration that was found.
    fn guess(&mut self) {
        let n = self.increment.len();
        let last = self.a.len() - n;
        let (stages, known) = self.a.split_at_mut(last);
        for stage in stages.chunks_exact_mut(n.max(1)) {
            stage.copy_from_slice(known);
        }
    }

    /// ∂v̇/∂q and ∂v̇/∂v at the start, column by column. A unit step is exact where v̇ is affine, and safe from rounding.
    fn differentiate(&mut self, model: &mut dyn Mechanical, phase: &Phase, from: &State) -> Result<(), StepError> {
        let n = self.increment.len();
        let unit = if self.acceleration.constancy().linear() { 1.0 } else { f64::EPSILON.sqrt() };
        self.point.copy_from(from);
        self.acceleration.evaluate(model, phase, (from.t, &from.q, &from.v))?;
        self.residual[..n].copy_from_slice(&self.acceleration.value);
        for velocities in [false, true] {
            for j in 0..n {
                let d =
                    unit * if velocities { from.v[j] } else { from.q.get(j).copied().unwrap_or(0.0) }.abs().max(1.0);
                self.increment.fill(0.0);
                self.increment[j] = d;
                if velocities {
                    self.point.v[j] = from.v[j] + d;
                } else {
                    model.retract(&from.q, &self.increment, &mut self.point.q);
                }
                self.acceleration.evaluate(model, phase, (from.t, &self.point.q, &self.point.v))?;
                self.point.copy_from(from);
                for (i, value) in self.acceleration.value.iter().enumerate() {
                    self.derivative[usize::from(velocities)][i * n + j] = (value - self.residual[i]) / d;
                }
            }
        }
        self.differs = Some(phase.version());
        self.count += 1;
        Ok(())
    }

    /// Factors the matrix of (3), unless it is still there.
    fn factor(&mut self, h: f64) -> Result<(), StepError> {
        let key = Some((h.to_bits(), self.count));
        if self.factored == key {
            return Ok(());
        }
        let (n, s) = (self.increment.len(), self.tableau.stages());
        let size = n * s;
        let matrix = self.system.matrix_mut(size);
        let [by_q, by_v] = &self.derivative;
        for (row, values) in matrix.chunks_exact_mut(size.max(1)).enumerate() {
            let (i, k) = (row / n, row % n);
            for (column, value) in values.iter_mut().enumerate() {
                let (j, l) = (column / n, column % n);
                let (a, square) = (self.tableau.a[i * s + j], self.tableau.square[i * s + j]);
                let unit = if row == column { 1.0 } else { 0.0 };
                *value = unit - h * a * by_v[k * n + l] - h * h * square * by_q[k * n + l];
            }
        }
        self.factored = None;
        // a singular matrix of (3) says that the step is too large for this model
        self.system.factor().map_err(|_| StepError::Newton {
            residual: f64::INFINITY,
            tolerance: self.newton.tolerance,
            iterations: 0,
        })?;
        self.factored = key;
        Ok(())
    }

    /// Difference from the embedded method: RMS norm of components divided by `atol + rtol max(|y|, |y⁺|)`.
    pub fn error(&self, (from, to): (&State, &State), h: f64, (atol, rtol): (f64, f64)) -> f64 {
        let n = self.increment.len();
        let mut sum = 0.0;
        for (stages, ends) in [(&self.v, (&from.q, &to.q)), (&self.a, (&from.v, &to.v))] {
            for k in 0..n {
                let weights = self.tableau.b.iter().zip(&self.tableau.embedded).enumerate();
                let error: f64 = weights.map(|(j, (b, other))| h * (b - other) * stages[j * n + k]).sum();
                let end = |y: &Vec<f64>| y.get(k).map_or(0.0, |y| y.abs());
                sum += (error / (atol + rtol * end(ends.0).max(end(ends.1)))).powi(2);
            }
        }
        (sum / (2 * n).max(1) as f64).sqrt()
    }

    /// (2).
    fn finish(&mut self, model: &dyn Mechanical, from: &State, h: f64, to: &mut State) {
        to.t = from.t + h;
        to.v.copy_from_slice(&from.v);
        combine(&mut to.v, h, &self.tableau.b, &self.a);
        for (d, v) in self.increment.iter_mut().zip(&from.v) {
            *d = h * v;
        }
        combine(&mut self.increment, h * h, &self.tableau.product, &self.a);
        model.retract(&from.q, &self.increment, &mut to.q);
    }
}

/// `x ← x + h Σ wⱼ Aⱼ`.
#[inline]
fn combine(x: &mut [f64], h: f64, weights: &[f64], stages: &[f64]) {
    for (w, stage) in weights.iter().zip(stages.chunks_exact(x.len().max(1))) {
        if *w != 0.0 {
            for (x, a) in x.iter_mut().zip(stage) {
                *x += h * w * a;
            }
        }
    }
}
