//! A system of relative degree 3 whose state jumps, system (65) of [acary2008homsp].
//!
//! ```text
//!     ż₁ = z₂,  ż₂ = z₃,  ż₃ = −z₁ − z₂ − z₃ ± ξ₂ + λ,   ξ̇₁ = ξ₂,  ξ̇₂ = −ξ₁ + z₁,    0 ≤ z₁ ⊥ λ               (1)
//!     at z₁ = 0, z₂⁻ < 0:   z₂⁺ = 0,  z₃⁺ = max(0, z₃⁻);     in contact z = 0,  λ = ∓ξ₂,  until λ = 0            (2)
//! ```
//!
//! The sign of ξ₂ is not clear from the text: plus with the printed minus in front of (0, −1), minus with the
//! convention of the paper's normal form. Between events the flow is an exponential; in contact ξ turns on a circle.

use super::{ExactState, LinearFlow};
use crate::FirstOrder;
use crate::model::{Lcs, Matrices};
use carom_solve::Law;
use carom_solve::elementary::sin_cos;

/// The sign of ξ₂ in (1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sign {
    /// As printed: +ξ₂.
    #[default]
    Plus,
    /// By the convention of the normal form: −ξ₂.
    Minus,
}

/// A span of one mode.
#[derive(Clone, Debug, PartialEq)]
struct Arc {
    start: f64,
    contact: bool,
    state: [f64; 5],  // right after the start
    before: [f64; 5], // right before
}

/// The trajectory of (1) from (1, 0, 0, 0, 0), by events.
#[derive(Clone, Debug, PartialEq)]
pub struct ThirdDegree {
    sign: f64,
    end: f64,
    free: Vec<f64>,
    arcs: Vec<Arc>,
}

/// Most changes of mode that are followed.
const ARCS: usize = 1000;

impl ThirdDegree {
    /// Follows the motion up to `end`.
    pub fn new(sign: Sign, end: f64) -> ThirdDegree {
        let sign = if sign == Sign::Plus { 1.0 } else { -1.0 };
        let mut free = vec![0.0; 25];
        (free[1], free[7]) = (1.0, 1.0);
        free[10..15].copy_from_slice(&[-1.0, -1.0, -1.0, 0.0, sign]);
        free[19] = 1.0;
        (free[20], free[23]) = (1.0, -1.0);
        let state = [1.0, 0.0, 0.0, 0.0, 0.0];
        let arcs = vec![Arc { start: 0.0, contact: false, state, before: state }];
        let mut motion = ThirdDegree { sign, end, free, arcs };
        while motion.arcs.len() < ARCS && motion.follow() {}
        motion
    }

    /// Times of impacts and releases, in turn, with z⁻ and ξ right before: (time, contact begins, state).
    pub fn events(&self) -> Vec<(f64, bool, [f64; 5])> {
        self.arcs.iter().skip(1).map(|arc| (arc.start, arc.contact, arc.before)).collect()
    }

    fn flow(&self) -> LinearFlow {
        LinearFlow { n: 5, a: self.free.clone() }
    }

    /// Appends the next arc, if there is one before the end.
    fn follow(&mut self) -> bool {
        let Some(last) = self.arcs.last().cloned() else { return false };
        let left = self.end - last.start;
        let next = if last.contact {
            // λ = ∓ξ₂ falls to zero
            let turn = LinearFlow::new(2, &[0.0, 1.0, -1.0, 0.0]);
            turn.and_then(|flow| flow.first(&last.state[3..], left, 1e-2, |xi| -self.sign * xi[1]))
        } else {
            self.flow().first(&last.state, left, 1e-2, |x| x[0])
        };
        let Some(duration) = next else { return false };
        let start = last.start + duration;
        let before = self.on(&last, duration);
        let mut state = before;
        let contact = !last.contact && before[2].max(0.0) == 0.0 && -self.sign * before[4] > 0.0;
        if last.contact {
            state[..3].fill(0.0);
        } else {
            (state[0], state[1], state[2]) = (0.0, 0.0, before[2].max(0.0));
        }
        self.arcs.push(Arc { start, contact, state, before });
        true
    }

    /// The state after the time s on an arc.
    fn on(&self, arc: &Arc, s: f64) -> [f64; 5] {
        let mut out = [0.0; 5];
        if arc.contact {
            let ((sine, cosine), [.., a, b]) = (sin_cos(s), arc.state);
            (out[3], out[4]) = (cosine * a + sine * b, cosine * b - sine * a);
        } else {
            out.copy_from_slice(&self.flow().advance(s, &arc.state));
        }
        out
    }

    fn arc(&self, t: f64) -> &Arc {
        let k = self.arcs.partition_point(|arc| arc.start <= t);
        &self.arcs[k.saturating_sub(1)]
    }

    /// (A, B, C) of (1), row-major.
    pub fn matrices(&self) -> Matrices {
        Matrices {
            e: None,
            a: self.free.clone(),
            b: vec![0.0, 0.0, 1.0, 0.0, 0.0],
            c: vec![1.0, 0.0, 0.0, 0.0, 0.0],
            d: vec![0.0],
        }
    }

    /// The same problem as a model, to be simulated.
    pub fn model(&self) -> Lcs {
        let laws = vec![("stop".to_string(), Law::UNILATERAL)];
        Lcs::assemble(self.matrices(), laws, &[1.0, 0.0, 0.0, 0.0, 0.0])
    }
}

impl Default for ThirdDegree {
    fn default() -> Self {
        ThirdDegree::new(Sign::Plus, 10.0)
    }
}

impl ExactState for ThirdDegree {
    fn name(&self) -> &'static str {
        "third-degree"
    }
    fn citation(&self) -> &'static str {
        "acary2008homsp"
    }
    fn dimension(&self) -> usize {
        5
    }
    fn at(&self, t: f64, x: &mut [f64]) {
        let arc = self.arc(t);
        x.copy_from_slice(&self.on(arc, t - arc.start));
    }
    fn before(&self, t: f64, x: &mut [f64]) {
        match self.arcs.iter().skip(1).find(|arc| arc.start == t) {
            Some(arc) => x.copy_from_slice(&arc.before),
            None => self.at(t, x),
        }
    }
    fn jumps(&self, from: f64, to: f64) -> Vec<f64> {
        let jumping = self.arcs.iter().skip(1).filter(|arc| arc.before[..3] != arc.state[..3]);
        jumping.map(|arc| arc.start).filter(|t| *t > from && *t <= to).collect()
    }
    fn system(&self) -> Box<dyn FirstOrder> {
        Box::new(self.model())
    }
    fn span(&self) -> f64 {
        self.end
    }
}
