//! One Runge-Kutta step of a smooth phase on its index-1 form [hairer1996].
//!
//! ```text
//!     Vᵢ = v + h Σ aᵢⱼ Aⱼ,   Qᵢ = retract(q, h Σ aᵢⱼ Vⱼ),   Aᵢ = v̇(t + cᵢh, Qᵢ, Vᵢ)                   (1)
//!     v⁺ = v + h Σ bᵢ Aᵢ,    q⁺ = retract(q, h Σ bᵢ Vᵢ),    ∫λ dt = h Σ bᵢ Λᵢ                        (2)
//! ```
//!
//! Where increments have a chart (`model/chart.rs`) positions sum rates of increments, in `stages/rates.rs`.
//!
//! Half-explicit methods go from stage to stage. Implicit ones solve for the accelerations of all stages by simplified
//! Newton iterations,
//!
//! ```text
//!     (I − h a ⊗ ∂v̇/∂v − h² a² ⊗ ∂v̇/∂q) ΔA = v̇(Q, V) − A                                           (3)
//! ```
//!
//! with derivatives by differences of v̇ at the start of a step; they are kept as long as the iterations converge fast,
//! and for ever within a phase of a linear model, where one iteration is the solution. Where they fail, because a stiff
//! spring turns within the step, Newton's iterations proper are tried: derivatives at each stage, and damping by the
//! natural monotonicity test, ‖Δ̄A‖ < ‖ΔA‖ for the next change with the same matrix [deuflhard2004].

use carom_solve::elementary::powf;
mod rates;

use super::tableau::Tableau;
use super::{IndexOne, Tolerances};
use crate::{State, StepError};
use carom_solve::{DenseLu, LinearSolve};
use rates::Rates;

/// Iterations after which the derivatives count as stale.
const FAST: u32 = 5;

/// Rounds in which the fastest motion is found: an even number, for displacements become velocities in each of them.
const ROUNDS: u32 = 6;

/// Iterations whose changes grow by this factor diverge.
const DIVERGES: f64 = 2.0;

/// Least part of a change that damped iterations take.
const LEAST_PART: f64 = 1e-3;

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
    rates: Option<Box<Rates>>,    // of increments, where these have a chart
    is_lost: bool,                // whether the last iterations failed, so that the accelerations are no guess
    point: State,                 // one stage
    near: State,                  // next to it
    rate: Vec<f64>,               // (n) v̇ there
    base: Vec<f64>,               // (n) v̇ where derivatives are taken
    far: Vec<f64>,                // (n) a column of derivatives
    increment: Vec<f64>,          // (n)
    residual: Vec<f64>,           // (s × n)
    change: Vec<f64>,             // (s × n) of a damped iteration
    derivative: [Vec<f64>; 2],    // (n × n) ∂v̇/∂q, ∂v̇/∂v
    units: Vec<f64>,              // (n) powers of two near what units of velocities are worth beside each other
    differs: Option<u64>,         // version of v̇ to which they belong
    system: DenseLu,              // (3)
    factored: Option<(u64, u64)>, // bits of h, and count of derivatives, to which it belongs
    count: u64,
}

