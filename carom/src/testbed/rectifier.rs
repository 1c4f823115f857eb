//! Half-wave rectifier with a resistive and inductive load: relative degree 1 [acary2008].
//!
//! ```text
//!     L i̇ = V sin ωt − R i + λ,   0 ≤ i ⊥ λ ≥ 0,   i(0) = 0                                        (1)
//!     i = (V/Z)[sin(ωs − φ) + sin φ e^{−sR/L}]  for ωs ≤ β,  then 0;     s = t mod 2π/ω,   Z² = R² + ω²L²,  tan φ = ωL/R   (2)
//!     sin(β − φ) + sin φ e^{−β/tan φ} = 0,     β in (π, 2π)                                         (3)
//! ```

use super::ExactState;
use crate::FirstOrder;
use crate::model::{Lcs, Matrices};
use carom_solve::Law;
use carom_solve::elementary::{atan, exp, hypot, sin, tan};
use std::f64::consts::PI;

/// The circuit (1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectifier {
    /// Amplitude of the source [V].
    pub voltage: f64,
    /// [rad/s]
    pub frequency: f64,
    /// [Ω]
    pub resistance: f64,
    /// [H]
    pub inductance: f64,
}

impl Default for Rectifier {
    fn default() -> Self {
        Rectifier { voltage: 100.0, frequency: 377.0, resistance: 100.0, inductance: 0.1 }
    }
}

impl Rectifier {
    /// The period of the source [s].
    pub fn period(&self) -> f64 {
        2.0 * PI / self.frequency
    }

    fn phase(&self) -> f64 {
        atan(self.frequency * self.inductance / self.resistance)
    }

    /// (2) before extinction, in units of V/Z, at the angle ωs.
    fn conducting(&self, angle: f64) -> f64 {
        let phase = self.phase();
        sin(angle - phase) + sin(phase) * exp(-angle / tan(phase))
    }

    /// Extinction angle β (3) [rad].
    pub fn extinction(&self) -> f64 {
        let (mut low, mut high) = (PI, 2.0 * PI);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.conducting(middle) > 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// i(t) for t ≥ 0, given β.
    fn current(&self, t: f64, extinction: f64) -> f64 {
        let angle = self.frequency * (t % self.period());
        let impedance = hypot(self.resistance, self.frequency * self.inductance);
        if angle < extinction { self.voltage / impedance * self.conducting(angle) } else { 0.0 }
    }

    /// The circuit as a complementarity system with one state.
    pub fn model(&self) -> Lcs {
        let Rectifier { voltage, frequency, resistance, inductance } = *self;
        let matrices =
            Matrices { e: Some(vec![inductance]), a: vec![-resistance], b: vec![1.0], c: vec![1.0], d: vec![0.0] };
        Lcs::assemble(matrices, vec![("diode".into(), Law::UNILATERAL)], &[0.0]).with_state_source(move |t, a| {
            a[0] = voltage * sin(frequency * t);
            Ok(())
        })
    }
}

impl ExactState for Rectifier {
    fn name(&self) -> &'static str {
        "rectifier"
    }
    fn citation(&self) -> &'static str {
        "acary2008"
    }
    fn dimension(&self) -> usize {
        1
    }
    fn at(&self, t: f64, x: &mut [f64]) {
        x[0] = self.current(t, self.extinction());
    }
    fn system(&self) -> Box<dyn FirstOrder> {
        Box::new(self.model())
    }
    fn span(&self) -> f64 {
        3.0 * self.period()
    }
}
