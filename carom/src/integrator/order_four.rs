//! Dense output of order 4 of HEM5 with velocity constraints that hold everywhere [brasey1994].
//!
//! ```text
//!     Q₁₀ = q + h (a₆ V₆ + a₇ V₇ + a₉ V₉),   V₁₀ = v + h (a₆ A₆ + a₇ A₇ + a₉ A₉),   C₁₀ V₁₀ + ∂y/∂t = 0 gives A₉       (1)
//!     Q(s) = q + h (Σ_{4..8} bⱼ(s) Vⱼ + b₁₀(s) V₁₀),   b₁₀ = 16/19 s (1 − s)² (2 − 5s)                                  (2)
//!     M₁₀ x − B₁₀ μ = h b₁₀ F₁₀,   C(Q(s)) (V + x) + ∂y/∂t = 0,   V = v + h Σ_{4..8} bⱼ(s) Aⱼ,   V(s) = V + x           (3)
//! ```
//!
//! One stage more than the step, at t + h/20, and a small system for each s. (3) is written for h b₁₀ A₁₀ because b₁₀
//! vanishes inside. Where increments have a chart (`model/chart.rs`) Vⱼ in the positions are rates of increments.

use super::HalfExplicit;
use super::hem5::{Hem5, weigh};
use crate::{State, StepError};

/// Node and weights of the further stage: those of stages 6, 7 and of the end.
const NODE: f64 = 0.05;
const STAGE: [f64; 3] = [907.0 / 3600.0, -139.0 / 360.0, 221.0 / 1200.0];

/// Coefficients of s, s², s³, s⁴ in the weights of stages 4 to 8.
const WEIGHTS: [[f64; 4]; 5] = [
    [-0.26612623871190494, 2.9634082652261298, -4.141333547261829, 1.690827587511283],
    [-0.47846286944145516, 5.405521925135885, -8.533017606951514, 3.8166179600060572],
    [-0.08492247115800088, 0.9129165649485094, -0.8633784567730088, 0.21230617789500217],
    [0.2500588298424714, -2.963932600779882, 6.403467289691523, -3.3831488743393194],
    [-0.10475777684689995, 1.2610332138904103, -2.9710008365999077, 1.8739234647164507],
];

/// Weights of stages 4 to 8, and of the further one.
fn weights(s: f64) -> [f64; 6] {
    let mut all = [0.0; 6];
    for (w, [a, b, c, d]) in all.iter_mut().zip(WEIGHTS) {
        *w = s * (a + s * (b + s * (c + s * d)));
    }
    all[5] = 16.0 / 19.0 * s * (1.0 - s) * (1.0 - s) * (2.0 - 5.0 * s);
    all
}

/// The motion of a step.
#[derive(Default)]
pub(crate) struct OrderFour {
    start: State,
    h: f64,
    v: Vec<f64>,     // (6 × n) V₄..V₈, V₁₀, or rates of increments
    a: Vec<f64>,     // (5 × n) A₄..A₈
    tenth: State,    // stage 10
    force: Vec<f64>, // (n) M₁₀⁻¹F₁₀
    increment: Vec<f64>,
    way: Vec<f64>, // (n) increment of stage 10
    is_free: bool,
}

carom_solve::persist!(OrderFour { start, h, v, a, tenth, force, increment, way, is_free });

impl OrderFour {
    /// (1) for the step that `flow` did last; `motion` is left at stage 10.
    pub fn fill(
        &mut self,
        motion: &mut impl HalfExplicit,
        flow: &Hem5,
        (from, to): (&State, &State),
        h: f64,
    ) -> Result<(), StepError> {
        let n = from.v.len();
        self.start.copy_from(from);
        self.h = h;
        self.is_free = motion.is_free();
        self.v.clear();
        self.v.extend_from_slice(&flow.v[3 * n..8 * n]);
        self.a.clear();
        self.a.extend_from_slice(&flow.a[3 * n..8 * n]);
        self.increment.resize(n, 0.0);
        self.force.resize(n, 0.0);
        // positions of the further stage are known
        self.tenth.copy_from(from);
        self.tenth.t = from.t + NODE * h;
        for (k, d) in self.increment.iter_mut().enumerate() {
            let at = |j: usize| flow.v[j * n + k];
            *d = h * (STAGE[0] * at(5) + STAGE[1] * at(6) + STAGE[2] * at(8));
        }
        motion.retract(&from.q, &self.increment, &mut self.tenth.q);
        self.way.clone_from(&self.increment);
        // A₉ such that the velocities of the further stage obey their constraints
        motion.free(to, &mut self.force)?;
        for (k, v) in self.tenth.v.iter_mut().enumerate() {
            let at = |j: usize| flow.a[j * n + k];
            *v += h * (STAGE[0] * at(5) + STAGE[1] * at(6) + STAGE[2] * self.force[k]);
        }
        if !self.is_free {
            motion.start(to)?;
            motion.turn(to)?;
            self.increment.copy_from_slice(&self.tenth.v);
            let State { t, q, v } = &mut self.tenth;
            motion.react((*t, q), (&self.increment, 1.0), v)?;
        }
        // M₁₀, F₁₀, B₁₀
        motion.free(&self.tenth, &mut self.force)?;
        if !self.is_free {
            motion.turn(&self.tenth)?;
        }
        self.v.extend_from_slice(&self.tenth.v);
        if let Some(chart) = motion.chart() {
            chart.rate(&self.way, &self.tenth.v, &mut self.v[5 * n..]);
        }
        Ok(())
    }

    /// The state at the part `s` of the step, with the motion that `fill` has left.
    pub fn at(&mut self, motion: &mut impl HalfExplicit, s: f64, out: &mut State) -> Result<(), StepError> {
        let weights = weights(s);
        out.t = self.start.t + s * self.h;
        weigh(&weights, self.h, &self.v, &mut self.increment);
        out.q.clone_from(&self.start.q);
        motion.retract(&self.start.q, &self.increment, &mut out.q);
        weigh(&weights[..5], self.h, &self.a, &mut self.increment);
        out.v.clone_from(&self.start.v);
        for (v, (d, f)) in out.v.iter_mut().zip(self.increment.iter().zip(&self.force)) {
            *v += d + self.h * weights[5] * f;
        }
        if !self.is_free {
            self.increment.copy_from_slice(&out.v);
            motion.react((out.t, &out.q), (&self.increment, 1.0), &mut out.v)?;
        }
        Ok(())
    }

    /// Whether there is a step.
    pub fn is_filled(&self) -> bool {
        !self.v.is_empty()
    }

    /// Forgets the step; buffers stay.
    pub fn clear(&mut self) {
        self.v.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::hem5::{A, C};
    use super::*;

    #[test]
    fn weights_obey_their_conditions() {
        let nodes = [C[3], C[4], C[5], C[6], C[7], NODE];
        for k in 0..=20 {
            let s = 0.05 * f64::from(k);
            let weights = weights(s);
            for power in 0..4 {
                let sum: f64 = weights.iter().zip(nodes).map(|(w, c)| w * c.powi(power)).sum();
                assert!((sum - s.powi(power + 1) / f64::from(power + 1)).abs() < 1e-13, "{s} {power}");
            }
            let second: f64 = (3..8).map(|j| weights[j - 3] * A[j - 1][1]).sum();
            assert!(second.abs() < 1e-13, "{s}: {second:e}");
        }
        for (w, b) in weights(1.0).iter().zip(&A[7][3..]) {
            assert!((w - b).abs() < 1e-13);
        }
        assert_eq!(weights(1.0)[5], 0.0);
    }
}
