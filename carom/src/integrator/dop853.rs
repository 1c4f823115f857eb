//! The explicit pair of Dormand and Prince of orders 8(5, 3) for motion on which no law acts [hairer1993, §II.5,
//! §II.10].
//!
//! ```text
//!     Vᵢ = v + h Σ_{j<i} aᵢⱼ Aⱼ,   Qᵢ = retract(q, h Σ_{j<i} aᵢⱼ Vⱼ),   Mᵢ Aᵢ = F(t + cᵢh, Qᵢ, Vᵢ),   i = 1..12         (1)
//!     v⁺ = v + h Σ bᵢ Aᵢ,          q⁺ = retract(q, h Σ bᵢ Vᵢ)                                                         (2)
//!     e₅ = y⁺ − ŷ₅,   e₃ = y⁺ − ŷ₃,   err = |e₅|² / √(|e₅|² + |e₃|²/100) = O(h⁸)                                      (3)
//! ```
//!
//! v̇ at the end of a step is that of the start of the next one: 12 evaluations per step. Motion inside the step is
//! that of `dense.rs`, of order 7, whose three further evaluations are made when somebody asks for it. The stages from
//! the sixth on are accurate to O(h⁶). Where increments have a chart (`model/chart.rs`) rates of increments take the
//! place of Vᵢ wherever positions are summed.

mod dense;
mod table;

use super::{Motion, Tolerances};
use crate::{State, StepError};
use table::{A, C, EXTENDED, FIFTH, STAGES, THIRD};

/// Stages in the inner part of the step that are accurate enough to be compared with an interpolant.
const INSIDE: [usize; 4] = [6, 5, 9, 8];

/// How much of a step is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Known {
    /// Nothing.
    #[default]
    None,
    /// The stages.
    Stages,
    /// The acceleration at the end as well.
    End,
    /// The dense output.
    Inside,
}

carom_solve::persist_enum!(Known { 0 = None, 1 = Stages, 2 = End, 3 = Inside });

/// Buffers of a step.
#[derive(Default)]
pub(crate) struct Dop853 {
    start: State,
    h: f64,
    v: Vec<f64>, // (16 × n) velocities of the stages, or rates of increments
    a: Vec<f64>, // (16 × n) accelerations of the stages
    point: State,
    increment: Vec<f64>,             // (n)
    polynomials: [Vec<[f64; 7]>; 2], // (n) of positions and of velocities
    known: Known,
}

carom_solve::persist!(Dop853 { start, h, v, a, point, increment, polynomials, known });

impl Dop853 {
    /// Buffers for motions like this state.
    pub fn new(point: State) -> Dop853 {
        let n = point.v.len();
        Dop853 {
            start: point.clone(),
            point,
            v: vec![0.0; EXTENDED * n],
            a: vec![0.0; EXTENDED * n],
            increment: vec![0.0; n],
            polynomials: [vec![[0.0; 7]; n], vec![[0.0; 7]; n]],
            ..Dop853::default()
        }
    }

    /// Advances by `h`, with v̇ at the start where it is known.
    pub fn advance(
        &mut self,
        motion: &mut impl Motion,
        first: Option<&[f64]>,
        (from, h): (&State, f64),
        to: &mut State,
    ) -> Result<(), StepError> {
        let n = self.increment.len();
        self.known = Known::None;
        self.start.copy_from(from);
        self.h = h;
        self.v[..n].copy_from_slice(&from.v);
        match first {
            Some(first) => self.a[..n].copy_from_slice(first),
            None => motion.free(from, &mut self.a[..n])?,
        }
        for i in 1..STAGES {
            self.stage(motion, i)?;
        }
        self.place(motion, STAGES);
        to.t = from.t + h;
        to.q.copy_from_slice(&self.point.q);
        to.v.copy_from_slice(&self.point.v);
        self.known = Known::Stages;
        if to.is_finite() { Ok(()) } else { Err(StepError::NotFinite) }
    }

    /// (1) of a stage: its place, then its acceleration.
    fn stage(&mut self, motion: &mut impl Motion, i: usize) -> Result<(), StepError> {
        let n = self.increment.len();
        self.place(motion, i);
        motion.free(&self.point, &mut self.a[i * n..(i + 1) * n])
    }

    /// Where a stage is; the one after the last is (2).
    fn place(&mut self, motion: &impl Motion, i: usize) {
        let (n, row) = (self.increment.len(), &A[i - 1]);
        self.point.t = self.start.t + C[i] * self.h;
        for k in 0..n {
            self.increment[k] = row.weigh(self.h, &self.v, (k, n));
            self.point.v[k] = self.start.v[k] + row.weigh(self.h, &self.a, (k, n));
        }
        motion.retract(&self.start.q, &self.increment, &mut self.point.q);
        let rate = &mut self.v[i * n..(i + 1) * n];
        match motion.chart() {
            Some(chart) => chart.rate(&self.increment, &self.point.v, rate),
            None => rate.copy_from_slice(&self.point.v),
        }
    }

    /// (3) with the RMS norm of components divided by `atol + rtol max(|y|, |y⁺|)`.
    pub fn error(&self, (from, to): (&State, &State), tolerances: Tolerances<'_>) -> f64 {
        let n = self.increment.len();
        let (mut fifth, mut third) = (0.0, 0.0);
        let positions = (false, &self.v, (&from.q[..], &to.q[..]));
        for (is_velocity, stages, ends) in [positions, (true, &self.a, (&from.v[..], &to.v[..]))] {
            for k in 0..n {
                let scale = tolerances.scale(is_velocity, k, ends);
                let first = stages[k];
                let other: f64 = THIRD.iter().map(|(j, w)| w * (stages[j * n + k] - first)).sum();
                let e3 = A[STAGES - 1].weigh(self.h, stages, (k, n)) - self.h * (first + other);
                fifth += (FIFTH.weigh(self.h, stages, (k, n)) / scale).powi(2);
                third += (e3 / scale).powi(2);
            }
        }
        let count = (2 * n).max(1) as f64;
        if fifth == 0.0 { 0.0 } else { fifth / ((fifth + 0.01 * third) * count).sqrt() }
    }

    /// The length of the step done last; none where it is forgotten.
    pub fn length(&self) -> Option<f64> {
        (self.known != Known::None).then_some(self.h)
    }

    /// The parts of the step at which `inside` knows the motion.
    pub fn places() -> [f64; 4] {
        INSIDE.map(|i| C[i])
    }

    /// The motion at the place number `k` of `places`, as the stage there has it.
    pub fn inside(&mut self, motion: &impl Motion, k: usize, out: &mut State) {
        let (n, i) = (self.increment.len(), INSIDE[k]);
        for (c, d) in self.increment.iter_mut().enumerate() {
            *d = A[i - 1].weigh(self.h, &self.v, (c, n));
        }
        out.t = self.start.t + C[i] * self.h;
        motion.retract(&self.start.q, &self.increment, &mut out.q);
        let rate = &self.v[i * n..(i + 1) * n];
        match motion.chart() {
            Some(chart) => chart.velocity(&self.increment, rate, &mut out.v),
            None => out.v.copy_from_slice(rate),
        }
    }
}

#[cfg(test)]
mod tests;
