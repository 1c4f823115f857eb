//! HEM5: the half-explicit method of order 5 for constraints at the velocity level [brasey1994].
//!
//! ```text
//!     Qᵢ₊₁ = retract(q, h Σ_{j≤i} aᵢ₊₁,ⱼ Vⱼ)                                                          (1)
//!     Mᵢ Aᵢ = Fᵢ + Bᵢ Λᵢ,    Vᵢ₊₁ = v + h Σ_{j≤i} aᵢ₊₁,ⱼ Aⱼ                                           (2)
//!     Cᵢ₊₁ Vᵢ₊₁ + ∂y/∂t = 0 on the rows held                                                         (3)
//! ```
//!
//! for i = 1..8, with row 9 of a the weights b: q⁺ = Q₉, v⁺ = V₉. (2) in (3) is a system with W = Cᵢ₊₁ Mᵢ⁻¹Bᵢ, rows
//! from the next stage and columns from this one. Velocities obey their constraints at every stage, to rounding;
//! positions drift at order 5. Without constraints it is an explicit Runge-Kutta method. The Λᵢ are of low order, and
//! no multipliers. Where increments have a chart (`model/chart.rs`) rates of increments take the place of Vⱼ in (1) and
//! in the positions of (4).
//!
//! ```text
//!     e₁ = y⁺ − (Q₈, V₈),   e₂ = y⁺ − y − h (5/2 (V₇, A₇) − 3/2 (V₈, A₈)),   err = |e₁|² / (|e₁| + |e₂|/100) = O(h⁵)      (4)
//! ```

use super::{HalfExplicit, Tolerances};
use crate::{State, StepError};

/// Number of stages.
pub(super) const STAGES: usize = 8;

/// Rows 2 to 9 of the table: stages, then weights.
pub(crate) const A: [[f64; STAGES]; STAGES] = [
    [0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0375, 0.1125, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.3222169236216002, -1.1888833229875917, 1.228145134023354, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-0.0350112389812992, 0.37254206010861557, -0.2721053535582031, 0.01993037578575087, 0.0, 0.0, 0.0, 0.0],
    [
        -0.5576547055041834,
        1.3673072896458633,
        -1.7322363604606883,
        0.4587772007467546,
        0.9638065755722537,
        0.0,
        0.0,
        0.0,
    ],
    [
        0.08654517193564219,
        -0.08810082847945248,
        0.19812755473290664,
        -0.4645422679331079,
        0.1615170091109998,
        0.9064533606330117,
        0.0,
        0.0,
    ],
    [0.0, 0.0, 0.0, 3.6244772487538715, -0.46177241891829884, -3.1980246281643248, 1.0353197983287519, 0.0],
    [
        0.0,
        0.0,
        0.0,
        0.24677606676367903,
        0.21065940874897246,
        0.1769218149125018,
        0.3064446444147934,
        0.059198065160053284,
    ],
];

/// Nodes of the stages, and the end.
pub(crate) const C: [f64; STAGES + 1] = [0.0, 0.1, 0.15, 0.36147873465736247, 0.08535584335486412, 0.5, 0.8, 1.0, 1.0];

/// Buffers of a step.
#[derive(Default)]
pub(crate) struct Hem5 {
    pub(super) v: Vec<f64>, // (9 × n) velocities of the stages and of the end, or rates of increments
    pub(super) a: Vec<f64>, // (8 × n) accelerations of the stages
    point: State,           // stage i
    ahead: Vec<f64>,        // Qᵢ₊₁
    increment: Vec<f64>,    // (n)
    way: Vec<f64>,          // (n) increment of Qᵢ₊₁, where increments have a chart
}

carom_solve::persist!(Hem5 { v, a, point, ahead, increment, way });

impl Hem5 {
    /// Buffers for motions like this state.
    pub fn new(point: State) -> Hem5 {
        let n = point.v.len();
        Hem5 {
            v: vec![0.0; (STAGES + 1) * n],
            a: vec![0.0; STAGES * n],
            ahead: point.q.clone(),
            point,
            increment: vec![0.0; n],
            way: vec![0.0; n],
        }
    }

    /// Advances by `h`. `first` is v̇ at the start, where it is known and nothing is held.
    pub fn advance(
        &mut self,
        motion: &mut impl HalfExplicit,
        first: Option<&[f64]>,
        (from, h): (&State, f64),
        to: &mut State,
    ) -> Result<(), StepError> {
        let n = self.increment.len();
        let (free, has_chart) = (motion.is_free(), motion.chart().is_some());
        self.v[..n].copy_from_slice(&from.v);
        self.point.copy_from(from);
        if !free {
            motion.start(from)?;
        }
        for i in 0..STAGES {
            // positions of the next stage are known before its velocities
            weigh(&A[i][..=i], h, &self.v, &mut self.increment);
            motion.retract(&from.q, &self.increment, &mut self.ahead);
            if has_chart {
                self.way.copy_from_slice(&self.increment);
            }
            let t = from.t + C[i + 1] * h;
            let stage = i * n..(i + 1) * n;
            match first.filter(|_| i == 0) {
                Some(first) => self.a[stage.clone()].copy_from_slice(first),
                None => motion.free(&self.point, &mut self.a[stage.clone()])?,
            }
            if !free {
                // v + h Σ a A without the reactions of this stage
                weigh(&A[i][..=i], h, &self.a, &mut self.increment);
                self.increment.iter_mut().zip(&from.v).for_each(|(x, v)| *x += v);
                motion.turn(&self.point)?;
                let v = (&self.increment[..], h * A[i][i]);
                motion.react((t, &self.ahead), v, &mut self.a[stage])?;
            }
            weigh(&A[i][..=i], h, &self.a, &mut self.increment);
            let next = &mut self.v[(i + 1) * n..(i + 2) * n];
            for (v, (start, d)) in next.iter_mut().zip(from.v.iter().zip(&self.increment)) {
                *v = start + d;
            }
            self.point.t = t;
            self.point.v.copy_from_slice(next);
            if let Some(chart) = motion.chart().filter(|_| has_chart) {
                chart.rate(&self.way, &self.point.v, next);
            }
            std::mem::swap(&mut self.point.q, &mut self.ahead);
        }
        to.copy_from(&self.point);
        to.t = from.t + h;
        if to.is_finite() { Ok(()) } else { Err(StepError::NotFinite) }
    }

