//! One Runge-Kutta step of a smooth phase on its index-1 form [hairer1996].
//!
//! ```text
//!     Vᵢ = v + h Σ aᵢⱼ Aⱼ,   Qᵢ = retract(q, h Σ aᵢⱼ Vⱼ),   Aᵢ = v̇(t + cᵢh, Qᵢ, Vᵢ)                   (1)
//!     v⁺ = v + h Σ bᵢ Aᵢ,    q⁺ = retract(q, h Σ bᵢ Vᵢ),    ∫λ dt = h Σ bᵢ Λᵢ                        (2)
//! ```
//!
//! Half-explicit methods go from stage to stage. Implicit ones solve for the accelerations of all stages by simplified
//! Newton iterations,
//!
//! ```text
//!     (I − h a ⊗ ∂v̇/∂v − h² a² ⊗ ∂v̇/∂q) ΔA = v̇(Q, V) − A                                           (3)
//! ```
//!
//! with derivatives by differences of v̇ at the start of a step; they are kept as long as the iterations converge fast,
//! and for ever within a phase of a linear model, where one iteration is the solution.

use super::tableau::Tableau;
use super::{IndexOne, Tolerances};
use crate::{State, StepError};
use carom_solve::{DenseLu, LinearSolve};

/// Iterations after which the derivatives count as stale.
const FAST: u32 = 5;

/// Size of differences of affine functions, beside what is met.
const FAR: f64 = 1048576.0;

/// Newton's loop of the implicit stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Newton {
    /// Largest last change of a velocity, relative to the largest velocity [-].
    pub tolerance: f64,
    pub iterations: u32,
}

/// Buffers and memory of the stages.
pub(crate) struct Stages {
    tableau: Tableau,
    newton: Newton,
    /// Newton iterations so far.
    pub iterations: u32,
    a: Vec<f64>,                  // (s × n) accelerations of the stages
    v: Vec<f64>,                  // (s × n) velocities of the stages
    point: State,                 // one stage
    rate: Vec<f64>,               // (n) v̇ there
    increment: Vec<f64>,          // (n)
    residual: Vec<f64>,           // (s × n)
    derivative: [Vec<f64>; 2],    // (n × n) ∂v̇/∂q, ∂v̇/∂v
    units: Vec<f64>,              // (n) powers of two near what units of velocities are worth beside each other
    differs: Option<u64>,         // version of v̇ to which they belong
    system: DenseLu,              // (3)
    factored: Option<(u64, u64)>, // bits of h, and count of derivatives, to which it belongs
    count: u64,
}

