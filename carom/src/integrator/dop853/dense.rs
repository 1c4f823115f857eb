//! Dense output of order 7: three evaluations more than the step, made when they are asked for [hairer1993, §II.6].
//!
//! ```text
//!     y(s) = y + s (f₀ + (1 − s)(f₁ + s (f₂ + (1 − s)(f₃ + s (f₄ + (1 − s)(f₅ + s f₆))))))                             (1)
//!     f₀ = y⁺ − y,   f₁ = h k₁ − f₀,   f₂ = 2 f₀ − h (k₁ + k₁₃),   f₃₊ᵢ = h Σ dᵢⱼ kⱼ                                   (2)
//! ```
//!
//! with kⱼ = (Vⱼ, Aⱼ), of which k₁₃ is the end of the step. Positions and velocities have an error of O(h⁸) each inside
//! a step; with a chart Vⱼ are rates of increments. f₀ is taken from the stages, not from the difference of positions:
//! short steps keep their digits.

use super::table::{A, D, EXTENDED, STAGES};
use super::{Dop853, Known};
use crate::integrator::Motion;
use crate::{State, StepError};

/// (2) for component `k` of n.
pub(super) fn coefficients(h: f64, stages: &[f64], (k, n): (usize, usize)) -> [f64; 7] {
    let (first, last) = (h * stages[k], h * stages[STAGES * n + k]);
    let whole = A[STAGES - 1].weigh(h, stages, (k, n));
    let [a, b, c, d] = D.each_ref().map(|row| row.weigh(h, stages, (k, n)));
    [whole, first - whole, 2.0 * whole - (first + last), a, b, c, d]
}

/// (1) without y.
#[inline]
pub(super) fn increment(f: &[f64; 7], s: f64) -> f64 {
    let r = 1.0 - s;
    s * (f[0] + r * (f[1] + s * (f[2] + r * (f[3] + s * (f[4] + r * (f[5] + s * f[6]))))))
}

impl Dop853 {
    /// Takes v̇ at the end of the step done last; the motion inside it can be asked for from now on.
    pub fn conclude(&mut self, end: &[f64]) {
        if self.known == Known::Stages {
            let n = self.increment.len();
            self.a[STAGES * n..(STAGES + 1) * n].copy_from_slice(end);
            self.known = Known::End;
        }
    }

    /// Whether the motion inside the step can be asked for.
    pub fn is_filled(&self) -> bool {
        matches!(self.known, Known::End | Known::Inside)
    }

    /// Forgets the step; buffers stay.
    pub fn clear(&mut self) {
        self.known = Known::None;
    }

    /// The state at the part `s` of the step.
    pub fn at(&mut self, motion: &mut impl Motion, s: f64, out: &mut State) -> Result<(), StepError> {
        if self.known == Known::End {
            self.extend(motion)?;
        }
        let [positions, velocities] = &self.polynomials;
        for (d, f) in self.increment.iter_mut().zip(positions) {
            *d = increment(f, s);
        }
        out.t = self.start.t + s * self.h;
        out.q.clone_from(&self.start.q);
        motion.retract(&self.start.q, &self.increment, &mut out.q);
        out.v.clear();
        out.v.extend(self.start.v.iter().zip(velocities).map(|(v, f)| v + increment(f, s)));
        Ok(())
    }

    /// The further stages and the coefficients.
    fn extend(&mut self, motion: &mut impl Motion) -> Result<(), StepError> {
        let n = self.increment.len();
        for i in STAGES + 1..EXTENDED {
            self.stage(motion, i)?;
        }
        for (polynomials, stages) in self.polynomials.iter_mut().zip([&self.v, &self.a]) {
            for (k, f) in polynomials.iter_mut().enumerate() {
                *f = coefficients(self.h, stages, (k, n));
            }
        }
        self.known = Known::Inside;
        Ok(())
    }
}