carom_solve::persist!(Stages {
    iterations, a, v, rates, is_lost, point, near, rate, base, far, increment, residual, change, derivative, units,
    differs, system, factored, count,
} skip { tableau, newton });

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
            rates: None,
            is_lost: false,
            near: point.clone(),
            point,
            rate: vec![0.0; n],
            base: vec![0.0; n],
            far: vec![0.0; n],
            increment: vec![0.0; n],
            residual: vec![0.0; s * n],
            change: vec![0.0; s * n],
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

    /// (s × s) aᵢⱼ of (1).
    pub fn weights(&self) -> &[f64] {
        &self.tableau.a
    }

    /// Advances by `h`.
    pub fn advance(
        &mut self,
        motion: &mut impl IndexOne,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<(), StepError> {
        self.take_chart(motion);
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
        self.finish(motion, from, h, to)?;
        if to.is_finite() { Ok(()) } else { Err(StepError::NotFinite) }
    }

    /// v̇ at stage `i` of (1) with the accelerations known so far.
    fn evaluate(&mut self, motion: &mut impl IndexOne, (from, h): (&State, f64), i: usize) -> Result<(), StepError> {
        let (n, s) = (self.increment.len(), self.tableau.stages());
        let row = i * s..(i + 1) * s;
        self.point.t = from.t + self.tableau.c[i] * h;
        self.point.v.copy_from_slice(&from.v);
        combine(&mut self.point.v, h, &self.tableau.a[row.clone()], &self.a);
        match (&mut self.rates, motion.chart()) {
            (Some(rates), Some(chart)) => {
                if self.tableau.explicit {
                    rates.stage(chart, (&self.tableau, h), (i, &self.point.v));
                }
                self.increment.copy_from_slice(rates.increment(i));
            }
            _ => {
                for (d, v) in self.increment.iter_mut().zip(&from.v) {
                    *d = h * self.tableau.c[i] * v;
                }
                combine(&mut self.increment, h * h, &self.tableau.square[row], &self.a);
            }
        }
        motion.retract(&from.q, &self.increment, &mut self.point.q);
        self.v[i * n..(i + 1) * n].copy_from_slice(&self.point.v);
        motion.stage(i, h * self.tableau.b[i], &self.point, &mut self.rate)
    }

    /// (3) until the velocities of the stages stand still.
    fn solve(&mut self, motion: &mut impl IndexOne, from: &State, h: f64) -> Result<(), StepError> {
        let solved = match self.simplified(motion, from, h) {
            // beyond where the model is defined iterations have diverged as well
            Err(error @ (StepError::Newton { .. } | StepError::NotFinite | StepError::Model(_)))
                if !motion.is_affine() =>
            {
                // the first failure tells more
                self.damped(motion, from, h).map_err(|_| error)
            }
            solved => solved,
        };
        self.is_lost = solved.is_err();
        solved
    }

    /// (3) with one matrix.
    fn simplified(&mut self, motion: &mut impl IndexOne, from: &State, h: f64) -> Result<(), StepError> {
        let mut fresh = self.differs != Some(motion.version());
        if fresh {
            self.differentiate(motion, from)?;
        }
        if self.is_lost {
            self.guess_from(motion, from)?;
        } else {
            self.guess();
        }
        let once = motion.is_affine() && motion.is_free();
        let (mut iterations, mut before) = (0, f64::INFINITY);
        loop {
            self.factor(h)?;
            self.miss(motion, from, h)?;
            self.correct();
            let (change, size) = self.take_change(from, h)?;
            iterations += 1;
            self.iterations += 1;
            let tolerance = self.tolerance(motion, size, h);
            if change <= tolerance || once {
                break;
            }
            let slow = change > 0.3 * before;
            if slow && change <= self.resolved(motion, from, h) {
                break;
            }
            let diverges = fresh && change > DIVERGES * before;
            if diverges || iterations >= self.newton.iterations {
                return Err(StepError::Newton { residual: change, tolerance, iterations });
            }
            if slow && !fresh {
                self.differentiate(motion, from)?;
                fresh = true;
            }
            before = change;
        }
        if iterations > FAST {
            self.differs = None;
        }
        Ok(())
    }

    /// (3) with derivatives at the stages, from v̇ at the start.
    #[cold]
    fn damped(&mut self, motion: &mut impl IndexOne, from: &State, h: f64) -> Result<(), StepError> {
        self.guess_from(motion, from)?;
        self.forget();
        for iterations in 1..=self.newton.iterations {
            self.factor_at_stages(motion, from, h)?;
            self.correct();
            self.change.copy_from_slice(&self.residual);
            let (change, size) = self.take_change(from, h)?;
            self.iterations += 1;
            let tolerance = self.tolerance(motion, size, h);
            // the reactions of the stages belong to the accelerations that were found
            if change <= tolerance {
                return self.miss(motion, from, h);
            }
            let mut part = 1.0;
            while !self.falls(motion, from, h)? {
                if change <= self.resolved(motion, from, h) {
                    return Ok(());
                }
                part *= 0.5;
                if part < LEAST_PART {
                    return Err(StepError::Newton { residual: change, tolerance, iterations });
                }
                let changes = self.change.iter().zip(self.units.iter().cycle());
                self.a.iter_mut().zip(changes).for_each(|(a, (da, unit))| *a -= part * da * unit);
            }
        }
        Err(StepError::Newton { residual: f64::INFINITY, tolerance: 0.0, iterations: self.newton.iterations })
    }

    /// Whether the next change with the same matrix is smaller than the last one.
    fn falls(&mut self, motion: &mut impl IndexOne, from: &State, h: f64) -> Result<bool, StepError> {
        match self.miss(motion, from, h) {
            Ok(()) => {}
            // beyond where the model is defined
            Err(StepError::Model(_) | StepError::NotFinite) => return Ok(false),
            Err(error) => return Err(error),
        }
        self.correct();
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let sum: f64 = self.residual.iter().sum();
        Ok(sum.is_finite() && largest(&self.residual) < largest(&self.change))
    }

    /// What a velocity may change in the last iteration.
    fn tolerance(&self, motion: &impl IndexOne, size: f64, h: f64) -> f64 {
        (self.newton.tolerance + motion.inexactness()) * size + h * motion.rounding()
    }

    /// Where iterations with a stiff matrix stand still: velocities are not told apart better than positions, per step.
    #[cold]
    fn resolved(&self, motion: &impl IndexOne, from: &State, h: f64) -> f64 {
        64.0 * f64::EPSILON * largest_position(motion, &self.units, from) / h.abs()
    }

    /// The change that (3) asks for, from its right-hand side, in units of the velocities.
    fn correct(&mut self) {
        self.residual.iter_mut().zip(self.units.iter().cycle()).for_each(|(r, unit)| *r /= unit);
        self.system.solve(&mut self.residual);
    }

    /// The right-hand side of (3) at all stages.
    fn miss(&mut self, motion: &mut impl IndexOne, from: &State, h: f64) -> Result<(), StepError> {
        motion.start();
        self.settle(motion, from, h)?;
        (0..self.tableau.stages()).try_for_each(|i| self.miss_at(motion, (from, h), i))
    }

    /// The right-hand side of (3) at stage `i`, which is left in `point`.
    fn miss_at(&mut self, motion: &mut impl IndexOne, (from, h): (&State, f64), i: usize) -> Result<(), StepError> {
        self.evaluate(motion, (from, h), i)?;
        let n = self.increment.len();
        let stage = i * n..(i + 1) * n;
        let known = self.rate.iter().zip(&self.a[stage.clone()]);
        for (r, (value, a)) in self.residual[stage].iter_mut().zip(known) {
            *r = value - a;
        }
        Ok(())
    }

    /// Takes the change in `residual`; returns the largest change of a velocity and the largest velocity.
    fn take_change(&mut self, from: &State, h: f64) -> Result<(f64, f64), StepError> {
        let units = || self.units.iter().cycle();
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

    /// All stages start from v̇ at the start.
    #[cold]
    fn guess_from(&mut self, motion: &mut impl IndexOne, from: &State) -> Result<(), StepError> {
        motion.rate(from, &mut self.rate)?;
        for stage in self.a.chunks_exact_mut(self.rate.len().max(1)) {
            stage.copy_from_slice(&self.rate);
        }
        Ok(())
    }

    /// ∂v̇/∂q and ∂v̇/∂v at the start.
    fn differentiate(&mut self, motion: &mut impl IndexOne, from: &State) -> Result<(), StepError> {
        self.point.copy_from(from);
        self.differentiate_here(motion)?;
        self.differs = Some(motion.version());
        Ok(())
    }

    /// ∂v̇/∂q and ∂v̇/∂v at `point`, column by column. A step as large as what is met is exact where v̇ is affine; a
    /// far larger one is safe from rounding as well.
    fn differentiate_here(&mut self, motion: &mut impl IndexOne) -> Result<(), StepError> {
        let n = self.increment.len();
        let unit = match (motion.is_affine(), motion.is_free()) {
            (true, true) => FAR,
            (true, false) => 1.0,
            (false, _) => f64::EPSILON.sqrt(),
        };
        self.take_units(motion);
        motion.rate(&self.point, &mut self.base)?;
        self.near.copy_from(&self.point);
        for velocities in [false, true] {
            for j in 0..n {
                self.column(motion, (velocities, j), unit * motion.size(velocities, j))?;
            }
        }
        self.count += 1;
        Ok(())
    }

    fn take_units(&mut self, motion: &impl IndexOne) {
        self.units.iter_mut().enumerate().for_each(|(j, unit)| *unit = motion.unit(j));
    }

    /// A column of the derivatives with the step d.
    fn column(&mut self, motion: &mut impl IndexOne, (velocities, j): (bool, usize), d: f64) -> Result<(), StepError> {
        let n = self.increment.len();
        self.increment.fill(0.0);
        self.increment[j] = d;
        if velocities {
            self.near.v[j] = self.point.v[j] + d;
        } else {
            motion.retract(&self.point.q, &self.increment, &mut self.near.q);
        }
        let found = motion.rate(&self.near, &mut self.rate);
        self.near.copy_from(&self.point);
        found?;
        let columns = self.derivative[usize::from(velocities)].iter_mut().skip(j).step_by(n);
        let values = self.rate.iter().zip(&self.base);
        columns.zip(values).for_each(|(out, (value, base))| *out = (value - base) / d);
        Ok(())
    }

    /// How far an explicit step reaches, in time constants of the fastest motion, where its stages look as if it
    /// reached beyond the limit: h v̇ differs by more than that between them, beside v. Zero elsewhere. The largest
    /// rate of the linearised motion of (q, h v) is found by iterating on it.
    pub fn reach(&mut self, motion: &mut impl IndexOne, from: &State, h: f64, limit: f64) -> Result<f64, StepError> {
        self.take_units(motion);
        let units = std::mem::take(&mut self.units);
        let reach = self.reach_in(&units, motion, (from, h), limit);
        self.units = units;
        reach
    }

    fn reach_in(
        &mut self,
        units: &[f64],
        motion: &mut impl IndexOne,
        (from, h): (&State, f64),
        limit: f64,
    ) -> Result<f64, StepError> {
        let (n, s) = (self.increment.len(), self.tableau.stages());
        let largest = |x: &[f64]| x.iter().zip(units).fold(0.0f64, |m, (x, unit)| m.max((x / unit).abs()));
        let apart = |x: &[f64], i: usize| {
            let difference = |k: usize| ((x[i * n + k] - x[(i - 1) * n + k]) / units[k]).abs();
            (0..n).fold(0.0f64, |m, k| m.max(difference(k)))
        };
        if !(1..s).any(|i| h * apart(&self.a, i) > limit * apart(&self.v, i)) {
            return Ok(0.0);
        }
        motion.rate(from, &mut self.base)?;
        // (dq, h dv) in `increment` and `far`
        let last = (s - 1) * n;
        (0..n).for_each(|k| self.increment[k] = h * h * (self.a[last + k] - self.a[k]));
        self.far.fill(0.0);
        let size = largest_position(motion, units, from).max(h * largest(&from.v)).max(h * h * largest(&self.base));
        let small = f64::EPSILON.sqrt() * size;
        let mut growth = 1.0f64;
        for _ in 0..ROUNDS {
            let size = largest(&self.increment).max(largest(&self.far));
            if !(size > 0.0 && small > 0.0) {
                return Ok(0.0);
            }
            let unit = small / size;
            self.increment.iter_mut().chain(&mut self.far).for_each(|x| *x *= unit);
            motion.retract(&from.q, &self.increment, &mut self.near.q);
            self.near.t = from.t;
            let velocities = self.near.v.iter_mut().zip(from.v.iter().zip(&self.far));
            velocities.for_each(|(out, (v, w))| *out = v + w / h);
            motion.rate(&self.near, &mut self.rate)?;
            for k in 0..n {
                self.increment[k] = self.far[k];
                self.far[k] = h * h * (self.rate[k] - self.base[k]);
            }
            growth *= largest(&self.increment).max(largest(&self.far)) / small;
        }
        Ok(powf(growth, 1.0 / f64::from(ROUNDS)))
    }

    /// Factors the matrix of (3), unless it is still there.
    fn factor(&mut self, h: f64) -> Result<(), StepError> {
        let key = Some((h.to_bits(), self.count));
        if self.factored == key {
            return Ok(());
        }
        let s = self.tableau.stages();
        self.system.matrix_mut(s * self.increment.len());
        (0..s).for_each(|i| self.lay_out(i, h));
        self.invert()?;
        self.factored = key;
        Ok(())
    }

    /// Factors the matrix of (3) with the derivatives at each stage, and takes the right-hand side on the way.
    fn factor_at_stages(&mut self, motion: &mut impl IndexOne, from: &State, h: f64) -> Result<(), StepError> {
        let s = self.tableau.stages();
        self.system.matrix_mut(s * self.increment.len());
        motion.start();
        self.settle(motion, from, h)?;
        for i in 0..s {
            self.miss_at(motion, (from, h), i)?;
            self.differentiate_here(motion)?;
            self.lay_out(i, h);
        }
        self.invert()
    }

    /// The rows of stage `i` of the matrix of (3).
    fn lay_out(&mut self, i: usize, h: f64) {
        let (n, s) = (self.increment.len(), self.tableau.stages());
        let size = n * s;
        let [by_q, by_v] = &self.derivative;
        let rows = self.system.matrix_mut(size)[i * n * size..(i + 1) * n * size].chunks_exact_mut(size.max(1));
        for (k, values) in rows.enumerate() {
            for (column, value) in values.iter_mut().enumerate() {
                let (j, l) = (column / n, column % n);
                let (a, square) = (self.tableau.a[i * s + j], self.tableau.square[i * s + j]);
                let unit = if i * n + k == column { 1.0 } else { 0.0 };
                let change = h * a * by_v[k * n + l] + h * h * square * by_q[k * n + l];
                *value = unit - change * self.units[l] / self.units[k];
            }
        }
    }

    /// Factors what was laid out; a singular matrix of (3) says that the step is too large for this model.
    fn invert(&mut self) -> Result<(), StepError> {
        self.factored = None;
        self.system.factor().map_err(|_| StepError::Newton {
            residual: f64::INFINITY,
            tolerance: self.newton.tolerance,
            iterations: 0,
        })
    }

    /// Difference from the embedded method: RMS norm of components divided by `atol + rtol max(|y|, |y⁺|)`.
    pub fn error(&self, (from, to): (&State, &State), h: f64, tolerances: Tolerances<'_>) -> f64 {
        let n = self.increment.len();
        let mut sum = 0.0;
        let rates = self.rates.as_ref().map_or(&self.v[..], |rates| rates.all());
        let positions = (false, rates, (&from.q[..], &to.q[..]));
        for (is_velocity, stages, ends) in [positions, (true, &self.a[..], (&from.v[..], &to.v[..]))] {
            for k in 0..n {
                let weights = self.tableau.b.iter().zip(&self.tableau.embedded).enumerate();
                let error: f64 = weights.map(|(j, (b, other))| h * (b - other) * stages[j * n + k]).sum();
                sum += (error / tolerances.scale(is_velocity, k, ends)).powi(2);
            }
        }
        (sum / (2 * n).max(1) as f64).sqrt()
    }

    /// (2).
    fn finish(&mut self, motion: &impl IndexOne, from: &State, h: f64, to: &mut State) -> Result<(), StepError> {
        to.t = from.t + h;
        to.v.copy_from_slice(&from.v);
        combine(&mut to.v, h, &self.tableau.b, &self.a);
        if !self.tableau.explicit {
            self.settle(motion, from, h)?;
        }
        match &self.rates {
            Some(rates) => {
                self.increment.fill(0.0);
                combine(&mut self.increment, h, &self.tableau.b, rates.all());
            }
            None => {
                for (d, v) in self.increment.iter_mut().zip(&from.v) {
                    *d = h * v;
                }
                combine(&mut self.increment, h * h, &self.tableau.product, &self.a);
            }
        }
        motion.retract(&from.q, &self.increment, &mut to.q);
        Ok(())
    }
}

/// The largest position beside velocities in their units.
fn largest_position(motion: &impl IndexOne, units: &[f64], at: &State) -> f64 {
    units.iter().enumerate().fold(0.0f64, |m, (j, unit)| m.max(motion.position(&at.q, j) / unit))
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