    /// (4) with the RMS norm of components divided by `atol + rtol max(|y|, |y⁺|)`.
    pub fn error(&self, (from, to): (&State, &State), h: f64, tolerances: Tolerances<'_>) -> f64 {
        let n = self.increment.len();
        let (mut first, mut second) = (0.0, 0.0);
        let b = &A[STAGES - 1];
        let positions = (false, &self.v, (&from.q[..], &to.q[..]));
        for (is_velocity, stages, ends) in [positions, (true, &self.a, (&from.v[..], &to.v[..]))] {
            for k in 0..n {
                let at = |j: usize| stages[j * n + k];
                let (mut e1, mut sum) = (0.0, 0.0);
                for j in 3..STAGES {
                    e1 += (b[j] - A[STAGES - 2][j]) * at(j);
                    sum += b[j] * at(j);
                }
                let e2 = sum - 2.5 * at(6) + 1.5 * at(7);
                let scale = tolerances.scale(is_velocity, k, ends);
                first += (h * e1 / scale).powi(2);
                second += (h * e2 / scale).powi(2);
            }
        }
        let count = (2 * n).max(1) as f64;
        let (e1, e2) = ((first / count).sqrt(), (second / count).sqrt());
        if e1 == 0.0 { 0.0 } else { e1 * e1 / (e1 + 0.01 * e2) }
    }
}

/// `out ← h Σ wⱼ xⱼ`.
#[inline]
pub(super) fn weigh(weights: &[f64], h: f64, stages: &[f64], out: &mut [f64]) {
    let n = out.len();
    for (k, out) in out.iter_mut().enumerate() {
        let mut sum = 0.0;
        for (j, w) in weights.iter().enumerate() {
            sum += w * stages[j * n + k];
        }
        *out = h * sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entry (i, j) of the 8 stages, both from 1.
    fn a(i: usize, j: usize) -> f64 {
        if i == 1 { 0.0 } else { A[i - 2][j - 1] }
    }

    #[test]
    fn the_nodes_have_the_nested_surd() {
        let root = 193.0f64.sqrt();
        let (sum, difference) = ((34.0 - root) / 45.0, ((1573.0 - 91.0 * root) / 4050.0).sqrt());
        assert!((C[3] - 0.5 * (sum + difference)).abs() < 1e-15 && (C[4] - 0.5 * (sum - difference)).abs() < 1e-15);
        assert!((40.0 * C[3] * C[4] - 5.0 * (C[3] + C[4]) + 1.0).abs() < 1e-14);
    }

    /// Conditions 1 to 5 that determine the table.
    #[test]
    fn the_table_obeys_its_conditions() {
        let b = |j: usize| A[7][j - 1];
        for k in 0..6 {
            let sum: f64 = (1..=8).map(|j| b(j) * C[j - 1].powi(k)).sum();
            assert!((sum - 1.0 / f64::from(k + 1)).abs() < 1e-14, "quadrature {k}");
        }
        let seventh: f64 = (1..=8).map(|j| b(j) * C[j - 1].powi(6)).sum();
        assert!((seventh - 1.0 / 7.0 + 1.1414e-5).abs() < 1e-9, "{}", seventh - 1.0 / 7.0);
        for i in 2..=8 {
            for k in 0..=(if i == 2 { 0 } else { 2 }) {
                let sum: f64 = (1..=8).map(|j| a(i, j) * C[j - 1].powi(k)).sum();
                assert!((sum - C[i - 1].powi(k + 1) / f64::from(k + 1)).abs() < 1e-14, "stage {i}, {k}");
            }
        }
        // the index-2 condition in its linear form
        let w3 = -5.8503783039358699;
        for i in 4..=9 {
            let residual = 10.0 * a(i, 1) - 10.0 / 3.0 * a(i, 2) + w3 * a(i, 3);
            assert!(residual.abs() < 1e-14, "row {i}: {residual:e}");
        }
        for j in 1..=8 {
            let sum: f64 = (1..=8).map(|i| b(i) * a(i, j)).sum();
            assert!((sum - b(j) * (1.0 - C[j - 1])).abs() < 1e-14, "column {j}");
        }
        assert!((1..=8).map(|i| b(i) * C[i - 1] * a(i, 2)).sum::<f64>().abs() < 1e-14);
    }
}