impl Stages {
    /// The stages of a table, for motions like this state.
    pub fn new(tableau: Tableau, newton: Newton, point: State) -> Stages {
        let (n, s) = (point.v.len(), tableau.stages());
        let derivative = if tableau.explicit { [Vec::new(), Vec::new()] } else { [vec![0.0; n * n], vec![0.0; n * n]] };
        Stages {
            newton,
            iterations: 0,
            a: vec![0.0; s * n],
            v: vec![0.0; s * n],
            point,
            rate: vec![0.0; n],
            increment: vec![0.0; n],
            residual: vec![0.0; s * n],
            derivative,
            units: vec![1.0; n],
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

    /// Advances by `h`.
    pub fn advance(
        &mut self,
        motion: &mut impl IndexOne,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<(), StepError> {
        if self.tableau.explicit {
            motion.start();
            let n = self.increment.len();
            for i in 0..self.tableau.stages() {
                self.evaluate(motion, (from, h), i)?;
                self.a[i * n..(i + 1) * n].copy_from_slice(&self.rate);
            }
        } else {
            self.solve(motion, from, h)?;
        }
        self.finish(motion, from, h, to);
        if to.is_finite() { Ok(()) } else { Err(StepError::NotFinite) }
    }

    /// v̇ at stage `i` of (1) with the accelerations known so far.
    fn evaluate(&mut self, motion: &mut impl IndexOne, (from, h): (&State, f64), i: usize) -> Result<(), StepError> {
        let (n, s) = (self.increment.len(), self.tableau.stages());
        let row = i * s..(i + 1) * s;
        self.point.t = from.t + self.tableau.c[i] * h;
        self.point.v.copy_from_slice(&from.v);
        combine(&mut self.point.v, h, &self.tableau.a[row.clone()], &self.a);
        for (d, v) in self.increment.iter_mut().zip(&from.v) {
            *d = h * self.tableau.c[i] * v;
        }
        combine(&mut self.increment, h * h, &self.tableau.square[row], &self.a);
        motion.retract(&from.q, &self.increment, &mut self.point.q);
        self.v[i * n..(i + 1) * n].copy_from_slice(&self.point.v);
        motion.stage(i, h * self.tableau.b[i], &self.point, &mut self.rate)
    }

    /// (3) until the velocities of the stages stand still.
    fn solve(&mut self, motion: &mut impl IndexOne, from: &State, h: f64) -> Result<(), StepError> {
        let mut fresh = self.differs != Some(motion.version());
        if fresh {
            self.differentiate(motion, from)?;
        }
        self.guess();
        let once = motion.is_affine() && motion.is_free();
        let (mut iterations, mut before) = (0, f64::INFINITY);
        loop {
            self.factor(h)?;
            let (change, size) = self.iterate(motion, from, h)?;
            iterations += 1;
            let tolerance = (self.newton.tolerance + motion.inexactness()) * size + h * motion.rounding();
            if change <= tolerance || once {
                break;
            }
            if iterations >= self.newton.iterations {
                return Err(StepError::Newton { residual: change, tolerance, iterations });
            }
            let slow = change > 0.3 * before;
            if slow && !fresh {
                self.differentiate(motion, from)?;
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

    /// One iteration of (3); returns the largest change of a velocity and the largest velocity, beside each other.
    fn iterate(&mut self, motion: &mut impl IndexOne, from: &State, h: f64) -> Result<(f64, f64), StepError> {
        let n = self.increment.len();
        motion.start();
        for i in 0..self.tableau.stages() {
            self.evaluate(motion, (from, h), i)?;
            let stage = i * n..(i + 1) * n;
            let known = self.rate.iter().zip(&self.a[stage.clone()]);
            for (r, (value, a)) in self.residual[stage].iter_mut().zip(known) {
                *r = value - a;
            }
        }
        let units = || self.units.iter().cycle();
        self.residual.iter_mut().zip(units()).for_each(|(r, unit)| *r /= unit);
        self.system.solve(&mut self.residual);
        let (mut change, mut size) = (0.0f64, 0.0f64);
        for ((a, da), unit) in self.a.iter_mut().zip(&self.residual).zip(units()) {
            *a += da * unit;
            change = change.max((h * da).abs());
            size = size.max((h * *a / unit).abs());
        }
        size = self.v.iter().chain(&from.v).zip(units()).fold(size, |m, (v, unit)| m.max((v / unit).abs()));
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

    /// ∂v̇/∂q and ∂v̇/∂v at the start, column by column. A step as large as what is met is exact where v̇ is affine; a
    /// far larger one is safe from rounding as well.
    fn differentiate(&mut self, motion: &mut impl IndexOne, from: &State) -> Result<(), StepError> {
        let n = self.increment.len();
        let unit = match (motion.is_affine(), motion.is_free()) {
            (true, true) => FAR,
            (true, false) => 1.0,
            (false, _) => f64::EPSILON.sqrt(),
        };
        for (j, unit) in self.units.iter_mut().enumerate() {
            *unit = motion.unit(j);
        }
        self.point.copy_from(from);
        motion.rate(from, &mut self.residual[..n])?;
        for velocities in [false, true] {
            for j in 0..n {
                let d = unit * motion.size(velocities, j);
                self.increment.fill(0.0);
                self.increment[j] = d;
                if velocities {
                    self.point.v[j] = from.v[j] + d;
                } else {
                    motion.retract(&from.q, &self.increment, &mut self.point.q);
                }
                motion.rate(&self.point, &mut self.rate)?;
                self.point.copy_from(from);
                for (i, value) in self.rate.iter().enumerate() {
                    self.derivative[usize::from(velocities)][i * n + j] = (value - self.residual[i]) / d;
                }
            }
        }
        self.differs = Some(motion.version());
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
                let change = h * a * by_v[k * n + l] + h * h * square * by_q[k * n + l];
                *value = unit - change * self.units[l] / self.units[k];
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
    pub fn error(&self, (from, to): (&State, &State), h: f64, tolerances: Tolerances<'_>) -> f64 {
        let n = self.increment.len();
        let mut sum = 0.0;
        let positions = (false, &self.v, (&from.q[..], &to.q[..]));
        for (is_velocity, stages, ends) in [positions, (true, &self.a, (&from.v[..], &to.v[..]))] {
            for k in 0..n {
                let weights = self.tableau.b.iter().zip(&self.tableau.embedded).enumerate();
                let error: f64 = weights.map(|(j, (b, other))| h * (b - other) * stages[j * n + k]).sum();
                sum += (error / tolerances.scale(is_velocity, (k, n), ends)).powi(2);
            }
        }
        (sum / (2 * n).max(1) as f64).sqrt()
    }

    /// (2).
    fn finish(&mut self, motion: &impl IndexOne, from: &State, h: f64, to: &mut State) {
        to.t = from.t + h;
        to.v.copy_from_slice(&from.v);
        combine(&mut to.v, h, &self.tableau.b, &self.a);
        for (d, v) in self.increment.iter_mut().zip(&from.v) {
            *d = h * v;
        }
        combine(&mut self.increment, h * h, &self.tableau.product, &self.a);
        motion.retract(&from.q, &self.increment, &mut to.q);
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
