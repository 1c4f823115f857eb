//! Slow slips in space: the directions of friction as unknowns of the stages of Radau's method.
//!
//! ```text
//!     uᵢ · pᵢ = 0 at all stages i,    pᵢ = dᵢ turned by a right angle                                    (1)
//!     (h κ a + diag(uᵢ · dᵢ)) Δθ = (uᵢ · pᵢ),    κ = −∂(u̇ · p)/∂θ = μ λ_N pᵀW p                         (2)
//! ```
//!
//! Friction acts against the velocity, −μ λ_N u/|u|. Where |u| is next to nothing, as after a stick that has reached
//! its limit, its derivative is as good as infinite, and Newton's iterations on accelerations see none of it from a
//! start without a direction. With the angles θᵢ of the directions dᵢ as unknowns nothing is stiff: the accelerations
//! follow from directions that are given, and (1) from them, smoothly. The matrix of (2) learns from each correction
//! what it has missed, by Broyden's rule.

use crate::integrator::Stages;
use crate::phase::{Acceleration, FreeMotion, Mode, Phase, StageLog, StagedMotion};
use crate::{Mechanical, State, StepError};
use carom_solve::elementary::sin_cos;

/// Most corrections of the directions.
const CORRECTIONS: u32 = 16;

/// Slips across their directions that are left, as a part of the velocities behind them.
const ACROSS: f64 = 1e-12;

/// Angle by which κ is measured [rad].
const TURNED: f64 = 1e-4;

/// Most that a correction turns a direction [rad].
const MOST: f64 = 0.7;

/// Stages of the method.
const STAGES: usize = 3;

/// Buffers: one phase for each stage, with directions of its own.
#[derive(Default)]
pub(super) struct Steered {
    base: Phase,
    stages: Vec<Phase>,
    stiffness: Vec<f64>, // (laws) κ
    slips: Vec<Slip>,    // (laws)
    sizes: Vec<f64>,     // (laws) velocities behind the slips
    still: Vec<f64>,     // (n) v̇ at the start
    turned: Vec<f64>,    // (n) the same with a direction turned
}

/// What the corrections of one slip have shown.
#[derive(Clone, Copy, Default)]
struct Slip {
    matrix: [[f64; STAGES]; STAGES], // of (2)
    angles: [f64; STAGES],           // of the last correction
    miss: [f64; STAGES],             // before it
}

impl Steered {
    /// A step of the stages over `h`.
    pub fn advance(
        &mut self,
        model: &mut dyn Mechanical,
        (stages, acceleration, log): (&mut Stages, &mut Acceleration, &mut StageLog),
        phase: &Phase,
        (from, h): (&State, f64),
        to: &mut State,
    ) -> Result<(), StepError> {
        self.begin(model, acceleration, phase, from)?;
        let (mut before, mut last) = (f64::INFINITY, 0.0);
        for correction in 0..CORRECTIONS {
            log.turned.clear();
            let free = FreeMotion { model: &mut *model, acceleration: &mut *acceleration };
            let mut motion = StagedMotion { free, phase: &self.base, log: &mut *log, steered: Some(&self.stages) };
            stages.advance(&mut motion, from, h, to)?;
            let miss = self.turn(&log.turned, (stages.weights(), h), correction == 0);
            if miss <= 1.0 {
                return Ok(());
            }
            last = miss;
            if miss.is_nan() || miss > 4.0 * before {
                break;
            }
            before = miss;
        }
        Err(StepError::Newton { residual: last, tolerance: 1.0, iterations: CORRECTIONS })
    }

    /// Directions at the start, and κ of each slip.
    fn begin(
        &mut self,
        model: &mut dyn Mechanical,
        acceleration: &mut Acceleration,
        phase: &Phase,
        from: &State,
    ) -> Result<(), StepError> {
        let at = (from.t, &from.q[..], &from.v[..]);
        self.base.copy_from(phase);
        acceleration.evaluate(model, &self.base, at)?;
        let laws = self.base.keys().len();
        for law in 0..laws {
            if is_slip(&self.base, acceleration, law) {
                self.base.set(law, Mode::Slip(acceleration.direction(law)));
            }
        }
        self.base.still = f64::INFINITY;
        self.still.clone_from(&acceleration.value);
        self.stiffness.clear();
        self.stiffness.resize(laws, 0.0);
        self.sizes.clear();
        self.sizes.resize(laws, 0.0);
        for law in 0..laws {
            let Mode::Slip(d) = self.base.mode(law) else { continue };
            if !is_slip(&self.base, acceleration, law) {
                continue;
            }
            self.base.set(law, Mode::Slip(rotated(d, TURNED)));
            acceleration.evaluate(model, &self.base, at)?;
            self.base.set(law, Mode::Slip(d));
            self.turned.clear();
            self.turned.extend(self.still.iter().zip(&acceleration.value).map(|(a, b)| a - b));
            let first = acceleration.coupling.offset[law] + 1;
            let [x, y] = [first, first + 1].map(|row| acceleration.coupling.rows.dot(row, &self.turned));
            self.stiffness[law] = (y * d[0] - x * d[1]) / TURNED;
            let size = |row| acceleration.sizes.speed(acceleration.coupling.rows.row(row), &from.v);
            self.sizes[law] = size(first).max(size(first + 1));
            if self.stiffness[law].is_nan() || self.stiffness[law] <= 0.0 {
                return Err(StepError::Newton { residual: self.stiffness[law], tolerance: 0.0, iterations: 0 });
            }
        }
        self.stages.resize_with(STAGES, Phase::default);
        self.stages.iter_mut().for_each(|stage| stage.copy_from(&self.base));
        Ok(())
    }

    /// Turns the directions by (2); returns by how much (1) was missed, in units of what may be left. NaN where a slip
    /// goes against its direction.
    fn turn(&mut self, slips: &[[f64; 2]], (weights, h): (&[f64], f64), is_first: bool) -> f64 {
        let (laws, mut worst) = (self.stiffness.len(), 0.0f64);
        self.slips.resize(laws, Slip::default());
        for law in (0..laws).filter(|law| self.stiffness[*law] > 0.0) {
            let (Slip { mut matrix, angles, miss: before }, mut miss) = (self.slips[law], [0.0; STAGES]);
            for (i, stage) in self.stages.iter().enumerate() {
                let (Mode::Slip(d), u) = (stage.mode(law), slips[i * laws + law]) else { continue };
                let along = u[0] * d[0] + u[1] * d[1];
                miss[i] = u[1] * d[0] - u[0] * d[1];
                if is_first {
                    matrix[i] = std::array::from_fn(|j| h * self.stiffness[law] * weights[i * STAGES + j]);
                    matrix[i][i] += along.max(0.0);
                }
                let allowed = ACROSS * self.sizes[law];
                worst = if along < -allowed { f64::NAN } else { worst.max(miss[i].abs() / allowed) };
            }
            if worst.is_nan() {
                return worst;
            }
            let square: f64 = angles.iter().map(|x| x * x).sum();
            if !is_first && square > 0.0 {
                for (i, row) in matrix.iter_mut().enumerate() {
                    let expected: f64 = row.iter().zip(angles).map(|(a, x)| a * x).sum();
                    let learnt = (before[i] - miss[i] - expected) / square;
                    row.iter_mut().zip(angles).for_each(|(a, x)| *a += learnt * x);
                }
            }
            let angles = solve(matrix, miss).map(|angle| angle.clamp(-MOST, MOST));
            for (stage, angle) in self.stages.iter_mut().zip(angles) {
                if let Mode::Slip(d) = stage.mode(law) {
                    stage.set(law, Mode::Slip(rotated(d, angle)));
                }
            }
            self.slips[law] = Slip { matrix, angles, miss };
        }
        worst
    }
}

/// Whether a law slips in space.
fn is_slip(phase: &Phase, acceleration: &Acceleration, law: usize) -> bool {
    matches!(phase.mode(law), Mode::Slip(_)) && acceleration.coupling.range(law).len() == 3
}

fn rotated(d: [f64; 2], angle: f64) -> [f64; 2] {
    let (s, c) = sin_cos(angle);
    [c * d[0] - s * d[1], s * d[0] + c * d[1]]
}

/// The solution of a small system, by elimination without pivoting: the matrix is that of the method and a diagonal.
fn solve(mut matrix: [[f64; STAGES]; STAGES], mut x: [f64; STAGES]) -> [f64; STAGES] {
    for k in 0..STAGES {
        for i in k + 1..STAGES {
            let part = matrix[i][k] / matrix[k][k];
            for j in k..STAGES {
                matrix[i][j] -= part * matrix[k][j];
            }
            x[i] -= part * x[k];
        }
    }
    for k in (0..STAGES).rev() {
        for j in k + 1..STAGES {
            x[k] -= matrix[k][j] * x[j];
        }
        x[k] /= matrix[k][k];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn small_systems_are_solved() {
        let matrix = [[2.0, 1.0, 0.5], [0.25, 3.0, -1.0], [1.0, 0.5, 4.0]];
        let x = [1.0, -2.0, 3.0];
        let b = matrix.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum());
        assert!(solve(matrix, b).iter().zip(x).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-14));
    }
}
